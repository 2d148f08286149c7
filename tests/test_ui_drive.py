"""The Drive page, the card of the connection and what a chat shows of Drive, over a Google on
loopback."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from leaf.app import Leaf
from leaf.drive.model import DriveChange, DriveItem
from leaf.errors import DriveNotConnectedError
from leaf.settings import Settings
from leaf.store.jobs import ItemState, Job, JobItem
from leaf.ui import adding, drive, freshness, markdown, state, thread
from leaf.wiring import build
from tests.drive_server import ANA, DriveServer
from tests.test_ui_pages import open_page, words_of

BACK = "http://localhost:8501/drive"
NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


@pytest.fixture
def google() -> Iterator[DriveServer]:
    with DriveServer() as server:
        root = server.root(ANA)
        reports = server.folder("Reports 2026", root)
        server.add("sales.csv", "text/csv", reports, b"region,revenue\nNorth,100\n")
        server.add("odd \x07\u202e![x](https://evil.example/a.png)", "text/plain", root, b"x")
        yield server


@pytest.fixture
def leaf(tmp_path: Path, google: DriveServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Leaf]:
    """The Leaf that pages find, with a Google client and no connection."""
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")
    app = build(replace(Settings(home=tmp_path / "home"), google=google.settings()))
    setattr(sys, state.REGISTRY, state.Registry(leaf=app))
    yield app
    state.close()


def connect(leaf: Leaf, google: DriveServer) -> None:
    session = leaf.session(leaf.local_scope())
    session.drive.finish(google.consent(session.drive.begin(BACK)))


def plain(page: AppTest) -> str:
    return words_of(page).replace("\\", "").replace(markdown.JOINER, "")


def labels(page: AppTest) -> list[str]:
    return [button.label.replace("\\", "") for button in page.button]


@pytest.mark.parametrize("path", ["drive", "settings"])
def test_without_a_google_client_the_card_says_what_to_set_and_which_address_to_allow(
    tmp_path: Path, path: str
) -> None:
    setattr(sys, state.REGISTRY, state.Registry(leaf=build(Settings(home=tmp_path / "home"))))
    try:
        page = open_page(path)
        assert "LEAF_GOOGLE_CLIENT_ID" in plain(page)
        assert any(code.value.endswith("/drive") for code in page.code)
        assert "Connect Google Drive" not in labels(page)
    finally:
        state.close()


@pytest.mark.parametrize("path", ["drive", "settings"])
def test_before_the_connection_the_card_says_what_it_gives(leaf: Leaf, path: str) -> None:
    page = open_page(path)
    assert "cannot change, share or delete" in plain(page)
    assert "Connect Google Drive" in labels(page)


def test_only_a_click_makes_an_address_at_google(leaf: Leaf, google: DriveServer) -> None:
    page = open_page("drive")
    page.button(key="drive-connect").click().run()
    assert not page.exception
    link = page.main.get("link_button")[0]
    assert link.proto.url.startswith(f"{google.url}/o/oauth2/auth?")
    assert "drive.readonly" in link.proto.url


@pytest.mark.parametrize(
    "query",
    [
        {"code": "4/abc", "state": "foreign"},
        {"code": "4/abc"},
        {"error": "access_denied", "state": "unknown"},
    ],
)
def test_what_came_back_and_is_not_ours_is_one_sentence_and_leaves_the_address(
    leaf: Leaf, query: dict[str, str]
) -> None:
    page = open_page()
    for name, value in query.items():
        page.query_params[name] = value
    page.switch_page(str(Path(__file__).resolve().parents[1] / "leaf" / "pages" / "drive.py")).run()
    assert not page.exception
    assert len(page.warning) == 1
    assert "4/abc" not in plain(page)
    assert page.query_params == {}
    assert leaf.session(leaf.local_scope()).drive.connection().state == "absent"


def test_the_page_lists_my_drive_with_names_that_cannot_act(
    leaf: Leaf, google: DriveServer
) -> None:
    connect(leaf, google)
    page = open_page("drive")
    assert f"{ANA} · read only" in plain(page)
    names = [button.label for button in page.button if (button.key or "").startswith("drive-open-")]
    assert names[0] == "Reports 2026"
    assert "\x07" not in names[1]
    assert "\u202e" not in names[1]
    assert "\\!\\[x\\]" in names[1]


def test_ticking_a_box_asks_nothing_of_google(leaf: Leaf, google: DriveServer) -> None:
    connect(leaf, google)
    page = open_page("drive")
    before = len(google.calls())
    page.checkbox(key="drive-pick-0").check().run()
    assert "**1 folder** chosen" in plain(page)
    assert len(google.calls()) == before


def test_a_folder_of_nobody_is_said_and_leads_back(leaf: Leaf, google: DriveServer) -> None:
    connect(leaf, google)
    page = open_page("drive")
    page.query_params["folder"] = "1nothing"
    page.run()
    assert len(page.warning) == 1
    page.button(key="drive-home").click().run()
    assert "Reports 2026" in labels(page)


def test_a_revoked_grant_is_the_card_with_why_and_connect_again(
    leaf: Leaf, google: DriveServer
) -> None:
    connect(leaf, google)
    google.revoke(ANA)
    page = open_page("drive")
    assert "does not work" in plain(page)
    assert "Connect again" in labels(page)
    page.button(key="drive-try").click().run()
    assert not page.exception
    assert len(page.warning) == 1


def test_the_connected_card_names_the_account_and_asks_before_it_disconnects(
    leaf: Leaf, google: DriveServer
) -> None:
    connect(leaf, google)
    page = open_page("settings")
    assert f"Connected** to {ANA}" in plain(page)
    page.button(key="drive-disconnect").click().run()
    assert leaf.session(leaf.local_scope()).drive.connection().state == "connected"
    assert "chats keep their answers" in plain(page)


def test_a_chat_shows_its_folder_and_says_when_drive_is_disconnected(
    leaf: Leaf, google: DriveServer
) -> None:
    connect(leaf, google)
    session = leaf.session(leaf.local_scope())
    chat = session.chats.create()
    folder = session.drive.list().items[0]
    session.drive.attach_folder(chat.id, folder.ref)
    page = open_page(chat=chat.id)
    assert "Reports 2026" in labels(page)
    assert any("What is in the Drive folder Reports 2026" in label for label in labels(page))
    session.drive.disconnect()
    page = open_page(chat=chat.id)
    assert "Drive is disconnected. Its folders cannot be opened" in plain(page)
    assert "Connect Drive" in labels(page)


def test_a_batch_for_a_new_chat_brings_files_and_takes_folders_as_they_are(
    leaf: Leaf, google: DriveServer
) -> None:
    connect(leaf, google)
    session = leaf.session(leaf.local_scope())
    items = session.drive.list().items
    folders = [item.ref for item in items if item.is_folder]
    refs = [item.ref for item in items if not item.is_folder]
    job = session.jobs.wait(
        session.jobs.begin_drive(
            refs, folders=folders, target=adding.NEW_CHAT, origin=adding.DRIVE
        ).id
    )
    assert (job.state, job.problem, job.done, job.failed) == ("done", "", 1, 0)
    assert [folder.name for folder in session.drive.folders(job.outcome["chat"])] == [
        "Reports 2026"
    ]
    assert len(session.attached.list(job.outcome["chat"])) == 1


def test_a_folder_of_drive_is_listed_once_and_brought_in_file_by_file(
    leaf: Leaf, google: DriveServer
) -> None:
    connect(leaf, google)
    session = leaf.session(leaf.local_scope())
    folder = next(item for item in session.drive.list().items if item.is_folder)
    job = session.jobs.wait(session.jobs.begin_drive([folder.ref]).id)
    assert (job.state, job.total, job.done) == ("done", 1, 1)
    assert [(item.name, item.state) for item in session.jobs.outcomes(job.id)] == [
        ("sales.csv", "added")
    ]


def test_without_a_connection_nothing_is_begun(leaf: Leaf) -> None:
    session = leaf.session(leaf.local_scope())
    with pytest.raises(DriveNotConnectedError):
        session.jobs.begin_drive(["root"])
    assert session.jobs.list() == []


def a_job(**changed: Any) -> Job:
    return Job(**{**asdict(Job("1", "drive", "done", 0, {}, {}, "", NOW, NOW, NOW)), **changed})


def items(*states: ItemState) -> list[JobItem]:
    return [
        JobItem(n, f"f{n}", {}, state, "" if state == "failed" else f"id{n}", "")
        for n, state in enumerate(states)
    ]


@pytest.mark.parametrize(
    ("job", "became", "said"),
    [
        (a_job(), items("added"), "**1 file** is in your library."),
        (
            a_job(),
            items("added", "added", "failed"),
            "**2 files** are in your library. 1 file was skipped.",
        ),
        (a_job(), items("failed", "failed"), "No file was added. 2 files were skipped."),
        (a_job(), items("added", "unreadable"), "1 of them cannot be read."),
        (a_job(), items("known", "added"), "1 was there already."),
        (a_job(state="stopped", total=9, done=2), items("added", "added"), "7 are left."),
        (a_job(state="stopped"), [], "Stopped. No file was added."),
    ],
)
def test_what_became_of_a_batch_is_counted(job: Job, became: list[JobItem], said: str) -> None:
    assert said in adding.outcome_text(job, became)


def test_changes_are_named_newest_first() -> None:
    changes = [
        DriveChange("1", "old.csv", "changed", NOW - timedelta(days=2)),
        DriveChange("2", "new.pdf", "added", NOW, folder="Reports"),
        DriveChange("3", "gone.txt", "removed", NOW - timedelta(days=1)),
    ]
    said = "new.pdf is new in Reports, gone.txt is gone or no longer shared, old.csv has changed"
    assert freshness.summary(changes) == f"Meanwhile in Drive: {said}."


def test_a_changed_file_is_marked_under_the_answer_that_rests_on_it(
    leaf: Leaf, google: DriveServer
) -> None:
    connect(leaf, google)
    session = leaf.session(leaf.local_scope())
    reports = session.drive.list().items[0]
    sales = session.drive.list(reports.ref).items[0]
    chat = session.chats.create()
    session.drive.add([sales.ref], chat_id=chat.id)
    answer = session.messages.send(chat.id, "SELECT * FROM sales")
    run = session.messages.watch(answer.id)
    while run is not None and not run.read(10_000, 5).done:
        pass
    google.edit(sales.id, b"region,revenue\nNorth,900\n")
    assert [change.what for change in session.drive.changes(chat.id, max_age=0)] == ["changed"]
    page = open_page(chat=chat.id)
    deadline = time.monotonic() + 30
    told = "sales.csv was changed in Drive", "Meanwhile in Drive: sales.csv has changed"
    while not all(text in plain(page) for text in told):
        assert time.monotonic() < deadline
        page.run()


@pytest.mark.parametrize(
    ("parts", "needed"),
    [
        (
            [
                {
                    "type": "tool-search_drive",
                    "state": "output-available",
                    "output": {"data": {"drive": "not-connected"}},
                }
            ],
            True,
        ),
        (
            [
                {
                    "type": "tool-search_drive",
                    "state": "output-available",
                    "output": {"data": {"drive_items": []}},
                }
            ],
            False,
        ),
        (
            [{"type": "tool-read_file", "state": "input-available"}, {"type": "text", "text": "x"}],
            False,
        ),
    ],
)
def test_an_answer_that_wanted_drive_is_known_by_its_steps(
    parts: list[dict[str, object]], needed: bool
) -> None:
    assert thread.needed_drive(parts) is needed


def test_an_item_is_described_by_what_is_known_of_it() -> None:
    sheet = "application/vnd.google-apps.spreadsheet"
    item = DriveItem(
        "1", "Budget", "spreadsheet", sheet, modified=NOW, owner="Ana", is_shortcut=True
    )
    assert drive.facts(item, date(2026, 6, 1)) == "Google Sheet · shortcut · 4 May · Ana"
    table = DriveItem("2", "t.csv", "text", "text/csv", size=48_213, file_id="f")
    assert drive.facts(table, date(2026, 6, 1)) == "Text · 48.2 kB · in your library"


def test_no_character_of_a_name_acts() -> None:
    assert (
        re.search(
            "[\x00-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]",
            markdown.label("a\x00\x1b\u202e\ud800\x9fb"),
        )
        is None
    )
