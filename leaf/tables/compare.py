"""Two results compared cell by cell, as a function for the confined child."""

from __future__ import annotations

from typing import Any

from leaf.errors import SandboxMemoryError

Json = dict[str, Any]

NEAR = 1e-9
"""Sums of fractions differ in their last digits from run to run, as their parts are added in another order."""
SHOWN = 20
FRACTIONS = ("DOUBLE", "FLOAT")


def compare(kept: str, again: str, memory_mb: int) -> Json:
    """{"rows_kept", "rows_again", "columns_kept", "columns_again", "cells", "first"}.

    `cells` is the number of different cells, 0 where the shapes differ; `first` the first 20 of them as [row from 1, column,
    kept, again]. Rows are compared in their order, or, where that differs and a query need not keep it, sorted.
    """
    import duckdb

    from leaf.tables.child import _connect, _create_views, _type_name
    from leaf.tables.sql import quoted

    con = _connect([kept, again], 60, memory_mb)
    _create_views(con, {"kept": kept, "again": again})
    sides = {name: con.sql(f"FROM {name}") for name in ("kept", "again")}
    rows = {name: con.sql(f"SELECT count(*) FROM {name}").fetchall()[0][0] for name in sides}
    shape = {f"rows_{name}": rows[name] for name in sides} | {f"columns_{name}": list(sides[name].columns) for name in sides}
    columns = list(sides["kept"].columns)
    if len(set(rows.values())) > 1 or columns != list(sides["again"].columns):
        return {**shape, "cells": 0, "first": []}
    fraction = {column: _type_name(kind) in FRACTIONS for column, kind in zip(columns, sides["kept"].types, strict=True)}

    def differs(column: str) -> str:
        a, b = f"a.{quoted(column)}", f"b.{quoted(column)}"
        plain = f"{a} IS DISTINCT FROM {b}"
        near = f"coalesce(abs({a} - {b}) <= {NEAR} * greatest(abs({a}), abs({b})), false)"
        return f"({plain} AND NOT {near})" if fraction[column] else f"({plain})"

    def differing(order: str) -> Any:
        numbered = {name: f"(SELECT *, row_number() OVER ({order}) AS leaf_row FROM {name})" for name in sides}
        joined = f"{numbered['kept']} a JOIN {numbered['again']} b USING (leaf_row)"
        pieces = [
            f"SELECT leaf_row, {number} AS leaf_column, a.{quoted(c)}::VARCHAR AS was, b.{quoted(c)}::VARCHAR AS now "
            f"FROM {joined} WHERE {differs(c)}"
            for number, c in enumerate(columns)
        ]
        return con.sql(" UNION ALL ".join(pieces))

    try:
        found = differing("")
        count = found.count("*").fetchall()[0][0]
        if count:
            by_all = "ORDER BY " + ", ".join(f"round({quoted(c)}, 6)" if fraction[c] else quoted(c) for c in columns)
            sorted_found = differing(by_all)
            sorted_count = sorted_found.count("*").fetchall()[0][0]
            if sorted_count < count:
                found, count = sorted_found, sorted_count
        first = found.order("leaf_row, leaf_column").limit(SHOWN).fetchall()
    except duckdb.OutOfMemoryException as e:
        raise SandboxMemoryError("The results are too large to be compared.") from e
    return {**shape, "cells": count, "first": [[row, columns[number], was, now] for row, number, was, now in first]}
