"""A history that grows: what is added up equals what is kept, no question reads a whole table that
grows, and words are found wherever they stand. On DuckDB and on PostgreSQL."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args
from zoneinfo import ZoneInfo

import pytest

from bench import _history as made
from leaf.errors import NotFoundError, StoreError
from leaf.settings import Settings
from leaf.store import (
    Store,
    chat_files,
    chats,
    edited_steps,
    files,
    leases,
    links,
    members,
    messages,
    open_store,
    participants,
    project_chats,
    projects,
    told_instructions,
    usage,
    usage_days,
    users,
)
from leaf.store.database import Database
from leaf.store.migrate import Migration, migrate, migrations
from leaf.store.model import Scope
from leaf.store.usage_days import UsageSource
from tests.removal_kit import purge_chat

BERLIN = "Europe/Berlin"
MODELS = ("large", "small", "Étoile", "_local")
PEOPLE = made.PEOPLE
NOON = datetime(2026, 3, 27, 11, tzinfo=UTC)
"""Two days before clocks change in Berlin."""


def text(words: str) -> list[dict[str, object]]:
    return [{"type": "text", "text": words}]


# What is added up


class Life:
    """People of one workspace who ask, share, delete and leave, at random."""

    def __init__(self, store: Store, seed: int) -> None:
        self.db, self.draw = store.db, random.Random(seed)
        self.owner = users.ensure_local_user(self.db)
        self.people = [self.owner] + [self._person(n) for n in range(3)]
        self.answers: list[tuple[Scope, str, str]] = []
        self.chats: list[tuple[Scope, str]] = []
        self.at = NOON

    def _person(self, number: int) -> Scope:
        email = f"p{number}@example.org"
        scope = users.ensure_user(self.db, email, f"P{number}")
        with self.db.transaction() as tx:
            tx.execute(
                "INSERT INTO workspace_members (workspace_id, user_id, role, created_at) VALUES "
                "(:w, :u, 'member', :at)",
                {"w": self.owner.workspace_id, "u": scope.user_id, "at": NOON},
            )
        return replace(scope, workspace_id=self.owner.workspace_id)

    def live(self, turns: int) -> None:
        acts = [self.ask] * 3 + [self.step] * 12 + [self.again] * 2 + [self.delete, self.purge]
        for _ in range(turns):
            self.at += timedelta(minutes=self.draw.choice([1, 40, 400]))
            self.draw.choice(acts)()

    def ask(self) -> None:
        who = self.draw.choice(self.people)
        try:
            chat = chats.create(self.db, who, title=f"chat {len(self.chats)}")
        except NotFoundError:
            return  # who has left
        self.chats.append((who, chat.id))
        answer = messages.add_exchange(self.db, who, chat.id, text("?")).answer
        self.answers.append((who, chat.id, answer.id))
        self.step(self.answers[-1])

    def step(self, answer: tuple[Scope, str, str] | None = None, name: str = "") -> None:
        if answer is None and not self.answers:
            return
        scope, chat_id, message_id = answer or self.draw.choice(self.answers[-6:])
        usage.unscoped_record(
            self.db,
            scope,
            message_id,
            name or f"step {self.draw.random()}",
            chat_id=chat_id,
            model=self.draw.choice(MODELS),
            input_tokens=self.draw.randrange(5_000_000_000),
            cached_tokens=self.draw.randrange(100),
            output_tokens=self.draw.randrange(1_000),
            cost=self.draw.choice([None, self.draw.random() / 7, 0.1, 1e-8]),
            at=self.at - timedelta(minutes=self.draw.choice([0, 0, 0, 2000])),
        )

    def again(self) -> None:
        """A step that is replayed, with other figures."""
        if rows := self.db.read("SELECT * FROM usage_steps ORDER BY message_id, step"):
            row = self.draw.choice(rows)
            scope = Scope(row["workspace_id"], row["user_id"])
            self.step((scope, row["chat_id"], row["message_id"]), row["step"])

    def delete(self) -> None:
        if self.chats:
            scope, chat_id = self.draw.choice(self.chats)
            with contextmanager(_missing)():
                chats.delete(self.db, scope, chat_id)

    def purge(self) -> None:
        if self.chats:
            scope, chat_id = self.draw.choice(self.chats)
            with contextmanager(_missing)():
                purge_chat(self.db, scope, chat_id)

    def leave(self) -> None:
        members.remove(self.db, self.owner, self.people[1].user_id)


def _missing() -> Iterator[None]:
    try:
        yield
    except NotFoundError:
        return


def answered(db: Database, scope: Scope, since: datetime | None, zone: str) -> dict[str, object]:
    """All that can be asked of what was used."""
    found: dict[str, object] = {
        "mine": usage.total(db, scope, since=since),
        "whole": usage.total(db, scope, since=since, whole=True),
    }
    for whose in get_args(usage.Whose):
        found |= {
            f"days {whose}": usage.by_day(db, scope, whose, zone, since=since),
            f"models {whose}": usage.by_model(db, scope, whose, since=since),
            f"chats {whose}": usage.by_chat(db, scope, whose, since=since, limit=7),
            f"users {whose}": usage.by_user(db, scope, whose, since=since),
        }
    for by in ("day", "model", "user"):
        found[f"operator {by}"] = usage.unscoped_by(db, by, zone, since=since)
    if since:
        found["used"] = usage.used(db, scope, day=since + timedelta(days=1), month=since)
    return found


@pytest.mark.parametrize(("seed", "zone"), [(1, "UTC"), (2, BERLIN)])
def test_what_is_added_up_equals_the_steps_whatever_happens(
    settings: Settings, zone: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(replace(settings, time_zone=zone))
    try:
        life = Life(store, seed)
        life.live(60)
        life.leave()
        life.live(60)
        midnights = [
            usage_days.midnight((NOON + timedelta(days=n)).date(), ZoneInfo(zone))
            for n in (-1, 1, 3, 20)
        ]
        for since in [None, *midnights]:
            by_day = [answered(store.db, who, since, zone) for who in life.people[:3]]
            with monkeypatch.context() as patch:
                patch.setattr(usage, "source", lambda db, zone="", **at: UsageSource(False, at))
                by_step = [answered(store.db, who, since, zone) for who in life.people[:3]]
            assert by_day == by_step, since
            assert usage_days.source(store.db, zone=zone, since=since).by_day
        assert len(life.answers) > 10
        before = [answered(store.db, who, None, zone) for who in life.people[:3]]
        assert usage_days.bring_up(store.db, "Asia/Kathmandu")
        assert usage_days.bring_up(store.db, zone)
        assert not usage_days.bring_up(store.db, zone)
        assert [answered(store.db, who, None, zone) for who in life.people[:3]] == before
    finally:
        store.close()


def test_what_begins_in_the_middle_of_a_day_or_in_another_zone_is_counted_by_step(
    store: Store, scope: Scope
) -> None:
    midnight = datetime(2026, 3, 27, tzinfo=UTC)
    chosen = [
        usage_days.source(store.db, since=midnight),
        usage_days.source(store.db, zone=BERLIN, since=midnight),
        usage_days.source(store.db, since=midnight + timedelta(seconds=1)),
    ]
    assert [one.by_day for one in chosen] == [True, False, False]


def test_steps_of_an_earlier_version_are_added_up_at_the_next_start(settings: Settings) -> None:
    store = open_store(settings)
    life = Life(store, 5)
    life.live(20)
    with store.db.transaction() as tx:
        tx.execute(
            "INSERT INTO usage_steps SELECT message_id, 'of an earlier version', workspace_id, "
            "user_id, chat_id, model, 7, 0, 0, 0.5, created_at FROM usage_steps LIMIT 1"
        )
    before = usage.total(store.db, life.owner, whole=True)
    store.close()
    store = open_store(settings)
    try:
        after = usage.total(store.db, life.owner, whole=True)
        assert after.answers == before.answers
        assert after.input_tokens == before.input_tokens + 7
    finally:
        store.close()


def test_steps_that_are_written_at_the_same_time_are_added_up_once_each(
    store: Store, scope: Scope
) -> None:
    chat = chats.create(store.db, scope)
    asked = [messages.add_exchange(store.db, scope, chat.id, text("?")).answer for _ in range(3)]

    def write(number: int) -> None:
        usage.unscoped_record(
            store.db,
            scope,
            asked[number % 3].id,
            f"step {number}",
            chat_id=chat.id,
            model=MODELS[number % 2],
            input_tokens=number,
            cached_tokens=0,
            output_tokens=1,
            cost=0.1,
            at=NOON + timedelta(days=number % 4),
        )

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(48)))
    total = usage.total(store.db, scope)
    assert (total.answers, total.input_tokens, total.cost) == (3, sum(range(48)), 4.8)
    assert usage.total(store.db, scope, since=NOON.replace(hour=0) + timedelta(days=3)).answers == 3


# Words


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest three chats stand for the newest two thousand."""
    monkeypatch.setattr(chats, "NEWEST", 3)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("warehouse", [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]),
        ("WAREHOUSE five", [5]),
        ("warehouse number", [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]),
        ("übersicht", [8, 4, 0]),
        ("gesamtÜBER 4,8", [8]),
        ("売上", [6]),
        ("net_sales", [2]),
        ("100%", [1]),
        ("e\\f", [3]),
        ("don't!", [7]),
        ("nowhere", []),
        ("number five warehouse", [5]),
    ],
)
def test_words_are_found_in_new_and_in_old_chats_alike(
    store: Store, scope: Scope, few: None, query: str, found: list[int]
) -> None:
    said = {
        1: "100% of it",
        2: "NET_SALES and netXsales",
        3: "c:\\d\\e\\f",
        5: "five",
        6: "今月の売上は高い",
        7: "Don't! stop",
        0: "Gesamtübersicht",
        4: "Gesamtübersicht",
        8: "Gesamtübersicht 4,812",
    }
    made_ids = []
    for number in range(10):
        chat = chats.create(store.db, scope, title=f"Number {number}")
        messages.add_exchange(store.db, scope, chat.id, text("The Warehouse"))
        messages.add_exchange(store.db, scope, chat.id, text(said.get(number, "nothing else")))
        made_ids.append(chat.id)
    listed = [made_ids.index(c.id) for c in chats.list_chats(store.db, scope, query=query)]
    assert listed == found
    pages = [
        made_ids.index(c.id)
        for at in range(0, 12, 2)
        for c in chats.list_chats(store.db, scope, query=query, limit=2, offset=at)
    ]
    assert pages == found


# What is read for it


GROWS = {
    "chats", "chat_participants", "messages", "usage_steps", "usage_days", "usage_chats", "files",
    "file_contexts", "chat_files", "documents", "document_versions", "document_receipts", "cells",
    "consents", "made_files", "edited_steps",
}  # fmt: skip
SMALL_CHATS = 600


class Watched:
    """A database that hands every statement to a function before it runs."""

    def __init__(self, db: Database, look: Callable[[Any, str, Mapping[str, Any]], None]) -> None:
        self._db, self._look = db, look

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)

    def read(self, sql: str, params: Mapping[str, Any] | None = None) -> Any:
        self._look(self._db, sql, params or {})
        return self._db.read(sql, params or {})

    def execute(self, sql: str, params: Mapping[str, Any] | None = None) -> None:
        self._look(self._db, sql, params or {})
        self._db.execute(sql, params or {})  # type: ignore[attr-defined]

    @contextmanager
    def transaction(self, scope: Scope | None = None) -> Iterator[Any]:
        with self._db.transaction(scope) as tx:
            yield Watched(tx, self._look)  # type: ignore[arg-type]


def hot(db: Any, scope: Scope) -> dict[str, Callable[[], object]]:
    """What pages and runs ask all the time."""
    chat_id = made.chat_id(SMALL_CHATS // 2)
    month = usage_days.midnight(datetime.now(UTC).date().replace(day=1), ZoneInfo("UTC"))
    today = usage_days.midnight(datetime.now(UTC).date(), ZoneInfo("UTC"))
    file = files.list_files(db, scope, limit=1)[0]
    answer = messages.thread(db, scope, chat_id, last=1).messages[0]
    step = iter(range(100))
    project = projects.list_projects(db, scope)[0]
    asked: list[str] = []

    def ask() -> None:
        asked.append(messages.add_exchange(db, scope, chat_id, text("?")).answer.id)
        leases.claim(db, scope, asked[-1])
        parts: Any = text("done")
        messages.finish(db, scope, asked[-1], parts=parts, raw=[], usage={}, status="completed")

    def withdraw() -> None:
        messages.withdraw(db, scope, messages.add_exchange(db, scope, chat_id, text("?")).answer.id)

    def edit() -> None:
        done = edited_steps.begin(db, scope, edited_steps.EditedStep(
            "", "", answer.id, "c", "", "", "query_tables", {"sql": "SELECT 1"}, "running",
            datetime.now(UTC),
        ))  # fmt: skip
        edited_steps.unscoped_beat(db, done.id, "")
        edited_steps.finish(db, scope, done.id, "done")

    def count() -> None:
        usage.unscoped_record(
            db, scope, answer.id, f"more {next(step)}", chat_id=chat_id, model="m",
            input_tokens=9, cached_tokens=3, output_tokens=2, cost=0.001,
        )  # fmt: skip

    return {
        "the sidebar": lambda: chats.list_chats(db, scope, limit=41),
        "search": lambda: chats.list_chats(db, scope, query=f"{made.RARE} sales"),
        "a chat": lambda: chats.get(db, scope, chat_id),
        "a public link": lambda: links.unscoped_open(db, "of nobody"),
        "its messages": lambda: messages.thread(db, scope, chat_id, last=30),
        "its files": lambda: chat_files.list_chat_files(db, scope, chat_id),
        "edited steps of an answer": lambda: edited_steps.of_message(db, scope, answer.id),
        "edit a step": edit,
        "projects of the sidebar": lambda: projects.list_projects(db, scope, limit=5),
        "the project of a chat": lambda: projects.of_chat(db, scope, chat_id),
        "chats of a project": lambda: project_chats.list_chats(db, scope, project.id, limit=30),
        "what a chat was told": lambda: told_instructions.newest(db, chat_id, {answer.parent_id}),
        "its people": lambda: participants.list_participants(db, scope, chat_id),
        "chats of a file": lambda: files.references(db, scope, file.id),
        "a file by its bytes": lambda: files.with_bytes(db, scope, file.sha256),
        "what came out of a file": lambda: files.members(db, scope, file.id),
        "unfinished answers": lambda: messages.unscoped_unfinished(db),
        "unfinished answers of a chat": lambda: messages.unfinished(db, scope, chat_id),
        "what waits": lambda: leases.unscoped_waiting(db, [answer.id]),
        "where a question stands": lambda: leases.unscoped_standing(db, answer.id),
        "chats at work": lambda: leases.unscoped_running_chats(db, scope.workspace_id),
        "answers for the operator": lambda: messages.unscoped_answers(db, limit=9),
        "failed answers for the operator": lambda: messages.unscoped_answers(db, "error", limit=9),
        "ask and answer": ask,
        "withdraw": withdraw,
        "count a step": count,
        "a purge": lambda: purge_chat(db, scope, made.chat_id(SMALL_CHATS - PEOPLE)),
        "budget sums": lambda: usage.used(db, scope, day=today, month=month),
        "usage": lambda: usage.total(db, scope, since=month, whole=True),
        "usage by day": lambda: usage.by_day(db, scope, "everyone", "UTC", since=month),
        "usage by model": lambda: usage.by_model(db, scope, "everyone", since=month),
        "usage by chat": lambda: usage.by_chat(db, scope, "everyone", since=month),
        "usage by user": lambda: usage.by_user(db, scope, "everyone", since=month),
    }


@pytest.fixture(scope="module")
def grown(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A history of some ten thousand messages on PostgreSQL."""
    import psycopg

    with psycopg.connect(f"postgresql:///postgres{postgres_server}", autocommit=True) as connection:
        connection.execute("CREATE DATABASE grown")
    home = tmp_path_factory.mktemp("grown")
    settings = Settings(home=home, database_url=f"postgresql:///grown{postgres_server}")
    store = open_store(settings)
    made.fill(store.db, users.ensure_local_user(store.db), SMALL_CHATS, datetime.now(UTC))
    store.close()
    store = open_store(settings)
    projects.create(store.db, users.ensure_local_user(store.db), "Quarter")
    with store.db.transaction() as tx:
        for statement in OTHERS:
            tx.execute(statement)
        tx.execute("ANALYZE")
    yield store
    store.close()


OTHERS = (
    "INSERT INTO chats SELECT '#' || n, 'w' || n % 50, 'u' || n % 50, 'Chat ' || n, 'm', '', now(), "
    "now() - n * INTERVAL '1 minute', NULL FROM generate_series(1, 20000) AS t(n)",
    "INSERT INTO chat_participants SELECT '#' || n, 'u' || n % 50, now() FROM "
    "generate_series(1, 20000) AS t(n)",
    "INSERT INTO files SELECT 'f' || n, 'w' || n % 50, 'u', 'a' || n, 'a', 't', 'csv', 1, 'h' || n, "
    "'upload', '', '{}', now(), NULL, CASE WHEN n % 5 = 0 THEN 'f' || n - 1 ELSE '' END FROM "
    "generate_series(1, 20000) AS t(n)",
    "INSERT INTO file_contexts SELECT 'f' || n, 'u', '', 'words', TRUE, now() FROM "
    "generate_series(1, 5000) AS t(n)",
    "INSERT INTO chat_files SELECT '#' || n, 'f1', 's', 'f' || n, '', 1, now(), NULL FROM "
    "generate_series(1, 20000) AS t(n)",
    "INSERT INTO documents SELECT 'd' || n, 'w' || n % 50, '#' || n, 'u', 't', 'k', 't', 'n', 'm', 1, "
    "'f' || n, 'f2', '', now(), now(), NULL FROM generate_series(1, 5000) AS t(n)",
    "INSERT INTO document_versions SELECT 'd' || n, 1, 'f' || n, 'h', 1, '', 'u', '', 'k' || n, now() "
    "FROM generate_series(1, 5000) AS t(n)",
    "INSERT INTO document_receipts SELECT 'd' || n, 1, '{}' FROM generate_series(1, 5000) AS t(n)",
    "INSERT INTO cells SELECT 'k' || n, 'w', '#' || n, 'm' || n, 1, '', '[]', now() FROM "
    "generate_series(1, 5000) AS t(n)",
    "INSERT INTO projects SELECT 'p' || n, 'w' || n % 50, 'u', 't', '', now(), now() FROM "
    "generate_series(1, 5000) AS t(n)",
    "INSERT INTO project_members SELECT 'p' || n, 'w' || n % 50, 'u' || n % 50, now() FROM "
    "generate_series(1, 5000) AS t(n)",
    "INSERT INTO project_chats SELECT '#' || n, 'p' || n, 'w' || n % 50, '[]', now() FROM "
    "generate_series(1, 5000) AS t(n)",
    "INSERT INTO project_files SELECT 'p' || n, 'w' || n % 50, 'f' || n, now() FROM "
    "generate_series(1, 5000) AS t(n)",
    "INSERT INTO told_instructions SELECT 'q' || n, '#' || n, 'd', now() FROM "
    "generate_series(1, 5000) AS t(n)",
    "INSERT INTO edited_steps SELECT 'e' || n, 'w' || n % 50, '#' || n, 'm' || n, 'c', 'u' || n, 't', "
    "'{}', 'done', NULL, '', '', FALSE, now(), now() FROM generate_series(1, 5000) AS t(n)",
    "INSERT INTO consents SELECT 'k' || n, 'w', '#' || n, '', '', 'u', now(), NULL FROM "
    "generate_series(1, 5000) AS t(n)",
    "INSERT INTO made_files SELECT '#' || n, 'h' || n, 'n', 'w' || n % 50, 'm', 1, now() FROM "
    "generate_series(1, 5000) AS t(n)",
    "INSERT INTO usage_days SELECT 'w' || n % 50, 'u' || n, DATE '2026-01-01' + n % 300, 'm', "
    "0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM generate_series(1, 20000) AS t(n)",
    "INSERT INTO usage_chats SELECT 'w' || n % 50, 'u' || n % 50, '#' || n, DATE '2026-01-01' + n % 300, "
    "0, 0, 0, 0, 0, 0 FROM generate_series(1, 20000) AS t(n)",
)
"""People of other workspaces, so that a plan for one of them is worth its while."""


def test_no_hot_question_reads_a_whole_table_on_postgresql(grown: Store) -> None:
    """By the plans that the server makes for it."""
    scope = users.ensure_local_user(grown.db)
    asked, scans = "", set()

    def look(db: Any, sql: str, params: Mapping[str, Any]) -> None:
        if not asked or not re.match(r"\s*(SELECT|WITH|UPDATE|DELETE|INSERT)", sql):
            return
        explained = db.read(f"EXPLAIN (FORMAT JSON) {sql}", params)[0]["QUERY PLAN"]
        for table in scanned(explained[0]["Plan"]) & GROWS:
            scans.add(f"{asked} scans {table}: {' '.join(sql.split())}")

    watched = Watched(grown.db, look)
    for asked, question in hot(watched, scope).items():  # noqa: B007
        question()
    assert not scans, "\n\n".join(sorted(scans))


def test_the_test_sees_a_question_without_an_index(grown: Store) -> None:
    asked = {
        "SELECT id FROM messages WHERE feedback = 1": {"messages"},
        "SELECT id FROM messages ORDER BY id LIMIT 9": set(),
        "SELECT feedback FROM messages ORDER BY id": {"messages"},
        "SELECT id FROM messages WHERE id = 'a'": set(),
    }
    for sql, tables in asked.items():
        explained = grown.db.read(f"EXPLAIN (FORMAT JSON) {sql}")[0]["QUERY PLAN"]
        assert scanned(explained[0]["Plan"]) == tables, sql


def scanned(plan: Mapping[str, Any], limited: bool = False) -> set[str]:
    """Tables that a plan reads from one end to the other: in their order or in that of an index."""
    found = set()
    limited = limited or plan["Node Type"] == "Limit"
    conditions = ("Index Cond", "Recheck Cond")
    whole = plan["Node Type"] == "Seq Scan" or (
        plan["Node Type"] in ("Index Scan", "Index Only Scan")
        and not any(name in plan for name in conditions)
        and not limited
        and plan["Index Name"] not in PARTIAL
    )
    if whole:
        found.add(str(plan["Relation Name"]))
    for below in plan.get("Plans", ()):
        sorts = plan["Node Type"] in ("Sort", "Aggregate", "Hash", "Incremental Sort")
        found |= scanned(below, limited and not sorts)
    return found


PARTIAL = {"messages_unfinished", "edited_steps_running"}
"""Indexes of few rows, whatever grows."""


def test_sums_and_the_list_read_no_step_and_no_message_on_duckdb(tmp_path: Path) -> None:
    """By the tables in the plan, and the rows that each scan gave."""
    store = open_store(Settings(home=tmp_path))
    scope = users.ensure_local_user(store.db)
    made.fill(store.db, scope, 60, datetime.now(UTC))
    store.close()
    store = open_store(Settings(home=tmp_path))
    read: dict[str, dict[str, int]] = {}
    asked = ""

    def look(db: Any, sql: str, params: Mapping[str, Any]) -> None:
        if re.match(r"\s*(SELECT|WITH)", sql):
            said = db.read(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", params)[0]["explain_value"]
            for table, rows in rows_scanned(json.loads(said)):
                counts = read.setdefault(asked, {})
                counts[table] = counts.get(table, 0) + rows

    try:
        watched = Watched(store.db, look)
        month = usage_days.midnight(datetime.now(UTC).date().replace(day=1), ZoneInfo("UTC"))
        questions: dict[str, Callable[[], object]] = {
            "sidebar": lambda: chats.list_chats(watched, scope, limit=41),  # type: ignore[arg-type]
            "sums": lambda: usage.used(watched, scope, day=month, month=month),  # type: ignore[arg-type]
            "days": lambda: usage.by_day(watched, scope, "everyone", "UTC"),  # type: ignore[arg-type]
            "chats": lambda: usage.by_chat(watched, scope, "everyone"),  # type: ignore[arg-type]
            "chat": lambda: messages.thread(watched, scope, made.chat_id(7), last=30),  # type: ignore[arg-type]
        }
        for asked, question in questions.items():  # noqa: B007
            question()
    finally:
        store.close()
    for name in ("sidebar", "sums", "days", "chats"):
        assert "messages" not in read[name]
        assert "usage_steps" not in read[name]
    assert 0 < read["days"]["usage_days"] <= 60 * 3
    assert 0 < read["chats"]["usage_chats"] <= 4 * 61  # each time one row a chat and day
    assert 0 < read["chat"]["messages"] <= 2 * made.MESSAGES


def rows_scanned(plan: Any) -> Iterator[tuple[str, int]]:
    """Of each scan in a plan: its table, and the rows that it gave."""
    if isinstance(plan, list):
        for one in plan:
            yield from rows_scanned(one)
    elif isinstance(plan, dict):
        table = (
            plan["extra_info"].get("Table") if isinstance(plan.get("extra_info"), dict) else None
        )
        if table:
            yield str(table).rpartition(".")[2], int(plan["intermediate_rows"])
        for below in plan.values():
            yield from rows_scanned(below)


# Migrations of one database alone


def test_what_only_one_database_needs_is_run_there_alone(store: Store) -> None:
    own = {
        "postgres": "CREATE TABLE of_postgres (a INTEGER)",
        "duckdb": "CREATE TABLE of_duckdb (a INTEGER)",
    }
    one = Migration(9001, "own", "CREATE TABLE common (a INTEGER)", own)  # type: ignore[arg-type]
    known = [*migrations(), one]
    assert migrate(store.db, known) == [9001]
    tables = {
        r["table_name"] for r in store.db.read("SELECT table_name FROM information_schema.tables")
    }
    assert tables & {"common", "of_postgres", "of_duckdb"} == {"common", f"of_{store.db.engine}"}
    edited = replace(one, own={**own, "postgres": "CREATE TABLE other (a INTEGER)"})
    with pytest.raises(StoreError, match="9001_own is not the one"):
        migrate(store.db, [*migrations(), edited])


def test_a_migration_without_a_part_of_its_own_keeps_its_checksum() -> None:
    first = migrations()[0]
    assert first.checksum == hashlib.sha256(first.sql.encode()).hexdigest()
    (last,) = (m for m in migrations() if m.number == 18)
    assert set(last.own) == {"postgres"}
