"""The run database under SQLites of every age, and what is said when it fails. Real databases, no
mocks."""

from __future__ import annotations

import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from dbos._migration import sqlite_migrations

from leaf.errors import StoreBusyError, StoreError
from leaf.runs import failures
from leaf.runs.seats import claim_executors
from leaf.runs.sqlite import (
    LEAST,
    OVERWRITES,
    SUBSECONDS,
    Driver,
    adapted,
    driver,
    prepare_file,
    strftime,
    unixepoch,
)
from tests.leaf_kit import finished, opened


@pytest.mark.parametrize("clock", ["unixepoch('subsec')", "strftime('%s','now')"])
def test_rows_get_the_time_in_milliseconds_whatever_the_age_of_sqlite(
    tmp_path: Path, clock: str
) -> None:
    found = driver()
    factory = found.connection or found.module.Connection
    with closing(found.module.connect(tmp_path / "runs.sqlite", factory=factory)) as db:
        db.execute(
            f"CREATE TABLE runs (id INTEGER PRIMARY KEY, at INTEGER NOT NULL DEFAULT "
            f"({clock} * 1000))"
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
    for modifier in ("subsec", "subsecond"):
        at = unixepoch(modifier)
        assert abs(at - time.time()) < 1
        assert round(at, 3) == at
    with pytest.raises(ValueError, match="now"):
        unixepoch("now")
    assert abs(float(strftime("%s", "now")) - time.time()) < 1
    with pytest.raises(ValueError, match="%Y"):
        strftime("%Y", "now")


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


@pytest.mark.parametrize(
    ("said", "shared", "told", "hint"),
    [
        ("database or disk is full", False, "the disk of the data folder is full.", "Free some"),
        ("No space left on device", False, "the disk of the data folder is full.", "Free some"),
        ("Disk quota exceeded", False, "the disk of the data folder is full.", "Free some"),
        ("disk I/O error", False, "the disk of the data folder failed.", "Check that disk."),
        ("[Errno 5] Input/output error", False, "data folder failed.", "Check that disk."),
        ("attempt to write a readonly database", False, "cannot be written.", "LEAF_HOME"),
        ("unable to open database file", False, "cannot be written.", "LEAF_HOME"),
        ("database table is locked", False, "locked by another program.", "Close that program."),
        ("database disk image is malformed", False, "is damaged.", "Start Leaf again"),
        ("file is not a database", False, "is damaged.", "Start Leaf again"),
        ("connection refused", False, "by a fault of Leaf.", "doctor"),
        ("could not extend file: No space left on device", True, "server is full.", "Free some"),
        ("permission denied for database", True, "may not make the tables", "schema `dbos`"),
        ("cannot execute in a read-only transaction", True, "may not make the tables", "`dbos`"),
        ("the connection is lost", True, "server cannot be reached.", "Check that it runs"),
        ("FATAL: sorry, too many clients already", True, "takes no more connections.", "Try again"),
        ("database is locked", True, "by a fault of Leaf.", "doctor"),
        ("disk I/O error", True, "by a fault of Leaf.", "doctor"),
    ],
)
def test_what_the_run_database_said_is_told_in_words(
    said: str, shared: bool, told: str, hint: str
) -> None:
    error = failures.explain(Exception(said), shared=shared)
    assert error.message.endswith(told) or told in error.message
    assert hint in error.hint
    assert isinstance(error, StoreBusyError) == ("locked by" in told)


def aged(version: tuple[int, int, int]) -> Any:
    """Python's own SQLite, as if it were of this version."""
    module = ModuleType("aged")
    vars(module).update(vars(sqlite3))
    module.sqlite_version_info = version  # type: ignore[attr-defined]
    module.sqlite_version = ".".join(map(str, version))  # type: ignore[attr-defined]
    return module


def asked_by(found: Driver, sql: str) -> object:
    with closing(found.module.connect(":memory:", factory=found.connection)) as db:
        return db.execute(sql).fetchone()[0]


@pytest.mark.parametrize(
    ("version", "old"), [((3, 41, 9), True), ((3, 42, 0), False), ((3, 43, 1), False)]
)
def test_an_old_sqlite_is_given_the_clock_and_every_one_overwrites(
    version: tuple[int, int, int], old: bool
) -> None:
    found = adapted(aged(version))
    assert ("older than 3.42" in found.note) == old
    assert found.version == ".".join(map(str, version))
    assert asked_by(found, "PRAGMA secure_delete") == 1
    if old:  # the clock of ours knows nothing else
        with pytest.raises(sqlite3.OperationalError):
            asked_by(found, "SELECT unixepoch('now')")
        assert isinstance(asked_by(found, "SELECT unixepoch('subsec')"), float)
    else:
        assert isinstance(asked_by(found, "SELECT unixepoch('now')"), int)
    assert found.engine_arguments == {
        "module": found.module,
        "connect_args": {"factory": found.connection},
    }
    own = Driver(sqlite3, found.connection)
    assert own.engine_arguments == {"connect_args": {"factory": found.connection}}


@pytest.mark.parametrize(
    ("own", "other", "clock"),
    [
        ((3, 35, 0), None, True),
        ((3, 34, 9), (3, 41, 0), True),
        ((3, 34, 9), (3, 42, 0), False),
        ((3, 34, 9), None, False),
    ],
)
def test_what_is_too_old_to_keep_runs_is_replaced_where_something_is_there_for_that(
    monkeypatch: pytest.MonkeyPatch,
    own: tuple[int, int, int],
    other: tuple[int, int, int] | None,
    clock: bool,
) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", own)
    package = aged(other) if other else None  # None is what cannot be imported
    monkeypatch.setitem(sys.modules, "pysqlite3", package)
    monkeypatch.setitem(sys.modules, "pysqlite3.dbapi2", package)
    if own < LEAST and other is None:
        with pytest.raises(StoreError, match=r"needs 3\.35 or newer"):
            driver()
        return
    found = driver()
    assert found.module is (sqlite3 if own >= LEAST else package)
    assert ("pysqlite3" in found.note) == (own < LEAST)
    if clock:
        with pytest.raises(sqlite3.OperationalError):
            asked_by(found, "SELECT unixepoch('now')")
    else:
        assert asked_by(found, "SELECT unixepoch('now')")


def pragma(path: Path, name: str) -> object:
    with closing(sqlite3.connect(path)) as db:
        return db.execute(f"PRAGMA {name}").fetchone()[0]


def test_a_run_database_is_made_ready_once(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    with closing(sqlite3.connect(path)) as db:  # as an earlier version left it
        db.execute("PRAGMA secure_delete = OFF")
        db.execute("CREATE TABLE t (x)")
        db.execute("INSERT INTO t VALUES ('a secret answer')")
        db.commit()
        db.execute("DELETE FROM t")
        db.commit()
    assert b"a secret answer" in path.read_bytes()
    assert prepare_file(path) == ""
    assert b"a secret answer" not in path.read_bytes()
    assert (pragma(path, "journal_mode"), pragma(path, "application_id")) == ("wal", OVERWRITES)
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE left_by_us (x)")
        db.execute("INSERT INTO left_by_us VALUES (zeroblob(50000))")
        db.commit()
        db.execute("DROP TABLE left_by_us")
        db.commit()
    free = pragma(path, "freelist_count")
    assert prepare_file(path) == ""
    assert pragma(path, "freelist_count") == free != 0, "it is not rewritten at each start"


@pytest.mark.parametrize(("newer", "refused"), [(0, False), (1, True)])
def test_a_run_database_is_opened_up_to_the_version_that_is_known(
    tmp_path: Path, newer: int, refused: bool
) -> None:
    path = tmp_path / "runs.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE dbos_migrations (version INTEGER)")
        db.commit()
        assert prepare_file(path) == "", "one that is only begun"
        db.execute("INSERT INTO dbos_migrations VALUES (?)", [len(sqlite_migrations) + newer])
        db.commit()
    if refused:
        with pytest.raises(StoreError, match="newer version of Leaf"):
            prepare_file(path)
    else:
        assert prepare_file(path) == ""


def test_what_is_damaged_is_put_aside_whole_and_what_cannot_be_opened_is_not(
    tmp_path: Path,
) -> None:
    path = tmp_path / "runs.sqlite"
    path.write_bytes(b"not a database at all" * 1_000)
    (tmp_path / "runs.sqlite-shm").write_bytes(b"shared")
    said = prepare_file(path)
    [kept] = tmp_path.glob("runs.damaged-*.sqlite")
    assert (
        said == f"The run database was damaged and is kept as {kept.name}. This answer begins anew."
    )
    assert kept.read_bytes() == b"not a database at all" * 1_000
    assert (tmp_path / f"{kept.name}-shm").exists()
    assert not list(tmp_path.glob("runs.sqlite*"))
    with pytest.raises(StoreError, match=r"runs.sqlite cannot be written.*LEAF_HOME"):
        prepare_file(tmp_path / "nowhere" / "runs.sqlite")


def test_a_process_has_the_seats_of_its_folder_that_nobody_holds(tmp_path: Path) -> None:
    alone, held = claim_executors(tmp_path, shared=False)
    assert (len(alone), held) == (1, [])
    name = (tmp_path / "executor").read_text()
    assert alone == (f"{name}-1",)
    assert claim_executors(tmp_path, shared=False)[0] == alone, "a restart finds it again"
    assert not list(tmp_path.glob("seat-*")), "where there is one process there are no seats"
    first, one = claim_executors(tmp_path, shared=True)
    second, two = claim_executors(tmp_path, shared=True)
    assert (first, second) == ((f"{name}-1",), (f"{name}-2",))
    for number in (10, 9):
        (tmp_path / f"seat-{number}.lock").touch()
    third, three = claim_executors(tmp_path, shared=True)
    assert third == (f"{name}-9", f"{name}-10"), "all that are free, in their order"
    assert len(three) == 2
    fourth, four = claim_executors(tmp_path, shared=True)
    assert fourth == (f"{name}-11",)
    for file in (*one, *three):
        file.close()
    assert claim_executors(tmp_path, shared=True)[0] == (f"{name}-1", f"{name}-9", f"{name}-10")
    for file in (*two, *four):
        file.close()


@pytest.mark.parametrize("name", ["a%20b", "50% more"])
def test_a_percent_sign_in_the_name_of_the_data_folder_is_one(tmp_path: Path, name: str) -> None:
    with opened(tmp_path / name) as leaf:
        session = leaf.session(leaf.local_scope())
        asked = session.messages.send(session.chats.create().id, "What can you do?")
        assert finished(session, asked.id).status == "completed"
    assert (tmp_path / name / "runs.sqlite").stat().st_size > 0
    assert [path.name for path in tmp_path.iterdir()] == [name]
