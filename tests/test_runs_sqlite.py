"""The run database under SQLites of every age, and what is said when it fails. Real databases, no
mocks."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from leaf.errors import StoreBusyError
from leaf.runs import failures
from leaf.runs.sqlite import LEAST, SUBSECONDS, driver, unixepoch


def test_rows_get_the_time_in_milliseconds_whatever_the_age_of_sqlite(tmp_path: Path) -> None:
    found = driver()
    factory = found.connection or found.module.Connection
    with closing(found.module.connect(tmp_path / "runs.sqlite", factory=factory)) as db:
        db.execute(
            "CREATE TABLE runs (id INTEGER PRIMARY KEY, at INTEGER NOT NULL DEFAULT "
            "(unixepoch('subsec') * 1000))"
        )
        began = time.time()
        for i in range(1_000):
            db.execute("INSERT INTO runs (id) VALUES (?)", (i,))
        ended = time.time()
        rows = db.execute(
            "SELECT typeof(at), min(at), max(at), count(DISTINCT at) FROM runs GROUP BY 1"
        ).fetchall()
    assert len(rows) == 1
    kind, first, last, moments = rows[0]
    assert kind == "integer"
    assert began * 1000 - 1 <= first <= last <= ended * 1000 + 1
    assert moments > 1


def test_the_stand_in_for_the_clock_is_nothing_else() -> None:
    assert abs(unixepoch("subsec") - time.time()) < 1
    with pytest.raises(ValueError, match="now"):
        unixepoch("now")


def test_what_stands_in_is_said() -> None:
    found = driver()
    own = sqlite3.sqlite_version_info
    assert bool(found.note) == (own < SUBSECONDS)
    assert (found.module is sqlite3) == (own >= LEAST)


def _error(path: Path, kind: str) -> sqlite3.Error:
    """What SQLite really says in such a case."""
    with (
        closing(sqlite3.connect(path, isolation_level=None)) as db,
        closing(sqlite3.connect(path, timeout=0)) as other,
    ):
        db.execute("CREATE TABLE t (x NOT NULL)")
        spoil, attempt = {
            "full": ("PRAGMA max_page_count = 3", "INSERT INTO t VALUES (zeroblob(100000))"),
            "readonly": ("PRAGMA query_only = 1", "INSERT INTO t VALUES (1)"),
            "locked": ("BEGIN EXCLUSIVE", "INSERT INTO t VALUES (1)"),
            "constraint": ("SELECT 1", "INSERT INTO t VALUES (NULL)"),
        }[kind]
        db.execute(spoil)
        with pytest.raises(sqlite3.Error) as caught:
            (other if kind == "locked" else db).execute(attempt)
    return caught.value


@pytest.mark.parametrize(
    ("kind", "said", "blamed"),
    [
        ("full", "disk of the data folder is full", ""),
        ("readonly", "cannot be written", "LEAF_HOME"),
        ("locked", "locked by another program", ""),
        ("constraint", "by a fault of Leaf. Your files and settings are not to blame", ""),
    ],
)
def test_only_what_is_to_blame_is_named(tmp_path: Path, kind: str, said: str, blamed: str) -> None:
    error = _error(tmp_path / "t.sqlite", kind)
    told = failures.explain(error, shared=False)
    assert said in str(told)
    assert ("LEAF_HOME" in str(told)) == (blamed == "LEAF_HOME")
    assert "LEAF_DATABASE_URL" not in str(told)
    assert type(error).__name__ not in str(told)
    assert isinstance(told, StoreBusyError) == (kind == "locked")


def test_a_file_that_is_no_database_is_called_damaged(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    path.write_bytes(b"not a database at all" * 1_000)
    with closing(sqlite3.connect(path)) as db, pytest.raises(sqlite3.DatabaseError) as caught:
        db.execute("SELECT 1 FROM t")
    told = failures.explain(caught.value, shared=False)
    assert "The run database runs.sqlite is damaged." in str(told)
