"""What a running answer grew by, in numbered batches: other processes are told each batch at once
and find it a little later in the run database, and show it once either way.

The run database has all of them, in order; telling only saves the wait. So what is not told (too
long for a notice, or nobody heard it) is never missing, only later.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from leaf.errors import RunError
from leaf.shapes.chunks import Chunk, chunk, is_numbered, parse_chunks
from leaf.store.database import encode

MOST_KEPT = 500
"""Batches that are kept while one before them is missing: a minute of an answer."""


@dataclass(frozen=True)
class Batch:
    """Neighbouring chunks of one writer, deltas of a block joined."""

    writer: str
    """One start of a run in one process. Empty for what an earlier version wrote, unnumbered."""
    start: int = 0
    """How many chunks the writer had before these."""
    end: int = 0
    chunks: list[Chunk] = field(default_factory=list)

    def kept(self) -> list[Chunk]:
        """As it stands in the run database."""
        return [
            chunk("batch", writer=self.writer, start=self.start, end=self.end),
            *self.chunks,
        ]

    def line(self, message_id: str) -> str:
        """As other processes are told of it."""
        return f"{message_id} {self.writer} {self.start} {self.end} {encode(self.chunks)}"


def told(line: str) -> tuple[str, Batch]:
    """The answer's id, and what it grew by. Raises RunError for anything else."""
    try:
        message_id, writer, start, end, chunks = line.split(" ", 4)
        payload = json.loads(chunks)
        return message_id, Batch(writer, int(start), int(end), parse_chunks(payload))
    except ValueError as e:
        raise RunError("Another process told something that is no part of an answer.") from e


def batches(chunks: Iterable[Chunk]) -> Iterator[Batch]:
    """What stands in the run database, taken apart."""
    batch = Batch("")
    for c in chunks:
        if is_numbered(c):
            if batch.writer or batch.chunks:
                yield batch
            batch = Batch(c["writer"], c["start"], c["end"])
        else:
            batch.chunks.append(c)
    if batch.writer or batch.chunks:
        yield batch


class BatchFollower:
    """Puts the batches of one answer in order, as they are read and as they are told. Safe to share
    between threads."""

    def __init__(self, show: Callable[[Chunk], None]) -> None:
        """`show` is given each chunk once."""
        self._show = show
        self._writer = ""
        self._end = 0
        self._ahead: dict[int, Batch] = {}
        """Start -> batch that was told while one before it is missing."""
        self._lock = threading.Lock()

    def read(self, chunks: Iterable[Chunk]) -> None:
        """What comes next in the run database."""
        with self._lock:
            for batch in batches(chunks):
                if batch.writer != self._writer or batch.end > self._end or not batch.writer:
                    self._take(batch)
            self._catch_up()

    def hear(self, batch: Batch) -> bool:
        """What the writer told. False where it cannot be shown yet: something before it is missing,
        which is to be read."""
        with self._lock:
            if batch.writer != self._writer or batch.end > self._end:
                if len(self._ahead) < MOST_KEPT:
                    self._ahead[batch.start] = batch
                self._catch_up()
            return batch.writer == self._writer and batch.end <= self._end

    def _take(self, batch: Batch) -> None:
        self._writer, self._end = batch.writer, batch.end
        for c in batch.chunks:
            self._show(c)
        self._ahead = {
            start: one
            for start, one in self._ahead.items()
            if one.writer == batch.writer and start >= batch.end
        }

    def _catch_up(self) -> None:
        while (batch := self._ahead.get(self._end)) and batch.writer == self._writer:
            self._take(batch)
