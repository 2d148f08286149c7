"""Series of offices, banks and vendors: rows that describe columns, and periods that cover
others. The files are written as these publish them."""

from __future__ import annotations

from datetime import datetime
from itertools import product
from pathlib import Path

import openpyxl
import pytest
from babel.dates import get_month_names

from leaf.readers.base import TableInfo
from leaf.readers.tabular.delimited import DelimitedReader
from leaf.readers.tabular.periods import Length, NamedPeriod, covering, period_of
from leaf.readers.tabular.sheets import SheetsReader

MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
ENDS = [f"{day}/{month:02d}/2023" for month, day in enumerate((31, 28, 31, 30, 31, 30), 1)]

OFFICE = """"Title","CPI INDEX 00: ALL ITEMS 2015=100"
"CDID","D7BT"
"Source dataset ID","MM23"
"PreUnit",""
"Unit","Index, base year = 100"
"Release date","18-09-2024"
"Next release","16 October 2024"
"Important notes",
"2022","121.7"
"2023","130.5"
"2022 Q4","125.3"
"2023 Q1","127.3"
"2023 FEB","126.9"
"2023 MAR","128.1"
"""
BANK = """F1.1 INTEREST RATES AND YIELDS,,
Title,Cash Rate Target,Overnight Rate
Description,Target; monthly average,Overnight; monthly average
Frequency,Monthly,Monthly
Units,Per cent,Per cent
,,
,,
Source,RBA,ASX
Publication date,02-Sep-2024,02-Sep-2024
Series ID,FIRMMCRT,FIRMMCRI
"""
VENDOR = """Name,DAX 30 PERFORMANCE,FTSE 100
Code,DAXINDX,FTSE100
CURRENCY,E,£
"""
FLAGS = """"",BBK01.WT5511,BBK01.WT5511_FLAGS
"",Goldpreis / London,
Einheit,USD,
Stand vom,02.09.2024 10:00:00 Uhr,
"""
QUOTES = """Price,Close,Close
Ticker,AAPL,MSFT
Date,,
"""
MANY_QUOTES = """Price,Close,High,Close
Ticker,AAPL,AAPL,MSFT
Date,,,
"""
UNITS = """Date,Price,Volume
Day,USD,shares
"""


def read(tmp_path: Path, text: str) -> list[TableInfo]:
    (tmp_path / "series.csv").write_text(text)
    return DelimitedReader().tables(tmp_path / "series.csv", tmp_path / "out")


def note_of(info: TableInfo, kind: str) -> str:
    return next((f"{note.text} {note.place}" for note in info.notes if note.kind == kind), "")


def with_rows(head: str) -> str:
    values = ("4.1,3.9", "4.2,3.8", "4.0,3.7", "4.4,3.9", "4.5,4.0", "4.6,4.1")
    return head + "".join(f"{end},{row}\n" for end, row in zip(ENDS, values, strict=True))


@pytest.mark.parametrize(
    ("head", "names", "quote"),
    [
        (BANK, ("column_1", "Cash Rate Target", "Overnight Rate"), "Series ID: FIRMMCRT, FIRMMCRI"),
        (VENDOR, ("column_1", "DAX 30 PERFORMANCE", "FTSE 100"), "CURRENCY: E, £. rows 2-3"),
        (QUOTES, ("Date", "AAPL", "MSFT"), "1 row above the first period describes the columns"),
        (MANY_QUOTES, ("Date", "Close / AAPL", "High / AAPL"), ""),
        (UNITS, ("Date", "Price", "Volume"), "Day: USD, shares. row 2"),
    ],
)
def test_rows_that_describe_columns_are_no_data_and_their_words_are_said(
    tmp_path: Path, head: str, names: tuple[str, ...], quote: str
) -> None:
    (info,) = read(tmp_path, with_rows(head))
    assert info.rows == len(ENDS)
    assert tuple(name for name, _ in info.columns)[:3] == names
    assert [kind for _, kind in info.columns][:3] == ["DATE", "DOUBLE", "DOUBLE"]
    assert quote in note_of(info, "series-described")


def test_a_column_of_flags_needs_no_description(tmp_path: Path) -> None:
    days = "".join(f"2023-01-{day:02d},{1800 + day}.5,\n" for day in range(1, 20))
    (info,) = read(tmp_path, FLAGS + days + "2023-01-20,,Kein Wert vorhanden\n")
    assert [name for name, _ in info.columns][1] == "BBK01.WT5511 / Goldpreis / London"
    assert info.rows == 20
    assert info.columns[1][1] == "DOUBLE"


def test_years_quarters_and_months_in_one_column_are_said(tmp_path: Path) -> None:
    (info,) = read(tmp_path, OFFICE)
    assert info.rows == 6
    assert info.columns == (("column_1", "VARCHAR"), ("CPI INDEX 00: ALL ITEMS 2015=100", "DOUBLE"))
    said_of_columns = note_of(info, "series-described")
    assert "Unit: Index, base year = 100" in said_of_columns
    assert "CDID: D7BT" in said_of_columns
    # The last quarter of 2022 covers no month that is there.
    assert note_of(info, "periods-mixed").startswith(
        "'column_1' holds periods of different lengths (2022, 2022 Q4, 2023 FEB): 3 rows cover"
    )
    assert note_of(info, "periods-mixed").endswith(" rows 9-10, 12")


@pytest.mark.parametrize(
    ("labels", "covered"),
    [
        (["Jan", "Feb", "Mar", "Q1", "Apr", "May", "Jun", "Q2"], "rows 5, 9"),
        (["Januar", "Februar", "März", "1. Quartal", "April"], "row 5"),
        (["M01", "M02", "M11", "M12", "M13"], "row 6"),
        (["2023-Q1", "2023-Q2", "2023-Q3", "2023-Q4", "2023"], "row 6"),
        (["T1 2023", "T2 2023", "S1 2023", "T3 2023"], "row 4"),
        (["2020", "2021", "2022", "2023 Q1", "2023 Q2"], ""),
        (["Jan", "Feb", "Mar", "Apr", "May"], ""),
        (["April", "June", "May", "Robert", "Q1"], ""),
    ],
)
def test_small_numbers_do_not_hide_that_periods_cover_others(
    tmp_path: Path, labels: list[str], covered: str
) -> None:
    rows = "".join(f"{label},{n % 3},x{n}\n" for n, label in enumerate(labels))
    (info,) = read(tmp_path, "period,sold,remark\n" + rows)
    note = note_of(info, "periods-mixed")
    assert note.endswith(f" {covered}") if covered else not note


def test_a_workbook_of_series(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append([None, "Index ;  Sydney ;", "Index ;  Melbourne ;", "Change ;  Australia ;"])
    sheet.append(["Unit", "Index Numbers", "Index Numbers", "Percent"])
    sheet.append(["Collection Month", 3, 3, 3])
    sheet.append(["Series Start", *[datetime(1948, 9, 1)] * 3])
    sheet.append(["Series ID", "A2325806K", "A2325807L", "A2325808R"])
    for year, month in product((2021, 2022, 2023), (3, 6, 9, 12)):
        sheet.append([datetime(year, month, 1), 100.5 + month, 99.5 + month, month / 10])
    book.save(tmp_path / "series.xlsx")
    (info,) = SheetsReader().tables(tmp_path / "series.xlsx", tmp_path / "out")
    assert info.rows == 12
    assert [name for name, _ in info.columns[1:]] == [
        "Index ; Sydney ;",
        "Index ; Melbourne ;",
        "Change ; Australia ;",
    ]
    assert [kind for _, kind in info.columns[1:]] == ["DOUBLE"] * 3
    assert "Unit: Index Numbers, Percent" in note_of(info, "series-described")


@pytest.mark.parametrize(
    "text",
    [
        "Date,Price,Volume\n,USD,shares\n"
        + "".join(f"2023-01-0{n},{n}.5,{n}00\n" for n in range(1, 9)),
        "Station,Berlin\nParameter,Temp\nDatum,Wert\n"
        + "".join(f"0{n}.01.2023,{n}.5\n" for n in range(1, 9)),
        "Account:,DE12,\nPeriod:,2023,\nDate,Amount,Balance\n"
        + "".join(f"2023-01-0{n},{n}.5,{n}00\n" for n in range(1, 9)),
    ],
)
def test_a_header_above_days_stays_one(tmp_path: Path, text: str) -> None:
    (info,) = read(tmp_path, text)
    assert info.rows == 8
    assert not note_of(info, "series-described")
    assert info.columns[0][0].startswith("Dat")
    assert info.columns[0][1] == "DATE"


@pytest.mark.parametrize("locale", ["en", "de", "fr", "es", "it", "pl", "pt", "nl", "sv", "ru"])
def test_the_months_of_a_language(locale: str) -> None:
    for month, name in get_month_names("wide", "stand-alone", locale).items():
        assert period_of(f"{name} 2023") == NamedPeriod(Length.MONTH, 2023, month)


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("2023", NamedPeriod(Length.YEAR, 2023)),
        ("FY2023", NamedPeriod(Length.YEAR, 2023)),
        ("2023 Q4", NamedPeriod(Length.QUARTER, 2023, 4)),
        ("Q4/2023", NamedPeriod(Length.QUARTER, 2023, 4)),
        ("4Q2023", NamedPeriod(Length.QUARTER, 2023, 4)),
        ("IV trimestre 2023", NamedPeriod(Length.QUARTER, 2023, 4)),
        ("2023M07", NamedPeriod(Length.MONTH, 2023, 7)),
        ("07/2023", NamedPeriod(Length.MONTH, 2023, 7)),
        ("Jul-23", NamedPeriod(Length.MONTH, 2023, 7)),
        ("2023-W05", NamedPeriod(Length.WEEK, 2023, 5)),
        ("2023-07-31", NamedPeriod(Length.DAY, 2023, 7)),
        ("31/07/2023", NamedPeriod(Length.DAY, 2023)),
    ],
)
def test_a_period(text: str, period: NamedPeriod) -> None:
    assert period_of(text) == period


@pytest.mark.parametrize(
    "text", ["", "12", "Total", "1234", "99999", "2023 budget", "Q5", "M14", "Maybe"]
)
def test_no_period(text: str) -> None:
    assert period_of(text) is None


def test_what_covers_what() -> None:
    year, half = NamedPeriod(Length.YEAR, 2023), NamedPeriod(Length.HALF, 2023, 2)
    quarter, other = NamedPeriod(Length.QUARTER, 2023, 3), NamedPeriod(Length.QUARTER, 2022, 3)
    month, day = NamedPeriod(Length.MONTH, 2023, 7), NamedPeriod(Length.DAY, 2023, 7)
    assert covering([year, half, quarter, other, month, day]) == {year, half, quarter, month}
