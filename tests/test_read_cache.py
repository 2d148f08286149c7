"""What DuckDB was asked before is answered without it, and never an old answer."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from leaf.errors import NotFoundError
from leaf.settings import Settings
from leaf.store import Store, chats, messages, open_store, users
from leaf.store.duckdb import DuckDatabase
from leaf.store.model import Scope
from leaf.store.read_cache import MOST_ROWS, tables_of, written_by


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(Settings(home=tmp_path))
    yield opened
    opened.close()


@pytest.fixture
def asked(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that have reached DuckDB."""
    reached: list[str] = []
    ask = DuckDatabase._ask

    def noted(db: DuckDatabase, text: str, values: dict[str, Any]) -> Any:
        reached.append(text)
        return ask(db, text, values)

    monkeypatch.setattr(DuckDatabase, "_ask", noted)
    return reached


def test_a_question_is_asked_once_until_its_tables_are_written(
    store: Store, scope: Scope, asked: list[str]
) -> None:
    chat = chats.create(store.db, scope, title="One")
    asked.clear()
    assert {chats.get(store.db, scope, chat.id).title for _ in range(5)} == {"One"}
    assert len(asked) == 3  # who takes part, who belongs to the workspace, the chat
    chats.rename(store.db, scope, chat.id, "Two")
    asked.clear()
    assert {chats.get(store.db, scope, chat.id).title for _ in range(5)} == {"Two"}
    assert len(asked) == 1  # the chat alone
    with store.db.transaction(scope) as tx:
        tx.execute("UPDATE jobs SET state = 'done' WHERE id = :id", {"id": "none"})
        tx.execute("UPDATE chats SET title = title WHERE id = :id", {"id": chat.id})  # only held
    asked.clear()
    chats.get(store.db, scope, chat.id)
    assert asked == []


def test_what_is_answered_is_the_askers_own(store: Store, scope: Scope) -> None:
    chat = chats.create(store.db, scope)
    parts = [{"type": "text", "text": "Who?"}]
    saved = messages.add_exchange(store.db, scope, chat.id, parts, model="m")
    messages.get(store.db, scope, saved.question.id).parts.append({"type": "text"})
    assert messages.get(store.db, scope, saved.question.id).parts == parts


def test_what_was_rolled_back_was_never_there(store: Store, scope: Scope) -> None:
    chat = chats.create(store.db, scope, title="One")

    def give_up() -> None:
        with store.db.transaction(scope) as tx:
            tx.execute("UPDATE chats SET title = 'Two' WHERE id = :id", {"id": chat.id})
            rows = tx.read("SELECT title FROM chats WHERE id = :id", {"id": chat.id})
            assert rows == [{"title": "Two"}]
            assert chats.get(store.db, scope, chat.id).title == "One"
            raise RuntimeError

    with pytest.raises(RuntimeError):
        give_up()
    assert chats.get(store.db, scope, chat.id).title == "One"


def test_after_a_commit_of_nothing_is_asked_again(
    store: Store, scope: Scope, asked: list[str]
) -> None:
    chat = chats.create(store.db, scope, title="One")
    chats.get(store.db, scope, chat.id)
    with store.db.transaction(scope) as tx:
        tx.execute("UPDATE chats SET title = 'Two' WHERE id = :id", {"id": chat.id})
        store.db._writer.rollback()  # type: ignore[attr-defined] # as a full disk would
    asked.clear()
    assert chats.get(store.db, scope, chat.id).title == "One"
    assert len(asked) == 1


def test_many_rows_and_what_the_clock_says_are_asked_for_each_time(
    store: Store, asked: list[str]
) -> None:
    with store.db.transaction() as tx:
        for number in range(MOST_ROWS + 1):
            tx.execute(
                "INSERT INTO users (id, email, name, created_at) VALUES (:id, :id, '', now())",
                {"id": f"u{number}"},
            )
    for sql in ("SELECT id FROM users", "SELECT count(*) FROM users WHERE created_at < now()"):
        asked.clear()
        assert store.db.read(sql) == store.db.read(sql)
        assert len(asked) == 2


def test_readers_beside_a_writer_see_nothing_old(store: Store, scope: Scope) -> None:
    """Each reader sees numbers that only grow, by a question that is kept and by one that is not,
    and after its own write never less than what it wrote."""
    chat = chats.create(store.db, scope, title="0")
    kept = "SELECT title FROM chats WHERE id = :id"
    plain = "SELECT title, now() AS at FROM chats WHERE id = :id"
    over, wrong = threading.Event(), list[tuple[int, int]]()

    def look(seed: int) -> None:
        chance, last = random.Random(seed), 0
        while not over.is_set():
            (row,) = store.db.read(chance.choice((kept, plain)), {"id": chat.id})
            if int(row["title"]) < last:
                wrong.append((last, int(row["title"])))
            last = int(row["title"])

    threads = [threading.Thread(target=look, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for number in range(1, 200):
        chats.rename(store.db, scope, chat.id, str(number))
        assert chats.get(store.db, scope, chat.id).title == str(number)
    over.set()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize(
    ("sql", "tables"),
    [
        ("UPDATE chats SET title = title WHERE id = $id", set()),
        ("UPDATE jobs SET state = state, total = 2 WHERE id = $id", {"jobs"}),
        ("UPDATE chats AS c SET updated_at = $at WHERE EXISTS (SELECT 1 FROM files)", {"chats"}),
        ('INSERT INTO "files" VALUES ($id) ON CONFLICT (id) DO UPDATE SET name = $name', {"files"}),
        ("INSERT OR REPLACE INTO files SELECT * FROM jobs", {"files"}),
        ("delete from chats where id in (select chat_id from messages)", {"chats"}),
        ("ALTER TABLE chats ADD COLUMN a INTEGER", None),
        ("SELECT * FROM chats", set()),
    ],
)
def test_what_a_statement_writes(sql: str, tables: set[str] | None) -> None:
    assert written_by(sql) == tables


@pytest.mark.parametrize(
    ("sql", "tables"),
    [
        ("SELECT 1 FROM chats c, files f WHERE EXISTS (SELECT 1 FROM jobs)", "chats files jobs"),
        ("SELECT now() FROM chats", ""),
        ("SELECT * FROM leaf_migrations", ""),
        ("INSERT INTO chats VALUES (1) RETURNING id", ""),
    ],
)
def test_what_a_statement_reads(sql: str, tables: str) -> None:
    assert tables_of(sql) == tuple(tables.split())


def test_a_stranger_is_not_answered_with_anothers_rows(store: Store, scope: Scope) -> None:
    chat = chats.create(store.db, scope, title="Mine")
    assert chats.get(store.db, scope, chat.id).title == "Mine"
    ben = users.ensure_user(store.db, "ben@example.org", "Ben")
    with pytest.raises(NotFoundError):
        chats.get(store.db, Scope(scope.workspace_id, ben.user_id), chat.id)
