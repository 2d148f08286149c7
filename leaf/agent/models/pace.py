"""How often an answer's stream is read when many come at once.

To wake a thread for every word costs more than the word. With many streams each is let be for a
moment after it was read empty, so that what came meanwhile is read in one go; nobody sees the
difference, since the page is drawn less often then, too (`ui/live/hub.py`). What is there already
is never waited with, so a stream cannot fall behind.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpcore2
    import httpx2

FREE = 60
"""Streams at once that are read as they come."""
EACH = 0.0007
"""Seconds that each further one adds."""
MOST = 0.15
"""Seconds at most."""


class ReadingPace:
    """Of all streams of a process."""

    def __init__(self, wait: Callable[[float], None] = time.sleep) -> None:
        self._wait = wait
        self._lock = threading.Lock()
        self._streams = 0

    @property
    def pause(self) -> float:
        """Seconds for which a stream is let be now."""
        return min(MOST, max(0, self._streams - FREE) * EACH)

    @contextmanager
    def reading(self, response: httpx2.Response) -> Iterator[None]:
        """Read this response at the pace. The connection is as it was afterwards, for whatever is
        asked on it next."""
        with self._lock:
            self._streams += 1
        network = response.extensions.get("network_stream")
        if network is not None and not _tells(network):
            network = None
        if network is not None:
            self._slow(network)
        try:
            yield
        finally:
            if network is not None:
                del network.read
            with self._lock:
                self._streams -= 1

    def _slow(self, network: httpcore2.NetworkStream) -> None:
        read = network.read

        def paced(max_bytes: int, timeout: float | None = None) -> bytes:
            pause = self.pause
            if pause and not network.get_extra_info("is_readable"):
                self._wait(pause)
            return read(max_bytes, timeout)

        network.read = paced  # type: ignore[method-assign]


def _tells(network: httpcore2.NetworkStream) -> bool:
    """Whether it says when something is there to be read; TLS within TLS keeps that to itself."""
    return not isinstance(network.get_extra_info("ssl_object"), ssl.SSLObject)


PACE = ReadingPace()
