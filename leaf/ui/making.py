"""Room on the disk for what is made when somebody asks for it, until it was sent: a folder of the
data folder for each, in bounds, and never the whole in memory."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from leaf.errors import LeafError
from leaf.language.text import mark
from leaf.ui.receiving import FREE, LEFT

PERSON, TOTAL = 6, 40
"""Files that are made or sent at one time, of one person and of all."""
MOST_BYTES = 4 * 1024**3
"""Of all that stand there; more is not begun."""
BUSY = mark("Other downloads are still on their way. Try again once one of them has come.")
FULL = mark("The disk of Leaf is full. Tell whoever runs it.")


class NoRoomError(LeafError):
    """Nothing more is made just now."""


class Room:
    """A folder for one file that is made. It goes with the object, or when it is closed."""

    def __init__(self, rooms: Rooms, who: str) -> None:
        self.path = Path(tempfile.mkdtemp(dir=rooms.folder(), prefix="made-"))
        self.close = weakref.finalize(self, _forget, self.path, rooms, who)


def _forget(path: Path, rooms: Rooms, who: str) -> None:
    shutil.rmtree(path, ignore_errors=True)
    rooms.give_back(who)


class Rooms:
    """All of this process; `home` is asked for when it is needed. Safe to call from any thread."""

    def __init__(self, home: Callable[[], Path]) -> None:
        self._home = home
        self._lock = threading.RLock()  # a room may be forgotten by a collection at any line
        self._taken = Counter[str]()

    def folder(self) -> Path:
        folder = self._home() / "downloads"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return folder

    def enter(self, who: str) -> Room:
        """Raises NoRoomError."""
        folder = self.folder()
        if shutil.disk_usage(folder).free < FREE:
            raise NoRoomError(FULL)
        with self._lock:
            full = self._taken[who] >= PERSON or self._taken.total() >= TOTAL
            if full or _bytes_in(folder) > MOST_BYTES:
                raise NoRoomError(BUSY)
            self._taken[who] += 1
        try:
            return Room(self, who)
        except OSError:
            self.give_back(who)
            raise

    def give_back(self, who: str) -> None:
        with self._lock:
            self._taken[who] -= 1
            self._taken += Counter()  # forgets whoever takes nothing

    def clear(self) -> None:
        """Remove what a process that was killed has left; another one over the same folder may be
        making something just now."""
        for left in self.folder().glob("made-*"):
            with suppress(FileNotFoundError):
                if time.time() - left.stat().st_mtime > LEFT:
                    shutil.rmtree(left, ignore_errors=True)


def _bytes_in(folder: Path) -> int:
    total = 0
    for held, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):  # it was sent meanwhile
                total += os.stat(os.path.join(held, name)).st_size
    return total
