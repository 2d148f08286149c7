"""What stands around every page: the small style sheet, and the page that is shown when Leaf cannot
start."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from leaf.errors import LeafError, SettingsError, StoreBusyError
from leaf.ui import markdown


def style(sheet: Path) -> None:
    """The style sheet, with the colours of the theme that this browser shows.

    Styles alone Streamlit puts among the events, in the order in which a run gives them, where the
    toast of a callback comes first and takes their place until the script gives them again, or for
    good where the run is a fragment's. With an empty element beside them they stand in the page;
    the sheet hides it.
    """
    theme = "dark" if st.context.theme.type == "dark" else "light"
    paper = st.get_option(f"theme.{theme}.backgroundColor")
    quiet = st.get_option(f"theme.{theme}.secondaryBackgroundColor")
    st.html(
        f"<style>:root {{ --leaf-paper: {paper}; --leaf-quiet: {quiet}; "
        f"}}\n{sheet.read_text()}</style><span></span>"
    )


def draw_not_ready(problem: LeafError) -> None:
    """Why there is nothing to see, and what to do."""
    titles = {StoreBusyError: "Leaf is open elsewhere", SettingsError: "Leaf is not set up yet"}
    st.title(titles.get(type(problem), "Leaf cannot start"), anchor=False)
    st.markdown(markdown.paragraph(problem.message))
    if problem.hint:
        st.markdown(markdown.paragraph(problem.hint))
    if st.button("Try again", type="primary", icon=":material/refresh:"):
        st.rerun()
