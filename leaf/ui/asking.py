"""Sending a question, whoever asks it: what is typed, and questions that a press asks."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from leaf.errors import LeafError
from leaf.language.problems import told
from leaf.ui import earlier, reading, uploads
from leaf.ui.redraw import redraw
from leaf.ui.state import session


def send(chat_id: str, text: str, file_ids: Sequence[str], head: str) -> None:
    """Behind the message `head`; the page goes to the question. Raises LeafError for what cannot be
    sent."""
    uploads.check_all_there(chat_id)
    answer = session().messages.send(chat_id, text, file_ids, head=head)
    st.session_state.pop("withdrawn", None)
    earlier.follow()
    reading.asked(answer)


def give_back(problem: LeafError, text: str) -> None:
    """The composer says the problem, and has the text again."""
    st.session_state["composer-problem"] = told(problem)
    st.session_state["given-back"] = text


def press(chat_id: str, text: str, head: str) -> None:
    """Ask what a press asks, and draw its chat."""
    try:
        send(chat_id, text, (), head)
    except LeafError as e:
        give_back(e, text)
    redraw()
