"""Figures over time and by group, computed with pandas from tables that nobody here made, and from
seeded ones."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from leaf.provenance.receipts.evidence import Evidence
from leaf.shapes.results import TableShown

TABLES = (
    Path(__file__).resolve().parents[2].parent
    / "shared"
    / "data"
    / "foreign"
    / "dabench"
    / "tables"
)


@dataclass(frozen=True)
class Series:
    """A measure at several times, or of several groups at several times."""

    measure: str
    time: str
    frame: Any
    """Columns: the group (if there is one), the time, the measure."""
    group: str = ""


def series() -> list[Series]:
    """All that can be made of the tables at hand."""
    found = foreign() if TABLES.is_dir() else []
    return found + [seeded(random.Random(number)) for number in range(3)]


def foreign() -> list[Series]:
    """Yearly and monthly figures of the foreign tables."""
    found: list[Series] = []
    degrees = pd.read_csv(TABLES / "percent-bachelors-degrees-women-usa.csv")
    for column in ("Biology", "Business", "Engineering", "Psychology", "Computer Science"):
        found.append(Series(column, "Year", degrees[["Year", column]]))
    for name, column, time in (
        ("e5_aapl.csv", "Close", "Date"),
        ("microsoft.csv", "High", "Date"),
        ("YAHOO-BTC_USD_D.csv", "Volume", "Date"),
        ("tr_eikon_eod_data.csv", "SPY", "Date"),
    ):
        daily = pd.read_csv(TABLES / name)
        when = (
            pd.to_datetime(daily[time], format="mixed")
            .dt.to_period("Y" if name != "microsoft.csv" else "M")
            .astype(str)
        )
        mean = daily[column].groupby(when).mean().dropna()
        by = "month" if name == "microsoft.csv" else "year"
        index = mean.index if by == "month" else mean.index.astype(int)
        found.append(
            Series(
                f"avg_{column.lower()}",
                by,
                pd.DataFrame({by: index, f"avg_{column.lower()}": mean.to_numpy()}),
            )
        )
    games = pd.read_csv(TABLES / "vgsales.csv").dropna(subset=["Year"]).astype({"Year": int})
    for group in ("Platform", "Genre"):
        total = games.groupby([group, "Year"], as_index=False)["Global_Sales"].sum()
        biggest = games.groupby(group)["Global_Sales"].sum().nlargest(4).index
        chosen = total[total[group].isin(biggest) & total["Year"].between(2003, 2012)]
        found.append(Series("Global_Sales", "Year", chosen.reset_index(drop=True), group))
    arrests = pd.read_csv(TABLES / "arrest_expungibility.csv")
    counts = (
        arrests.groupby(["Category", "Date"], as_index=False)["Count"]
        .sum()
        .rename(columns={"Date": "Year"})
    )
    found.append(
        Series("Count", "Year", counts[counts["Count"] > 50].reset_index(drop=True), "Category")
    )
    return found


def seeded(chance: random.Random) -> Series:
    regions = ["North", "South", "East", "West"]
    rows = [
        (r, y, round(chance.uniform(900, 90_000), 2)) for r in regions for y in range(2016, 2025)
    ]
    return Series(
        "revenue", "year", pd.DataFrame(rows, columns=["region", "year", "revenue"]), "region"
    )


def long_result(one: Series, number: int = 1, message: str = "") -> Evidence:
    """As a query gives it: one row for each group and time."""
    return _evidence(
        list(one.frame.columns), one.frame.astype(object).values.tolist(), number, message
    )


def wide_result(one: Series, number: int = 1) -> Evidence:
    """The same with a column for each time: `revenue_2023`."""
    pivot = one.frame.pivot(index=one.group, columns=one.time, values=one.measure).dropna(axis=1)
    columns = [one.group, *(f"{one.measure}_{time}" for time in pivot.columns)]
    return _evidence(
        columns,
        [[name, *row] for name, row in zip(pivot.index, pivot.values.tolist(), strict=True)],
        number,
    )


def change_result(one: Series, number: int = 1) -> Evidence:
    """The change to the time before, in a column of its own."""
    change = one.frame[one.measure].pct_change() * 100
    rows = [
        [time, value]
        for time, value in zip(one.frame[one.time], change, strict=True)
        if value == value
    ]
    return _evidence([one.time, "growth_pct"], rows, number)


def _evidence(
    columns: list[str], rows: list[list[Any]], number: int, message: str = ""
) -> Evidence:
    plain = [[cell.item() if hasattr(cell, "item") else cell for cell in row] for row in rows][:200]
    table: TableShown = {
        "columns": columns,
        "types": [],
        "rows": plain,
        "total": len(rows),
        "result_id": f"r{number}",
    }
    sql = f"SELECT {', '.join(columns)} FROM t"
    return Evidence(
        f"call{number}",
        "query_tables",
        {"sql": sql},
        {"text": "", "data": {"table": table}, "sources": []},
        message,
    )
