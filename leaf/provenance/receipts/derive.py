"""Figures that follow from others by one step: difference, sum, ratio, share, growth, points,
total, average. Pure.

With enough numbers at hand, some pair of them gives anything. So a step is believed only if it is
unlikely that any of those that were tried would meet the figure by chance, and the less the text
says of what it was made from, the more unlikely.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

import numpy as np

from leaf.provenance.receipts.evidence import SMALL, ResultNumbers, Value, bounds
from leaf.provenance.receipts.figures import Figure, NumberRange
from leaf.provenance.receipts.moments import before, columns_before
from leaf.provenance.receipts.total_rows import total_rows, without_totals
from leaf.provenance.receipts.words import tokens

SENTENCE, LABELLED, PARAGRAPH, ANYWHERE = 0.5, 0.3, 0.1, 0.03
"""Expected hits by chance up to which a step is believed: from figures of the sentence, from cells
whose rows the sentence names, from figures of the paragraph, from any cells of one result."""
RECALLED = 0.02
"""The same for what follows from results of earlier answers."""
SURE = 0.1
"""The same for whole numbers below 100, that of the step itself counted in: any few figures give
some of those."""
PAIRED = 60
"""Rows of a result whose cells are paired with each other without being named."""
NAMED = 12
"""Rows named in a sentence, and columns of a row, that are paired."""
TOP = 10
"""A text may speak of the first two to ten rows together."""
_TOGETHER = tokens(
    "top first leading largest biggest best highest together combined jointly ersten größten "
    "besten zusammen gemeinsam premiers premières principaux principales meilleurs meilleures ensemble "
    "cumulés réunis primeros primeras mejores mayores juntos juntas conjunto sumados"
)
_TYPICAL = tokens(
    "average mean median typical typically range span spread each per durchschnitt "
    "durchschnittlich durchschnittliche durchschnittlichen schnitt mittel mittelwert mittlere "
    "mittleren typisch typischerweise spanne spannweite moyenne moyen moyennes médiane médian "
    "typique étendue écart chaque media promedio mediana mediano medio típico rango cada"
)
DIFFERENCE, SUM, RATIO, SHARE, GROWTH, POINTS, POINTS_OF_RATIOS, OTHER, OF_ALL = range(9)
CHANGES = frozenset({DIFFERENCE, GROWTH, POINTS, POINTS_OF_RATIOS})
"""Steps that have a direction: the first less the second. `OF_ALL` is one row's share of a total."""
_SIGNS = ("{} − {}", "{} + {}", "{} ÷ {}", "{} ÷ {}", "({} − {}) ÷ {}", "{} − {}", "{} − {}")
_UNITS: dict[str, int] = {"number": 0, "percent": 1, "points": 2}
_DIFFERENCES, _RATIOS = (DIFFERENCE, POINTS, POINTS_OF_RATIOS), (RATIO, SHARE)
_UNIT_OF = np.array([0, 0, 0, 1, 1, 2, 2, 0])
_TIMES = re.compile(r"\s?(?:x\b|×|-?fold\b|times\b|-?fach|mal\b|fois\b|veces\b)", re.IGNORECASE)
HITS = 12
"""Steps that give the same figure and are looked at for its direction."""


@dataclass(frozen=True)
class DerivationStep:
    """How one number came about."""

    how: str
    value: Value
    """One that it is made from."""
    other: Value | None = None
    """The other one, of a pair."""
    operation: int = OTHER


@dataclass(frozen=True)
class Derivation:
    """What a figure follows from."""

    number: float
    step: DerivationStep
    rest: tuple[DerivationStep, ...]
    """Other steps of the same pool that give it too."""


@dataclass
class Steps:
    """Numbers that follow from some others, in one array."""

    numbers: Any
    """float64."""
    units: Any
    """int8: what it may be written as, see `_UNITS`."""
    groups: Any
    """int: the same for numbers that say the same of the same pair, such as the growth from one to
    the other and back."""
    describe: Callable[[int], DerivationStep]
    """How number i came about."""


def derive(
    figure: Figure,
    said: frozenset[str],
    after: str,
    pools: Iterable[tuple[Steps, float]],
    fits: Callable[[DerivationStep], bool] = lambda _: True,
) -> Derivation | None:
    """The first step that gives the figure, where it is unlikely that any would by chance.

    `said`: the words of its sentence; `after`: the text behind it; `fits`: whether the sentence
    leaves a step possible.
    """
    unit = _UNITS.get(figure.unit)
    times = bool(_TIMES.match(after))
    of_pieces = times or bool(said & _TYPICAL)
    for steps, limit in pools if unit is not None else ():
        usable = np.flatnonzero(steps.units == unit)
        if not len(usable):
            continue
        signed = steps.numbers[usable]
        numbers = np.abs(signed)
        for reading in figure.readings:
            low, high = bounds(reading)
            hits = np.flatnonzero((numbers >= low) & (numbers <= high))
            if not len(hits) or not _likely(
                numbers, steps.groups[usable], reading, limit, unit == 0 and not times
            ):
                continue
            # Of `a − b` and `b − a` the one that gives the number as it is written.
            ranking = sorted(
                hits,
                key=lambda i: (
                    abs(numbers[i] - abs(reading.value)),
                    (signed[i] < 0) != (reading.value < 0),
                    i,
                ),
            )
            steps_found = ((i, steps.describe(int(usable[i]))) for i in ranking)
            fitting = list(
                islice(
                    (
                        (i, step)
                        for i, step in steps_found
                        if not _is_one_alone(step, reading) and fits(step)
                    ),
                    HITS,
                )
            )
            described = [step for _, step in fitting]
            if not fitting:
                continue
            if times and not any(step.operation == RATIO for step in described):
                continue
            if _is_small(reading) and not of_pieces and described[0].operation == RATIO:
                continue
            return Derivation(float(signed[fitting[0][0]]), described[0], tuple(described[1:]))
    return None


def _is_one_alone(step: DerivationStep, reading: NumberRange) -> bool:
    """Whether one of the two numbers is the figure itself, beside which the other is nothing: who
    may not be it as it stands is it no more less 0.01."""
    low, high = bounds(reading)
    return step.operation in (DIFFERENCE, SUM, RATIO) and any(
        low <= abs(value.number) <= high for value in (step.value, step.other) if value
    )


def _is_small(reading: NumberRange) -> bool:
    return reading.high - reading.low >= 1 and abs(reading.value) < SMALL


def _likely(numbers: Any, groups: Any, reading: NumberRange, limit: float, plain: bool) -> bool:
    """Whether it is unlikely that any of so many steps would meet the figure by chance."""
    others = _different(numbers, groups, reading.value)
    if plain and _is_small(reading):
        return limit >= LABELLED and chance(others + 1, reading) <= SURE
    return chance(others, reading) <= limit


def chance(others: int, reading: NumberRange) -> float:
    """How many of so many other values of about this size would lie within the bounds if they lay
    anywhere."""
    low, high = bounds(reading)
    width = abs(reading.value) * (1.5 - 1 / 1.5)
    return others * (high - low) / width if width else float(others + 1)


def _different(numbers: Any, groups: Any, value: float) -> int:
    """Different steps to a number of about this size, but for the one that was met."""
    near = np.flatnonzero((numbers >= abs(value) / 1.5) & (numbers <= abs(value) * 1.5))
    return max(0, min(len(np.unique(np.round(numbers[near], 9))), len(np.unique(groups[near]))) - 1)


def of_figures(found: Sequence[tuple[Figure, Value]]) -> Steps:
    """Steps from two figures of a text that have a receipt."""
    usable = [(figure, value) for figure, value in found if figure.unit in _UNITS][:40]
    numbers = np.array([value.number for _, value in usable])
    return _pairs(numbers, [figure.text for figure, _ in usable], lambda i: usable[i][1])


def of_named(table: ResultNumbers, said: frozenset[str], spoken: bool = False) -> Steps:
    """Steps from cells whose rows a sentence names: two of one column, two of one row, and shares
    of a column's total.

    `spoken`: only from columns that it names as well.
    """
    named = sorted(table.named(said))
    if len(named) > 1:
        own = _only(table, named)
        named = [i for i in named if own[i] & said]
    rows = [0] if len(table.numbers) == 1 else named[:NAMED]
    measures = [j for j in range(len(table.columns)) if table.is_measure(j)]
    named_columns = [j for j in measures if tokens(table.columns[j]) & said]
    columns = named_columns if spoken else measures
    pools = [_of_column(table, rows, j) for j in columns]
    pools += [_of_row(table, i, columns) for i in rows]
    if table.whole and not table.part:
        pools += [_shares(table, rows, j) for j in named_columns or columns]
    return _joined(pools)


def of_best(table: ResultNumbers, said: frozenset[str]) -> Steps:
    """Steps from the rows and columns of which a sentence says most: `North 2024` rather than all
    of North and all of 2024."""
    rows, columns = _best_rows(table, said), _best_columns(table, said)
    if len(table.labels) == 1:
        rows = [0]
    if len(rows) == len(table.named(said)) and len(columns) == len(_spoken(table, said)):
        return _joined([])
    across = [_of_row(table, i, columns) for i in rows] if len(columns) > 1 else []
    return _joined([*(_of_column(table, rows, j) for j in columns), *across])


def of_before(table: ResultNumbers, said: frozenset[str]) -> Steps:
    """Steps from what a sentence names to what came just before it in time: another row, or another
    column."""
    earlier, columns = before(table), _best_columns(table, said)
    rows = [0] if len(table.labels) == 1 else _best_rows(table, said)
    pools = [
        _of_column(table, (earlier[i], i), j, sums=False)
        for i in rows
        if i in earlier
        for j in columns
    ]
    past = columns_before(table)
    pools += [_of_row(table, i, (past[j], j)) for j in columns if j in past for i in rows]
    return _joined(pools)


def _best_rows(table: ResultNumbers, words: frozenset[str]) -> list[int]:
    """The named rows that have most words in common with a sentence."""
    named = table.named(words)
    most = max((len(table.labels[i] & words) for i in named), default=0)
    return [i for i in sorted(named) if len(table.labels[i] & words) == most][:NAMED]


def _best_columns(table: ResultNumbers, words: frozenset[str]) -> list[int]:
    """The same of columns of numbers; all of them where none is named."""
    measures = [j for j in range(len(table.columns)) if table.is_measure(j)]
    common = {j: len(tokens(table.columns[j]) & words) for j in measures}
    return [j for j in measures if common[j] == max(common.values())][:NAMED]


def _spoken(table: ResultNumbers, words: frozenset[str]) -> Sequence[int]:
    """The columns that a sentence names, or all where it names none."""
    measures = [j for j in range(len(table.columns)) if table.is_measure(j)]
    return [j for j in measures if tokens(table.columns[j]) & words] or measures


def of_totals(table: ResultNumbers, said: frozenset[str]) -> Steps:
    """Sum of each column, and its average, median or span if the sentence speaks of one; only where
    all rows are here, and of the first rows only if it speaks of rows together."""
    if not table.whole or (table.part and not said & _TOGETHER):
        return _joined([])
    typical = bool(said & _TYPICAL)
    return table.kept(
        f"totals {typical}",
        lambda: _joined([_totals(table, j, typical) for j in range(table.numbers.shape[1])]),
    )


def of_first(table: ResultNumbers, said: frozenset[str]) -> Steps:
    """The first rows together, if the sentence speaks of rows together; only where all rows of the
    result are here."""
    if not table.whole or not said & _TOGETHER:
        return _joined([])
    return table.kept(
        "first", lambda: _joined([_first_rows(table, j) for j in range(table.numbers.shape[1])])
    )


def of_cells(table: ResultNumbers) -> Steps:
    """Steps from any two cells of a column or a row of a short result; for sentences that do not
    say which rows they speak of.

    Rows are not added up that nobody names: of a part of all rows that would look like their total.
    """
    if len(table.numbers) > PAIRED:
        return _joined([])
    rows, columns = (
        list(range(len(table.numbers))),
        [j for j in range(len(table.columns)) if table.is_measure(j)][:NAMED],
    )
    return table.kept(
        "cells",
        lambda: _joined(
            [
                *(_of_column(table, rows, j, sums=False) for j in columns),
                *(_of_row(table, i, columns) for i in rows),
            ]
        ),
    )


def _only(table: ResultNumbers, rows: Sequence[int]) -> dict[int, frozenset[str]]:
    """For each row the words that it does not share with all others of these."""
    shared = frozenset.intersection(*(table.labels[i] for i in rows))
    return {i: table.labels[i] - shared for i in rows}


def _pairs(
    numbers: Any, names: Sequence[str], cell: Callable[[int], Value], sums: bool = True
) -> Steps:
    """All steps from two of some numbers."""
    count = len(numbers)
    a, b = np.nonzero(~np.eye(count, dtype=bool))
    x, y = numbers[a], numbers[b]
    with np.errstate(all="ignore"):
        values = np.concatenate(
            [x - y, x + y, x / y, x / y * 100, (x - y) / np.abs(y) * 100, x - y, (x - y) * 100]
        )
    operations, back = np.repeat(np.arange(7), len(a)), np.tile(a > b, 7)
    pairs = np.tile(np.minimum(a, b) * count + np.maximum(a, b), 7)
    shares = np.tile(np.maximum(np.abs(x), np.abs(y)) > 1, 7)
    values[(operations == SUM) & (back | (not sums))] = np.nan
    values[np.isin(operations, _DIFFERENCES) & np.tile(x == y, 7)] = np.nan
    values[(operations == POINTS_OF_RATIOS) & shares] = np.nan
    good = np.flatnonzero(np.isfinite(values))
    directed = np.isin(operations, _RATIOS) & back

    def describe(i: int) -> DerivationStep:
        at = good[i]
        first, second, operation = int(a[at % len(a)]), int(b[at % len(a)]), int(operations[at])
        how = _SIGNS[operation].format(names[first], names[second], names[second])
        return DerivationStep(how, cell(first), cell(second), operation)

    groups = (pairs * 16 + operations * 2 + directed)[good]
    return Steps(values[good], _UNIT_OF[operations[good]], groups, describe)


def _of_column(table: ResultNumbers, rows: Sequence[int], column: int, sums: bool = True) -> Steps:
    filled = [i for i in rows if not np.isnan(table.numbers[i, column])]
    names = [table.names[i] for i in filled]
    return _pairs(
        table.numbers[filled, column], names, lambda i: table.cell(filled[i], column), sums
    )


def _of_row(table: ResultNumbers, row: int, columns: Iterable[int]) -> Steps:
    filled = [j for j in columns if not np.isnan(table.numbers[row, j])][:NAMED]
    names = [table.columns[j] for j in filled]
    return _pairs(table.numbers[row, filled], names, lambda j: table.cell(row, filled[j]))


def _shares(table: ResultNumbers, rows: Sequence[int], column: int) -> Steps:
    """Shares of a column's total, of one row and of two together."""
    numbers = table.numbers[:, column]
    added = numbers[without_totals(table)]
    total = np.nansum(added)
    filled = [i for i in rows if not np.isnan(numbers[i]) and i not in total_rows(table)]
    if total <= 0 or (added[~np.isnan(added)] < 0).any() or len(added) < 2:
        return _listed([])
    name = table.columns[column]
    own = [(numbers[i] / total * 100, True, f"{table.names[i]} ÷ sum of {name}", i) for i in filled]
    together = [
        (
            (numbers[i] + numbers[j]) / total * 100,
            True,
            f"({table.names[i]} + {table.names[j]}) ÷ sum of {name}",
            i,
        )
        for i, j in combinations(filled, 2)
    ]
    return _joined(
        [
            _listed(
                [
                    (number, percent, how, table.cell(i, column))
                    for number, percent, how, i in shares
                ],
                operation,
            )
            for shares, operation in ((own, OF_ALL), (together, OTHER))
        ]
    )


def _totals(table: ResultNumbers, column: int, typical: bool) -> Steps:
    numbers = table.numbers[:, column]
    rows = without_totals(table)
    filled = rows[~np.isnan(numbers[rows])]
    if len(filled) < 2:
        return _listed([])
    values, name = numbers[filled], table.columns[column]
    first = table.cell(int(filled[0]), column)
    total = float(values.sum())
    totals = [(total, False, f"sum of {name}", first)]
    if not typical:
        return _listed(totals)
    totals += [
        (total / len(values), False, f"average of {name}", first),
        (float(np.median(values)), False, f"median of {name}", first),
        (float(values.max() - values.min()), False, f"largest − smallest {name}", first),
    ]
    return _listed(totals)


def _first_rows(table: ResultNumbers, column: int) -> Steps:
    rows = without_totals(table)
    numbers = table.numbers[rows, column]
    name, sums = table.columns[column], []
    total = float(np.nansum(numbers))
    for count in range(2, min(TOP, len(numbers) - 1) + 1):
        some = numbers[:count]
        if np.isnan(some).any():
            break
        first = table.cell(int(rows[0]), column)
        sums.append((float(some.sum()), False, f"sum of the first {count} of {name}", first))
        if total > 0 and not table.part and not (numbers < 0).any():
            sums.append(
                (float(some.sum()) / total * 100, True, f"the first {count} ÷ sum of {name}", first)
            )
    return _listed(sums)


def _listed(entries: Sequence[tuple[float, bool, str, Value]], operation: int = OTHER) -> Steps:
    numbers = np.array([number for number, _, _, _ in entries], dtype=float)
    units = np.array([int(percent) for _, percent, _, _ in entries], dtype=int)
    return Steps(
        numbers,
        units,
        np.arange(len(entries)),
        lambda i: DerivationStep(entries[i][2], entries[i][3], operation=operation),
    )


def _joined(pools: Sequence[Steps]) -> Steps:
    full_pools = [pool for pool in pools if len(pool.numbers)]
    if not full_pools:
        return _listed([])
    ends = np.cumsum([len(pool.numbers) for pool in full_pools])
    shifts = np.cumsum([0, *(int(pool.groups.max()) + 1 for pool in full_pools)])

    def describe(i: int) -> DerivationStep:
        which = int(np.searchsorted(ends, i, side="right"))
        return full_pools[which].describe(i - (int(ends[which - 1]) if which else 0))

    return Steps(
        np.concatenate([p.numbers for p in full_pools]),
        np.concatenate([p.units for p in full_pools]),
        np.concatenate([p.groups + shift for p, shift in zip(full_pools, shifts, strict=False)]),
        describe,
    )
