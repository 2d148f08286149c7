"""Questions that wait for their turn: where they stand, how to take one back, and noticing when its
turn has come."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from leaf.errors import LeafError, NotFoundError
from leaf.language.problems import told
from leaf.language.text import t
from leaf.runs.waiting import QueuePlace
from leaf.store.model import Message
from leaf.ui import words
from leaf.ui.dialogs import page_is_free
from leaf.ui.items import answer_text
from leaf.ui.redraw import redraw
from leaf.ui.state import leaf, session

PERIOD = 0.7
"""Seconds between two looks at the queue, counted by the browser."""
UNFINISHED = frozenset({"pending", "streaming"})

Queue = dict[str, QueuePlace]
"""The chat's waiting answers by their ids."""


def queue_of(messages: Iterable[Message]) -> Queue:
    """Where those of the messages stand that wait."""
    places = {
        message.id: session().messages.place(message.id)
        for message in messages
        if message.status == "pending"
    }
    return {
        message_id: place
        for message_id, place in places.items()
        if place and (place.ahead or place.limit)
    }


def draw(message: Message, place: QueuePlace) -> None:
    """The line under a question that waits, by its pending answer."""
    settings = leaf().settings
    limit = settings.runs_per_user if place.limit == "person" else settings.runs
    with st.container(
        horizontal=True,
        horizontal_alignment="right",
        vertical_alignment="center",
        gap="small",
        key=f"waits-{message.id}",
    ):
        st.caption(f":material/schedule: {words.waiting(place, limit)}", width="content")
        st.button(
            t("Withdraw"),
            key=f"withdraw-{message.id}",
            type="tertiary",
            icon=":material/undo:",
            help=t("Take this question back"),
            on_click=_withdraw,
            args=(message.id,),
        )


def is_over(message_id: str) -> bool:
    """Whether an answer is not written any more: it is whole, or its chat was deleted meanwhile."""
    try:
        return session().messages.get(message_id).status not in UNFINISHED
    except NotFoundError:
        return True


def _withdraw(message_id: str) -> None:
    try:
        question = session().messages.withdraw(message_id)
    except LeafError as e:
        st.session_state["composer-problem"] = told(e)
    else:
        st.session_state["withdrawn"] = (question.id, answer_text(question.parts))


@st.fragment(run_every=PERIOD)
def watch(messages: tuple[Message, ...], known: Queue) -> None:
    """Let the page be drawn anew as soon as the queue is another one than is drawn."""
    if queue_of(messages) != known and page_is_free():
        redraw()
