"""A button that opens the palette, wherever one stands."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

ASSETS = Path(__file__).resolve().parent / "assets"
PROMPTS_ONLY = "prompts"


def button(label: str, icon: str, key: str, only: str = "") -> None:
    """On chats, files and the rest, or on saved prompts alone."""
    _button()(key=key, data={"label": label, "icon": icon, "only": only}, width="content")


@cache
def _button() -> Any:
    return st.components.v2.component(
        "leaf_palette_button",
        # Not to be seen before it has its words, and in its place all the while.
        html='<button type="button" class="leaf-palette-button" style="visibility: hidden"></button>',
        js=(ASSETS / "palette_button.js").read_text(),
        isolate_styles=False,
    )
