"""class Drive: what tools and sessions ask of Google Drive."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from leaf.drive import changes, content, listing, query
from leaf.drive.adding import Adding
from leaf.drive.client import WAITS, Client
from leaf.drive.connection import Connections, token_of
from leaf.drive.fetching import DriveLibrary, Fetcher
from leaf.drive.model import (
    BroughtFile,
    DriveAdded,
    DriveChange,
    DriveConnection,
    DriveFolder,
    DriveItem,
    DriveListing,
    DriveLooked,
    DrivePreview,
    DriveSkipped,
    OnProgress,
)
from leaf.drive.oauth import Consent
from leaf.errors import DriveNotConnectedError, InvalidInputError, LeafError, NotFoundError
from leaf.settings import Settings
from leaf.store import Store, drive_files
from leaf.store.drive_files import AttachedFolder, Revision
from leaf.store.model import File, Scope
from leaf.store.vault import Vault

FRESH = 300.0
"""Seconds for which a file that was looked at counts as unchanged, so that a follow-up question
asks nothing of Google."""
PREVIEW_BYTES = 20_000_000
MOST_CLIENTS = 200
PERMISSIONS = "https://myaccount.google.com/permissions"

ItemList = list[DriveItem]
FolderList = list[DriveFolder]
ChangeList = list[DriveChange]


class DriveService:
    """Google Drive for every user. Safe to call from any number of threads."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        library: DriveLibrary,
        *,
        waits: Sequence[float] = WAITS,
    ) -> None:
        self._settings = settings
        self._db = store.db
        self._library = library
        self._waits = waits
        vault = Vault(settings.home, settings.secret_keys)
        self._connections = Connections(settings.google, store.db, vault)
        self._consent = Consent(settings.google, store.db, vault)
        self._listings = listing.Listings()
        self._clients: OrderedDict[str, Client] = OrderedDict()
        self._guard = threading.Lock()
        self._fetcher = Fetcher(settings, store.db, library, self._client)

    # Connection

    def connection(self, scope: Scope) -> DriveConnection:
        """How the caller stands with Drive. Asks nothing of Google."""
        return self._connections.state(scope)

    def begin(self, scope: Scope, redirect_uri: str) -> str:
        """Address at Google where the user consents."""
        return self._consent.begin(scope, redirect_uri)

    def finish(self, scope: Scope, came: Mapping[str, str]) -> DriveConnection:
        """Keep the connection that a consent gave. One that does not work yet is kept too, and says
        why."""
        credentials = self._consent.finish(scope, came)
        self._connections.save(scope, "", token_of(credentials), {})
        try:
            client = self._client(scope)
            about = client.ask(
                lambda drive: drive.about().get(fields="user(emailAddress,displayName)"),
                "The account",
            )
        except LeafError:
            return self.connection(scope)
        self._connections.save(
            scope,
            str(about["user"].get("emailAddress", "")),
            token_of(client.access.credentials),
            {},
        )
        return self.connection(scope)

    def disconnect(self, scope: Scope) -> DriveConnection:
        """Forget the connection and revoke it at Google; `why` tells if Google could not be
        told."""
        token = self._connections.delete(scope)
        told = not token or self._consent.revoke(token)
        state = self.connection(scope)
        return (
            state
            if told
            else replace(
                state,
                why="Google could not be told.",
                hint=f"Remove Leaf yourself at {PERMISSIONS}.",
            )
        )

    # Looking around

    def list(
        self, scope: Scope, folder: str = "root", *, cursor: str = "", page_size: int = 100
    ) -> DriveListing:
        """A page of a folder or view. Raises InvalidInputError, NotFoundError, DriveError."""
        client = self._client(scope)
        page = (
            self._listings.following(client, cursor)
            if cursor
            else self._listings.folder(client, folder, page_size)
        )
        return self._with_files(scope, page)

    def search(
        self,
        scope: Scope,
        words: str,
        *,
        folder: str = "",
        kinds: Sequence[str] = (),
        modified_after: str = "",
        cursor: str = "",
        page_size: int = 50,
    ) -> DriveListing:
        """By name and content, everywhere or in a folder and all below it. Raises
        InvalidInputError, DriveError."""
        conditions = query.all_of(
            query.matching(words), query.of_kinds(kinds), query.modified_since(modified_after)
        )
        client = self._client(scope)
        page = (
            self._listings.following(client, cursor)
            if cursor
            else self._listings.search(client, conditions, folder, page_size)
        )
        return self._with_files(scope, page)

    def item(self, scope: Scope, ref: str) -> DriveItem:
        """What an id, `ref` or address names; shortcuts are followed."""
        return self._with_file(scope, [listing.get_item(self._client(scope), ref)])[0]

    def named(self, scope: Scope, name: str) -> ItemList:
        """Files with exactly this name, at most ten."""
        asked = {
            "q": query.all_of(f"name = {query.literal(name)}", "trashed = false"),
            "corpora": "allDrives",
        }
        page = listing.list_files(self._client(scope), asked, "", 10)
        return [item for item in map(listing.item_of, page.get("files", ())) if not item.is_folder]

    def preview(self, scope: Scope, ref: str) -> DrivePreview:
        """The beginning of a file as text; nothing is kept. Raises FileTooLargeError beyond 20
        MB."""
        item = self.item(scope, ref)
        if item.file_id:
            return DrivePreview(item, file_id=item.file_id)
        with content.fetched(self._client(scope), item, self._settings.home, PREVIEW_BYTES) as path:
            return DrivePreview(item, self._library.peek(path, content.name_of(item)))

    # Bringing files in

    def bring(
        self,
        scope: Scope,
        ref: str,
        *,
        max_age: float = FRESH,
        on_progress: Callable[[int], None] | None = None,
        stop: threading.Event | None = None,
    ) -> BroughtFile:
        """The file in the library, downloaded only where this revision is not there yet.

        Within `max_age` seconds of the last look nothing is asked of Google. Raises what
        `content.fetch` raises.
        """
        drive_id, _ = query.parse_ref(ref)
        revisions = drive_files.revisions(self._db, scope, drive_id)
        if revisions and _age(revisions[0]) < max_age and not self._is_marked(scope, drive_id):
            return self._fetcher.as_kept(scope, revisions)
        try:
            item = listing.get_item(self._client(scope), ref)
        except DriveNotConnectedError as e:
            if not revisions:
                raise
            day = revisions[0].checked_at
            return replace(
                self._fetcher.as_kept(scope, revisions),
                note=f"{e.message} This is the copy of {day:%-d %B %Y, %H:%M} UTC.",
            )
        return self._fetcher.bring_item(scope, item, on_progress, stop)

    def add(
        self,
        scope: Scope,
        refs: Sequence[str],
        *,
        on_progress: OnProgress | None = None,
        stop: threading.Event | None = None,
    ) -> DriveAdded:
        """Bring in files, and folders with all that is below them. What cannot be brought in is
        counted with its reason."""
        looked = self.look(scope, refs, stop=stop)
        skipped = list(looked.skipped)
        brought = list(
            self.bring_all(
                scope,
                looked.items,
                folders=looked.folders,
                skipped=len(skipped),
                on_progress=on_progress,
                stop=stop,
            )
        )
        skipped += [
            DriveSkipped(item.name, outcome.message)
            for item, outcome in brought
            if isinstance(outcome, LeafError)
        ]
        files = {outcome.id: outcome for _, outcome in brought if isinstance(outcome, File)}
        return DriveAdded(tuple(files.values()), tuple(skipped), looked.incomplete)

    def look(
        self, scope: Scope, refs: Sequence[str], *, stop: threading.Event | None = None
    ) -> DriveLooked:
        """What there is to bring in: files, and those in folders and below. Brings none. Of several
        refs those that name nothing are skipped. Raises NotFoundError where the only one does,
        DriveError, RunError."""
        client = self._client(scope)
        wanted: dict[str, DriveItem] = {}
        skipped: list[DriveSkipped] = []
        folders: dict[str, str] = {}
        incomplete = ""
        limit = self._settings.max_upload_bytes

        def skip(item: DriveItem, why: LeafError) -> None:
            skipped.append(DriveSkipped(item.name, why.message))

        for top in _tops(client, refs, skipped):
            if not top.is_folder:
                wanted.setdefault(top.id, top)
                continue
            paths = {top.id: content.plain(top.name)}
            for item in listing.walk(client, top, stop=stop, unreached=skip):
                above = next(
                    (paths[parent] for parent in item.parents if parent in paths), paths[top.id]
                )
                if item.is_folder:
                    paths[item.id] = f"{above}/{content.plain(item.name)}"
                    continue
                folders.setdefault(item.id, above)
                if len(wanted) >= listing.MOST_FILES:
                    incomplete = (
                        f"{top.name} holds more than {listing.MOST_FILES:,} files; the others "
                        f"were not looked at."
                    )
                    break
                if reason := content.why_not_in_bulk(item, limit):
                    skipped.append(DriveSkipped(item.name, reason))
                else:
                    wanted.setdefault(item.id, item)
        return DriveLooked(tuple(wanted.values()), tuple(skipped), incomplete, folders)

    def bring_all(
        self,
        scope: Scope,
        items: Sequence[DriveItem],
        *,
        folders: Mapping[str, str] | None = None,
        skipped: int = 0,
        on_progress: OnProgress | None = None,
        on_answer: Callable[[], None] = lambda: None,
        stop: threading.Event | None = None,
    ) -> Iterator[tuple[DriveItem, File | LeafError]]:
        """Bring in some files, as they come: each with its file, or with why there is none.
        `skipped` are counted as done.

        `folders`: id of an item -> what stands before its name. `on_answer` is called for each file
        that was looked at. Raises what ends them all: a stop, a full disk, no connection.
        """
        with Adding(self._fetcher, scope, folders or {}, on_progress, on_answer, stop) as adding:
            yield from adding.run(items, skipped)

    # Folders of a chat, and what changed

    def attach_folder(self, scope: Scope, chat_id: str, ref: str) -> DriveFolder:
        """Put a folder beside the next question of a chat; its files are counted, not opened."""
        client = self._client(scope)
        folder = listing.get_item(client, ref)
        if not folder.is_folder:
            raise InvalidInputError(f"{folder.name} is a file, not a folder.", "Add it as a file.")
        self._fetcher.begin_changes(client, scope, folder.drive_id)
        count, inside, incomplete = 0, [], ""
        for item in listing.walk(client, folder):
            if item.is_folder:
                inside.append(item.id)
            else:
                count += 1
            if count >= listing.MOST_FILES:
                incomplete = f"There are more than {count:,} files."
                break
        row = AttachedFolder(
            chat_id,
            folder.id,
            folder.ref,
            folder.name,
            folder.drive_id,
            count,
            incomplete,
            inside,
            "",
            datetime.now(UTC),
        )
        return _folder(drive_files.attach_folder(self._db, scope, row))

    def detach_folder(self, scope: Scope, chat_id: str, ref: str) -> None:
        """Take a waiting folder away."""
        drive_files.detach_folder(self._db, scope, chat_id, query.parse_ref(ref)[0])

    def folders(self, scope: Scope, chat_id: str) -> FolderList:
        """Those attached to a chat. Asks nothing of Google."""
        return [_folder(row) for row in drive_files.folders(self._db, scope, chat_id)]

    def folders_sent(
        self, scope: Scope, chat_id: str, message_id: str, refs: Sequence[str]
    ) -> None:
        """These folders, as far as they were waiting, went with this question."""
        drive_files.send_folders(self._db, scope, chat_id, message_id, refs)

    def changes(
        self, scope: Scope, chat_id: str, file_ids: Sequence[str], *, max_age: float
    ) -> ChangeList:
        """What changed under a chat with these files. Without a connection: what was seen while
        there was one."""
        folders = drive_files.folders(self._db, scope, chat_id)
        if (folders or drive_files.by_file(self._db, scope, file_ids)) and self.connection(
            scope
        ).state == "connected":
            client = self._client(scope)
            for folder in folders:  # an earlier connection's logs are no longer read
                self._fetcher.begin_changes(client, scope, folder.shared_drive)
            changes.check(client, self._db, scope, max_age)
            self._fetcher.look_anew(client, scope, file_ids)
            folders = drive_files.folders(
                self._db, scope, chat_id
            )  # with the folders that were made below them
        return changes.of_chat(self._db, scope, file_ids, folders)

    def outdated(self, scope: Scope, file_ids: Sequence[str]) -> dict[str, DriveChange]:
        """Of these files of the library those that hold an older version, as far as is known. Asks
        nothing of Google."""
        marks = changes.of_chat(self._db, scope, file_ids, ())
        return {file_id: change for change in marks for file_id in change.file_ids}

    # Inside

    def _client(self, scope: Scope) -> Client:
        """The client of the caller's connection. Raises DriveNotConnectedError."""
        access = self._connections.open(scope)
        with self._guard:
            client = self._clients.get(access.key)
            if client is None:
                client = self._clients[access.key] = Client(
                    access, self._settings.google.api_url, waits=self._waits
                )
            client.access = access  # another process may have seen it fail meanwhile
            self._clients.move_to_end(access.key)
            while len(self._clients) > MOST_CLIENTS:
                self._clients.popitem(last=False)
        return client

    def _is_marked(self, scope: Scope, drive_id: str) -> bool:
        return bool(drive_files.changes(self._db, scope, [drive_id]))

    def _with_files(self, scope: Scope, page: DriveListing) -> DriveListing:
        return replace(page, items=tuple(self._with_file(scope, page.items)))

    def _with_file(self, scope: Scope, items: Sequence[DriveItem]) -> ItemList:
        """The items, those that are in the library with their files."""
        known = drive_files.known(self._db, scope, [item.id for item in items])
        return [replace(item, file_id=known.get((item.id, item.revision), "")) for item in items]


def _tops(client: Client, refs: Sequence[str], skipped: list[DriveSkipped]) -> Iterator[DriveItem]:
    for ref in refs:
        try:
            yield listing.get_item(client, ref)
        except (NotFoundError, InvalidInputError) as e:
            if len(refs) == 1:
                raise
            skipped.append(DriveSkipped(ref, e.message))


def _age(revision: Revision) -> float:
    return (datetime.now(UTC) - revision.checked_at).total_seconds()


def _folder(row: AttachedFolder) -> DriveFolder:
    return DriveFolder(row.chat_id, row.ref, row.name, row.files, row.incomplete, row.message_id)
