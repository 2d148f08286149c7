"""How the evidence for and against a total is weighed: each rule of it with both sides of its
boundary, on sums that are given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from leaf.readers.tabular import totals
from leaf.readers.tabular.labels import Label
from leaf.readers.tabular.spans import SumSpan, TableNumbers
from leaf.readers.tabular.sums import Sign, SumSearch
from leaf.readers.tabular.tiles import Tiling
from leaf.readers.tabular.totals import ProvenRow
from tests.test_totals_evidence import label

TOTAL, NORTH, SUBTOTAL, ALL = (
    label(text) for text in ("Total", "North total", "Subtotal North", "All")
)
BARE = Sign(None, keys=1)


def span(row: int, parts: Iterable[int], bits: float = 20.0, **more: Any) -> SumSpan:
    usual: dict[str, Any] = {"agree": (0,), "off": (), "inside": 0, "near": True, "whole": False}
    held = parts if isinstance(parts, range) else tuple(parts)
    return SumSpan(row, min(row, held[0]), max(row, held[-1]), held, bits=bits, **(usual | more))


def numbers(*rows: Iterable[float], rates: Iterable[int] = ()) -> TableNumbers:
    values = np.array([[*row] for row in rows], dtype=float)
    columns = values.shape[1]
    return TableNumbers(values, np.ones(columns), np.isin(np.arange(columns), list(rates)))


@dataclass
class Certain(SumSearch):
    """A search that was done: what it found is given."""

    sure: bool = False

    def certain(self, span: SumSpan) -> bool:
        return self.sure


def search(
    spans: Iterable[SumSpan] = (),
    values: TableNumbers | None = None,
    again: Iterable[SumSpan] = (),
    tiled: Iterable[int] = (),
    linked: bool = False,
    certain: bool = False,
    signs: Mapping[int, Sign] | None = None,
) -> SumSearch:
    """What a search found."""
    done = Certain(
        values or numbers(*([float(n)] for n in range(12))),
        signs or {},
        lambda row, one: linked,
        True,
        found={one.row: one for one in spans},
        again={one.row: one for one in again},
        tiled=set(tiled),
        sure=certain,
    )
    done.least = 16.0
    return done


def judged(
    found: SumSearch,
    signs: Mapping[int, Sign],
    rows: int = 12,
    tiles: Tiling | None = None,
) -> dict[int, ProvenRow]:
    marks: dict[int, ProvenRow] = {}
    totals._judge(found, signs, np.arange(rows), marks, {}, tiles)
    return marks


# --- what one sum weighs


@pytest.mark.parametrize(
    ("one", "weight"),
    [
        (span(4, range(4), 20), 20.0),
        (span(4, range(4), 20, near=False), 15.0),
        (span(4, range(4), 20, whole=True), 23.0),
        (span(4, range(4), 20, inside=1), 17.0),
        (span(4, range(4), 20, inside=2), 14.0),
        (span(4, range(4), 20, inside=3), 12.0),
        (span(4, range(4), 20, inside=9), 12.0),
    ],
)
def test_the_digits_of_a_sum_weigh_less_the_more_speaks_for_chance(
    one: SumSpan, weight: float
) -> None:
    assert totals._arithmetic(search(), one) == weight


def named(bits: float, row: int = 5, **more: Any) -> SumSpan:
    return span(row, range(2, 4), bits, **more)


@pytest.mark.parametrize(
    ("sign", "one", "more", "least"),
    [
        (Sign(NORTH), named, {}, 9.0),
        (Sign(NORTH, keys=1), named, {}, 5.0),
        (Sign(TOTAL), named, {}, 3.0),
        (Sign(NORTH), lambda bits: named(bits, 11), {}, 7.0),  # the last row, the first one
        (Sign(NORTH), lambda bits: named(bits, 0), {}, 7.0),
        (Sign(NORTH), lambda bits: named(bits, 10), {}, 9.0),
        (Sign(NORTH), lambda bits: named(bits, 1), {}, 9.0),
        (Sign(NORTH), named, {"linked": True}, 4.0),
        (Sign(TOTAL), named, {"linked": True}, 3.0),  # no name to be linked by
        (Sign(SUBTOTAL), named, {"linked": False}, 3.0),
        (Sign(NORTH), lambda bits: named(bits, near=False), {}, 14.0),
        (Sign(BARE.label, keys=1), named, {}, 10.0),
        (Sign(None, keys=0, formula=True), named, {}, 3.0),
        (Sign(None, keys=0, formula=True), lambda bits: named(bits, off=((1, 4.0, 9.0),)), {}, 3.0),
    ],
)
def test_structure_and_arithmetic_prove_together(
    sign: Sign, one: Any, more: dict[str, Any], least: float
) -> None:
    assert set(judged(search([one(least)], **more), {one(least).row: sign})) == {one(least).row}
    assert judged(search([one(least - 0.1)], **more), {one(least).row: sign}) == {}


def test_a_sum_of_sums_weighs_for_its_parts() -> None:
    inner = [span(2, range(2), 5), span(5, range(3, 5), 5)]
    less = [span(2, range(2), 4.9), span(5, range(3, 5), 4.9)]
    signs = {2: Sign(label("North total")), 5: Sign(label("Sum of South"))}
    assert set(judged(search([*inner, span(6, (2, 5))]), signs)) == {2, 5}
    assert judged(search([*inner, span(6, (2, 4))]), signs) == {}
    assert judged(search([*less, span(6, (2, 5))]), signs) == {}
    assert judged(search(inner), signs) == {}


@pytest.mark.parametrize(
    ("sign", "tiled"),
    [
        (None, ()),
        (Sign(None, keys=-1, formula=True), ()),  # it has a name of its own
        (Sign(TOTAL), (5,)),  # found by nothing but what it leaves over
    ],
)
def test_such_a_row_is_kept_however_much_it_weighs(
    sign: Sign | None, tiled: tuple[int, ...]
) -> None:
    signs = {5: sign} if sign else {}
    assert judged(search([named(99.0)], tiled=tiled), signs) == {}


# --- what is said against it


@pytest.mark.parametrize(
    ("sign", "one", "contradicted"),
    [
        (Sign(TOTAL), {"inside": 1}, False),
        (Sign(TOTAL), {"inside": 2}, True),
        (Sign(TOTAL), {"inside": 2, "agree": (0, 1)}, False),
        (Sign(TOTAL), {"off": ((1, 40.0, 80.0),)}, False),
        (Sign(TOTAL), {"off": ((1, 39.0, 80.0),)}, True),
        (Sign(TOTAL), {"off": ((1, 80.0, 40.0),)}, False),
        (Sign(TOTAL), {"off": ((1, 81.0, 40.0),)}, True),
        (Sign(TOTAL), {"off": ((1, 7.0, 0.0),)}, True),
        (Sign(TOTAL), {"off": ((1, 40.0, 41.0), (2, 40.0, 41.0))}, True),
        (Sign(TOTAL), {"off": ((1, 40.0, 41.0), (2, 4.0, 5.0)), "agree": (0, 3)}, False),
        (Sign(TOTAL), {"off": ((1, 40.0, 41.0), (2, 4.0, 41.0)), "agree": (0, 3)}, True),
        (Sign(TOTAL), {"off": ((1, 40.0, 41.0),), "bits": 4.0}, False),
        (Sign(TOTAL), {"off": ((1, 40.0, 41.0),), "bits": 3.9}, True),
        (Sign(TOTAL, keys=1), {"off": ((1, 40.0, 41.0),)}, False),
        (Sign(TOTAL, keys=-1), {"off": ((1, 40.0, 41.0),)}, True),
        (Sign(NORTH), {"off": ((1, 40.0, 41.0),)}, True),
        (Sign(NORTH, keys=1), {"off": ((1, 40.0, 41.0),)}, False),
        (Sign(ALL, keys=1), {"off": ((1, 40.0, 41.0),)}, True),
        (BARE, {"off": ((1, 40.0, 41.0),)}, True),
    ],
)
def test_a_column_that_disagrees_is_a_mistake_of_the_file_in_a_plain_total_alone(
    sign: Sign, one: dict[str, Any], contradicted: bool
) -> None:
    assert totals._contradicted(sign, span(5, range(2, 4), **one), 99.0) == contradicted


@pytest.mark.parametrize(
    ("one", "beside"),
    [
        (span(4, range(4)), True),
        (span(4, range(2, 4)), True),
        (span(4, range(3, 4)), False),
        (span(4, range(4), near=False), False),
        (span(4, range(4), off=((1, 4.0, 5.0),)), False),
        (span(4, range(4), inside=1), False),
    ],
)
def test_a_sum_of_those_beside_it_is_right_in_all_columns(one: SumSpan, beside: bool) -> None:
    assert totals._is_beside(one) == beside


def test_one_row_without_a_word_has_none_that_speaks_for_it() -> None:
    assert totals._together(search([span(4, range(4), 20)]), {4: BARE}) == {}


@pytest.mark.parametrize(("rows", "proven"), [(6, False), (7, True)])
def test_rows_without_a_word_are_left_out_unless_they_are_half_of_a_table(
    rows: int, proven: bool
) -> None:
    """A word is believed all the same."""
    spans = [span(r, (r - 1, r + 1), 12) for r in (1, 3, 4)]
    signs = {1: BARE, 3: BARE, 4: BARE, 5: Sign(TOTAL)}
    found = search([*spans, span(5, (0, 2), 20)])
    assert set(judged(found, signs, rows)) == ({1, 3, 4, 5} if proven else {5})


@pytest.mark.parametrize(
    ("proven", "signs", "mostly"),
    [
        ((0,), [Sign(TOTAL)] * 4, True),
        ((0, 1), [Sign(TOTAL)] * 4, False),
        ((), [Sign(TOTAL)] * 3, False),
        ((), [*[Sign(TOTAL)] * 3, Sign(ALL)], False),
        ((), [*[Sign(TOTAL)] * 3, Sign(TOTAL, stub=False)], False),
        ((), [*[Sign(TOTAL)] * 3, BARE], False),
        ((), [*[Sign(TOTAL)] * 3, Sign(NORTH)], True),
        ((0, 1), [Sign(TOTAL)] * 5, True),
    ],
)
def test_lines_of_a_statement_are_four_words_most_of_which_are_no_sums(
    proven: tuple[int, ...], signs: list[Sign], mostly: bool
) -> None:
    found = {row: span(row, (7, 8)) for row in proven}
    assert totals._mostly_lines(dict(enumerate(signs)), found) == mostly


@pytest.mark.parametrize(
    ("words", "sums", "bonus"),
    [
        (["Total", "TOTAL"], (0, 1), [3, 3]),
        (["Total"], (0,), [0]),
        (["Total"], (), [0]),
        (["Total", "Total"], (0,), [0, 0]),
        (["Total", "Total", "Total"], (0,), [-8, -8, -8]),
        (["Total", "Total", "Total"], (), [-8, -8, -8]),
        (["North total", "South total", "West total"], (0,), [0, 0, 0]),
        (["North total", "South total"], (0, 1), [3, 3]),
        (["Total", "Sum", "Sum"], (0,), [0, -8, -8]),
        (["Total", "North total"], (0, 1), [3, 3]),
    ],
)
def test_rows_with_one_word_speak_for_each_other_or_against(
    words: list[str], sums: tuple[int, ...], bonus: list[float]
) -> None:
    signs = {row: Sign(label(word), 0) for row, word in enumerate(words)}
    found = search(span(row, (7, 8)) for row in sums)
    assert totals._consistency(found, signs | {9: BARE}) == dict(enumerate(bonus))


def test_words_of_other_columns_and_sums_that_are_off_speak_for_none() -> None:
    found = search([span(0, (7, 8)), span(1, (7, 8), off=((1, 4.0, 5.0),))])
    assert totals._consistency(found, {0: Sign(TOTAL, 0), 1: Sign(TOTAL, 1)}) == {0: 0, 1: 0}
    assert totals._consistency(found, {0: Sign(TOTAL, 0), 1: Sign(TOTAL, 0)}) == {0: 0, 1: 0}


# --- what a row is


def test_a_sum_covers_what_its_parts_sum() -> None:
    spans = [span(2, range(2)), span(3, range(4, 6)), span(6, (2, 3)), span(7, (6,))]
    found = {one.row: one for one in spans}
    assert totals._extents(found) == {2: (0, 2), 3: (3, 5), 6: (0, 6), 7: (0, 7)}


def test_parts_are_nested_where_each_is_a_sum_and_there_are_several() -> None:
    spans = {2: span(2, range(2)), 5: span(5, range(3, 5))}
    assert totals._nested(spans | {6: span(6, (2, 5))}) == {2, 5}
    assert totals._nested(spans | {6: span(6, (2, 4))}) == set()
    assert totals._nested(spans | {6: span(6, (5,))}) == set()


@pytest.mark.parametrize(
    ("said", "extent", "kind"),
    [
        (TOTAL, (1, 9), "total"),
        (TOTAL, (2, 9), "subtotal"),
        (TOTAL, (1, 8), "subtotal"),
        (TOTAL, (0, 10), "total"),
        (SUBTOTAL, (0, 10), "subtotal"),
        (None, (0, 10), "total"),  # the widest
        (None, (1, 10), "subtotal"),
        (None, (1, 9), "subtotal"),
        (NORTH, (0, 10), "total"),
        (NORTH, (1, 10), "subtotal"),
    ],
)
def test_a_total_covers_all_rows_of_data_and_is_called_so_or_the_widest(
    said: Label | None, extent: tuple[int, int], kind: str
) -> None:
    assert totals._kind(9, said, (1, 9), {9: extent, 10: (0, 10)}) == kind


@pytest.mark.parametrize(
    ("sign", "plain"),
    [
        (Sign(TOTAL), True),
        (Sign(TOTAL, keys=-1, stub=False), True),
        (Sign(NORTH), False),
        (Sign(ALL), False),
        (BARE, False),
    ],
)
def test_a_row_is_plain_where_it_is_called_a_total_alone(sign: Sign, plain: bool) -> None:
    assert totals._is_plain({3: sign}, 3) == plain
    assert not totals._is_plain({4: sign}, 3)


def test_what_is_proven_is_said_with_the_rows_that_it_sums() -> None:
    spans = [span(2, range(2)), span(5, range(3, 5), off=((1, 4.0, 5.0),)), span(11, (2, 5, 6))]
    signs = {2: Sign(SUBTOTAL), 5: Sign(TOTAL, 1), 11: Sign(TOTAL, 2)}
    assert judged(search(spans), signs) == {
        2: ProvenRow("subtotal", 0, 2),
        5: ProvenRow("subtotal", 3, 5, ((1, 4.0, 5.0),)),
        11: ProvenRow("total", 0, 11),
    }


def test_a_table_of_totals_alone_keeps_its_rows() -> None:
    spans = [span(0, (1,)), span(1, (0,))]
    assert judged(search(spans), {0: Sign(TOTAL), 1: Sign(TOTAL)}, 2) == {}
    assert set(judged(search(spans[:1]), {0: Sign(TOTAL)}, 2)) == {0}


# --- sums that prove each other


TILES = [span(2, range(2)), span(5, range(3, 5)), span(6, (2, 5))]


@pytest.mark.parametrize(
    ("sign", "whole", "weight", "proven"),
    [
        (Sign(TOTAL), 6, 20, {2, 5, 6}),
        (Sign(TOTAL), -1, 20, {6}),
        (Sign(TOTAL), 5, 20, {6}),
        (Sign(NORTH), 6, 20, {6}),
        (Sign(TOTAL), 6, 0, set()),
    ],
)
def test_a_plain_total_proves_the_sums_that_it_is_the_sum_of(
    sign: Sign, whole: int, weight: float, proven: set[int]
) -> None:
    spans = [*TILES[:2], span(6, (2, 5), weight)]
    tiles = Tiling({one.row: one for one in spans}, whole, 20.0)
    signs = {6: sign, 5: Sign(None, keys=-1)}
    assert set(judged(search(spans), signs, 7, tiles)) == proven
    assert set(judged(search(spans), signs, 7)) == proven & {6}


@pytest.mark.parametrize(("bits", "taken"), [(10.0, True), (9.9, False)])
def test_sums_that_leave_no_row_over_are_found_where_they_prove_each_other(
    monkeypatch: pytest.MonkeyPatch, bits: float, taken: bool
) -> None:
    tiles = Tiling({one.row: one for one in TILES}, 6, bits)
    monkeypatch.setattr(totals, "tiling", lambda *_: tiles)
    old, other = span(5, range(2, 5)), span(9, range(7, 9))
    found = search([other, old])
    given = totals._tiled(found, {6: Sign(TOTAL), 2: Sign(NORTH)}, np.arange(12))
    if taken:
        assert given is tiles
        assert list(found.found.items()) == [(2, TILES[0]), (5, old), (6, TILES[2]), (9, other)]
        assert found.tiled == {2}  # the one that was found before, and a plain total, are not
    else:
        assert given is None
        assert list(found.found.items()) == [(9, other), (5, old)]
        assert found.tiled == set()
    monkeypatch.setattr(totals, "tiling", lambda *_: None)
    assert totals._tiled(search(), {}, np.arange(12)) is None


@pytest.mark.parametrize(
    ("spans", "rows", "instead"),
    [
        ([span(5, (0, 3)), span(0, (1, 2))], {0, 1, 2, 3, 5}, {0}),
        ([span(5, (0, 3)), span(0, (1, 2)), span(3, (4, 6))], {*range(7)}, {0, 3}),
        ([span(5, (0, 3)), span(0, (1, 2)), span(1, (4, 6))], {*range(7)}, {0, 1}),
        ([span(5, (0, 3)), span(0, (1, 2))], {0, 1, 2, 3, 4, 5}, set()),  # a row is left over
        ([span(5, (0, 3)), span(0, (1, 3))], {0, 1, 3, 5}, set()),  # one counts twice
        ([span(5, (0, 3)), span(0, (1, 5))], {0, 1, 3, 5}, set()),
        ([span(5, (0, 3)), span(0, (1, 2), agree=(1,))], {0, 1, 2, 3, 5}, set()),
        ([span(5, (0, 3), agree=(0, 1)), span(0, (1, 2), agree=(1, 2))], {0, 1, 2, 3, 5}, {0}),
        ([span(5, (0, 3))], {0, 3, 5}, set()),
    ],
)
def test_a_total_counts_sums_in_place_of_their_rows_where_it_leaves_none_over(
    spans: list[SumSpan], rows: set[int], instead: set[int]
) -> None:
    found = search(spans)
    expected = {row: found.found[row] for row in instead}
    assert totals._counted_instead(found, 5, rows) == expected


def test_what_a_formula_counts_instead_is_left_out_with_it() -> None:
    spans = [span(0, (1, 2)), span(4, (0, 3))]
    signs = {4: Sign(TOTAL, formula=True), 0: Sign(None, keys=-1)}
    assert set(judged(search(spans), signs, 5)) == {0, 4}
    assert set(judged(search(spans), signs, 6)) == {4}
    assert set(judged(search(spans), signs | {4: Sign(TOTAL)}, 5)) == {4}


def test_a_sum_by_its_formula_is_held_against_its_other_columns() -> None:
    table = numbers([3, 10, 1], [4, 25, 2], [9, 9, 9], [7, 50, 3])
    one = span(3, range(2), 24.0)
    off = totals._against(table, one)
    assert off == SumSpan(**{**one.__dict__, "off": ((1, 50.0, 35.0),)})
    assert totals._against(numbers([3, 1], [4, 2], [99, 98]), span(2, range(2))).off == ()
