"""From a message to elements: what was asked, what was answered, and what the answer rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from leaf.agent import coverage
from leaf.agent.cited import citation_of
from leaf.errors import LeafError
from leaf.store.model import Message
from leaf.ui import charts, citations, code, document_card, freshness, markdown, marks, pictures, receipts, steps, words
from leaf.ui.connection import DRIVE_PAGE
from leaf.ui.items import Item, answer_text, data, items
from leaf.ui.preview import show as show_preview
from leaf.ui.preview import show_receipt
from leaf.ui.state import session


def draw_item(place: Any, item: Item, chat_id: str, message_id: str) -> Any:
    """Draw one item at the end of `place`, or instead of `place` where that is an element; the element that holds it now."""
    if item.kind == "text":
        return place.markdown(marks.drawn(markdown.safe(item.text), message_id))
    if item.kind == "code":
        return place.code(item.text, language=item.language or None, wrap_lines=True)
    if item.kind == "waiting":
        return place.markdown(":shimmer[Working …]")
    if item.kind == "status":
        return place.markdown(f":orange[:material/hourglass_top: {markdown.label(item.text, 300)}]")
    if item.kind == "progress":
        return place.markdown(f":gray[:material/hourglass_top: {markdown.label(item.text, 300)}]")
    if item.kind == "note":
        return place.markdown(f":gray[:small[:material/unfold_less: {markdown.label(item.text, 300)}]]")
    if item.kind == "step":
        return steps.draw(place, item, chat_id, message_id)
    if item.kind == "document":
        return document_card.draw(place, item, message_id)
    if item.kind == "writing":
        return document_card.Writing(place, item, message_id)
    if item.kind == "chart":
        holder = place.container(key=f"{item.key}-{message_id}")
        with holder:
            charts.draw(item.part, key=f"vega-{item.key}-{message_id}")
        return holder
    if item.kind == "figures":
        holder = place.container(key=f"{item.key}-{message_id}")
        with holder:
            code.figures(item.part, chat_id)
        return holder
    if item.kind == "written":
        holder = place.container(key=f"{item.key}-{message_id}", gap="xsmall")
        with holder:
            code.written(item.part, chat_id, f"{item.key}-{message_id}")
        return holder
    if item.kind == "questions":
        holder = place.container(key=f"{item.key}-{message_id}", gap="xsmall")
        with holder:
            _draw_questions(item, chat_id, message_id)
        return holder
    if item.kind == "consent":
        holder = place.container(key=f"{item.key.replace('/', '-')}-{message_id}", border=True)
        with holder:
            code.consent(item.part, chat_id)
        return holder
    thought = place.expander("Thinking", type="compact")
    thought.caption(markdown.safe(item.text))
    return thought


def _draw_questions(item: Item, chat_id: str, message_id: str) -> None:
    """Questions that a press asks."""
    st.caption("Questions that work here")
    for number, question in enumerate(item.text.splitlines()):
        label = markdown.label(question, 160)
        if st.button(label, key=f"asks-{item.key}-{number}-{message_id}", icon=":material/north_east:", type="tertiary"):
            try:
                session().messages.send(chat_id, question)
            except LeafError as e:
                st.session_state["composer-problem"] = str(e)
            st.rerun()


def draw_answer(message: Message) -> None:
    """What an answer says: text with its steps."""
    for item in items(message.parts):
        draw_item(st, item, message.chat_id, message.id)


def draw_basis(message: Message) -> None:
    """What an answer rests on and what it took: coverage, sources and cost."""
    draw_coverage(coverage.covered_of(message.parts), message.id)
    receipts.draw_list(data(message.parts, "receipts"), message.id, show_receipt)
    draw_sources(message)
    freshness.draw_marks(message.chat_id, [use["file_id"] for use in rests_on(message.parts)])
    draw_budget(data(message.parts, "budget"), message.id)
    draw_usage(data(message.parts, "usage"))


NOTES_SHOWN = 3
"""Notes on how tables were read that stand under an answer; the others open with a click."""


def draw_coverage(covered: Mapping[str, Any], message_id: str) -> None:
    """`6 of 8 rows; 2 left out as totals · 12 of 340 pages`, then what is doubtful, then how the tables were read."""
    if said := coverage.line(covered):
        st.caption(f":material/fact_check: {markdown.label(said, 400)}")
    for said in coverage.doubts(covered):
        st.caption(f":orange[:material/warning:] {markdown.label(said, 300)}")
    notes = [f":material/info: {markdown.label(said, 300)}" for said in coverage.notes(covered)]
    for note in notes[:NOTES_SHOWN]:
        st.caption(note)
    if more := notes[NOTES_SHOWN:]:
        title = f"{words.count(len(more), 'more note')} on how the data was read"
        with st.expander(title, type="compact", key=f"notes-{message_id}"):
            for note in more:
                st.caption(note)


def draw_budget(budget: Any, message_id: str) -> None:
    """How much of the files went into the answer; which of which, behind a click."""
    if not budget or not budget.get("used"):
        return
    details = st.expander(
        markdown.label(words.budget(budget), 160), type="compact", key=f"budget-{message_id}", on_change="rerun"
    )
    if details.open:
        with details:
            for file in budget["files"]:
                st.caption(f"{markdown.label(file['name'], 60)} · {markdown.label(words.decision(file), 200)}")
            if budget.get("more"):
                st.caption(f"and {words.count(budget['more'], 'more file')}")


def draw_usage(usage: Any) -> None:
    """Tokens, money and time, and what inlining would have cost."""
    pieces = words.usage(usage or {})
    if pieces:
        st.caption(f":small[{markdown.label(' · '.join(pieces), 300)}]")


SOURCES_SHOWN = 6


def draw_sources(message: Message) -> None:
    """What the numbers in the text stand for, then each other place that the answer rests on, once; one click opens it.

    How a place was used stands behind a click.
    """
    cited = [found for part in message.parts if (found := citation_of(part))]
    citations.draw(cited, message.id)
    quoted = {(found["file_id"], found["place"]) for found in cited}
    uses = [use for use in sources(message.parts) if (use["file_id"], use["place"]) not in quoted]
    if not uses:
        return
    places = list({(use["file_id"], use["place"]): use for use in uses}.values())
    with st.container(horizontal=True, gap="xsmall", key=f"sources-{message.id}"):
        for number, place in enumerate(places[:SOURCES_SHOWN]):
            _draw_place(number, place, message.id)
    details = st.expander(_how_many(uses, places), type="compact", key=f"used-{message.id}", on_change="rerun")
    if details.open:
        with details:
            for use in uses:
                _draw_use(use)


def sources(parts: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The `tools.base.Source` values behind an answer, in the order of their use."""
    return [p["providerMetadata"]["leaf"] for p in parts if p["type"] == "source-document" and not citation_of(p)]


def rests_on(parts: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Every place behind an answer, the cited ones among them."""
    return [*filter(None, map(citation_of, parts)), *sources(parts)]


def _draw_place(number: int, source: Mapping[str, Any], message_id: str) -> None:
    title = markdown.label(" · ".join(filter(None, (source["name"], source["place"]))), 48)
    icon = words.name_icon(source["name"])
    if st.button(title, key=f"source-{message_id}-{number}", icon=icon, help="Open the source at this place"):
        show_preview(source["file_id"], source["place"])
        st.rerun()


def _how_many(uses: Sequence[Mapping[str, Any]], places: Sequence[Mapping[str, Any]]) -> str:
    more = len(places) - SOURCES_SHOWN
    beyond = f" ({words.count(more, 'more place')})" if more > 0 else ""
    return ("How they were used" if len(uses) > 1 else "How it was used") + beyond


ACTIONS = {
    "read": "Read",
    "found": "Found",
    "described": "Looked at the columns of",
    "queried": "Queried",
    "viewed": "Looked at",
    "computed": "Computed in Python with",
}


def _draw_use(source: Mapping[str, Any]) -> None:
    place = f", {source['place']}" if source["place"] else ""
    action = ACTIONS.get(source["action"], source["action"].capitalize())
    st.markdown(f"{markdown.label(action)} {markdown.label(source['name'] + place, 160)}")
    if source["query"] and source["action"] == "queried":
        st.code(source["query"].strip(), language="sql", wrap_lines=True)
    elif source["query"] and source["action"] == "computed":
        st.code(source["query"].strip(), language="python", wrap_lines=True)
    elif source["query"]:
        st.caption(f"Words: {markdown.label(source['query'], 200)}")
    if source["quote"]:
        st.markdown("> " + markdown.label(source["quote"], 420))


def draw_question(message: Message) -> None:
    """What was asked."""
    with st.container(key=f"bubble-{message.id}", width="content"):
        st.markdown(markdown.paragraph(answer_text(message.parts)))


def draw_came(message: Message) -> None:
    """The files and Drive folders that came with a question; pictures are seen."""
    came = data(message.parts, "files") or []
    folders = data(message.parts, "drive-folders") or []
    if not came and not folders:
        return
    with st.container(horizontal=True, horizontal_alignment="right", gap="xsmall", key=f"came-{message.id}"):
        for file in came[:12]:
            key = f"came-{message.id}-{file['fileId']}"
            if file["kind"] == "picture" and pictures.draw_thumbnail(file["fileId"], file["name"], key):
                continue
            title = markdown.label(file["name"], 40)
            if st.button(title, key=key, icon=words.kind_icon(file["kind"]), help="Open the file"):
                show_preview(file["fileId"])
                st.rerun()
        for folder in folders:
            draw_folder(folder["name"], folder["ref"], folder["files"], f"came-{message.id}-{folder['ref']}")
        if len(came) > 12:
            st.caption(f"and {len(came) - 12} more files")


def draw_folder(name: str, ref: str, files: int, key: str) -> None:
    """A folder of Drive; a click opens it on the Drive page."""
    help_text = f"Open the Drive folder ({words.count(files, 'file')})"
    if st.button(markdown.label(name, 40), key=key, icon=":material/folder:", help=help_text):
        st.switch_page(DRIVE_PAGE, query_params={"folder": ref})
