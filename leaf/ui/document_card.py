"""A document in an answer: beside the chat while it is written, a card that opens it afterwards."""

from __future__ import annotations

from typing import Any

import streamlit as st

from leaf.errors import LeafError
from leaf.language.text import t
from leaf.shapes.parts import DocumentData
from leaf.store.model import Document
from leaf.ui import markdown, preview, words
from leaf.ui.blocks import AnswerBlock, blocks
from leaf.ui.documents import ICONS, change_in_words
from leaf.ui.items import Item
from leaf.ui.redraw import redraw
from leaf.ui.state import session, waker
from leaf.ui.wake import session_id

DRAWN = 40_000
"""Characters of a growing document that are drawn; a longer one is shown whole when it is
finished."""


class Writing:
    """A document that grows. It is drawn once; then only its open block is drawn again."""

    def __init__(self, place: Any, item: Item, message_id: str) -> None:
        data = item.document or {}
        st.session_state[f"writing-{item.key}"] = True
        self.holder = place.container(key=f"writing-{message_id}-{item.key.replace('/', '-')}")
        inside = self.holder.container()
        inside.markdown(t(":shimmer[Writing “{title}” …]", title=markdown.label(data["title"], 80)))
        self._body = inside.container()
        self._code = data["kind"] != "text"
        self._slots: list[Any] = []
        self._drawn: list[AnswerBlock] = []
        self.update(item)

    def update(self, item: Item) -> None:
        """Show what there is now. A text that begins anew leaves nothing of the old one."""
        text = item.text[:DRAWN]
        wanted = [AnswerBlock("code", text)] if self._code else blocks(text)
        for i, block in enumerate(wanted):
            if i < len(self._drawn) and self._drawn[i] == block:
                continue
            place = self._slots[i] if i < len(self._slots) else self._body
            slot = self._draw(place, block)
            if i < len(self._slots):
                self._slots[i], self._drawn[i] = slot, block
            else:
                self._slots.append(slot)
                self._drawn.append(block)
        for slot in self._slots[len(wanted) :]:
            slot.empty()
        del self._drawn[len(wanted) :]

    def _draw(self, place: Any, block: AnswerBlock) -> Any:
        if block.kind == "code":
            return place.code(block.text, language=block.language or None, wrap_lines=True)
        return place.markdown(markdown.safe(block.text))


def draw(place: Any, item: Item, message_id: str) -> Any:
    """The card of a document that was written, changed or deleted. The one that was just written
    opens beside the chat."""
    data = item.document or {}
    holder = place.container(key=f"document-{message_id}-{item.key.replace('/', '-')}", border=True)
    with holder:
        _draw_card(data, f"{message_id}-{item.key}")
    if (
        st.session_state.pop(f"writing-{item.key}", False)
        and data["state"] == "done"
        and "preview" not in st.session_state
    ):
        preview.show_document(data["documentId"], unasked=True)
        redraw()
    return holder


def _draw_card(data: DocumentData, key: str) -> None:
    title = markdown.label(data["title"], 80)
    if data["state"] == "failed":
        st.markdown(t(":material/error_outline: “{title}” was not finished.", title=title))
        return
    try:
        document = session().documents.get(data["documentId"], deleted=True)
    except LeafError:
        st.markdown(t("“{title}” is not there any more.", title=title))
        return
    if document.deleted_at is not None:
        _draw_deleted(document, key)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container(gap=None, width="stretch"):
            st.markdown(f"{ICONS[data['kind']]} **{title}**")
            newer = (
                t(", now {version}", version=document.version)
                if document.version > data["version"]
                else ""
            )
            change = f" · {change_in_words(data['summary'])}" if data.get("summary") else ""
            receipts = session().documents.receipts(document.id, int(data["version"]))
            traced = f" · {words.traced(receipts)}" if receipts and receipts["figures"] else ""
            st.caption(
                markdown.label(
                    t(
                        "Version {version}{newer}{change}{traced}",
                        version=data["version"],
                        newer=newer,
                        change=change,
                        traced=traced,
                    ),
                    200,
                )
            )
        if st.button(
            t("Open"),
            key=f"open-document-{key}",
            icon=":material/right_panel_open:",
            help=t("Open it beside the chat"),
            on_click=_open,
            args=(document.id,),
        ):
            redraw()


def _open(document_id: str) -> None:
    """A callback, which Streamlit calls also where the answer ends in this moment. The part of the
    page that was pressed is gone then and nothing else is drawn for the press, so the page is told to
    draw itself."""
    preview.show_document(document_id)
    waker().ring(session_id())


def _draw_deleted(document: Document, key: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            t("“{title}” was deleted.", title=markdown.label(document.title, 80)), width="stretch"
        )
        if st.button(t("Undo"), key=f"undo-document-{key}", icon=":material/undo:"):
            session().documents.restore(document.id)
            redraw()
