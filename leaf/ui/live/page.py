"""The running answer as a page draws it: what is finished and can be used (steps, charts,
documents, questions) as in any answer, and behind it the component, which shows what grows. The
script runs when there is more of that to draw, not while words come.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from leaf.agent.events import apply, compact
from leaf.errors import NotFoundError
from leaf.language.text import current
from leaf.runs.run import Run
from leaf.sessions.session import Session
from leaf.store.model import Message
from leaf.ui import state, watcher
from leaf.ui.dialogs import page_is_free
from leaf.ui.draw import draw_item
from leaf.ui.items import WORKING, Item, items
from leaf.ui.live import component, polled
from leaf.ui.live.polled import PolledAnswer
from leaf.ui.live.tickets import Ticket
from leaf.ui.redraw import redraw
from leaf.ui.state import session
from leaf.ui.waiting import is_over

GROWS = frozenset({"text", "code", "thought"})
SIGNS = frozenset({"waiting", "status", "progress"})
"""What the last line says; the component does."""
POLLED = "live-polled"
"""Why this tab polls, in the state of its session."""
OPENED = "opened-steps"
"""Keys of steps that were opened while they ran."""


def follow(message_id: str, chat_id: str) -> None:
    """Show a running answer until it ends, then let the page be drawn anew. Call from the page, not
    from another fragment."""
    if not state.live().hub.serving or st.session_state.get(POLLED):
        polled.follow(message_id, chat_id)
    else:
        st.session_state[f"live-shown-{message_id}"] = st.session_state[f"grew-{message_id}"] = True
        _show(message_id, chat_id)


def grew(message_id: str) -> bool:
    """Whether this tab saw it grow."""
    return f"grew-{message_id}" in st.session_state


def hand_over(message_id: str) -> None:
    """Behind a whole answer that this tab saw grow: the component, once more, to make room for it
    piece by piece."""
    if st.session_state.pop(f"live-shown-{message_id}", False):
        st.container(key=f"asks-{message_id}")
        component.draw(f"grows-{message_id}", {"message": message_id, "over": True})


def settled(found: Sequence[Item]) -> int:
    """How many of the items, from the first on, the page draws itself: up to the last one that is
    more than growing text."""
    if any(item.kind == "consent" for item in found):
        number = next(i for i, item in enumerate(found) if item.kind == "consent")
    else:
        number = max((i + 1 for i, item in enumerate(found) if _is_settled(item)), default=0)
    return next((i for i, item in enumerate(found[:number]) if item.kind == "writing"), number)


def _is_settled(item: Item) -> bool:
    if item.kind == "step":
        return item.text not in WORKING or item.key in st.session_state.get(OPENED, ())
    return item.kind not in GROWS | SIGNS | {"writing"}


@st.fragment
def _show(message_id: str, chat_id: str) -> None:
    first = f"live-{message_id}" not in st.session_state
    follower: PolledAnswer = st.session_state.setdefault(f"live-{message_id}", PolledAnswer())
    try:
        run = session().messages.watch(message_id)
    except NotFoundError:  # its chat was deleted, or is not theirs any more
        _end_if_over(message_id)
        return
    if run is not None:
        _read(follower, run)
    answer_items = items(follower.parts, running=True)
    drawn = answer_items[: settled(answer_items)]
    _remember_documents(drawn, first=first)
    if run is None or follower.done:
        _end_if_over(message_id)
    if run is None:
        watcher.wait_for_run()
    with st.container(key=f"said-{message_id}"):
        for item in drawn:
            draw_item(st, item, chat_id, message_id)
    with st.container(key=f"asks-{message_id}"):
        for item in answer_items:
            if item.kind == "consent":
                draw_item(st, item, chat_id, message_id)
    data = {
        "message": message_id,
        "ticket": _ticket(message_id),
        "position": follower.position,
        "over": False,
    }
    told = component.draw(f"grows-{message_id}", data)
    if why := getattr(told, "fallback", None):
        st.session_state[POLLED] = str(why)[:120]
        state.live().polled += 1
        redraw()
    if key := getattr(told, "open", None):
        st.session_state[OPENED] = {*st.session_state.get(OPENED, ()), str(key)}
        redraw("fragment")


def _read(follower: PolledAnswer, run: Run) -> None:
    """All that there is. Another run of the same answer, as after a pause, begins at its
    beginning."""
    if follower.run is not run:
        follower.parts, follower.position, follower.run = [], 0, run
    piece = run.read(follower.position)
    for c in compact(piece.chunks):
        apply(follower.parts, c)
    follower.position, follower.done = piece.position, piece.done


def _end_if_over(message_id: str) -> None:
    if is_over(message_id) and page_is_free():
        st.session_state.pop(f"live-{message_id}", None)
        redraw()


def _remember_documents(drawn: Sequence[Item], *, first: bool) -> None:
    """A document that this tab saw written opens beside the chat when it is finished; one that was
    there before does not."""
    for item in drawn:
        if (
            item.kind == "document"
            and st.session_state.setdefault(f"wrote-{item.key}", not first) is True
        ):
            st.session_state[f"wrote-{item.key}"] = False
            st.session_state[f"writing-{item.key}"] = True


def _ticket(message_id: str) -> str:
    """A new one each time: whoever is connected has no use for it and lets it run out."""
    scope = session().scope

    def access(own: Session) -> tuple[Message, Run | None]:
        return own.messages.get(message_id), own.messages.watch(message_id)

    ticket = Ticket(
        scope.user_id,
        scope.workspace_id,
        message_id,
        state.later(access),
        state.sign_in_ends(),
        current(),
    )
    return state.live().tickets.make(ticket)
