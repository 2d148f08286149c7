"""One file inside gzip, bzip2 or xz, as in `sales.csv.gz`: it is read as what it holds, unpacked
for as long as that takes."""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast
from zipfile import BadZipFile

from leaf.errors import FileTooLargeError, UnreadableFileError

PIECE = 1 << 20
MAX_PLAIN = 1_000_000_000
"""Bytes that one compressed file may hold: a child may write hardly more to disk."""
FREE_UNPACKED = 100_000_000
"""Bytes up to which the ratio does not matter."""
MAX_RATIO = 150
"""Unpacked to packed, all parts together; real office files stay below 60."""
BROKEN = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError)
"""What the standard library raises for data that is cut off or wrong."""
BROKEN_ZIP = (*BROKEN, BadZipFile, RuntimeError, KeyError, IndexError, struct.error)
"""What it raises for a ZIP archive or a member that is; for one with a password too, and for one
packed in a way that it does not know."""
ENDINGS = ("gz", "bz2", "xz")


def is_packed(head: bytes) -> bool:
    """Whether a file that begins like this is one compressed stream."""
    return _opener(head) is not None


def inner_name(name: str) -> str:
    """What the file inside is called: `sales.csv.gz` holds `sales.csv`, `backup.tgz` holds
    `backup.tar`."""
    stem, dot, last = name.rpartition(".")
    if last.lower() in ("tgz", "tbz2", "tbz", "txz") and stem:
        return f"{stem}.tar"
    return stem if dot and stem and last.lower() in ENDINGS else name


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """What a compressed file holds, as a file that is gone afterwards; for any other file, itself.

    Raises UnreadableFileError for one that is damaged, FileTooLargeError beyond `MAX_PLAIN` or
    `MAX_RATIO`.
    """
    with path.open("rb") as file:
        opener = _opener(file.read(10))
    if opener is None:
        yield path
        return
    with tempfile.NamedTemporaryFile(prefix="unpacked-") as target:
        try:
            with opener(path) as source:
                _copy(source, cast(IO[bytes], target), path.stat().st_size)
        except BROKEN as e:
            hint = "Download or export it again, and add it again."
            raise UnreadableFileError("This compressed file is damaged or incomplete.", hint) from e
        target.flush()
        yield Path(target.name)


def too_much(unpacked_size: int, packed_size: int) -> bool:
    """Whether so many bytes from so few are no ordinary data."""
    return unpacked_size > FREE_UNPACKED and unpacked_size > MAX_RATIO * packed_size


def _copy(source: IO[bytes], target: IO[bytes], packed: int) -> None:
    size = 0
    while piece := source.read(PIECE):
        size += len(piece)
        if size > MAX_PLAIN or too_much(size, packed):
            raise FileTooLargeError(
                f"This compressed file unpacks to more than {min(size, MAX_PLAIN) / 1e6:,.0f} MB "
                f"from {packed / 1e6:,.1f} MB, "
                "which is over the limit.",
                "Unpack it, and add the part of it that you need.",
            )
        target.write(piece)


def _opener(head: bytes) -> Callable[[Path], IO[bytes]] | None:
    if head.startswith(b"\x1f\x8b\x08"):
        return cast(Callable[[Path], IO[bytes]], gzip.open)
    if head.startswith(b"\xfd7zXZ\x00"):
        return cast(Callable[[Path], IO[bytes]], lzma.open)
    if head.startswith(b"BZh") and head[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):
        return cast(Callable[[Path], IO[bytes]], bz2.open)
    return None
