"""From a message to elements: what was asked, what was answered, and what the answer rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from leaf.language.text import n_, t
from leaf.shapes.part_values import newest
from leaf.shapes.parts import InstructionsData
from leaf.store.model import Message
from leaf.ui import (
    asking,
    charts,
    code,
    document_card,
    drawn,
    markdown,
    pictures,
    steps,
    words,
)
from leaf.ui.connection import DRIVE_PAGE
from leaf.ui.items import Item, answer_text, items
from leaf.ui.preview import show as show_preview
from leaf.ui.redraw import redraw
from leaf.ui.worked import worked


def draw_item(place: Any, item: Item, chat_id: str, message_id: str, *, whole: bool = False) -> Any:
    """Draw one item at the end of `place`, or instead of `place` where that is an element; the
    element that holds it now. `whole`: of an answer that is not being written any more."""
    if item.kind == "text":
        render = drawn.text_of if whole else drawn.growing
        return place.markdown(render(item.text, message_id))
    if item.kind == "code":
        return place.code(item.text, language=item.language or None, wrap_lines=True)
    if item.kind == "waiting":
        return place.markdown(t(":shimmer[Working …]"))
    if item.kind == "status":
        return place.markdown(f":orange[:material/hourglass_top: {markdown.label(item.text, 300)}]")
    if item.kind == "progress":
        return place.markdown(f":gray[:material/hourglass_top: {markdown.label(item.text, 300)}]")
    if item.kind == "note":
        return place.markdown(
            f":gray[:small[:material/unfold_less: {markdown.label(item.text, 300)}]]"
        )
    if item.kind == "step":
        return steps.draw(place, item, chat_id, message_id, whole=whole)
    if item.kind == "document":
        return document_card.draw(place, item, message_id)
    if item.kind == "writing":
        return document_card.Writing(place, item, message_id)
    if item.chart:
        holder = place.container(key=f"{item.key}-{message_id}")
        with holder:
            of = ("charts", message_id, item.key.removeprefix("chart-"))
            charts.draw(item.chart, f"vega-{item.key}-{message_id}", chat_id, of)
        return holder
    if item.kind == "figures" and item.step:
        holder = place.container(key=f"{item.key}-{message_id}")
        with holder:
            code.figures(item.step, chat_id)
        return holder
    if item.kind == "written" and item.step:
        holder = place.container(key=f"{item.key}-{message_id}", gap="xsmall")
        with holder:
            code.written(item.step, chat_id, f"{item.key}-{message_id}")
        return holder
    if item.kind == "questions":
        holder = place.container(key=f"{item.key}-{message_id}", gap="xsmall")
        with holder:
            _draw_questions(item, chat_id, message_id)
        return holder
    if item.asked:
        holder = place.container(key=f"{item.key.replace('/', '-')}-{message_id}", border=True)
        with holder:
            code.consent(item.asked, chat_id)
        return holder
    thought = place.expander(t("Thinking"), type="compact")
    thought.caption(drawn.text_of(item.text) if whole else drawn.growing(item.text))
    return thought


def _draw_questions(item: Item, chat_id: str, message_id: str) -> None:
    """Questions that a press asks."""
    st.caption(t("Questions that work here"))
    for number, question in enumerate(item.text.splitlines()):
        label = markdown.label(question.replace("`", ""), 160)
        if st.button(
            label,
            key=f"asks-{item.key}-{number}-{message_id}",
            icon=":material/north_east:",
            type="tertiary",
        ):
            asking.press(chat_id, question, message_id)


def draw_answer(message: Message, *, grew: bool = False) -> None:
    """What an answer says, its steps in one line. Where it `grew` in this tab, each item keeps its
    place among the elements, so that the browser finds it there."""
    answer_items = items(message.parts)
    work = [item for item in answer_items if item.kind in WORK]
    if len(work) < 2:
        work = []
    for item in answer_items:
        if work and item is work[0]:
            _draw_work(work, message)
        elif item not in work:
            draw_item(st, item, message.chat_id, message.id, whole=True)
        elif grew:
            st.empty()


WORK = frozenset({"step", "thought"})
"""What one line stands for when an answer is whole."""


def _draw_work(work: Sequence[Item], message: Message) -> None:
    """`4 steps · 2 queries · 1 chart`; open, the steps as they were while they ran. One that was
    opened then stays open."""
    parts = [item.step for item in work if item.step]
    failed = any(part["state"] == "output-error" for part in parts)
    opened = any(steps.is_open(item, message.id) for item in work)
    line = st.container(key=f"steps-{message.id}").expander(
        markdown.label(worked(parts) if parts else t("Thinking"), 240),
        key=f"steps-of-{message.id}",
        type="step",
        on_change="rerun",
        icon=":material/error_outline:" if failed else ":material/checklist:",
        expanded=opened,
    )
    if not line.open:
        line.caption(t("Opening …"))
        return
    for item in work:
        draw_item(line, item, message.chat_id, message.id, whole=True)


def draw_question(message: Message) -> None:
    """What was asked."""
    with st.container(key=f"bubble-{message.id}", width="content"):
        st.markdown(markdown.paragraph(answer_text(message.parts)))


def draw_came(message: Message) -> None:
    """The files and Drive folders that came with a question; pictures are seen."""
    came = newest(message.parts, "files") or []
    folders = newest(message.parts, "drive-folders") or []
    told = newest(message.parts, "instructions")
    if not came and not folders and told is None:
        return
    with st.container(
        horizontal=True, horizontal_alignment="right", gap="xsmall", key=f"came-{message.id}"
    ):
        for file in came[:12]:
            key = f"came-{message.id}-{file['fileId']}"
            if file["kind"] == "picture" and pictures.draw_thumbnail(
                file["fileId"], file["name"], key
            ):
                continue
            title = markdown.label(file["name"], 40)
            if st.button(
                title, key=key, icon=words.kind_icon(file["kind"]), help=t("Open the file")
            ):
                show_preview(file["fileId"])
                redraw()
        for folder in folders:
            draw_folder(
                folder["name"], folder["ref"], folder["files"], f"came-{message.id}-{folder['ref']}"
            )
        if len(came) > 12:
            st.caption(n_("and {n} more file", "and {n} more files", len(came) - 12))
        if told is not None:
            _draw_told(message.id, told)


def _draw_told(message_id: str, told: InstructionsData) -> None:
    """What the model was told of a project's instructions with a question."""
    if not told["text"]:
        st.caption(t("Without project instructions from here on"), width="content")
        return
    menu = st.popover(
        t("Project instructions"),
        icon=":material/rule:",
        type="tertiary",
        key=f"told-{message_id}",
        on_change="rerun",
    )
    if menu.open:
        with menu:
            st.caption(
                t("The model was told this with the question; it holds until it is changed.")
            )
            st.markdown(markdown.paragraph(told["text"]))


def draw_folder(name: str, ref: str, files: int, key: str) -> None:
    """A folder of Drive; a click opens it on the Drive page."""
    help_text = t("Open the Drive folder ({files})", files=words.count(files, "file"))
    if st.button(markdown.label(name, 40), key=key, icon=":material/folder:", help=help_text):
        st.switch_page(DRIVE_PAGE, query_params={"folder": ref})
