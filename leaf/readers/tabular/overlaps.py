"""Rows that equal sums of rows which are not beside them, or which other sums hold as well: `55
years and over` below age groups, or a row that is the difference of two others. Nothing is left out
for this; such rows are named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from math import log2
from typing import TYPE_CHECKING

from leaf.readers.tabular.spans import Level, SumSpan, TableNumbers

if TYPE_CHECKING:
    from leaf.readers.tabular.spans import Bools, Floats, Ints

MOST_ROWS = 500
"""All pairs of rows are looked at."""
_HELD = 2_000
"""Sums that fit in two columns, held against all columns."""


def overlapping(
    numbers: TableNumbers, rows: Ints, known: Set[int], is_rest: Callable[[int], bool]
) -> dict[int, SumSpan]:
    """Row -> its sum; `known` rows are explained already, `is_rest` says whether a row is called
    what is left of another."""
    if not 4 <= len(rows) <= MOST_ROWS:
        return {}
    least = 3 * log2(len(rows)) + 8
    by_row: dict[int, SumSpan] = {}
    level = Level(numbers, rows, _none(numbers))
    telling = _telling(level)
    if len(telling) < 2:
        return {}
    for at, first, last in _ranges(level, telling):
        row = int(rows[at])
        if row not in known and row not in by_row and last - first > 1:
            span = level.span(at, first, last)
            if span and _holds(span, least):
                by_row[row] = span
    for at, one, other in _pairs(level, telling):
        _add_pair(numbers, rows[[one, other, at]], by_row, known, is_rest, least)
    return by_row


def _holds(span: SumSpan, least: float) -> bool:
    against = len(span.off) + span.inside
    return (
        len(span.agree) > 1
        and span.bits >= least + (2 * least if against else 0)
        and 2 * against <= len(span.agree)
    )


def _add_pair(
    numbers: TableNumbers,
    three: Ints,
    by_row: dict[int, SumSpan],
    known: Set[int],
    is_rest: Callable[[int], bool],
    least: float,
) -> None:
    """Of a row that is the sum of two others: the row, or the last of the three where it is what is
    left of the first two."""
    total = int(three[2])
    parts = sorted(map(int, three[:2]))
    named = [row for row in parts if is_rest(row)] or [
        total if total < parts[0] or total > parts[1] else parts[1]
    ]
    if all(row in known or row in by_row for row in named):
        return
    span = Level(numbers, three, _none(numbers)).span(2, 0, 2)
    if span and _holds(span, least):
        by_row.update({row: span for row in named if row not in known and row not in by_row})


def _none(numbers: TableNumbers) -> Bools:
    import numpy as np

    return np.zeros(len(numbers.values), dtype=bool)


def _telling(level: Level) -> list[int]:
    """Two columns by which sums are looked up: those whose numbers say the most."""
    import numpy as np

    numbers = level.numbers
    weight = numbers.bits * (numbers.filled[level.rows] != 0).mean(axis=0) * numbers.additive
    return [int(c) for c in np.argsort(-weight, kind="stable")[:2] if weight[c] >= 4]


def _ranges(level: Level, telling: list[int]) -> Iterator[tuple[int, int, int]]:
    """Place, and the half-open range of places that sums up to it in both columns."""
    import numpy as np

    n = len(level.rows)
    values, sums, slack = _columns(level, telling)
    order = np.argsort(sums[:, 0], kind="stable")
    ordered = sums[order, 0]
    held = 0
    for at in np.flatnonzero((values != 0).all(axis=1)).tolist():
        targets = sums[:, 0] + values[at, 0]
        low, high = (
            np.searchsorted(ordered, targets - slack[0]),
            np.searchsorted(ordered, targets + slack[0], side="right"),
        )
        for start in np.flatnonzero(high > low).tolist():
            ends = order[low[start] : min(high[start], low[start] + 8)]
            ends = ends[(ends > start + 1) & ((ends <= at) | (start > at))]
            ends = ends[np.abs(sums[ends, 1] - sums[start, 1] - values[at, 1]) <= slack[1] * 2]
            for end in ends.tolist():
                if end - start < n - 1 and held < _HELD:
                    held += 1
                    yield at, start, end


def _pairs(level: Level, telling: list[int]) -> Iterator[tuple[int, int, int]]:
    """Place, and two other places that it is the sum of in both columns."""
    import numpy as np

    values, _, slack = _columns(level, telling)
    order = np.argsort(values[:, 0], kind="stable")
    ordered = values[order, 0]
    counts: Bools = np.asarray(
        (np.abs(values) > 20 * slack).all(axis=1)
    )  # what is lost in rounding is no part
    held = 0
    for at in np.flatnonzero((values != 0).all(axis=1)).tolist():
        targets = values[at, 0] - values[:, 0]
        low, high = (
            np.searchsorted(ordered, targets - slack[0]),
            np.searchsorted(ordered, targets + slack[0], side="right"),
        )
        for one in np.flatnonzero(high > low).tolist():
            others = order[low[one] : min(high[one], low[one] + 8)]
            others = others[(others > one) & (others != at) & counts[others]]
            others = others[np.abs(values[one, 1] + values[others, 1] - values[at, 1]) <= slack[1]]
            for other in others.tolist():
                if one != at and counts[one] and held < _HELD:
                    held += 1
                    yield at, one, other


def _columns(level: Level, telling: list[int]) -> tuple[Floats, Floats, Floats]:
    """Of the two columns: values, their cumulative sums, and how far a sum of rounded numbers may
    be off."""
    import numpy as np

    numbers = level.numbers
    values = numbers.filled[level.rows][:, telling]
    steps = np.asarray(numbers.steps)[telling]
    return (
        values,
        level.sums[:, telling],
        1.6 * steps + 1e-9 * np.maximum(1.0, np.abs(values).max(axis=0)),
    )
