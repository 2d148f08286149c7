"""Three hundred ordinary tables in which a row's name is a word for totals or averages: every row
is data.

Games called Total Overdose, the sector Media, the plan Max, the team MIN, a player named Kim Min, a
skill called Overall: in tables of 5 to 50,000 rows, with zeros, equal and small numbers, and with
rows that happen to be the sum of others in one column of small numbers. Seeded, as CSV and XLSX.
"""

from __future__ import annotations

import csv
import random
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench._foreign import Figure
from bench._foreign.reading import read
from bench._foreign.rows import write_workbook

TABLES = 300
SIZES = [5, 6, 8, 11, 14, 17, 23, 30, 42, 60, 90, 150, 400, 1_000, 3_000]
_NAMES = [
    "Ada",
    "Bo",
    "Cy",
    "Dee",
    "Eli",
    "Fay",
    "Gus",
    "Hal",
    "Ida",
    "Jo",
    "Kai",
    "Lee",
    "Mia",
    "Ned",
    "Oli",
    "Pam",
    "Sue",
]
_PLACES = [
    "Bern",
    "Oslo",
    "Riga",
    "Cork",
    "Nice",
    "Graz",
    "Lodz",
    "Turku",
    "Ghent",
    "Porto",
    "Vigo",
    "Split",
    "Brno",
    "Bari",
]
Table = tuple[list[str], list[list[Any]], int]
"""Names, rows, and the column of small numbers in which a row may be made the sum of those
above."""


def _games(r: random.Random, n: int) -> Table:
    odd = [
        "Total Overdose",
        "Total Immersion Racing",
        "Sum 41 Live",
        "Max Payne",
        "Overall",
        "Total War",
    ]
    rows: list[list[Any]] = [
        [
            _hostile(r, n, i, odd, f"{r.choice(_PLACES)} {i}"),
            r.choice(["PS2", "XB", "PC"]),
            r.randint(1995, 2012),
        ]
        + [round(r.choice([0, r.random() * 3]), 2) for _ in range(3)]
        for i in range(n)
    ]
    for row in rows:
        row.append(round(sum(row[3:6]), 2))
    return ["Name", "Platform", "Year", "NA_Sales", "EU_Sales", "JP_Sales", "Global_Sales"], rows, 3


def _sectors(r: random.Random, n: int) -> Table:
    sectors = ["Media", "Energy", "Retail", "Banks", "Total SA"]
    rows = [
        [
            f"{r.choice(_NAMES)} {i} Ltd",
            r.choice(sectors),
            r.randint(3, 900),
            r.randint(1_000, 9_999_999),
        ]
        for i in range(n)
    ]
    return ["company", "sector", "staff", "revenue"], rows, 2


def _plans(r: random.Random, n: int) -> Table:
    plans = ["Max", "Min", "Basic", "Overall", "Total Care"]
    rows = [
        [10_000 + i, r.choice(plans), r.randint(1, 5), round(r.uniform(5, 90), 2)] for i in range(n)
    ]
    return ["customer_id", "plan", "seats", "monthly"], rows, 2


def _teams(r: random.Random, n: int) -> Table:
    codes = ["MIN", "BOS", "NYY", "MAX", "OAK", "SUM", "LAD"]
    rows = [
        [
            f"{r.choice(_PLACES)} {r.choice(_NAMES)}",
            r.choice(codes),
            *(r.randint(0, 20) for _ in range(4)),
        ]
        for _ in range(n)
    ]
    return ["Team", "Code", "W", "L", "HR", "SB"], rows, 2


def _people(r: random.Random, n: int) -> Table:
    odd = ["Kim Min", "Kim, Min", "Min", "Max", "Total, Ann", "Sum Li"]
    rows = [
        [
            _hostile(r, n, i, odd, r.choice(_NAMES)),
            r.choice(_PLACES),
            r.randint(18, 70),
            r.randint(0, 9),
        ]
        for i in range(n)
    ]
    return ["player", "city", "age", "goals"], rows, 3


def _skills(r: random.Random, n: int) -> Table:
    odd = ["Overall", "Max", "Total Football", "Average Joe", "Sum 41", "Media"]
    rows = [[_hostile(r, n, i, odd, f"{r.choice(_NAMES)}-{i}"), r.randint(0, 9)] for i in range(n)]
    return ["skill", "points"], rows, 1


def _products(r: random.Random, n: int) -> Table:
    odd = [
        "Total Care Shampoo",
        "Total Wine",
        "Sum Mug",
        "Maximum Grip",
        "All Bran",
        "World Atlas",
        "Total 0%",
    ]
    rows = [
        [
            _hostile(r, n, i, odd, f"{r.choice(_PLACES)} soap {i}"),
            r.randint(1, 40),
            round(r.uniform(1, 60), 2),
            r.randint(0, 3),
        ]
        for i in range(n)
    ]
    return ["product", "stock", "price", "returns"], rows, 1


def _doctors(r: random.Random, n: int) -> Table:
    rows = [
        [
            r.choice(["Kim", "Lee", "Harned"]),
            r.choice(["Min", "Max", "Ann"]),
            r.choice(_PLACES),
            r.randint(1, 30),
        ]
        for _ in range(n)
    ]
    return ["last", "first", "county", "visits"], rows, 3


def _equal(r: random.Random, n: int) -> Table:
    odd = ["Max", "Total Care", "Overall", "Media"]
    rows = [[_hostile(r, n, i, odd, f"item {i}"), 1, 0, 5] for i in range(n)]
    return ["item", "pieces", "faults", "score"], rows, 1


MAKERS: list[Callable[[random.Random, int], Table]] = [
    _games, _sectors, _plans, _teams, _people, _skills, _products, _doctors, _equal,
]  # fmt: skip


def _hostile(r: random.Random, n: int, i: int, odd: list[str], plain: str) -> str:
    """One row in ten at least has such a name, the last one of the table often."""
    return (
        r.choice(odd)
        if r.random() < max(0.1, 1 / n) or (i == n - 1 and r.random() < 0.5)
        else plain
    )


def make(number: int) -> Table:
    """Table `number` of the three hundred."""
    r = random.Random(7_000 + number)
    size = 50_000 if number % 60 == 59 else r.choice(SIZES)
    names, rows, small = MAKERS[number % len(MAKERS)](r, size)
    if (
        number % 3 == 0
    ):  # a row that happens to be the sum of the two above it, or the last one of all
        at = r.randrange(2, len(rows))
        rows[at][small] = rows[at - 1][small] + rows[at - 2][small]
        if number % 2 == 0:
            rows[-1][small] = sum(row[small] for row in rows[:-1])
    return names, rows, small


def measure(corpora: Path, show: bool) -> list[Figure]:
    """Rows left out of the three hundred tables, and rows named as doubtful."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(TABLES):
            names, rows, _ = make(number)
            path = (
                Path(folder) / f"{number}.{'xlsx' if number % 2 and len(rows) < 5_000 else 'csv'}"
            )
            _write(path, names, rows)
            reading = read(path)
            wrong = [row for row in range(2, len(rows) + 2) if row not in reading.data]
            counts["rows"] += len(rows)
            counts["lost"] += len(wrong)
            counts["tables"] += bool(wrong)
            counts["silent"] += sum(
                row not in reading.named and row not in reading.left_out for row in wrong
            )
            counts["doubted"] += len(reading.doubtful)
            if show:
                for row in [*wrong, *sorted(reading.doubtful)][:5]:
                    print(
                        f"  {'lost' if row in wrong else 'doubtful'} table {number} row {row}: "
                        f"{rows[row - 2]}"
                    )
            path.unlink()
    name = "hostile names"
    return [
        Figure(
            name,
            f"rows of data left out, of {counts['rows']:,} in {TABLES} tables",
            counts["lost"],
            0,
            at_least=False,
        ),
        Figure(name, "rows of data lost without a word", counts["silent"], 0, at_least=False),
        Figure(name, "tables that lose rows", counts["tables"], 0, at_least=False),
        Figure(name, "rows of data named as doubtful", counts["doubted"]),
    ]


def _write(path: Path, names: list[str], rows: list[list[Any]]) -> None:
    cells = [names, *([str(cell) for cell in row] for row in rows)]
    if path.suffix == ".xlsx":
        write_workbook(path, cells)
        return
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(cells)
