"""What Leaf takes of the disk that holds its data folder, by kind, and the most that it may."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from leaf.errors import SpaceError

GIGABYTE = 1024**3
FRESH_SECONDS = 30.0
"""How long a measurement holds; what is kept meanwhile is added to it."""
KINDS = {
    "blobs": "files",
    "cache": "copies of files that last elsewhere",
    "tables": "converted tables",
    "search": "search index",
    "transcripts": "transcripts",
    "packages": "packages",
    "uploads": "uploads on their way",
    "downloads": "downloads on their way",
    "models": "speech models",
}
"""Folder of the data folder -> what people call it."""
BOXES = "boxes"
"""What children work in: links to what is counted elsewhere, and what goes with them."""
HISTORY, OTHER = "history", "other"


@dataclass(frozen=True)
class SpaceUsed:
    """Bytes on the disk."""

    kinds: dict[str, int]
    """Kind, in words -> bytes, most first; none that is empty."""
    limit: int
    """The most that may be used; 0 where nothing is set."""

    @property
    def total(self) -> int:
        return sum(self.kinds.values())

    @property
    def words(self) -> str:
        """`1.2 GB of 50 GB used: 0.9 GB files, 0.3 GB history`."""
        most = f" of {size(self.limit)}" if self.limit else ""
        parts = ", ".join(f"{size(amount)} {kind}" for kind, amount in self.kinds.items())
        return f"{size(self.total)}{most} used" + (f": {parts}" if parts else "")


class Space:
    """Measures, and refuses what would go beyond the limit. Safe to share between threads."""

    def __init__(self, home: Path, limit: int = 0) -> None:
        """`limit` in bytes; 0 for none."""
        self._home = home
        self._limit = limit
        self._guard = threading.Lock()
        self._known = 0
        self._measured_at = float("-inf")

    def used(self) -> SpaceUsed:
        """Measured now: a look at every file of the data folder."""
        sizes: dict[str, int] = {}
        for name, taken in _entries(self._home):
            kind = KINDS.get(name, HISTORY if _is_history(name) else OTHER)
            sizes[kind] = sizes.get(kind, 0) + taken
        kinds = dict(sorted(((k, n) for k, n in sizes.items() if n), key=lambda one: -one[1]))
        return SpaceUsed(kinds, self._limit)

    def check(self) -> None:
        """Before something is kept. Raises SpaceError once the limit is reached."""
        if not self._limit:
            return
        with self._guard:
            if time.monotonic() - self._measured_at > FRESH_SECONDS:
                self._known = self.used().total
                self._measured_at = time.monotonic()
            known = self._known
        if known >= self._limit:
            raise SpaceError(
                f"The {size(self._limit)} that Leaf may use on this disk are used up, so this was "
                "not kept.",
                "Delete chats and files for good in Settings, or have LEAF_DISK_GB raised.",
            )

    def took(self, taken: int) -> None:
        """So many bytes were kept since."""
        with self._guard:
            self._known += taken

    def look_again(self) -> None:
        """Something was removed."""
        with self._guard:
            self._measured_at = float("-inf")


def size(taken: int) -> str:
    if taken < 1024**2 // 10:
        return f"{taken / 1024:,.0f} kB"
    if taken < GIGABYTE // 10:
        return f"{taken / 1024**2:,.1f} MB"
    return f"{taken / GIGABYTE:,.1f} GB".replace(".0 GB", " GB")


def _is_history(name: str) -> bool:
    return name.startswith(("leaf.duckdb", "runs."))


def _entries(home: Path) -> Iterator[tuple[str, int]]:
    try:
        with os.scandir(home) as entries:
            for entry in entries:
                if entry.name == BOXES:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    yield entry.name, _below(entry.path)
                else:
                    yield entry.name, _size_of(entry)
    except OSError:
        return


def _below(folder: str) -> int:
    total, pending = 0, [folder]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    else:
                        total += _size_of(entry)
        except OSError:
            continue  # removed meanwhile
    return total


def _size_of(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError:
        return 0
