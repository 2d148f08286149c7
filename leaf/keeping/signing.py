"""Signs chats in the background, so that a search on DuckDB reads few of them
(`store/signatures.py`)."""

from __future__ import annotations

import logging
import threading
import time
from datetime import timedelta

from leaf.errors import LeafError
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


class Signing:
    """One thread, while there is something to sign. On PostgreSQL there is nothing."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Sign what is not, unless that is being done; does not wait for it."""
        with self._lock:
            if self._ending.is_set():
                return
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._work, name="signing", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Stop after the piece that is being signed; the next start goes on from there."""
        with self._lock:
            self._ending.set()
            thread = self._thread
        if thread is not None:
            thread.join()

    def sign_all(self) -> int:
        """Sign what is not, now; returns how many chats were."""
        if self._db.engine == "postgres":
            return 0
        last, count = "", 0
        before = now() - QUIET
        while ids := signatures.unscoped_unsigned(self._db, before, last, ROUND):
            for start in range(0, len(ids), PIECE):
                if self._ending.is_set():
                    return count
                piece = ids[start : start + PIECE]
                began = time.monotonic()
                signatures.unscoped_sign(self._db, piece)
                count += len(piece)
                self._ending.wait(REST * (time.monotonic() - began))
            last = ids[-1]  # one that is written to all the time does not hold up the end
        return count

    def _work(self) -> None:
        try:
            if count := self.sign_all():
                logger.info("signed %d chats", count)
        except LeafError as e:  # the next hour goes on; searches read what is not signed
            if not self._ending.is_set():
                logger.warning("signing chats: %s", e)
