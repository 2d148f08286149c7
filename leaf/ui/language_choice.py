"""The choice of the page's language, in Settings."""

from __future__ import annotations

import streamlit as st

from leaf.language.text import NAMES, t
from leaf.ui import browser
from leaf.ui.state import session

OPTIONS = ("", *NAMES)


def draw() -> None:
    """Each language by its own name; a choice loads the page anew, since its scripts speak too."""
    now = session().team.language()
    st.header(t("Language"), anchor=False)
    chosen = st.selectbox(
        t("Language of the page"),
        OPTIONS,
        OPTIONS.index(now) if now in OPTIONS else 0,
        format_func=_name,
        key=f"page-language-{now}",
        width=320,
        help=t("A model answers in the language of the question."),
    )
    if chosen != now:
        session().team.set_language(chosen)
        browser.reload()


def _name(chosen: str) -> str:
    return NAMES.get(chosen) or t("As the browser says")
