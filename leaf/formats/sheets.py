"""Spreadsheets: XLSX, XLSM, XLSB, XLS and ODS, by calamine.

Calamine gives values, but leaves error cells blank and formulas that were never calculated as well; both are found in the XML of the
sheet and said. It holds a sheet as one block of memory, so that two far cells can end the process: the extent is checked first.
"""

from __future__ import annotations

import posixpath
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

from leaf.errors import EncryptedFileError, FileTooLargeError, UnreadableFileError, not_found
from leaf.formats.base import Note, Outline, Passage, TableInfo, Where
from leaf.formats.columns import connect
from leaf.formats.header import Block, Found, cell_range, column_letter, find_tables, is_empty
from leaf.formats.values import describe, write_values

if TYPE_CHECKING:
    import duckdb
    from python_calamine import CalamineWorkbook

MAX_EXTENT = 40_000_000
"""Cells of the rectangle around all cells of a sheet; calamine takes some 30 bytes for each, empty or not."""
_SMALL_XML = 30_000_000
"""Up to this size of a sheet's XML every cell's address is looked at before calamine may see the file."""
_LISTED = 20
"""Addresses named in a note."""
_EXACT_BYTES = 2_000_000
"""Up to this file size the outline finds the tables; above it, it tells rows from the sheets' extents."""
_MEDIA = {
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xlsb": "application/vnd.ms-excel.sheet.binary.macroEnabled.12",
    "xls": "application/vnd.ms-excel",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
}


class SheetsReader:
    """Workbooks of any make."""

    def outline(self, path: Path) -> Outline:
        """Sheets, the largest table's size, and what is hidden. Tables are looked for only in small workbooks."""
        with _Workbook(path) as book:
            exact = path.stat().st_size <= _EXACT_BYTES
            rows = columns = tokens = 0
            notes = [_hidden_note(sheet) for sheet in book.sheets if sheet.hidden]
            for sheet in book.sheets:
                notes += sheet.notes
                height, width = book.extent(sheet)
                if exact:
                    grid = book.rows(sheet)
                    found = _find(book, sheet, grid)
                    notes += [n for n in found.notes if n.kind == "loose-cells"]
                    best = max(found.blocks, key=lambda b: len(b.body), default=None)
                    height, width = (len(best.body), len(best.names)) if best else (0, 0)
                    tokens += int(sum(len(_row_text(row, 0)) for row in grid) / 2.5)
                else:
                    height = max(0, height - 1)
                    tokens += int(height * width * 12 / 2.5)
                if height > rows:
                    rows, columns = height, width
            names = tuple(sheet.name for sheet in book.sheets)
            return Outline(
                "excel", _MEDIA[book.format], sheets=names, rows=rows, columns=columns, tokens=tokens, notes=tuple(notes)
            )

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        """One passage a row that is not empty, as `A: Region | B: 2024`, sheet after sheet or of the one sheet that is asked for."""
        with _Workbook(path) as book:
            sheets = [_named(book, where.sheet, path.name)] if where.sheet else book.sheets
            for sheet in sheets:
                some = False
                left, right = where.columns or (1, 1 << 20)
                for number, row in enumerate(book.iterate(sheet), 1):
                    if where.unit and where.last is not None and number > where.last:
                        break
                    if where.unit and number < where.first:
                        continue
                    text = _row_text(row[left - 1 : right], left - 1)
                    if text:
                        some = True
                        yield Passage(text, "row", number, sheet.name)
                if some and where.unit and not where.sheet:
                    return

    def tables(self, path: Path, out: Path) -> list[TableInfo]:
        """Every table of every sheet, hidden ones included and marked."""
        infos: list[TableInfo] = []
        with _Workbook(path) as book, connect(out) as connection:
            for sheet in book.sheets:
                grid = book.rows(sheet)
                found = _find(book, sheet, grid)
                notes = ([_hidden_note(sheet)] if sheet.hidden else []) + sheet.notes + list(found.notes)
                for block in found.blocks:
                    target = out / f"{len(infos)}.parquet"
                    infos.append(_write_block(connection, sheet, grid, block, target, tuple(notes)))
        return infos


@dataclass
class _Sheet:
    name: str
    hidden: bool
    part: str = ""
    """Its file inside an XLSX."""
    notes: list[Note] = field(default_factory=list)


class _Workbook:
    """An open workbook with the checks done that calamine does not do."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.format = _format(path)
        self.sheets: list[_Sheet] = []
        self._fallback: dict[str, list[list[Any]]] = {}

    def __enter__(self) -> _Workbook:
        parts: dict[str, str] = {}
        checked: dict[str, list[Note]] = {}
        if self.format in ("xlsx", "xlsb"):
            parts = _sheet_parts(self.path)
            checked = _checked_parts(self.path, parts, self.format)
        try:
            self._book: CalamineWorkbook | None = _open(self.path)
        except UnreadableFileError:
            if self.format != "xlsx":
                raise
            self._book = None
            self._fallback, hidden = _by_openpyxl(self.path)
            self.sheets = [_Sheet(name, name in hidden, notes=checked.get(name, [])) for name in self._fallback]
            return self
        from python_calamine import SheetTypeEnum, SheetVisibleEnum

        for meta in self._book.sheets_metadata:
            if meta.typ == SheetTypeEnum.WorkSheet:
                hidden_sheet = meta.visible != SheetVisibleEnum.Visible
                self.sheets.append(_Sheet(meta.name, hidden_sheet, parts.get(meta.name, ""), checked.get(meta.name, [])))
        if self.format == "ods" and self.sheets:
            self.sheets[0].notes += _ods_errors(self.path)
        return self

    def __exit__(self, *_: object) -> None:
        if self._book is not None:
            self._book.close()

    def extent(self, sheet: _Sheet) -> tuple[int, int]:
        """Height and width from the first cell to the last."""
        if self._book is None:
            grid = self._fallback[sheet.name]
            return len(grid), max(map(len, grid), default=0)
        found = _guarded(self.path, lambda: self._book.get_sheet_by_name(sheet.name) if self._book else None)
        return (found.height, found.width) if found else (0, 0)

    def iterate(self, sheet: _Sheet) -> Iterator[list[Any]]:
        """Rows from the sheet's first one, from column A."""
        if self._book is None:
            yield from self._fallback[sheet.name]
            return
        book = self._book
        yield from _guarded(self.path, lambda: book.get_sheet_by_name(sheet.name).iter_rows())

    def rows(self, sheet: _Sheet) -> list[list[Any]]:
        return list(self.iterate(sheet))

    def merges(self, sheet: _Sheet) -> Sequence[tuple[tuple[int, int], tuple[int, int]]]:
        if self._book is None or self.format not in ("xlsx", "xls"):
            return ()
        return self._book.get_sheet_by_name(sheet.name).merged_cell_ranges or ()


def _format(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(8)
    if head.startswith(b"\xd0\xcf\x11\xe0") or head[:2] == b"\x09\x08":
        return "xls"
    if not head.startswith(b"PK"):
        what = "is empty" if not head else "is no spreadsheet"
        raise UnreadableFileError(f"{path.name} {what}.", "Open it in a spreadsheet program and save it as .xlsx.")
    try:
        with ZipFile(path) as archive:
            names = set(archive.namelist())
    except (BadZipFile, OSError, ValueError) as e:
        raise _damaged(path) from e
    if "content.xml" in names:
        return "ods"
    return "xlsb" if "xl/workbook.bin" in names else "xlsx"


def _damaged(path: Path) -> UnreadableFileError:
    return UnreadableFileError(
        f"{path.name} is damaged or cut short.", "Upload it again, or open it in a spreadsheet program and save it anew."
    )


def _open(path: Path) -> CalamineWorkbook:
    from python_calamine import CalamineWorkbook

    return _guarded(path, lambda: CalamineWorkbook.from_path(path))


def _guarded(path: Path, call: Any) -> Any:
    """Calamine's errors as ours. A panic in its Rust code is a BaseException of a class that cannot be imported."""
    from python_calamine import CalamineError, PasswordError

    try:
        return call()
    except PasswordError as e:
        hint = "Remove the password in the spreadsheet program and upload it again."
        raise EncryptedFileError(f"{path.name} is protected with a password.", hint) from e
    except (CalamineError, OSError, ValueError) as e:
        raise _damaged(path) from e
    except BaseException as e:
        if type(e).__name__ != "PanicException":
            raise
        raise _damaged(path) from e


def _named(book: _Workbook, name: str, file: str) -> _Sheet:
    for sheet in book.sheets:
        if sheet.name.strip().lower() == name.strip().lower():
            return sheet
    raise not_found("sheet", name, [s.name for s in book.sheets], file)


def _hidden_note(sheet: _Sheet) -> Note:
    return Note("hidden-sheet", f"The sheet '{sheet.name}' is hidden in the workbook.", 1, f"sheet {sheet.name}")


def _row_text(row: Sequence[Any], left: int) -> str:
    return " | ".join(
        f"{column_letter(left + n)}: {' '.join(describe(cell).split())}" for n, cell in enumerate(row) if not is_empty(cell)
    )


def _find(book: _Workbook, sheet: _Sheet, grid: list[list[Any]]) -> Found:
    if not grid:
        return Found(())
    return find_tables(grid, merges=book.merges(sheet))


# What calamine does not tell


def _sheet_parts(path: Path) -> dict[str, str]:
    """Sheet name -> its part in the archive, for XLSX; for XLSB the parts under their own names, as its workbook is binary."""
    from lxml import etree

    try:
        with ZipFile(path) as archive:
            names = {n.lower(): n for n in archive.namelist()}
            if "xl/workbook.bin" in names:
                return _xlsb_parts(archive)
            book, links = names.get("xl/workbook.xml"), names.get("xl/_rels/workbook.xml.rels")
            if not book or not links:
                return {}
            parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
            targets = {r.get("Id"): r.get("Target") for r in etree.fromstring(archive.read(links), parser)}
            parts = {}
            for element in etree.fromstring(archive.read(book), parser).iter("{*}sheet"):
                key = next((v for k, v in element.attrib.items() if k.endswith("}id")), "")
                target = targets.get(key)
                if target and element.get("name"):
                    full = posixpath.normpath(target.lstrip("/") if target.startswith("/") else f"xl/{target}")
                    parts[str(element.get("name"))] = names.get(full.lower(), "")
            return {name: part for name, part in parts.items() if part}
    except (BadZipFile, OSError, etree.XMLSyntaxError, KeyError, ValueError, NotImplementedError) as e:
        raise _damaged(path) from e


def _checked_parts(path: Path, parts: dict[str, str], kind: str) -> dict[str, list[Note]]:
    import zlib

    notes: dict[str, list[Note]] = {}
    try:
        with ZipFile(path) as archive:
            for sheet, part in parts.items():
                if kind == "xlsb":
                    notes[sheet] = _error_note(sheet, _xlsb_errors(archive.read(part)))
                else:
                    notes[sheet] = _scan_xml(path, archive, sheet, part)
    except (BadZipFile, OSError, EOFError, ValueError, zlib.error, struct.error) as e:
        raise _damaged(path) from e
    except RuntimeError as e:
        raise EncryptedFileError(f"{path.name} is protected with a password.", "Remove the password and upload it again.") from e
    return notes


_ADDRESS = re.compile(rb'<(?:\w+:)?c\b[^>]*?\br="([A-Z]{1,3})(\d{1,7})"')
_DIMENSION = re.compile(rb'<(?:\w+:)?dimension ref="(?:[A-Z]{1,3}\d+:)?([A-Z]{1,3})(\d+)"')
_CELL = re.compile(rb"<(?:\w+:)?c\b([^>]*?)(?:/>|>(.*?)</(?:\w+:)?c>)", re.S)
_ERROR_MARK = b't="e"'
_BARE_FORMULA = re.compile(rb"</(?:\w+:)?f>\s*(?:</(?:\w+:)?c>|<(?:\w+:)?v\s*/>|<(?:\w+:)?v></)|<(?:\w+:)?f\b[^>]*/>\s*</(?:\w+:)?c>")


def _scan_xml(path: Path, archive: ZipFile, sheet: str, part: str) -> list[Note]:
    """Check a sheet's extent, and find its error cells and formulas without a value, in one pass over its XML in pieces."""
    info = archive.getinfo(part)
    small = info.file_size <= _SMALL_XML
    errors: list[tuple[str, str]] = []
    bare: list[str] = []
    far_row = far_column = cells = 0
    rest = b""
    with archive.open(part) as file:
        while piece := file.read(1 << 20):
            data = rest + piece
            if not cells and not rest:
                dimension = _DIMENSION.search(data)
                if dimension and not small:
                    far_column, far_row = _column_number(dimension[1]), int(dimension[2])
            cut = max(data.rfind(b"</c>"), data.rfind(b"</row>"), data.rfind(b":c>"), 0)
            done, rest = (data[: cut + 6], data[cut + 6 :]) if cut else (data, b"")
            if small:
                for letters, row in _ADDRESS.findall(done):
                    cells += 1
                    far_row = max(far_row, int(row))
                    far_column = max(far_column, _column_number(letters))
            if _ERROR_MARK in done or b"'e'" in done or b"<f" in done or b":f" in done:
                _collect(done, errors, bare)
    if far_row * far_column > MAX_EXTENT and (not small or cells * 50 < far_row * far_column):
        raise FileTooLargeError(
            f"Sheet '{sheet}' of {path.name} spans {far_row:,} rows and {far_column:,} columns, over the limit of {MAX_EXTENT:,} cells.",
            "Delete the far cells, or save the data as CSV.",
        )
    return _error_note(sheet, errors) + _bare_note(sheet, bare)


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def _collect(data: bytes, errors: list[tuple[str, str]], bare: list[str]) -> None:
    has_errors = _ERROR_MARK in data or b"t='e'" in data
    has_bare = bool(_BARE_FORMULA.search(data))
    if not has_errors and not has_bare:
        return
    for attributes, content in _CELL.findall(data):
        address = re.search(rb'\br=["\']([A-Z]+\d+)["\']', attributes)
        where = address[1].decode() if address else "?"
        if re.search(rb"\bt=[\"']e[\"']", attributes):
            value = re.search(rb"<(?:\w+:)?v>([^<]*)<", content)
            errors.append((where, value[1].decode("utf-8", "replace") if value else "error"))
        elif re.search(rb"<(?:\w+:)?f\b", content) and not re.search(rb"<(?:\w+:)?v>[^<]", content):
            if not re.search(rb"\bt=[\"']str[\"']", attributes) or not re.search(rb"<(?:\w+:)?v\b", content):
                bare.append(where)


def _error_note(sheet: str, errors: list[tuple[str, str]]) -> list[Note]:
    if not errors:
        return []
    kinds = ", ".join(sorted({text for _, text in errors})[:6])
    text = f"{len(errors):,} cells of sheet '{sheet}' hold an error ({kinds}) and were read as empty."
    return [Note("error-cells", text, len(errors), _addresses(sheet, [a for a, _ in errors]))]


def _bare_note(sheet: str, bare: list[str]) -> list[Note]:
    if not bare:
        return []
    text = f"{len(bare):,} formulas of sheet '{sheet}' have no stored result and were read as empty; open and save the file to fill them."
    return [Note("no-cached-values", text, len(bare), _addresses(sheet, bare))]


def _addresses(sheet: str, addresses: list[str]) -> str:
    more = f" and {len(addresses) - _LISTED:,} more" if len(addresses) > _LISTED else ""
    return f"sheet {sheet}!{', '.join(addresses[:_LISTED])}{more}"


_BINARY_ERRORS = {0: "#NULL!", 7: "#DIV/0!", 15: "#VALUE!", 23: "#REF!", 29: "#NAME?", 36: "#NUM!", 42: "#N/A", 43: "#GETTING_DATA"}


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


def _xlsb_parts(archive: ZipFile) -> dict[str, str]:
    """Sheet name -> part, from the BrtBundleSh records (156) of the binary workbook."""
    from lxml import etree

    links = {r.get("Id"): r.get("Target") for r in etree.fromstring(archive.read("xl/_rels/workbook.bin.rels"))}
    data = archive.read("xl/workbook.bin")
    parts = {}
    for kind, at, size in _xlsb_records(data):
        if kind == 156 and size > 12:
            key, after = _xlsb_text(data, at + 8)
            name, _ = _xlsb_text(data, after)
            target = links.get(key)
            if target:
                parts[name] = posixpath.normpath(target.lstrip("/") if target.startswith("/") else f"xl/{target}")
    present = set(archive.namelist())
    return {name: part for name, part in parts.items() if part in present}


def _xlsb_text(data: bytes, at: int) -> tuple[str, int]:
    length = struct.unpack_from("<I", data, at)[0]
    end = at + 4 + 2 * length
    return data[at + 4 : end].decode("utf-16-le", "replace"), end


def _xlsb_errors(data: bytes) -> list[tuple[str, str]]:
    """Cells of the records BrtCellError (3) and BrtFmlaError (11), with the row of the BrtRowHdr (0) before them."""
    errors, row = [], 0
    for kind, at, size in _xlsb_records(data):
        if kind == 0 and size >= 4:
            row = struct.unpack_from("<I", data, at)[0]
        elif kind in (3, 11) and size >= 9:
            column = struct.unpack_from("<I", data, at)[0]
            errors.append((f"{column_letter(column)}{row + 1}", _BINARY_ERRORS.get(data[at + 8], "error")))
    return errors


def _ods_errors(path: Path) -> list[Note]:
    """How many error cells an ODS holds; its cells carry no addresses."""
    count, rest = 0, b""
    mark = b'calcext:value-type="error"'
    with ZipFile(path) as archive, archive.open("content.xml") as file:
        while piece := file.read(1 << 20):
            data = rest + piece
            count += data.count(mark)
            rest = data[-len(mark) + 1 :]
    return [Note("error-cells", f"{count:,} cells of the workbook hold an error.", count)] if count else []


def _by_openpyxl(path: Path) -> tuple[dict[str, list[list[Any]]], set[str]]:
    """The sheets of an XLSX that calamine cannot open, and which are hidden."""
    import zlib

    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    sheets, hidden = {}, set()
    try:
        book = load_workbook(path, read_only=True, data_only=True)
        for sheet in book.worksheets:
            rows = [["" if c is None else c for c in row] for row in sheet.iter_rows(values_only=True)]
            sheets[sheet.title] = rows
            if sheet.sheet_state != "visible":
                hidden.add(sheet.title)
    except (InvalidFileException, BadZipFile, KeyError, ValueError, TypeError, AttributeError, OSError, EOFError, zlib.error) as e:
        raise _damaged(path) from e
    return sheets, hidden


# Blocks


def _write_block(
    connection: duckdb.DuckDBPyConnection, sheet: _Sheet, grid: list[list[Any]], block: Block, target: Path, notes: tuple[Note, ...]
) -> TableInfo:
    body = block.body
    if body and len(body) == body[-1] - body[0] + 1:
        rows = grid[body[0] : body[-1] + 1]
    else:
        rows = [grid[i] for i in body]
    by_column = list(zip(*rows, strict=False)) if rows else []
    values = [by_column[c] if c < len(by_column) else (None,) * len(rows) for c in block.columns]
    written = write_values(connection, block.names, values, target, row_number=lambda n: body[n - 1] + 1)
    if written.rows != len(rows):
        raise UnreadableFileError(f"Sheet '{sheet.name}': {len(rows):,} rows were read but {written.rows:,} written.")
    place = cell_range(block.top, block.left, block.bottom, block.right)
    all_notes = notes + block.notes + written.notes
    return TableInfo(target.name, sheet.name, place, written.rows, written.columns, sheet.hidden, all_notes)
