"""The SQLite under the run database: this Python's own, that with a function of ours where it is old, or that of a wheel.

DBOS reckons its times by `unixepoch('subsec')`. SQLite knows that word since 3.42; before, the answer is NULL, and no table with
such a default takes a row. So each connection of an older one is given the function. It also needs RETURNING, which nothing can
add: below 3.35 the wheel `pysqlite3`, which carries a current SQLite, takes the place of Python's own, where it is installed.
"""

from __future__ import annotations

import importlib
import sqlite3
import time
from dataclasses import dataclass
from typing import Any

from leaf.errors import StoreError

SUBSECONDS = (3, 42, 0)
"""The first SQLite in which `unixepoch` knows fractions of a second."""
LEAST = (3, 35, 0)
"""The first one with RETURNING."""


@dataclass(frozen=True)
class Driver:
    """How the run database is opened."""

    module: Any
    """A DB-API module: `sqlite3`, or one that stands in for it."""
    note: str = ""
    """What stands in for what this Python's SQLite lacks; empty if it lacks nothing."""
    connection: Any = None
    """The class of its connections, where it is not the module's own."""

    @property
    def version(self) -> str:
        return str(self.module.sqlite_version)

    @property
    def engine_arguments(self) -> dict[str, Any]:
        """What SQLAlchemy's `create_engine` is given."""
        arguments: dict[str, Any] = {} if self.module is sqlite3 else {"module": self.module}
        return {**arguments, "connect_args": {"factory": self.connection}} if self.connection else arguments


def driver() -> Driver:
    """The one to use on this machine. Raises StoreError if there is none."""
    if sqlite3.sqlite_version_info >= LEAST:
        return adapted(sqlite3)
    try:
        dbapi2 = importlib.import_module("pysqlite3.dbapi2")
    except ImportError as e:
        hint = (
            "Install the package pysqlite3, use a Python with a newer SQLite, or set LEAF_DATABASE_URL to a PostgreSQL database."
        )
        raise StoreError(
            f"This Python's SQLite is {sqlite3.sqlite_version}, and Leaf needs 3.35 or newer to keep its runs.", hint
        ) from e
    return Driver(dbapi2, f"too old to keep runs, for which Leaf takes {dbapi2.sqlite_version} of the package pysqlite3")


def adapted(module: Any) -> Driver:
    """`module`, with a clock of ours if its SQLite is too old to have one that counts milliseconds."""
    if module.sqlite_version_info >= SUBSECONDS:
        return Driver(module)

    class Connection(module.Connection):  # type: ignore[misc]  # a class of a module that is chosen at run time
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.create_function("unixepoch", 1, unixepoch)

    return Driver(module, "older than 3.42, so Leaf adds the clock in milliseconds that its runs need", Connection)


def unixepoch(modifier: object) -> float:
    """`unixepoch('subsec')` as of SQLite 3.42: seconds since 1970 to the millisecond. DBOS asks for nothing else."""
    if modifier not in ("subsec", "subsecond"):
        raise ValueError(f"unixepoch({modifier!r}) is not what this stands in for")
    return round(time.time(), 3)
