"""Backups while Leaf runs: rows of one moment, and the bytes that they name, each checked."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import BinaryIO

from leaf import __version__
from leaf.errors import NotFoundError, StoreError
from leaf.keeping import archive
from leaf.keeping.archive import PIECE, BackupManifest, BackupWriter
from leaf.store import Store, rows
from leaf.store.blob_names import KEPT
from leaf.store.changes import TOPICS
from leaf.store.database import Snapshot
from leaf.store.space import size
from leaf.store.vault import KEY_FILE

SECRET_TABLES = ("integrations", "oauth_states", "drive_tokens")
"""Rows that let somebody act for a person elsewhere. They are left out unless asked for."""
KEPT_FOLDERS = ("transcripts", "results")
KEPT_FILES = ("rates.json",)
"""Of the data folder: what took long to make. Converted tables, indexes and packages are made anew
when they are needed."""
OF_NOW = (
    "processes",
    "run_leases",
    "duties",
    "blob_states",
    "removal_notes",
    "converted_tables",
)
"""Tables that say which processes run at this moment and what lies in this store beside that which
cannot be made again. They mean nothing elsewhere."""
_HASHES = " UNION ".join(
    f"SELECT workspace_id, sha256 FROM {table} WHERE sha256 <> ''"
    for table in KEPT
    if table not in OF_NOW
)
MADE_AGAIN = ("chat_signatures",)
"""Tables that are made of others in the background."""
BYTES = ("blobs", "blob_pieces")
"""Where a database keeps bytes: they are saved as blobs."""
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class BackupMade:
    """What is in a backup."""

    path: str
    rows: int
    blobs: int
    bytes: int
    """Of the blobs."""
    missing: int
    """Blobs that were lost or damaged before."""
    secrets: bool


def backup(store: Store, home: Path, target: Path, *, secrets: bool = False) -> BackupMade:
    """Save everything under a new name: a folder, or one file if it ends in `.zip`. Others go on
    working. Raises InvalidInputError, StoreError."""
    with archive.making(target) as writer:
        with store.db.snapshot() as snapshot:
            manifest = _begun(store, snapshot, secrets=secrets)
            _check_room(snapshot, target)
            left_out = (*BYTES, *OF_NOW, *MADE_AGAIN, *(() if secrets else SECRET_TABLES))
            tables = rows.schema(snapshot)
            for table in TOPICS:
                if table not in left_out:
                    lines = rows.lines(snapshot, tables, table)
                    manifest.rows[table] = _add_table(writer, table, lines)
            wanted = snapshot.read(f"SELECT * FROM ({_HASHES}) AS named ORDER BY 1, 2")
        _add_files(writer, home, secrets=secrets)
        named = [(str(row["workspace_id"]), str(row["sha256"])) for row in wanted]
        writer.add("blobs.jsonl", list(_add_blobs(writer, store, named, manifest)))
        archive.write_manifest(writer, manifest)
    total = sum(manifest.rows.values())
    return BackupMade(
        str(target), total, manifest.blobs, manifest.bytes, len(manifest.missing), secrets
    )


def _begun(store: Store, snapshot: Snapshot, *, secrets: bool) -> BackupManifest:
    applied = snapshot.read(f"SELECT number, checksum FROM {rows.MIGRATIONS} ORDER BY number")
    checksums = {str(row["number"]): str(row["checksum"]) for row in applied}
    newest = max(int(row["number"]) for row in applied)
    at = datetime.now(UTC).isoformat(timespec="seconds")
    return BackupManifest(__version__, newest, checksums, store.db.engine, at, secrets)


def _check_room(snapshot: Snapshot, target: Path) -> None:
    """Before anything is written; a disk that fills up meanwhile is told as well."""
    named = " UNION ".join(
        f"SELECT workspace_id, sha256, size FROM {t}" for t in ("files", "made_files", "results")
    )
    totals = snapshot.read(f"SELECT coalesce(sum(size), 0) AS size FROM ({named}) AS named")
    needed, free = int(totals[0]["size"]), shutil.disk_usage(target.parent).free
    if needed > free:
        raise StoreError(
            f"The backup takes about {size(needed)}, and the disk of {target.parent} has "
            f"{size(free)} left.",
            "Free some space, or name another disk.",
        )


def _add_table(writer: BackupWriter, table: str, lines: Iterator[bytes]) -> int:
    count = -1  # the first line has the names of the columns

    def counted() -> Iterator[bytes]:
        nonlocal count
        for line in lines:
            count += 1
            yield line

    writer.add(f"rows/{table}.jsonl", counted())
    return count


def _add_files(writer: BackupWriter, home: Path, *, secrets: bool) -> None:
    """What goes meanwhile is left out: pieces of a transcript go when it is whole."""
    paths = [path for name in KEPT_FOLDERS for path in sorted(_below(home / name))]
    paths += [home / name for name in (*KEPT_FILES, *((KEY_FILE,) if secrets else ()))]
    for path in paths:
        name = path.relative_to(home).as_posix()
        if not path.is_file() or path.is_symlink() or not archive.is_plain(name):
            continue
        try:
            file = path.open("rb")
        except FileNotFoundError:
            continue
        with file:
            writer.add(f"files/{name}", iter(partial(file.read, PIECE), b""))


def _below(folder: Path) -> Iterator[Path]:
    """All files of a folder from which others take some at the same time."""
    for root, _, names in os.walk(folder):
        yield from (Path(root) / name for name in names)


def _hash(stream: BinaryIO) -> str:
    digest = hashlib.sha256()
    while piece := stream.read(PIECE):
        digest.update(piece)
    return digest.hexdigest()


@contextmanager
def _whole(store: Store, workspace_id: str, sha256: str) -> Iterator[BinaryIO]:
    """A blob that was read whole. Raises NotFoundError for one that is gone or altered, and for one
    that its disk does not give any more: all the others are saved before it dies."""
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(store.blobs.open(workspace_id, sha256))
            there = _hash(stream) == sha256
            stream.seek(0)
        except OSError as e:
            logger.warning("the blob %s cannot be read: %s", sha256, e.strerror)
            there = False
        if not there:
            raise NotFoundError("These bytes are not what they were.")
        yield stream


def _add_blobs(
    writer: BackupWriter, store: Store, named: list[tuple[str, str]], manifest: BackupManifest
) -> Iterator[bytes]:
    """A line for each blob that is there and whole."""
    for workspace_id, sha256 in named:
        name = f"blobs/{workspace_id}/{sha256}"
        part = None
        with suppress(NotFoundError), _whole(store, workspace_id, sha256) as stream:
            part = writer.add(name, iter(partial(stream.read, PIECE), b""))
        if part is None or part.sha256 != sha256:
            manifest.missing.append([workspace_id, sha256])
            continue
        manifest.blobs += 1
        manifest.bytes += part.size
        yield json.dumps([workspace_id, sha256, part.size]).encode() + b"\n"
