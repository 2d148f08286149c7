"""What makes a step durable: its value is checkpointed by DBOS, its chunks are streamed while it
runs and shown again when it is not run again.

A run is shown from three places. While it lives, viewers in its process read the `Run` in memory.
After a kill the run is begun again: each finished step gives its kept value, whose chunks rebuild
that `Run` from its beginning, and the interrupted step runs again. The stream in the run database
holds the same chunks for viewers in other processes, which are told of them before. A kept step
writes nothing to it, because each step writes all of its chunks before its checkpoint; an
interrupted step begins again with a `start-step` that the reducer takes as the end of what the
earlier attempt had shown.
"""

from __future__ import annotations

import contextvars
import logging
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from leaf import logs
from leaf.agent.events import compact
from leaf.agent.steps import KeptValue, S, Step
from leaf.errors import StoreError
from leaf.runs.batches import Batch
from leaf.runs.engine import STREAM
from leaf.runs.run import Run
from leaf.shapes.chunks import Chunk, chunk
from leaf.store.fence import FencedError

if TYPE_CHECKING:
    from dbos import StepReservation

WORKERS = 8
"""Tool calls of one turn that run at once."""

UNTOLD = 50
"""Batches that are kept for other processes to be told: some seconds of an answer. Where there are
none, nobody asks for them, and who comes later reads."""

logger = logging.getLogger(__name__)


class LeaveError(BaseException):
    """The run is left as it is and will be begun again: the process is closing, or the disk is
    full.

    Not an Exception, because DBOS keeps those as the outcome of a step.
    """

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        """For people who watch; empty when the process is closing."""


class Stream:
    """A run's chunks on their way to other processes and to the run database: a batch now and then,
    none per token."""

    def __init__(self) -> None:
        self._writer = secrets.token_hex(4)
        self._chunks: list[Chunk] = []
        self._shown = 0
        """How many chunks are in batches."""
        self._unwritten: list[Batch] = []
        self._untold: deque[Batch] = deque(maxlen=UNTOLD)
        self._open: dict[str, contextvars.Context] = {}
        """Steps that run, with the context in which DBOS knows them. Outside of a step nothing may
        be written: it would become a step of its own."""
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._told = False
        """Whether the log says that it cannot be written just now."""

    def add(self, c: Chunk) -> None:
        with self._lock:
            self._chunks.append(c)

    @contextmanager
    def step(self, name: str, attempt: int) -> Iterator[None]:
        """Mark where an attempt of a step begins, and have all its chunks written when it ends."""
        with self._lock:
            self._open[name] = contextvars.copy_context()
            self._chunks.append(chunk("begin", step=name, attempt=attempt))
        try:
            yield
        finally:
            self.flush()
            with self._writing, self._lock:
                del self._open[name]

    def untold(self, message_id: str) -> list[str]:
        """What this answer grew by since the last call, as other processes are told of it."""
        with self._lock:
            self._cut()
            batches = list(self._untold)
            self._untold.clear()
        return [batch.line(message_id) for batch in batches]

    def flush(self) -> None:
        """Write what there is. What cannot be written waits for the next time: a stream is for
        watching, nothing hangs on it."""
        from dbos import DBOS
        from dbos._error import DBOSWorkflowConflictIDError
        from sqlalchemy.exc import SQLAlchemyError

        with self._writing:
            with self._lock:
                self._cut()
                if not self._unwritten or not self._open:
                    return
                context = next(iter(self._open.values()))
                batches, self._unwritten = self._unwritten, []
            try:
                piece = [c for batch in batches for c in batch.kept()]
                context.run(DBOS.write_stream, STREAM, piece)
                self._told = False
            except DBOSWorkflowConflictIDError:
                pass  # another process has the run, and streams it
            except SQLAlchemyError as e:
                if not self._told:  # it is tried some times a second
                    logger.warning("a stream is not written for now: %s", type(e).__name__)
                self._told = True
                with self._lock:
                    self._unwritten[:0] = batches

    def _cut(self) -> None:
        """Make a batch of what was added."""
        if not self._chunks:
            return
        start, self._shown = self._shown, self._shown + len(self._chunks)
        batch = Batch(self._writer, start, self._shown, compact(self._chunks))
        self._chunks = []
        self._unwritten.append(batch)
        self._untold.append(batch)


class DurableSteps:
    """The steps of one run; see `leaf.agent.steps.StepRunner`. Made anew each time the run is
    begun."""

    def __init__(
        self,
        run: Run,
        stream: Stream,
        *,
        attempt: int,
        earlier: Mapping[str, Step],
        leaving: Callable[[], bool],
    ) -> None:
        self._run = run
        self._stream = stream
        self._attempt = attempt
        self._earlier = earlier
        """Good steps of a failed answer to the same question, taken over instead of running the
        step."""
        self._leaving = leaving

    def __call__(self, name: str, shape: type[S], function: Callable[[], S], /) -> S:
        from dbos import DBOS

        return self._carry_out(DBOS.reserve_step(), name, shape, function)

    def parallel(self, shape: type[S], jobs: Sequence[tuple[str, Callable[[], S]]], /) -> list[S]:
        """Each step gets its place in the order before any of them runs, so the order is the same
        however they race."""
        from dbos import DBOS

        places = [(DBOS.reserve_step(), name, shape, function) for name, function in jobs]
        if len(places) < 2:
            return [self._carry_out(*place) for place in places]
        with ThreadPoolExecutor(min(WORKERS, len(places)), thread_name_prefix="tool") as pool:
            futures = [
                pool.submit(contextvars.copy_context().run, partial(self._carry_out, *place))
                for place in places
            ]
            return [future.result() for future in futures]

    def _carry_out(
        self, place: StepReservation, name: str, shape: type[S], function: Callable[[], S]
    ) -> S:
        from dbos._error import DBOSWorkflowConflictIDError
        from sqlalchemy.exc import SQLAlchemyError

        ran: list[S] = []

        def work() -> KeptValue:
            ran.append(self._work(name, shape, function))
            return ran[-1].to_json()

        try:
            value: object = place.run({"name": name}, work)
        except DBOSWorkflowConflictIDError as e:
            raise FencedError(self._run.message_id) from e
        except SQLAlchemyError as e:
            logger.warning(
                "step run=%s step=%s was not kept: %s", self._run.message_id, name, type(e).__name__
            )
            raise LeaveError("The run database cannot be written; the disk may be full.") from e
        if ran:
            return ran[-1]
        step = shape.from_json(value)
        self._show_again(step)
        return step

    def _work(self, name: str, shape: type[S], function: Callable[[], S]) -> S:
        """Run the step, or take over its value from an earlier answer."""
        if self._leaving():
            raise LeaveError
        started = time.monotonic()
        earlier = self._earlier.get(name)
        try:
            with self._stream.step(name, self._attempt):
                if isinstance(earlier, shape):
                    step = earlier
                    self._show_again(step, streamed=True)
                else:
                    step = function()
        except StoreError as e:
            raise LeaveError(e.message) from e
        if step.outcome == "stopped" and self._leaving():
            raise LeaveError
        self._log(name, step, time.monotonic() - started, earlier is not None)
        return step

    def _show_again(self, step: Step, *, streamed: bool = False) -> None:
        for c in step.shown:
            self._run.emit(c)
            if streamed:
                self._stream.add(c)

    def _log(self, name: str, step: Step, seconds: float, taken_over: bool) -> None:
        """One line a step: never a word of what was asked, read or answered."""
        logs.event(
            logger,
            "step",
            run=self._run.message_id,
            step=name,
            attempt=self._attempt,
            seconds=seconds,
            tokens=step.tokens,
            outcome="taken-over" if taken_over else step.outcome,
        )
