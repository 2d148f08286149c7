"""Cells of a workbook that add up others of their own column, as their formulas say: `SUM(B2:B41)`,
`SUBTOTAL(9,B2:B41)`, `B5+B9`.

Such a cell makes its row a total, whatever it is called. Formulas that add up across, or of another
column or sheet, say nothing of their row and are none of these.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leaf.readers.tabular.cells import column_number
from leaf.readers.tabular.spans import MOST_BITS, SumSpan

if TYPE_CHECKING:
    from leaf.readers.tabular.spans import Floats, Ints

MOST = 20_000
"""Of a sheet. One with more is no table that has totals."""


@dataclass(frozen=True)
class SumFormula:
    """A cell that is the sum of others of its column."""

    column: int
    """Of the sheet, 0 for A."""
    spans: tuple[tuple[int, int], ...]
    """First and last row of each run of cells, 1-based and inclusive; none where it is the whole
    column of a named table."""
    skips: bool = False
    """Whether it leaves out cells that are such sums themselves, as SUBTOTAL does."""


Sums = dict[int, list[SumFormula]]
"""By row of the sheet, 1-based."""


@dataclass(frozen=True)
class RowSum:
    """The same within a table: positions of its rows."""

    column: int
    """Of the table."""
    parts: tuple[int, ...] | range
    skips: bool


_SUM = (
    rb"\b[^<>]*>\s*((?:SUM|SUBTOTAL|(?:_xlfn\.)?AGGREGATE)\([^<()]{2,400}\)"
    rb"|\+?\$?[A-Z]{1,3}\$?\d+(?:\+\$?[A-Z]{1,3}\$?\d+){1,100})\s*</"
)
"""The rest of an element of a formula that may be one."""
_ADDRESS = re.compile(rb"<(?:\w+:)?c\b[^<>]*?\br=[\"']([A-Z]{1,3})(\d{1,7})[\"']")
_MOST_ADDED = 30_000_000
"""Cells that all sums of a table add up; those of more are not looked at."""
_TAG_BYTES = 1_000
"""Before a formula, where its cell begins."""
_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})(?::\$?([A-Z]{1,3})\$?(\d{1,7}))?")
_TABLE_COLUMN = re.compile(r"\w*\[[^\[\]@#]+\]")
_CALL = re.compile(r"(?:_xlfn\.)?(SUM|SUBTOTAL|AGGREGATE)\((.*)\)")
_ADDS = {"SUBTOTAL": ("9", "109"), "AGGREGATE": ("9",)}
"""What the first argument must be for it to be a sum."""


def in_xml(data: bytes, prefix: bytes) -> Iterator[tuple[int, SumFormula]]:
    """Row and formula of each such cell in a piece of the XML of a sheet, whose elements begin with
    this prefix: `<` or `<x:`."""
    for formula in _element(prefix + b"f").finditer(data):
        near = max(0, formula.start() - _TAG_BYTES)
        cell = _ADDRESS.match(data, max(near, data.rfind(prefix + b"c ", near, formula.start())))
        if cell is not None:
            row, column = int(cell[2]), column_number(cell[1]) - 1
            if (
                sum_formula := parse(formula[1].decode("utf-8", "replace"), row, column)
            ) is not None:
                yield row, sum_formula


@functools.lru_cache(maxsize=8)
def _element(begin: bytes) -> re.Pattern[bytes]:
    """A literal beginning is looked for several times as fast as one of any prefix."""
    return re.compile(re.escape(begin) + _SUM)


def parse(text: str, row: int, column: int) -> SumFormula | None:
    """What a formula without its `=` adds up, in a cell of a row (1-based) and a column (0 for
    A)."""
    call = _CALL.fullmatch(text)
    if call is None:
        return _spans(text.lstrip("+").split("+"), row, column)
    name, arguments = call[1], [part.strip() for part in re.split("[,;+]", call[2])]
    if name in _ADDS:
        if arguments[0] not in _ADDS[name]:
            return None
        arguments = arguments[1 if name == "SUBTOTAL" else 2 :]
    skips = name != "SUM"
    if len(arguments) == 1 and _TABLE_COLUMN.fullmatch(arguments[0]):
        return SumFormula(column, (), skips)
    return _spans(arguments, row, column, skips)


def _spans(
    references: Sequence[str], row: int, column: int, skips: bool = False
) -> SumFormula | None:
    spans = []
    for reference in references:
        match = _REFERENCE.fullmatch(reference.strip())
        if match is None or any(
            letters and column_number(letters.encode()) != column + 1
            for letters in (match[1], match[3])
        ):
            return None
        spans.append((int(match[2]), int(match[4] or match[2])))
    return of_spans(spans, row, column, skips)


def of_spans(
    spans: Sequence[tuple[int, int]], row: int, column: int, skips: bool = False
) -> SumFormula | None:
    """A sum of runs of rows; None where it is of one cell, or of its own, which is no total."""
    count = sum(last - first + 1 for first, last in spans)
    if count < 2 or any(first <= row <= last for first, last in spans):
        return None
    return SumFormula(column, tuple(spans), skips)


def within(sums: Sums, body: Sequence[int], columns: Sequence[int]) -> dict[int, list[RowSum]]:
    """Sums of a sheet that are rows of a table and add up rows of it, by position. `body` are the
    0-based rows of the sheet that the table's rows stand in, ascending, `columns` those of its
    columns."""
    if not sums or len(sums) > MOST:
        return {}
    place = {column: index for index, column in enumerate(columns)}
    row_sums: dict[int, list[RowSum]] = {}
    for row, formulas in sums.items():
        at = bisect_left(body, row - 1)
        if at == len(body) or body[at] != row - 1:
            continue
        for formula in formulas:
            parts = _positions(formula, body) if formula.spans else range(at)
            if formula.column in place and len(parts) > 1:
                one = RowSum(place[formula.column], parts, formula.skips)
                row_sums.setdefault(at, []).append(one)
    return row_sums


def _positions(formula: SumFormula, body: Sequence[int]) -> tuple[int, ...] | range:
    """Of the rows that it adds up; none where some stand outside of the table."""
    runs = []
    for first, last in formula.spans:
        run = range(bisect_left(body, first - 1), bisect_right(body, last - 1))
        if not run:
            return ()
        runs.append(run)
    return runs[0] if len(runs) == 1 else tuple(p for run in runs for p in run)


def confirmed(
    sums: Mapping[int, Sequence[RowSum]], values: Floats, columns: Sequence[int]
) -> dict[int, SumSpan]:
    """Rows whose numbers are what their formulas say of these `values`, rows × `columns` of the
    table, NaN where a cell is empty.

    A number that was not calculated anew since its cells were changed, or of cells that a filter
    hides, proves nothing.
    """
    import numpy as np

    place = {column: c for c, column in enumerate(columns)}
    skipped: dict[int, list[int]] = {}
    for row, row_sums in sums.items():
        for one in row_sums:
            if one.skips:
                skipped.setdefault(one.column, []).append(row)
    spans: dict[int, SumSpan] = {}
    added = 0
    for row, formulas in sums.items():
        agree: list[int] = []
        parts: Ints | tuple[int, ...] = ()
        for one in formulas:
            c = place.get(one.column)
            if c is None or not np.nan_to_num(values[row, c]):
                continue  # zeros are the sum of nothing as well
            added += len(one.parts)
            if added > _MOST_ADDED:
                return {}
            own = np.asarray(one.parts)
            if one.skips:
                own = own[~np.isin(own, skipped[one.column])]
            if np.isclose(values[row, c], np.nansum(values[own, c]), rtol=1e-9, atol=1e-6):
                agree.append(c)
                parts = max(parts, own, key=len)
        if len(parts) > 1:
            spans[row] = _span(row, np.sort(parts), agree)
    return spans


def _span(row: int, parts: Ints, agree: Sequence[int]) -> SumSpan:
    first, last = int(parts[0]), int(parts[-1])
    whole = last - first == len(parts) - 1
    rows = range(first, last + 1) if whole else tuple(map(int, parts))
    return SumSpan(
        *(row, min(row, first), max(row, last), rows, tuple(agree), (), 0, MOST_BITS),
        near=True,
        whole=False,
    )
