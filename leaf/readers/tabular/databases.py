"""Database files: the tables of SQLite and of DuckDB. Views and virtual tables are code, so they
are named and not run."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leaf.errors import UnreadableFileError
from leaf.readers.base import Note
from leaf.readers.tabular.sql import identifier
from leaf.readers.tabular.typed import TypedReader, TypedSource, damaged

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_ROWS = 20_000
"""Rows of a batch."""
_SQLITE_TYPES = {"integer": "int64", "real": "float64", "text": "string", "blob": "binary"}


class DatabaseReader(TypedReader):
    """SQLite and DuckDB files; each of their tables under its name."""

    kind = "database"
    media_type = "application/vnd.sqlite3"

    def sources(self, path: Path) -> list[TypedSource]:
        with path.open("rb") as file:
            is_sqlite = file.read(15) == b"SQLite format 3"
        tables = _sqlite(path) if is_sqlite else _duckdb(path)
        if not tables:
            raise UnreadableFileError(
                "This file is a database without tables.", "Add one that holds data."
            )
        return tables


def _sqlite(path: Path) -> list[TypedSource]:
    with _sqlite_opened(path) as connection:
        listed = connection.execute(
            "SELECT type, name, coalesce(sql, '') FROM sqlite_master ORDER BY rowid"
        ).fetchall()
        virtual = [
            name
            for kind, name, sql in listed
            if kind == "table" and sql.upper().startswith("CREATE VIRTUAL")
        ]
        left = [name for kind, name, _ in listed if kind == "view"] + virtual
        own = [
            name
            for kind, name, _ in listed
            if kind == "table" and name not in virtual and not _is_internal(name, virtual)
        ]
        notes = _not_read(left)
        sources: list[TypedSource] = []
        for name in own:
            sources.append(_sqlite_table(connection, path, name, notes if not sources else ()))
        return sources


def _is_internal(name: str, virtual: list[str]) -> bool:
    """Tables that SQLite keeps for itself, and those in which a virtual table keeps its index."""
    return name.startswith("sqlite_") or any(name.startswith(f"{v}_") for v in virtual)


def _sqlite_table(
    connection: sqlite3.Connection, path: Path, name: str, notes: tuple[Note, ...]
) -> TypedSource:
    table = identifier(name)
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    rows = int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
    types = [_sqlite_type(connection, table, column) for column in columns]
    mixed = [c for c, (_, is_mixed) in zip(columns, types, strict=True) if is_mixed]
    if mixed:
        text = (
            f"{', '.join(repr(c) for c in mixed[:5])} hold values of several types and became text."
        )
        notes = (*notes, Note("types-mixed", text, len(mixed)))
    kinds = [kind for kind, _ in types]
    return TypedSource(
        name, tuple(columns), rows, _sqlite_batches(path, table, columns, kinds), notes
    )


def _sqlite_type(connection: sqlite3.Connection, table: str, column: str) -> tuple[str, bool]:
    """Arrow type of a column by the values that it really holds, and whether they are of
    several."""
    query = f"SELECT DISTINCT typeof({identifier(column)}) FROM {table}"
    types = {row[0] for row in connection.execute(query)} - {"null"}
    if types == {"integer", "real"}:
        return "float64", False
    if len(types) == 1:
        return _SQLITE_TYPES[types.pop()], False
    return "string", len(types) > 1


def _sqlite_batches(
    path: Path, table: str, columns: list[str], kinds: list[str]
) -> Callable[[], Iterator[pa.RecordBatch]]:
    def batches() -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        # A real stays a real in a mixed column of numbers, and any value of a mixed one becomes
        # what it is written as.
        wanted = ", ".join(
            f"CAST({identifier(c)} AS TEXT)" if k == "string" else identifier(c)
            for c, k in zip(columns, kinds, strict=True)
        )
        types = [getattr(pa, k)() for k in kinds]
        with _sqlite_opened(path) as connection:
            cursor = connection.execute(f"SELECT {wanted} FROM {table}")
            while rows := cursor.fetchmany(_ROWS):
                arrays = [
                    pa.array(cells, kind)
                    for cells, kind in zip(zip(*rows, strict=True), types, strict=True)
                ]
                yield pa.record_batch(arrays, names=columns)

    return batches


@contextmanager
def _sqlite_opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Read-only, without looking for journals beside it, and with nothing in its schema trusted.

    DuckDB asks for batches from threads of its own, one at a time.
    """
    try:
        with closing(
            sqlite3.connect(
                f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
            )
        ) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.text_factory = lambda data: data.decode("utf-8", "replace")
            yield connection
    # The second: what SQLite says of a schema holds names of it, which need not be UTF-8.
    except (sqlite3.Error, UnicodeDecodeError) as e:
        raise damaged("SQLite database") from e


def _duckdb(path: Path) -> list[TypedSource]:
    with _duckdb_opened(path) as connection:
        listed = connection.execute(
            "SELECT schema_name, table_name, estimated_size FROM duckdb_tables() WHERE NOT "
            "internal ORDER BY table_oid"
        ).fetchall()
        views = connection.execute(
            "SELECT view_name FROM duckdb_views() WHERE NOT internal"
        ).fetchall()
        notes = _not_read([str(name) for (name,) in views])
        sources: list[TypedSource] = []
        for schema, name, _ in listed:
            table = f"{identifier(schema)}.{identifier(name)}"
            columns = tuple(row[0] for row in connection.execute(f"DESCRIBE {table}").fetchall())
            rows = int(connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0])
            shown = name if schema == "main" else f"{schema}.{name}"
            sources.append(
                TypedSource(
                    shown, columns, rows, _duckdb_batches(path, table), notes if not sources else ()
                )
            )
        return sources


def _duckdb_batches(path: Path, table: str) -> Callable[[], Iterator[pa.RecordBatch]]:
    def batches() -> Iterator[pa.RecordBatch]:
        with _duckdb_opened(path) as connection:
            reader: pa.RecordBatchReader = connection.sql(f"SELECT * FROM {table}").to_arrow_reader(
                _ROWS
            )
            yield from reader

    return batches


@contextmanager
def _duckdb_opened(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    import duckdb

    settings: dict[str, Any] = {
        "enable_external_access": "false",
        "autoload_known_extensions": "false",
        "autoinstall_known_extensions": "false",
        "threads": "2",
    }
    try:
        with closing(duckdb.connect(str(path), read_only=True, config=settings)) as connection:
            yield connection
    except duckdb.Error as e:
        hint = (
            "It may be encrypted, damaged, or written by a newer DuckDB: export its tables "
            "as Parquet."
        )
        raise damaged("DuckDB database", hint) from e


def _not_read(names: list[str]) -> tuple[Note, ...]:
    """That views and virtual tables are not read."""
    if not names:
        return ()
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return (Note("views-skipped", f"Views and virtual tables are not read: {shown}.", len(names)),)
