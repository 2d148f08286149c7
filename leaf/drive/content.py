"""The bytes of a file: downloaded as they are, or exported from Google's own formats."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from leaf.drive import query
from leaf.drive.client import ByteSink, Client, too_large
from leaf.drive.listing import keys_of
from leaf.drive.model import DriveItem
from leaf.errors import DriveError, InvalidInputError, RunError, StoreError
from leaf.readers.base import KINDS
from leaf.readers.media_types import MEDIA_TYPES
from leaf.readers.packed import ENDINGS as PACKED
from leaf.store import leftovers

OnBytes = Callable[[int], None]
LONGEST_EXPORT = 600.0
"""Seconds that a large export may take at Google."""
POLL = 2.0
BEYOND = "416"
"""Why a piece does not come that begins where the file, which was longer before, has ended."""
READABLE = frozenset((*PACKED, *(ending for kind in KINDS.values() for ending in kind.endings)))
READ_TYPES = frozenset(
    {
        *(media_type for types in MEDIA_TYPES.values() for media_type in types),
        *("audio/mp3", "audio/x-wav", "audio/x-m4a", "audio/x-aiff", "image/jpg"),
        *("application/x-zip-compressed", "application/gzip"),
    }
)
"""Media types of what readers can read, as Drive has them too."""


class ChangedError(DriveError):
    """What came down is not the revision that was asked for."""


def name_of(item: DriveItem) -> str:
    """The name under which it is kept: exported formats get their ending; slashes, which Drive
    allows, become dashes."""
    name = plain(item.name)
    ending = query.EXPORTS.get(item.mime_type, ("", ""))[1]
    return name if not ending or name.lower().endswith(f".{ending}") else f"{name}.{ending}"


def plain(name: str) -> str:
    """A name in Drive as one step of a path."""
    return name.replace("/", "-").replace("\\", "-")


def why_not(item: DriveItem, limit: int) -> str:
    """Why a file cannot be brought in, said before anything is asked for; empty if it can be
    tried."""
    if not item.can_download:
        return "Its owner does not allow downloads."
    if item.mime_type.startswith(query.GOOGLE) and item.mime_type not in query.EXPORTS:
        return "Google does not export this kind of document."
    if item.size is not None and item.size > limit:
        return too_large(item.name, item.size, limit).message
    return ""


def why_not_in_bulk(item: DriveItem, limit: int) -> str:
    """The same for a file that was not named by itself: what no reader can read is left out as
    well."""
    if reason := why_not(item, limit):
        return reason
    ending = name_of(item).rpartition(".")[2].lower()
    known = (
        item.mime_type in query.EXPORTS
        or item.is_shortcut
        or ending in READABLE
        or item.mime_type in READ_TYPES  # the name need not have an ending
        or item.mime_type.startswith("text/")
    )
    return (
        ""
        if known or item.kind not in ("image", "audio", "video", "archive", "other")
        else "Leaf has no reader for this kind of file."
    )


@contextmanager
def fetched(
    client: Client,
    item: DriveItem,
    home: Path,
    limit: int,
    *,
    on_progress: OnBytes | None = None,
    stop: threading.Event | None = None,
) -> Iterator[Path]:
    """The file on disk, as long as the block lasts. Raises what `fetch` raises, and StoreError for
    a full disk."""
    leftovers.remove(home, ".drive-*")
    with TemporaryDirectory(prefix=".drive-", dir=home) as folder:
        path = Path(folder) / "content"
        try:
            with path.open("wb") as out:
                fetch(client, item, out, limit, on_progress=on_progress, stop=stop)
        except OSError as e:
            raise StoreError(
                f"{item.name} could not be written to the data folder: {e.strerror}.",
                "Free some space.",
            ) from e
        yield path


def fetch(
    client: Client,
    item: DriveItem,
    out: ByteSink,
    limit: int,
    *,
    on_progress: OnBytes | None = None,
    stop: threading.Event | None = None,
) -> None:
    """Write the content. Raises InvalidInputError for folders, FileTooLargeError, DriveError,
    ChangedError, RunError."""
    if item.is_folder:
        raise InvalidInputError(
            f"{item.name} is a folder.", "List it with list_drive_folder, then read its files."
        )
    if item.size is not None and item.size > limit:
        raise too_large(item.name, item.size, limit)
    if reason := why_not(item, limit):
        raise DriveError(
            f"{item.name} cannot be read. {reason}",
            f"Open it in Google Drive: {item.link}" if item.link else "",
        )
    if item.mime_type in query.EXPORTS:
        _export(client, item, out, limit, on_progress, stop)
        return
    checked = _Checked(out)
    uri = client.media_uri(
        lambda drive: drive.files().get_media(fileId=item.id, supportsAllDrives=True)
    )
    changed = ChangedError(f"{item.name} changed while it was downloaded.", "Try again.")
    try:
        size = client.download(
            *(uri, checked, item.name),
            limit=limit,
            keys=keys_of(item),
            on_progress=on_progress,
            stop=stop,
        )
    except DriveError as e:
        if e.reason != BEYOND:
            raise
        raise changed from e
    field, _, value = item.revision.partition(":")
    if (item.size is not None and size != item.size) or (
        field == "md5Checksum" and checked.md5.hexdigest() != value
    ):
        raise changed


def _export(
    client: Client,
    item: DriveItem,
    out: ByteSink,
    limit: int,
    on_progress: OnBytes | None,
    stop: threading.Event | None,
) -> None:
    """As Office files. Beyond 10 MB `files.export` refuses; then Google prepares the file, or gives
    a link to it."""
    mime_type = query.EXPORTS[item.mime_type][0]
    try:
        content = client.ask(
            lambda drive: drive.files().export_media(fileId=item.id, mimeType=mime_type),
            item.name,
            keys=keys_of(item),
            stop=stop,
        )
    except DriveError as e:
        if e.reason != "exportSizeLimitExceeded":
            raise
    else:
        out.write(content)
        return
    uri = _prepared(client, item, mime_type, stop) or _export_link(client, item, mime_type)
    if not uri:
        raise DriveError(
            f"{item.name} is over Google's limit for exports.", "Download it by hand and upload it."
        )
    client.download(
        uri, out, item.name, limit=limit, resume=False, on_progress=on_progress, stop=stop
    )


def _prepared(client: Client, item: DriveItem, mime_type: str, stop: threading.Event | None) -> str:
    """Address of an export that Google makes on request; empty where it does not make one."""
    try:
        operation = client.ask(
            lambda drive: drive.files().download(fileId=item.id, mimeType=mime_type),
            item.name,
            keys=keys_of(item),
            stop=stop,
        )
        until = time.monotonic() + LONGEST_EXPORT
        while not operation.get("done"):
            if time.monotonic() > until:
                raise DriveError(
                    f"Google did not finish exporting {item.name}.", "Try again later."
                )
            if (stop or threading.Event()).wait(POLL):
                raise RunError("Stopped.")
            operation = client.ask(partial(_operation, operation["name"]), item.name, stop=stop)
    except DriveError as e:
        if e.reason in ("revoked", "expired", "unreachable"):
            raise
        return ""
    return str((operation.get("response") or {}).get("downloadUri", ""))


def _operation(name: str, drive: Any) -> Any:
    return drive.operations().get(name=name)


def _export_link(client: Client, item: DriveItem, mime_type: str) -> str:
    row = client.ask(
        lambda drive: drive.files().get(
            fileId=item.id, supportsAllDrives=True, fields="exportLinks"
        ),
        item.name,
        keys=keys_of(item),
    )
    return str((row.get("exportLinks") or {}).get(mime_type, ""))


class _Checked:
    """A stream that makes a checksum of what is written through it."""

    def __init__(self, out: ByteSink) -> None:
        self._out = out
        self.md5: Any = hashlib.md5(usedforsecurity=False)

    def write(self, content: bytes) -> int:
        self.md5.update(content)
        return self._out.write(content)
