"""Runs that another process writes: what they grow by is told by it, and all of it is read from
their streams in the run database. And questions that wait in one: where they stand says the history."""

from __future__ import annotations

import logging
import threading
from dataclasses import replace
from functools import partial

from leaf.agent.ends import STOPPED
from leaf.agent.events import Chunk, chunk
from leaf.errors import RunError, StoreError
from leaf.runs.batches import BatchFollower, told
from leaf.runs.board import ELSEWHERE, RunBoard
from leaf.runs.engine import MARKS, Engine
from leaf.runs.run import Run
from leaf.runs.waiting import QueuePlace
from leaf.store import leases, messages
from leaf.store.database import Database

logger = logging.getLogger(__name__)


class Elsewhere:
    """Follows runs of other processes."""

    def __init__(self, board: RunBoard, db: Database, engine: Engine) -> None:
        self._board = board
        self._db = db
        self._engine = engine
        self._followers: dict[str, BatchFollower] = {}
        db.changes.hear(self._heard)

    def watch(self, message_id: str) -> Run | None:
        """A run that another process writes, read from its stream by one thread for all viewers
        here."""
        answer = messages.unscoped_get(self._db, message_id)
        if (
            answer is None
            or answer.message.status != "streaming"
            or self._engine.record(message_id) is None
        ):
            return None
        with self._board.news:
            if message_id in self._board.runs:
                return self._board.runs[message_id]
            run = self._board.runs[message_id] = Run(message_id)
            run.elsewhere = True
            follower = self._followers[message_id] = BatchFollower(partial(_show, run))
        threading.Thread(
            target=self._follow, args=(run, follower), name=f"follow-{message_id}", daemon=True
        ).start()
        return run

    def place(self, message_id: str) -> QueuePlace | None:
        """Where a question stands that waits here or in another process. How many come before it the
        history knows, since this process knows only what it writes and has waiting itself."""
        question = leases.unscoped_standing(self._db, message_id)
        if question is None:
            return None
        here = self._board.place(message_id)
        if here is not None and here.limit == "process":
            return replace(here, ahead=question.ahead)
        full = question.written >= self._board.limits.per_user
        return QueuePlace(question.ahead, "person" if full else "")

    def running_chats(self, workspace_id: str) -> frozenset[str]:
        """Ids of the workspace's chats in which an answer is being written or waits, by whichever
        process."""
        return leases.unscoped_running_chats(self._db, workspace_id)

    def _heard(self, line: str) -> None:
        """Another process told of an answer, which nobody here may want to see."""
        message_id = line.partition(" ")[0]
        follower = self._followers.get(message_id)
        if follower is None:
            return
        try:
            if not follower.hear(told(line)[1]):
                self._engine.wake_readers(message_id)
        except RunError as e:
            logger.warning("run %s: %s", message_id, e)

    def _follow(self, run: Run, follower: BatchFollower) -> None:
        try:
            for chunks in self._engine.read_stream(run.message_id):
                if run.ended_at is not None:
                    return  # or this process has it by now
                follower.read(chunks)
                if run.ended_at is not None or not (chunks or self._goes_on(run.message_id)):
                    break  # at its end, or saved by one that was gone before it could say so
        except Exception as e:  # noqa: BLE001 - a viewer must never wait for nothing; the answer itself is written elsewhere
            logger.warning("run %s cannot be watched: %s", run.message_id, type(e).__name__)
        finally:
            with self._board.news:
                if self._followers.get(run.message_id) is follower:
                    del self._followers[run.message_id]
        if run.ended_at is None:
            run.emit(self._last_of(run.message_id))

    def _goes_on(self, message_id: str) -> bool:
        answer = messages.unscoped_get(self._db, message_id)
        return answer is not None and answer.message.status in ("pending", "streaming")

    def _last_of(self, message_id: str) -> Chunk:
        try:
            answer = messages.unscoped_get(self._db, message_id)
            goes_on = answer is not None and answer.message.status in ("pending", "streaming")
        except StoreError:  # nobody knows how it stands, and whoever watches looks again
            answer, goes_on = None, True
        if goes_on:
            with self._board.news:  # another run of it is followed when somebody looks again
                run = self._board.runs.get(message_id)
                if run is not None and run.elsewhere:
                    del self._board.runs[message_id]
            return chunk("abort", reason=ELSEWHERE)
        if answer is not None and answer.message.status == "completed":
            return chunk("finish", finishReason="stop")
        if answer is not None and answer.message.status == "stopped":
            return chunk("abort", reason=STOPPED)
        return chunk(
            "error",
            errorText=answer.message.error if answer else "The chat of this answer was deleted.",
        )


def _show(run: Run, c: Chunk) -> None:
    if c["type"] not in MARKS:
        run.emit(c)
