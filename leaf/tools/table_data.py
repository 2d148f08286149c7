"""Tables and results as the page gets them with an output: their places, columns, rows and
findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import cast

from leaf.shapes.results import (
    ColumnShown,
    Finding,
    ProfileShown,
    TableRead,
    TableShown,
    UnreadTable,
)
from leaf.tables.profiles import Profile
from leaf.tables.queries import QueryResult
from leaf.tables.table import Table
from leaf.tools import remarks

TABLES_BESIDE = 200
"""Tables of the same files that an output names."""
DOUBTFUL = 200
"""Rows that may be totals that a profile names."""


def place_of(table: Table) -> str:
    """Locator of a table in its file: `sheet Summary!A4:F1204`, `lines 3-1204`, `slide 3`."""
    if table.sheet and not table.inside:
        return f"sheet {table.sheet}!{table.place}" if table.place else f"sheet {table.sheet}"
    return table.place


def beside_json(tables: Sequence[Table]) -> list[UnreadTable]:
    """Tables of the same files that a call did not read, for what an answer did not touch."""
    return [
        {"file_id": t.file_id, "name": t.label, "table": t.name} for t in tables[:TABLES_BESIDE]
    ]


def findings_json(table: Table) -> list[Finding]:
    """What the page shows of how a table was read; the short words of a note are for the model."""
    return [
        cast("Finding", {key: value for key, value in asdict(finding).items() if key != "short"})
        for finding in table.findings
    ]


def excluded_at(table: Table) -> str:
    """`2 left out as subtotals (rows 4, 7 of Q3.xlsx, sheet Data)`."""
    sheet = f", sheet {table.sheet}" if table.sheet else ""
    return f"{table.excluded} ({table.excluded_places} of {table.file_name}{sheet})"


def profile_json(table: Table, profile: Profile) -> ProfileShown:
    columns: list[ColumnShown] = [
        {
            "name": c.name,
            "type": c.type,
            "nulls": c.nulls,
            "distinct": c.distinct,
            "min": c.min,
            "max": c.max,
            "mean": c.mean,
            "std": c.std,
            "quartiles": list(c.quartiles),
            "top": [list(pair) for pair in c.top],
        }
        for c in profile.columns
    ]
    return {
        "name": table.name,
        "file": table.file_name,
        "handle": table.handle,
        "file_id": table.file_id,
        "place": place_of(table),
        "rows": profile.rows,
        "columns": columns,
        "sample": [list(row) for row in profile.sample],
        "doubtful": _may_be_totals(table),
    }


def _may_be_totals(table: Table) -> list[int]:
    """The rows of data that may be totals, where all of them are named and few enough for a
    statement."""
    kinds = ("total", "subtotal", "summary")
    rows = sorted(row for kind in kinds for row in table.doubtful.get(kind, ()))
    many = sum(table.doubtful_counts.get(kind, 0) for kind in kinds)
    return rows if many == len(rows) <= DOUBTFUL and not table.inside else []


def table_json(result: QueryResult, shown: int, cut: int) -> TableShown:
    """What the page draws of a result; `shown` rows went to the model, with `cut` texts cut."""
    shown_table: TableShown = {
        "columns": result.columns,
        "types": result.types,
        "rows": result.rows,
        "total": result.total,
        "result_id": result.result_id,
        "seconds": result.seconds,
        "sql": result.sql,
        "clipped": result.clipped,
        "scanned": [
            table_read(
                remarks.ReadTable(t, t.name in result.data_only, first=result.first.get(t.name))
            )
            for t in result.tables
        ],
        "left_out": [
            f"{t.name}: {excluded_at(t)}"
            for t in result.tables
            if t.name in result.data_only and t.left_out
        ],
        "places": list(result.places),
        "said": list(result.said),
        "shown": shown,
        "cut": cut,
    }
    if result.of:
        shown_table |= {"offset": result.offset, "of": result.of, "ranked": result.ranked}
    return shown_table


def table_read(reading: remarks.ReadTable) -> TableRead:
    """Where a result's rows come from: table, file as it was then, place in it, and how many rows
    were read of how many."""
    table, read = reading.table, remarks.coverage(reading)
    return {
        "name": table.name,
        "file": table.file_name,
        "file_id": table.file_id,
        "sha256": table.sha256,
        "sheet": table.sheet,
        "place": place_of(table),
        "rows": read.seen,
        "total": read.total,
    }
