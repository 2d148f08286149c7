"""Who takes part in the open chat: a line above it with the way to its links, and behind it sharing,
taking out and leaving."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import streamlit as st

from leaf.language.text import t
from leaf.store.model import Chat, Participant
from leaf.ui import links, markdown
from leaf.ui.controls import icon_button, say_problem, then_redraw
from leaf.ui.redraw import redraw
from leaf.ui.state import current_visit, session


def draw(chat: Chat | None) -> None:
    """Nothing in a chat that has not begun; without sign-in the links alone, if there are any."""
    if chat is None or not chat.head_id or not links.offered():
        return
    if current_visit() is None:
        with st.container(horizontal=True, horizontal_alignment="right", key="share-row"):
            links.draw_button(chat)
        return
    there = session().chats.participants(chat.id)
    me = session().scope.user_id
    others = [p for p in there if p.user_id != me]
    with st.container(horizontal=True, horizontal_alignment="right", key="share-row"):
        links.draw_button(chat)
        menu = st.popover(
            _title(others),
            icon=":material/group:" if others else ":material/person_add:",
            type="tertiary",
            on_change="rerun",
            key="share",
        )
    if menu.open:
        with menu:
            _draw_menu(chat, there)


def _title(others: Sequence[Participant]) -> str:
    """`Share`, `With Bob and Cy`, `With Bob and 3 others`."""
    if not others:
        return t("Share")
    names = [markdown.label(p.name, 24) for p in others]
    if len(names) < 3:
        return t("With {names}", names=t(" and ").join(names))
    return t("With {name} and {n} others", name=names[0], n=len(names) - 1)


def _draw_menu(chat: Chat, there: Sequence[Participant]) -> None:
    say_problem()
    me = session().scope.user_id
    hosting = any(p.host and p.user_id == me for p in there)
    for person in there:
        name = markdown.label(person.name, 40)
        mine = person.user_id == me
        with st.container(
            horizontal=True,
            vertical_alignment="center",
            wrap=False,
            key=f"participant-{person.user_id}",
        ):
            st.markdown(
                f"{name}{t(' (you)') if mine else ''}  \n:small[{markdown.label(person.email, 60)}]",
                width="stretch",
            )
            if (
                hosting
                and not mine
                and icon_button(t("Take {name} out", name=name), f"out-{person.user_id}", "close")
            ):
                then_redraw(session().chats.remove_participant, chat.id, person.user_id)
    _draw_add(chat, {p.user_id for p in there})
    if len(there) > 1 and st.button(
        t("Leave this chat"), key="leave-chat", icon=":material/logout:", type="tertiary"
    ):
        session().chats.remove_participant(chat.id, me)
        del st.query_params["chat"]
        redraw()


def _draw_add(chat: Chat, there: Collection[str]) -> None:
    email = draw_choice(
        there,
        t("Share this chat with"),
        t("Share"),
        t("To share a chat, invite people in Settings first."),
    )
    if email is not None:
        st.caption(t("They see the whole chat and can ask in it."))
    if email:
        then_redraw(session().chats.add_participant, chat.id, email)


def draw_choice(there: Collection[str], label: str, act: str, nobody: str) -> str | None:
    """A form that asks for a member of the workspace who is not there yet. Returns their address
    once it is sent, empty until then, None where there is nobody to choose."""
    names = {
        m.email: f"{m.name} · {m.email}" for m in session().team.members() if m.user_id not in there
    }
    if not names:
        st.caption(t("Everybody of this workspace is here.") if len(there) > 1 else nobody)
        return None
    with st.form("share-form", border=False, clear_on_submit=True):
        email = st.selectbox(
            label,
            list(names),
            index=None,
            format_func=lambda e: names[e],
            placeholder=t("Choose a person"),
        )
        sent = st.form_submit_button(act, type="primary")
    return email or "" if sent else ""
