"""In which language the page speaks to whoever looks at it: their own choice, else their browser's,
else English. What it says: `leaf/language`.
"""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.scriptrunner_utils.script_run_context import get_script_run_ctx

from leaf.language.text import ENGLISH, NAMES, ask, speak

KEY = "language"
CHOSEN = "language-chosen"
"""The person's choice, in the state of the session once it was read; empty: as the browser says."""


def begin() -> None:
    """At the start of each drawing: what is known of this session's language so far."""
    language = st.session_state.get(CHOSEN) or of_browser()
    speak(language)
    if st.session_state.get(KEY) != language:
        st.session_state[KEY] = language


def follow(chosen: str) -> None:
    """The person's choice, read once a session; empty for what their browser says."""
    st.session_state[CHOSEN] = chosen if chosen in NAMES else ""
    begin()


def is_known() -> bool:
    """Whether the person's choice was read in this session."""
    return CHOSEN in st.session_state


def _of_session() -> str:
    """In a fragment, which has a thread of its own that draws for one session alone."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return ""
    return str(st.session_state.get(KEY) or ENGLISH)


ask(_of_session)


def of_browser() -> str:
    """The first language of the browser's list that there is."""
    return best(str(st.context.headers.get("Accept-Language") or st.context.locale or ""))


def best(accepted: str) -> str:
    """Of an Accept-Language header the language that is wanted most and that there is; English
    where there is none."""
    wanted: list[tuple[float, str]] = []
    for entry in accepted[:400].split(","):
        name, _, quality = entry.partition(";")
        language = name.strip().lower().replace("_", "-").partition("-")[0]
        if language in NAMES:
            wanted.append((-_share(quality), language))
    return min(wanted, key=lambda one: one[0])[1] if wanted else ENGLISH


def _share(quality: str) -> float:
    try:
        return float(quality.strip().removeprefix("q="))
    except ValueError:
        return 1.0
