"""An empty chat: what Leaf does in one sentence, a place to drop files, and three questions to
begin with."""

from __future__ import annotations

import streamlit as st

from leaf.drive.model import DriveFolder
from leaf.errors import LeafError
from leaf.language.problems import told
from leaf.language.text import t
from leaf.store.model import Chat, File
from leaf.ui import beside, composer, markdown, model, overview, suggested, upload_list, words
from leaf.ui.state import session

FILES_AT_HAND = 12
"""Newest files that suggestions may be about."""


def draw(chat: Chat | None) -> None:
    """Everything above the composer of a chat without a question."""
    with st.container(key="welcome", gap="small"):
        st.title(t("What do you want to know?"), anchor=False)
        st.markdown(
            t(
                "Leaf opens just what it needs of your files. Under every answer it "
                "shows the rows, pages and queries behind it."
            )
        )
        if session().models.keyless():
            model.draw_welcome()
        folders = session().drive.folders(chat.id) if chat else []
        if folders:
            _draw_folder_questions(chat, folders)
            return
        came = [item.file for item in session().attached.list(chat.id)] if chat else []
        files = came or session().files.list()[:FILES_AT_HAND]
        if came:
            overview.draw(came)
        else:
            upload_list.draw_zone()
        if files:
            _draw_suggestions(chat, came, files)
        else:
            _draw_sample(chat)


def _draw_folder_questions(chat: Chat | None, folders: list[DriveFolder]) -> None:
    """A folder is not opened to suggest a question about it."""
    st.caption(t("Begin with"))
    questions = [
        t("What is in the Drive folder {name}?", name=words.cut(f.name, 80)) for f in folders[:3]
    ]
    suggested.draw(questions, "suggestion", lambda text: composer.ask(chat, text))


def _draw_sample(chat: Chat | None) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(t("Nothing at hand?"), width="content")
        if st.button(
            t("Try it with sample data"), key="sample", icon=":material/science:", type="tertiary"
        ):
            with st.spinner(t("Adding sample data")):
                files = session().files.add_sample()
            composer.attach(chat, [file.id for file in files])


def _draw_suggestions(chat: Chat | None, came: list[File], files: list[File]) -> None:
    """Questions from the files at hand. Those of the library come along; those of the chat are
    there already."""
    st.caption(t("Begin with") if came else t("Begin with your newest files"))
    try:
        questions = _questions(files)
    except LeafError as e:
        st.caption(markdown.label(t("No suggestions: {e}", e=told(e)), 200))
        return
    attached = () if came else tuple(file.id for file in files)
    if questions:
        suggested.draw(questions, "suggestion", lambda text: composer.ask(chat, text, attached))


def _questions(files: list[File]) -> list[str] | None:
    """About these files; None while they are made. Raises LeafError."""
    own = session().files
    return beside.made(
        ("beginnings", *(f"{file.id} {file.name} {file.sha256}" for file in files)),
        lambda: [one.question for one in own.suggestions(files)],
        t("Looking at the files"),
    )
