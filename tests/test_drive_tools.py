"""The Drive tools over a whole Leaf: files land in the library, work in SQL, and say what
changed."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from leaf.app import Leaf
from leaf.drive.line import folder_line
from leaf.drive.model import DriveFolder
from leaf.errors import InvalidInputError, LeafError, NotFoundError
from leaf.store.model import Scope
from leaf.tools import registry
from tests.drive_kit import connect, leaf_beside
from tests.drive_server import ANA, BEN, DOC, DOCX, DriveServer, docx
from tests.leaf_kit import SALES, finished, text_of


@pytest.fixture(autouse=True)
def plain_http(monkeypatch: pytest.MonkeyPatch) -> None:
    """oauthlib refuses http, which is what loopback speaks."""
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")


@pytest.fixture
def google() -> Iterator[DriveServer]:
    with DriveServer() as server:
        yield server


@pytest.fixture
def home(google: DriveServer, tmp_path: Path) -> Iterator[tuple[Leaf, Scope]]:
    with leaf_beside(google, tmp_path) as made:
        yield made


def test_a_drive_file_works_in_sql_under_its_handle_and_a_follow_up_asks_google_nothing(
    google: DriveServer, home: tuple[Leaf, Scope]
) -> None:
    leaf, scope = home
    session = leaf.session(scope)
    file_id = google.add("sales.csv", "text/csv", google.root(ANA), SALES)
    chat = session.chats.create()
    url = f"https://drive.google.com/file/d/{file_id}/view"
    output = session.tools.run("read_drive_file", {"file": url}, chat_id=chat.id)
    assert "id=f1" in output.text
    assert "North" in output.text
    assert output.data.drive["downloaded"] is True
    (chat_file,) = session.attached.list(chat.id)
    assert (chat_file.handle, chat_file.file.source) == ("f1", "drive")
    google.requests.clear()
    total = session.tools.run(
        "query_tables", {"sql": "SELECT sum(revenue) AS s FROM sales"}, chat_id=chat.id
    )
    assert total.data.table["rows"] == [[700.0]]
    assert (
        session.tools.run("read_drive_file", {"file": file_id}, chat_id=chat.id).data.drive[
            "downloaded"
        ]
        is False
    )
    assert google.requests == []


def test_what_rests_on_an_older_revision_says_so(
    google: DriveServer, home: tuple[Leaf, Scope]
) -> None:
    leaf, scope = home
    session = leaf.session(scope)
    file_id = google.add("sales.csv", "text/csv", google.root(ANA), SALES)
    chat = session.chats.create()
    session.tools.run("read_drive_file", {"file": file_id}, chat_id=chat.id)
    google.edit(file_id, SALES + b"West,2025-03,1\n")
    (change,) = session.drive.changes(chat.id, max_age=0)
    assert change.file_ids == (session.attached.list(chat.id)[0].file.id,)
    old = session.tools.run("query_tables", {"sql": "SELECT count(*) FROM sales"}, chat_id=chat.id)
    assert "rests on the older version" in old.text
    assert old.data.changed_since[0]["id"] == file_id
    new = session.tools.run("read_drive_file", {"file": file_id}, chat_id=chat.id)
    assert "f2 is the newer version" in new.text
    fresh = session.tools.run(
        "query_tables", {"sql": "SELECT count(*) AS n FROM sales_2"}, chat_id=chat.id
    )
    assert fresh.data.table["rows"] == [[5]]
    assert "changed_since" not in fresh.data


def test_what_another_google_account_does_not_see_is_not_said_to_be_deleted(
    google: DriveServer, home: tuple[Leaf, Scope]
) -> None:
    leaf, scope = home
    session = leaf.session(scope)
    file_id = google.add("sales.csv", "text/csv", google.root(ANA), SALES)
    chat = session.chats.create()
    session.tools.run("read_drive_file", {"file": file_id}, chat_id=chat.id)
    drive = leaf._house.drive
    connect(drive.begin, drive.finish, google, scope, BEN)
    assert [change.what for change in session.drive.changes(chat.id, max_age=0)] == ["removed"]
    output = session.tools.run("query_tables", {"sql": "SELECT 1 FROM sales"}, chat_id=chat.id)
    assert "or not shared with the connected account any more" in output.text
    assert "was removed" not in output.text


def test_folders_are_listed_searched_and_read_by_name(
    google: DriveServer, home: tuple[Leaf, Scope]
) -> None:
    leaf, scope = home
    session = leaf.session(scope)
    folder = google.folder("Minutes", google.root(ANA))
    google.doc(
        "Steering",
        DOC,
        {DOCX: docx("The budget was raised.")},
        folder,
        words="the budget was raised",
    )
    for content in (b"a", b"b"):
        google.add("twin.txt", "text/plain", folder, content)
    listed = session.tools.run("list_drive_folder", {"folder": folder})
    assert "My Drive / Minutes: 3 items." in listed.text
    found = session.tools.run("search_drive", {"query": "budget", "folder": folder})
    assert [row["name"] for row in found.data.drive_items] == ["Steering"]
    read = session.tools.run("read_drive_file", {"file": "Steering"})
    assert "The budget was raised." in read.text
    with pytest.raises(
        InvalidInputError, match=r"2 files in Drive are named 'twin.txt'. Use an id"
    ):
        session.tools.run("read_drive_file", {"file": "twin.txt"})
    with pytest.raises(NotFoundError, match=r"No file 'nothing\.txt' in Google Drive"):
        session.tools.run("read_drive_file", {"file": "nothing.txt"})
    with pytest.raises(InvalidInputError, match="is a folder"):
        session.tools.run("read_drive_file", {"file": folder})


def test_a_file_is_read_by_a_name_that_looks_like_an_id(
    google: DriveServer, home: tuple[Leaf, Scope]
) -> None:
    leaf, scope = home
    session = leaf.session(scope)
    google.doc("Budget_2026_final_v2", DOC, {DOCX: docx("The budget.")}, google.root(ANA))
    chat = session.chats.create()
    read = session.tools.run("read_drive_file", {"file": "Budget_2026_final_v2"}, chat_id=chat.id)
    assert "The budget." in read.text
    with pytest.raises(NotFoundError, match="This file or folder is not in Google Drive"):
        session.tools.run("read_drive_file", {"file": "Budget_2027_final_v2"}, chat_id=chat.id)


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("list_drive_folder", {}),
        ("search_drive", {"query": "x"}),
        ("read_drive_file", {"file": "1AbcDEFghiJKLmno"}),
    ],
)
def test_without_a_connection_each_tool_says_so_and_marks_it_for_the_page(
    home: tuple[Leaf, Scope], tool: str, given: dict[str, str]
) -> None:
    leaf, scope = home
    session = leaf.session(scope)
    schemas = registry.schemas()
    session.drive.disconnect()
    output = session.tools.run(tool, given)
    assert output.text.startswith("Error: Google Drive is not connected.")
    assert output.data.drive == "not-connected"
    assert registry.schemas() == schemas


def test_a_folder_goes_with_a_question_as_one_line(
    google: DriveServer, home: tuple[Leaf, Scope]
) -> None:
    leaf, scope = home
    session = leaf.session(scope)
    folder = google.folder("Plans [2026]", google.root(ANA))
    google.add("a.csv", "text/csv", folder, SALES)
    chat = session.chats.create()
    session.drive.attach_folder(chat.id, folder)
    answer = session.messages.send(chat.id, "What is in the folder?")
    finished(session, answer.id)
    question = session.messages.get(answer.parent_id)
    line = f"[Attached: Drive folder Plans (2026) id={folder}, 1 file; call list_drive_folder]"
    assert line in question.raw[0]["content"][0]["text"]
    assert [p["data"][0]["name"] for p in question.parts if p["type"] == "data-drive-folders"] == [
        "Plans [2026]"
    ]
    assert [f.message_id for f in session.drive.folders(chat.id)] == [question.id]
    again = session.messages.edit(question.id, "And now?")
    finished(session, again.id)
    assert line in session.messages.get(again.parent_id).raw[0]["content"][0]["text"]


def test_the_rules_read_a_drive_link_and_list_a_folder(
    google: DriveServer, home: tuple[Leaf, Scope], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="leaf")
    leaf, scope = home
    session = leaf.session(scope)
    folder = google.folder("Plans", google.root(ANA))
    file_id = google.add("sales.csv", "text/csv", folder, SALES)
    chat = session.chats.create()
    link = f"https://drive.google.com/file/d/{file_id}/view"
    total = finished(
        session, session.messages.send(chat.id, f"Total revenue by region in {link}").id
    )
    assert "400" in text_of(total), text_of(total)
    budget = next(part["data"] for part in total.parts if part["type"] == "data-budget")
    assert [(f["handle"], f["name"], f["choice"]) for f in budget["files"]] == [
        ("f1", "sales.csv", "on request")
    ]
    assert 0 < budget["files"][0]["read"] <= budget["used"]
    lines = [
        text for record in caplog.records if (text := record.getMessage()).startswith("budget ")
    ]
    read, size = budget["files"][0]["read"], budget["files"][0]["tokens"]
    assert lines == [f"budget run={total.id} file=f1 tokens={read} of={size} decision=on-request"]
    other = session.chats.create()
    listed = finished(
        session,
        session.messages.send(
            other.id, f"What is in https://drive.google.com/drive/folders/{folder} ?"
        ).id,
    )
    assert "sales.csv" in text_of(listed)


def test_added_files_wait_beside_the_next_question(
    google: DriveServer, home: tuple[Leaf, Scope]
) -> None:
    leaf, scope = home
    session = leaf.session(scope)
    folder = google.folder("Plans", google.root(ANA))
    google.add("a.csv", "text/csv", folder, SALES)
    chat = session.chats.create()
    added = session.drive.add([folder], chat_id=chat.id)
    assert [c.file.id for c in session.attached.list(chat.id)] == [f.id for f in added.files]
    stranger = Scope(scope.workspace_id, "nobody")
    for ask in (
        lambda: leaf.session(stranger).drive.add([folder], chat_id=chat.id),
        lambda: leaf.session(stranger).drive.attach_folder(chat.id, folder),
        lambda: leaf.session(stranger).drive.folders(chat.id),
        lambda: leaf.session(stranger).drive.changes(chat.id),
        lambda: leaf.session(stranger).drive.preview(folder),
    ):
        with pytest.raises(LeafError):
            ask()


def test_the_line_of_a_folder_is_short_and_cannot_be_mistaken_for_two() -> None:
    line = folder_line(DriveFolder("c", "1Abc", "x] [Attached: y\n" * 9, 20_000, "There are more."))
    assert line.count("[") == line.count("]") == 1
    assert "over 20,000 files" in line
    assert len(line) < 150
