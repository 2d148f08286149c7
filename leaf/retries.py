"""Trying again what may succeed in a moment: how long to wait, when to give up. Every wait ends
when the work is stopped."""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from leaf.errors import RunError

T = TypeVar("T")
Pause = Callable[[float, threading.Event | None], None]
"""Waits so many seconds; raises RunError as soon as the event is set."""


@dataclass(frozen=True)
class Again:
    """An error after which another try can help."""

    asked: float | None = None
    """Seconds to wait, where the server said so; None: by the waits."""


class Waits:
    """The waits of one thing that is tried: each is given once, and none that would go beyond the
    patience."""

    def __init__(
        self,
        seconds: Iterable[float],
        *,
        patience: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`seconds` before each further try; as many as there are. `patience` counts from now."""
        self._seconds = iter(seconds)
        self._clock = clock
        self._end = clock() + patience

    def next(self, asked: float | None = None, least: float = 0.0) -> float | None:
        """Seconds until the next try, those that were asked for or one's own; None when there is to
        be none."""
        own = next(self._seconds, None)
        if own is None:
            return None
        wait = max(own if asked is None else asked, least)
        return wait if self._clock() + wait <= self._end else None


def doubling(first: float, longest: float) -> Iterator[float]:
    """1, 2, 4 … times the first, up to the longest, without end."""
    return itertools.accumulate(
        itertools.repeat(longest), lambda wait, most: min(most, 2.0 * wait), initial=first
    )


def pause(seconds: float, stop: threading.Event | None) -> None:
    """Wait. Raises RunError as soon as it is stopped."""
    if stop is None:
        time.sleep(seconds)
    elif stop.wait(seconds):
        raise RunError("Stopped.")


def retry(
    attempt: Callable[[], T],
    again: Callable[[Exception], Again | None],
    waits: Waits,
    *,
    stop: threading.Event | None = None,
    on_wait: Callable[[Exception, float], None] = lambda _error, _wait: None,
    pause: Pause = pause,
) -> T:
    """The value of an attempt. Raises its last error once `again` says None or the waits are over,
    RunError after `stop`."""
    while True:
        if stop is not None and stop.is_set():
            raise RunError("Stopped.")
        try:
            return attempt()
        except Exception as e:
            more = again(e)
            wait = waits.next(more.asked) if more else None
            if wait is None:
                raise
            on_wait(e, wait)
        pause(wait, stop)


def retry_after(headers: Mapping[str, str]) -> float:
    """Seconds that a server asks to wait by the header Retry-After; 0 where it does not say, or
    says a date."""
    try:
        asked = float(headers.get("retry-after") or 0)
    except ValueError:
        return 0.0
    return asked if 0.0 <= asked < math.inf else 0.0
