"""Columns of amounts with a unit, which become numbers, and of codes that look like numbers, which
do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from leaf.readers.base import TableInfo
from leaf.readers.tabular.delimited import DelimitedReader
from leaf.readers.tabular.units import units_of


def column(tmp_path: Path, values: list[str]) -> tuple[TableInfo, list[Any]]:
    path = tmp_path / "a.csv"
    path.write_text("key;v\n" + "".join(f"r{n};{value}\n" for n, value in enumerate(values)))
    (info,) = DelimitedReader().tables(path, tmp_path)
    rows = duckdb.sql(f"SELECT v FROM '{tmp_path / info.parquet}'").fetchall()
    return info, [value for (value,) in rows]


@pytest.mark.parametrize(
    ("values", "numbers", "unit"),
    [
        (["MXN 1,250.50", "MXN -3.00", "(MXN 4.00)"], [1250.5, -3.0, -4.0], "MXN"),
        (["12,50 zł", "1.300,20 zł"], [12.5, 1300.2], "zł"),
        (["1.200,50 kr.", "30,00 kr."], [1200.5, 30.0], "kr."),
        (["S$12", "S$40"], [12, 40], "S$"),
        (["₫12000", "₫3400"], [12000, 3400], "₫"),
        (["1,5 Mio. €", "2,3 Mio. €"], [1.5, 2.3], "Mio. €"),
        (["$1.5M", "$2M"], [1.5, 2.0], "$ M"),
        (["12 Tsd.", "n/a", "15 Tsd."], [12, None, 15], "Tsd."),
        (["TOP 10.50", "TOP 20.00"], [10.5, 20.0], "TOP"),
    ],
)
def test_amounts_with_one_unit_are_numbers_and_the_unit_is_said(
    tmp_path: Path, values: list[str], numbers: list[float], unit: str
) -> None:
    info, found = column(tmp_path, values)
    assert found == numbers
    (note,) = [note for note in info.notes if note.kind == "currency-stripped"]
    assert note.text == f"'{unit}' was taken off the numbers in 'v'."


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["MXN 12", "USD 4"], "MXN, USD"),
        (["1.5M", "200k", "3M"], "M, k"),
        (["1,25,000.00 Cr", "4,500.00 Dr", "2.00 Cr"], "Cr, Dr"),
        (["850,00 S", "2.104,77 H"], "S, H"),
    ],
)
def test_amounts_with_several_units_stay_text_and_it_is_said(
    tmp_path: Path, values: list[str], said: str
) -> None:
    info, found = column(tmp_path, values)
    assert found == values
    assert [n.text for n in info.notes if n.kind == "currency-mixed"] == [
        f"'v' stays text: it mixes {said}."
    ]


def test_a_mark_that_may_be_of_thousands_is_doubted_beside_a_unit_too(tmp_path: Path) -> None:
    info, _ = column(tmp_path, ["1.234 zł", "2.345 zł"])
    assert "numbers-ambiguous" in [note.kind for note in info.notes]


@pytest.mark.parametrize(
    "values",
    [
        ["TOP 10", "TOP 20"],
        ["PHP 7", "PHP 8.1"],
        ["ABC 12", "ABC 13"],
        ["32 S", "12 S"],  # sizes
        ["5m", "7m"],
        ["12", "3 zł"],
        ["12B", "3B", "22B"],  # seats, staircases, classes
        ["32 M", "34 M"],  # sizes
    ],
)
def test_words_and_units_that_are_no_currencies_are_none(values: list[str]) -> None:
    assert units_of(values) == ()


def test_a_value_that_lacks_the_unit_keeps_the_column_text(tmp_path: Path) -> None:
    values = [f"{n} Mio." for n in range(2, 12)]
    info, found = column(tmp_path, [*values, "2000000"])
    assert found == [*values, "2000000"]
    assert "cells-unparsed" in [note.kind for note in info.notes]


@pytest.mark.parametrize(
    ("values", "example"),
    [
        (["+493012345678", "n/a", "+4940555121"], "+493012345678"),
        (["1E10", "2E5", "n/a", "307"], "1E10"),
        (["3.8", "3.9", "3.10", "4.0"], "3.10"),
        (["3.8", "3.10", "3.11", "3.12"], "3.10"),
        (["+4741234567", "+4791234567"], "+4741234567"),
    ],
)
def test_numbers_that_show_that_they_are_codes_stay_as_they_are_written(
    tmp_path: Path, values: list[str], example: str
) -> None:
    info, found = column(tmp_path, values)
    assert found == values
    (note,) = [note for note in info.notes if note.kind == "codes-kept"]
    assert example in note.text


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["1.10", "1.20", "2.30"], [1.1, 1.2, 2.3]),
        (["3.9", "3.10", "3.05"], [3.9, 3.1, 3.05]),
        (["3.10", "3.11", "3.25"], [3.1, 3.11, 3.25]),
        (["+1234567", "+2345678"], [1234567, 2345678]),
        (["+1.5", "-2.3"], [1.5, -2.3]),
        (["1e5", "2e3"], [1e5, 2e3]),
        (["1E+10", "2E+05"], [1e10, 2e5]),
        (["1.5E10", "2E5"], [1.5e10, 2e5]),
        (["+4930123456", "-12"], [4930123456, -12]),
    ],
)
def test_numbers_of_any_form_stay_numbers(
    tmp_path: Path, values: list[str], numbers: list[float]
) -> None:
    assert column(tmp_path, values)[1] == numbers


def test_codes_of_a_long_clean_file_stay_text_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaf.readers.tabular.delimited.FAST_BYTES", 1_000)
    info, found = column(tmp_path, [f"3.{n % 13}" for n in range(1_000)])
    assert found[9:11] == ["3.9", "3.10"]
    assert "codes-kept" in [note.kind for note in info.notes]
