"""An idle tab shows what another tab, another person or another process did: it is drawn again when
they have."""

from __future__ import annotations

import streamlit as st

from leaf.store.changes import LIVE
from leaf.ui.dialogs import page_is_free
from leaf.ui.redraw import keep_address, redraw
from leaf.ui.state import leaf, session, sign_in_ends, waker
from leaf.ui.wake import session_id

PERIOD = 60.0
"""Seconds between two looks, counted by the browser, in case something was missed."""
EVERY_PAGE = frozenset({"chats", "messages", "team", "projects"})
"""What the sidebar shows."""
TOPICS = {
    "": EVERY_PAGE | {"files", "documents", "jobs", "budgets", "drive", "edits", "models"},
    "files": EVERY_PAGE | {"files", "jobs"},
    "documents": EVERY_PAGE | {"documents"},
    "project": EVERY_PAGE | {"files"},
    "board": EVERY_PAGE | {"boards", "files"},
    "drive": EVERY_PAGE | {"drive", "files", "jobs"},
    "usage": EVERY_PAGE | {"usage", "budgets"},
    "settings": EVERY_PAGE | {"budgets", "drive", "prompts", "models"},
    "operations": EVERY_PAGE | {LIVE},
}
"""Address of a page -> what it shows."""
WAITS_FOR_RUN = "waits-for-run"
"""Whether it shows an answer that it cannot follow yet, in the state of the session."""


def begin() -> None:
    """Before anything is read: whatever changes from here on draws the page again."""
    st.session_state["drawn-from"] = waker().position(session_id())
    st.session_state[WAITS_FOR_RUN] = False


def wait_for_run() -> None:
    """The page shows an answer that is not being written yet, as far as this process knows."""
    st.session_state[WAITS_FOR_RUN] = True


def watch(page: str) -> None:
    """The page at this address is drawn; from now on it waits. What the first use of something
    needs is loaded behind it."""
    _look(page, st.session_state["drawn-from"])
    waker().wait(
        session_id(),
        session().scope.workspace_id,
        _topics(page),
        st.session_state["drawn-from"],
        keep_address(),
    )
    if (ends := sign_in_ends()) is not None:
        waker().ring_at(session_id(), ends)
    leaf().warm()


def _topics(page: str) -> frozenset[str]:
    return TOPICS[page] | ({LIVE} if st.session_state.get(WAITS_FOR_RUN) else frozenset())


@st.fragment(run_every=PERIOD)
def _look(page: str, since: int) -> None:
    """While the page itself is drawn nothing is looked for: `watch` does that at its end."""
    changed = session().newest_change(_topics(page)) > since
    if changed and waker().waits(session_id()) and page_is_free():
        redraw()
