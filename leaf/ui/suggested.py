"""Questions that a press asks: to begin with, and under the last answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from leaf.errors import LeafError
from leaf.language.text import t
from leaf.shapes.part_values import newest
from leaf.store.model import Chat, Message
from leaf.ui import beside, composer, markdown
from leaf.ui.state import session

KEPT = "follow-ups"
"""Message id -> questions, in the state of the session."""


def draw(questions: Sequence[str], key: str, ask: Callable[[str], None]) -> None:
    """A button for each, as wide as its place; `ask` gets the one that is pressed. Its marks of
    columns are for the rules, and not drawn."""
    with st.container(key=f"{key}s", gap="xsmall"):
        for number, question in enumerate(questions):
            if st.button(
                markdown.label(question.replace("`", ""), 160),
                key=f"{key}-{number}",
                icon=":material/north_east:",
                width="stretch",
            ):
                ask(question)


def place(messages: Sequence[Message]) -> Any:
    """Where those that follow the last answer will stand, as tall as they will be; filled by
    `draw_follow_ups` when all else of the page is drawn, so that nothing waits for them and nothing
    moves when they come. None where there will be none."""
    last = messages[-1] if messages else None
    if last is None or last.role != "assistant" or last.status != "completed":
        return None
    if newest(last.parts, "questions") or not session().attached.list(last.chat_id):
        return None
    known: list[str] | None = st.session_state.get(KEPT, {}).get(last.id)
    return st.container(key="follow-ups-place") if known is None or known else None


def draw_follow_ups(place: Any, chat: Chat, last: Message) -> None:
    """Under the last answer, when they are made; once in a tab."""
    if place is None:
        return
    questions_of: dict[str, list[str]] = st.session_state.setdefault(KEPT, {})
    if last.id not in questions_of:
        with place:
            questions = _follow_ups(last)
        if questions is None:
            return
        questions_of.clear()
        questions_of[last.id] = questions
    if questions_of[last.id]:
        with place, st.container(key=f"follows-{last.id}", gap="xsmall"):
            st.caption(t("Ask next"))
            draw(questions_of[last.id], "follow-up", lambda question: composer.ask(chat, question))


def _follow_ups(last: Message) -> list[str] | None:
    """None while they are made."""
    own = session().messages
    try:
        return beside.made(
            ("follow-ups", last.id), lambda: [one.question for one in own.follow_ups(last.id)]
        )
    except LeafError:
        return []  # nothing was asked for, so there is nothing to say
