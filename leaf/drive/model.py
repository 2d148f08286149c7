"""What the Drive package hands out: frozen values, no client, no token."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Literal

from leaf.readers.base import Window
from leaf.store.model import File, Json

State = Literal["unconfigured", "absent", "connected", "error"]
ROOT, SHARED, DRIVES = "root", "shared-with-me", "drives"
"""Views that `DriveService.list` takes in place of a folder: My Drive, Shared with me, the shared
drives."""


@dataclass(frozen=True)
class DriveConnection:
    """A user's way to Drive in one workspace, as the settings page shows it."""

    state: State
    """`unconfigured`: the app has no Google client; `absent`: not connected yet; `error`: connected
    once, and `why` not now."""
    account: str = ""
    """E-mail address of the connected account."""
    why: str = ""
    """What is wrong, one sentence."""
    hint: str = ""
    """What to do about it."""
    since: datetime | None = None
    """When it was connected, or when it failed."""
    kind: Literal["user", "service"] = "user"
    """`service`: the app's own service account, which no user can disconnect."""
    ended: bool = False
    """Whether it is of no use before the user connects again; another error may pass."""


@dataclass(frozen=True)
class DriveItem:
    """A file or folder in Drive."""

    id: str
    """Of the thing itself: for a shortcut, of what it points to."""
    name: str
    kind: str
    """`folder`, `document`, `spreadsheet`, `presentation`, `pdf`, `text`, `image`, `audio`,
    `video`, `archive`, `form`, `other`."""
    mime_type: str
    """For a shortcut, of what it points to."""
    size: int | None = None
    """Bytes; None for folders and Google's own documents."""
    modified: datetime | None = None
    owner: str = ""
    """Name or address of the owner; the shared drive's files have none."""
    link: str = ""
    """Page in Google Drive."""
    parents: tuple[str, ...] = ()
    drive_id: str = ""
    """Id of the shared drive in which it is; empty in My Drive."""
    resource_key: str = ""
    """Needed beside the id for some older links."""
    is_shortcut: bool = False
    can_download: bool = True
    trashed: bool = False
    revision: str = ""
    """Changes with the content; empty for folders."""
    file_id: str = ""
    """The library's file with this revision, if it was brought in before."""

    @property
    def is_folder(self) -> bool:
        return self.kind == "folder"

    @property
    def ref(self) -> str:
        """How to name it in later calls: the id, with its resource key where it has one."""
        return f"{self.id}/{self.resource_key}" if self.resource_key else self.id


def packed(item: DriveItem) -> Json:
    """An item as JSON, to be kept."""
    return {**asdict(item), "modified": item.modified.isoformat() if item.modified else None}


def unpacked(kept: Json) -> DriveItem:
    """The item that was kept."""
    modified = kept["modified"]
    return DriveItem(
        **{
            **kept,
            "modified": datetime.fromisoformat(modified) if modified else None,
            "parents": tuple(kept["parents"]),
        }
    )


@dataclass(frozen=True)
class DriveCrumb:
    """A folder on the way from the top down to the one shown."""

    ref: str
    """What `drive_list` takes: a folder, or one of the views."""
    name: str


@dataclass(frozen=True)
class DriveListing:
    """One page of a folder, a view or a search."""

    folder: DriveCrumb | None
    """None for a search over everything."""
    breadcrumbs: tuple[DriveCrumb, ...]
    """From the top down to `folder`, itself included."""
    items: tuple[DriveItem, ...]
    cursor: str = ""
    """For the next page; empty at the end."""
    incomplete: str = ""
    """Why something may be missing, one sentence; empty if nothing is."""


@dataclass(frozen=True)
class DriveProgress:
    """How far adding has come."""

    name: str
    """Of the file that is being brought in."""
    done: int
    """Files finished, skipped ones included."""
    total: int
    """Files known so far."""
    bytes: int = 0
    """Of this file."""


OnProgress = Callable[[DriveProgress], None]


@dataclass(frozen=True)
class DriveSkipped:
    """A file that was not brought in."""

    name: str
    why: str
    """One sentence."""


@dataclass(frozen=True)
class DriveLooked:
    """What there is to bring in."""

    items: tuple[DriveItem, ...]
    skipped: tuple[DriveSkipped, ...]
    incomplete: str
    """Why there may be more that was not even looked at; empty if there is not."""
    folders: Mapping[str, str]
    """Id of an item -> its folders from the one that was asked for down."""


@dataclass(frozen=True)
class DriveAdded:
    """What became of files and folders that were added."""

    files: tuple[File, ...]
    skipped: tuple[DriveSkipped, ...] = ()
    incomplete: str = ""
    """Why there may be more that was not even looked at; empty if there is not."""


@dataclass(frozen=True)
class DriveFolder:
    """A folder attached to a chat: one line for the model, listed on demand."""

    chat_id: str
    ref: str
    name: str
    files: int
    """Files in it and in its subfolders when it was attached."""
    incomplete: str = ""
    message_id: str = ""
    """The question with which it went; empty while it waits in the composer."""


@dataclass(frozen=True)
class DriveChange:
    """Something that the chat rests on, or that lies in one of its folders, and is not as it
    was."""

    id: str
    """In Drive."""
    name: str
    what: Literal["changed", "added", "removed"]
    at: datetime
    file_ids: tuple[str, ...] = ()
    """Files of the library that hold an older version; answers with these as source rest on it."""
    folder: str = ""
    """Name of the attached folder in which it lies; empty for a file that came alone."""


@dataclass(frozen=True)
class DrivePreview:
    """A look into a file of Drive that does not put it into the library."""

    item: DriveItem
    window: Window | None = None
    """Its beginning as text; None where `file_id` is set."""
    file_id: str = ""
    """The file of the library with the same content: preview that."""


@dataclass(frozen=True)
class BroughtFile:
    """A file of Drive that is in the library now."""

    item: DriveItem
    file: File
    downloaded: bool
    """Whether bytes came down for this call."""
    older: tuple[str, ...] = ()
    """Ids of the library's files with earlier versions of it."""
    note: str = ""
    """What the reader should know: `Drive is disconnected; this is the copy of 3 May 2026.`"""
