"""Lines of a child, read by a thread of their own and no further ahead than they are taken: who says
more than was asked waits in the kernel, and fills nobody's memory."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections import deque
from typing import IO

LINE_BYTES = 64 * 1024 * 1024
"""Longest line that is read; there is no reading on behind a longer one."""
AHEAD = 256 * 1024
"""Bytes of whole lines that wait, after which no more is read."""
OVERHEAD = 64
"""What a line takes besides its bytes."""


class Lines:
    """The lines of one pipe. One thread takes them; any may close them."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._changed = threading.Condition()
        self._waiting: deque[bytes] = deque()
        self._held = 0
        self._ended = False
        self._closed = False
        self.too_long = False
        """Whether it ended with a line longer than any may be."""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def take(self, timeout: float) -> bytes | None:
        """The next line, None where there are no more. Raises queue.Empty after `timeout`
        seconds."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._waiting or self._ended, timeout):
                raise queue.Empty
            if not self._waiting:
                return None
            line = self._waiting.popleft()
            self._held -= len(line) + OVERHEAD
            self._changed.notify_all()
            return line

    def close(self, timeout: float) -> None:
        """Read no more, and wait until the thread has let go of the pipe, which has ended."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._reader.join(timeout)

    def _read(self) -> None:
        rest = bytearray()
        with contextlib.suppress(OSError, ValueError):
            while self._may_read() and len(rest) <= LINE_BYTES:
                chunk = self._stream.read(1 << 16)
                if not chunk:
                    break
                rest += chunk
                if b"\n" in chunk:
                    *whole, last = bytes(rest).split(b"\n")
                    self._put(whole)
                    rest = bytearray(last)
        with self._changed:
            self.too_long = len(rest) > LINE_BYTES
            self._ended = True
            self._changed.notify_all()

    def _may_read(self) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._held <= AHEAD)
            return not self._closed

    def _put(self, lines: list[bytes]) -> None:
        with self._changed:
            self._waiting += lines
            self._held += sum(len(line) + OVERHEAD for line in lines)
            self._changed.notify_all()
