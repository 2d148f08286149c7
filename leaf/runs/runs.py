"""Start, watch, stop and recover runs: one per assistant message, held by no page, no tab and no
process.

The history is the outbox. A question and its pending answer are saved in one commit; from then on
the answer arrives. A pending answer waits in `Waiting`, is claimed in the history, and is begun in
the run database under the message's id. At the start every answer that the history calls unfinished
is found again, whatever the run database knows. What a run does stands in `execute.py`.

Two threads serve all runs: one begins those whose turn it is, one writes streams and looks after
what was left. Where several processes share a history, one keeps this one's place among them and
one tells them what answers grow by. All sleep until there is something to do.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from leaf import logs
from leaf.agent.ends import STOPPED
from leaf.agent.steps import CitationStep, ModelStep, StepRunner, ToolStep, parse_step
from leaf.errors import LeafError, NotFoundError, RunError, StoreError
from leaf.runs.board import QueueLimits, RunBoard, status_chunk, ticket_of
from leaf.runs.dispatch import Dispatcher
from leaf.runs.elsewhere import Elsewhere
from leaf.runs.engine import Engine, KeptStep, Record
from leaf.runs.keeper import Keeper
from leaf.runs.presence import LeaseTimes, Presence
from leaf.runs.records import RunRecord, StepRecord
from leaf.runs.run import Run
from leaf.runs.shown import keep_shown
from leaf.runs.steps import DurableSteps, LeaveError
from leaf.runs.waiting import QueueEntry, QueuePlace
from leaf.shapes.chunks import Chunk, chunk
from leaf.store import Store, cells, fence, leases, messages
from leaf.store.changes import Change
from leaf.store.database import Database
from leaf.store.fence import Fence, FencedError
from leaf.store.model import Message, Scope, Unfinished

logger = logging.getLogger(__name__)

ENDING_SECONDS = 30.0
"""How long an answer that was deleted while it was written is waited for."""
CLOSING_SECONDS = 5.0
"""How long `close` waits for runs to let go."""


class Execute(Protocol):
    """Carries out one run: streams its chunks into it and saves the message."""

    def __call__(
        self,
        scope: Scope,
        message: Message,
        run: Run,
        steps: StepRunner,
        stream: Callable[[Chunk], None],
    ) -> None: ...


class Runs:
    """All runs of this process."""

    def __init__(
        self,
        execute: Execute,
        store: Store,
        engine: Engine,
        limits: QueueLimits | None = None,
        hourly: Sequence[Callable[[], None]] = (),
        times: LeaseTimes | None = None,
        others_changed: Callable[[], None] = lambda: None,
    ) -> None:
        """`hourly` is done about once an hour, from the launch on; `times` are for where several
        processes share a history, and `others_changed` is done there when one came or went."""
        self._execute = execute
        self._db = store.db
        self._engine = engine
        self.board = RunBoard(store.db.changes, limits or QueueLimits())
        self._dispatcher = Dispatcher(self.board, store.db, engine)
        self._presence = (
            Presence(
                self.board,
                self._dispatcher,
                store.db,
                engine,
                times or LeaseTimes(),
                others_changed,
            )
            if engine.shared
            else None
        )
        self._keeper = Keeper(
            self.board, self._dispatcher, store.db, engine, hourly, self._presence
        )
        self._elsewhere = Elsewhere(self.board, store.db, engine)
        self._launching = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._launched = False
        self._end_listening = store.db.changes.listen(self._heard)

    def launch(self) -> None:
        """Open the run database and go on with everything that was left unfinished. Once is enough.

        Raises StoreError, StoreBusyError, and RunError after `close`.
        """
        with self._launching:
            if self._launched:
                return
            if self.board.closed:
                raise RunError("Leaf is shutting down.", "Ask again when it is back.")
            self._engine.launch(self._answer)
            self._launched = True
            self._recover()
            works = [
                (self._dispatcher.dispatch, "runs-dispatch"),
                (self._keeper.keep, "runs-keeper"),
            ]
            if self._presence is not None:
                works.append((self._presence.keep, "runs-presence"))
                works.append((self._keeper.tell, "runs-teller"))
            for work, name in works:
                thread = threading.Thread(target=work, name=name, daemon=True)
                thread.start()
                self._threads.append(thread)

    def _recover(self) -> None:
        if self._presence is None:
            self._dispatcher.recover()
            return
        self._db.listen()
        self._dispatcher.holder = self._presence.holder
        self._presence.enter()
        self._dispatcher.finish_records()
        self._presence.adopt()

    def _heard(self, changes: Collection[Change]) -> None:
        self.board.heard(changes)
        if self._presence is not None:
            self._presence.heard(changes)

    def start(self, scope: Scope, message: Message) -> None:
        """Answer a pending assistant message when it is its turn. Starting it twice is one run.
        Raises RunError after `close`."""
        if self.board.closed:
            raise RunError("Leaf is shutting down.", "Ask again when it is back.")
        self.launch()
        self.board.wait(QueueEntry(message.id, message.chat_id, scope), asked=True)

    def for_room(self) -> int:
        """How many questions wait for nothing but room (`LEAF_RUNS`), each counted by the process
        that was asked. One statement, where several share a history. Raises StoreError."""
        if self._presence is None:
            return self.board.for_room()
        return self.board.for_room(
            [
                QueueEntry(lease.message_id, lease.chat_id, lease.scope)
                for lease in leases.unscoped_all(self._db)
            ]
        )

    def place(self, message_id: str) -> QueuePlace | None:
        """Where a question stands that waits, in whichever process. Raises StoreError."""
        return (self.board if self._alone else self._elsewhere).place(message_id)

    def running_chats(self, workspace_id: str) -> frozenset[str]:
        """Ids of the workspace's chats in which an answer is being written or waits, in whichever
        process. Raises StoreError."""
        return (self.board if self._alone else self._elsewhere).running_chats(workspace_id)

    @property
    def _alone(self) -> bool:
        return self._presence is None or self.board.alone

    def watch(self, message_id: str) -> Run | None:
        """The run, waiting, live or just finished, readable from its first chunk; None when only
        the history has it."""
        with self.board.news:
            run = self.board.runs.get(message_id)
        if run is None and self._launched and self._engine.shared:
            return self._elsewhere.watch(message_id)
        return run

    def goes_on(self, message_id: str) -> bool:
        """Whether steps of this failed answer are kept, for the next one beside it to go on
        from."""
        return self._launched and bool(self._good_steps(message_id))

    def stop(self, message_id: str) -> None:
        """End a run for good, wherever it runs; what it has shown is kept. Nothing happens if it is
        over. One whose process is gone, or does not end it within moments, is ended here."""
        self.board.stop(message_id)
        answer = messages.unscoped_get(self._db, message_id)
        if answer is None or answer.message.status not in ("pending", "streaming"):
            if self.board.place(message_id):  # ended with what else its asker had
                self.board.drop(message_id, chunk("abort", reason=STOPPED))
            return
        if answer.message.status == "pending" and self._end_waiting(answer):
            return
        if self._presence is not None:
            self.launch()
        if self._launched:
            self._engine.want_stop(message_id)
        if self._presence is not None and not self.board.running(message_id):
            self._stop_elsewhere(answer, self._presence.times)

    def _stop_elsewhere(self, answer: Unfinished, times: LeaseTimes) -> None:
        if not leases.unscoped_want_stop(self._db, answer, 2 * times.beat):
            self._end_elsewhere(answer.message.id)
            return
        patience = threading.Timer(times.stop, self._end_elsewhere, [answer.message.id])
        patience.daemon = True
        patience.start()

    def _end_elsewhere(self, message_id: str) -> None:
        """Take an answer away from whoever has it, and end it. They may have ended it by now."""
        try:
            answer = messages.unscoped_get(self._db, message_id)
            if self.board.closed or answer is None or answer.message.status != "streaming":
                return
            holder = self._dispatcher.holder
            if holder is not None and leases.unscoped_seize(self._db, answer, holder):
                self._dispatcher.end(answer, "stopped", elsewhere=True)
        except LeafError as e:
            logger.warning("run %s was not stopped: %s", message_id, e)

    def withdraw(self, scope: Scope, message_id: str) -> Message:
        """Take a question that waits out of its chat again. Returns it. Raises InvalidInputError
        once it is being answered."""
        question = messages.withdraw(self._db, scope, message_id)
        self.board.drop(message_id, chunk("abort", reason="Withdrawn."))
        return question

    def forget(self, message_ids: Collection[str]) -> None:
        """Leave nothing of answers that are deleted in the run database: what was asked of the
        model, what tools gave, what was streamed. What another process still writes, its keeper
        forgets."""
        self.launch()
        with self.board.news:
            live = [m for m in message_ids if m in self.board.live]
        self.end(live)
        with self.board.news:
            for message_id in message_ids:
                if message_id not in self.board.live:
                    self.board.runs.pop(message_id, None)
        self._engine.forget(list(message_ids))
        self._engine.scrub()

    def end(self, message_ids: Collection[str]) -> None:
        """Stop answers, and wait for those that this process writes."""
        for message_id in message_ids:
            self.stop(message_id)
        with self.board.news:
            self.board.news.wait_for(
                lambda: self.board.live.keys().isdisjoint(message_ids), ENDING_SECONDS
            )

    def close(self) -> None:
        """Let go of all runs within seconds. They are not stopped: another process goes on with
        them at once, or else the next start."""
        self._end_listening()
        with self._launching:
            with self.board.news:
                self.board.closed = True
                for message_id in self.board.live:
                    self.board.runs[message_id].stop.set()
                self.board.news.notify_all()
            if not self._launched:
                return
            deadline = time.monotonic() + CLOSING_SECONDS
            self._tell_others(leases.unscoped_drain)
            for thread in self._threads:
                thread.join(max(0.1, deadline - time.monotonic()))
            with self.board.news:
                self.board.news.wait_for(
                    lambda: not self.board.live, max(0.1, deadline - time.monotonic())
                )
            self._tell_others(leases.unscoped_leave)
            self._engine.close()

    def _tell_others(self, act: Callable[[Database, str], None]) -> None:
        """Say that this process ends. Where that cannot be said, they notice."""
        if self._presence is None:
            return
        self._presence.wake()
        try:
            act(self._db, self._engine.process_id)
        except LeafError as e:
            logger.warning("other processes were not told of the end: %s", e)

    # For the operator

    def records(self, status: str = "", limit: int = 50) -> list[RunRecord]:
        """The newest answers of everybody, with what the run database knows of them."""
        self.launch()
        answers = messages.unscoped_answers(self._db, status, limit)
        known = self._engine.records([f.message.id for f in answers])
        return [self._run_record(f, known.get(f.message.id)) for f in answers]

    def steps(self, message_id: str) -> list[StepRecord]:
        """The finished steps of a run whose record is still there. Raises NotFoundError for an
        unknown id."""
        self.launch()
        if messages.unscoped_get(self._db, message_id) is None:
            raise NotFoundError(f"No run '{message_id}'.", "See: python -m leaf runs list")
        return [_step_record(step) for step in self._engine.kept_steps(message_id)]

    def resume(self, message_id: str) -> None:
        """Go on here with an unfinished answer that no process writes, such as one of a machine
        that is gone.

        Raises NotFoundError, and RunError for one that is over, waits, or is being written here.
        """
        self.launch()
        answer = messages.unscoped_get(self._db, message_id)
        if answer is None:
            raise NotFoundError(f"No run '{message_id}'.", "See: python -m leaf runs list")
        if answer.message.status not in ("pending", "streaming"):
            raise RunError(
                f"This run is over ({answer.message.status}).",
                "Use Retry in its chat to answer the question again.",
            )
        with self.board.news:
            if message_id in self.board.live or message_id in self.board.waiting:
                raise RunError("This run is under way in this process.", "Wait for it, or stop it.")
        if self._presence is None:
            self._dispatcher.take(answer)
        elif answer.message.status == "pending":
            self.board.wait(ticket_of(answer))
        elif leases.unscoped_is_written(self._db, message_id, self._presence.times.silence):
            raise RunError(
                "Another process writes this run.", "It is taken over by itself if that one ends."
            )
        elif leases.unscoped_seize(self._db, answer, self._presence.holder):
            self._dispatcher.take(answer)

    # Answering

    def _answer(self, message_id: str) -> None:
        """The workflow of one answer; DBOS calls it, after a kill once more."""
        try:
            answer = messages.unscoped_get(self._db, message_id)
            if answer is None or answer.message.status not in ("pending", "streaming"):
                logger.info(
                    "run %s has nothing to do: %s",
                    message_id,
                    answer.message.status if answer else "no message",
                )
            else:
                self._answer_found(answer)
        except LeaveError as e:
            self._leave(message_id, e.reason)
            raise
        except StoreError as e:  # before its first step; a run knows by itself
            self._leave(message_id, e.message)
            raise LeaveError(e.message) from e
        except FencedError as e:
            self.board.lose(message_id)
            self._leave(message_id)
            raise LeaveError from e
        except BaseException:
            self.board.release(message_id)
            raise
        live = self.board.release(message_id)
        if live is not None and self._presence is not None:
            self._presence.tell(live.stream.untold(message_id))  # its end, which is shown last
            self._presence.ended()

    def _leave(self, message_id: str, reason: str = "") -> None:
        """A run did not come to its end here: another process has it, or it is begun again in a
        while, or at the next start."""
        live = self.board.live.get(message_id)
        if live is not None and live.lost:
            keep_shown(self._db, self.board.runs[message_id])
            self.board.let_go(message_id, again=self._is_mine(message_id))
        elif reason and not self.board.ending:
            self.board.park(message_id, reason)
        else:
            self.board.release(message_id)

    def _is_mine(self, message_id: str) -> bool:
        try:
            return not self.board.ending and self._dispatcher.is_mine(message_id)
        except StoreError:
            return False

    def _answer_found(self, answer: Unfinished) -> None:
        message = answer.message
        run = self.board.remember(ticket_of(answer))
        held = self._fence(message.id)
        record = self._engine.record(message.id)
        if record is not None and record.stop_wanted:
            run.stop_wanted = True
            run.stop.set()
        if answer.deleted:
            logger.info("run %s ends: its chat was deleted", message.id)
            self._dispatcher.end(answer, "stopped")
            return
        live = self.board.live[message.id]
        attempt = record.attempts if record is not None else 1
        if self._engine.note and attempt == 1 and message.status == "streaming":
            run.emit(status_chunk(self._engine.note))
        with fence.behind(held):
            earlier = self._earlier_steps(answer)
            steps = DurableSteps(
                run,
                live.stream,
                attempt=attempt,
                earlier=earlier,
                leaving=lambda: live.lost or (self.board.ending and not run.stop_wanted),
            )
            logs.event(logger, "run-begins", run=message.id, attempt=attempt)
            self._execute(answer.scope, message, run, steps, live.stream.add)

    def _fence(self, message_id: str) -> Fence | None:
        """What this run writes under, where another process could take it over. Raises
        FencedError."""
        holder = self._dispatcher.holder
        if holder is None:
            return None
        token = leases.unscoped_token(self._db, message_id, holder.id)
        if token is None:
            raise FencedError(message_id)
        return Fence(message_id, token)

    def _earlier_steps(self, answer: Unfinished) -> dict[str, ModelStep | ToolStep]:
        """Good steps of the answer that stands just before this one beside it, if that failed and
        was this model's: Retry goes on from there. Which answers failed stands in the history, so
        nothing else has to be remembered.
        """
        message = answer.message
        beside = messages.siblings(self._db, answer.scope, message.id) if not answer.deleted else ()
        before = beside[beside.index(message.id) - 1] if message.id in beside[1:] else ""
        failed = messages.get(self._db, answer.scope, before) if before else None
        if failed is None or failed.status != "error" or failed.model != message.model:
            return {}
        steps = self._good_steps(before)
        if steps:
            cells.adopt(self._db, before, message.id)
        return {name: step.taken_over(before, message.id) for name, step in steps.items()}

    def _good_steps(self, message_id: str) -> dict[str, ModelStep | ToolStep]:
        steps: dict[str, ModelStep | ToolStep] = {}
        for kept_step in self._engine.kept_steps(message_id):
            step = None if kept_step.failed else _step_of(kept_step)
            if isinstance(step, ModelStep | ToolStep) and step.good:
                steps[kept_step.name] = step
        return steps

    def _end_waiting(self, answer: Unfinished) -> bool:
        """Stop a question that waits. False if it is begun meanwhile."""
        stopped = messages.stop_pending(self._db, answer.scope, answer.message.id)
        if stopped:
            self.board.drop(answer.message.id, chunk("abort", reason=STOPPED))
        return stopped

    def _run_record(self, answer: Unfinished, record: Record | None) -> RunRecord:
        message = answer.message
        return RunRecord(
            message_id=message.id,
            chat_id=message.chat_id,
            user_id=answer.scope.user_id,
            status=message.status,
            model=message.model,
            asked_at=message.created_at,
            begun_at=record.begun_at if record else None,
            ended_at=record.ended_at if record else None,
            attempts=record.attempts if record else 0,
            executor=record.executor if record else "",
            here=self.board.running(message.id),
            error=message.error,
        )


def _step_of(kept_step: KeptStep) -> ModelStep | ToolStep | CitationStep | None:
    """None also for a step whose value cannot be read: it is not gone on from."""
    try:
        return parse_step(kept_step.name, kept_step.value)
    except RunError as e:
        logger.warning("step %s: %s", kept_step.name, e)
        return None


def _step_record(kept_step: KeptStep) -> StepRecord:
    step = None if kept_step.failed else _step_of(kept_step)
    outcome = "error" if kept_step.failed else step.outcome if step else "ok"
    return StepRecord(
        kept_step.number, kept_step.name, kept_step.seconds, step.tokens if step else 0, outcome
    )
