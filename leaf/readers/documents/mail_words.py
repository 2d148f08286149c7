"""What parts of mails and their headers say, from how they were sent: transfer encodings, character
sets, encoded words.

Decoded here, since the standard library's modern policy fails on unknown character sets and on group
addresses, and ends what is in base64 at its first padding.
"""

from __future__ import annotations

import binascii
import re
from copy import copy
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message

from leaf.readers.base import Note
from leaf.readers.charsets import decode_as
from leaf.readers.documents.html import declared_in
from leaf.readers.encoding import decode, guess_note

_FOLD = re.compile(r"\r?\n(?=[ \t])")
_OTHER = re.compile(rb"[^A-Za-z0-9+/=\s]")
_CODED = re.compile(rb"[A-Za-z0-9+/]{40,}={0,2}")
_ADDED = re.compile(rb"\S+[ \t]+\S|[_=*-]{3,}")
"""What a line has in it that was written below an encoded text, and is no fault in it."""
_NAMING = ("content-type", "content-disposition")
_PADDING = re.compile(rb"=+")


def payload_of(part: Message) -> bytes:
    """The bytes of a part that is no container, decoded."""
    return _payload(part)[0]


def text_of(part: Message) -> tuple[str, Note | None]:
    """The text of a part, and what must be known about how it was decoded."""
    data, added = _payload(part)
    name = part.get_content_charset()
    if name is None and part.get_content_subtype() == "html":
        name = declared_in(data)
    text, encoding = decode_as(data, name)
    return text + (f"\n{decode(added)[0]}" if added else ""), guess_note(encoding)


def header_of(value: str) -> str:
    """A header's encoded words and raw bytes as text; what cannot be decoded stays as it is
    written."""
    try:
        # Of two lines it would lose the blank between a plain word and an encoded one.
        pieces = decode_header(_FOLD.sub("", value))
    except (HeaderParseError, ValueError):
        return _repaired(value)
    return "".join(
        _repaired(p) if isinstance(p, str) else decode_as(p, charset)[0] for p, charset in pieces
    )


def name_of(part: Message) -> str:
    """What a part is called; empty where it has no name."""
    try:
        return " ".join(header_of(_of_ascii(part).get_filename() or "").split())
    except (LookupError, ValueError, TypeError):
        return ""


def _of_ascii(part: Message) -> Message:
    """The part, or one with its headers repaired where a name in them has bytes above ASCII, which
    the standard library would drop."""
    values = [(key, str(value)) for key, value in part.raw_items() if key.lower() in _NAMING]
    if all(value.isascii() for _, value in values):
        return part
    repaired = Message()
    for key, value in values:
        repaired[key] = _repaired(value)
    return repaired


def _repaired(text: str) -> str:
    """Bytes above ASCII arrive as surrogates."""
    try:
        raw = text.encode("ascii", "surrogateescape")
    except UnicodeEncodeError:
        return text
    return decode(raw)[0]


def _payload(part: Message) -> tuple[bytes, bytes]:
    """The bytes of a part, and those that were added below it without being encoded, as lists of
    people do."""
    encoding = str(part.get("Content-Transfer-Encoding") or "").strip().lower()
    if encoding != "base64":
        return _bytes(part), b""
    bare = copy(part)
    del bare["Content-Transfer-Encoding"]
    coded = _bytes(bare)
    end = _end_of_coded(coded)
    return _from_base64(coded[:end]), coded[end:].strip()


def _bytes(part: Message) -> bytes:
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _end_of_coded(data: bytes) -> int:
    """Where words begin that nobody encoded; a fault between encoded lines is no end."""
    for odd in _OTHER.finditer(data):
        begin = data.rfind(b"\n", 0, odd.start()) + 1
        end = data.find(b"\n", odd.start())
        line = data[begin : end if end >= 0 else len(data)]
        if _ADDED.search(line.strip()):
            return begin if not _CODED.search(data, begin) else len(data)
    return len(data)


def _from_base64(data: bytes) -> bytes:
    """Pieces that were encoded one by one are all decoded, though each ends with padding."""
    pieces = _PADDING.split(_OTHER.sub(b"", b"".join(data.split())))
    return b"".join(_piece(piece) for piece in pieces if piece)


def _piece(piece: bytes) -> bytes:
    whole = piece[:-1] if len(piece) % 4 == 1 else piece
    return binascii.a2b_base64(whole + b"=" * (-len(whole) % 4))
