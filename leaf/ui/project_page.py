"""The page of one project: its head, its chats, and beside them instructions, files and people."""

from __future__ import annotations

from datetime import date

import streamlit as st

from leaf.errors import LeafError
from leaf.language.problems import told
from leaf.language.text import mark, t
from leaf.store.model import Chat, File
from leaf.store.projects import INSTRUCTIONS_LENGTH, TITLE_LENGTH, Project
from leaf.ui import clock, deleted, markdown, people, preview, projects, words
from leaf.ui.controls import icon_button, icon_menu, say_problem, then_redraw
from leaf.ui.dialogs import dialog
from leaf.ui.redraw import redraw
from leaf.ui.state import current_visit, session
from leaf.ui.toasts import toast

CHATS_SHOWN = 30
PAGES = "project-chats"
"""How many times as many chats are shown, in the state of the session."""
LIBRARY_SHOWN = 200
UNTITLED = mark("New chat")


def chosen() -> Project | None:
    """The project of the address; None for none, and for one that the reader is not in."""
    wanted = st.query_params.get("id", "")
    if not wanted:
        return None
    st.session_state[projects.SHOWN_ONE] = True
    try:
        return session().projects.get(wanted)
    except LeafError:
        st.warning(t("This project was deleted, or you are not in it."), icon=":material/link_off:")
        return None


def draw(project: Project) -> None:
    """All of it; what is beside the chats stands below them on a narrow screen."""
    _draw_head(project)
    say_problem()
    left, right = st.columns([3, 2], gap="large")
    with left, st.container(key="project-chats"):
        _draw_chats(project)
    with right:
        _draw_instructions(project)
        _draw_files(project)
        if current_visit() is not None:
            _draw_people(project)


def _draw_head(project: Project) -> None:
    with st.container(horizontal=True, vertical_alignment="center", wrap=False, key="project-head"):
        st.title(markdown.label(project.title, TITLE_LENGTH), anchor=False, width="stretch")
        if project.own:
            act = icon_menu(
                t("Rename or delete this project"), ["Rename", "Delete"], "project-menu"
            )
            if act == "Rename":
                _ask_title(project)
            elif act == "Delete":
                _ask_delete(project)
    if st.button(
        t("New chat in this project"),
        key="project-new-chat",
        icon=":material/edit_square:",
        type="primary",
    ):
        preview.close()
        chat = session().projects.new_chat(project.id, st.session_state.get("new-chat-model") or "")
        st.switch_page(projects.CHAT_PAGE, query_params={"chat": chat.id})


# --- chats


def _draw_chats(project: Project) -> None:
    st.subheader(t("Chats"), anchor=False)
    shown = CHATS_SHOWN * st.session_state.get(PAGES, 1)
    chats = session().projects.chats(project.id, limit=shown + 1)
    if not chats:
        st.caption(
            t(
                "Nothing was asked in this project yet. A chat that is there already is moved here by "
                "its menu in the sidebar."
            )
        )
    today = clock.today()
    with st.container(gap=None, key="project-chat-rows"):
        for chat in chats[:shown]:
            _draw_chat(chat, today)
    if len(chats) > shown and st.button(t("Show more"), type="tertiary", key="more-project-chats"):
        st.session_state[PAGES] = st.session_state.get(PAGES, 1) + 1
        redraw()


def _draw_chat(chat: Chat, today: date) -> None:
    title = markdown.label(chat.title or t(UNTITLED), 80)
    with st.container(
        horizontal=True,
        vertical_alignment="center",
        wrap=False,
        gap="xsmall",
        key=f"project-chat-{chat.id}",
    ):
        if st.button(
            title,
            key=f"open-project-chat-{markdown.turned(chat.title)}{chat.id}",
            type="tertiary",
            width="stretch",
            wrap=False,
            icon=":material/forum:",
        ):
            preview.close()
            st.switch_page(projects.CHAT_PAGE, query_params={"chat": chat.id})
        st.caption(words.when(chat.updated_at, today), width="content")
        if icon_button(
            t("Move {title}", title=title), f"move-project-chat-{chat.id}", "drive_file_move"
        ):
            projects.ask_move(chat.id, chat.title or t(UNTITLED))


# --- instructions


def _draw_instructions(project: Project) -> None:
    st.subheader(t("Instructions"), anchor=False)
    if not project.own:
        if project.instructions:
            st.markdown(markdown.paragraph(project.instructions))
        else:
            st.caption(t("None."))
        return
    with st.form(f"instructions-{project.id}-{hash(project.instructions)}", border=False):
        text = st.text_area(
            t("Instructions for the model"),
            value=project.instructions,
            max_chars=INSTRUCTIONS_LENGTH,
            height=160,
            placeholder=t("Revenue is net of returns. Name regions in German. Round to thousands."),
            help=t(
                "Each chat of this project is told these, from its next question on. They are "
                "shown with the question that brings them."
            ),
        )
        if st.form_submit_button(t("Save instructions")):
            _instruct(project.id, text or "")


def _instruct(project_id: str, text: str) -> None:
    try:
        session().projects.instruct(project_id, text)
    except LeafError as e:
        st.warning(markdown.paragraph(told(e)))
        return
    toast(t("Saved. They hold from the next question on."), icon=":material/rule:")
    redraw()


# --- files


def _draw_files(project: Project) -> None:
    st.subheader(t("Files"), anchor=False)
    files = session().projects.files(project.id)
    st.caption(
        t(
            "Each new chat here has these from the start; nothing of them is read until it is needed."
        )
        if files
        else t("None. Files that you add to the project are in each new chat from the start.")
    )
    with st.container(gap=None, key="project-files"):
        for file in files:
            _draw_file(project, file)
    if project.own and st.button(
        t("Add files"), key="project-add-files", icon=":material/attach_file:"
    ):
        _ask_files(project, {file.id for file in files})


def _draw_file(project: Project, file: File) -> None:
    name = markdown.label(file.name, 60)
    with st.container(
        horizontal=True, vertical_alignment="center", wrap=False, key=f"project-file-{file.id}"
    ):
        if st.button(
            name,
            key=f"look-project-file-{file.id}",
            type="tertiary",
            width="stretch",
            wrap=False,
            icon=words.kind_icon(file.kind),
            help=t("Preview"),
        ):
            preview.show(file.id)
            redraw()
        if project.own and icon_button(
            t("Take {name} out of this project", name=name),
            f"remove-project-file-{file.id}",
            "close",
        ):
            then_redraw(session().projects.remove_file, project.id, file.id)


# --- people


def _draw_people(project: Project) -> None:
    st.subheader(t("People"), anchor=False)
    there = session().projects.members(project.id)
    me = session().scope.user_id
    for person in there:
        name = markdown.label(person.name, 40)
        mine = person.user_id == me
        with st.container(
            horizontal=True,
            vertical_alignment="center",
            wrap=False,
            key=f"project-member-{person.user_id}",
        ):
            whose = t(" (you)") if mine else ""
            whose += t(" · host") if person.host and len(there) > 1 else ""
            st.markdown(
                f"{name}{whose}  \n:small[{markdown.label(person.email, 60)}]", width="stretch"
            )
            if (
                project.own
                and not mine
                and icon_button(
                    t("Take {name} out", name=name), f"out-of-project-{person.user_id}", "close"
                )
            ):
                then_redraw(session().projects.remove_member, project.id, person.user_id)
    if project.own:
        _draw_bring_in(project, {person.user_id for person in there})
    if len(there) > 1 and st.button(
        t("Leave this project"), key="leave-project", icon=":material/logout:", type="tertiary"
    ):
        _leave(project, me)


def _draw_bring_in(project: Project, there: set[str]) -> None:
    email = people.draw_choice(
        there,
        t("Bring somebody in"),
        t("Bring in"),
        t("To share a project, invite people in Settings first."),
    )
    if email is not None:
        st.caption(
            t("They see its title, instructions, files and all its chats, and can ask in them.")
        )
    if email:
        then_redraw(session().projects.add_member, project.id, email)


def _leave(project: Project, me: str) -> None:
    try:
        session().projects.remove_member(project.id, me)
    except LeafError as e:
        st.session_state["problem"] = told(e)
        redraw()
    projects.go("")


# --- dialogs


@dialog("Add files")
def _ask_files(project: Project, there: set[str]) -> None:
    """A dialog, not a menu: on a telephone a menu at the end of the page has no room to open."""
    names = {
        file.id: f"{file.name} · {words.counts(file.outline) or words.size(file.size)}"
        for file in session().files.list()[:LIBRARY_SHOWN]
        if file.id not in there and file.source != "generated"
    }
    picked = st.multiselect(
        t("From your files"),
        list(names),
        format_func=lambda i: names[i],
        key=f"project-files-chosen-{len(there)}",
        placeholder=t("Choose files"),
    )
    st.caption(t("New files are added on the *Files* page."))
    if st.button(t("Add"), key="project-add-do", type="primary", disabled=not picked):
        then_redraw(session().projects.add_files, project.id, picked)


@dialog("Rename project")
def _ask_title(project: Project) -> None:
    with st.form("rename-project", border=False):
        title = st.text_input(t("Title"), value=project.title, max_chars=TITLE_LENGTH)
        if not st.form_submit_button(t("Rename"), type="primary"):
            return
    try:
        session().projects.rename(project.id, title or "")
    except LeafError as e:
        st.warning(markdown.paragraph(told(e)))
    else:
        redraw()


@dialog("Delete project")
def _ask_delete(project: Project) -> None:
    others = (
        t(" Chats that others see by it alone go back to who began them.") if project.shared else ""
    )
    st.markdown(
        t(
            "**{title}** goes for good, with its instructions. Its chats and files stay: they only "
            "leave it.{others}",
            title=markdown.label(project.title, 80),
            others=others,
        )
    )
    if st.button(
        t("Delete for good"), key="delete-project", type="primary", icon=":material/delete:"
    ):
        try:
            with st.spinner(t("Deleting")):
                last_byte = session().projects.delete(project.id)
        except LeafError as e:
            st.warning(markdown.paragraph(told(e)))
            return
        more = "" if last_byte else f" {t(deleted.LATER)}"
        toast(t("The project is deleted for good.{more}", more=more), icon=":material/delete:")
        projects.go("")
