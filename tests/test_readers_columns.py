"""What columns of dates and numbers are taken for where they can be read in more ways than one."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from leaf.readers.tabular.delimited import DelimitedReader


def column(tmp_path: Path, values: Sequence[str], name: str = "when") -> tuple[str, list[Any], str]:
    """Type, values and notes of a column of a file."""
    lines = [f"id;{name}", *(f"{n};{value}" for n, value in enumerate(values))]
    return columns(tmp_path, "\n".join(lines))[name]


def columns(tmp_path: Path, text: str) -> dict[str, tuple[str, list[Any], str]]:
    """By name: type, values, and the file's notes that name the column."""
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    (info,) = DelimitedReader().tables(path, tmp_path / "out")
    table = duckdb.read_parquet(str(tmp_path / "out" / info.parquet))
    values = list(zip(*table.fetchall(), strict=True))
    return {
        name: (
            kind,
            list(values[n]),
            " ".join(f"{x.kind}: {x.text}" for x in info.notes if f"'{name}'" in x.text),
        )
        for n, (name, kind) in enumerate(info.columns)
    }


def every(days: int, start: date = date(2023, 1, 3), count: int = 60) -> list[date]:
    return [start + timedelta(days=days * n) for n in range(count)]


def months(years: range, day: int = 1) -> list[date]:
    """A day of each month; 31 is the last."""
    found = [date(y, m, min(day, 28)) for y in years for m in range(1, 13)]
    if day < 31:
        return found
    return [(d.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(1) for d in found]


def shuffled(days: Sequence[date]) -> list[date]:
    return random.Random(5).sample(list(days), len(days))


YEAR_FIRST = ["%y-%m-%d", "%y/%m/%d", "%y.%m.%d"]
YEAR_LAST = ["%d-%m-%y", "%d/%m/%y", "%d.%m.%y"]
MONTH_FIRST = ["%m-%d-%y", "%m/%d/%y"]


@pytest.mark.parametrize("form", YEAR_FIRST)
@pytest.mark.parametrize(
    "days",
    [
        [date(2024, 1, 5), date(2024, 2, 13), date(2024, 12, 31)],
        every(1),
        every(9),
        every(100),
        shuffled(every(3)),
        shuffled(every(30, date(2014, 2, 3), 120)),
        every(7, date(1996, 5, 4), 700),
        months(range(2024, 2025)),
        months(range(2015, 2025)),
        months(range(2019, 2025), 31),
        [date(2024, 3, 1)],
    ],
)
def test_a_year_of_two_digits_may_stand_first(tmp_path: Path, form: str, days: list[date]) -> None:
    kind, values, said = column(tmp_path, [d.strftime(form) for d in days])
    assert (kind, values) == ("DATE", days)
    assert "the year was read first" in said
    assert "dates-ambiguous" not in said


@pytest.mark.parametrize("form", YEAR_LAST + MONTH_FIRST)
@pytest.mark.parametrize(
    "days",
    [
        [date(2024, 1, 15), date(2024, 2, 13), date(2024, 12, 31)],
        [date(2024, 1, 25), date(2024, 2, 13)],
        every(1),
        every(9),
        every(100),
        every(1, date(2001, 4, 3), 200),
        shuffled(every(3)),
        shuffled(every(30, date(2014, 2, 3), 120)),
        every(7, date(1996, 5, 4), 700),
        months(range(2019, 2025), 31),
        months(range(2001, 2026), 31),
        months(range(2010, 2025), 25),
        [date(2024, 12, 31)],
        [date(1985, 3, 14)],
    ],
)
def test_a_year_of_two_digits_goes_on_standing_last(
    tmp_path: Path, form: str, days: list[date]
) -> None:
    kind, values, said = column(tmp_path, [d.strftime(form) for d in days])
    assert (kind, values) == ("DATE", days)
    assert "two-digit-years" in said
    assert "first" not in said


@pytest.mark.parametrize("form", ["%d.%m.%y", "%d.%m.%y %H:%M"])
@pytest.mark.parametrize(
    "days", [months(range(2024, 2025)), months(range(2001, 2025)), every(1, date(2024, 1, 5), 4)]
)
def test_days_before_months_with_dots_are_read_as_ever(
    tmp_path: Path, form: str, days: list[date]
) -> None:
    _, values, said = column(tmp_path, [d.strftime(form) for d in days])
    assert [date(v.year, v.month, v.day) for v in values] == days
    assert "dates-ambiguous" not in said


def test_dates_sorted_as_texts_are_read_with_the_year_last(tmp_path: Path) -> None:
    texts = sorted(d.strftime("%d.%m.%y") for d in every(11, count=12))
    _, values, _ = column(tmp_path, texts)
    assert sorted(values) == every(11, count=12)


@pytest.mark.parametrize(
    "texts",
    [
        ["24-01-05"],
        ["05.01.24", "05.01.24"],
        ["22-03-15", "24-04-16"],
        ["24-03-04", "24-03-05", "24-03-06"],
        ["10/05/15", "10/06/19", "10/07/24"],
        ["20-10-05", "20-10-05"],
    ],
)
def test_dates_whose_year_may_stand_at_either_end_stay_text_and_are_said(
    tmp_path: Path, texts: list[str]
) -> None:
    kind, values, said = column(tmp_path, texts)
    assert (kind, values) == ("VARCHAR", texts)
    assert f"dates-ambiguous: 'when' stays text: in dates such as {texts[0]} the year" in said


@pytest.mark.parametrize(
    ("other", "day"),
    [
        (["24-01-05", "24-02-13", "24-12-31"], date(2024, 3, 5)),
        (["05-01-24", "13-02-24", "31-12-24"], date(2005, 3, 24)),
    ],
)
def test_the_year_stands_where_another_column_shows_it(
    tmp_path: Path, other: list[str], day: date
) -> None:
    text = "\n".join(["sent;paid", *(f"24-03-05;{value}" for value in other)])
    kind, values, said = columns(tmp_path, text)["sent"]
    assert (kind, values[0]) == ("DATE", day if day.year == 2024 else date(2005, 3, 24))
    assert "as another column of this table shows" in said


@pytest.mark.parametrize(
    "texts",
    [
        ["22.04.1", "22.04.2", "24.10.3"],
        ["40-12-05", "40-12-05"],
        ["10-1-3", "10-2-1", "12-12-4"],
    ],
)
def test_versions_and_codes_are_no_dates_with_the_year_first(
    tmp_path: Path, texts: list[str]
) -> None:
    assert column(tmp_path, texts)[:2] == ("VARCHAR", texts)


def test_a_time_may_follow_a_date_with_the_year_first(tmp_path: Path) -> None:
    kind, values, _ = column(tmp_path, ["24/1/5 10:30", "24/2/13 11:00", "24/12/31 23:59"])
    assert (kind, str(values[0])) == ("TIMESTAMP", "2024-01-05 10:30:00")


@pytest.mark.parametrize(
    ("name", "beside"),
    [
        ("Version", ["1.5", "2.1", "3.2"]),
        ("Lat", ["52.52", "48.1", "53.55"]),
        ("Lat", ["52.520008", "48.137154", "53.551086"]),
        ("Lat;Lon", ["52.520008;13.404954", "48.137154;11.576124", "53.551086;9.993682"]),
        ("Periode", ["10.2020", "11.2020", "12.2020"]),
        ("Période", ["2020.10", "2020.11", "2021.02"]),
    ],
)
def test_a_column_of_another_kind_does_not_make_fractions_of_thousands(
    tmp_path: Path, name: str, beside: list[str]
) -> None:
    amounts = ["1.234", "12.500", "2.750"]
    rows = [f"A;{a};{b}" for a, b in zip(beside, amounts, strict=True)]
    found = columns(tmp_path, "\n".join([f"Artikel;{name};Umsatz", *rows]))
    kind, values, said = found["Umsatz"]
    assert (kind, sum(values)) == ("BIGINT", 16_484)
    assert "numbers-ambiguous" in said


def test_choices_of_answers_do_not_make_fractions_of_thousands(tmp_path: Path) -> None:
    rows = ["id,answers,amount", '1,"1,2","1,234"', '2,"2,3","12,500"', '3,"1,3","2,750"']
    kind, values, said = columns(tmp_path, "\n".join(rows))["amount"]
    assert (kind, values) == ("BIGINT", [1_234, 12_500, 2_750])
    assert "other signs in this file speak against it" in said


@pytest.mark.parametrize(
    ("beside", "doubt"),
    [
        ("price;1,5;2,25;3,75", False),
        ("price;1.234,50;2,25;3,75", False),
        ("price;1.5;2.25;3.75\nrate;0.5;0.25;0.75", True),
        ("price;1,234.50;2.25;3.75", True),
    ],
)
def test_columns_that_show_the_decimal_mark_are_followed(
    tmp_path: Path, beside: str, doubt: bool
) -> None:
    """In a file with semicolons: a comma is expected there, and a dot takes more proof."""
    mark = "." if doubt else ","
    weights = f"weight;1{mark}234;2{mark}500;2{mark}750"
    lines = [line.split(";") for line in [*beside.split("\n"), weights]]
    text = "\n".join(";".join(row) for row in zip(*lines, strict=True))
    kind, values, said = columns(tmp_path, text)["weight"]
    assert (kind, values) == ("DOUBLE", [1.234, 2.5, 2.75])
    assert ("numbers-ambiguous" in said) == doubt


@pytest.mark.parametrize(
    "texts", [["10.2020", "11.2020"], ["1.2020", "10.2020", "1.2021"], ["2020.01", "2020.10"]]
)
def test_months_of_a_year_are_no_fractions(tmp_path: Path, texts: list[str]) -> None:
    assert column(tmp_path, texts)[:2] == ("VARCHAR", texts)


def test_rates_that_look_like_months_are_numbers(tmp_path: Path) -> None:
    assert column(tmp_path, ["1.1987", "1.2034", "1.2011"])[1] == [1.1987, 1.2034, 1.2011]


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["1.234,50-", "12.000,00-", "5.321,10", "7,05"], [-1234.5, -12000.0, 5321.1, 7.05]),
        (["1.234,50- EUR", "5.321,10 EUR", "12,00- EUR"], [-1234.5, 5321.1, -12.0]),
        (["1.234-", "5.000", "3", "12.000-"], [-1234, 5000, 3, -12000]),
    ],
)
def test_a_minus_behind_a_number_is_its_sign(
    tmp_path: Path, values: list[str], numbers: list[float]
) -> None:
    kind, rows, _ = column(tmp_path, values, "amount")
    assert (kind != "VARCHAR", rows) == (True, numbers)


def test_years_from_which_on_something_was_are_no_negative_numbers(tmp_path: Path) -> None:
    kind, rows, _ = column(tmp_path, ["1990-", "2001-", "1985-"], "since")
    assert (kind, rows[0]) == ("VARCHAR", "1990-")


@pytest.mark.parametrize("form", ["%d-%b-%y", "%d %b %y", "%d-%b-%y %H:%M"])
def test_dates_with_the_month_as_a_word_and_a_short_year_are_dates(
    tmp_path: Path, form: str
) -> None:
    days = every(40)
    for texts in ([d.strftime(form) for d in days], [d.strftime(form).upper() for d in days]):
        kind, rows, notes = column(tmp_path, texts)
        assert kind in ("DATE", "TIMESTAMP")
        assert [(d.year, d.month, d.day) for d in rows] == [(d.year, d.month, d.day) for d in days]
        assert "two-digit-years" in notes


def test_blanks_that_fill_a_column_to_one_length_are_left_off(tmp_path: Path) -> None:
    text = "id\tcode\tname\nLNS1    \tA \tAnn\nLNS22   \tB\tBo \nLNS333  \tC \tCy\n"
    read = columns(tmp_path, text)
    assert read["id"][1:] == (
        ["LNS1", "LNS22", "LNS333"],
        "blanks-left-off: Blanks that fill 'id' to one length were left off.",
    )
    assert read["code"][1] == ["A ", "B", "C "]
    late = "id\tn\n" + "".join(f"K{n:04}  \t{n}\n" for n in range(1500)) + "longer one  \t1\n"
    assert columns(tmp_path, late)["id"][1:] == (
        [*(f"K{n:04}" for n in range(1500)), "longer one"],
        "blanks-left-off: Blanks behind the values of 'id' were left off.",
    )
    late += "".join(f"plain {n}\t1\n" for n in range(1600))
    assert columns(tmp_path, late)["id"][1][0] == "K0000  "


def test_numbers_of_which_many_have_a_flag_stay_text_and_it_is_said(tmp_path: Path) -> None:
    flags = ["", " b", " p", "", "", " e", ""]
    kind, _, notes = column(tmp_path, [f"{n}.5{flag}" for n, flag in enumerate(flags)], "rate")
    assert kind == "VARCHAR"
    assert notes.startswith("cells-unparsed: 'rate' stays text: 3 of 7 values are no numbers")
    assert not column(tmp_path, ["A12", "B13", "14", "15", "16"], "sku")[2]
    states = [f"{n:02}" for n in range(1, 57)]
    assert column(tmp_path, states, "FIPS")[::2] == ("VARCHAR", "")


def test_texts_that_are_written_as_formulas_are_what_they_give(tmp_path: Path) -> None:
    for text in ('zip,n\n="01234",5\n="00501",6\n', 'zip,n\n"=""01234""",5\n"=""00501""",6\n'):
        assert columns(tmp_path, text)["zip"][1] == ["01234", "00501"]
    (info,) = DelimitedReader().tables(tmp_path / "t.csv", tmp_path / "out")
    assert [note.kind for note in info.notes] == ["formulas-of-texts"]


def test_the_mark_of_a_second_file_behind_the_first_is_no_value(tmp_path: Path) -> None:
    both = columns(tmp_path, "\ufeffid,n\n1,2\n\ufeffid,n\n3,4\n")
    assert [both[name][1] for name in ("id", "n")] == [[1, 3], [2, 4]]
