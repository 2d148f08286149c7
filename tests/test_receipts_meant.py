"""Which of many values a figure is: by its row, its column, its time and what a sentence says of
earlier results."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from leaf.provenance.receipts.evidence import Evidence
from leaf.provenance.receipts.match import match
from tests.test_receipts import query, receipt
from tests.test_receipts_derived import earlier, kinds, printed, quoted

OPENED = query(["region", "opened"], [["North", "2023-04-05"], ["South", "2024-05-06"]])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("North opened on 2023-04-05", "exact"),
        ("It opened on 2023-04-05", "exact"),
        ("North began on 2023-04-05", "exact"),
        ("It began on 2023-04-05", "none"),
        ("North opened on 2024-05-06", "exact"),
        ("North Miller and Baker opened on 2023-04-05", "none"),
        ("On 2020-01-02 it opened", "none"),
    ],
)
def test_a_day_of_an_earlier_result_needs_its_row_or_its_column(text: str, kind: str) -> None:
    one = earlier(OPENED, "SELECT region, opened FROM t WHERE year = 2020")
    assert kinds(text, one)[-1] == kind


def test_the_only_row_of_an_earlier_result_does_not_name_a_day() -> None:
    one = earlier(query(["region", "opened"], [["North", "2023-04-05"]]))
    assert kinds("It opened on 2023-04-05", one) == ["exact"]
    assert kinds("North began on 2023-04-05", one) == ["none"]


def test_a_day_of_an_earlier_text_or_query_needs_two_of_its_words_and_a_query_gives_none() -> None:
    one = replace(quoted("The contract of Miller ends on 2023-04-05"), message_id="a")
    assert kinds("The contract ends on 2023-04-05", one) == ["quoted"]
    assert kinds("The contract is of 2023-04-05", one) == ["none"]
    asked = replace(query(["x"], [["y"]], sql="the contract ends 2023-04-05"), message_id="a")
    assert kinds("The contract ends on 2023-04-05", asked) == ["none"]


def test_a_day_of_the_own_query_needs_a_word_that_makes_it_a_limit() -> None:
    one = query(["x"], [["y"]], sql="SELECT x FROM t WHERE at > '2023-04-05' AND year = 2021")
    assert kinds("It began after 2023-04-05", one) == ["condition"]
    assert kinds("It began 2023-04-05", one) == ["none"]
    assert kinds("It was so in 2021", one) == ["condition"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The fee of lamps is 881.5", "quoted"),
        ("The fee of lamps in 2023 is 881.5", "quoted"),
        ("The fee of lamps in 2024 is 881.5", "none"),
        ("The fee of chairs is 881.5", "none"),
        ("The fee of lamps is 88", "none"),
    ],
)
def test_a_number_of_an_earlier_text_needs_two_words_and_its_year(text: str, kind: str) -> None:
    one = replace(quoted("The fee of lamps in 2023 is 881.5"), message_id="a")
    assert kinds(text, one)[-1] == kind


def test_among_many_numbers_of_an_earlier_row_the_column_tells_which_is_meant() -> None:
    columns = ["region", *(f"{c}size" for c in "abcdefgh")]
    rows = [["North", *range(412, 420)], ["South", *range(700, 708)]]
    one = earlier(query(columns, rows))
    assert kinds("The asize of North is 412", one) == ["exact"]
    assert kinds("As before, North is at 412", one) == ["none"]
    few = earlier(query(columns[:4], [row[:4] for row in rows]))
    assert kinds("As before, North is at 412", few) == ["exact"]
    assert kinds("North is at 412", few) == ["none"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The orders of North are 412", "exact"),
        ("Die orders von North sind 412", "exact"),
        ("The orders of North for Miller are 412", "none"),
        ("Die orders von North für Miller und die Kunden sind 412", "exact"),
        ("The orders of North and West are 412", "none"),
        ("The orders of West are 412", "none"),
        ("The orders of North in 2024 are 412", "none"),
    ],
)
def test_an_earlier_result_counts_only_where_nothing_else_is_named(text: str, kind: str) -> None:
    now = query(["region", "price"], [["West", 7.25]], number=2)
    one = earlier(query(["region", "orders"], [["North", 412], ["South", 388]]))
    assert kinds(text, now, one)[-1] == kind


def test_a_change_of_an_earlier_result_is_derived_from_its_named_rows_and_columns() -> None:
    one = earlier(query(["region", "orders"], [["North", 91412.5], ["South", 80388.25]]))
    assert kinds("North has 11,024.25 orders more than South", one) == ["derived"]
    assert kinds("North is 11,024.25 ahead of South", one) == ["none"]
    assert kinds("North has 11,025.25 orders more than South", one) == ["none"]


# Which cell


def test_the_ends_of_a_column_are_meant_without_their_row_also_among_many_like_them() -> None:
    rows = [[f"Shop{chr(65 + i % 26)}{'xy'[i // 26]}", 501 + 2 * (i * 17 % 50)] for i in range(50)]
    numbers = [row[1] for row in rows]
    many = query(["shop", "sales"], rows)
    ends = {numbers[0], numbers[-1], max(numbers), min(numbers)}
    texts = [f"The sales were {n}" for n in numbers]
    kinds_ = [one.kind for one in match(texts, [many])]
    found = {n for n, kind in zip(numbers, kinds_, strict=True) if kind == "exact"}
    assert found == ends
    assert receipt(f"The value was {numbers[0]}", many).kind == "none"
    gap = query(["shop", "sales"], [["Gap", None], *rows, ["Hole", None]])
    assert [one.kind for one in match(texts, [gap])] == kinds_


def test_a_number_below_a_thousand_is_of_the_row_that_is_named() -> None:
    two = query(["region", "sales"], [["North", 999.5], ["South", 1000.5], ["East", 7.0]])
    assert receipt("The largest beside North has 1,000.5", two).kind == "none"
    both = query(["year", "sales"], [[2023, 812.5], [2024, 731.25]])
    assert receipt("In 2024 sales fell from 812.5", both).kind == "exact"
    assert receipt("In 2024 sales were at 812.5", both).kind == "none"
    assert receipt("In 2023 sales rose to 731.25", both).kind == "none"


def test_a_year_that_is_no_time_of_its_row_needs_its_column() -> None:
    units = query(["region", "units"], [["North", 1950], ["South", 2011]])
    assert receipt("North came to units of 1950", units).kind == "exact"
    assert receipt("North began in 1950", units).kind == "none"
    founded = query(["region", "founding year"], [["North", 1950], ["South", 2011]])
    assert receipt("North began in 1950", founded).kind == "exact"
    assert receipt("North began in 1951", founded).kind == "none"


def test_a_percentage_beside_no_change_is_its_cell() -> None:
    rows = [[2022, 1040.0, 20.0], [2023, 1300.0, 25.0]]
    table = query(["year", "revenue", "share"], rows)
    assert receipt("In 2023 it had 25 %", table).kind == "exact"
    grew = receipt("In 2023 it grew by 25 %", table)
    assert (grew.kind, grew.column) == ("derived", "revenue")
    assert receipt("In 2023 it grew by 25 points", table).kind != "derived"


def test_a_part_of_something_else_is_no_change() -> None:
    rows: list[list[Any]] = [
        ["North", 2023, 30.0, 100.0, 30.0],
        ["North", 2024, 48.0, 120.0, 40.0],
        ["South", 2024, 10.0, 100.0, 10.0],
    ]
    table = query(["region", "year", "cost", "revenue", "quota share"], rows)
    found = receipt("In 2024 North, whose revenue rose, had 40 % of it as cost", table)
    assert (found.kind, found.column) == ("exact", "quota share")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("North made 15,100 of 41,000", "exact"),
        ("North made 15,100 of 41,000 in 2024", "exact"),
        ("North made 41,000", "exact"),
        ("North made 17,300", "none"),
        ("North and 3DS made 9,650", "exact"),
        ("North made 9,650", "none"),
        ("North in other words made 17,300", "exact"),
    ],
)
def test_a_total_stands_beside_any_of_its_rows(text: str, kind: str) -> None:
    rows = [
        ["North", 2024, 15100.0],
        ["South", 2024, 17300.0],
        ["3DS", 2024, 9650.0],
        ["Total", 2024, 41000.0],
    ]
    table = query(["region", "year", "revenue"], rows)
    assert {one.text: one.kind for one in match([text], [table])}[
        text.split(" in 2024")[0].split()[-1]
    ] == kind


def test_what_code_printed_needs_a_word_where_many_are_like_it() -> None:
    many = " ".join(str(n) for n in range(600, 1300, 2))
    assert kinds("The fee is 881", printed(f"fee: 881 {many}")) == ["printed"]
    assert kinds("It is 881", printed(f"fee: 881 {many}")) == ["none"]
    assert kinds("It is 881", printed("fee: 881")) == ["printed"]


def test_a_growth_that_leaves_the_later_one_out_is_of_it() -> None:
    years = query(["year", "revenue"], [[2023, 1204.0], [2024, 1060.0]])
    text = "In 2023 it was 1,204, 13.6 % higher than the 1,060"
    assert kinds(text, years)[2] == "derived"
    assert kinds(f"{text} of the previous year", years)[2] == "none"
    assert kinds("In 2023 it was 1,204, a plus of 13.6 % on 1,060", years)[2] == "none"


def test_what_stands_before_a_clause_names_what_is_compared() -> None:
    two = query(["region", "revenue"], [["North", 1250.0], ["South", 1000.0]])
    for before in ("", "All is well. "):
        [found] = match([f"{before}South, by the way, made 25 % more than North."], [two])
        assert found.against, before


def test_a_rise_from_nothing_is_one() -> None:
    years = query(["year", "revenue"], [[2023, 0.0], [2024, 144.5]])
    *_, found, _ = match(["Revenue fell from 0.00 in 2023 to 144.5 in 2024."], [years])
    assert found.against.endswith("it rose: 0 → 144.5.")


def test_rows_that_are_shorter_than_the_header_are_read() -> None:
    ragged = query(["x", "region", "y"], [["a", "North", 5.25], ["b"], ["c", "South", 6.5]])
    assert receipt("The y of North is 5.25", ragged).kind == "exact"
    assert receipt("The total is 11.75", ragged).how == "sum of y"


def test_evidence_without_anything_gives_nothing() -> None:
    assert kinds("It is 881", Evidence("c", "t", {}, {})) == ["none"]


def test_a_number_that_says_when_is_no_amount() -> None:
    months = query(["region", "month", "x"], [["North", 12, 5.5], ["South", 11, 6.5]])
    assert receipt("The month of North had 12", months).kind == "none"
    assert receipt("The x of North had 5.5", months).kind == "exact"


def test_the_only_row_needs_no_name() -> None:
    one = query(["region", "sales", "cost"], [["North", 57, 812.5]])
    assert receipt("It is 57", one).kind == "exact"
    assert receipt("It is 57 lamps", one).kind == "none"
    two = query(["region", "sales"], [["North", 57], ["South", 58]])
    assert receipt("It is 57", two).kind == "none"


def test_a_row_of_no_year_may_stand_beside_those_of_one() -> None:
    rows = [["North", 2023, 12400.0], ["South", 2023, 11800.0], ["Depot", None, 9650.0]]
    table = query(["region", "year", "revenue"], rows)
    beside = "In 2023 North and South had 9,650 between them"
    assert receipt(beside, table).kind == "exact"
    dated = query(["region", "year", "revenue"], [*rows[:2], ["Depot", 2022, 9650.0]])
    assert receipt(beside, dated).kind == "none"
