"""Files that a cell wrote into its working folder, copied out for people to keep.

The process that wrote them may still be running and is not trusted: nothing is followed, what is
copied is measured while it is copied, and a name is only a name.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

FILES, FILE_BYTES, ALL_BYTES = 10, 25 * 1024 * 1024, 50 * 1024 * 1024
"""Of one cell, that are kept."""
LOOKED_AT, DEPTH = 2_000, 4
"""Entries and nested folders of the working folder that are looked at."""
NAMED = 5
"""Files that are named of those that are not kept."""
NAME = 200

Seen = dict[str, tuple[int, int, int]]
"""Path in the working folder -> what changes when the file is written again."""


@dataclass(frozen=True)
class WrittenFile:
    """A file that a cell wrote, as it wrote it."""

    path: Path
    """Where the copy is."""
    name: str
    """As the code called it, with its folders; not yet fit for a file's name."""
    size: int
    """Bytes."""


def look(folder: Path) -> Seen:
    """What is there now."""
    return {name: _mark(about) for name, about, _ in _files(folder)}


def copy_new(
    folder: Path, before: Seen, out: Path
) -> tuple[tuple[WrittenFile, ...], tuple[str, ...]]:
    """Copies in `out` of what is new or changed since `before`, and a sentence for what is not
    kept."""
    copies: list[WrittenFile] = []
    left: list[str] = []
    out.mkdir(parents=True, exist_ok=True)
    for name, about, at in _files(folder):
        if before.get(name) == _mark(about):
            continue
        room = min(FILE_BYTES, ALL_BYTES - sum(one.size for one in copies))
        target = out / f"written{len(copies)}"
        if (
            len(copies) == FILES
            or about.st_size > room
            or (size := _copy(name.rpartition("/")[2], at, target, room)) is None
        ):
            left.append(f"{_plain(name)} ({_size(about.st_size)})")
        else:
            copies.append(WrittenFile(target, _plain(name), size))
    return tuple(copies), _not_kept(left)


def _not_kept(left: list[str]) -> tuple[str, ...]:
    if not left:
        return ()
    more = f" and {len(left) - NAMED:,} more" if len(left) > NAMED else ""
    return (
        f"Not kept: {', '.join(left[:NAMED])}{more}. Of a cell {FILES} files are kept, of "
        f"{_size(FILE_BYTES)} each and "
        f"{_size(ALL_BYTES)} together.",
    )


def _files(folder: Path) -> Iterator[tuple[str, os.stat_result, int]]:
    """Path, state and open folder of each plain file, by name; what is hidden is the libraries'
    own."""
    looked = 0
    for root, folders, names, at in os.fwalk(folder, follow_symlinks=False):
        below = os.path.relpath(root, folder)
        deep = 0 if below == "." else below.count("/") + 1
        folders[:] = (
            sorted(f for f in folders if not f.startswith((".", "__pycache__")))
            if deep < DEPTH
            else []
        )
        for name in sorted(n for n in names if not n.startswith(".")):
            looked += 1
            if looked > LOOKED_AT:
                return
            with suppress(OSError):
                about = os.stat(name, dir_fd=at, follow_symlinks=False)
                if stat.S_ISREG(about.st_mode):
                    yield (name if deep == 0 else f"{below}/{name}"), about, at


def _mark(about: os.stat_result) -> tuple[int, int, int]:
    return about.st_ino, about.st_size, about.st_mtime_ns


def _copy(name: str, at: int, target: Path, limit: int) -> int | None:
    """Bytes that were copied; None for what is no plain file, or is larger than it said."""
    try:
        descriptor = os.open(
            name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at
        )
    except OSError:
        return None
    size = 0
    with os.fdopen(descriptor, "rb") as file, target.open("wb") as copy:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        while size <= limit and (block := file.read(1 << 20)):
            size += len(block)
            copy.write(block)
    return size if size <= limit else None


def _plain(name: str) -> str:
    return re.sub("[\x00-\x1f\x7f\ud800-\udfff]", "", name)[-NAME:] or "file"


def _size(size: int) -> str:
    return f"{size / 1024**2:,.0f} MB" if size >= 1024**2 else f"{size:,} bytes"
