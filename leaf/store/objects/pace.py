"""How fast a store of blobs gives bytes to this process, as it was seen: whether fetching what can be
made again is quicker than making it is judged by that."""

from __future__ import annotations

import threading

BYTES_A_SECOND = 20_000_000.0
"""What is assumed before anything was fetched: a bucket in another data centre, slow rather than
quick."""
DELAY = 0.05
"""Seconds until the first byte comes."""
LEAST = 1_000_000
"""Bytes of a blob from which on its time says something of the rate, and not of the delay alone."""
REMEMBERED = 1_000_000_000
"""Bytes over which the rate is taken; what came before counts ever less."""


class BucketPace:
    """Of one store. Safe to share between threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._bytes = 0.0
        self._seconds = 0.0

    def note(self, size: int, seconds: float) -> None:
        """So many bytes came in so many seconds."""
        if size < LEAST or seconds <= 0:
            return
        with self._guard:
            self._bytes += size
            self._seconds += seconds
            if self._bytes > REMEMBERED:
                self._bytes /= 2
                self._seconds /= 2

    @property
    def rate(self) -> float:
        """Bytes a second."""
        with self._guard:
            return self._bytes / self._seconds if self._seconds else BYTES_A_SECOND

    def seconds(self, size: int) -> float:
        """That fetching so many bytes would take."""
        return DELAY + size / self.rate
