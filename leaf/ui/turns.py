"""Pages are drawn a few at a time. When a hundred tabs come back after a restart, drawing them side by
side would make each of them late, and the words that are on their way to other tabs with them.

Nobody's tabs keep those of others waiting: of one person few are drawn at once, whoever was drawn
longest ago comes next, and who has pages drawn without end has them drawn at a steady pace, the
slower the more people are there.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import takewhile

AT_ONCE = 4
EACH = 2
"""Of one person."""
COUNTS = 1.0
"""Seconds for which a drawing counts: one that takes longer waits for something, and keeps nobody
from beginning."""
ALL = 0.5
"""Of a core, that drawing may take in the long run where everybody wants more: the rest is for
answers, and what is idle keeps those short who come now and then."""
SHARE_LEAST, SHARE_MOST = 0.02, 0.25
"""Of a core, for one person: an equal part of `ALL` within these bounds."""
AHEAD = 2.5
"""Seconds of drawing that somebody may use at once, some thirty pages; at their share they come
back."""
OWED = 0.2
"""Seconds of drawing that somebody may owe: after a page that takes long nobody waits for more than
ten seconds."""
RECENT = 60.0
"""Seconds for which somebody counts as there after a page of theirs was drawn."""
REMEMBERED = 1_000
"""People of whom it is known how they were drawn."""


@dataclass(eq=False)
class _Place:
    """One page in the line."""

    who: str
    until: float = field(default=0.0)
    """While it is drawn: until when it counts, by the clock."""


@dataclass
class _Person:
    """How the pages of one person were drawn, by the clock."""

    last: float = float("-inf")
    """When one began."""
    left: float = AHEAD
    """Seconds of drawing that they had left when it was reckoned last."""
    reckoned: float = 0.0

    def left_at(self, now: float, share: float) -> float:
        """Seconds of drawing that they have now."""
        return min(AHEAD, self.left + (now - self.reckoned) * share)


class Turns:
    """Who is being drawn. Safe to call from any number of threads. Of pages of one person, the one
    that came first begins first."""

    def __init__(
        self,
        at_once: int = AT_ONCE,
        counts: float = COUNTS,
        each: int = EACH,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._at_once, self._counts, self._each = at_once, counts, each
        self._clock = clock
        self._changed = threading.Condition()
        self._line: list[_Place] = []
        self._drawn: list[_Place] = []
        self._people: dict[str, _Person] = {}
        """By who they are, the latest drawn last."""

    @contextmanager
    def turn(self, who: str = "") -> Iterator[None]:
        """Wait for one's turn, and have it until the end of the block. Without `who` the page has
        nobody to share with."""
        me = _Place(who)
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
                self.charge(me.who, time.thread_time() - began)
                self._changed.notify_all()

    def charge(self, who: str, seconds: float) -> None:
        """So much of the processor was used to draw a page of theirs."""
        with self._changed:
            if person := self._people.get(who):
                now = self._clock()
                person.left = max(-OWED, person.left_at(now, self._share(now)) - seconds)
                person.reckoned = now

    def _begin(self, me: _Place) -> None:
        now = self._clock()
        me.until = now + self._counts
        self._drawn.append(me)
        if not me.who:
            return
        person = self._people.pop(me.who, None) or _Person(reckoned=now)
        person.last = now
        self._people[me.who] = person
        if len(self._people) > REMEMBERED:
            del self._people[next(iter(self._people))]

    def _share(self, now: float) -> float:
        """Of a core, that one person may use in the long run."""
        latest = reversed(self._people.values())
        there = sum(1 for _ in takewhile(lambda person: person.last > now - RECENT, latest))
        return min(SHARE_MOST, max(SHARE_LEAST, ALL / max(1, there)))

    def _next(self) -> _Place | None:
        """Who may begin now."""
        now = self._clock()
        counted = Counter(place.who for place in self._drawn if place.until > now)
        if counted.total() >= self._at_once:
            return None
        share = self._share(now)
        may = [
            place
            for place in self._line
            if not place.who
            or (counted[place.who] < self._each and self._of(place).left_at(now, share) > 0)
        ]
        return min(may, key=lambda place: self._of(place).last, default=None)

    def _of(self, place: _Place) -> _Person:
        return self._people.get(place.who) or _Person()

    def _seconds_to_change(self) -> float | None:
        """Until a drawing stops counting or somebody in the line may be drawn again; None where only
        the end of a drawing or a new page changes anything."""
        now = self._clock()
        share = self._share(now)
        waits = [place.until - now for place in self._drawn]
        waits += [-self._of(place).left_at(now, share) / share for place in self._line]
        return min((wait for wait in waits if wait > 0), default=None)
