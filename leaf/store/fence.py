"""Keeps a run from writing that another process has taken over.

While a run is carried out, its thread and those that it hands work to hold its lease's token. Every
transaction that they open looks for that token first and keeps it to its end: nobody can take the
run over in between, and once somebody has, nothing that it writes is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leaf.store.database import Transaction


class FencedError(BaseException):
    """This run is another process's by now.

    Not an Exception: nothing on the way may take it for a failure of its own and go on.
    """


@dataclass(frozen=True)
class Fence:
    """What a run writes under."""

    message_id: str
    token: int


_held: ContextVar[Fence | None] = ContextVar("fence", default=None)


@contextmanager
def behind(fence: Fence | None) -> Iterator[None]:
    """What is written inside is written under this token; None: under none."""
    reset = _held.set(fence)
    try:
        yield
    finally:
        _held.reset(reset)


def check(tx: Transaction) -> None:
    """Hold the token until the transaction ends, where this thread writes under one. Raises
    FencedError."""
    fence = _held.get()
    if fence is None:
        return
    held = tx.read(
        "SELECT token FROM run_leases WHERE message_id = :message AND token = :token FOR SHARE",
        {"message": fence.message_id, "token": fence.token},
    )
    if not held:
        raise FencedError(fence.message_id)
