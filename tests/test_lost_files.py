"""Files whose content is gone from where it lasts: they are marked wherever they are listed, say what
to do when they are opened, and are whole again once they are uploaded again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from leaf.app import Leaf
from leaf.cli.main import main
from leaf.errors import LeafError
from leaf.files.line import attached_line, problem
from leaf.sessions.session import Session
from leaf.settings.storage import Storage
from leaf.store.model import Chat, File
from leaf.store.objects.base import key_of
from leaf.store.rounds import Round
from tests.leaf_kit import SALES, add, opened
from tests.storage_kit import KEPT, kept_at

SAID = "sales.csv is lost: its content is missing from the data folder."
FOLDER_BESIDE = "postgres-folder"


@dataclass(frozen=True)
class Lost:
    leaf: Leaf
    session: Session
    chat: Chat
    file: File

    settings: dict[str, Any]

    @property
    def said(self) -> str:
        where = self.leaf._house.store.blobs.whereabouts
        return f"sales.csv is lost: its content is missing from {where}."


def lose(leaf: Leaf, file: File) -> None:
    """Its bytes are nowhere any more; the database does not know yet."""
    blobs = leaf._house.store.blobs
    key = key_of(file.workspace_id, file.sha256)
    blobs.place.delete(key)
    if blobs.cache is not None:
        blobs.cache.delete(key)
    Round(leaf._house.store).go()


@pytest.fixture(params=[*KEPT, FOLDER_BESIDE])
def lost(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Lost]:
    beside = request.param == FOLDER_BESIDE
    settings = kept_at(request, "postgres" if beside else request.param)
    settings |= {"storage": Storage(url="file")} if beside else {}
    with opened(tmp_path / "home", **settings) as leaf:
        session = leaf.session(leaf.local_scope())
        file, chat = add(session, "sales.csv", SALES), session.chats.create()
        add(session, "whole.csv", b"a,b\n1,2\n")
        session.attached.add(chat.id, [file.id])
        lose(leaf, file)
        yield Lost(leaf, session, chat, file, settings)


def test_a_lost_file_is_marked_wherever_it_is_listed(lost: Lost) -> None:
    said = {file.name: problem(file) for file in lost.session.files.list()}
    assert said == {"sales.csv": f"{lost.said} Upload it again.", "whole.csv": ""}
    (beside,) = lost.session.attached.list(lost.chat.id)
    assert problem(beside.file).startswith(lost.said)
    assert "cannot be read: sales.csv is lost" in attached_line(beside)
    listed = lost.session.tools.run("list_files", {}, chat_id=lost.chat.id).text
    assert f"cannot be read: {lost.said}" in listed


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


def test_a_lost_file_is_marked_after_a_restart_and_on_another_machine(
    lost: Lost, tmp_path: Path
) -> None:
    if not lost.settings:
        pytest.skip("DuckDB and the folder are one process's")
    if lost.settings.get("storage") == Storage(url="file"):
        pytest.skip("a folder is one machine's")
    with opened(tmp_path / "other", **lost.settings) as other:
        session = other.session(other.local_scope())
        marked = {file.name: bool(problem(file)) for file in session.files.list()}
        assert marked == {"sales.csv": True, "whole.csv": False}
        session.files.add("sales.csv", BytesIO(SALES))
    assert not any(problem(file) for file in lost.session.files.list())


@pytest.mark.parametrize("where", ["postgres", "postgres-s3"])
def test_bytes_that_come_back_by_themselves_end_the_mark(
    request: pytest.FixtureRequest, tmp_path: Path, where: str
) -> None:
    with opened(tmp_path / "home", **kept_at(request, where)) as leaf:
        session = leaf.session(leaf.local_scope())
        file = add(session, "sales.csv", SALES)
        lose(leaf, file)
        assert problem(session.files.get(file.id))
        (tmp_path / "sales.csv").write_bytes(SALES)
        key = key_of(file.workspace_id, file.sha256)
        leaf._house.store.blobs.place.put(key, tmp_path / "sales.csv", len(SALES))
        Round(leaf._house.store).go()
        assert not problem(session.files.get(file.id))
        assert session.files.path(file.id).read_bytes() == SALES


def test_the_command_line_marks_a_lost_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LEAF_HOME", str(tmp_path))
    with opened(tmp_path) as leaf:
        session = leaf.session(leaf.local_scope())
        session.files.path(add(session, "sales.csv", SALES).id).unlink()
    assert main(["files", "list"]) == 0
    assert f"{SAID} Upload it again." in capsys.readouterr().out
