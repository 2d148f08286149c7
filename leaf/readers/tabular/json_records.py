"""What in a JSON document is a table: lists of records, lists of equal length, and objects of
records under their keys."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from leaf.readers.base import Note
from leaf.readers.tabular.cells import unique_names

Record = dict[str, Any]
Flat = dict[tuple[str, ...], Any]
"""A record's values by their way through its objects: `a.b` may be the name of a member, or `b`
inside of `a`, and both may be there."""

_DEPTH = 3
_SAMPLE = 1_000
"""Members of an object that are looked at to tell whether they are records of one shape."""
_ALIKE = 0.9
"""Part of the members that must have the common names, and of the values of a name that must be of
one kind."""
_WIDE = 100
"""Columns from which on an object of a few records is rather a tree, such as the words of several
languages."""
_LABEL = re.compile(r"\d{1,9}|(?:19|20)\d\d-\d\d(?:-\d\d.*)?", re.ASCII)
"""A number of a row, or a day: what rows are called where columns have names."""


@dataclass(frozen=True)
class RecordTable:
    """Records found at a place in a document."""

    path: str
    """`data.items`; empty for the document itself."""
    records: list[Any]
    notes: tuple[Note, ...] = ()


def tables_in(value: Any) -> list[RecordTable]:
    """The tables of a document: itself, or inside objects down to some depth."""
    if isinstance(value, list):
        return [RecordTable("", value)] if _is_records(value) else []
    if not isinstance(value, dict):
        return []
    whole = _named_rows(value) or _columnar(value) or _keyed(value, 2)
    if whole:
        return [RecordTable("", whole)]
    by_member = {key: list(_search({key: member}, "", 0)) for key, member in value.items()}
    all_tables = [table for tables in by_member.values() for table in tables]
    if all_tables:
        others = [key for key, tables in by_member.items() if not tables]
        if others:
            text = (
                f"{len(others)} members beside the tables were not loaded: {', '.join(others[:8])}."
            )
            all_tables[0] = RecordTable(
                all_tables[0].path,
                all_tables[0].records,
                (Note("members-left", text, len(others)),),
            )
    return all_tables


def _search(value: Record, path: str, depth: int) -> Iterator[RecordTable]:
    for key, member in value.items():
        place = f"{path}.{key}" if path else key
        if (
            isinstance(member, list)
            and _is_records(member)
            and any(isinstance(m, dict | list) for m in member)
        ):
            yield RecordTable(place, member)
        elif isinstance(member, dict) and (records := _keyed(member, 3)):
            yield RecordTable(place, records)
        elif isinstance(member, dict) and depth < _DEPTH:
            yield from _search(member, place, depth + 1)


def _is_records(members: list[Any]) -> bool:
    if not members:
        return False
    if all(isinstance(m, dict) for m in members):
        return True
    return (
        len(members) > 1
        and all(isinstance(m, list) for m in members)
        and len({len(m) for m in members}) == 1
        and len(members[0]) > 0
    )


def _named_rows(value: Record) -> list[Record]:
    """`{"columns": ["a", "b"], "data": [[1, 2], …]}` as records, with the labels of the rows where
    they are no mere count."""
    names, rows, labels = value.get("columns"), value.get("data"), value.get("index")
    if (
        not isinstance(names, list)
        or not isinstance(rows, list)
        or not rows
        or value.keys() - {"columns", "data", "index"}
    ):
        return []
    if len(set(map(str, names))) < len(names) or any(
        isinstance(name, dict | list) for name in names
    ):
        return []
    if not all(isinstance(row, list) and len(row) == len(names) for row in rows):
        return []
    records = [dict(zip(map(str, names), row, strict=True)) for row in rows]
    if not isinstance(labels, list) or len(labels) != len(rows) or labels == list(range(len(rows))):
        return records
    name = _key_name(records[:1])
    return [{name: label, **record} for label, record in zip(labels, records, strict=True)]


def _columnar(value: Record) -> list[Record]:
    """`{"a": [1, 2], "b": [3, 4]}` as records."""
    lists = list(value.values())
    if (
        len(lists) < 2
        or not all(isinstance(v, list) for v in lists)
        or len({len(v) for v in lists}) != 1
        or not lists[0]
    ):
        return []
    if any(isinstance(m, dict) for v in lists for m in v):
        return []
    return [dict(zip(value, row, strict=True)) for row in zip(*lists, strict=True)]


def _keyed(value: Record, least: int) -> list[Record]:
    """`{"k1": {"a": 1, "b": "x"}, "k2": {…}}` as records that begin with their key, where its
    members are records of one shape.

    Of `{"a": {"0": 1, "1": 2}, "b": {…}}`, as data frames are often written, the columns are put
    side by side.
    """
    members = list(value.values())
    if len(members) < least or not all(isinstance(m, dict) and m for m in members):
        return []
    if _is_by_column(value):
        rows = members[0].keys()
        counted = list(rows) == [str(n) for n in range(len(rows))]
        name = _key_name([value])
        return [
            ({} if counted else {name: row}) | {key: member[row] for key, member in value.items()}
            for row in rows
        ]
    common = _common_names(members)
    if not common or not _have_one_shape(members, common) or _is_tree(members, common):
        return []
    name = _key_name(members)
    return [{name: key, **member} for key, member in value.items()]


def _key_name(members: Sequence[Record]) -> str:
    """A name for what records are called by, which none of their members has."""
    name = "key"
    while any(name in member for member in members):
        name = f"_{name}"
    return name


def _is_by_column(value: Record) -> bool:
    """Whether members are columns: plain values under the same labels of rows, which no record has
    or whose kinds differ."""
    members = list(value.values())
    labels = members[0].keys()
    if any(_LABEL.fullmatch(key) for key in value) or not all(m.keys() == labels for m in members):
        return False
    kinds = [{_kind(v) for v in m.values() if v is not None} for m in members]
    if any(types & {"dict", "list"} for types in kinds):
        return False
    told_apart = (
        len(labels) > 2 and all(len(types) < 2 for types in kinds) and len(set().union(*kinds)) > 1
    )
    return told_apart or all(_LABEL.fullmatch(label) for label in labels)


def _common_names(members: Sequence[Record]) -> list[str]:
    """The names that most members have; two members must have all of them."""
    some = members[:: max(1, len(members) // _SAMPLE)]
    count = Counter(name for member in some for name in member)
    enough = len(some) if len(some) < 3 else 0.5 * len(some)
    return [name for name, n in count.items() if n >= enough]


def _have_one_shape(members: Sequence[Record], common: Sequence[str]) -> bool:
    """Whether nearly all members consist of the common names for the most part, and the values of
    each name are of one kind."""
    some = members[:: max(1, len(members) // _SAMPLE)]
    names = set(common)
    alike = sum(2 * len(names & m.keys()) >= max(len(names), len(m)) for m in some)
    if alike < _ALIKE * len(some):
        return False
    kinds = [Counter(_kind(m[name]) for m in some if m.get(name) is not None) for name in common]
    steady = sum(
        not counts or counts.most_common(1)[0][1] >= _ALIKE * counts.total() for counts in kinds
    )
    return steady >= _ALIKE * len(common)


def _is_tree(members: Sequence[Record], common: Sequence[str]) -> bool:
    """Whether the members hold further levels rather than values: hardly a plain value in common,
    or columns without end."""
    plain = sum(not isinstance(members[0].get(name), dict | list) for name in common)
    listed = any(
        isinstance(child := members[0].get(name), list) and _is_records(child) for name in common
    )
    if not plain or (plain < 2 and (len(members) < 3 or listed)):
        return True
    return len(members) < _WIDE and len(flatten(members[0])) > _WIDE


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return type(value).__name__


def dump(value: Any) -> str:
    """A value as JSON text."""
    import orjson

    try:
        return orjson.dumps(value).decode()
    except TypeError:  # integers beyond 64 bits
        return json.dumps(value, ensure_ascii=False)


def flatten(record: Any, way: tuple[str, ...] = ()) -> Flat:
    """One level of members: objects by the way to their values, lists as JSON text."""
    if not isinstance(record, dict):
        return {("value",): dump(record) if isinstance(record, list) else record}
    flat: Flat = {}
    for key, member in record.items():
        if isinstance(member, dict) and member and len(way) < 8:
            flat.update(flatten(member, (*way, key)))
        elif isinstance(member, dict | list):
            flat[*way, key] = dump(member)
        else:
            flat[*way, key] = member
    return flat


def named(ways: Iterable[tuple[str, ...]]) -> tuple[tuple[str, ...], tuple[Note, ...]]:
    """Names of columns, `a.b` for `b` inside of `a`, and what is said where two would be one."""
    names, _, repeated = unique_names(".".join(way) for way in ways)
    if not repeated:
        return names, ()
    text = f"{repeated} column names are repeated; a number was added to each."
    return names, (Note("names-repeated", text, repeated),)
