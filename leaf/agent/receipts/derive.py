"""Figures that follow from others by one step: difference, sum, ratio, share, growth, total, average. Pure.

With enough numbers at hand, some pair of them gives anything. So a step is believed only if it is unlikely that any of
those that were tried would meet the figure by chance, and the less the text says of what it was made from, the more unlikely.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from leaf.agent.receipts.evidence import Table, Value, bounds, tokens
from leaf.agent.receipts.figures import Figure, Reading

SENTENCE, LABELLED, PARAGRAPH, ANYWHERE = 0.5, 0.3, 0.1, 0.03
"""Expected hits by chance up to which a step is believed: from figures of the sentence, from cells whose rows the sentence names,
from figures of the paragraph, from any cells of one result."""
PAIRED = 60
"""Rows of a result whose cells are paired with each other without being named."""
NAMED = 12
"""Rows named in a sentence, and columns of a row, that are paired."""
TOP = 10
"""A text may speak of the first two to ten rows together."""
_TOGETHER = tokens("top first leading largest biggest best highest together combined jointly ersten größten besten zusammen")
_TYPICAL = tokens("average mean median typical typically range span spread each per durchschnitt durchschnittlich mittel spanne")
_DIFFERENCE, _SUM, _RATIO, _SHARE, _GROWTH = range(5)
_SIGNS = ("{} − {}", "{} + {}", "{} ÷ {}", "{} ÷ {}", "({} − {}) ÷ {}")


@dataclass(frozen=True)
class Derived:
    """What a figure follows from."""

    number: float
    how: str
    value: Value
    """One that it is made from."""


@dataclass
class Steps:
    """Numbers that follow from some others, in one array."""

    numbers: Any
    """float64."""
    percent: Any
    """bool: whether it is a share or growth, in percent."""
    describe: Callable[[int], tuple[str, Value]]
    """How number i came about."""


def derive(figure: Figure, pools: Iterable[tuple[Steps, float]]) -> Derived | None:
    """The first step that gives the figure, where it is unlikely that any would by chance."""
    readings = figure.readings if figure.unit in ("number", "percent") else ()
    for steps, limit in pools:
        usable = np.flatnonzero(steps.percent == (figure.unit == "percent")) if len(steps.numbers) else ()
        if not len(usable):
            continue
        numbers = np.abs(steps.numbers[usable])
        for reading in readings:
            low, high = bounds(reading)
            hits = np.flatnonzero((numbers >= low) & (numbers <= high))
            if len(hits) and chance(_different(numbers, reading.value), reading) <= limit:
                best = min(hits, key=lambda i: (abs(numbers[i] - abs(reading.value)) > 1e-9 * abs(reading.value), i))
                how, value = steps.describe(int(usable[best]))
                return Derived(float(steps.numbers[usable[best]]), how, value)
    return None


def chance(others: int, reading: Reading) -> float:
    """How many of so many other values of about this size would lie within the bounds if they lay anywhere."""
    low, high = bounds(reading)
    width = abs(reading.value) * (1.5 - 1 / 1.5)
    return others * (high - low) / width if width else float(others + 1)


def _different(numbers: Any, value: float) -> int:
    """Different numbers of about this size, but for the one that was met."""
    near = numbers[(numbers >= abs(value) / 1.5) & (numbers <= abs(value) * 1.5)]
    return max(0, len(np.unique(np.round(near, 9))) - 1)


def of_figures(found: Sequence[tuple[Figure, Value]]) -> Steps:
    """Steps from two figures of a text that have a receipt."""
    usable = [(figure, value) for figure, value in found if figure.unit in ("number", "percent")][:40]
    numbers = np.array([value.number for _, value in usable])
    return _pairs(numbers, [figure.text for figure, _ in usable], lambda i: usable[i][1])


def of_named(table: Table, said: frozenset[str]) -> Steps:
    """Steps from cells whose rows a sentence names: two of one column, two of one row, and shares of a column's total."""
    named = sorted(table.named(said))
    if len(named) > 1:
        own = _only(table, named)
        named = [i for i in named if own[i] & said]
    rows = [0] if len(table.numbers) == 1 else named[:NAMED]
    found = [_of_column(table, rows, j) for j in range(table.numbers.shape[1])]
    found += [_of_row(table, i) for i in rows]
    if table.whole:
        spoken = [j for j, name in enumerate(table.columns) if tokens(name) & said] or range(len(table.columns))
        found += [_shares(table, rows, j) for j in spoken]
    return _joined(found)


def of_totals(table: Table, said: frozenset[str]) -> Steps:
    """Sum of each column, and its average, median or span if the sentence speaks of one; only where all rows are here."""
    if not table.whole:
        return _joined([])
    typical = bool(said & _TYPICAL)
    return table.kept(f"totals {typical}", lambda: _joined([_totals(table, j, typical) for j in range(table.numbers.shape[1])]))


def of_first(table: Table, said: frozenset[str]) -> Steps:
    """The first rows together, if the sentence speaks of rows together; only where all rows of the result are here."""
    if not table.whole or not said & _TOGETHER:
        return _joined([])
    return table.kept("first", lambda: _joined([_first_rows(table, j) for j in range(table.numbers.shape[1])]))


def of_cells(table: Table) -> Steps:
    """Steps from any two cells of a column or a row of a short result; for sentences that do not say which rows they speak of.

    Rows are not added up that nobody names: of a part of all rows that would look like their total.
    """
    if len(table.numbers) > PAIRED:
        return _joined([])
    rows, columns = list(range(len(table.numbers))), range(min(NAMED, table.numbers.shape[1]))
    return table.kept(
        "cells", lambda: _joined([*(_of_column(table, rows, j, sums=False) for j in columns), *(_of_row(table, i) for i in rows)])
    )


def _only(table: Table, rows: Sequence[int]) -> dict[int, frozenset[str]]:
    """For each row the words that it does not share with all others of these."""
    shared = frozenset.intersection(*(table.labels[i] for i in rows))
    return {i: table.labels[i] - shared for i in rows}


def _pairs(numbers: Any, names: Sequence[str], cell: Callable[[int], Value], sums: bool = True) -> Steps:
    """All steps from two of some numbers."""
    count = len(numbers)
    a, b = np.nonzero(~np.eye(count, dtype=bool))
    x, y = numbers[a], numbers[b]
    with np.errstate(all="ignore"):
        found = np.concatenate([x - y, x + y, x / y, x / y * 100, (x - y) / np.abs(y) * 100])
    operations = np.repeat(np.arange(5), len(a))
    found[(operations == _SUM) & (np.tile(a > b, 5) | (not sums))] = np.nan
    found[(operations == _DIFFERENCE) & np.tile(x == y, 5)] = np.nan
    good = np.flatnonzero(np.isfinite(found))

    def describe(i: int) -> tuple[str, Value]:
        at = good[i]
        first, second = int(a[at % len(a)]), int(b[at % len(a)])
        return _SIGNS[int(operations[at])].format(names[first], names[second], names[second]), cell(first)

    return Steps(found[good], operations[good] >= _SHARE, describe)


def _of_column(table: Table, rows: Sequence[int], column: int, sums: bool = True) -> Steps:
    filled = [i for i in rows if not np.isnan(table.numbers[i, column])]
    names = [table.names[i] for i in filled]
    return _pairs(table.numbers[filled, column], names, lambda i: table.cell(filled[i], column), sums)


def _of_row(table: Table, row: int) -> Steps:
    filled = [int(j) for j in np.flatnonzero(~np.isnan(table.numbers[row]))][:NAMED]
    names = [table.columns[j] for j in filled]
    return _pairs(table.numbers[row, filled], names, lambda j: table.cell(row, filled[j]))


def _shares(table: Table, rows: Sequence[int], column: int) -> Steps:
    """Shares of a column's total, of one row and of two together."""
    numbers = table.numbers[:, column]
    total = np.nansum(numbers)
    filled = [i for i in rows if not np.isnan(numbers[i])]
    if total <= 0 or (numbers[~np.isnan(numbers)] < 0).any() or len(numbers) < 2:
        return _listed([])
    name = table.columns[column]
    found = [(numbers[i] / total * 100, True, f"{table.names[i]} ÷ sum of {name}", i) for i in filled]
    found += [
        ((numbers[i] + numbers[j]) / total * 100, True, f"({table.names[i]} + {table.names[j]}) ÷ sum of {name}", i)
        for i, j in combinations(filled, 2)
    ]
    return _listed([(number, percent, how, table.cell(i, column)) for number, percent, how, i in found])


def _totals(table: Table, column: int, typical: bool) -> Steps:
    numbers = table.numbers[:, column]
    filled = np.flatnonzero(~np.isnan(numbers))
    if len(filled) < 2:
        return _listed([])
    given, name = numbers[filled], table.columns[column]
    first = table.cell(int(filled[0]), column)
    total = float(given.sum())
    found = [(total, False, f"sum of {name}", first)]
    if not typical:
        return _listed(found)
    found += [
        (total / len(given), False, f"average of {name}", first),
        (float(np.median(given)), False, f"median of {name}", first),
        (float(given.max() - given.min()), False, f"largest − smallest {name}", first),
    ]
    return _listed(found)


def _first_rows(table: Table, column: int) -> Steps:
    numbers = table.numbers[:, column]
    name, found = table.columns[column], []
    total = float(np.nansum(numbers))
    for count in range(2, min(TOP, len(numbers) - 1) + 1):
        some = numbers[:count]
        if np.isnan(some).any():
            break
        first = table.cell(0, column)
        found.append((float(some.sum()), False, f"sum of the first {count} of {name}", first))
        if total > 0 and not (numbers < 0).any():
            found.append((float(some.sum()) / total * 100, True, f"the first {count} ÷ sum of {name}", first))
    return _listed(found)


def _listed(found: Sequence[tuple[float, bool, str, Value]]) -> Steps:
    numbers = np.array([number for number, _, _, _ in found], dtype=float)
    percent = np.array([percent for _, percent, _, _ in found], dtype=bool)
    return Steps(numbers, percent, lambda i: (found[i][2], found[i][3]))


def _joined(pools: Sequence[Steps]) -> Steps:
    kept = [pool for pool in pools if len(pool.numbers)]
    if not kept:
        return _listed([])
    ends = np.cumsum([len(pool.numbers) for pool in kept])

    def describe(i: int) -> tuple[str, Value]:
        which = int(np.searchsorted(ends, i, side="right"))
        return kept[which].describe(i - (int(ends[which - 1]) if which else 0))

    return Steps(np.concatenate([p.numbers for p in kept]), np.concatenate([p.percent for p in kept]), describe)
