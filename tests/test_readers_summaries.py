"""Rows of means and deviations that programs write below their values."""

from __future__ import annotations

from pathlib import Path
from statistics import mean, stdev

import pytest

from leaf.readers.base import TableInfo
from leaf.readers.tabular.delimited import DelimitedReader

VALUES = [80.6, 86.8, 82.9, 95.3, 72.8, 73.5, 86.1, 96.4, 65.6, 61.7]
ROWS = "\n".join(f"tube_{n}.fcs,{value},{100 - value:.1f}" for n, value in enumerate(VALUES))


def read(folder: Path, text: str) -> TableInfo:
    path = folder / "file.csv"
    path.write_text(text)
    (info,) = DelimitedReader().tables(path, folder)
    return info


def test_mean_and_deviation_that_the_values_do_not_give_are_said(tmp_path: Path) -> None:
    info = read(tmp_path, f"Sample,Live,Dead\n{ROWS}\nMean,78.7,37.5\nSD,9.8,14.2\n")
    assert (info.rows, info.left_out) == (12, ())
    assert info.doubtful == (("summary", (12, 13)),)


def test_mean_and_deviation_that_the_values_give_are_left_out(tmp_path: Path) -> None:
    centre, spread = mean(VALUES), stdev(VALUES)
    last = f"Mean,{centre:.4f},{100 - centre:.4f}\nSD,{spread:.4f},{spread:.4f}"
    info = read(tmp_path, f"Sample,Live,Dead\n{ROWS}\n{last}\n")
    assert (info.rows, info.left_out) == (10, (("note", (12, 13)),))


@pytest.mark.parametrize(
    "text",
    [
        "State,Live,Dead\nND,1.5,2.5\nNE,2.5,7.5\nOK,3.5,4.5\nSC,4.5,6.5\nTN,9.5,3.5\nSD,8.5,5.5\n",
        "Statistic,Live,Dead\ncount,9,9\nmean,5.5,6.5\nsd,1.5,2.5\nmin,1,2\nmax,9,8\n",
    ],
    ids=["states", "a table of statistics"],
)
def test_states_and_tables_of_statistics_are_not_doubted(tmp_path: Path, text: str) -> None:
    info = read(tmp_path, text)
    assert (info.left_out, info.doubtful) == ((), ())
