"""Many small files in few children: a fresh child costs more than the files that it reads.

    items of one workspace → batches → as many children as cores, each reads its batch and ends → answers as they come

A child never sees a file of another workspace, and none is used for a second batch. What a batch
fails at, by a crash, a hang or for want of memory, is called again in a child of its own: only what
fails there is the fault of that file, and no other suffers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import suppress
from contextvars import copy_context
from dataclasses import replace
from typing import Generic, TypeVar

from leaf.errors import FileError, LeafError, NotFoundError, RunError, SandboxError, StoreError
from leaf.sandbox.limits import CallLimits
from leaf.sandbox.pool import BatchItem, Pool

FILES = 64
"""Most files of a batch: a kill or a stop loses the work on no more."""
BYTES = 16 * 1024 * 1024
"""Most bytes of a batch."""
SMALL = 2 * 1024 * 1024
"""Files above this have a child of their own: they would keep the others of their batch waiting."""
SECONDS = 20.0
"""What one file may take within a batch; alone it has the whole limit."""

T = TypeVar("T")


def call_each(
    pool: Pool,
    function: str,
    items: Sequence[BatchItem],
    *,
    returns: type[T],
    limits: CallLimits,
    takes: str = "",
    stop: threading.Event | None = None,
    on_answer: Callable[[], None] = lambda: None,
) -> Iterator[list[tuple[int, T | LeafError]]]:
    """Call `module:name` for each item; yields (index, value or LeafError) of some items at a time,
    in no order. `returns` and `takes` as for `Pool.call`.

    All items must be of one workspace. `limits` are those of an item that has none of its own.
    `on_answer` is called with each answer, in threads of this function's. Raises RunError after
    `stop`, StoreError.
    """
    left = _Either(stop)
    threads = ThreadPoolExecutor(pool.together, thread_name_prefix="leaf-batch")
    try:
        work = _Work(pool, function, items, returns, limits, takes, left, on_answer)
        running: list[Future[list[tuple[int, T | LeafError]]]] = [
            threads.submit(copy_context().run, work.do, batch) for batch in batches(items)
        ]
        for future in as_completed(running):
            yield future.result()
    finally:
        left.set()
        threads.shutdown(wait=True, cancel_futures=True)


def batches(items: Sequence[BatchItem]) -> Iterator[list[int]]:
    """Indexes of items that one child reads: small files together, large ones alone and first,
    since they take longest."""
    sizes = [_size(item) for item in items]
    yield from ([i] for i, size in enumerate(sizes) if size > SMALL)
    batch: list[int] = []
    total = 0
    for i, size in enumerate(sizes):
        if size > SMALL:
            continue
        if batch and (len(batch) >= FILES or total + size > BYTES):
            yield batch
            batch, total = [], 0
        batch.append(i)
        total += size
    if batch:
        yield batch


class _Work(Generic[T]):
    """The calls of one `call_each`."""

    def __init__(
        self,
        pool: Pool,
        function: str,
        items: Sequence[BatchItem],
        returns: type[T],
        limits: CallLimits,
        takes: str,
        stop: threading.Event,
        on_answer: Callable[[], None],
    ) -> None:
        self._pool = pool
        self._function = function
        self._items = items
        self._returns = returns
        self._limits = limits
        self._takes = takes
        self._stop = stop
        self._on_answer = on_answer

    def do(self, batch: list[int]) -> list[tuple[int, T | LeafError]]:
        """Answers for all of a batch, in as many children as that takes."""
        with self._pool.batches.taken(self._stop):
            return self._answers(batch)

    def _answers(self, batch: list[int]) -> list[tuple[int, T | LeafError]]:
        pairs: list[tuple[int, T | LeafError]] = []
        quick = replace(self._limits, seconds=min(SECONDS, self._limits.seconds))
        while batch:
            answers: list[T | LeafError] = []
            if len(batch) > 1:
                items = [self._items[i] for i in batch]
                with suppress(
                    FileError, NotFoundError, SandboxError
                ):  # whose fault that is, the calls alone show
                    answers = self._pool.call_several(
                        self._function,
                        items,
                        returns=self._returns,
                        limits=quick,
                        takes=self._takes,
                        stop=self._stop,
                        on_answer=self._on_answer,
                    )
            pairs += zip(batch, answers, strict=False)
            batch = batch[len(answers) :]
            if batch:
                pairs.append((batch[0], self._alone(self._items[batch[0]])))
                batch = batch[1:]
        return pairs

    def _alone(self, item: BatchItem) -> T | LeafError:
        """The answer of a child that has seen nothing else."""
        limits = item.limits or self._limits
        try:
            inputs = {"file": item.source()}
            return self._pool.call(
                self._function,
                item.arguments,
                returns=self._returns,
                inputs=inputs,
                limits=limits,
                out=item.out,
                takes=self._takes,
                stop=self._stop,
            )
        except (RunError, StoreError):
            raise
        except LeafError as e:
            return e
        finally:
            self._on_answer()


class _Either(threading.Event):
    """Set when it is, or when another is."""

    def __init__(self, other: threading.Event | None) -> None:
        super().__init__()
        self._other = other

    def is_set(self) -> bool:
        return super().is_set() or (self._other is not None and self._other.is_set())


def _size(item: BatchItem) -> int:
    if item.size is not None:
        return item.size
    try:
        return item.source().stat().st_size
    except OSError:
        return 0
