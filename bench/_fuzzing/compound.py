"""Compound files (MS-CFB), which no library at hand writes: a workbook of Excel 97-2003 and an
Outlook message, as small as readers take them."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

SECTOR, SMALL, CUTOFF = 512, 64, 4096
"""Bytes of a sector, of a small one, and from which on a stream stands in sectors of the first."""
FREE, END, TABLE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
Tree = Mapping[str, "bytes | Tree"]


@dataclass
class _Entry:
    """A stream, a storage or the root, as the directory lists it."""

    name: str
    kind: int
    """1 storage, 2 stream, 5 root."""
    data: bytes = b""
    children: list[int] = field(default_factory=list)
    right: int = FREE
    first: int = END


def compound(tree: Tree) -> bytes:
    """A compound file of streams (bytes) and storages (mappings)."""
    entries = [_Entry("Root Entry", 5)]
    _list(entries, 0, tree)
    small, chains = _small(entries)
    entries[0].data = small
    sectors: list[bytes] = []
    table: list[int] = []
    for entry in entries:
        if entry.kind == 5 or len(entry.data) >= CUTOFF:
            entry.first = _put(sectors, table, entry.data)
    small_table = _put(sectors, table, struct.pack(f"<{len(chains)}I", *chains), b"\xff")
    directory = _put(sectors, table, b"".join(map(_listed, entries)))
    at = len(sectors)
    count = -(-(at + 1) // (SECTOR // 4 - 1))
    table += [TABLE] * count
    packed = struct.pack(f"<{len(table)}I", *table).ljust(count * SECTOR, b"\xff")
    places = [*range(at, at + count), *[FREE] * (109 - count)]
    head = struct.pack(
        "<8s16x5H6x9I109I",
        *(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0x3E, 3, 0xFFFE, 9, 6),
        *(0, count, directory, 0, CUTOFF, small_table, -(-len(chains) * 4 // SECTOR), END, 0),
        *places,
    )
    return head + b"".join(sectors) + packed


def _list(entries: list[_Entry], above: int, tree: Tree) -> None:
    """Append what is in a storage, in the order of the format: shorter names first. Each points to
    the next, which makes a tree of no width."""
    before = FREE
    for name in sorted(tree, key=lambda name: (len(name), name.upper())):
        content, number = tree[name], len(entries)
        is_stream = isinstance(content, bytes)
        entries.append(_Entry(name, 2 if is_stream else 1))
        if before == FREE:
            entries[above].children.append(number)
        else:
            entries[before].right = number
        before = number
        if isinstance(content, bytes):
            entries[number].data = content
        else:
            _list(entries, number, content)


def _small(entries: list[_Entry]) -> tuple[bytes, list[int]]:
    """The streams below the cutoff, one after the other, and the table of their sectors."""
    data, chains = b"", list[int]()
    for entry in entries:
        if entry.kind == 2 and 0 < len(entry.data) < CUTOFF:
            entry.first = len(chains)
            count = -(-len(entry.data) // SMALL)
            chains += [*range(len(chains) + 1, len(chains) + count), END]
            data += entry.data.ljust(count * SMALL, b"\0")
    return data, chains


def _put(sectors: list[bytes], table: list[int], data: bytes, fill: bytes = b"\0") -> int:
    """Append data as a chain of sectors; its first one."""
    if not data:
        return END
    first = len(sectors)
    count = -(-len(data) // SECTOR)
    whole = data.ljust(count * SECTOR, fill)
    sectors += [whole[i * SECTOR : (i + 1) * SECTOR] for i in range(count)]
    table += [*range(first + 1, first + count), END]
    return first


def _listed(entry: _Entry) -> bytes:
    raw = entry.name.encode("utf-16-le")
    child = entry.children[0] if entry.children else FREE
    first = 0 if entry.kind == 1 else entry.first
    return struct.pack(
        "<64sHBBIII16xI16xIQ",
        *(raw, len(raw) + 2, entry.kind, 1, FREE, entry.right, child, 0, first, len(entry.data)),
    )


# A workbook


def xls(rows: list[list[str | float]]) -> bytes:
    """A workbook of Excel 97-2003 with one sheet."""
    texts = list(dict.fromkeys(cell for row in rows for cell in row if isinstance(cell, str)))
    shared = struct.pack("<II", len(texts), len(texts)) + b"".join(map(_text, texts))
    sheet = _record(0x809, struct.pack("<HHHHII", 0x600, 0x10, 0, 0, 0, 6))
    sheet += _record(0x200, struct.pack("<IIHHH", 0, len(rows), 0, max(map(len, rows)), 0))
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            if isinstance(cell, str):
                sheet += _record(0xFD, struct.pack("<HHHI", i, j, 0, texts.index(cell)))
            else:
                sheet += _record(0x203, struct.pack("<HHHd", i, j, 0, cell))
    sheet += _record(0x0A, b"")
    before = _record(0x809, struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 6))
    before += _record(0x42, struct.pack("<H", 1200)) + _record(0xE0, bytes(20))
    after = _record(0xFC, shared) + _record(0x0A, b"")
    name = b"Sales"
    place = len(before) + 4 + 8 + len(name) + len(after)
    bound = struct.pack("<IBBBB", place, 0, 0, len(name), 0) + name
    book = before + _record(0x85, bound) + after + sheet
    return compound({"Workbook": book.ljust(CUTOFF, b"\0")})


def _record(kind: int, data: bytes) -> bytes:
    return struct.pack("<HH", kind, len(data)) + data


def _text(text: str) -> bytes:
    return struct.pack("<HB", len(text), 1) + text.encode("utf-16-le")


# A message

_TEXT, _BYTES, _NUMBER, _TIME = 0x1F, 0x102, 0x03, 0x40
_TICKS = 134_000_000_000_000_000
"""100 ns since 1601: a day of 2025."""


def msg(subject: str, body: str, attached: Mapping[str, bytes]) -> bytes:
    """An Outlook message with one recipient."""
    files = {
        f"__attach_version1.0_#{number:08X}": _properties(
            8, {0x3704: name, 0x3707: name, 0x3701: data, 0x370E: "text/csv"}, {0x3705: 1}
        )
        for number, (name, data) in enumerate(attached.items())
    }
    to = _properties(8, {0x3001: "Bob", 0x3003: "bob@example.org", 0x39FE: "bob@example.org"}, {})
    whole = _properties(
        32,
        {0x1A: "IPM.Note", 0x37: subject, 0x1000: body, 0x0C1A: "Ann", 0x0C1F: "ann@example.org"},
        {},
        struct.pack("<8xIIII8x", 1, len(files), 1, len(files)),
    )
    names = {f"__substg1.0_000{number}0102": b"" for number in (2, 3, 4)}
    return compound(
        {**whole, **files, "__recip_version1.0_#00000000": to, "__nameid_version1.0": names}
    )


def _properties(
    size: int, texts: Mapping[int, str | bytes], numbers: Mapping[int, int], head: bytes = b""
) -> dict[str, bytes]:
    """The streams of a storage: its properties in a list, and the long ones beside it."""
    found: dict[str, bytes] = {}
    listed = head.ljust(size, b"\0")
    for tag, value in texts.items():
        kind = _BYTES if isinstance(value, bytes) else _TEXT
        data = value if isinstance(value, bytes) else value.encode("utf-16-le")
        found[f"__substg1.0_{tag:04X}{kind:04X}"] = data
        end = 0 if isinstance(value, bytes) else 2
        listed += struct.pack("<HHIII", kind, tag, 6, len(data) + end, 0)
    for tag, number in numbers.items():
        listed += struct.pack("<HHIII", _NUMBER, tag, 6, number, 0)
    listed += struct.pack("<HHIQ", _TIME, 0x39, 6, _TICKS)
    return {**found, "__properties_version1.0": listed}
