"""The process that `bench.faults` kills: Leaf with two tools of its own, many questions, and
nothing else.

Its model is a server in the process that kills, so that what was asked of it can be counted over
all lives of this one.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import logging
import os
import resource
import signal
import threading
import time
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from leaf.agent.endpoint import Endpoint
from leaf.agent.events import reduce
from leaf.agent.finishers import FINISHERS
from leaf.agent.loop import Agent
from leaf.agent.models.base import Model
from leaf.agent.models.claude import ClaudeModel
from leaf.documents.documents import DocumentService
from leaf.drive.drive import DriveService
from leaf.files.library import Library
from leaf.runs.board import QueueLimits
from leaf.runs.engine import Engine
from leaf.runs.execute import Executor
from leaf.runs.runs import Runs
from leaf.sandbox.pool import Pool
from leaf.settings import RunLimits, Settings
from leaf.shapes.chunks import Chunk
from leaf.shapes.parts import Part
from leaf.store import Store, chats, messages, open_store, users
from leaf.store.model import Message, Scope
from leaf.tables.tables import Tables
from leaf.tools.base import Tool, ToolContext, ToolOutput

Json = dict[str, Any]
AT_ONCE = 20


class NoteInput(BaseModel):
    text: str


def _never(*_: Any) -> ToolOutput:
    raise AssertionError("tools are run through the executor's run_tool")


TOOLS = [Tool(name, "Writes a note.", NoteInput, _never) for name in ("note", "slow_note")]
SCHEMAS = [
    {
        "name": t.name,
        "description": t.description,
        "input_schema": t.input_model.model_json_schema(),
    }
    for t in TOOLS
]


class Ledger:
    """What the tools did: `tried` gets a line for each execution, `done` one for each effect, which
    is made once a key."""

    def __init__(self, home: Path) -> None:
        self.tried = home / "tried.txt"
        self.done = home / "done.txt"

    def run_tool(self, name: str, given: Json, context: ToolContext) -> ToolOutput:
        _append(self.tried, context.key)
        if name == "slow_note":
            context.stop.wait(0.15)
        with self.done.open("a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            if context.key not in file.read().splitlines():
                file.write(context.key + "\n")
        return ToolOutput(f"noted {given['text']}", f"Noted {given['text']}")


def _append(path: Path, line: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(descriptor, f"{line}\n".encode())
    os.close(descriptor)


class DyingExecutor(Executor):
    """Dies between the commit of an answer to the history and the run's last checkpoint, the first
    few times."""

    deaths = 0

    def _save(self, *given: Any) -> None:
        super()._save(*given)
        if self.deaths > 0:
            os.kill(os.getpid(), signal.SIGKILL)


def make_runs(home: Path, model: Model, *, die_after_save: bool = False) -> tuple[Runs, Store]:
    """Leaf's runs over `home`, with the tools above."""
    settings = Settings(home=home)
    store = open_store(settings)
    pool = Pool(home)
    library, tables = Library(store, pool, home, limit_bytes=1_000_000), Tables(store, pool, home)
    agent = Agent(Endpoint(model, lambda model: "claude"), TOOLS, SCHEMAS, FINISHERS)
    kind = DyingExecutor if die_after_save else Executor
    drive, documents = DriveService(settings, store, library), DocumentService(store, pool, library)
    executor = kind(
        store, library, tables, drive, documents, agent, RunLimits(), Ledger(home).run_tool
    )
    if isinstance(executor, DyingExecutor):
        executor.deaths = 1
    return Runs(executor, store, Engine(home), QueueLimits(AT_ONCE, AT_ONCE)), store


def ask(runs: Runs, store: Store, scope: Scope, text: str) -> Message:
    """A question in a chat of its own."""
    chat = chats.create(store.db, scope, model="claude-sonnet-5-5")
    raw = [{"role": "user", "content": [{"type": "text", "text": text}]}]
    parts: list[Part] = [{"type": "text", "text": text, "state": "done"}]
    answer = messages.add_exchange(
        store.db, scope, chat.id, parts, raw=raw, model="claude-sonnet-5-5", title=text
    ).answer
    runs.start(scope, answer)
    return answer


def questions(store: Store, scope: Scope) -> dict[str, str]:
    """Chat title -> id of its answer, for the chats in which something was asked before the
    kill."""
    return {
        chat.title: chat.head_id
        for chat in chats.list_chats(store.db, scope, limit=10_000)
        if chat.head_id
    }


def compare_views(runs: Runs, store: Store, scope: Scope, home: Path) -> list[threading.Thread]:
    """Read each run from its beginning while it lives, and compare what a viewer saw with what the
    history keeps: a thread each, which ends with it."""

    def follow(message_id: str) -> None:
        run = runs.watch(message_id)
        chunks: list[Chunk] = []
        position, done = 0, run is None
        while run is not None and not done:
            piece = run.read(position, 0.5)
            chunks += piece.chunks
            position, done = piece.position, piece.done
        kept = messages.get(store.db, scope, message_id)
        streamed = [c for batch in runs._engine.read_stream(message_id) for c in batch]
        _append(
            home / "views.txt",
            f"{message_id} {_parts(chunks) == kept.parts} {_parts(streamed) == kept.parts}",
        )

    followers = [
        threading.Thread(target=follow, args=(message_id,), daemon=True)
        for message_id in questions(store, scope).values()
        if runs.watch(message_id) is not None
    ]
    for follower in followers:
        follower.start()
    return followers


def _parts(chunks: list[Chunk]) -> list[Part]:
    """What a viewer ends with, as JSON has it."""
    parts: list[Part] = json.loads(json.dumps(reduce(chunks)))
    return [part for part in parts if part["type"] != "data-status"]


def fill_disk(seconds: float) -> None:
    """No file of this process can grow any more, for a while: what a full disk looks like to a
    database."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    say("DISK FULL")
    time.sleep(seconds)
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    say("DISK FREE")


def jump_clock() -> None:
    """The wall clock leaps a day forward and two back, again and again."""
    true_time, leaps = time.time, [86_400.0, -86_400.0]
    began = time.monotonic()
    time.time = lambda: true_time() + leaps[int((time.monotonic() - began) / 0.3) % 2]


def say(text: str) -> None:
    print(text, flush=True)


def wait_for_all(store: Store, scope: Scope, count: int) -> None:
    while True:
        answers = [messages.get(store.db, scope, i) for i in questions(store, scope).values()]
        if len(answers) >= count and all(a.status not in ("pending", "streaming") for a in answers):
            return
        time.sleep(0.1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path)
    parser.add_argument("url")
    parser.add_argument(
        "--runs",
        type=int,
        default=0,
        help="questions to ask, those counted that were asked in earlier lives",
    )
    parser.add_argument("--die-after-save", action="store_true")
    parser.add_argument("--full-disk", type=float, default=0.0, help="seconds")
    parser.add_argument("--jump-clock", action="store_true")
    parser.add_argument("--views", action="store_true")
    given = parser.parse_args()
    if os.environ.get("LEAF_BENCH_LOG"):
        logging.basicConfig(level=logging.INFO, format="%(relativeCreated)d %(name)s %(message)s")
    if given.jump_clock:
        jump_clock()
    runs, store = make_runs(
        given.home, ClaudeModel("key", given.url, retries=0), die_after_save=given.die_after_save
    )
    scope = users.ensure_local_user(store.db)
    runs.launch()
    say("READY")
    asked = questions(store, scope)
    for number in range(given.runs):
        if f"run-{number}" not in asked:
            ask(runs, store, scope, f"run-{number}")
            say(f"ASKED run-{number}")
    views = compare_views(runs, store, scope, given.home) if given.views else []
    if given.full_disk:
        while not (given.home / "tried.txt").exists():
            time.sleep(0.02)
        fill_disk(given.full_disk)
    wait_for_all(store, scope, given.runs)
    for view in views:
        view.join(timeout=10.0)
    runs.close()
    store.close()
    say("DONE")


if __name__ == "__main__":
    main()
