"""Two results compared cell by cell, as a function for the confined child."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from leaf.errors import SandboxMemoryError
from leaf.tables.sql import is_number, quoted

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
    try:
        differences = _Differences(con, sides).found()
    except duckdb.OutOfMemoryException as e:
        raise SandboxMemoryError("The results are too large to be compared.") from e
    return {**shape, **differences}


class _Differences:
    """Where two tables of the same columns and as many rows differ."""

    def __init__(
        self, con: duckdb.DuckDBPyConnection, sides: Mapping[str, duckdb.DuckDBPyRelation]
    ) -> None:
        from leaf.tables.values import type_name

        self._con = con
        self._names = list(sides["kept"].columns)
        self._types = {side: [type_name(t) for t in of.types] for side, of in sides.items()}
        pairs = enumerate(zip(*self._types.values(), strict=True))
        self._differs = [_differs(f"a{i}", f"b{i}", *kinds) for i, kinds in pairs]

    def found(self) -> Json:
        """`cells` and `first`."""
        where: tuple[str, str] = SIDES
        counts = self._counts(*where)
        if any(counts):
            in_order = self._sorted("kept"), self._sorted("again")
            if sum(again := self._counts(*in_order)) < sum(counts):
                counts, where = again, in_order
        return {"cells": sum(counts), "first": self._first(*where) if any(counts) else []}

    def _counts(self, original: str, again: str) -> list[int]:
        """Of each column, how many cells differ; both are gone through once, side by side."""
        counts = ", ".join(f"count(*) FILTER ({differs})" for differs in self._differs)
        return list(
            self._con.sql(f"SELECT {counts} FROM {self._joined(original, again)}").fetchall()[0]
        )

    def _first(self, original: str, again: str) -> list[list[Any]]:
        """The first cells that differ, of the first rows in which some do."""
        number = range(len(self._names))
        lists = (
            ", ".join(self._differs),
            *(", ".join(f"{side}{i}::VARCHAR" for i in number) for side in "ab"),
        )
        rows = self._con.sql(
            f"SELECT leaf_row, {', '.join(f'[{one}]' for one in lists)} FROM "
            f"{self._joined(original, again)} WHERE {' OR '.join(self._differs)} "
            f"ORDER BY leaf_row LIMIT {SHOWN}"
        ).fetchall()
        cells = (
            [row, self._names[i], was[i], now[i]]
            for row, differs, was, now in rows
            for i in number
            if differs[i]
        )
        return list(islice(cells, SHOWN))

    def _joined(self, original: str, again: str) -> str:
        """SQL for the rows of both beside each other, columns under their numbers."""
        columns = (
            f"{side}.{quoted(name)} AS {side}{i}"
            for side in "ab"
            for i, name in enumerate(self._names)
        )
        return (
            f"(SELECT row_number() OVER () AS leaf_row, {', '.join(columns)} "
            f"FROM {original} a POSITIONAL JOIN {again} b)"
        )

    def _sorted(self, side: str) -> str:
        """The name of a table with its rows in the order of all columns."""
        by_all = (
            f"round({quoted(name)}, 6)" if kind in FRACTIONS else quoted(name)
            for name, kind in zip(self._names, self._types[side], strict=True)
        )
        self._con.execute(
            f"CREATE TEMP TABLE {side}_sorted AS SELECT * FROM {side} ORDER BY {', '.join(by_all)}"
        )
        return f"{side}_sorted"


def _differs(a: str, b: str, original: str, again: str) -> str:
    """SQL that is true where two cells of these types differ; what is of two sorts is compared as
    text."""
    if original != again and not (is_number(original) and is_number(again)):
        a, b = f"{a}::VARCHAR", f"{b}::VARCHAR"
    elif original in FRACTIONS or again in FRACTIONS:
        near = f"coalesce(abs({a} - {b}) <= {NEAR} * greatest(abs({a}), abs({b})), false)"
        return f"({a} IS DISTINCT FROM {b} AND NOT {near})"
    return f"({a} IS DISTINCT FROM {b})"
