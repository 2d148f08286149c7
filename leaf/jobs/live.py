"""A job while a thread of this process works on it."""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from leaf import logs
from leaf.errors import StoreAwayError
from leaf.jobs.places import Place
from leaf.retries import Again, Waits, doubling, retry
from leaf.store.jobs import Job
from leaf.store.model import Scope

T = TypeVar("T")
LONGEST = 60.0
"""Seconds between two tries while the database does not answer."""
TRIES = 60
"""About an hour. A job whose work brings the database down each time is not to do it for ever."""
logger = logging.getLogger(__name__)


@dataclass
class LiveJob:
    """A job that this process works on."""

    scope: Scope
    job: Job
    changed: threading.Condition
    stop: threading.Event = field(default_factory=threading.Event)
    tried: bool = False
    """Whether its work was begun here before."""
    resumed: bool = False
    count: int = 0
    """Files looked at, those that were done at the beginning included."""
    note: str = ""
    more: Callable[[], bool] = lambda: False
    place: Place | None = None
    besides: int = -1
    """Files that are done and beside the question; -1 while that is not known."""
    reads: tuple[str, threading.Event] | None = None
    """The file that is read ahead, and what ends that."""

    def say(self, text: str) -> None:
        with self.changed:
            self.note = text
            self.changed.notify_all()

    def looked(self) -> None:
        with self.changed:
            self.count += 1
            self.changed.notify_all()

    def beside(self, count: int) -> None:
        with self.changed:
            self.besides = count
            self.changed.notify_all()

    @contextmanager
    def reading(self, file_id: str) -> Iterator[threading.Event]:
        stop = threading.Event()
        with self.changed:
            self.reads = file_id, stop
        if self.stop.is_set():
            stop.set()
        try:
            yield stop
        finally:
            with self.changed:
                self.reads = None

    def end(self, file_id: str = "") -> None:
        """End all of it, or the reading ahead of one file."""
        with self.changed:
            if self.reads is not None and file_id in ("", self.reads[0]):
                self.reads[1].set()
            if not file_id:
                self.stop.set()
            self.changed.notify_all()


def through_outages(attempt: Callable[[], T], stop: threading.Event) -> T:
    """The value of an attempt, which is made again while the database does not answer. Raises its last
    error, RunError after `stop`."""

    def wait(error: Exception, seconds: float) -> None:
        logger.warning("a job waits %.0f seconds for the database: %s", seconds, logs.reason(error))

    return retry(
        attempt,
        lambda error: Again() if isinstance(error, StoreAwayError) else None,
        Waits(itertools.islice(doubling(1.0, LONGEST), TRIES)),
        stop=stop,
        on_wait=wait,
    )
