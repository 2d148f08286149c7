"""What a person writes about a file, and who may read it."""

from __future__ import annotations

import streamlit as st

from leaf.errors import LeafError
from leaf.ui import markdown
from leaf.ui.state import session

LONGEST = 1_000
"""Characters that can be written about a file."""


@st.dialog("About this file")
def write(file_id: str, name: str, chat_id: str = "") -> None:
    """Ask for words about a file. Those written in a chat are for all who take part in it."""
    said, shared = session().files.words(file_id)
    readers = "Those who take part in this chat can read it" if chat_id else "Only you can read it"
    st.markdown(
        f"Where **{markdown.label(name, 80)}** is from, what its columns mean, what to watch for. "
        f"The analyst reads it too."
    )
    with st.form("about-file", border=False):
        words = st.text_area("Your words", value=said, max_chars=LONGEST, key="about-words")
        share = st.checkbox(
            "Share with everybody in the workspace", value=shared, key="about-shared"
        )
        st.caption(f"{readers}, unless you share it.")
        if st.form_submit_button("Keep", type="primary"):
            try:
                session().files.set_words(file_id, words or "", chat_id=chat_id, shared=share)
            except LeafError as e:
                st.warning(markdown.paragraph(str(e)))
            else:
                st.rerun()
