"""What is done once an hour by one process of all that share a database, without anybody asking: what
deletions have left is removed, what nothing is made of is swept, what is lost is found.

It may take long where a bucket does, so it has a thread of its own: whoever looks after answers does
not wait for it. What it does in a round is bounded, and the next one goes on from there.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import timedelta

from leaf.errors import LeafError
from leaf.store import Store, duties
from leaf.store.rounds import Round

PERIOD = timedelta(minutes=55)
"""Between two rounds; each process asks about once an hour whether it is its turn."""
NAME = "tidying"
logger = logging.getLogger(__name__)


class Tidying:
    """Safe to call from any number of threads."""

    def __init__(
        self, store: Store, finish: Callable[[], None], period: timedelta = PERIOD
    ) -> None:
        """`finish` carries out what deletions have left to do."""
        self._store = store
        self._finish = finish
        self._period = period
        self._guard = threading.Lock()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Do it in the background if it is due, and nothing while a round goes on. Raises
        StoreError."""
        with self._guard:
            if self._closed.is_set() or (self._thread is not None and self._thread.is_alive()):
                return
            position = duties.unscoped_take(self._store.db, NAME, self._period)
            if position is not None:
                self._thread = threading.Thread(
                    target=self._do, args=(position,), name="tidying", daemon=True
                )
                self._thread.start()

    def close(self) -> None:
        """End a round after what it is at."""
        self._closed.set()
        with self._guard:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _do(self, position: str) -> None:
        try:
            self._finish()
            found = Round(self._store, self._closed).go(position)
            duties.unscoped_leave(self._store.db, NAME, found.position)
            if found.swept or found.lost or found.back:
                logger.info(
                    "swept %d blobs that belong to nothing; %d files are lost, %d are back",
                    *(found.swept, found.lost, found.back),
                )
        except LeafError as e:
            logger.warning("tidying up goes on within the hour: %s", e)
