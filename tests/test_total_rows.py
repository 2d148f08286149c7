"""Which rows of a written table are looked at: words in its first columns, gaps in its keys, columns
that are added up, and how much of long tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from leaf.readers.tabular.delimited import DelimitedReader
from leaf.readers.tabular.formulas import RowSum
from leaf.readers.tabular.labels import Label, label_of
from leaf.readers.tabular.parquet import ParquetReader
from leaf.readers.tabular.spans import SumSpan
from leaf.readers.tabular.sums import Sign
from leaf.readers.tabular.table_file import TableFile
from leaf.readers.tabular.total_rows import TotalRows, _Names, _regular, _step
from leaf.readers.tabular.totals import DoubtfulRow, ProvenRow

SQL_TYPES = {pa.string(): "VARCHAR", pa.float64(): "DOUBLE", pa.int64(): "BIGINT"}


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


class Written:
    """Writes tables that are then looked at."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
        self.connection, self.path = connection, folder / "t.parquet"

    def file(self, columns: Mapping[str, Any], rows: int = -1) -> TableFile:
        """`rows`: how many the table is said to have, else those that it has."""
        table = pa.table(dict(columns))
        pq.write_table(table, self.path)
        kinds = [
            (name, SQL_TYPES.get(kind, "DATE"))
            for name, kind in zip(table.schema.names, table.schema.types, strict=True)
        ]
        return TableFile(self.connection, self.path, kinds, table.num_rows if rows < 0 else rows)

    def rows(
        self,
        columns: Mapping[str, Any],
        rows: int = -1,
        sums: Mapping[int, Sequence[RowSum]] | None = None,
    ) -> TotalRows:
        return TotalRows(self.file(columns, rows), sums)


@pytest.fixture
def written(connection: duckdb.DuckDBPyConnection, tmp_path: Path) -> Written:
    return Written(connection, tmp_path)


def label(text: str) -> Label:
    found = label_of(text)
    assert found is not None
    return found


def texts(*values: str | None) -> pa.Array:
    return pa.array(values, pa.string())


def numbers(*values: float | None) -> pa.Array:
    return pa.array(values, pa.float64())


# --- words


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (["a", "b", "Total"], {2: "Total"}),
        (["Total"], {0: "Total"}),
        (["Total", "a"], {0: "Total"}),
        (["Total", "Total"], {}),
        # half of the rows, and more: then they are what the table is about, but for a plain total
        (["North subtotal", "a", "South subtotal", "b"], {0: "North subtotal", 2: "South subtotal"}),
        (["North subtotal", "a", "Subtotal", "South subtotal"], {}),
        (["Subtotal", "North total", "South subtotal", "Total"], {3: "Total"}),
        (["Subtotal", "North total", "Total", "Total"], {2: "Total", 3: "Total"}),
        (["Subtotal", "Total", "Total", "Total"], {}),
        (["Total", "a", "b", "Total", "Total"], {}),
        (["Total", "a", "b", "c", "Total"], {0: "Total", 4: "Total"}),
        ([None, "a", "", "b"], {}),
    ],
)  # fmt: skip
def test_a_word_in_most_rows_says_nothing(
    written: Written, cells: list[str | None], found: dict[int, str]
) -> None:
    labels = written.rows({"what": texts(*cells)}).labels({})
    assert {row: (said.text, column) for row, (said, column) in labels.items()} == {
        row: (text, 0) for row, text in found.items()
    }


@pytest.mark.parametrize(
    ("one", "other", "soft", "found"),
    [
        ("Total", "x", "", ("Total", 0)),
        ("North total", "South total", "", ("North total", 0)),
        ("North total", "Total", "", ("Total", 1)),  # the word alone says more
        ("Total", "North total", "", ("Total", 0)),
        ("Sum", "Total", "", ("Sum", 0)),
        ("Total", "x", "Summe", ("Summe", -1)),
        ("x", "North total", "Summe", ("Summe", -1)),
        ("x", "Total", "North total", ("Total", 1)),
        ("x", "Total", "n/a", ("Total", 1)),
        ("x", "y", "n/a", None),
    ],
)
def test_of_the_words_of_a_row_one_counts(
    written: Written, one: str, other: str, soft: str, found: tuple[str, int] | None
) -> None:
    rows = written.rows({"a": texts("p", "q", "r", one), "b": texts("p", "q", "r", other)})
    labels = rows.labels({3: soft} if soft else {})
    assert {row: (said.text, column) for row, (said, column) in labels.items()} == (
        {3: found} if found else {}
    )


def test_texts_are_looked_at_one_by_one_in_a_small_table_and_searched_in_a_larger_one(
    written: Written,
) -> None:
    cells = ["Total", "x" * 81, *(f"r{n}" for n in range(98))]
    few = written.rows({name: texts(*cells) for name in "abc"})
    found = few._like_words([0, 1, 2])
    assert {i: sorted(words) for i, words in found.items()} == dict.fromkeys(
        range(3), sorted([cells[0], *cells[2:]])
    )
    more = written.rows({"a": texts(*cells, *(f"s{n}" for n in range(201)))})
    assert more._like_words([0]) == {0: ["Total"]}
    wide = written.rows({name: texts(*cells, "s") for name in "abc"})
    assert wide._like_words([0, 1, 2]) == {i: ["Total"] for i in range(3)}
    assert more._like_words([]) == {}


def test_a_column_of_two_thousand_texts_is_not_varied(written: Written) -> None:
    rows = written.rows(
        {
            "a": texts(*(f"r{n % 2_000}" for n in range(2_100))),
            "b": texts(*map(str, range(2_001)), *["0"] * 99),
        }
    )
    assert (rows._varied("a"), rows._varied("b")) == (False, True)


# --- what is judged at all


@pytest.mark.parametrize(
    ("text", "doubted"),
    [("Total", True), ("Subtotal", True), ("North total", False), ("All", False), ("x", False)],
)
def test_a_table_of_one_row_that_is_called_a_total_is_doubtful(
    written: Written, text: str, doubted: bool
) -> None:
    found = written.rows({"what": texts(text), "n": numbers(7)}).find({})
    assert found == ({}, {0: DoubtfulRow("total", True)} if doubted else {})


def test_a_table_without_rows_or_numbers_has_no_totals(written: Written) -> None:
    assert written.rows({"what": texts(), "n": numbers()}).find({}) == ({}, {})
    assert written.rows({"what": texts("a", "b", "Total")}).find({}) == ({}, {})


@pytest.mark.parametrize(("called", "named"), [(10_000, False), (10_001, True)])
def test_where_very_many_rows_are_called_totals_all_are_named(
    written: Written, called: int, named: bool
) -> None:
    cells = [*["North total"] * called, *["x"] * (20_002 - called)]
    found = written.rows({"what": texts(*cells)}).find({})
    doubts = dict.fromkeys(range(called), DoubtfulRow("total", True)) if named else {}
    assert found == ({}, doubts)


@pytest.mark.parametrize(("count", "named"), [(7_000_000, False), (7_000_001, True)])
def test_a_word_in_a_very_long_table_is_named_without_a_look_at_its_numbers(
    written: Written, count: int, named: bool
) -> None:
    days = pa.array([0, 1], pa.date32())
    found = written.rows({"day": days}, count).find({1: "Total"})
    assert found == ({}, {1: DoubtfulRow("total", True)} if named else {})


@pytest.mark.parametrize(
    ("cells", "summed"),
    [
        (15, [0, 2, 3, 4, 5]),
        (14, [0, 2, 3, 4]),
        (9, [0, 2, 3]),
        (8, [0, 2]),
        (1, [0, 2]),
    ],
)
def test_as_many_columns_are_added_up_as_memory_holds(
    written: Written, monkeypatch: pytest.MonkeyPatch, cells: int, summed: list[int]
) -> None:
    """Those that are written as text among them, from the left."""
    monkeypatch.setattr("leaf.readers.tabular.total_rows.MAX_CELLS", cells)
    columns = {"t": texts("1", "2", "3"), "what": texts("a", "b", "Total")}
    rows = written.rows(columns | {f"n{i}": numbers(3, 4, 7) for i in range(4)})
    rows.find({})
    assert rows.summed == summed


def test_columns_of_keys_and_rates_are_not_held_against_their_sums(written: Written) -> None:
    columns = {
        "what": texts("a", "b", "c", "Total"),
        "n": numbers(48_391, 77_213, 10_009, 135_613),
        "order id": numbers(7, 9, 8, 40),
        "unit price": numbers(7, 9, 8, 40),
        "founded": numbers(1_950, 1_960, 1_970, 1_980),
    }
    assert written.rows(columns).find({}) == ({3: ProvenRow("total", 0, 3)}, {})


@pytest.mark.parametrize(("key", "found"), [("id", True), ("weight", False)])
def test_a_gap_in_a_column_of_keys_marks_a_sum(written: Written, key: str, found: bool) -> None:
    columns = {
        key: numbers(1, 2, 3, 4, 5, None),
        "n": numbers(31, 44, 19, 12, 61, 167),
        "m": numbers(5, 7, 13, 2, 9, 36),
    }
    marks, doubts = written.rows(columns).find({})
    assert (set(marks) | set(doubts)) == ({5} if found else set())


def test_a_gap_says_something_where_the_first_eight_columns_of_keys_have_it(
    written: Written,
) -> None:
    def found(*last: str | None) -> set[int]:
        keys = {f"k{i}": texts("a", "b", "c", "d", "e", cell) for i, cell in enumerate(last)}
        marks, doubts = written.rows(
            {**keys, "n": numbers(31, 44, 19, 12, 61, 167), "m": numbers(5, 7, 13, 2, 9, 36)}
        ).find({})
        return set(marks) | set(doubts)

    assert found(*["x"] * 3, *[None] * 5) == {5}
    assert found(*["x"] * 4, *[None] * 4) == {5}
    assert found(*["x"] * 5, *[None] * 3) == set()
    assert found(*["x"] * 5, *[None] * 6) == set()


def test_in_a_very_long_table_words_and_formulas_alone_are_looked_at(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = {
        "k": texts("a", "b", "c", None),
        "n": numbers(48_391, 77_213, 10_009, 135_613),
        "m": numbers(1_091, 2_502, 877, 4_470),
    }
    assert set(written.rows(columns).find({})[0]) == {3}
    monkeypatch.setattr("leaf.readers.tabular.table_file.WHOLE_ROWS", 3)
    assert written.rows(columns).find({}) == ({}, {})
    sums = {3: [RowSum(1, range(3), False)]}
    assert set(written.rows(columns, sums=sums).find({})[0]) == {3}
    columns["k"] = texts("a", "b", "c", "Total")
    assert set(written.rows(columns).find({})[0]) == {3}


@pytest.mark.parametrize(("groups", "found"), [(166, True), (167, False)])
def test_sums_without_a_word_are_looked_for_among_the_few_numbers_of_a_long_table(
    written: Written, groups: int, found: bool
) -> None:
    values: list[float | None] = []
    for at in range(groups):
        one, other = 1_009 + 37 * at % 811, 2_003 + 53 * at % 907
        values += [one, other, one + other]
    values += [None] * (20_001 - len(values))
    rows = written.rows({"n": numbers(*values), "k": texts(*["x"] * 20_001)})
    marks, doubts = rows.find({})
    assert marks == {}
    assert set(doubts) == (set(range(2, 3 * groups, 3)) if found else set())


@pytest.mark.parametrize(
    ("rows", "given", "at", "long"),
    [
        (20_000, 501, 0, False),
        (20_001, 500, 0, False),
        (20_001, 501, 0, True),
        (20_001, 501, 7, True),
        (20_001, 501, 8, False),  # of the first eight columns
    ],
)
def test_a_table_is_long_by_its_rows_that_hold_numbers(
    written: Written, rows: int, given: int, at: int, long: bool
) -> None:
    full = pa.array([*np.arange(given, dtype=float), *[None] * (rows - given)], pa.float64())
    columns = {f"n{i}": pa.nulls(rows, pa.float64()) for i in range(9)}
    assert written.rows(columns | {f"n{at}": full})._long() == long


def test_a_long_table_without_columns_of_numbers_has_few_of_them(written: Written) -> None:
    assert not written.rows({"a": texts(*["1"] * 20_001)})._long()


def test_a_row_without_a_sign_is_proven_by_its_formula(written: Written) -> None:
    columns = {"k": texts("a", "b", "c", None), "n": numbers(3, 4, 5, 12), "m": numbers(1, 2, 3, 5)}
    sums = {3: [RowSum(1, range(3), False)]}
    assert written.rows(columns).find({}) == ({}, {})
    assert written.rows(columns, sums=sums).find({}) == (
        {3: ProvenRow("total", 0, 3, ((1, 5.0, 6.0),))},
        {},
    )
    columns["k"] = texts("a", "b", "c", "Europe")
    assert written.rows(columns).find({}) == ({}, {})
    named = {3: DoubtfulRow("subtotal", False)}
    assert written.rows(columns, sums=sums).find({}) == ({}, named)
    columns["k"] = texts("a", "b", "c", "Subtotal")
    proven = {3: ProvenRow("subtotal", 0, 3, ((1, 5.0, 6.0),))}
    assert written.rows(columns, sums=sums).find({}) == (proven, {})


# --- columns


@pytest.mark.parametrize(
    ("cells", "nearly"),
    [
        (["1", "2", "x"], True),
        (["1,000", "2 500", "x"], True),
        (["1", "2", "x", "y"], False),  # half of them
        (["1", "2", "x", None], True),
        (["1", None, None], False),  # one is not enough
        (["1", "2", None], True),
        (["x", "y", "z"], False),
        ([None, None, None], False),
    ],
)
def test_a_column_of_text_is_added_up_where_most_of_it_are_numbers(
    written: Written, cells: list[str | None], nearly: bool
) -> None:
    columns = {"a": texts(*["x"] * len(cells)), "b": texts(*cells), "c": texts(*["y"] * len(cells))}
    assert written.rows(columns)._nearly_numbers() == ({1} if nearly else set())
    assert written.rows(columns, 1_000_001)._nearly_numbers() == set()


def test_two_hundred_columns_of_text_are_looked_at_for_numbers(written: Written) -> None:
    columns = {f"c{i}": texts("x", "y") for i in range(199)}
    columns |= {"last": texts("1", "2"), "after": texts("1", "2")}
    assert written.rows(columns)._nearly_numbers() == {199}
    assert written.rows({"n": numbers(1, 2)})._nearly_numbers() == set()


@pytest.mark.parametrize(
    ("filled", "number", "holds"),
    [(99, -1, True), (100, -1, False), (100, 9_998, True), (100, 9_999, False)],
)
def test_of_a_long_column_rows_from_all_over_tell_whether_it_holds_numbers(
    written: Written, filled: int, number: int, holds: bool
) -> None:
    """Every second one of ten thousand."""
    cells: list[str | None] = [None] * 10_000
    cells[: 2 * filled : 2] = ["x"] * filled
    if number >= 0:
        cells[number] = "7"
    assert written.rows({"a": texts(*cells)})._holds_numbers(0) == holds


def test_numbers_in_a_long_column_of_text_are_added_up(written: Written) -> None:
    cells = ["x", *map(str, range(5_000))]
    rows = written.rows({"a": texts(*["y"] * 5_001), "b": texts(*cells)})
    assert rows._nearly_numbers() == {1}


@pytest.mark.parametrize(
    ("names", "keys"),
    [
        (["id", "n"], {0}),
        (["order id", "invoice no.", "n"], {0, 1}),
        (["Ontario number", "Quebec number"], set()),  # their unit
        (["a no", "b no", "n"], set()),
        (["a no", "b No.", "n", "m"], {0, 1}),
        (["a no", "b no", "c no", "n", "m"], set()),
        (["code"], {0}),
        (["identity", "n"], set()),
    ],
)
def test_names_of_keys_are_told_from_units(
    written: Written, names: list[str], keys: set[int]
) -> None:
    rows = written.rows({name: numbers(1, 2) for name in names})
    assert rows._key_names(range(len(names))) == keys


@pytest.mark.parametrize(
    ("name", "values", "rate"),
    [
        ("unit price", [1, 2, 3], True),
        ("% of all", [1, 2, 3], True),
        ("n", [1, 2, 3], False),
        ("n", [1900, 2000, 2100], True),  # years
        ("n", [1899, 2000, 2100], False),
        ("n", [1900, 2000, 2101], False),
        ("n", [1900, 2000, 2000.5], False),
        ("n", [1900, 2000, np.nan], False),  # too few to tell
        ("n", [], False),
    ],
)
def test_a_rate_is_known_by_its_name_or_as_a_year(
    written: Written, name: str, values: list[float], rate: bool
) -> None:
    rows = written.rows({name: numbers(1)})
    assert rows._is_rate(0, np.array(values, dtype=float)) == rate


@pytest.mark.parametrize(
    ("values", "step"),
    [
        ([3, 40, np.nan], 1.0),
        ([3, 40.5], 0.1),
        ([3.25, 40.5], 0.01),
        ([0.125], 0.001),
        ([0.0625], 0.0001),
        ([0.03125], 0.0),  # finer than is looked at
        ([1e6 + 1e-8, 2], 0.0),
        ([1e6 + 1e-10, 2], 1.0),
        ([1] * 1_999 + [0.5], 0.1),
        ([1] * 2_000 + [0.5], 1.0),
        ([], 1.0),
    ],
)
def test_the_step_of_a_column_is_its_last_printed_digit(values: list[float], step: float) -> None:
    assert _step(np.array(values, dtype=float)) == pytest.approx(step, rel=1e-12)


# --- what marks a row


def flags(*at: int, rows: int = 6) -> np.ndarray[Any, np.dtype[np.bool_]]:
    found = np.zeros(rows, dtype=bool)
    found[list(at)] = True
    return found


def test_keys_that_most_rows_have_are_regular() -> None:
    keys = {0: flags(), 1: flags(0, 1), 2: flags(0, 1, 2), 3: flags(0, 1, 2, 3)}
    assert set(_regular(keys)) == {0, 1}


def test_a_gap_is_half_of_the_keys_that_most_rows_have(written: Written) -> None:
    rows = written.rows({"n": numbers(*range(6))})
    assert rows._gaps({0: flags(5), 1: flags()}).tolist() == flags(5).tolist()
    assert rows._gaps({0: flags(4, 5), 1: flags(5), 2: flags()}).tolist() == flags(5).tolist()
    assert rows._gaps({0: flags(5), 1: flags(0, 1, 2, 3)}).tolist() == flags(5).tolist()
    assert rows._gaps({0: flags(0, 1, 2)}).tolist() == flags().tolist()
    assert rows._gaps({}).tolist() == flags().tolist()
    long = written.rows({"n": numbers(*range(6))}, 1_000_001)
    assert len(gaps := long._gaps({0: flags(5)})) == 1_000_001
    assert not gaps.any()


LABEL = label("Total")
TEXTS = {"a": texts(*"abcdef"), "b": texts(*"abcdef"), "c": texts(*"abcdef")}


@pytest.mark.parametrize(
    ("column", "empty", "nearly", "sign"),
    [
        (0, {1: flags(), 2: flags()}, set(), Sign(LABEL, 0, True, -1)),
        (0, {0: flags(5), 1: flags(), 2: flags()}, set(), Sign(LABEL, 0, True, -1)),
        (0, {1: flags(5), 2: flags(5)}, set(), Sign(LABEL, 0, True, 1)),
        (0, {1: flags(5), 2: flags()}, set(), Sign(LABEL, 0, True, 0)),
        (0, {1: flags(2, 3, 5)}, set(), Sign(LABEL, 0, True, 0)),  # a key that few rows have
        (2, {0: flags(5), 1: flags(5)}, set(), Sign(LABEL, 2, True, 0)),
        (2, {0: flags(5), 1: flags()}, set(), Sign(LABEL, 2, False, 0)),
        (2, {0: flags(5)}, set(), Sign(LABEL, 2, False, 0)),
        (2, {0: flags(5), 1: flags()}, {1}, Sign(LABEL, 2, True, 0)),
        (-1, {0: flags(), 1: flags()}, set(), Sign(LABEL, -1, True, -1)),
        (-1, {0: flags(5), 1: flags(5)}, set(), Sign(LABEL, -1, True, 1)),
    ],
)
def test_a_word_is_judged_by_what_stands_left_and_right_of_it(
    written: Written, column: int, empty: dict[int, Any], nearly: set[int], sign: Sign
) -> None:
    found = written.rows(TEXTS)._signs({5: (LABEL, column)}, empty, np.ones((6, 1)), nearly)
    assert found == {5: sign}


@pytest.mark.parametrize(
    ("count", "gaps", "kept"),
    [(200, 0, True), (201, 0, False), (201, 1, True), (201, 2, True)],
)
def test_a_word_beside_filled_keys_in_more_than_two_hundred_rows_is_a_value(
    written: Written, count: int, gaps: int, kept: bool
) -> None:
    rows = written.rows({"a": texts("x"), "b": texts("x")}, 1_000)
    empty = {i: flags(*(range(count) if i <= gaps else ()), rows=1_000) for i in (1, 2)}
    signs = rows._signs(dict.fromkeys(range(count), (LABEL, 0)), empty, np.ones((1_000, 1)), set())
    expected = Sign(LABEL, 0, True, gaps - 1, count)
    assert signs == (dict.fromkeys(range(count), expected) if kept else {})


def test_rows_with_gaps_are_looked_at_where_fewer_than_half_have_them(written: Written) -> None:
    rows = written.rows(TEXTS)
    values = np.ones((6, 1))
    keys = {0: flags(0, 5), 1: flags(5)}
    assert rows._signs({}, keys, values, set()) == {r: Sign(None, keys=1) for r in (0, 5)}
    values[0] = np.nan  # no number, nothing to add up
    assert rows._signs({}, keys, values, set()) == {5: Sign(None, keys=1)}
    said = rows._signs({5: (LABEL, 0)}, keys, values, set())
    assert said == {5: Sign(LABEL, 0, True, 1)}
    # three of six
    keys = {0: flags(0, 1), 1: flags(1, 2)}
    assert rows._signs({}, keys, np.ones((6, 1)), set()) == {}


# --- names


def test_a_name_is_shared_by_the_first_fifty_parts(written: Written) -> None:
    def names(*cells: str | None) -> _Names:
        return _Names(written.file({"a": texts("x", *cells[1:]), "b": texts(*cells)}), [0, 1])

    def parts(count: int) -> SumSpan:
        return SumSpan(60, 0, count - 1, range(count), (0,), (), 0, 20.0, near=True, whole=False)

    north = label("North total")
    assert names(*[" North "] * 50, "South").shared(north, parts(51))
    assert not names(*["North"] * 49, "South").shared(north, parts(50))
    assert not names("North", None).shared(north, parts(2))


@pytest.mark.parametrize(
    ("cell", "rest"),
    [
        ("Net income", True),
        ("gross Profit", True),
        ("Network", False),
        ("net " + "x" * 76, True),
        ("net " + "x" * 77, False),  # a sentence
        (None, False),
    ],
)
def test_what_is_left_of_another_row_is_known_by_its_name(
    written: Written, cell: str | None, rest: bool
) -> None:
    file = written.file({"a": texts("a", "b"), "b": texts("net", cell)})
    assert _Names(file, [0, 1]).rest(1) == rest
    assert not _Names(file, [0]).rest(1)
    assert not _Names(file, []).rest(1)


@pytest.mark.parametrize(("before", "linked"), [(3, True), (4, False)])
def test_names_beside_words_are_looked_for_in_the_first_four_columns(
    written: Written, before: int, linked: bool
) -> None:
    """A row of its own group is a total by its name alone."""
    names = ["North", "North total", "East", "East", "East total"]
    columns = {
        f"c{i}": texts(*(None if "total" in name else "x" for name in names)) for i in range(before)
    }
    columns |= {"area": texts(*names), "n": numbers(310, 310, 415, 17, 432)}
    marks, _ = written.rows(columns).find({})
    assert (1 in marks) == linked


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_column_that_is_called_as_duckdb_counts_rows_is_one_like_others(
    tmp_path: Path, ending: str
) -> None:
    amounts = [float(number) for number in range(40)]
    frame = pd.DataFrame(
        {
            "File_Row_Number": [f"x{number * 7 % 40}" for number in range(40)] + [""],
            "region": [f"r{number}" for number in range(40)] + ["Total"],
            "amount": [*amounts, sum(amounts)],
        }
    )
    path = tmp_path / f"t.{ending}"
    write = frame.to_parquet if ending == "parquet" else frame.to_csv
    write(path, index=False)
    (tmp_path / "out").mkdir()
    reader = ParquetReader() if ending == "parquet" else DelimitedReader()
    [info] = reader.tables(path, tmp_path / "out")
    assert info.rows == 40
    assert [(note.kind, note.place) for note in info.notes] == [
        ("total-rows", "row 42" if ending == "csv" else "row 41")
    ]
