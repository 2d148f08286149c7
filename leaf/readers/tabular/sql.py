"""SQL for DuckDB, and a DuckDB of a reader's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb


def literal(text: str) -> str:
    """A text as SQL."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A name as SQL."""
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def connect(scratch: Path, *, memory: str = "1000MB") -> Iterator[duckdb.DuckDBPyConnection]:
    """A private in-memory DuckDB that spills into `scratch`, which is removed afterwards, and loads
    nothing from outside."""
    import shutil

    import duckdb

    folder = scratch / ".duckdb"
    folder.mkdir(parents=True, exist_ok=True)
    connection = duckdb.connect(":memory:")
    try:
        for setting in (
            f"SET temp_directory = {literal(str(folder))}",
            f"SET memory_limit = '{memory}'",
            "SET threads = 2",
            "SET autoinstall_known_extensions = false",
            "SET autoload_known_extensions = false",
            "SET python_enable_replacements = false",
            "SET enable_progress_bar = false",
            "SET TimeZone = 'UTC'",
        ):
            connection.execute(setting)
        yield connection
    finally:
        connection.close()
        shutil.rmtree(folder, ignore_errors=True)


def copy(
    connection: duckdb.DuckDBPyConnection, select: str, target: Path, *, compression: str = "zstd"
) -> int:
    """Write a query's rows as Parquet and return how many there were."""
    target.parent.mkdir(parents=True, exist_ok=True)
    row = connection.execute(
        f"COPY ({select}) TO {literal(str(target))} (FORMAT parquet, COMPRESSION {compression})"
    ).fetchone()
    return int(row[0]) if row else 0


def warm() -> None:
    """Load what the first table would have to wait for, in a process that waits."""
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet

    with duckdb.connect(":memory:") as connection:
        connection.register("block", pyarrow.table([pa.array(["a"])], names=["a"]))
        connection.execute("SELECT regexp_full_match(trim(a), 'a') FROM block").fetchall()
