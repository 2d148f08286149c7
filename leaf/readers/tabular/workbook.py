"""An open workbook: its sheets and their rows by calamine, with the checks done that calamine does
not do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

from leaf.errors import EncryptedFileError, UnreadableFileError
from leaf.readers.base import Note
from leaf.readers.packed import BROKEN_ZIP
from leaf.readers.tabular.biff import search_xls
from leaf.readers.tabular.formulas import Sums
from leaf.readers.tabular.grid import Merge
from leaf.readers.tabular.hidden import Formats
from leaf.readers.tabular.ods import search_ods
from leaf.readers.tabular.sheet_copy import copy_plain
from leaf.readers.tabular.sheet_grid import SheetGrid
from leaf.readers.tabular.sheet_parts import (
    Checked,
    SheetSearch,
    damaged,
    error_note,
    formats_of,
    is_small,
    search_xlsb,
    search_xml,
    sheet_parts,
)
from leaf.readers.tabular.spreadsheetml import is_spreadsheetml, read_sheets

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook


@dataclass
class Sheet:
    """A worksheet, not read yet."""

    name: str
    hidden: bool
    checked: Future[Checked] | None = None
    """What calamine does not tell; large sheets are still being searched."""

    @property
    def notes(self) -> Sequence[Note]:
        """What calamine does not tell, once the search is over. Raises UnreadableFileError,
        FileTooLargeError."""
        return self.checked.result().notes if self.checked else ()

    @property
    def sums(self) -> Sums:
        """Cells that add up others of their column. Raises as `notes` does."""
        return self.checked.result().sums if self.checked else {}


class Workbook:
    """An open workbook with the checks done that calamine does not do."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.format = _format(path)
        self.sheets: list[Sheet] = []
        self._fallback: dict[str, list[list[Any]]] = {}
        self._merged: dict[str, list[Merge]] = {}
        self._last: CalamineSheet | None = None
        self._pool = ThreadPoolExecutor(1)
        self._book: CalamineWorkbook | None = None
        self._read_from = path
        """What calamine opens."""
        self._folder: TemporaryDirectory[str] | None = None

    def __enter__(self) -> Workbook:
        try:
            return self._open()
        except BaseException:
            self.__exit__()
            raise

    def _open(self) -> Workbook:
        checked: dict[str, Future[Checked]] = {}
        if self.format == "xml":
            return self._enter_xml()
        if self.format in ("xlsx", "xlsb"):
            checked = self._check(sheet_parts(self.path))
        elif self.format == "ods":
            checked = {name: _known(findings) for name, findings in search_ods(self.path).items()}
        elif self.format == "xls":
            checked = {
                name: _known(Checked(error_note(name, findings.errors), findings.sums))
                for name, findings in search_xls(self.path).items()
            }
        try:
            self._book = _open(self._read_from)
        except UnreadableFileError:
            if self.format != "xlsx":
                raise
            self._fallback, hidden = _by_openpyxl(self.path)
            self.sheets = [
                Sheet(name, name in hidden, checked.get(name)) for name in self._fallback
            ]
            return self
        from python_calamine import SheetTypeEnum, SheetVisibleEnum

        for meta in self._book.sheets_metadata:
            if meta.typ == SheetTypeEnum.WorkSheet:
                hidden_sheet = meta.visible != SheetVisibleEnum.Visible
                self.sheets.append(Sheet(meta.name, hidden_sheet, checked.get(meta.name)))
        return self

    def _enter_xml(self) -> Workbook:
        for sheet in read_sheets(self.path):
            width = max(map(len, sheet.rows), default=0)
            self._fallback[sheet.name] = [row + [""] * (width - len(row)) for row in sheet.rows]
            self._merged[sheet.name] = sheet.merges
            findings = Checked(error_note(sheet.name, sheet.errors))
            self.sheets.append(Sheet(sheet.name, sheet.hidden, _known(findings)))
        return self

    def _check(self, parts: dict[str, str]) -> dict[str, Future[Checked]]:
        """Sheets whose extent may be harmful are refused here; the rest of the search goes on
        beside calamine."""
        if self.format == "xlsb":
            return {
                sheet: self._pool.submit(search_xlsb, self.path, sheet, part)
                for sheet, part in parts.items()
            }
        formats, checked, large = (
            formats_of(self.path),
            dict[str, Future[Checked]](),
            dict[str, str](),
        )
        for sheet, part in parts.items():
            if is_small(self.path, sheet, part):
                checked[sheet] = _known(search_xml(self.path, sheet, part, formats))
            else:
                large[sheet] = part
        checked |= self._copy(large, formats) if large else {}
        for sheet in large.keys() - checked.keys():
            checked[sheet] = self._pool.submit(search_xml, self.path, sheet, large[sheet], formats)
        return checked

    def _copy(self, large: dict[str, str], formats: Formats) -> dict[str, Future[Checked]]:
        """Where a copy can be made that costs calamine less, have it read that; what is found while
        large sheets are copied."""
        searches = {
            part: SheetSearch(self.path, sheet, formats, whole=False)
            for sheet, part in large.items()
        }
        self._folder = TemporaryDirectory(prefix="plain-")
        target = Path(self._folder.name) / self.path.name
        moved = copy_plain(self.path, target, searches)
        if moved is None:
            self._folder.cleanup()
            return {}
        self._read_from = target
        checked = {sheet: _known(searches[part].found()) for sheet, part in large.items()}
        self._merged = {
            sheet: searches[part].merges for sheet, part in large.items() if part in moved
        }
        return checked

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        if self._book is not None:
            self._book.close()
        if self._folder is not None:
            self._folder.cleanup()

    def extent(self, sheet: Sheet) -> tuple[int, int]:
        """Height and width from the first cell to the last."""
        if self._book is None:
            grid = self._fallback[sheet.name]
            return len(grid), max(map(len, grid), default=0)
        raw_sheet = self._sheet(sheet)
        return raw_sheet.height, raw_sheet.width

    def iterate(self, sheet: Sheet) -> Iterator[list[Any]]:
        """Rows from row 1, from column A; calamine leaves out empty columns at the left, but not
        empty rows above."""
        if self._book is None:
            yield from self._fallback[sheet.name]
            return
        raw_sheet = self._sheet(sheet)
        left = [""] * (raw_sheet.start[1] if raw_sheet.start else 0)
        yield from (left + row for row in raw_sheet.iter_rows()) if left else raw_sheet.iter_rows()

    def rows(self, sheet: Sheet) -> list[list[Any]]:
        """All rows at once."""
        if (
            self._book is None
            or (raw_sheet := self._sheet(sheet)).start is None
            or raw_sheet.start[1]
        ):
            return list(self.iterate(sheet))
        return SheetGrid(raw_sheet.iter_rows())

    def merges(self, sheet: Sheet) -> Sequence[Merge]:
        """Merged cells of a sheet."""
        if sheet.name in self._merged:
            return self._merged[sheet.name]
        if self._book is None or self.format not in ("xlsx", "xls"):
            return ()
        return self._sheet(sheet).merged_cell_ranges or ()

    def _sheet(self, sheet: Sheet) -> CalamineSheet:
        """The parsed sheet; the last one is kept, as it is asked for its rows and then for its
        merged cells."""
        book = self._book
        if self._last is None or self._last.name != sheet.name:
            self._last = None  # two large sheets need not be held at a time
            self._last = _guarded(lambda: book.get_sheet_by_name(sheet.name) if book else None)
        assert self._last is not None
        return self._last


def _known(findings: Checked) -> Future[Checked]:
    future: Future[Checked] = Future()
    future.set_result(findings)
    return future


def _format(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(4_096)
    if head.startswith(b"\xd0\xcf\x11\xe0") or head[:2] == b"\x09\x08":
        return "xls"
    if is_spreadsheetml(head):
        return "xml"
    if not head.startswith(b"PK"):
        what = "is empty" if not head else "is no spreadsheet"
        raise UnreadableFileError(
            f"This file {what}.", "Open it in a spreadsheet program and save it as .xlsx."
        )
    try:
        with ZipFile(path) as archive:
            names = set(archive.namelist())
    except BROKEN_ZIP as e:
        raise damaged() from e
    if "content.xml" in names:
        return "ods"
    return "xlsb" if "xl/workbook.bin" in names else "xlsx"


def _open(path: Path) -> CalamineWorkbook:
    from python_calamine import CalamineWorkbook

    book: CalamineWorkbook = _guarded(lambda: CalamineWorkbook.from_path(path))
    return book


def _guarded(call: Any) -> Any:
    """Calamine's errors as ours. A panic in its Rust code is a BaseException of a class that cannot
    be imported."""
    from python_calamine import CalamineError, PasswordError

    try:
        return call()
    except PasswordError as e:
        raise EncryptedFileError(
            "This workbook is protected by a password.",
            "Save a copy without it, and add that copy.",
        ) from e
    except (CalamineError, OSError, ValueError) as e:
        raise damaged() from e
    except BaseException as e:
        if type(e).__name__ != "PanicException":
            raise
        raise damaged() from e


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
            rows = [
                ["" if c is None else c for c in row] for row in sheet.iter_rows(values_only=True)
            ]
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
        raise damaged() from e
    return sheets, hidden
