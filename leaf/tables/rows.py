"""Which rows of a table's Parquet SQL sees by its name, and which by NAME__all."""

from __future__ import annotations

from typing import Any

from leaf.readers.tabular.sql import COUNTED, parquet_rows

Json = dict[str, Any]

ALL = "__all"
"""Behind a table's name: every row of it, totals and notes among them, with `_row` and `_kind`."""
ROW, KIND = "_row", "_kind"
_COUNT = "row_number() OVER () - 1"
"""`COUNTED` where a column has that name, which takes longer."""


def data_rows(path: str, rows: Json, numbered: bool) -> str:
    """SQL for a table's rows of data, with `_row` if it is wanted. The rows of a result have no
    numbers but their own columns."""
    source = parquet_rows(path)
    if rows.get("result"):
        return f"FROM {source}"
    if rows.get("marked"):
        columns = f"EXCLUDE ({KIND})" if numbered else f"EXCLUDE ({ROW}, {KIND})"
        return f"SELECT * {columns} FROM {source}" + (
            "" if rows["whole"] else f" WHERE {KIND} = 'data'"
        )
    count = number_of(bool(rows.get("hidden")))
    return (
        f"SELECT *, {count} + {int(rows.get('first', 1))} AS {ROW} FROM {source}"
        if numbered
        else f"FROM {source}"
    )


def number_of(hidden: bool) -> str:
    """SQL for the number of a row in its Parquet, from 0; `hidden` where a column is called
    `COUNTED`."""
    return _COUNT if hidden else COUNTED


def all_rows(path: str, rows: Json) -> str:
    if rows.get("marked"):
        return f"FROM {parquet_rows(path)}"
    return f"SELECT *, 'data' AS {KIND} FROM ({data_rows(path, rows, True)})"
