"""Google Drive: the user's connection, its folders and files, and what of them is in chats."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from leaf.drive.model import (
    DriveAdded,
    DriveChange,
    DriveConnection,
    DriveFolder,
    DriveItem,
    DriveListing,
    DrivePreview,
    OnProgress,
)
from leaf.sessions.house import Part
from leaf.store import chats

FolderList = list[DriveFolder]
ChangeList = list[DriveChange]


class Drive(Part):
    """The user's Google Drive."""

    def connection(self) -> DriveConnection:
        """How the caller stands with Drive. Asks nothing of Google."""
        return self._house.drive.connection(self._scope)

    def begin(self, redirect_uri: str) -> str:
        """Address at Google where the user consents; it sends them back to `redirect_uri`. Raises
        SettingsError."""
        return self._house.drive.begin(self._scope, redirect_uri)

    def finish(self, query: Mapping[str, str]) -> DriveConnection:
        """Take what came back in the address (`code` and `state`, or `error`). Raises LeafError
        that says what went wrong."""
        return self._house.drive.finish(self._scope, query)

    def disconnect(self) -> DriveConnection:
        """Revoke at Google and forget. Files that came from Drive stay. `why` tells if Google could
        not be told."""
        return self._house.drive.disconnect(self._scope)

    def list(self, folder: str = "root", *, cursor: str = "", page_size: int = 100) -> DriveListing:
        """A page of a folder. `folder`: `root`, `shared-with-me`, `drives`, an id, a `ref`, or any
        address of a folder."""
        return self._house.drive.list(self._scope, folder, cursor=cursor, page_size=page_size)

    def search(
        self,
        query: str,
        *,
        folder: str = "",
        kinds: Sequence[str] = (),
        modified_after: str = "",
        cursor: str = "",
        page_size: int = 50,
    ) -> DriveListing:
        """By name and content, in a folder with its subfolders or everywhere. `modified_after`:
        `2026-05-01`."""
        return self._house.drive.search(
            self._scope,
            query,
            folder=folder,
            kinds=kinds,
            modified_after=modified_after,
            cursor=cursor,
            page_size=page_size,
        )

    def item(self, ref: str) -> DriveItem:
        """A file or folder by id, `ref` or address; shortcuts are followed. Raises
        NotFoundError."""
        return self._house.drive.item(self._scope, ref)

    def preview(self, ref: str) -> DrivePreview:
        """The beginning of a file; nothing is put into the library."""
        return self._house.drive.preview(self._scope, ref)

    def add(
        self,
        refs: Sequence[str],
        *,
        chat_id: str = "",
        on_progress: OnProgress | None = None,
        stop: threading.Event | None = None,
    ) -> DriveAdded:
        """Bring files, and folders with all that is in them, into the library, and put them beside
        the chat's next question."""
        if chat_id:
            chats.get(self._db, self._scope, chat_id)
        added = self._house.drive.add(self._scope, refs, on_progress=on_progress, stop=stop)
        if chat_id and added.files:
            self._house.library.attach(self._scope, chat_id, [file.id for file in added.files])
        return added

    # --- in a chat

    def attach_folder(self, chat_id: str, ref: str) -> DriveFolder:
        """Put a folder beside the chat's next question: one line for the model, which lists it when
        it needs to."""
        return self._house.drive.attach_folder(self._scope, chat_id, ref)

    def detach_folder(self, chat_id: str, ref: str) -> None:
        """Take a waiting folder away again. Raises InvalidInputError once a question went with
        it."""
        self._house.drive.detach_folder(self._scope, chat_id, ref)

    def folders(self, chat_id: str) -> FolderList:
        """Folders attached to a chat. Asks nothing of Google."""
        return self._house.drive.folders(self._scope, chat_id)

    def changes(self, chat_id: str, *, max_age: float = 120.0) -> ChangeList:
        """What changed in Drive under this chat. Asks Google unless that was done within `max_age`
        seconds."""
        file_ids = [c.file.id for c in self._house.library.chat_files(self._scope, chat_id)]
        return self._house.drive.changes(self._scope, chat_id, file_ids, max_age=max_age)
