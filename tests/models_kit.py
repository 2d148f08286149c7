"""Sessions whose people connect models, for the tests of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from leaf.agent.connections import ModelDraft
from leaf.app import Leaf
from leaf.sessions.session import Session
from tests.leaf_kit import finished
from tests.messages_server import Turn

MARKER = "sk-ant-marker-7Qd2-never-shown-WXYZ"
CLAIMS = {"is_logged_in": True, "iss": "https://login.example.org", "email_verified": True}


def signed_in(leaf: Leaf, name: str) -> Session:
    claims = {"sub": name, "name": name, "email": f"{name.lower()}@example.org"}
    ends = {"iat": 1, "exp": 4_000_000_000, "nonce": os.urandom(8).hex()}
    return leaf.session(leaf.sign_in({**CLAIMS, **claims, **ends}).scope)


def local(leaf: Leaf) -> Session:
    return leaf.session(leaf.local_scope())


def server_draft(url: str, key: str = MARKER, model: str = "") -> ModelDraft:
    return ModelDraft("server", url, key, model or "claude-sonnet-5-5")


def asked(session: Session, text: str = "hello", chat_id: str = "") -> Any:
    chat_id = chat_id or session.chats.create().id
    return finished(session, session.messages.send(chat_id, text).id)


def says(text: str) -> Callable[[Any], Turn]:
    return lambda _body: Turn.say(text)
