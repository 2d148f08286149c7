"""Long tables in which members of a column sum the others, as statistics offices write them. The truth
is pandas'."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from leaf.readers.base import TableInfo
from leaf.readers.tabular.delimited import DelimitedReader

PLACES = ["AT", "BE", "DE", "FR"]


def cube(sexes: list[str], ages: list[str], *, seed: int = 1, most: int = 90_000) -> pd.DataFrame:
    """Rows of each place, year, sex and age; the first sex and the first age are sums."""
    rng = np.random.default_rng(seed)
    parts = pd.DataFrame(
        list(product(PLACES, (2020, 2021), sexes[1:], ages[1:])),
        columns=["geo", "year", "sex", "age"],
    )
    parts["value"] = rng.integers(1, most, len(parts))
    by_age = parts.groupby(["geo", "year", "age"], as_index=False).value.sum().assign(sex=sexes[0])
    some = pd.concat([parts, by_age])
    whole = some.groupby(["geo", "year", "sex"], as_index=False).value.sum().assign(age=ages[0])
    return pd.concat([some, whole])[["geo", "sex", "age", "year", "value"]]


def read(tmp_path: Path, frame: pd.DataFrame) -> TableInfo:
    frame.to_csv(tmp_path / "cube.csv", index=False)
    (info,) = DelimitedReader().tables(tmp_path / "cube.csv", tmp_path / "out")
    return info


def total_of(tmp_path: Path, info: TableInfo) -> int:
    """What a sum over the rows of data gives."""
    rows = f"read_parquet('{tmp_path / 'out' / info.parquet}')"
    data = "WHERE _kind = 'data'" if info.marked else ""
    ((total,),) = duckdb.sql(f"SELECT sum(value) FROM {rows} {data}").fetchall()
    return int(total)


def notes_of(info: TableInfo, kind: str) -> list[str]:
    return [note.text for note in info.notes if note.kind == kind]


@pytest.mark.parametrize("order", [["geo", "sex", "age"], ["sex", "geo", "age"], ["year", "age"]])
@pytest.mark.parametrize(
    ("sexes", "ages"),
    [
        (["T", "M", "F"], ["TOTAL", "Y_LT15", "Y15-64", "Y_GE65"]),
        (["Both sexes", "Males", "Females"], ["All ages", "0 to 14", "15 to 64", "65 and over"]),
        (["Insgesamt", "männlich", "weiblich"], ["Insgesamt", "unter 15", "ab 15"]),
    ],
)
def test_a_sum_over_a_cube_counts_each_thing_once(
    tmp_path: Path, sexes: list[str], ages: list[str], order: list[str]
) -> None:
    frame = cube(sexes, ages).sort_values(order, kind="stable")
    info = read(tmp_path, frame)
    parts = frame[(frame.sex != sexes[0]) & (frame.age != ages[0])]
    assert total_of(tmp_path, info) == parts.value.sum()
    assert info.rows == len(parts)
    (text,) = [t for t in notes_of(info, "cube-totals") if "in 'sex'" in t]
    assert text.startswith(f"'{sexes[0]}' in 'sex' is the sum of ")
    assert all(sex in text for sex in sexes)


def test_a_sum_with_a_name_of_its_own_is_kept_and_said(tmp_path: Path) -> None:
    frame = cube(["T", "M", "F"], ["TOTAL", "young", "old"])
    parts = frame[(frame.sex != "T") & (frame.age != "TOTAL")]
    union = parts.groupby(["sex", "age", "year"], as_index=False).value.sum().assign(geo="EU")
    info = read(tmp_path, pd.concat([union, parts])[list(frame.columns)])
    assert info.rows == len(parts) + len(union)
    assert sum(count for _, count in info.doubtful_counts) == len(union)
    (text,) = notes_of(info, "cube-sums")
    assert text.startswith("'EU' in 'geo' is the sum of AT, BE, DE and 1 more in 8 rows")


@pytest.mark.parametrize("seed", [None, 1, 2])
@pytest.mark.parametrize("digits", [0, 1])
def test_regions_above_those_whose_codes_begin_with_theirs(
    tmp_path: Path, seed: int | None, digits: int
) -> None:
    rng = np.random.default_rng(3)
    codes = [f"{place}{n}{m}" for place in PLACES for n in (1, 2, 3) for m in (1, 2)]
    parts = pd.DataFrame(list(product(codes, "MF", (2020, 2021))), columns=["geo", "sex", "year"])
    parts["value"] = rng.integers(1_000, 99_000, len(parts)) / (10**digits)
    above = [
        parts.assign(geo=geo).groupby(["geo", "sex", "year"], as_index=False).value.sum()
        for geo in (parts.geo.str[:3], parts.geo.str[:2], "EU27")
    ]
    frame = pd.concat([parts, *above]).sort_values(["geo", "year"], kind="stable").round(digits)
    info = read(tmp_path, frame if seed is None else frame.sample(frac=1, random_state=seed))
    assert info.rows == len(frame)
    sums = len(frame) - len(parts)
    assert sum(count for _, count in info.doubtful_counts) == sums
    whole, nested = notes_of(info, "cube-sums")
    assert "'EU27' in 'geo' is the sum of " in whole
    assert nested.startswith("16 members of 'geo' such as '")
    assert f" in {sums - 4} rows" in nested


def test_a_total_whose_parts_are_withheld_is_kept(tmp_path: Path) -> None:
    """Without the total nobody would know what the part was."""
    frame = cube(["T", "M", "F"], ["TOTAL", "young", "old"])
    withheld = (frame.geo == "FR") & (frame.sex == "F")
    info = read(tmp_path, frame[~withheld])
    left = {row for _, rows in info.left_out for row in rows}
    lines = (tmp_path / "cube.csv").read_text().splitlines()
    assert not any(",T," in line and ",TOTAL," not in line for line in (lines[r - 1] for r in left))
    doubtful = {row for _, rows in info.doubtful for row in rows}
    assert all(not lines[row - 1].startswith("FR,T") for row in doubtful)
    assert any("'T' in 'sex'" in text for text in notes_of(info, "cube-sums"))


def test_rounded_numbers_have_totals_too(tmp_path: Path) -> None:
    frame = cube(["T", "M", "F"], ["TOTAL", "young", "old"])
    frame["value"] = (frame.value / 5).round() * 5
    info = read(tmp_path, frame.astype({"value": int}))
    assert info.rows == len(PLACES) * 2 * 2 * 2


@pytest.mark.parametrize("seed", range(8))
def test_small_numbers_that_happen_to_add_up_are_no_totals(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    keys = list(product(PLACES, range(2015, 2025), "ABCD"))
    frame = pd.DataFrame(keys, columns=["geo", "year", "group"])
    frame["value"] = rng.integers(0, 4, len(frame))
    info = read(tmp_path, frame)
    assert info.rows == len(frame)
    assert not notes_of(info, "cube-sums")
    assert not notes_of(info, "cube-totals")


def test_rates_beside_counts_stay(tmp_path: Path) -> None:
    counts = cube(["T", "M", "F"], ["TOTAL", "young", "old"]).assign(unit="number")
    rng = np.random.default_rng(7)
    rates = counts.assign(unit="rate", value=rng.integers(1_000, 2_000, len(counts)))
    info = read(tmp_path, pd.concat([counts, rates]))
    doubtful = {row for _, rows in info.doubtful for row in rows}
    lines = (tmp_path / "cube.csv").read_text().splitlines()
    assert doubtful
    assert sum(lines[row - 1].endswith("number") for row in doubtful) >= 0.95 * len(doubtful)
    left = [lines[row - 1] for _, rows in info.left_out for row in rows]
    assert not any(line.endswith("rate") for line in left)
