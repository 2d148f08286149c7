"""What is worked out from files beside the page: what they hold, questions to begin with, questions that
may follow. A file that takes long to read holds up neither the page nor what is pressed on it. What was
made is kept for all tabs of the process.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import copy_context
from typing import Any, TypeVar

import streamlit as st

from leaf.language.text import current
from leaf.ui.dialogs import page_is_free
from leaf.ui.redraw import redraw
from leaf.ui.state import drawn_for, session

SOON = 0.7
"""Seconds for which a page waits for it; what comes later is put in then."""
PERIOD = 1.0
"""Seconds between two looks whether it is there."""
KEPT = 600
"""Things made that are kept."""
AT_ONCE = 8
"""Things that are made at one time; others wait, each for its turn."""
EACH = 3
"""Of them, for one person."""
Key = tuple[str, ...]
T = TypeVar("T")


class BackgroundCache:
    """Things made, by what they are made of. Of any thread."""

    def __init__(self, kept: int = KEPT, at_once: int = AT_ONCE, each: int = EACH) -> None:
        self._most, self._at_once, self._each = kept, at_once, each
        self._guard = threading.Lock()
        self._made: OrderedDict[Key, Future[Any]] = OrderedDict()
        self._waiting: list[tuple[str, Callable[[], None]]] = []
        self._working: Counter[str] = Counter()
        """How much is made for whom."""

    def of(self, key: Key, make: Callable[[], T], who: str = "") -> Future[T]:
        """Begun by the first who asks. What failed is told to one who asks after it, so that a page
        which waited for it says so and does not begin it anew; the next begins it once more."""
        with self._guard:
            future = self._made.get(key)
            if future is not None and future.done() and future.exception() is not None:
                return self._made.pop(key)
            if future is None:
                future = self._made[key] = Future()
                self._waiting.append((who, _work(make, future)))
                self._begin()
            self._made.move_to_end(key)
            while len(self._made) > self._most:
                self._made.popitem(last=False)
            return future

    def forget(self, key: Key) -> None:
        """Have it made again for the next who asks."""
        with self._guard:
            self._made.pop(key, None)

    def _begin(self) -> None:
        """What may begin does, each in a thread that keeps no process from ending. Call it with the
        guard."""
        while self._working.total() < self._at_once:
            task = next((one for one in self._waiting if self._may(one[0])), None)
            if task is None:
                return
            self._waiting.remove(task)
            self._working[task[0]] += 1
            threading.Thread(target=self._run, args=task, name="beside", daemon=True).start()

    def _may(self, who: str) -> bool:
        return not who or self._working[who] < self._each

    def _run(self, who: str, work: Callable[[], None]) -> None:
        work()
        with self._guard:
            self._working[who] -= 1
            self._working += Counter()  # without those for whom nothing is made
            self._begin()


def _work(make: Callable[[], T], future: Future[T]) -> Callable[[], None]:
    """What makes it, for whoever asked first."""
    context = copy_context()

    def work() -> None:
        try:
            future.set_result(context.run(make))
        except BaseException as e:  # noqa: BLE001 - whoever asks for the result is told
            future.set_exception(e)

    return work


def made(
    key: Key,
    make: Callable[[], T],
    said: str = "",
    lasts: Callable[[T], bool] = lambda _: True,
) -> T | None:
    """What is made of the things that `key` names, in the language and the workspace of the page.
    None while it is made: that is said, and the page is drawn anew when it is there. What does not
    last is made again for the next who asks. Raises what `make` raises."""
    whole = (current(), session().scope.workspace_id, *key)
    coming = _kept().of(whole, make, drawn_for())
    wait([coming], SOON)
    if not coming.done():
        st.fragment(_look, run_every=PERIOD)(coming, said)
        return None
    value = coming.result()
    if not lasts(value):
        _kept().forget(whole)
    return value


def _look(coming: Future[Any], caption: str) -> None:
    if coming.done() and page_is_free():
        redraw()
    if caption:
        st.caption(caption)


@st.cache_resource(show_spinner=False)
def _kept() -> BackgroundCache:
    return BackgroundCache()
