"""A chat: questions and answers from top to bottom, the composer below, a preview beside."""

import streamlit as st

from leaf.errors import LeafError
from leaf.ui import composer, exports, markdown, people, thread, welcome
from leaf.ui.state import session

try:
    chat = session().chats.get(st.query_params["chat"]) if "chat" in st.query_params else None
except LeafError as problem:
    st.warning(markdown.paragraph(f"{problem} It may have been deleted. This is a new chat."))
    del st.query_params["chat"]
    chat = None

people.draw(chat)
shown = thread.load(chat)
composer.draw(chat, thread.running_id(shown))

if shown is None or not shown.messages:
    welcome.draw(chat)
else:
    thread.draw_thread(shown, shared=chat is not None and chat.shared)
    if chat is not None and not thread.running_id(shown):
        exports.draw_end(chat.id, chat.title)
