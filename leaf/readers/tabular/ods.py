"""What calamine does not tell of an ODS: error cells, formulas that are sums, hidden rows and
columns, percent, currencies.

All of it is found while its content is checked for being whole: calamine waits without end for the
end of an element that never ends.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat
from zipfile import ZipFile

from leaf.readers.base import Note
from leaf.readers.packed import BROKEN_ZIP
from leaf.readers.tabular.cells import column_letter, is_year_name
from leaf.readers.tabular.formulas import MOST, Sums, parse
from leaf.readers.tabular.hidden import (
    PERCENT,
    PLAIN,
    SOME_CURRENCY,
    Shown,
    hidden_columns,
    hidden_rows,
    shown_notes,
    sign_of,
)
from leaf.readers.tabular.sheet_parts import Checked, damaged

_MOST, _MOST_ROWS = 16_384, 1_048_576
"""Columns and rows of a sheet; a file may say that more are repeated."""
_HIDDEN = {"collapse": "hidden-rows", "filter": "filtered-rows"}


@dataclass
class _OdsSheet:
    """What is found of one sheet."""

    hidden: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    """Runs of rows, 1-based, by the kind of their note."""
    columns: list[tuple[int, int]] = field(default_factory=list)
    shown: Shown = field(default_factory=lambda: defaultdict(Counter))
    sums: Sums = field(default_factory=dict)
    width: int = 0
    """Columns declared so far."""
    bottom: int = 0
    """The last row that holds a value."""
    right: int = 0

    def notes(self, name: str) -> list[Note]:
        row_notes = []
        for kind, runs in self.hidden.items():
            last = min(self.bottom, _MOST_ROWS)
            rows = [n for a, b in runs for n in range(a, min(b, last) + 1)]
            row_notes += hidden_rows(kind, rows)
        inside = [(a, min(b, self.right)) for a, b in self.columns if a <= self.right]
        return [*row_notes, *hidden_columns(name, inside), *shown_notes(name, self.shown)]


class _Content:
    """Takes the elements of an ODS as they begin."""

    def __init__(self) -> None:
        self.sheets: dict[str, _OdsSheet] = {}
        self.errors = 0
        self._sheet = _OdsSheet()
        self._row, self._next_row, self._column = 1, 1, 0

    def begin(self, name: str, given: dict[str, str]) -> None:
        """The next element."""
        if name in ("table:table-cell", "table:covered-table-cell"):
            self._cell(given)
        elif name == "table:table-row":
            count = _count(given, "table:number-rows-repeated")
            self._row, self._next_row, self._column = self._next_row, self._next_row + count, 0
            if kind := _HIDDEN.get(given.get("table:visibility", "")):
                self._sheet.hidden[kind].append((self._row, self._next_row - 1))
        elif name == "table:table-column":
            first = self._sheet.width + 1
            self._sheet.width += _count(given, "table:number-columns-repeated")
            if given.get("table:visibility") in _HIDDEN:
                self._sheet.columns.append((first, self._sheet.width))
        elif name == "table:table":
            self._sheet = self.sheets.setdefault(given.get("table:name", ""), _OdsSheet())
            self._next_row = 1

    def _cell(self, attributes: dict[str, str]) -> None:
        first, count = self._column, _count(attributes, "table:number-columns-repeated")
        self._column += count
        kind = attributes.get("office:value-type")
        if kind is None:
            return
        sheet = self._sheet
        sheet.bottom, sheet.right = self._next_row - 1, max(sheet.right, self._column)
        self.errors += attributes.get("calcext:value-type") == "error"
        formula = attributes.get("table:formula", "")
        if formula and count == self._next_row - self._row == 1 and len(sheet.sums) <= MOST:
            plain = formula.partition("=")[2].replace("[.", "").replace(":.", ":").replace("]", "")
            if (sum_formula := parse(plain, self._row, first)) is not None:
                sheet.sums.setdefault(self._row, []).append(sum_formula)
        how = _shown(kind, attributes)
        for column in range(first, min(first + count, _MOST)) if how is not None else ():
            of_column = sheet.shown[column_letter(column)]
            if of_column or how or not is_year_name(attributes.get("office:value", "")):
                of_column[how or PLAIN] += self._next_row - self._row  # a year above is a name


def _shown(kind: str, attributes: dict[str, str]) -> str | None:
    """How a cell shows its number; None where it holds none."""
    if kind == "currency":
        code = attributes.get("office:currency", "")
        return sign_of(code) or code or SOME_CURRENCY
    return {"percentage": PERCENT, "float": PLAIN}.get(kind)


def _count(attributes: dict[str, str], name: str) -> int:
    digits = attributes.get(name, "1")
    return max(1, int(digits)) if digits.isdecimal() and len(digits) < 8 else 1


def search_ods(path: Path) -> dict[str, Checked]:
    """What is found, by sheet. Raises UnreadableFileError where the content is no whole XML."""
    content, parser = _Content(), expat.ParserCreate()
    parser.StartElementHandler = content.begin
    try:
        with ZipFile(path) as archive, archive.open("content.xml") as file:
            parser.ParseFile(file)
    except (expat.ExpatError, *BROKEN_ZIP) as e:
        raise damaged() from e
    notes = {name: sheet.notes(name) for name, sheet in content.sheets.items()}
    if notes and content.errors:
        text = f"{content.errors:,} cells of the workbook hold an error."
        notes[next(iter(notes))].insert(0, Note("error-cells", text, content.errors))
    return {name: Checked(notes[name], sheet.sums) for name, sheet in content.sheets.items()}
