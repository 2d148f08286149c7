"""Error cells of the binary spreadsheets XLS and XLSB, which calamine gives as blanks, and formulas
of an XLS that are sums. No more is read than that needs."""

from __future__ import annotations

import posixpath
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

from leaf.readers.tabular.cells import column_letter
from leaf.readers.tabular.formulas import MOST, Sums, of_spans

ERRORS = {
    0: "#NULL!",
    7: "#DIV/0!",
    15: "#VALUE!",
    23: "#REF!",
    29: "#NAME?",
    36: "#NUM!",
    42: "#N/A",
    43: "#GETTING_DATA",
}
"""Codes of [MS-XLS] 2.5.10, the same in both formats."""

Errors = list[tuple[str, str]]
"""Address and error: `("B7", "#REF!")`."""


@dataclass(frozen=True)
class XlsSheet:
    """What is found of one sheet."""

    errors: Errors
    sums: Sums


def search_xls(path: Path) -> dict[str, XlsSheet]:
    """Error cells and sums by sheet. A file that cannot be followed gives none: whether it can be
    read at all is for calamine to say."""
    try:
        data = _workbook_stream(path.read_bytes())
        return {
            name: XlsSheet(_sheet_errors(data, at), _sheet_sums(data, at))
            for name, at in _sheets(data)
        }
    except (struct.error, IndexError, ValueError):
        return {}


def is_protected(path: Path) -> bool:
    """Whether an XLS is encrypted: its globals hold a record FilePass ([MS-XLS] 2.4.117)."""
    try:
        return any(kind == 0x2F for kind, _, _ in _records(_workbook_stream(path.read_bytes()), 0))
    except (struct.error, IndexError, ValueError):
        return False


def _workbook_stream(file: bytes) -> bytes:
    """The stream `Workbook` of a compound file ([MS-CFB]); an early XLS is that stream by
    itself."""
    if not file.startswith(b"\xd0\xcf\x11\xe0"):
        return file
    size = 1 << struct.unpack_from("<H", file, 30)[0]
    first_directory, first_more, more = (
        struct.unpack_from("<I", file, 48)[0],
        *struct.unpack_from("<II", file, 68),
    )
    tables = list(struct.unpack_from("<109I", file, 76))
    for _ in range(more):
        block = struct.unpack_from(f"<{size // 4}I", file, (first_more + 1) * size)
        tables += block[:-1]
        first_more = block[-1]
    chain: list[int] = []
    for sector in tables:
        if sector < 0xFFFFFFFA:
            chain += struct.unpack_from(f"<{size // 4}I", file, (sector + 1) * size)
    directory = _follow(file, chain, first_directory, size)
    for at in range(0, len(directory) - 127, 128):
        length = struct.unpack_from("<H", directory, at + 64)[0]
        name = directory[at : at + max(0, length - 2)].decode("utf-16-le", "replace")
        if name.lower() in ("workbook", "book"):
            start, bytes_ = struct.unpack_from("<II", directory, at + 116)
            return _follow(file, chain, start, size)[:bytes_]
    raise ValueError("no workbook stream")


def _follow(file: bytes, chain: list[int], sector: int, size: int) -> bytes:
    parts: list[bytes] = []
    while sector < 0xFFFFFFFA and len(parts) <= len(chain):
        parts.append(file[(sector + 1) * size : (sector + 2) * size])
        sector = chain[sector]
    return b"".join(parts)


def _records(data: bytes, at: int) -> Iterator[tuple[int, int, int]]:
    """Kind, begin and size of the records of a substream, up to its end."""
    while at + 4 <= len(data):
        kind, size = struct.unpack_from("<HH", data, at)
        if kind == 0x0A:
            return
        yield kind, at + 4, size
        at += 4 + size


def _sheets(data: bytes) -> Iterator[tuple[str, int]]:
    """Names of the sheets and where their substreams begin (BoundSheet8)."""
    for kind, at, size in _records(data, 0):
        if kind == 0x85 and size > 8:
            offset, length, wide = (
                struct.unpack_from("<I", data, at)[0],
                data[at + 6],
                data[at + 7] & 1,
            )
            raw = data[at + 8 : at + 8 + length * (2 if wide else 1)]
            yield raw.decode("utf-16-le" if wide else "latin-1", "replace"), offset


def _sheet_errors(data: bytes, at: int) -> Errors:
    """Cells of the records BoolErr, and Formula with an error for its result."""
    errors: Errors = []
    for kind, begin, size in _records(data, at):
        if kind == 0x205 and size >= 8 and data[begin + 7]:
            code = data[begin + 6]
        elif (
            kind == 0x06
            and size >= 14
            and data[begin + 6] == 2
            and data[begin + 12 : begin + 14] == b"\xff\xff"
        ):
            code = data[begin + 8]
        else:
            continue
        row, column = struct.unpack_from("<HH", data, begin)
        errors.append((f"{column_letter(column)}{row + 1}", ERRORS.get(code, "error")))
    return errors


def _sheet_sums(data: bytes, at: int) -> Sums:
    """Cells of the records Formula and ShrFmla whose tokens are a sum of their own column; of
    formulas that are shared, those of all cells that share them."""
    sums: Sums = {}
    sharing = 0
    for kind, begin, size in _records(data, at):
        if kind == 0x06 and size >= 22:
            row, column = struct.unpack_from("<HH", data, begin)
            cells, tokens = [(row, column)], begin + 20
        elif kind == 0x4BC and size >= 10:
            top, bottom, left, right = struct.unpack_from("<HHBB", data, begin)
            sharing += max(0, bottom - top + 1) * max(0, right - left + 1)
            if sharing > MOST:  # a few bytes may say of millions of cells that they share them
                continue
            cells = [(r, c) for r in range(top, bottom + 1) for c in range(left, right + 1)]
            tokens = begin + 8
        else:
            continue
        length = struct.unpack_from("<H", data, tokens)[0]
        expression = data[tokens + 2 : tokens + 2 + length]
        for row, column in cells if len(sums) <= MOST else ():
            try:
                spans, skips = _summed(expression, row, column)
            except (struct.error, IndexError):  # of an older or another make
                break
            if spans and (formula := of_spans(spans, row + 1, column, skips)) is not None:
                sums.setdefault(row + 1, []).append(formula)
    return sums


def _summed(tokens: bytes, row: int, column: int) -> tuple[list[tuple[int, int]], bool]:
    """Runs of rows, 1-based, that a formula of one column adds up, and whether it leaves out cells
    that do so as well ([MS-XLS] 2.5.198); no run where it does anything else."""
    spans: list[tuple[int, int]] = []
    adds, at, skips = False, 0, tokens[:3] in (b"\x1e\x09\x00", b"\x1e\x6d\x00")
    if skips:
        at = 3
    while at < len(tokens):
        kind = tokens[at] & 0x1F | 0x20 if tokens[at] >= 0x20 else tokens[at]
        if kind in (0x24, 0x25, 0x2C, 0x2D):  # a cell or an area, as it is or from the cell on
            two, shared = kind & 1, kind >= 0x2C
            coords = struct.unpack_from("<HHHH" if two else "<HH", tokens, at + 1)
            corners = [
                _corner(r, c, row, column, shared)
                for r, c in zip(coords[: 1 + two], coords[1 + two :], strict=True)
            ]
            if any(c != column for _, c in corners):
                return [], False
            spans.append((corners[0][0] + 1, corners[-1][0] + 1))
            at += 9 if two else 5
        elif kind == 0x03 and not skips:  # +
            adds, at = True, at + 1
        elif kind in (0x12, 0x15):  # a sign, brackets
            at += 1
        elif kind == 0x19 and tokens[at + 1] & 0x51:  # of no effect, blanks, SUM of one
            adds, at = adds or bool(tokens[at + 1] & 0x10), at + 4
        elif kind == 0x22 and tokens[at + 2 : at + 4] == (b"\x58\x01" if skips else b"\x04\x00"):
            adds, at = True, at + 4
        else:
            return [], False
    return (spans, skips) if adds else ([], False)


def _corner(
    row: int, column: int, from_row: int, from_column: int, shared: bool
) -> tuple[int, int]:
    """Row and column of a reference, 0-based; where formulas are shared they may be counted from
    the cell."""
    by_row, by_column = shared and column & 0x8000, shared and column & 0x4000
    column &= 0xFF
    return (
        (from_row + row) & 0xFFFF if by_row else row,
        (from_column + column) & 0xFF if by_column else column,
    )


def _xlsb_records(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Kind, begin and size of each record ([MS-XLSB] 2.1.4)."""
    at = 0
    while at < len(data):
        kind = data[at]
        at += 1
        if kind & 0x80:
            kind = (kind & 0x7F) | (data[at] & 0x7F) << 7
            at += 1
        size = shift = 0
        while True:
            byte = data[at]
            at += 1
            size |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80 or shift >= 28:
                break
        yield kind, at, size
        at += size


def xlsb_parts(archive: ZipFile) -> dict[str, str]:
    """Sheet name -> part, from the BrtBundleSh records (156) of the binary workbook."""
    from lxml import etree

    links = {
        r.get("Id"): r.get("Target")
        for r in etree.fromstring(archive.read("xl/_rels/workbook.bin.rels"))
    }
    data = archive.read("xl/workbook.bin")
    parts = {}
    for kind, at, size in _xlsb_records(data):
        if kind == 156 and size > 12:
            key, after = _xlsb_text(data, at + 8)
            name, _ = _xlsb_text(data, after)
            target = links.get(key)
            if target:
                parts[name] = posixpath.normpath(
                    target.lstrip("/") if target.startswith("/") else f"xl/{target}"
                )
    present = set(archive.namelist())
    return {name: part for name, part in parts.items() if part in present}


def _xlsb_text(data: bytes, at: int) -> tuple[str, int]:
    length = struct.unpack_from("<I", data, at)[0]
    end = at + 4 + 2 * length
    return data[at + 4 : end].decode("utf-16-le", "replace"), end


def xlsb_errors(data: bytes) -> list[tuple[str, str]]:
    """Cells of the records BrtCellError (3) and BrtFmlaError (11), with the row of the BrtRowHdr
    (0) before them."""
    errors, row = [], 0
    for kind, at, size in _xlsb_records(data):
        if kind == 0 and size >= 4:
            row = struct.unpack_from("<I", data, at)[0]
        elif kind in (3, 11) and size >= 9:
            column = struct.unpack_from("<I", data, at)[0]
            errors.append((f"{column_letter(column)}{row + 1}", ERRORS.get(data[at + 8], "error")))
    return errors
