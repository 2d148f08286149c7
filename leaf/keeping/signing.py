"""Signs chats in the background, so that a search on DuckDB reads few of them
(`store/signatures.py`)."""

from __future__ import annotations

import logging
import time
from datetime import timedelta

from leaf.errors import LeafError
from leaf.keeping.background import Background
from leaf.store import signatures
from leaf.store.database import Database, now

PIECE = 200
"""Chats that are signed at a time. Their rows are written in some ten milliseconds, for which
other writers wait."""
ROUND = 20_000
"""Chats that are asked for at a time."""
REST = 1.0
"""How many times as long as a piece took nothing is done: others have the processor, too."""
QUIET = timedelta(hours=1)
"""For which a chat was not written to before it is signed."""

logger = logging.getLogger(__name__)


class Signing(Background):
    """One thread, while there is something to sign. On PostgreSQL there is nothing."""

    def __init__(self, db: Database) -> None:
        self._db = db
        super().__init__("signing", self._work)

    def sign_all(self) -> int:
        """Sign what is not, now; returns how many chats were."""
        if self._db.engine == "postgres":
            return 0
        last, count = "", 0
        before = now() - QUIET
        while ids := signatures.unscoped_unsigned(self._db, before, last, ROUND):
            for start in range(0, len(ids), PIECE):
                if self.ending.is_set():
                    return count
                piece = ids[start : start + PIECE]
                began = time.monotonic()
                signatures.unscoped_sign(self._db, piece)
                count += len(piece)
                self.ending.wait(REST * (time.monotonic() - began))
            last = ids[-1]  # one that is written to all the time does not hold up the end
        return count

    def _work(self) -> None:
        try:
            if count := self.sign_all():
                logger.info("signed %d chats", count)
        except LeafError as e:  # the next hour goes on; searches read what is not signed
            if not self.ending.is_set():
                logger.warning("signing chats: %s", e)
