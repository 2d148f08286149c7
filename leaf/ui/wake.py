"""Pages that are drawn and idle, and the one way to draw them anew from outside: when something
that they show has changed.

No page asks. A page that is drawn waits here; the commit that changes what it shows has its script
run again, through the event loop, as an edited source file would. Streamlit has no public name for
that, so this is the only place that uses its own.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner_utils.script_run_context import get_script_run_ctx

from leaf.store.changes import EVERYWHERE, Change, Hub
from leaf.ui.redraw import PageAddress

if TYPE_CHECKING:
    from streamlit.runtime.app_session import AppSession

SOON = 0.1
"""Seconds until a page is looked at again whose script runs: to run it anew would end a click
halfway."""
GAP = 3.0
"""Seconds between two drawings of a page that others change all the time; a change after a quiet
while draws it at once."""


def session_id() -> str:
    """Of this tab."""
    context = get_script_run_ctx()
    return context.session_id if context else ""


@dataclass
class _Tab:
    """One browser tab."""

    workspace_id: str = ""
    topics: frozenset[str] = frozenset()
    waits: bool = False
    """Drawn, and not being drawn again."""
    held: bool = False
    """A dialog is open in it, which a drawing would take away for a moment."""
    rung: bool = False
    """To be drawn again as soon as it waits."""
    planned: bool = False
    """The event loop has been told."""
    ends_at: float = 0.0
    """Seconds since 1970 at which it is drawn again in any case."""
    woken_at: float = float("-inf")
    """`time.monotonic()` of the last time."""
    address: PageAddress = field(default_factory=PageAddress)
    """Where it stands."""


class Waker:
    """All tabs of this process. Safe to call from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pages: dict[str, _Tab] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._hub: Hub | None = None
        self._end: Callable[[], None] = lambda: None

    def serve(self, loop: asyncio.AbstractEventLoop) -> None:
        """The server's event loop; without one nothing is drawn from outside."""
        self._loop = loop

    def follow(self, hub: Hub) -> None:
        """Hear of changes from here on."""
        self._end()
        self._hub = hub
        self._end = hub.listen(self._heard)

    def position(self, session_id: str) -> int:
        """A page is about to be drawn: how much was told by now."""
        with self._lock:
            if page := self._pages.get(session_id):
                page.waits = page.rung = False
        return self._hub.position if self._hub else 0

    def wait(
        self,
        session_id: str,
        workspace_id: str,
        topics: Collection[str],
        since: int,
        address: PageAddress,
    ) -> None:
        """The page is drawn, by what stood at the position `since`: draw it again, at its address,
        when one of the topics has changed."""
        if self._hub is None or not Runtime.exists():
            return
        with self._lock:
            self._forget_closed()
            page = self._pages.setdefault(session_id, _Tab())
            page.workspace_id, page.topics, page.waits = workspace_id, frozenset(topics), True
            page.address = address
            late = page.rung or self._hub.newest(workspace_id, topics) > since
        if late:
            self.ring(session_id)

    def hold(self, session_id: str) -> None:
        """Leave this page alone until it is released."""
        with self._lock:
            self._pages.setdefault(session_id, _Tab()).held = True

    def release(self, session_id: str) -> None:
        """Draw it again now, if something has changed since it is held."""
        with self._lock:
            page = self._pages.setdefault(session_id, _Tab())
            page.held, late = False, page.rung
        if late:
            self.ring(session_id)

    def ring(self, session_id: str) -> None:
        """Draw this page again: now if it waits, else as soon as it does."""
        with self._lock:
            page = self._pages.setdefault(session_id, _Tab())
            page.rung = True
            if self._loop is None or page.planned or page.held or not page.waits:
                return
            page.planned = True
            wait = max(0.0, page.woken_at + GAP - time.monotonic())
        with suppress(RuntimeError):  # the loop is closed, and with it every page
            self._loop.call_soon_threadsafe(self._loop.call_later, wait, self._draw, session_id)

    def ring_at(self, session_id: str, moment: float) -> None:
        """Draw this page again at a moment, given in seconds since 1970, such as the one at which
        its sign-in runs out."""
        with self._lock:
            page = self._pages.setdefault(session_id, _Tab())
            if self._loop is None or page.ends_at == moment:
                return
            page.ends_at = moment
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(
                self._loop.call_later, max(0.0, moment - time.time()), self._end_of, session_id
            )

    def _end_of(self, session_id: str) -> None:
        self.release(session_id)
        self.ring(session_id)

    def waits(self, session_id: str) -> bool:
        """Whether a page is drawn, and not being drawn again."""
        with self._lock:
            page = self._pages.get(session_id)
            return page is not None and page.waits

    def _heard(self, changes: Collection[Change]) -> None:
        with self._lock:
            concerned = [
                session_id
                for session_id, page in self._pages.items()
                if page.waits and _concerns(page, changes)
            ]
        for session_id in concerned:
            self.ring(session_id)

    def _draw(self, session_id: str) -> None:
        """On the event loop. A page that began to be drawn meanwhile shows it all and is left
        alone, and so is one whose click is being carried out: to run its script again would end
        that halfway. When no thread of it lives, the session knows its address.
        """
        session = Runtime.instance().get_app_session(session_id)
        with self._lock:
            page = self._pages.get(session_id)
            if page is None:
                return
            if self._loop and session and page.waits and page.rung and _under_way(session):
                self._loop.call_later(SOON, self._draw, session_id)
                return
            page.planned = False
            if page.held or not (page.waits and page.rung):
                return
            page.waits = page.rung = False
            page.woken_at = time.monotonic()
            address = page.address
        if session is not None:
            session.request_rerun(_at(session._client_state, address))  # noqa: SLF001

    def _forget_closed(self) -> None:
        runtime = Runtime.instance()
        self._pages = {
            session_id: page
            for session_id, page in self._pages.items()
            if runtime.is_active_session(session_id)
        }


def _at(last: ClientState, address: PageAddress) -> ClientState:
    """What the browser said last, for the address of the whole page: a request for a part of it may
    have carried the one before (`redraw.py`)."""
    state = ClientState()
    state.CopyFrom(last)
    state.query_string, state.page_script_hash = address.query, address.page
    return state


def _under_way(session: AppSession) -> bool:
    """Whether a script thread of the tab lives: one that carries out a click, draws, or shows a
    growing answer."""
    return session._scriptrunner is not None  # noqa: SLF001 - tests/test_idle.py names what is not public here


def _concerns(page: _Tab, changes: Collection[Change]) -> bool:
    return any(
        change.topic in page.topics and change.workspace_id in (page.workspace_id, EVERYWHERE)
        for change in changes
    )


def still_file_watchers() -> None:
    """Streamlit looks five times a second whether its config and secrets were edited. Here they are
    read at the start only.

    What it has planned already is its last look. Its threads stay, with nothing to do: none is
    ended while others begin.
    """
    from streamlit import config
    from streamlit.watcher.polling_path_watcher import PollingPathWatcher

    if config.get_option("server.fileWatcherType") == "none":
        PollingPathWatcher._schedule = _plan_nothing  # type: ignore[assignment]  # noqa: SLF001 - tests/test_idle.py names it


def _plan_nothing(_watcher: object) -> None:
    """In place of planning the next look."""
