"""The index of a workspace's texts: an SQLite file with the passages of files and an FTS5 index over
their words.

The text of a passage stands in an ordinary table and the FTS5 index holds only words, because a
word of the index is not always one of the text: Chinese, Japanese and Korean characters are indexed
one by one. The index can be thrown away at any time. Files with the same bytes that are read in the
same way have their text in it once.
"""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from leaf.errors import RunError, SandboxError, StoreError
from leaf.files.passages import IndexedPassage, cut, read_passages
from leaf.files.query import spaced, tokens
from leaf.files.stopwords import languages
from leaf.store.model import Scope

VERSION = 7
"""Raised when passages are cut or stored in another way; older indexes are then thrown away."""
BATCH = 1_000

SCHEMA = (
    """
    CREATE TABLE sources (
        content TEXT PRIMARY KEY, note TEXT NOT NULL, error TEXT NOT NULL, languages TEXT NOT NULL DEFAULT '',
        passages INTEGER NOT NULL DEFAULT 0, characters INTEGER NOT NULL DEFAULT 0)
    """,
    """
    CREATE TABLE passages (
        id INTEGER PRIMARY KEY, content TEXT NOT NULL, unit TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
        sheet TEXT NOT NULL, start REAL, stop REAL, size INTEGER NOT NULL, text TEXT NOT NULL)
    """,
    "CREATE INDEX passages_by_source ON passages (content)",
    "CREATE VIRTUAL TABLE words USING fts5 (text, content='', tokenize='unicode61 "
    "remove_diacritics 2')",
    f"PRAGMA user_version = {VERSION}",
)


class SearchIndex:
    """The indexes of all workspaces under one folder. Safe to use from any number of threads and
    processes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._guard = threading.Lock()

    @contextmanager
    def transaction(self, scope: Scope) -> Iterator[sqlite3.Connection]:
        """What is written is there as a whole, or not at all. Raises as `connect`."""
        with closing(self.connect(scope)) as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    def connect(self, scope: Scope) -> sqlite3.Connection:
        """Open the workspace's index; make it if there is none, or one of another version.

        Raises StoreError, sqlite3.DatabaseError for a damaged one.
        """
        self.made()
        db = sqlite3.connect(
            self._path(scope), timeout=60, isolation_level=None, check_same_thread=False
        )
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("PRAGMA temp_store = MEMORY")
            if db.execute("PRAGMA user_version").fetchone() != (VERSION,):
                with self._guard:
                    _make(db)
        except BaseException:
            db.close()
            raise
        return db

    def made(self) -> Path:
        """The folder, made if it is not there. Raises StoreError."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as e:
            raise StoreError(
                f"The search index cannot be made: {e.strerror}.",
                "Check the data folder and its disk.",
            ) from e
        return self._folder

    def _path(self, scope: Scope) -> Path:
        return self._folder / f"{scope.workspace_id}.sqlite"

    def throw_away(self, scope: Scope) -> None:
        """Remove a damaged index; the next search fills a new one."""
        for ending in ("", "-wal", "-shm"):
            self._path(scope).with_name(self._path(scope).name + ending).unlink(missing_ok=True)

    def hashes(self, scope: Scope) -> set[str]:
        """Of the bytes of which the index has anything. Raises StoreError."""
        if not self._path(scope).exists():
            return set()
        try:
            with closing(self.connect(scope)) as db:
                return {
                    content.split()[0] for (content,) in db.execute("SELECT content FROM sources")
                }
        except sqlite3.DatabaseError as e:
            raise_if_full(e)
            return set()  # a damaged one is thrown away when somebody searches

    def forget(self, scope: Scope, hashes: Iterable[str]) -> None:
        """Remove what the index has of these bytes, down to the words: the file is written anew,
        which takes as long as it is large."""
        if not self._path(scope).exists():
            return
        try:
            with self.transaction(scope) as db:
                known = [_forget(db, f"{sha256} *") for sha256 in hashes]
            if any(known):
                with closing(self.connect(scope)) as db:
                    db.execute("INSERT INTO words (words) VALUES ('optimize')")
                    db.execute("VACUUM")
                    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.DatabaseError as e:
            raise_if_full(e)
            self.throw_away(scope)


def _forget(db: sqlite3.Connection, those: str) -> bool:
    """Whether there was anything of them."""
    rows = db.execute("SELECT id, text FROM passages WHERE content GLOB ?", (those,)).fetchall()
    db.executemany(
        "INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)",
        ((i, spaced(t)) for i, t in rows),
    )
    db.execute("DELETE FROM passages WHERE content GLOB ?", (those,))
    return db.execute("DELETE FROM sources WHERE content GLOB ?", (those,)).rowcount > 0


def write(
    db: sqlite3.Connection,
    content: str,
    lines: Path,
    note: str,
    error: str,
    stop: threading.Event | None,
) -> None:
    """Put what was read of one content into the index, unless it is there: its passages from a file
    of JSON lines, or why it has none; that may be the file itself.

    Raises RunError after `stop`.
    """
    if db.execute("SELECT 1 FROM sources WHERE content = ?", (content,)).fetchone():
        return
    db.execute("SAVEPOINT one")
    try:
        _write(db, content, lines, note, error, stop)
    except (SandboxError, FileNotFoundError):
        db.execute("ROLLBACK TO one")
        _write(db, content, lines, "", "The text of this file cannot be read.", stop)
    db.execute("RELEASE one")


def _write(
    db: sqlite3.Connection,
    content: str,
    lines: Path,
    note: str,
    error: str,
    stop: threading.Event | None,
) -> None:
    db.execute(
        "INSERT INTO sources (content, note, error) VALUES (?, ?, ?)", (content, note, error)
    )
    if error:
        return
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM passages").fetchone()
    for batch in _batches(enumerate(cut(read_passages(lines)), last + 1)):
        if stop is not None and stop.is_set():
            raise RunError("Stopped.")
        db.executemany(
            "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    i,
                    content,
                    p.unit,
                    p.first,
                    p.last,
                    p.sheet,
                    p.start,
                    p.stop,
                    len(p.text),
                    p.text,
                )
                for i, p in batch
            ),
        )
        db.executemany(
            "INSERT INTO words (rowid, text) VALUES (?, ?)",
            ((i, spaced(p.text)) for i, p in batch),
        )
    _describe(db, content, last)


def _describe(db: sqlite3.Connection, content: str, after: int) -> None:
    """Keep how long the text is that was added last, and in which languages it is written, by its
    beginning."""
    rows = db.execute("SELECT text FROM passages WHERE id > ? ORDER BY id LIMIT ?", (after, BATCH))
    spoken = languages(word for (text,) in rows for *_, word in tokens(text))
    db.execute(
        "UPDATE sources SET languages = ?, passages = (SELECT count(*) FROM passages "
        "WHERE id > ?), "
        "characters = (SELECT coalesce(sum(size), 0) FROM passages WHERE id > ?) WHERE content = ?",
        (" ".join(spoken), after, after, content),
    )


def known(db: sqlite3.Connection, contents: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Note and error of those contents that the index has."""
    rows = db.execute(
        "SELECT content, note, error FROM sources WHERE content IN (SELECT value FROM "
        "json_each(?))",
        (json.dumps(list(contents)),),
    )
    return {content: (note, error) for content, note, error in rows}


def _batches(
    items: Iterable[tuple[int, IndexedPassage]],
) -> Iterator[list[tuple[int, IndexedPassage]]]:
    batch: list[tuple[int, IndexedPassage]] = []
    for item in items:
        batch.append(item)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _make(db: sqlite3.Connection) -> None:
    """An empty index of this version, in place of one of another version, unless another process
    has made it meanwhile."""
    db.execute("BEGIN IMMEDIATE")
    if db.execute("PRAGMA user_version").fetchone() != (VERSION,):
        for table in ("words", "passages", "sources"):
            db.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in SCHEMA:
            db.execute(statement)
    db.execute("COMMIT")


def raise_if_full(error: sqlite3.DatabaseError) -> None:
    """Raises StoreError where the disk is full or busy: only a damaged index is worth throwing
    away."""
    if isinstance(error, sqlite3.OperationalError) and not re.search(
        r"malformed|corrupt|no such table|vtable", str(error)
    ):
        full = "full" in str(error)
        reason = "the disk is full" if full else str(error)
        raise StoreError(
            f"The search index failed: {reason}.",
            "Free some space and try again." if full else "Try again.",
        ) from error
