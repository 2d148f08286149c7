"""What a store of blobs can do: put, fetch, list and delete bytes by workspace and SHA-256."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from leaf.errors import BlobGoneError, NotFoundError

PIECE = 1024 * 1024
"""Bytes read at a time; more than one piece of a file is never in memory."""


class BlobKey(NamedTuple):
    """Which blob. Made by `key_of`, so that it cannot lead anywhere else."""

    workspace_id: str
    sha256: str

    @property
    def place(self) -> str:
        """Where it stands under a folder or a prefix: `<workspace>/<aa>/<sha256>`."""
        return f"{self.workspace_id}/{self.sha256[:2]}/{self.sha256}"


class BlobEntry(NamedTuple):
    """A blob as a store lists it."""

    key: BlobKey
    size: int
    written_at: datetime


class ObjectStore(Protocol):
    """Where blobs last. Every method raises StorageError where the store cannot be reached or
    refuses, in words for a person."""

    @property
    def name(self) -> str:
        """Which one it is, as in `the bucket leaf-files`; nothing secret is in it."""

    @property
    def largest(self) -> int:
        """Most bytes that one blob may have; 0: any."""

    def put(self, key: BlobKey, path: Path, size: int) -> None:
        """Keep the bytes of a file. Nobody sees them before they are whole, and they last when this
        returns. What stood there is replaced."""

    def pieces(self, key: BlobKey) -> Iterator[bytes]:
        """The bytes from first to last. Raises BlobGoneError if there are none."""

    def find(self, key: BlobKey) -> BlobEntry | None:
        """The blob as it would be listed; None for one that is not there."""

    def absent(self, keys: Collection[BlobKey], /) -> set[BlobKey]:
        """Those that are not there, as far as one question tells; a bucket, which would be asked for
        each, is not asked."""

    def has_room(self, size: int, /) -> bool:
        """Whether it takes so many bytes that can be made again."""

    def delete(self, key: BlobKey) -> None:
        """Remove a blob for good; nothing happens if it is gone."""

    def entries(self, workspace_id: str = "") -> Iterator[BlobEntry]:
        """All blobs, or those of a workspace."""

    def check(self, *, writing: bool = False) -> None:
        """Look whether it can be used; with `writing` also whether it takes and deletes bytes.
        Raises SettingsError for what waiting does not mend."""


def key_of(workspace_id: str, sha256: str) -> BlobKey:
    """Raises NotFoundError for what can be no workspace and no SHA-256."""
    if not re.fullmatch(r"[0-9a-f]{64}", sha256):
        raise NotFoundError(
            f"'{sha256[:80]}' is not the SHA-256 of a file.", "Open the file from the Files page."
        )
    if not re.fullmatch(r"[0-9A-Za-z-]{1,64}", workspace_id):
        raise NotFoundError("No such workspace.", "Sign in again.")
    return BlobKey(workspace_id, sha256)


def key_at(place: str) -> BlobKey | None:
    """The key of what stands at `<workspace>/<aa>/<sha256>`; None for anything else."""
    match = re.fullmatch(r"([0-9A-Za-z-]{1,64})/([0-9a-f]{2})/(\2[0-9a-f]{62})", place)
    return BlobKey(match[1], match[3]) if match else None


def gone_from(place: str) -> BlobGoneError:
    return BlobGoneError(
        f"The bytes of this file are missing from {place}.", "Upload the file again."
    )


def in_megabytes(size: int) -> str:
    return f"{size / 1024 / 1024:,.0f} MB" if size >= 1024 * 1024 else f"{size:,} bytes"
