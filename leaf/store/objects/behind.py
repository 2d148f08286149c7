"""Blobs that stand in the data folder alone, since the store did not take them when they were made: noted
on the disk, so that a restart knows them, and put into the store once it takes them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from leaf.retries import doubling
from leaf.store.objects.base import BlobKey, key_of

LONGEST = 600.0
"""Seconds between two rounds where the store is away, or full, for long."""

_log = logging.getLogger(__name__)


class BlobsBehind:
    """Safe to use from any number of threads. A thread tries while there are any, and no longer."""

    def __init__(self, folder: Path, bring: Callable[[BlobKey], bool], pause: float) -> None:
        """`bring` puts a blob into the store and says whether it need not be tried again; `pause` is in
        seconds before a round of tries, and grows while none succeeds."""
        self._folder = folder
        self._bring = bring
        self._pause = pause
        self._guard = threading.Lock()
        self._closed = threading.Event()
        self._trying = False
        if self._noted():
            self._begin()

    def add(self, key: BlobKey) -> None:
        """Note a blob. Raises OSError."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._note(key).touch(mode=0o600)
        self._begin()

    def forget(self, key: BlobKey) -> None:
        """It is in the store now, or deleted."""
        self._note(key).unlink(missing_ok=True)

    def _note(self, key: BlobKey) -> Path:
        return self._folder / f"{key.workspace_id}.{key.sha256}"

    def _noted(self) -> list[BlobKey]:
        if not self._folder.is_dir():
            return []
        return [key_of(*path.name.split(".")) for path in sorted(self._folder.glob("*.*"))]

    def _begin(self) -> None:
        with self._guard:
            if self._trying:
                return
            self._trying = True
        threading.Thread(target=self._try, name="blobs-behind", daemon=True).start()

    def close(self) -> None:
        """Leave the rest to the next start."""
        self._closed.set()

    def _try(self) -> None:
        waits = doubling(self._pause, max(self._pause, LONGEST))
        while not self._closed.wait(next(waits)):
            for key in self._noted():
                if not self._bring(key):
                    break
                self.forget(key)
                waits = doubling(self._pause, max(self._pause, LONGEST))
                _log.info("a file that stood in the data folder alone is in the store now")
            with self._guard:
                if not self._noted():
                    self._trying = False
                    return
