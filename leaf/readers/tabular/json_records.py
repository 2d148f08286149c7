"""What in a JSON document is a table: lists of records, lists of equal length, and objects of
records under their keys."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from leaf.readers.base import Note
from leaf.readers.tabular.cells import kind_of, unique_names
from leaf.readers.tabular.json_stat import cube_records

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
_PARTS = 8
"""Members of a list that may be parts of an answer rather than records."""
_WIDE = 100
"""Columns from which on an object of a few records is rather a tree, such as the words of several
languages."""
_COUNT = re.compile(
    r"(?i)num_?found|n_?hits|records_?total|total_?(?:count|results|records|rows|hits|elements"
    r"|entries)|(?:result|row|record)_?count"
)
"""How services call the number of all records that there are."""
_ANY_COUNT = re.compile(r"(?i)total|count|hits|total_?(?:items|size)")
"""The same where a page is told beside it: an order has a total as well."""
_PAGED = re.compile(
    r"(?i)pages?|per_?page|page_?(?:size|number|no|count)|total_?pages|limit|offset|skip|next"
    r"|next_?page(?:_?token)?|previous|prev|start_?index"
)
_MORE = re.compile(
    r"(?i)has_?(?:more|next)(?:_?page)?|more_?(?:results|records)(?:_?available)?|(?:@odata\.)?next_?link"
    r"|next_?(?:page|cursor|page_?token|token|url|records_?url|results_?url)|last_?evaluated_?key"
)
"""How services say that another page follows."""
_LINK = re.compile(r"(?i)https?://|[/?]")
_PLACED = re.compile(r"(?i)links?|paging|pagination|page_?info|meta|cursors?|response_?metadata")
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
        return [RecordTable("", value)] if _is_records(value) else _beside(value)
    if not isinstance(value, dict):
        return []
    whole = cube_records(value) or _named_rows(value) or _columnar(value, 1) or _keyed(value, 2)
    return [RecordTable("", whole)] if whole else _of_members(value)


def _beside(value: list[Any]) -> list[RecordTable]:
    """Of `[{"page": 1, "total": 3}, [{…}, {…}]]`, as some services answer: its lists of records."""
    if len(value) > _PARTS or not any(isinstance(m, list) and m for m in value):
        return []
    tables = _of_members({f"item {n}": member for n, member in enumerate(value, 1)})
    return [replace(tables[0], path="")] if len(tables) == 1 else tables


def _of_members(value: Record) -> list[RecordTable]:
    by_member = {key: list(_search({key: member}, "", 0)) for key, member in value.items()}
    all_tables = [table for tables in by_member.values() for table in tables]
    if all_tables:
        others = [key for key, tables in by_member.items() if not tables]
        if others:
            text = (
                f"{len(others)} members beside the tables were not loaded: {', '.join(others[:8])}."
            )
            left = Note("members-left", text, len(others))
            all_tables[0] = replace(all_tables[0], notes=(left,))
    if len(all_tables) == 1:
        return [_with_count(all_tables[0], value)]
    if all_tables and _goes_on(value, 0):
        largest = max(range(len(all_tables)), key=lambda n: len(all_tables[n].records))
        all_tables[largest] = _with_more(all_tables[largest])
    return all_tables


def _with_count(table: RecordTable, value: Record) -> RecordTable:
    """A table with a note where the document says that there are more records than it holds, as
    services do that answer page by page."""
    held, total = len(table.records), max(_counts(value, 0), default=0)
    if total <= held and (total or not _goes_on(value, 0)):
        return table
    if total <= held:
        return _with_more(table)
    text = (
        f"The file says that there are {total:,} records and holds {held:,}: the others are on "
        f"other pages."
    )
    return replace(table, notes=(Note("records-elsewhere", text, total - held), *table.notes))


def _with_more(table: RecordTable) -> RecordTable:
    text = "The file says that more records follow, on other pages."
    return replace(table, notes=(Note("records-elsewhere", text, 1), *table.notes))


def _goes_on(value: Record, depth: int) -> bool:
    """Whether a document says that another page follows: `has_more`, a link or a mark of the next."""
    for key, member in value.items():
        if _MORE.fullmatch(key) and (member is True or (isinstance(member, str) and member)):
            return True
        if key.lower() == "next" and isinstance(member, str) and _LINK.match(member):
            return True
        if isinstance(member, list) and _PLACED.fullmatch(key):
            links = [link for link in member if isinstance(link, dict)]
            if any("next" in (link.get("rel"), link.get("relation")) for link in links):
                return True
        inner = isinstance(member, dict) and (depth < 2 or _PLACED.fullmatch(key))
        if inner and _goes_on(member, depth + 1):
            return True
    return False


def _counts(value: Record, depth: int) -> Iterator[int]:
    """Numbers of records that a document gives beside them."""
    paged = any(map(_PAGED.fullmatch, value))
    for key, member in value.items():
        named = _COUNT.fullmatch(key) or (paged and _ANY_COUNT.fullmatch(key))
        if named and type(member) is int:
            yield member
        elif isinstance(member, dict) and depth < 2:
            yield from _counts(member, depth + 1)


def _search(value: Record, path: str, depth: int) -> Iterator[RecordTable]:
    for key, member in value.items():
        place = f"{path}.{key}" if path else key
        if (
            isinstance(member, list)
            and _is_records(member)
            and any(isinstance(m, dict | list) for m in member)
        ):
            yield RecordTable(place, member)
        elif isinstance(member, dict) and (records := _columnar(member, 3) or _keyed(member, 3)):
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


def has_names(rows: Sequence[Sequence[Any]]) -> bool:
    """Whether the first of some lists names the values of the others: it alone is all text, or some
    column is of numbers or days below it where all are written as text."""
    first, others = rows[0], rows[1 : 1 + _SAMPLE]
    if not others or not all(isinstance(cell, str) for cell in first):
        return False
    if any(not isinstance(cell, str) for row in others for cell in row):
        return True
    if len(set(first)) < len(first) or not all(kind_of(name) == "t" for name in first):
        return False
    below = [[kind_of(row[at]) for row in others] for at in range(len(first))]
    return any(
        len(kinds) - kinds.count("e") > 0 and all(kind in "nyde" for kind in kinds)
        for kinds in below
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


def _columnar(value: Record, least: int) -> list[Record]:
    """`{"a": [1, 2], "b": [3, 4]}` as records; fewer than `least` are rather limits or points."""
    lists = list(value.values())
    if (
        len(lists) < 2
        or not all(isinstance(v, list) for v in lists)
        or len({len(v) for v in lists}) != 1
        or len(lists[0]) < least
    ):
        return []
    inner = dict | list if least > 1 else dict
    if any(isinstance(m, inner) for v in lists for m in v):
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
