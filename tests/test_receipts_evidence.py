"""What tools gave, as values: read from every shape of output, looked up by size, kept for the next
answer, and put in the order of their time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from leaf.provenance.receipts import kept
from leaf.provenance.receipts.evidence import (
    Evidence,
    EvidenceBook,
    ResultNumbers,
    Value,
    bounds,
    number_of,
)
from leaf.provenance.receipts.figures import NumberRange
from leaf.provenance.receipts.kept import EvidenceCache, book_of
from leaf.provenance.receipts.moments import (
    before,
    columns_before,
    in_time,
    later,
    moment,
)
from leaf.provenance.receipts.reading import read
from leaf.provenance.receipts.total_rows import named_totals, total_rows, without_totals
from tests.test_receipts import query

REGIONS = query(
    ["region", "opened", "sales", "note"],
    [
        ["North", "2023-04-05", 412.0, "Store 12"],
        ["South", "2024-05-06", 388, True],
        ["East", None, "129.5", "it had 77 of all those"],
    ],
    sql="SELECT * FROM t WHERE x > 750",
)


def result(columns: list[str], rows: list[list[Any]], **more: Any) -> ResultNumbers:
    (table,) = book_of([query(columns, rows, **more)]).tables
    return table


def counts(book: EvidenceBook) -> dict[str, float]:
    return {value.how: value.number for value in book.values if value.kind == "counted"}


def exact(book: EvidenceBook) -> list[tuple[float, int, str]]:
    return [(v.number, v.row, v.column) for v in book.values if v.kind == "exact"]


# Reading


def test_each_cell_is_a_value_with_its_row_and_column() -> None:
    book = read(REGIONS)
    cells = exact(book)
    assert {(412.0, 0, "sales"), (388.0, 1, "sales"), (129.5, 2, "sales"), (77.0, 2, "note")} <= {
        *cells
    }
    assert all(number != 1.0 for number, _, _ in cells), "yes is no number"
    (table,) = book.tables
    assert np.array_equal(table.numbers[:, 2], [412.0, 388.0, 129.5])
    assert np.isnan(table.numbers[:, [0, 1, 3]]).all()
    assert table.names == ["North", "South", "East"]
    assert (table.whole, table.part, table.result_id) == (True, False, "r1")
    assert {"2023", "2023-04", "2023-04-05", "april", "apr", "north"} <= table.labels[0]
    assert "may" not in table.labels[0]
    assert "412" not in table.labels[0]
    [value] = [v for v in book.values if v.number == 412.0]
    assert (value.shown, value.result_id) == ("412.0", "r1")
    assert {"north", "sale"} <= value.labels or {"north", "sales"} <= value.labels


def test_names_with_digits_of_columns_cells_and_files_are_known() -> None:
    one = replace(REGIONS, output={**REGIONS.output, "sources": [{"name": "a/b/sales_7.csv"}]})
    names = read(one).names
    assert {"sales_7.csv", "b/sales_7.csv", "a/b/sales_7.csv", "Store 12", "region"} <= names
    assert "North" not in names
    assert "it had 77 of all those" not in names


def test_dates_of_cells_of_columns_and_of_the_input_are_known() -> None:
    one = query(["region", "revenue 2019"], [["North", "2023-04-05"]], sql="SELECT 1 FROM y2021")
    found = {date: (v.kind, v.row, v.column) for date, v in read(one).dates}
    assert found["2023-04-05"] == ("exact", 0, "revenue 2019")
    assert found["2019"] == ("condition", -1, "revenue 2019")
    assert "2021" not in found


def test_a_year_or_a_number_that_a_row_begins_with_is_one_of_its_words() -> None:
    table = result(["id", "year", "sales", "flag"], [[7, 2023, 55, True], [8, 2024, 66, False]])
    assert [{"7", "2023"} <= table.labels[0], {"8", "2024"} <= table.labels[1]] == [True, True]
    assert table.labels == [{"7", "2023"}, {"8", "2024"}]
    assert table.names == ["row 1", "row 2"]


def test_words_that_all_rows_have_tell_none_of_them() -> None:
    table = result(["region", "x"], [["North shop", 1.5], ["South shop", 2.5]])
    assert table.labels == [{"north"}, {"south"}]
    assert table.shared == {"shop"}
    assert {"north", "south", "shop", "select", "region"} <= table.words
    one = result(["region", "x"], [["North shop", 1.5]])
    assert (one.labels, one.shared) == ([{"north", "shop"}], frozenset())


@pytest.mark.parametrize(
    ("sql", "total", "part"),
    [
        ("SELECT 1 LIMIT 2", 2, True),
        ("SELECT 1 LIMIT 3", 2, False),
        ("SELECT 1 LIMIT 50 %", 2, True),
        ("SELECT 1 FETCH NEXT 2 ROWS", 2, True),
        ("SELECT 1 FETCH FIRST 3 ROWS", 2, False),
        ("SELECT 1 FROM t TABLESAMPLE 5", 2, True),
        ("SELECT 1", 2, False),
    ],
)
def test_a_result_is_a_part_where_its_query_asked_for_as_many_rows(
    sql: str, total: int, part: bool
) -> None:
    one = query(["region", "x"], [["North", 1.5], ["South", 2.5]], total=total, sql=sql)
    book = read(one)
    assert book.tables[0].part is part
    assert ("rows of r1" in counts(book)) is not part


def test_rows_columns_and_tables_are_counted() -> None:
    one = query(["region", "x"], [["North", 1.5], ["South", 2.5]], total=9)
    one.output["data"]["table"]["scanned"] = [{"name": "t", "rows": 31}]
    one.output["coverage"] = [{"name": "a.pdf", "unit": "pages", "seen": 3, "total": 40}]
    found = counts(read(one))
    assert (found["rows of r1"], found["rows of t"], found["tables that were read"]) == (9, 31, 1)
    assert [v.number for v in read(one).values if v.how == "pages of a.pdf"] == [3.0, 40.0]
    assert not read(one).tables[0].whole
    assert all(v.shown == "31" for v in read(one).values if v.how == "rows of t")
    with_total = query(["region", "x"], [["N", 1.5], ["S", 2.5], ["Total", 4.0]])
    assert counts(read(with_total))["rows of r1 without totals"] == 2
    assert counts(read(query(["a"], [])))["rows of r1"] == 0


def test_files_and_tables_of_a_list_are_counted() -> None:
    files = [{"tables": [1, 2]}, {"tables": []}, {"tables": [3]}]
    one = Evidence("c", "list_files", {}, {"data": {"files": files}})
    assert counts(read(one)) == {
        "files of the list": 3,
        "files of the list that hold tables": 2,
        "files of the list that hold none": 1,
        "tables of the list": 3,
    }


def test_a_profile_gives_its_facts_its_counts_and_its_sample() -> None:
    column = {
        "name": "sales",
        "min": 1.5,
        "max": "99.25",
        "mean": 12.5,
        "std": 3.25,
        "quartiles": [5.5, 6.5, 7.5],
        "nulls": 4,
        "distinct": 0,
        "top": [["Lamp 45", 17]],
    }
    profile = {"file": "a.csv", "rows": 200, "columns": [column], "sample": [[8.5]]}
    one = Evidence("c", "describe_table", {}, {"data": {"profile": profile, "others": [1, 2]}})
    book = read(one)
    assert counts(book) == {
        "tables of a.csv": 3,
        "rows of the table": 200,
        "columns of the table": 1,
        "nulls of sales": 4,
        "distinct of sales": 0,
        "rows with sales = Lamp 45": 17,
    }
    facts = {v.how: v.number for v in book.values if v.kind == "exact"}
    assert facts == {
        "min of sales": 1.5,
        "max of sales": 99.25,
        "mean of sales": 12.5,
        "std of sales": 3.25,
        "first quartile of sales": 5.5,
        "median of sales": 6.5,
        "third quartile of sales": 7.5,
        "a value of sales": 45.0,
        "a sample row": 8.5,
    }
    assert {v.row for v in book.values} == {-1}
    assert all(v.column == "sales" for v in book.values if v.kind == "exact")
    named = Evidence("c", "describe_table", {}, {"data": {"profile": {"name": "t", "rows": 5}}})
    assert counts(read(named)) == {"tables of the file": 1, "rows of t": 5, "columns of t": 0}


def texts(book: EvidenceBook) -> list[tuple[float, str, str]]:
    return [(v.number, v.kind, v.place) for v in book.values if v.kind in ("quoted", "printed")]


def test_words_of_files_are_values_with_their_place_and_what_code_printed_without() -> None:
    passages = [{"name": "a.pdf", "place": "", "text": "It is 55."}]
    found = Evidence("c", "t", {}, {"text": "66", "data": {"passages": passages}})
    assert texts(read(found)) == [(55.0, "quoted", "a.pdf")]
    sent = [{"title": "b.pdf p. 2", "texts": ["It is", "56"]}, {"title": "c", "texts": []}]
    found = Evidence("c", "t", {}, {"text": "66", "passages": sent})
    assert texts(read(found)) == [(56.0, "quoted", "b.pdf p. 2")]
    python = {"printed": "77", "value": "88"}
    found = Evidence("c", "t", {}, {"text": "66", "data": {"python": python}})
    assert texts(read(found)) == [(77.0, "printed", ""), (88.0, "printed", "")]
    sources = [{"name": "a.txt", "place": "line 2"}]
    found = Evidence("c", "t", {}, {"text": "66", "sources": sources})
    assert texts(read(found)) == [(66.0, "quoted", "a.txt line 2")]
    found = Evidence("c", "t", {}, {"text": "66", "sources": sources * 2})
    assert texts(read(found)) == [(66.0, "quoted", "")]
    assert texts(read(replace(REGIONS, output={**REGIONS.output, "text": "66"}))) == []


def test_a_chart_is_a_result_like_its_query() -> None:
    chart = {"columns": ["region", "x"], "rows": [["North", 1.5]], "result_id": "r7"}
    book = read(Evidence("c", "t", {}, {"data": {"chart": chart}}))
    assert exact(book) == [(1.5, 0, "x")]
    assert book.tables[0].result_id == "r7"
    assert read(Evidence("c", "t", {}, {"data": {"chart": {"title": "x"}}})).tables == []


def test_a_percentage_of_a_text_is_its_number_and_its_ratio() -> None:
    found = Evidence("c", "t", {}, {"text": "It is 12.5 %"})
    assert [v.number for v in read(found).values] == [12.5, 0.125]
    [one, _] = read(found).values
    assert one.shown == "12.5 %"


def test_words_beside_a_figure_say_what_it_is_of_and_those_of_its_line_are_apart() -> None:
    far = "x" * 60
    found = Evidence(
        "c", "t", {}, {"text": f"early {far} lamps\nsold 55 pieces\nchairs {far} late"}
    )
    [value] = read(found).values
    assert {"lamp", "sold", "piece", "chair"} <= value.labels
    assert not {"early", "late"} & value.labels
    assert value.line == {"sold", "piece"}


def test_strings_of_an_input_are_conditions_wherever_they_stand() -> None:
    one = Evidence("c", "t", {"a": {"b": ["x > 5", ("y > 6", 7)]}, "c": "z > 8", "d": 9}, {})
    assert [(v.number, v.kind) for v in read(one).values] == [
        (5.0, "condition"),
        (6.0, "condition"),
        (8.0, "condition"),
    ]


def test_texts_are_searched_as_far_as_there_is_room() -> None:
    one = Evidence("c", "t", {}, {"text": "It is 55 or 77"})
    assert [v.number for v in read(one, 9).values] == [55.0]
    assert read(one, 9).characters_left == 0
    assert read(one, 14).characters_left == 0
    assert read(one, 20).characters_left == 6
    words = Evidence("c", "t", {}, {"text": "It is so"})
    assert read(words, 20).characters_left == 20, "a text without a digit costs nothing"
    assert read(one).characters == 14


# Looking up


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        (5, 5.0),
        (-5.5, -5.5),
        (True, None),
        (None, None),
        (1e99, 1e99),
        (1e100, None),
        (-1e100, None),
        (float("nan"), None),
        ("5", 5.0),
        ("-0.5", -0.5),
        ("05", None),
        ("5.", None),
        ("North", None),
        ("1" * 39, float("1" * 39)),
        ("1" * 40, None),
        ([5], None),
    ],
)
def test_a_cell_is_a_number_if_it_is_one_or_is_written_plainly(
    cell: Any, number: float | None
) -> None:
    assert number_of(cell) == number


@pytest.mark.parametrize(
    ("reading", "low", "high"),
    [
        (NumberRange(12, 11.5, 12.5), 11.5, 12.5),
        (NumberRange(-12, -12.5, -11.5), 11.5, 12.5),
        (NumberRange(0.2, -0.3, 0.7), 0.0, 0.7),
        (NumberRange(0.5, 0.0, 1.0), 0.0, 1.0),
        (NumberRange(-0.5, -1.0, 0.0), 0.0, 1.0),
    ],
)
def test_bounds_are_of_the_size_without_its_sign(
    reading: NumberRange, low: float, high: float
) -> None:
    assert bounds(reading) == pytest.approx((low, high), abs=1e-7)
    least, most = bounds(reading)
    assert least < low or low == 0.0
    assert most > high, "a last digit of slack"


def held(*numbers: float, message_id: str = "") -> list[Value]:
    one = Evidence("c", "t", {}, {}, message_id)
    return [Value(number, str(number), "exact", one) for number in numbers]


def test_values_are_found_by_their_size_in_the_order_in_which_they_came() -> None:
    book = EvidenceBook(
        values=[*held(12.4, -11.5, 100, 12.5, 12.6, 11.4), *held(12, message_id="a")]
    )
    book.close()
    near = book.near(NumberRange(12, 11.5, 12.5))
    assert [value.number for value in near] == [12.4, -11.5, 12.5, 12]
    assert [value.own for value in near] == [True, True, True, False]
    book = EvidenceBook(values=[*held(8, 7.9, 18, 18.1, -12, 12), *held(13, message_id="a")])
    book.close()
    assert book.around(12) == 3, "8, 12 and 18; the two twelves are one, and 13 is no own one"
    assert book.around(-12) == 3
    assert sorted(abs(v.number) for v in book.alike(-12)) == [8, 12, 12, 13, 18]


def test_what_one_call_gave_is_taken_over_whole() -> None:
    read_, book = read(REGIONS), EvidenceBook(characters_left=1_000)
    book.add(read_)
    assert (book.values, book.dates, book.texts) == (read_.values, read_.dates, read_.texts)
    assert book.names == read_.names
    assert len(book.tables) == 1
    assert book.characters_left == 1_000 - sum(len(text) for text, _ in read_.texts)
    other = query(["b"], [[2.5]], number=2)
    book.add(read(other))
    assert [t.result_id for t in book.tables] == ["r1", "r2"]
    book.close()
    assert [t.result_id for t in book.tables_of(other)] == ["r2"]
    assert book.tables_of(query(["c"], [[1]])) == []
    [cell] = [v for v in book.values if v.number == 2.5]
    assert book.table_of(cell) is book.tables[1]
    assert book.table_of(replace(cell, row=-1)) is None
    assert book.table_of(replace(cell, result_id="r9")) is None
    assert {"north", "south", "east"} <= book.row_words


def test_rows_are_named_by_any_word_and_meant_by_all() -> None:
    table = result(
        ["region", "year", "x"],
        [["North", 2023, 1.5], ["North", 2024, 2.5], ["South", 2024, 3.5]],
    )
    said = frozenset({"north", "2024", "other"})
    assert table.named(said) == {0, 1, 2}
    assert table.named(frozenset({"south"})) == {2}
    assert table.with_all(said) == {1}
    assert table.with_all(frozenset({"north"})) == {0, 1}
    assert table.with_all(frozenset({"other"})) == frozenset()
    assert table.telling == {"north", "south", "2023", "2024"}
    numbered = result(["id", "x"], [[1, 1.5], [2, 2.5]])
    assert numbered.telling == frozenset()


@pytest.mark.parametrize(
    ("columns", "cells", "time"),
    [
        (["x", "year"], [2023, 2024], True),
        (["x", "year"], [2999, 1], True),
        (["x", "year"], [3000, 1], False),
        (["x", "year"], [0, 1], False),
        (["x", "year"], [1.5, 2], False),
        (["x", "yearly"], [2023, 2024], False),
        (["x", "year"], [None, None], False),
        (["x", "sales"], [2023, 2024], False),
    ],
)
def test_a_column_of_years_or_months_is_no_measure(
    columns: list[str], cells: list[Any], time: bool
) -> None:
    table = result(columns, [["a", cell] for cell in cells])
    assert table.is_time(1) is time
    assert table.is_measure(1) is (not time and cells[0] is not None)
    assert table.is_measure(0) is False


def test_years_alone_are_what_is_measured() -> None:
    assert result(["year"], [[2023], [2024]]).is_measure(0)


def test_a_cell_of_a_result_is_shown_with_its_thousands() -> None:
    cell = result(["region", "x"], [["North", 1234567.25]]).cell(0, 1)
    assert (cell.number, cell.shown, cell.row, cell.column) == (1234567.25, "1,234,567.25", 0, "x")
    assert (cell.kind, cell.result_id) == ("exact", "r1")


# Keeping


def test_what_an_earlier_call_gave_is_kept_until_there_is_no_more_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cache = EvidenceCache()
    a, b, c = (replace(query(["x"], [[n + 0.5]], number=n), message_id="m") for n in (1, 2, 3))
    size = len(read(a).values)
    monkeypatch.setattr(kept, "KEPT_VALUES", 2 * size)
    first = cache.read(a)
    assert cache.read(a) is first
    second = cache.read(b)
    assert cache.read(a) is first
    assert cache.read(b) is second
    assert cache.read(a) is first  # the one that was looked at last
    third = cache.read(c)
    assert cache.read(c) is third
    assert cache.read(a) is first
    assert cache.read(b) is not second
    assert cache.read(b) is not None
    assert cache.read(c) is not None


def test_a_call_that_cannot_be_told_from_another_is_not_kept() -> None:
    assert EvidenceCache().read(Evidence("c", "t", {}, {"text": object()}, "m")) is None  # type: ignore[typeddict-item]


def test_calls_come_with_as_much_text_as_there_is_room_for_earlier_ones_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = Evidence("c", "t", {}, {"text": "It is 55 or 77"}, "m")
    assert [v.number for v in book_of([one]).values] == [55.0, 77.0]
    long = Evidence("d", "t", {}, {"text": "9 " + "y" * 59_000})
    book = book_of([*([long] * 6), Evidence("d", "t", {}, {"text": "9 " + "y" * 45_977}), one])
    assert [v.number for v in book.values][-2:] == [9.0, 55.0]
    assert book.characters_left == 0


# Time


@pytest.mark.parametrize(
    ("cell", "name", "when"),
    [
        ("2024-03-05 14:30:00", "", (2024, 3, 5)),
        ("2024-03-05T14:30", "", (2024, 3, 5)),
        (" 2024 ", "", (2024,)),
        ("2024-03-05x", "", ()),
        ("Q3", "", (3,)),
        ("q3/2024", "", (2024, 3)),
        ("2024 Q3", "", (2024, 3)),
        ("H2-2024", "", (2024, 2)),
        ("Q5", "", ()),
        ("GJ 2024", "", (2024,)),
        ("March", "", (3,)),
        ("März 2024", "", (2024, 3)),
        ("2024-Mar", "", (2024, 3)),
        ("Monday", "", ()),
        (True, "year", ()),
        (None, "year", ()),
        (0, "year", ()),
        (1, "year", (1,)),
        (2999, "year", (2999,)),
        (3000, "year", ()),
        (2024.0, "year", (2024,)),
        (2024.5, "year", ()),
        (-5, "year", ()),
    ],
)
def test_a_cell_says_when_it_is(cell: Any, name: str, when: tuple[int, ...]) -> None:
    assert moment(cell, name) == when


@pytest.mark.parametrize(
    ("a", "b", "order"),
    [
        ("revenue_2024", "revenue_2023", 1),
        ("revenue_2023", "revenue_2024", -1),
        ("revenue2024", "revenue2023", 1),
        ("2024 Q1", "2023 Q4", 1),
        ("Q1 2024", "Q4 2023", 1),
        ("q2 sales", "q1 sales", 1),
        ("price after", "price before", 1),
        ("old price", "new price", -1),
        ("sales jan", "sales feb", -1),
        ("dec 2023", "jan 2024", -1),
        ("revenue_2024", "costs_2023", 0),
        ("revenue 2024", "revenue", 0),
        ("revenue", "revenue ", 0),
        ("north", "south", 0),
        ("sales 2024", "sales q1", 0),
    ],
)
def test_columns_are_in_time_by_their_names(a: str, b: str, order: int) -> None:
    book = book_of([query(["x", a, b], [["N", 1.5, 2.5], ["S", 3.5, 4.5]])])
    one, other = (book.tables[0].cell(0, j) for j in (1, 2))
    assert later(one, other, book) == order
    assert later(other, one, book) == -order
    assert later(one, replace(other, row=1), book) == 0, "another row as well"
    assert later(one, one, book) == 0


def test_rows_are_in_time_by_year_before_month_and_only_with_the_same_other_words() -> None:
    months = [["N", 1, 2024, 1.5], ["N", 12, 2023, 2.5], ["S", 2, 2024, 3.5], ["N", 2, 2024, 4.5]]
    book = book_of([query(["x", "month", "year", "y"], months)])
    (table,) = book.tables
    cells = [table.cell(i, 3) for i in range(4)]
    assert later(cells[0], cells[1], book) == 1
    assert later(cells[1], cells[0], book) == -1
    assert later(cells[2], cells[0], book) == 0
    assert later(cells[0], replace(cells[1], result_id="r9"), book) == 0
    assert later(replace(cells[0], row=-1), cells[1], book) == 0
    assert before(table) == {0: 1, 3: 0}
    mixed = result(["x", "when", "y"], [["N", "2023", 1.5], ["N", "2024-01", 2.5]])
    assert (in_time(mixed, 0, 1), before(mixed)) == (0, {})
    twice = result(["x", "year", "y"], [["N", 2023, 1.5], ["N", 2023, 2.5], ["N", 2024, 3.5]])
    assert before(twice) in ({2: 1}, {2: 0})
    assert before(result(["x", "y"], [["N", 1.5], ["S", 2.5]])) == {}
    quarter = result(["x", "when", "y"], [["N", "Q1", 1.5], ["N", "2024", 2.5]])
    assert (in_time(quarter, 0, 1), before(quarter)) == (0, {})


def test_the_column_before_is_the_newest_of_the_earlier_ones() -> None:
    table = result(
        ["x", "y_2024", "y_2022", "y_2023", "z", "z_2023"], [["N", 1.5, 2.5, 3.5, 4.5, 5.5]]
    )
    assert columns_before(table) == {1: 3, 3: 2}
    texts_ = result(["y_2022", "y_2023"], [["a", 1.5], ["b", 2.5]])
    assert columns_before(texts_) == {}


# Totals


@pytest.mark.parametrize(
    ("rows", "sql", "named", "totals"),
    [
        ([["N", 1.5], ["S", 2.5], ["Total", 4.0]], "", {2}, {2}),
        ([["N", 1.5], ["S", 2.5], ["Total", 4.1]], "", {2}, set()),
        ([["N", 1.5], ["S", 2.5], ["Average", 2.0]], "", set(), set()),
        ([["N", 1.5], ["S", 2.5], ["", 4.0]], "", {2}, {2}),
        ([["N", 1.5], ["S", 2.5], [None, 4.0]], "", {2}, {2}),
        ([["N", 1.5], ["Total", 1.5]], "", {1}, set()),
        ([["N", 1.5], ["Total", 1.5]], "GROUP BY ROLLUP (x)", {1}, {1}),
        ([["N", 0.0], ["S", 0.0], ["Total", 0.0]], "", {2}, set()),
        ([["N", 1.5], ["S", None], ["E", 2.5], ["Total", 4.0]], "", {3}, {3}),
    ],
)
def test_a_row_is_a_total_if_it_is_called_one_and_adds_up(
    rows: list[list[Any]], sql: str, named: set[int], totals: set[int]
) -> None:
    table = result(["x", "y"], rows, sql=sql or "SELECT 1")
    assert named_totals(table) == named
    assert total_rows(table) == totals
    assert without_totals(table).tolist() == [i for i in range(len(rows)) if i not in totals]


def test_a_total_of_a_group_is_that_of_its_rows_alone() -> None:
    rows = [
        ["N", "a", 1.5, 7],
        ["N", "b", 2.5, 7],
        ["S", "a", 8.0, 7],
        ["S", "b", 9.0, 7],
        ["N", "Total", 4.0, 99],
        ["S", "Total", 21.0, 99],
    ]
    table = result(["x", "p", "y", "z"], rows)
    assert total_rows(table) == {4}
    assert total_rows(result(["y"], [[1.5], [2.5], [4.0]])) == frozenset()
