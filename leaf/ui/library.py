"""The pieces of the Files page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import streamlit as st

from leaf.errors import LeafError
from leaf.files.line import problem
from leaf.files.names import shortened
from leaf.language.problems import said, told
from leaf.language.text import mark, t
from leaf.store.model import File
from leaf.ui import about, clock, downloads, folders, markdown, preview, words
from leaf.ui.controls import icon_button, icon_menu
from leaf.ui.dialogs import dialog
from leaf.ui.redraw import redraw
from leaf.ui.state import session

PER_PAGE = 25
NAME_SHOWN = 80
ORDERS = {
    "newest": mark("Newest first"),
    "name": mark("Name"),
    "size": mark("Size"),
    "kind": mark("Kind"),
}
CHAT_PAGE = Path(__file__).resolve().parents[1] / "pages" / "chat.py"


def draw_rows(files: Sequence[File], query: str) -> None:
    """One row a file, some at a time; where they do not fit on one page, one row a folder. What a
    search found is a list."""
    today = clock.today()
    if len(files) > PER_PAGE and not query:
        with st.container(key="file-rows", gap=None):
            return folders.draw(files, PER_PAGE, lambda file, name: _draw_row(file, name, today))
    pages = max(1, math.ceil(len(files) / PER_PAGE))
    page = min(st.session_state.get("file-page") or 1, pages)
    with st.container(key="file-rows", gap=None):
        for file in files[(page - 1) * PER_PAGE : page * PER_PAGE]:
            _draw_row(file, file.name, today)
    if pages > 1:
        st.pagination(pages, key="file-page")


def draw_empty(query: str) -> None:
    """What to do where there is nothing to see."""
    if query:
        st.markdown(
            t(
                "No file matches “{query}”. Names and what was written about files are searched.",
                query=markdown.label(query),
            )
        )
        return
    if any(job.under_way for job in session().jobs.list()):
        st.markdown(t("Files show up here as they are added."))
        return
    st.markdown(
        t(
            "No files yet. Drop some anywhere: tables, spreadsheets, PDFs, Word and "
            "PowerPoint documents, pictures, web pages, mails, transcripts, and ZIP "
            "archives of them."
        )
    )
    if st.button(t("Add sample data"), key="sample", icon=":material/science:"):
        with st.spinner(t("Adding sample data")):
            session().files.add_sample()
        redraw()


def draw_undo() -> None:
    """After a deletion, until the next one."""
    deleted = st.session_state.get("deleted-file")
    if deleted is None:
        return
    file_id, name, inside = deleted
    along = (
        t(" with {files} that came out of it", files=words.count(inside, "file")) if inside else ""
    )
    with st.container(horizontal=True, vertical_alignment="center", border=True, key="undo-file"):
        st.markdown(
            t(
                "Deleted “{name}”{along}. Chats that used it keep their answers.",
                name=markdown.label(name),
                along=along,
            ),
            width="stretch",
        )
        if st.button(t("Undo"), key="undo-file-button", type="tertiary", icon=":material/undo:"):
            session().files.restore(file_id)
            del st.session_state["deleted-file"]
            redraw()
        if icon_button(t("Leave it deleted"), "undo-file-close", "close"):
            del st.session_state["deleted-file"]
            redraw()


def _draw_row(file: File, name: str, today: date) -> None:
    """`name` is what it is called where it is shown."""
    with st.container(
        horizontal=True, vertical_alignment="center", wrap=False, key=f"file-row-{file.id}"
    ):
        with st.container(gap=None, width="stretch"):
            if st.button(
                markdown.label(shortened(name, NAME_SHOWN)),
                key=f"file-{file.id}",
                type="tertiary",
                icon=words.kind_icon(file.kind),
                help=t("Preview"),
            ):
                preview.show(file.id)
                redraw()
            facts = [
                words.kind_label(file.kind),
                words.counts(file.outline),
                words.size(file.size),
                t(words.SOURCES.get(file.source, file.source)),
                words.when(file.created_at, today),
            ]
            st.caption(markdown.label(" · ".join(fact for fact in facts if fact), 200))
            _draw_remarks(file)
        if st.button(
            t("Ask"),
            key=f"ask-{file.id}",
            icon=":material/chat:",
            help=t("Ask about this file in a new chat"),
        ):
            chat = session().chats.create()
            session().attached.add(chat.id, [file.id])
            preview.close()
            st.switch_page(CHAT_PAGE, query_params={"chat": chat.id})
        options = [
            mark("Preview"),
            mark("Rename"),
            mark("About this file"),
            mark("Download"),
            mark("Where it is used"),
            mark("Delete"),
        ]
        chosen = icon_menu(t("More for this file"), options, key=f"file-menu-{file.id}")
    if chosen:
        _carry_out(chosen, file)


def _draw_remarks(file: File) -> None:
    """What went wrong or was guessed, and what people wrote about it."""
    if wrong := problem(file):
        st.caption(f":orange[:material/warning: {markdown.label(said(wrong), 300)}]")
    remarks = words.notes(file)
    if remarks:
        more = t(" (and {n} more)", n=len(remarks) - 1) if len(remarks) > 1 else ""
        st.caption(f":material/info: {markdown.label(remarks[0], 200)}{more}")
    if file.upload_context and file.source != "sample":
        st.caption(f"“{markdown.label(file.upload_context, 120)}”")


def _carry_out(chosen: str, file: File) -> None:
    if chosen == "Preview":
        preview.show(file.id)
        redraw()
    elif chosen == "Rename":
        _rename(file.id, file.base)
    elif chosen == "About this file":
        about.write(file.id, file.name)
    elif chosen == "Download":
        _download(file)
    elif chosen == "Where it is used":
        _show_chats(file)
    elif chosen == "Delete":
        inside = len(session().files.inside(file.id))
        session().files.delete(file.id)
        st.session_state["deleted-file"] = (file.id, file.name, inside)
        redraw()


@dialog("Rename file")
def _rename(file_id: str, name: str) -> None:
    with st.form("rename-file", border=False):
        new_name = st.text_input(t("Name"), value=name, max_chars=200)
        if st.form_submit_button(t("Rename"), type="primary"):
            try:
                session().files.rename(file_id, (new_name or "").strip())
            except LeafError as e:
                st.warning(markdown.paragraph(told(e)))
            else:
                redraw()


@dialog("Download")
def _download(file: File) -> None:
    st.markdown(
        t(
            "{name}, {size}, as it was uploaded.",
            name=markdown.label(file.name),
            size=words.size(file.size),
        )
    )
    kind = "generated" if file.source == "generated" else "files"
    downloads.button(t("Download"), downloads.place(kind, file.id), type="primary")


@dialog("Where it is used")
def _show_chats(file: File) -> None:
    chats = session().files.chats_using(file.id)
    if not chats:
        st.markdown(t("No chat uses this file yet."))
    for chat in chats:
        title = markdown.label(chat.title or t("New chat"))
        if st.button(title, key=f"used-in-{chat.id}", type="tertiary", icon=":material/chat:"):
            st.switch_page(CHAT_PAGE, query_params={"chat": chat.id})
