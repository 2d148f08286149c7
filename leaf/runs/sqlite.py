"""The SQLite under the run database, and its file: this Python's own with a clock of ours, or that
of a wheel.

DBOS reckons its times by `unixepoch('subsec')`. SQLite knows that word since 3.42; before, the
answer is NULL, and no table with such a default takes a row. So each connection of an older one is
given the function. Under Python 3.11 it reckons by `strftime('%s', 'now')` instead, which knows
whole seconds only: a run would be begun before it was asked for. A file keeps the default of the
Python that made it, so that function is given to every connection. It also needs RETURNING, which
nothing can add: below 3.35 the wheel `pysqlite3`, which carries a current SQLite, takes the place
of Python's own, where it is installed.
"""

from __future__ import annotations

import importlib
import logging
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from leaf.errors import StoreBusyError, StoreError
from leaf.runs import failures

logger = logging.getLogger(__name__)

SUBSECONDS = (3, 42, 0)
"""The first SQLite in which `unixepoch` knows fractions of a second."""
LOCK_SECONDS = 5.0
"""How long a locked run database is waited for at the start."""
OVERWRITES = 0x1EAF
"""Marks a run database in which all that is deleted is overwritten."""
LEAST = (3, 35, 0)
"""The first one with RETURNING."""


@dataclass(frozen=True)
class Driver:
    """How the run database is opened."""

    module: Any
    """A DB-API module: `sqlite3`, or one that stands in for it."""
    connection: Any
    """The class of its connections."""
    note: str = ""
    """What stands in for what this Python's SQLite lacks; empty if it lacks nothing."""

    @property
    def version(self) -> str:
        return str(self.module.sqlite_version)

    @property
    def engine_arguments(self) -> dict[str, Any]:
        """What SQLAlchemy's `create_engine` is given."""
        arguments: dict[str, Any] = {} if self.module is sqlite3 else {"module": self.module}
        return {**arguments, "connect_args": {"factory": self.connection}}


def driver() -> Driver:
    """The one to use on this machine. Raises StoreError if there is none."""
    if sqlite3.sqlite_version_info >= LEAST:
        return adapted(sqlite3)
    try:
        dbapi2 = importlib.import_module("pysqlite3.dbapi2")
    except ImportError as e:
        hint = (
            "Install the package pysqlite3, use a Python with a newer SQLite, or set "
            "LEAF_DATABASE_URL to a PostgreSQL database."
        )
        raise StoreError(
            f"This Python's SQLite is {sqlite3.sqlite_version}, and Leaf needs 3.35 or newer to "
            f"keep its runs.",
            hint,
        ) from e
    return Driver(
        dbapi2,
        _connection(dbapi2, clock=dbapi2.sqlite_version_info < SUBSECONDS),
        f"too old to keep runs, for which Leaf takes {dbapi2.sqlite_version} of the "
        f"package pysqlite3",
    )


def adapted(module: Any) -> Driver:
    """`module`, with a clock of ours if its SQLite is too old to have one that counts
    milliseconds."""
    if module.sqlite_version_info >= SUBSECONDS:
        return Driver(module, _connection(module, clock=False))
    return Driver(
        module,
        _connection(module, clock=True),
        "older than 3.42, so Leaf adds the clock in milliseconds that its runs need",
    )


def _connection(module: Any, *, clock: bool) -> Any:
    """A class of connections that overwrite what they delete and whose clock knows milliseconds;
    with one of ours for `unixepoch`, where the module's does not."""

    class Connection(module.Connection):  # type: ignore[misc]  # a class of a module that is chosen at run time
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.execute("PRAGMA secure_delete = ON")
            self.create_function("strftime", 2, strftime)
            if clock:
                self.create_function("unixepoch", 1, unixepoch)

    return Connection


def unixepoch(modifier: object) -> float:
    """`unixepoch('subsec')` as of SQLite 3.42: seconds since 1970 to the millisecond. DBOS asks for
    nothing else."""
    if modifier not in ("subsec", "subsecond"):
        raise ValueError(f"unixepoch({modifier!r}) is not what this stands in for")
    return round(time.time(), 3)


def strftime(form: object, moment: object) -> str:
    """`strftime('%s', 'now')` to the millisecond. DBOS asks for nothing else."""
    if (form, moment) != ("%s", "now"):
        raise ValueError(f"strftime({form!r}, {moment!r}) is not what this stands in for")
    return f"{time.time():.3f}"


def address(path: Path) -> str:
    """As DBOS is given it: what stands behind a `%` is read there as the code of a character."""
    return f"sqlite:///{str(path).replace('%', '%25')}"


def prepare_file(path: Path, by: Driver | None = None) -> str:
    """Make the run database ready to be opened: write-ahead log on, a damaged one put aside.
    Returns what to tell people.

    Raises StoreBusyError for a locked file, StoreError for one of a newer version and for one that
    cannot be opened.
    """
    module = (by or driver()).module
    try:
        with closing(module.connect(path, timeout=LOCK_SECONDS)) as db:
            db.execute("PRAGMA journal_mode=wal")
            db.execute("BEGIN IMMEDIATE").execute("ROLLBACK")  # others may read beside a writer
            verdict = str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
            if verdict == "ok":
                _check_version(db, path)
                _rewrite_once(db)
                return ""
    except module.DatabaseError as e:
        verdict = str(e)
        if "locked" in verdict:
            raise StoreBusyError(
                f"The run database {path} is locked by another program.",
                "Close that program, then start Leaf again.",
            ) from e
        if isinstance(e, module.OperationalError):
            raise failures.explain(e, shared=False) from e
    return _put_aside(path, verdict)


def _check_version(db: sqlite3.Connection, path: Path) -> None:
    from dbos._migration import sqlite_migrations  # DBOS says nowhere else which versions it knows

    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'dbos_migrations'").fetchone():
        return
    row = db.execute("SELECT version FROM dbos_migrations").fetchone()
    if row and row[0] > len(sqlite_migrations):
        raise StoreError(
            f"The run database {path} was written by a newer version of Leaf.",
            "Start that version; or rename the file, and unfinished answers are begun anew.",
        )


def _rewrite_once(db: sqlite3.Connection) -> None:
    """Rid a file of what earlier versions deleted and did not overwrite. It holds the answers of a
    day, so this is soon done."""
    if db.execute("PRAGMA application_id").fetchone()[0] != OVERWRITES:
        db.execute("VACUUM")
        db.execute(f"PRAGMA application_id = {OVERWRITES}")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _put_aside(path: Path, reason: str) -> str:
    """Rename a damaged run database. The history says which answers were asked for, so nothing that
    was asked is lost."""
    name = f"runs.damaged-{datetime.now():%Y%m%d-%H%M%S}.sqlite"
    for ending in ("", "-wal", "-shm"):
        part = path.with_name(path.name + ending)
        if part.exists():
            part.rename(path.with_name(name + ending))
    logger.warning(
        "the run database was damaged (%s); it is kept as %s, unfinished answers begin anew",
        reason,
        name,
    )
    return f"The run database was damaged and is kept as {name}. This answer begins anew."
