"""Blobs as files under a folder: `<root>/<workspace>/<aa>/<sha256>`, read-only, whole or not at
all."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, NamedTuple, Protocol

from leaf.errors import BlobGoneError, FileTooLargeError, StoreError
from leaf.settings.disk import wants_room
from leaf.store import leftovers
from leaf.store.objects.base import PIECE, BlobEntry, BlobKey, gone_from, in_megabytes, key_at

INCOMING = ".incoming-"


class Readable(Protocol):
    """What bytes come from."""

    def read(self, size: int = ..., /) -> bytes: ...


class Received(NamedTuple):
    """Bytes that have come and have no name yet."""

    path: Path
    sha256: str
    size: int


class BlobFolder:
    """The blobs under one folder. As an ObjectStore it lasts as long as its disk."""

    largest = 0

    def __init__(self, root: Path) -> None:
        self.root = root
        self.name = f"the folder {root}"
        leftovers.remove(root, f"*/{INCOMING}*")

    def path(self, key: BlobKey) -> Path:
        """Where these bytes are, or would be."""
        return self.root / key.place

    @contextmanager
    def receiving(
        self,
        workspace_id: str,
        stream: Readable,
        limit_bytes: int,
        on_progress: Callable[[int], None] | None = None,
    ) -> Iterator[Received]:
        """What the stream gives, in a file beside its later place that is removed unless `name`
        took it. Raises FileTooLargeError, StoreError when the disk is full or cannot be written."""
        folder, temporary = self.root / workspace_id, None
        try:
            with self.explained():
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                with tempfile.NamedTemporaryFile(dir=folder, prefix=INCOMING, delete=False) as file:
                    temporary = Path(file.name)
                    sha256, size = copy_bytes(stream, file, limit_bytes, on_progress)
                    file.flush()
                    os.fsync(file.fileno())
            yield Received(temporary, sha256, size)
        finally:
            if temporary is not None:
                temporary.unlink(missing_ok=True)

    def take(self, key: BlobKey, temporary: Path) -> None:
        """Give a received file its name, read-only and lasting."""
        path = self.path(key)
        with self.explained():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            temporary.chmod(0o444)
            temporary.replace(path)
            descriptor = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Say in words that the disk failed."""
        try:
            yield
        except OSError as e:
            raise _not_kept(self.root.parent, e) from e

    def put(self, key: BlobKey, path: Path, size: int) -> None:
        with (
            path.open("rb") as stream,
            self.receiving(key.workspace_id, stream, size) as received,
        ):
            self.take(key, received.path)

    def pieces(self, key: BlobKey) -> Iterator[bytes]:
        try:
            with self.path(key).open("rb") as file:
                while piece := file.read(PIECE):
                    yield piece
        except FileNotFoundError as e:
            raise gone_from_folder() from e

    def find(self, key: BlobKey) -> BlobEntry | None:
        try:
            stat = self.path(key).stat()
        except OSError:
            return None
        return BlobEntry(key, stat.st_size, datetime.fromtimestamp(stat.st_mtime, UTC))

    def absent(self, keys: Collection[BlobKey], /) -> set[BlobKey]:
        return {key for key in keys if not self.path(key).is_file()}

    def has_room(self, _size: int, /) -> bool:
        """`store/space.py` keeps watch over the disk."""
        return True

    def delete(self, key: BlobKey) -> None:
        self.path(key).unlink(missing_ok=True)

    def entries(self, workspace_id: str = "") -> Iterator[BlobEntry]:
        for path in sorted(self.root.glob(f"{workspace_id or '*'}/??/*")):
            key = key_at(path.relative_to(self.root).as_posix())
            entry = self.find(key) if key is not None else None
            if entry is not None:
                yield entry

    def check(self, *, writing: bool = False) -> None:
        """The data folder is looked at elsewhere."""


def copy_bytes(
    stream: Readable, file: IO[bytes], limit: int, on_progress: Callable[[int], None] | None
) -> tuple[str, int]:
    """SHA-256 and size of what was copied. Raises FileTooLargeError."""
    digest, size = hashlib.sha256(), 0
    while piece := stream.read(PIECE):
        size += len(piece)
        if size > limit:
            raise FileTooLargeError(
                f"The file is larger than {in_megabytes(limit)}, the most that is taken.",
                "Split it, or raise LEAF_MAX_UPLOAD_MB.",
            )
        digest.update(piece)
        file.write(piece)
        if on_progress is not None:
            on_progress(size)
    return digest.hexdigest(), size


def gone_from_folder() -> BlobGoneError:
    return gone_from("the data folder")


def _not_kept(home: Path, error: OSError) -> StoreError:
    if wants_room(error):
        return StoreError(
            f"The disk that holds {home} is full, so the file was not kept.",
            "Free some space and add the file again.",
        )
    return StoreError(
        f"The file could not be kept in {home}: {error.strerror or error}.",
        "Check who may write there.",
    )
