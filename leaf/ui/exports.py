"""The export of a chat: PDF, Word, Markdown, a notebook, or a folder that computes every figure
again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from leaf.language.text import mark, t
from leaf.ui import downloads, markdown
from leaf.ui.dialogs import dialog

if TYPE_CHECKING:
    from leaf.sessions.chats import ChatForm

FORMS: tuple[tuple[ChatForm, str, str, str], ...] = (
    (
        "pdf",
        "PDF",
        ":material/picture_as_pdf:",
        mark("To hand over: questions, answers, charts, queries and sources"),
    ),
    (
        "docx",
        "Word",
        ":material/docs:",
        mark("To work on: questions, answers, charts, queries and sources"),
    ),
    (
        "markdown",
        "Markdown",
        ":material/article:",
        mark("To read: questions, answers, queries and sources"),
    ),
    (
        "notebook",
        mark("Notebook"),
        ":material/code_blocks:",
        mark("To run in Jupyter"),
    ),
    (
        "folder",
        mark("Folder (ZIP)"),
        ":material/folder_zip:",
        mark("To compute every figure again, without a model"),
    ),
)


def draw(chat_id: str, key: str) -> None:
    """A button for each format; the file is made when it is pressed."""
    with st.container(horizontal=True, gap="small"):
        for form, label, icon, purpose in FORMS:
            downloads.button(
                t(label),
                downloads.place("chats", chat_id, form),
                key=f"export-{form}-{key}",
                icon=icon,
                help=t(purpose),
            )
    st.caption(
        t(
            "No data file goes with it, only its SHA-256. `python -m leaf replay` "
            "checks a folder with the files at hand."
        )
    )


def draw_end(chat_id: str) -> None:
    """Below the last answer."""
    with st.container(horizontal=True, horizontal_alignment="right", key="export-row"):
        menu = st.popover(
            t("Export chat"),
            icon=":material/ios_share:",
            type="tertiary",
            on_change="rerun",
            key="export-chat",
        )
    if menu.open:
        with menu:
            draw(chat_id, "end")


@dialog("Export chat")
def ask(chat_id: str, title: str) -> None:
    """From the chat's menu."""
    st.markdown(f"**{markdown.label(title, 80)}**")
    draw(chat_id, "menu")
