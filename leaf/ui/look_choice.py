"""The choice between light and dark, in Settings. The browser keeps it: a telephone at night needs
another one than a screen by the window."""

from __future__ import annotations

from functools import cache
from typing import Any

import streamlit as st

from leaf.language.text import t
from leaf.ui.spoken import ASSETS


def draw() -> None:
    """A choice loads the page anew, as Streamlit reads the look at the beginning of a page."""
    st.header(t("Look"), anchor=False)
    _choice()(
        key="look-choice",
        data={
            "name": t("Light or dark"),
            "looks": (
                ("System", t("As the system"), "contrast"),
                ("Light", t("Light"), "light_mode"),
                ("Dark", t("Dark"), "dark_mode"),
            ),
            "problem": t("This browser keeps nothing for Leaf, so the look stays as it is."),
        },
    )
    st.caption(t("For this browser."))


@cache
def _choice() -> Any:
    return st.components.v2.component(
        "leaf_look",
        # Room for its one line before the script has drawn it.
        html='<div class="leaf-looks" role="group" style="min-height: 2.5rem"></div>',
        css=(ASSETS / "look.css").read_text(),
        js=(ASSETS / "look.js").read_text(),
        isolate_styles=False,
    )
