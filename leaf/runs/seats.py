"""Names for a process among those that share a history, which a restart finds again."""

from __future__ import annotations

import sys
import uuid
from pathlib import Path
from typing import IO

from leaf.errors import StoreError
from leaf.settings.private import write_private


def claim_executors(home: Path, *, shared: bool) -> tuple[tuple[str, ...], list[IO[str]]]:
    """Names for this process that a restart finds again, and the locked files that keep others from
    taking them.

    A folder with DuckDB has one process. On PostgreSQL several may share a folder: each holds a
    seat, and one that starts takes over the seats that nobody holds, with the work that was left on
    them. Raises StoreError.
    """
    name = _name_of(home / "executor")
    if not shared or sys.platform == "win32":
        return (f"{name}-1",), []
    numbers = sorted(int(path.stem.rpartition("-")[2]) for path in home.glob("seat-*.lock"))
    taken = {
        number: lock_file
        for number in numbers
        if (lock_file := _lock(home / f"seat-{number}.lock"))
    }
    if not taken:
        number = max(numbers, default=0) + 1
        lock_file = _lock(home / f"seat-{number}.lock")
        if lock_file is None:
            return claim_executors(home, shared=shared)
        taken = {number: lock_file}
    return tuple(f"{name}-{number}" for number in taken), list(taken.values())


def _name_of(path: Path) -> str:
    """The name of a data folder, given to it now where it has none. Raises StoreError."""
    try:
        if not path.exists() or not path.read_text().strip():  # empty: an earlier disk was full
            write_private(path, uuid.uuid4().hex[:12])
        return path.read_text().strip()
    except OSError as e:
        raise StoreError(
            f"The data folder cannot be written: {e.strerror}.",
            "Free some space or fix its permissions.",
        ) from e


def _lock(path: Path) -> IO[str] | None:
    """The file, locked until it is closed or the process ends; None while another process holds
    it."""
    import fcntl

    file = path.open("a")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file
