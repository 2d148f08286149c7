"""Tickets: a browser that was shown a chat may watch one answer of it.

The script of the page makes a ticket after the gate; the browser shows it when it connects. It is
good for one connection and a few minutes, says nothing about whom it is for, and lets nobody see
what its maker may not see any more.
"""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from leaf.language.text import ENGLISH
from leaf.runs.run import Run
from leaf.store.model import Message

LIFETIME = 300.0
"""Seconds for which a ticket is good."""
MOST = 20_000
"""Tickets at one time; the oldest goes first."""


class Access(Protocol):
    """Asked at each connection, and again and again while it lasts. Raises a LeafError for whoever
    may not see it any more."""

    def __call__(self) -> tuple[Message, Run | None]: ...


@dataclass(frozen=True)
class Ticket:
    """Who may watch what."""

    user_id: str
    workspace_id: str
    message_id: str
    access: Access
    ends_at: float | None = None
    """When the sign-in behind it runs out, in seconds since 1970."""
    language: str = ENGLISH
    """In which its page speaks."""


class Tickets:
    """The tickets that were made and not used, by this process and for it. Safe to call from any
    thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._name, self._began = secrets.token_hex(4), time.time()
        self._lock = threading.Lock()
        self._made: dict[str, tuple[float, Ticket]] = {}
        """By their words, the oldest first."""

    def make(self, ticket: Ticket) -> str:
        """Words for one connection."""
        words = f"{self._name}.{int(time.time()):x}.{secrets.token_urlsafe(32)}"
        with self._lock:
            now = self._clock()
            self._made[words] = (now + LIFETIME, ticket)
            while next(iter(self._made.values()))[0] <= now or len(self._made) > MOST:
                del self._made[next(iter(self._made))]
        return words

    def take(self, words: str) -> Ticket | None:
        """Use it up; None if there is none, or not any more."""
        with self._lock:
            until, ticket = self._made.pop(words, (0.0, None))
            return ticket if until > self._clock() else None

    def is_elsewhere(self, words: str) -> bool:
        """Whether another process made it while this one was there already: what leads browsers
        here does not keep each at one process."""
        name, _, rest = words.partition(".")
        stamp = rest.partition(".")[0]
        if name == self._name or not re.fullmatch(r"[0-9a-f]{1,12}", stamp):
            return False
        return int(stamp, 16) > self._began

    def drop(self, words: str) -> None:
        """It will not be used."""
        with self._lock:
            self._made.pop(words, None)
