"""Many who ask at once over few connections: they wait for one another, nobody fails, nothing is lost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from leaf.errors import StoreAwayError
from leaf.store import chats, messages
from leaf.store.database import Database
from leaf.store.postgres import CONNECTIONS, PostgresDatabase
from tests import postgres
from tests.messages_server import MessagesServer, Turn
from tests.runs_kit import Desk, text_of, wait_until

pytestmark = pytest.mark.postgres
MOST = 20
THREADS = 60


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with postgres.server(MOST) as started:
        yield started


def test_sixty_at_once_over_ten_connections_of_twenty_lose_nothing(
    address: str, tmp_path: Path
) -> None:
    """While answers are written, whose records have a pool of their own (DBOS)."""
    with (
        MessagesServer(lambda _: Turn.say("Done.", pieces=4, delay=0.1)) as server,
        Desk(tmp_path, server.url, database_url=postgres.fresh(address)) as desk,
    ):
        desk.runs.launch()
        db, scope = desk.db, desk.scope
        chat_ids = [chats.create(db, scope).id for _ in range(6)]
        asked = [desk.ask(f"question {number}") for number in range(6)]

        def work(number: int) -> int:
            chat_id = chat_ids[number % 6]
            for _ in range(4):
                messages.add_exchange(db, scope, chat_id, [{"type": "text", "text": str(number)}])
                messages.thread(db, scope, chat_id)
            return len(chats.list_chats(db, scope))

        with ThreadPoolExecutor(THREADS) as pool:
            seen = list(pool.map(work, range(THREADS)))
        assert min(seen) >= len(chat_ids)
        kept = db.read("SELECT count(*) AS n FROM messages WHERE role = 'user'")[0]["n"]
        assert kept == THREADS * 4 + len(asked)
        for answer in asked:
            assert text_of(desk.end(answer.id)) == "Done."
        assert _open_now(db) <= MOST


def _open_now(db: Database) -> int:
    return int(
        db.read("SELECT count(*) AS n FROM pg_stat_activity WHERE backend_type = 'client backend'")[
            0
        ]["n"]
    )


def test_a_server_out_of_connections_is_said_and_gone_on_with_when_it_has_some(
    address: str,
) -> None:
    url = postgres.fresh(address)
    taken: list[psycopg.Connection] = []
    db = PostgresDatabase(url)
    db._let_go_idle()
    try:
        with suppress(psycopg.OperationalError):
            while len(taken) <= MOST:
                taken.append(psycopg.connect(url))
        assert len(taken) <= MOST
        with pytest.raises(StoreAwayError, match="it takes no more connections") as caught:
            db.read("SELECT 1 AS one")
        assert "nothing was lost" in caught.value.hint
        time.sleep(0.5)
    finally:
        for connection in taken:
            connection.close()
    wait_until(lambda: _reads(db))
    assert db._free._value == CONNECTIONS, "a call that failed has given its place back"
    db.close()


def _reads(db: PostgresDatabase) -> bool:
    try:
        return db.read("SELECT 1 AS one") == [{"one": 1}]
    except StoreAwayError:
        return False
