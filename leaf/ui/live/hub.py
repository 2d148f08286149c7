"""The answers that somebody watches, and the one thread that encodes them all. It sleeps until a
chunk comes."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from leaf.language.text import ENGLISH
from leaf.runs.run import Run
from leaf.ui.live.encoder import Encoder

FRAME = 1 / 60
"""Seconds between two numbers of an answer: a screen does not show more."""
EACH = 0.0005
"""What each further answer adds to that, so that many at once are sent in fewer, larger pieces."""
LOOKS = 8
"""How many times the thread looks in that time at most, instead of once a chunk of any answer."""
KEPT = 60.0
"""Seconds for which an answer that nobody watches any more stays encoded, for whoever comes
back."""

logger = logging.getLogger("leaf")


@dataclass(eq=False)
class _Watched:
    """One answer."""

    encoder: Encoder
    viewers: set[asyncio.Event] = field(default_factory=set)
    end: Callable[[], None] | None = None
    """Ends the listening to its run; None while nobody watches."""
    left_at: float = 0.0


class EncoderHub:
    """All watched answers of this process. Viewers come and go on the event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop | None) -> None:
        self._loop = loop
        """The server's; without one nobody can come."""
        self._watched: dict[tuple[int, str], _Watched] = {}
        """By the id of the run and the language of those who watch."""
        self._news = threading.Condition()
        self._marked: set[_Watched] = set()
        self._closed = False
        self._thread: threading.Thread | None = None

    @property
    def serving(self) -> bool:
        """Whether browsers can come."""
        return self._loop is not None and not self._closed

    @property
    def watched(self) -> int:
        """How many answers are watched now."""
        with self._news:
            return sum(bool(one.viewers) for one in self._watched.values())

    def join(self, run: Run, woken: asyncio.Event, language: str = ENGLISH) -> Encoder:
        """Watch a run: the event is set whenever there is something new of it. Call `leave` at the
        end, whatever happens."""
        with self._news:
            self._forget_old()
            one = self._watched.get((id(run), language))
            if one is None:
                one = self._watched[id(run), language] = _Watched(Encoder(run, language))
            one.viewers.add(woken)
            if one.end is None:
                one.end = run.listen(lambda: self._mark(one))
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._encode, name="live-answers", daemon=True
                )
                self._thread.start()
        self._mark(one)
        woken.set()
        return one.encoder

    def leave(self, encoder: Encoder, woken: asyncio.Event) -> None:
        """Watch no more."""
        with self._news:
            one = self._watched.get((id(encoder.run), encoder.language))
            if one is None:
                return
            one.viewers.discard(woken)
            if not one.viewers and one.end is not None:
                one.end()
                one.end, one.left_at = None, time.monotonic()

    def close(self) -> None:
        """Send everybody away; their connections end by themselves."""
        with self._news:
            self._closed = True
            self._news.notify_all()
            everybody = list(self._watched.values())
        self._wake(everybody)

    def _mark(self, one: _Watched) -> None:
        with self._news:
            if one not in self._marked:
                self._marked.add(one)
                self._news.notify()

    def _encode(self) -> None:
        """Runs until `close`."""
        later: dict[_Watched, float] = {}
        looked = float("-inf")
        while True:
            with self._news:
                wait = min(later.values()) - time.perf_counter() if later else None
                if not self._marked and not self._closed and (wait is None or wait > 0):
                    self._news.wait(wait)
                if self._closed:
                    self._thread = None
                    return
                gap = FRAME + EACH * len(self._watched)
            if (early := looked + gap / LOOKS - time.perf_counter()) > 0:
                time.sleep(early)
            with self._news:
                marked, self._marked = self._marked, set()
            looked = now = time.perf_counter()
            marked |= {one for one, due in later.items() if due <= now}
            news = [one for one in marked if self._advance(one, gap, later)]
            self._wake(news)

    def _advance(self, one: _Watched, gap: float, later: dict[_Watched, float]) -> bool:
        later.pop(one, None)
        if not one.viewers:
            return False
        try:
            news, due = one.encoder.advance(time.perf_counter(), gap)
        except Exception:  # the others go on; this one's page draws it when it is whole
            logger.exception("an answer could not be shown while it is written")
            return False
        if due is not None:
            later[one] = due
        return news

    def _wake(self, news: Iterable[_Watched]) -> None:
        with self._news:
            woken = [event for one in news for event in one.viewers]
        if woken and self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed, and with it every connection
                self._loop.call_soon_threadsafe(_set_all, woken)

    def _forget_old(self) -> None:
        horizon = time.monotonic() - KEPT
        for key, one in list(self._watched.items()):
            if not one.viewers and one.left_at < horizon:
                del self._watched[key]


def _set_all(events: Iterable[asyncio.Event]) -> None:
    for event in events:
        event.set()
