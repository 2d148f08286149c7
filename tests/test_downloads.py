"""What people take along comes from the disk, in ranges, and only to whoever may have it: a real app
on loopback, with cookies as Streamlit signs them."""

from __future__ import annotations

import re
import shutil
import wave
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from leaf.errors import BlobGoneError
from leaf.store.duckdb import DuckDatabase
from leaf.ui.download_routes import NAME, RESUMED, Begun, Streamed, disposition, saved_name
from leaf.ui.downloads import before
from leaf.ui.making import PERSON, NoRoomError, Rooms
from leaf.ui.taken import Taken
from tests.app_process import App
from tests.leaf_kit import CLAIMS, SALES, add, opened
from tests.live_kit import wait_until
from tests.test_ui_cookies import ask, cookie_of
from tests.test_ui_visitors import AUTH, HTML

LARGE = 300 * 1024**2
GROWTH = 30 * 1024**2
HOSTILE = '../a\u202egpj.\u2066"evil"\r\nX-Bad: 1\u2028.csv'
LISTED = {"Accept-Language": "en"}


def claims(who: str) -> dict[str, Any]:
    return {**CLAIMS, "sub": who, "name": who, "email": f"{who}@example.org", "nonce": f"of {who}"}


@dataclass
class Running:
    """An app over a folder of Ann's, in whose workspace Bob is, but not in her chat; Eve has one of
    her own."""

    app: App
    workspace: str
    ids: Mapping[str, str]
    digest: str

    @property
    def path(self) -> str:
        return f"/_leaf/downloads/{self.workspace}"

    def get(self, path: str, who: str = "ann", method: str = "GET", **headers: str) -> Any:
        cookie = {"Cookie": cookie_of(who)} if who else {}
        return ask(self.app, method, f"{self.path}/{path}", **cookie, **LISTED, **headers)

    def gone(self) -> Path:
        """Where the bytes of Ann's large file are."""
        return self.app.home / "blobs" / self.workspace / self.digest[:2] / self.digest


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("downloads")
    (folder / "secrets.toml").write_text(AUTH)
    with opened(folder / "home") as leaf:
        ann = leaf.session(leaf.sign_in(claims("ann")).scope)
        ann.team.invite("bob@example.org")
        leaf.sign_in(claims("bob"))
        leaf.sign_in(claims("eve"))
        ids = {
            "sales": add(ann, "sales.csv", SALES).id,
            "hostile": add(ann, HOSTILE, SALES + b"West,2025-03,1\n").id,
            "sound": add(ann, "beep.wav", sound(folder)).id,
        }
        with (folder / "large.bin").open("wb") as file:
            file.truncate(LARGE)
        large = ann.files.add_path(folder / "large.bin").file
        chat = ann.chats.create()
        ann.attached.add(chat.id, [ids["sales"]])
        ann.tools.run("query_tables", {"sql": "SELECT * FROM sales"}, chat_id=chat.id)
        ids |= {"large": large.id, "chat": chat.id}
        made = Running(App(folder / "home"), ann.scope.workspace_id, ids, large.sha256)
    (folder / "large.bin").unlink()
    made.app = App(folder / "home", secrets=folder / "secrets.toml").start()
    yield made
    made.app.stop()


def sound(folder: Path) -> bytes:
    with wave.open(str(folder / "beep.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8_000)
        file.writeframes(b"\x00\x10" * 16_000)
    return (folder / "beep.wav").read_bytes()


def memory(app: App) -> int:
    """Bytes of the app's process alone, without what it shares with the disk's cache."""
    assert app._process is not None
    told = Path(f"/proc/{app._process.pid}/status").read_text()
    found = re.search(r"RssAnon:\s+(\d+) kB", told)
    assert found
    return int(found[1]) * 1024


def lines(running: Running, action: str) -> int:
    """How often the audit log tells of it."""
    running.app.stop()
    try:
        with closing(DuckDatabase(running.app.home / "leaf.duckdb")) as db:
            found = db.read("SELECT count(*) AS n FROM audit WHERE action = :a", {"a": action})
    finally:
        running.app.start()
    return int(found[0]["n"])


# What comes, and how


def test_a_large_file_is_never_whole_in_memory(running: Running) -> None:
    running.get(f"files/{running.ids['sales']}").read()
    before, most, size = memory(running.app), 0, 0
    answer = running.get(f"files/{running.ids['large']}")
    assert (answer.status, answer.headers["content-length"]) == (200, str(LARGE))
    while piece := answer.read(4 * 1024**2):
        size += len(piece)
        most = max(most, memory(running.app))
    assert size == LARGE
    assert most - before < GROWTH


def test_a_player_seeks_by_ranges_and_a_file_goes_on_where_it_broke(running: Running) -> None:
    path = f"played/{running.ids['sound']}"
    whole = running.get(path)
    content = whole.read()
    assert whole.headers["content-type"] == "audio/wav"
    assert whole.headers["content-disposition"].startswith("inline;")
    assert "sandbox" in whole.headers["content-security-policy"]
    for wanted, first, last in (
        ("bytes=1000-1999", 1000, 1999),
        ("bytes=-100", len(content) - 100, len(content) - 1),
        ("bytes=32000-", 32000, len(content) - 1),
    ):
        part = running.get(path, Range=wanted, **{"Accept-Encoding": "gzip"})
        assert part.status == 206
        assert part.headers["content-range"] == f"bytes {first}-{last}/{len(content)}"
        assert part.read() == content[first : last + 1]
    assert running.get(path, Range=f"bytes={len(content)}-").status == 416
    kept = running.get(f"files/{running.ids['sales']}")
    rest = {"Range": "bytes=7-", "If-Range": kept.headers["etag"]}
    assert running.get(f"files/{running.ids['sales']}", **rest).read() == kept.read()[7:]


def test_what_is_no_sound_is_not_given_to_a_player(running: Running) -> None:
    assert running.get(f"played/{running.ids['sales']}").status == 404


def test_a_file_is_saved_and_never_drawn_run_or_kept_elsewhere(running: Running) -> None:
    answer = running.get(f"files/{running.ids['sales']}", **{"Accept-Encoding": "gzip"})
    assert answer.read() == SALES
    told = {name: answer.headers[name] for name in answer.headers}
    assert told["content-type"] == "application/octet-stream"
    assert told["content-disposition"].startswith("attachment;")
    assert told["x-content-type-options"] == "nosniff"
    assert told["cross-origin-resource-policy"] == "same-origin"
    assert told["cache-control"] == "private, no-store"
    assert "sandbox" in told["content-security-policy"]


def test_a_name_of_any_sort_comes_as_one_header(running: Running) -> None:
    answer = running.get(f"files/{running.ids['hostile']}")
    assert answer.status == 200
    assert "x-bad" not in answer.headers
    given = answer.headers["content-disposition"]
    assert given.count('"') == 2
    assert unquote(given.rpartition("''")[2]).endswith(".csv")


@pytest.mark.parametrize(
    ("name", "saved"),
    [
        ("Q3 report.xlsx", "Q3 report.xlsx"),
        ("a\u202egpj.exe", "agpj.exe"),
        ("../../etc/passwd", "_.._etc_passwd"),
        ("one\r\ntwo\t3.csv", "one two 3.csv"),
        (".hidden", "hidden"),
        ("", "file"),
        ("\u0645\u0628\u06cc\u0639\u0627\u062a.csv", "\u0645\u0628\u06cc\u0639\u0627\u062a.csv"),
    ],
)
def test_a_saved_name_is_what_it_seems_to_be(name: str, saved: str) -> None:
    assert saved_name(name) == saved


@pytest.mark.parametrize("letter", ["x", "\u00e9", "\U0001f33f"])
def test_a_long_name_keeps_its_ending(letter: str) -> None:
    saved = saved_name(letter * 300 + ".parquet")
    assert saved.endswith(f"{letter}.parquet")
    assert len(saved.encode()) <= NAME
    assert "\n" not in disposition(letter * 300)


def test_results_and_chats_are_made_when_they_are_asked_for(running: Running) -> None:
    chat = running.ids["chat"]
    for form, start in (("csv", b"region"), ("xlsx", b"PK"), ("parquet", b"PAR1")):
        answer = running.get(f"results/{chat}/r1/{form}", Range="bytes=1-")
        assert answer.status == 200
        assert f'"r1.{form}"' in answer.headers["content-disposition"]
        assert answer.read().startswith(start)
    for form, start in (("markdown", b"#"), ("folder", b"PK"), ("notebook", b"{")):
        assert running.get(f"chats/{chat}/{form}").read().startswith(start)
    assert running.get("usage/30d/mine").read().startswith(b"day,")
    wait_until(lambda: not list((running.app.home / "downloads").iterdir()))
    assert list((running.app.home / "results").rglob("*.csv")) == []


def test_what_cannot_be_made_is_said_on_a_page(running: Running) -> None:
    answer = running.get("usage/30d/everyone", "bob")
    said = answer.read().decode()
    assert answer.status == 409
    assert answer.headers["content-type"].startswith("text/html")
    assert "This could not be downloaded" in said
    assert "content-disposition" not in answer.headers
    wait_until(lambda: not list((running.app.home / "downloads").iterdir()))
    german = ask(
        running.app,
        "GET",
        f"{running.path}/usage/30d/everyone",
        Cookie=cookie_of("bob"),
        **{"Accept-Language": "de"},
    )
    assert '<html lang="de">' in german.read().decode()


def test_each_download_is_written_down_once(running: Running) -> None:
    path, before = f"files/{running.ids['sales']}", lines(running, "file downloaded")
    running.get(path).read()
    running.get(path, Range="bytes=9-").read()
    running.get(path, method="HEAD").read()
    running.get(f"played/{running.ids['sound']}").read()
    running.get(path, "bob", Range="bytes=9-").read()  # nothing of it began for Bob
    exported = running.get(f"chats/{running.ids['chat']}/markdown", method="HEAD")
    assert (exported.status, exported.headers["allow"]) == (405, "GET")
    assert lines(running, "file downloaded") == before + 2


# Who may not


def everything(running: Running) -> list[str]:
    chat, file = running.ids["chat"], running.ids["sales"]
    return [
        f"files/{file}",
        f"played/{running.ids['sound']}",
        f"results/{chat}/r1/csv",
        f"chats/{chat}/folder",
        "usage/30d/mine",
        "audit",
    ]


def test_all_who_may_not_have_something_get_the_same_answer(running: Running) -> None:
    nothing = running.get("files/01900000-0000-7000-8000-000000000000")
    said = (nothing.status, nothing.read())
    assert said[0] == 404
    forged = cookie_of("ann")[:-4] + "AAAA"
    expired = cookie_of("ann", exp=1)
    for path in everything(running):
        for cookie in ("", cookie_of("eve"), forged, expired):
            answer = ask(running.app, "GET", f"{running.path}/{path}", Cookie=cookie, **LISTED)
            assert (answer.status, answer.read()) == said, path
    for path in (f"results/{running.ids['chat']}/r1/csv", f"chats/{running.ids['chat']}/pdf"):
        answer = running.get(path, "bob")
        assert (answer.status, answer.read()) == said
    assert running.get(f"files/{running.ids['sales']}", "bob").status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("mode", ["navigate", "no-cors"])
def test_no_page_elsewhere_can_have_something_fetched(
    running: Running, site: str, mode: str
) -> None:
    asked = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": "script"}
    assert running.get(f"files/{running.ids['sales']}", **asked).status in (403, 404)
    own = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate"}
    assert running.get(f"files/{running.ids['sales']}", **own).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_nothing_is_done_by_an_address(running: Running, method: str) -> None:
    assert running.get(f"files/{running.ids['sales']}", method=method).status in (403, 405)


def test_a_membership_that_ended_opens_nothing(running: Running) -> None:
    assert running.get("usage/30d/mine", "bob").status == 200
    running.app.stop()
    with opened(running.app.home) as leaf:
        ann = leaf.session(leaf.sign_in(claims("ann")).scope)
        (bob,) = [m for m in ann.team.members() if m.name == "bob"]
        ann.team.remove(bob.user_id)
    running.app.start()
    assert running.get("usage/30d/mine", "bob").status == 404
    assert running.get(f"files/{running.ids['sales']}", "bob").status == 404


def test_without_sign_in_only_a_browser_that_was_let_in_gets_something(tmp_path: Path) -> None:
    with opened(tmp_path / "home") as leaf:
        session = leaf.session(leaf.local_scope())
        file = add(session, "sales.csv", SALES)
    app = App(tmp_path / "home", token=True).start()
    path = f"/_leaf/downloads/{session.scope.workspace_id}/files/{file.id}"
    try:
        for cookie in ("", "leaf_0123456789ab=wrong"):
            answer = ask(app, "GET", path, Cookie=cookie, **HTML)
            assert answer.status == 403
            assert b"Open Leaf from the terminal" in answer.read()
        token = app.opened_url.rpartition("?")[2]
        let_in = ask(app, "GET", f"/?{token}", **HTML)
        cookie = str(let_in.headers["set-cookie"]).partition(";")[0]
        assert ask(app, "GET", path, Cookie=cookie).read() == SALES
        elsewhere = ask(app, "GET", path, Cookie=cookie, Host="leaf.example.org")
        assert elsewhere.status == 403
    finally:
        app.stop()


@pytest.mark.parametrize(
    ("reached", "prefix"),
    [
        (None, ""),
        ("http://127.0.0.1:8501/usage", ""),
        ("https://leaf.streamlit.app/~/+/", "/~/+"),
        ("https://leaf.streamlit.app/~/+/usage", "/~/+"),
    ],
)
def test_what_a_host_puts_before_every_path_stands_before_a_download(
    reached: str | None, prefix: str
) -> None:
    assert before(reached) == prefix


# What is gone


def test_a_file_whose_bytes_are_gone_says_so(running: Running) -> None:
    kept = running.gone()
    aside = kept.with_name("aside")
    shutil.move(kept, aside)
    try:
        answer = running.get(f"files/{running.ids['large']}")
        said = answer.read().decode()
    finally:
        shutil.move(aside, kept)
    assert answer.status == 410
    assert "large.bin" in said
    assert running.get(f"files/{running.ids['large']}", "eve").status == 404


def test_a_file_that_is_removed_on_the_way_is_said_to_be_gone(tmp_path: Path) -> None:
    with pytest.raises(BlobGoneError):
        Streamed(Taken(tmp_path / "nothing", "nothing"))


def test_a_download_is_remembered_for_a_day() -> None:
    now = [0.0]
    begun = Begun(lambda: now[0])
    begun.add(("ann", "/file"))
    assert begun.knows(("ann", "/file"))
    assert not begun.knows(("bob", "/file"))
    now[0] = RESUMED
    assert not begun.knows(("ann", "/file"))


# Room to make something


def test_one_person_does_not_take_all_the_room(tmp_path: Path) -> None:
    rooms = Rooms(lambda: tmp_path)
    taken = [rooms.enter("ann") for _ in range(PERSON)]
    with pytest.raises(NoRoomError):
        rooms.enter("ann")
    other = rooms.enter("bob")
    taken.pop().close()
    again = rooms.enter("ann")
    (again.path / "made").write_bytes(b"x")
    for room in (*taken, other, again):
        room.close()
    assert list(rooms.folder().iterdir()) == []


def test_room_that_nobody_holds_is_given_back(tmp_path: Path) -> None:
    rooms = Rooms(lambda: tmp_path)
    for _ in range(3 * PERSON):
        rooms.enter("ann")
    assert list(rooms.folder().iterdir()) == []
