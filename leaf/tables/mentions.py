"""Which tables a statement may mean: by their own names, or those of files, sheets and handles. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from leaf.store.model import ChatFile
from leaf.tables.mending import key
from leaf.tables.table import Table


def known_as(files: Sequence[ChatFile], tables: Sequence[Table]) -> dict[str, list[str]]:
    """Other names that SQL may use for tables: of files, with and without their folders and ending,
    handles, sheets. No name of a table.
    """
    known: dict[str, list[str]] = {}
    for table in tables:
        steps = table.file_name.split("/")
        paths = ["/".join(steps[at:]) for at in range(len(steps))]
        stems = [path.rpartition(".")[0] for path in paths]
        for name in dict.fromkeys(
            (*paths, *stems, table.handle, "" if table.inside else table.sheet)
        ):
            if name:
                known.setdefault(name, []).append(table.name)
    own = {t.name for t in tables} | {c.slug for c in files}
    return {name: named for name, named in known.items() if name.lower() not in own}


def asks_which(sql: str) -> bool:
    """Whether a query asks DuckDB which tables there are."""
    return (
        re.search(
            r"\b(show|information_schema|duckdb_\w+|pg_\w+|sqlite_master)\b", sql, re.IGNORECASE
        )
        is not None
    )


def mentioned(tables: Sequence[Table], sql: str, known: Mapping[str, Sequence[str]]) -> list[Table]:
    """Tables whose name occurs in the query, or another name that it may use for them; all if it
    asks DuckDB which there are."""
    if asks_which(sql):
        return list(tables)
    text = key(sql)
    meant = {one for name, named in known.items() if key(name) in text for one in named}
    return [t for t in tables if t.name in meant or t.name.lower() in text]
