"""Two versions beside one another during an update: migrations only add, and whoever knows none of the
newest goes on."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator

import pytest

from leaf.errors import StoreError
from leaf.store import chats, leases, messages, users
from leaf.store.leases import Holder
from leaf.store.migrate import Migration, migrate, migrations
from leaf.store.postgres import PostgresDatabase

OWN_DATABASES = True
SIDE_BY_SIDE = 23
"""The migration since which processes of several versions share a history."""
NAMED = 32
"""Later ones let an operator build an index beforehand."""
TAKES_AWAY = re.compile(
    r"\bDROP\s+(?!INDEX)\w+|\bRENAME\b|\bALTER\s+COLUMN\s+\w+\s+(SET\s+DATA\s+)?TYPE\b|\bTRUNCATE\b"
    r"|\bALTER\s+COLUMN\s+\w+\s+SET\s+NOT\s+NULL\b|\bDELETE\s+FROM\b",
    re.IGNORECASE,
)
ADDS = re.compile(r"\bADD\s+COLUMN\b([^;]*)", re.IGNORECASE)
MAKES = re.compile(r"\bCREATE\s+TABLE\s+(\w+)", re.IGNORECASE)
INDEXES = re.compile(
    r"\bCREATE\s+(?:UNIQUE\s+)?INDEX\s+(IF\s+NOT\s+EXISTS\s+)?\w+\s+ON\s+(\w+)", re.IGNORECASE
)


def statements(migration: Migration) -> str:
    """All that it runs, without its comments."""
    return re.sub(r"--[^\n]*", "", "\n".join([migration.sql, *migration.own.values()]))


def hindrances(migration: Migration) -> list[str]:
    """What in it an earlier version, which is still running, could not bear."""
    sql = statements(migration)
    found = [match.group() for match in TAKES_AWAY.finditer(sql)]
    for match in ADDS.finditer(sql):
        column = match[1].upper()
        if "NOT NULL" in column and "DEFAULT" not in column:
            found.append(match.group())
    if migration.number > NAMED:
        made = set(MAKES.findall(sql))
        found += [m.group() for m in INDEXES.finditer(sql) if not m[1] and m[2] not in made]
    return found


def test_migrations_only_add() -> None:
    later = [m for m in migrations() if m.number > SIDE_BY_SIDE]
    assert later
    assert {m.name: hindrances(m) for m in later if hindrances(m)} == {}


@pytest.mark.parametrize(
    "sql",
    [
        "ALTER TABLE chats DROP COLUMN title",
        "DROP TABLE cells",
        "ALTER TABLE chats RENAME TO talks",
        "ALTER TABLE chats ALTER COLUMN title TYPE INTEGER",
        "ALTER TABLE chats ALTER COLUMN title SET NOT NULL",
        "ALTER TABLE chats ADD COLUMN kind TEXT NOT NULL",
        "CREATE INDEX chats_by_kind ON chats (kind)",
    ],
)
def test_what_an_earlier_version_could_not_bear_is_found(sql: str) -> None:
    assert hindrances(Migration(99, "made", sql))
    allowed = "ALTER TABLE chats ADD COLUMN kind TEXT NOT NULL DEFAULT ''"
    assert not hindrances(Migration(99, "made", f"{allowed}; -- DROP TABLE chats"))
    made = "CREATE TABLE kinds (id TEXT); CREATE INDEX kinds_by_id ON kinds (id)"
    assert not hindrances(Migration(99, "made", made))


@pytest.fixture
def older(postgres_url: str) -> Iterator[PostgresDatabase]:
    """Opened by a version that knows all migrations but the newest."""
    db = PostgresDatabase(postgres_url)
    migrate(db, migrations()[:-1])
    yield db
    db.close()


@pytest.mark.postgres
def test_an_earlier_version_goes_on_while_a_newer_one_migrates_and_after(
    older: PostgresDatabase, postgres_url: str
) -> None:
    scope = users.ensure_local_user(older)
    chat, holder = chats.create(older, scope), Holder("older", "leaf-1", 9)
    leases.unscoped_enter(older, holder)
    begun = messages.add_exchange(older, scope, chat.id, [{"type": "text", "text": "Before"}])
    assert leases.claim(older, scope, begun.answer.id, holder) == "claimed"
    newer = PostgresDatabase(postgres_url)
    ran: list[int] = []
    with older.transaction(scope) as tx:  # in the middle of something
        chats.hold(tx, scope, chat.id, chat.updated_at)
        updating = threading.Thread(target=lambda: ran.extend(migrate(newer, migrations())))
        updating.start()
        updating.join(30)
        assert ran == [migrations()[-1].number], "it waits for nobody who writes"
    assert leases.unscoped_beat(older, holder.id, 60.0)
    parts = [{"type": "text", "text": "An answer."}]
    messages.finish(
        older, scope, begun.answer.id, parts=parts, raw=[], usage={}, status="completed"
    )
    later = messages.add_exchange(older, scope, chat.id, [{"type": "text", "text": "After"}])
    chats.rename(older, scope, chat.id, "Renamed by the older one")
    assert leases.claim(newer, scope, later.answer.id, Holder("newer", "leaf-1", 9)) == "claimed"
    assert chats.get(newer, scope, chat.id).title == "Renamed by the older one"
    for db in (older, newer):
        assert len(messages.thread(db, scope, chat.id).messages) == 4
        assert messages.get(db, scope, begun.answer.id).parts == parts
    with pytest.raises(StoreError, match="written by a newer version"):
        migrate(older, migrations()[:-1])
    newer.close()
