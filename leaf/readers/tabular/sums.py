"""Which rows of a table are sums of others, level by level: sums found once are the numbers of the
next level. What a row looks like before anything is added up tells where to look first."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import log2
from typing import TYPE_CHECKING

from leaf.readers.tabular.labels import Label
from leaf.readers.tabular.spans import Level, SumSpan, TableNumbers

if TYPE_CHECKING:
    from leaf.readers.tabular.spans import Ints

SEARCHED = 20_000
"""Rows up to which rows without a word or a gap are looked at as well."""
_LEVELS = 12
_OPEN = 60
"""Words that equal no rows beside them, held against the table's whole sum."""


@dataclass(frozen=True)
class Sign:
    """What makes a row look like a total before anything is added up."""

    label: Label | None
    """None where only its key cells are empty."""
    column: int = -1
    """Of the word."""
    stub: bool = True
    """Whether the word stands in the table's first column of names, or in place of a number."""
    keys: int = 0
    """1 where the other key cells are empty, unlike those of other rows; 0 where there are none; -1
    where they are filled."""
    times: int = 1
    """How often the word stands in its column."""
    formula: bool = False
    """Whether its numbers are the sums that its formulas say."""


@dataclass
class SumSearch:
    """Spans by level."""

    numbers: TableNumbers
    signs: Mapping[int, Sign]
    linked: Callable[[int, SumSpan], bool]
    unnamed: bool
    found: dict[int, SumSpan] = field(default_factory=dict)
    again: dict[int, SumSpan] = field(default_factory=dict)
    """Rows that are the sum of two different groups of rows: the parts of one are totals
    themselves."""
    tiled: set[int] = field(default_factory=set)
    """Rows that are found by nothing but that sums leave no row of the table over."""
    above: float = 0.0
    """How much totals stand below (else above) their rows here."""

    @cached_property
    def _called(self) -> list[int]:
        return sorted(self.signs)

    def called_beside(self, row: int) -> tuple[int, int]:
        """The next rows above and below that anything marks: -1 and the table's end where there is
        none."""
        at, after = bisect_left(self._called, row), bisect_right(self._called, row)
        return (
            self._called[at - 1] if at else -1,
            self._called[after] if after < len(self._called) else len(self.numbers.values),
        )

    def run(self, rows: Ints) -> None:
        """Find sums level by level, until one has none. `rows`: those that hold a number."""
        import numpy as np

        marked = np.zeros(len(self.numbers.values), dtype=bool)
        ends = [
            r
            for r, s in self.signs.items()
            if s.keys > 0 or s.formula or (s.label and s.label.sure)
        ]
        marked[ends] = True
        self.least = 2 * log2(max(2, len(rows))) + 6
        for depth in range(_LEVELS):
            marked[list(self.found)] = (
                False  # from here on they are numbers to be summed, and end no block
            )
            level = Level(self.numbers, rows, marked)
            chosen = self._settled(self._candidates(level, depth))
            if not chosen:
                return
            drop = np.zeros(len(marked), dtype=bool)
            for span in chosen:
                (self.again if span.row in self.found else self.found)[span.row] = span
                drop[
                    list(span.parts)
                    if isinstance(span.parts, tuple)
                    else slice(span.parts.start, span.parts.stop)
                ] = True
                drop[span.row] = False
            rows = rows[~drop[rows]]

    def _candidates(self, level: Level, depth: int) -> Iterable[SumSpan]:
        import numpy as np

        signed = np.isin(level.rows, list(self.signs))
        places = np.flatnonzero(signed) if not self.unnamed else np.arange(len(level.rows))
        options: dict[int, dict[tuple[int, int], SumSpan]] = defaultdict(dict)
        tried: set[tuple[int, int, int]] = set()

        def look(at: int, first: int, last: int) -> None:
            if (at, first, last) not in tried and last > first:
                tried.add((at, first, last))
                span = level.span(at, first, last)
                if span and self._fits(span):
                    options[at][first, last] = span

        for at in np.flatnonzero(signed).tolist():
            if int(level.rows[at]) not in self.found:
                for first, last in level.naturally(at):
                    look(at, first, last)
        for at, first, last in level.looked_up(places):
            look(at, first, last)
        if not depth:
            best = [
                max(spans.values(), key=lambda s: s.bits)
                for at, spans in options.items()
                if signed[at]
            ]
            self.above = sum(span.bits if span.last == span.row else -span.bits for span in best)
        for spans in options.values():
            yield max(spans.values(), key=self._rank)

    def _fits(self, span: SumSpan) -> bool:
        """Whether a sum counts as found at all."""
        sign = self.signs.get(span.row)
        if sign is None or (sign.label is None and sign.keys <= 0) or span.row in self.found:
            strict = (
                not span.off and not span.inside and span.bits >= self.least and len(span.parts) > 1
            )
            loose = span.bits >= self.least + 8 and len(span.parts) > 1
            against = len(span.off) + span.inside
            return strict or self.certain(span) or (loose and 4 * against <= len(span.agree))
        if len(span.parts) == 1 and not self.linked(span.row, span):
            return False
        if len(span.off) > len(span.agree) or span.bits < 1:
            return False
        return span.near or span.bits >= self.least / 2 + 3

    def certain(self, span: SumSpan) -> bool:
        """Whether so many digits of several columns agree that columns which do not must be
        rates."""
        several = len(span.parts) > 1 and len(span.agree) > 2
        return (
            several
            and span.bits >= 2 * self.least + 16
            and len(span.off) + span.inside <= len(span.agree)
        )

    def _rank(self, span: SumSpan) -> tuple[bool, float]:
        below = (span.last == span.row) == (self.above >= 0)
        sign = self.signs.get(span.row)
        carried = (
            sign is not None
            and sign.label is not None
            and bool(sign.label.name)
            and self.linked(span.row, span)
        )
        structure = (
            3 * span.near + 2 * below + 0.5 * span.whole + 4 * carried - 2 * (len(span.parts) == 1)
        )
        return not span.off, span.bits - 2 * span.inside + structure

    def _settled(self, spans: Iterable[SumSpan]) -> list[SumSpan]:
        """Of spans that overlap, the shorter ones; the others are tried again at the next level."""
        import numpy as np

        used = np.zeros(len(self.numbers.values), dtype=bool)
        chosen = []
        for span in sorted(spans, key=lambda s: (len(s.parts), s.row)):
            parts = (
                list(span.parts)
                if isinstance(span.parts, tuple)
                else slice(span.parts.start, span.parts.stop)
            )
            if used[span.row] or used[parts].any():
                continue
            used[parts] = True
            used[span.row] = True
            chosen.append(span)
        return chosen

    def rest(self, rows: Ints) -> None:
        """Words that equal no rows beside them: the sum of all rows that no word or gap sets
        apart."""
        import numpy as np

        apart = np.zeros(len(self.numbers.values), dtype=bool)
        apart[
            [
                *self.found,
                *(
                    r
                    for r, s in self.signs.items()
                    if s.keys > 0 or (s.label and s.label.sure and s.stub)
                ),
            ]
        ] = True
        data = rows[~apart[rows]]
        called = [r for r, s in self.signs.items() if s.label and r not in self.found]
        left = [r for r, here in zip(called, np.isin(called, rows), strict=True) if here]
        for row in left[:_OPEN] if len(left) <= _OPEN and len(data) > 1 else []:
            level = Level(self.numbers, np.append(data[data != row], row), apart)
            span = level.span(len(level.rows) - 1, 0, len(level.rows) - 1)
            if span and len(span.parts) > 1 and len(span.off) <= len(span.agree):
                self.found[row] = SumSpan(**{**span.__dict__, "near": True})
