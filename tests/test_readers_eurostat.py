"""Eurostat's TSV: dimensions in one cell, flags behind numbers."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from leaf.readers.base import TableInfo, Where
from leaf.readers.tabular.delimited import FAST_BYTES, DelimitedReader

HEADER = "freq,sex,geo\\TIME_PERIOD\t2019 \t2020 \t2021 \n"
ROWS = [
    "A,F,AT\t5.6 b\t12.4 \t: c\n",
    "A,F,CZ\t20.9 \t6.0 p\t-3.9 bu\n",
    "A,M,AT\t: \t1.5 \t17.4 \n",
    "A,M,CZ\t: z\t0 n\t2.25 \n",
]
NAMES = ["freq", "sex", "geo", "2019", "2020", "2021", "2019 flags", "2020 flags", "2021 flags"]


def _table(path: Path, text: str) -> TableInfo:
    path.write_text(text, encoding="utf-8")
    (info,) = DelimitedReader().tables(path, path.parent / "out")
    return info


def _rows(path: Path, info: TableInfo) -> list[tuple[object, ...]]:
    names = ", ".join(f'"{name}"' for name, _ in info.columns)
    return duckdb.sql(f"SELECT {names} FROM '{path.parent / 'out' / info.parquet}'").fetchall()


def test_dimensions_and_flags_have_columns_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "une_rt_a.tsv"
    info = _table(path, HEADER + "".join(ROWS))
    assert [name for name, _ in info.columns] == NAMES
    assert _rows(path, info) == [
        ("A", "F", "AT", 5.6, 12.4, None, "b", None, "c"),
        ("A", "F", "CZ", 20.9, 6.0, -3.9, None, "p", "bu"),
        ("A", "M", "AT", None, 1.5, 17.4, None, None, None),
        ("A", "M", "CZ", None, 0.0, 2.25, "z", "n", None),
    ]
    notes = {note.kind: note for note in info.notes}
    assert notes["flags-apart"].count == 6
    assert notes["flags-apart"].text.startswith("6 cells have flags behind their values")
    assert "freq, sex, geo" in notes["dimensions-parted"].text
    assert list((tmp_path / "out").iterdir()) == [tmp_path / "out" / info.parquet]


def test_rows_keep_the_numbers_of_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    info = _table(path, HEADER + ROWS[0] + "\n" + "".join(ROWS[1:]))
    assert info.place == "lines 1-6"
    numbers = duckdb.sql(f"SELECT _row FROM '{tmp_path / 'out' / info.parquet}'").fetchall()
    assert [n for (n,) in numbers] == [2, 4, 5, 6]
    passages = [p.text for p in DelimitedReader().passages(path, Where())]
    assert any("5.6 b" in text for text in passages)


def test_a_large_file_is_parted_in_the_same_way(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    line = "A,F,R{n:06}\t{n}.5 \t{n}.25 e\t: \n"
    count = FAST_BYTES // 20
    info = _table(path, HEADER + "".join(line.format(n=n) for n in range(count)))
    assert path.stat().st_size > FAST_BYTES
    assert [name for name, _ in info.columns] == [*NAMES[:6], "2020 flags"]
    target = tmp_path / "out" / info.parquet
    total, flags = duckdb.sql(
        f"""SELECT sum("2019"), count("2020 flags") FROM '{target}'"""
    ).fetchall()[0]
    assert total == sum(n + 0.5 for n in range(count))
    assert (flags, info.rows, info.place) == (count, count, f"lines 1-{count + 1}")


def test_outline_has_the_columns_of_the_table(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    info = _table(path, HEADER + "".join(ROWS))
    outline = DelimitedReader().outline(path)
    assert (outline.rows, outline.columns) == (info.rows, len(info.columns))


@pytest.mark.parametrize(
    "text",
    [
        "name\tfolder\\file\nx\t1 b\ny\t2 c\nz\t3 d\n",
        "freq,geo\\TIME\t2019\t2020\nA,AT\t5.6 b\tabout 7\nA,CZ\t1\t2\nA,DE\t3\t4\n",
        "freq,geo\\TIME\t2019\t2020\nA,AT\t5.6 b\t7\nA,CZ,X\t1\t2\nA,DE\t3\t4\n",
        "length,width\\unit\tA\tB\n1,2\t5m\t6m\n1,3\t7m\t8m\n",
    ],
    ids=["a path", "words", "other dimensions", "units"],
)
def test_other_files_are_not_parted(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.tsv"
    info = _table(path, text)
    assert "dimensions-parted" not in {note.kind for note in info.notes}
    assert info.columns[0][0] == text.split("\t")[0]


def test_a_row_far_below_with_other_dimensions_keeps_the_file_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    rows = [f"A,F,R{n:04}\t{n}.5 \t{n}.25 \t1.5 \n" for n in range(900)]
    info = _table(path, HEADER + "".join(rows) + "A,F\t1 \t2 \t3 \n")
    assert info.rows == 901
    assert info.columns[0][0].startswith("freq,sex,geo")
