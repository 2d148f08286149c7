"""JSON as values, without what a parser loses and says nothing of: digits of big integers, and
members of an object whose name came before."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from leaf.errors import FileTooLargeError, UnreadableFileError
from leaf.readers.base import Note
from leaf.readers.encoding import open_text, sniff_encoding

MAX_WHOLE_BYTES = 300_000_000
"""A JSON document is held in memory whole; JSON Lines have no limit."""
MAX_VALUES = 30_000_000
"""Values of a document: each takes 8 to 100 bytes of memory, however few it has in the file."""
MAX_DEPTH = 200
"""Levels of lists and objects; no table is deeper, and what walks through them calls itself for
each."""
_PIECE = 1 << 22
_SEEN = (float, dict, list)
_SPACED = (b" :", b"\t:", b"\r:", b"\n:")
_SHOWN = 6
"""Names of repeated members that are said."""


class JsonParser:
    """Parses a file; knows then in which objects a name stood more than once. All of its members are
    kept."""

    def __init__(self) -> None:
        self._objects = 0
        self._repeated: dict[str, None] = {}

    def document(self, path: Path) -> Any:
        """The value of a whole file. Python's own parser takes what orjson refuses: NaN, big
        integers, other encodings."""
        import orjson

        check_size(path)
        data = path.read_bytes()
        try:
            value = orjson.loads(data)
        except orjson.JSONDecodeError:
            value = None
        try:
            if value is not None and _is_whole(value, data):
                return value
            with open_text(path, sniff_encoding(path)) as file:
                value = json.load(file, object_pairs_hook=self._object)
            _members(value)
            return _without_surrogates(value)
        except json.JSONDecodeError as e:
            message = (
                f"This file is no valid JSON: {e.msg} in line {e.lineno:,}, column {e.colno:,}."
            )
            raise UnreadableFileError(message, "The file may be cut short; export it again.") from e
        except RecursionError as e:
            raise UnreadableFileError("This file is nested too deeply to be read.") from e

    def line(self, line: str) -> Any:
        """The value of a line. Raises JSONDecodeError, RecursionError."""
        import orjson

        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError:
            value = json.loads(line, object_pairs_hook=self._object)
            _members(value)
            return _without_surrogates(value)
        if _is_whole(value, line.encode()) and "00000000000000" not in line:
            return value
        return json.loads(line, object_pairs_hook=self._object)

    def notes(self) -> tuple[Note, ...]:
        """What was odd about the members of objects."""
        if not self._objects:
            return ()
        names = ", ".join(list(self._repeated)[:_SHOWN])
        text = (
            f"Members that an object names more than once got a number: {names} "
            f"(objects: {self._objects:,})."
        )
        return (Note("names-repeated", text, self._objects),)

    def _object(self, pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        """The members of an object, of `a`, `a` as `a`, `a_2`."""
        record = dict(pairs)
        if len(record) == len(pairs):
            return record
        self._objects += 1
        taken, members = set(record), dict[str, Any]()
        for name, value in pairs:
            own, number = name, 2
            while own in members or (own != name and own in taken):
                own, number = f"{name}_{number}", number + 1
            if own != name:
                self._repeated[name] = None
            members[own] = value
        return members


def check_size(path: Path) -> None:
    """Raises UnreadableFileError for an empty file, FileTooLargeError for what memory may not
    hold."""
    size = path.stat().st_size
    if not size:
        raise UnreadableFileError(
            "This file is empty.", "Upload the file again, or check how it was exported."
        )
    if size > MAX_WHOLE_BYTES:
        limit = MAX_WHOLE_BYTES // 1_000_000
        raise FileTooLargeError(
            f"This file is over the limit of {limit} MB for one JSON document.",
            "Save it as JSON Lines or Parquet.",
        )
    if _has_over(path, MAX_VALUES):
        message = (
            f"It holds over {MAX_VALUES / 1e6:g} million values, more than one JSON document may."
        )
        raise FileTooLargeError(message, "Save it as JSON Lines, CSV or Parquet.")


def _has_over(path: Path, values: int) -> bool:
    """Whether there are more commas outside of texts; those inside are told apart only where there
    are so many in all."""
    with path.open("rb") as file:
        commas = sum(piece.count(b",") for piece in iter(lambda: file.read(_PIECE), b""))
        file.seek(0)
        return commas > values and _outside_of_texts(file, b",", values) > values


def _outside_of_texts(file: BinaryIO, sign: bytes, enough: int) -> int:
    """How often a sign stands outside of texts, counted until that is more than enough."""
    count, inside, rest = 0, False, b""
    while count <= enough and (piece := file.read(_PIECE)):
        data = rest + piece
        cut = (
            len(data) - (len(data) - len(data.rstrip(b"\\"))) % 2
        )  # a last backslash belongs to what follows
        data, rest = data[:cut], data[cut:]
        parts = data.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        count += sum(part.count(sign) for part in parts[inside::2])
        inside ^= len(parts) % 2 == 0
    return count


def _is_whole(value: Any, data: bytes) -> bool:
    """Whether orjson kept each digit and each member of what is written. Raises RecursionError."""
    count = _members(value)
    if count is None:
        return False
    # Most programs write `"name":` or `"name" :`; what looks like it inside of a text only makes
    # them more, and leads to the slower count.
    spaced = data.count(b'" :')
    if data.count(b'":') + spaced <= count and spaced == sum(map(data.count, _SPACED)):
        return True
    return _outside_of_texts(BytesIO(data), b":", count) <= count


def _without_surrogates(value: Any) -> Any:
    """Halves of characters, which JSON can write and no text can hold, as the sign for what is
    unreadable."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_without_surrogates(k): _without_surrogates(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_without_surrogates(v) for v in value]
    return value


def _members(value: Any) -> int | None:
    """How many members all objects have together; None where orjson may have rounded an integer, as
    it reads those beyond 64 bits as floats. Raises RecursionError."""
    count, level = 0, [value]
    for _ in range(MAX_DEPTH):
        deeper: list[Any] = []
        for item in level:
            if isinstance(item, float):
                if abs(item) >= 2**63 and abs(item) != float("inf") and item == int(item):
                    return None
            elif isinstance(item, dict):
                count += len(item)
                deeper += [v for v in item.values() if isinstance(v, _SEEN)]
            elif isinstance(item, list):
                deeper += [v for v in item if isinstance(v, _SEEN)]
        if not deeper:
            return count
        level = deeper
    raise RecursionError(f"nested more than {MAX_DEPTH} levels deep")
