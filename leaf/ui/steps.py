"""One tool call as one line in plain words, with its input and its result behind a click."""

from __future__ import annotations

from typing import Any

import streamlit as st

from leaf.language import kept, problems
from leaf.language.text import t
from leaf.shapes.parts import ToolPart
from leaf.ui import code, edits, markdown, outputs, words
from leaf.ui.items import WORKING, Item
from leaf.ui.worked import reason


def draw(place: Any, item: Item, chat_id: str, message_id: str, *, whole: bool = False) -> Any:
    """Draw a step. What stands inside is made only while it is open; of a `whole` answer, its code
    can be edited and run there."""
    part = item.step
    assert part is not None
    tool = words.tool_of(part)
    key = _key(item, message_id)
    opened = item.key in st.session_state.get("opened-steps", ())
    step = place.expander(
        caption(part), key=key, type="step", on_change="rerun", icon=icon(part), expanded=opened
    )
    with step:
        if not step.open:
            st.caption(t("Opening …"))
            return step
        outputs.draw_input(tool, part.get("input") or {})
        edited = edits.of_step(part, chat_id, message_id, key) if whole else None
        if edited:
            edits.draw_editor(edited)
        if part["state"] == "output-error" and tool.replay == "cell":
            code.draw_error(str(part.get("errorText", "")))
        elif part["state"] == "output-error":
            st.caption(markdown.paragraph(problems.said(str(part.get("errorText", "")))))
        elif part["state"] == "output-available":
            outputs.draw_output(part["output"], chat_id, key)
        if edited:
            edits.draw_beside(edited)
    return step


def is_open(item: Item, message_id: str) -> bool:
    """Whether it was opened, as it was drawn last."""
    opened = item.key in st.session_state.get("opened-steps", ())
    return bool(st.session_state.get(_key(item, message_id), opened))


def _key(item: Item, message_id: str) -> str:
    return f"step-{message_id}-{item.key}"


def caption(part: ToolPart) -> str:
    """What a step says, shimmering while it runs."""
    label = markdown.label(said_of(part), 160)
    return f":shimmer[{label}]" if part["state"] in WORKING else label


def said_of(part: ToolPart) -> str:
    """`Summed revenue by region in q3_sales · 0.2 s`, in plain words."""
    state = part["state"]
    title = t(words.tool_of(part).title)
    if state in WORKING:
        return f"{title} …"
    if state == "output-error":
        why = reason(part)
        return t("{title} · did not work", title=title) + (f": {why}" if why else "")
    output = part.get("output") or {}
    taken = f" · {words.seconds(output['seconds'])}" if output.get("seconds") is not None else ""
    return words.cut(kept.said(output.get("summary") or "") or title, 140) + taken


def icon(part: ToolPart) -> str:
    if part["state"] in WORKING:
        return "spinner"
    if part["state"] == "output-error":
        return ":material/error_outline:"
    return f":material/{words.tool_of(part).icon}:"
