"""A thread for work that nobody waits for and that begins again from time to time."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Background:
    """One piece of work, once at a time. Safe to call from any number of threads."""

    def __init__(self, name: str, work: Callable[[], None]) -> None:
        """`work` catches what may go wrong, and ends soon after `ending` is set. The thread has the
        `name`."""
        self.ending = threading.Event()
        self._name = name
        self._work = work
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Do it without being waited for; nothing while it is being done or after `close`."""
        with self._guard:
            if self.ending.is_set() or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Have it end, and wait for that."""
        with self._guard:
            self.ending.set()
            thread = self._thread
        if thread is not None:
            thread.join()
