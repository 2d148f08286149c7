"""Which columns of its tables a statement reads, so that what was said of the others need not come
with it. Used in the child.

A column counts as read if the text names it or DuckDB's plan scans it, which is what `*` stands
for. Where neither can be known, all are.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from leaf.tables.sql import words

if TYPE_CHECKING:
    import duckdb

WIDE = 300
"""Columns from which a plan costs as much as many a query; there a `*` is all of them."""
_ALL = re.compile(r"(?:\bselect\s+(?:distinct\s+)?|,\s*|\.)\*|\bcolumns\s*\(|#\d", re.IGNORECASE)
_WHOLE = frozenset(("summarize", "describe", "pivot", "unpivot", "pivot_wider", "pivot_longer"))
_NO_TABLE = frozenset(
    ("DUMMY_SCAN", "CTE_SCAN", "REC_CTE_SCAN", "DELIM_SCAN", "RANGE", "UNNEST", "GENERATE_SERIES")
)
"""Leaves of a plan that read no table."""


def read_columns(
    con: duckdb.DuckDBPyConnection, sql: str, columns: Iterable[str]
) -> list[str] | None:
    """Names, as `key` writes them, of those of `columns` that the statement reads over its views;
    None where it may be any."""
    every = list(dict.fromkeys(columns))
    planned = (
        _planned(con, sql)
        if len(every) <= WIDE and not any("\n" in name for name in every)
        else None
    )
    if planned is None and names_all(sql):
        return None
    return sorted(named(sql, every) | (planned or set()))


def names_all(sql: str) -> bool:
    """Whether a statement may read columns that it does not name: `*`, `FROM t`, SUMMARIZE."""
    all_words = set(words(sql))
    return "select" not in all_words or bool(all_words & _WHOLE) or bool(_ALL.search(sql))


def named(text: str, columns: Iterable[str]) -> set[str]:
    """Those of the columns, by `key`, whose names stand in a statement or in code, quoted or
    not."""
    wanted = key(text)
    return {column for name in columns if (column := key(name)) and _stands_in(column, wanted)}


def key(name: str) -> str:
    """What is equal for names that DuckDB takes for the same: capitals and the way accents are
    composed make no difference."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _stands_in(name: str, text: str) -> bool:
    spelt = dict.fromkeys(
        (name, name.replace('"', '""'), name.replace("\\", "\\\\"), name.replace("'", "\\'"))
    )
    return any(re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text) for one in spelt)


def _planned(con: duckdb.DuckDBPyConnection, sql: str) -> set[str] | None:
    """What the scans of the plan take; None where a part of it has no scan, as where statistics
    alone give the answer."""
    import duckdb

    try:
        plan = json.loads(con.execute(f"EXPLAIN (FORMAT json) {sql}").fetchall()[0][1])
    except (duckdb.Error, ValueError, LookupError, TypeError):
        return None
    columns: set[str] = set()
    for leaf in (leaf for root in plan for leaf in _leaves(root)):
        if str(leaf.get("name", "")).strip() in _NO_TABLE:
            continue
        about = leaf.get("extra_info")
        taken = about.get("Projections") if isinstance(about, Mapping) else None
        if taken is None:
            return None
        for name in [taken] if isinstance(taken, str) else taken:
            # A part of a record stands as `record.part`.
            columns |= {key(name), key(name.partition(".")[0])}
    return columns


def _leaves(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    inside = node.get("children") or ()
    if not inside:
        yield node
    for child in inside:
        yield from _leaves(child)
