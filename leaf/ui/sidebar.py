"""The sidebar: a new chat, the places, and the chats, newest first."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import streamlit as st

from leaf.errors import LeafError
from leaf.language.problems import told
from leaf.language.text import mark, t
from leaf.store.database import searched
from leaf.store.found import FoundPassage
from leaf.store.model import Chat
from leaf.ui import (
    account,
    clock,
    deleted,
    earlier,
    exports,
    markdown,
    palette_button,
    preview,
    projects,
    words,
)
from leaf.ui.controls import icon_button, icon_menu
from leaf.ui.dialogs import dialog
from leaf.ui.redraw import redraw
from leaf.ui.state import session

if TYPE_CHECKING:
    from streamlit.navigation.page import StreamlitPage

CHATS_SHOWN = 40
UNTITLED = mark("New chat")


@dataclass(frozen=True)
class Found:
    """How a chat came into the list."""

    query: str = ""
    """Empty where nothing is searched for."""
    passage: FoundPassage | None = None
    """Where its messages hold the words."""
    draft: str = ""
    """The name of a file that waits there for the first question."""
    running: bool = False
    """Whether an answer is being written there, or a question waits."""


def draw(
    chat_page: StreamlitPage,
    project_page: StreamlitPage,
    places: list[StreamlitPage],
    active_chat_id: str,
) -> None:
    """Everything in the sidebar."""
    account.draw_workspaces(chat_page)
    if st.button(t("New chat"), icon=":material/edit_square:", width="stretch", key="new-chat"):
        open_chat(chat_page, "")
    palette_button.button(t("Search and commands"), "search", "open-palette")
    with st.container(key="places", gap=None):
        for place in places:
            st.page_link(place, label=t(place.title))
    projects.draw_sidebar(project_page)
    query = st.text_input(
        t("Search chats"),
        key="chat-search",
        placeholder=t("Search chats"),
        label_visibility="collapsed",
        icon=":material/search:",
        live=True,
    )
    _draw_undo()
    shown = CHATS_SHOWN * st.session_state.get("chat-pages", 1)
    chats = session().chats.list(query=query or "", limit=shown + 1)
    passage_of = session().chats.passages([c.id for c in chats[:shown]], query) if query else {}
    drafts = session().chats.drafts(
        [chat.id for chat in chats[:shown] if not chat.title and not chat.head_id]
    )
    running = session().chats.running()
    with st.container(key="chats", gap="xxsmall"):
        today = clock.today()
        for day, group in groupby(
            chats[:shown], key=lambda chat: words.day(chat.updated_at, today)
        ):
            st.caption(day)
            for chat in group:
                details = Found(
                    query or "",
                    passage_of.get(chat.id),
                    drafts.get(chat.id, ""),
                    chat.id in running,
                )
                _draw_chat(chat, chat_page, chat.id == active_chat_id, details)
        if not chats:
            st.caption(t("No chat holds these words.") if query else t("No chats yet"))
        if len(chats) > shown and st.button(t("Show more"), type="tertiary", key="more-chats"):
            st.session_state["chat-pages"] = st.session_state.get("chat-pages", 1) + 1
            redraw()
    account.draw_account()


def open_chat(chat_page: StreamlitPage, chat_id: str, query: str = "") -> None:
    """Go to a chat; an empty id is a new one. Where it was searched for, to the message that holds
    the words."""
    preview.close()
    earlier.forget()
    message_id = session().chats.find(chat_id, query) if chat_id and query.strip() else ""
    wanted = {"chat": chat_id} if chat_id else {}
    st.switch_page(chat_page, query_params=wanted | ({"message": message_id} if message_id else {}))


def _draw_chat(chat: Chat, chat_page: StreamlitPage, active: bool, details: Found) -> None:
    row = f"chat-row-{'active-' if active else ''}{markdown.turned(chat.title)}{chat.id}"
    untitled = t("{name}, not asked yet", name=details.draft) if details.draft else t(UNTITLED)
    title = markdown.label(chat.title or untitled, 60)
    with st.container(horizontal=True, gap=None, wrap=False, vertical_alignment="center", key=row):
        if st.button(
            f"**{title}**" if active else title,
            key=f"chat-{chat.id}",
            type="tertiary",
            width="stretch",
            wrap=False,
            icon="spinner" if details.running else ":material/group:" if chat.shared else None,
            help=_standing(chat, details),
        ):
            open_chat(chat_page, chat.id, details.query)
        chosen = icon_menu(
            t("Rename, export or delete this chat"),
            ["Rename", "Export", projects.MOVE, "Delete"],
            key=f"menu-{chat.id}",
        )
    if details.passage:
        with st.container(key=f"found-{chat.id}"):
            st.caption(markdown.found(details.passage.text, searched(details.query).split()))
    if chosen == "Rename":
        rename(chat.id, chat.title)
    elif chosen == "Export":
        exports.ask(chat.id, chat.title or t(UNTITLED))
    elif chosen == projects.MOVE:
        projects.ask_move(chat.id, chat.title or t(UNTITLED))
    elif chosen == "Delete":
        _delete(chat)
        if active and "deleted-chat" in st.session_state:
            open_chat(chat_page, "")
        redraw()


def _standing(chat: Chat, details: Found) -> str | None:
    if details.running:
        return t("Being answered")
    return t("Shared chat") if chat.shared else None


def _delete(chat: Chat) -> None:
    try:
        session().chats.delete(chat.id)
    except LeafError as e:
        st.session_state["chat-problem"] = told(e)
    else:
        st.session_state["deleted-chat"] = (chat.id, chat.title or t(UNTITLED))


@dialog("Rename chat")
def rename(chat_id: str, title: str) -> None:
    """Ask for another name."""
    with st.form("rename-chat", border=False):
        new_title = st.text_input(t("Name"), value=title, max_chars=200)
        if st.form_submit_button(t("Rename"), type="primary"):
            try:
                session().chats.rename(chat_id, new_title or "")
            except LeafError as e:
                st.warning(markdown.paragraph(told(e)))
            else:
                redraw()


def _draw_undo() -> None:
    problem = st.session_state.pop("chat-problem", None)
    if problem:
        st.warning(markdown.paragraph(problem))
    last = st.session_state.get("deleted-chat")
    if last is None:
        return
    chat_id, title = last
    with st.container(
        horizontal=True, vertical_alignment="center", wrap=False, border=True, key="undo-chat"
    ):
        st.caption(t("Deleted “{title}”", title=markdown.label(title, 30)), width="stretch")
        if st.button(t("Undo"), key="undo-chat-button", type="tertiary"):
            session().chats.restore(chat_id)
            del st.session_state["deleted-chat"]
            redraw()
        if icon_button(t("Delete it for good"), "undo-chat-purge", "delete"):
            deleted.ask_chat(chat_id, title)
        if icon_button(t("Leave it deleted"), "undo-chat-close", "close"):
            del st.session_state["deleted-chat"]
            redraw()
