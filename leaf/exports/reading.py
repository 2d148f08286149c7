"""A bundle from anybody, opened as a function for the confined child: sizes first, then only what
is asked for, never to disk."""

from __future__ import annotations

import zipfile
from typing import Any

from leaf.errors import LeafError, UnreadableFileError
from leaf.exports.manifest import plain_json

Json = dict[str, Any]

ENTRIES = 20_000
MANIFEST_BYTES = 32 * 1024 * 1024
CODE_BYTES = 1024 * 1024
"""Of one query or cell."""
RATIO = 200
"""How much smaller than itself a manifest may be when it is packed: JSON of the same row again and
again gets to about 100."""


def read(path: str) -> Json:
    """{"manifest": …, "code": {"queries/01.sql": "…"}} of a ZIP. Raises UnreadableFileError in one
    sentence."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(archive)
    except LeafError:
        raise
    except (
        zipfile.BadZipFile,
        zipfile.LargeZipFile,
        NotImplementedError,
        RuntimeError,
        EOFError,
        OSError,
    ) as e:
        raise UnreadableFileError(
            "The bundle is not a whole ZIP file.", "Export the chat again."
        ) from e


def _read(archive: zipfile.ZipFile) -> Json:
    entries = archive.infolist()
    if len(entries) > ENTRIES:
        raise UnreadableFileError(
            f"The bundle has {len(entries):,} entries; a chat has at most {ENTRIES:,}."
        )
    names = [entry.filename for entry in entries]
    for name in names:
        if (
            name.startswith(("/", "\\"))
            or ".." in name.replace("\\", "/").split("/")
            or ":" in name
            or "\0" in name
        ):
            raise UnreadableFileError(f"The bundle names a file outside of itself: {name[:80]!r}.")
    if len(set(names)) < len(names):
        raise UnreadableFileError("The bundle has two files of one name.")
    by_name = {entry.filename: entry for entry in entries}
    if "manifest.json" not in by_name:
        raise UnreadableFileError(
            "There is no manifest.json in this ZIP, so it is no bundle of a chat."
        )
    code = {
        name: _text(archive, by_name[name], CODE_BYTES)
        for name in names
        if name.startswith(("queries/", "cells/")) and not name.endswith("/")
    }
    text = _text(archive, by_name["manifest.json"], MANIFEST_BYTES)
    try:
        return {"manifest": plain_json(text), "code": code}
    except (ValueError, RecursionError) as e:
        what = "nested too deeply" if isinstance(e, RecursionError) else str(e)[:160]
        raise UnreadableFileError(f"manifest.json of the bundle is no valid JSON: {what}.") from e


def _text(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, limit: int) -> str:
    """What an entry says of its size is not believed."""
    too_large = UnreadableFileError(
        f"{entry.filename[:80]} in the bundle is larger than {limit // 1024:,} kB."
    )
    if entry.file_size > limit:
        raise too_large
    if entry.file_size > 1024 * 1024 and entry.file_size > RATIO * max(1, entry.compress_size):
        raise UnreadableFileError(
            f"{entry.filename[:80]} in the bundle unpacks to more than {RATIO} times its size."
        )
    with archive.open(entry) as stream:
        content = stream.read(limit + 1)
    if len(content) > limit:
        raise too_large
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as e:
        raise UnreadableFileError(f"{entry.filename[:80]} in the bundle is no text.") from e
