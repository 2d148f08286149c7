"""E-mail messages: who wrote what to whom, the text, and what was attached.

Headers are decoded here, since the standard library's modern policy fails on unknown character sets
and on group addresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from itertools import islice
from pathlib import Path
from urllib.parse import unquote

from leaf.errors import FileTooLargeError, UnreadableFileError
from leaf.readers.base import Note, Outline, Passage, Where
from leaf.readers.documents.decoration import is_decoration
from leaf.readers.documents.html import numbered, paragraphs_of
from leaf.readers.encoding import decode
from leaf.readers.window import CHARS_PER_TOKEN, Extent

MAX_BYTES = 200_000_000
MAX_PARTS = 2_000
"""Parts that are read of one message: texts, attachments, and what only holds others."""
MAX_BOUNDARIES = 5_000
MAX_HEADER = 5_000
"""Characters shown of one header; a list of recipients can be far longer."""
SHOWN = ("From", "To", "Cc", "Bcc", "Reply-To", "Date", "Subject")
MAX_HEADER_LINES = 20_000
_FIELD = re.compile(rb"[!-9;-~]+[ \t]*:")
_SPACED = re.compile(rb"^([!-9;-~]+)[ \t]+:")
_BOUNDARY = re.compile(rb"boundary[ \t]*=[ \t]*(?:\"([^\"\r\n]{1,200})\"|([^\"\s;]{1,200}))", re.I)
_SHOWN_PART = re.compile(r"cid:([^\s\"'>)]{1,300})", re.I)
LACKING = 0.2
"""Share of the words of a form of a text that another may lack and still say the same: forms differ
in hints, links and the names of pictures."""
_FORMS = ("plain", "html", "x-amp-html", "watch-html", "enriched", "richtext")
"""Subtypes of forms of one text, the plainest first."""
_WORD = re.compile(r"[\u0e00-\u0e7f\u3040-\u9fff]|[^\W_\u0e00-\u0e7f\u3040-\u9fff]+")
"""A word, or a sign of a script without blanks, where lines break anywhere."""
_FORWARDED = ("message/rfc822", "message/global", "message/news")
_FOLD = re.compile(r"\r?\n(?=[ \t])")
GAP = re.compile(r"\n\s*\n")


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
        payload = self.part.get_payload(decode=True)
        return payload if isinstance(payload, bytes) else b""


@dataclass(frozen=True)
class Mail:
    """One message."""

    headers: tuple[tuple[str, str], ...]
    """Those that are shown, decoded."""
    paragraphs: tuple[str, ...]
    """Headers, text, list of attachments."""
    attachments: tuple[Attachment, ...] = ()
    """Without small pictures that only adorn the text."""
    problem: str = ""
    """Why it cannot be read."""
    unread: int = 0
    """Parts after the first `MAX_PARTS`."""


class EmailReader:
    """Paragraphs: the headers, the text, the list of attachments."""

    def outline(self, path: Path) -> Outline:
        mail = read(path)
        tokens = int(sum(len(p) + 1 for p in mail.paragraphs) / CHARS_PER_TOKEN)
        subject = dict(mail.headers).get("Subject", "")
        members = len(mail.attachments) or None
        notes = (Note("parts-unread", _unread(mail.unread), mail.unread),) if mail.unread else ()
        kind = ("email", "message/rfc822")
        return Outline(
            *kind,
            lines=len(mail.paragraphs),
            members=members,
            tokens=tokens,
            title=subject,
            notes=notes,
        )

    def extent(self, path: Path, where: Where) -> Extent:
        return Extent(len(read(path).paragraphs))

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        yield from numbered(list(read(path).paragraphs), where)


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
    some, unread = _first_parts(data)
    try:
        message = message_from_bytes(_with_whole_headers(some), policy=policy.compat32)
        paragraphs, attachments = _content(message)
    except (RecursionError, HeaderParseError):
        return Mail((), (problem,), problem=problem)
    headers = tuple((key, value) for key in SHOWN if (value := _header(message, key)))
    paragraphs += [_unread(unread)] if unread else []
    return Mail(headers, tuple(paragraphs), tuple(attachments), unread=unread)


def _first_parts(data: bytes) -> tuple[bytes, int]:
    """A message up to the part that is one too many, and how many are left: the standard library
    would make an object of each."""
    names = {quoted or bare for quoted, bare in _BOUNDARY.findall(data)}
    if data.count(b"\n--") <= MAX_PARTS or not names:
        return data, 0
    begins = re.compile(
        rb"^--(?:" + b"|".join(re.escape(name) for name in names) + rb")[ \t]*\r?$", re.M
    )
    places = [match.start() for match in begins.finditer(data)]
    return (
        (data[: places[MAX_PARTS]], len(places) - MAX_PARTS)
        if len(places) > MAX_PARTS
        else (data, 0)
    )


def _unread(parts: int) -> str:
    return f"This message has {parts + MAX_PARTS:,} parts; only the first {MAX_PARTS:,} are read."


def _with_whole_headers(data: bytes) -> bytes:
    """The message with its headers mended: a line that is none would end them, and what follows
    would be the text.

    Such a line goes on with the header before it.
    """
    lines = data.split(b"\n", MAX_HEADER_LINES)
    end = next((i for i, line in enumerate(lines) if not line.strip()), len(lines))
    mended = []
    for at, line in enumerate(lines[:end]):
        whole = (
            (at == 0 and line.startswith(b"From "))
            or line[:1] in (b" ", b"\t")
            or _FIELD.match(line)
        )
        mended.append(_SPACED.sub(rb"\1:", line) if whole else b" " + line)
    if not any(_FIELD.match(line) for line in mended):
        return data
    return b"\n".join([*mended, *lines[end:]])


def _content(message: Message) -> tuple[list[str], list[Attachment]]:
    paragraphs = [_headers(message)]
    attached: list[Attachment] = []
    signs: list[Attachment] = []
    shown = _shown_in_text(message)
    for part in _leaves(message):
        if isinstance(part, str):
            paragraphs.append(part)
        elif part.get_content_maintype() == "text" and not _is_attached(part):
            paragraphs.extend(_text(part))
        else:
            one = Attachment(_name(part), part.get_content_type(), part)
            within = part.get_content_disposition() == "inline" or _content_id(part) in shown
            (signs if within and is_decoration(one.data, one.media_type) else attached).append(one)
    if signs:
        paragraphs.append(
            "Small pictures in its text, such as logos:\n" + "\n".join(_described(a) for a in signs)
        )
    if attached:
        paragraphs.append("Attachments:\n" + "\n".join(_described(a) for a in attached))
    return [paragraph for paragraph in paragraphs if paragraph.strip()], attached


def _shown_in_text(message: Message) -> set[str]:
    """The ids of parts that the text shows in their places."""
    pages = [
        part
        for part in islice(message.walk(), 2 * MAX_PARTS)
        if part.get_content_type() == "text/html"
    ]
    return {unquote(cid) for page in pages for cid in _SHOWN_PART.findall(_decoded(page))}


def _content_id(part: Message) -> str:
    return str(part.get("Content-ID") or "").strip().strip("<>")


def _leaves(message: Message) -> Iterator[Message | str]:
    """Parts that are no containers, in order; before a forwarded message its headers. Of
    alternatives see `_alternatives`."""
    stack = [message]
    for _ in range(2 * MAX_PARTS):
        if not stack:
            return
        part = stack.pop()
        # asked for a text, it would decode that by whatever the message calls its character set
        parts = part.get_payload() if part.is_multipart() else None
        if not isinstance(parts, list):
            yield part
            continue
        inner = [item for item in parts if isinstance(item, Message)]
        if part.get_content_type() in _FORWARDED:
            inner = _decoded_messages(part, inner)
            yield from ("Forwarded message:\n" + _headers(item) for item in inner)
        elif part.get_content_maintype() == "message":
            yield from map(_fields, inner)
        elif part.get_content_type() == "multipart/alternative":
            inner = _alternatives(inner)
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
    return [message_from_bytes(_with_whole_headers(_first_parts(data)[0]), policy=policy.compat32)]


def _fields(report: Message) -> str:
    """What a report says of a message in the form of headers: that it was not delivered, and why;
    that it was read."""
    told = ((name, " ".join(_plain(str(value)).split())) for name, value in report.raw_items())
    return "\n".join(f"{name}: {value[:MAX_HEADER]}" for name, value in told if value)


def _alternatives(parts: list[Message]) -> list[Message]:
    """Of forms of one text the plain one, and others with the words that it lacks: many plain forms
    only say that the mail is a web page. What is no form of the text, such as an invitation, stays.
    """
    forms = [part for part in parts if _is_form(part)]
    words = {id(part): _words(part) for part in forms}
    selection: list[Message] = []
    for part in sorted(forms, key=lambda part: _FORMS.index(part.get_content_subtype())):
        known = set[str]().union(*(words[id(one)] for one in selection))
        if _says_more(words[id(part)], known):
            selection.append(part)
    if not selection:
        return parts
    if len(selection) > 1 and words[id(selection[0])] <= words[id(selection[1])]:
        del selection[0]
    left = {id(part) for part in forms} - {id(part) for part in selection}
    return [part for part in parts if id(part) not in left]


def _says_more(words: set[str], known: set[str]) -> bool:
    """Whether a form says what others do not: many other words, or any other figure."""
    other = words - known
    return len(other) > LACKING * len(words) or any(c.isdigit() for word in other for c in word)


def of_both_forms(plain: str, page: str) -> list[str]:
    """The paragraphs of a text that is there as plain text and as a web page: the plain ones where
    they have the page's words, else the page's, with the plain ones where these say more."""
    paragraphs = [one.strip("\n") for one in GAP.split(plain)] if plain.strip() else []
    if not page.strip():
        return paragraphs
    shown = paragraphs_of(page, whole=True)[1]
    plain_words = set(_WORD.findall(plain.casefold()))
    words = set(_WORD.findall("\n".join(shown).casefold()))
    if not _says_more(words, plain_words):
        return paragraphs
    return shown if plain_words <= words else [*paragraphs, *shown]


def _is_form(part: Message) -> bool:
    """Whether a part is one form of a text that may come in several."""
    return (
        part.get_content_maintype() == "text"
        and part.get_content_subtype() in _FORMS
        and not _is_attached(part)
    )


def _words(part: Message) -> set[str]:
    """The words that a form of a text shows."""
    text = _decoded(part)
    if part.get_content_subtype() != "plain" and text.strip():
        try:
            text = "\n".join(paragraphs_of(text, whole=True)[1])
        except (FileTooLargeError, UnreadableFileError):
            return set()  # said where there is no other form
    return set(_WORD.findall(text.casefold()))


def _is_attached(part: Message) -> bool:
    return part.get_content_disposition() == "attachment" or (
        bool(_name(part)) and part.get_content_subtype() not in ("plain", "html")
    )


def _headers(message: Message) -> str:
    lines = ((key, _header(message, key)) for key in SHOWN)
    return "\n".join(f"{key}: {value}" for key, value in lines if value)


def _header(message: Message, key: str) -> str:
    values = [value for name, value in message.raw_items() if name.lower() == key.lower()]
    return ", ".join(" ".join(_plain(str(value)).split()) for value in values)[:MAX_HEADER]


def _plain(value: str) -> str:
    """A header's encoded words and raw bytes as text; what cannot be decoded stays as it is
    written."""
    try:
        # Of two lines it would lose the blank between a plain word and an encoded one.
        pieces = decode_header(_FOLD.sub("", value))
    except (HeaderParseError, ValueError):
        return _repaired(value)
    return "".join(
        _repaired(p) if isinstance(p, str) else _in_charset(p, charset) for p, charset in pieces
    )


def _repaired(text: str) -> str:
    """Bytes above ASCII arrive as surrogates."""
    try:
        raw = text.encode("ascii", "surrogateescape")
    except UnicodeEncodeError:
        return text
    return decode(raw)[0]


def _in_charset(data: bytes, charset: str | None) -> str:
    if charset and charset.lower() not in ("unknown-8bit", "us-ascii", "ascii"):
        try:
            return data.decode(charset, "replace")
        except (LookupError, ValueError):
            pass  # no such character set: the bytes say more than the label
    return decode(data)[0]


def _decoded(part: Message) -> str:
    data = part.get_payload(decode=True)
    return _in_charset(data, part.get_content_charset()) if isinstance(data, bytes) else ""


def _text(part: Message) -> list[str]:
    text = _decoded(part).replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    if part.get_content_subtype() == "html":
        # A mail is no page with an article among menus: all of it was written to somebody.
        return paragraphs_of(text, whole=True)[1] if text.strip() else []
    return [paragraph.strip("\n") for paragraph in GAP.split(text)]


def _name(part: Message) -> str:
    try:
        return " ".join(_plain(part.get_filename() or "").split())
    except (LookupError, ValueError, TypeError):
        return ""


def _described(attachment: Attachment) -> str:
    return (
        f"- {attachment.name or 'without a name'} ({attachment.media_type}, "
        f"{len(attachment.data):,} bytes)"
    )
