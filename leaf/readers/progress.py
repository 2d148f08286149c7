"""How far a long reading is, for whoever waits for it. What reads calls `report`; who listens is
nothing to it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

Tell = Callable[[int, int], None]

EVERY = 0.25
"""Seconds between two reports that are passed on."""
_TELL: ContextVar[Tell | None] = ContextVar("tell", default=None)


def tell_to(tell: Tell) -> None:
    """Pass on what is reported in this thread from now on, a few times a second at most."""
    last = -EVERY

    def pass_on(done: int, total: int) -> None:
        nonlocal last
        if done >= total or time.monotonic() - last >= EVERY:
            last = time.monotonic()
            tell(done, total)

    _TELL.set(pass_on)


def report(done: int, total: int) -> None:
    """Say that `done` of `total` bytes are gone through; what is gone through twice counts
    twice."""
    if (tell := _TELL.get()) is not None:
        tell(done, total)


@contextmanager
def watched(connection: duckdb.DuckDBPyConnection, size: int, *, after: int = 0) -> Iterator[None]:
    """Report, while statements of this connection run, how much of the `size` bytes that they read
    is done, as DuckDB says.

    `after` are bytes that were gone through before. Of several statements the one that is farthest
    counts.
    """
    tell = _TELL.get()
    if tell is None:
        yield
        return
    for setting in (
        "enable_progress_bar = true",
        "enable_progress_bar_print = false",
        "progress_bar_time = 0",
    ):
        connection.execute(f"SET {setting}")
    over = threading.Event()

    def look() -> None:
        farthest = 0.0
        while not over.wait(EVERY):
            farthest = max(farthest, min(99.0, connection.query_progress()))
            tell(after + int(size * farthest / 100), after + size)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        tell(after + size, after + size)
        connection.execute("SET enable_progress_bar = false")
