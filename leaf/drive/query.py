"""Drive's search language, its addresses and its kinds of file. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from urllib.parse import parse_qs, urlsplit

from leaf.errors import InvalidInputError, not_found

FOLDER = "application/vnd.google-apps.folder"
SHORTCUT = "application/vnd.google-apps.shortcut"
GOOGLE = "application/vnd.google-apps."
OFFICE = "application/vnd.openxmlformats-officedocument."

EXPORTS = {
    f"{GOOGLE}document": (f"{OFFICE}wordprocessingml.document", "docx"),
    f"{GOOGLE}spreadsheet": (f"{OFFICE}spreadsheetml.sheet", "xlsx"),
    f"{GOOGLE}presentation": (f"{OFFICE}presentationml.presentation", "pptx"),
    f"{GOOGLE}drawing": ("application/pdf", "pdf"),
}
"""Google's own documents -> as what they come down. Markdown is not taken for documents: it carries
pictures as text."""

KIND_TYPES: dict[str, tuple[str, ...]] = {
    "folder": (FOLDER,),
    "document": (
        f"{GOOGLE}document",
        f"{OFFICE}wordprocessingml.document",
        "application/msword",
        "application/rtf",
    ),
    "spreadsheet": (
        f"{GOOGLE}spreadsheet",
        f"{OFFICE}spreadsheetml.sheet",
        "application/vnd.ms-excel",
        "text/csv",
        "text/tab-separated-values",
        "application/vnd.oasis.opendocument.spreadsheet",
    ),
    "presentation": (
        f"{GOOGLE}presentation",
        f"{OFFICE}presentationml.presentation",
        "application/vnd.ms-powerpoint",
    ),
    "pdf": ("application/pdf",),
    "text": ("text/", "application/json"),
    "image": ("image/", f"{GOOGLE}drawing", f"{GOOGLE}photo"),
    "audio": ("audio/",),
    "video": ("video/", f"{GOOGLE}video", f"{GOOGLE}vid"),
    "archive": (
        "application/zip",
        "application/x-tar",
        "application/gzip",
        "application/x-7z-compressed",
    ),
    "form": (f"{GOOGLE}form",),
}
"""Kind -> MIME types; those that end with `/` are the beginning of many. The first kind that fits
is taken."""

_ID = re.compile(r"[A-Za-z0-9_-]{3,200}")
_IN_PATH = re.compile(r"/(?:folders|d)/([A-Za-z0-9_-]{3,200})(?:/|$)")
_HOSTS = ("drive.google.com", "docs.google.com", "sheets.google.com", "slides.google.com")
VIEW_PATHS = {"my-drive": "root", "shared-with-me": "shared-with-me", "shared-drives": "drives"}


def kind_of(mime_type: str) -> str:
    """The kind of a MIME type; `other` where none fits."""
    for kind, types in KIND_TYPES.items():
        if any(mime_type.startswith(t) if t.endswith("/") else mime_type == t for t in types):
            return kind
    return "other"


def is_address(text: str) -> bool:
    """Whether it is an address of something in Google Drive."""
    parts = urlsplit(text.strip())
    return parts.scheme in ("http", "https") and (parts.hostname or "") in _HOSTS


def parse_ref(text: str) -> tuple[str, str]:
    """(id, resource key) of an id, of `id/key`, or of any address of a file or folder. Raises
    InvalidInputError."""
    ref = text.strip().strip("<>()\"'")
    if "://" not in ref:
        file_id, _, key = ref.partition("/")
        if _ID.fullmatch(file_id) and (not key or _ID.fullmatch(key)):
            return file_id, key
        raise InvalidInputError(
            f"'{_shown(ref)}' is neither an id nor an address in Google Drive.",
            "Copy the link from Drive.",
        )
    if not is_address(ref):
        raise InvalidInputError(
            f"'{_shown(ref)}' is not an address in Google Drive.", "Copy the link from Drive."
        )
    parts = urlsplit(ref)
    fields = parse_qs(parts.query)
    key = fields.get("resourcekey", [""])[0]
    if match := _IN_PATH.search(parts.path):
        return match.group(1), key
    if "id" in fields and _ID.fullmatch(fields["id"][0]):
        return fields["id"][0], key
    view = parts.path.rstrip("/").rsplit("/", 1)[-1]
    if view in VIEW_PATHS:
        return VIEW_PATHS[view], ""
    raise InvalidInputError(
        f"'{_shown(ref)}' does not name a file or folder.", "Open it in Drive and copy its link."
    )


def literal(text: str) -> str:
    """Text as a literal of the search language: quotes and backslashes escaped, no line ends."""
    plain = " ".join(text.split())
    return "'" + plain.replace("\\", "\\\\").replace("'", "\\'") + "'"


def in_folders(folder_ids: Sequence[str]) -> str:
    """Condition for what lies directly in one of the folders."""
    return "(" + " or ".join(f"{literal(folder)} in parents" for folder in folder_ids) + ")"


def matching(words: str) -> str:
    """Condition for files whose content has the words, or whose name has each of them. Raises
    InvalidInputError without words."""
    if not words.strip():
        raise InvalidInputError("The search has no words.", "Give at least one.")
    names = (
        " and ".join(
            f"name contains {literal(word)}" for word in words.replace('"', " ").split()[:10]
        )
        or "false"
    )
    return f"(fullText contains {literal(words)} or ({names}))"


def of_kinds(kinds: Sequence[str]) -> str:
    """Condition for files of these kinds; empty for none given. Raises NotFoundError that names the
    kinds."""
    conditions = []
    for kind in kinds:
        if kind.lower() not in KIND_TYPES:
            raise not_found("kind", kind, KIND_TYPES)
        for mime_type in KIND_TYPES[kind.lower()]:
            operator = "contains" if mime_type.endswith("/") else "="
            conditions.append(f"mimeType {operator} {literal(mime_type)}")
    return f"({' or '.join(conditions)})" if conditions else ""


def modified_since(day: str) -> str:
    """Condition for files modified on or after a day (`2026-05-01`) or moment; empty for none.
    Raises InvalidInputError."""
    if not day.strip():
        return ""
    try:
        moment = datetime.fromisoformat(day.strip())
    except ValueError as e:
        raise InvalidInputError(
            f"'{_shown(day)}' is not a day.", f"Write it as {date(2026, 5, 1).isoformat()}."
        ) from e
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return f"modifiedTime >= {literal(moment.astimezone(UTC).strftime('%Y-%m-%dT%H:%M:%SZ'))}"


def all_of(*conditions: str) -> str:
    """The conditions joined, empty ones left out."""
    return " and ".join(c for c in conditions if c)


def _shown(text: str) -> str:
    """The beginning of an input, for an error."""
    return text if len(text) <= 80 else text[:79] + "…"
