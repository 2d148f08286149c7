"""What calamine does not tell of a workbook, found in its parts: error cells, formulas never
calculated, formulas that are sums, what is hidden.

Calamine holds a sheet as one block of memory, so that two far cells can end the process: the extent
is checked first.
"""

from __future__ import annotations

import posixpath
import re
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO
from zipfile import BadZipFile, ZipFile

from leaf.errors import EncryptedFileError, FileTooLargeError, UnreadableFileError
from leaf.readers.base import Note
from leaf.readers.notes import NO_VALUE_TAIL
from leaf.readers.packed import BROKEN, BROKEN_ZIP
from leaf.readers.tabular.biff import xlsb_errors, xlsb_parts
from leaf.readers.tabular.cells import column_number
from leaf.readers.tabular.formulas import MOST, Sums, in_xml
from leaf.readers.tabular.grid import Merge
from leaf.readers.tabular.hidden import Formats, Sight, holds, read_formats

MAX_EXTENT = 40_000_000
"""Cells of the rectangle around all cells of a sheet; calamine takes some 30 bytes for each, empty
or not."""
_SMALL_XML = 5_000_000
"""Up to this size of a sheet's XML every cell's address is looked at before calamine may see the
file; larger ones are taken at the word of their own `dimension`, and searched for errors while
calamine reads them."""
PIECE = 1 << 18
"""Bytes of a sheet that are searched at a time: as many as a processor keeps near."""
_LISTED = 20
"""Addresses named in a note."""


@dataclass(frozen=True)
class Checked:
    """What calamine does not tell of a sheet."""

    notes: Sequence[Note] = ()
    sums: Sums = field(default_factory=dict)
    """Cells that add up others of their column."""


def damaged() -> UnreadableFileError:
    """The error for a workbook that is cut short or no workbook inside."""
    return UnreadableFileError(
        "This workbook is damaged or cut short.",
        "Upload it again, or open it in a spreadsheet program and save it anew.",
    )


def sheet_parts(path: Path) -> dict[str, str]:
    """Sheet name -> its part in the archive, for XLSX; for XLSB the parts under their own names, as
    its workbook is binary."""
    from lxml import etree

    try:
        with ZipFile(path) as archive:
            names = {n.lower(): n for n in archive.namelist()}
            if "xl/workbook.bin" in names:
                return xlsb_parts(archive)
            book, links = names.get("xl/workbook.xml"), names.get("xl/_rels/workbook.xml.rels")
            if not book or not links:
                return {}
            parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
            targets = {
                r.get("Id"): r.get("Target") for r in etree.fromstring(archive.read(links), parser)
            }
            parts = {}
            for element in etree.fromstring(archive.read(book), parser).iter("{*}sheet"):
                key = next((v for k, v in element.attrib.items() if k.endswith("}id")), "")
                target = targets.get(key)
                if target and element.get("name"):
                    full = posixpath.normpath(
                        target.lstrip("/") if target.startswith("/") else f"xl/{target}"
                    )
                    parts[str(element.get("name"))] = names.get(full.lower(), "")
            return {name: part for name, part in parts.items() if part}
    except (etree.XMLSyntaxError, *BROKEN_ZIP) as e:
        raise damaged() from e


@contextmanager
def _part(path: Path, part: str) -> Iterator[tuple[IO[bytes], int]]:
    """A file inside the workbook, and its size."""
    try:
        with ZipFile(path) as archive, archive.open(part) as file:
            yield file, archive.getinfo(part).file_size
    except (NotImplementedError, BadZipFile, KeyError, IndexError, struct.error, *BROKEN) as e:
        raise damaged() from e
    except RuntimeError as e:
        raise EncryptedFileError(
            "This workbook is protected by a password.",
            "Save a copy without it, and add that copy.",
        ) from e


def is_small(path: Path, sheet: str, part: str) -> bool:
    """Whether a sheet's cells are all looked at first. Of a larger one the extent that it gives
    itself is checked here."""
    with _part(path, part) as (file, size):
        if size <= _SMALL_XML:
            return True
        dimension = _DIMENSION.search(file.read(100_000))
    if dimension:
        _check_extent(sheet, int(dimension[2]), column_number(dimension[1]))
    return False


def _check_extent(sheet: str, rows: int, columns: int) -> None:
    if rows * columns > MAX_EXTENT:
        raise FileTooLargeError(
            f"Sheet '{sheet}' spans {rows:,} rows and {columns:,} columns; the "
            f"limit is {MAX_EXTENT:,} cells.",
            "Delete the far cells, or save the data as CSV.",
        )


def search_xlsb(path: Path, sheet: str, part: str) -> Checked:
    """Error cells of a sheet of an XLSB."""
    with _part(path, part) as (file, _):
        return Checked(error_note(sheet, xlsb_errors(file.read())))


_ADDRESS = re.compile(rb'<(?:\w+:)?c\b[^>]*?\br="([A-Z]{1,3})(\d{1,7})"')
_DIMENSION = re.compile(rb'<(?:\w+:)?dimension ref="(?:[A-Z]{1,3}\d+:)?([A-Z]{1,3})(\d+)"')
_CELL = re.compile(rb"<(?:\w+:)?c\b([^>]*?)(?:/>|>(.*?)</(?:\w+:)?c>)", re.S)
_PREFIX = re.compile(rb"<(\w+:)?worksheet\b")
_BARE_FORMULA = re.compile(
    rb"</(?:\w+:)?f>\s*(?:</(?:\w+:)?c>|<(?:\w+:)?v\s*/>|<(?:\w+:)?v></)|<(?:\w+:)?f\b[^>]*/>\s*</(?:\w+:)?c>"
)


def formats_of(path: Path) -> Formats:
    """The styles of an XLSX. Raises UnreadableFileError."""
    try:
        with ZipFile(path) as archive:
            return read_formats(archive)
    except BROKEN_ZIP as e:
        raise damaged() from e


class SheetSearch:
    """Takes a sheet's XML in pieces of any length, and finds errors, formulas without a value, what
    is hidden and merged."""

    def __init__(self, path: Path, sheet: str, formats: Formats, *, whole: bool) -> None:
        """`whole` has every cell's address looked at, which a small sheet's extent is told from."""
        self._path, self._sheet, self._whole = path, sheet, whole
        self._sight = Sight(formats)
        self._errors: list[tuple[str, str]] = []
        self._bare: list[str] = []
        self._sums: Sums = {}
        self._far = 0, 0
        self._rest = self._marks = b""

    def add(self, piece: bytes) -> None:
        """The next piece."""
        data = self._rest + piece
        if not self._marks:
            prefix = _PREFIX.search(data)
            self._marks = b"<" + (prefix[1] or b"" if prefix else b"")
        done, self._rest = _parted(data, self._marks)
        self._look(done)

    def found(self) -> Checked:
        """What was found, after the last piece. Raises FileTooLargeError."""
        self._look(self._rest)
        self._rest = b""
        _check_extent(self._sheet, *self._far)
        notes = (
            error_note(self._sheet, self._errors)
            + _bare_note(self._sheet, self._bare)
            + self._sight.notes(self._sheet)
        )
        return Checked(notes, self._sums)

    @property
    def merges(self) -> list[Merge]:
        """Merged cells."""
        return self._sight.merges

    def _look(self, done: bytes) -> None:
        if self._whole:
            for letters, row in _ADDRESS.findall(done):
                self._far = max(self._far[0], int(row)), max(self._far[1], column_number(letters))
        formula = self._marks + b"f"
        calculates = holds(done, formula, formula[-2:])
        if calculates or holds(done, b't="e"', b'"e'):
            _collect(done, self._errors, self._bare)
        if calculates and len(self._sums) <= MOST:
            for row, sum_formula in in_xml(done, self._marks):
                self._sums.setdefault(row, []).append(sum_formula)
        self._sight.add(done)


def search_xml(path: Path, sheet: str, part: str, formats: Formats) -> Checked:
    """Error cells, formulas without a value and those that are sums, in one pass over a sheet's
    XML; a small one's extent is checked as well."""
    with _part(path, part) as (file, size):
        search = SheetSearch(path, sheet, formats, whole=size <= _SMALL_XML)
        while piece := file.read(PIECE):
            search.add(piece)
    return search.found()


def _parted(data: bytes, mark: bytes) -> tuple[bytes, bytes]:
    """A piece of XML up to its last cell, or else its last tag, and the rest."""
    cut = data.rfind(mark + b"c ")
    if cut <= 0:
        cut = data.rfind(b"<")
    return (data[:cut], data[cut:]) if cut > 0 else (data, b"")


def _collect(data: bytes, errors: list[tuple[str, str]], bare: list[str]) -> None:
    if b't="e"' not in data and not _BARE_FORMULA.search(data):
        return
    for attributes, content in _CELL.findall(data):
        address = re.search(rb'\br=["\']([A-Z]+\d+)["\']', attributes)
        where = address[1].decode() if address else "?"
        if re.search(rb"\bt=[\"']e[\"']", attributes):
            value = re.search(rb"<(?:\w+:)?v>([^<]*)<", content)
            errors.append((where, value[1].decode("utf-8", "replace") if value else "error"))
        elif _has_no_result(attributes, content):
            bare.append(where)


def _has_no_result(attributes: bytes, content: bytes) -> bool:
    """A formula without a value; one of the text type with an empty value gives an empty text."""
    if not re.search(rb"<(?:\w+:)?f\b", content) or re.search(rb"<(?:\w+:)?v>[^<]", content):
        return False
    return not re.search(rb"\bt=[\"']str[\"']", attributes) or not re.search(
        rb"<(?:\w+:)?v\b", content
    )


def error_note(sheet: str, errors: list[tuple[str, str]]) -> list[Note]:
    """A note on cells with errors: (address, error)."""
    if not errors:
        return []
    kinds = ", ".join(sorted({text for _, text in errors})[:6])
    text = (
        f"{len(errors):,} cells of sheet '{sheet}' hold an error ({kinds}) and were read as empty."
    )
    short = f"{len(errors):,} cells with {kinds}{NO_VALUE_TAIL}"
    return [
        _at(
            Note(
                "error-cells",
                text,
                len(errors),
                _addresses(sheet, [a for a, _ in errors]),
                short=short,
            )
        )
    ]


def _bare_note(sheet: str, bare: list[str]) -> list[Note]:
    if not bare:
        return []
    text = (
        f"{len(bare):,} formulas of sheet '{sheet}' have no stored result and were read as "
        f"empty; open and save it to fill them."
    )
    return [_at(Note("no-cached-values", text, len(bare), _addresses(sheet, bare)))]


def _at(note: Note) -> Note:
    return replace(note, cells=note.place.partition("!")[2])


def _addresses(sheet: str, addresses: list[str]) -> str:
    more = f" and {len(addresses) - _LISTED:,} more" if len(addresses) > _LISTED else ""
    return f"sheet {sheet}!{', '.join(addresses[:_LISTED])}{more}"
