"""A process among several over one PostgreSQL: it writes answers, and takes commands as lines.

    python -m tests.lease_process HOME DATABASE_URL MODEL_URL BEAT SILENCE STOP TOTAL

Each command is answered by a line. SIGTERM ends it as it ends the app.
"""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path
from typing import Any

from leaf.runs import keeper
from leaf.runs.board import QueueLimits
from leaf.runs.presence import LeaseTimes
from tests.runs_kit import Desk

PER_USER = 3
keeper.ADOPT_SECONDS = 3600.0
"""What is looked for once a minute would hide that nobody told of it."""


class Commands:
    """What the test asks of it."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def ask(self, text: str) -> str:
        return self._desk.ask(text).id

    def stop(self, message_id: str) -> str:
        self._desk.runs.stop(message_id)
        return "done"

    def ask_after(self, given: str) -> str:
        """`ID TEXT`: a question in the chat of another one."""
        from leaf.store import chats

        message_id, _, text = given.partition(" ")
        chat_id = self._desk.message(message_id).chat_id
        return self._desk.ask(text, chats.get(self._desk.db, self._desk.scope, chat_id)).id

    def withdraw(self, message_id: str) -> str:
        return self._desk.runs.withdraw(self._desk.scope, message_id).id

    def place(self, message_id: str) -> str:
        """How many come before a question that waits, and what else holds it back; `none` for
        another."""
        place = self._desk.runs.place(message_id)
        return f"{place.ahead} {place.limit}".strip() if place else "none"

    def waits(self, _: str) -> str:
        """Ids of what waits in its queue."""
        return " ".join(one.message_id for one in self._desk.runs.board.waiting.entries())

    def shown(self, message_id: str) -> str:
        """What viewers were shown of an answer so far."""
        return "".join(c["delta"] for c in self._desk.shown(message_id, "text-delta"))

    def running(self, _: str) -> str:
        """Chats that are at work."""
        return " ".join(sorted(self._desk.runs.running_chats(self._desk.scope.workspace_id)))

    def load(self, _: str) -> str:
        """How many questions wait in its queue, and how many for room alone."""
        self._desk.runs._presence.adopt()  # type: ignore[union-attr]
        return f"{self._desk.runs.board.load().waiting} {self._desk.runs.for_room()}"

    def rename(self, text: str) -> str:
        """`CHAT TITLE`; says when it was committed."""
        from leaf.store import chats

        chat_id, _, title = text.partition(" ")
        chats.rename(self._desk.db, self._desk.scope, chat_id, title)
        return str(time.time())

    def changed(self, seconds: str) -> str:
        """When a chat changed next, at most so many seconds from now, and what the first of them is
        called then: as a page that waits is drawn again. `ready` is said before it waits."""
        from leaf.store import chats

        hub, scope = self._desk.db.changes, self._desk.scope
        position = hub.position
        print("ready", flush=True)
        hub.wait(scope.workspace_id, position, float(seconds), ["chats"])
        at = time.time()
        return f"{at} {chats.list_chats(self._desk.db, scope)[0].title}"


def main(arguments: list[str]) -> None:
    home, database_url, model_url = arguments[:3]
    beat, silence, stop = map(float, arguments[3:6])
    desk = Desk(
        Path(home),
        model_url,
        database_url=database_url,
        limits=QueueLimits(PER_USER, int(arguments[6])),
        times=LeaseTimes(beat, silence, stop),
    )
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with desk:
        desk.runs.launch()
        commands: Any = Commands(desk)
        print(desk.engine.process_id, flush=True)
        for line in sys.stdin:
            name, _, rest = line.strip().partition(" ")
            print(getattr(commands, name)(rest), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
