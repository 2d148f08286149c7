"""Folders and small files that are their owner's alone: the data folder, and what opens Leaf."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from leaf.errors import SettingsError

MOST_BYTES = 4_096


class DistrustError(Exception):
    """Why a file is not believed."""


def keep_private(folder: Path) -> None:
    """Make a folder that nobody else can look into, or take away what others may do in one that
    stands. Its owner's other programs keep their access. Raises SettingsError where others keep
    theirs, and OSError."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if os.name != "posix" or not folder.stat().st_mode & 0o077:
        return
    if folder.stat().st_uid == os.geteuid():
        folder.chmod(0o700)
    if others := readers(folder):
        raise SettingsError(
            f"{others} can look into the data folder {folder}, and Leaf cannot change that.",
            f"Take their rights away (chmod 700 {folder}), or let LEAF_HOME name a folder inside "
            f"it, which Leaf then makes.",
        )


def readers(folder: Path) -> str:
    """Who besides its owner can look into a folder, in words; empty if nobody. A group of a folder
    that belongs to somebody else was given access by them, and is not counted."""
    if os.name != "posix":
        return ""
    status = folder.stat()
    if status.st_mode & 0o007:
        return "Other users of this machine"
    return "Its group" if status.st_mode & 0o070 and status.st_uid == os.geteuid() else ""


def write_private(path: Path, text: str) -> None:
    """In one step, readable by its owner alone. Raises OSError."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        temporary.chmod(0o600)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read_private(path: Path) -> bytes:
    """What stands in a file that only its owner could write or read. Raises OSError,
    DistrustError."""
    descriptor = os.open(
        path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    )
    with os.fdopen(descriptor, "rb") as file:
        _check(os.fstat(file.fileno()))
        return file.read(MOST_BYTES)


def _check(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise DistrustError("it is not a file")
    if os.name == "posix" and status.st_uid != os.geteuid():
        raise DistrustError("it belongs to somebody else")
    if os.name == "posix" and status.st_mode & 0o077:
        raise DistrustError("others may read it")
