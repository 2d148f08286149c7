"""A child's box on the disk: made, filled with what it may read, emptied of what it wrote, removed.

A box is a private folder: `in/` (read only), `tmp/` and `out/` (the child's own). Boxes live in
`home/boxes/PID-RANDOM/`, which is locked while its process lives, so that the next start can remove
what a killed one left behind. Nothing that a child left in one is trusted: links, closed folders,
paths too deep to name.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from leaf import errors

log = logging.getLogger(__name__)

BLOCK = 4096
"""What a file or folder takes on the disk at least."""
ROOM = 256 * 1024 * 1024
"""Free bytes of a disk on which nobody runs out of space."""
FLATTENINGS = 100_000
"""Levels of nested folders that are removed before a box is left for the next start."""


@contextlib.contextmanager
def open_boxes(home: Path) -> Iterator[Path]:
    """This pool's folder of boxes, locked; those of dead processes are removed first."""
    root = home / "boxes"
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _locked(root / ".lock", wait=True):
        for folder in root.iterdir():
            if folder.is_dir() and _is_abandoned(folder):
                remove_box(folder)
        mine = root.resolve() / f"{os.getpid()}-{secrets.token_hex(4)}"
        mine.mkdir(mode=0o700)
        lock = contextlib.ExitStack()
        lock.enter_context(_locked(mine / ".lock", wait=True))
    with lock:
        yield mine
    remove_box(mine)


def _is_abandoned(folder: Path) -> bool:
    try:
        with _locked(folder / ".lock", wait=False):
            return True
    except OSError:
        return False


@contextlib.contextmanager
def _locked(path: Path, *, wait: bool) -> Iterator[None]:
    """Hold a lock on a file; it goes with the process. Without `wait`, OSError if another holds
    it."""
    with path.open("a+b") as file:
        if sys.platform == "win32":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield


def remove_box(folder: Path) -> None:
    """Remove a folder even if a child has closed parts of it to its owner, or nested it deeper than
    a path can be long."""
    with contextlib.suppress(OSError, RecursionError):
        shutil.rmtree(folder)
    for number in itertools.count():
        try:
            entries = list(os.scandir(folder))
        except OSError:
            return
        if not entries:
            break
        for entry in entries:
            with contextlib.suppress(OSError):
                _flatten(folder, entry, number)
        if number > FLATTENINGS:
            log.warning("the box %s cannot be removed", folder.name)
            return
    with contextlib.suppress(OSError):
        folder.rmdir()


def _flatten(folder: Path, entry: os.DirEntry[str], number: int) -> None:
    """Remove one entry of a folder; the folders in it come up into `folder`, so that no path grows
    long."""
    if not entry.is_dir(follow_symlinks=False):
        os.unlink(entry.path)
        return
    os.chmod(entry.path, 0o700)
    for index, inner in enumerate(list(os.scandir(entry.path))):
        if inner.is_dir(follow_symlinks=False):
            os.rename(inner.path, folder / f"{number}-{index}-{secrets.token_hex(4)}")
        else:
            os.unlink(inner.path)
    os.rmdir(entry.path)


def put_input(source: Path, target: Path, *, link: bool) -> None:
    """Hard-link, or copy to another device. A child that nothing confines gets a copy: it could
    change the original."""
    if not source.is_file():
        raise errors.UnreadableFileError(
            "The content of this file is no longer there.", "Add the file again."
        )
    if link:
        with contextlib.suppress(OSError):
            os.link(source, target)
            return
    shutil.copyfile(source, target)


def real_paths(value: Any, into: Path, out: Path) -> Any:
    """`in:KEY` and `out:` replaced by paths, at any depth."""
    if isinstance(value, Mapping):
        return {k: real_paths(v, into, out) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [real_paths(v, into, out) for v in value]
    if value == "out:":
        return str(out)
    if isinstance(value, str) and value.startswith("in:"):
        path = into / value.removeprefix("in:")
        return str(path) if path.parent == into and path.exists() else value
    return value


def move_outputs(source: Path, target: Path, takes: str) -> None:
    """Move what the child wrote under the names that `takes`, a regular expression, allows; the
    rest goes with the box. The child must have ended.

    It may have left links that point anywhere, so only plain files are taken, which have no other
    name elsewhere, and they become files like those that the app writes itself.
    """
    target.mkdir(parents=True, exist_ok=True)
    if not stat.S_ISDIR(source.lstat().st_mode):
        raise errors.SandboxError(
            "The process that did this work left something that is not a folder."
        )
    for entry in list(os.scandir(source)):
        if not re.fullmatch(takes, entry.name):
            continue
        about = entry.stat(follow_symlinks=False)
        if not stat.S_ISREG(about.st_mode) or (about.st_nlink > 1 and sys.platform != "win32"):
            raise errors.SandboxError(
                f"The process that did this work left something that is not a file: '{entry.name}'."
            )
        os.chmod(entry.path, 0o600)
        shutil.move(entry.path, target / entry.name)


def own_space(home: Path) -> int:
    """Bytes that the kernel lets all children of a data folder take together; 0 where it sets them
    no bound: the folder of boxes is a file system of its own, or has a project quota, of which
    statfs(2) tells in place of the disk's size (ext4, XFS)."""
    try:
        boxes, around = home / "boxes", os.statvfs(home)
        stats = os.statvfs(boxes)
        apart = boxes.stat().st_dev != home.stat().st_dev
    except (OSError, AttributeError):
        return 0
    size = stats.f_blocks * stats.f_frsize
    return size if apart or size < around.f_blocks * around.f_frsize else 0


def is_full(folder: Path) -> bool:
    """Whether the disk has no room left. Where the system does not tell, it may be."""
    with contextlib.suppress(OSError, AttributeError):
        stats = os.statvfs(folder)
        return stats.f_bavail * stats.f_frsize < ROOM or stats.f_files > 0 == stats.f_favail
    return True


def bytes_written(folder: Path) -> int:
    """Bytes on disk below a folder that is being changed meanwhile; each entry counts as a block at
    least, and as its length or as what the disk has set aside for it, whichever is more: a folder
    stays as large as it was when it had most names.

    What cannot be looked at (closed to its owner, or nested deeper than a path can be long) counts
    as more than any limit.
    """
    total = 0
    pending = [str(folder)]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    total += BLOCK
                    with contextlib.suppress(FileNotFoundError):
                        total += _taken(entry.stat(follow_symlinks=False))
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
        except FileNotFoundError:
            continue
        except OSError:
            return sys.maxsize
    return total


def bytes_without_name(pid: int, folder: Path) -> int:
    """Bytes on disk of files that a process holds open although their names are gone.

    A deleted file of `folder` that it has mapped and not open, whose size nobody can see, counts as
    more than any limit; so do the descriptors of a process that hides them. 0 where the system does
    not tell any of it, or the process is gone.
    """
    held: dict[tuple[int, int], int] = {}
    try:
        for task in os.scandir(f"/proc/{pid}/task"):
            for descriptor in os.scandir(f"{task.path}/fd"):
                with contextlib.suppress(FileNotFoundError):
                    about = descriptor.stat()
                    if stat.S_ISREG(about.st_mode) and about.st_nlink == 0:
                        held[about.st_dev, about.st_ino] = BLOCK + _taken(about)
        inodes = {inode for _, inode in held}
        if any(inode not in inodes for inode in _deleted_and_mapped(pid, folder)):
            return sys.maxsize
    except (FileNotFoundError, ProcessLookupError):
        return 0
    except OSError:
        return sys.maxsize
    return sum(held.values())


def _deleted_and_mapped(pid: int, folder: Path) -> list[int]:
    """Inodes of files that once were in the folder and still are in the memory of a process."""
    maps = Path(f"/proc/{pid}/maps").read_bytes()
    if b"(deleted)\n" not in maps:
        return []
    at = re.escape(os.fsencode(folder))
    return [int(n) for n in re.findall(rb"(?m) (\d+) +" + at + rb"/.* \(deleted\)$", maps)]


def _taken(about: os.stat_result) -> int:
    return max(about.st_size, 512 * getattr(about, "st_blocks", 0))
