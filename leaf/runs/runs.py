"""Start, watch, stop and recover runs: one per assistant message, held by no page, no tab and no process.

The history is the outbox. A question and its pending answer are saved in one commit; from then on the answer arrives. A pending
answer waits in `Waiting`, is claimed in the history, and is begun in the run database under the message's id. At the start every
answer that the history calls unfinished is found again, whatever the run database knows. What a run does stands in `execute.py`.

Two threads serve all runs: one begins those whose turn it is, one writes streams and looks after what was left. Both sleep until
there is something to do.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from leaf.agent.draft import STATUS
from leaf.agent.ends import STOPPED
from leaf.agent.events import TERMINAL, Chunk, chunk, reduce
from leaf.agent.steps import StepRunner, good, shown
from leaf.errors import LeafError, NotFoundError, RunError
from leaf.runs import trouble
from leaf.runs.engine import VERSION, Engine, Record
from leaf.runs.records import Load, RunRecord, StepRecord
from leaf.runs.run import Run
from leaf.runs.steps import DurableSteps, LeaveError, Stream
from leaf.runs.waiting import Place, Ticket, Waiting
from leaf.store import Store, cells, messages
from leaf.store.changes import Change
from leaf.store.model import Json, Message, Scope, Status, Unfinished

logger = logging.getLogger(__name__)

KEPT_SECONDS = 120.0
"""How long a finished run can still be read from its chunks; later, from the history."""
CLOSING_SECONDS = 5.0
"""How long `close` waits for runs to let go."""
FLUSH_SECONDS = 0.12
"""How often streams are written."""
AGAIN_SECONDS = 5.0
"""How long a run that could not be kept, for want of disk space, is left before it is begun again."""
BUSY_SECONDS = 2.0
"""How long a chat is left alone that another process answers in, unless that one tells that it is done."""
SAFETY_SECONDS = 30.0
"""Longest sleep while nothing is told."""
LOOK_SECONDS = 0.5
"""How often wishes of other processes are looked for while an answer is written here."""
ADOPT_SECONDS = 60.0
"""How often questions are looked for that a process left waiting."""
PRUNE_SECONDS = 3600.0
RETENTION = timedelta(days=1)
"""How long the records of finished runs are kept: what Retry goes on from, and what the operator looks into."""

DAMAGED = "This answer was interrupted too often and was given up. Ask again."


class Execute(Protocol):
    """Carries out one run: streams its chunks into it and saves the message."""

    def __call__(self, scope: Scope, message: Message, run: Run, steps: StepRunner, stream: Callable[[Chunk], None]) -> None: ...


@dataclass(frozen=True)
class QueueLimits:
    """How many answers are written at once."""

    per_user: int = 3
    total: int = 20


@dataclass
class _Live:
    """A run that this process has begun."""

    ticket: Ticket
    stream: Stream
    again_at: float | None = None
    """`time.monotonic()` at which to begin it again, for a run that could not be kept."""


@dataclass
class _Duty:
    """What is done again and again, as long as it is needed."""

    period: float
    act: Callable[[], None]
    needed: Callable[[], object] = lambda: True
    due: float = 0.0
    """`time.monotonic()` of the next time."""


class Runs:
    """All runs of this process."""

    def __init__(self, execute: Execute, store: Store, engine: Engine, limits: QueueLimits | None = None) -> None:
        self._execute = execute
        self._db = store.db
        self._engine = engine
        self._limits = limits or QueueLimits()
        self._waiting = Waiting()
        self._runs: dict[str, Run] = {}
        self._live: dict[str, _Live] = {}
        self._busy_until: dict[str, float] = {}
        """Chat id -> when to try it again, for chats that another process answers in."""
        self._news = threading.Condition(threading.RLock())
        self._launching = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._launched = False
        self._closed = False
        self._end_listening = store.db.changes.listen(self._heard)

    @property
    def _ending(self) -> bool:
        """Whether this process lets go of its runs: it was closed, or ends without having been."""
        return self._closed or not threading.main_thread().is_alive()

    def launch(self) -> None:
        """Open the run database and go on with everything that was left unfinished. Once is enough.

        Raises StoreError, StoreBusyError, and RunError after `close`.
        """
        with self._launching:
            if self._launched:
                return
            if self._closed:
                raise RunError("Leaf is shutting down.", "Ask again when it is back.")
            self._engine.launch(self._answer)
            self._launched = True
            self._recover()
            for work, name in ((self._dispatch, "runs-dispatch"), (self._keep, "runs-keeper")):
                thread = threading.Thread(target=work, name=name, daemon=True)
                thread.start()
                self._threads.append(thread)

    def start(self, scope: Scope, message: Message) -> None:
        """Answer a pending assistant message when it is its turn. Starting it twice is one run. Raises RunError after `close`."""
        if self._closed:
            raise RunError("Leaf is shutting down.", "Ask again when it is back.")
        self.launch()
        self._wait(Ticket(message.id, message.chat_id, scope))

    def watch(self, message_id: str) -> Run | None:
        """The run, waiting, live or just finished, readable from its first chunk; None when only the history has it."""
        with self._news:
            run = self._runs.get(message_id)
        if run is None and self._launched and self._engine.shared:
            return self._watch_elsewhere(message_id)
        return run

    def running(self, message_id: str) -> bool:
        """Whether this process is writing it."""
        with self._news:
            return message_id in self._live

    def running_chats(self, workspace_id: str) -> frozenset[str]:
        """Ids of the workspace's chats in which this process is writing."""
        with self._news:
            tickets = [live.ticket for live in self._live.values()]
        return frozenset(ticket.chat_id for ticket in tickets if ticket.scope.workspace_id == workspace_id)

    def place(self, message_id: str) -> Place | None:
        """Where a question stands that waits here; None if it does not."""
        with self._news:
            running = [live.ticket for live in self._live.values()]
            return self._waiting.place(message_id, running, per_user=self._limits.per_user, total=self._limits.total)

    def load(self) -> Load:
        """How much there is to do."""
        with self._news:
            return Load(len(self._live), len(self._waiting))

    def goes_on(self, message_id: str) -> bool:
        """Whether steps of this failed answer are kept, for the next one beside it to go on from."""
        return self._launched and bool(self._good_steps(message_id))

    def stop(self, message_id: str) -> None:
        """End a run for good, wherever it runs; what it has shown is kept. Nothing happens if it is over."""
        with self._news:
            run = self._runs.get(message_id)
            if run is not None:
                run.stop_wanted = True
                run.stop.set()
        found = messages.unscoped_get(self._db, message_id)
        if found is None or found.message.status not in ("pending", "streaming"):
            return
        if found.message.status == "pending" and self._end_waiting(found):
            return
        if self._launched:
            self._engine.want_stop(message_id)
        with self._news:
            if (live := self._live.get(message_id)) and live.again_at is not None:
                live.again_at = 0.0

    def withdraw(self, scope: Scope, message_id: str) -> Message:
        """Take a question that waits out of its chat again. Returns it. Raises InvalidInputError once it is being answered."""
        question = messages.withdraw(self._db, scope, message_id)
        self._drop(message_id, chunk("abort", reason="Withdrawn."))
        return question

    def close(self) -> None:
        """Let go of all runs within seconds. They are not stopped: the next start goes on with them."""
        self._end_listening()
        with self._launching:
            with self._news:
                self._closed = True
                for message_id in self._live:
                    self._runs[message_id].stop.set()
                self._news.notify_all()
            if not self._launched:
                return
            deadline = time.monotonic() + CLOSING_SECONDS
            for thread in self._threads:
                thread.join(max(0.1, deadline - time.monotonic()))
            with self._news:
                self._news.wait_for(lambda: not self._live, max(0.1, deadline - time.monotonic()))
            self._engine.close()

    # For the operator

    def records(self, status: str = "", limit: int = 50) -> list[RunRecord]:
        """The newest answers of everybody, with what the run database knows of them."""
        self.launch()
        found = messages.unscoped_answers(self._db, status, limit)
        known = self._engine.records([f.message.id for f in found])
        return [self._run_record(f, known.get(f.message.id)) for f in found]

    def steps(self, message_id: str) -> list[StepRecord]:
        """The finished steps of a run whose record is still there. Raises NotFoundError for an unknown id."""
        self.launch()
        if messages.unscoped_get(self._db, message_id) is None:
            raise NotFoundError(f"No run '{message_id}'.", "See: python -m leaf runs list")
        return [
            _step_record(kept.number, kept.name, kept.value, kept.failed, kept.seconds)
            for kept in self._engine.kept_steps(message_id)
        ]

    def resume(self, message_id: str) -> None:
        """Go on here with an unfinished answer that no process writes, such as one of a machine that is gone.

        Raises NotFoundError, and RunError for one that is over, waits, or is being written here.
        """
        self.launch()
        found = messages.unscoped_get(self._db, message_id)
        if found is None:
            raise NotFoundError(f"No run '{message_id}'.", "See: python -m leaf runs list")
        if found.message.status not in ("pending", "streaming"):
            raise RunError(f"This run is over ({found.message.status}).", "Use Retry in its chat to answer the question again.")
        with self._news:
            if message_id in self._live or message_id in self._waiting:
                raise RunError("This run is under way in this process.", "Wait for it, or stop it.")
        self._take(found)

    # Beginning

    def _recover(self) -> None:
        """Everything that the history calls unfinished goes on: it waits again, is begun again, or gets an end that says why.

        What only the run database calls unfinished finds nothing to do, and then that says so, too.
        """
        left = self._engine.left()
        unfinished = messages.unscoped_unfinished(self._db)
        known = self._engine.records([f.message.id for f in unfinished])
        for found in unfinished:
            try:
                self._recover_one(found, known.get(found.message.id))
            except LeafError as e:
                logger.warning("run %s was not recovered: %s", found.message.id, e)
        for message_id in set(left).difference(found.message.id for found in unfinished):
            self._begin(message_id)

    def _recover_one(self, found: Unfinished, record: Record | None) -> None:
        message = found.message
        if record is None and message.status == "pending":
            self._wait(_ticket(found))
        elif record is None:
            # Where processes share the history, another may be just about to begin it; `_adopt` looks at it again.
            if not self._engine.shared:
                self._take(found)
        elif record.gave_up:
            self._end(found, "stopped" if record.stop_wanted else "error", DAMAGED)
        elif record.over or record.version != VERSION:
            self._begin_anew(found)
        elif record.executor in self._engine.executors:
            self._take(found)

    def _begin_anew(self, found: Unfinished) -> None:
        """For a record that cannot be gone on with: another version's, or one that ended without the history knowing."""
        now = messages.unscoped_get(self._db, found.message.id)
        if now is None or now.message.status not in ("pending", "streaming"):
            return  # it ended while we looked
        self._engine.forget([found.message.id])
        self._take(now)

    def _take(self, found: Unfinished) -> None:
        self._remember(_ticket(found))
        self._begin(found.message.id)

    def _wait(self, ticket: Ticket) -> None:
        with self._news:
            if ticket.message_id in self._live:
                return
            self._forget_old()
            self._runs.setdefault(ticket.message_id, Run(ticket.message_id))
            self._waiting.add(ticket)
            self._tell(ticket)

    def _remember(self, ticket: Ticket) -> Run:
        """Count a run as this process's. A new attempt of one that is known goes on in the same `Run`."""
        with self._news:
            run = self._runs.setdefault(ticket.message_id, Run(ticket.message_id))
            live = self._live.setdefault(ticket.message_id, _Live(ticket, Stream()))
            live.again_at = None
            if self._closed:
                run.stop.set()
            self._tell(ticket)
            return run

    def _tell(self, ticket: Ticket) -> None:
        """What waits and what runs is known to this process alone, so it is told beside what the history tells."""
        with self._news:
            self._news.notify_all()
        self._db.changes.publish([Change(ticket.scope.workspace_id, "messages")])

    def _heard(self, changes: Collection[Change]) -> None:
        """Another process may be done with a chat in which a question waits here."""
        with self._news:
            if self._busy_until and any(change.topic == "messages" for change in changes):
                self._busy_until.clear()
                self._news.notify_all()

    def _dispatch(self) -> None:
        """Begin what waits, as far as the limits allow. Runs until `close`."""
        while not self._ending:
            with self._news:
                ticket = self._next()
                if ticket is None:
                    first = min(self._busy_until.values(), default=float("inf")) - time.monotonic()
                    self._news.wait(max(0.0, min(first, SAFETY_SECONDS)))
                    continue
            try:
                self._claim(ticket)
            except LeafError as e:
                logger.warning("run %s waits: %s", ticket.message_id, e)
                self._leave_alone(ticket)

    def _next(self) -> Ticket | None:
        if self._closed:
            return None
        now = time.monotonic()
        self._busy_until = {chat_id: until for chat_id, until in self._busy_until.items() if until > now}
        running = [live.ticket for live in self._live.values()]
        return self._waiting.next(running, self._busy_until.keys(), per_user=self._limits.per_user, total=self._limits.total)

    def _claim(self, ticket: Ticket) -> None:
        claimed = messages.claim(self._db, ticket.scope, ticket.message_id)
        if claimed == "busy":
            self._leave_alone(ticket)
            return
        with self._news:
            self._waiting.remove(ticket.message_id)
        if claimed == "claimed":
            self._remember(ticket)
            self._begin(ticket.message_id)

    def _leave_alone(self, ticket: Ticket) -> None:
        with self._news:
            self._busy_until[ticket.chat_id] = time.monotonic() + BUSY_SECONDS

    def _begin(self, message_id: str) -> None:
        """Hand a claimed run to the run database; if that cannot be written, later again."""
        try:
            self._engine.begin(message_id)
        except Exception as e:  # noqa: BLE001 - whatever the database throws, the answer is still owed
            logger.warning("run %s could not be begun yet: %s", message_id, type(e).__name__)
            self._park(message_id, str(trouble.explain(e, shared=self._engine.shared)))

    # Answering

    def _answer(self, message_id: str) -> None:
        """The workflow of one answer; DBOS calls it, after a kill once more."""
        try:
            found = messages.unscoped_get(self._db, message_id)
            if found is None or found.message.status not in ("pending", "streaming"):
                logger.info("run %s has nothing to do: %s", message_id, found.message.status if found else "no message")
            else:
                self._answer_found(found)
        except LeaveError as e:
            if e.reason and not self._ending:
                self._park(message_id, e.reason)
            else:
                self._release(message_id)
            raise
        except BaseException:
            self._release(message_id)
            raise
        self._release(message_id)

    def _answer_found(self, found: Unfinished) -> None:
        message = found.message
        run = self._remember(_ticket(found))
        record = self._engine.record(message.id)
        if record is not None and record.stop_wanted:
            run.stop_wanted = True
            run.stop.set()
        if found.deleted:
            logger.info("run %s ends: its chat was deleted", message.id)
            self._end(found, "stopped")
            return
        stream = self._live[message.id].stream
        attempt = record.attempts if record is not None else 1
        if self._engine.note and attempt == 1 and message.status == "streaming":
            run.emit(_status(self._engine.note))
        earlier = self._earlier_steps(found)
        steps = DurableSteps(run, stream, attempt=attempt, earlier=earlier, leaving=lambda: self._ending and not run.stop_wanted)
        logger.info("run begins run=%s attempt=%d", message.id, attempt)
        self._execute(found.scope, message, run, steps, stream.add)

    def _earlier_steps(self, found: Unfinished) -> dict[str, Json]:
        """Good steps of the answer that stands just before this one beside it, if that failed and was this model's: Retry goes on
        from there. Which answers failed stands in the history, so nothing else has to be remembered.
        """
        message = found.message
        beside = messages.siblings(self._db, found.scope, message.id) if not found.deleted else ()
        before = beside[beside.index(message.id) - 1] if message.id in beside[1:] else ""
        failed = messages.get(self._db, found.scope, before) if before else None
        if failed is None or failed.status != "error" or failed.model != message.model:
            return {}
        steps = self._good_steps(before)
        if steps:
            cells.adopt(self._db, before, message.id)
        return steps

    def _good_steps(self, message_id: str) -> dict[str, Json]:
        return {
            step.name: step.value
            for step in self._engine.kept_steps(message_id)
            if step.name.startswith(("model-", "tool-")) and not step.failed and good(step.value)
        }

    def _park(self, message_id: str, reason: str) -> None:
        """Leave a run for a while, saying why, and begin it again. It keeps its place among those that run."""
        with self._news:
            if live := self._live.get(message_id):
                live.again_at = time.monotonic() + AGAIN_SECONDS
                self._runs[message_id].emit(_status(f"{reason} This answer goes on by itself when that is over."))
                self._news.notify_all()

    def _release(self, message_id: str) -> None:
        with self._news:
            live = self._live.pop(message_id, None)
            self._news.notify_all()
        if live:
            self._tell(live.ticket)

    # Ending without answering

    def _end_waiting(self, found: Unfinished) -> bool:
        """Stop a question that waits. False if it is begun meanwhile."""
        stopped = messages.stop_pending(self._db, found.scope, found.message.id)
        if stopped:
            self._drop(found.message.id, chunk("abort", reason=STOPPED))
        return stopped

    def _drop(self, message_id: str, last: Chunk) -> None:
        with self._news:
            ticket = self._waiting.remove(message_id)
            if run := self._runs.get(message_id):
                run.emit(last)
        if ticket:
            self._tell(ticket)

    def _end(self, found: Unfinished, status: Status, error: str = "") -> None:
        """Save what the finished steps have shown, for a run that is not to go on."""
        chunks = [
            c for kept in self._engine.kept_steps(found.message.id) if isinstance(kept.value, dict) for c in shown(kept.value)
        ]
        error = error if status == "error" else ""
        last = chunk("error", errorText=error) if error else chunk("abort", reason=STOPPED)
        message = found.message
        usage = {"model": message.model}
        messages.finish(
            self._db, found.scope, message.id, parts=reduce([*chunks, last]), raw=[], usage=usage, status=status, error=error
        )
        with self._news:
            if run := self._runs.get(message.id):
                run.emit(last)

    # Looking after

    def _keep(self) -> None:
        """Write streams, begin again what was parked, prune, look for what other processes want or left. Runs until `close`."""
        duties = [
            _Duty(FLUSH_SECONDS, self._flush, lambda: self._live),
            _Duty(1.0, self._begin_parked, lambda: any(live.again_at is not None for live in self._live.values())),
            _Duty(PRUNE_SECONDS, self._prune),
        ]
        if self._engine.shared:
            duties += [_Duty(LOOK_SECONDS, self._look_for_stops, lambda: self._live), _Duty(ADOPT_SECONDS, self._adopt)]
        while not self._ending:
            with self._news:
                due = min(duty.due for duty in duties if duty.needed())
                if (wait := due - time.monotonic()) > 0 and not self._closed:
                    self._news.wait(min(wait, SAFETY_SECONDS))
                now = time.monotonic()
                acts = [duty for duty in duties if duty.due <= now and duty.needed()]
            for duty in acts:
                duty.due = time.monotonic() + duty.period
                self._do(duty.act)

    def _do(self, duty: Callable[[], None]) -> None:
        try:
            duty()
        except Exception as e:  # the other duties go on
            if not self._closed:
                logger.warning("looking after runs: %s", e if isinstance(e, LeafError) else type(e).__name__, exc_info=True)

    def _flush(self) -> None:
        with self._news:
            streams = [live.stream for live in self._live.values()]
        for stream in streams:
            stream.flush()

    def _begin_parked(self) -> None:
        with self._news:
            now = time.monotonic()
            due = [live for live in self._live.values() if live.again_at is not None and live.again_at <= now]
            for live in due:
                live.again_at = None
        for live in due:
            self._runs[live.ticket.message_id].emit(_status(""))
            self._begin(live.ticket.message_id)

    def _prune(self) -> None:
        if gone := self._engine.prune(RETENTION):
            logger.info("pruned the records of %d finished runs", gone)

    def _look_for_stops(self) -> None:
        with self._news:
            ids = list(self._live)
        for message_id, record in self._engine.records(ids).items():
            if record.stop_wanted:
                with self._news:
                    run = self._runs[message_id]
                run.stop_wanted = True
                run.stop.set()

    def _adopt(self) -> None:
        """Questions that a process left waiting, or claimed and never began, are this one's if nobody else takes them first."""
        unfinished = [f for f in messages.unscoped_unfinished(self._db) if _idle_seconds(f.message) > ADOPT_SECONDS]
        known = self._engine.records([f.message.id for f in unfinished])
        for found in unfinished:
            if found.message.id in known or found.message.id in self._live:
                continue
            if found.message.status == "pending":
                self._wait(_ticket(found))
            else:
                self._take(found)

    def _forget_old(self) -> None:
        horizon = time.monotonic() - KEPT_SECONDS
        for message_id, run in list(self._runs.items()):
            if run.ended_at is not None and run.ended_at < horizon:
                del self._runs[message_id]

    # Other processes

    def _watch_elsewhere(self, message_id: str) -> Run | None:
        """A run that another process writes, read from its stream by one thread for all viewers here."""
        found = messages.unscoped_get(self._db, message_id)
        if found is None or found.message.status != "streaming" or self._engine.record(message_id) is None:
            return None
        with self._news:
            if message_id in self._runs:
                return self._runs[message_id]
            run = self._runs[message_id] = Run(message_id)
        threading.Thread(target=self._follow, args=(run,), name=f"follow-{message_id}", daemon=True).start()
        return run

    def _follow(self, run: Run) -> None:
        last: Chunk | None = None
        try:
            for chunks in self._engine.read_stream(run.message_id):
                for c in chunks:
                    if c["type"] in TERMINAL:
                        last = c
                    elif c["type"] != "begin":
                        run.emit(c)
        except Exception as e:  # noqa: BLE001 - a viewer must never wait for nothing; the answer itself is written elsewhere
            logger.warning("run %s cannot be watched: %s", run.message_id, type(e).__name__)
        run.emit(last or self._last_of(run.message_id))

    def _last_of(self, message_id: str) -> Chunk:
        found = messages.unscoped_get(self._db, message_id)
        if found is not None and found.message.status == "completed":
            return chunk("finish", finishReason="stop")
        if found is not None and found.message.status == "stopped":
            return chunk("abort", reason=STOPPED)
        return chunk("error", errorText=found.message.error if found else "The chat of this answer was deleted.")

    def _run_record(self, found: Unfinished, record: Record | None) -> RunRecord:
        message = found.message
        return RunRecord(
            message_id=message.id,
            chat_id=message.chat_id,
            user_id=found.scope.user_id,
            status=message.status,
            model=message.model,
            asked_at=message.created_at,
            begun_at=record.begun_at if record else None,
            ended_at=record.ended_at if record else None,
            attempts=record.attempts if record else 0,
            executor=record.executor if record else "",
            here=self.running(message.id),
            error=message.error,
        )


def _ticket(found: Unfinished) -> Ticket:
    return Ticket(found.message.id, found.message.chat_id, found.scope)


def _status(text: str) -> Chunk:
    return chunk("data-status", id=STATUS, data={"text": text})


def _idle_seconds(message: Message) -> float:
    return time.time() - message.updated_at.timestamp() if message.updated_at else 0.0


def _step_record(number: int, name: str, value: object, failed: bool, seconds: float) -> StepRecord:
    kept: Json = value if isinstance(value, dict) else {}
    used = kept.get("usage") or {}
    outcome = "stopped" if kept.get("stopped") else "error" if failed or kept.get("error") else "ok"
    return StepRecord(number, name, seconds, int(used.get("input") or 0) + int(used.get("output") or 0), outcome)
