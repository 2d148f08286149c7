"""What one process of several does about answers, act by act and without its threads: its board, its
dispatcher, what it knows of others and how it follows them, over a real PostgreSQL and a run database."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
from dbos import DBOS

from leaf.runs.board import QueueLimits, RunBoard, ticket_of
from leaf.runs.dispatch import Dispatcher
from leaf.runs.elsewhere import Elsewhere
from leaf.runs.engine import STREAM, VERSION, Engine
from leaf.runs.keeper import Keeper
from leaf.runs.presence import LeaseTimes, Presence
from leaf.runs.runs import Runs
from leaf.settings import Settings
from leaf.shapes.chunks import Chunk
from leaf.store import Store, chats, leases, messages, open_store, users
from leaf.store.changes import Hub
from leaf.store.database import now
from leaf.store.leases import Holder
from leaf.store.model import Chat, Scope, Unfinished
from tests.runs_kit import MODEL, wait_until

TIMES = LeaseTimes(beat=3.0, silence=30.0, stop=2.0)


@dataclass
class Place:
    """The databases, with what was begun in the run database: nothing is answered there, and a run
    is held as long as the test wants."""

    store: Store
    engine: Engine
    connection: psycopg.Connection[tuple[Any, ...]]
    scope: Scope
    begun: list[str] = field(default_factory=list)
    held: threading.Event = field(default_factory=threading.Event)
    streams: list[list[Chunk]] = field(default_factory=list)
    """What the next runs stream before they are held."""

    @property
    def db(self) -> Any:
        return self.store.db

    def answer(self, message_id: str) -> None:
        for piece in self.streams:
            DBOS.write_stream(STREAM, piece)
        self.begun.append(message_id)
        self.held.wait(60)

    def empty(self) -> None:
        """As at the beginning of a test: nothing runs, waits or was begun."""
        self.held.set()
        sql = "SELECT workflow_uuid FROM dbos.workflow_status"
        records = [str(row[0]) for row in self.rows(sql)]
        wait_until(lambda: all(r.over for r in self.engine.records(records).values()))
        self.engine.forget(records)
        self.rows("DELETE FROM run_leases")
        self.rows("DELETE FROM processes")
        self.rows("DELETE FROM messages")
        self.begun.clear()
        self.streams.clear()

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        done = self.connection.execute(sql.encode())
        return done.fetchall() if done.description else []

    def chat(self) -> Chat:
        return chats.create(self.db, self.scope, model=MODEL)

    def asked(self, chat: Chat | None = None) -> Unfinished:
        """A question that waits."""
        chat_id = (chat or self.chat()).id
        answer = messages.add_exchange(self.db, self.scope, chat_id, [], model=MODEL).answer
        return self.found(answer.id)

    def written(self, by: str, version: str = VERSION) -> Unfinished:
        """An answer that a process writes."""
        found = self.asked()
        assert leases.claim(self.db, found.scope, found.message.id, Holder(by, version, 99))
        return self.found(found.message.id)

    def left(self, version: str = VERSION) -> Unfinished:
        """An answer that nobody writes any more."""
        found = self.written("gone", version)
        leases.unscoped_leave(self.db, "gone")
        return found

    def of_before(self) -> Unfinished:
        """An answer that is written without a lease."""
        found = self.asked()
        leases.claim(self.db, found.scope, found.message.id)
        return self.found(found.message.id)

    def age(self, found: Unfinished, seconds: float) -> None:
        with self.db.transaction(found.scope) as tx:
            tx.execute(
                "UPDATE messages SET updated_at = :at WHERE id = :id",
                {"at": now() - timedelta(seconds=seconds), "id": found.message.id},
            )

    def found(self, message_id: str) -> Unfinished:
        found = messages.unscoped_get(self.db, message_id)
        assert found is not None
        return found

    def status(self, found: Unfinished) -> str:
        return self.found(found.message.id).message.status

    def holder(self, found: Unfinished) -> str | None:
        """Whose answer it is: empty for nobody's, None without a lease."""
        sql = f"SELECT process_id FROM run_leases WHERE message_id = '{found.message.id}'"
        rows = self.rows(sql)
        return str(rows[0][0]) if rows else None

    def processes(self) -> set[str]:
        return {str(row[0]) for row in self.rows("SELECT id FROM processes")}


class Here:
    """One process."""

    def __init__(
        self,
        place: Place,
        limits: QueueLimits | None = None,
        others_changed: Callable[[], None] = lambda: None,
        hourly: Sequence[Callable[[], None]] = (),
    ) -> None:
        db, engine = place.db, place.engine
        self.place = place
        self.board = RunBoard(Hub(), limits or QueueLimits(99, 99))
        self.dispatcher = Dispatcher(self.board, db, engine)
        self.presence = Presence(self.board, self.dispatcher, db, engine, TIMES, others_changed)
        self.keeper = Keeper(self.board, self.dispatcher, db, engine, hourly, self.presence)
        self.elsewhere = Elsewhere(self.board, db, engine)
        self.runs = Runs(lambda *_: None, place.store, engine, self.board.limits, times=TIMES)
        self.runs.board, self.runs._dispatcher = self.board, self.dispatcher
        self.runs._launched = True
        self.runs._end_listening()
        self.dispatcher.holder = self.presence.holder
        leases.unscoped_enter(db, self.presence.holder)

    @property
    def id(self) -> str:
        return self.presence.holder.id

    def waits(self) -> list[str]:
        return [entry.message_id for entry in self.board.waiting.entries()]

    def writes(self, found: Unfinished | None = None) -> Unfinished:
        """An answer that this process writes."""
        found = found or self.place.written(self.id)
        self.board.remember(ticket_of(found))
        return found


@contextmanager
def opened(home: Path, url: str) -> Iterator[Place]:
    """There is one in a process at a time."""
    store = open_store(Settings(home=home, database_url=url))
    engine = Engine(home, url)
    with psycopg.connect(url, autocommit=True) as connection:
        place = Place(store, engine, connection, users.ensure_local_user(store.db))
        engine.launch(place.answer)
        try:
            yield place
        finally:
            place.held.set()
            engine.close()
            store.close()
