"""What is done once an hour by one process of all that share a database, without anybody asking: what
deletions have left is removed, what nothing is made of is swept, what is lost is found.

It may take long where a bucket does, so it has a thread of its own: whoever looks after answers does
not wait for it. What it does in a round is bounded, and the next one goes on from there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta

from leaf.errors import LeafError
from leaf.keeping.background import Background
from leaf.store import Store, duties
from leaf.store.rounds import Round

PERIOD = timedelta(minutes=55)
"""Between two rounds; each process asks about once an hour whether it is its turn."""
NAME = "tidying"
logger = logging.getLogger(__name__)


class Tidying(Background):
    """Safe to call from any number of threads."""

    def __init__(
        self, store: Store, finish: Callable[[], None], period: timedelta = PERIOD
    ) -> None:
        """`finish` carries out what deletions have left to do."""
        self._store = store
        self._finish = finish
        self._period = period
        super().__init__("tidying", self._do)

    def _do(self) -> None:
        try:
            position = duties.unscoped_take(self._store.db, NAME, self._period)
            if position is None:
                return  # it was done, or another process does it
            self._finish()
            outcome = Round(self._store, self.ending).go(position)
            duties.unscoped_leave(self._store.db, NAME, outcome.position)
            if outcome.swept or outcome.lost or outcome.back:
                logger.info(
                    "swept %d blobs that belong to nothing; %d files are lost, %d are back",
                    *(outcome.swept, outcome.lost, outcome.back),
                )
        except LeafError as e:
            logger.warning("tidying up goes on within the hour: %s", e)
