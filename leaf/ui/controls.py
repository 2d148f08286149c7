"""Controls that show only an icon, with a name for those who do not see it: the style sheet hides the label from the eye."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st


def icon_button(name: str, key: str, icon: str, disabled: bool = False) -> bool:
    """A quiet button. `name` says what it does, to screen readers and on hover."""
    return st.button(name, key=f"icon-{key}", icon=f":material/{icon}:", type="tertiary", help=name, disabled=disabled)


def icon_menu(name: str, options: Sequence[str], key: str, icon: str = "more_horiz") -> str | None:
    """A quiet menu; what was chosen just now, or None."""
    return st.menu_button(name, options, key=f"icon-{key}", icon=f":material/{icon}:", type="tertiary", help=name)
