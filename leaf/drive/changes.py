"""What changed in Drive since it was looked at, by the Changes API: one saved page token for the
user and each shared drive."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from leaf.drive.client import Client
from leaf.drive.failures import is_no_member
from leaf.drive.listing import EVERYWHERE, ITEM_FIELDS, get_item, item_of
from leaf.drive.model import DriveChange, DriveItem
from leaf.errors import DriveError, NotFoundError
from leaf.store import drive_files
from leaf.store.database import Database
from leaf.store.drive_files import AttachedFolder, Revision, StoredDriveChange
from leaf.store.model import Scope

FIELDS = f"nextPageToken,newStartPageToken,changes(changeType,removed,fileId,time,file({ITEM_FIELDS},createdTime))"
PAGE = 500


def begin(client: Client, db: Database, scope: Scope, shared_drive: str) -> bool:
    """Note from where on changes count, before anything is read; costs one call, once. False for a
    shared drive whose log is not for this account: what is shared of it stands in the user's own."""
    if shared_drive in drive_files.tokens(db, scope):
        return True
    try:
        token = _start(client, shared_drive)
    except (NotFoundError, DriveError) as e:
        if not shared_drive or not is_no_member(e):
            raise
        return False
    drive_files.save_changes(db, scope, shared_drive, token, ())
    return True


def check(client: Client, db: Database, scope: Scope, max_age: float) -> None:
    """Mark what changed among the caller's files and folders, in every log that was not read within
    `max_age` seconds."""
    folders = drive_files.all_folders(db, scope)
    for shared_drive, (token, checked_at) in drive_files.tokens(db, scope).items():
        if (datetime.now(UTC) - checked_at).total_seconds() >= max_age:
            _read_log(client, db, scope, shared_drive, token, folders)


def of_chat(
    db: Database, scope: Scope, file_ids: Sequence[str], folders: Sequence[AttachedFolder]
) -> list[DriveChange]:
    """The marks that concern a chat with these files and folders. Asks nothing of Google."""
    mine = drive_files.by_file(db, scope, file_ids)
    newest = drive_files.newest(db, scope, [r.drive_id for r in mine])
    below = {inside: folder for folder in folders for inside in (folder.folder_id, *folder.inside)}
    by_id: dict[str, DriveChange] = {}
    for change in drive_files.changes(db, scope, [r.drive_id for r in mine], list(below)):
        folder = below.get(change.folder_id)
        held = tuple(r.file_id for r in mine if r.drive_id == change.drive_id)
        if what := _what(change, bool(held), folder):
            by_id[change.drive_id] = DriveChange(
                change.drive_id,
                change.name,
                what,
                change.changed_at,
                held,
                folder.name if folder else "",
            )
    for drive_id, revision in newest.items():
        older = tuple(
            r.file_id for r in mine if r.drive_id == drive_id and r.file_id != revision.file_id
        )
        if older and drive_id not in by_id:
            by_id[drive_id] = DriveChange(
                drive_id, str(revision.item.get("name", "")), "changed", revision.checked_at, older
            )
    return sorted(by_id.values(), key=lambda c: c.at, reverse=True)


def compare(client: Client, held: Revision) -> DriveItem | StoredDriveChange:
    """A file of the library as it is in Drive now, or that it is gone from there."""
    item = item_of(held.item)
    try:
        current_item = get_item(client, item.ref)
    except NotFoundError:
        return StoredDriveChange(held.drive_id, "removed", item.name, "", "", datetime.now(UTC))
    return changed(current_item) if current_item.trashed else current_item


def changed(item: DriveItem) -> StoredDriveChange:
    """That a file is another one by now, or in the bin."""
    what, at = "removed" if item.trashed else "changed", item.modified or datetime.now(UTC)
    return StoredDriveChange(
        item.id, what, item.name, item.revision, next(iter(item.parents), ""), at
    )


def _what(change: StoredDriveChange, held: bool, folder: AttachedFolder | None) -> Any:
    """`changed` for what the chat holds; for the rest of a folder Drive's log does not tell new
    from edited."""
    if change.what == "removed":
        return "removed"
    if held:
        return "changed"
    return change.what if folder is not None else ""


def _read_log(
    client: Client,
    db: Database,
    scope: Scope,
    shared_drive: str,
    token: str,
    folders: Sequence[AttachedFolder],
) -> None:
    options = {**EVERYWHERE, "pageSize": PAGE, "includeRemoved": True, "fields": FIELDS}
    if shared_drive:
        options["driveId"] = shared_drive
    while token:
        try:
            page = client.ask(
                partial(_page, {**options, "pageToken": token}), "The list of changes"
            )
        except (NotFoundError, DriveError) as e:
            if is_no_member(e):
                return  # the shared drive is gone, or not for this account any more
            if not isinstance(e, DriveError) or e.reason not in (
                "invalid",
                "invalidPageToken",
                "badRequest",
                "INVALID_ARGUMENT",
            ):
                raise
            drive_files.save_changes(db, scope, shared_drive, _start(client, shared_drive), ())
            return
        rows = [row for row in page.get("changes", ()) if row.get("changeType", "file") == "file"]
        by_id = _relevant(db, scope, rows, folders)
        settled = [i for i in {str(row["fileId"]) for row in rows} if i not in by_id]
        following = str(page.get("nextPageToken", ""))
        drive_files.save_changes(
            db,
            scope,
            shared_drive,
            following or str(page["newStartPageToken"]),
            by_id.values(),
            settled,
        )
        token = following


def _relevant(
    db: Database, scope: Scope, rows: Sequence[Mapping[str, Any]], folders: Sequence[AttachedFolder]
) -> dict[str, StoredDriveChange]:
    """Changes of files that were brought in, and of what lies in attached folders, by the file; new
    folders there are taken up."""
    known = drive_files.known(db, scope, [str(row["fileId"]) for row in rows])
    ids = {drive_id for drive_id, _ in known}
    held = drive_files.newest(db, scope, list(ids))
    by_id: dict[str, StoredDriveChange] = {}
    for row in rows:
        drive_id, at = str(row["fileId"]), datetime.fromisoformat(row["time"])
        by_id.pop(drive_id, None)  # the last row of several says how it stands
        if row.get("removed") or "file" not in row:
            if drive_id in ids:
                name = str(held[drive_id].item.get("name", "")) if drive_id in held else ""
                by_id[drive_id] = StoredDriveChange(drive_id, "removed", name, "", "", at)
            continue
        item = item_of(row["file"])
        parent = next(
            (p for p in item.parents if any(p == f.folder_id or p in f.inside for f in folders)), ""
        )
        if item.is_folder:
            _take_up(db, scope, item.id, item.parents, folders)
            continue
        if drive_id in ids and (item.trashed or (drive_id, item.revision) not in known):
            by_id[drive_id] = StoredDriveChange(
                drive_id,
                "removed" if item.trashed else "changed",
                item.name,
                item.revision,
                parent,
                at,
            )
        elif drive_id not in ids and parent:
            what = "removed" if item.trashed else _new_or_changed(row["file"], folders)
            by_id[drive_id] = StoredDriveChange(
                drive_id, what, item.name, item.revision, parent, at
            )
    return by_id


def _new_or_changed(row: Mapping[str, Any], folders: Sequence[AttachedFolder]) -> str:
    """A file made after every folder was attached is new there."""
    created_at = row.get("createdTime")
    return (
        "added"
        if created_at
        and folders
        and datetime.fromisoformat(created_at) > min(f.created_at for f in folders)
        else "changed"
    )


def _take_up(
    db: Database,
    scope: Scope,
    folder_id: str,
    parents: Iterable[str],
    folders: Sequence[AttachedFolder],
) -> None:
    for folder in folders:
        if folder_id not in folder.inside and any(
            p == folder.folder_id or p in folder.inside for p in parents
        ):
            folder.inside.append(folder_id)
            drive_files.set_inside(db, scope, folder)


def _page(options: Mapping[str, Any], drive: Any) -> Any:
    return drive.changes().list(**options)


def _start(client: Client, shared_drive: str) -> str:
    options: dict[str, Any] = {
        "supportsAllDrives": True,
        **({"driveId": shared_drive} if shared_drive else {}),
    }
    return str(
        client.ask(
            lambda drive: drive.changes().getStartPageToken(**options), "The list of changes"
        )["startPageToken"]
    )
