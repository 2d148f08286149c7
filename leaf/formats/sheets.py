"""Spreadsheets: XLSX, XLSM, XLSB, XLS and ODS, by calamine.

Calamine gives values, but leaves error cells blank and formulas that were never calculated as well; both are found in the XML
of the sheet and said. It holds a sheet as one block of memory, so that two far cells can end the process: the extent is checked
first.
"""

from __future__ import annotations

import gc
import posixpath
import re
import struct
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

from leaf.errors import EncryptedFileError, FileTooLargeError, UnreadableFileError, not_found
from leaf.formats.base import Note, Outline, Passage, TableInfo, Where
from leaf.formats.biff import xls_errors, xlsb_errors, xlsb_parts
from leaf.formats.columns import connect
from leaf.formats.header import Block, Found, cell_range, column_letter, find_tables, hard_columns, is_empty, with_doubts
from leaf.formats.hidden import Formats, Sight, merged_note, read_formats, within
from leaf.formats.integrity import Place, called_totals, counts_of_true, examine, softened
from leaf.formats.titles import title_above
from leaf.formats.values import describe, write_values
from leaf.formats.window import Extent

if TYPE_CHECKING:
    import duckdb
    from python_calamine import CalamineSheet, CalamineWorkbook

MAX_EXTENT = 40_000_000
"""Cells of the rectangle around all cells of a sheet; calamine takes some 30 bytes for each, empty or not."""
_SMALL_XML = 5_000_000
"""Up to this size of a sheet's XML every cell's address is looked at before calamine may see the file; larger ones are taken at
the word of their own `dimension`, and searched for errors while calamine reads them."""
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
            title = ""
            notes = [_hidden_note(sheet) for sheet in book.sheets if sheet.hidden]
            for sheet in book.sheets:
                height, width = book.extent(sheet)
                notes += within(sheet.notes, 1, height)
                if exact:
                    grid = book.rows(sheet)
                    found = _find(book, sheet, grid)
                    title = title or title_above(grid, found.blocks)
                    notes += [_on(sheet, n) for n in found.notes if n.kind == "loose-cells"]
                    notes += [n for block in found.blocks for n in called_totals(grid, block, sheet.name)]
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
                "excel",
                _MEDIA[book.format],
                sheets=names,
                rows=rows,
                columns=columns,
                tokens=tokens,
                title=title,
                notes=tuple(notes),
            )

    def extent(self, path: Path, where: Where) -> Extent:
        """Rows of the sheet that is asked for, from row 1 to the last cell, and what must be said of it."""
        with _Workbook(path) as book:
            if not where.sheet:
                return Extent(notes=tuple(_hidden_note(sheet) for sheet in book.sheets if sheet.hidden))
            sheet = _named(book, where.sheet, path.name)
            height = book.extent(sheet)[0]
            notes = ([_hidden_note(sheet)] if sheet.hidden else []) + within(sheet.notes, 1, height)
            return Extent(height, notes=tuple(notes))

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        """One passage a row that is not empty, as `A: Region | B: 2024`, sheet after sheet or of the sheet asked for."""
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
        with _uncollected(), _Workbook(path) as book, connect(out) as connection:
            for sheet in book.sheets:
                grid = book.rows(sheet)
                found = _find(book, sheet, grid)
                common = ([_hidden_note(sheet)] if sheet.hidden else []) + [_on(sheet, n) for n in found.notes]
                for block in found.blocks:
                    target = out / f"{len(infos)}.parquet"
                    notes = common + within(sheet.notes, block.top + 1, block.bottom + 1)
                    merged = merged_note(sheet.name, book.merges(sheet), block.top, block.bottom, block.left, block.right)
                    infos.append(_write_block(connection, sheet, grid, block, target, tuple(notes + merged)))
        return infos


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the garbage collector, which would go over millions of new cells again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@dataclass
class _Sheet:
    name: str
    hidden: bool
    checked: Future[list[Note]] | None = None
    """What calamine does not tell; large sheets are still being searched."""

    @property
    def notes(self) -> list[Note]:
        return self.checked.result() if self.checked else []


class _Workbook:
    """An open workbook with the checks done that calamine does not do."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.format = _format(path)
        self.sheets: list[_Sheet] = []
        self._fallback: dict[str, list[list[Any]]] = {}
        self._last: CalamineSheet | None = None
        self._pool = ThreadPoolExecutor(1)

    def __enter__(self) -> _Workbook:
        checked: dict[str, Future[list[Note]]] = {}
        if self.format in ("xlsx", "xlsb"):
            checked = self._check(_sheet_parts(self.path))
        elif self.format == "ods":
            checked[""] = self._pool.submit(_ods_errors, self.path)
        elif self.format == "xls":
            checked = {name: self._pool.submit(_error_note, name, found) for name, found in xls_errors(self.path).items()}
        try:
            self._book: CalamineWorkbook | None = _open(self.path)
        except UnreadableFileError:
            if self.format != "xlsx":
                raise
            self._book = None
            self._fallback, hidden = _by_openpyxl(self.path)
            self.sheets = [_Sheet(name, name in hidden, checked.get(name)) for name in self._fallback]
            return self
        from python_calamine import SheetTypeEnum, SheetVisibleEnum

        for meta in self._book.sheets_metadata:
            if meta.typ == SheetTypeEnum.WorkSheet:
                hidden_sheet = meta.visible != SheetVisibleEnum.Visible
                found = checked.get(meta.name) or (checked.get("") if not self.sheets else None)
                self.sheets.append(_Sheet(meta.name, hidden_sheet, found))
        return self

    def _check(self, parts: dict[str, str]) -> dict[str, Future[list[Note]]]:
        """Sheets whose extent may be harmful are refused here; the rest of the search goes on beside calamine."""
        checked = {}
        formats = _formats(self.path) if self.format == "xlsx" else Formats()
        for sheet, part in parts.items():
            if self.format == "xlsb":
                future = self._pool.submit(_search_xlsb, self.path, sheet, part)
            else:
                future = self._pool.submit(_search_xml, self.path, sheet, part, formats)
            if self.format == "xlsx" and _is_small(self.path, sheet, part):
                future.result()
            checked[sheet] = future
        return checked

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        if self._book is not None:
            self._book.close()

    def extent(self, sheet: _Sheet) -> tuple[int, int]:
        """Height and width from the first cell to the last."""
        if self._book is None:
            grid = self._fallback[sheet.name]
            return len(grid), max(map(len, grid), default=0)
        found = self._sheet(sheet)
        return found.height, found.width

    def iterate(self, sheet: _Sheet) -> Iterator[list[Any]]:
        """Rows from row 1, from column A; calamine leaves out empty columns at the left, but not empty rows above."""
        if self._book is None:
            yield from self._fallback[sheet.name]
            return
        found = self._sheet(sheet)
        left = [""] * (found.start[1] if found.start else 0)
        yield from (left + row for row in found.iter_rows()) if left else found.iter_rows()

    def rows(self, sheet: _Sheet) -> list[list[Any]]:
        """All rows at once."""
        return list(self.iterate(sheet))

    def merges(self, sheet: _Sheet) -> Sequence[tuple[tuple[int, int], tuple[int, int]]]:
        if self._book is None or self.format not in ("xlsx", "xls"):
            return ()
        return self._sheet(sheet).merged_cell_ranges or ()

    def _sheet(self, sheet: _Sheet) -> CalamineSheet:
        """The parsed sheet; the last one is kept, as it is asked for its rows and then for its merged cells."""
        book = self._book
        if self._last is None or self._last.name != sheet.name:
            self._last = None  # two large sheets need not be held at a time
            self._last = _guarded(self.path, lambda: book.get_sheet_by_name(sheet.name) if book else None)
        assert self._last is not None
        return self._last


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

    book: CalamineWorkbook = _guarded(path, lambda: CalamineWorkbook.from_path(path))
    return book


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


def _on(sheet: _Sheet, note: Note) -> Note:
    """A note on rows that are in no table, with the sheet that they are on."""
    if note.kind != "loose-cells" or note.place.startswith("sheet "):
        return note
    return replace(note, text=note.text.replace(" belong to no table", f" of sheet '{sheet.name}' belong to no table", 1))


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
                return xlsb_parts(archive)
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


@contextmanager
def _part(path: Path, part: str) -> Iterator[tuple[IO[bytes], int]]:
    """A file inside the workbook, and its size."""
    import zlib

    try:
        with ZipFile(path) as archive, archive.open(part) as file:
            yield file, archive.getinfo(part).file_size
    except (BadZipFile, OSError, EOFError, ValueError, IndexError, zlib.error, struct.error) as e:
        raise _damaged(path) from e
    except RuntimeError as e:
        raise EncryptedFileError(f"{path.name} is protected with a password.", "Remove the password and upload it again.") from e


def _is_small(path: Path, sheet: str, part: str) -> bool:
    """Whether a sheet's cells are all looked at first. Of a larger one the extent that it gives itself is checked here."""
    with _part(path, part) as (file, size):
        if size <= _SMALL_XML:
            return True
        dimension = _DIMENSION.search(file.read(100_000))
    if dimension:
        _check_extent(path, sheet, int(dimension[2]), _column_number(dimension[1]))
    return False


def _check_extent(path: Path, sheet: str, rows: int, columns: int) -> None:
    if rows * columns > MAX_EXTENT:
        raise FileTooLargeError(
            f"Sheet '{sheet}' of {path.name} spans {rows:,} rows and {columns:,} columns; the limit is {MAX_EXTENT:,} cells.",
            "Delete the far cells, or save the data as CSV.",
        )


def _search_xlsb(path: Path, sheet: str, part: str) -> list[Note]:
    with _part(path, part) as (file, _):
        return _error_note(sheet, xlsb_errors(file.read()))


_ADDRESS = re.compile(rb'<(?:\w+:)?c\b[^>]*?\br="([A-Z]{1,3})(\d{1,7})"')
_DIMENSION = re.compile(rb'<(?:\w+:)?dimension ref="(?:[A-Z]{1,3}\d+:)?([A-Z]{1,3})(\d+)"')
_CELL = re.compile(rb"<(?:\w+:)?c\b([^>]*?)(?:/>|>(.*?)</(?:\w+:)?c>)", re.S)
_ERROR_MARK = b't="e"'
_PREFIX = re.compile(rb"<(\w+:)?worksheet\b")
_BARE_FORMULA = re.compile(
    rb"</(?:\w+:)?f>\s*(?:</(?:\w+:)?c>|<(?:\w+:)?v\s*/>|<(?:\w+:)?v></)|<(?:\w+:)?f\b[^>]*/>\s*</(?:\w+:)?c>"
)


def _formats(path: Path) -> Formats:
    try:
        with ZipFile(path) as archive:
            return read_formats(archive)
    except (BadZipFile, OSError, ValueError) as e:
        raise _damaged(path) from e


def _search_xml(path: Path, sheet: str, part: str, formats: Formats) -> list[Note]:
    """Error cells and formulas without a value, in one pass over a sheet's XML; a small one's extent is checked as well."""
    errors: list[tuple[str, str]] = []
    bare: list[str] = []
    far_row = far_column = 0
    rest = marks = b""
    sight = Sight(formats)
    with _part(path, part) as (file, size):
        while piece := file.read(1 << 20):
            data = rest + piece
            if not marks:
                prefix = _PREFIX.search(data)
                marks = b"<" + (prefix[1] or b"" if prefix else b"")
            cut = data.rfind(marks + b"c ") if len(piece) == 1 << 20 else len(data)
            done, rest = (data[:cut], data[cut:]) if cut > 0 else (data, b"")
            if size <= _SMALL_XML:
                for letters, row in _ADDRESS.findall(done):
                    far_row = max(far_row, int(row))
                    far_column = max(far_column, _column_number(letters))
            if _ERROR_MARK in done or marks + b"f" in done:
                _collect(done, errors, bare)
            sight.add(done)
        if rest:
            _collect(rest, errors, bare)
            sight.add(rest)
    _check_extent(path, sheet, far_row, far_column)
    return _error_note(sheet, errors) + _bare_note(sheet, bare) + sight.notes(sheet)


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def _collect(data: bytes, errors: list[tuple[str, str]], bare: list[str]) -> None:
    if _ERROR_MARK not in data and not _BARE_FORMULA.search(data):
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
    return not re.search(rb"\bt=[\"']str[\"']", attributes) or not re.search(rb"<(?:\w+:)?v\b", content)


def _error_note(sheet: str, errors: list[tuple[str, str]]) -> list[Note]:
    if not errors:
        return []
    kinds = ", ".join(sorted({text for _, text in errors})[:6])
    text = f"{len(errors):,} cells of sheet '{sheet}' hold an error ({kinds}) and were read as empty."
    return [_at(Note("error-cells", text, len(errors), _addresses(sheet, [a for a, _ in errors])))]


def _bare_note(sheet: str, bare: list[str]) -> list[Note]:
    if not bare:
        return []
    text = (
        f"{len(bare):,} formulas of sheet '{sheet}' have no stored result and were read as empty; open and save it to fill them."
    )
    return [_at(Note("no-cached-values", text, len(bare), _addresses(sheet, bare)))]


def _at(note: Note) -> Note:
    return replace(note, cells=note.place.partition("!")[2])


def _addresses(sheet: str, addresses: list[str]) -> str:
    more = f" and {len(addresses) - _LISTED:,} more" if len(addresses) > _LISTED else ""
    return f"sheet {sheet}!{', '.join(addresses[:_LISTED])}{more}"


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

    from lxml import etree
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
    except (
        InvalidFileException,
        BadZipFile,
        KeyError,
        ValueError,
        TypeError,
        AttributeError,
        OSError,
        EOFError,
        zlib.error,
        etree.LxmlError,
    ) as e:
        raise _damaged(path) from e
    return sheets, hidden


# Blocks


def _write_block(
    connection: duckdb.DuckDBPyConnection,
    sheet: _Sheet,
    grid: list[list[Any]],
    block: Block,
    target: Path,
    notes: tuple[Note, ...],
) -> TableInfo:
    body = block.body
    if counts_of_true(grid, body, block.columns):
        body, at = body[:-1], f"sheet {sheet.name}!{cell_range(body[-1], block.left, body[-1], block.right)}"
        counted = Note("total-rows", "The last row counts how often each column is true; it is no part of the table.", 1, at)
        notes = (*notes, counted)
    whole = bool(body) and len(body) == body[-1] - body[0] + 1
    rows = grid[body[0] : body[-1] + 1] if whole else [grid[i] for i in body]
    by_column = list(zip(*rows, strict=False)) if rows else []
    words = softened(grid, body, hard_columns(grid, body, block.columns))
    values = [_without(by_column[c], words, c) if c < len(by_column) else (None,) * len(rows) for c in block.columns]
    written = write_values(connection, block.names, values, target, row_number=lambda n: body[n - 1] + 1)
    if written.rows != len(rows):
        raise UnreadableFileError(f"Sheet '{sheet.name}': {len(rows):,} rows were read but {written.rows:,} written.")
    cells = cell_range(block.top, block.left, block.bottom, block.right)
    all_notes = notes + block.notes + written.notes
    info = TableInfo(target.name, sheet.name, cells, written.rows, written.columns, sheet.hidden, all_notes)
    info = with_doubts(info, block)
    place = Place(sheet.name, block.top + 1, block.bottom + 1, block.columns, block.header_rows)
    numbers = [i + 1 for i in body]
    return examine(connection, target.parent, info, numbers, place, {p: next(iter(w.values())) for p, w in words.items()})


def _without(values: Sequence[Any], words: dict[int, dict[int, str]], column: int) -> Sequence[Any]:
    """A column without the words that stand in place of its numbers."""
    drop = [position for position, found in words.items() if column in found]
    if not drop:
        return values
    kept = list(values)
    for position in drop:
        kept[position] = None
    return kept
