"""All rows of a database as text, and back: what a backup holds of it.

Every value goes through the database's own text form, which DuckDB and PostgreSQL write and read
alike, so what one has saved the other can take. JSON stays byte for byte what it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from leaf.errors import StoreError
from leaf.store.changes import TOPICS
from leaf.store.database import Database, Snapshot, Transaction
from leaf.store.migrate import Migration, apply

BATCH = 100
"""Rows that are written by one statement."""
MIGRATIONS = "leaf_migrations"
UNUSED = (
    *("users", "identities", "logins", "oauth_states", "workspaces", "workspace_members"),
    *("preferences", "installation", "audit", "usage_zone"),
    *("blobs", "blob_pieces", "blob_states", "removal_notes", "converted_tables"),
    *("chat_signatures", "processes", "run_leases", "duties"),
)
"""Tables that have rows where nobody has kept anything. Any other counts, a later one as well."""
Schema = Mapping[str, Mapping[str, str]]
"""Table -> name -> type of its columns, in their order."""
_COLUMNS = (
    "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE "
    "table_schema = current_schema() ORDER BY table_name, ordinal_position"
)


def schema(db: Database | Transaction | Snapshot) -> Schema:
    """Of all tables that are there."""
    tables: dict[str, dict[str, str]] = {}
    for row in db.read(_COLUMNS):
        columns = tables.setdefault(str(row["table_name"]), {})
        columns[str(row["column_name"])] = str(row["data_type"])
    return tables


def lines(snapshot: Snapshot, tables: Schema, table: str) -> Iterator[bytes]:
    """A table as JSON lines: the names of its columns, then a list of texts for each row."""
    names = list(tables.get(table, ()))
    yield _line(names)
    if names:
        texts = ", ".join(f"CAST({name} AS TEXT)" for name in names)
        for row in snapshot.stream(f"SELECT {texts} FROM {table}"):
            yield _line(row)


def is_empty(tx: Transaction) -> bool:
    """Whether nobody has kept anything in the database: an app that was started and not used has
    made a user and a workspace, and those who looked at it have signed in."""
    there = schema(tx)
    return not any(
        table in there and tx.read(f"SELECT 1 AS yes FROM {table} LIMIT 1")
        for table in TOPICS
        if table not in UNUSED
    )


def make_anew(tx: Transaction, known: Sequence[Migration]) -> None:
    """Drop all tables and make them by these migrations, empty."""
    for table in (*TOPICS, MIGRATIONS):
        tx.execute(f"DROP TABLE IF EXISTS {table}")
    apply(tx, known)


def load(tx: Transaction, tables: Schema, table: str, found: Iterable[bytes]) -> int:
    """Write what `lines` gave into an empty table; returns how many rows. Raises StoreError for
    columns that it does not have."""
    rest = iter(found)
    names = [str(name) for name in json.loads(next(rest))]
    types = tables.get(table, {})
    if strange := [name for name in names if name not in types]:
        raise StoreError(
            f"The backup has a column '{strange[0]}' in '{table}' that this version does not know.",
            "Restore it with the version of Leaf that made it.",
        )
    count = 0
    while batch := [json.loads(line) for line in islice(rest, BATCH)]:
        _insert(tx, table, {name: types[name] for name in names}, batch)
        count += len(batch)
    return count


def _insert(
    tx: Transaction, table: str, types: dict[str, str], batch: Sequence[Sequence[str | None]]
) -> None:
    marks = ", ".join(
        "(" + ", ".join(f"CAST(:v{r}_{c} AS {kind})" for c, kind in enumerate(types.values())) + ")"
        for r in range(len(batch))
    )
    values = {f"v{r}_{c}": text for r, row in enumerate(batch) for c, text in enumerate(row)}
    tx.execute(f"INSERT INTO {table} ({', '.join(types)}) VALUES {marks}", values)


def _line(values: Sequence[str | None]) -> bytes:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
