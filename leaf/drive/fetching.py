"""Files of Drive on their way into the library: which revisions are there, the bytes of one that is
not, and what is entered of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Literal, Protocol

from leaf.drive import changes, content, listing
from leaf.drive.client import Client
from leaf.drive.model import BroughtFile, DriveItem
from leaf.errors import LeafError, NotFoundError
from leaf.readers.base import Window, holds_files
from leaf.settings import Settings
from leaf.store import drive_files
from leaf.store.database import Database
from leaf.store.drive_files import Revision, StoredDriveChange
from leaf.store.model import File, Json, Scope

Source = Literal["upload", "drive", "generated", "sample"]
LOOKED = 50
"""Files of a chat that are compared with Drive at a time after a new connection."""


class AddedFile(Protocol):
    """What the library gives back for a file that it was given."""

    @property
    def file(self) -> File: ...


class DriveLibrary(Protocol):
    """What Drive needs of the library, which is not below this package."""

    def keep(
        self, scope: Scope, name: str, stream: BinaryIO, *, source: Source = ..., folder: str = ...
    ) -> Any: ...

    def enter(
        self,
        scope: Scope,
        kept: Sequence[Any],
        *,
        stop: threading.Event | None = ...,
        on_answer: Callable[[], None] = ...,
    ) -> Iterator[Sequence[tuple[int, AddedFile]]]: ...

    def unpack(self, scope: Scope, file_id: str, stop: threading.Event | None = ...) -> object: ...

    def get(self, scope: Scope, file_id: str) -> File: ...

    def peek(self, path: Path, name: str) -> Window: ...


@dataclass(frozen=True)
class Fetched:
    """What there is of an item in the library."""

    item: DriveItem
    """As it was when it came down."""
    file: File | None = None
    """Where this revision is there already."""
    held: Any = None
    """Else its bytes, as the library keeps them until they are entered."""


class Fetcher:
    """Brings revisions into the library, each once. Safe to call from any number of threads."""

    def __init__(
        self,
        settings: Settings,
        db: Database,
        library: DriveLibrary,
        client: Callable[[Scope], Client],
    ) -> None:
        """`client` gives that of the caller's connection, or raises DriveNotConnectedError."""
        self._settings = settings
        self._db = db
        self._library = library
        self._client = client
        self._beginning = threading.Lock()
        self._guest: set[tuple[str, str]] = set()
        """Shared drives that connections do not belong to, though something of them is shared."""

    def current(self, scope: Scope, ref: str) -> DriveItem:
        """What an id, `ref` or address names now; shortcuts are followed."""
        return listing.get_item(self._client(scope), ref)

    def bring_item(
        self,
        scope: Scope,
        item: DriveItem,
        on_progress: Callable[[int], None] | None,
        stop: threading.Event | None,
    ) -> BroughtFile:
        """An item of which the revision is known."""
        others = drive_files.revisions(self._db, scope, item.id)
        result = self.fetch(scope, item, on_progress, stop)
        file = result.file or next(file for _, file in self.enter(scope, [result], stop))
        if isinstance(file, LeafError):
            raise file
        return BroughtFile(
            replace(result.item, file_id=file.id),
            file,
            result.file is None,
            _others(others, file.id),
        )

    def fetch(
        self,
        scope: Scope,
        item: DriveItem,
        on_progress: Callable[[int], None] | None,
        stop: threading.Event | None,
        *,
        folder: str = "",
    ) -> Fetched:
        """The file of a revision that is in the library, else its bytes, kept there and not entered
        yet.

        `folder` stands before its name in the library.
        """
        revisions = drive_files.revisions(self._db, scope, item.id)
        if same := next((r for r in revisions if r.revision == item.revision), None):
            drive_files.keep(self._db, scope, item.id, item.revision, same.file_id, _row(item))
            return Fetched(item, self._library.get(scope, same.file_id))
        client = self._client(scope)
        self.begin_changes(client, scope, item.drive_id)
        try:
            return Fetched(
                item, held=self._download(scope, client, item, on_progress, stop, folder)
            )
        except content.ChangedError:
            item = listing.get_item(client, item.ref)
            return Fetched(
                item, held=self._download(scope, client, item, on_progress, stop, folder)
            )

    def enter(
        self,
        scope: Scope,
        fetched: Sequence[Fetched],
        stop: threading.Event | None,
        on_answer: Callable[[], None] = lambda: None,
    ) -> Iterator[tuple[int, File | LeafError]]:
        """Look at what was fetched, together, and enter it: (place in `fetched`, file) as they
        come, or why it is not there: somebody may delete one meanwhile."""
        for batch in self._library.enter(
            scope, [one.held for one in fetched], stop=stop, on_answer=on_answer
        ):
            for index, entered in batch:
                try:
                    yield index, self._kept(scope, fetched[index].item, entered.file, stop)
                except NotFoundError as e:
                    yield index, e

    def _kept(
        self, scope: Scope, item: DriveItem, file: File, stop: threading.Event | None
    ) -> File:
        drive_files.keep(self._db, scope, item.id, item.revision, file.id, _row(item))
        if holds_files(file.kind, file.outline):
            self._library.unpack(scope, file.id, stop)
        return self._library.get(scope, file.id)

    def as_kept(self, scope: Scope, kept: Sequence[Revision]) -> BroughtFile:
        """The newest revision in the library, without a call."""
        file = self._library.get(scope, kept[0].file_id)
        item = listing.item_of(kept[0].item)
        return BroughtFile(
            replace(item, file_id=file.id, revision=kept[0].revision),
            file,
            False,
            _others(kept, file.id),
        )

    def begin_changes(self, client: Client, scope: Scope, shared_drive: str) -> None:
        """Ask once from where on changes count, however many files of a folder come at the same
        time."""
        place = (client.access.key, shared_drive)
        with self._beginning:
            if place in self._guest or not changes.begin(client, self._db, scope, shared_drive):
                self._guest.add(place)
                changes.begin(client, self._db, scope, "")

    def look_anew(self, client: Client, scope: Scope, file_ids: Sequence[str]) -> None:
        """Compare with Drive what nobody has looked at since the connection was made: a log tells
        only what comes later. So many files at a time; the next call goes on."""
        held = self._unlooked(client, scope, file_ids)
        for revision in held[:LOOKED]:
            self.begin_changes(client, scope, str(revision.item.get("driveId") or ""))
            state = changes.compare(client, revision)
            if isinstance(state, StoredDriveChange):
                drive_files.mark(self._db, scope, [state])
            else:
                known = drive_files.known(self._db, scope, [state.id])
                if same := known.get((state.id, state.revision)):
                    drive_files.keep(self._db, scope, state.id, state.revision, same, _row(state))
                else:
                    drive_files.mark(self._db, scope, [changes.changed(state)])

    def _unlooked(self, client: Client, scope: Scope, file_ids: Sequence[str]) -> list[Revision]:
        since = client.access.granted_at
        if since is None:
            return []
        ids = [one.drive_id for one in drive_files.by_file(self._db, scope, file_ids)]
        marked = {one.drive_id for one in drive_files.changes(self._db, scope, ids)}
        held = drive_files.newest(self._db, scope, ids)
        return [r for r in held.values() if r.checked_at < since and r.drive_id not in marked]

    def _download(
        self,
        scope: Scope,
        client: Client,
        item: DriveItem,
        on_progress: Callable[[int], None] | None,
        stop: threading.Event | None,
        folder: str,
    ) -> Any:
        """What the library keeps of it."""
        limit = self._settings.max_upload_bytes
        with (
            content.fetched(
                client, item, self._settings.home, limit, on_progress=on_progress, stop=stop
            ) as path,
            path.open("rb") as stream,
        ):
            return self._library.keep(
                scope, content.name_of(item), stream, source="drive", folder=folder
            )


def _others(revisions: Sequence[Revision], file_id: str) -> tuple[str, ...]:
    """Files of the library with other revisions than this one."""
    return tuple(dict.fromkeys(r.file_id for r in revisions if r.file_id != file_id))


def _row(item: DriveItem) -> Json:
    """What is kept of an item, as Drive would say it."""
    return {
        "id": item.id,
        "name": item.name,
        "mimeType": item.mime_type,
        "size": item.size,
        "modifiedTime": item.modified.isoformat() if item.modified else None,
        "owners": [{"displayName": item.owner}] if item.owner else [],
        "webViewLink": item.link,
        "parents": list(item.parents),
        "driveId": item.drive_id,
        "resourceKey": item.resource_key,
    }
