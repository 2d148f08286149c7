"""A running answer for a browser that cannot be pushed to: it asks again and again.

The page never blocks on a stream. A fragment reads the run in short slices and draws only what
changed: element i holds item i. As soon as anything else waits, a click or its own next tick, it
asks to be run anew and ends: Streamlit runs what waited and then this again. A step that changes
its state is a widget and cannot be drawn twice in one pass, so that begins it anew as well.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType
from streamlit.runtime.scriptrunner_utils.script_run_context import get_script_run_ctx

from leaf.agent.events import Part, apply
from leaf.errors import NotFoundError
from leaf.runs.run import Run
from leaf.ui.dialogs import page_is_free
from leaf.ui.draw import draw_item
from leaf.ui.items import Item, items
from leaf.ui.redraw import redraw
from leaf.ui.state import login_needed, session
from leaf.ui.waiting import is_over

PERIOD = 1.0
"""Seconds between two passes, counted by the browser. Each pass draws all that is there; fewer cost
less."""
LONGEST_PASS = 2.5
"""Seconds after which a pass ends even if nobody waits, so that a closed tab is noticed."""
FIRST_PASS = 0.25
"""Seconds that the drawing of the whole page may wait, so that a quick answer is there at once."""
SLICE = 0.1
"""Shortest time between two drawings: the eye does not see more, the network does."""
BOXES = frozenset(
    {"step", "chart", "figures", "written", "consent", "thought", "writing", "document"}
)
"""Kinds whose element holds others, and whose key may be used once a pass."""


@dataclass
class PolledAnswer:
    """How far this browser has followed a run."""

    parts: list[Part] = field(default_factory=list)
    position: int = 0
    done: bool = False
    run: Run | None = None

    def read(self, run: Run, timeout: float = 0.0) -> bool:
        """Take in what is new; False if there is nothing. Another run of the same answer, as where
        a process took it over, begins at its beginning."""
        if self.run is not run:
            self.parts, self.position, self.run = [], 0, run
        piece = run.read(self.position, timeout)
        for chunk in piece.chunks:
            apply(self.parts, chunk)
        self.position, self.done = piece.position, piece.done
        return bool(piece.chunks)


def follow(message_id: str, chat_id: str) -> None:
    """Draw a running answer until it ends, then let the page be drawn anew. Call from the page, not
    from another fragment."""
    st.session_state["live-first"] = message_id
    _live(message_id, chat_id)


@st.fragment(run_every=PERIOD)
def _live(message_id: str, chat_id: str) -> None:
    first = st.session_state.pop("live-first", "") == message_id
    follower = st.session_state.setdefault(f"live-{message_id}", PolledAnswer())
    # Where people sign in, access may end in the middle of an answer, so the store is asked each
    # time. One run may end, and another go on with the answer.
    goes_on = follower.run is not None and not follower.done and not login_needed()
    try:
        run = follower.run if goes_on else session().messages.watch(message_id) or follower.run
    except NotFoundError:  # its chat was deleted, or is not theirs any more
        _wait_for_end(message_id)
        return
    if run is None:
        _wait_for_end(message_id)
        draw_item(st, Item("waiting", "waiting"), chat_id, message_id)
        return
    follower.read(run)
    view = PolledView(chat_id, message_id)
    view.draw(items(follower.parts, running=True))
    end = time.monotonic() + (FIRST_PASS if first else LONGEST_PASS)
    while not follower.done and time.monotonic() < end:
        began = time.monotonic()
        drawn = not follower.read(run, SLICE) or view.draw(items(follower.parts, running=True))
        if not drawn or _somebody_waits():
            if first:
                break
            redraw("fragment")
        time.sleep(max(0.0, SLICE - (time.monotonic() - began)))
    if follower.done:
        _wait_for_end(message_id)


def _somebody_waits() -> bool:
    """Whether a click or the next tick waits for this thread. A fragment does not preempt another,
    so it has to look by itself.

    The state is Streamlit's own and has no public name. Touching the session state is where a rerun
    of the whole page takes over.
    """
    st.session_state.get("live-first")
    context = get_script_run_ctx()
    requests = context.script_requests if context is not None else None
    return getattr(requests, "_state", ScriptRequestType.CONTINUE) is not ScriptRequestType.CONTINUE


def _wait_for_end(message_id: str) -> None:
    """A run that is over, or that only another process knows yet, is looked for in the history with
    each pass."""
    if is_over(message_id) and page_is_free():
        st.session_state.pop(f"live-{message_id}", None)
        redraw()


@dataclass
class PolledView:
    """Elements of one pass, by their index."""

    chat_id: str
    message_id: str
    slots: list[Any] = field(default_factory=list)
    drawn: list[Item] = field(default_factory=list)

    def draw(self, wanted: list[Item]) -> bool:
        """Draw what differs from what is there. False if that needs a new pass."""
        for i, item in enumerate(wanted):
            if i == len(self.drawn):
                self.slots.append(self._draw(st, item))
                self.drawn.append(item)
            elif self.drawn[i] != item and self.drawn[i].kind == item.kind == "writing":
                self.slots[i].update(item)
                self.drawn[i] = item
            elif self.drawn[i] != item:
                if self.drawn[i].kind in BOXES:
                    return False
                self.slots[i], self.drawn[i] = self._draw(self.slots[i], item), item
        return len(wanted) == len(self.drawn)

    def _draw(self, place: Any, item: Item) -> Any:
        return draw_item(place, item, self.chat_id, self.message_id)
