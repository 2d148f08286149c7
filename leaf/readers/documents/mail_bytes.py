"""The bytes of a mail as the standard library can take them apart: its headers made whole, no more parts
than anybody sends, and without what programs put before it."""

from __future__ import annotations

import re
from email import message_from_bytes, policy
from email.message import Message

from leaf.readers.encoding import decode

MAX_PARTS = 2_000
"""Parts that are read of one message: texts, attachments, and what only holds others."""
MAX_HEADER_LINES = 20_000
_FIELD = re.compile(rb"[!-9;-~]+[ \t]*:")
_SPACED = re.compile(rb"^([!-9;-~]+)[ \t]+:")
_BOUNDARY = re.compile(rb"boundary[ \t]*=[ \t]*(?:\"([^\"\r\n]{1,200})\"|([^\"\s;]{1,200}))", re.I)
_UTF8, _WIDE = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
_LENGTH = re.compile(rb"(\d{1,10})[ \t]*\r?\n")
"""How Apple Mail begins a file: with the bytes of the message, which its own notes follow."""


def tidied(data: bytes) -> bytes:
    """A message from its first header on, in a character set that holds those of ASCII."""
    if data.startswith(_WIDE):
        data = decode(data)[0].encode("utf-8", "replace")
    data = data.removeprefix(_UTF8).lstrip(b"\r\n")
    if (length := _LENGTH.match(data)) and 0 < int(length[1]) <= len(data) - length.end():
        data = data[length.end() : length.end() + int(length[1])]
    if b"\r\r\n" in data[:2_000] and data.count(b"\n") == data.count(b"\r\r\n"):
        data = data.replace(b"\r\r\n", b"\r\n")
    return data


def message_of(data: bytes) -> Message:
    return message_from_bytes(_with_whole_headers(first_parts(data)[0]), policy=policy.compat32)


def first_parts(data: bytes) -> tuple[bytes, int]:
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


def unread_parts(parts: int) -> str:
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
