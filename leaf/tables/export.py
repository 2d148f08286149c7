"""A result as an Excel file, as a function for the confined child: values with their types, and
where they come from."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leaf.errors import InvalidInputError
from leaf.shapes.excel import CELL, cell_text
from leaf.tables.connection import connect, create_views

if TYPE_CHECKING:
    import duckdb

Json = dict[str, Any]

MOST_ROWS, MOST_COLUMNS = 1_048_575, 16_384
"""Excel's limits; a row less for the header."""
EXACT = 10**15
"""Whole numbers from here on would lose digits in Excel and are written as text."""
FIRST_DAY = date(1900, 3, 1)
"""Before this day Excel counts one day that there was not."""
NARROWEST, WIDEST = 8, 60
MEASURED = 200
"""Rows whose cells a column's width is taken from."""
BATCH = 8_192
SECONDS = 600
_NESTED = re.compile(r"(STRUCT|MAP)\(|.*\]$", re.DOTALL)
"""Types of lists and records."""


def xlsx(parquet: str, about: Json, out: str, memory_mb: int) -> None:
    """Write a Parquet file as `out`/export.xlsx: sheet Result with a fixed bold header, sheet Query
    with what it rests on.

    `about`: {"query", "rows", "created", "seconds", "sources": [{"table", "file", "place", "rows",
    "sha256"}], "remarks": [(sort, text)]}. Raises InvalidInputError where Excel has no room for
    it.
    """
    from openpyxl import Workbook
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    with connect([parquet], SECONDS, memory_mb) as con:
        create_views(con, {"t": parquet})
        relation = con.sql("FROM t")
        columns, total = relation.columns, len(relation)
        if total > MOST_ROWS:
            raise InvalidInputError(
                f"Excel takes {MOST_ROWS:,} rows in a sheet, and this result has {total:,}.",
                "Download it as CSV or Parquet.",
            )
        if len(columns) > MOST_COLUMNS:
            raise InvalidInputError(
                f"Excel takes {MOST_COLUMNS:,} columns, and this result has {len(columns):,}.",
                "Download it as CSV or Parquet.",
            )
        book = Workbook(write_only=True)
        sheet = book.create_sheet("Result")
        sheet.freeze_panes = "A2"
        if columns and total:
            sheet.auto_filter.ref = f"A1:{get_column_letter(len(columns))}{total + 1}"
        write = _SheetWriter(sheet)
        bold = Font(bold=True)
        rows = _rows(relation)
        first = [row for _, row in zip(range(MEASURED), rows, strict=False)]
        for number, width in enumerate(_widths(columns, first), 1):
            sheet.column_dimensions[get_column_letter(number)].width = width
        write.row(columns, bold)
        for row in first:
            write.row(row)
        for row in rows:
            write.row(row)
    _write_about(book, about, write, bold)
    book.save(Path(out) / "export.xlsx")


def _write_about(book: Any, about: Json, written: _SheetWriter, bold: Any) -> None:
    sheet = book.create_sheet("Query")
    for letter, width in zip("ABCDE", (14, 48, 30, 12, 68), strict=True):
        sheet.column_dimensions[letter].width = width
    write = _SheetWriter(sheet)
    query = str(about.get("query") or "")
    for label, value in (
        ("Query, edited by a person" if about.get("edited") else "Query", query),
        ("Rows", about.get("rows")),
        ("Computed", about.get("created")),
        ("Seconds", about.get("seconds")),
    ):
        write.row([label, value])
    for sort, text in about.get("remarks") or ():
        write.row([sort, text])
    if write.cut:
        write.row(
            ["Note", f"The query has {len(query):,} characters; the first {CELL:,} are here."]
        )
    if written.cut:
        write.row(
            [
                "Note",
                f"{written.cut:,} cells were longer than the {CELL:,} characters that Excel "
                f"takes, and were cut.",
            ]
        )
    if written.as_text:
        write.row(
            [
                "Note",
                f"{written.as_text:,} numbers have more digits than Excel keeps, and were "
                f"written as text.",
            ]
        )
    sources: Sequence[Json] = about.get("sources") or ()
    write.row([])
    write.row(["Table", "File", "Place", "Rows", "SHA-256"], bold)
    for source in sources:
        write.row([source.get(key) for key in ("table", "file", "place", "rows", "sha256")])


class _SheetWriter:
    """Appends rows to a sheet, and counts what Excel could not take as it was."""

    def __init__(self, sheet: Any) -> None:
        self.cut = 0
        self.as_text = 0
        self._sheet = sheet

    def row(self, values: Sequence[Any], font: Any = None) -> None:
        self._sheet.append([self._cell(value, font) for value in values])

    def _cell(self, value: Any, font: Any) -> Any:
        """What openpyxl is given: a number, a date or a truth as it is; text as a cell that can
        never become a formula."""
        typed = self._typed(value)
        if not isinstance(typed, str) and font is None:
            return typed
        from openpyxl.cell import WriteOnlyCell

        cell = WriteOnlyCell(self._sheet)
        if isinstance(typed, str):
            cell.value = typed
            cell.data_type = "s"
        else:
            cell.value = typed
        if font is not None:
            cell.font = font
        return cell

    def _typed(self, value: Any) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            return value if abs(value) < EXACT else self._text(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else None if math.isnan(value) else str(value)
        if isinstance(value, Decimal):
            return value if _digits(value) <= 15 else self._text(value)
        if isinstance(value, datetime):
            return (
                value
                if value.tzinfo is None and value.date() >= FIRST_DAY
                else value.isoformat(" ")
            )
        if isinstance(value, date):
            return value if value >= FIRST_DAY else value.isoformat()
        if isinstance(value, time):
            return value if value.tzinfo is None else value.isoformat()
        if isinstance(value, bytes):
            return f"<{len(value)} bytes>"
        text, cut = cell_text(str(value))
        self.cut += cut
        return text

    def _text(self, value: Any) -> str:
        self.as_text += 1
        return str(value)


def _digits(value: Decimal) -> int:
    """How many it has that say something: a DECIMAL(38, 18) fills its fraction up with zeros."""
    _, digits, exponent = value.as_tuple()
    text = "".join(map(str, digits))
    whole = max(0, len(text) + int(exponent))
    return whole + len(text[whole:].rstrip("0"))


def _rows(relation: duckdb.DuckDBPyRelation) -> Iterator[list[Any]]:
    """Rows of a result, a batch in memory at a time. Lists and records are text, as they are in
    CSV."""
    from leaf.tables.values import values

    is_nested = [_NESTED.match(str(kind)) is not None for kind in relation.types]
    taken = ", ".join(
        f"CAST(#{i} AS VARCHAR) AS c{i}" if nested else f"#{i} AS c{i}"
        for i, nested in enumerate(is_nested, 1)
    )
    for batch in relation.project(taken).to_arrow_reader(BATCH):
        columns = [values(column) for column in batch.columns]
        yield from map(list, zip(*columns, strict=True))


def _widths(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[int]:
    """In characters, by the header and the first rows."""
    widths = [min(WIDEST, max(NARROWEST, len(name) + 4)) for name in columns]
    for row in rows:
        for i, value in enumerate(row):
            if value is not None:
                widths[i] = max(
                    widths[i],
                    min(WIDEST, max(map(len, str(value)[:2_000].splitlines() or [""])) + 2),
                )
    return widths
