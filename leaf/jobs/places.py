"""Places in which jobs are worked on: a few at a time, and whoever has fewest gets the next one."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass

from leaf.errors import RunError

LOOK_SECONDS = 0.2


class Places:
    """So many places for everybody. Safe to call from any thread."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._changed = threading.Condition()
        self._waiting: list[Place] = []
        self._held = Counter[str]()

    def take(self, place: Place, stop: threading.Event) -> None:
        """Wait for one. Raises RunError after `stop`."""
        with self._changed:
            self._waiting.append(place)
            try:
                while not (self._free and self._next() is place):
                    if stop.is_set():
                        raise RunError("Stopped.")
                    self._changed.wait(LOOK_SECONDS)
                self._free -= 1
                self._held[place.user] += 1
            finally:
                self._waiting.remove(place)
                self._changed.notify_all()

    def give(self, place: Place) -> None:
        with self._changed:
            self._free += 1
            self._held[place.user] -= 1
            self._held += Counter()  # forgets whoever has none left
            self._changed.notify_all()

    def _next(self) -> Place:
        """The first of those who wait whose user has fewest."""
        return min(self._waiting, key=lambda place: self._held[place.user])


@dataclass(eq=False)
class Place:
    """One job's. It is given back while the job only waits for files, and at its end."""

    places: Places
    user: str
    held: bool = False

    def take(self, stop: threading.Event) -> None:
        """Raises RunError after `stop`."""
        self.places.take(self, stop)
        self.held = True

    def give(self) -> None:
        """Once is enough."""
        if self.held:
            self.held = False
            self.places.give(self)
