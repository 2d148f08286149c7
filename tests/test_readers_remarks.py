"""The end of a table: remarks are left out on two signs, one leaves a row in the data and names it,
and names without values are rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pytest

from leaf.readers.base import TableInfo
from leaf.readers.tabular.delimited import DelimitedReader
from leaf.readers.tabular.sheets import SheetsReader

CUSTOMERS = (
    ("customer", "orders", "revenue"),
    ("Acme", 12, 5400.5),
    ("Bolt", 9, 3100),
    ("Delta", 7, 2050.25),
    ("Echo", 3, 990),
)


def csv_of(folder: Path, lines: Sequence[str]) -> tuple[TableInfo, list[Any]]:
    path = folder / "list.csv"
    rows = [",".join(map(str, row)) for row in CUSTOMERS]
    path.write_text("\n".join([*rows, *lines]) + "\n", "utf-8")
    (info,) = DelimitedReader().tables(path, folder)
    return info, firsts(folder / info.parquet)


def sheet_of(
    folder: Path, rows: Sequence[Sequence[Any]], merged: str = ""
) -> tuple[TableInfo, list[Any]]:
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in (*CUSTOMERS, *rows):
        book.active.append(row)
    if merged:
        book.active.merge_cells(merged)
    book.save(folder / "list.xlsx")
    (info,) = SheetsReader().tables(folder / "list.xlsx", folder)
    return info, firsts(folder / info.parquet)


def firsts(path: Path) -> list[Any]:
    """The last cells of the first column, those of the four customers left out."""
    return [row[0] for row in duckdb.sql(f"FROM '{path}'").fetchall()][4:]


def notes_of(info: TableInfo) -> dict[str, str]:
    return {note.kind: note.place for note in info.notes}


NAMES = ["Contact Lens Co", "Foxtrot", "Golf Ltd", "Hotel Group", "7 Up"]


def test_names_without_values_at_the_end_are_rows_of_a_csv(tmp_path: Path) -> None:
    info, last = csv_of(tmp_path, [f"{name},," for name in NAMES])
    assert (info.rows, last) == (9, NAMES)
    assert info.doubtful == (("note", (6, 10)),)
    assert notes_of(info) == {"notes-doubtful": "rows 6, 10"}


def test_names_without_values_at_the_end_are_rows_of_a_sheet(tmp_path: Path) -> None:
    info, last = sheet_of(tmp_path, [(name,) for name in NAMES])
    assert (info.rows, last) == (9, NAMES)
    assert info.doubtful_counts == (("note", 2),)


@pytest.mark.parametrize(
    "name",
    ["Report Writer", "Note 10 Pro", "Page Boy", "*NSYNC", "#1 Hits", "Stand Alone", "X: Men",
     "Contact lens solution 500 ml", "See's Candies", "3 Musketeers", "--Dash"],
)  # fmt: skip
def test_one_name_that_begins_as_a_remark_stays_and_is_named(tmp_path: Path, name: str) -> None:
    info, last = csv_of(tmp_path, ["Foxtrot,,", f"{name},,", "Golf,,"])
    assert last == ["Foxtrot", name, "Golf"]
    assert info.doubtful == (("note", (7,)),)
    assert "footer" not in notes_of(info)


REMARKS = [
    "Source: own survey",
    "Note: without islands",
    "Notes:",
    "Quelle: Statistisches Bundesamt",
    "Anmerkung 1: vorläufig",
    "Fuente: INE",
    "Nota: datos provisionales",
    "Источник: Росстат",
    "资料来源：国家统计局",
    "* provisional",
    "† estimate",
    "(c) the office",
    "© 2024 the office",
    "1) without islands",
    "(2) with islands",
    "p = provisional",
    "Stand: 31.12.2023",
    "Stand 31.12.2023",
    "Last updated 2024-03-01",
    "Report generated on 2024-03-01 by the shop",
    "Page 1 of 3",
    "End of report",
    "Contact the office at stats@office.example",
    "Note that all figures are rounded.",
]


@pytest.mark.parametrize("remark", REMARKS)
def test_lines_as_offices_and_programs_write_them_are_left_out(tmp_path: Path, remark: str) -> None:
    info, last = csv_of(tmp_path, [f"{remark},,"])
    assert (last, notes_of(info)) == ([], {"footer": "row 6"})
    info, last = sheet_of(tmp_path, [(remark,)])
    assert (last, set(notes_of(info))) == ([], {"footer"})


@pytest.mark.parametrize(
    "remark", ["（注）単位は千円", "注：含港澳", "※速報値", "Uwaga: dane wstępne"]
)
def test_words_for_a_remark_in_other_languages_are_never_passed_over(
    tmp_path: Path, remark: str
) -> None:
    info, _ = csv_of(tmp_path, [f"{remark},,"])
    assert set(notes_of(info)) & {"footer", "notes-doubtful"}


def test_remark_takes_no_row_beside_it_with_it(tmp_path: Path) -> None:
    info, last = csv_of(tmp_path, ["Foxtrot,,", "Golf,,", "Source: own survey,,", "Hotel,,"])
    assert last == ["Foxtrot", "Golf", "Hotel"]
    assert notes_of(info) == {"footer": "row 8", "notes-doubtful": "row 9"}


def test_sentence_goes_on_in_the_next_line(tmp_path: Path) -> None:
    info, last = sheet_of(tmp_path, [("Note: without the islands",), ("and the two lakes",)])
    assert (last, notes_of(info)) == ([], {"footer": "sheet Sheet!A6:C7"})


def test_sign_that_the_names_above_bear_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "costs.csv"
    path.write_text("item,plan,actual\n1) Staff,5,6\n2) Rent,7,8\n3) Paper,9,9\n4) Travel,,\n")
    (info,) = DelimitedReader().tables(path, tmp_path)
    assert info.rows == 4
    assert info.doubtful == (("note", (5,)),)


def test_long_name_beside_long_names_stays(tmp_path: Path) -> None:
    path = tmp_path / "offices.csv"
    names = [f"Federal Office {n} of Statistics and of Public Registers" for n in "ABC"]
    long = "Federal Ministry of Economic Affairs, Energy and Climate Action of Germany"
    lines = [*[f"{name},5,6" for name in names], f'"{long}",,']
    path.write_text("\n".join(["office,plan,actual", *lines]) + "\n")
    (info,) = DelimitedReader().tables(path, tmp_path)
    assert info.rows == 4


def test_cell_merged_across_the_table_and_a_word_are_two_signs(tmp_path: Path) -> None:
    info, last = sheet_of(tmp_path, [("Source own survey",)], "A6:C6")
    assert (last, notes_of(info)["footer"]) == ([], "sheet Sheet!A6:C6")


def test_short_record_is_a_remark_where_records_keep_their_delimiters(tmp_path: Path) -> None:
    info, last = csv_of(tmp_path, ["Foxtrot,,", "Note 10 Pro"])
    assert (last, notes_of(info)["footer"]) == (["Foxtrot"], "row 7")


def test_short_record_is_a_row_where_records_lose_their_last_delimiters(tmp_path: Path) -> None:
    info, last = csv_of(tmp_path, ["Foxtrot,5", "Golf,4", "Contact Lens Co", "Hotel"])
    assert last == ["Foxtrot", "Golf", "Contact Lens Co", "Hotel"]
    assert info.doubtful == (("note", (8,)),)


def test_record_that_broke_off_is_no_remark(tmp_path: Path) -> None:
    path = tmp_path / "cut.csv"
    path.write_text("drink,sold,left,price\nCola,12,4,2\nFanta,9,3,2\nSprite,7,2,1\n7 Up,9\n")
    (info,) = DelimitedReader().tables(path, tmp_path)
    assert info.rows == 4
    assert info.doubtful == (("note", (5,)),)


@pytest.mark.parametrize("line", ["__________", "- - - -", "====="])
def test_all_words_below_a_drawn_line_are_remarks(tmp_path: Path, line: str) -> None:
    lines = [f"{line},,", "(C)opyright The Office,,", "Figures of the office,,"]
    info, last = csv_of(tmp_path, lines)
    assert (info.rows, last) == (4, [])
    assert notes_of(info)["footer"] == "rows 6-8"


def test_names_below_a_line_and_a_total_stay(tmp_path: Path) -> None:
    _, last = csv_of(tmp_path, ["____,,", "Total,31,11540.75", "Foxtrot,,"])
    assert last[-2:] == ["Total", "Foxtrot"]


LEGEND = (
    "Source: own survey",
    "Legend",
    "Sign;Meaning",
    "-;Zero",
    "0;Zero by rounding",
    "X;Secret",
)


@pytest.mark.parametrize(
    ("below", "remarks", "rows"),
    [
        (LEGEND, 6, 6),
        (("Oslo;500", *LEGEND), 1, 11),
        (("Oslo;about 500",), 0, 7),
        (("Source: own survey", "Oslo;500;12;3"), 0, 8),
    ],
    ids=["a legend", "below a short record", "a short record", "a record below"],
)
def test_a_legend_below_a_remark_is_no_data(
    tmp_path: Path, below: Sequence[str], remarks: int, rows: int
) -> None:
    names = "Town;Persons;Houses;Schools"
    towns = [f"Town {n};{n * 311};{n * 97};{n}" for n in range(1, 7)]
    path = tmp_path / "a.csv"
    path.write_text("\n".join([names, *towns, *below]) + "\n", "utf-8")
    (info,) = DelimitedReader().tables(path, tmp_path / "out")
    assert info.rows == rows
    assert sum(note.count for note in info.notes if note.kind == "footer") == remarks
