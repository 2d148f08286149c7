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


@pytest.mark.parametrize(
    ("least", "most"),
    [
        ("Lowest", "Highest"),
        ("Niedrigste", "Höchste"),
        ("Plus bas", "Plus haut"),
        ("Mínimo", "Máximo"),
    ],
)
def test_least_and_greatest_values_that_are_some_are_left_out(
    tmp_path: Path, least: str, most: str
) -> None:
    other = [round(100 - value, 1) for value in VALUES]
    last = f"{most},{max(VALUES)},{max(other)}\n{least},{min(VALUES)},{min(other)}"
    info = read(tmp_path, f"Sample,Live,Dead\n{ROWS}\n{last}\n")
    assert (info.rows, info.left_out) == (10, (("note", (12, 13)),))


def test_least_and_greatest_values_that_the_table_does_not_have_are_said(tmp_path: Path) -> None:
    info = read(tmp_path, f"Sample,Live,Dead\n{ROWS}\nHighest,99.9,80.1\nLowest,12.5,3.1\n")
    assert (info.rows, info.left_out) == (12, ())
    assert info.doubtful == (("summary", (12, 13)),)


def test_a_number_of_values_below_a_mean_is_one(tmp_path: Path) -> None:
    centre = mean(VALUES)
    last = f"Mean,{centre:.4f},{100 - centre:.4f}\nN,10,10"
    info = read(tmp_path, f"Sample,Live,Dead\n{ROWS}\n{last}\n")
    assert (info.rows, info.left_out) == (10, (("note", (12, 13)),))


@pytest.mark.parametrize(
    "text",
    [
        "Station,Kind,Jan,Feb\n"
        + "".join(
            f"S{n},{kind},{n}.5,{n + 2}.5\n" for n in range(6) for kind in ("Highest", "Lowest")
        ),
        "Wind,Days,Speed\nE,4,3.5\nNE,5,2.5\nN,9,7.5\nNW,6,4.5\nW,8,5.5\nS,3,2.5\n",
        "Value,Age,Weight\nHighest,88,112.5\nLowest,18,47.5\nUsual,45,75\nTypical,41,71\n",
    ],
    ids=["repeated labels", "winds", "a table of such values"],
)
def test_ordinary_labels_that_are_such_words_are_data(tmp_path: Path, text: str) -> None:
    info = read(tmp_path, text)
    assert (info.left_out, info.doubtful) == ((), ())
