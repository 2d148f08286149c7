"""Rows of numbers that equal the sum of rows beside them, and how unlikely each such sum is to be
chance.

The search goes by levels: rows that are the sum of those next to them are found, their parts are
taken away, and what is left is searched again, so that a total of subtotals is found as well as one
of rows. Cumulative sums make each level a few look-ups for each row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]
    Bools = np.ndarray[Any, np.dtype[np.bool_]]
    Ints = np.ndarray[Any, np.dtype[np.int64]]

MOST_BITS = 24.0
"""Of one column: as if it were one of 16 million values."""
_LOOKED_AT = 4
"""Sums of the same size that are looked at from each end."""


@dataclass(frozen=True)
class SumSpan:
    """A row and the rows that it sums, in positions of the table."""

    row: int
    first: int
    last: int
    parts: tuple[int, ...] | range
    """The rows that are added: what they sum themselves is not among them."""
    agree: tuple[int, ...]
    """Columns in which the row is their sum to the printed digits."""
    off: tuple[tuple[int, float, float], ...]
    """(column, printed, sum) where a printed number is neither the sum nor within the range of the
    parts."""
    inside: int
    """Columns whose number lies among the parts' and is not their sum: averages and rates, or a row
    of data."""
    bits: float
    """Minus the logarithm of the chance that a row of data agrees so."""
    near: bool
    """Whether the parts begin or end where a table, a group or another total does."""
    whole: bool
    """Whether the parts are all that is left of the table."""


class TableNumbers:
    """The numbers of a table with what is known of its columns."""

    def __init__(self, values: Floats, steps: Floats, rates: Bools) -> None:
        """`rates` are columns that do not add up by their names or values: percentages, prices,
        years, numbers of things."""
        import numpy as np

        self.values, self.steps = values, steps
        # One array for both where no cell is empty: long tables are held in memory here.
        self.filled = np.nan_to_num(values) if np.isnan(values.sum()) else values
        # One value in every row, a total's among them, is a unit or a scale.
        constant = np.array(
            [_is_constant(values[:, c]) for c in range(values.shape[1])], dtype=bool
        )
        self.additive = ~rates & ~constant

    @cached_property
    def bits(self) -> Floats:
        """By column, how much a number that fits to the last digit says."""
        import numpy as np

        by_column = np.zeros(self.values.shape[1])
        for c in range(self.values.shape[1]):
            column = np.abs(self.values[:, c])
            column = column[(column > 0) & ~np.isnan(column)]
            different = len(np.unique(column[:5_000]))
            if len(column) and different > 1:
                step = self.steps[c] or 1e-6 * float(np.median(column))
                by_column[c] = min(
                    MOST_BITS, np.log2(1 + float(np.median(column)) / step), 2 * different
                )
            elif len(column):
                by_column[c] = 1.0
        return by_column

    def close(self, printed: Any, total: Any, count: int) -> tuple[Any, Any]:
        """Whether numbers are sums of `count` numbers rounded to their column's step, and whether
        to the last digit."""
        import numpy as np

        gap = np.abs(printed - total)
        size = np.maximum(np.abs(printed), np.abs(total))
        exact = gap <= 1e-9 * np.maximum(1.0, size)
        # Whole numbers are rarely rounded ones, but for percentages: a count that is off by one in
        # a hundred is a mistake.
        rounded = (gap <= 0.51 * self.steps * max(1.0, min(count, 2 * count**0.5))) & (
            (self.steps < 1) | (gap <= 1e-3 * np.abs(printed)) | self.hundred(printed)
        )
        return exact | rounded, exact

    @staticmethod
    def hundred(printed: Any) -> bool:
        """Whether a row says 100 in two columns or more and nothing else: the whole that
        percentages are of."""
        import numpy as np

        values = printed[~np.isnan(printed)]
        return len(values) > 1 and bool((values == 100).all())


class Level:
    """What is left of a table at one level: rows with numbers, in order, and their cumulative
    sums."""

    def __init__(self, numbers: TableNumbers, rows: Ints, marked: Bools) -> None:
        """`marked` rows, by position in the table, end a block: totals, and rows without numbers
        stand between blocks as well."""
        import numpy as np

        self.numbers, self.rows = numbers, rows
        self.sums = np.zeros((len(rows) + 1, numbers.values.shape[1]), order="F")
        for c in range(numbers.values.shape[1]):  # a column at a time: long ones take memory
            np.cumsum(numbers.filled[self._rows_of(0, len(rows)), c], out=self.sums[1:, c])
        self._marked = np.flatnonzero(marked[rows])
        self._gaps = np.flatnonzero(np.diff(rows) > 1) + 1

    def _rows_of(self, first: int, last: int) -> Ints | slice:
        """The rows of a half-open range of places, by which columns are cut without a copy where
        they follow one another."""
        picked = self.rows[first:last]
        if len(picked) and picked[-1] - picked[0] == len(picked) - 1:
            return slice(int(picked[0]), int(picked[-1]) + 1)
        return picked

    def naturally(self, at: int) -> Iterator[tuple[int, int]]:
        """Parts, as half-open ranges of places, that end or begin at a table's edge or at the next
        total."""
        import numpy as np

        k = int(np.searchsorted(self._marked, at))
        before = int(self._marked[k - 1]) + 1 if k else 0
        after_at = k + (k < len(self._marked) and self._marked[k] == at)
        after = int(self._marked[after_at]) if after_at < len(self._marked) else len(self.rows)
        yield from dict.fromkeys([(before, at), (0, at), (at + 1, after), (at + 1, len(self.rows))])

    def looked_up(self, places: Ints) -> Iterator[tuple[int, int, int]]:
        """Place, and parts above or below it that give its number in one of the two most telling
        columns."""
        import numpy as np

        every = self._rows_of(0, len(self.rows))
        counts = [
            np.count_nonzero(self.numbers.filled[every, c])
            for c in range(self.numbers.values.shape[1])
        ]
        weight = self.numbers.bits * np.array(counts) / max(1, len(self.rows))
        weight = np.where(self.numbers.additive, weight, weight / 4)
        for c in np.argsort(-weight)[:2]:
            if weight[c] <= 0:
                continue
            sums = self.sums[:, c]
            order = np.argsort(sums, kind="stable")
            ordered = sums[order]
            values = self.numbers.filled[self.rows[places], c]
            some = places[values != 0]
            values = values[values != 0]
            slack = 1.6 * self.numbers.steps[c] + 1e-9 * np.maximum(1.0, np.abs(values))
            yield from self._matches(ordered, order, some, sums[some] - values, slack, above=True)
            targets = sums[some + 1] + values
            yield from self._matches(ordered, order, some, targets, slack, above=False)

    def _matches(
        self,
        ordered: Floats,
        order: Ints,
        places: Ints,
        targets: Floats,
        slack: Floats,
        *,
        above: bool,
    ) -> Iterator[tuple[int, int, int]]:
        import numpy as np

        lows = np.searchsorted(ordered, targets - slack)
        highs = np.searchsorted(ordered, targets + slack, side="right")
        for at in np.flatnonzero(highs > lows):
            place, low, high = int(places[at]), int(lows[at]), int(highs[at])
            edges = (
                order[low:high]
                if high - low <= 2 * _LOOKED_AT
                else [*order[low : low + _LOOKED_AT], *order[high - _LOOKED_AT : high]]
            )
            for edge in edges:
                if above and edge < place - 1:
                    yield place, int(edge), place
                elif not above and edge > place + 2:
                    yield place, place + 1, int(edge)

    def span(self, at: int, first: int, last: int) -> SumSpan | None:
        """How the row at a place compares with the sum of the rows of a half-open range; None where
        no column agrees."""
        import numpy as np

        numbers, row = self.numbers, int(self.rows[at])
        printed = numbers.values[row]
        total = self.sums[last] - self.sums[first]
        columns = ~np.isnan(printed) & ((printed != 0) | (total != 0))
        close, exact = numbers.close(printed, total, last - first)
        agree = columns & close
        if last <= first or not agree.any():
            return None
        parts = self._rows_of(first, last)
        if last - first > 1:
            for c in np.flatnonzero(agree):
                agree[c] = np.count_nonzero(numbers.filled[parts, c]) > 1
            if not agree.any():
                return None
        off, inside = self._against(printed, total, columns & ~close & numbers.additive, parts)
        picked = self.rows[first:last]
        rows = (
            range(int(picked[0]), int(picked[-1]) + 1)
            if picked[-1] - picked[0] == len(picked) - 1
            else tuple(map(int, picked))
        )
        edges = set(self._edges(at))
        near = (first, last) in set(self.naturally(at)) or (first if last == at else last) in edges
        return SumSpan(
            row, min(int(picked[0]), row), max(int(picked[-1]), row), rows, tuple(map(int, np.flatnonzero(agree))), off, inside,
            self._bits(agree, exact, total, parts, last - first), near, last - first == len(self.rows) - 1,
        )  # fmt: skip

    def _edges(self, at: int) -> Iterable[int]:
        """Places of the gaps next to a row: rows without numbers, or parts that were taken away,
        stand there."""
        import numpy as np

        k = int(np.searchsorted(self._gaps, at))
        return [int(g) for g in self._gaps[max(0, k - 1) : k + 2]]

    def _against(
        self, printed: Floats, total: Floats, bad: Bools, parts: Ints | slice
    ) -> tuple[tuple[tuple[int, float, float], ...], int]:
        import numpy as np

        off, inside = [], 0
        for c in np.flatnonzero(bad):
            column = self.numbers.values[parts, c]
            least, most = np.fmin.reduce(column), np.fmax.reduce(column)
            if np.isnan(least):
                continue
            if least <= printed[c] <= most:
                inside += 1
            else:
                off.append((int(c), float(printed[c]), float(total[c])))
        return tuple(off), inside

    def _bits(
        self, agree: Bools, exact: Bools, total: Floats, parts: Ints | slice, count: int
    ) -> float:
        """Of columns that say something of their own: a copy of one proves nothing twice."""
        import numpy as np

        seen: dict[float, int] = {}
        bits, values = 0.0, self.numbers.values
        for c in np.flatnonzero(agree).tolist():
            value = round(float(total[c]), 6)
            if not value or (
                value in seen
                and np.array_equal(values[parts, c], values[parts, seen[value]], equal_nan=True)
            ):
                continue
            seen[value] = c
            loose = 0.0 if exact[c] else np.log2(2 + count**0.5)
            bits += max(0.0, float(self.numbers.bits[c]) - loose)
        return bits


def _is_constant(column: Floats) -> bool:
    import numpy as np

    values = column[~np.isnan(column)]
    return len(values) > 2 and values[0] != 0 and bool((values == values[0]).all())
