"""Tables with nothing but comments between them are tables of their own; comments within one part
nothing."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from leaf.readers.base import TableInfo
from leaf.readers.tabular.delimited import DelimitedReader

DATES = "# \n# Start date: 20250101\n# Shop, web: all\n"
DAYS = "Nth day,Users\n" + "".join(f"{n:04},{n * 37 + 5}\n" for n in range(12))
CHANNELS = 'Channel,Sessions,Rate\nSearch,3227,0.57\nDirect,4569,0.55\n"(other), AI",12,0.5\n'
COUNTRIES = "Code,Country,Users\nDE,Germany,359\nAT,Austria,6530\nNA,Namibia,12\n"


def tables(folder: Path, text: str) -> list[TableInfo]:
    path = folder / "report.csv"
    path.write_text(text, "utf-8")
    return DelimitedReader().tables(path, folder)


def test_tables_with_comments_between_them_are_tables_of_their_own(tmp_path: Path) -> None:
    text = "# -----\n# Snapshot\n" + DATES + DAYS + DATES + CHANNELS + DATES + COUNTRIES
    infos = tables(tmp_path, text)
    assert [(info.rows, [name for name, _ in info.columns]) for info in infos] == [
        (12, ["Nth day", "Users"]),
        (3, ["Channel", "Sessions", "Rate"]),
        (3, ["Code", "Country", "Users"]),
    ]
    remarks = [n.place for info in infos for n in info.notes if n.kind == "preamble"]
    assert remarks == ["rows 1-5", "rows 19-21", "rows 26-28"]
    sums = [
        duckdb.sql(f"SELECT sum({column}) FROM '{tmp_path / info.parquet}'").fetchall()[0][0]
        for info, column in zip(infos, ("Users", "Sessions", "Users"), strict=True)
    ]
    assert sums == [sum(n * 37 + 5 for n in range(12)), 7808, 6901]


def test_tables_of_equally_many_columns_are_parted_by_their_names(tmp_path: Path) -> None:
    infos = tables(tmp_path, CHANNELS + DATES + COUNTRIES)
    assert [info.rows for info in infos] == [3, 3]


ONE = {
    "comments above": (DATES + CHANNELS, 3),
    "comments within": ("a,b\n1,2\n3,4\n# checked by hand\n5,6\n7,8\n", 5),
    "words below a comment": ("a,b\nx,2\ny,4\n# late\nz,n/a\nw,8\n", 5),
    "numbers of orders": ("id,sum\n#1201,20\n#1202,30\n#1203,40\n#1204,50\n", 4),
}


@pytest.mark.parametrize(("text", "rows"), ONE.values(), ids=ONE)
def test_comments_of_one_table_part_nothing(tmp_path: Path, text: str, rows: int) -> None:
    (info,) = tables(tmp_path, text)
    assert info.rows == rows
