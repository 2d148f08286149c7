"""An idle tab notices what another tab did."""

from __future__ import annotations

import streamlit as st

from leaf.ui.state import session

PERIOD = 3.0
"""Seconds between two looks, counted by the browser."""


def watch() -> None:
    """Remember how things stand now; the page is drawn again when they change."""
    st.session_state["revision"] = session().revision()
    _look()


@st.fragment(run_every=PERIOD)
def _look() -> None:
    if st.session_state.get("revision") != session().revision():
        st.rerun()
