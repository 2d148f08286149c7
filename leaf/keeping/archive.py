"""The shape of a backup: a folder, or one ZIP, of named parts and a manifest that says what they
are.

    manifest.json            versions, counts, size and SHA-256 of every part
    rows/TABLE.jsonl         all rows of a table as text
    files/…                  what stands beside the database in the data folder and is not made anew
    blobs.jsonl              workspace, SHA-256 and size of each blob
    blobs/WORKSPACE/SHA256   its bytes

A backup is made under another name and gets its own when all of it is there and on the disk. What a
killed process has left of one beside it goes with the next one there, a day later.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

from leaf.errors import InvalidInputError, LeafError, StoreError
from leaf.settings.disk import wants_room
from leaf.store import leftovers

FORMAT = 1
"""Raised when a backup is laid out in another way."""
MANIFEST = "manifest.json"
PIECE = 1024 * 1024
_PART = re.compile(r"(?:[\w.-]+/)*[\w.-]+")
_BROKEN = (OSError, EOFError, KeyError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error)
"""What comes of reading a part of which bits are others now: in a ZIP also another method, a password
(both are a RuntimeError), a name that is no text."""


@dataclass(frozen=True)
class BackupPart:
    """What the manifest says of a part."""

    sha256: str
    size: int


@dataclass
class BackupManifest:
    """What a backup is, and what is in it."""

    leaf: str
    """Version that made it."""
    schema: int
    """Number of the newest migration."""
    migrations: dict[str, str]
    """Number -> checksum of those that made the database."""
    engine: str
    made_at: str
    """ISO 8601, UTC: the moment of which the rows are."""
    secrets: bool
    """Whether connections to other services, and the key to them, are in it."""
    rows: dict[str, int] = field(default_factory=dict)
    """Table -> rows."""
    parts: dict[str, BackupPart] = field(default_factory=dict)
    """All but blobs."""
    blobs: int = 0
    bytes: int = 0
    """Of all blobs."""
    missing: list[list[str]] = field(default_factory=list)
    """Workspace and SHA-256 of blobs that rows name and that were lost or damaged before."""
    format: int = FORMAT


class BackupWriter:
    """Takes the parts of a backup."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.parts: dict[str, BackupPart] = {}

    def add(self, name: str, pieces: Iterable[bytes]) -> BackupPart:
        """A part; raises StoreError where it cannot be written."""
        digest, size = hashlib.sha256(), 0
        with self._sink.create(name) as file:
            for piece in pieces:
                digest.update(piece)
                size += len(piece)
                file.write(piece)
        self.parts[name] = BackupPart(digest.hexdigest(), size)
        return self.parts[name]


class Sink(Protocol):
    """Where the parts of a backup are written."""

    def create(self, name: str) -> AbstractContextManager[IO[bytes]]: ...


class BackupSource(Protocol):
    """Where they are read."""

    def open(self, name: str) -> AbstractContextManager[IO[bytes]]: ...


class Folder:
    def __init__(self, root: Path) -> None:
        self._root = root

    @contextmanager
    def create(self, name: str) -> Iterator[IO[bytes]]:
        path = self._root / name
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with path.open("xb") as file:
            path.chmod(0o600)
            yield file
            file.flush()
            os.fsync(file.fileno())

    def open(self, name: str) -> IO[bytes]:
        return (self._root / name).open("rb")


class Zip:
    def __init__(self, file: zipfile.ZipFile) -> None:
        self._file = file

    @contextmanager
    def create(self, name: str) -> Iterator[IO[bytes]]:
        """Text is compressed; blobs mostly are already, or are needed quickly."""
        about = zipfile.ZipInfo(name)
        about.compress_type = (
            zipfile.ZIP_STORED if name.startswith("blobs/") else zipfile.ZIP_DEFLATED
        )
        with self._file.open(about, "w", force_zip64=True) as file:
            yield file

    def open(self, name: str) -> IO[bytes]:
        return self._file.open(name)


@contextmanager
def making(target: Path) -> Iterator[BackupWriter]:
    """A new backup, which gets its name at the end; nothing is left of one that fails. Raises
    InvalidInputError where the name is taken, StoreError for a full disk."""
    if target.exists():
        raise InvalidInputError(
            f"{target} is there already.", "Give the name of a new file or folder."
        )
    if not target.parent.is_dir():
        raise InvalidInputError(f"There is no folder {target.parent}.", "Make it first.")
    with suppress(OSError):
        leftovers.remove(target.parent, f".*.{'[0-9a-f]' * 8}.unfinished")
    half = target.with_name(f".{target.name}.{secrets.token_hex(4)}.unfinished")
    try:
        with _explained(target):
            if target.suffix.lower() == ".zip":
                descriptor = os.open(half, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
                with os.fdopen(descriptor, "w+b") as raw:
                    with zipfile.ZipFile(raw, "w") as file:
                        yield BackupWriter(Zip(file))
                    raw.flush()
                    os.fsync(raw.fileno())
            else:
                half.mkdir(mode=0o700)
                yield BackupWriter(Folder(half))
            half.rename(target)
    finally:
        shutil.rmtree(half) if half.is_dir() else half.unlink(missing_ok=True)


@contextmanager
def _explained(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as e:
        if wants_room(e):
            raise StoreError(
                f"The disk of {target.parent} is full, so there is no backup.",
                "Free some space, or name another disk.",
            ) from e
        raise StoreError(
            f"The backup {target} cannot be written: {e.strerror}.", "Check who may write there."
        ) from e


def write_manifest(writer: BackupWriter, manifest: BackupManifest) -> None:
    """The last part."""
    manifest.parts = {n: p for n, p in writer.parts.items() if not n.startswith("blobs/")}
    writer.add(MANIFEST, [json.dumps(asdict(manifest), indent=1).encode()])


@contextmanager
def opened(source: Path) -> Iterator[tuple[BackupSource, BackupManifest]]:
    """A backup and what it says of itself. Raises InvalidInputError for what is none, or one of a
    later version."""
    if not source.exists():
        raise InvalidInputError(f"There is no backup {source}.", "Check the path.")
    if source.is_dir():
        folder = Folder(source)
        yield folder, _manifest(source, folder)
        return
    try:
        file = zipfile.ZipFile(source)
    except _BROKEN as e:
        raise damaged(source, "it is no whole ZIP") from e
    with file:
        archive = Zip(file)
        yield archive, _manifest(source, archive)


def _manifest(source: Path, archive: BackupSource) -> BackupManifest:
    try:
        with archive.open(MANIFEST) as file:
            fields = json.loads(file.read())
        if int(fields["format"]) > FORMAT:
            raise InvalidInputError(
                f"{source} was made by a newer version of Leaf ({fields['leaf']}).",
                "Update Leaf. Nothing was changed.",
            )
        parts = {str(name): BackupPart(**about) for name, about in fields["parts"].items()}
        manifest = BackupManifest(**{**fields, "parts": parts})
    except (FileNotFoundError, KeyError) as e:
        raise InvalidInputError(
            f"{source} is not a backup of Leaf.", "Name what `python -m leaf backup` has made."
        ) from e
    except (*_BROKEN, TypeError, AttributeError) as e:
        raise damaged(source, "its manifest cannot be read") from e
    if bad := [name for name in manifest.parts if not is_plain(name)]:
        raise damaged(source, f"a part is called '{bad[0][:80]}'")
    return manifest


def is_plain(name: str) -> bool:
    """Whether a name leads nowhere else."""
    return bool(_PART.fullmatch(name)) and ".." not in name.split("/")


def verify(source: Path, archive: BackupSource, name: str, known: BackupPart) -> None:
    """Read a part whole. Raises InvalidInputError if it is not what the manifest says."""
    digest, size = hashlib.sha256(), 0
    try:
        with archive.open(name) as file:
            while piece := file.read(PIECE):
                digest.update(piece)
                size += len(piece)
    except _BROKEN as e:
        raise damaged(source, f"{name} cannot be read") from e
    if (digest.hexdigest(), size) != (known.sha256, known.size):
        raise damaged(source, f"{name} is not what it was")


def damaged(source: Path, why: str) -> LeafError:
    return InvalidInputError(
        f"The backup {source} is damaged: {why}.", "Use another one. Nothing was changed."
    )


def lines(archive: BackupSource, name: str) -> Iterator[Any]:
    with archive.open(name) as file:
        for line in file:
            yield json.loads(line)
