"""Outlook messages (.msg), by python-oxmsg: read as an e-mail is, with the list of their
attachments."""

from __future__ import annotations

import codecs
import mimetypes
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from leaf.errors import FileTooLargeError, UnreadableFileError
from leaf.readers.base import Outline, Passage, Where
from leaf.readers.documents.decoration import is_decoration
from leaf.readers.documents.email import MAX_BYTES, shortened
from leaf.readers.documents.html import numbered
from leaf.readers.documents.mail_forms import of_both_forms
from leaf.readers.encoding import decode
from leaf.readers.window import CHARS_PER_TOKEN, Extent

_CONTENT_ID = 0x3712
"""PidTagAttachContentId: by it the text shows a part in its place."""


class MsgReader:
    """Paragraphs: the headers, the text, the list of attachments."""

    def outline(self, path: Path) -> Outline:
        subject, paragraphs, members = _read(path)
        tokens = int(sum(len(p) + 1 for p in paragraphs) / CHARS_PER_TOKEN)
        kind, lines = ("msg", "application/vnd.ms-outlook"), len(paragraphs)
        return Outline(
            *kind, lines=lines, members=members or None, tokens=tokens, title=subject[:300]
        )

    def extent(self, path: Path, where: Where) -> Extent:
        return Extent(len(_read(path)[1]))

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        yield from numbered(_read(path)[1], where)


def attachments_of(path: Path) -> list[tuple[str, str, bytes]]:
    """Name, media type and bytes of what came with a message; those that are only linked have no
    bytes. Raises FileError."""
    with _opened(path) as message:
        return [(a.file_name or "", _type_of(a), a.file_bytes or b"") for a in _files(message)]


def _files(message: Any) -> list[Any]:
    """What came with a message, without small pictures that only adorn its text."""
    attachments = list(getattr(message, "attachments", ()))
    return [
        a
        for a in attachments
        if not (
            a.properties.str_prop_value(_CONTENT_ID)
            and is_decoration(a.file_bytes or b"", _type_of(a))
        )
    ]


def _type_of(attachment: Any) -> str:
    known = attachment.mime_type or "application/octet-stream"
    guessed = mimetypes.guess_type(attachment.file_name or "")[0]
    return guessed if guessed and known == "application/octet-stream" else known


def _read(path: Path) -> tuple[str, list[str], int]:
    """Subject, paragraphs, and the number of attachments."""
    with _opened(path) as message:
        return getattr(message, "subject", "") or "", _paragraphs(message), len(_files(message))


@contextmanager
def _opened(path: Path) -> Iterator[object]:
    """The message, all of which is read only when it is asked for. Raises FileTooLargeError,
    UnreadableFileError."""
    from oxmsg import Message

    if path.stat().st_size > MAX_BYTES:
        raise FileTooLargeError(
            f"This message is over {MAX_BYTES // 1_000_000} MB.",
            "Save its attachments, and add those.",
        )
    _know_windows_names()
    try:
        yield Message.load(str(path))
    except (
        KeyError,
        ValueError,
        LookupError,
        OSError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as e:
        raise UnreadableFileError(
            "This Outlook message is damaged or of a kind that cannot be read.",
            "Open it in Outlook, save it as .eml or PDF.",
        ) from e


def _paragraphs(message: Any) -> list[str]:
    told = {
        "From": getattr(message, "sender", None),
        "To": ", ".join(_recipient(r) for r in getattr(message, "recipients", ())),
        "Date": getattr(message, "sent_date", None),
        "Subject": getattr(message, "subject", None),
    }
    paragraphs = [
        "\n".join(
            f"{name}: {shortened(' '.join(str(value).split()))}"
            for name, value in told.items()
            if value
        )
    ]
    text = str(getattr(message, "body", None) or "").replace("\r\n", "\n").replace("\x00", "")
    page = _page(message, text)
    try:
        paragraphs += of_both_forms(text, page)
    except (FileTooLargeError, UnreadableFileError):
        if not text.strip():
            raise
        paragraphs += of_both_forms(text, "")
    attached = [
        f"- {a.file_name or 'without a name'} ({a.mime_type or 'unknown type'}, "
        f"{a.size or 0:,} bytes)"
        for a in getattr(message, "attachments", ())
    ]
    if attached:
        paragraphs.append("Attachments:\n" + "\n".join(attached))
    return [paragraph for paragraph in paragraphs if paragraph.strip()]


def _page(message: Any, plain: str) -> str:
    """The text as a web page. One that the file keeps as a text of one byte a letter may have been
    read in another code page than the plain text: then that which says the same holds."""
    page = getattr(message, "html_body", None) or ""
    if isinstance(page, bytes):
        return decode(page)[0]
    forms = [str(page)]
    properties = getattr(message, "properties", None)
    read_as = getattr(properties, "_str_prop_encoding", "iso-8859-15")
    with suppress(UnicodeError, LookupError):
        forms.append(
            str(page).encode(read_as).decode(getattr(properties, "body_encoding", read_as))
        )
    known = set(plain.split())
    return max(forms, key=lambda form: sum(word in form for word in known))


def _recipient(recipient: object) -> str:
    name, address = (
        getattr(recipient, "name", "") or "",
        getattr(recipient, "email_address", "") or "",
    )
    return f"{name} <{address}>" if name and address and name != address else name or address


@cache
def _know_windows_names() -> None:
    """Outlook writes character sets as `windows-950`; Python calls most of them `cp950`."""

    def search(name: str) -> codecs.CodecInfo | None:
        number = name.replace("_", "-").removeprefix("windows-")
        return (
            codecs.lookup(f"cp{number}")
            if name.startswith("windows") and number.isdigit()
            else None
        )

    codecs.register(search)
