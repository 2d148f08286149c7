"""Small statements of the app's own over tables, for what is shown before anybody asks: `look` is
called by name in the confined child."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from leaf.errors import QueryError
from leaf.tables.connection import check_reading, connect
from leaf.tables.rows import data_rows
from leaf.tables.sql import quoted
from leaf.tables.values import BATCH, Cells, projection, type_name, unique

Json = dict[str, Any]

ROWS = 400
"""Rows of a result that are given; the others are counted."""


def look(
    statements: Sequence[str],
    tables: Mapping[str, str],
    rows: Mapping[str, Json],
    each: float,
    seconds: float,
    memory_mb: int,
) -> list[Json | None]:
    """What each statement gives over views named `tables` (name -> Parquet file): its first rows and
    how many there are; None for one that does not run, takes more than `each` seconds, or comes when
    `seconds` are over."""
    import duckdb

    con = connect(tables.values(), each, memory_mb)
    for name, path in tables.items():
        con.execute(f"CREATE VIEW {quoted(name)} AS {data_rows(path, rows[name], False)}")
    end = time.monotonic() + seconds
    glimpses: list[Json | None] = []
    for sql in statements:
        try:
            glimpses.append(_rows(con, sql) if time.monotonic() < end else None)
        except (duckdb.Error, QueryError):
            glimpses.append(None)
    return glimpses


def _rows(con: Any, sql: str) -> Json:
    check_reading(con, sql)
    relation = con.sql(sql)
    columns, types = unique(relation.columns), [type_name(t) for t in relation.types]
    whole = relation.project(projection(columns, types)).to_arrow_reader(BATCH).read_all()
    shown = Cells().rows(whole.slice(0, ROWS))
    return {"columns": columns, "types": types, "rows": shown, "total": whole.num_rows}
