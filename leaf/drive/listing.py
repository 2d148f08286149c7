"""Folders, search and trees. A listing is one page; what follows it is kept under a short
cursor."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from leaf.drive import query
from leaf.drive.client import Client
from leaf.drive.failures import is_no_member
from leaf.drive.model import DRIVES, ROOT, SHARED, DriveCrumb, DriveItem, DriveListing
from leaf.errors import DriveError, InvalidInputError, LeafError, NotFoundError, RunError

ITEM_FIELDS = (
    "id,name,mimeType,size,modifiedTime,md5Checksum,headRevisionId,version,owners(displayName,emailAddress),webViewLink,parents,"
    "driveId,resourceKey,shortcutDetails(targetId,targetMimeType,targetResourceKey),capabilities(canDownload),trashed"
)
LIST_FIELDS = f"nextPageToken,incompleteSearch,files({ITEM_FIELDS})"
EVERYWHERE: dict[str, Any] = {"supportsAllDrives": True, "includeItemsFromAllDrives": True}
NAMES = {ROOT: "My Drive", SHARED: "Shared with me", DRIVES: "Shared drives"}
PAGE_MOST = 1000
AT_ONCE = 40
"""Folders asked for in one query: more make it longer than Google takes."""
DEEPEST = 100
MOST_FILES = 20_000
"""Files of a tree that are looked at; beyond, the tree is said to be cut."""
CURSORS = 5_000
NOT_ALL_SEARCHED = (
    "Google did not search everything this time, so something may be missing. Narrow the "
    "search, or try again."
)


@dataclass(frozen=True)
class Rest:
    """What a cursor stands for: the next page of the first query, then the other queries."""

    owner: str
    """Key of the connection; no other may use it."""
    folder: DriveCrumb | None
    breadcrumbs: tuple[DriveCrumb, ...]
    queries: tuple[Mapping[str, Any], ...]
    token: str
    page_size: int
    keys: tuple[str, ...] = ()
    """Resource keys without which Google gives no page of it."""


class Cursors:
    """Google's page tokens are long and secret-like; models and pages get a short name for them
    instead."""

    def __init__(self) -> None:
        self._rests: OrderedDict[str, Rest] = OrderedDict()
        self._guard = threading.Lock()

    def keep(self, rest: Rest) -> str:
        name = f"p{secrets.token_hex(5)}"
        with self._guard:
            self._rests[name] = rest
            while len(self._rests) > CURSORS:
                self._rests.popitem(last=False)
        return name

    def find(self, name: str, owner: str) -> Rest:
        """Raises InvalidInputError, also for a cursor of somebody else."""
        with self._guard:
            rest = self._rests.get(name)
        if rest is None or rest.owner != owner:
            raise InvalidInputError(
                f"The cursor '{name[:40]}' is not known any more.", "List from the beginning."
            )
        return rest


class Listings:
    """Pages of folders and searches."""

    def __init__(self) -> None:
        self._cursors = Cursors()

    def folder(self, client: Client, ref: str, page_size: int) -> DriveListing:
        """The first page of a folder or view. Raises InvalidInputError if it is a file."""
        view = view_of(ref)
        if view == DRIVES:
            return self._page(
                client,
                Rest(
                    client.access.key,
                    DriveCrumb(DRIVES, NAMES[DRIVES]),
                    _top(DRIVES),
                    ({DRIVES: True},),
                    "",
                    page_size,
                ),
            )
        if view:
            condition = "sharedWithMe = true" if view == SHARED else query.in_folders(["root"])
            order = "sharedWithMeTime desc" if view == SHARED else "folder,name_natural"
            asked = {"q": query.all_of(condition, "trashed = false"), "orderBy": order}
            return self._page(
                client, Rest(client.access.key, _top(view)[0], _top(view), (asked,), "", page_size)
            )
        folder = get_item(client, ref)
        if not folder.is_folder:
            raise InvalidInputError(
                f"{folder.name} is a file, not a folder.", "Read it, or list its folder."
            )
        crumbs = breadcrumbs(client, folder)
        asked = {
            "q": query.all_of(query.in_folders([folder.id]), "trashed = false"),
            "orderBy": "folder,name_natural",
            **corpus(folder),
        }
        return self._page(
            client,
            Rest(client.access.key, crumbs[-1], crumbs, (asked,), "", page_size, keys_of(folder)),
        )

    def search(self, client: Client, conditions: str, ref: str, page_size: int) -> DriveListing:
        """The first page of what meets the conditions, everywhere or in a folder and all below
        it."""
        if not ref or view_of(ref) in (ROOT, DRIVES):
            where: dict[str, Any] = (
                {"corpora": "user"} if ref and view_of(ref) == ROOT else {"corpora": "allDrives"}
            )
            rest = Rest(
                client.access.key,
                None,
                (),
                ({"q": query.all_of(conditions, "trashed = false"), **where},),
                "",
                page_size,
            )
            return self._page(client, rest)
        if view_of(ref) == SHARED:
            asked = {"q": query.all_of(conditions, "sharedWithMe = true", "trashed = false")}
            return self._page(
                client,
                Rest(client.access.key, _top(SHARED)[0], _top(SHARED), (asked,), "", page_size),
            )
        folder = get_item(client, ref)
        if not folder.is_folder:
            raise InvalidInputError(
                f"{folder.name} is a file, not a folder.", "Search in its folder."
            )
        ids = [folder.id, *(f.id for f in walk(client, folder, folders_only=True))]
        queries = tuple(
            {
                "q": query.all_of(
                    conditions, query.in_folders(ids[at : at + AT_ONCE]), "trashed = false"
                ),
                **corpus(folder),
            }
            for at in range(0, len(ids), AT_ONCE)
        )
        crumb = DriveCrumb(folder.ref, folder.name)
        return self._page(
            client,
            Rest(client.access.key, crumb, (crumb,), queries, "", page_size, keys_of(folder)),
        )

    def following(self, client: Client, cursor: str) -> DriveListing:
        """The page after one. Raises InvalidInputError for a cursor that is not known."""
        return self._page(client, self._cursors.find(cursor, client.access.key))

    def _page(self, client: Client, rest: Rest) -> DriveListing:
        """A page; where a query ends without a match the next one is asked at once, so that no page
        is empty but the last."""
        queries, token = list(rest.queries), rest.token
        items: tuple[DriveItem, ...] = ()
        incomplete = ""
        while queries:
            asked = queries[0]
            if asked.get(DRIVES):
                items, token = _shared_drives(client, token, rest.page_size)
            else:
                page = list_files(client, asked, token, rest.page_size, rest.keys)
                items, token = (
                    tuple(item_of(row) for row in page.get("files", ())),
                    str(page.get("nextPageToken", "")),
                )
                incomplete = NOT_ALL_SEARCHED if page.get("incompleteSearch") else incomplete
            if not token:
                queries.pop(0)
            if items:
                break
        cursor = (
            self._cursors.keep(replace(rest, queries=tuple(queries), token=token))
            if queries
            else ""
        )
        return DriveListing(rest.folder, rest.breadcrumbs, items, cursor, incomplete)


def view_of(ref: str) -> str:
    """`root`, `shared-with-me` or `drives` if it names one of these views, else empty."""
    plain = ref.strip()
    if query.is_address(plain):
        plain = query.parse_ref(plain)[0]
    return plain if plain in NAMES else ""


def list_files(
    client: Client, asked: Mapping[str, Any], token: str, page_size: int, keys: Sequence[str] = ()
) -> dict[str, Any]:
    """One page as Google gives it."""
    options = {
        **EVERYWHERE,
        **asked,
        "pageSize": max(1, min(page_size, PAGE_MOST)),
        "fields": LIST_FIELDS,
    }
    if token:
        options["pageToken"] = token
    try:
        return _listed(client, options, keys)
    except (NotFoundError, DriveError) as e:
        if options.pop("driveId", None) is None or not is_no_member(e):
            raise
        # A folder of a shared drive that this account does not belong to, and that is shared with it.
        return _listed(client, {**options, "corpora": "allDrives"}, keys)


def _listed(client: Client, options: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    page: dict[str, Any] = client.ask(
        lambda drive: drive.files().list(**options), "The folder", keys=keys
    )
    return page


def get_item(client: Client, ref: str) -> DriveItem:
    """What an id, `ref` or address names; a shortcut is followed. Raises NotFoundError,
    InvalidInputError."""
    file_id, key = query.parse_ref(ref)
    item = _get(client, file_id, key)
    for _ in range(3):  # Drive makes no shortcuts to shortcuts, and a loop of them must end
        if item.mime_type != query.SHORTCUT and not item.is_shortcut:
            return item
        shortcut_name = item.name
        try:
            item = replace(_get(client, item.id, item.resource_key), is_shortcut=False)
        except NotFoundError as e:
            raise NotFoundError(
                f"The shortcut {shortcut_name} points to something that is gone or not shared.",
                "Ask its owner.",
            ) from e
    raise InvalidInputError(
        f"The shortcut {item.name} leads back to itself.", "Open what it should point to."
    )


def _get(client: Client, file_id: str, key: str) -> DriveItem:
    keys = [f"{file_id}/{key}"] if key else []
    row = client.ask(
        lambda drive: drive.files().get(fileId=file_id, supportsAllDrives=True, fields=ITEM_FIELDS),
        "This file or folder",
        keys=keys,
    )
    item = item_of(row)
    if item.drive_id == item.id:
        name = client.ask(
            lambda drive: drive.drives().get(driveId=item.id, fields="name"), "The shared drive"
        )["name"]
        return replace(item, name=str(name))
    return item if item.resource_key or item.is_shortcut else replace(item, resource_key=key)


def item_of(row: Mapping[str, Any]) -> DriveItem:
    """A file resource as an item. A shortcut takes the id and type of what it points to, and keeps
    its own name."""
    shortcut = row.get("shortcutDetails") or {}
    mime_type = str(shortcut.get("targetMimeType") or row.get("mimeType", ""))
    owner = (row.get("owners") or [{}])[0]
    modified = row.get("modifiedTime")
    return DriveItem(
        id=str(shortcut.get("targetId") or row["id"]),
        name=str(row.get("name") or "Untitled"),
        kind=query.kind_of(mime_type),
        mime_type=mime_type,
        size=int(row["size"]) if row.get("size") is not None and not shortcut else None,
        modified=datetime.fromisoformat(modified) if modified else None,
        owner=str(owner.get("displayName") or owner.get("emailAddress") or ""),
        link=str(row.get("webViewLink", "")),
        parents=tuple(row.get("parents") or ()),
        drive_id=str(row.get("driveId", "")),
        resource_key=str(shortcut.get("targetResourceKey") or row.get("resourceKey") or ""),
        is_shortcut=bool(shortcut),
        can_download=bool((row.get("capabilities") or {}).get("canDownload", True)),
        trashed=bool(row.get("trashed", False)),
        revision="" if shortcut or mime_type == query.FOLDER else revision_of(row),
    )


def revision_of(row: Mapping[str, Any]) -> str:
    """What changes with the content: of bytes their checksum, of Google's documents the time of the
    last edit."""
    for field in ("md5Checksum", "headRevisionId", "modifiedTime", "version"):
        if value := row.get(field):
            return f"{field}:{value}"
    return "unknown"


def corpus(folder: DriveItem) -> dict[str, Any]:
    """Where a query about a folder has to look: in its shared drive, or in what is the user's."""
    return (
        {"corpora": "drive", "driveId": folder.drive_id} if folder.drive_id else {"corpora": "user"}
    )


def keys_of(item: DriveItem) -> tuple[str, ...]:
    """Resource keys to send with a request about it."""
    return (item.ref,) if item.resource_key else ()


def breadcrumbs(client: Client, folder: DriveItem) -> tuple[DriveCrumb, ...]:
    """The way down to a folder, as far as the user may see it."""
    crumbs, seen = [DriveCrumb(folder.ref, folder.name)], {folder.id}
    at = folder
    while at.parents and at.parents[0] not in seen and len(crumbs) < DEEPEST:
        seen.add(at.parents[0])
        try:
            at = _get(client, at.parents[0], "")
        except NotFoundError:
            break
        crumbs.insert(0, DriveCrumb(at.ref, at.name))
    if at.drive_id:
        return (*_top(DRIVES), *crumbs)
    if at.parents or not _is_root(client, at.id):
        return (*_top(SHARED), *crumbs)
    return (*_top(ROOT), *crumbs[1:])


def walk(
    client: Client,
    top: DriveItem,
    *,
    folders_only: bool = False,
    stop: threading.Event | None = None,
    unreached: Callable[[DriveItem, LeafError], None] = lambda *_: None,
) -> Iterator[DriveItem]:
    """All folders and files below a folder, each once, whatever loops its shortcuts make. Asks for
    many folders at a time. `unreached` is told of folders that a shortcut points to in vain."""
    seen, waiting = {top.id}, [top]
    condition = (
        f"(mimeType = '{query.FOLDER}' or mimeType = '{query.SHORTCUT}')" if folders_only else ""
    )
    while waiting:
        batch = [f for f in waiting if f.drive_id == waiting[0].drive_id and not f.resource_key][
            :AT_ONCE
        ] or waiting[:1]
        waiting = [f for f in waiting if f not in batch]
        asked = {
            "q": query.all_of(
                query.in_folders([f.id for f in batch]), condition, "trashed = false"
            ),
            **corpus(batch[0]),
        }
        token, more = "", True
        while more:
            if stop is not None and stop.is_set():
                raise RunError("Stopped.")
            page = list_files(
                client, asked, token, PAGE_MOST, [key for f in batch for key in keys_of(f)]
            )
            for item in map(item_of, page.get("files", ())):
                if item.id in seen or (folders_only and not item.is_folder):
                    continue
                seen.add(item.id)
                if item.is_folder:
                    waiting += _followed(client, item, unreached)
                yield item
            token = str(page.get("nextPageToken", ""))
            more = bool(token)


def _followed(
    client: Client, folder: DriveItem, unreached: Callable[[DriveItem, LeafError], None]
) -> list[DriveItem]:
    """The folder itself, or what a shortcut to it points to: nothing if that is out of reach."""
    if not folder.is_shortcut:
        return [folder]
    try:
        return [get_item(client, folder.ref)]
    except (NotFoundError, InvalidInputError) as e:
        unreached(folder, e)
        return []


def _shared_drives(client: Client, token: str, page_size: int) -> tuple[tuple[DriveItem, ...], str]:
    options: dict[str, Any] = {
        "pageSize": min(page_size, 100),
        "fields": "nextPageToken,drives(id,name,createdTime)",
    }
    if token:
        options["pageToken"] = token
    page = client.ask(lambda drive: drive.drives().list(**options), "The list of shared drives")
    rows = page.get("drives", ())
    items = tuple(
        DriveItem(str(r["id"]), str(r["name"]), "folder", query.FOLDER, drive_id=str(r["id"]))
        for r in rows
    )
    return items, str(page.get("nextPageToken", ""))


def _is_root(client: Client, file_id: str) -> bool:
    """Whether a folder is the top of My Drive."""
    root = client.ask(lambda drive: drive.files().get(fileId="root", fields="id"), "My Drive")
    return bool(root["id"] == file_id)


def _top(view: str) -> tuple[DriveCrumb, ...]:
    return (DriveCrumb(view, NAMES[view]),)
