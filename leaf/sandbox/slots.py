"""Who works next in a confined child: a few at a time, and nobody's work keeps that of others
waiting.

Whoever has the fewest slots comes first, among these whoever asked first. Who works is said once
around the work, with `working_for`; what is done for nobody in particular counts as one person's.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from leaf.sandbox.limits import raise_if_stopped

LOOK = 0.1
"""Seconds between two looks whether somebody who waits was stopped."""
_person: ContextVar[str] = ContextVar("leaf_person", default="")


@contextmanager
def working_for(person: str) -> Iterator[None]:
    """Slots that are taken inside of the block, and in threads with a copy of its context, are this
    person's."""
    before = _person.set(person)
    try:
        yield
    finally:
        _person.reset(before)


class Slots:
    """`count` pieces of work at a time. Safe to call from any number of threads."""

    def __init__(self, count: int) -> None:
        """One person has all but one of them at most, where there are more than two."""
        self._free = count
        self._each = max(2, count - 1)
        self._changed = threading.Condition()
        self._line: list[tuple[str, object]] = []
        """(who, of which request), in the order in which they came."""
        self._held: Counter[str] = Counter()

    @contextmanager
    def taken(self, stop: threading.Event | None = None) -> Iterator[None]:
        """Wait for a slot, and have it until the end of the block. Raises RunError after `stop`."""
        me = (_person.get(), object())
        with self._changed:
            self._line.append(me)
            try:
                while self._next() is not me:
                    raise_if_stopped(stop)
                    self._changed.wait(LOOK if stop is not None else None)
                self._free -= 1
                self._held[me[0]] += 1
            finally:
                self._line.remove(me)
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._free += 1
                self._held[me[0]] -= 1
                self._held += Counter()  # without those who have none
                self._changed.notify_all()

    def _next(self) -> tuple[str, object] | None:
        """Whose turn it is; None while nobody may begin."""
        if not self._free:
            return None
        may = (one for one in self._line if self._held[one[0]] < self._each)
        return min(may, key=lambda one: self._held[one[0]], default=None)
