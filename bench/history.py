"""A history that grows: what is asked all the time, at 20,000 and at 200,000 chats of 20 messages.

    python -m bench.history [CHATS ...] [--engine duckdb|postgres]

On DuckDB and on PostgreSQL, where it is installed. One person takes part in all chats, which is the
worst that the list and the search can meet. The baseline in the same run is a history of 200 chats.
The history is written as an earlier version left it, so the first start brings it up to date, too.
What DuckDB's small answers keep is forgotten before each question: somebody has just written.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bench import _history as made
from bench._figures import Figure, Report, changed
from leaf.budgets.budgets import Budgets
from leaf.keeping.signing import Signing
from leaf.settings import Settings
from leaf.store import Store, chat_files, chats, messages, open_store, participants, usage, users
from leaf.store.database import Database
from leaf.store.duckdb import DuckDatabase
from leaf.store.migrate import migrate, migrations
from leaf.store.model import Scope
from leaf.store.read_cache import ReadCache
from tests import postgres

SIZES = (20_000, 200_000)
SMALL = 200
ENGINES = ("duckdb", "postgres")
NAMES = {"duckdb": "DuckDB", "postgres": "PostgreSQL"}
TIMES = 5
SHOWN = 41
"""Chats that the sidebar asks for."""
BEFORE = 18
"""The migration that brings the sums and the indexes."""
SIGNED = "signatures of all chats, once, in the background"
TARGETS: dict[str, float | None] = {
    "the sidebar's list": 100,
    "open a chat": 200,
    "search a word of one chat": 300,
    "search a word of one chat in a hundred": 300,
    "search a word of every chat": 300,
    "search a word that is nowhere": 300,
    "search a word of common letters that is nowhere": 300,
    "usage page, 30 days": 500,
    "usage page, all": 500,
    "budget sums of a turn": 50,
    "count a step of an answer": 50,
    "answers that are not finished": 100,
    "start": 3_000,
    "first start, which brings it up to date": None,
    SIGNED: None,
}
"""Milliseconds at most."""


def main() -> int:
    """Print the table; 1 if a target is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--engine", choices=ENGINES, nargs="*", default=list(ENGINES))
    given = parser.parse_args()
    report = Report(
        "history", ("leaf/store", "leaf/budgets", "leaf/keeping/signing.py"), changed(parser, given)
    )
    figures = []
    for engine in given.engine:
        with _server(engine) as address:
            if address is not None:
                small = _measure(engine, address, SMALL)
                for size in given.sizes:
                    figures += _compared(engine, size, _measure(engine, address, size), small)
    return report.end(figures)


def _compared(
    engine: str, size: int, found: dict[str, float], small: dict[str, float]
) -> list[Figure]:
    return [_figure(engine, size, what, found[what], small[what]) for what in found]


def _figure(engine: str, size: int, what: str, value: float, small: float) -> Figure:
    return Figure(
        f"{NAMES[engine]}, {size:,} chats",
        what,
        value,
        TARGETS[what],
        False,
        "{:,.0f} ms",
        {f"{SMALL} chats": small},
    )


@contextmanager
def _server(engine: str) -> Iterator[str | None]:
    """The part of an address after the name of the database; empty for DuckDB, None where there is
    no PostgreSQL."""
    with ExitStack() as stack:
        try:
            yield stack.enter_context(postgres.server()) if engine == "postgres" else ""
        except pytest.skip.Exception as e:
            print(f"PostgreSQL: {e}")
            yield None


def _measure(engine: str, address: str, size: int) -> dict[str, float]:
    """What is measured -> milliseconds."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        settings = Settings(home=Path(folder), database_url=_database(address, size))
        until = datetime.now(UTC) - timedelta(minutes=20)
        began = time.perf_counter()
        with _earlier(settings) as db:
            scope = users.ensure_local_user(db)
            made.fill(db, scope, size, until)
        seconds = time.perf_counter() - began
        print(f"{NAMES[engine]}: {size:,} chats made in {seconds:.0f} s", flush=True)
        first = _milliseconds(lambda: open_store(settings).close(), 1)
        found = {"start": _milliseconds(lambda: open_store(settings).close(), 3)}
        store = open_store(settings)
        try:
            if engine == "postgres":
                _vacuum(settings.database_url)
            if engine == "duckdb":  # an app has done that soon after its first start
                found[SIGNED] = _milliseconds(Signing(store.db).sign_all, 1)
            questions = _questions(store, settings, scope, size)
            found |= {
                what: _milliseconds(ask, TIMES, lambda: _forget(store.db))
                for what, ask in questions.items()
            }
        finally:
            store.close()
    found["first start, which brings it up to date"] = first
    for what, value in found.items():
        print(f"    {value:10,.1f} ms  {what}", flush=True)
    return {what: found[what] for what in TARGETS if what in found}


def _questions(
    store: Store, settings: Settings, scope: Scope, size: int
) -> dict[str, Callable[[], object]]:
    db = store.db
    budgets = Budgets(db, settings)
    middle = made.chat_id(size // 2)
    month = datetime.now(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    day = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)

    def search(word: str, least: int) -> Callable[[], object]:
        def ask() -> None:
            found = chats.list_chats(db, scope, query=word, limit=SHOWN)
            assert len(found) == min(least, SHOWN), f"{word}: {len(found)} chats"

        return ask

    def opened() -> None:
        chats.get(db, scope, middle)
        assert len(messages.thread(db, scope, middle, last=30).messages) == made.MESSAGES
        assert len(chat_files.list_chat_files(db, scope, middle)) == 1
        participants.list_participants(db, scope, middle)

    steps = iter(range(10_000))
    answer = messages.thread(db, scope, middle, last=1).messages[0]

    def counted() -> None:
        usage.unscoped_record(
            db,
            scope,
            answer.id,
            f"more {next(steps)}",
            chat_id=middle,
            model="m",
            input_tokens=9,
            cached_tokens=3,
            output_tokens=2,
            cost=0.001,
        )

    return {
        "the sidebar's list": lambda: chats.list_chats(db, scope, limit=SHOWN),
        "open a chat": opened,
        "search a word of one chat": search(made.RARE, 1),
        "search a word of one chat in a hundred": search(made.SELDOM, size // 100),
        "search a word of every chat": search(made.FREQUENT, size),
        "search a word that is nowhere": search("nowhere-at-all", 0),
        "search a word of common letters that is nowhere": search(made.ABSENT, 0),
        "usage page, 30 days": lambda: budgets.report(scope, "30d", "everyone"),
        "usage page, all": lambda: budgets.report(scope, "all", "everyone"),
        "budget sums of a turn": lambda: usage.used(db, scope, day=day, month=month),
        "count a step of an answer": counted,
        "answers that are not finished": lambda: messages.unscoped_unfinished(db),
    }


@contextmanager
def _earlier(settings: Settings) -> Iterator[Database]:
    """The database as the version before the sums left it."""
    from leaf.store import open_database

    db = open_database(settings)
    try:
        migrate(db, [m for m in migrations() if m.number < BEFORE])
        yield db
    finally:
        db.close()


def _database(address: str, size: int) -> str:
    if not address:
        return ""
    import psycopg

    with psycopg.connect(f"postgresql:///postgres{address}", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE history{size}".encode())
    return f"postgresql:///history{size}{address}"


def _vacuum(url: str) -> None:
    """What the server does by itself a minute later."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


def _forget(db: Database) -> None:
    """So that DuckDB is asked."""
    if isinstance(db, DuckDatabase):
        db._cache = ReadCache()


def _milliseconds(
    work: Callable[[], Any], times: int, before: Callable[[], None] = lambda: None
) -> float:
    """The median of some runs."""
    found = []
    for _ in range(times):
        before()
        began = time.perf_counter()
        work()
        found.append((time.perf_counter() - began) * 1000)
    return statistics.median(found)


if __name__ == "__main__":
    sys.exit(main())
