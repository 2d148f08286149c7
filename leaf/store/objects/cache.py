"""Blobs that were fetched from where they last, as files under the data folder: bounded, the least
recently used go first, and none that is in use.

A file is in use for as long as the `HeldPath` lives that was given out for it. That holds across
processes which share the folder: it is a lock of the system on the file (`flock`), shared by all who
use it, and who wants to remove it asks for the lock alone. A kill gives it back.
"""

from __future__ import annotations

import fcntl
import filecmp
import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PosixPath

from leaf.errors import BlobGoneError
from leaf.store.objects.base import BlobKey
from leaf.store.objects.folder import BlobFolder

ROOM = 0.9
"""Part of the bound that is left filled where it was passed, so that not every blob makes room."""


class _Pin:
    """A shared lock on a file, given back when nobody holds this any more."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def __del__(self) -> None:
        with suppress(OSError):
            os.close(self.descriptor)


class HeldPath(PosixPath):
    """A path whose file stays in the cache for as long as this object lives. Paths made of it do
    not hold it."""

    _pin: _Pin | None = None

    @classmethod
    def of(cls, path: Path, pin: _Pin) -> HeldPath:
        held = cls(path)
        held._pin = pin
        return held

    def with_segments(self, *parts: str | os.PathLike[str]) -> Path:
        return Path(*parts)


class BlobCache:
    """Safe to use from any number of threads, and from several processes."""

    def __init__(self, root: Path, most_bytes: int) -> None:
        self._files = BlobFolder(root)
        self._most = most_bytes
        self._guard = threading.Lock()
        self._held: int | None = None
        """Bytes that are believed to be there; None before anybody looked."""

    @property
    def files(self) -> BlobFolder:
        """The folder that it keeps them in, to receive what is to be kept."""
        return self._files

    def find(self, key: BlobKey) -> HeldPath | None:
        """The blob, held; None if it is not there."""
        path = self._files.path(key)
        pin = _locked(path)
        if pin is None:
            return None
        mine = os.fstat(pin.descriptor)
        try:
            if path.stat().st_ino != mine.st_ino:
                return None
        except FileNotFoundError:  # it was removed while this waited
            return None
        with suppress(OSError):  # the time of access says when it was used; that of writing stays
            os.utime(path, ns=(time.time_ns(), mine.st_mtime_ns))
        return HeldPath.of(path, pin)

    def take(self, key: BlobKey, received: Path, size: int) -> HeldPath | None:
        """Keep a received file, which is known to be the blob; where it is there already, that stays,
        since somebody may hold it. None if it was removed from under this."""
        with self._in_turn(key):
            held = self.find(key)
            if held is not None and _equal(held, received):
                return held
            pin = _locked(received)  # before it has its name: who makes room leaves it alone
            self._files.take(key, received)
            held = self.find(key)
            del pin
        self._count(size)
        return held

    @contextmanager
    def _in_turn(self, key: BlobKey) -> Iterator[None]:
        """Of all who give files of a folder their names, one at a time."""
        folder = self._files.path(key).parent
        with self._files.explained():
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def fill(self, key: BlobKey, pieces: Iterable[bytes]) -> HeldPath | None:
        """Keep what comes, if it is the blob; as `take`. Raises BlobGoneError for other bytes,
        StoreError for a full disk."""
        with self._files.receiving(key.workspace_id, _Stream(pieces), sys.maxsize) as received:
            if received.sha256 != key.sha256:
                raise altered()
            return self.take(key, received.path, received.size)

    def delete(self, key: BlobKey) -> None:
        """Remove a blob, also from under those who read it: they have it open."""
        self._files.delete(key)

    def drop(self, key: BlobKey) -> bool:
        """Remove a blob unless somebody uses it; whether it is gone."""
        path = self._files.path(key)
        return _removed(path) or not path.exists()

    def trim(self) -> None:
        """Remove what was not used for longest, until the bound is kept or all else is in use."""
        with self._guard:
            blobs = sorted(self._listed())
            left = sum(size for _, size, _ in blobs)
            aim = self._most * ROOM if left > self._most else left
            for _, size, path in blobs:
                if left <= aim:
                    break
                if _removed(path):
                    left -= size
            self._held = left

    def _count(self, size: int) -> None:
        with self._guard:
            known = self._held
            if known is not None:
                self._held = known + size
        if known is None or known + size > self._most:
            self.trim()

    def _listed(self) -> Iterator[tuple[int, int, Path]]:
        """When it was used, its size and path, of each blob."""
        for path in self._files.root.glob("*/??/*"):
            with suppress(OSError):
                stat = path.stat()
                yield stat.st_atime_ns, stat.st_size, path


class _Stream:
    """Pieces as something to read from."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)

    def read(self, _size: int = -1, /) -> bytes:
        return next(self._pieces, b"")


def _equal(one: Path, other: Path) -> bool:
    try:
        return filecmp.cmp(one, other, shallow=False)
    except OSError:  # such as one that was deleted meanwhile
        return False


def _locked(path: Path) -> _Pin | None:
    """A shared lock on a file; None if it is not there, or this process may open no more."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    pin = _Pin(descriptor)
    with suppress(OSError):  # a disk without locks: it is only a little less safe
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    return pin


@contextmanager
def _alone(path: Path) -> Iterator[bool]:
    """Whether nobody uses the file, and nobody can begin to while the context lasts."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        yield False
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def _removed(path: Path) -> bool:
    with _alone(path) as alone, suppress(OSError):
        if alone:
            path.unlink()
            return True
    return False


def altered() -> BlobGoneError:
    return BlobGoneError(
        "What is stored of this file is not what was kept: it was altered or cut, so it is not used.",
        "Upload the file again.",
        altered=True,
    )
