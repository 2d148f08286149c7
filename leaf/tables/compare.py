"""Two results compared cell by cell, as a function for the confined child."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from leaf.errors import SandboxMemoryError
from leaf.tables.sql import quoted

if TYPE_CHECKING:
    import duckdb

Json = dict[str, Any]

NEAR = 1e-9
"""Sums of fractions differ in their last digits from run to run, as their parts are added in
another order."""
SHOWN = 20
FRACTIONS = ("DOUBLE", "FLOAT")
SIDES = ("kept", "again")


def compare(kept: str, again: str, memory_mb: int) -> Json:
    """{"rows_kept", "rows_again", "columns_kept", "columns_again", "cells", "first"}.

    `cells` is the number of different cells, 0 where the shapes differ; `first` the first 20 of
    them as [row from 1, column, kept, again]. Rows are compared in their order, or, where that
    differs and a query need not keep it, sorted.
    """
    import duckdb

    from leaf.tables.connection import connect, create_views
    from leaf.tables.values import type_name

    con = connect([kept, again], 60, memory_mb)
    create_views(con, {"kept": kept, "again": again})
    sides = {name: con.sql(f"FROM {name}") for name in SIDES}
    rows = {name: con.sql(f"SELECT count(*) FROM {name}").fetchall()[0][0] for name in SIDES}
    columns = {name: list(sides[name].columns) for name in SIDES}
    shape = {f"rows_{name}": rows[name] for name in SIDES} | {
        f"columns_{name}": columns[name] for name in SIDES
    }
    if rows["kept"] != rows["again"] or columns["kept"] != columns["again"]:
        return {**shape, "cells": 0, "first": []}
    fractions = {
        column: type_name(kind) in FRACTIONS
        for column, kind in zip(columns["kept"], sides["kept"].types, strict=True)
    }
    try:
        count, first = _different(con, fractions)
    except duckdb.OutOfMemoryException as e:
        raise SandboxMemoryError("The results are too large to be compared.") from e
    named = [[row, columns["kept"][number], was, now] for row, number, was, now in first]
    return {**shape, "cells": count, "first": named}


def _different(
    con: duckdb.DuckDBPyConnection, fractions: Mapping[str, bool]
) -> tuple[int, list[tuple[Any, ...]]]:
    """How many cells differ, and the first of them: (row, number of the column, kept, again).

    `fractions`: column -> whether it holds numbers with a fraction."""
    found = con.sql(_differing(fractions, ""))
    count = found.count("*").fetchall()[0][0]
    if count:
        by_all = "ORDER BY " + ", ".join(
            f"round({quoted(c)}, 6)" if fraction else quoted(c) for c, fraction in fractions.items()
        )
        sorted_found = con.sql(_differing(fractions, by_all))
        sorted_count = sorted_found.count("*").fetchall()[0][0]
        if sorted_count < count:
            found, count = sorted_found, sorted_count
    return count, found.order("leaf_row, leaf_column").limit(SHOWN).fetchall()


def _differing(fractions: Mapping[str, bool], order: str) -> str:
    """SQL for the cells that differ where the rows of both sides are numbered in this order."""
    numbered = (
        f"(SELECT *, row_number() OVER ({order}) AS leaf_row FROM {name}) {alias}"
        for name, alias in zip(SIDES, "ab", strict=True)
    )
    joined = f"{' JOIN '.join(numbered)} USING (leaf_row)"
    return " UNION ALL ".join(
        f"SELECT leaf_row, {number} AS leaf_column, a.{quoted(c)}::VARCHAR AS was, "
        f"b.{quoted(c)}::VARCHAR AS now FROM {joined} WHERE {_differs(c, fraction)}"
        for number, (c, fraction) in enumerate(fractions.items())
    )


def _differs(column: str, fraction: bool) -> str:
    """SQL that is true where a column of two rows, `a` and `b`, differs."""
    a, b = f"a.{quoted(column)}", f"b.{quoted(column)}"
    plain = f"{a} IS DISTINCT FROM {b}"
    near = f"coalesce(abs({a} - {b}) <= {NEAR} * greatest(abs({a}), abs({b})), false)"
    return f"({plain} AND NOT {near})" if fraction else f"({plain})"
