"""The export of a chat: PDF, Word, Markdown, a notebook, or a folder that computes every figure
again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from leaf.language.text import mark, t
from leaf.ui import markdown, words
from leaf.ui.controls import dialog
from leaf.ui.state import later

if TYPE_CHECKING:
    from leaf.sessions.chats import ChatForm

FORMS: tuple[tuple[ChatForm, str, str, str, str, str], ...] = (
    (
        "pdf",
        "PDF",
        ":material/picture_as_pdf:",
        "pdf",
        "application/pdf",
        mark("To hand over: questions, answers, charts, queries and sources"),
    ),
    (
        "docx",
        "Word",
        ":material/docs:",
        "docx",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        mark("To work on: questions, answers, charts, queries and sources"),
    ),
    (
        "markdown",
        "Markdown",
        ":material/article:",
        "md",
        "text/markdown",
        mark("To read: questions, answers, queries and sources"),
    ),
    (
        "notebook",
        mark("Notebook"),
        ":material/code_blocks:",
        "ipynb",
        "application/x-ipynb+json",
        mark("To run in Jupyter"),
    ),
    (
        "folder",
        mark("Folder (ZIP)"),
        ":material/folder_zip:",
        "zip",
        "application/zip",
        mark("To compute every figure again, without a model"),
    ),
)


def draw(chat_id: str, title: str, key: str) -> None:
    """A button for each format; the file is made when it is pressed."""
    with st.container(horizontal=True, gap="small"):
        for form, label, icon, ending, mime, purpose in FORMS:
            st.download_button(
                t(label),
                later(lambda own, form=form: own.chats.export(chat_id, form)),  # type: ignore[misc]
                file_name=f"{words.file_name(title)}.{ending}",
                mime=mime,
                key=f"export-{form}-{key}",
                icon=icon,
                help=t(purpose),
                on_click="ignore",
                width="content",
            )
    st.caption(
        t(
            "No data file goes with it, only its SHA-256. `python -m leaf replay` "
            "checks a folder with the files at hand."
        )
    )


def draw_end(chat_id: str, title: str) -> None:
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
            draw(chat_id, title, "end")


@dialog("Export chat")
def ask(chat_id: str, title: str) -> None:
    """From the chat's menu."""
    st.markdown(f"**{markdown.label(title, 80)}**")
    draw(chat_id, title, "menu")
