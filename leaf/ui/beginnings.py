"""Questions to begin with, made beside the page: nothing of it waits for files that take long to look
at. What was made for the same files is kept for all tabs of the process.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from contextvars import copy_context

import streamlit as st

from leaf.language.text import current, t
from leaf.store.model import File
from leaf.ui.state import session

SOON = 1.0
"""Seconds for which the end of a page waits for them; those that come later are put in then."""
KEPT = 200
"""Sets of files whose questions are kept."""
AT_ONCE = 4
"""Sets that are looked at at one time; others wait, each for its turn."""
Key = tuple[str, ...]
Made = Future[list[str]]


class Beginnings:
    """Questions by the files that they are about. Of any thread."""

    def __init__(self, kept: int = KEPT, at_once: int = AT_ONCE) -> None:
        self._most, self._at_once = kept, at_once
        self._guard = threading.Lock()
        self._made: OrderedDict[Key, Made] = OrderedDict()
        self._waiting: deque[Callable[[], None]] = deque()
        self._working = 0

    def of(self, key: Key, make: Callable[[], list[str]]) -> Made:
        """Begun by the first who asks. What failed is told to one who asks after it, so that a page
        which waited for it says so and does not begin it anew; the next begins it once more."""
        with self._guard:
            made = self._made.get(key)
            if made is not None and made.done() and made.exception() is not None:
                return self._made.pop(key)
            if made is None:
                made = self._made[key] = Future()
                self._begin(_work(make, made))
            self._made.move_to_end(key)
            while len(self._made) > self._most:
                self._made.popitem(last=False)
            return made

    def _begin(self, work: Callable[[], None]) -> None:
        """In a thread that keeps no process from ending, or later in one of those. Call it with the
        guard."""
        if self._working >= self._at_once:
            self._waiting.append(work)
            return
        self._working += 1
        threading.Thread(target=self._run, args=(work,), name="beginnings", daemon=True).start()

    def _run(self, work: Callable[[], None]) -> None:
        while True:
            work()
            with self._guard:
                if not self._waiting:
                    self._working -= 1
                    return
                work = self._waiting.popleft()


def _work(make: Callable[[], list[str]], made: Made) -> Callable[[], None]:
    """What makes it, for whoever asked first."""
    context = copy_context()

    def work() -> None:
        try:
            made.set_result(context.run(make))
        except BaseException as e:  # noqa: BLE001 - whoever asks for the result is told
            made.set_exception(e)

    return work


def questions(files: Sequence[File]) -> list[str] | None:
    """About these files; None while they are made, and then the page is drawn anew when they are
    there. Raises LeafError."""
    own = session()
    key = (current(), own.scope.workspace_id, *(f"{f.id} {f.name} {f.sha256}" for f in files))
    made = _kept().of(key, lambda: [one.question for one in own.files.suggestions(files)])
    wait([made], SOON)
    if made.done():
        return made.result()
    st.fragment(_look, run_every=SOON)(made)
    return None


def _look(made: Made) -> None:
    if made.done():
        st.rerun()
    st.caption(t("Looking at the files"))


@st.cache_resource(show_spinner=False)
def _kept() -> Beginnings:
    return Beginnings()
