"""A whole Leaf over a folder of its own, for tests of the packages that need all of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

from leaf.app import Leaf
from leaf.sessions.session import Session
from leaf.settings import Settings
from leaf.shapes.part_values import texts_of
from leaf.store import Store
from leaf.store.database import now
from leaf.store.model import File, Message, Scope
from leaf.wiring import build

SALES = b"region,month,revenue\nNorth,2025-01,100\nSouth,2025-01,250.5\nNorth,2025-02,300\nEast,2025-02,49.5\n"
CLAIMS = {
    "is_logged_in": True,
    "iss": "https://login.example.org",
    "iat": 1,
    "exp": 4_000_000_000,
    "email_verified": True,
}
"""What a login provider says of everybody; who it is comes beside it."""


@contextmanager
def opened(home: Path, **settings: Any) -> Iterator[Leaf]:
    """Leaf on `home`, closed at the end. Scripted models are asked for no titles unless `titles` says
    so."""
    leaf = build(replace(Settings(home=home, titles=False), **settings))
    try:
        yield leaf
    finally:
        leaf.close()


def add(session: Session, name: str, content: bytes) -> File:
    return session.files.add(name, BytesIO(content)).file


def finished(session: Session, message_id: str, seconds: float = 60.0) -> Message:
    """The message once its run is over. It is looked at when one of its workspace was written, and
    now and then for what another process writes."""
    changes, deadline = session.messages._house.store.db.changes, time.monotonic() + seconds
    while True:
        since = changes.position
        message = session.messages.get(message_id)
        if message.status not in ("pending", "streaming"):
            return message
        assert time.monotonic() < deadline, f"still {message.status} after {seconds} s"
        changes.wait(session.scope.workspace_id, since, 0.25, ["messages"])


def text_of(message: Message) -> str:
    return "".join(texts_of(message.parts))


def settle(store: Store, scope: Scope, *chat_ids: str) -> None:
    """Let a scope be that of a member, who takes part in these chats, whatever their ids."""
    with store.db.transaction() as tx:
        at = now()
        given = {"workspace": scope.workspace_id, "user": scope.user_id, "at": at}
        for statement in (
            "INSERT INTO users (id, email, name, created_at) VALUES (:user, :user, 'You', :at)",
            "INSERT INTO workspaces (id, name, created_at) VALUES (:workspace, 'W', :at)",
            "INSERT INTO workspace_members (workspace_id, user_id, role, created_at) "
            "VALUES (:workspace, :user, 'owner', :at)",
        ):
            tx.execute(statement, given)
        for chat_id in chat_ids:
            tx.execute(
                "INSERT INTO chats (id, workspace_id, user_id, title, model, head_id, created_at, "
                "updated_at) VALUES (:chat, :workspace, :user, '', '', '', :at, :at)",
                {**given, "chat": chat_id},
            )
            tx.execute(
                "INSERT INTO chat_participants (chat_id, user_id, created_at) "
                "VALUES (:chat, :user, :at)",
                {**given, "chat": chat_id},
            )
