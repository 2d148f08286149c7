"""Joins that give something else than their writer may think, as the rows themselves show: amounts that
are added up once for every match, and rows that find none. Used in the child."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from leaf.tables.firsts import Node, nodes
from leaf.tables.mending import key
from leaf.tables.sql import quoted

LOOKED_AT = 2_000_000
"""Rows of a table at most that are looked at."""
_JOINS = 4
"""Joins of a statement that are looked at."""
_ADDING = frozenset({"sum", "avg", "mean"})
"""Functions for which it matters how often a row is there."""
_PLAIN = "lower(strip_accents(trim(CAST({} AS VARCHAR))))"

Columns = Mapping[str, Mapping[str, tuple[str, str]]]
"""Table -> key of a column -> its name and type."""
Rows = Callable[[str], list[tuple[Any, ...]]]
"""What a query gives; nothing where it cannot stand by itself."""


@dataclass(frozen=True)
class _Side:
    """A table of a join, what the statement calls it, and its keys, in the order of the other's."""

    table: str
    alias: str
    keys: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        return quoted(self.table)


def joins(root: Node, columns: Columns, rows: Rows) -> Iterator[str]:
    """A sentence for each of them. Only joins of two tables by equal columns are looked at."""
    looked_at = 0
    for select in nodes(root):
        join = select.get("from_table") if select.get("type") == "SELECT_NODE" else None
        sides = _sides(join, columns) if join and looked_at < _JOINS else None
        if join is None or sides is None or not all(_is_small(side, rows) for side in sides):
            continue
        looked_at += 1
        added = _added(select, sides, columns)
        for mine, other in (sides, sides[::-1]):
            if mine in added:
                yield from _counted_again(mine, other, added[mine], rows)
            if join["join_type"] == "INNER" and (mine in added or (not added and mine == sides[0])):
                yield from _left_out(mine, other, columns, rows)


def _sides(join: Node, columns: Columns) -> tuple[_Side, _Side] | None:
    """The two tables of a join with the columns that must be equal; None for any other."""
    if join.get("type") != "JOIN" or join["join_type"] not in ("INNER", "LEFT", "RIGHT", "OUTER"):
        return None
    parts = (join["left"], join["right"])
    if join["ref_type"] != "REGULAR" or any(part["type"] != "BASE_TABLE" for part in parts):
        return None
    tables = {key(table): table for table in columns}
    named = [tables.get(key(part["table_name"])) for part in parts]
    left, right = (
        _Side(table or "", part["alias"] or part["table_name"])
        for table, part in zip(named, parts, strict=True)
    )
    if not all(named) or key(left.alias) == key(right.alias):
        return None
    pairs = [(name, name) for name in join["using_columns"]] or _equal(
        join["condition"], (left, right), columns
    )
    spelt = [
        tuple(columns[side.table].get(key(pair[at]), ("", ""))[0] for pair in pairs)
        for at, side in enumerate((left, right))
    ]
    if not pairs or not all(map(all, spelt)):
        return None
    return _Side(left.table, left.alias, spelt[0]), _Side(right.table, right.alias, spelt[1])


def _equal(
    condition: Node | None, sides: tuple[_Side, _Side], columns: Columns
) -> list[tuple[str, str]]:
    """Column of the left table and of the right, for `a.x = b.y AND …`; nothing for what says more."""
    if not condition:
        return []
    parts = condition["children"] if condition["type"] == "CONJUNCTION_AND" else [condition]
    pairs = []
    for part in parts:
        ends = [part.get("left") or {}, part.get("right") or {}]
        owners = [_owner(end, sides, columns) for end in ends]
        if part.get("type") != "COMPARE_EQUAL" or sorted(owners) != [0, 1]:
            return []
        names = [str(end["column_names"][-1]) for end in ends]
        pairs.append((names[owners.index(0)], names[owners.index(1)]))
    return pairs


def _owner(node: Node, sides: tuple[_Side, _Side], columns: Columns) -> int:
    """Of which table a column is; -1 where that is not sure."""
    if node.get("class") != "COLUMN_REF":
        return -1
    *path, name = map(str, node["column_names"])
    owners = [
        at
        for at, side in enumerate(sides)
        if key(name) in columns[side.table] and (not path or key(path[-1]) == key(side.alias))
    ]
    return owners[0] if len(owners) == 1 else -1


def _added(select: Node, sides: tuple[_Side, _Side], columns: Columns) -> dict[_Side, str]:
    """Table -> the first of its columns that is added up."""
    added: dict[_Side, str] = {}
    for node in nodes({"select_list": select["select_list"]}):
        if node.get("function_name") not in _ADDING or node.get("distinct"):
            continue
        for inner in nodes({"arguments": node["arguments"]}):
            if (owner := _owner(inner, sides, columns)) >= 0:
                added.setdefault(sides[owner], str(inner["column_names"][-1]))
    return added


def _is_small(side: _Side, rows: Rows) -> bool:
    counted = rows(f"SELECT count(*) FROM {side.source}")
    return bool(counted) and counted[0][0] <= LOOKED_AT


def _counted_again(mine: _Side, other: _Side, column: str, rows: Rows) -> Iterator[str]:
    """Amounts of rows that match several of the other table."""
    listed = ", ".join(map(quoted, other.keys))
    test = " AND ".join(
        f"m.{quoted(a)} = o.{quoted(b)}" for a, b in zip(mine.keys, other.keys, strict=True)
    )
    counts = rows(
        f"SELECT count(*), max(o.n) FROM {mine.source} AS m JOIN (SELECT {listed}, count(*) AS n "
        f"FROM {other.source} GROUP BY ALL HAVING count(*) > 1) AS o ON {test}"
    )
    if counts and counts[0][0]:
        again, most = counts[0]
        verb = "row matches" if again == 1 else "rows match"
        yield (
            f"The join repeats rows of {mine.source}: {again:,} {verb} up to {most:,} rows of "
            f"{other.source}, so that {quoted(column)} is added up as often. Add up before joining "
            f"where each row counts once."
        )


def _left_out(mine: _Side, other: _Side, columns: Columns, rows: Rows) -> Iterator[str]:
    """Rows that find no match, and how many would by the same words written otherwise."""
    pairs = list(zip(mine.keys, other.keys, strict=True))
    test = " AND ".join(f"m.{quoted(a)} = o.{quoted(b)}" for a, b in pairs)
    lone = (
        f"FROM {mine.source} AS m WHERE NOT EXISTS (SELECT 1 FROM {other.source} AS o WHERE {test})"
    )
    counts = rows(f"SELECT count(*), (SELECT count(*) FROM {mine.source}) {lone}")
    if not counts or not counts[0][0]:
        return
    missed, whole = counts[0]
    names = ", ".join(map(quoted, mine.keys))
    text = (
        f"The join leaves out {missed:,} of {whole:,} rows of {mine.source}, whose {names} is not in "
        f"{other.source}."
    )
    if any(columns[mine.table][key(a)][1] == "VARCHAR" for a, _ in pairs):
        alike = " AND ".join(
            f"{_PLAIN.format(f'm.{quoted(a)}')} = {_PLAIN.format(f'p.{quoted(b)}')}"
            for a, b in pairs
        )
        spelt = rows(
            f"SELECT count(*) FROM (SELECT m.* {lone}) AS m WHERE EXISTS "
            f"(SELECT 1 FROM {other.source} AS p WHERE {alike})"
        )
        if spelt and spelt[0][0]:
            text += (
                f" {spelt[0][0]:,} of them would match by {_PLAIN.format(quoted(mine.keys[0]))}."
            )
    yield text
