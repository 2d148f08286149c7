"""What stands around every page: the small style sheet, and the page that is shown when Leaf cannot
start."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from leaf.errors import LeafError, SettingsError, StoreBusyError
from leaf.language.problems import said
from leaf.language.text import t
from leaf.ui import markdown
from leaf.ui.redraw import redraw

COLOURS = {
    "paper": "backgroundColor",
    "quiet": "secondaryBackgroundColor",
    "blue": "blueTextColor",
    "green": "greenTextColor",
    "orange": "orangeTextColor",
    "red": "redTextColor",
    "gray": "grayTextColor",
}
"""What the style sheet calls the theme's colours."""
ON_PRIMARY = "light-dark(#FFFFFF, #0D1210)"
"""What is written on buttons in the theme's first colour. Streamlit writes white on it, which the
dark theme's light green leaves at a contrast of 2.3."""


def style(sheet: Path) -> None:
    """The style sheet, with the colours of the theme that this browser shows.

    Styles alone Streamlit puts among the events, in the order in which a run gives them, where the
    toast of a callback comes first and takes their place until the script gives them again, or for
    good where the run is a fragment's. With an empty element beside them they stand in the page;
    the sheet hides it.
    """
    theme = "dark" if st.context.theme.type == "dark" else "light"
    named = "; ".join(f"--leaf-{name}: {_both(option)}" for name, option in COLOURS.items())
    st.html(
        f"<style>:root {{ color-scheme: {theme}; {named}; --leaf-on-primary: {ON_PRIMARY}; }}\n"
        f"{sheet.read_text()}</style><span></span>"
    )


def _both(option: str) -> str:
    """A colour of both themes, of which the browser takes the one that it shows: no script runs
    when the system goes dark in the evening."""
    light, dark = (st.get_option(f"theme.{theme}.{option}") for theme in ("light", "dark"))
    return f"light-dark({light}, {dark})"


def draw_not_ready(problem: LeafError) -> None:
    """Why there is nothing to see, and what to do."""
    titles = {
        StoreBusyError: t("Leaf is open elsewhere"),
        SettingsError: t("Leaf is not set up yet"),
    }
    st.title(titles.get(type(problem), t("Leaf cannot start")), anchor=False)
    st.markdown(markdown.paragraph(said(problem.message)))
    if problem.hint:
        st.markdown(markdown.paragraph(said(problem.hint)))
    if st.button(t("Try again"), type="primary", icon=":material/refresh:"):
        redraw()
