"""The routes by which pages send files: who may, what is bounded, what is said. A real app on
loopback."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from leaf.app import Leaf
from leaf.errors import SignInError
from leaf.sessions.session import Session
from leaf.ui.receiving import UploadLimits, Uploads
from leaf.ui.upload_keys import LIFETIME, UploadKeys
from leaf.ui.upload_routes import AT_ONCE, KEY, LEFT, UploadRoutes
from leaf.ui.upload_view import shown
from tests.app_process import App
from tests.leaf_kit import opened
from tests.test_ui_cookies import cookie_of
from tests.test_ui_visitors import AUTH

MEBI = 1024 * 1024
PATH = "/_leaf/uploads"


class Page:
    """An open page of somebody."""

    def __init__(self, leaf: Leaf, home: Path, most: int = 3 * MEBI) -> None:
        self.own: Session = leaf.session(leaf.local_scope())
        self.keys = UploadKeys()
        self.account = ""
        """Whom the cookies of requests speak for."""
        self.uploads = Uploads(lambda: UploadLimits(most, most, 2 * most), lambda: home)
        self.served = UploadRoutes(lambda: self.keys, lambda: self.uploads, lambda _: self.account)
        self.key = self.keys.make("", lambda: self.own)
        self.client = TestClient(Starlette(routes=self.served.routes(PATH)))

    def ask(self, method: str, path: str = "", body: Any = None, key: str = "") -> Any:
        content = body if isinstance(body, bytes) else json.dumps(body).encode() if body else None
        headers = {KEY: key or self.key.words}
        return self.client.request(method, PATH + path, content=content, headers=headers)

    def begin(self, *files: tuple[str, int], chat: str = "") -> str:
        answer = self.ask("POST", body={"chat": chat, "files": [list(one) for one in files]})
        assert answer.status_code == 200, answer.text
        return str(answer.json()["job"])


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    with opened(tmp_path / "home", max_upload_bytes=2 * MEBI) as leaf:
        yield Page(leaf, tmp_path / "held")


def test_a_file_is_announced_sent_and_shown(page: Page) -> None:
    answer = page.ask("POST", body={"chat": "new", "files": [["2024/a.csv", 8], ["big.csv", 9**9]]})
    job, chat = answer.json()["job"], answer.json()["chat"]
    (listed,) = page.ask("GET", f"?here={chat}").json()
    assert [(item["name"], item["state"]) for item in listed["items"]] == [
        ("big.csv", "failed"),
        ("2024/a.csv", "waiting"),
    ]
    assert "larger than 2 MB" in listed["items"][0]["said"]
    assert page.ask("PUT", f"/{job}/0", b"a,b\n1,2\n").status_code == 204
    assert page.own.jobs.wait(job, 60).done == 2
    (listed,) = page.ask("GET", f"?here={chat}").json()
    assert (listed["over"], listed["settled"], listed["failed"]) == (True, True, 1)
    assert [item["state"] for item in listed["items"]] == ["failed", "ready"]
    assert page.ask("GET", "?here=another-chat").json() == []
    assert [one.file.name for one in page.own.attached.list(chat)] == ["2024/a.csv"]
    assert page.ask("PUT", f"/{job}/0", b"a,b\n1,2\n").status_code == 409
    assert page.ask("POST", f"/{job}/close").status_code == 204
    assert page.ask("GET", f"?here={chat}").json() == []
    assert list(page.uploads.folder().iterdir()) == []


def test_a_key_is_its_tabs_beside_the_cookies_of_its_account_and_for_a_time(page: Page) -> None:
    assert page.ask("GET", key="no such key").json()["why"] == "key"
    job = page.begin(("a.csv", 8))
    page.account = "issuer bob"
    for method, path in (("GET", ""), ("POST", ""), ("PUT", f"/{job}/0"), ("DELETE", f"/{job}")):
        assert page.ask(method, path, b"x").status_code == 403
    page.account = ""
    assert page.ask("GET").status_code == 200, "who has no right to a key does not end it"

    def ended() -> Session:
        raise SignInError("Sign in again.", reason="expired")

    page.key = page.keys.make("", ended)
    assert page.ask("PUT", f"/{job}/0", b"x").status_code == 409
    assert page.own.jobs.shown(job)[0].item.state == "coming"
    now = [0.0]
    keys = UploadKeys(lambda: now[0])
    key = keys.make("ann", lambda: page.own)
    now[0] += LIFETIME - 1
    assert keys.of(key.words, "ann") is key
    now[0] += LIFETIME - 1
    assert keys.renew(key)
    now[0] += LIFETIME + 1
    assert keys.of(key.words, "ann") is None
    assert not keys.renew(key)


def test_what_is_sent_is_bounded_and_what_is_refused_is_said_with_the_file(page: Page) -> None:
    job = page.begin(("lies.csv", 8), ("more.csv", 8))
    answer = page.ask("PUT", f"/{job}/0", bytes(4 * MEBI))
    assert answer.status_code == 413
    (first, _) = page.own.jobs.shown(job)
    assert (first.item.state, first.item.problem) == ("failed", answer.json()["error"])
    assert page.ask("PUT", f"/{job}/1", bytes(int(2.5 * MEBI))).status_code == 413
    assert "larger than 2 MB" in page.own.jobs.shown(job)[1].item.problem
    assert list(page.uploads.folder().iterdir()) == []
    page.served._sending[page.own.scope.user_id] = AT_ONCE
    assert page.ask("PUT", f"/{job}/1", b"x").json()["why"] == "busy"
    page.served._sending.clear()
    for body in ({"chat": "", "files": []}, {"files": [["a", 1]]}, {"chat": "", "files": [["a"]]}):
        assert page.ask("POST", body=body).status_code == 400
    assert page.ask("POST", body=b"no json").status_code == 400
    assert page.ask("POST", body={"chat": "nowhere", "files": [["a", 1]]}).status_code == 404
    assert page.ask("PUT", "/nojob/0", b"x").status_code == 404
    assert page.ask("POST", "/nojob/left").status_code == 404


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../etc/passwd", "etc/passwd"),
        ("C:\\data\\x.csv", "data/x.csv"),
        ("a/" * 100 + "n" * 300 + ".csv", None),
        ("a/" * 2_500 + "n.csv", None),
        ("תיקייה/📈 \u202edoc.csv", "תיקייה/📈 doc.csv"),
    ],
)
def test_any_name_is_kept_as_a_name(page: Page, given: str, kept: str | None) -> None:
    job = page.begin((given, 8))
    assert page.ask("PUT", f"/{job}/0", b"a,b\n1,2\n").status_code == 204
    assert page.own.jobs.wait(job, 60).state == "done"
    (file,) = page.own.files.list()
    assert (kept is None and len(file.name) <= 300 and file.name.endswith(".csv")) or (
        file.name == kept
    )


def test_a_tab_that_is_closed_says_what_it_does_not_send(page: Page) -> None:
    job = page.begin(("a.csv", 8), ("b.csv", 8), ("c.csv", 8))
    assert page.ask("DELETE", f"/{job}/1").status_code == 204
    assert page.ask("PUT", f"/{job}/2", b"a,b\n1,2\n").status_code == 204
    assert page.ask("POST", f"/{job}/left").status_code == 204
    assert page.own.jobs.wait(job, 60).state == "done"
    states = [one.item.state for one in page.own.jobs.shown(job)]
    assert states == ["failed", "cancelled", "added"]
    assert page.own.jobs.shown(job)[0].item.problem == LEFT
    assert page.ask("PUT", f"/{job}/0", b"a,b\n1,2\n").status_code == 204
    assert page.own.jobs.wait(job, 60).failed == 0
    job = page.begin(("c.csv", 8), ("d.csv", 8))
    assert page.ask("DELETE", f"/{job}").status_code == 204
    assert page.own.jobs.get(job).cancelled == 2


def test_a_disk_that_takes_no_file_more_is_said_with_the_file(page: Page) -> None:
    folder = page.uploads.folder()
    folder.rmdir()
    folder.write_text("in its place")  # where a disk has no room for a name, making one fails, too
    job = page.begin(("a.csv", 8))
    answer = page.ask("PUT", f"/{job}/0", b"a,b\n1,2\n")
    assert answer.status_code == 507
    (one,) = page.own.jobs.shown(job)
    assert (one.item.state, one.item.problem) == ("failed", answer.json()["error"])


def test_a_large_table_says_how_many_rows_are_read(page: Page) -> None:
    """Of a file that is being read: as much of it as its reader has gone through."""
    job = page.begin(("a.csv", 8))
    page.ask("PUT", f"/{job}/0", b"a,b\n1,2\n")
    page.own.jobs.wait(job, 60)
    (file,) = page.own.files.list()
    house = page.own.jobs._house
    house.tables._converter._read_so_far[file.workspace_id, file.sha256] = (61, 100)
    from dataclasses import replace

    from leaf.ui.upload_view import _state

    progress = replace(page.own.jobs.shown(job)[0], is_read=True)
    assert _state(page.own, progress, True) == ("reading", 0.61, "about 0 of 1 row")
    assert shown(page.own, "files")[0]["items"][0]["state"] == "ready"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("uploads")
    (folder / "secrets.toml").write_text(AUTH)
    running = App(folder / "home", secrets=folder / "secrets.toml").start()
    yield running
    running.stop()


def test_without_a_key_of_an_admitted_page_nothing_is_taken(app: App) -> None:
    for headers in (
        {},
        {"Cookie": cookie_of("ann")},
        {"Cookie": cookie_of("ann"), KEY: "guessed"},
        {"Origin": "https://evil.example", KEY: "guessed"},
    ):
        wire = http.client.HTTPConnection("127.0.0.1", app.port, timeout=60)
        wire.request("PUT", f"{PATH}/job/0", b"x" * 100, headers)
        assert wire.getresponse().status == 403
        wire.close()
    held = app.home / "uploads"
    assert not held.exists() or list(held.iterdir()) == []


def test_the_path_is_closed_to_browsers_that_were_not_let_in() -> None:
    """Where nobody signs in, only commands come without the page's cookie."""
    from leaf.remote.server import PATHS
    from leaf.ui.state import UPLOADS

    assert not any(UPLOADS.startswith(path) for path in PATHS)
