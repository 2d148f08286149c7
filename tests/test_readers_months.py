"""Dates with words, as Babel writes them by the rules of CLDR for each language."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from babel.dates import format_date

from leaf.readers.tabular.delimited import DelimitedReader
from leaf.readers.tabular.months import LANGUAGES, names_of

DAYS = [date(2024, month, day) for month in range(1, 13) for day in (1, 17)]


def columns(tmp_path: Path, named: dict[str, Sequence[str]]) -> dict[str, tuple[str, list[Any]]]:
    """The type and the values of columns of a file."""
    path = tmp_path / "t.csv"
    rows = enumerate(zip(*named.values(), strict=True), 1)
    lines = ["\t".join(["n", *named]), *("\t".join([str(n), *row]) for n, row in rows)]
    path.write_text("\n".join(lines), encoding="utf-8")
    (info,) = DelimitedReader().tables(path, tmp_path / "out")
    table = duckdb.read_parquet(str(tmp_path / "out" / info.parquet))
    values = list(zip(*table.fetchall(), strict=True))
    return {name: (kind, list(values[n])) for n, (name, kind) in enumerate(info.columns)}


def column(tmp_path: Path, values: Sequence[str]) -> tuple[str, list[Any]]:
    return columns(tmp_path, {"when": values})["when"]


@pytest.mark.parametrize("code", LANGUAGES)
def test_days_are_read_as_each_language_writes_them(code: str, tmp_path: Path) -> None:
    forms = {
        f"{locale} {form}": [format_date(day, form, locale) for day in DAYS]
        for locale in LANGUAGES[code]
        for form in ("medium", "long", "full")
        if (locale, form) != ("ar", "medium")  # in figures, with marks of direction
    }
    read = columns(tmp_path, forms)
    assert {name: read[name] for name in forms} == dict.fromkeys(forms, ("DATE", DAYS))


@pytest.mark.parametrize("code", LANGUAGES)
def test_each_month_has_names_of_its_own(code: str) -> None:
    names = names_of(code)
    assert set(names.values()) == set(range(1, 13))
    assert all(len(name) > 1 and name == name.lower() for name in names)


@pytest.mark.parametrize(
    "values",
    [
        ["05-Mär-24", "06-Dez-24"],
        ["05 Mrz 2024", "06 Dez 2024"],
        ["5. MÄRZ 2024", "6. DEZEMBER 2024"],
        ["le 5 mars 2024", "le 6 decembre 2024"],
        ["5 de marzo de 2024", "6 de dic. de 2024"],
        ["March 5th, 2024", "Dec. 6, 2024"],
        ["Tue Mar 05 2024", "Fri Dec 06 2024"],
        ["2024-Mär-05", "2024-Dez-06"],
        ["05MAR2024", "06DEZ2024"],
        ["5 marca 2024", "6 grudnia 2024"],
        ["5. 3. 2024", "6. 12. 2024"],
        ["05.03.2024.", "06.12.2024."],
        ["2024. 3. 5.", "2024. 12. 6."],
        ["2024年3月5日", "2024年12月6日"],
        ["2024년 3월 5일", "2024년 12월 6일"],
    ],
)
def test_days_are_read_as_people_write_them(values: list[str], tmp_path: Path) -> None:
    assert column(tmp_path, values) == ("DATE", [date(2024, 3, 5), date(2024, 12, 6)])


def test_times_of_days_are_kept(tmp_path: Path) -> None:
    values = ["5. März 2024 13:45", "6. Dezember 2024, 07:01:02", "7. Mai 2024"]
    times = [datetime(2024, 3, 5, 13, 45), datetime(2024, 12, 6, 7, 1, 2), datetime(2024, 5, 7)]
    assert column(tmp_path, values) == ("TIMESTAMP", times)


@pytest.mark.parametrize(
    "values",
    [
        ["5 listopada 2024", "6 listopada 2024"],  # October in Croatia, November in Poland
        ["PRO 10 2024", "PRO 11 2024"],
        ["SET-10-24", "MAR-11-24"],
        ["bis 5. März 2024", "bis 6. Mai 2024"],
        ["Room 5, 2024", "Room 6, 2025"],
        ["31. Februar 2024", "30. Februar 2024"],
        ["1.2.3", "1.2.4"],
        ["März 2024", "Mai 2024"],
    ],
)
def test_what_may_be_something_else_stays_text(values: list[str], tmp_path: Path) -> None:
    assert column(tmp_path, values) == ("VARCHAR", values)


def test_a_date_that_there_is_not_is_told(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    days = ["31 avr. 2024", "6 mai 2024", "7 juin 2024", "8 août 2024"]
    path.write_text("\n".join(["n;when", *(f"{n};{day}" for n, day in enumerate(days))]))
    (info,) = DelimitedReader().tables(path, tmp_path / "out")
    assert "'when' stays text: 1 of 4 values are no dates ('31 avr. 2024')." in [
        note.text for note in info.notes
    ]
