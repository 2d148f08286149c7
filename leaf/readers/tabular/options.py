"""A second row of names, as survey programs write it: options of questions below names that are blank
for all but the first option of each.

Its words may stand among the values below, as an option that was chosen repeats its own text; they
are the only value of their column then.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from leaf.readers.tabular.cells import is_empty, kind_of
from leaf.readers.tabular.grid import SAMPLE, GridView

RECORD = re.compile(r"\{\s*\"\w+\".*\}", re.DOTALL)
"""`{"ImportId":"QID1"}`: what survey programs write below the names."""
_DEEPEST = 4
"""Rows down to that of such records."""


def row_of_records(view: GridView, rows: Sequence[int], columns: Sequence[int]) -> int:
    """Position of the row that holds nothing but records of what the columns are, below their names; 0
    without one, or where the next row is of that kind too."""
    for at in range(1, min(_DEEPEST, len(rows) - 1)):
        if _are_records(view, rows[at], columns):
            return 0 if _are_records(view, rows[at + 1], columns) else at
    return 0


def _are_records(view: GridView, row: int, columns: Sequence[int]) -> bool:
    cells = [str(cell) for c in columns if not is_empty(cell := view.cell(row, c))]
    return len(cells) > 1 and all(RECORD.fullmatch(cell.strip()) for cell in cells)


def names_options(
    view: GridView, upper: int, row: int, below: Sequence[int], columns: Sequence[int]
) -> bool:
    """Whether a row has words for all gaps of the row of names above it, and nothing in a column where
    each row of data has a number or a date. In another of those it may say what is answered there."""
    gaps = [c for c in columns if is_empty(view.cell(upper, c))]
    cells = {c: str(cell).strip() for c in columns if not is_empty(cell := view.cell(row, c))}
    if not gaps or gaps[0] == columns[0] or not all(c in cells for c in gaps):
        return False
    if any(kind_of(view.cell(row, c)) != "t" for c in cells):
        return False
    questions = {c - 1 for c in gaps} - {*gaps}
    if not all(c in cells for c in questions):
        return False
    rows = below[:SAMPLE]
    needed = [c for c in columns if _is_needed(view, rows, c)]
    if all(c in cells for c in needed):
        return False
    options = {*gaps, *questions}
    return all(_may_name(view, rows, c, text, c in options) for c, text in cells.items())


def _is_needed(view: GridView, rows: Sequence[int], column: int) -> bool:
    """Whether each of some rows, three at least, has a number or a date in a column."""
    return len(rows) > 2 and all(kind_of(view.cell(i, column)) in "nyd" for i in rows)


def _may_name(view: GridView, rows: Sequence[int], column: int, text: str, option: bool) -> bool:
    """Whether a word is no value of its column, or an option and its only one."""
    values = {str(cell).strip() for i in rows if not is_empty(cell := view.cell(i, column))}
    return text not in values or (option and len(values) == 1)
