"""SQL for DuckDB, and a DuckDB of a reader's own."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

_CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "allow_persistent_secrets": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
_ahead: list[duckdb.DuckDBPyConnection] = []


COUNTED = "file_row_number"
"""What DuckDB calls the number of a row in its Parquet; a column of this name hides it."""


def literal(text: str) -> str:
    """A text as SQL."""
    return "'" + text.replace("'", "''") + "'"


def parquet_rows(path: str | Path) -> str:
    """The rows of a Parquet file, as they are: folders on its way called `year=2026` are no columns of
    it, as DuckDB takes them where nothing is said."""
    return f"read_parquet({literal(str(path))}, hive_partitioning = false)"


def identifier(name: str) -> str:
    """A name as SQL."""
    return '"' + name.replace('"', '""') + '"'


def opened(threads: int = 2) -> duckdb.DuckDBPyConnection:
    """An empty DuckDB in memory that loads nothing from outside: the one that was opened ahead, if
    nobody has taken it, else another."""
    import duckdb

    if not _ahead:
        return duckdb.connect(":memory:", config={**_CLOSED, "threads": threads})
    connection = _ahead.pop()
    connection.execute(f"SET threads = {threads}")
    connection.execute("RESET async_threads")
    # forks of one process would all draw the same numbers
    connection.execute("SELECT setseed(?)", [random.uniform(-1, 1)]).fetchall()
    return connection


def open_ahead() -> None:
    """Open one for `opened`, here or in a fork of this process: 0.03 s of a core for whoever waits.
    It has no thread of its own yet, which a fork would lack."""
    import duckdb

    if not _ahead:
        alone = {"threads": 1, "async_threads": 0}
        _ahead.append(duckdb.connect(":memory:", config={**_CLOSED, **alone}))


@contextmanager
def connect(scratch: Path, *, memory: str = "1000MB") -> Iterator[duckdb.DuckDBPyConnection]:
    """A private in-memory DuckDB that spills into `scratch`, which is removed afterwards, and loads
    nothing from outside."""
    import shutil

    folder = scratch / ".duckdb"
    folder.mkdir(parents=True, exist_ok=True)
    connection = opened()
    try:
        for setting in (
            f"SET temp_directory = {literal(str(folder))}",
            f"SET memory_limit = '{memory}'",
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

    with duckdb.connect(":memory:", config=_CLOSED) as connection:
        connection.register("block", pyarrow.table([pa.array(["a"])], names=["a"]))
        connection.execute("SELECT regexp_full_match(trim(a), 'a') FROM block").fetchall()
    open_ahead()
