"""What the tests of runs share: Leaf's runs over a folder, with the small tools of `agent_kit` and
a model server on loopback."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import psycopg

from leaf.agent.models.claude import ClaudeModel
from leaf.budgets.budgets import Budgets
from leaf.documents.documents import DocumentService
from leaf.drive.drive import DriveService
from leaf.files.library import Library
from leaf.runs.board import QueueLimits
from leaf.runs.engine import Engine
from leaf.runs.execute import Executor
from leaf.runs.presence import LeaseTimes
from leaf.runs.runs import Runs
from leaf.sandbox.pool import Pool
from leaf.settings import RunLimits, Settings
from leaf.settings.storage import Storage
from leaf.store import chats, messages, open_store, users
from leaf.store.model import Chat, Message
from leaf.tables.tables import Tables
from tests import agent_kit

Json = dict[str, Any]
MODEL = "claude-sonnet-5-5"
SECONDS = 60.0


class Desk:
    """One process over one folder; a context manager. Leaving it is like ending the app: what runs
    goes on at the next `Desk`."""

    def __init__(
        self,
        home: Path,
        url: str,
        *,
        database_url: str = "",
        patience: float = 30.0,
        limits: QueueLimits | None = None,
        settings: Settings | None = None,
        times: LeaseTimes | None = None,
        storage: Storage | None = None,
        hourly: Sequence[Callable[[], None]] = (),
    ) -> None:
        self.home = home
        settings = replace(
            settings or Settings(),
            home=home,
            database_url=database_url,
            storage=storage or Storage(),
        )
        self.store = open_store(settings)
        self.db = self.store.db
        self.scope = users.ensure_local_user(self.db)
        pool = Pool(home)
        library, tables = (
            Library(self.store, pool, home, limit_bytes=1_000_000),
            Tables(self.store, pool, home),
        )
        agent = agent_kit.agent_for(ClaudeModel("key", url, retries=0), patience=patience)
        self.tools_run: list[str] = []
        drive = DriveService(settings, self.store, library)
        documents = DocumentService(self.store, pool, library)
        budgets = Budgets(self.db, settings)
        executor = Executor(
            self.store,
            library,
            tables,
            drive,
            documents,
            agent,
            RunLimits(),
            self._run_tool,
            budgets,
        )
        self.engine = Engine(home, database_url)
        self.runs = Runs(executor, self.store, self.engine, limits, hourly, times)

    def _run_tool(self, name: str, given: Json, context: Any) -> Any:
        self.tools_run.append(name)
        return agent_kit.run_tool(name, given, context.stop)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.runs.close()
        self.store.close()

    def chat(self) -> Chat:
        return chats.create(self.db, self.scope, model=MODEL)

    def save(self, text: str, chat: Chat | None = None) -> Message:
        """Only save a question and its pending answer: all that a process had done that was killed
        just then."""
        raw = [{"role": "user", "content": [{"type": "text", "text": text}]}]
        parts = [{"type": "text", "text": text, "state": "done"}]
        return messages.add_exchange(
            self.db, self.scope, (chat or self.chat()).id, parts, raw=raw, model=MODEL
        ).answer

    def ask(self, text: str, chat: Chat | None = None) -> Message:
        answer = self.save(text, chat)
        self.runs.start(self.scope, answer)
        return answer

    def message(self, message_id: str) -> Message:
        return messages.get(self.db, self.scope, message_id)

    def end(self, message_id: str) -> Message:
        """The message once it is over."""
        wait_until(lambda: self.message(message_id).status not in ("pending", "streaming"))
        return self.message(message_id)

    def shown(self, message_id: str, kind: str) -> list[Json]:
        """Chunks of one type that a viewer has been shown so far."""
        run = self.runs.watch(message_id)
        return [c for c in run.read().chunks if c["type"] == kind] if run else []

    def watch(self, message_id: str) -> list[Json]:
        """All chunks of a run, to its end."""
        run, chunks, position = self.runs.watch(message_id), [], 0
        assert run is not None
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            piece = run.read(position, 0.5)
            chunks += piece.chunks
            position = piece.position
            if piece.done:
                return chunks
        raise AssertionError("the run did not end")


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < deadline, "it did not come to be"
        time.sleep(0.02)


def wait_for(read: Callable[[], object], expected: object) -> None:
    """Until it reads as expected; else says what it read last."""
    deadline = time.monotonic() + SECONDS
    while (last := read()) != expected:
        assert time.monotonic() < deadline, f"it stayed {last!r}"
        time.sleep(0.02)


def text_of(message: Message) -> str:
    return "\n".join(part["text"] for part in message.parts if part["type"] == "text")


def run_database(
    home: Path, sql: str, *, database_url: str = "", **_: object
) -> list[tuple[Any, ...]]:
    """Have one statement done in the run database, best while no process has it; its rows."""
    if database_url:
        with psycopg.connect(
            database_url, options="-c search_path=dbos", autocommit=True
        ) as server:
            done = server.execute(sql.encode())
            return done.fetchall() if done.description else []
    with closing(sqlite3.connect(home / "runs.sqlite")) as db:
        rows = db.execute(sql).fetchall()
        db.commit()
        return rows
