"""Which messages of a chat are drawn: the newest, and earlier ones as they are asked for.

Drawing costs by the element, so a chat of a year opens as fast as one of a day. The first message
that is drawn stays the first while questions are asked: if it moved with each, every element would
hold another message, and the browser would draw them all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from leaf.errors import LeafError
from leaf.language.text import t
from leaf.store.model import Chat, Thread
from leaf.ui.redraw import redraw
from leaf.ui.state import session

DRAWN = 12
"""Messages that are drawn at first."""
MORE = 24
"""Messages that each "Earlier messages" adds."""
MOST = 28
"""Messages that are drawn at most while nobody reads back; then those above `DRAWN` stand behind
"Earlier messages" again."""
KEY = "shown-from"


@dataclass(frozen=True)
class DrawnWindow:
    """The first message that is drawn of a chat."""

    chat_id: str
    first: str
    back: bool = False
    """Whether somebody reads back: then nothing is taken away."""
    led_to: str = ""
    """The message to which a link led."""


def load(chat: Chat | None, message_id: str = "") -> Thread | None:
    """The end of the chat, as far back as was asked for; with the message to which a link leads and
    what was asked before it."""
    if chat is None:
        return None
    known: DrawnWindow | None = st.session_state.get(KEY)
    window = known if known and known.chat_id == chat.id else DrawnWindow(chat.id, "")
    if message_id and message_id != window.led_to:
        window = DrawnWindow(chat.id, _before(chat.id, message_id), back=True, led_to=message_id)
    thread = session().chats.thread(chat.id, last=DRAWN, first=window.first)
    if len(thread.messages) > MOST and not window.back:
        thread = session().chats.thread(chat.id, last=DRAWN)
    st.session_state[KEY] = replace(window, first=thread.messages[0].id if thread.messages else "")
    return thread


def _before(chat_id: str, message_id: str) -> str:
    """The question of an answer, and the message itself where it is one or is not to be seen."""
    try:
        message = session().messages.get(message_id)
    except LeafError:
        return ""
    answers = message.chat_id == chat_id and message.role == "assistant"
    return message.parent_id if answers else message_id


def draw(thread: Thread) -> None:
    """How many messages lie before those that are drawn, and the way to them."""
    if not thread.earlier:
        return
    label = t("Earlier messages ({earlier})", earlier=thread.earlier)
    if st.button(
        label, key="load-earlier", type="tertiary", icon=":material/expand_less:", width="stretch"
    ):
        chat_id = thread.messages[0].chat_id
        more = session().chats.thread(chat_id, last=len(thread.messages) + MORE)
        window = st.session_state.get(KEY) or DrawnWindow(chat_id, "")
        st.session_state[KEY] = replace(window, first=more.messages[0].id, back=True)
        redraw()


def forget() -> None:
    """Another chat is opened: its end is drawn."""
    st.session_state.pop(KEY, None)


def follow() -> None:
    """Something was asked: its end is looked at, and what was read back may go."""
    known: DrawnWindow | None = st.session_state.get(KEY)
    if known is not None:
        st.session_state[KEY] = replace(known, back=False)
