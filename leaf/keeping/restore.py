"""A backup brought back: checked whole before anything is touched, then written in one
transaction."""

from __future__ import annotations

import dataclasses
import logging
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from leaf.errors import InvalidInputError, StoreError
from leaf.keeping import archive
from leaf.keeping.archive import BackupManifest, BackupPart, BackupSource
from leaf.keeping.backup import KEPT_FOLDERS
from leaf.keeping.notes import Notes, RemovalNote
from leaf.settings import Settings
from leaf.store import audit, open_database, removal, rows, space
from leaf.store.blobs import Blobs
from leaf.store.changes import TOPICS
from leaf.store.database import Database, Transaction
from leaf.store.migrate import apply, migrations
from leaf.store.model import Scope
from leaf.store.objects.database import DatabaseObjects
from leaf.store.objects.opening import open_objects
from leaf.store.removal import Gone

STAGED = ".restored"
"""Folder of the data folder for what is about to be put into it."""
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Restored:
    """What came back."""

    rows: int
    blobs: int
    missing: int
    """Blobs that were lost before the backup was made."""
    made_at: str
    secrets: bool


def restore(settings: Settings, source: Path, *, replace: bool = False) -> Restored:
    """Bring a backup back into the data folder and the database of the settings; no other process
    may use them. With `replace`, what is in them is deleted: rows at once, and what was kept beside
    them, such as bytes, tables and runs, with the next start.

    Raises InvalidInputError for a backup that is damaged or of a newer version and for a target
    that is not empty, StoreError.
    """
    with archive.opened(source) as (backup, manifest):
        _check_version(source, manifest)
        _verify(source, backup, manifest)
        with ExitStack() as stack:
            db = stack.enter_context(closing(open_database(settings)))
            objects = open_objects(settings, db)
            blobs = Blobs(settings.home, objects, settings.storage.cache_bytes)
            inside = isinstance(objects, DatabaseObjects)
            notes = Notes(db, blobs, settings.home)
            with db.migration() as tx:
                if not replace and not rows.is_empty(tx):
                    raise InvalidInputError(
                        "Something is kept in the data already, so nothing was restored.",
                        "Set LEAF_HOME (and LEAF_DATABASE_URL) to an empty place, or add "
                        "--replace, which deletes what is there.",
                    )
                replaced = removal.unscoped_everything(tx, rows.schema(tx))
                _check_room(settings.home, _lacking(blobs, backup), manifest)
                staged = stack.enter_context(_staged(settings.home, backup, manifest))
                if not inside:
                    _restore_blobs(blobs, backup)
                _load(tx, backup, manifest)
                _note(tx, notes, replaced)
                _check_counts(tx, manifest)
                audit.add(tx, Scope("", ""), "backup restored", manifest.made_at)
                # First: rows without their key cannot be read; a key alone is written over next time.
                if not replace:
                    _put_in_place(staged, settings.home)
            if inside:  # their tables were made anew with all others
                _restore_blobs(blobs, backup)
            if replace:
                for name in KEPT_FOLDERS:  # a chat may be in both, with results of the same names
                    shutil.rmtree(settings.home / name, ignore_errors=True)
                _put_in_place(staged, settings.home)
                _scrub(db)
    return Restored(
        sum(manifest.rows.values()),
        manifest.blobs,
        len(manifest.missing),
        manifest.made_at,
        manifest.secrets,
    )


def _check_version(source: Path, manifest: BackupManifest) -> None:
    known = {m.number: m.checksum for m in migrations()}
    if manifest.schema > max(known):
        raise InvalidInputError(
            f"{source} was made by a newer version of Leaf ({manifest.leaf}, schema "
            f"{manifest.schema}; this one knows {max(known)}).",
            "Update Leaf. Nothing was changed.",
        )
    if strange := [t for t in manifest.rows if t not in TOPICS]:
        raise archive.damaged(source, f"it has a table '{strange[0][:80]}'")


def _verify(source: Path, backup: BackupSource, manifest: BackupManifest) -> None:
    """Read all of it. Raises InvalidInputError where anything is not what it was."""
    for name, part in manifest.parts.items():
        archive.verify(source, backup, name, part)
    count = 0
    for workspace_id, sha256, size in _blobs(backup):
        name = f"blobs/{workspace_id}/{sha256}"
        if not archive.is_plain(name):
            raise archive.damaged(source, f"a blob is called '{name[:80]}'")
        archive.verify(source, backup, name, BackupPart(sha256, size))
        count += 1
    missing = [table for table in manifest.rows if f"rows/{table}.jsonl" not in manifest.parts]
    if count != manifest.blobs or missing:
        raise archive.damaged(source, "parts of it are missing")


def _check_room(home: Path, lacking: Iterable[int], manifest: BackupManifest) -> None:
    """Before anything is written; a disk that fills up meanwhile is told as well."""
    needed = sum(lacking) + sum(part.size for part in manifest.parts.values())
    free = shutil.disk_usage(home).free
    if needed > free:
        raise StoreError(
            f"The backup takes about {space.size(needed)}, and the disk of {home} has {space.size(free)} left.",
            "Free some space, or set LEAF_HOME to another disk. Nothing was changed.",
        )


def _lacking(blobs: Blobs, backup: BackupSource) -> Iterator[int]:
    """Bytes of each blob that is yet to be written to the data folder."""
    if blobs.store is None:
        for workspace_id, sha256, size in _blobs(backup):
            if not blobs.exists(workspace_id, sha256):
                yield size


def _blobs(backup: BackupSource) -> Iterator[tuple[str, str, int]]:
    for workspace_id, sha256, size in archive.lines(backup, "blobs.jsonl"):
        yield str(workspace_id), str(sha256), int(size)


def _restore_blobs(blobs: Blobs, backup: BackupSource) -> None:
    """Before the rows that name them, where that can be: bytes without a row do no harm."""
    for workspace_id, sha256, _ in _blobs(backup):
        with backup.open(f"blobs/{workspace_id}/{sha256}") as stream:
            blob = blobs.put(workspace_id, stream, sys.maxsize)  # type: ignore[arg-type]
        if blob.sha256 != sha256:
            blobs.delete(workspace_id, blob.sha256)
            raise StoreError(
                f"A file was not written as it is in the backup ({sha256[:12]}…).",
                "Check the disk, then try again.",
            )


def _load(tx: Transaction, backup: BackupSource, manifest: BackupManifest) -> None:
    """The rows into the schema of their version, which is then brought up to date as any other."""
    known = migrations()
    rows.make_anew(tx, [m for m in known if m.number <= manifest.schema])
    tables = rows.schema(tx)
    for table in manifest.rows:
        with backup.open(f"rows/{table}.jsonl") as file:
            rows.load(tx, tables, table, file)
    apply(tx, known)


def _note(tx: Transaction, notes: Notes, replaced: list[Gone]) -> None:
    """Have what was kept beside the rows that were replaced removed, but for what those that came
    in their place rest on."""
    back = {str(row["id"]) for row in tx.read("SELECT id FROM workspaces")}
    gone = [dataclasses.replace(one, whole=one.workspace_id not in back) for one in replaced]
    if gone:
        notes.write(tx, RemovalNote(gone))


def _scrub(db: Database) -> None:
    """What cannot be rewritten now is with the next start, by the note of what was replaced."""
    try:
        db.scrub()
    except StoreError as e:
        logger.warning("what was replaced is not gone yet: %s", e)


def _check_counts(tx: Transaction, manifest: BackupManifest) -> None:
    """Raises StoreError, which takes everything back."""
    tables = rows.schema(tx)
    for table, count in manifest.rows.items():
        if table not in tables:
            continue  # a later version has done without it
        there = tx.read(f"SELECT count(*) AS n FROM {table}")[0]["n"]
        if there < count and manifest.schema == max(m.number for m in migrations()):
            raise StoreError(
                f"Of {count:,} rows of '{table}' {there:,} were restored; nothing was changed.",
                "Try again; if that does not help, use another backup.",
            )


@contextmanager
def _staged(home: Path, backup: BackupSource, manifest: BackupManifest) -> Iterator[Path]:
    """A folder of the data folder with all that stands beside the database, which is written before
    any row is: a disk that fills up changes nothing. Raises StoreError."""
    folder = home / STAGED
    forget_staged(home)
    try:
        with _explained(home):
            for name in manifest.parts:
                if name.startswith("files/"):
                    path = folder / name.removeprefix("files/")
                    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                    with backup.open(name) as stream, path.open("wb") as file:
                        path.chmod(0o600)
                        shutil.copyfileobj(stream, file)
        yield folder
    finally:
        forget_staged(home)


def forget_staged(home: Path) -> None:
    """Remove what a restore that was killed has left: the key may be in it."""
    shutil.rmtree(home / STAGED, ignore_errors=True)


def _put_in_place(staged: Path, home: Path) -> None:
    """Each whole or not at all."""
    with _explained(home):
        for path in sorted(staged.rglob("*")):
            target = home / path.relative_to(staged)
            if path.is_dir():
                target.mkdir(parents=True, exist_ok=True, mode=0o700)
            else:
                beside = target.with_name(f".{target.name}.restored")
                try:
                    shutil.move(path, beside)  # a folder of it may be a disk of its own
                    beside.replace(target)
                finally:
                    beside.unlink(missing_ok=True)


@contextmanager
def _explained(home: Path) -> Iterator[None]:
    try:
        yield
    except OSError as e:
        raise StoreError(
            f"The data folder {home} cannot be written: {e.strerror}.",
            "Free some space or fix its permissions, then restore again.",
        ) from e
