"""How far a long reading is, for whoever waits for it. What reads calls `report`; who listens is nothing to it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar

Tell = Callable[[int, int], None]

EVERY = 0.25
"""Seconds between two reports that are passed on."""
_TELL: ContextVar[Tell | None] = ContextVar("tell", default=None)


def tell_to(tell: Tell) -> None:
    """Pass on what is reported in this thread from now on, a few times a second at most."""
    last = -EVERY

    def pass_on(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= EVERY:
            last = time.monotonic()
            tell(done, total)

    _TELL.set(pass_on)


def report(done: int, total: int) -> None:
    """Say that `done` of `total` bytes are read."""
    if (tell := _TELL.get()) is not None:
        tell(done, total)
