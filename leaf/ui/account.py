"""Who is signed in, in the sidebar: the workspaces to choose from, and the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from leaf.language.text import mark, t
from leaf.ui import markdown, preview
from leaf.ui.state import current_visit, leaf, open_workspace, session

if TYPE_CHECKING:
    from streamlit.navigation.page import StreamlitPage

SIGN_OUT, EVERYWHERE = mark("Sign out"), mark("Sign out on all devices")


def draw_workspaces(chat_page: StreamlitPage) -> None:
    """The workspaces, where there is more than one; choosing one opens a new chat in it."""
    if current_visit() is None:
        return
    names, here = (
        {m.workspace_id: m.name for m in session().team.workspaces()},
        session().scope.workspace_id,
    )
    if len(names) < 2 or here not in names:
        return
    chosen = st.selectbox(
        t("Workspace"),
        list(names),
        index=list(names).index(here),
        format_func=lambda i: names[i],
        # A key of its own for each, so that the box shows where one is when a link or a removal led
        # elsewhere.
        key=f"workspace-{here}",
        label_visibility="collapsed",
    )
    if chosen and chosen != here:
        open_workspace(chosen)
        preview.close()
        st.switch_page(chat_page)


def draw_account() -> None:
    """The user's name; behind it, signing out."""
    visit = current_visit()
    if visit is None:
        return
    with st.container(key="account"):
        chosen = st.menu_button(
            markdown.label(visit.user.name, 40),
            [SIGN_OUT, EVERYWHERE],
            format_func=t,
            key="account-menu",
            icon=":material/account_circle:",
            type="tertiary",
            help=markdown.label(visit.user.email, 100),
            width="stretch",
        )
    if chosen:
        leaf().sign_out(visit, everywhere=chosen == EVERYWHERE)
        st.logout()
        st.stop()
