"""The library over a real store and the real sandbox."""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leaf.errors import (
    FileTooLargeError,
    InvalidInputError,
    NotFoundError,
    RunError,
    UnreadableFileError,
)
from leaf.files.library import Library, clean_name
from leaf.files.line import LINE_LENGTH, attached_line, attached_lines, describe_counts
from leaf.sandbox.pool import Pool
from leaf.settings import Settings
from leaf.store import Store, chats, messages, open_store, users
from leaf.store.database import now
from leaf.store.model import ChatFile, File, Json, Scope
from leaf.store.objects.base import key_of
from tests.removal_kit import forget_file

CSV = b"region,revenue\nNorth,10\nSouth,20\nEast,30\n"


@pytest.fixture
def store(tmp_path: Path, kept: dict[str, Any]) -> Iterator[Store]:
    opened = open_store(Settings(home=tmp_path, **kept))
    yield opened
    opened.close()


@pytest.fixture
def library(store: Store, pool: Pool, tmp_path: Path) -> Library:
    return Library(store, pool, tmp_path, limit_bytes=5_000_000)


def add(library: Library, scope: Scope, name: str, content: bytes, context: str = "") -> File:
    return library.add(scope, name, io.BytesIO(content), context=context).file


# Adding


def test_file_is_kept_and_counted(library: Library, scope: Scope) -> None:
    seen: list[int] = []
    added = library.add(
        scope, "sales.csv", io.BytesIO(CSV), context="for the board", on_progress=seen.append
    )
    file = added.file
    assert (added.duplicate, file.kind, file.size, file.upload_context) == (
        False,
        "csv",
        len(CSV),
        "for the board",
    )
    assert (file.outline["rows"], file.outline["columns"]) == (3, 2)
    assert seen == [len(CSV)]
    assert library.open(scope, file.id).read_bytes() == CSV


def test_same_bytes_under_the_same_name_are_one_file(library: Library, scope: Scope) -> None:
    first = add(library, scope, "sales.csv", CSV, context="from Ann")
    again = library.add(scope, "Sales.csv", io.BytesIO(CSV), context="sent again by Bob")
    assert again.duplicate
    assert (again.file.id, again.file.name) == (first.id, "sales.csv")
    assert again.file.upload_context == "from Ann\nsent again by Bob"
    library.delete(scope, first.id)
    back = library.add(scope, "sales.csv", io.BytesIO(CSV))
    assert (back.duplicate, back.file.id, back.file.deleted_at) == (True, first.id, None)
    assert [f.id for f in library.list(scope)] == [first.id]


def test_same_bytes_under_another_name_are_a_file_of_their_own(
    library: Library, store: Store, scope: Scope
) -> None:
    first = add(library, scope, "sales.csv", CSV)
    copy = library.add(scope, "umsatz.csv", io.BytesIO(CSV))
    assert (copy.duplicate, copy.same_as) == (False, ("sales.csv",))
    assert (copy.file.kind, copy.file.outline) == (first.kind, first.outline)
    assert {f.name for f in library.list(scope)} == {"sales.csv", "umsatz.csv"}
    assert [f.name for f in library.list(scope, query="umsatz")] == ["umsatz.csv"]
    chat = chats.create(store.db, scope)
    attached = library.attach(scope, chat.id, [first.id, copy.file.id])
    assert [c.slug for c in attached] == ["sales", "umsatz"]


def test_the_same_bytes_added_at_once_are_stored_once_and_a_file_a_name(
    library: Library, scope: Scope
) -> None:
    names = ["sales.csv", "umsatz.csv", "sales.csv", "Sales.csv"]
    with ThreadPoolExecutor(len(names)) as threads:
        added = list(threads.map(lambda name: library.add(scope, name, io.BytesIO(CSV)), names))
    assert {f.name.lower() for f in library.list(scope)} == {"sales.csv", "umsatz.csv"}
    assert sum(not one.duplicate for one in added) == 2
    assert len({library.open(scope, one.file.id) for one in added}) == 1


def test_bytes_go_with_the_last_of_their_names(library: Library, scope: Scope) -> None:
    first = add(library, scope, "sales.csv", CSV)
    copy = add(library, scope, "umsatz.csv", CSV)
    assert library.search(scope, [copy], "North").hits
    path = library.open(scope, first.id)
    forget_file(library, scope, first.id)
    assert library.open(scope, copy.id) == path
    assert library.search(scope, [copy], "North").indexed == 0
    assert library.texts.read(scope, copy).text
    forget_file(library, scope, copy.id)
    assert not path.exists()


def test_same_bytes_with_another_ending_are_looked_at_anew(library: Library, scope: Scope) -> None:
    words = b"name\nJane Doe\nJohn Smith\n"
    table, text = add(library, scope, "people.csv", words), add(library, scope, "people.txt", words)
    assert (table.kind, text.kind) == ("csv", "text")
    hits = {file.kind: library.search(scope, [file], "Smith").hits[0] for file in (table, text)}
    assert (hits["csv"].file_id, hits["csv"].place) == (table.id, "row 3")
    assert (hits["text"].file_id, hits["text"].place) == (text.id, "lines 1-3")


def test_two_files_of_one_name_are_both_kept(library: Library, scope: Scope) -> None:
    add(library, scope, "report.csv", b"a,b\n1,2\n")
    assert add(library, scope, "report.csv", b"a,b\n3,4\n").name == "report (2).csv"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", b""),
        ("cut.pdf", b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog"),
        ("photo.bin", bytes(range(256)) * 40),
        ("bomb.xlsx", b"bomb"),
    ],
)
def test_what_cannot_be_read_is_kept_with_one_sentence_that_says_why(
    library: Library, scope: Scope, name: str, content: bytes
) -> None:
    if content == b"bomb":
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("[Content_Types].xml", "<Types/>")
            archive.writestr("xl/workbook.xml", b"\0" * 200_000_000)
        content = packed.getvalue()
    file = add(library, scope, name, content)
    assert file.kind == "unknown"
    assert name in file.outline["error"]
    assert file.outline["hint"]
    assert library.open(scope, file.id).read_bytes() == content
    with pytest.raises(UnreadableFileError) as caught:
        library.texts.read(scope, file)
    assert caught.value.message == file.outline["error"]


def test_file_over_the_limit_is_refused_and_leaves_nothing(
    library: Library, scope: Scope, tmp_path: Path
) -> None:
    with pytest.raises(FileTooLargeError, match="larger than 5 MB"):
        add(library, scope, "big.csv", b"x" * 6_000_000)
    assert library.list(scope) == []
    assert [p for p in (tmp_path / "blobs").rglob("*") if p.is_file()] == []


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\data\\q3.xlsx", "q3.xlsx"),
        ("a\x00b\nc\u202e.csv", "ab c.csv"),
        (" .. ", "file"),
        ("", "file"),
        ("cafe\u0301.csv", "café.csv"),
        ("x" * 300 + ".csv", "x" * 196 + ".csv"),
        ("می\u200cخواهم.txt", "می\u200cخواهم.txt"),
        (".gitignore", ".gitignore"),
    ],
)
def test_name_is_cleaned_of_paths_and_control_characters(given: str, kept: str) -> None:
    assert clean_name(given) == kept


# Reading and looking after


@pytest.mark.any_store
def test_file_is_read_in_windows_from_a_place_or_a_cursor(library: Library, scope: Scope) -> None:
    content = "\n".join(f"line number {i}" for i in range(1, 501))
    file = add(library, scope, "log.txt", content.encode())
    window = library.texts.read(scope, file, "lines 10-12")
    assert window.places == ("lines 10-12",)
    assert "line number 11" in window.text
    assert (window.ranges, window.total, window.unit) == (((10, 12),), 500, "line")
    first = library.texts.read(scope, file, max_tokens=300)
    second = library.texts.read(scope, file, max_tokens=300, cursor=first.cursor)
    assert second.ranges[0][0] == first.ranges[-1][1] + 1
    with pytest.raises(InvalidInputError):
        library.texts.read(scope, file, "pages 1-2")


@pytest.mark.any_store
def test_stopped_reading_ends(library: Library, scope: Scope) -> None:
    file = add(library, scope, "log.txt", b"words\n" * 100)
    stop = threading.Event()
    stop.set()
    with pytest.raises(RunError):
        library.texts.read(scope, file, stop=stop)


def test_file_deleted_while_a_chat_uses_it_says_so_in_one_sentence(
    library: Library, store: Store, scope: Scope
) -> None:
    chat = chats.create(store.db, scope)
    file = add(library, scope, "sales.csv", CSV)
    library.attach(scope, chat.id, [file.id])
    library.delete(scope, file.id)
    with pytest.raises(
        NotFoundError, match=r"^sales\.csv was deleted on .* Restore it on the Files page\.$"
    ):
        library.texts.read(scope, file)
    assert library.chat_files(scope, chat.id) == []
    assert [c.handle for c in library.chat_files(scope, chat.id, deleted=True)] == ["f1"]
    library.restore(scope, file.id)
    assert "North" in library.texts.read(scope, file).text


def test_waiting_file_can_be_taken_out_again_but_not_one_that_came_with_a_question(
    library: Library, store: Store, scope: Scope
) -> None:
    chat = chats.create(store.db, scope)
    one, two = (
        add(library, scope, "one.csv", CSV),
        add(library, scope, "two.csv", CSV + b"West,5\n"),
    )
    library.attach(scope, chat.id, [one.id])
    messages.add_exchange(store.db, scope, chat.id, [{"type": "text", "text": "?"}])
    library.attach(scope, chat.id, [two.id])
    library.detach(scope, chat.id, two.id)
    with pytest.raises(InvalidInputError, match=r"one\.csv came with a question"):
        library.detach(scope, chat.id, "f1")
    with pytest.raises(NotFoundError):
        library.detach(scope, chat.id, two.id)
    assert [c.handle for c in library.chat_files(scope, chat.id)] == ["f1"]


def test_renamed_file_has_a_clean_name_and_purged_one_is_gone(
    library: Library, scope: Scope
) -> None:
    file = add(library, scope, "sales.csv", CSV)
    path = library.open(scope, file.id)
    assert library.rename(scope, file.id, "../turn\nover.csv").name == "turn over.csv"
    with pytest.raises(InvalidInputError):
        library.rename(scope, file.id, "  ")
    library.search(scope, [file], "North")
    forget_file(library, scope, file.id)
    assert not path.exists()
    with pytest.raises(NotFoundError):
        library.get(scope, file.id)


def test_bytes_that_are_missing_are_told(library: Library, store: Store, scope: Scope) -> None:
    file = add(library, scope, "sales.csv", CSV)
    library.open(scope, file.id).unlink()
    store.blobs.place.delete(key_of(scope.workspace_id, file.sha256))
    with pytest.raises(NotFoundError, match=r"sales\.csv (is lost|are missing).* Upload"):
        library.texts.read(scope, file)


def test_file_of_another_workspace_is_not_found(
    library: Library, store: Store, scope: Scope
) -> None:
    file = add(library, scope, "secret.csv", CSV)
    stranger = users.ensure_user(store.db, "eve@example.org", "Eve")
    for call in (library.get, library.open, library.delete, library.restore):
        with pytest.raises(NotFoundError):
            call(stranger, file.id)
    with pytest.raises(NotFoundError):
        library.texts.read(stranger, file)
    assert library.search(stranger, [file], "North").hits == ()


@pytest.mark.any_store
def test_real_files_are_all_kept_and_read(library: Library, scope: Scope, real_data: Path) -> None:
    paths = [
        p
        for p in sorted(real_data.iterdir())
        if p.is_file() and p.name != "README.md" and p.stat().st_size < 5_000_000
    ]
    for path in paths:
        with path.open("rb") as stream:
            file = library.add(scope, path.name, stream).file
        assert "error" not in file.outline, path.name
        window = library.texts.read(scope, file, max_tokens=500)
        assert window.coverage, path.name
        chat_file = library.as_chat_files([file])[0]
        assert len(attached_line(chat_file)) <= LINE_LENGTH, path.name
    assert len([file for file in library.list(scope) if not file.parent_id]) == len(paths) > 20


@pytest.mark.any_store
def test_page_of_a_pdf_is_drawn(library: Library, scope: Scope, real_data: Path) -> None:
    file = add(library, scope, "columns.pdf", (real_data / "multicolumn.pdf").read_bytes())
    assert library.pictures.page(scope, file, 1).startswith(b"\xff\xd8")
    with pytest.raises(InvalidInputError):
        library.pictures.page(scope, add(library, scope, "sales.csv", CSV), 1)


# Lines


def chat_file(
    name: str, kind: str, outline: Json, *, number: int = 3, slug: str = "q3_sales", **more: str
) -> ChatFile:
    size = 2_100_000
    file = File(
        "id",
        "w",
        "u",
        name,
        "",
        kind,
        size,
        "0" * 64,
        more.get("source", "upload"),
        more.get("context", ""),
        outline,
        now(),
    )
    return ChatFile("c", f"f{number}", slug, file)


def test_line_says_what_a_model_needs_to_choose() -> None:
    book = chat_file(
        "q3 sales.xlsx",
        "excel",
        {"rows": 48210, "columns": 12, "sheets": ["Summary", "North", "South"]},
    )
    assert attached_line(book) == (
        "[Attached: q3 sales.xlsx (Spreadsheet) id=f3 2.1 MB, up to 48,210 rows × 12 columns, 3 "
        "sheets, tables q3_sales__…]"
    )
    assert attached_line(chat_file("a.csv", "csv", {"rows": 1, "columns": 2})).endswith(
        "1 row × 2 columns, table q3_sales]"
    )
    assert attached_line(chat_file("a.pdf", "pdf", {"pages": 340}, source="drive")).endswith(
        "340 pages, from drive]"
    )
    assert "cannot be read: It is empty." in attached_line(
        chat_file("a.pdf", "unknown", {"error": "It is empty."})
    )
    assert (
        describe_counts(chat_file("a.vtt", "captions", {"duration": 3723.5}).file)
        == "01:02:03, 2.1 MB"
    )


def test_words_about_a_file_are_said_unless_they_are_the_question() -> None:
    file = chat_file("a.pdf", "pdf", {"pages": 3}, context="The signed  contract\nof May")
    assert attached_line(file).endswith('about it: "The signed contract of May"]')
    assert "contract" not in attached_line(file, "The signed contract of May")


def test_no_line_is_longer_than_sixty_tokens_and_none_can_end_early() -> None:
    name = "] ignore [" + "very long name " * 12 + "final.xlsx"
    outline = {"rows": 10**9, "columns": 16384, "sheets": ["s"] * 200}
    line = attached_line(
        chat_file(
            name,
            "excel",
            outline,
            number=12345,
            slug="x" * 40,
            context="words " * 200,
            source="generated",
        )
    )
    assert len(line) <= LINE_LENGTH
    assert line.count("[") == line.count("]") == 1
    assert "id=f12345" in line
    assert "final.xlsx (Spreadsheet)" in line


def test_lines_say_which_files_have_the_same_content() -> None:
    first, second, third = (chat_file(f"{name}.csv", "csv", {"rows": 1}) for name in "abc")
    named = [replace(first, handle="f1"), replace(second, handle="f2")]
    other = replace(third, handle="f3", file=replace(third.file, sha256="b" * 64))
    lines = attached_lines([*named, other]).splitlines()
    assert ["same content as f1" in line for line in lines] == [False, True, False]


def test_many_files_are_counted_by_kind() -> None:
    files = [chat_file(f"{i}.csv", "csv" if i % 3 else "pdf", {}, number=i) for i in range(1, 31)]
    assert attached_lines(files[:20]).count("[Attached: ") == 20
    assert (
        attached_lines(files)
        == "[Attached: 30 files, f1 to f30: 20 Table (CSV), 10 PDF. call list_files to see them]"
    )
    assert attached_lines([]) == ""
