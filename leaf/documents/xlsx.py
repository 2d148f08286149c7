"""CSV to XLSX with types, by openpyxl. Runs in the confined child."""

from __future__ import annotations

import math
import re
from datetime import date, datetime
from pathlib import Path
from typing import Any

from leaf.documents.naming import csv_rows
from leaf.errors import InvalidInputError
from leaf.shapes.excel import CELL, cell_text, sheet_name

MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384
WIDEST = 60
_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,14})\Z")
_CODE = re.compile(r"0\d+|\d{16,}")
"""A number that says which, not how many: as a figure it would lose digits."""
_DECIMAL = re.compile(r"-?(?:0|[1-9]\d*)\.\d+(?:[eE][+-]?\d+)?\Z")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\Z")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(?::\d{2})?\Z")


def write(text: str, title: str, target: Path) -> list[str]:
    """One sheet with a fixed bold header. Figures and ISO dates are typed; codes, as numbers with
    leading zeros are, stay text, and so do the others of their column. What could not be taken over
    is said in a sheet of its own, and returned."""
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    rows = csv_rows(text)
    if len(rows) > MOST_ROWS or max(map(len, rows)) > MOST_COLUMNS:
        raise InvalidInputError(
            f"Excel takes {MOST_ROWS:,} rows and {MOST_COLUMNS:,} columns.", "Download it as CSV."
        )
    book = Workbook(write_only=True)
    sheet = book.create_sheet(sheet_name(title))
    sheet.freeze_panes = "A2"
    for i, width in enumerate(_widths(rows), 1):
        sheet.column_dimensions[get_column_letter(i)].width = width
    cut = 0
    codes = _columns_of_codes(rows)
    for number, row in enumerate(rows):
        cells = []
        for column, value in enumerate(row):
            coded = column in codes and value.isdecimal()
            typed = value if number == 0 or coded else convert(value)
            cell = WriteOnlyCell(sheet)
            if isinstance(typed, str):
                cell.value, too_long = cell_text(typed)
                cut += too_long
                cell.data_type = "s"  # never a formula, whatever it begins with
            else:
                cell.value = typed
            if number == 0:
                cell.font = Font(bold=True)
            cells.append(cell)
        sheet.append(cells)
    how_many = f"{cut:,} cells are" if cut > 1 else "1 cell is"
    notes = [f"{how_many} longer than Excel takes, and cut at {CELL:,} characters."] if cut else []
    if notes:
        book.create_sheet("Notes").append(notes)
    book.save(target)
    return notes


def _columns_of_codes(rows: list[list[str]]) -> set[int]:
    """Columns with a code: a spreadsheet finds and sorts `80331` beside `01067` only where both are
    of one type."""
    return {i for row in rows[1:] for i, value in enumerate(row) if _CODE.fullmatch(value)}


def convert(value: str) -> Any:
    """A cell with its type: integer, decimal, date, moment, truth, nothing, or text."""
    if not value:
        return None
    if _INTEGER.match(value) and value != "-0":
        return int(value)
    if _DECIMAL.match(value) and len(value.rstrip("0")) <= 17 and math.isfinite(float(value)):
        return float(value)
    if value in ("true", "false", "TRUE", "FALSE"):
        return value.lower() == "true"
    try:
        if _DATE.match(value) and value >= "1900-03-01":
            return date.fromisoformat(value)
        if _MOMENT.match(value) and value >= "1900-03-01":
            return datetime.fromisoformat(value)
    except ValueError:
        return value
    return value


def _widths(rows: list[list[str]]) -> list[int]:
    widths = [8] * len(rows[0])
    for row in rows[:200]:
        for i, value in enumerate(row[: len(widths)]):
            widths[i] = max(widths[i], min(WIDEST, len(value) + 2))
    return widths
