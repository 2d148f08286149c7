"""The store on DuckDB: one connection, a reading cursor per thread, one writer at a time."""

from __future__ import annotations

import json
import os
import re
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from leaf.errors import StoreBusyError, StoreError
from leaf.store import leftovers
from leaf.store.changes import ChangedTopics, Hub
from leaf.store.database import Engine, Params, Row, Snapshot, Transaction, bind, translate, utc
from leaf.store.model import Scope
from leaf.store.read_cache import Answer, ReadCache

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PIECE_ROWS = 500
"""Rows of a snapshot that are in memory at a time."""
EXCHANGE_SECONDS = 10.0
"""How long readers are waited for before the file is exchanged."""


class DuckDatabase:
    """A database file that this process alone holds.

    Concurrent updates of one row fail in DuckDB, and cursors may not cross threads, hence the lock
    around all writes and the cursor per thread for reads. After a fatal error (a full disk during a
    checkpoint) DuckDB refuses everything until the file is opened again, which loses nothing that
    was committed; the generation counts those openings.

    Small answers are kept until a table that they were read from is written (`read_cache.py`).
    """

    engine: Engine = "duckdb"

    def __init__(self, path: Path) -> None:
        """Open the file, or make it. Raises StoreBusyError if another process holds it, StoreError
        if it cannot be opened."""
        self._path = path
        self.changes = Hub()
        self._writing = threading.RLock()
        self._opening = threading.RLock()
        """Held while cursors are made and the file is opened; taken after `_writing`."""
        self._gate = _Gate()
        self._cache = ReadCache()
        self._local = threading.local()
        self._cursors: WeakSet[DuckDBPyConnection] = WeakSet()
        self._generation = 0
        self._closed = False
        if not path.exists():
            _make(path)
        self._open()

    def read(self, sql: str, params: Params | None = None) -> list[Row]:
        text, names = _translate(sql)
        values = bind(names, params or {})
        question = self._cache.question(text, values)
        answer = self._cache.answer(question) if question else None
        if answer is None:
            answer = self._ask(text, values)
            if question:
                self._cache.keep(question, answer)
        return _as_rows(answer)

    def _ask(self, text: str, values: dict[str, Any]) -> Answer:
        with self._gate.passed():
            generation = self._generation
            try:
                with self._translated():
                    return _answered(self._reader(), text, values)
            except StoreError:
                if self._generation == generation:
                    raise
            with self._translated():
                return _answered(self._reader(), text, values)

    def single(self, sql: str, params: Params | None = None) -> list[Row]:
        with self.transaction() as tx:
            return tx.read(sql, params or {})

    @contextmanager
    def transaction(self, scope: Scope | None = None) -> Iterator[Transaction]:
        written, statements = ChangedTopics(scope), set[str]()
        with self._writing:
            with self._translated():
                self._writer.begin()
            try:
                yield _DuckDBTransaction(
                    lambda: self._writer, self._translated, written, statements
                )
                with self._cache.committing(statements), self._translated():
                    self._writer.commit()
            except BaseException:
                self._rollback()
                raise
        self.changes.publish(written.changes)

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        with self._gate.passed():
            with self._opening:
                cursor = self._cursor()
            try:
                with self._translated():
                    cursor.begin()
                yield _DuckDBSnapshot(cursor, self._translated)
            finally:
                cursor.close()

    def migration(self) -> AbstractContextManager[Transaction]:
        return self.transaction()

    def listen(self) -> None:
        """This process alone holds the file, so there is nobody else to hear."""

    def tell(self, lines: Sequence[str]) -> None:
        """Nor to tell."""

    def scrub(self) -> None:
        """What is deleted stays in the file: a row in the middle of others is only marked, and the
        room of a dropped block is not overwritten. So all that is there is written into a new file,
        which takes the place of this one. Writers wait meanwhile, readers for the exchange alone.
        """
        fresh = self._path.with_name(f"{self._path.name}.fresh")
        with self._writing:
            _remove_database(fresh)
            try:
                with self._translated():
                    self._copy_to(fresh)
                self._exchange(fresh)
            finally:
                _remove_database(fresh)

    def close(self) -> None:
        with self._writing, self._opening:
            self._closed = True
            self._close_cursors()

    def _copy_to(self, fresh: Path) -> None:
        """Needs as much room on the disk as what is kept."""
        import duckdb

        cursor = self._cursor()
        (own,) = cursor.execute("SELECT current_database()").fetchone() or ("",)
        quoted = str(fresh).replace("'", "''")
        try:
            cursor.execute(f"ATTACH '{quoted}' AS fresh")
            try:
                cursor.execute(f'COPY FROM DATABASE "{own}" TO fresh')
            finally:
                with suppress(duckdb.Error):
                    cursor.execute("DETACH fresh")
        finally:
            cursor.close()

    def _exchange(self, fresh: Path) -> None:
        if not self._gate.shut(EXCHANGE_SECONDS):
            raise StoreBusyError(
                f"The history in {self._path.parent} is being read without a pause.",
                "What was deleted leaves the file at the next start.",
            )
        try:
            with self._opening:
                self._close_cursors()
                # A log that stayed behind would be played into the new file.
                if not self._path.with_name(f"{self._path.name}.wal").exists():
                    fresh.replace(self._path)
                    _sync(self._path.parent)
                self._open()
        finally:
            self._gate.open()

    def _open(self) -> None:
        import duckdb

        try:
            self._connection = duckdb.connect(str(self._path))
        except duckdb.Error as e:
            raise _cannot_open(self._path, str(e)) from e
        self._writer = self._cursor()
        self._generation += 1

    def _cursor(self) -> DuckDBPyConnection:
        cursor = self._connection.cursor()
        cursor.execute("SET TimeZone = 'UTC'")
        self._cursors.add(cursor)
        return cursor

    def _reader(self) -> DuckDBPyConnection:
        """This thread's cursor, made anew after the file was opened again."""
        local = self._local
        if getattr(local, "generation", None) != self._generation:
            with self._opening:
                local.generation, local.cursor = self._generation, self._cursor()
        cursor: DuckDBPyConnection = local.cursor
        return cursor

    def _close_cursors(self) -> None:
        """Every cursor holds the database open, whichever thread made it."""
        for cursor in list(self._cursors):
            cursor.close()
        self._connection.close()

    def _rollback(self) -> None:
        """Leave no transaction open. A failed commit has ended it already, and then there is
        nothing to roll back."""
        import duckdb

        with suppress(duckdb.Error):
            self._writer.rollback()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        import duckdb

        generation = self._generation
        try:
            yield
        except duckdb.Error as e:
            if (
                isinstance(e, duckdb.FatalException | duckdb.ConnectionException)
                and not self._closed
            ):
                self._reopen(generation)
            raise _failed(self._path, str(e)) from e

    def _reopen(self, broken: int) -> None:
        with self._writing, self._opening:
            if self._generation == broken:
                self._close_cursors()
                self._open()


class _Gate:
    """Lets readers through, or keeps them waiting while the file is exchanged."""

    def __init__(self) -> None:
        self._news = threading.Condition()
        self._inside = 0
        self._shut = False

    @contextmanager
    def passed(self) -> Iterator[None]:
        with self._news:
            self._news.wait_for(lambda: not self._shut)
            self._inside += 1
        try:
            yield
        finally:
            with self._news:
                self._inside -= 1
                self._news.notify_all()

    def shut(self, seconds: float) -> bool:
        """Let nobody in any more and wait until all are out; False, and open again, where that
        takes longer."""
        with self._news:
            self._shut = True
            if self._news.wait_for(lambda: not self._inside, seconds):
                return True
        self.open()
        return False

    def open(self) -> None:
        with self._news:
            self._shut = False
            self._news.notify_all()


class _DuckDBSnapshot:
    def __init__(
        self, cursor: DuckDBPyConnection, translated: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self._cursor = cursor
        self._translated = translated

    def read(self, sql: str, params: Params | None = None) -> list[Row]:
        with self._translated():
            return _rows(self._cursor, sql, params or {})

    def stream(self, sql: str) -> Iterator[Sequence[Any]]:
        with self._translated():
            self._cursor.execute(sql)
            while rows := self._cursor.fetchmany(PIECE_ROWS):
                yield from rows


class _DuckDBTransaction:
    engine: Engine = "duckdb"

    def __init__(
        self,
        writer: Callable[[], DuckDBPyConnection],
        translated: Callable[[], AbstractContextManager[None]],
        written: ChangedTopics,
        statements: set[str],
    ) -> None:
        self._writer = writer
        self._translated = translated
        self._written = written
        self._statements = statements

    def read(self, sql: str, params: Params | None = None) -> list[Row]:
        self._note(sql)
        with self._translated():
            return _rows(self._writer(), sql, params or {})

    def execute(self, sql: str, params: Params | None = None) -> None:
        self._note(sql)
        with self._translated():
            _run(self._writer(), sql, params or {})

    def concerns(self, workspace_ids: Iterable[str]) -> None:
        self._written.concerns(workspace_ids)

    def tell(self, topic: str) -> None:
        self._written.tell(topic)

    def keep_out(self, table: str) -> None:
        """There is one writer at a time."""

    def _note(self, sql: str) -> None:
        self._written.note(sql)
        self._statements.add(sql)


def _make(path: Path) -> None:
    """An empty database, under another name first: DuckDB that is killed, or finds the disk full, leaves
    a file that it does not take for one later. Raises StoreError."""
    import duckdb

    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        leftovers.remove(path.parent, f".{path.name}.{'[0-9a-f]' * 8}*")
        duckdb.connect(str(beside)).close()
        _give_name(beside, path)
    except (duckdb.Error, OSError) as e:
        raise _cannot_open(path, str(e).replace(str(beside), str(path))) from e
    finally:
        _remove_database(beside)


def _give_name(beside: Path, path: Path) -> None:
    """Unless another process was faster. Raises OSError."""
    try:
        os.link(beside, path)
    except FileExistsError:
        return
    except OSError:  # a disk without hard links
        if not path.exists():
            beside.replace(path)


def _remove_database(path: Path) -> None:
    for ending in ("", ".wal"):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    """Have a new name last."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@lru_cache(maxsize=500)
def _translate(sql: str) -> tuple[str, frozenset[str]]:
    return translate(sql, "$name")


def _run(cursor: DuckDBPyConnection, sql: str, params: Params) -> None:
    text, names = _translate(sql)
    cursor.execute(text, bind(names, params))


def _rows(cursor: DuckDBPyConnection, sql: str, params: Params) -> list[Row]:
    text, names = _translate(sql)
    return _as_rows(_answered(cursor, text, bind(names, params)))


def _answered(cursor: DuckDBPyConnection, text: str, values: dict[str, Any]) -> Answer:
    cursor.execute(text, values)
    columns = [(str(d[0]), str(d[1]) == "JSON") for d in cursor.description or ()]
    return columns, cursor.fetchall()


def _as_rows(answer: Answer) -> list[Row]:
    columns, rows = answer
    return [
        {name: _value(v, is_json) for (name, is_json), v in zip(columns, row, strict=True)}
        for row in rows
    ]


def _value(value: Any, is_json: bool) -> Any:
    if is_json and value is not None:
        return json.loads(value)
    return utc(value) if isinstance(value, datetime) else value


def _cannot_open(path: Path, reason: str) -> StoreError:
    if re.search(r"set lock on|conflicting lock|used by another process", reason, re.IGNORECASE):
        match = re.search(r"PID (\d+)", reason)
        pid = int(match.group(1)) if match else None
        holder = f"process {pid}" if pid else "another process"
        return StoreBusyError(
            f"The data in {path.parent} is in use by {holder}.",
            "Use the app that it serves or stop it first, or set LEAF_HOME to another folder.",
            pid=pid,
        )
    message = f"The history in {path} cannot be opened: {_first_line(reason)}"
    if re.search(r"permission denied|read-only|is a directory", reason, re.IGNORECASE):
        return StoreError(
            message,
            f"Check {path.parent} and who may write there, or set LEAF_HOME to another folder.",
        )
    if re.search(r"version number|newer version|older version", reason, re.IGNORECASE):
        return StoreError(
            message,
            "It was written by another version of Leaf: start that one, or set LEAF_HOME to "
            "another folder.",
        )
    if re.search(r"not a valid|corrupt|checksum|not read enough|deserializ", reason, re.IGNORECASE):
        return StoreError(message, _kept_by_renaming(path))
    if re.search(r"no space left|disk.{0,12}full|quota", reason, re.IGNORECASE):
        return StoreError(message, "Free some space, then start again.")
    return StoreError(
        message,
        "Nothing was changed. `python -m leaf doctor` names the versions and what works here.",
    )


def _failed(path: Path, reason: str) -> StoreError:
    if re.search(r"No space left|File too large|disk.{0,12}full|quota", reason, re.IGNORECASE):
        return StoreError(
            f"The disk that holds {path.parent} is full, so this was not saved.",
            "Free some space and try again; what was saved before is kept.",
        )
    if re.search(r"Corrupt database file|Could not read enough bytes", reason):
        return StoreError(
            f"The history in {path} is damaged: {_first_line(reason)}",
            f"Stop Leaf. {_kept_by_renaming(path)}",
        )
    return StoreError(
        f"The database in {path.parent} failed: {_first_line(reason)}",
        "What was saved before is kept.",
    )


def _first_line(reason: str) -> str:
    """What the database said, without the name of its kind of error."""
    line = reason.strip().splitlines()[0].rstrip(".!") if reason.strip() else "no reason given"
    return re.sub(r"^[A-Z][\w ]* (?:Error|exception): ", "", line) + "."


def _kept_by_renaming(path: Path) -> str:
    """What to do with a damaged history. What was saved last stands in its log, which DuckDB throws
    away where it finds no database that belongs to it."""
    log = path.with_name(f"{path.name}.wal")
    if log.exists():
        return (
            f"Keep it by renaming {path.name} and {log.name} together (for example to "
            f"{path.name}.damaged and {path.name}.damaged.wal), then put back a copy or begin with "
            f"an empty history; uploaded files are kept apart from it."
        )
    return (
        f"Keep it by renaming it (for example to {path.name}.damaged), then put back a copy "
        f"or begin with an empty history; uploaded files are kept apart from it."
    )
