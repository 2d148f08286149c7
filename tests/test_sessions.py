"""The door: whatever a session offers, somebody who is not let in gets nothing of it and changes nothing by it.

The walk goes through every public method of every part, as the classes have them: a new method is walked without being named
here, and a new parameter has to be given a value that is the owner's.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from leaf.app import Leaf
from leaf.documents.documents import Draft
from leaf.errors import LeafError
from leaf.sessions.house import Part
from leaf.sessions.session import PARTS, Session
from leaf.settings import Allowance
from leaf.store.documents import Change
from leaf.store.model import Scope
from tests.leaf_kit import add, finished, opened

CLAIMS = {"is_logged_in": True, "iss": "https://login.example.org", "iat": 1, "exp": 4_000_000_000, "email_verified": True}
SECRET = "Aurelia"
"""Stands in everything that is the owner's, and nowhere else."""
ORCHARD = f"orchard,apples\n{SECRET} North,3\n{SECRET} South,5\n".encode()
OWN = {part.__name__.lower(): part for part in PARTS}
METHODS = [(part, name) for part in OWN for name in vars(OWN[part]) if not name.startswith("_")]

HARMLESS: Mapping[str, Any] = {
    "name": "stranger.txt",
    "title": "Taken",
    "text": "Taken over",
    "content": "Taken",
    "words": "Taken",
    "model": "",
    "query": "harvest",
    "whose": "everyone",
    "subject": "workspace",
    "email": "eve@example.org",
    "role": "member",
    "allowance": Allowance(day_tokens=1),
    "key": "k",
    "allow": True,
    "feedback": -1,
    "handle": "f9",
    "slug": "taken",
    "stream": BytesIO(b"of a stranger"),
    "sources": [("stranger.txt", BytesIO(b"of a stranger"))],
    "total": 1,
    "position": 0,
    "timeout": 0.0,
    "row": 1,
    "number": 1,
    "base": 1,
    "older": 0,
    "newer": 1,
    "ending": "md",
    "form": "markdown",
    "ref": "r",
    "refs": ["r"],
    "redirect_uri": "http://localhost:8501/settings",
    "given": {},
    "spec": {},
    "columns": [],
    "rows": [],
}
"""What the strangers choose themselves."""
SPECIAL = {
    ("drive", "finish"): {"query": {"code": "c", "state": "s"}},
    ("results", "export"): {"form": "csv"},
    ("results", "draw"): {"form": "png"},
    ("tools", "run"): {"name": "list_files"},
}


@dataclass
class World:
    """An owner with one of everything, and two who are not let in."""

    leaf: Leaf
    owner: Session
    strangers: Mapping[str, Session]
    given: Mapping[str, Any]
    """Parameter -> what is the owner's, or what nobody could mind."""

    def kept(self) -> str:
        """All that the owner has."""
        own, chat_id = self.owner, self.given["chat_id"]
        document_id, file_id = self.given["document_id"], self.given["file_id"]
        return repr(
            (
                own.chats.list(),
                own.chats.thread(chat_id),
                own.chats.participants(chat_id),
                own.files.list(),
                own.files.words(file_id),
                own.attached.list(chat_id),
                own.documents.list(),
                own.documents.versions(document_id),
                own.jobs.list(),
                own.jobs.outcomes(self.given["job_id"]),
                own.drive.folders(chat_id),
                own.team.user(),
                own.team.workspaces(),
                own.team.members(),
                own.team.invitations(),
                own.usage.plan(),
            )
        )


def signed_in(leaf: Leaf, name: str) -> Scope:
    mail = f"{name.split()[0].lower()}@example.org"
    return leaf.sign_in({**CLAIMS, "sub": name, "name": name, "email": mail, "nonce": os.urandom(8).hex()}).scope


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    home = tmp_path_factory.mktemp("home")
    with opened(home) as leaf:
        ann, eve = signed_in(leaf, f"Ann {SECRET}"), signed_in(leaf, "Eve")
        own = leaf.session(ann)
        own.team.invite(f"bob@{SECRET.lower()}.example.org")
        file = add(own, f"{SECRET} harvest.csv", ORCHARD)
        own.files.set_words(file.id, f"{SECRET} said so")
        chat = own.chats.create()
        answer = finished(own, own.messages.send(chat.id, f"total apples by orchard in {SECRET} harvest", [file.id]).id)
        assert SECRET in str(answer.parts)
        call = next(p for p in answer.parts if p["type"] == "tool-query_tables")
        draft = Draft(f"{SECRET} minutes", "text", f"# {SECRET}\n\nAll apples.\n")
        document = leaf._house.documents.create(ann, chat.id, draft, Change("created", answer.id))
        job = own.jobs.begin(1, target=chat.id, origin="test")
        own.jobs.take(job.id, [(f"{SECRET} list.txt", BytesIO(f"{SECRET} list".encode()))])
        own.jobs.all_arrived(job.id)
        assert own.jobs.wait(job.id, 60).state == "done"
        (table,) = own.files.preview(file.id).tables
        (invitation,) = own.team.invitations()
        path = home / "stranger.txt"
        path.write_text("of a stranger")
        given = {
            **HARMLESS,
            "chat_id": chat.id,
            "target": chat.id,
            "message_id": answer.id,
            "message": answer,
            "call_id": call["toolCallId"],
            "file_id": file.id,
            "file_ids": [file.id],
            "file": file,
            "files": [file],
            "sha256": file.sha256,
            "table": table,
            "document_id": document.id,
            "document": document,
            "result_id": call["output"]["data"]["table"]["result_id"],
            "job_id": job.id,
            "invitation_id": invitation.id,
            "user_id": ann.user_id,
            "path": path,
            "paths": [path],
        }
        forged = Scope(ann.workspace_id, eve.user_id)
        yield World(leaf, own, {"stranger": leaf.session(eve), "forger": leaf.session(forged)}, given)


def calls_of(part: str, name: str, given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The arguments of a call with what must be given, and of one more for each other thing that can be."""
    parameters = list(inspect.signature(vars(OWN[part])[name]).parameters.values())[1:]
    values = {**given, **SPECIAL.get((part, name), {})}
    missing = [p.name for p in parameters if p.default is p.empty and p.name not in values]
    assert not missing, f"say in this file what {missing} of {part}.{name} is"
    needed = {p.name: values[p.name] for p in parameters if p.default is p.empty}
    return [needed, *({**needed, p.name: values[p.name]} for p in parameters if p.default is not p.empty and p.name in values)]


def told(value: object) -> str:
    """All that a value tells."""
    if isinstance(value, Path):
        return value.read_bytes().decode(errors="replace")
    if hasattr(value, "read"):
        return repr(value.read(0, 0.0))
    return repr(value)


@pytest.mark.parametrize("who", ["stranger", "forger"])
@pytest.mark.parametrize(("part", "name"), METHODS)
def test_whoever_is_not_let_in_gets_nothing_and_changes_nothing(world: World, who: str, part: str, name: str) -> None:
    there, before = getattr(world.strangers[who], part), world.kept()
    if isinstance(vars(type(there))[name], property):
        assert SECRET not in told(getattr(there, name))
        return
    for arguments in calls_of(part, name, world.given):
        try:
            found = told(getattr(there, name)(**arguments))
        except LeafError as e:
            found = str(e)
        # Suggestions name the files that the caller brought along, which is no news to them.
        assert SECRET.lower() not in found.lower() or "files" in arguments, found
        assert world.kept() == before


def test_the_owner_gets_what_the_others_do_not(world: World) -> None:
    """The walk would find nothing either way if there were nothing."""
    own, given = world.owner, world.given
    for value in (
        own.chats.get(given["chat_id"]),
        own.messages.get(given["message_id"]),
        own.files.path(given["file_id"]),
        own.documents.content(given["document"]),
        own.results.page(given["chat_id"], given["result_id"]),
        own.results.export(given["chat_id"], given["result_id"]),
        own.jobs.outcomes(given["job_id"]),
        own.tools.run("list_files", {}),
        own.team.invitations(),
    ):
        assert SECRET.lower() in told(value).lower()


def test_every_part_of_a_session_is_bound_to_its_scope(world: World) -> None:
    parts = {type(value): value for value in vars(world.owner).values() if isinstance(value, Part)}
    assert set(parts) == set(PARTS)
    assert all(part._scope is world.owner.scope for part in parts.values())


def test_leaf_itself_takes_no_scope_but_at_the_door() -> None:
    asked = {name for name, f in inspect.getmembers(Leaf, inspect.isfunction) if "scope" in inspect.signature(f).parameters}
    assert asked == {"session"}
    for part in PARTS:
        methods = inspect.getmembers(part, inspect.isfunction)
        assert not [n for n, f in methods if n != "__init__" and "scope" in inspect.signature(f).parameters]
