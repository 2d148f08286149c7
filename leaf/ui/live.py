"""An answer while it is being written.

The page never blocks on a stream. A fragment runs every half second, reads the run in short slices and draws only what changed:
element i holds item i. Between slices it yields, so that a click elsewhere is served at once. A step that changes its state is a
widget and cannot be drawn twice in one pass, so the fragment begins anew.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from leaf.agent.events import Part, apply
from leaf.runs.run import Run
from leaf.store.model import Scope
from leaf.ui.draw import draw_item
from leaf.ui.items import Item, items
from leaf.ui.state import leaf

PERIOD = 0.5
"""Seconds between two passes, counted by the browser."""
BUSY = 0.4
"""Seconds of a pass in which it reads; the rest is left to other interactions."""
SLICE = 0.1
"""Shortest time between two drawings: the eye does not see more, the network does."""
BOXES = frozenset({"step", "chart", "thought"})
"""Kinds whose element holds others, and whose key may be used once a pass."""
RUNNING = frozenset({"pending", "streaming"})


@dataclass
class Follower:
    """How far this browser has followed a run."""

    parts: list[Part] = field(default_factory=list)
    position: int = 0
    done: bool = False
    run: Run | None = None

    def read(self, run: Run, timeout: float = 0.0) -> bool:
        """Take in what is new; False if there is nothing."""
        self.run = run
        piece = run.read(self.position, timeout)
        for chunk in piece.chunks:
            apply(self.parts, chunk)
        self.position, self.done = piece.position, piece.done
        return bool(piece.chunks)


def follow(message_id: str, chat_id: str, scope: Scope) -> None:
    """Draw a running answer until it ends, then let the page be drawn anew. Call from the page, not from another fragment."""
    st.session_state["live-first"] = message_id
    _live(message_id, chat_id, scope)


@st.fragment(run_every=PERIOD)
def _live(message_id: str, chat_id: str, scope: Scope) -> None:
    first = st.session_state.pop("live-first", "") == message_id
    follower = st.session_state.setdefault(f"live-{message_id}", Follower())
    run = follower.run or leaf().watch(scope, message_id)
    if run is None:
        _wait_for_end(message_id, scope)
        return
    follower.read(run)
    view = View(scope, chat_id, message_id)
    view.draw(items(follower.parts, running=True))
    end = time.monotonic() + (0 if first else BUSY)
    while not follower.done and time.monotonic() < end:
        _let_others_in()
        began = time.monotonic()
        if not follower.read(run, SLICE):
            continue
        if not view.draw(items(follower.parts, running=True)):
            st.rerun(scope="fragment")
        time.sleep(max(0.0, SLICE - (time.monotonic() - began)))
    if follower.done:
        _wait_for_end(message_id, scope)


def _let_others_in() -> None:
    """Touching the session state is where Streamlit lets a waiting interaction take over the script thread."""
    st.session_state.get("live-first")


def _wait_for_end(message_id: str, scope: Scope) -> None:
    """The last chunk may come a moment before the history has the message; the next pass looks again."""
    if leaf().message(scope, message_id).status not in RUNNING:
        st.session_state.pop(f"live-{message_id}", None)
        st.rerun()
    st.empty()


@dataclass
class View:
    """Elements of one pass, by their index."""

    scope: Scope
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
            elif self.drawn[i] != item:
                if self.drawn[i].kind in BOXES:
                    return False
                self.slots[i], self.drawn[i] = self._draw(self.slots[i], item), item
        return len(wanted) == len(self.drawn)

    def _draw(self, place: Any, item: Item) -> Any:
        return draw_item(place, item, self.scope, self.chat_id, self.message_id)
