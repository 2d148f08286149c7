"""A row that is the sum of all others is said, whatever it is called and wherever it stands; so are
the rows of a level in which a column has no value."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from leaf.readers.base import TableInfo
from leaf.readers.tabular.delimited import DelimitedReader


def _table(folder: Path, lines: list[str]) -> TableInfo:
    path, out = folder / "table.csv", folder / "out"
    path.write_text("\n".join(lines) + "\n")
    out.mkdir()
    return DelimitedReader().tables(path, out)[0]


def _campaigns(first: bool) -> list[str]:
    """Reach counts people once, a rate adds up nowhere; the sum has no name in the column of names."""
    chance = random.Random(3)
    rows = []
    shown = clicks = spent = 0
    for number in range(12):
        one = (chance.randint(10_000, 90_000), chance.randint(100, 900), chance.randint(1, 900_00))
        shown, clicks, spent = shown + one[0], clicks + one[1], spent + one[2]
        rate = f"{100 * one[1] / one[0]:.6f}"
        rows.append(
            f"2025-01-01,Campaign {number},active,{one[0] - 77},{one[0]},{one[1]},{one[2] / 100:.2f},{rate}"
        )
    total = f"2025-01-01,,0,{shown - 90_000},{shown},{clicks},{spent / 100:.2f},1.234567"
    head = "Starts,Campaign,Delivery,Reach,Impressions,Clicks,Spent,Click rate"
    return [head, *([total, *rows] if first else [*rows, total])]


@pytest.mark.parametrize("first", [True, False])
def test_the_sum_of_all_rows_is_doubtful_without_a_name(tmp_path: Path, first: bool) -> None:
    info = _table(tmp_path, _campaigns(first))
    assert info.rows == 13
    assert dict(info.doubtful) == {"total": (2 if first else 14,)}
    assert "totals-doubtful" in {note.kind for note in info.notes}


def test_a_state_above_its_counties_beside_margins_of_error(tmp_path: Path) -> None:
    chance = random.Random(4)
    counties = [(chance.randint(10_000, 60_000), chance.randint(100, 999)) for _ in range(9)]
    owned = [chance.randint(1_000, 9_000) for _ in counties]
    lines = ["GEO_ID,NAME,Households,Margin,Owned,Margin of owned"]
    lines.append(f"0400000US50,Vermont,{sum(n for n, _ in counties)},1125,{sum(owned)},1480")
    for number, ((count, margin), own) in enumerate(zip(counties, owned, strict=True)):
        lines.append(f"0500000US500{number},County {number},{count},{margin},{own},{margin // 2}")
    assert dict(_table(tmp_path, lines).doubtful) == {"total": (2,)}


def test_rows_of_which_none_is_the_sum_of_the_others_are_not_doubted(tmp_path: Path) -> None:
    lines = [line for line in _campaigns(first=True) if ",,0," not in line]
    assert not _table(tmp_path, lines).doubtful


def test_the_sum_of_all_rows_of_a_long_table(tmp_path: Path) -> None:
    chance = random.Random(8)
    rows = [(chance.randint(100, 9_000), chance.randint(1, 500_00)) for _ in range(6_000)]
    lines = ["Ad,Shown,Spent,Rate"]
    lines.append(f"Account,{sum(n for n, _ in rows)},{sum(n for _, n in rows) / 100:.2f},1.5")
    lines += [f"Ad {n},{a},{b / 100:.2f},{a % 7}.25" for n, (a, b) in enumerate(rows)]
    assert dict(_table(tmp_path, lines).doubtful) == {"total": (2,)}


def test_half_of_everything_in_round_numbers_is_no_proof(tmp_path: Path) -> None:
    """The greatest shareholder may well hold as much as all others together."""
    lines = ["Holder,Shares,Votes", "Anna,50,500"]
    lines += [f"{name},10,100" for name in ("Ben", "Cleo", "Dan", "Eve", "Finn")]
    assert not _table(tmp_path, lines).doubtful


def _provinces() -> list[str]:
    chance = random.Random(5)
    lines = ["Country;Region;Province;Sex;Persons"]
    regions = {"North": ["A", "B", "C"], "South": ["D", "E"], "East": ["F", "G", "H"]}
    for sex in ("m", "f", "x"):
        sums = {}
        for region, provinces in regions.items():
            counts = [chance.randint(10_000, 90_000) for _ in provinces]
            sums[region] = sum(counts)
            lines += [
                f"All;{region};{province};{sex};{count}"
                for province, count in zip(provinces, counts, strict=True)
            ]
            lines.append(f"All;{region};;{sex};{sums[region]}")
        lines.append(f"All;;;{sex};{sum(sums.values())}")
    return lines


def test_rows_without_a_province_are_those_of_the_region(tmp_path: Path) -> None:
    info = _table(tmp_path, _provinces())
    texts = [note.text for note in info.notes if note.kind == "cube-sums"]
    assert any("Where 'Province' has no value" in text for text in texts)
    doubted = {row for _, rows in info.doubtful for row in rows}
    whole = {n for n, line in enumerate(_provinces(), 1) if line.split(";")[2] == ""}
    assert doubted == whole


def test_two_combinations_prove_a_total_where_each_month_has_a_column(tmp_path: Path) -> None:
    """Born and died, in four months: too few in one column, enough in all."""
    chance = random.Random(6)
    areas = [f"MK{n:02} Area" for n in range(1, 8)]
    lines = ["Area,Information,M01,M02,M03,M04"]
    for kind in ("Live births", "Deaths"):
        rows = [[chance.randint(100, 2_000) for _ in range(4)] for _ in areas]
        whole = [sum(column) for column in zip(*rows, strict=True)]
        lines.append(f"SSS WHOLE COUNTRY,{kind},{','.join(map(str, whole))}")
        lines += [
            f"{area},{kind},{','.join(map(str, row))}"
            for area, row in zip(areas, rows, strict=True)
        ]
    info = _table(tmp_path, lines)
    assert {note.kind for note in info.notes} >= {"cube-sums", "totals-doubtful"}
    assert {row for _, rows in info.doubtful for row in rows} == {2, 10}


def test_a_total_whose_code_is_empty_is_left_out_by_its_name(tmp_path: Path) -> None:
    """As GENESIS writes it: the column of codes says nothing where the one of names says *Total*."""
    chance = random.Random(7)
    lines = ["State;Sex code;Sex;Persons"]
    for state in "ABCDEF":
        men, women = (chance.randint(100_000, 900_000) for _ in range(2))
        lines += [f"State {state};M;male;{men}", f"State {state};W;female;{women}"]
        lines.append(f"State {state};;Total;{men + women}")
    info = _table(tmp_path, lines)
    assert info.rows == 12
    assert [kind for kind, _ in info.left_out] == ["subtotal"]
