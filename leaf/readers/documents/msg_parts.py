"""What an Outlook message keeps in its storages: texts, numbers and times by the ids of their properties
(MS-OXMSG). Texts of one byte a letter are read in the code page that the message names, and damage
in one of them leaves all others readable."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from leaf.readers.charsets import decode_as
from leaf.readers.encoding import decode

_HEADER = {"__recip": 8, "__attac": 8, "__subst": 24}
"""Beginning of a storage's name -> bytes before its properties; 32 of the whole message."""
_UNICODE, _BYTES, _BINARY, _STORAGE = 0x001F, 0x001E, 0x0102, 0x000D
_MESSAGE_PAGE, _INTERNET_PAGE = 0x3FFD, 0x3FDE
_PROPERTIES = "__properties_version1.0"
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)


def root_of(path: Path) -> MsgPart:
    """The whole of a message. Raises what the libraries raise where it is damaged."""
    from oxmsg import Message

    storages: list[Any] = []

    class Kept(Message):
        """Keeps what it is made of."""

        def __init__(self, storage: Any) -> None:
            super().__init__(storage)
            storages.append(storage)

    Kept.load(str(path))
    root = MsgPart(storages[0])
    if not root.properties:
        raise ValueError("no properties")
    return root


class MsgPart:
    """A message, one of its recipients, or something attached to it."""

    def __init__(self, storage: Any, around: MsgPart | None = None) -> None:
        self._storage = storage
        self._streams: dict[str, bytes] = {stream.name: stream.bytes_ for stream in storage.streams}
        self.properties = self._streams.get(_PROPERTIES, b"")
        own = self.number(_MESSAGE_PAGE), self.number(_INTERNET_PAGE)
        self.pages: tuple[int, int] = own if any(own) or around is None else around.pages

    def text(self, key: int) -> str:
        """A text on one line; empty where there is none."""
        return " ".join(self.long_text(key).split())

    def long_text(self, key: int, *, internet: bool = False) -> str:
        """A text; those of a body are in the code page of the internet."""
        wide = self._streams.get(_stream(key, _UNICODE))
        if wide is not None:
            return wide.decode("utf-16-le", "replace").replace("\x00", "")
        data = self._streams.get(_stream(key, _BYTES), b"")
        pages = reversed(self.pages) if internet else self.pages
        name = next(filter(None, map(page_name, pages)), None)
        return decode_as(data, name)[0].replace("\x00", "")

    def forms(self, key: int) -> list[str]:
        """What a text may be: in each of the code pages that are named, and by a guess."""
        data = self._streams.get(_stream(key, _BYTES))
        if data is None:
            return [self.long_text(key)]
        named = [decode_as(data, page_name(page))[0] for page in reversed(self.pages) if page]
        return [*named, decode(data)[0]]

    def data(self, key: int) -> bytes | None:
        """Bytes; None where there are none."""
        return self._streams.get(_stream(key, _BINARY))

    def number(self, key: int) -> int:
        """A whole number; 0 where there is none."""
        return int(struct.unpack("<I", self._value(key)[:4])[0])

    def time(self, key: int) -> datetime | None:
        ticks = struct.unpack("<Q", self._value(key))[0]
        with suppress(OverflowError):
            return _EPOCH + timedelta(seconds=ticks // 10_000_000) if ticks else None
        return None

    def parts(self, beginning: str) -> Iterator[MsgPart]:
        """Recipients (`__recip`) or what is attached (`__attach`)."""
        for storage in self._storage.storages:
            if storage.name.startswith(beginning):
                yield MsgPart(storage, self)

    def message(self, key: int) -> MsgPart | None:
        """A message that is kept as a whole; other objects have no properties."""
        for storage in self._storage.storages:
            if (
                storage.name == _stream(key, _STORAGE)
                and (part := MsgPart(storage, self)).properties
            ):
                return part
        return None

    def _value(self, key: int) -> bytes:
        begin = _HEADER.get(self._storage.name[:7], 32)
        for at in range(begin, len(self.properties) - 15, 16):
            if self.properties[at + 2 : at + 4] == key.to_bytes(2, "little"):
                return self.properties[at + 8 : at + 16]
        return bytes(8)


def page_name(page: int) -> str | None:
    """The character set of a code page of Windows; None where it is not known."""
    from oxmsg.domain.encodings import encoding_from_codepage
    from oxmsg.domain.model import UnrecognizedCodePageError, UnsupportedEncodingError

    try:
        return encoding_from_codepage(page) if page else None
    except (UnrecognizedCodePageError, UnsupportedEncodingError):
        return None


def _stream(key: int, kind: int) -> str:
    return f"__substg1.0_{key:04X}{kind:04X}"
