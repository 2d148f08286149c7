"""Parts of one table with blank lines and headings between them, and tables that are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from leaf.readers.base import TableInfo
from leaf.readers.tabular.delimited import DelimitedReader

BALANCE = """Account,Debit,Credit,Debit of the year,Credit of the year
Revenue,,,,
Sales (200),,107.87,,893.26
Interest (270),,72.76,,72.97

Expenses,,,,
Advertising (400),14.12,,94.22,
Bank fees (404),59.28,,64.45,
Rent (469),66.61,,65.30,

Assets,,,,
Bank (090),40.62,,741.26,
"""


def read(folder: Path, text: str) -> list[TableInfo]:
    path = folder / "file.csv"
    path.write_text(text)
    return DelimitedReader().tables(path, folder)


def rows_of(folder: Path, info: TableInfo, what: str, where: str = "true") -> list[tuple[Any, ...]]:
    query = f"SELECT {what} FROM '{folder / info.parquet}' WHERE {where}"
    return duckdb.connect().execute(query).fetchall()


def test_sections_that_fill_other_columns_are_parts_of_one_table(tmp_path: Path) -> None:
    (info,) = read(tmp_path, BALANCE)
    assert [name for name, _ in info.columns][:3] == ["Account", "Debit", "Credit"]
    assert [kind for _, kind in info.columns[1:]] == ["DOUBLE"] * 4
    assert (info.rows, info.left_out) == (6, (("heading", (2, 6, 11)),))
    (sums,) = rows_of(tmp_path, info, "sum(Debit), sum(Credit)", "_kind = 'data'")
    assert sums == (pytest.approx(180.63), pytest.approx(180.63))


ACCOUNTS = """Number;Date;Due;Amount;Sign
Account 10000;Acme Ltd;;;
R1;2024-12-06;2025-01-05;5481.5;H
R2;2025-01-03;2025-02-02;3133.4;S

Account 10100;"Baker; owner White";;;
R3;2024-11-02;2024-12-02;5183.6;S
R4;2024-11-10;2024-12-10;1551.4;S

Account 10200;Castillo;;;
R5;2024-12-16;2025-01-15;4162.1;H
R6;2024-12-17;2025-01-16;4689.5;S
"""


def test_rows_below_a_number_and_a_name_are_parts_of_one_table(tmp_path: Path) -> None:
    (info,) = read(tmp_path, ACCOUNTS)
    assert [name for name, _ in info.columns] == ["Number", "Date", "Due", "Amount", "Sign"]
    assert dict(info.columns)["Date"] == "DATE"
    assert (info.rows, info.left_out) == (6, (("heading", (2, 6, 10)),))
    assert rows_of(tmp_path, info, "sum(Amount)") == [(pytest.approx(24201.5),)]
    assert rows_of(tmp_path, info, "Number, Date", "_kind = 'heading'") == [
        ("Account 10000 / Acme Ltd", None),
        ("Account 10100 / Baker; owner White", None),
        ("Account 10200 / Castillo", None),
    ]


@pytest.mark.parametrize(
    "below",
    [
        "Summary,,,\nMean,4.5,,\nDeviation,1.2,,",
        "Exports,,,\nPlace,Miles,Feet,Yards\nOslo,1.5,2.5,3.5\nRome,3.5,4.5,5.5",
        "Exports,,,\nPlace,2019,2020,2021\nOslo,1.5,2.5,3.5\nRome,3.5,4.5,5.5",
        "Source: the office,,,\nOslo,far,2.5,near\nRome,near,4.5,far",
    ],
    ids=["few values", "other names", "other years", "words for numbers"],
)
def test_what_is_no_part_of_the_table_above_is_not_joined(tmp_path: Path, below: str) -> None:
    above = "Item,North,South,West\nWheat,10.5,11.5,12.5\nRye,3.5,4.5,5.5\nOats,1.5,2.5,3.5"
    first, *_ = read(tmp_path, f"{above}\n\n{below}\n")
    assert first.rows == 3


def test_word_above_a_few_columns_of_a_table_above_is_no_name(tmp_path: Path) -> None:
    names = "Account,Sum,Tax,Share,North,South,West,East"
    above = "\n".join(f"Desk {n},{n}.5,{n}.1,{n}.2,{n}.3,{n}.4,{n}.6,{n}.7" for n in range(1, 5))
    below = "Expenses,,,,,,,\nRent,5.5,1.5,,,,,\nPower,6.5,2.5,,,,,\nWater,7.5,3.5,,,,,"
    first, second = read(tmp_path, f"{names}\n{above}\n\n{below}\n")
    assert (first.rows, second.rows) == (4, 3)
    assert second.columns == (("Account", "VARCHAR"), ("Sum", "DOUBLE"), ("Tax", "DOUBLE"))
    notes = {note.kind: note for note in second.notes}
    assert notes["no-header"].text.endswith(
        "the columns have the names of the table above, of row 1."
    )
    assert notes["preamble"].place == "row 7"


@pytest.mark.parametrize("kinds", ["words", "width"])
def test_names_are_not_lent_to_other_columns(tmp_path: Path, kinds: str) -> None:
    above = "Item,North,South\nWheat,10.5,11.5\nRye,3.5,4.5\nOats,1.5,2.5"
    below = "Oslo,a,1.5\nRome,b,2.5" if kinds == "words" else "Oslo,1.5,2.5,3\nRome,1.5,2.5,4"
    infos = read(tmp_path, f"{above}\n\nPlaces\n\n{below}\n")
    assert infos[0].rows == 3
    assert "North" not in dict(infos[-1].columns)


def test_account_right_below_the_names_begins_a_part_as_those_further_down(tmp_path: Path) -> None:
    parts = [
        f"Konto {10000 + k};Firma {k} GmbH;;;\n"
        + "".join(f"{k}{n};0{n}.01.2024;RE{k}{n};{n},50;\n" for n in range(1, 4))
        for k in range(3)
    ]
    path = tmp_path / "a.csv"
    path.write_text("Nummer;Datum;Beleg;Soll;Haben\n" + "\n".join(parts))
    (info,) = DelimitedReader().tables(path, tmp_path / "out")
    assert [name for name, _ in info.columns] == ["Nummer", "Datum", "Beleg", "Soll", "Haben"]
    assert (info.rows, dict(info.left_out)["heading"]) == (9, (2, 7, 12))
