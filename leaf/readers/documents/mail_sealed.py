"""Parts of mails that hide what they say: encrypted ones, which are named, and signed ones, which hold
their message inside the signature and are read."""

from __future__ import annotations

import re
from email.message import Message

from leaf.readers.base import Note
from leaf.readers.documents.mail_words import name_of, payload_of

_PKCS7 = re.compile(r"application/(?:x-)?pkcs7-mime")
SIGNATURES = frozenset(
    (
        "application/pgp-signature",
        "application/pkcs7-signature",
        "application/x-pkcs7-signature",
    )
)
"""Parts that say who wrote the others; they are named, and become no files."""
_SIGNED = bytes.fromhex("06092a864886f70d010702")
"""The type of signed data (PKCS #7, RFC 5652), as the file begins with it."""
_LATE = 30
"""Bytes of the file before that."""
_PACKED = "application/ms-tnef"
_PACKED_NAME = "winmail.dat"
_GUARDED = "message.rpmsg"
_PGP = re.compile(r"^-----BEGIN PGP MESSAGE-----$", re.M)
_OCTETS = 4
_CONSTRUCTED = 0x20
_DEEPEST = 30
_MOST = 500_000
"""Values in one; a message of 200 MB comes in fewer pieces."""


def sealed(part: Message) -> Note | None:
    """Why a part that is no text cannot be read; None where it is an attachment as any other."""
    return sealed_by(name_of(part), part.get_content_type())


def sealed_by(name: str, kind: str) -> Note | None:
    """The same by what it is called and its media type."""
    if kind == _PACKED or name.lower() == _PACKED_NAME:
        packed = name or _PACKED_NAME
        text = f"{packed}, in which Outlook packed text or attachments, cannot be read."
        return Note("parts-sealed", text, 1)
    of_message = _PKCS7.fullmatch(kind) or kind == "application/pgp-encrypted"
    if of_message or name.lower() == _GUARDED:
        return Note("parts-sealed", "The message is encrypted and cannot be read here.", 1)
    return None


def sealed_text(text: str) -> Note | None:
    """The same of a text."""
    if not _PGP.search(text):
        return None
    return Note("parts-sealed", "Text of the message is encrypted and cannot be read here.", 1)


def inside_signature(part: Message) -> bytes:
    """The message that was signed, where a part holds it inside its signature; else nothing."""
    return signed_in(payload_of(part)) if is_signature(part.get_content_type()) else b""


def is_signature(kind: str) -> bool:
    """Whether a part of this media type may hold a message, signed or encrypted."""
    return bool(_PKCS7.fullmatch(kind))


def signed_in(data: bytes) -> bytes:
    """The message inside a signature; nothing where it is encrypted."""
    if _SIGNED not in data[: _LATE + len(_SIGNED)]:
        return b""
    try:
        return _content(data)
    except (ValueError, IndexError):
        return b""


def _content(data: bytes) -> bytes:
    """`SEQUENCE {type, [0] {SEQUENCE {version, SET, SEQUENCE {type, [0] {OCTET STRING}}, …}}}`."""
    whole = _Piece(data, 0)
    signed = whole.inner()[1].inner()[0]
    wrapped = signed.inner()[2].inner()
    return wrapped[1].inner()[0].octets() if len(wrapped) > 1 else b""


class _Piece:
    """A tagged value (X.690), also of a length that is not said before its end."""

    def __init__(self, data: bytes, at: int, depth: int = 0) -> None:
        if depth > _DEEPEST:
            raise ValueError("nested too deep")
        self._data, self._depth = data, depth
        self.tag = data[at]
        length, self._begin = data[at + 1], at + 2
        self._parts: list[_Piece] | None = None
        if length == 0x80:
            self._parts, self.end = self._to_its_end()
            return
        if length > 0x80:
            count = length & 0x7F
            length = int.from_bytes(data[self._begin : self._begin + count], "big")
            self._begin += count
        self.end = self._begin + length
        if self.end > len(data):
            raise ValueError("cut off")

    def inner(self) -> list[_Piece]:
        """The values in it."""
        if self._parts is None:
            self._parts, at = [], self._begin
            while at < self.end:
                self._parts.append(_Piece(self._data, at, self._depth + 1))
                at = self._parts[-1].end
                _check(self._parts)
        return self._parts

    def octets(self) -> bytes:
        """Its bytes, which may come in pieces."""
        if self.tag & _CONSTRUCTED:
            return b"".join(piece.octets() for piece in self.inner())
        if self.tag & 0x1F != _OCTETS:
            raise ValueError("no bytes")
        return self._data[self._begin : self.end]

    def _to_its_end(self) -> tuple[list[_Piece], int]:
        parts: list[_Piece] = []
        at = self._begin
        while self._data[at : at + 2] != b"\x00\x00":
            parts.append(_Piece(self._data, at, self._depth + 1))
            at = parts[-1].end
            _check(parts)
        return parts, at + 2


def _check(parts: list[_Piece]) -> None:
    if len(parts) > _MOST:
        raise ValueError("too many parts")
