"""Pages are drawn a few at a time. When a hundred tabs come back after a restart, drawing them side by
side would make each of them late, and the words that are on their way to other tabs with them.

Nobody's tabs keep those of others waiting: of one person few are drawn at once, whoever was drawn
longest ago comes next, and who has pages drawn without end has them drawn at a steady pace.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

AT_ONCE = 4
EACH = 2
"""Of one person."""
COUNTS = 1.0
"""Seconds for which a drawing counts: one that takes longer waits for something, and keeps nobody
from beginning."""
SHARE = 0.25
"""Of a core, that drawing the pages of one person may take in the long run."""
AHEAD = 10.0
"""Seconds by which somebody may be ahead of that: 2.5 seconds of drawing at once, some thirty
pages."""
REMEMBERED = 1_000
"""People of whom it is known how they were drawn."""


@dataclass(eq=False)
class _Place:
    """One page in the line."""

    who: str
    until: float = field(default=0.0)
    """While it is drawn: until when it counts, by `time.monotonic()`."""


@dataclass
class _Person:
    """How the pages of one person were drawn, by `time.monotonic()`."""

    last: float = 0.0
    """When one began."""
    paid: float = 0.0
    """Until when their share of the time is used."""


class Turns:
    """Who is being drawn. Safe to call from any number of threads. Of pages of one person, the one
    that came first begins first."""

    def __init__(self, at_once: int = AT_ONCE, counts: float = COUNTS, each: int = EACH) -> None:
        self._at_once, self._counts, self._each = at_once, counts, each
        self._changed = threading.Condition()
        self._line: list[_Place] = []
        self._drawn: list[_Place] = []
        self._people: dict[str, _Person] = {}
        """By who they are, the latest drawn last."""

    @contextmanager
    def turn(self, who: str = "") -> Iterator[None]:
        """Wait for one's turn, and have it until the end of the block. Without `who` the page has
        nobody to share with."""
        me = _Place(who or f"page {threading.get_ident()}")
        with self._changed:
            self._line.append(me)
            try:
                while self._next() is not me:
                    self._changed.wait(self._seconds_to_change())
                self._begin(me)
            finally:
                self._line.remove(me)
                self._changed.notify_all()
        began = time.thread_time()
        try:
            yield
        finally:
            with self._changed:
                self._drawn.remove(me)
                self._charge(me.who, time.thread_time() - began)
                self._changed.notify_all()

    def _charge(self, who: str, seconds: float) -> None:
        """So much of the processor was used to draw a page of theirs."""
        if person := self._people.get(who):
            person.paid = max(person.paid, time.monotonic()) + seconds / SHARE

    def _begin(self, me: _Place) -> None:
        now = time.monotonic()
        me.until = now + self._counts
        self._drawn.append(me)
        person = self._people.pop(me.who, None) or _Person()
        person.last = now
        self._people[me.who] = person
        if len(self._people) > REMEMBERED:
            del self._people[next(iter(self._people))]

    def _next(self) -> _Place | None:
        """Who may begin now."""
        now = time.monotonic()
        counted = Counter(place.who for place in self._drawn if place.until > now)
        if counted.total() >= self._at_once:
            return None
        may = [
            place
            for place in self._line
            if counted[place.who] < self._each and self._of(place).paid - AHEAD <= now
        ]
        return min(may, key=lambda place: self._of(place).last, default=None)

    def _of(self, place: _Place) -> _Person:
        return self._people.get(place.who) or _Person()

    def _seconds_to_change(self) -> float | None:
        """Until a drawing stops counting or somebody in the line may be drawn again; None where only
        the end of a drawing or a new page changes anything."""
        now = time.monotonic()
        ends = [place.until for place in self._drawn]
        ends += [self._of(place).paid - AHEAD for place in self._line]
        return min((end - now for end in ends if end > now), default=None)
