"""One run while it lives: its chunks in order, from the first one, and the wish to stop it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from leaf.shapes.chunks import TERMINAL, Chunk, Chunks


@dataclass(frozen=True)
class Slice:
    """What a viewer had not seen yet."""

    chunks: Chunks
    position: int
    """Give this to the next `read`."""
    done: bool
    """No chunk comes after these."""


class Run:
    """The stream of one assistant message: one writer, any number of readers, each at its own
    position."""

    def __init__(self, message_id: str) -> None:
        self.message_id = message_id
        self.born = time.time_ns()
        """Tells it from other runs of the same answer, here and in other processes."""
        self.stop = threading.Event()
        """Ends what runs, whoever wants it: the user, or a process that closes."""
        self.stop_wanted = False
        """The user wants it stopped, for good."""
        self.elsewhere = False
        """Another process writes it; this one reads along."""
        self.ended_at: float | None = None
        """`time.monotonic()` of the last chunk."""
        self._chunks: list[Chunk] = []
        self._news = threading.Condition()
        self._listeners: tuple[Callable[[], None], ...] = ()

    def emit(self, chunk: Chunk) -> None:
        """Add a chunk and wake the readers. Chunks after the last one are dropped: a stream ends
        once."""
        with self._news:
            if self.ended_at is not None:
                return
            self._chunks.append(chunk)
            if chunk["type"] in TERMINAL:
                self.ended_at = time.monotonic()
            self._news.notify_all()
            listeners = self._listeners
        for heard in listeners:
            heard()

    def listen(self, heard: Callable[[], None]) -> Callable[[], None]:
        """Have a function called after each chunk, by the thread that wrote it: it must be quick.
        Returns what ends that."""
        with self._news:
            self._listeners = (*self._listeners, heard)

        def end() -> None:
            with self._news:
                self._listeners = tuple(one for one in self._listeners if one is not heard)

        return end

    def read(self, position: int = 0, timeout: float = 0.0) -> Slice:
        """Chunks from `position` on; waits up to `timeout` seconds for the first new one."""
        with self._news:
            if timeout > 0 and position >= len(self._chunks) and self.ended_at is None:
                self._news.wait(timeout)
            chunks = tuple(self._chunks[position:])
            return Slice(chunks, position + len(chunks), self.ended_at is not None)
