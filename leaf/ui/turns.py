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
from dataclasses import dataclass
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
    """One page, in the line or while it is drawn."""

    who: str
    told: threading.Condition
    """That its turn may have come. Each has its own: of many that wait nobody wakes for the turn of
    another."""
    begun: bool = False
    until: float = 0.0
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
        self._lock = threading.RLock()
        self._line: list[_Place] = []
        self._drawn: list[_Place] = []
        self._people: dict[str, _Person] = {}
        """By who they are, the latest drawn last."""

    @contextmanager
    def turn(self, who: str = "") -> Iterator[None]:
        """Wait for one's turn, and have it until the end of the block. Without `who` the page has
        nobody to share with."""
        me = _Place(who, threading.Condition(self._lock))
        with self._lock:
            self._line.append(me)
            try:
                self._admit()
                while not me.begun:
                    me.told.wait(self._seconds_to_change(me))
                    self._admit()
            except BaseException:
                (self._drawn if me.begun else self._line).remove(me)
                self._admit()
                self._have_look(me.who)
                raise
        began = time.thread_time()
        try:
            yield
        finally:
            with self._lock:
                self._drawn.remove(me)
                self.charge(me.who, time.thread_time() - began)
                self._admit()

    def charge(self, who: str, seconds: float) -> None:
        """So much of the processor was used to draw a page of theirs."""
        with self._lock:
            if person := self._people.get(who):
                now = self._clock()
                person.left = max(-OWED, person.left_at(now, self._share(now)) - seconds)
                person.reckoned = now

    def _admit(self) -> None:
        """Let all begin whose turn it is."""
        while (place := self._next()) is not None:
            self._line.remove(place)
            self._begin(place)
            place.told.notify()
            self._have_look(place.who)

    def _have_look(self, who: str) -> None:
        """Have the first page of a person's line look when its turn is."""
        if first := self._first_of(who):
            first.told.notify()

    def _first_of(self, who: str) -> _Place | None:
        return next((place for place in self._line if place.who == who), None) if who else None

    def _begin(self, me: _Place) -> None:
        now = self._clock()
        me.begun, me.until = True, now + self._counts
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

    def _seconds_to_change(self, me: _Place) -> float | None:
        """Until a drawing stops counting or this person may be drawn again; None where only the end
        of a drawing changes anything, or where another page of theirs looks."""
        if me.who and self._first_of(me.who) is not me:
            return None
        now = self._clock()
        share = self._share(now)
        waits = [place.until - now for place in self._drawn]
        waits.append(-self._of(me).left_at(now, share) / share)
        return min((wait for wait in waits if wait > 0), default=None)
