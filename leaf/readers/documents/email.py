"""E-mail messages: who wrote what to whom, the text, and what was attached."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.errors import HeaderParseError
from email.message import Message
from itertools import islice
from pathlib import Path
from urllib.parse import unquote

from leaf.errors import FileTooLargeError, UnreadableFileError
from leaf.readers.base import Note, Outline, Passage, TableInfo, Where
from leaf.readers.documents.decoration import is_decoration
from leaf.readers.documents.html import numbered, page_of
from leaf.readers.documents.mail_bytes import (
    MAX_PARTS,
    first_parts,
    message_of,
    tidied,
    unread_parts,
)
from leaf.readers.documents.mail_forms import GAP, alternatives, is_attached
from leaf.readers.documents.mail_sealed import (
    SIGNATURES,
    inside_signature,
    sealed,
    sealed_text,
)
from leaf.readers.documents.mail_words import header_of, name_of, payload_of, text_of
from leaf.readers.tabular.grids import Grid, write_grids
from leaf.readers.window import CHARS_PER_TOKEN, Extent

MAX_BYTES = 200_000_000
MAX_BOUNDARIES = 5_000
MAX_HEADER = 5_000
"""Characters shown of one header in a text; a list of recipients can be far longer."""
MOST_OF_HEADER = 1_000_000
"""Characters of one header."""
SHOWN = ("From", "To", "Cc", "Bcc", "Reply-To", "Date", "Subject")
_SHOWN_PART = re.compile(r"cid:([^\s\"'>)]{1,300})", re.I)
_ID = re.compile(r"<[^<>\s]{1,1000}>")
_FORWARDED = ("message/rfc822", "message/global", "message/news")


@dataclass(frozen=True)
class Attachment:
    """Something that came with a message."""

    name: str
    """As the message calls it; made from its type where it has no name."""
    media_type: str
    part: Message

    @property
    def data(self) -> bytes:
        """Its bytes, decoded."""
        return payload_of(self.part)


@dataclass(frozen=True)
class Mail:
    """One message."""

    headers: tuple[tuple[str, str], ...]
    """Those that are shown, decoded."""
    paragraphs: tuple[str, ...]
    """Headers, text, list of attachments."""
    attachments: tuple[Attachment, ...] = ()
    """Without small pictures that only adorn the text."""
    pages: tuple[Message, ...] = ()
    """Its texts that are web pages."""
    message_id: str = ""
    in_reply_to: str = ""
    """The id of the message that it answers."""
    problem: str = ""
    """Why it cannot be read."""
    notes: tuple[Note, ...] = ()
    """What must be known about how it was read."""


class EmailReader:
    """Paragraphs: the headers, the text, the list of attachments."""

    def outline(self, path: Path) -> Outline:
        mail = read(path)
        tables = len(_grids(mail))
        tokens = int(sum(len(p) + 1 for p in mail.paragraphs) / CHARS_PER_TOKEN)
        subject = dict(mail.headers).get("Subject", "")[:300]
        members = len(mail.attachments) or None
        kind = ("email", "message/rfc822")
        return Outline(
            *kind,
            lines=len(mail.paragraphs),
            members=members,
            tables=tables,
            tokens=tokens,
            title=subject,
            notes=mail.notes,
        )

    def extent(self, path: Path, where: Where) -> Extent:
        mail = read(path)
        return Extent(len(mail.paragraphs), notes=mail.notes)

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        yield from numbered(list(read(path).paragraphs), where)

    def tables(self, path: Path, out: Path) -> list[TableInfo]:
        """Every table of data in its pages."""
        return write_grids(_grids(read(path)), out)


def _grids(mail: Mail) -> list[Grid]:
    """The tables of all its pages, also where a plain form of the same text is read."""
    return [grid for part in mail.pages for grid in _grids_of(part)]


def _grids_of(part: Message) -> list[Grid]:
    try:
        return page_of(text_of(part)[0], whole=True).grids
    except (FileTooLargeError, UnreadableFileError):
        return []


def read(path: Path) -> Mail:
    """The message in a file. Raises FileTooLargeError, UnreadableFileError."""
    if path.stat().st_size > MAX_BYTES:
        raise FileTooLargeError(
            f"This e-mail is over {MAX_BYTES // 1_000_000} MB.",
            "Save its attachments, and add those.",
        )
    mail = parse(path.read_bytes())
    if mail.problem:
        raise UnreadableFileError(mail.problem, "Open it, save it as PDF, and add that.")
    return mail


def parse(data: bytes) -> Mail:
    """One message from its bytes. Never raises: a message that cannot be read says why."""
    problem = "This e-mail is nested beyond what can be read."
    if data.lower().count(b"boundary=") > MAX_BOUNDARIES:
        return Mail((), (problem,), problem=problem)
    data = tidied(data)
    unread = first_parts(data)[1]
    try:
        message = message_of(data)
        content = _content(message)
    except (RecursionError, HeaderParseError):
        return Mail((), (problem,), problem=problem)
    headers = tuple((key, value) for key in SHOWN if (value := _header(message, key)))
    paragraphs, notes = content.paragraphs, content.notes
    if unread:
        paragraphs.append(unread_parts(unread))
        notes.append(Note("parts-unread", unread_parts(unread), unread))
    return Mail(
        headers,
        tuple(paragraphs),
        tuple(content.attachments),
        tuple(_pages(message)),
        (_ids(message, "Message-ID") or [""])[0],
        (_ids(message, "In-Reply-To") or _ids(message, "References")[::-1] or [""])[0],
        notes=tuple(notes),
    )


def _ids(message: Message, key: str) -> list[str]:
    """The ids of messages in a header."""
    return _ID.findall(_header(message, key))


@dataclass
class _MailContent:
    """What a message says, as its parts are gone through."""

    paragraphs: list[str] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    def add(self, paragraphs: list[str], notes: list[Note]) -> None:
        """Text, and what must be known about it."""
        self.paragraphs += paragraphs
        self.notes += (note for note in notes if note not in self.notes)
        self.tell(sealed_text("\n".join(paragraphs)))

    def tell(self, note: Note | None) -> None:
        """Say once why a part cannot be read, in the text as well: a mailbox has no other place for
        what is so of one message."""
        if note and note not in self.notes:
            self.paragraphs.append(note.text)
            self.notes.append(note)


def _content(message: Message) -> _MailContent:
    content = _MailContent([_headers(message)])
    signs: list[Attachment] = []
    shown = _shown_in_text(message)
    for part in _leaves(message):
        if isinstance(part, str):
            content.paragraphs.append(part)
        elif _is_text(part):
            content.add(*_text(part))
        elif part.get_content_type() in SIGNATURES:
            content.paragraphs.append(f"Signature: {name_of(part) or part.get_content_type()}")
        else:
            content.tell(sealed(part))
            one = Attachment(name_of(part), part.get_content_type(), part)
            within = part.get_content_disposition() == "inline" or _content_id(part) in shown
            is_sign = within and is_decoration(one.data, one.media_type)
            (signs if is_sign else content.attachments).append(one)
    if signs:
        content.paragraphs.append(
            "Small pictures in its text, such as logos:\n" + "\n".join(_described(a) for a in signs)
        )
    if content.attachments:
        content.paragraphs.append(
            "Attachments:\n" + "\n".join(_described(a) for a in content.attachments)
        )
    content.paragraphs = [paragraph for paragraph in content.paragraphs if paragraph.strip()]
    return content


def _is_text(part: Message) -> bool:
    """Whether a part is text of the message. What is called several parts and has no boundary
    between any is one text."""
    kind = part.get_content_maintype()
    return (kind == "text" and not is_attached(part)) or kind == "multipart"


def _shown_in_text(message: Message) -> set[str]:
    """The ids of parts that the text shows in their places."""
    pages = map(text_of, _pages(message))
    return {unquote(cid) for page, _ in pages for cid in _SHOWN_PART.findall(page)}


def _pages(message: Message) -> list[Message]:
    """The web pages that are text of a message."""
    return [
        part
        for part in islice(message.walk(), 2 * MAX_PARTS)
        if part.get_content_type() == "text/html" and not is_attached(part)
    ]


def _content_id(part: Message) -> str:
    return str(part.get("Content-ID") or "").strip().strip("<>")


def _leaves(message: Message) -> Iterator[Message | str]:
    """Parts that are no containers, in order; before a forwarded message its headers. Of
    alternatives see `alternatives`."""
    stack = [message]
    for _ in range(2 * MAX_PARTS):
        if not stack:
            return
        part = stack.pop()
        # asked for a text, it would decode that by whatever the message calls its character set
        parts = part.get_payload() if part.is_multipart() else None
        if not isinstance(parts, list):
            if signed := inside_signature(part):
                stack.append(message_of(signed))
            else:
                yield part
            continue
        inner = [item for item in parts if isinstance(item, Message)]
        if part.get_content_type() in _FORWARDED:
            inner = _decoded_messages(part, inner)
            yield from ("Forwarded message:\n" + _headers(item) for item in inner)
        elif part.get_content_type() == "message/partial":
            number, total = (str(part.get_param(key) or "?") for key in ("number", "total"))
            yield f"This is part {number} of {total} of a message, which cannot be read whole."
            inner = inner if number == "1" else []
        elif part.get_content_maintype() == "message":
            yield from map(_fields, inner)
        elif part.get_content_type() == "multipart/alternative":
            inner = alternatives(inner)
        stack.extend(reversed(inner))


def _decoded_messages(part: Message, inner: list[Message]) -> list[Message]:
    """A forwarded message that was encoded as a whole, which the standard library takes for one
    without headers."""
    encoding = str(part.get("Content-Transfer-Encoding") or "").strip().lower()
    if encoding != "base64" or len(inner) != 1 or len(inner[0]):
        return inner
    inner[0]["Content-Transfer-Encoding"] = encoding
    data = inner[0].get_payload(decode=True)
    if not isinstance(data, bytes):
        return inner
    return [message_of(data)]


def _fields(report: Message) -> str:
    """What a report says of a message in the form of headers: that it was not delivered, and why;
    that it was read."""
    told = ((name, " ".join(header_of(str(value)).split())) for name, value in report.raw_items())
    return "\n".join(f"{name}: {shortened(value)}" for name, value in told if value)


def _headers(message: Message) -> str:
    lines = ((key, _header(message, key)) for key in SHOWN)
    return "\n".join(f"{key}: {shortened(value)}" for key, value in lines if value)


def shortened(value: str) -> str:
    """As much of a header as is shown; what is left away is said."""
    left = len(value) - MAX_HEADER
    return f"{value[:MAX_HEADER]} … ({left:,} more characters)" if left > 0 else value


def _header(message: Message, key: str) -> str:
    values = [value for name, value in message.raw_items() if name.lower() == key.lower()]
    return ", ".join(" ".join(header_of(str(value)).split()) for value in values)[:MOST_OF_HEADER]


def _text(part: Message) -> tuple[list[str], list[Note]]:
    text, note = text_of(part)
    notes = [note] if note else []
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    if part.get_content_subtype() != "html":
        return [paragraph.strip("\n") for paragraph in GAP.split(text)], notes
    if not text.strip():
        return [], notes
    # A mail is no page with an article among menus: all of it was written to somebody.
    page = page_of(text, whole=True)
    return page.paragraphs, [*notes, *page.notes]


def _described(attachment: Attachment) -> str:
    return (
        f"- {attachment.name or 'without a name'} ({attachment.media_type}, "
        f"{len(attachment.data):,} bytes)"
    )
