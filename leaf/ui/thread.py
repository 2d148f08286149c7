"""The messages of a chat, oldest above, and what can be done with each."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from leaf.agent.models.keyless import tells
from leaf.errors import LeafError
from leaf.language.problems import said, told
from leaf.language.text import mark, t
from leaf.shapes.part_values import data_of
from leaf.shapes.parts import Part
from leaf.store.model import Message, Thread
from leaf.ui import (
    browser,
    connection,
    downloads,
    draw,
    earlier,
    evidence,
    markdown,
    marks,
    model,
    prompts,
    waiting,
)
from leaf.ui.controls import icon_button
from leaf.ui.items import answer_text
from leaf.ui.live import page as live
from leaf.ui.redraw import redraw
from leaf.ui.state import session
from leaf.ui.waiting import UNFINISHED

STOPPED = mark("Stopped. What was found so far is kept.")
NOT_BEGUN = mark("Stopped before its answer was begun.")
SEEN = "seen"
"""The chat that a tab shows and its last message there, in the state of its session: what is asked
next follows that, whatever others did meanwhile."""


def running_id(thread: Thread | None) -> str:
    """The answer that is being written, or is the next to be; nothing if none is."""
    return (
        next((message.id for message in thread.messages if message.status in UNFINISHED), "")
        if thread
        else ""
    )


def seen(chat_id: str) -> str:
    """The last message of a chat that this tab has before it; empty where it showed none."""
    shown: tuple[str, str] = st.session_state.get(SEEN, ("", ""))
    return shown[1] if shown[0] == chat_id else ""


def draw_thread(thread: Thread, *, shared: bool = False) -> None:
    """All loaded messages; where several people take part, each question says who asked."""
    earlier.draw(thread)
    marks.listen()
    busy = bool(running_id(thread))
    if thread.messages:
        st.session_state[SEEN] = (thread.messages[-1].chat_id, thread.messages[-1].id)
    queue = waiting.queue_of(thread.messages)
    asked = {message.parent_id for message in thread.messages if message.id in queue}
    names = session().chats.authors(thread.messages[0].chat_id) if thread.messages else {}
    asked_by = names if shared or len(names) > 1 else {}
    for message in thread.messages:
        branches = thread.branches.get(message.id, ())
        if message.id in asked:
            with st.container(
                key=f"question-waits-{message.id}", horizontal_alignment="right", gap="xxsmall"
            ):
                draw.draw_question(message)
                draw.draw_came(message)
        elif message.role == "user":
            with st.container(key=f"question-{message.id}", gap="xxsmall"):
                _draw_question(message, branches, busy, asked_by.get(message.user_id, ""))
        elif message.id in queue:
            waiting.draw(message, queue[message.id])
        elif message.status in UNFINISHED:
            with st.container(key=f"answer-{message.id}"):
                live.follow(message.id, message.chat_id)
        else:
            with st.container(key=f"answer-{message.id}"):
                _draw_answer(message, branches, busy)
    if queue:
        waiting.watch(thread.messages, queue)


@st.fragment
def _draw_question(message: Message, branches: tuple[str, ...], busy: bool, asked_by: str) -> None:
    """A question; a fragment, so that its buttons redraw nothing else."""
    if st.session_state.get("editing") == message.id and not busy:
        _draw_editor(message)
        return
    if asked_by:
        st.caption(markdown.label(asked_by, 60), text_alignment="right")
    with st.container(
        horizontal=True,
        horizontal_alignment="right",
        gap="xsmall",
        key=f"asked-{message.id}",
        vertical_alignment="center",
        wrap=False,
    ):
        _draw_branches(message.id, branches)
        if icon_button(
            t("Edit this question and ask again"), f"edit-{message.id}", "edit", disabled=busy
        ):
            st.session_state["editing"] = message.id
            redraw("fragment")
        if icon_button(t("Save as prompt"), f"edit-save-{message.id}", "bookmark_add"):
            prompts.ask(answer_text(message.parts))
        draw.draw_question(message)
    draw.draw_came(message)


def _draw_editor(message: Message) -> None:
    """The question as a text that can be changed; sending it makes a branch, the old one stays."""
    with st.form(f"editor-{message.id}", border=False):
        text = st.text_area(
            t("Edit the question"),
            value=answer_text(message.parts),
            key=f"edited-{message.id}",
            height="content",
        )
        with st.container(horizontal=True, horizontal_alignment="right"):
            leave = st.form_submit_button(t("Cancel"), type="tertiary")
            send = st.form_submit_button(t("Ask again"), type="primary")
    if leave:
        del st.session_state["editing"]
        redraw("fragment")
    if send:
        try:
            session().messages.edit(message.id, text or "")
        except LeafError as e:
            st.warning(markdown.paragraph(told(e)))
        else:
            del st.session_state["editing"]
            redraw()


@st.fragment
def _draw_answer(message: Message, branches: tuple[str, ...], busy: bool) -> None:
    """A finished answer; a fragment, so that opening a step redraws only this answer."""
    with st.container(key=f"said-{message.id}"):
        _draw_whole(message, branches, busy)
    live.hand_over(message.id)


def _draw_whole(message: Message, branches: tuple[str, ...], busy: bool) -> None:
    draw.draw_answer(message, grew=live.grew(message.id))
    if message.status != "completed":
        _draw_unfinished(message, busy)
    if needed_drive(message.parts):
        _offer_drive(message)
    if tells(answer_text(message.parts)) and session().models.keyless():
        model.offer(f"connect-model-{message.id}")
    evidence.draw_doubts(message)
    with st.container(
        horizontal=True, gap="xsmall", vertical_alignment="center", key=f"actions-{message.id}"
    ):
        evidence.draw_line(message)
        with st.container(
            horizontal=True, gap="xsmall", vertical_alignment="center", width="content", wrap=False
        ):
            _draw_actions(message, branches, busy)


def _draw_actions(message: Message, branches: tuple[str, ...], busy: bool) -> None:
    _draw_branches(message.id, branches)
    text = answer_text(message.parts)
    if text:
        browser.copy_button(text, f"copy-{message.id}")
    if message.status == "completed" and icon_button(
        t("Answer again"), f"retry-{message.id}", "refresh", disabled=busy
    ):
        _retry(message)
    downloads.button(
        t("Download as Markdown"),
        downloads.place("answers", message.id),
        key=f"icon-markdown-{message.id}",
        type="tertiary",
        help=t("Download as Markdown"),
    )
    _draw_feedback(message)


def _draw_unfinished(message: Message, busy: bool) -> None:
    """How an answer ended that was not finished, and the way on."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"ended-{message.id}"):
        if message.status == "stopped":
            st.caption(
                f":material/stop_circle: {t(STOPPED if message.parts else NOT_BEGUN)}",
                width="content",
            )
        else:
            text = said(message.error or "") or t("This answer was not finished.")
            st.warning(markdown.paragraph(text), icon=":material/warning:", width="stretch")
        goes_on = session().messages.goes_on(message)
        if st.button(
            t("Go on from the last good step") if goes_on else t("Retry"),
            key=f"retry-ended-{message.id}",
            icon=":material/resume:" if goes_on else ":material/refresh:",
            help=t("What was found so far is used again")
            if goes_on
            else t("Ask this question again"),
            disabled=busy,
        ):
            _retry(message)


def needed_drive(parts: Sequence[Part]) -> bool:
    """Whether a step of an answer wanted Drive while it was not connected."""
    return any(data_of(part).get("drive") == "not-connected" for part in parts)


def _offer_drive(message: Message) -> None:
    standing = session().drive.connection()
    if standing.state == "absent":
        connection.draw_hint(
            standing, t("This needs Google Drive, which is not connected."), message.id
        )
    elif standing.state == "error":
        connection.draw_hint(
            standing, t("This needs Google Drive, and the connection does not work."), message.id
        )


def _retry(message: Message) -> None:
    try:
        session().messages.retry(message.id)
    except LeafError as e:
        st.session_state["composer-problem"] = told(e)
    redraw()


def _draw_branches(message_id: str, branches: tuple[str, ...]) -> None:
    """`‹ 1/2 ›` where a message has several versions."""
    if len(branches) < 2:
        return
    at = branches.index(message_id)
    if icon_button(
        t("The version before"), f"before-{message_id}", "chevron_left", disabled=at == 0
    ):
        _show_branch(branches[at - 1])
    st.caption(f"{at + 1}/{len(branches)}", width="content")
    last = at == len(branches) - 1
    if icon_button(t("The next version"), f"after-{message_id}", "chevron_right", disabled=last):
        _show_branch(branches[at + 1])


def _show_branch(message_id: str) -> None:
    session().messages.show_branch(message_id)
    redraw()


def _draw_feedback(message: Message) -> None:
    rating = {1: 1, -1: 0}.get(message.feedback)
    chosen = st.feedback("thumbs", key=f"thumbs-{message.id}", default=rating)
    if chosen != rating and chosen != st.session_state.get(f"thumbs-kept-{message.id}", rating):
        st.session_state[f"thumbs-kept-{message.id}"] = chosen
        session().messages.set_feedback(
            message.id, {1: 1, 0: -1}.get(chosen, 0) if chosen is not None else 0
        )
