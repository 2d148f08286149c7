"""Flags in a row below each row of values, as INSEE writes its series."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from leaf.readers.base import TableInfo
from leaf.readers.tabular.delimited import FAST_BYTES, DelimitedReader

HEADER = "Libellé;idBank;2023-10;2023-11;2023-12\n"
SERIES = (
    '"Prix - Énergie";"001763852";"138.02";"123.77";"101.5"\n"Codes";"";"A";"P";"P"\n'
    '"Prix - Ensemble";"001759970";"105.38";"112.52";"99.25"\n"Codes";"";"A";"A";"P"\n'
    '"Prix - Tabac";"001763866";"129.46";"";""\n"Codes";"";"A";"";""\n'
)


def _table(path: Path, text: str) -> TableInfo:
    path.write_text(text, encoding="utf-8")
    (info,) = DelimitedReader().tables(path, path.parent / "out")
    return info


def test_flags_stand_in_the_row_of_their_values(tmp_path: Path) -> None:
    info = _table(tmp_path / "valeurs_mensuelles.csv", HEADER + SERIES)
    assert [name for name, _ in info.columns] == [
        *("Libellé", "idBank", "2023-10", "2023-11", "2023-12"),
        *("2023-11 flags", "2023-12 flags"),
    ]
    names = ", ".join(f'"{name}"' for name, _ in info.columns[1:])
    target = tmp_path / "out" / info.parquet
    assert duckdb.sql(f"SELECT _row, {names} FROM '{target}'").fetchall() == [
        (2, "001763852", 138.02, 123.77, 101.5, "P", "P"),
        (4, "001759970", 105.38, 112.52, 99.25, "A", "P"),
        (6, "001763866", 129.46, None, None, None, None),
    ]
    (note,) = info.notes
    assert note.text.startswith("Below each row stand its flags; those other than A (P) stand in")
    assert note.count == 3


def test_flags_that_are_all_the_same_are_said_and_left_out(tmp_path: Path) -> None:
    info = _table(tmp_path / "a.csv", HEADER + SERIES.replace('"P"', '"A"'))
    assert len(info.columns) == 5
    (note,) = info.notes
    assert note.text == "Below each row stand its flags, all of them A; they were left out."


def test_a_single_series_is_told_by_the_word(tmp_path: Path) -> None:
    info = _table(tmp_path / "a.csv", HEADER + "".join(SERIES.splitlines(True)[:2]))
    assert (info.rows, info.columns[2][1]) == (1, "DOUBLE")


def test_a_large_file_of_series_is_joined_in_the_same_way(tmp_path: Path) -> None:
    pair = '"Série {n}";"{n:09}";"{n}.5";"{n}.25";"1.5"\n"Codes";"";"A";"A";"P"\n'
    count = FAST_BYTES // 50
    info = _table(tmp_path / "a.csv", HEADER + "".join(pair.format(n=n) for n in range(count)))
    assert (tmp_path / "a.csv").stat().st_size > FAST_BYTES
    assert info.rows == count
    assert [name for name, _ in info.columns][-1] == "2023-12 flags"
    total = duckdb.sql(
        f"""SELECT sum("2023-10") FROM '{tmp_path / "out" / info.parquet}'"""
    ).fetchall()[0][0]
    assert total == sum(n + 0.5 for n in range(count))
    assert "flags-apart" in {note.kind for note in info.notes}


@pytest.mark.parametrize(
    "change",
    [
        ('"Codes";"";"A";"";""\n', '"Codes";"";"none";"";""\n'),
        ('"Codes";"";"A";"";""\n', ""),
        ('"Codes";"";"A";"P";"P"\n', '"Codes";"A";"";"P";"7"\n'),
        ('"129.46"', '"closed"'),
        ('"Codes";"";"A";"P";"P"\n', '"Codes";"";"A";"P";"P";"P"\n'),
    ],
    ids=["a word", "no row at the end", "a number", "words above", "beyond the names"],
)
def test_rows_that_do_not_alternate_stay_as_they_are(
    tmp_path: Path, change: tuple[str, str]
) -> None:
    info = _table(tmp_path / "a.csv", HEADER + SERIES.replace(*change))
    assert "flags-apart" not in {note.kind for note in info.notes}
    assert info.rows == (HEADER + SERIES.replace(*change)).count("\n") - 1
