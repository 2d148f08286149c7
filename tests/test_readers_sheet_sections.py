"""Rows near the names of a sheet that name no column: section titles, lines of labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from openpyxl import Workbook

from leaf.readers.base import TableInfo
from leaf.readers.tabular.sheets import SheetsReader


def _tables(tmp_path: Path, rows: list[list[Any]], merges: tuple[str, ...] = ()) -> list[TableInfo]:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for row in rows:
        sheet.append(row)
    for cells in merges:
        sheet.merge_cells(cells)
    book.save(tmp_path / "book.xlsx")
    (tmp_path / "out").mkdir()
    return SheetsReader().tables(tmp_path / "book.xlsx", tmp_path / "out")


def _names(table: TableInfo) -> list[str]:
    return [name for name, _ in table.columns]


def test_a_section_title_merged_below_the_names_is_a_heading_and_no_name(tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        ["Account", "Name", "Jan", None, "Feb", None],
        [None, None, "Budget", "Actual", "Budget", "Actual"],
        ["Personnel"],
        ["0610", "Wages", 42000, 35103, 42000, 42877],
        ["0611", "Overtime", 31000, 26061, 31000, 36657],
        [],
        ["Vehicles"],
        ["0710", "Fuel", 18000, 20024, 18000, 16961],
        ["0711", "Tyres", 1500, 1601, 1500, 1608],
        ["0712", "Repairs", 4000, 3697, 4000, 3721],
    ]
    merges = ("A1:A2", "B1:B2", "C1:D1", "E1:F1", "A3:F3", "A7:F7")
    (table,) = _tables(tmp_path, rows, merges)
    assert _names(table) == [
        *("Account", "Name", "Jan / Budget", "Jan / Actual", "Feb / Budget", "Feb / Actual")
    ]
    assert table.rows == 5
    assert table.left_out == (("heading", (3, 7)),)
    assert "heading-rows" in {note.kind for note in table.notes}


def test_labels_with_their_values_above_the_names_are_a_title(tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        ["Name:", "Anke Reuter", None, "Dept.:", "Sales"],
        ["Date", "Purpose", "Currency", "Amount", "Rate"],
        ["2024-05-24", "Meal", "GBP", 443.15, 1.17],
        ["2024-05-25", "Hotel", "USD", 145.22, 0.92],
        ["2024-05-26", "Taxi", "USD", 181.28, 0.92],
    ]
    (table,) = _tables(tmp_path, rows)
    assert _names(table) == ["Date", "Purpose", "Currency", "Amount", "Rate"]
    assert "preamble" in {note.kind for note in table.notes}
    assert table.rows == 3


def test_a_row_of_years_with_a_colon_stays_a_row_of_names(tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        ["Year:", "2019", None, "2020", None],
        ["Town", "Men", "Women", "Men", "Women"],
        ["Aachen", 12, 13, 14, 15],
        ["Bonn", 22, 23, 24, 25],
        ["Celle", 32, 33, 34, 35],
    ]
    (table,) = _tables(tmp_path, rows, ("B1:C1", "D1:E1"))
    assert _names(table)[1:] == ["2019 / Men", "2019 / Women", "2020 / Men", "2020 / Women"]
