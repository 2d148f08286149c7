"""A chat: questions and answers from top to bottom, the composer below, a preview beside."""

import streamlit as st

from leaf.errors import LeafError
from leaf.language.text import t
from leaf.ui import (
    browser,
    composer,
    earlier,
    exports,
    links,
    overview,
    people,
    reading,
    suggested,
    thread,
    welcome,
)
from leaf.ui.controls import say_problem
from leaf.ui.state import session

try:
    chat = session().chats.get(st.query_params["chat"]) if "chat" in st.query_params else None
except LeafError:
    if links.draw_door(st.query_params["chat"]):
        say_problem()
        st.stop()
    st.warning(
        t(
            "This link leads to a chat that was deleted or is not shared with you. "
            "Here is a new one."
        ),
        icon=":material/link_off:",
    )
    browser.clean_address("chat", "message", gone=True)
    chat = None
if chat is not None and chat.title:
    st.set_page_config(page_title=f"{chat.title} · Leaf")

people.draw(chat)
message_id = st.query_params.get("message", "")
shown = earlier.load(chat, message_id)
composer.draw(chat, thread.running_id(shown))
reading.draw(chat, shown, message_id)

if shown is None or not shown.messages:
    welcome.draw(chat)
else:
    thread.draw_thread(shown, shared=chat is not None and chat.shared)
    if chat is not None and not thread.running_id(shown):
        below = suggested.place(shown.messages)
        exports.draw_end(chat.id)
        suggested.draw_follow_ups(below, chat, shown.messages[-1])
        overview.draw([f.file for f in session().attached.list(chat.id) if not f.message_id])
