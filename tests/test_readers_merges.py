"""Labels that are merged over several rows of a sheet hold for each of them; amounts do not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest
from openpyxl import Workbook

from leaf.readers.base import TableInfo
from leaf.readers.tabular.sheets import SheetsReader

HEADER = ["Region", "Year", "City", "Opened", "Order total", "Sales"]
ROWS: list[list[Any]] = [
    ["North", 2023, "Bergen", "2020-01-05", 500, 10],
    [None, None, "Oslo", None, None, 20],
    [None, None, "Umeå", None, None, 30],
    ["West", 2024, "Leeds", "2021-02-07", 70, 40],
    [None, None, "York", None, None, 50],
    ["South", 2025, "Porto", "2022-03-09", 80, 60],
]


def _load(
    path: Path, rows: Sequence[Sequence[Any]], merges: Sequence[str]
) -> tuple[TableInfo, list[tuple[Any, ...]]]:
    book = Workbook()
    for row in rows:
        book.active.append(list(row))
    for cells in merges:
        book.active.merge_cells(cells)
    book.save(path)
    out = path.with_suffix("")
    out.mkdir()
    info = SheetsReader().tables(path, out)[0]
    return info, duckdb.connect().execute(f"FROM '{out / info.parquet}'").fetchall()


def test_a_label_over_several_rows_stands_in_each_of_them(tmp_path: Path) -> None:
    merges = ["A2:A4", "A5:A6", "B2:B4", "B5:B6"]
    info, rows = _load(tmp_path / "sales.xlsx", [HEADER, *ROWS], merges)
    assert [row[0] for row in rows] == ["North"] * 3 + ["West"] * 2 + ["South"]
    assert [row[1] for row in rows] == [2023] * 3 + [2024] * 2 + [2025]
    notes = {note.kind: note for note in info.notes}
    assert notes["merged-labels"].count == 4
    assert notes["merged-labels"].cells == "A2:A4, B2:B4, A5:A6, B5:B6"
    assert "merged-cells" not in notes
    assert "labels-once" not in notes


def test_an_amount_over_several_rows_stands_once(tmp_path: Path) -> None:
    merges = ["E2:E4", "E5:E6"]
    info, rows = _load(tmp_path / "orders.xlsx", [HEADER, *ROWS], merges)
    assert [row[4] for row in rows] == [500, None, None, 70, None, 80]
    notes = {note.kind: note for note in info.notes}
    assert notes["merged-cells"].cells == "E2:E4, E5:E6"
    assert "merged-labels" not in notes


@pytest.mark.parametrize("year", [2023, 1950])
def test_a_number_like_a_year_among_amounts_stands_once(tmp_path: Path, year: int) -> None:
    rows = [list(row) for row in ROWS]
    rows[0][4] = year
    _, found = _load(tmp_path / "orders.xlsx", [HEADER, *rows], ["E2:E4"])
    assert [row[4] for row in found] == [year, None, None, 70, None, 80]


def test_a_label_over_its_rows_and_their_subtotal(tmp_path: Path) -> None:
    """The subtotal is no row of data: it neither takes the label nor ends it."""
    rows = [
        HEADER,
        *ROWS[:3],
        [None, None, "Subtotal", None, 500, 60],
        *ROWS[3:5],
        [None, None, "Subtotal", None, 70, 90],
    ]
    info, found = _load(tmp_path / "sales.xlsx", rows, ["A2:A5", "A6:A8"])
    data = [row for row in found if row[-1] == "data"]
    assert [row[0] for row in data] == ["North"] * 3 + ["West"] * 2
    assert sum(len(numbers) for _, numbers in info.left_out) == 2


def test_a_value_below_the_first_of_a_merged_cell_is_kept(tmp_path: Path) -> None:
    """Some programs leave what stood there, out of sight."""
    rows = [list(row) for row in ROWS]
    path = tmp_path / "kept.xlsx"
    book = Workbook()
    for row in [HEADER, *rows]:
        book.active.append(row)
    book.active.merge_cells("A2:A4")
    # openpyxl empties the cells below when it merges; another program may not.
    cells = book.active._cells
    cells[3, 1] = type(cells[2, 1])(book.active, 3, 1, "Hidden")
    book.save(path)
    (tmp_path / "out").mkdir()
    info = SheetsReader().tables(path, tmp_path / "out")[0]
    found = duckdb.connect().execute(f"FROM '{tmp_path / 'out' / info.parquet}'").fetchall()
    assert [row[0] for row in found[:3]] == ["North", "Hidden", None]
