"""Start, watch and stop runs: one per assistant message, in a background thread that no page and no tab holds.

The rest of the app knows only this class. What a run does stands in `execute.py`.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Protocol

from leaf.agent.events import chunk
from leaf.errors import LeafError, RunError
from leaf.runs.run import Run
from leaf.store.model import Message, Scope

logger = logging.getLogger(__name__)

KEPT_SECONDS = 120.0
"""How long a finished run can still be read from its chunks; later, from the history."""
CLOSING_SECONDS = 5.0
"""How long `close` waits for stopped runs to save what they have."""


class Execute(Protocol):
    """Carries out one run: streams its chunks into it and saves the message."""

    def __call__(self, scope: Scope, message: Message, run: Run) -> None: ...


class Runs:
    """All runs of this process."""

    def __init__(self, execute: Execute) -> None:
        self._execute = execute
        self._runs: dict[str, Run] = {}
        self._running: set[str] = set()
        self._threads: list[threading.Thread] = []
        """Also those that have said their last word but still hold a database cursor: the process must not end before them."""
        self._lock = threading.Lock()
        self._closed = False
        self._revision = 0

    @property
    def revision(self) -> int:
        """Grows with every run that begins or ends, and with `touch`."""
        return self._revision

    def touch(self) -> None:
        """Tell idle pages that something else changed."""
        with self._lock:
            self._revision += 1

    def start(self, scope: Scope, message: Message) -> None:
        """Run a pending assistant message. Starting it twice is one run. Raises RunError after `close`."""
        with self._lock:
            if self._closed:
                raise RunError("Leaf is shutting down.", "Ask again when it is back.")
            if message.id in self._running:
                return
            self._forget_old()
            run = Run(message.id)
            thread = threading.Thread(target=self._carry_out, args=(scope, message, run), name=f"run-{message.id}", daemon=True)
            self._runs[message.id] = run
            self._running.add(message.id)
            self._threads = [t for t in self._threads if t.is_alive()] + [thread]
            self._revision += 1
            thread.start()

    def watch(self, message_id: str) -> Run | None:
        """The run, live or just finished, readable from its first chunk; None when only the history has it."""
        with self._lock:
            return self._runs.get(message_id)

    def running(self, message_id: str) -> bool:
        """Whether it has begun and not ended."""
        with self._lock:
            return message_id in self._running

    def stop(self, message_id: str) -> None:
        """Ask a run to end; what it has shown is kept. Nothing happens if it is over."""
        run = self.watch(message_id)
        if run is not None:
            run.stop.set()

    def close(self) -> None:
        """Stop all runs and wait a little until they have saved what they have."""
        with self._lock:
            self._closed = True
            threads = list(self._threads)
            for run in self._runs.values():
                run.stop.set()
        deadline = time.monotonic() + CLOSING_SECONDS
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _carry_out(self, scope: Scope, message: Message, run: Run) -> None:
        """The thread's work. Whatever happens, the stream ends: a viewer must never wait for nothing."""
        try:
            self._execute(scope, message, run)
        except LeafError as e:
            logger.warning("run %s failed: %s", message.id, type(e).__name__)
            run.emit(chunk("error", errorText=str(e)))
        finally:
            run.emit(chunk("error", errorText="This answer ended without a reason. Ask again."))
            with self._lock:
                self._running.discard(message.id)
                self._revision += 1

    def _forget_old(self) -> None:
        horizon = time.monotonic() - KEPT_SECONDS
        for message_id, run in list(self._runs.items()):
            if run.ended_at is not None and run.ended_at < horizon:
                del self._runs[message_id]
