"""Bytes on disk, named by their SHA-256, once per workspace: `home/blobs/<workspace>/<aa>/<sha256>`."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple

from leaf.errors import FileTooLargeError, NotFoundError, StoreError
from leaf.store import leftovers

PIECE = 1024 * 1024
"""Bytes read at a time; more than one piece of a file is never in memory."""
_INCOMING = ".incoming-"
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class Kept(NamedTuple):
    sha256: str
    size: int
    is_new: bool
    """Whether the workspace did not have these bytes."""


class Blobs:
    """The blobs of all workspaces under one data folder."""

    def __init__(self, home: Path) -> None:
        self._root = home / "blobs"
        leftovers.remove(self._root, f"*/{_INCOMING}*")

    def put(
        self, workspace_id: str, stream: BinaryIO, limit_bytes: int, *, on_progress: Callable[[int], None] | None = None
    ) -> Kept:
        """Keep what the stream gives. The file appears under its name whole or not at all.

        Raises FileTooLargeError over `limit_bytes`, StoreError when the disk is full or cannot be written.
        """
        folder = self._folder(workspace_id)
        temporary: Path | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with tempfile.NamedTemporaryFile(dir=folder, prefix=_INCOMING, delete=False) as file:
                temporary = Path(file.name)
                sha256, size = _copy(stream, file, limit_bytes, on_progress)
                file.flush()
                os.fsync(file.fileno())
            return Kept(sha256, size, self._name(temporary, self.path(workspace_id, sha256)))
        except OSError as e:
            raise _not_kept(self._root.parent, e) from e
        finally:
            if temporary is not None:
                temporary.unlink(missing_ok=True)

    def path(self, workspace_id: str, sha256: str) -> Path:
        """Where these bytes are, or would be."""
        if not re.fullmatch(r"[0-9a-f]{64}", sha256):
            raise NotFoundError(f"'{sha256[:80]}' is not the SHA-256 of a file.", "Open the file from the Files page.")
        return self._folder(workspace_id) / sha256[:2] / sha256

    def open(self, workspace_id: str, sha256: str) -> BinaryIO:
        """Raises NotFoundError if the bytes are gone from the disk."""
        try:
            return self.path(workspace_id, sha256).open("rb")
        except FileNotFoundError as e:
            raise NotFoundError("The bytes of this file are missing from the data folder.", "Upload the file again.") from e

    def exists(self, workspace_id: str, sha256: str) -> bool:
        return self.path(workspace_id, sha256).is_file()

    def delete(self, workspace_id: str, sha256: str) -> None:
        """Remove the bytes for good; nothing happens if they are gone."""
        self.path(workspace_id, sha256).unlink(missing_ok=True)

    def _folder(self, workspace_id: str) -> Path:
        if not re.fullmatch(r"[0-9A-Za-z-]{1,64}", workspace_id):
            raise NotFoundError("No such workspace.", "Sign in again.")
        return self._root / workspace_id

    def _name(self, temporary: Path, path: Path) -> bool:
        """Give the finished file its name, read-only and lasting; False if the bytes were there."""
        path.parent.mkdir(exist_ok=True, mode=0o700)
        is_new = not path.exists()
        temporary.chmod(0o444)
        temporary.replace(path)
        descriptor = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        return is_new


def _copy(stream: BinaryIO, file: IO[bytes], limit: int, on_progress: Callable[[int], None] | None) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    while piece := stream.read(PIECE):
        size += len(piece)
        if size > limit:
            raise FileTooLargeError(
                f"The file is larger than {_megabytes(limit)}, the most that is taken.",
                "Split it, or raise LEAF_MAX_UPLOAD_MB.",
            )
        digest.update(piece)
        file.write(piece)
        if on_progress is not None:
            on_progress(size)
    return digest.hexdigest(), size


def _megabytes(size: int) -> str:
    return f"{size / 1024 / 1024:,.0f} MB" if size >= 1024 * 1024 else f"{size:,} bytes"


def _not_kept(home: Path, error: OSError) -> StoreError:
    if error.errno in _FULL:
        return StoreError(
            f"The disk that holds {home} is full, so the file was not kept.", "Free some space and add the file again."
        )
    return StoreError(f"The file could not be kept in {home}: {error.strerror or error}.", "Check who may write there.")
