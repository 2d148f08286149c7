"""Whatever leaves Leaf for somebody's disk leaves a line in the audit log: the list of ways is
taken from the code, of sessions and of what pages call for downloads."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import leaf.ui
from leaf.app import Leaf
from leaf.documents.documents import DocumentDraft
from leaf.sessions.session import PARTS, Session
from leaf.store import messages
from leaf.store.documents import VersionChange
from tests.leaf_kit import SALES, add, opened

SPEC = {"mark": "bar", "encoding": {"x": {"field": "one", "type": "nominal"}}}
GIVES = re.compile(r"export|download|csv|markdown|leaving|^draw$")
"""What a method is called that gives something to take along."""
CALLED = re.compile(r"\bown\.(\w+\.\w+)\(")
"""How a page calls a method outside of its drawing, as for a download."""
NO_FILES = frozenset(
    {"chats.create", "chats.list", "drive.changes", "files.get", "files.list"}
    | {"gone.rstrip", "messages.get", "messages.watch", "projects.list", "prompts.list"}
    | {"boards.get", "chats.get", "edits.get", "files.path", "files.suggestions", "team.language"}
)
"""What pages call so and give nobody."""


class Desk:
    """Somebody who has one of everything that can be taken along."""

    def __init__(self, leaf: Leaf) -> None:
        self.own = own = leaf.session(leaf.local_scope())
        self.scope = own.scope
        self.folder = leaf.settings.home
        self.file = add(own, "sales.csv", SALES)
        self.chat = own.chats.create()
        store = leaf._house.store
        asked: list[Any] = [{"type": "text", "text": "How many?"}]
        told = messages.add_exchange(store.db, self.scope, self.chat.id, asked)
        self.answer = told.answer.id
        own.tools.run("query_tables", json.dumps({"sql": "SELECT 1 AS one"}), chat_id=self.chat.id)
        self.board = own.boards.create("Board").id
        draft = DocumentDraft("Plan", "text", "words")
        self.document = leaf._house.documents.create(
            self.scope, self.chat.id, draft, VersionChange("written")
        )
        written = leaf.settings.home / "written.txt"
        written.write_text("written")
        self.sha256 = leaf._house.library.keep_written(
            self.scope, self.chat.id, self.answer, "written.txt", written
        ).sha256


WAYS: dict[str, Callable[[Session, Desk], Any]] = {
    "chats.export": lambda own, desk: own.chats.export(desk.chat.id, "markdown", desk.folder),
    "chats.markdown": lambda own, desk: own.chats.markdown(desk.chat.id),
    "messages.markdown": lambda own, desk: own.messages.markdown(desk.answer),
    "results.export": lambda own, desk: own.results.export(desk.chat.id, "r1", into=desk.folder),
    "results.draw": lambda own, desk: own.results.draw(desk.chat.id, SPEC, ["one"], [[1]], "json"),
    "documents.export": lambda own, desk: own.documents.export(desk.document.id, "md"),
    "files.download": lambda own, desk: own.files.download(desk.file.id),
    "files.leaving": lambda own, desk: own.files.leaving(
        own.documents.get(desk.document.id).file_id
    ),
    "python.download": lambda own, desk: own.python.download(
        desk.chat.id, desk.sha256, "written.txt"
    ),
    "boards.export": lambda own, desk: own.boards.export(desk.board, "html"),
    "usage.csv": lambda own, desk: own.usage.csv(),
    "team.audit_csv": lambda own, desk: own.team.audit_csv(),
    "operations.audit_csv": lambda own, desk: own.operations.audit_csv(),
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with opened(tmp_path_factory.mktemp("home")) as running:
        yield Desk(running)


def exported(own: Session) -> list[str]:
    return [f"{one.action} {one.subject}" for one in own.team.audit(kind="export", limit=1_000)]


def of_sessions() -> set[str]:
    """Methods of a session's parts that give something to take along, by their names."""
    return {
        f"{part.__name__.lower()}.{method}"
        for part in PARTS
        for method in vars(part)
        if not method.startswith("_") and GIVES.search(method)
    }


def of_pages() -> set[str]:
    """What pages call for downloads."""
    folder = Path(leaf.ui.__file__).parent
    called = {
        name for path in folder.rglob("*.py") for name in CALLED.findall(path.read_text("utf-8"))
    }
    return {name for name in called if not name.startswith("jobs.")} - NO_FILES


@pytest.mark.parametrize("way", WAYS)
def test_whatever_is_taken_along_is_one_line_in_the_audit_log(way: str, desk: Desk) -> None:
    before = exported(desk.own)
    assert WAYS[way](desk.own, desk)
    new = exported(desk.own)
    assert len(new) == len(before) + 1, new


def test_no_way_out_is_missing_here() -> None:
    """A new one belongs into `WAYS`."""
    assert of_sessions() == set(WAYS)
    assert of_pages() <= set(WAYS)
    assert len(of_pages()) >= 10


def test_what_cannot_be_had_is_no_line(desk: Desk) -> None:
    before = exported(desk.own)
    for give in (
        lambda: desk.own.results.draw("nothing", SPEC, ["one"], [[1]], "json"),
        lambda: desk.own.messages.markdown("nothing"),
        lambda: desk.own.chats.markdown("nothing"),
    ):
        with pytest.raises(Exception, match="No "):
            give()
    assert exported(desk.own) == before
