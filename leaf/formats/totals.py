"""Which rows of a table are totals of others: left out only where structure and arithmetic prove it together, else doubtful.

Evidence is added up in bits, as logarithms of how much likelier it is in a total than in a row of data. Structure: the word, the
column it stands in, empty key cells, an edge of the table, a name that the parts carry. Arithmetic: every column that adds up
agrees to the printed digits, counted by how many other numbers it might have been. Zeros say nothing, one small number little.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import log2
from typing import TYPE_CHECKING

from leaf.formats.labels import Label, is_rate, is_said
from leaf.formats.overlaps import overlapping
from leaf.formats.spans import Level, Numbers, Span
from leaf.formats.summaries import summaries

if TYPE_CHECKING:
    from leaf.formats.spans import Bools, Floats, Ints

PROOF = 10.0
"""Bits from which on a row is left out: a row of data looks like that once in a thousand times."""
SEARCHED = 20_000
"""Rows up to which rows without a word or a gap are looked at as well."""
_LEVELS = 12
_LINES = 4
"""Rows called totals from which on it counts how many of them are some."""
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
    """1 where the other key cells are empty, unlike those of other rows; 0 where there are none; -1 where they are filled."""
    times: int = 1
    """How often the word stands in its column."""


@dataclass(frozen=True)
class Mark:
    """A row that is proven to be no data."""

    kind: str
    """`subtotal`, `total` or `note` (averages, least, greatest, counts)."""
    first: int = -1
    last: int = -1
    """The rows that it sums lie between these, both inclusive."""
    off: tuple[tuple[int, float, float], ...] = ()
    """(column, printed, sum of the rows) where they differ although they should not."""


@dataclass(frozen=True)
class Doubt:
    """A row that is kept as data and may be none."""

    kind: str
    """`total`, `subtotal` or `summary`."""
    worded: bool
    """Whether a word says so; else its numbers are the sum of others."""
    off: tuple[tuple[int, float, float], ...] = ()


@dataclass
class _Search:
    """Spans by level."""

    numbers: Numbers
    signs: Mapping[int, Sign]
    linked: Callable[[int, Span], bool]
    unnamed: bool
    found: dict[int, Span] = field(default_factory=dict)
    again: dict[int, Span] = field(default_factory=dict)
    """Rows that are the sum of two different groups of rows: the parts of one are totals themselves."""
    above: float = 0.0
    """How much totals stand below (else above) their rows here."""

    def run(self, rows: Ints) -> None:
        import numpy as np

        marked = np.zeros(len(self.numbers.values), dtype=bool)
        marked[[r for r, s in self.signs.items() if s.keys > 0 or (s.label and s.label.sure)]] = True
        self.least = 2 * log2(max(2, len(rows))) + 6
        for depth in range(_LEVELS):
            marked[list(self.found)] = False  # from here on they are numbers to be summed, and end no block
            level = Level(self.numbers, rows, marked)
            chosen = self._settled(self._candidates(level, depth))
            if not chosen:
                return
            drop = np.zeros(len(marked), dtype=bool)
            for span in chosen:
                (self.again if span.row in self.found else self.found)[span.row] = span
                drop[list(span.parts) if isinstance(span.parts, tuple) else slice(span.parts.start, span.parts.stop)] = True
                drop[span.row] = False
            rows = rows[~drop[rows]]

    def _candidates(self, level: Level, depth: int) -> Iterable[Span]:
        import numpy as np

        signed = np.isin(level.rows, list(self.signs))
        places = np.flatnonzero(signed) if not self.unnamed else np.arange(len(level.rows))
        options: dict[int, dict[tuple[int, int], Span]] = defaultdict(dict)
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
            best = [max(spans.values(), key=lambda s: s.bits) for at, spans in options.items() if signed[at]]
            self.above = sum(span.bits if span.last == span.row else -span.bits for span in best)
        for spans in options.values():
            yield max(spans.values(), key=self._rank)

    def _fits(self, span: Span) -> bool:
        """Whether a sum counts as found at all."""
        sign = self.signs.get(span.row)
        if sign is None or (sign.label is None and sign.keys <= 0) or span.row in self.found:
            strict = not span.off and not span.inside and span.bits >= self.least and len(span.parts) > 1
            loose = span.bits >= self.least + 8 and len(span.parts) > 1
            against = len(span.off) + span.inside
            return strict or self.certain(span) or (loose and 4 * against <= len(span.agree))
        if len(span.parts) == 1 and not self.linked(span.row, span):
            return False
        if len(span.off) > len(span.agree) or span.bits < 1:
            return False
        return span.near or span.bits >= self.least / 2 + 3

    def certain(self, span: Span) -> bool:
        """Whether so many digits of several columns agree that columns which do not must be rates."""
        several = len(span.parts) > 1 and len(span.agree) > 2
        return several and span.bits >= 2 * self.least + 16 and len(span.off) + span.inside <= len(span.agree)

    def _rank(self, span: Span) -> tuple[bool, float]:
        below = (span.last == span.row) == (self.above >= 0)
        sign = self.signs.get(span.row)
        carried = sign is not None and sign.label is not None and bool(sign.label.name) and self.linked(span.row, span)
        structure = 3 * span.near + 2 * below + 0.5 * span.whole + 4 * carried - 2 * (len(span.parts) == 1)
        return not span.off, span.bits - 2 * span.inside + structure

    def _settled(self, spans: Iterable[Span]) -> list[Span]:
        """Of spans that overlap, the shorter ones; the others are tried again at the next level."""
        import numpy as np

        used = np.zeros(len(self.numbers.values), dtype=bool)
        chosen = []
        for span in sorted(spans, key=lambda s: (len(s.parts), s.row)):
            parts = list(span.parts) if isinstance(span.parts, tuple) else slice(span.parts.start, span.parts.stop)
            if used[span.row] or used[parts].any():
                continue
            used[parts] = True
            used[span.row] = True
            chosen.append(span)
        return chosen

    def rest(self, rows: Ints) -> None:
        """Words that equal no rows beside them: the sum of all rows that no word or gap sets apart."""
        import numpy as np

        apart = np.zeros(len(self.numbers.values), dtype=bool)
        apart[[*self.found, *(r for r, s in self.signs.items() if s.keys > 0 or (s.label and s.label.sure and s.stub))]] = True
        data = rows[~apart[rows]]
        here = set(rows.tolist())
        left = [r for r, s in self.signs.items() if s.label and r not in self.found and r in here]
        for row in left[:_OPEN] if len(left) <= _OPEN and len(data) > 1 else []:
            level = Level(self.numbers, np.append(data[data != row], row), apart)
            span = level.span(len(level.rows) - 1, 0, len(level.rows) - 1)
            if span and len(span.parts) > 1 and len(span.off) <= len(span.agree):
                self.found[row] = Span(**{**span.__dict__, "near": True})


def find(
    values: Floats,
    steps: Floats,
    rates: Bools,
    signs: Mapping[int, Sign],
    linked: Callable[[int, Span], bool],
    is_rest: Callable[[int], bool] = lambda row: False,
) -> tuple[dict[int, Mark], dict[int, Doubt]]:
    """Rows that are proven to be no data, and rows that are kept and may be none.

    `values` is rows × numeric columns, NaN where empty; `linked` says whether the parts carry the name beside a word, `is_rest`
    whether a row is called what is left of another.
    """
    import numpy as np

    n = len(values)
    if n < 2 or not values.shape[1]:
        return {}, {}
    numbers = Numbers(values, steps, rates)
    apart = [r for r, s in signs.items() if s.keys > 0 or (s.label and s.label.kind != "average" and s.label.sure and s.stub)]
    marks, doubts = _averages(numbers, signs, apart)
    some: Bools = np.asarray(~np.isnan(values).all(axis=1))
    some[list(marks)] = False
    rows = np.flatnonzero(some)
    sums = {r: s for r, s in signs.items() if some[r] and not (s.label and s.label.kind == "average")}
    search = _Search(numbers, sums, linked, n <= SEARCHED)
    search.run(rows)
    search.rest(rows)
    _judge(search, sums, rows, marks, doubts)
    for row in overlapping(numbers, rows, {*marks, *doubts}, is_rest):
        doubts[row] = Doubt("subtotal", False)
    return marks, doubts


def _averages(numbers: Numbers, signs: Mapping[int, Sign], apart: Iterable[int]) -> tuple[dict[int, Mark], dict[int, Doubt]]:
    called = {r: s for r, s in signs.items() if s.label and s.label.kind == "average"}
    if not called:
        return {}, {}
    bits = summaries(numbers, {r: s.label for r, s in called.items() if s.label}, set(apart))
    marks, doubts = {}, {}
    for row, sign in called.items():
        structure = _structure(sign)
        if row in bits and structure + bits[row] >= PROOF:
            marks[row] = Mark("note")
        elif structure >= 4 or (row in bits and bits[row] >= 4 and sign.stub) or _is_summary(sign):
            doubts[row] = Doubt("summary", True)
    return marks, doubts


def _is_summary(sign: Sign) -> bool:
    """Whether a row that is called so once, in the column of names, is one of averages (`Country mean`) or of changes."""
    label = sign.label
    if label is None or not sign.stub or sign.times > 1 or sign.keys < 0:
        return False
    return is_rate(label) or (bool(label.name) and is_said(label))


def _structure(sign: Sign) -> float:
    """Bits of what is seen before anything is added up."""
    label = sign.label
    word = 1.0 if label is None else 0.0
    if label is not None and label.sure:
        word = 6.0 if label.exact or label.kind == "subtotal" else 0.0
    place = 1.0 if sign.stub else -2.0
    return word + place + (0.0, 4.0, -8.0)[sign.keys]


def _judge(search: _Search, signs: Mapping[int, Sign], rows: Ints, marks: dict[int, Mark], doubts: dict[int, Doubt]) -> None:
    bonus = _consistency(search, signs)
    within = _nested(search.found)
    ends = (int(rows[0]), int(rows[-1])) if len(rows) else (-1, -1)
    proven = {}
    for row, span in search.found.items():
        sign = signs.get(row)
        if sign is None:
            continue
        score = _structure(sign) + bonus.get(row, 0.0) + _arithmetic(search, span) + 2 * (row in ends) + 4 * (row in within)
        score += 5 * (sign.label is not None and bool(sign.label.name) and search.linked(row, span))
        if score >= PROOF and not _contradicted(sign, span):
            proven[row] = span
    if _mostly_lines(signs, proven):
        proven = {}
    bare = [row for row in proven if signs[row].label is None]
    if len(bare) > 0.4 * len(rows):
        proven = {row: span for row, span in proven.items() if signs[row].label is not None}
    data = [int(r) for r in rows if int(r) not in proven]
    if not data:
        proven, data = {}, [int(r) for r in rows]
    extents = _extents(search.found)
    for row, span in proven.items():
        kind = _kind(row, signs[row].label, (data[0], data[-1]), {r: extents[r] for r in proven})
        marks[row] = Mark(kind, *extents[row], span.off)
    doubts |= _doubted(search, signs, marks, rows)


def _arithmetic(search: _Search, span: Span) -> float:
    """Bits of the sum, less those for how many sums were tried, and for numbers that are none."""
    tries = 0.0 if span.near else search.least / 2 - 3
    return span.bits + 3 * span.whole - tries - min(8, 3 * span.inside)


def _contradicted(sign: Sign, span: Span) -> bool:
    """Whether a column says that it is no total: where a plain Total is right in others, that column is a mistake in the file."""
    if span.inside > len(span.agree):
        return True  # of columns that nothing calls rates, more deny the sum than agree with it
    if not span.off:
        return sign.label is None and span.bits < PROOF
    plain = sign.label is not None and sign.label.sure and (sign.label.exact or sign.keys > 0) and sign.keys >= 0
    alike = all(total and 0.5 <= printed / total <= 2 for _, printed, total in span.off)
    return not (plain and alike and span.bits >= 4 and len(span.off) <= len(span.agree))


def _mostly_lines(signs: Mapping[int, Sign], proven: Mapping[int, Span]) -> bool:
    """Whether most rows that are called totals are not the sum of rows beside them, as in a balance sheet.

    There they are lines like others: to leave out some and keep the rest makes no column add up.
    """
    called = [row for row, sign in signs.items() if sign.label is not None and sign.label.sure and sign.stub]
    return len(called) >= _LINES and 2 * sum(row in proven for row in called) < len(called)


def _consistency(search: _Search, signs: Mapping[int, Sign]) -> dict[int, float]:
    """Rows with such words in one column speak for each other, or against: an ordinary value comes again without a sum."""
    groups: dict[tuple[int, str], list[int]] = defaultdict(list)
    for row, sign in signs.items():
        if sign.label is not None:
            groups[sign.column, sign.label.text.lower() if sign.label.exact else sign.label.word].append(row)
    bonus: dict[int, float] = {}
    for rows in groups.values():
        share = sum(r in search.found and not search.found[r].off for r in rows) / len(rows)
        exact = signs[rows[0]].label
        value = 3.0 if share == 1 and len(rows) > 1 else 0.0
        if share < 0.5 and exact is not None and exact.exact and len(rows) > 1:
            value = -8.0
        bonus |= dict.fromkeys(rows, value)
    return bonus


def _extents(found: Mapping[int, Span]) -> dict[int, tuple[int, int]]:
    """Row -> first and last row that it covers, those that its parts sum among them; parts are found before their sums."""
    extents: dict[int, tuple[int, int]] = {}
    for row, span in found.items():
        edges = [extents.get(part, (part, part)) for part in (span.parts[0], span.parts[-1])]
        extents[row] = (min(row, *(e[0] for e in edges)), max(row, *(e[1] for e in edges)))
    return extents


def _nested(found: Mapping[int, Span]) -> set[int]:
    """Rows that together are the parts of another sum, each one a sum itself: the whole agrees at two levels."""
    nested: set[int] = set()
    for span in found.values():
        if len(span.parts) > 1 and all(part in found for part in span.parts):
            nested.update(span.parts)
    return nested


def _kind(row: int, label: Label | None, edges: tuple[int, int], extents: Mapping[int, tuple[int, int]]) -> str:
    """A total covers all rows of data, a subtotal some; of several, the widest is the total unless a word says so."""
    first, last = extents[row]
    if first > edges[0] or last < edges[1] or (label is not None and label.kind == "subtotal"):
        return "subtotal"
    widest = max(b - a for a, b in extents.values())
    return "total" if (label is not None and label.exact) or last - first == widest else "subtotal"


def _doubted(search: _Search, signs: Mapping[int, Sign], marks: Mapping[int, Mark], rows: Ints) -> dict[int, Doubt]:
    """Words in the place of a total, sums without a word, and the parts of a row that other rows sum up to as well."""
    doubts: dict[int, Doubt] = {}
    bare = [r for r in search.found if r not in marks and r not in signs]
    if len(bare) > max(2, 0.4 * len(rows)):  # a series in which each row is the sum of those before is no table of totals
        bare = [r for r in bare if search.certain(search.found[r])]
    doubts |= {r: Doubt("subtotal", False) for r in bare}
    for row in search.again:
        one, other = search.found[row], search.again[row]
        hundred = search.numbers.hundred(search.numbers.values[row])
        if not (one.off or other.off or hundred):
            parts = min(one.parts, other.parts, key=len)
            doubts |= {r: Doubt("subtotal", False) for r in parts if r not in marks and r not in doubts}
            if row not in marks:
                doubts[row] = Doubt("total", False)
    for row, sign in signs.items():
        if row in marks:
            continue
        span = search.found.get(row)
        if sign.label is None:
            if span is not None and span.bits >= search.least / 2:
                doubts[row] = Doubt("subtotal", False)
        elif _is_doubtful(search, sign, span, row, rows):
            kind = "subtotal" if sign.label.kind == "subtotal" or not sign.label.exact else "total"
            doubts[row] = Doubt(kind, True, span.off if span else _differs(search, row, rows, signs, marks))
    return doubts


def _is_doubtful(search: _Search, sign: Sign, span: Span | None, row: int, rows: Ints) -> bool:
    """Whether a word that nothing proves may be one for a total all the same, and not an ordinary value of its column."""
    assert sign.label is not None
    label = sign.label
    ordinary = (
        sign.times > 1 and (sign.keys < 0 or not (label.sure and label.exact)) and not (label.sure and label.exact and sign.stub)
    )
    if ordinary and sign.keys <= 0:
        return False
    if span is not None and span.bits >= 3 and not ordinary:
        return True
    if ordinary or (not sign.stub and sign.keys <= 0):
        return False
    if label.sure and (label.exact or label.kind == "subtotal"):
        return True
    said = label.sure and is_said(label)
    return sign.keys > 0 or ((label.exact or said) and sign.times == 1) or (sign.keys == 0 and _greatest(search, row, rows))


def _greatest(search: _Search, row: int, rows: Ints) -> bool:
    """Whether no row near it is larger in most columns, as the sum of its neighbours would be."""
    import numpy as np

    at = int(np.searchsorted(rows, row))
    near = np.abs(search.numbers.values[rows[max(0, at - 4) : at + 5]])
    own = np.abs(search.numbers.values[row])
    given = ~np.isnan(own) & (own != 0)
    if not given.any() or len(near) < 3:
        return False
    largest = np.nanmax(np.where(np.isnan(near), 0, near), axis=0)
    return bool((own[given] >= largest[given]).mean() >= 0.6)


def _differs(
    search: _Search, row: int, rows: Ints, signs: Mapping[int, Sign], marks: Mapping[int, Mark]
) -> tuple[tuple[int, float, float], ...]:
    """Of a plain Total at the end of a table: its numbers and what the rows above give instead, where they are of one size."""
    import numpy as np

    sign = signs[row]
    if sign.label is None or not (sign.label.exact and sign.label.sure) or row != int(rows[-1]):
        return ()
    parts = np.array([int(r) for r in rows if r != row and int(r) not in marks and int(r) not in signs], dtype=int)
    if len(parts) < 2:
        return ()
    numbers, off = search.numbers, []
    for c in np.flatnonzero(~np.isnan(numbers.values[row]) & numbers.additive):
        column = numbers.values[parts, c]
        printed, total = float(numbers.values[row, c]), float(np.nansum(column))
        within = np.nanmin(column) <= printed <= np.nanmax(column) if (~np.isnan(column)).any() else True
        if not within and total and 0.3 <= printed / total <= 3:
            off.append((int(c), printed, total))
    return tuple(off)
