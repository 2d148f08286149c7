"""What counts for and against a row that may be a total, piece by piece: what it is called, which of
its keys are empty, and what its sums say."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from leaf.readers.tabular.labels import Label, label_of
from leaf.readers.tabular.spans import SumSpan
from leaf.readers.tabular.sums import Sign, SumSearch
from leaf.readers.tabular.total_rows import _NAMED, TableFile, _keys, _Names
from leaf.readers.tabular.total_words import counts_of_true
from leaf.readers.tabular.totals import (
    PROOF,
    _contradicted,
    _doubted,
    _is_summary,
    _structure,
    _together,
)
from tests.test_integrity import cells, from_csv


def label(text: str) -> Label:
    found = label_of(text)
    assert found is not None
    return found


def span(row: int, parts: range, **more: Any) -> SumSpan:
    usual: dict[str, Any] = {
        "agree": (0,),
        "off": (),
        "inside": 0,
        "bits": 20.0,
        "near": True,
        "whole": False,
    }
    return SumSpan(row, parts.start, parts.stop - 1, parts, **(usual | more))


def search(found: dict[int, SumSpan], **more: Any) -> SumSearch:
    """What a search found, as far as it is asked here."""
    usual: dict[str, Any] = {
        "found": found,
        "again": {},
        "tiled": set(),
        "least": 16.0,
        "certain": lambda _: False,
    }
    return cast(SumSearch, SimpleNamespace(**(usual | more)))


@pytest.mark.parametrize(
    ("sign", "bits"),
    [
        (Sign(None), 2.0),
        (Sign(None, keys=1), 6.0),
        (Sign(None, keys=-1), -6.0),
        (Sign(None, stub=False), -1.0),
        (Sign(label("Total")), 7.0),
        (Sign(label("Total"), stub=False), 4.0),
        (Sign(label("North total")), 1.0),
        (Sign(label("Subtotal North")), 7.0),
        (Sign(label("All")), 1.0),
        (Sign(label("All"), formula=True), 7.0),
        (Sign(label("Total"), keys=-1), -1.0),
    ],
)
def test_a_word_its_place_and_empty_keys_count_before_anything_is_added_up(
    sign: Sign, bits: float
) -> None:
    assert _structure(sign) == bits


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("Country mean", True),
        ("North average", True),
        ("average of all", False),  # a name that begins with the word
        ("Average", False),  # which stands for itself, whatever stands beside it
        ("Percent change, 1990-2003", True),
        ("in %", True),
        ("(%)", True),
        ("Prozent", True),
    ],
)
def test_a_row_of_averages_beside_a_name_is_a_summary(text: str, summary: bool) -> None:
    assert _is_summary(Sign(label(text))) == summary
    assert not _is_summary(Sign(label(text), times=2))
    assert not _is_summary(Sign(label(text), stub=False))
    assert not _is_summary(Sign(label(text), keys=-1))
    assert not _is_summary(Sign(None))


@pytest.mark.parametrize(
    ("flags", "keys"),
    [
        ([], 0),
        ([False, False], -1),
        ([True, False], 0),
        ([True, True, True, False, False], 1),
        ([True, True], 1),
    ],
)
def test_empty_keys_speak_for_a_total_and_filled_ones_against_it(
    flags: list[bool], keys: int
) -> None:
    import numpy as np

    assert _keys(0, {index: np.array([flag]) for index, flag in enumerate(flags)}) == keys


def test_rows_without_a_word_prove_each_other_and_no_row_with_one() -> None:
    spans = {4: span(4, range(4), bits=5.0), 8: span(8, range(5, 8), bits=6.0)}
    unnamed = {4: Sign(None, keys=1), 8: Sign(None, keys=1)}
    assert _together(search(spans), unnamed) == {4: 11.0, 8: 11.0}
    with_words = {**unnamed, 9: Sign(label("Total"), keys=1), 10: Sign(None, keys=0)}
    assert _together(search(spans), with_words) == {4: 11.0, 8: 11.0}
    assert _together(search({4: spans[4]}), unnamed) == {}
    afar = {**spans, 8: span(8, range(5, 8), near=False)}
    assert _together(search(afar), unnamed) == {}


def test_a_sum_without_a_word_needs_as_much_as_a_proof() -> None:
    bare, right = Sign(None, keys=1), span(4, range(4))
    assert not _contradicted(bare, right, PROOF)
    assert _contradicted(bare, right, PROOF - 0.1)
    assert not _contradicted(Sign(label("Total")), right, 0.0)
    assert _contradicted(Sign(label("Total")), span(4, range(4), inside=2), 99.0)


@pytest.mark.parametrize(("count", "named"), [(3, True), (4, False)])
def test_sums_without_a_word_are_doubtful_unless_they_are_most_of_a_table(
    count: int, named: bool
) -> None:
    """A series in which each row is the sum of those before is no table of totals."""
    import numpy as np

    found = {row: span(row, range(row - 2, row)) for row in range(2, 2 + count)}
    doubts = _doubted(search(found), {}, {}, np.arange(6))
    assert set(doubts) == (set(found) if named else set())


def test_a_name_beside_a_word_is_looked_for_where_there_is_one() -> None:
    def asked(_: str) -> list[list[str]]:
        return [["north", ""], ["north", ""], ["south", ""]]

    def names(rows: int) -> _Names:
        table = SimpleNamespace(rows=rows, asked=asked, column=lambda i: f"c{i}")
        return _Names(cast(TableFile, table), [0, 1])

    sums = span(2, range(2))
    assert names(3).shared(label("North total"), sums)
    assert not names(3).shared(label("South total"), sums)
    assert not names(3).shared(label("Total"), sums), "no name, and an empty cell is none"
    assert not names(3).shared(None, sums)
    assert names(_NAMED).shared(label("North total"), sums)
    assert not names(_NAMED + 1).shared(label("North total"), sums)


def test_years_from_1900_on_are_no_numbers_to_add_up(tmp_path: Path) -> None:
    info = from_csv(tmp_path, "what,built,n\nA,1900,412\nB,1960,300\nTotal,2024,712\n")
    assert dict(info.left_out) == {"total": (4,)}
    assert "totals-differ" not in cells(info)


def test_two_rows_above_a_count_of_what_is_true_are_enough() -> None:
    grid = [["a", True], ["b", True], ["Total", 2]]
    assert counts_of_true(grid, range(3), [0, 1])
    assert not counts_of_true(grid[1:], range(2), [0, 1])
