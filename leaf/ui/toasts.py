"""Short words at the window's corner, as `st.toast` shows them, and certainly.

What a toast speaks of is often a change that has the page drawn anew at once, and then the browser
may drop the toast before it was on the screen. So the drawings right after it give it once more: one
that is on the screen already is not shown twice.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import streamlit as st

AGAIN = 2.5
"""Seconds in which a drawing gives it again; less than a toast stays on the screen."""
KEY = "toasts"


@dataclass(frozen=True)
class Toast:
    """One that was shown, or should have been."""

    text: str
    icon: str
    until: float
    """`time.monotonic()`."""


def toast(text: str, icon: str) -> None:
    """Show these words, in Markdown, for four seconds."""
    shown = Toast(text, icon, time.monotonic() + AGAIN)
    st.session_state[KEY] = [*_recent(), shown]
    st.toast(text, icon=icon)


def again() -> None:
    """At the start of each drawing of a page."""
    recent = _recent()
    if KEY in st.session_state:
        st.session_state[KEY] = recent
    for shown in recent:
        st.toast(shown.text, icon=shown.icon)


def _recent() -> list[Toast]:
    now = time.monotonic()
    return [shown for shown in st.session_state.get(KEY, ()) if shown.until > now]
