"""Outlook messages (.msg): read as an e-mail is, with the list of their attachments."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.parser import HeaderParser
from pathlib import Path

from leaf.errors import FileTooLargeError, UnreadableFileError
from leaf.readers.base import Note, Outline, Passage, TableInfo, Where
from leaf.readers.charsets import decode_as
from leaf.readers.documents.decoration import is_decoration
from leaf.readers.documents.email import MAX_BYTES, parse, shortened
from leaf.readers.documents.html import declared_in, numbered, page_of
from leaf.readers.documents.mail_forms import of_both_forms
from leaf.readers.documents.mail_sealed import is_signature, sealed_by, sealed_text, signed_in
from leaf.readers.documents.mail_words import header_of
from leaf.readers.documents.msg_parts import MsgPart, page_name, root_of
from leaf.readers.tabular.grids import Grid, write_grids
from leaf.readers.window import CHARS_PER_TOKEN, Extent

_SUBJECT, _HEADERS, _BODY, _HTML, _RICH = 0x0037, 0x007D, 0x1000, 0x1013, 0x1009
_SENDER, _SENDER_SMTP, _SENDER_ADDRESS, _ON_BEHALF = 0x0C1A, 0x5D01, 0x0C1F, 0x0042
_SENT, _DELIVERED = 0x0039, 0x0E06
_NAME, _SMTP, _ADDRESS, _RECIPIENT_KIND = 0x3001, 0x39FE, 0x3003, 0x0C15
_FILE_NAMES = (0x3707, 0x3704, 0x3001)
_FILE, _METHOD, _MEDIA_TYPE, _CONTENT_ID = 0x3701, 0x3705, 0x370E, 0x3712
_LINKED = (2, 3, 4, 7)
"""Methods of attachments that are kept elsewhere."""
_KINDS = {1: "To", 2: "Cc", 3: "Bcc"}
_SIGNED = "multipart/signed"
_DEEPEST = 10
"""Messages in one another that are read."""
_LEAST_RICH = 300
"""Bytes of Rich Text, packed, that hold some words."""


class MsgReader:
    """Paragraphs: the headers, the text, the list of attachments."""

    def outline(self, path: Path) -> Outline:
        message = _read(path)
        paragraphs, members = message.paragraphs, len(message.files)
        tokens = int(sum(len(p) + 1 for p in paragraphs) / CHARS_PER_TOKEN)
        kind, lines = ("msg", "application/vnd.ms-outlook"), len(paragraphs)
        return Outline(
            *kind,
            lines=lines,
            members=members or None,
            tables=len(message.grids),
            tokens=tokens,
            title=message.subject[:300],
            notes=tuple(message.notes),
        )

    def extent(self, path: Path, where: Where) -> Extent:
        message = _read(path)
        return Extent(len(message.paragraphs), notes=tuple(message.notes))

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        yield from numbered(_read(path).paragraphs, where)

    def tables(self, path: Path, out: Path) -> list[TableInfo]:
        """Every table of data in its pages."""
        return write_grids(_read(path).grids, out)


def attachments_of(path: Path) -> list[tuple[str, str, bytes]]:
    """Name, media type and bytes of what came with a message and in it. Raises FileError."""
    return _read(path).files


@dataclass
class _OutlookMessage:
    """One message with all that is in it."""

    subject: str = ""
    paragraphs: list[str] = field(default_factory=list)
    files: list[tuple[str, str, bytes]] = field(default_factory=list)
    """What came with it, without small pictures that only adorn its text."""
    grids: list[Grid] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    def tell(self, note: Note | None) -> None:
        """Say once what must be known; why something cannot be read stands in the text as well."""
        if note and note not in self.notes:
            self.notes.append(note)
            self.paragraphs += [note.text] if note.kind == "parts-sealed" else []


def _read(path: Path) -> _OutlookMessage:
    """Raises FileTooLargeError, UnreadableFileError."""
    if path.stat().st_size > MAX_BYTES:
        raise FileTooLargeError(
            f"This message is over {MAX_BYTES // 1_000_000} MB.",
            "Save its attachments, and add those.",
        )
    try:
        return message_of(root_of(path), 0)
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


def message_of(part: MsgPart, depth: int) -> _OutlookMessage:
    message = _OutlookMessage(part.text(_SUBJECT), [_headers(part)])
    _add_text(message, part)
    attached: list[str] = []
    for item in part.parts("__attach"):
        _add_attached(message, item, attached, depth)
    if attached:
        message.paragraphs.append("Attachments:\n" + "\n".join(attached))
    message.paragraphs = [paragraph for paragraph in message.paragraphs if paragraph.strip()]
    return message


def _headers(part: MsgPart) -> str:
    recipients: dict[str, list[str]] = {"To": [], "Cc": [], "Bcc": []}
    for one in part.parts("__recip"):
        kind = _KINDS.get(one.number(_RECIPIENT_KIND) & 0xF, "To")
        recipients[kind].append(_person(one.text(_NAME), one.text(_SMTP) or one.text(_ADDRESS)))
    told = {
        "From": _sender(part),
        **{kind: ", ".join(people) for kind, people in recipients.items()},
        "Date": str(part.time(_SENT) or part.time(_DELIVERED) or ""),
        "Subject": part.text(_SUBJECT),
    }
    return "\n".join(f"{name}: {shortened(value)}" for name, value in told.items() if value)


def _sender(part: MsgPart) -> str:
    """As its headers say it; an address inside Exchange alone is told where there is no other."""
    header = HeaderParser().parsestr(part.long_text(_HEADERS)).get("from")
    if header:
        return " ".join(header_of(str(header)).split())
    name = part.text(_SENDER) or part.text(_ON_BEHALF)
    address = part.text(_SENDER_SMTP) or part.text(_SENDER_ADDRESS)
    return _person(name, address if "@" in address or not name else "")


def _person(name: str, address: str) -> str:
    return f"{name} <{address}>" if name and address and name != address else name or address


def _add_text(message: _OutlookMessage, part: MsgPart) -> None:
    plain = part.long_text(_BODY, internet=True).replace("\r\n", "\n")
    page = _page(part, plain)
    try:
        message.paragraphs += of_both_forms(plain, page)
        message.tell(sealed_text("\n".join(message.paragraphs)))
        if page.strip():
            shown = page_of(page, whole=True)
            message.grids += shown.grids
            message.notes += shown.notes
    except (FileTooLargeError, UnreadableFileError):
        if not plain.strip():
            raise
        message.paragraphs += of_both_forms(plain, "")
    if not plain.strip() and not page.strip() and len(part.data(_RICH) or b"") > _LEAST_RICH:
        text = "The text of this message is kept as Rich Text alone, and is not read."
        message.tell(Note("parts-sealed", text, 1))


def _page(part: MsgPart, plain: str) -> str:
    """The text as a web page. One that is kept as a text of one byte a letter may be in another code
    page than the plain text: then that which says the same holds."""
    data = part.data(_HTML)
    if data is not None:
        return decode_as(data, page_name(part.pages[1]) or declared_in(data))[0]
    known = set(plain.split())
    return max(part.forms(_HTML), key=lambda form: sum(word in form for word in known))


def _add_attached(message: _OutlookMessage, item: MsgPart, attached: list[str], depth: int) -> None:
    name = next(filter(None, map(item.text, _FILE_NAMES)), "")
    inner = item.message(_FILE) if depth < _DEEPEST else None
    if inner is not None:
        _add_message(message, message_of(inner, depth + 1))
        return
    data, media_type = item.data(_FILE), _type_of(item.text(_MEDIA_TYPE), name)
    if item.number(_METHOD) in _LINKED or data is None:
        attached.append(f"- {name or 'without a name'} ({media_type}, linked: not in the message)")
        return
    mail = data if media_type == _SIGNED else signed_in(data) if is_signature(media_type) else b""
    if mail:
        _add_signed(message, mail)
        return
    message.tell(sealed_by(name, media_type))
    attached.append(f"- {name or 'without a name'} ({media_type}, {len(data):,} bytes)")
    if not (item.text(_CONTENT_ID) and is_decoration(data, media_type)):
        message.files.append((name, media_type, data))


def _add_message(message: _OutlookMessage, inner: _OutlookMessage) -> None:
    first, *others = inner.paragraphs or [""]
    message.paragraphs += [f"Forwarded message:\n{first}", *others]
    message.files += inner.files
    message.grids += inner.grids
    message.notes += (note for note in inner.notes if note not in message.notes)


def _add_signed(message: _OutlookMessage, data: bytes) -> None:
    """What a signature holds: its text where Outlook kept none beside it, and its files."""
    mail = parse(data)
    if len(message.paragraphs) < 2:
        message.paragraphs += mail.paragraphs
    elif mail.attachments:
        message.paragraphs.append(mail.paragraphs[-1])
    message.files += [(one.name, one.media_type, one.data) for one in mail.attachments]
    message.notes += (note for note in mail.notes if note not in message.notes)


def _type_of(known: str, name: str) -> str:
    known = known or "application/octet-stream"
    guessed = mimetypes.guess_type(name)[0]
    return guessed if guessed and known == "application/octet-stream" else known
