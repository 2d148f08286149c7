"""A DuckDB that is closed but for the Parquet files it is given, and the statements that it takes:
those that only read."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from leaf.errors import QueryError
from leaf.readers.tabular.sql import opened, parquet_rows
from leaf.tables.sql import literal, quoted, words

if TYPE_CHECKING:
    import duckdb

READING_ONLY = (
    "Only reading is possible here: one SELECT, WITH, FROM, VALUES, DESCRIBE, SUMMARIZE, "
    "SHOW or PIVOT."
)
CHANGING = {"insert", "update", "delete", "merge", "copy"}


def connect(paths: Iterable[str], seconds: float, memory_mb: int) -> duckdb.DuckDBPyConnection:
    """A closed DuckDB that can open `paths`. The settings stand in the order in which none undoes
    another."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    con = opened(threads=min(8, cores or 1))
    # Room for what is not DuckDB's own: the interpreter, Arrow batches, the Parquet writer.
    memory = max(128, int(memory_mb * 0.7))
    for setting in (
        f"allowed_paths = [{', '.join(map(literal, paths))}]",
        f"temp_directory = {literal(tempfile.gettempdir())}",
        f"memory_limit = '{memory}MiB'",
        "max_temp_directory_size = '1500MiB'",
        f"max_execution_time = {int(seconds * 1000)}",
        "python_enable_replacements = false",
        "allow_community_extensions = false",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        con.execute(f"SET {setting}")
    return con


def create_views(con: duckdb.DuckDBPyConnection, tables: Mapping[str, str]) -> None:
    for name, path in tables.items():
        con.execute(f"CREATE VIEW {quoted(name)} AS FROM {parquet_rows(path)}")


def check_reading(con: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Raise QueryError unless `sql` is one statement that only reads. `con.sql` would run a
    changing one at once."""
    import duckdb

    statements = con.extract_statements(sql)
    if not statements:
        raise QueryError("The query is empty.", "Write one SELECT statement.")
    if len(statements) > 1:
        raise QueryError(
            f"There are {len(statements)} statements; only one can run at a time.", READING_ONLY
        )
    kind = statements[0].type
    if kind == duckdb.StatementType.SELECT:
        # A common table expression may hold an INSERT or COPY while its statement still counts as a
        # SELECT.
        tree = con.execute("SELECT json_serialize_sql(?)", [sql]).fetchall()[0][0]
        changing = re.search(
            r'"type":"(INSERT|UPDATE|DELETE|MERGE_INTO|MERGE|COPY)_QUERY_NODE"', tree
        )
        name = changing.group(1).split("_")[0] if changing else ""
    elif kind == duckdb.StatementType.MULTI:  # PIVOT: a type and a SELECT
        name = next((w.upper() for w in words(sql) if w in CHANGING), "")
    else:
        name = str(kind).rpartition(".")[2]
    if name:
        raise QueryError(f"{name} is not possible.", READING_ONLY)
