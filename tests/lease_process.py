"""A process among several over one PostgreSQL: it writes answers, and takes commands as lines.

    python -m tests.lease_process HOME DATABASE_URL MODEL_URL BEAT SILENCE STOP

`ask TEXT` says the answer's id, `stop ID` and `follow ID` say `done`; `follow` keeps when each word
of an answer came, which `heard` says. SIGTERM ends it as it ends the app.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from leaf.runs.board import QueueLimits
from leaf.runs.presence import LeaseTimes
from tests.runs_kit import Desk

PER_USER = 3


class Commands:
    """What the test asks of it."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._heard: list[tuple[float, str]] = []

    def ask(self, text: str) -> str:
        return self._desk.ask(text).id

    def stop(self, message_id: str) -> str:
        self._desk.runs.stop(message_id)
        return "done"

    def follow(self, message_id: str) -> str:
        threading.Thread(target=self._follow, args=[message_id], daemon=True).start()
        return "done"

    def heard(self, _: str) -> str:
        return json.dumps(self._heard)

    def rename(self, text: str) -> str:
        """`CHAT TITLE`; says when it was committed."""
        from leaf.store import chats

        chat_id, _, title = text.partition(" ")
        chats.rename(self._desk.db, self._desk.scope, chat_id, title)
        return str(time.time())

    def changed(self, seconds: str) -> str:
        """When a chat changed next, at most so many seconds from now."""
        hub = self._desk.db.changes
        hub.wait(self._desk.scope.workspace_id, hub.position, float(seconds), ["chats"])
        return str(time.time())

    def _follow(self, message_id: str) -> None:
        while (run := self._desk.runs.watch(message_id)) is None:
            time.sleep(0.01)
        position, done = 0, False
        while not done:
            piece = run.read(position, 1.0)
            position, done = piece.position, piece.done
            self._heard += [
                (time.time(), c["delta"]) for c in piece.chunks if c["type"] == "text-delta"
            ]


def main(arguments: list[str]) -> None:
    home, database_url, model_url = arguments[:3]
    beat, silence, stop = map(float, arguments[3:])
    desk = Desk(
        Path(home),
        model_url,
        database_url=database_url,
        limits=QueueLimits(PER_USER, 20),
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
