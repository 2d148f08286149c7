"""Where a statement that ran gives something else than its writer may think, as the rows themselves
show: other spellings of a text that it compares with, rows without a value that `<>` leaves out, a
NULL in the list of NOT IN, columns that a UNION puts together by their place, and joins (`joins`).
Used in the child.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leaf.tables.firsts import Node, nodes
from leaf.tables.joins import LOOKED_AT, joins
from leaf.tables.mending import key
from leaf.tables.sql import literal, quoted

if TYPE_CHECKING:
    import duckdb

PROBES = 8
"""Columns that are looked at for one statement."""
SPELLINGS = 3
"""Other spellings that are named."""
LONGEST = 40
"""Characters of a text that is named."""


@dataclass(frozen=True)
class _Asked:
    """A statement, and its tables with their columns by `key`."""

    con: duckdb.DuckDBPyConnection
    root: Any
    columns: dict[str, dict[str, tuple[str, str]]]
    """Table -> key -> name and type."""

    def holding(self, column: str) -> list[tuple[str, str, str]]:
        """Table, name and type of each column of that name."""
        return [
            (table, *those[key(column)])
            for table, those in self.columns.items()
            if key(column) in those
        ]

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What a query gives; nothing where it cannot stand by itself."""
        import duckdb

        try:
            return self.con.execute(sql).fetchall()
        except duckdb.Error:
            return []


def pitfalls(con: duckdb.DuckDBPyConnection, sql: str, tables: Sequence[str]) -> list[str]:
    """A sentence for each of them. `tables`: views that the statement reads."""
    root = json.loads(con.execute("SELECT json_serialize_sql(?)", [sql]).fetchall()[0][0])
    if root.get("error"):
        return []
    described = {name: con.table(name) for name in tables}
    columns = {
        name: {key(c): (c, str(t)) for c, t in zip(view.columns, view.types, strict=True)}
        for name, view in described.items()
    }
    asked = _Asked(con, root, columns)
    sentences = (
        *_compared(asked),
        *_not_in(asked),
        *_moved(asked),
        *joins(asked.root, asked.columns, asked.rows),
    )
    return list(dict.fromkeys(sentences))


def _compared(asked: _Asked) -> Iterator[str]:
    """Texts that columns are compared with, a column at a time."""
    wanted: dict[str, list[str]] = {}
    other_than: set[str] = set()
    for node in nodes(asked.root):
        column, texts = _column_and_texts(node)
        if column and texts:
            wanted.setdefault(column, []).extend(texts)
            if node["type"] in ("COMPARE_NOTEQUAL", "COMPARE_NOT_IN"):
                other_than.add(column)
        elif node.get("type") == "OPERATOR_NOT":
            other_than.update(_column_and_texts(one)[0] for one in node.get("children") or ())
    for column, texts in list(wanted.items())[:PROBES]:
        for table, name, kind in asked.holding(column)[:1]:
            if kind == "VARCHAR":
                yield from _spellings(asked, table, name, texts)
            if column in other_than:
                yield from _without_value(asked, table, name)


def _column_and_texts(node: Node) -> tuple[str, list[str]]:
    """`x = 'a'`, `x <> 'a'`, `x IN ('a', 'b')`: the column and its texts."""
    kind = node.get("type")
    if node.get("class") == "COMPARISON" and kind in ("COMPARE_EQUAL", "COMPARE_NOTEQUAL"):
        parts = [node["left"], node["right"]]
    elif kind in ("COMPARE_IN", "COMPARE_NOT_IN"):
        parts = list(node.get("children") or ())
    else:
        return "", []
    names = [str(p["column_names"][-1]) for p in parts if p.get("class") == "COLUMN_REF"]
    texts = [
        str(p["literal"]["text"]) for p in parts if (p.get("literal") or {}).get("kind") == "STRING"
    ]
    return (names[0], texts) if len(names) == 1 else ("", [])


def _spellings(asked: _Asked, table: str, column: str, texts: Sequence[str]) -> Iterator[str]:
    plain = "lower(strip_accents(trim({})))"
    alike = ", ".join(plain.format(literal(text)) for text in texts)
    there = asked.rows(f"SELECT count(*) FROM {quoted(table)}")
    if not there or there[0][0] > LOOKED_AT:
        return
    rows = asked.rows(
        f"SELECT v FROM (SELECT DISTINCT {quoted(column)} AS v FROM {quoted(table)}) "
        f"WHERE {plain.format('v')} IN ({alike}) AND v NOT IN ({', '.join(map(literal, texts))}) "
        f"ORDER BY v LIMIT {SPELLINGS + 1}"
    )
    others = [literal(str(row[0])[:LONGEST]) for row in rows if str(row[0]).isprintable()]
    if others:
        more = " and more" if len(others) > SPELLINGS else ""
        yield (
            f"{quoted(column)} also holds {', '.join(others[:SPELLINGS])}{more}, not equal to "
            f"{', '.join(map(literal, texts[:SPELLINGS]))}: compare {plain.format(quoted(column))} "
            f"where they mean the same."
        )


def _without_value(asked: _Asked, table: str, column: str) -> Iterator[str]:
    rows = asked.rows(f"SELECT count(*) FROM {quoted(table)} WHERE {quoted(column)} IS NULL")
    tested = any(
        node.get("type") in ("OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL")
        for node in nodes(asked.root)
    )
    if rows and rows[0][0] and not tested:
        yield (
            f"{quoted(column)} is NULL in {rows[0][0]:,} of the rows, which <> and NOT IN leave out: "
            f"write IS DISTINCT FROM, or OR … IS NULL, where they count."
        )


def _not_in(asked: _Asked) -> Iterator[str]:
    """`x NOT IN (SELECT y …)` with a NULL among them."""
    for node in nodes(asked.root):
        inside = (node.get("children") or [{}])[0] if node.get("type") == "OPERATOR_NOT" else {}
        if inside.get("subquery_type") != "ANY":
            continue
        if sql := _written(asked, inside["subquery"]["node"]):
            rows = asked.rows(f"SELECT count(*) FROM ({sql}) AS s(x) WHERE x IS NULL")
            if rows and rows[0][0]:
                yield "The list of NOT IN holds NULL, so it is true for no row: leave NULL out of it."


def _moved(asked: _Asked) -> Iterator[str]:
    """`SELECT * FROM a UNION ALL SELECT * FROM b` where b has its columns in another order."""
    for node in nodes(asked.root):
        if node.get("type") != "SET_OPERATION_NODE" or node.get("setop_type") == "UNION_BY_NAME":
            continue
        names = [_columns(asked, child) for child in node.get("children") or ()]
        for others in names[1:]:
            first, second = [*map(key, names[0])], [*map(key, others)]
            pairs = [
                (a, b)
                for a, b, x, y in zip(names[0], others, first, second, strict=False)
                if x != y and (y in first or x in second)
            ]
            if pairs:
                yield (
                    f"{node['setop_type']} puts columns together by their place: "
                    + ", ".join(f"{quoted(a)} with {quoted(b)}" for a, b in pairs[:SPELLINGS])
                    + ". UNION ALL BY NAME puts them together by name."
                )


def _columns(asked: _Asked, node: Node) -> list[str]:
    import duckdb

    sql = _written(asked, node)
    try:
        return list(asked.con.sql(sql).columns) if sql else []
    except duckdb.Error:
        return []


def _written(asked: _Asked, node: Node) -> str:
    """A part of a statement as SQL."""
    tree = json.dumps({"error": False, "statements": [{"node": node, "named_param_map": []}]})
    rows = asked.rows(f"SELECT json_deserialize_sql({literal(tree)})")
    return str(rows[0][0]) if rows else ""
