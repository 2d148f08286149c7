"""What a person writes about a file, and who may read it."""

from __future__ import annotations

import streamlit as st

from leaf.errors import LeafError
from leaf.language.problems import told
from leaf.language.text import t
from leaf.ui import markdown
from leaf.ui.dialogs import dialog
from leaf.ui.redraw import redraw
from leaf.ui.state import session

LONGEST = 1_000
"""Characters that can be written about a file."""


@dialog("About this file")
def write(file_id: str, name: str, chat_id: str = "") -> None:
    """Ask for words about a file. Those written in a chat are for all who take part in it."""
    description, shared = session().files.words(file_id)
    readers = (
        t("Those who take part in this chat can read it") if chat_id else t("Only you can read it")
    )
    st.markdown(
        t(
            "Where **{name}** is from, what its columns mean, what to watch for. The "
            "analyst reads it too.",
            name=markdown.label(name, 80),
        )
    )
    with st.form("about-file", border=False):
        words = st.text_area(
            t("Your words"), value=description, max_chars=LONGEST, key="about-words"
        )
        share = st.checkbox(
            t("Share with everybody in the workspace"), value=shared, key="about-shared"
        )
        st.caption(t("{readers}, unless you share it.", readers=readers))
        if st.form_submit_button(t("Keep"), type="primary"):
            try:
                session().files.set_words(file_id, words or "", chat_id=chat_id, shared=share)
            except LeafError as e:
                st.warning(markdown.paragraph(told(e)))
            else:
                redraw()
