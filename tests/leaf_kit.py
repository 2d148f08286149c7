"""A whole Leaf over a folder of its own, for tests of the rooms that need all of it."""

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
from leaf.store.model import File, Message
from leaf.wiring import build

SALES = b"region,month,revenue\nNorth,2025-01,100\nSouth,2025-01,250.5\nNorth,2025-02,300\nEast,2025-02,49.5\n"


@contextmanager
def opened(home: Path, **settings: Any) -> Iterator[Leaf]:
    """Leaf on `home`, closed at the end."""
    leaf = build(replace(Settings(home=home), **settings))
    try:
        yield leaf
    finally:
        leaf.close()


def add(session: Session, name: str, content: bytes) -> File:
    return session.files.add(name, BytesIO(content)).file


def finished(session: Session, message_id: str, seconds: float = 60.0) -> Message:
    """The message once its run is over."""
    deadline = time.monotonic() + seconds
    while (message := session.messages.get(message_id)).status in ("pending", "streaming"):
        assert time.monotonic() < deadline, f"still {message.status} after {seconds} s"
        time.sleep(0.02)
    return message


def text_of(message: Message) -> str:
    return "".join(p["text"] for p in message.parts if p["type"] == "text")
