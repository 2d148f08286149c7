"""Folders, search, downloads, exports and changes, through Google's own client against a server on
loopback."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from leaf.drive import adding, query
from leaf.drive.client import PIECE, Client
from leaf.drive.model import DriveItem, DriveProgress
from leaf.errors import (
    DriveError,
    DriveNotConnectedError,
    FileTooLargeError,
    InvalidInputError,
    LeafError,
    NotFoundError,
    RunError,
)
from leaf.store import chats, files
from leaf.store.model import File, Scope
from tests.drive_kit import World, connect, world
from tests.drive_server import (
    ANA,
    BEN,
    DOC,
    DOCX,
    FOLDER,
    FORM,
    PPTX,
    SHEET,
    SLIDES,
    XLSX,
    Fault,
    error_info,
)


@pytest.fixture(autouse=True)
def plain_http(monkeypatch: pytest.MonkeyPatch) -> None:
    """oauthlib refuses http, which is what loopback speaks."""
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")


@pytest.fixture
def w(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as made:
        yield made


def names(items: tuple[DriveItem, ...]) -> list[str]:
    return [item.name for item in items]


def whole(w: World, folder: str, page_size: int = 100) -> list[DriveItem]:
    found = w.drive.list(w.ana, folder, page_size=page_size)
    items = list(found.items)
    while found.cursor:
        found = w.drive.list(w.ana, folder, cursor=found.cursor)
        items += found.items
    return items


# Words


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("1AbcDEF_-23", ("1AbcDEF_-23", "")),
        ("1AbcDEF/0-key", ("1AbcDEF", "0-key")),
        ("https://drive.google.com/drive/folders/1AbcDEF", ("1AbcDEF", "")),
        (
            "https://drive.google.com/drive/u/2/folders/1AbcDEF?resourcekey=0-key&usp=sharing",
            ("1AbcDEF", "0-key"),
        ),
        ("https://drive.google.com/file/d/1AbcDEF/view?usp=drive_link", ("1AbcDEF", "")),
        ("https://docs.google.com/document/d/1AbcDEF/edit#heading=h.1", ("1AbcDEF", "")),
        (
            "https://docs.google.com/a/example.com/spreadsheets/d/1AbcDEF/edit?gid=0",
            ("1AbcDEF", ""),
        ),
        ("<https://docs.google.com/presentation/d/1AbcDEF>", ("1AbcDEF", "")),
        ("https://drive.google.com/open?id=1AbcDEF", ("1AbcDEF", "")),
        (
            "https://drive.google.com/uc?export=download&id=1AbcDEF&resourcekey=0-key",
            ("1AbcDEF", "0-key"),
        ),
        ("https://drive.google.com/drive/my-drive", ("root", "")),
        ("https://drive.google.com/drive/u/0/shared-with-me", ("shared-with-me", "")),
    ],
)
def test_every_kind_of_address_is_understood(given: str, expected: tuple[str, str]) -> None:
    assert query.parse_ref(given) == expected


@pytest.mark.parametrize(
    "given",
    [
        "",
        "two words",
        "https://example.com/file/d/1AbcDEF",
        "https://drive.google.com/drive/trash",
        "a/b/c",
        "javascript:alert(1)",
        "https://drive.google.com.evil.example/file/d/1AbcDEF",
    ],
)
def test_anything_else_is_refused_in_one_sentence(given: str) -> None:
    with pytest.raises(InvalidInputError):
        query.parse_ref(given)


@pytest.mark.parametrize(
    "name", ["o'brien", 'say "yes"', "back\\slash", "both\\'", "' or name contains '", "line\nend"]
)
def test_quotes_and_backslashes_in_a_search_find_just_that_name(w: World, name: str) -> None:
    other = w.google.add("other.txt", "text/plain", w.root, b"x")
    wanted = w.google.add(" ".join(name.split()), "text/plain", w.root, b"x")
    found = w.drive.named(w.ana, name)
    assert [i.id for i in found] == [wanted]
    assert other not in [i.id for i in w.drive.search(w.ana, name).items]


# Folders


def test_views_and_folders_come_with_breadcrumbs(w: World) -> None:
    reports = w.google.folder("Reports", w.root)
    inner = w.google.folder("2026", reports)
    w.google.add("a.csv", "text/csv", inner, b"a\n1\n")
    theirs = w.google.folder("Theirs", w.google.root(BEN), shared={ANA})
    team = w.google.shared_drive("Team", ANA)
    plans = w.google.folder("Plans", team)
    assert names(w.drive.list(w.ana).items) == ["Reports"]
    assert names(w.drive.list(w.ana, "shared-with-me").items) == ["Theirs"]
    assert names(w.drive.list(w.ana, "drives").items) == ["Team"]
    for folder, crumbs in (
        (inner, ["My Drive", "Reports", "2026"]),
        (theirs, ["Shared with me", "Theirs"]),
        (plans, ["Shared drives", "Team", "Plans"]),
        (team, ["Shared drives", "Team"]),
    ):
        found = w.drive.list(w.ana, folder)
        assert [c.name for c in found.breadcrumbs] == crumbs
    assert names(w.drive.list(w.ana, f"https://drive.google.com/drive/folders/{inner}").items) == [
        "a.csv"
    ]


def test_a_large_folder_of_a_shared_drive_lists_whole_in_pages(w: World) -> None:
    team = w.google.shared_drive("Team", ANA)
    folder = w.google.folder("Big", team)
    for n in range(2_300):
        w.google.add(f"f{n}.txt", "text/plain", folder)
    items = whole(w, folder, page_size=1000)
    assert len({i.id for i in items}) == 2_300
    assert len(w.google.calls(r"/files\?")) == 3


def test_what_is_shared_of_a_shared_drive_of_others_is_read_like_all_else(w: World) -> None:
    """Google answers 404 to whoever does not belong to the drive and asks for it."""
    team = w.google.shared_drive("Team", BEN)
    given = w.google.folder("Given", team, shared={ANA})
    below = w.google.folder("Below", given)
    ids = [w.google.add(f"{n:03}.csv", "text/csv", below, f"word {n}\n".encode()) for n in range(4)]
    w.google.add("theirs.csv", "text/csv", team, b"word\n")
    assert names(w.drive.list(w.ana, given).items) == ["Below"]
    first = w.drive.list(w.ana, below, page_size=3)
    rest = w.drive.list(w.ana, below, cursor=first.cursor)
    assert names(first.items + rest.items) == [f"{n:03}.csv" for n in range(4)]
    assert len(w.drive.search(w.ana, "word", folder=given).items) == 4
    chat = chats.create(w.store.db, w.ana)
    assert w.drive.attach_folder(w.ana, chat.id, given).files == 4
    added = w.drive.add(w.ana, [given])
    assert (len(added.files), added.skipped) == (4, ())
    assert len(w.google.calls(f"startPageToken.*{team}")) == 1
    w.google.edit(ids[0], b"another word\n")
    (change,) = w.drive.changes(w.ana, chat.id, [f.id for f in added.files], max_age=0)
    assert (change.id, change.what) == (ids[0], "changed")
    with pytest.raises(NotFoundError):
        w.drive.list(w.ana, team)


def test_a_cursor_is_short_and_of_no_use_to_another_user(w: World) -> None:
    for n in range(5):
        w.google.add(f"f{n}.txt", "text/plain", w.root)
    connect(w.drive.begin, w.drive.finish, w.google, w.ben, BEN)
    cursor = w.drive.list(w.ana, page_size=2).cursor
    assert 0 < len(cursor) < 16
    with pytest.raises(InvalidInputError, match="not known any more"):
        w.drive.list(w.ben, cursor=cursor)
    assert len(w.drive.list(w.ana, cursor=cursor).items) == 2


def test_a_listing_that_google_cut_says_so(w: World) -> None:
    w.google.incomplete = True
    assert "did not search everything" in w.drive.search(w.ana, "anything").incomplete


def test_a_search_looks_at_names_and_contents_below_a_folder(w: World) -> None:
    top = w.google.folder("Top", w.root)
    deep = top
    for n in range(50):
        w.google.folder(f"side {n}", top)
        deep = w.google.folder(f"deep {n}", deep)
    inside = w.google.add("notes.txt", "text/plain", deep, b"the budget was raised")
    by_name = w.google.add("Budget.pdf", "application/pdf", top)
    outside = w.google.add(
        "budget.txt", "text/plain", w.root, b"other", modified=datetime(2025, 1, 1, tzinfo=UTC)
    )
    everywhere = {i.id for i in w.drive.search(w.ana, "budget").items}
    assert everywhere == {inside, by_name, outside}
    found = w.drive.search(w.ana, "budget", folder=top)
    ids = {i.id for i in found.items}
    while found.cursor:
        found = w.drive.search(w.ana, "budget", cursor=found.cursor)
        ids |= {i.id for i in found.items}
    assert ids == {inside, by_name}
    assert {i.id for i in w.drive.search(w.ana, "budget", kinds=["pdf"]).items} == {by_name}
    assert outside not in {
        i.id for i in w.drive.search(w.ana, "budget", modified_after="2026-01-01").items
    }
    for bad in ({"kinds": ["pfd"]}, {"modified_after": "yesterday"}):
        with pytest.raises(LeafError, match=r"pdf|2026-05-01"):
            w.drive.search(w.ana, "budget", **bad)  # type: ignore[arg-type]  # wrong on purpose


def test_a_folder_inside_itself_by_shortcut_is_walked_once(w: World) -> None:
    top = w.google.folder("Top", w.root)
    below = w.google.folder("Below", top)
    w.google.shortcut("Back up", top, below)
    w.google.shortcut("Again", below, top)
    w.google.add("one.txt", "text/plain", below, b"1")
    added = w.drive.add(w.ana, [top])
    assert [f.name for f in added.files] == ["Top/Below/one.txt"]


def test_a_shortcut_opens_what_it_points_to_and_says_when_that_is_gone(w: World) -> None:
    target = w.google.add("real.txt", "text/plain", w.root, b"text")
    shortcut = w.google.shortcut("Link", target, w.root)
    item = w.drive.item(w.ana, shortcut)
    assert (item.id, item.name) == (target, "real.txt")
    w.google.delete(target)
    with pytest.raises(NotFoundError, match="shortcut Link points to something that is gone"):
        w.drive.item(w.ana, shortcut)


def test_a_link_with_a_resource_key_opens_and_without_it_does_not(w: World) -> None:
    hers = w.google.folder("Old link", w.google.root(BEN), shared={ANA}, key="0-abc")
    w.google.add("in.txt", "text/plain", hers, b"x")
    with pytest.raises(NotFoundError):
        w.drive.list(w.ana, hers)
    found = w.drive.list(w.ana, f"https://drive.google.com/drive/folders/{hers}?resourcekey=0-abc")
    assert names(found.items) == ["in.txt"]
    assert found.folder is not None
    assert found.folder.ref == f"{hers}/0-abc"
    assert names(w.drive.list(w.ana, found.folder.ref).items) == ["in.txt"]


def test_a_large_folder_with_a_resource_key_lists_whole_in_pages(w: World) -> None:
    hers = w.google.root(BEN)
    folder = w.google.folder("Old", hers, key="0-key", shared={ANA})
    for n in range(5):
        w.google.add(f"{n}.csv", "text/csv", folder, b"word\n")
    for found in (
        w.drive.list(w.ana, f"{folder}/0-key", page_size=3),
        w.drive.search(w.ana, "word", folder=f"{folder}/0-key", page_size=3),
    ):
        more = w.drive.list(w.ana, cursor=found.cursor)
        assert sorted(names(found.items + more.items)) == [f"{n}.csv" for n in range(5)]


def test_of_several_things_to_add_those_out_of_reach_are_skipped_and_said(w: World) -> None:
    hers = w.google.root(BEN)
    hidden = w.google.folder("Hidden", hers)
    top = w.google.folder("Top", w.root)
    w.google.shortcut("To Ben's", hidden, top)
    w.google.add("inside.csv", "text/csv", top, b"a\n1\n")
    alone = w.google.add("alone.csv", "text/csv", w.root, b"a\n2\n")
    gone = w.google.add("gone.csv", "text/csv", w.root, b"a\n3\n")
    w.google.delete(gone)
    added = w.drive.add(w.ana, [gone, top, alone])
    assert {f.name for f in added.files} == {"Top/inside.csv", "alone.csv"}
    assert {s.name for s in added.skipped} == {gone, "To Ben's"}
    assert all("not shared with the connected account" in s.why for s in added.skipped)
    with pytest.raises(NotFoundError):
        w.drive.add(w.ana, [gone])


def test_what_belongs_to_somebody_else_is_not_there(w: World) -> None:
    folder = w.google.folder("Private", w.google.root(BEN))
    file_id = w.google.add("secret.txt", "text/plain", folder, b"x")
    for ref in (folder, file_id, f"https://drive.google.com/drive/folders/{folder}"):
        with pytest.raises(NotFoundError, match="not shared with the connected account"):
            w.drive.item(w.ana, ref)
        with pytest.raises(LeafError, match="not shared with"):
            w.drive.bring(w.ana, ref)


# Contents


def test_a_file_comes_down_once_and_a_follow_up_asks_nothing(w: World) -> None:
    file_id = w.google.add("a.txt", "text/plain", w.root, b"first")
    brought = w.drive.bring(w.ana, file_id)
    assert brought.downloaded
    assert w.shelf.content(brought.file) == b"first"
    assert brought.file.source == "drive"
    w.google.requests.clear()
    again = w.drive.bring(w.ana, file_id)
    assert (again.downloaded, again.file.id, w.google.requests) == (False, brought.file.id, [])
    assert w.drive.list(w.ana).items[0].file_id == brought.file.id


def test_a_changed_file_is_read_anew_and_names_the_older_one(w: World) -> None:
    file_id = w.google.add("a.txt", "text/plain", w.root, b"first")
    first = w.drive.bring(w.ana, file_id)
    w.google.edit(file_id, b"second")
    second = w.drive.bring(w.ana, file_id, max_age=0)
    assert (second.downloaded, second.older) == (True, (first.file.id,))
    w.google.requests.clear()
    assert not w.drive.bring(w.ana, file_id, max_age=0).downloaded
    assert len(w.google.calls()) == 1


def test_googles_own_documents_come_as_office_files(w: World) -> None:
    for name, mime, office, ending in (
        ("Doc", DOC, DOCX, "docx"),
        ("Sheet", SHEET, XLSX, "xlsx"),
        ("Talk", SLIDES, PPTX, "pptx"),
    ):
        file_id = w.google.doc(name, mime, {office: name.encode()}, w.root)
        brought = w.drive.bring(w.ana, file_id)
        assert (brought.file.name, w.shelf.content(brought.file)) == (
            f"{name}.{ending}",
            name.encode(),
        )
        assert not w.drive.bring(w.ana, file_id, max_age=0).downloaded


@pytest.mark.parametrize("prepares", [True, False])
def test_an_export_over_the_limit_comes_another_way(w: World, prepares: bool) -> None:
    w.google.export_limit, w.google.prepares = 100, prepares
    file_id = w.google.doc("Large", SHEET, {XLSX: bytes(500)}, w.root)
    assert w.shelf.content(w.drive.bring(w.ana, file_id).file) == bytes(500)
    assert bool(w.google.calls("/prepared/")) == prepares
    assert bool(w.google.calls("/export-link/")) != prepares


def test_a_broken_download_goes_on_where_it_broke(w: World) -> None:
    content = bytes(range(256)) * 400
    file_id = w.google.add("big.bin", "application/octet-stream", w.root, content)
    w.google.faults.append(Fault("alt=media", cut_after=70_000))
    assert w.shelf.content(w.drive.bring(w.ana, file_id).file) == content
    assert len(w.google.calls("alt=media")) == 2


def test_a_large_file_comes_in_pieces_and_an_empty_one_at_all(w: World) -> None:
    content = bytes(PIECE) + b"end"
    large = w.google.add("large.bin", "application/octet-stream", w.root, content)
    empty = w.google.add("empty.txt", "text/plain", w.root, b"")
    seen: list[int] = []
    brought = w.drive.bring(w.ana, large, on_progress=seen.append)
    assert (w.shelf.content(brought.file), seen) == (content, [PIECE, PIECE + 3])
    assert w.shelf.content(w.drive.bring(w.ana, empty).file) == b""


@pytest.mark.parametrize("size", [PIECE + 10, PIECE, 5])
def test_a_file_that_changes_while_it_comes_down_is_fetched_again_whole(
    w: World, size: int
) -> None:
    file_id = w.google.add("a.bin", "application/octet-stream", w.root, b"a" * (PIECE + 10))
    fault = Fault("alt=media", before=lambda: w.google.edit(file_id, b"b" * size))
    w.google.faults += [Fault("alt=media", before=lambda: None), fault]
    assert w.shelf.content(w.drive.bring(w.ana, file_id).file) == b"b" * size


def test_a_grant_revoked_in_the_middle_of_a_download_keeps_nothing_half(w: World) -> None:
    file_id = w.google.add("a.bin", "application/octet-stream", w.root, bytes(PIECE + 10))
    w.google.faults += [
        Fault("alt=media", before=lambda: None),
        Fault("alt=media", before=lambda: w.google.revoke(ANA)),
    ]
    with pytest.raises(DriveNotConnectedError, match="revoked"):
        w.drive.bring(w.ana, file_id)
    assert w.store.db.read("SELECT count(*) AS n FROM files") == [{"n": 0}]
    assert not list(w.settings.home.glob(".drive-*"))


def test_what_was_read_stays_readable_after_disconnecting_and_says_how_old_it_is(w: World) -> None:
    file_id = w.google.add("a.txt", "text/plain", w.root, b"text")
    first = w.drive.bring(w.ana, file_id)
    w.drive.disconnect(w.ana)
    kept = w.drive.bring(w.ana, file_id, max_age=0)
    assert kept.file.id == first.file.id
    assert "not connected" in kept.note


@pytest.mark.parametrize(
    ("name", "mime", "more", "said"),
    [
        (
            "film.mp4",
            "video/mp4",
            {"size": 5_000_000_000},
            "film.mp4 is 5.0 GB, and at most 1.0 GB is taken",
        ),
        (
            "locked.pdf",
            "application/pdf",
            {"can_download": False},
            "owner does not allow downloads",
        ),
        ("Survey", FORM, {}, "does not export this kind"),
    ],
)
def test_what_cannot_come_is_said_before_a_byte_comes(
    w: World, name: str, mime: str, more: dict[str, object], said: str
) -> None:
    file_id = w.google.add(name, mime, w.root, **more)
    with pytest.raises((DriveError, FileTooLargeError), match=said):
        w.drive.bring(w.ana, file_id)
    assert not w.google.calls("alt=media|export")


def test_a_name_with_slashes_and_control_characters_and_a_name_that_is_taken_are_kept(
    w: World,
) -> None:
    odd = w.google.add('Q1/Q2\\x "a" o\'b.txt', "text/plain", w.root, b"1")
    assert w.drive.bring(w.ana, odd).file.name == 'Q1-Q2-x "a" o\'b.txt'
    same = [w.google.add("twin.txt", "text/plain", w.root, content) for content in (b"2", b"3")]
    assert [w.drive.bring(w.ana, i).file.name for i in same] == ["twin.txt", "twin (2).txt"]
    assert len(w.drive.named(w.ana, "twin.txt")) == 2


def test_a_whole_folder_is_added_and_what_was_left_out_is_counted(w: World) -> None:
    top = w.google.folder("Top", w.root)
    below = w.google.folder("Below", top)
    for n in range(7):
        w.google.add(f"{n}.csv", "text/csv", below, f"a\n{n}\n".encode())
    w.google.add("film.mp4", "video/mp4", top, size=5_000_000_000)
    w.google.add("photo.psd", "image/vnd.adobe.photoshop", top, b"x")
    w.google.add("locked.pdf", "application/pdf", top, b"x", can_download=False)
    broken = w.google.add("broken.txt", "text/plain", top, b"x")
    w.google.faults.append(Fault(f"{broken}.*alt=media", 403, "cannotDownloadFile", times=9))
    told: list[DriveProgress] = []
    added = w.drive.add(w.ana, [top], on_progress=told.append)
    assert sorted(f.name for f in added.files) == [f"Top/Below/{n}.csv" for n in range(7)]
    assert {s.name for s in added.skipped} == {"film.mp4", "photo.psd", "locked.pdf", "broken.txt"}
    assert all(s.why.endswith(".") for s in added.skipped)
    assert (told[-1].done, told[-1].total) == (11, 11)


@pytest.mark.parametrize(
    ("mime", "comes"),
    [
        ("audio/mpeg", True),
        ("audio/x-m4a", True),
        ("image/png", True),
        ("application/zip", True),
        ("application/x-msdownload", False),
        ("image/vnd.adobe.photoshop", False),
    ],
)
def test_of_a_folder_a_file_without_an_ending_comes_if_its_type_is_read(
    w: World, mime: str, comes: bool
) -> None:
    top = w.google.folder("Top", w.root)
    w.google.add("Interview 1", mime, top, b"x")
    added = w.drive.add(w.ana, [top])
    assert ([f.name for f in added.files], bool(added.skipped)) == (
        (["Top/Interview 1"], False) if comes else ([], True)
    )


def test_what_comes_down_is_entered_together_and_before_the_end_is_told(w: World) -> None:
    folder = w.google.add("Top", FOLDER, w.root)
    names = [
        w.google.add(f"{n:02}.csv", "text/csv", folder, f"a\n{n}\n".encode()) for n in range(40)
    ]
    added = w.drive.add(w.ana, [folder])
    assert (len(added.files), w.shelf.entered) == (40, [32, 8])
    more = [
        w.google.add(f"more {n}.csv", "text/csv", folder, f"b\n{n}\n".encode()) for n in range(3)
    ]
    last = w.google.add("last.csv", "text/csv", folder, b"c")
    w.google.faults.append(Fault(f"{last}.*alt=media", 401, "authError", times=99))
    brought: list[str] = []
    coming = w.drive.bring_all(w.ana, w.drive.look(w.ana, [folder]).items)
    with pytest.raises(DriveNotConnectedError):
        brought.extend(item.id for item, _ in coming)
    assert set(brought) >= set(names)
    assert set(brought) - set(names) <= set(more)


def test_what_has_begun_to_come_is_kept_where_another_ends_them_all(w: World) -> None:
    slow = w.google.add("slow.csv", "text/csv", w.root, b"a\n1\n")
    last = w.google.add("last.csv", "text/csv", w.root, b"c")
    begun, refused = threading.Event(), threading.Event()

    def comes_later() -> None:
        begun.set()
        refused.wait(20)
        time.sleep(3 * adding.LOOK)  # until the other's end is seen

    def refuses() -> None:
        begun.wait(20)
        refused.set()

    w.google.faults.append(Fault(f"{slow}.*alt=media", before=comes_later))
    w.google.faults.append(Fault(f"{last}.*alt=media", 401, "authError", times=99, before=refuses))
    brought: list[str] = []
    items = w.drive.look(w.ana, [slow, last]).items
    with pytest.raises(DriveNotConnectedError):
        brought.extend(item.id for item, _ in w.drive.bring_all(w.ana, items))
    assert brought == [slow]


def test_a_file_that_is_deleted_as_it_comes_keeps_no_other_from_coming(w: World) -> None:
    folder = w.google.folder("Top", w.root)
    for n in range(3):
        w.google.add(f"{n}.csv", "text/csv", folder, f"a\n{n}\n".encode())
    get = w.shelf.get

    def deletes_one(scope: Scope, file_id: str) -> File:
        if get(scope, file_id).name == "Top/1.csv":
            files.delete(w.store.db, scope, file_id)
        return get(scope, file_id)

    w.shelf.get = deletes_one  # type: ignore[method-assign]
    added = w.drive.add(w.ana, [folder])
    assert {f.name for f in added.files} == {"Top/0.csv", "Top/2.csv"}
    assert [(s.name, "was deleted" in s.why) for s in added.skipped] == [("1.csv", True)]


def test_adding_stops_when_it_is_told_to(w: World) -> None:
    w.google.add("a.txt", "text/plain", w.root, b"x")
    stop = threading.Event()
    stop.set()
    with pytest.raises(RunError, match="Stopped"):
        w.drive.add(w.ana, ["root"], stop=stop)


def test_a_preview_keeps_nothing(w: World) -> None:
    file_id = w.google.add("a.txt", "text/plain", w.root, b"text")
    shown = w.drive.preview(w.ana, file_id)
    assert shown.window is not None
    assert shown.window.text == "text"
    assert w.store.db.read("SELECT count(*) AS n FROM files") == [{"n": 0}]
    brought = w.drive.bring(w.ana, file_id)
    assert w.drive.preview(w.ana, file_id).file_id == brought.file.id


def test_the_token_goes_to_google_and_nowhere_else(w: World) -> None:
    w.google.export_limit, w.google.prepares = 1, False
    file_id = w.google.doc("Sheet", SHEET, {XLSX: b"12345"}, w.root)
    w.google.url = "http://127.0.0.1:9"  # where the export link then leads
    with pytest.raises(DriveError, match="not its own"):
        w.drive.bring(w.ana, file_id)


# Trouble


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (429, "rateLimitExceeded"),
        (403, "userRateLimitExceeded"),
        (500, ""),
        (502, ""),
        (503, "backendError"),
    ],
)
def test_trouble_that_passes_is_waited_out(w: World, status: int, reason: str) -> None:
    w.google.faults.append(Fault("/files", status, reason, times=2))
    assert w.drive.list(w.ana).items == ()
    assert len(w.google.calls()) == 3


NEWER = [
    (429, "RESOURCE_EXHAUSTED", "", (error_info("RATE_LIMIT_EXCEEDED"),)),
    (
        403,
        "RESOURCE_EXHAUSTED",
        "",
        (error_info("RATE_LIMIT_EXCEEDED", quota_unit="1/min/{project}/{user}"),),
    ),
    (403, "PERMISSION_DENIED", "", (error_info("RATE_LIMIT_EXCEEDED"),)),
    (403, "PERMISSION_DENIED", "forbidden", (error_info("RATE_LIMIT_EXCEEDED"),)),
    (403, "RESOURCE_EXHAUSTED", "", ()),
    (409, "ABORTED", "", ()),
    (503, "UNAVAILABLE", "", ()),
]


@pytest.mark.parametrize(("status", "word", "reason", "details"), NEWER)
def test_trouble_told_in_googles_newer_form_is_waited_out_too(
    w: World, status: int, word: str, reason: str, details: tuple[dict[str, object], ...]
) -> None:
    w.google.faults.append(Fault("/files", status, reason, details, word, times=2))
    assert w.drive.list(w.ana).items == ()
    assert len(w.google.calls()) == 3


FINAL = [
    (
        429,
        "RESOURCE_EXHAUSTED",
        error_info("RATE_LIMIT_EXCEEDED", quota_unit="1/d/{project}"),
        "quota for this is used up",
        False,
    ),
    (
        403,
        "RESOURCE_EXHAUSTED",
        error_info("RATE_LIMIT_EXCEEDED", quota_limit="QueriesPerDay"),
        "used up",
        False,
    ),
    (
        403,
        "RESOURCE_EXHAUSTED",
        error_info("RESOURCE_QUOTA_EXCEEDED"),
        "quota for this is used up",
        True,
    ),
    (403, "PERMISSION_DENIED", error_info("SERVICE_DISABLED"), "API is not enabled", False),
    (
        403,
        "PERMISSION_DENIED",
        error_info("CONSUMER_SUSPENDED"),
        "has stopped this app's Google project",
        False,
    ),
    (
        403,
        "PERMISSION_DENIED",
        error_info("ACCESS_TOKEN_SCOPE_INSUFFICIENT"),
        "lacks the permission",
        False,
    ),
    (
        403,
        "PERMISSION_DENIED",
        error_info("SECURITY_POLICY_VIOLATED"),
        "rules of an organisation",
        True,
    ),
]


@pytest.mark.parametrize(("status", "word", "detail", "sentence", "connected"), FINAL)
def test_trouble_of_the_newer_form_that_will_not_pass_is_told_at_once(
    w: World, status: int, word: str, detail: dict[str, object], sentence: str, connected: bool
) -> None:
    w.google.faults.append(Fault("/files", status, "", (detail,), word, times=9))
    with pytest.raises(DriveError, match=sentence):
        w.drive.list(w.ana)
    assert len(w.google.calls()) == 1
    assert (w.drive.connection(w.ana).state == "connected") is connected


def test_adding_a_folder_asks_once_from_where_on_changes_count(w: World) -> None:
    folder = w.google.folder("Reports", w.root)
    for n in range(24):
        w.google.add(f"{n}.txt", "text/plain", folder, str(n).encode())
    shared = w.google.shared_drive("Team", ANA)
    ids = [w.google.add(f"team {n}.txt", "text/plain", shared, b"x%d" % n) for n in range(8)]
    w.google.faults.append(Fault("/startPageToken", before=lambda: time.sleep(0.1), times=99))
    assert len(w.drive.add(w.ana, [folder, *ids]).files) == 32
    asked = [path for _, path in w.google.requests if "startPageToken" in path]
    assert len(asked) == 2  # of Ana's own Drive, and of the shared one


def test_trouble_that_stays_is_one_sentence_and_the_connection_stays_good(w: World) -> None:
    w.google.faults.append(Fault("/files", 429, "rateLimitExceeded", times=99))
    with pytest.raises(DriveError, match="limits how fast"):
        w.drive.list(w.ana)
    assert w.drive.connection(w.ana).state == "connected"


def test_retry_after_is_honoured_in_seconds_and_as_a_date_and_not_waited_for_when_long(
    w: World,
) -> None:
    waited: list[float] = []

    class Stop(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waited.append(timeout or 0.0)
            return False

    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    w.google.faults += [
        Fault("/about", 429, retry_after="7"),
        Fault("/about", 503, retry_after=soon),
    ]
    client: Client = w.drive._client(w.ana)
    client.ask(lambda drive: drive.about().get(fields="user"), stop=Stop())
    assert waited[0] == 7.0
    assert 20 < waited[1] <= 30
    waits = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "9.5s"}
    limited = (error_info("RATE_LIMIT_EXCEEDED"), waits)
    w.google.faults.append(Fault("/about", 429, "", limited, "RESOURCE_EXHAUSTED"))
    client.ask(lambda drive: drive.about().get(fields="user"), stop=Stop())
    assert waited.pop() == 9.5
    w.google.faults.append(Fault("/about", 429, retry_after="3600"))
    with pytest.raises(DriveError, match="limits how fast"):
        client.ask(lambda drive: drive.about().get(fields="user"), stop=Stop())
    assert len(waited) == 2


def test_each_thread_has_a_client_of_its_own(w: World) -> None:
    ids = [
        w.google.add(f"{n}.txt", "text/plain", w.root, str(n).encode() * 1000) for n in range(12)
    ]
    found: dict[str, bytes] = {}

    def bring(file_id: str) -> None:
        found[file_id] = w.shelf.content(w.drive.bring(w.ana, file_id).file)

    threads = [threading.Thread(target=bring, args=(i,)) for i in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {file_id: str(n).encode() * 1000 for n, file_id in enumerate(ids)}


def test_a_server_that_is_away_is_said_to_be(w: World) -> None:
    away = w.another(google=w.google.settings(api_url="http://127.0.0.1:9/drive/v3/"))
    with pytest.raises(DriveError, match="cannot be reached"):
        away.list(w.ana)


# Changes


def test_a_folder_of_a_chat_is_counted_and_tells_what_changed(w: World) -> None:
    chat = chats.create(w.store.db, w.ana)
    team = w.google.shared_drive("Team", ANA)
    folder = w.google.folder("Plans", team)
    below = w.google.folder("Below", folder)
    held = w.google.add("held.csv", "text/csv", below, b"a\n1\n")
    gone = w.google.add("gone.csv", "text/csv", folder, b"a\n2\n")
    w.google.add("elsewhere.csv", "text/csv", team, b"a\n3\n")
    attached = w.drive.attach_folder(w.ana, chat.id, folder)
    assert (attached.name, attached.files) == ("Plans", 2)
    files = [w.drive.bring(w.ana, i).file.id for i in (held, gone)]
    assert w.drive.changes(w.ana, chat.id, files, max_age=0) == []
    w.google.edit(held, b"a\n9\n")
    w.google.delete(gone)
    w.google.add("new.csv", "text/csv", w.google.folder("Newer", below), b"a\n4\n")
    w.google.add("elsewhere 2.csv", "text/csv", team, b"a\n5\n")
    found = {c.id: c for c in w.drive.changes(w.ana, chat.id, files, max_age=0)}
    assert {(c.name, c.what) for c in found.values()} == {
        ("held.csv", "changed"),
        ("gone.csv", "removed"),
        ("new.csv", "added"),
    }
    assert found[held].file_ids == (files[0],)
    assert found[held].folder == "Plans"
    w.google.requests.clear()
    assert len(w.drive.changes(w.ana, chat.id, files, max_age=60)) == 3
    assert w.google.requests == []


def test_an_answer_rests_on_an_older_version_until_the_chat_has_the_newer_one(w: World) -> None:
    chat = chats.create(w.store.db, w.ana)
    file_id = w.google.add("a.csv", "text/csv", w.root, b"a\n1\n")
    old = w.drive.bring(w.ana, file_id).file
    w.google.edit(file_id, b"a\n2\n")
    assert list(w.drive.outdated(w.ana, [old.id])) == []
    (change,) = w.drive.changes(w.ana, chat.id, [old.id], max_age=0)
    assert (change.what, change.file_ids) == ("changed", (old.id,))
    new = w.drive.bring(w.ana, file_id).file  # within max_age, but marked as changed
    assert new.id != old.id
    assert list(w.drive.outdated(w.ana, [old.id, new.id])) == [old.id]


def test_what_is_as_it_was_again_or_was_read_meanwhile_is_not_said_to_have_changed(
    w: World,
) -> None:
    chat = chats.create(w.store.db, w.ana)
    ids = [
        w.google.add(f"{n}.csv", "text/csv", w.root, f"a\n{n}\n".encode())
        for n in ("twice", "back", "trash")
    ]
    twice, back, trash = ids
    held = [w.drive.bring(w.ana, i).file.id for i in ids]

    def told() -> dict[str, str]:
        return {c.name: c.what for c in w.drive.changes(w.ana, chat.id, held, max_age=0)}

    w.google.edit(twice, b"a\n2\n")
    w.google.edit(back, b"a\n2\n")
    w.google.edit(trash, trashed=True)
    assert told() == {"twice.csv": "changed", "back.csv": "changed", "trash.csv": "removed"}
    w.google.edit(twice, b"a\n3\n")
    held[0] = w.drive.bring(w.ana, twice).file.id  # before the log told of it
    w.google.edit(back, b"a\nback\n")
    w.google.edit(trash, trashed=False)
    assert told() == {}
    assert w.drive.outdated(w.ana, held) == {}


def test_what_changes_before_and_after_a_new_connection_is_seen(w: World) -> None:
    chat = chats.create(w.store.db, w.ana)
    folder = w.google.folder("Plans", w.root)
    w.drive.attach_folder(w.ana, chat.id, folder)
    ids = [
        w.google.add(f"{n}.csv", "text/csv", w.root, f"a\n{n}\n".encode())
        for n in ("edited", "gone", "trash", "same", "later")
    ]
    held = [w.drive.bring(w.ana, i).file.id for i in ids]
    edited, gone, trash, _, later = ids
    w.google.edit(edited, b"a\n2\n")
    w.google.delete(gone)
    w.google.edit(trash, trashed=True)
    connect(w.drive.begin, w.drive.finish, w.google, w.ana)

    def told() -> dict[str, str]:
        return {c.name: c.what for c in w.drive.changes(w.ana, chat.id, held, max_age=0)}

    before = {"edited.csv": "changed", "gone.csv": "removed", "trash.csv": "removed"}
    assert told() == before
    w.google.requests.clear()
    assert told() == before
    assert not w.google.calls("/files/"), "each is looked at once"
    w.google.edit(later, b"a\n2\n")
    w.google.add("new.csv", "text/csv", folder, b"a\n3\n")
    assert told() == {**before, "later.csv": "changed", "new.csv": "added"}
    assert w.drive.bring(w.ana, edited, max_age=600).downloaded


def test_what_left_an_attached_folder_is_not_said_to_be_new_there(w: World) -> None:
    chat = chats.create(w.store.db, w.ana)
    folder = w.google.folder("Plans", w.root)
    w.drive.attach_folder(w.ana, chat.id, folder)
    moved = w.google.add("moved.csv", "text/csv", folder, b"a\n1\n")
    gone = w.google.add("gone.csv", "text/csv", folder, b"a\n2\n")
    assert len(w.drive.changes(w.ana, chat.id, [], max_age=0)) == 2
    w.google.edit(moved, parent=w.root)
    w.google.delete(gone)
    assert w.drive.changes(w.ana, chat.id, [], max_age=0) == []


def test_changes_and_folders_are_the_users_own(w: World) -> None:
    chat = chats.create(w.store.db, w.ana)
    folder = w.google.folder("Plans", w.root)
    w.drive.attach_folder(w.ana, chat.id, folder)
    colleague = Scope(w.ana.workspace_id, w.ben.user_id)
    for scope in (w.ben, colleague):
        for ask in (
            lambda s: w.drive.folders(s, chat.id),
            lambda s: w.drive.detach_folder(s, chat.id, folder),
            lambda s: w.drive.changes(s, chat.id, [], max_age=0),
            lambda s: w.drive.folders_sent(s, chat.id, "m", [folder]),
        ):
            with pytest.raises(NotFoundError):
                ask(scope)
    assert [f.message_id for f in w.drive.folders(w.ana, chat.id)] == [""]


def test_a_file_that_one_user_brought_in_is_not_the_connection_of_another(w: World) -> None:
    connect(w.drive.begin, w.drive.finish, w.google, w.ben, BEN)
    file_id = w.google.add("mine.txt", "text/plain", w.root, b"mine")
    w.drive.bring(w.ana, file_id)
    with pytest.raises(NotFoundError):
        w.drive.bring(w.ben, file_id)
    assert w.drive.outdated(w.ben, [file_id]) == {}
    team = w.google.shared_drive("Team", ANA)
    chat = chats.create(w.store.db, w.ben)
    with pytest.raises(NotFoundError):
        w.drive.attach_folder(w.ben, chat.id, team)


def test_a_folder_that_waits_can_be_taken_away_and_one_that_was_asked_about_stays(w: World) -> None:
    chat = chats.create(w.store.db, w.ana)
    folder = w.google.folder("Plans", w.root)
    w.drive.attach_folder(w.ana, chat.id, folder)
    w.drive.detach_folder(w.ana, chat.id, folder)
    assert w.drive.folders(w.ana, chat.id) == []
    w.drive.attach_folder(w.ana, chat.id, folder)
    w.drive.folders_sent(w.ana, chat.id, "m1", [folder])
    with pytest.raises(InvalidInputError, match="stays in this chat"):
        w.drive.detach_folder(w.ana, chat.id, folder)
