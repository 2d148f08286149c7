"""Pages are drawn a few at a time. When a hundred tabs come back after a restart, drawing them side by
side would make each of them late, and the words that are on their way to other tabs with them.

Nobody's tabs keep those of others waiting: of one person few are drawn at once, whoever was drawn
longest ago comes next, and who has pages drawn without end has them drawn at a steady pace: that of
an equal part of what drawing may take, or half as much again as the others use, whichever is more.
So where all work hard, or the machine is slow, nobody is held back for doing as the others do.
"""

from __future__ import annotations

import math
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
SHARE_LEAST, SHARE_MOST = 0.01, 0.25
"""Of a core, for one person: an equal part of `ALL` within these bounds, or more where others use
more."""
BESIDE_OTHERS = 1.5
"""Times what one of the others uses, on average, that one person may use in any case."""
BEYOND = 2.0
"""Seconds of the processor for each one of a drawing's own thread: to let the page in, to send it and
to read the history for it is work of other threads (measured: 1.7 to 2.3)."""
AHEAD = 5.0
"""Seconds of drawing that somebody may use at once, some eighty pages; at their share they come
back."""
LONGEST = 20.0
"""Seconds that a page waits at most for its person's share: what was drawn beyond that is not
owed."""
RECENT = 60.0
"""Seconds for which somebody counts as there after a page of theirs was drawn, and over which it is
measured what they use: what was used so long ago counts for a third."""
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
    used: float = 0.0
    """Seconds that they had used lately when it was reckoned last."""

    def used_at(self, now: float) -> float:
        """Seconds that they have used lately."""
        return _faded(self.used, now - self.reckoned)

    def left_at(self, now: float, share: float) -> float:
        """Seconds of drawing that they have now."""
        return min(AHEAD, self.left + (now - self.reckoned) * share)


def _faded(used: float, seconds: float) -> float:
    return used * math.exp(-seconds / RECENT)


class DrawingTurns:
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
        self._used, self._reckoned = 0.0, 0.0
        """Seconds that all of them had used lately, and when that was reckoned."""

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
                self.charge(me.who, BEYOND * (time.thread_time() - began))
                self._admit()

    def charge(self, who: str, seconds: float) -> None:
        """So much of the processor was used to draw a page of theirs."""
        with self._lock:
            if person := self._people.get(who):
                now = self._clock()
                share = self._share(person, now, self._there(now))
                person.left = max(-LONGEST * share, person.left_at(now, share) - seconds)
                person.used = person.used_at(now) + seconds
                self._used = _faded(self._used, now - self._reckoned) + seconds
                person.reckoned = self._reckoned = now

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
            del self._people[next(iter(self._people))]  # long gone, and what they used faded

    def _there(self, now: float) -> int:
        """How many people are there, one at least."""
        latest = reversed(self._people.values())
        return max(1, sum(1 for _ in takewhile(lambda one: one.last > now - RECENT, latest)))

    def _share(self, person: _Person, now: float, there: int) -> float:
        """Of a core, that this person may use in the long run."""
        used = _faded(self._used, now - self._reckoned) - person.used_at(now)
        others = used / RECENT / max(1, there - 1)
        return min(SHARE_MOST, max(SHARE_LEAST, ALL / there, BESIDE_OTHERS * others))

    def _next(self) -> _Place | None:
        """Who may begin now."""
        now = self._clock()
        counted = Counter(place.who for place in self._drawn if place.until > now)
        if counted.total() >= self._at_once:
            return None
        there = self._there(now)
        may = [
            place
            for place in self._line
            if not place.who
            or (counted[place.who] < self._each and self._left(place, now, there) > 0)
        ]
        return min(may, key=lambda place: self._of(place).last, default=None)

    def _left(self, place: _Place, now: float, there: int) -> float:
        person = self._of(place)
        return person.left_at(now, self._share(person, now, there))

    def _of(self, place: _Place) -> _Person:
        return self._people.get(place.who) or _Person()

    def _seconds_to_change(self, me: _Place) -> float | None:
        """Until a drawing stops counting or this person may be drawn again; None where only the end
        of a drawing changes anything, or where another page of theirs looks."""
        if me.who and self._first_of(me.who) is not me:
            return None
        now = self._clock()
        person = self._of(me)
        share = self._share(person, now, self._there(now))
        waits = [place.until - now for place in self._drawn]
        waits.append(-person.left_at(now, share) / share)
        return min((wait for wait in waits if wait > 0), default=None)
