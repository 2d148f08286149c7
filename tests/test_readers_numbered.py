"""A row that numbers the columns below their names belongs to the header; one that may be a record
stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pytest

from leaf.readers.base import TableInfo
from leaf.readers.tabular.delimited import DelimitedReader
from leaf.readers.tabular.sheets import SheetsReader


def one(folder: Path, text: str) -> tuple[TableInfo, list[Any]]:
    path = folder / "form.csv"
    path.write_text(text, "utf-8")
    (info,) = DelimitedReader().tables(path, folder)
    return info, [
        row for (row,) in duckdb.sql(f"SELECT t FROM '{folder / info.parquet}' t").fetchall()
    ]


def numbered(info: TableInfo) -> str:
    return next((n.place for n in info.notes if "numbers the columns" in n.text), "")


FRUIT = "Яблоки;120;115;-5\nГруши;80;90;10\nСливы;55;51;-4\n"
FORMS = {
    "plain": "Имя;План;Факт;Откл.\n1;2;3;4\n" + FRUIT,
    "brackets": "Имя;План;Факт;Откл.\n(1);(2);(3);(4)\n" + FRUIT,
    "formula": "Имя;План;Факт;Откл.\n1;2;3;4=3-2\n" + FRUIT,
    "graph": "Имя;План;Факт;Откл.\n1;2;3;4 (гр.3-гр.2)\n" + FRUIT,
    "letter": "Имя;План;Факт;Откл.\nА;1;2;3\n" + FRUIT,
    "letter and places": "Имя;План;Факт;Откл.\nА;2;3;4\n" + FRUIT,
    "no name": "Имя;План;Факт;Откл.\n;1;2;3\n" + FRUIT,
    "columns": "Name;Plan;Fact;Gap\ncol. 1;col. 2;col. 3;col. 4\n" + FRUIT,
    "letters": "Имя;Код;2022;2023\nА;Б;1;2\nЯблоки;10;120;115\nГруши;20;80;90\nСливы;30;55;51\n",
    "dates": "Имя;01.01.2023;01.01.2024\n1;2;3\nКасса;120;115\nБанк;80;90\nДолг;55;51\n",
    "rows counted": "№;Имя;План\n1;2;3\n1;Яблоки;120\n2;Груши;80\n3;Сливы;55\n",
    "all numbers": "№;План;Факт\n1;2;3\n1;120;115\n2;80;90\n3;55;51\n",
    "all text": "Имя;Цвет;Сорт\n1;2;3\nЯблоки;красные;первый\nГруши;желтые;второй\nСливы;синие;третий\n",
    "brackets among numbers": "Line;A;B\n(1);(2);(3)\n7;120;115\n9;80;90\n12;55;51\n",
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_row_that_numbers_the_columns_is_no_record(tmp_path: Path, text: str) -> None:
    info, rows = one(tmp_path, text)
    assert (info.rows, len(rows), numbered(info)) == (3, 3, "row 2")
    assert [name for name, _ in info.columns] == text.split("\n", 1)[0].split(";")
    assert "header-assumed" not in {note.kind for note in info.notes}


RECORDS = {
    "ids": "id;a_id;b_id;c_id\n1;2;3;4\n2;3;4;5\n3;4;5;6\n",
    "first of a few": "id;rank;score\n1;2;3\n4;5;6\n9;8;7\n",
    "called A": "name;x;y;z\nA;1;2;3\nBeta;5;6;7\nGamma;8;9;1\n",
    "called A and B": "home;away;goals;lost\nA;B;1;2\nBeta;Alpha;2;2\nAlpha;Gamma;3;1\n",
    "small letters": "name;x;y;z\na;1;2;3\nb;5;6;7\nc;8;9;1\n",
    "two columns": "name;x\n1;2\nBeta;6\nGamma;9\n",
    "not to the end": "name;x;y;z\n1;2;3;7\nBeta;5;6;7\nGamma;8;9;1\n",
    "debts": "a;b;c\n(1);(2);(3)\n(5);7;8\n9;(2);6\n",
}


@pytest.mark.parametrize("text", RECORDS.values(), ids=RECORDS)
def test_record_that_counts_stays(tmp_path: Path, text: str) -> None:
    info, _ = one(tmp_path, text)
    assert (info.rows, numbered(info)) == (text.count("\n") - 1, "")


@pytest.mark.parametrize("months", ["Jan;Jan;Jan;Jan", "Jan;Jan;Feb;Feb", "Jan;;;"])
def test_days_and_weeks_below_months_are_names(tmp_path: Path, months: str) -> None:
    rows = "Ann;7;8;7;6\nBob;8;8;6;9\nCid;8;7;9;5\n"
    info, _ = one(tmp_path, f"Who;{months}\n;1;2;3;4\n{rows}")
    assert numbered(info) == ""


def test_numbers_below_a_header_of_two_rows_with_merged_cells(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (
        ["Отчёт за 2023 год"],
        [],
        ["№", "Имя", "Продажи", None, "Долги", None],
        [None, None, "План", "Факт", "План", "Факт"],
        [1, 2, 3, 4, 5, 6],
        [1, "Яблоки", 120, 115, 9, 8],
        [2, "Груши", 80, 90, 7, 7],
        [3, "Сливы", 55, 51, 6, 2],
    ):
        sheet.append(row)
    for cells in ("A3:A4", "B3:B4", "C3:D3", "E3:F3"):
        sheet.merge_cells(cells)
    book.save(tmp_path / "form.xlsx")
    (info,) = SheetsReader().tables(tmp_path / "form.xlsx", tmp_path)
    names = [name for name, _ in info.columns]
    assert (info.rows, names[:3]) == (3, ["№", "Имя", "Продажи / План"])
    assert names[3:] == ["Продажи / Факт", "Долги / План", "Долги / Факт"]
    assert numbered(info) == "sheet Sheet!A5:F5"
    assert info.first_row == 6


def test_numbers_that_each_printed_page_repeats_are_left_out(tmp_path: Path) -> None:
    page = "Имя;План;Факт;Откл.\n1;2;3;4\n" + FRUIT
    info, _ = one(tmp_path, page + page)
    assert info.rows == 6
    assert {n.kind: n.place for n in info.notes}["header-repeated"] == "rows 6-7"
