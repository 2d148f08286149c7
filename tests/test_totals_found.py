"""Totals and averages among the numbers of a table, given what marks its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from leaf.readers.tabular import totals
from leaf.readers.tabular.spans import TableNumbers
from leaf.readers.tabular.sums import Sign
from leaf.readers.tabular.totals import DoubtfulRow, ProvenRow
from tests.test_totals_evidence import label

MEAN, MAX, LAND = Sign(label("Average")), Sign(label("Max")), Sign(label("Country mean"))
NOTE, SUMMARY = ProvenRow("note"), DoubtfulRow("summary", True)


def sign(text: str, **more: Any) -> Sign:
    return Sign(label(text), **more)


def find(
    rows: Sequence[Sequence[float]], signs: Mapping[int, Sign], **more: Any
) -> tuple[dict[int, ProvenRow], dict[int, DoubtfulRow]]:
    values = np.array(rows, dtype=float)
    columns = values.shape[1]
    rates = np.zeros(columns, dtype=bool)
    return totals.find(values, np.ones(columns), rates, signs, lambda *_: False, **more)


@pytest.mark.parametrize(
    ("said", "bits", "outcome"),
    [
        (MEAN, 3.0, NOTE),
        (MEAN, 2.9, SUMMARY),
        (MEAN, None, SUMMARY),
        (sign("Average", stub=False), None, SUMMARY),  # four bits of structure
        (sign("Average", keys=-1), 11.0, NOTE),
        (sign("Average", keys=-1), 10.9, SUMMARY),
        (sign("Average", keys=-1), 4.0, SUMMARY),
        (sign("Average", keys=-1), 3.9, None),
        (sign("Average", keys=-1), None, None),
        (sign("Average", keys=-1, stub=False), 13.9, None),
        (sign("Average", keys=-1, stub=False), 14.0, NOTE),
        (MAX, 9.0, NOTE),
        (MAX, 8.9, SUMMARY),
        (MAX, 3.9, None),
        (MAX, None, None),
        (sign("Max", keys=1), None, SUMMARY),
        (LAND, None, SUMMARY),
        (sign("Country mean", times=2), None, None),
        (sign("Total"), 20.0, None),
        (Sign(None), 20.0, None),
    ],
)
def test_averages_are_weighed_by_their_word_and_their_digits(
    monkeypatch: pytest.MonkeyPatch, said: Sign, bits: float | None, outcome: object
) -> None:
    monkeypatch.setattr(totals, "summaries", lambda *_: {} if bits is None else {2: bits})
    numbers = TableNumbers(np.ones((3, 1)), np.ones(1), np.zeros(1, dtype=bool))
    marks, doubts = totals._averages(numbers, {2: said}, [])
    assert marks == ({2: NOTE} if outcome is NOTE else {})
    assert doubts == ({2: SUMMARY} if outcome is SUMMARY else {})


VALUES = [[48_391.0], [77_213], [10_010], [61_387]]
TOTAL, AVERAGE = [sum(v for (v,) in VALUES)], [sum(v for (v,) in VALUES) / 4]


@pytest.mark.parametrize(
    ("said", "apart"),
    [
        (sign("Total"), True),
        (sign("North total"), True),
        (sign("Total", keys=-1), True),
        (sign("Total", stub=False), False),
        (sign("Total", stub=False, keys=1), True),
        (sign("All"), False),
        (sign("All", keys=1), True),
        (Sign(None, keys=1), True),
        (Sign(None, keys=0), False),
        (sign("Max"), True),
    ],
)
def test_an_average_is_one_of_the_rows_that_no_word_or_gap_sets_apart(
    said: Sign, apart: bool
) -> None:
    """A row that is no total, so that its sum says nothing."""
    rows = [*VALUES, [1_000_003.0], AVERAGE]
    marks, _ = find(rows, {4: said, 5: MEAN})
    assert (marks.get(5) == NOTE) == apart


def test_an_average_that_is_said_is_no_part_of_a_sum_and_no_total() -> None:
    rows = [*VALUES[:2], AVERAGE, *VALUES[2:], TOTAL]
    assert find(rows, {2: MEAN, 5: sign("Total")}) == (
        {2: NOTE, 5: ProvenRow("total", 0, 5)},
        {},
    )
    doubtful = find([*VALUES, [7.0]], {4: sign("Average", times=2)})
    assert doubtful == ({}, {4: SUMMARY})
    assert find([*VALUES, TOTAL], {4: sign("Max", times=2)})[0] == {}


def test_a_word_beside_no_number_says_nothing() -> None:
    assert find([*VALUES, [np.nan]], {4: sign("Total")}) == ({}, {})
    assert find([*VALUES, TOTAL, [np.nan]], {4: sign("Total"), 5: sign("Total")}) == (
        {4: ProvenRow("total", 0, 4)},
        {},
    )
    assert find([[np.nan], [np.nan]], {0: sign("Total"), 1: MEAN}) == ({}, {1: SUMMARY})
    assert find([[np.nan], [np.nan]], {}) == ({}, {})


def test_a_total_of_rows_that_do_not_stand_beside_it_is_that_of_all() -> None:
    rows = [*VALUES[:2], [7.0], *VALUES[2:], TOTAL]
    assert find(rows, {2: sign("All"), 5: sign("Total")})[0] == {}
    assert find(rows, {2: sign("Subtotal"), 5: sign("Total")}) == (
        {5: ProvenRow("total", 0, 5)},
        {2: DoubtfulRow("subtotal", True)},
    )


FIRST, SECOND = [48_391.0, 1_091.0], [77_213.0, 2_502.0]
BOTH = [a + b for a, b in zip(FIRST, SECOND, strict=True)]
OTHER = [10_010.0, 877.0]


def test_sums_of_rows_afar_are_named_and_what_is_left_of_another_is_the_one() -> None:
    rows = [FIRST, OTHER, SECOND, [613.0, 55.0], BOTH, [91.0, 977.0]]
    named = DoubtfulRow("subtotal", False)
    assert find(rows, {}) == ({}, {4: named})
    assert find(rows, {}, is_rest=lambda row: row == 2) == ({}, {2: named})


@pytest.mark.parametrize(("count", "found"), [(20_000, True), (20_001, False)])
def test_rows_without_a_sign_are_looked_at_in_tables_of_twenty_thousand(
    count: int, found: bool
) -> None:
    rows = np.full((count, 2), np.nan)
    numbers = np.random.default_rng(7).integers(10_000_000, 99_999_999, (2_100, 2))
    rows[:2_100] = numbers
    rows[60] = numbers[50:60].sum(axis=0)
    assert set(find(rows.tolist(), {})[1]) == ({60} if found else set())
