"""The store on PostgreSQL, by psycopg 3 and a small pool of connections."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from leaf.errors import SettingsError, StoreAwayError, StoreError
from leaf.store import fence
from leaf.store.changes import ChangedTopics, Hub
from leaf.store.database import Engine, Params, Row, Snapshot, Transaction, bind, translate, utc
from leaf.store.listener import Listener
from leaf.store.model import Scope
from leaf.store.refused import refused

if TYPE_CHECKING:
    from psycopg import Connection

CONNECTIONS = 10
"""Most connections that one process opens."""
CONNECT_SECONDS = 10
"""How long a server may take to let a connection in."""
WAIT_SECONDS = 30.0
"""How long a call waits for a free connection."""
STALE_SECONDS = 10.0
"""A connection that lay idle longer is tried before it is used, since servers and proxies cut idle
ones."""
PIECE_ROWS = 500
"""Rows of a snapshot that are in memory at a time."""
FROZEN = "-c idle_in_transaction_session_timeout=10000"
"""Milliseconds after which the server ends a transaction in which nothing is asked: that of a
process that was frozen would keep others from what it holds."""
OLDEST = 13
"""Major version of PostgreSQL: the first with a `gen_random_uuid` of its own, which the tables of DBOS
ask for."""
ENCODING = "UTF8"
LETTERS = "und-x-icu"
"""A collation that knows all letters, in every PostgreSQL that was built with ICU."""
MIGRATION_LOCK = 0x1EAF
"""Key of the advisory lock; any number that nothing else in the database uses."""


class PostgresDatabase:
    """A database on a server. Several processes may share it."""

    engine: Engine = "postgres"

    def __init__(self, url: str) -> None:
        """Connect once, so that a wrong address shows at the start. Raises SettingsError or
        StoreError."""
        self._url = url
        self.changes = Hub()
        self._listener = Listener(self.changes, lambda: _connect(url), self._send)
        self._idle: list[tuple[float, Connection[Row]]] = []
        self._free = threading.BoundedSemaphore(CONNECTIONS)
        self._closed = False
        self._folding = ""
        with self._connection() as connection:
            _check_version(connection.info.server_version)
            _check_encoding(connection.info.parameter_status("server_encoding") or ENCODING)
            self._folding = _folding(connection)

    def read(self, sql: str, params: Params | None = None) -> list[Row]:
        with self._connection() as connection:
            return _rows(connection, self._folding, sql, params or {})

    def single(self, sql: str, params: Params | None = None) -> list[Row]:
        return self.read(sql, params)  # connections commit each statement by themselves

    @contextmanager
    def transaction(self, scope: Scope | None = None) -> Iterator[Transaction]:
        written = ChangedTopics(scope)
        with self._connection() as connection, connection.transaction():
            tx = _PostgresTransaction(connection, self._folding, written)
            fence.check(tx)
            yield tx
            if written.changes:
                connection.execute(*self._listener.notice(written.changes))
        self.changes.publish(written.changes)

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        with self._connection() as connection, connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            # it holds nothing that others wait for, and who saves it may be slow
            connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            yield _PostgresSnapshot(connection, self._folding)

    @contextmanager
    def migration(self) -> Iterator[Transaction]:
        with self.transaction() as tx:
            tx.execute("SELECT pg_advisory_xact_lock(:key)", {"key": MIGRATION_LOCK})
            yield tx

    def scrub(self) -> None:
        """The server's own vacuum takes the room of deleted rows; when, and what becomes of its
        log, is its operator's: see docs/keeping.md."""

    def listen(self) -> None:
        self._listener.start()

    def tell(self, lines: Sequence[str]) -> None:
        if telling := self._listener.telling(lines):
            self._send(*telling)

    def close(self) -> None:
        self._closed = True
        self._listener.close()
        self._let_go_idle()

    def _send(self, sql: str, params: Params) -> None:
        """Run a statement by itself."""
        with self._connection() as connection:
            connection.execute(sql, params)

    @contextmanager
    def _connection(self) -> Iterator[Connection[Row]]:
        """A connection of this call's own, given back afterwards unless it broke."""
        import psycopg

        if not self._free.acquire(timeout=WAIT_SECONDS):
            raise StoreAwayError(
                "The database is busy: no connection became free in time.", "Try again in a moment."
            )
        connection: Connection[Row] | None = None
        try:
            connection = self._take()
            yield connection
        except psycopg.errors.DiskFull as e:
            raise StoreError(
                "The disk of the database server is full, so this was not saved.",
                "Free some space and try again; what was saved before is kept.",
            ) from e
        except psycopg.errors.ReadOnlySqlTransaction as e:
            raise StoreError(
                "The database can be read and takes no changes, so this was not saved.",
                "It may be full, or a copy of another one: whoever runs it can say. What was saved "
                "before is kept.",
            ) from e
        except psycopg.errors.InsufficientPrivilege as e:
            raise StoreError(
                "The user of LEAF_DATABASE_URL may not do in the database what Leaf has to.",
                "Let it own the database, or create and change tables in it.",
            ) from e
        except psycopg.Error as e:
            if connection is not None and connection.broken:
                self._let_go_idle()
                raise StoreAwayError(
                    "The connection to the database was lost, so it is not known whether this was "
                    "saved.",
                    "What was saved before is kept. Look, and try again in a moment.",
                ) from e
            raise StoreError(
                f"The database failed: {_first_line(e)}",
                "What was saved before is kept. Try again.",
            ) from e
        finally:
            if connection is not None and not self._closed and not connection.closed:
                self._idle.append((time.monotonic(), connection))
            elif connection is not None:
                connection.close()
            self._free.release()

    def _let_go_idle(self) -> None:
        """One that was lost is seldom alone: the server fell over, and the others lead nowhere."""
        while (idle := self._pop_idle()) is not None:
            idle[1].close()

    def _pop_idle(self) -> tuple[float, Connection[Row]] | None:
        try:
            return self._idle.pop()
        except IndexError:  # also where another thread was quicker
            return None

    def _take(self) -> Connection[Row]:
        import psycopg

        while (idle := self._pop_idle()) is not None:
            since, connection = idle
            if time.monotonic() - since < STALE_SECONDS:
                return connection
            try:
                connection.execute("SELECT 1")
            except psycopg.Error:
                connection.close()
            else:
                return connection
        return _connect(self._url)


class _PostgresSnapshot:
    def __init__(self, connection: Connection[Row], folding: str) -> None:
        self._connection = connection
        self._folding = folding

    def read(self, sql: str, params: Params | None = None) -> list[Row]:
        return _rows(self._connection, self._folding, sql, params or {})

    def stream(self, sql: str) -> Iterator[Sequence[Any]]:
        """Through a cursor of the server, so that a large table never is in memory."""
        from psycopg.rows import tuple_row

        with self._connection.cursor(name="leaf_snapshot", row_factory=tuple_row) as cursor:
            cursor.itersize = PIECE_ROWS
            yield from cursor.execute(sql)


class _PostgresTransaction:
    engine: Engine = "postgres"

    def __init__(self, connection: Connection[Row], folding: str, written: ChangedTopics) -> None:
        self._connection = connection
        self._folding = folding
        self._written = written

    def read(self, sql: str, params: Params | None = None) -> list[Row]:
        self._written.note(sql)
        return _rows(self._connection, self._folding, sql, params or {})

    def execute(self, sql: str, params: Params | None = None) -> None:
        self._written.note(sql)
        text, names = _translate(sql, self._folding)
        # A script of several statements is only taken without parameters.
        self._connection.execute(text, bind(names, params or {}) if names else None)

    def concerns(self, workspace_ids: Iterable[str]) -> None:
        self._written.concerns(workspace_ids)

    def tell(self, topic: str) -> None:
        self._written.tell(topic)

    def keep_out(self, table: str) -> None:
        self._connection.execute(f"LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE")


@lru_cache(maxsize=500)
def _translate(sql: str, folding: str) -> tuple[str, frozenset[str]]:
    sql = _folded(sql, folding) if folding else sql
    text, names = translate(sql, "%(name)s")
    if names:
        text, names = translate(sql.replace("%", "%%"), "%(name)s")
    return text, names


def _folded(sql: str, folding: str) -> str:
    """With each `lower(…)` by a collation that knows all letters. What comes of it is compared and
    ordered as before."""
    pieces = re.split(r"\blower\(", sql)
    return pieces[0] + "".join(_in_collation(piece, folding) for piece in pieces[1:])


def _in_collation(piece: str, folding: str) -> str:
    """What stands behind `lower(`, to its end and beyond."""
    depth = 1
    for mark in re.finditer(r"'[^']*'|[()]", piece):
        depth += {"(": 1, ")": -1}.get(mark[0], 0)
        if not depth:
            inside, rest = piece[: mark.start()], piece[mark.end() :]
            return f'(lower({inside} COLLATE "{folding}") COLLATE "C"){rest}'
    return f"lower({piece}"


def _folding(connection: Connection[Row]) -> str:
    """The collation by which letters are made small; empty where the database's own knows them all,
    which that of a database made without a locale does not, or where there is no other."""
    rows = connection.execute(
        "SELECT lower('\u00c4I') = '\u00e4i' AS all_known, EXISTS (SELECT 1 FROM pg_collation WHERE "
        "collname = %(name)s) AS there",
        {"name": LETTERS},
    ).fetchall()
    return LETTERS if rows and rows[0]["there"] and not rows[0]["all_known"] else ""


def _connect(url: str) -> Connection[Row]:
    import psycopg
    from psycopg.rows import dict_row

    try:
        return psycopg.connect(
            url,
            autocommit=True,
            connect_timeout=CONNECT_SECONDS,
            options=f"-c timezone=UTC {FROZEN}",
            # prepared statements break behind a pooler that shares connections by transaction
            prepare_threshold=None,
            row_factory=dict_row,
        )
    except psycopg.ProgrammingError as e:
        raise SettingsError(
            "LEAF_DATABASE_URL is not an address of a PostgreSQL database.",
            "Write postgresql://user@host/name.",
        ) from e
    except psycopg.OperationalError as e:
        raise refused(url, str(e)) from e


def _check_version(number: int) -> None:
    """Of the server, as it counts itself. Raises SettingsError for one that lacks what Leaf asks."""
    if number < OLDEST * 10_000:
        raise SettingsError(
            f"LEAF_DATABASE_URL leads to PostgreSQL {number // 10_000}, which is too old for Leaf.",
            f"Use PostgreSQL {OLDEST} or newer. Nothing was changed.",
        )


def _check_encoding(encoding: str) -> None:
    """Raises SettingsError for a database that cannot keep every text."""
    if encoding != ENCODING:
        raise SettingsError(
            f"LEAF_DATABASE_URL leads to a database that keeps its texts as {encoding}, which cannot "
            f"hold all that is written.",
            "Make another: CREATE DATABASE leaf ENCODING 'UTF8' TEMPLATE template0. Nothing was "
            "changed.",
        )


def _rows(connection: Connection[Row], folding: str, sql: str, params: Params) -> list[Row]:
    text, names = _translate(sql, folding)
    cursor = connection.execute(text, bind(names, params) if names else None)
    return [_plain(row) for row in cursor.fetchall()]


def _plain(row: Mapping[str, Any]) -> Row:
    return {
        name: utc(value) if isinstance(value, datetime) else value for name, value in row.items()
    }


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0].rstrip(".") if lines else "no reason given") + "."
