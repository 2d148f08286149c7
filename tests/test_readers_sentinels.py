"""Numbers that stand for no value, as measuring programs and surveys write them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from leaf.readers.base import TableInfo
from leaf.readers.tabular.delimited import DelimitedReader
from leaf.readers.tabular.parquet import ParquetReader


def note_of(info: TableInfo) -> str:
    return " ".join(f"{note.text} {note.place}" for note in info.notes if note.kind == "sentinels")


def read(tmp_path: Path, values: list[str]) -> TableInfo:
    rows = "".join(f"S{n},{value}\n" for n, value in enumerate(values))
    (tmp_path / "measured.csv").write_text("station,value\n" + rows)
    (info,) = DelimitedReader().tables(tmp_path / "measured.csv", tmp_path / "out")
    return info


MILD = ["-3.5", "0.2", "4.1", "11.9", "17.3", "21.8", "9.0"]
COUNTS = ["0", "12", "40", "7", "55", "31", "18"]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([*MILD, "-999"], "1 value of 'value' is -999"),
        ([*MILD, "-9999.0", "-9999.0"], "2 values of 'value' are -9999"),
        ([*MILD, "-99.9"], "1 value of 'value' is -99.9"),
        ([*COUNTS, "-99", "-99"], "2 values of 'value' are -99"),
        ([*COUNTS, "9999", "9999"], "2 values of 'value' are 9999"),
        ([*MILD, "1e20", "1e20"], "2 values of 'value' are 1e+20"),
    ],
)
def test_a_number_far_from_all_others_is_said(tmp_path: Path, values: list[str], said: str) -> None:
    info = read(tmp_path, values)
    assert note_of(info).startswith(f"{said}, far from all others")
    assert note_of(info).endswith(f"{len(values) + 1}")
    assert info.rows == len(values)


@pytest.mark.parametrize(
    "values",
    [
        MILD,
        [*COUNTS, "-99"],
        [*COUNTS, "99"],
        [*COUNTS, "999"],
        ["1200", "999", "999", "1500", "880", "1010", "700"],
        ["-999", "-850", "-1200", "400", "900", "-120", "10"],
        ["-999", "-999", "-999", "1"],
    ],
)
def test_a_number_among_others_like_it_is_none(tmp_path: Path, values: list[str]) -> None:
    assert not note_of(read(tmp_path, values))


def test_a_parquet_file_has_them_too(tmp_path: Path) -> None:
    values = [1.5, 2.5, 3.5, 2.0, 1.0, -9999.0, None, float("nan"), float("inf")]
    pq.write_table(pa.table({"level": values}), tmp_path / "levels.parquet")
    (info,) = ParquetReader().tables(tmp_path / "levels.parquet", tmp_path / "out")
    assert note_of(info).startswith("1 value of 'level' is -9999")
