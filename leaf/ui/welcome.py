"""An empty chat: what Leaf does in one sentence, a place to drop files, and three questions to begin with."""

from __future__ import annotations

import streamlit as st

from leaf.drive.model import DriveFolder
from leaf.errors import LeafError
from leaf.store.model import Chat, File
from leaf.ui import composer, markdown, words
from leaf.ui.state import session

FILES_AT_HAND = 12
"""Newest files that suggestions may be about."""


def draw(chat: Chat | None) -> None:
    """Everything above the composer of a chat without a question."""
    with st.container(key="welcome", gap="small"):
        st.title("What do you want to know?", anchor=False)
        st.markdown(
            "Leaf opens just what it needs of your files. Under every answer it shows the rows, pages and queries behind it."
        )
        folders = session().drive.folders(chat.id) if chat else []
        if folders:
            _draw_folder_questions(chat, folders)
            return
        came = [item.file for item in session().attached.list(chat.id)] if chat else []
        files = came or session().files.list()[:FILES_AT_HAND]
        if not came:
            _draw_drop_zone(chat)
        if files:
            _draw_suggestions(chat, came, files)
        else:
            _draw_sample(chat)


def _draw_folder_questions(chat: Chat | None, folders: list[DriveFolder]) -> None:
    """A folder is not opened to suggest a question about it."""
    st.caption("Begin with")
    with st.container(key="suggestions", gap="xsmall"):
        for number, folder in enumerate(folders[:3]):
            question = f"What is in the Drive folder {words.cut(folder.name, 80)}?"
            label = markdown.label(question, 160)
            if st.button(label, key=f"suggestion-{number}", icon=":material/north_east:", width="stretch"):
                composer.ask(chat, question)


def _draw_drop_zone(chat: Chat | None) -> None:
    number = st.session_state.get("drop-round", 0)
    dropped = st.file_uploader(
        "Drop files here: tables, spreadsheets, PDFs, documents, mails, transcripts",
        accept_multiple_files=True,
        key=f"drop-{number}",
    )
    if dropped:
        st.session_state["drop-round"] = number + 1
        composer.take(chat, dropped)


def _draw_sample(chat: Chat | None) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Nothing at hand?", width="content")
        if st.button("Try it with sample data", key="sample", icon=":material/science:", type="tertiary"):
            with st.spinner("Adding sample data"):
                files = session().files.add_sample()
            composer.attach(chat, [file.id for file in files])


def _draw_suggestions(chat: Chat | None, came: list[File], files: list[File]) -> None:
    """Questions from the files at hand. Those of the library come along; those of the chat are there already."""
    st.caption("Begin with" if came else "Begin with your newest files")
    known = tuple(file.id for file in files)
    if st.session_state.get("suggested-for") != known:
        try:
            with st.spinner("Looking at the files"):
                st.session_state["suggested"] = session().files.suggestions(files)
        except LeafError as e:
            st.session_state["suggested"] = []
            st.caption(markdown.label(f"No suggestions: {e}", 200))
        st.session_state["suggested-for"] = known
    with st.container(key="suggestions", gap="xsmall"):
        for number, question in enumerate(st.session_state["suggested"]):
            if st.button(
                markdown.label(question, 160), key=f"suggestion-{number}", icon=":material/north_east:", width="stretch"
            ):
                composer.ask(chat, question, () if came else known)
