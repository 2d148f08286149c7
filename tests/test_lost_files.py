"""Files whose content is gone from the data folder: they are marked wherever they are listed, say
what to do when they are opened, and are whole again once they are uploaded again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pytest

from leaf.app import Leaf
from leaf.cli.main import main
from leaf.errors import LeafError
from leaf.files.line import attached_line, problem
from leaf.sessions.session import Session
from leaf.settings.storage import Storage
from leaf.store.model import Chat, File
from tests.leaf_kit import SALES, add, opened

SAID = "sales.csv is lost: its content is missing from the data folder."


@dataclass(frozen=True)
class Lost:
    leaf: Leaf
    session: Session
    chat: Chat
    file: File


@pytest.fixture(params=["duckdb", "postgres"])
def lost(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Lost]:
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else ""
    in_folder = Storage(url="file")
    with opened(tmp_path / "home", database_url=url, storage=in_folder) as leaf:
        session = leaf.session(leaf.local_scope())
        file, chat = add(session, "sales.csv", SALES), session.chats.create()
        add(session, "whole.csv", b"a,b\n1,2\n")
        session.attached.add(chat.id, [file.id])
        session.files.path(file.id).unlink()
        yield Lost(leaf, session, chat, file)


def test_a_lost_file_is_marked_wherever_it_is_listed(lost: Lost) -> None:
    said = {file.name: problem(file) for file in lost.session.files.list()}
    assert said == {"sales.csv": f"{SAID} Upload it again.", "whole.csv": ""}
    (beside,) = lost.session.attached.list(lost.chat.id)
    assert problem(beside.file).startswith(SAID)
    assert "cannot be read: sales.csv is lost" in attached_line(beside)
    listed = lost.session.tools.run("list_files", {}, chat_id=lost.chat.id).text
    assert f"cannot be read: {SAID}" in listed


@pytest.mark.parametrize("tool", ["read_file", "describe_table", "query_tables", "run_python"])
def test_opening_a_lost_file_says_what_to_do(lost: Lost, tool: str) -> None:
    given = {
        "read_file": {"file": "f1"},
        "describe_table": {"table": "sales"},
        "query_tables": {"sql": "SELECT count(*) FROM sales"},
        "run_python": {"code": "len(sales)"},
    }[tool]
    said = r"sales\.csv( is lost)?: .* (Upload it|Upload the file|Add the file) again\."
    with pytest.raises(LeafError, match=said):
        lost.session.tools.run(tool, given, chat_id=lost.chat.id)


def test_page_and_download_of_a_lost_file_say_what_to_do(lost: Lost) -> None:
    for open_it in (lost.session.files.preview, lost.session.files.path):
        with pytest.raises(LeafError, match=r"sales\.csv is lost: .* Upload it again\."):
            open_it(lost.file.id)


def test_a_lost_file_is_whole_again_once_it_is_uploaded_again(lost: Lost) -> None:
    added = lost.session.files.add("sales.csv", BytesIO(SALES))
    assert (added.file.id, added.duplicate) == (lost.file.id, True)
    assert not any(problem(file) for file in lost.session.files.list())
    found = lost.session.tools.run(
        "query_tables", {"sql": "SELECT count(*) FROM sales"}, chat_id=lost.chat.id
    )
    assert found.data.to_json()["table"]["rows"] == [[4]]


def test_the_command_line_marks_a_lost_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LEAF_HOME", str(tmp_path))
    with opened(tmp_path) as leaf:
        session = leaf.session(leaf.local_scope())
        session.files.path(add(session, "sales.csv", SALES).id).unlink()
    assert main(["files", "list"]) == 0
    assert f"{SAID} Upload it again." in capsys.readouterr().out
