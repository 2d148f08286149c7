"""Begins what waits here, and what was left unfinished: claimed in the history, begun in the run
database."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence, Set

from leaf import logs
from leaf.agent.ends import STOPPED
from leaf.agent.events import reduce
from leaf.agent.steps import parse_step
from leaf.errors import LeafError, RunError, StoreError
from leaf.runs import failures
from leaf.runs.board import BUSY_SECONDS, RunBoard, ticket_of
from leaf.runs.engine import VERSION, Engine, KeptStep, Record
from leaf.runs.waiting import QueueEntry
from leaf.shapes.chunks import Chunk, LastChunk, chunk
from leaf.shapes.parts import UsageData
from leaf.store import leases, lost_access, messages
from leaf.store.database import Database
from leaf.store.leases import Holder
from leaf.store.model import Status, Unfinished

logger = logging.getLogger(__name__)

SAFETY_SECONDS = 30.0
"""Longest sleep while nothing is told."""
FAILED_SECONDS = 2.0
"""How long a question is left whose answer could not be claimed."""
DAMAGED = "This answer was interrupted too often and was given up. Ask again."


class Dispatcher:
    """Begins runs, and ends those that are not to go on."""

    def __init__(self, board: RunBoard, db: Database, engine: Engine) -> None:
        self._board = board
        self._db = db
        self._engine = engine
        self.holder: Holder | None = None
        """This process, once it is among others of the same history."""
        self.unsure: set[str] = set()
        """Answers of which it is not known whether they were claimed: the database fell over under
        it."""

    def dispatch(self) -> None:
        """Begin what waits, as far as the limits allow. Runs until `close`."""
        while not self._board.ending:
            with self._board.news:
                doubtful = self._board.doubtful() if self.holder else frozenset()
                entry = None if doubtful else self._board.next()
                self._board.claiming = entry is not None
                offers = entry is None and self._board.to_offer()
                if not (doubtful or entry or offers):
                    now = time.monotonic()
                    busy = (until - now for until in self._board.busy_until.values())
                    self._board.news.wait(min([SAFETY_SECONDS, *busy]))
            if doubtful:
                self._let_go_of_begun(doubtful)
            if entry is not None:
                self._try(entry)
            elif offers:
                self._offer()

    def _try(self, entry: QueueEntry) -> None:
        """Begin it, if that can be."""
        try:
            self._claim(entry)
        except LeafError as e:
            self._put_off(entry, e)
        except Exception:  # all others that wait are begun by this thread
            logger.exception("run %s could not be claimed", entry.message_id)
            self._put_off(
                entry,
                RunError(
                    "This question could not be begun, by a fault of Leaf.",
                    "The log has the details.",
                ),
            )
        finally:
            self._board.claiming = False

    def _let_go_of_begun(self, doubtful: Set[str]) -> None:
        """Let go of those that were begun, stopped or withdrawn by another process: whoever watches
        one here turns to that. Without room here they would not be tried, and seem to wait."""
        try:
            waiting = leases.unscoped_waiting(self._db, doubtful)
        except Exception as e:  # noqa: BLE001 - this thread begins all that waits
            logger.warning("it is not known what others have begun: %s", logs.reason(e))
            return
        for message_id in doubtful - waiting - self.unsure:  # which may have been claimed here
            self._board.waits_no_more(message_id)

    def _put_off(self, entry: QueueEntry, error: LeafError) -> None:
        """Try it again in a while, and say why it waits."""
        logger.warning("run %s waits: %s", entry.message_id, logs.reason(error))
        self.unsure.add(entry.message_id)
        self._board.leave_alone(entry.chat_id, FAILED_SECONDS)
        self._board.say_why(entry.message_id, error.message)

    def _offer(self) -> None:
        """Let the others know that a question waits here for nothing but room. Where that cannot be
        said, they find it when they look next."""
        try:
            leases.unscoped_offer(self._db)
        except Exception as e:  # noqa: BLE001 - this thread begins all that waits
            logger.warning("others were not told of a question that waits: %s", logs.reason(e))

    def _claim(self, entry: QueueEntry) -> None:
        told = self._board.told
        claimed = leases.claim(self._db, entry.scope, entry.message_id, self.holder)
        if claimed == "gone" and self.holder and self._was_claimed(entry.message_id):
            claimed = "claimed"  # then already, and nobody said so
        self.unsure.discard(entry.message_id)
        if claimed in ("busy", "full"):
            one = entry.chat_id if claimed == "busy" else entry.scope.user_id
            self._board.leave_alone(one, BUSY_SECONDS, told)
        elif claimed == "gone" and self.holder:
            self._board.let_go(entry.message_id)
        elif claimed == "gone":
            with self._board.news:
                self._board.waiting.remove(entry.message_id)
        else:
            self._board.remember(entry)
            self.begin(entry.message_id)

    def _was_claimed(self, message_id: str) -> bool:
        """Whether this process claimed it before, and the word of that was lost."""
        return message_id in self.unsure and self.is_mine(message_id)

    def begin(self, message_id: str) -> None:
        """Hand a claimed run to the run database; if that cannot be written, later again."""
        try:
            self._engine.begin(message_id)
        except Exception as e:  # noqa: BLE001 - whatever the database throws, the answer is still owed
            logger.warning("run %s could not be begun yet: %s", message_id, type(e).__name__)
            self._board.park(message_id, str(failures.explain(e, shared=self._engine.shared)))

    def begin_again(self, message_id: str) -> None:
        """The same for one that was left for a while: another may have taken it meanwhile."""
        try:
            mine = self.is_mine(message_id)
        except StoreError as e:  # the database is still away, and the answer still owed
            self._board.park(message_id, e.message)
            return
        if mine:
            self.begin(message_id)
        else:
            self._board.let_go(message_id)

    def is_mine(self, message_id: str) -> bool:
        """Whether this process may write an answer that it has begun. Raises StoreError."""
        if self.holder is None:
            return True
        return leases.unscoped_token(self._db, message_id, self.holder.id) is not None

    def take(self, found: Unfinished) -> None:
        self._board.remember(ticket_of(found))
        self.begin(found.message.id)

    def recover(self) -> None:
        """Everything that the history calls unfinished goes on: it waits again, is begun again, or
        gets an end that says why. For a process that has its history alone.

        What only the run database calls unfinished finds nothing to do, and then that says so, too.
        """
        self.end_lost()
        left = [record.message_id for record in self._engine.left() if self._engine.again(record)]
        unfinished = messages.unscoped_unfinished(self._db)
        known = self._engine.records([f.message.id for f in unfinished])
        for answer in unfinished:
            try:
                self._recover_one(answer, known.get(answer.message.id))
            except LeafError as e:
                logger.warning("run %s was not recovered: %s", answer.message.id, logs.reason(e))
        for message_id in set(left).difference(answer.message.id for answer in unfinished):
            self.begin(message_id)

    def end_lost(self) -> None:
        """End what can be saved by nobody: who asked has no access any more."""
        for message_id in lost_access.unscoped_stop(self._db):
            logger.info("run %s ends: who asked does not see its chat any more", message_id)

    def finish_records(self) -> None:
        """Where there are other processes: what only the run database calls unfinished, of earlier
        ones in this one's place."""
        unfinished = {answer.message.id for answer in messages.unscoped_unfinished(self._db)}
        for record in self._engine.left():
            if record.message_id not in unfinished:
                self.begin(record.message_id)

    def go_on(self, found: Unfinished, *, stop: bool = False) -> None:
        """Go on with an answer that is this process's now and was another's."""
        record = self._engine.record(found.message.id)
        if stop or (record and record.stop_wanted):
            self.end(found, "stopped", elsewhere=True)
        elif record and not record.over and not self._engine.again(record):
            self.end(found, "error", DAMAGED)
        else:
            self._recover_one(found, record)

    def _recover_one(self, answer: Unfinished, record: Record | None) -> None:
        if record is None and answer.message.status == "pending":
            self._board.wait(ticket_of(answer))
        elif record is None:
            self.take(answer)
        elif record.gave_up:
            self.end(answer, "stopped" if record.stop_wanted else "error", DAMAGED)
        elif record.over or record.version != VERSION:
            self._begin_anew(answer)
        elif record.executor in self._engine.executors or self.holder:
            self.take(answer)

    def _begin_anew(self, answer: Unfinished) -> None:
        """For a record that cannot be gone on with: another version's, or one that ended without
        the history knowing."""
        now = messages.unscoped_get(self._db, answer.message.id)
        if now is None or now.message.status not in ("pending", "streaming"):
            return  # it ended while we looked
        self._engine.forget([answer.message.id])
        self.take(now)

    def end(
        self, found: Unfinished, status: Status, error: str = "", *, elsewhere: bool = False
    ) -> None:
        """Save what the finished steps have shown, for a run that is not to go on; of one that was
        written `elsewhere` all that was."""
        chunks = self._shown_so_far(found.message.id, elsewhere=elsewhere)
        error = error if status == "error" else ""
        last: LastChunk = (
            chunk("error", errorText=error) if error else chunk("abort", reason=STOPPED)
        )
        message = found.message
        usage: UsageData = {"model": message.model}
        messages.finish(
            self._db,
            found.scope,
            message.id,
            parts=reduce([*chunks, last]),
            raw=[],
            usage=usage,
            status=status,
            error=error,
        )
        with self._board.news:
            if run := self._board.runs.get(message.id):
                run.emit(last)

    def _shown_so_far(self, message_id: str, *, elsewhere: bool) -> list[Chunk]:
        if elsewhere and self._engine.record(message_id) is not None:
            return self._engine.streamed(message_id)
        return [
            c
            for step in self._engine.kept_steps(message_id)
            if not step.failed
            for c in _shown(step)
        ]


def _shown(kept_step: KeptStep) -> Sequence[Chunk]:
    """What a step has shown; nothing of one whose value cannot be read."""
    try:
        step = parse_step(kept_step.name, kept_step.value)
    except RunError as e:
        logger.warning("step %s: %s", kept_step.name, e)
        return ()
    return step.shown if step else ()
