"""Of which of its tables a statement reads some rows only: the first that come (`LIMIT 5` without an
order), or a sample. Used in the child.

Only what is sure counts: rows of one table as they stand, with or without a condition, not grouped,
aggregated or sorted but by their numbers or by chance, and of a table that the statement reads
nowhere else.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leaf.tables.rows import ALL

if TYPE_CHECKING:
    import duckdb

CHANCE = frozenset(
    ("random", "uuid", "gen_random_uuid", "uuidv4", "hash", "md5", "sha1", "sha256", "md5_number")
)
"""Functions by which rows are mixed."""
ROW_NUMBERS = frozenset(("rowid", "_row"))

Node = Mapping[str, Any]
Amount = tuple[float, bool]
"""How many rows at most, or per cent of all."""


@dataclass(frozen=True)
class _Statement:
    """A statement as DuckDB reads it, with the names of functions that add up rows."""

    root: Any
    aggregates: frozenset[str]


def limited(con: duckdb.DuckDBPyConnection, sql: str) -> Any:
    """A statement as DuckDB reads it, if it has a limit or a sample anywhere; else None."""
    serialized = con.execute("SELECT json_serialize_sql(?)", [sql]).fetchall()[0][0]
    if not any(word in serialized for word in ("LIMIT_MODIFIER", "sample_size")):
        return None
    root = json.loads(serialized)
    return None if root.get("error") else root


def first_rows(
    con: duckdb.DuckDBPyConnection, root: Any, tables: Sequence[str], total: int, of: int = 0
) -> dict[str, int]:
    """Table -> how many of its rows a statement reads at most, of those that are not read whole.
    `root` is from `limited`, `total` are the rows of the result, `of` those without its limit, where
    they are known."""
    if root is None:
        return {}
    names = con.execute(
        "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'aggregate'"
    ).fetchall()
    statement = _Statement(root, frozenset(name for (name,) in names))
    own = {each: name for name in tables for each in (name.casefold(), f"{name}{ALL}".casefold())}
    every = Counter(
        own.get(table_of(node), "") for node in nodes(root) if node.get("type") == "BASE_TABLE"
    )
    outermost = root["statements"][0]["node"]
    sizes: dict[str, list[int]] = {}
    for node in nodes(root):
        amount = _amount(node, statement) if node.get("type") == "SELECT_NODE" else None
        name = table_of(node["from_table"]) if amount else ""
        if amount is None or name not in own:
            continue
        size, file = _rows(con, name, amount), own[name]
        if node is outermost and not sample_of(node):
            if not node["where_clause"] or (total >= size and of != total):
                sizes.setdefault(file, []).append(total)
        elif not node["where_clause"] or sample_of(node):
            sizes.setdefault(file, []).append(size)
    return {name: sum(those) for name, those in sizes.items() if len(those) == every[name]}


def _amount(node: Node, statement: _Statement) -> Amount | None:
    """How many rows of its one table a SELECT takes; None where that is all of them, or not known."""
    table = node.get("from_table") or {}
    if table.get("type") != "BASE_TABLE":
        return None
    if sample := sample_of(node):
        return float(sample["sample_size"]["value"]), bool(sample["is_percentage"])
    if node["aggregate_handling"] != "STANDARD_HANDLING":
        return None
    modifiers = [modifier for modifier in node["modifiers"] if not by_chance(modifier)]
    if [modifier["type"] for modifier in modifiers] != ["LIMIT_MODIFIER"] or any(
        node.get(name) for name in ("group_expressions", "group_sets", "having", "qualify")
    ):
        return None
    if any(_of_several(part, statement) for part in nodes(node["select_list"])):
        return None
    limit = next(one for one in modifiers if one["type"] == "LIMIT_MODIFIER")
    size = limit_of(limit, "limit")
    if size is None:  # a sum, or an OFFSET alone: the rows of the result tell it
        return math.inf, False
    return size, limit["limit_type"] == "PERCENTAGE"


def by_chance(modifier: Node) -> bool:
    """Whether rows are sorted by nothing that their values say: by their numbers, or at random."""
    keys = _keys(modifier)
    return bool(keys) and all(
        _is_number(key) or any(node.get("function_name") in CHANCE for node in nodes(key))
        for key in keys
    )


def by_numbers(modifier: Node) -> bool:
    """Whether rows are sorted as they stand."""
    keys = _keys(modifier)
    downwards = any(order.get("type") == "DESCENDING" for order in modifier.get("orders") or ())
    return bool(keys) and not downwards and all(map(_is_number, keys))


def _keys(modifier: Node) -> list[Node]:
    if modifier["type"] != "ORDER_MODIFIER":
        return []
    return [order.get("expression") or {} for order in modifier.get("orders") or ()]


def _is_number(key: Node) -> bool:
    return str((key.get("column_names") or [""])[-1]).casefold() in ROW_NUMBERS


def sample_of(node: Node) -> Node | None:
    sample: Node | None = node["from_table"].get("sample") or node.get("sample")
    return sample


def _of_several(part: Node, statement: _Statement) -> bool:
    """Whether an expression is made of several rows."""
    return part.get("class") in ("WINDOW", "SUBQUERY") or (
        part.get("class") == "FUNCTION" and part.get("function_name") in statement.aggregates
    )


def limit_of(modifier: Node, what: str) -> float | None:
    """The number of a LIMIT, or of an OFFSET, that stands in the statement."""
    number = ((modifier.get(what) or {}).get("literal") or {}).get("text", "")
    try:
        return float(number)
    except ValueError:
        return None


def _rows(con: duckdb.DuckDBPyConnection, name: str, amount: Amount) -> int:
    size, percent = amount
    if not percent and not math.isinf(size):
        return int(size)
    quoted = '"' + name.replace('"', '""') + '"'
    there = int(con.execute(f"SELECT count(*) FROM {quoted}").fetchall()[0][0])
    return there if math.isinf(size) else math.ceil(there * size / 100)


def table_of(node: Node) -> str:
    return str(node.get("table_name") or "").casefold()


def nodes(tree: Any) -> Iterator[Node]:
    """Every object of a tree."""
    waiting = [tree]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield one
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
