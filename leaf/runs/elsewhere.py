"""Runs that another process writes, read from their streams in the run database."""

from __future__ import annotations

import logging
import threading

from leaf.agent.ends import STOPPED
from leaf.agent.events import TERMINAL, Chunk, chunk
from leaf.runs.board import ELSEWHERE, Board
from leaf.runs.engine import Engine
from leaf.runs.run import Run
from leaf.store import messages
from leaf.store.database import Database

logger = logging.getLogger(__name__)


class Elsewhere:
    """Follows runs of other processes."""

    def __init__(self, board: Board, db: Database, engine: Engine) -> None:
        self._board = board
        self._db = db
        self._engine = engine

    def watch(self, message_id: str) -> Run | None:
        """A run that another process writes, read from its stream by one thread for all viewers
        here."""
        found = messages.unscoped_get(self._db, message_id)
        if (
            found is None
            or found.message.status != "streaming"
            or self._engine.record(message_id) is None
        ):
            return None
        with self._board.news:
            if message_id in self._board.runs:
                return self._board.runs[message_id]
            run = self._board.runs[message_id] = Run(message_id)
            run.elsewhere = True
        threading.Thread(
            target=self._follow, args=(run,), name=f"follow-{message_id}", daemon=True
        ).start()
        return run

    def _follow(self, run: Run) -> None:
        last: Chunk | None = None
        try:
            for chunks in self._engine.read_stream(run.message_id):
                if run.ended_at is not None:
                    return  # this process has it by now
                for c in chunks:
                    if c["type"] in TERMINAL:
                        last = c  # streamed once the answer is saved
                    elif c["type"] != "begin":
                        run.emit(c)
                if last is not None or not (chunks or self._goes_on(run.message_id)):
                    break  # at its end, or saved by one that was gone before it could say so
        except Exception as e:  # noqa: BLE001 - a viewer must never wait for nothing; the answer itself is written elsewhere
            logger.warning("run %s cannot be watched: %s", run.message_id, type(e).__name__)
        run.emit(last or self._last_of(run.message_id))

    def _goes_on(self, message_id: str) -> bool:
        found = messages.unscoped_get(self._db, message_id)
        return found is not None and found.message.status in ("pending", "streaming")

    def _last_of(self, message_id: str) -> Chunk:
        found = messages.unscoped_get(self._db, message_id)
        if found is not None and found.message.status in ("pending", "streaming"):
            with self._board.news:  # another run of it is followed when somebody looks again
                run = self._board.runs.get(message_id)
                if run is not None and run.elsewhere:
                    del self._board.runs[message_id]
            return chunk("abort", reason=ELSEWHERE)
        if found is not None and found.message.status == "completed":
            return chunk("finish", finishReason="stop")
        if found is not None and found.message.status == "stopped":
            return chunk("abort", reason=STOPPED)
        return chunk(
            "error",
            errorText=found.message.error if found else "The chat of this answer was deleted.",
        )
