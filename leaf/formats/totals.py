"""Which rows of a table are totals of others: by arithmetic, with words and empty key cells as further evidence.

A row is judged by its numbers: they equal the sum of the rows of its block (those since the last total, or all those that a
stack of smaller totals covers), below them or above them. One pass over the candidates with cumulative sums: linear in rows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from leaf.formats.labels import Label

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]
    Bools = np.ndarray[Any, np.dtype[np.bool_]]

_NEAREST = 64
"""Open blocks tried from each end of the stack of those that no larger total covers yet."""
_WINDOW = 4_096


@dataclass(frozen=True)
class Mark:
    """What one row was found to be."""

    kind: str
    """`subtotal`, `total` or `note` (averages, least, greatest, counts)."""
    fits: bool
    """Whether a sum of other rows proves it; else a word alone says so."""
    first: int = -1
    last: int = -1
    """The rows that it sums, 0-based and inclusive; other totals among them are not counted. -1 where none fit."""
    off: tuple[tuple[int, float, float], ...] = ()
    """(column, printed, sum of the rows) where they differ although they should not."""


@dataclass
class _Open:
    """A total that no larger one covers yet."""

    row: int
    start: int


@dataclass
class _Walk:
    """Totals below their rows, met from top to bottom."""

    values: Floats
    steps: Floats
    """Smallest printed step of each column: 0.01 for amounts with cents, 0 where there is none."""
    labels: Mapping[int, Label]
    blank: Bools
    """Rows with fewer key cells than the others."""
    found: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Row -> first row that it sums, how many columns prove it."""

    def run(self) -> dict[int, tuple[int, int]]:
        import numpy as np

        values, n = self.values, len(self.values)
        filled = np.nan_to_num(values)
        self.sums = np.zeros((n + 1, values.shape[1]))
        np.cumsum(filled, axis=0, out=self.sums[1:])
        self.removed = np.zeros(values.shape[1])
        # What the totals met so far add to the cumulative sums, so that sums over data rows alone are a difference of two lines.
        self.after = [0]
        self.offsets: list[Floats] = [self.removed]
        stack: list[_Open] = []
        self.begin = 0
        for row in self._candidates():
            start = self._start(row, self.begin, stack)
            if start is None:
                continue
            while stack and stack[-1].start >= start:
                stack.pop()
            stack.append(_Open(row, start))
            self.removed = self.removed + filled[row]
            self.after.append(row + 1)
            self.offsets.append(self.removed)
            self.begin = row + 1
        return self.found

    def _candidates(self) -> Iterator[int]:
        """Rows with a word or empty keys, and between them rows that equal the sum of the block that is open just then."""
        import numpy as np

        marked = np.zeros(len(self.values), dtype=bool)
        marked[list(self.labels)] = True
        marked |= self.blank
        order = np.flatnonzero(marked)
        row, n, at = 0, len(self.values), 0
        while row < n:
            while at < len(order) and order[at] < row:
                at += 1
            stop = int(order[at]) if at < len(order) else n
            while row < stop:
                end = min(stop, row + _WINDOW)
                hit = self._bare(row, end, self.begin)
                if hit is None:
                    row = end
                else:
                    yield hit
                    row = hit + 1
            if row == stop and stop < n:
                yield stop
                row = stop + 1

    def _bare(self, row: int, end: int, begin: int) -> int | None:
        """The first row without word or gap that equals the rows since `begin` in at least two columns and all it fills."""
        import numpy as np

        if self.values.shape[1] < 2:
            return None
        piece = self.values[row:end]
        block = self.sums[row:end] - self._at(begin)
        near = np.abs(piece - block) <= 1e-9 * np.maximum(1.0, np.abs(piece))
        given = ~np.isnan(piece) & (piece != 0)
        fits = (near & given).sum(axis=1)
        whole = (near | ~given).all(axis=1) & (fits >= 2)
        for hit in np.flatnonzero(whole):
            at = row + int(hit)
            if at - begin >= 3 and _digits(self.values[at]) >= 8 and _several(self.values[begin:at]):
                return at
        return None

    def _at(self, row: int) -> Floats:
        """Cumulative sum before `row` that, taken from the one of a later row, leaves the sum of the data between them."""
        offset = self.offsets[bisect_right(self.after, row) - 1]
        line: Floats = self.sums[row] - offset + self.removed
        return line

    def _start(self, row: int, begin: int, stack: list[_Open]) -> int | None:
        """Where the block of a total begins; also noted in `found`. None if the row equals no sum."""
        recent = stack if len(stack) <= 2 * _NEAREST else stack[:_NEAREST] + stack[-_NEAREST:]
        starts = [begin] if row > begin else []
        starts += [o.start for o in reversed(recent) if o.start not in starts]
        if 0 not in starts and row > 0:
            starts.append(0)
        label = self.labels.get(row)
        best: tuple[int, int, int] | None = None
        for start in starts:
            proof, against = self._proof(row, start, exact=label is None)
            if not proof or (label is None and (against or not self._strong(row, proof, start))):
                continue
            rank = (proof - against, -len(starts), start)
            if best is None or proof - against > best[0]:
                best = rank
                self.found[row] = (start, proof)
        return None if best is None else best[2]

    def _strong(self, row: int, proof: int, start: int) -> bool:
        """Without a word: empty keys and a sum that is hardly chance; the columns were asked for in `_bare` otherwise."""
        if not self.blank[row]:
            return proof >= 2
        return row - start >= 2 and (proof >= 2 or _digits(self.values[row]) >= 3)

    def _proof(self, row: int, start: int, *, exact: bool) -> tuple[int, int]:
        """Columns in which the row is the sum of the rows from `start`, and those in which it clearly should be but is not."""
        import numpy as np

        printed = self.values[row]
        total = self.sums[row] - self._at(start)
        count = row - start
        proof = against = 0
        for c in np.flatnonzero(~np.isnan(printed)):
            v, s = float(printed[c]), float(total[c])
            if not v and not s:
                continue
            if near(v, s, 0.0 if exact else self.steps[c], count):
                proof += 1
            else:
                against += 1
        return proof, against


def near(printed: float, total: float, step: float, count: int) -> bool:
    """Whether a printed total is the sum of `count` numbers that were each rounded to `step`."""
    gap = abs(printed - total)
    if gap <= 1e-9 * max(1.0, abs(printed), abs(total)):
        return True
    # Whole numbers are rarely rounded ones: a count that is off by one in a hundred is a mistake.
    return gap <= 0.51 * step * max(1.0, count**0.5) and (step < 1 or gap <= 1e-3 * abs(printed))


def find(values: Floats, steps: Floats, labels: Mapping[int, Label], blank: Bools, first_text: Bools) -> dict[int, Mark]:
    """Row -> what it is, for all rows that are no data.

    `values` is rows × numeric columns, NaN where empty; `first_text` tells of labelled rows whether the word stands in the
    table's first text column.
    """
    import numpy as np

    n = len(values)
    if n < 2 or not values.shape[1]:
        return {}
    sums = {row: label for row, label in labels.items() if label.kind != "average"}
    averages = {row: label for row, label in labels.items() if label.kind == "average"}
    calm = values.copy() if averages else values
    for row in averages:
        calm[row] = np.nan
    blank = blank.copy()
    blank[list(averages)] = False
    below = _Walk(calm, steps, sums, blank).run()
    above = _mirrored(_Walk(calm[::-1], steps, {n - 1 - r: x for r, x in sums.items()}, blank[::-1]).run(), n)
    if _weight(above, sums) > _weight(below, sums):
        spans = {row: (row + 1, last, proof) for row, (last, proof) in above.items()}
    else:
        spans = {row: (start, row - 1, proof) for row, (start, proof) in below.items()}
    if len(spans) > 0.6 * n:  # rows that all repeat one another are no totals
        spans = {row: span for row, span in spans.items() if row in sums and sums[row].exact}
    rest = _rest(calm, steps, sums, spans, first_text)
    spans |= rest
    return _judged(calm, values, steps, sums, averages, spans, n)


def _mirrored(found: dict[int, tuple[int, int]], n: int) -> dict[int, tuple[int, int]]:
    return {n - 1 - row: (n - 1 - start, proof) for row, (start, proof) in found.items()}


def _weight(found: Mapping[int, tuple[int, int]], labels: Mapping[int, Label]) -> float:
    """Labelled rows count; a tie goes to totals below."""
    return sum(1.0 if row in labels else 0.25 for row in found)


def _rest(
    values: Floats, steps: Floats, labels: Mapping[int, Label], spans: Mapping[int, Any], first_text: Bools
) -> dict[int, tuple[int, int, int]]:
    """Labelled rows that equal no block: the sum of all data rows (a grand total above subtotals below), else the word alone."""
    import numpy as np

    open_rows = [row for row in labels if row not in spans]
    if not open_rows:
        return {}
    n = len(values)
    data = np.ones(n, dtype=bool)
    data[[*spans, *(row for row in open_rows if labels[row].exact and first_text[row])]] = False
    result: dict[int, tuple[int, int, int]] = {}
    total = np.nansum(values[data], axis=0)
    few = len(labels) <= 0.5 * n
    for row in open_rows:
        printed = values[row]
        own = 0.0 if not data[row] else np.nan_to_num(printed)
        given = ~np.isnan(printed) & ((printed != 0) | (total - own != 0))
        fits = [c for c in np.flatnonzero(given) if near(float(printed[c]), float((total - own)[c]), steps[c], int(data.sum()))]
        if fits and int(data.sum()) >= 2:
            result[row] = (0, n - 1, len(fits))
        elif labels[row].exact and first_text[row] and few:
            result[row] = (-1, -1, 0)
    return result


def _judged(
    values: Floats,
    whole: Floats,
    steps: Floats,
    labels: Mapping[int, Label],
    averages: Mapping[int, Label],
    spans: Mapping[int, tuple[int, int, int]],
    n: int,
) -> dict[int, Mark]:
    import numpy as np

    data = np.ones(n, dtype=bool)
    data[list(spans)] = False
    means = {row for row in averages if _is_summary(whole, data, row)}
    data[list(means)] = False
    if not data.any():
        return {}
    positions = np.flatnonzero(data)
    edges = (int(positions[0]), int(positions[-1]))
    marks: dict[int, Mark] = {row: Mark("note", True) for row in means}
    covering = [row for row, (first, last, _) in spans.items() if first >= 0 and first <= edges[0] and last >= edges[1]]
    final = max(covering, key=lambda row: spans[row][1] - spans[row][0], default=-1)
    for row, (first, last, proof) in sorted(spans.items()):
        label = labels.get(row)
        if first < 0:
            first_guess = max([r for r in spans if r < row], default=-1) + 1
            span = (first_guess, row - 1) if row > first_guess else edges
            off = _off(values, data, row, span, steps)
            kind = label.kind if label else "total"
            marks[row] = Mark(kind, False, off=off)
            continue
        kind = "subtotal"
        exact = label is not None and label.exact and label.kind == "total"
        if row in covering and (exact or row == final) and (label is None or label.kind != "subtotal"):
            kind = "total"
        marks[row] = Mark(kind, True, first, last, _off(values, data, row, (first, last), steps) if proof else ())
    return marks


def _is_summary(values: Floats, data: Bools, row: int) -> bool:
    """Below its rows (or the last few of the table) or proven by its numbers: `Max` is also a name."""
    import numpy as np

    above = values[:row][data[:row]]
    tail = not data[row + 1 :].any() or row >= len(values) - 3
    if len(above) < 2:
        return False
    for c in np.flatnonzero(~np.isnan(values[row])):
        column = above[:, c][~np.isnan(above[:, c])]
        v = values[row, c]
        if len(column) > 1:
            told = (column.mean(), float(np.median(column)), column.min(), column.max(), float(len(column)), column.std(ddof=1))
            if any(abs(v - t) <= 0.006 * max(1e-9, abs(t)) for t in told):
                return True
    return tail


def _off(values: Floats, data: Bools, row: int, span: tuple[int, int], steps: Floats) -> tuple[tuple[int, float, float], ...]:
    """Columns whose printed total is not the sum of its rows. A value within the rows' range is likelier a rate or an average."""
    import numpy as np

    rows = np.arange(span[0], span[1] + 1)
    rows = rows[data[rows] & (rows != row)]
    if len(rows) < 2:
        return ()
    found = []
    for c in np.flatnonzero(~np.isnan(values[row])):
        column = values[rows, c]
        column = column[~np.isnan(column)]
        printed = float(values[row, c])
        if len(column) < 2 or not printed:
            continue
        total = float(column.sum())
        low, high = float(column.min()), float(column.max())
        if near(printed, total, steps[c], len(column)) or low <= printed <= high or not 0.3 <= abs(printed / (total or 1)) <= 3:
            continue
        found.append((int(c), printed, total))
    return tuple(found)


def _digits(row: Floats) -> int:
    """Significant digits of a row's numbers together: how unlikely it is that they are a sum by chance."""
    import math

    return sum(len(f"{abs(float(v)):.10g}".replace(".", "").strip("0")) for v in row if not math.isnan(v) and v)


def _several(rows: Floats) -> bool:
    """Whether the block's columns differ from one another and from nothing: copies of one column prove nothing twice."""
    import numpy as np

    sums = np.nansum(rows, axis=0)
    return len({round(float(s), 6) for s in sums if s}) >= 2
