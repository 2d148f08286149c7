"""The pieces of the Documents page: the list, and one document to read, edit and go back in."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

import streamlit as st

from leaf.errors import ConflictError, LeafError
from leaf.language.problems import told
from leaf.language.text import in_digits, t
from leaf.store.model import Document
from leaf.ui import documents, markdown, marks, preview, tabular
from leaf.ui.controls import icon_button, icon_menu
from leaf.ui.redraw import redraw
from leaf.ui.state import session
from leaf.ui.toasts import toast

EDITED = 400_000
"""Characters above which a document is too long for the editor of a browser."""


def draw_list(found: Sequence[Document], query: str) -> None:
    """One row a document."""
    if not found:
        if query:
            st.markdown(
                t(
                    "No document matches “{query}”. Titles, types and the titles of "
                    "chats are searched.",
                    query=markdown.label(query),
                )
            )
        else:
            st.markdown(
                t(
                    "No documents yet. Ask in a chat for one: “Write a summary of this "
                    "meeting”, “Make a report of these files”."
                )
            )
        return
    with st.container(key="document-rows", gap=None):
        for document in found:
            with st.container(
                horizontal=True,
                vertical_alignment="center",
                wrap=False,
                key=f"file-row-{document.id}",
            ):
                with st.container(gap=None, width="stretch"):
                    if st.button(
                        markdown.label(document.title),
                        key=f"open-{document.id}",
                        type="tertiary",
                        icon=documents.ICONS[document.kind],
                    ):
                        _open(document.id)
                    chat = (
                        t("from “{chat_title}”", chat_title=document.chat_title)
                        if document.chat_title
                        else ""
                    )
                    pieces = [documents.facts(document), document.file_name, chat]
                    st.caption(markdown.label(" · ".join(piece for piece in pieces if piece), 200))
                chosen = icon_menu(
                    t("More for this document"),
                    ["Open", "Open its chat", "Delete"],
                    key=f"document-menu-{document.id}",
                )
            if chosen == "Open":
                _open(document.id)
            elif chosen == "Open its chat":
                preview.close()
                st.switch_page(documents.CHAT_PAGE, query_params={"chat": document.chat_id})
            elif chosen == "Delete":
                _delete(document)


def draw_undo() -> None:
    """After a deletion, until the next one."""
    deleted = st.session_state.get("deleted-document")
    if deleted is None:
        return
    document_id, title = deleted
    with st.container(
        horizontal=True, vertical_alignment="center", border=True, key="undo-document"
    ):
        st.markdown(
            t("Deleted “{title}”. Its versions are kept.", title=markdown.label(title)),
            width="stretch",
        )
        if st.button(
            t("Undo"), key="undo-document-button", type="tertiary", icon=":material/undo:"
        ):
            session().documents.restore(document_id)
            del st.session_state["deleted-document"]
            redraw()
        if icon_button(t("Leave it deleted"), "undo-document-close", "close"):
            del st.session_state["deleted-document"]
            redraw()


def _open(document_id: str) -> None:
    st.query_params["document"] = document_id
    redraw()


def _delete(document: Document) -> None:
    session().documents.delete(document.id)
    st.session_state["deleted-document"] = (document.id, document.title)
    st.query_params.pop("document", None)
    redraw()


def draw_document(document: Document) -> None:
    """One document: read it, edit it, see its versions."""
    with st.container(horizontal=True, vertical_alignment="center", wrap=False):
        if icon_button(t("Back to all documents"), "documents-back", "arrow_back"):
            st.query_params.pop("document", None)
            redraw()
        st.title(markdown.label(document.title, 120), anchor=False, width="stretch")
        chosen = icon_menu(
            t("More for this document"),
            ["Open its chat", "Ask about it in a new chat", "Delete"],
            key="document-menu",
        )
    st.caption(
        markdown.label(
            f"{documents.facts(document)} · {document.file_name} · "
            + t("from “{chat_title}”", chat_title=document.chat_title or t("New chat")),
            200,
        )
    )
    if chosen == "Open its chat":
        st.switch_page(documents.CHAT_PAGE, query_params={"chat": document.chat_id})
    elif chosen == "Ask about it in a new chat":
        chat = session().chats.create()
        session().attached.add(chat.id, [document.file_id])
        st.switch_page(documents.CHAT_PAGE, query_params={"chat": chat.id})
    elif chosen == "Delete":
        _delete(document)
    documents.draw_downloads(document, "page")
    shown = st.segmented_control(
        t("Show"), ["Read", "Edit", "Versions"], default="Read", format_func=t, key=f"document-shown-{document.id}",
        label_visibility="collapsed", required=True,
    )  # fmt: skip
    if shown == "Edit":
        _draw_editor(document)
    elif shown == "Versions":
        documents.draw_versions(document, "page")
    else:
        marks.listen()
        documents.draw_newest(document, "document-rows")


def _draw_editor(document: Document) -> None:
    """The version that the editor began with stays its base, so that a change by others meanwhile
    is noticed."""
    base = st.session_state.setdefault(f"base-{document.id}", document.version)
    text = session().documents.content(document, base)
    if len(text) > EDITED:
        st.markdown(
            t(
                "It has {n} characters, too many for the browser. Download it, or ask "
                "for the change in its chat.",
                n=in_digits(len(text)),
            )
        )
        return
    changed = _edited(document, text, f"edit-{document.id}-{base}")
    newer = document.version > base
    if newer:
        st.warning(
            t(
                "Version {version} was made meanwhile. Save yours as the newest, or "
                "leave it and begin from that one. Both stay as versions.",
                version=document.version,
            ),
            icon=":material/difference:",
        )
    # What is pressed was pressed on the page as it was drawn before this run.
    seen = st.session_state.get(f"seen-{document.id}", document.version)
    st.session_state[f"seen-{document.id}"] = document.version
    with st.container(horizontal=True, vertical_alignment="center"):
        label = t("Save mine as the newest") if newer else t("Save")
        if st.button(label, key="save-document", type="primary", icon=":material/save:"):
            _save(document, changed, seen)
        if (newer or changed != text) and st.button(
            t("Discard my changes"), key="discard-document", type="tertiary"
        ):
            _begin_anew(document.id)
            redraw()
        st.caption(t("Saving makes a new version; the earlier ones stay."), width="content")


def _edited(document: Document, text: str, key: str) -> str:
    """The text in the editor. It outlives a look at another part of the page, for which Streamlit
    takes the editor away with all that was typed."""
    draft, begun = f"draft-{document.id}", f"begun-{document.id}"
    if key not in st.session_state or begun not in st.session_state:
        st.session_state[begun] = st.session_state.get(draft, text)
    edit = _edit_sheet if document.kind == "sheet" else _edit_text
    st.session_state[draft] = edit(st.session_state[begun], document, key)
    return str(st.session_state[draft])


def _edit_text(text: str, document: Document, key: str) -> str:
    new_text = st.text_area(
        t("Text") if document.kind == "code" else t("Text (Markdown)"),
        value=text,
        height=520,
        key=key,
    )
    return new_text or ""


def _edit_sheet(text: str, _document: Document, key: str) -> str:
    import pandas as pd

    columns, *rows = list(csv.reader(io.StringIO(text)))
    names = tabular.unique(columns)
    frame = pd.DataFrame(rows, columns=names, dtype=str)
    config = {name: st.column_config.TextColumn(default="") for name in names}
    edited = st.data_editor(
        frame,
        num_rows="dynamic",
        hide_index=True,
        column_config=config,
        key=key,
        height=520,
    )
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(
        ["" if value is None or value != value else str(value) for value in row]
        for row in edited.values.tolist()
    )
    return out.getvalue()


def _save(document: Document, text: str, base: int) -> None:
    try:
        saved = session().documents.save(document.id, text, base)
    except ConflictError as e:
        st.warning(markdown.paragraph(t("{e} Your text is still in the editor.", e=told(e))))
        return
    except LeafError as e:
        st.warning(markdown.paragraph(told(e)))
        return
    _begin_anew(document.id)
    same = saved.version == document.version
    toast(
        t("Nothing has changed.")
        if same
        else t("Saved as version {version}.", version=saved.version),
        icon=":material/check:",
    )
    redraw()


def _begin_anew(document_id: str) -> None:
    for key in [
        key
        for key in st.session_state
        if re.match(rf"(?:base|seen|begun|draft|edit)-{re.escape(document_id)}", str(key))
    ]:
        del st.session_state[key]
