"""Which rows of a table are totals of others: left out only where structure and arithmetic prove it
together, or a formula and a place of its own, else doubtful.

Evidence is added up in bits, as logarithms of how much likelier it is in a total than in a row of
data. Structure: the word, the column it stands in, empty key cells, an edge of the table, a name
that the parts carry. Arithmetic: every column that adds up agrees to the printed digits, counted by
how many other numbers it might have been. Zeros say nothing, one small number little.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from leaf.readers.tabular.labels import Label, is_ordinary, is_rate, is_said
from leaf.readers.tabular.overlaps import overlapping
from leaf.readers.tabular.spans import Level, SumSpan, TableNumbers
from leaf.readers.tabular.summaries import last_summaries, summaries
from leaf.readers.tabular.sums import SEARCHED, Sign, SumSearch
from leaf.readers.tabular.tiles import Tiling, tiling

if TYPE_CHECKING:
    from leaf.readers.tabular.spans import Bools, Floats, Ints

PROOF = 10.0
"""Bits from which on a row is left out: a row of data looks like that once in a thousand times."""
_LINES = 4
"""Rows called totals from which on it counts how many of them are some."""
_SOME = 3
"""Rows whose sum a row is held against that a word beside a name calls a total."""
_BESIDE = 2.0
"""Bits from which on the sum of the rows beside it makes a row with empty keys doubtful."""


@dataclass(frozen=True)
class ProvenRow:
    """A row that is proven to be no data."""

    kind: str
    """`subtotal`, `total` or `note` (averages, least, greatest, counts)."""
    first: int = -1
    last: int = -1
    """The rows that it sums lie between these, both inclusive."""
    off: tuple[tuple[int, float, float], ...] = ()
    """(column, printed, sum of the rows) where they differ although they should not."""


@dataclass(frozen=True)
class DoubtfulRow:
    """A row that is kept as data and may be none."""

    kind: str
    """`total`, `subtotal` or `summary`."""
    worded: bool
    """Whether a word says so; else its numbers are the sum of others."""
    off: tuple[tuple[int, float, float], ...] = ()


def find(
    values: Floats,
    steps: Floats,
    rates: Bools,
    signs: Mapping[int, Sign],
    linked: Callable[[int, SumSpan], bool],
    is_rest: Callable[[int], bool] = lambda row: False,
    formulas: Mapping[int, SumSpan] | None = None,
) -> tuple[dict[int, ProvenRow], dict[int, DoubtfulRow]]:
    """Rows that are proven to be no data, and rows that are kept and may be none.

    `values` is rows × numeric columns, two rows and one column at least, NaN where empty; `linked`
    says whether the parts carry the name beside a word, `is_rest` whether a row is called what is
    left of another; `formulas` are rows that are sums as their formulas say.
    """
    import numpy as np

    numbers = TableNumbers(values, steps, rates)
    apart = [
        r
        for r, s in signs.items()
        if s.keys > 0 or (s.label and s.label.kind != "average" and s.label.sure and s.stub)
    ]
    marks, doubts = _averages(numbers, signs, apart)
    some: Bools = np.asarray(~np.isnan(values).all(axis=1))
    some[list(marks)] = False
    rows = np.flatnonzero(some)
    sums = {
        r: s for r, s in signs.items() if some[r] and not (s.label and s.label.kind == "average")
    }
    search = SumSearch(numbers, sums, linked, len(values) <= SEARCHED)
    search.run(rows)
    search.rest(rows)
    search.found |= {row: _against(numbers, span) for row, span in (formulas or {}).items()}
    tiles = _tiled(search, sums, rows)
    _judge(search, sums, rows, marks, doubts, tiles)
    for row in overlapping(numbers, rows, {*marks, *doubts}, is_rest):
        doubts[row] = DoubtfulRow("subtotal", False)
    return marks, doubts


def _averages(
    numbers: TableNumbers, signs: Mapping[int, Sign], apart: Iterable[int]
) -> tuple[dict[int, ProvenRow], dict[int, DoubtfulRow]]:
    called = {r: s for r, s in signs.items() if s.label and s.label.kind == "average"}
    if not called:
        return {}, {}
    bits = summaries(numbers, {r: s.label for r, s in called.items() if s.label}, set(apart))
    last = last_summaries(called, len(numbers.values))
    # The last rows prove each other, where all of them are what they are called.
    together = sum(bits[row] for row in last) if last and last <= bits.keys() else 0.0
    marks, doubts = {}, {}
    for row, sign in called.items():
        structure = _structure(sign)
        right = max(bits[row], together if row in last else 0.0) if row in bits else 0.0
        if right and structure + right >= PROOF:
            marks[row] = ProvenRow("note")
        elif (
            structure >= 4
            or (row in bits and bits[row] >= 4 and sign.stub)
            or _is_summary(sign)
            or row in last
        ):
            doubts[row] = DoubtfulRow("summary", True)
    return marks, doubts


def _is_summary(sign: Sign) -> bool:
    """Whether a row that is called so once, in the column of names, is one of averages (`Country
    mean`) or of changes."""
    label = sign.label
    if label is None or not sign.stub or sign.times > 1 or sign.keys < 0:
        return False
    return is_rate(label) or (bool(label.name) and is_said(label))


def _tiled(search: SumSearch, signs: Mapping[int, Sign], rows: Ints) -> Tiling | None:
    """Sums that leave no row over, if they prove each other; what the search has not found of them
    by itself is found then."""
    tiles = tiling(search.numbers, rows)
    if tiles is None or tiles.bits < PROOF:
        return None
    old = search.found
    search.found = {row: old.get(row, span) for row, span in tiles.spans.items()} | {
        row: span for row, span in old.items() if row not in tiles.spans
    }
    # By themselves these are doubtful at most: where some sums of a table are left out and others
    # stay, no column adds up.
    search.tiled = {row for row in tiles.spans if row not in old and not _is_plain(signs, row)}
    return tiles


def _structure(sign: Sign) -> float:
    """Bits of what is seen before anything is added up."""
    label = sign.label
    word = 1.0 if label is None else 0.0
    if sign.formula:
        word = 6.0
    elif label is not None and label.sure:
        word = 6.0 if label.exact or label.kind == "subtotal" else 0.0
    place = 1.0 if sign.stub else -2.0
    return word + place + (0.0, 4.0, -8.0)[sign.keys]


def _judge(
    search: SumSearch,
    signs: Mapping[int, Sign],
    rows: Ints,
    marks: dict[int, ProvenRow],
    doubts: dict[int, DoubtfulRow],
    tiles: Tiling | None,
) -> None:
    bonus = _consistency(search, signs)
    together = _together(search, signs)
    within = _nested(search.found)
    ends = {*rows[:1].tolist(), *rows[-1:].tolist()}
    proven = {}
    for row, span in search.found.items():
        sign = signs.get(row)
        if sign is None or row in search.tiled:
            continue
        if sign.label is None and sign.keys < 0:
            continue  # it has a name of its own: whoever asks for Europe needs its row
        score = (
            _structure(sign)
            + bonus.get(row, 0.0)
            + _arithmetic(search, span)
            + 2 * (row in ends)
            + 4 * (row in within)
        )
        score += 5 * (sign.label is not None and bool(sign.label.name) and search.linked(row, span))
        told = sign.formula or not _contradicted(sign, span, together.get(row, span.bits))
        if score >= PROOF and told:
            proven[row] = span
    if _mostly_lines(signs, proven):
        proven = {}
    bare = [row for row in proven if signs[row].label is None]
    if 2 * len(bare) >= len(rows):
        proven = {row: span for row, span in proven.items() if signs[row].label is not None}
    if tiles and _is_plain(signs, tiles.whole) and tiles.whole in proven:
        # The total is right for their parts alone: without them it would be twice as much.
        proven |= {row: search.found[row] for row in tiles.spans}
    by_formula = [row for row in proven if row in signs and signs[row].formula]
    everything = set(map(int, rows)) if by_formula else set()
    for row in by_formula:
        proven |= _counted_instead(search, row, everything)
    data = _without(rows, proven)
    if not len(data):
        proven, data = {}, rows
    extents = _extents(search.found)
    for row, span in proven.items():
        label = signs[row].label if row in signs else None
        edges = int(data[0]), int(data[-1])
        kind = _kind(row, label, edges, {r: extents[r] for r in proven})
        marks[row] = ProvenRow(kind, *extents[row], span.off)
    doubts |= _doubted(search, signs, marks, rows)


def _without(rows: Ints, others: Iterable[int]) -> Ints:
    """Rows but for some."""
    import numpy as np

    left: Ints = rows[~np.isin(rows, list(others))]
    return left


def _against(numbers: TableNumbers, span: SumSpan) -> SumSpan:
    """A sum by its formulas, with the columns that have none and say another number."""
    import numpy as np

    rows = np.array([*span.parts, span.row])
    level = Level(numbers, rows, np.zeros(len(numbers.values), dtype=bool))
    whole = level.span(len(rows) - 1, 0, len(rows) - 1)
    return replace(span, off=whole.off) if whole else span


def _counted_instead(search: SumSearch, total: int, rows: set[int]) -> dict[int, SumSpan]:
    """Sums that a total counts in place of the rows that they sum, where it leaves no row of the
    table over: beside them the column would be more than its own total."""
    whole = search.found[total]
    sums: dict[int, SumSpan] = {}
    seen, left = {total}, list(whole.parts)
    while left:
        part = left.pop()
        if part in seen:
            return {}
        seen.add(part)
        if (span := search.found.get(part)) is not None:
            if not set(span.agree) & set(whole.agree):
                return {}
            sums[part] = span
            left.extend(span.parts)
    return sums if seen >= rows else {}


def _is_plain(signs: Mapping[int, Sign], row: int) -> bool:
    """Whether a row is called a Total and nothing else."""
    label = signs[row].label if row in signs else None
    return label is not None and label.exact and label.sure


def _arithmetic(search: SumSearch, span: SumSpan) -> float:
    """Bits of the sum, less those for how many sums were tried, and for numbers that are none."""
    tries = 0.0 if span.near else search.least / 2 - 3
    return span.bits + 3 * span.whole - tries - min(8, 3 * span.inside)


def _together(search: SumSearch, signs: Mapping[int, Sign]) -> dict[int, float]:
    """Rows without a word whose keys are empty, if each of them is the sum of the rows beside it:
    the bits of all, since they prove each other."""
    unnamed = [row for row, sign in signs.items() if sign.label is None and sign.keys > 0]
    spans = [search.found[row] for row in unnamed if row in search.found]
    if len(spans) < max(2, len(unnamed)) or not all(_is_beside(span) for span in spans):
        return {}
    return dict.fromkeys(unnamed, sum(span.bits for span in spans))


def _is_beside(span: SumSpan) -> bool:
    """Whether a sum is right in all columns, and of several rows beside it."""
    return span.near and len(span.parts) > 1 and not span.off and not span.inside


def _contradicted(sign: Sign, span: SumSpan, bits: float) -> bool:
    """Whether a column says that it is no total: where a plain Total is right in others, that
    column is a mistake in the file. `bits`: those of its kind together."""
    if span.inside > len(span.agree):
        return True  # of columns that nothing calls rates, more deny the sum than agree with it
    if not span.off:
        return sign.label is None and bits < PROOF
    plain = (
        sign.label is not None
        and sign.label.sure
        and (sign.label.exact or sign.keys > 0)
        and sign.keys >= 0
    )
    alike = all(total and 0.5 <= printed / total <= 2 for _, printed, total in span.off)
    return not (plain and alike and span.bits >= 4 and len(span.off) <= len(span.agree))


def _mostly_lines(signs: Mapping[int, Sign], proven: Mapping[int, SumSpan]) -> bool:
    """Whether most rows that are called totals are not the sum of rows beside them, as in a balance
    sheet.

    There they are lines like others: to leave out some and keep the rest makes no column add up.
    """
    called = [
        row
        for row, sign in signs.items()
        if sign.label is not None and sign.label.sure and sign.stub
    ]
    return len(called) >= _LINES and 2 * sum(row in proven for row in called) < len(called)


def _consistency(search: SumSearch, signs: Mapping[int, Sign]) -> dict[int, float]:
    """Rows with such words in one column speak for each other, or against: an ordinary value comes
    again without a sum."""
    groups: dict[tuple[int, str], list[int]] = defaultdict(list)
    for row, sign in signs.items():
        if sign.label is not None:
            groups[
                sign.column, sign.label.text.lower() if sign.label.exact else sign.label.word
            ].append(row)
    bonus: dict[int, float] = {}
    for rows in groups.values():
        share = sum(r in search.found and not search.found[r].off for r in rows) / len(rows)
        exact = signs[rows[0]].label
        value = 3.0 if share == 1 and len(rows) > 1 else 0.0
        if share < 0.5 and exact is not None and exact.exact and len(rows) > 1:
            value = -8.0
        bonus |= dict.fromkeys(rows, value)
    return bonus


def _extents(spans: Mapping[int, SumSpan]) -> dict[int, tuple[int, int]]:
    """Row -> first and last row that it covers, those that its parts sum among them; parts are
    found before their sums."""
    extents: dict[int, tuple[int, int]] = {}
    for row, span in spans.items():
        edges = [extents.get(part, (part, part)) for part in (span.parts[0], span.parts[-1])]
        extents[row] = (min(row, *(e[0] for e in edges)), max(row, *(e[1] for e in edges)))
    return extents


def _nested(spans: Mapping[int, SumSpan]) -> set[int]:
    """Rows that together are the parts of another sum, each one a sum itself: the whole agrees at
    two levels."""
    nested: set[int] = set()
    for span in spans.values():
        if len(span.parts) > 1 and all(part in spans for part in span.parts):
            nested.update(span.parts)
    return nested


def _kind(
    row: int, label: Label | None, edges: tuple[int, int], extents: Mapping[int, tuple[int, int]]
) -> str:
    """A total covers all rows of data, a subtotal some; of several, the widest is the total unless
    a word says so."""
    first, last = extents[row]
    if first > edges[0] or last < edges[1] or (label is not None and label.kind == "subtotal"):
        return "subtotal"
    widest = max(b - a for a, b in extents.values())
    return "total" if (label is not None and label.exact) or last - first == widest else "subtotal"


def _doubted(
    search: SumSearch, signs: Mapping[int, Sign], marks: Mapping[int, ProvenRow], rows: Ints
) -> dict[int, DoubtfulRow]:
    """Words in the place of a total, sums without a word, and the parts of a row that other rows
    sum up to as well."""
    doubts: dict[int, DoubtfulRow] = {}
    bare = [r for r in search.found if r not in marks and r not in signs]
    if len(bare) > max(
        2, 0.5 * len(rows)
    ):  # a series in which each row is the sum of those before is no table of totals
        bare = [r for r in bare if r in search.tiled or search.certain(search.found[r])]
    doubts |= {r: DoubtfulRow("subtotal", False) for r in bare}
    for row in search.again:
        one, other = search.found[row], search.again[row]
        hundred = search.numbers.hundred(search.numbers.values[row])
        if not (one.off or other.off or hundred):
            parts = min(one.parts, other.parts, key=len)
            doubts |= {
                r: DoubtfulRow("subtotal", False)
                for r in parts
                if r not in marks and r not in doubts
            }
            if row not in marks:
                doubts[row] = DoubtfulRow("total", False)
    proven = {_said(signs[row]) for row in marks if row in signs}
    for row, sign in signs.items():
        if row in marks:
            continue
        span = search.found.get(row)
        if sign.label is None:
            if span is not None and (
                span.bits >= search.least / 2 or (_is_beside(span) and span.bits >= _BESIDE)
            ):
                doubts[row] = DoubtfulRow("subtotal", False)
        elif _is_doubtful(search, sign, span, row, rows) or (
            # Brought forward: the sum of a page stands once more at the head of the next one.
            sign.stub and sign.keys >= 0 and sign.label.exact and _said(sign) in proven
        ):
            kind = "subtotal" if sign.label.kind == "subtotal" or not sign.label.exact else "total"
            doubts[row] = DoubtfulRow(
                kind, True, span.off if span else _differs(search, row, rows, signs, marks)
            )
    return doubts


def _said(sign: Sign) -> tuple[int, str]:
    """A word and its column."""
    return sign.column, sign.label.text.lower() if sign.label else ""


def _is_doubtful(search: SumSearch, sign: Sign, span: SumSpan | None, row: int, rows: Ints) -> bool:
    """Whether a word that nothing proves may be one for a total all the same, and not an ordinary
    value of its column."""
    assert sign.label is not None
    label = sign.label
    plain = label.sure and label.exact and (sign.stub or sign.keys >= 0)
    if sign.times > 1 and not plain:
        return False
    if span is not None and span.bits >= 3:
        return True
    if sign.keys <= 0 and (not sign.stub or is_ordinary(label)):
        return False
    if label.sure and (label.exact or label.kind == "subtotal"):
        return True
    if sign.keys > 0 or label.exact or (label.sure and is_said(label)):
        return True
    return (sign.keys == 0 and _greatest(search, row, rows)) or _outweighs(search, row, rows)


def _outweighs(search: SumSearch, row: int, rows: Ints) -> bool:
    """Whether it is at least the sum of some rows above or below it, up to the next that is called
    a total, in most columns: as the total of rows of which the table has not all (`Total Europe`).
    """
    import numpy as np

    numbers, at = search.numbers, int(np.searchsorted(rows, row))
    own = np.abs(numbers.values[row])
    columns = ~np.isnan(own) & (own != 0) & numbers.additive
    before, after = search.called_beside(row)
    first, last = np.searchsorted(rows, before, "right"), np.searchsorted(rows, after)
    for side in (rows[first:at], rows[at + 1 : last]):
        total = np.abs(numbers.filled[side]).sum(axis=0)
        count = int(np.count_nonzero((own >= total)[columns & (total > 0)]))
        if len(side) >= _SOME and 5 * count >= 3 * max(1, int(np.count_nonzero(columns))):
            return True
    return False


def _greatest(search: SumSearch, row: int, rows: Ints) -> bool:
    """Whether no row near it is larger in most columns, as the sum of its neighbours would be."""
    import numpy as np

    at = int(np.searchsorted(rows, row))
    near = np.abs(search.numbers.values[rows[max(0, at - 4) : at + 5]])
    if len(near) < 3:  # none at all where every row is a total
        return False
    own = np.abs(search.numbers.values[row])
    columns = ~np.isnan(own) & (own != 0)
    largest = np.nan_to_num(near).max(axis=0)
    count = int(np.count_nonzero(own[columns] >= largest[columns]))
    return 5 * count >= 3 * max(1, int(np.count_nonzero(columns)))


def _differs(
    search: SumSearch,
    row: int,
    rows: Ints,
    signs: Mapping[int, Sign],
    marks: Mapping[int, ProvenRow],
) -> tuple[tuple[int, float, float], ...]:
    """Of a plain Total at the end of a table: its numbers and what the rows above give instead,
    where they are of one size. `Total, Female` is the total of some of them."""
    import numpy as np

    if not _is_plain(signs, row) or row != int(rows[-1]) or signs[row].keys < 0:
        return ()
    parts = _without(rows, {row, *marks, *signs})
    if len(parts) < 2:
        return ()
    numbers, off = search.numbers, []
    # Twice the total is no mistake of the file: the parts hold subtotals that nothing calls so.
    own = numbers.values[row]
    sums = np.array([numbers.filled[parts, c].sum() for c in range(len(own))])
    times = np.maximum(1, np.round(sums / np.where(own == 0, np.nan, own)))
    _, exact = numbers.close(own * times, sums, len(parts))
    for c in np.flatnonzero(~np.isnan(own) & numbers.additive & ~exact):
        printed, total = float(own[c]), float(sums[c])
        if not total:
            continue
        column = numbers.values[parts, c]
        within = np.nanmin(column) <= printed <= np.nanmax(column)
        if not within and 0.3 <= printed / total <= 3:
            off.append((int(c), printed, total))
    return tuple(off)
