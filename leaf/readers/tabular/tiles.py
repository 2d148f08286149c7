"""Tables that sums tile: every row is the sum of rows next to it or belongs to exactly one such sum.

A single sum in one column of whole numbers may be chance, and is not looked for without a word. That
several of them leave no row over is none: quarters below their months, continents above their
countries, the subtotals of a pivot table that say nothing but a name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb, log2
from typing import TYPE_CHECKING

from leaf.readers.tabular.spans import Level, SumSpan, TableNumbers

if TYPE_CHECKING:
    from leaf.readers.tabular.spans import Floats, Ints

MOST_ROWS = 2_000
"""Each row is held against all groups of rows that end next to it."""


MOST_TRIED = 32
"""Groups with the right sum in one column that a row is held against in the others."""


@dataclass(frozen=True)
class Tiling:
    """Sums that hold all rows of a table."""

    spans: dict[int, SumSpan]
    """By row; parts stand before their sums."""
    whole: int
    """The row that sums all others, by way of their sums; -1 where there is none."""
    bits: float
    """Of all sums together, less those for how many tables might be tiled so."""


def tiling(numbers: TableNumbers, rows: Ints) -> Tiling | None:
    """Sums below their rows or above them, whichever say more."""
    import numpy as np

    additive = np.flatnonzero(numbers.additive & (numbers.bits > 0))
    if not 3 <= len(rows) <= MOST_ROWS or not len(additive):
        return None
    values = numbers.values[np.ix_(rows, additive)]
    if np.isnan(values).all(axis=1).any():
        return None
    columns = additive[np.unique(np.nan_to_num(values), axis=1, return_index=True)[1]]
    search = _Tiles(numbers, columns)
    tilings = [t for t in (search.tiled(rows), search.tiled(rows[::-1])) if t]
    return max(tilings, key=lambda t: t.bits, default=None)


class _Tiles:
    """One way through a table: sums take the rows before them off a stack."""

    def __init__(self, numbers: TableNumbers, columns: Ints) -> None:
        """`columns` are those that add up, without copies of others."""
        import numpy as np

        self.numbers, self.columns = numbers, columns
        self.values, self.filled = numbers.values[:, columns], numbers.filled[:, columns]
        self.bits = np.array([numbers.bits[c] - _coarser(numbers, int(c)) for c in columns])

    def tiled(self, rows: Ints) -> Tiling | None:
        """The sums in this order of rows, if they leave none over."""
        import numpy as np

        held, top = np.empty(len(rows), dtype=int), 0
        sums: dict[int, list[int]] = {}
        for row in rows.tolist():
            if count := self._count(row, held[:top]):
                sums[row] = held[top - count : top].tolist()
                top -= count
            held[top] = row
            top += 1
        stack = held[:top].tolist()
        left = [row for row in stack if row not in sums]
        if len(left) == 1 and left[0] in (stack[0], stack[-1]):
            # Totals of all stand on the other side than those of groups, as in pivot tables.
            rest = [row for row in stack if row != left[0]]
            if len(rest) > 1 and self._count(left[0], np.array(rest)) == len(rest):
                sums[left[0]], stack, left = rest, [left[0]], []
        if left or not sums:
            return None
        whole = stack[0] if len(stack) == 1 else -1
        spans = {
            row: span
            for row, parts in sums.items()
            if (span := self._span(row, parts, row == whole))
        }
        if len(spans) < len(sums):
            return None
        bits = sum(self._bits(row, parts) for row, parts in sums.items())
        chances = comb(len(rows) - 1, len(sums) - 1)
        return Tiling(spans, whole, bits - log2(chances) - len(sums) - 1)

    def _count(self, row: int, stack: Ints) -> int:
        """How many rows at the end of the stack a row sums; 0 for none."""
        import numpy as np

        if len(stack) < 2:
            return 0
        printed = self.values[row]
        has_value = ~np.isnan(printed)
        main = int(np.argmax(np.where(has_value, self.bits, -1)))
        nearest = stack[::-1]
        sums = np.cumsum(self.filled[nearest, main])  # of one column first: most rows end here
        slack = self.numbers.steps[self.columns[main]] * (1 + len(stack) ** 0.5)
        slack += 1e-9 * max(1.0, abs(float(printed[main])))
        for at in np.flatnonzero(np.abs(sums - printed[main]) <= slack)[:MOST_TRIED].tolist():
            above = self.filled[nearest[: at + 1]]
            several = (above != 0).sum(axis=0) > 1
            if (
                at
                and (several & has_value).any()
                and self._agree(printed, above.sum(axis=0), at + 1)
            ):
                return int(at) + 1
        return 0

    def _agree(self, printed: Floats, total: Floats, count: int) -> bool:
        import numpy as np

        row = np.full(len(self.numbers.steps), np.nan)
        whole = row.copy()
        row[self.columns], whole[self.columns] = printed, total
        close, _ = self.numbers.close(row, whole, count)
        return bool(close[self.columns][~np.isnan(printed)].all())

    def _bits(self, row: int, parts: Sequence[int]) -> float:
        """Of the columns in which the row is more than a copy of one part."""
        import numpy as np

        values = self.numbers.filled[list(parts)][:, self.columns]
        total = values.sum(axis=0)
        printed = self.numbers.values[row, self.columns]
        exact = np.abs(printed - total) <= 1e-9 * np.maximum(1.0, np.abs(total))
        loose = np.where(exact, 0.0, np.log2(2 + len(parts) ** 0.5))
        telling = ((values != 0).sum(axis=0) > 1) & ~np.isnan(printed) & (total != 0)
        return float(np.maximum(0.0, self.bits - loose)[telling].sum())

    def _span(self, row: int, parts: Sequence[int], whole: bool) -> SumSpan | None:
        """None for a sum that says nothing: of amounts that cancel each other out."""
        import numpy as np

        rows = np.array(sorted([*parts, row]), dtype=int)
        at = int(np.searchsorted(rows, row))
        first, last = (0, at) if at else (1, len(rows))
        level = Level(self.numbers, rows, np.zeros(len(self.numbers.values), dtype=bool))
        span = level.span(at, first, last)
        return replace(span, whole=whole) if span else None


def _coarser(numbers: TableNumbers, column: int) -> float:
    """Bits by which a column's numbers say less than their digits: those of 100, 250 and 300 are
    rounded to tens."""
    import numpy as np

    step = float(numbers.steps[column])
    values = numbers.values[:, column]
    values = values[~np.isnan(values) & (values != 0)]
    if not step or not len(values):
        return 0.0
    count, grain = np.round(np.abs(values) / step), 1
    while grain < 10**12 and (count % (10 * grain) == 0).mean() >= 0.9:
        grain *= 10
    middle = float(np.median(count))
    return float(np.log2(1 + middle) - np.log2(1 + middle / grain))
