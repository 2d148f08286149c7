"""What the caller has from Google Drive: revisions in the library, folders attached to chats,
changes seen, page tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from leaf.errors import InvalidInputError, not_found
from leaf.store import chats, files
from leaf.store.database import Database, Row, Transaction, now, one_of
from leaf.store.model import Json, Scope
from leaf.store.users import MEMBER, params

OWN = f"d.workspace_id = :workspace AND d.user_id = :user AND {MEMBER}"
"""True for the rows (as `d`) of the caller."""
REVISION = "d.drive_id, d.revision, d.file_id, d.item, d.checked_at"
FOLDER = (
    "d.chat_id, d.folder_id, d.ref, d.name, d.shared_drive, d.files, d.incomplete, d.inside, "
    "d.message_id, d.created_at"
)
LIVE = "EXISTS (SELECT 1 FROM files f WHERE f.id = d.file_id AND f.deleted_at IS NULL)"
"""True for revisions that are still in the library."""


@dataclass(frozen=True)
class Revision:
    """A revision of a Drive file that is in the library."""

    drive_id: str
    revision: str
    file_id: str
    item: Json
    checked_at: datetime


@dataclass(frozen=True)
class AttachedFolder:
    """A folder attached to a chat."""

    chat_id: str
    folder_id: str
    ref: str
    name: str
    shared_drive: str
    files: int
    incomplete: str
    inside: list[str]
    """Ids of the folders below it."""
    message_id: str
    created_at: datetime


@dataclass(frozen=True)
class StoredDriveChange:
    drive_id: str
    what: str
    name: str
    revision: str
    folder_id: str
    changed_at: datetime


# Revisions


def revisions(db: Database, scope: Scope, drive_id: str) -> list[Revision]:
    """Those of a file that are still in the library, newest first."""
    rows = db.read(
        f"SELECT {REVISION} FROM drive_files d WHERE d.drive_id = :drive AND {OWN} AND {LIVE} "
        "ORDER BY d.checked_at DESC, d.created_at DESC",
        params(scope, drive=drive_id),
    )
    return [Revision(**row) for row in rows]


def newest(db: Database, scope: Scope, drive_ids: Sequence[str]) -> dict[str, Revision]:
    """The newest revision of each file that is in the library."""
    among, names = one_of("d.drive_id", drive_ids)
    rows = db.read(
        f"SELECT {REVISION} FROM drive_files d WHERE {among} AND {OWN} AND {LIVE} ORDER BY "
        f"d.checked_at, d.created_at",
        params(scope, **names),
    )
    return {str(row["drive_id"]): Revision(**row) for row in rows}


def by_file(db: Database, scope: Scope, file_ids: Sequence[str]) -> list[Revision]:
    """The revisions behind files of the library."""
    among, names = one_of("d.file_id", file_ids)
    rows = db.read(
        f"SELECT {REVISION} FROM drive_files d WHERE {among} AND {OWN}", params(scope, **names)
    )
    return [Revision(**row) for row in rows]


def known(db: Database, scope: Scope, drive_ids: Sequence[str]) -> dict[tuple[str, str], str]:
    """(Drive id, revision) -> file id, of those that are in the library."""
    among, names = one_of("d.drive_id", drive_ids)
    rows = db.read(
        f"SELECT d.drive_id, d.revision, d.file_id FROM drive_files d WHERE {among} AND {OWN} "
        f"AND {LIVE}",
        params(scope, **names),
    )
    return {(str(r["drive_id"]), str(r["revision"])): str(r["file_id"]) for r in rows}


def keep(
    db: Database, scope: Scope, drive_id: str, revision: str, file_id: str, item: Json
) -> None:
    """Remember which file of the library a revision is, and that it is the newest now. Raises
    NotFoundError."""
    at = now()
    with db.transaction(scope) as tx:
        files.get(tx, scope, file_id)
        tx.execute(
            "INSERT INTO drive_files (workspace_id, user_id, drive_id, revision, file_id, item, "
            "checked_at, created_at) "
            "VALUES (:workspace, :user, :drive, :revision, :file, :item, :at, :at) "
            "ON CONFLICT (workspace_id, user_id, drive_id, revision) "
            "DO UPDATE SET file_id = excluded.file_id, item = excluded.item, checked_at = "
            "excluded.checked_at",
            params(scope, drive=drive_id, revision=revision, file=file_id, item=item, at=at),
        )
        # What was marked as changed is read anew with this.
        tx.execute(
            f"DELETE FROM drive_changes AS d WHERE d.drive_id = :drive AND d.revision = "
            f":revision AND {OWN}",
            params(scope, drive=drive_id, revision=revision),
        )


# Folders


def attach_folder(db: Database, scope: Scope, folder: AttachedFolder) -> AttachedFolder:
    """Put a folder into a chat; one that is there keeps its question. Raises NotFoundError."""
    with db.transaction(scope) as tx:
        chats.hold(tx, scope, folder.chat_id, now())
        tx.execute(
            "INSERT INTO drive_folders (chat_id, workspace_id, user_id, folder_id, ref, name, "
            "shared_drive, files, incomplete, "
            "inside, message_id, created_at) VALUES (:chat, :workspace, :user, :folder, :ref, "
            ":name, :drive, :files, "
            ":incomplete, :inside, '', :at) ON CONFLICT (chat_id, user_id, folder_id) DO UPDATE "
            "SET name = excluded.name, "
            "ref = excluded.ref, files = excluded.files, incomplete = excluded.incomplete, inside "
            "= excluded.inside",
            params(
                scope,
                chat=folder.chat_id,
                folder=folder.folder_id,
                ref=folder.ref,
                name=folder.name,
                drive=folder.shared_drive,
                files=folder.files,
                incomplete=folder.incomplete,
                inside=folder.inside,
                at=now(),
            ),
        )
    return next(f for f in folders(db, scope, folder.chat_id) if f.folder_id == folder.folder_id)


def folders(db: Database, scope: Scope, chat_id: str) -> list[AttachedFolder]:
    """Folders that the caller attached to a chat, oldest first. Raises NotFoundError."""
    chats.get(db, scope, chat_id)
    rows = db.read(
        f"SELECT {FOLDER} FROM drive_folders d WHERE d.chat_id = :chat AND {OWN} ORDER BY "
        f"d.created_at, d.folder_id",
        params(scope, chat=chat_id),
    )
    return [AttachedFolder(**row) for row in rows]


def all_folders(db: Database, scope: Scope) -> list[AttachedFolder]:
    """Folders that the caller attached to any chat."""
    rows = db.read(f"SELECT {FOLDER} FROM drive_folders d WHERE {OWN}", params(scope))
    return [AttachedFolder(**row) for row in rows]


def send_folders(
    db: Database, scope: Scope, chat_id: str, message_id: str, refs: Sequence[str]
) -> None:
    """Give waiting folders to the question with which they went. Raises NotFoundError."""
    those, names = one_of("d.ref", refs)
    with db.transaction(scope) as tx:
        chats.get(tx, scope, chat_id)
        tx.execute(
            f"UPDATE drive_folders AS d SET message_id = :message WHERE d.chat_id = :chat AND "
            f"d.message_id = '' AND {those} AND {OWN}",
            params(scope, chat=chat_id, message=message_id, **names),
        )


def detach_folder(db: Database, scope: Scope, chat_id: str, folder_id: str) -> None:
    """Take a waiting folder out of a chat. Raises NotFoundError, InvalidInputError once a question
    went with it."""
    there = folders(db, scope, chat_id)
    folder = next((f for f in there if f.folder_id == folder_id), None)
    if folder is None:
        raise not_found("folder", folder_id, (f.name for f in there), "this chat")
    if folder.message_id:
        raise InvalidInputError(
            f"{folder.name} came with a question, so it stays in this chat.",
            "Begin a new chat without it.",
        )
    with db.transaction(scope) as tx:
        tx.execute(
            f"DELETE FROM drive_folders AS d WHERE d.chat_id = :chat AND d.folder_id = "
            f":folder AND {OWN}",
            params(scope, chat=chat_id, folder=folder_id),
        )


def set_inside(db: Database, scope: Scope, folder: AttachedFolder) -> None:
    """Keep the ids of the folders below an attached one."""
    with db.transaction(scope) as tx:
        tx.execute(
            f"UPDATE drive_folders AS d SET inside = :inside WHERE d.chat_id = :chat AND "
            f"d.folder_id = :folder AND {OWN}",
            params(scope, chat=folder.chat_id, folder=folder.folder_id, inside=folder.inside),
        )


# Changes


def tokens(db: Database, scope: Scope) -> dict[str, tuple[str, datetime]]:
    """Shared drive (empty for the user's own) -> page token, and when it was last used."""
    rows = db.read(
        f"SELECT d.shared_drive, d.token, d.checked_at FROM drive_tokens d WHERE {OWN}",
        params(scope),
    )
    return {str(r["shared_drive"]): (str(r["token"]), r["checked_at"]) for r in rows}


def save_changes(
    db: Database,
    scope: Scope,
    shared_drive: str,
    token: str,
    found: Iterable[StoredDriveChange],
    settled: Sequence[str] = (),
) -> None:
    """Keep what a page of changes told, and the token that follows it, together. Files that are
    `settled` are as they are known: what was marked of them before is over."""
    with db.transaction(scope) as tx:
        if not tx.read(f"SELECT 1 AS yes WHERE {MEMBER}", params(scope)):
            return
        those, names = one_of("d.drive_id", settled)
        tx.execute(
            f"DELETE FROM drive_changes AS d WHERE {those} AND {OWN}", params(scope, **names)
        )
        _mark(tx, scope, found)
        tx.execute(
            "INSERT INTO drive_tokens (workspace_id, user_id, shared_drive, token, checked_at) "
            "VALUES (:workspace, :user, :drive, :token, :at) ON CONFLICT (workspace_id, user_id, "
            "shared_drive) "
            "DO UPDATE SET token = excluded.token, checked_at = excluded.checked_at",
            params(scope, drive=shared_drive, token=token, at=now()),
        )


def mark(db: Database, scope: Scope, found: Iterable[StoredDriveChange]) -> None:
    """Keep changes that no log told."""
    with db.transaction(scope) as tx:
        if tx.read(f"SELECT 1 AS yes WHERE {MEMBER}", params(scope)):
            _mark(tx, scope, found)


def _mark(tx: Transaction, scope: Scope, drive_changes: Iterable[StoredDriveChange]) -> None:
    for change in drive_changes:
        row: Row = {
            "drive": change.drive_id,
            "what": change.what,
            "name": change.name,
            "revision": change.revision,
            "folder": change.folder_id,
            "changed": change.changed_at,
        }
        tx.execute(
            "INSERT INTO drive_changes (workspace_id, user_id, drive_id, what, name, "
            "revision, folder_id, changed_at) "
            "VALUES (:workspace, :user, :drive, :what, :name, :revision, :folder, :changed) "
            "ON CONFLICT (workspace_id, user_id, drive_id) DO UPDATE SET what = "
            "excluded.what, name = excluded.name, "
            "revision = excluded.revision, folder_id = excluded.folder_id, changed_at = "
            "excluded.changed_at",
            params(scope, **row),
        )


def changes(
    db: Database, scope: Scope, drive_ids: Sequence[str] = (), folder_ids: Sequence[str] = ()
) -> list[StoredDriveChange]:
    """Changes of these files and of what lies in these folders, newest first."""
    if not drive_ids and not folder_ids:
        return []
    either = []
    names: dict[str, str] = {}
    for column, prefix, values in (
        ("d.drive_id", "file", drive_ids),
        ("d.folder_id", "folder", folder_ids),
    ):
        names |= {f"{prefix}{i}": value for i, value in enumerate(values)}
        marks = ", ".join(f":{prefix}{i}" for i in range(len(values)))
        either.append(f"{column} IN ({marks})" if values else "FALSE")
    rows = db.read(
        "SELECT d.drive_id, d.what, d.name, d.revision, d.folder_id, d.changed_at FROM "
        "drive_changes d "
        f"WHERE ({' OR '.join(either)}) AND {OWN} ORDER BY d.changed_at DESC, d.drive_id",
        params(scope, **names),
    )
    return [StoredDriveChange(**row) for row in rows]


def forget(db: Database, scope: Scope) -> None:
    """Drop tokens and marks of the caller, whose connection is over. What came in stays known."""
    with db.transaction(scope) as tx:
        for table in ("drive_tokens", "drive_changes"):
            tx.execute(f"DELETE FROM {table} AS d WHERE {OWN}", params(scope))
