"""What the browser keeps of the place that one reads in a chat: a chat opens at its end and follows
it, one's own question goes to the top of the window with its answer growing below, so does the
message to which a link leads, and whoever scrolls away stays until the button that leads back is
pressed. What was sent is repeated above the composer until it is drawn. The doings stand in
`ui/assets/reading.js`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from leaf.language.text import mark, t
from leaf.store.model import Chat, Message, Thread
from leaf.ui.waiting import UNFINISHED

ASSETS = Path(__file__).resolve().parent / "assets"
KEY = "asked-last"
TO_END = mark("To the end of the chat")
NEWS = mark("New answer")


def draw(chat: Chat | None, shown: Thread | None, message_id: str = "") -> None:
    """Once a drawing of the chat page, wherever it stands; `message_id` is the one to which the
    page's address leads."""
    number, question_id = st.session_state.get(KEY, (0, ""))
    data = {
        "chat": chat.id if chat else "",
        "asked": number,
        "question": question_id,
        "target": message_id,
        "newest": _newest(shown),
        "news": t(NEWS),
        "end": t(TO_END),
    }
    with st.container(key="reading-place"):
        _component()(key="leaf-reading", data=data)


def _newest(shown: Thread | None) -> str:
    """What there is to read at the end: whoever comes back to something newer begins there."""
    if shown is None or not shown.messages:
        return ""
    last = shown.messages[-1]
    return f"{last.id} grows" if last.status in UNFINISHED else last.id


def asked(answer: Message) -> None:
    """In this tab, just now: its question is what one looks at next."""
    number, _ = st.session_state.get(KEY, (0, ""))
    st.session_state[KEY] = (number + 1, answer.parent_id or "")


@cache
def _component() -> Any:
    return st.components.v2.component(
        "leaf_reading",
        html=(
            f'<button type="button" class="leaf-to-end" aria-label="{TO_END}" title="{TO_END}" '
            'hidden><span aria-hidden="true">↓</span><span></span></button>'
            '<div class="leaf-echo" aria-hidden="true" hidden><div></div></div>'
        ),
        css=(ASSETS / "reading.css").read_text(),
        js="\n".join((ASSETS / name).read_text() for name in ("reading_kept.js", "reading.js")),
        isolate_styles=False,
    )
