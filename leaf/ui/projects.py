"""Projects wherever they are named: in the sidebar, below the composer, in the list of all, and the
dialogs in which one is made and a chat is moved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from leaf.errors import LeafError
from leaf.language.problems import told
from leaf.language.text import mark, t
from leaf.store.model import Chat
from leaf.store.projects import TITLE_LENGTH, Project
from leaf.ui import browser, clock, markdown, preview, words
from leaf.ui.dialogs import dialog
from leaf.ui.redraw import redraw
from leaf.ui.state import session

if TYPE_CHECKING:
    from streamlit.navigation.page import StreamlitPage

PAGE = Path(__file__).resolve().parents[1] / "pages" / "project.py"
CHAT_PAGE = PAGE.parent / "chat.py"
SHOWN = 4
"""Projects in the sidebar."""
SHOWN_ONE = "project-shown"
"""Whether this tab showed a project before, in the state of its session."""
MOVE = mark("Move to project")
NONE = mark("No project")
HOW = mark(
    "A project keeps chats and files together. Each new chat in it has the project's files from "
    "the start, and the model follows the project's instructions. It is yours alone until you "
    "bring others in."
)


def icon(project: Project) -> str:
    """Name of its icon."""
    return "folder_shared" if project.shared else "folder_special"


def draw_sidebar(page: StreamlitPage) -> None:
    """The few that were used last, and the way to all."""
    projects = session().projects.list(limit=SHOWN + 1)
    active = st.query_params.get("id", "")
    with st.container(key="projects", gap=None):
        for project in projects[:SHOWN]:
            title = markdown.label(project.title, 60)
            if st.button(
                f"**{title}**" if project.id == active else title,
                key=f"project-{markdown.turned(project.title)}{project.id}",
                type="tertiary",
                width="stretch",
                wrap=False,
                icon=f":material/{icon(project)}:",
                help=t("Shared project") if project.shared else t("Project"),
            ):
                go(project.id)
        st.page_link(
            page,
            label=t("All projects") if projects else t("Projects"),
            icon=":material/folder_copy:" if projects else ":material/folder_special:",
        )


def go(project_id: str) -> None:
    """To the page of a project."""
    preview.close()
    st.switch_page(PAGE, query_params={"id": project_id} if project_id else None)


def draw_of(chat: Chat) -> None:
    """Below the composer: the project of the chat."""
    project = session().projects.of(chat.id)
    if project is not None and st.button(
        markdown.label(words.cut(project.title, 28), 32),
        key="chat-project",
        icon=f":material/{icon(project)}:",
        type="tertiary",
        help=t("This chat is in this project; open it"),
    ):
        go(project.id)


def draw_all() -> None:
    """All that the reader is in, the one used last first."""
    if st.session_state.pop(SHOWN_ONE, False):
        browser.clean_address("id")  # a link of the sidebar leads here and leaves it
    st.title(t("Projects"), anchor=False)
    st.markdown(t(HOW))
    if st.button(t("New project"), key="new-project", icon=":material/add:", type="primary"):
        ask_new()
    today = clock.today()
    with st.container(key="project-rows", gap=None):
        for project in session().projects.list():
            with st.container(gap=None, key=f"project-row-{project.id}"):
                if st.button(
                    markdown.label(project.title, TITLE_LENGTH),
                    key=f"open-project-{markdown.turned(project.title)}{project.id}",
                    type="tertiary",
                    icon=f":material/{icon(project)}:",
                    help=t("Open this project"),
                ):
                    go(project.id)
                facts = [t("Used {day}", day=words.when(project.used_at, today))]
                if project.shared:
                    facts.append(words.count(project.people, "person", "people"))
                if project.instructions:
                    facts.append(words.cut(" ".join(project.instructions.split()), 120))
                st.caption(markdown.label(" · ".join(facts), 240))


@dialog("New project")
def ask_new() -> None:
    """Ask for a title, and go to what was made."""
    with st.form("new-project-form", border=False):
        title = st.text_input(
            t("Title"), max_chars=TITLE_LENGTH, placeholder=t("Quarterly figures")
        )
        if not st.form_submit_button(t("Create"), type="primary"):
            return
    try:
        project = session().projects.create(title or "")
    except LeafError as e:
        st.warning(markdown.paragraph(told(e)))
    else:
        go(project.id)


@dialog("Move to project")
def ask_move(chat_id: str, title: str) -> None:
    """Ask where to; who would see the chat then is said before it is done."""
    st.markdown(f"**{markdown.label(title, 80)}**")
    own = session().projects
    now = own.of(chat_id)
    names = {project.id: project.title for project in own.list()}
    if not names:
        st.markdown(t("There is no project yet. Make one on the *Projects* page."))
        return
    choices = ["", *names] if now else list(names)
    chosen = st.selectbox(
        t("Project"),
        choices,
        choices.index(now.id) if now else None,
        format_func=lambda i: words.cut(names.get(i, ""), 80) if i else t(NONE),
        placeholder=t("Choose a project"),
        key=f"move-{chat_id}",
    )
    if chosen is None or chosen == (now.id if now else ""):
        return
    try:
        seen = own.newcomers(chat_id, chosen) if chosen else []
    except LeafError as e:
        st.warning(markdown.paragraph(told(e)))
        return
    if seen:
        st.warning(
            t("{names} will see this whole chat and can ask in it.", names=_named(seen)),
            icon=":material/group:",
        )
    elif now and now.shared:
        st.caption(t("Who sees this chat by its project alone will see it no more."))
    if st.button(t("Move and show it") if seen else t("Move"), type="primary", key="move-do"):
        try:
            own.move(chat_id, chosen, shown=bool(seen))
        except LeafError as e:
            st.warning(markdown.paragraph(told(e)))
        else:
            redraw()


def _named(names: Sequence[str]) -> str:
    """`Ben`, `Ben and Cy`, `Ben, Cy and 3 others`."""
    shown = [markdown.label(name, 40) for name in names]
    if len(shown) < 3:
        return t(" and ").join(shown)
    others = words.count(len(shown) - 2, "other")
    return t("{first}, {second} and {others}", first=shown[0], second=shown[1], others=others)
