"""NaN in typed files: programs without an empty number write it where there is none, and one alone
would make a sum of a million values NaN."""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leaf.readers.base import Note
from leaf.readers.tabular.column_notes import NAMED_ALONE, missing_notes
from leaf.readers.tabular.sql import copy, identifier, parquet_rows

if TYPE_CHECKING:
    import duckdb

AT_ONCE = 200
"""Columns that are counted in one query."""


def emptied(
    connection: duckdb.DuckDBPyConnection, target: Path, columns: Sequence[tuple[str, str]]
) -> list[Note]:
    """Write a Parquet file again without NaN, if it holds one, and say how many were read as
    empty. `columns` are its names and DuckDB types."""
    source = parquet_rows(target)
    floats = [name for name, kind in columns if kind in ("FLOAT", "DOUBLE")]
    nan_counts: list[tuple[str, int]] = []
    for start in range(0, len(floats), AT_ONCE):
        some = floats[start : start + AT_ONCE]
        sums = _one(connection, source, [f"sum({identifier(name)})" for name in some])
        odd = [n for n, total in zip(some, sums, strict=True) if total is not None and isnan(total)]
        counts = _one(connection, source, [f"count(*) FILTER ({_is_nan(name)})" for name in odd])
        nan_counts += [(name, int(n)) for name, n in zip(odd, counts, strict=True) if n]
    if not nan_counts:
        return []
    values = ", ".join(
        f"CASE WHEN {_is_nan(n)} THEN NULL ELSE {identifier(n)} END AS {identifier(n)}"
        for n, _ in nan_counts
    )
    again = target.with_suffix(".again")
    copy(connection, f"SELECT * REPLACE ({values}) FROM {source}", again)
    os.replace(again, target)
    named = [(name, n, ["NaN"]) for name, n in nan_counts[:NAMED_ALONE]]
    return missing_notes(named, nan_counts[NAMED_ALONE:])


def _is_nan(name: str) -> str:
    """By its text: DuckDB takes the least and the largest value that a file names for all there is, and
    `isnan` for false."""
    return f"CAST({identifier(name)} AS VARCHAR) IN ('nan', '-nan')"


def _one(
    connection: duckdb.DuckDBPyConnection, source: str, values: Sequence[str]
) -> tuple[Any, ...]:
    if not values:
        return ()
    (row,) = connection.execute(f"SELECT {', '.join(values)} FROM {source}").fetchall()
    return row
