"""Receipts piece by piece: what a word beside a number makes of it, what comes before what, and how
round a figure is that is only about right."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from leaf.provenance.receipts.belief import cue_of
from leaf.provenance.receipts.direction import runs_back
from leaf.provenance.receipts.evidence import ResultNumbers
from leaf.provenance.receipts.figures import figures
from leaf.provenance.receipts.kept import book_of
from leaf.provenance.receipts.match import Receipt, match
from leaf.provenance.receipts.moments import in_time
from tests.test_receipts import query, receipt


def numbers(columns: list[str], rows: list[list[Any]]) -> ResultNumbers:
    (table,) = book_of([query(columns, rows)]).tables
    return table


@pytest.mark.parametrize(
    ("before", "after", "cue"),
    [
        ("", " or more", "above"),
        ("", " or less", "below"),
        ("more than ", "", "above"),
        ("less than ", "", "below"),
        ("sold ", " pieces", ""),
    ],
)
def test_a_limit_is_told_by_the_words_before_or_after_it(before: str, after: str, cue: str) -> None:
    assert cue_of(before, after) == cue


@pytest.mark.parametrize(
    ("text", "back"),
    [
        ("from 2024 to 2023", True),
        ("from 2023 to 2024", False),
        ("from 2024 to 2024", False),
        ("von 2024 auf 2023", True),
        ("in 2024 and 2023", False),
    ],
)
def test_a_later_year_before_an_earlier_one_runs_back(text: str, back: bool) -> None:
    assert runs_back(text) == back


def test_rows_are_in_time_by_their_cells_and_neither_is_first_where_these_are_the_same() -> None:
    table = numbers(
        ["region", "month", "revenue"],
        [
            ["North", "2024-01", 100],
            ["North", "2024-02", 120],
            ["South", "2024-03", 90],
            ["North", "2024-01", 130],
        ],
    )
    assert [in_time(table, 0, 1), in_time(table, 1, 0)] == [-1, 1]
    assert in_time(table, 0, 3) == 0
    assert in_time(table, 0, 2) == 0, "another region"


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("about 1200", 1150, 1250),
        ("over 1200", 1150, 1300),
        ("nearly 1200", 1100, 1250),
        ("about 0", -0.5, 0.5),
        ("about 2.5", 2.45, 2.55),
        ("1200", 1199.5, 1200.5),
    ],
)
def test_a_figure_that_is_about_right_is_as_round_as_its_last_digit(
    text: str, low: float, high: float
) -> None:
    ((reading, *_),) = [figure.readings for figure in figures(text)]
    assert (reading.low, reading.high) == pytest.approx((low, high))


def test_a_receipt_is_kept_without_what_is_empty() -> None:
    kept = receipt("North made 1,234,567.891").kept(3)
    assert (kept["part"], kept["kind"], kept["row"], kept["column"]) == (3, "exact", 0, "revenue")
    assert {name for name, value in kept.items() if value in ("", -1)} == set()
    assert "text_index" not in kept
    assert set(kept) <= {field.name for field in fields(Receipt)} | {"part"}


def test_a_limit_of_the_question_that_is_said_again_is_none_of_the_answer() -> None:
    question = "Which regions made more than 388 orders?"
    said = "North has more than 388 orders, and South has 388 orders."
    regions = query(["region", "orders"], [["North", 412], ["South", 388], ["East", 129]])
    repeated, cell = match([said], [regions], question)
    assert (repeated.row, cell.row) == (-1, 1)
    assert match([said], [regions], "")[0].row == 1


SHARES = query(["year", "revenue", "share"], [[2022, 1040.0, 25.0], [2023, 1300.0, 31.0]])


def test_a_percentage_of_a_change_is_the_change_and_not_a_cell_of_the_same_number() -> None:
    grew = receipt("From 2022 to 2023 revenue grew by 25 %", SHARES)
    assert (grew.kind, grew.row, grew.column) == ("derived", 1, "revenue")
    has = receipt("The share of 2022 was 25 %", SHARES)
    assert (has.kind, has.row, has.column) == ("exact", 0, "share")


def test_a_percentage_of_a_column_of_changes_is_its_cell() -> None:
    table = query(["year", "revenue", "growth %"], [["2022", 1000.0, 4.0], ["2023", 1250.0, 25.0]])
    grew = receipt("In 2023 revenue grew by 25 %", table)
    assert (grew.kind, grew.row, grew.column) == ("exact", 1, "growth %")


def test_two_rows_are_enough_for_a_sum_and_one_is_none() -> None:
    two = query(["region", "revenue"], [["North", 1204.0], ["South", 1060.0]])
    assert receipt("Together they made 2,264", two).how == "sum of revenue"
    one = query(["region", "revenue"], [["North", 1204.0], ["South", None]])
    assert receipt("The average is 1,204", one).how != "average of revenue"
