"""Keys with which a page sends files: what a tab shows with each request, so that nothing is taken
from where no page of somebody who was let in is open.

The script of a page makes a key after the gate. It says nothing about whom it is for, is good only
beside the cookies of the same account, and does nothing that its maker may not do any more.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leaf.language.text import ENGLISH

if TYPE_CHECKING:
    from leaf.sessions.session import Session

LIFETIME = 43_200.0
"""Seconds for which a key is good after it was used or shown last: longer than one upload takes."""
MOST = 20_000
"""Keys at one time; the one that was used least recently goes first."""


@dataclass
class UploadKey:
    """What a tab may do."""

    words: str
    account: str
    """Whom the cookies of its requests have to speak for; empty where nobody signs in."""
    session: Callable[[], Session]
    """Asked at each request. Raises a LeafError for whoever may not act any more."""
    model: str = ""
    """For a chat that is begun by a file."""
    language: str = ENGLISH
    """In which its page speaks."""


class UploadKeys:
    """The keys of all tabs. Safe to call from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._made: dict[str, tuple[float, UploadKey]] = {}
        """By their words, least recently used first."""

    def make(self, account: str, session: Callable[[], Session]) -> UploadKey:
        """A key for a tab."""
        key = UploadKey(secrets.token_urlsafe(32), account, session)
        with self._lock:
            self._keep(key)
        return key

    def of(self, words: str, account: str) -> UploadKey | None:
        """The key, if it is good beside cookies of this account."""
        with self._lock:
            until, key = self._made.pop(words, (0.0, None))
            if key is None or until <= self._clock():
                return None
            self._keep(key)  # also after a request of somebody else: it stays its owner's
            return key if key.account == account else None

    def renew(self, key: UploadKey) -> bool:
        """Its page was drawn; whether it is still good."""
        with self._lock:
            until, known = self._made.pop(key.words, (0.0, None))
            if known is None or until <= self._clock():
                return False
            self._keep(key)
            return True

    def _keep(self, key: UploadKey) -> None:
        now = self._clock()
        self._made[key.words] = (now + LIFETIME, key)
        while next(iter(self._made.values()))[0] <= now or len(self._made) > MOST:
            del self._made[next(iter(self._made))]
