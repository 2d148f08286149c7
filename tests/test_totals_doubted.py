"""Which rows are kept and named as doubtful: sums without a word, words without a sum, and a plain
total that its rows do not give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pytest

from leaf.readers.tabular import totals
from leaf.readers.tabular.spans import SumSpan
from leaf.readers.tabular.sums import Sign, SumSearch
from leaf.readers.tabular.totals import DoubtfulRow, ProvenRow
from tests.test_totals_evidence import label
from tests.test_totals_weighed import ALL, BARE, NORTH, SUBTOTAL, TOTAL, numbers, search, span

WINE, RESULT, MOUNTAINS = (label(text) for text in ("Total Wine", "Result", "All mountains"))
Off = tuple[tuple[int, float, float], ...]


def doubted(
    found: SumSearch,
    signs: Mapping[int, Sign] | None = None,
    marks: Iterable[int] = (),
    rows: int = 12,
) -> dict[int, DoubtfulRow]:
    proven = {row: ProvenRow("total") for row in marks}
    return totals._doubted(found, signs or {}, proven, np.arange(rows))


@pytest.mark.parametrize(
    ("count", "rows", "more", "named"),
    [
        (2, 3, {}, {2, 3}),
        (3, 4, {}, set()),
        (3, 6, {}, {2, 3, 4}),
        (4, 6, {}, set()),
        (4, 6, {"certain": True}, {2, 3, 4, 5}),
        (4, 6, {"tiled": (3, 4)}, {3, 4}),
    ],
)
def test_sums_that_nothing_calls_so_are_named_unless_they_are_most_rows(
    count: int, rows: int, more: dict[str, Any], named: set[int]
) -> None:
    spans = [span(row, range(row - 2, row)) for row in range(2, 2 + count)]
    expected = dict.fromkeys(named, DoubtfulRow("subtotal", False))
    assert doubted(search(spans, **more), rows=rows) == expected
    assert doubted(search(spans, **more), marks=range(2, 2 + count), rows=rows) == {}


SUM, PART = DoubtfulRow("total", False), DoubtfulRow("subtotal", False)
HUNDRED = numbers([50, 40], [50, 60], [70, 10], [30, 90], [100, 100])


@pytest.mark.parametrize(
    ("one", "other", "more", "marks", "doubts"),
    [
        (span(4, (2, 3)), span(4, (0, 1, 5)), {}, (), {4: SUM, 2: PART, 3: PART}),
        (span(4, (0, 1, 5)), span(4, (2, 3)), {}, (), {4: SUM, 2: PART, 3: PART}),
        (span(4, (2, 3)), span(4, (0, 1)), {}, (2,), {4: SUM, 3: PART}),
        (span(4, (2, 3)), span(4, (0, 1)), {}, (4,), {2: PART, 3: PART}),
        (span(4, (2, 3), off=((1, 4.0, 5.0),)), span(4, (0, 1)), {}, (), {4: PART}),
        (span(4, (2, 3)), span(4, (0, 1), off=((1, 4.0, 5.0),)), {}, (), {4: PART}),
        (span(4, (2, 3)), span(4, (0, 1)), {"values": HUNDRED}, (), {4: PART}),
    ],
)
def test_a_row_that_is_the_sum_of_two_groups_is_doubtful_with_the_smaller_one(
    one: SumSpan,
    other: SumSpan,
    more: dict[str, Any],
    marks: tuple[int, ...],
    doubts: dict[int, DoubtfulRow],
) -> None:
    assert doubted(search([one], again=[other], **more), marks=marks) == doubts


@pytest.mark.parametrize(
    ("one", "doubtful"),
    [
        (span(5, range(5), 2.0), True),
        (span(5, range(5), 1.9), False),
        (span(5, range(5), 8.0, near=False), True),
        (span(5, range(5), 7.9, near=False), False),
        (span(5, range(4, 5), 7.9), False),
        (None, False),
    ],
)
def test_an_empty_key_is_doubted_beside_a_sum(one: SumSpan | None, doubtful: bool) -> None:
    found = search([one] if one else [])
    assert doubted(found, {5: BARE}) == ({5: PART} if doubtful else {})
    assert doubted(found, {5: BARE}, marks=(5,)) == {}


@pytest.mark.parametrize(
    ("sign", "one", "doubt"),
    [
        (Sign(TOTAL), span(5, range(5)), DoubtfulRow("total", True)),
        (Sign(NORTH), span(5, range(5)), DoubtfulRow("subtotal", True)),
        (Sign(label("Subtotal")), span(5, range(5)), DoubtfulRow("subtotal", True)),
        (
            Sign(TOTAL),
            span(5, range(5), off=((0, 4.0, 5.0),)),
            DoubtfulRow("total", True, ((0, 4.0, 5.0),)),
        ),
        (Sign(WINE), None, None),
    ],
)
def test_a_word_that_is_doubted_says_what_it_may_be(
    sign: Sign, one: SumSpan | None, doubt: DoubtfulRow | None
) -> None:
    assert doubted(search([one] if one else []), {5: sign}) == ({5: doubt} if doubt else {})


@pytest.mark.parametrize(
    ("sign", "brought"),
    [
        (Sign(label("Ensemble"), 0), True),
        (Sign(label("Ensemble"), 1), False),
        (Sign(label("Ensemble"), 0, stub=False), False),
        (Sign(label("Ensemble"), 0, keys=-1), False),
        (Sign(label("Zusammen"), 0), False),
        (Sign(label("Ensemble"), 0, times=2), True),
    ],
)
def test_a_word_that_is_proven_elsewhere_is_doubted_where_it_comes_again(
    sign: Sign, brought: bool
) -> None:
    signs = {4: Sign(label("ENSEMBLE"), 0), 7: sign}
    said = {7: DoubtfulRow("total", True)} if brought else {}
    assert doubted(search(), signs, marks=(4,)) == said
    named = {4: Sign(WINE, 0, times=2), 7: Sign(WINE, 0, times=2)}
    assert doubted(search(), named, marks=(4,)) == {}


SMALL = numbers(*([9.0 - n] for n in range(9)))
LARGE = numbers(*([9.0 + n] for n in range(9)))


@pytest.mark.parametrize(
    ("sign", "bits", "doubtful"),
    [
        # a value that comes again
        (Sign(NORTH, times=2), 20, False),
        (Sign(NORTH, keys=1, times=2), 20, False),
        (Sign(ALL, times=2), 20, False),
        (Sign(TOTAL, keys=-1, stub=False, times=2), 20, False),
        (Sign(TOTAL, keys=-1, times=2), 0, True),
        (Sign(TOTAL, stub=False, times=2), 3, True),
        # what its sum says
        (Sign(TOTAL, keys=-1, stub=False), 3, True),
        (Sign(TOTAL, keys=-1, stub=False), 2.9, False),
        (Sign(RESULT), 3, True),
        (Sign(RESULT), 2.9, False),
        (Sign(RESULT, keys=1), 0, True),
        (Sign(TOTAL, keys=1, stub=False), 0, True),
        (Sign(WINE, keys=1, stub=False), 0, True),
        # what it is called
        (Sign(TOTAL), 0, True),
        (Sign(TOTAL, keys=-1), 0, True),
        (Sign(SUBTOTAL, keys=-1), 0, True),
        (Sign(ALL), 0, True),
        (Sign(ALL, keys=-1), 0, True),
        (Sign(NORTH, keys=-1), 0, True),
        (Sign(WINE, keys=-1), 0, False),
        (Sign(WINE), 0, False),
        (Sign(MOUNTAINS), 0, False),
    ],
)
def test_a_word_that_nothing_proves_is_doubted_by_what_it_is_and_where_it_stands(
    sign: Sign, bits: float, doubtful: bool
) -> None:
    one = span(5, range(5), bits) if bits else None
    assert totals._is_doubtful(search(values=SMALL), sign, one, 5, np.arange(9)) == doubtful


def test_a_name_is_doubted_where_its_row_is_the_greatest_near_it() -> None:
    at = (search(values=LARGE), None, 8, np.arange(9))
    for said in (WINE, MOUNTAINS):
        assert totals._is_doubtful(at[0], Sign(said), *at[1:])
        assert not totals._is_doubtful(at[0], Sign(said, keys=-1), *at[1:])


@pytest.mark.parametrize(
    ("table", "row", "greatest"),
    [
        ([[1], [7], [2]], 1, True),
        ([[7], [7], [2]], 1, True),
        ([[1], [-7], [2]], 1, True),
        ([[1], [7], [-8]], 1, False),
        ([[1], [7]], 1, False),  # too few to tell
        ([[1, 1, 1, 8, 8], [7, 7, 7, 7, 7], [2, 2, 2, 2, 2]], 1, True),  # in three of five
        ([[1, 1, 8, 8, 8], [7, 7, 7, 7, 7], [2, 2, 2, 2, 2]], 1, False),
        ([[1, 8, 8], [7, 0, np.nan], [2, 2, 2]], 1, True),  # zeros and gaps say nothing
        ([[8, 8], [0, np.nan], [2, 2]], 1, False),
        ([[np.nan, 1], [7, 7], [2, np.nan]], 1, True),
        ([[9], [1], [1], [1], [7], [1], [1], [1], [1], [9]], 4, False),  # four rows on each side
        ([[9], [1], [1], [1], [1], [7], [1], [1], [1], [1]], 5, True),
        ([[1], [1], [1], [1], [7], [1], [1], [1], [9]], 4, False),
        ([[1], [1], [1], [1], [7], [1], [1], [1], [1], [9]], 4, True),
        ([[9], [1], [7], [1]], 2, False),
        ([[1, 8], [7, 7], [2, 2]], 1, False),  # in one of two
    ],
)
def test_the_greatest_of_its_neighbours(table: list[list[float]], row: int, greatest: bool) -> None:
    found = search(values=numbers(*table))
    assert totals._greatest(found, row, np.arange(len(table))) == greatest


def test_where_every_row_is_a_total_none_is_the_greatest_of_its_neighbours() -> None:
    every = search(values=numbers([1], [7], [2]))
    assert not totals._greatest(every, 1, np.arange(0))


def test_neighbours_are_rows_with_numbers() -> None:
    found = search(values=numbers([1], [9], [9], [1], [7]))
    assert totals._greatest(found, 4, np.array([0, 3, 4]))
    assert not totals._greatest(found, 4, np.array([0, 1, 4]))


@pytest.mark.parametrize(
    ("table", "row", "outweighs"),
    [
        ([[9], [1], [2], [3], [6], [8]], 4, True),
        ([[9], [1], [2], [3], [5.9], [8]], 4, False),
        ([[8], [6], [1], [2], [3], [0]], 1, True),  # its rows stand below it
        ([[1], [2], [9], [8], [7]], 2, False),  # of two rows that is chance
        ([[9], [-1], [-2], [-3], [-6], [8]], 4, True),
        ([[9], [-4], [2], [2], [6], [8]], 4, False),
        ([[0], [0], [0], [6], [8]], 3, False),  # zeros say nothing
        ([[1, 1], [2, np.nan], [3, 1], [6, 1], [9, 9]], 3, False),  # in one of two
        ([[1, 1], [2, np.nan], [3, 1], [6, np.nan], [9, 9]], 3, True),
        ([[1, 1, 1], [2, 2, 2], [3, 3, 3], [6, 7, 5], [9, 9, 9]], 3, True),  # in two of three
    ],
)
def test_a_row_outweighs_three_rows_that_it_may_be_the_total_of(
    table: list[list[float]], row: int, outweighs: bool
) -> None:
    every = np.arange(len(table))
    first = {0: Sign(TOTAL), row: Sign(WINE)} if table[0][0] in (8, 9) else {row: Sign(WINE)}
    done = search(values=numbers(*table), signs=first)
    assert totals._outweighs(done, row, every) == outweighs
    assert totals._is_doubtful(done, Sign(WINE, keys=-1), None, row, every) == outweighs


def test_rows_beside_it_end_at_the_next_that_is_called_a_total() -> None:
    table = numbers([9], [8], [1], [1], [1], [4], [8], [9])
    every = np.arange(8)
    signs = {1: Sign(TOTAL), 5: Sign(WINE)}
    assert totals._outweighs(search(values=table, signs=signs), 5, every)
    assert not totals._outweighs(search(values=table, signs={5: Sign(WINE)}), 5, every)
    assert not totals._outweighs(search(values=table, signs={**signs, 3: Sign(NORTH)}), 5, every), (
        "one row is none"
    )
    assert not totals._outweighs(
        search(values=numbers([1], [1], [1], [4], rates=[0])), 3, np.arange(4)
    ), "rates do not add up"


# --- where a plain total at the end is wrong


@pytest.mark.parametrize(
    ("parts", "printed", "off"),
    [
        ([10, 25], 50, True),
        ([10, 25], 35, False),
        ([10, 25], 25, False),  # among its parts
        ([10, 25], 10, False),
        ([10, 25], 26, True),
        ([10, 25], 105, True),
        ([10, 25], 106, False),  # of another size
        ([10, 10, 10], 9, True),
        ([10, 10, 10], 8, False),
        ([10, 30, 30], 35, False),  # half of it: each is counted twice
        ([10, 30, 30], 36, True),
        ([10, np.nan, 30], 50, True),
        ([np.nan, np.nan], 50, False),
        ([-10, 10], 50, False),
        ([0.5, 0.5], 1, False),
        ([10, 25], np.nan, False),
        ([10, 25], 0, False),
    ],
)
def test_a_number_of_a_plain_total_is_wrong_where_it_is_of_the_size_of_its_rows(
    parts: list[float], printed: float, off: bool
) -> None:
    def differs(signs: Mapping[int, Sign], last: int, rates: tuple[int, ...] = ()) -> Off:
        values = numbers(*([1, part] for part in [*parts, printed]), [2, 3], rates=rates)
        rows = np.arange(last + 1)
        return totals._differs(search(values=values), len(parts), rows, signs, {})

    at = len(parts)
    assert differs({at: Sign(TOTAL)}, at, (0,)) == (
        ((1, float(printed), float(np.nansum(parts))),) if off else ()
    )
    assert differs({at: Sign(TOTAL)}, at, (0, 1)) == ()
    assert differs({at: Sign(NORTH)}, at, (0,)) == ()
    assert differs({at: Sign(TOTAL)}, at + 1, (0,)) == ()  # it does not end the table


def test_a_plain_total_is_held_against_two_rows_that_nothing_sets_apart() -> None:
    found, rows = search(values=numbers([10], [25], [7], [90], [50])), np.arange(5)
    last = {4: Sign(TOTAL)}
    mark = {3: ProvenRow("subtotal")}
    assert totals._differs(found, 4, rows, {**last, 2: BARE}, mark) == ((0, 50.0, 35.0),)
    assert totals._differs(found, 4, rows, {**last, 1: BARE, 2: BARE}, mark) == ()
    doubts = totals._doubted(found, {**last, 2: BARE}, mark, rows)
    assert doubts == {4: DoubtfulRow("total", True, ((0, 50.0, 35.0),))}
