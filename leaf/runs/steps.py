"""What makes a step durable: its value is checkpointed by DBOS, its chunks are streamed while it runs and shown again when it is
not run again.

A run is shown from three places. While it lives, viewers in its process read the `Run` in memory. After a kill the run is begun
again: each finished step gives its kept value, whose chunks rebuild that `Run` from its beginning, and the interrupted step runs
again. The stream in the run database holds the same chunks for viewers in other processes. A kept step writes nothing to it,
because each step writes all of its chunks before its checkpoint; an interrupted step begins again with a `start-step` that the
reducer takes as the end of what the earlier attempt had shown.
"""

from __future__ import annotations

import contextvars
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from leaf.agent.events import Chunk, chunk, compact
from leaf.agent.steps import reused, shown
from leaf.errors import StoreError
from leaf.runs.engine import STREAM
from leaf.runs.run import Run

if TYPE_CHECKING:
    from dbos import StepReservation

Json = dict[str, Any]
WORKERS = 8
"""Tool calls of one turn that run at once."""

logger = logging.getLogger(__name__)


class LeaveError(BaseException):
    """The run is left as it is and will be begun again: the process is closing, or the disk is full.

    Not an Exception, because DBOS keeps those as the outcome of a step.
    """

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        """For people who watch; empty when the process is closing."""


class Stream:
    """A run's chunks on their way to the run database: a write now and then, none per token."""

    def __init__(self) -> None:
        self._chunks: list[Chunk] = []
        self._open: dict[str, contextvars.Context] = {}
        """Steps that run, with the context in which DBOS knows them. Outside of a step nothing may be written: it would become a
        step of its own."""
        self._lock = threading.Lock()
        self._writing = threading.Lock()

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

    def flush(self) -> None:
        """Write what there is. What cannot be written waits for the next time: a stream is for watching, nothing hangs on it."""
        from dbos import DBOS
        from sqlalchemy.exc import SQLAlchemyError

        with self._writing:
            with self._lock:
                if not self._chunks or not self._open:
                    return
                context = next(iter(self._open.values()))
                chunks, self._chunks = self._chunks, []
            try:
                context.run(DBOS.write_stream, STREAM, compact(chunks))
            except SQLAlchemyError as e:
                logger.warning("a piece of a stream was not written yet: %s", type(e).__name__)
                with self._lock:
                    self._chunks[:0] = chunks


class DurableSteps:
    """The steps of one run; see `leaf.agent.steps.StepRunner`. Made anew each time the run is begun."""

    def __init__(
        self, run: Run, stream: Stream, *, attempt: int, earlier: Mapping[str, Json], leaving: Callable[[], bool]
    ) -> None:
        self._run = run
        self._stream = stream
        self._attempt = attempt
        self._earlier = earlier
        """Values of good steps of a failed answer to the same question, taken over instead of running the step."""
        self._leaving = leaving

    def __call__(self, name: str, function: Callable[[], Json]) -> Json:
        from dbos import DBOS

        return self._carry_out(DBOS.reserve_step(), name, function)

    def parallel(self, jobs: Sequence[tuple[str, Callable[[], Json]]]) -> list[Json]:
        """Each step gets its place in the order before any of them runs, so the order is the same however they race."""
        from dbos import DBOS

        places = [(DBOS.reserve_step(), name, function) for name, function in jobs]
        if len(places) < 2:
            return [self._carry_out(*place) for place in places]
        with ThreadPoolExecutor(min(WORKERS, len(places)), thread_name_prefix="tool") as pool:
            futures = [pool.submit(contextvars.copy_context().run, partial(self._carry_out, *place)) for place in places]
            return [future.result() for future in futures]

    def _carry_out(self, place: StepReservation, name: str, function: Callable[[], Json]) -> Json:
        from sqlalchemy.exc import SQLAlchemyError

        ran = False

        def work() -> Json:
            nonlocal ran
            ran = True
            return self._work(name, function)

        try:
            value: Json = place.run({"name": name}, work)
        except SQLAlchemyError as e:
            logger.warning("step run=%s step=%s was not kept: %s", self._run.message_id, name, type(e).__name__)
            raise LeaveError("The run database cannot be written; the disk may be full.") from e
        if not ran:
            self._show_again(value)
        return value

    def _work(self, name: str, function: Callable[[], Json]) -> Json:
        """Run the step, or take over its value from an earlier answer."""
        if self._leaving():
            raise LeaveError
        started = time.monotonic()
        taken_over = name in self._earlier
        try:
            with self._stream.step(name, self._attempt):
                value = reused(self._earlier[name]) if taken_over else function()
                if taken_over:
                    self._show_again(value, streamed=True)
        except StoreError as e:
            raise LeaveError(e.message) from e
        if value.get("stopped") and self._leaving():
            raise LeaveError
        self._log(name, value, time.monotonic() - started, taken_over)
        return value

    def _show_again(self, value: Json, *, streamed: bool = False) -> None:
        for c in shown(value):
            self._run.emit(c)
            if streamed:
                self._stream.add(c)

    def _log(self, name: str, value: Json, seconds: float, taken_over: bool) -> None:
        """One line a step: never a word of what was asked, read or answered."""
        used = value.get("usage") or {}
        outcome = "stopped" if value.get("stopped") else "error" if value.get("error") else "ok"
        logger.info(
            "step run=%s step=%s attempt=%d seconds=%.3f tokens=%d outcome=%s",
            self._run.message_id,
            name,
            self._attempt,
            seconds,
            int(used.get("input") or 0) + int(used.get("output") or 0),
            "taken-over" if taken_over else outcome,
        )
