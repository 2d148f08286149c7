"""What a `LIMIT` or `OFFSET` at the end of a statement leaves out of its result. Used in the child."""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leaf.tables.firsts import by_chance, by_numbers, limit_of, nodes, sample_of, table_of

if TYPE_CHECKING:
    import duckdb

RANKED = 20
"""Rows up to which the first by a value are what was asked for, and the others not counted."""
SECONDS = 2.0
"""How long the rows without the limit are counted; a join may have any number of them."""


@dataclass(frozen=True)
class ResultCut:
    """Which rows of all that a statement would give its result holds."""

    offset: int = 0
    """Rows before its first."""
    of: int = 0
    """All rows, also those without the limit; 0 where none were left out that anybody asks
    for, -1 where there may be more and counting them takes too long."""
    ranked: bool = False
    """Whether these are the first by the values of a column, which may be what was asked for."""
    start: int = -1
    """Rows of its one table before its first, where it holds rows of that as they stand."""


def cut_of(
    con: duckdb.DuckDBPyConnection, root: Any, total: int, results: Collection[str]
) -> ResultCut:
    """`root` is the statement, from `firsts.limited`; `total` are the rows of the result, `results`
    the names of kept results, which may be sorted themselves."""
    if root is None:
        return ResultCut()
    node = root["statements"][0]["node"]
    modifiers = node.get("modifiers") or []
    limit = next((one for one in modifiers if one["type"] == "LIMIT_MODIFIER"), None)
    if limit is None or limit["limit_type"] == "PERCENTAGE":
        return ResultCut()
    offset = limit_of(limit, "offset") if limit.get("offset") else 0
    if offset is None:
        return ResultCut()
    skipped = int(offset)
    ranked = not skipped and _is_ranked(root, results)
    if ranked and total < RANKED:
        return ResultCut()
    size = limit_of(limit, "limit") if limit.get("limit") else None
    of = skipped + total
    if size is None or not 0 < total < size:  # else that was all
        of = _without_limit(con, root, of if total else 0)
    return ResultCut(skipped, of, ranked, _start(node, skipped))


def _is_ranked(root: Any, results: Collection[str]) -> bool:
    """Whether the first rows may be the first for what they hold."""
    orders = [node for node in nodes(root) if node.get("type") == "ORDER_MODIFIER"]
    names = {table_of(node) for node in nodes(root) if node.get("type") == "BASE_TABLE"}
    return any(order.get("orders") and not by_chance(order) for order in orders) or bool(
        names & {name.casefold() for name in results}
    )


def _start(node: Mapping[str, Any], offset: int) -> int:
    table = node.get("from_table") or {}
    if table.get("type") != "BASE_TABLE" or node.get("where_clause") or sample_of(node):
        return -1
    orders = [one for one in node["modifiers"] if one["type"] == "ORDER_MODIFIER"]
    return offset if all(map(by_numbers, orders)) else -1


def _without_limit(con: duckdb.DuckDBPyConnection, root: Any, least: int) -> int:
    """How many rows a statement gives without its limit; -1 where that takes too long to count."""
    import duckdb

    node = root["statements"][0]["node"]
    left = ("LIMIT_MODIFIER", "ORDER_MODIFIER")
    node = {**node, "modifiers": [one for one in node["modifiers"] if one["type"] not in left]}
    statement = {**root, "statements": [{**root["statements"][0], "node": node}]}
    timer = threading.Timer(SECONDS, con.interrupt)
    timer.start()
    try:
        sql = con.execute("SELECT json_deserialize_sql(?)", [json.dumps(statement)]).fetchall()
        counted = con.execute(f"SELECT count(*) FROM ({sql[0][0]})").fetchall()
        return max(int(counted[0][0]), least)
    except duckdb.Error:
        return -1
    finally:
        timer.cancel()
