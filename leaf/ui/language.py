"""The language in which the page speaks to whoever looks at it: their own choice, else their browser's,
else English.

What a person reads is written in English where it is drawn, as `t("Search chats")`; the other
languages stand in `locales/<language>/leaf.po`, in gettext's form. What a catalog lacks is shown in
English. Values are put in after the translation and come as the caller made them, escaped where that
is needed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from gettext import NullTranslations

import streamlit as st
from streamlit.runtime.scriptrunner_utils.script_run_context import get_script_run_ctx

from leaf.ui import catalogs

ENGLISH = "en"
NAMES = {"en": "English", "de": "Deutsch", "fr": "Français", "es": "Español"}
"""Language -> what it calls itself."""
KEY = "language"
CHOSEN = "language-chosen"
"""The person's choice, in the state of the session once it was read; empty: as the browser says."""
SEPARATORS = {"de": (".", ","), "fr": ("\u202f", ","), "es": (".", ",")}
"""What stands between thousands and before decimals, where that is not as in English."""

_spoken: ContextVar[str] = ContextVar("leaf-language", default="")
"""Of this thread or task. A thread of Streamlit's draws for one session alone."""


def t(text: str, /, **values: object) -> str:
    """A text of the page in the language of whoever sees it, with values in the place of their
    names."""
    found = _catalog().gettext(text) if text else text
    return found.format_map(values) if values else found


def n_(one: str, many: str, number_of: int, /, **values: object) -> str:
    """The form that goes with a number, which is `{n}` in it."""
    found = _catalog().ngettext(one, many, number_of)
    return found.format_map({"n": in_digits(number_of), **values})


def forms(one: str, many: str) -> tuple[str, str]:
    """For one and for several, with the names of their values."""
    catalog = _catalog()
    return catalog.ngettext(one, many, 1), catalog.ngettext(one, many, 2)


def mark(text: str) -> str:
    """The text itself: it is translated where it is drawn, by `t`."""
    return text


def in_digits(value: float) -> str:
    """`1,204`, as the language writes it."""
    return separated(f"{value:,}")


def separated(figure: str) -> str:
    """A figure that was written in English."""
    thousands, decimals = SEPARATORS.get(current(), (",", "."))
    if thousands == ",":
        return figure
    return figure.translate({ord(","): thousands, ord("."): decimals})


def current() -> str:
    """The language of whoever this thread draws for."""
    spoken = _spoken.get()
    if spoken or get_script_run_ctx(suppress_warning=True) is None:
        return spoken or ENGLISH
    spoken = str(st.session_state.get(KEY) or ENGLISH)  # a fragment, in a thread of its own
    _spoken.set(spoken)
    return spoken


def begin() -> None:
    """At the start of each drawing: what is known of this session's language so far."""
    _speak(st.session_state.get(CHOSEN) or of_browser())


def follow(chosen: str) -> None:
    """The person's choice, read once a session; empty for what their browser says."""
    st.session_state[CHOSEN] = chosen if chosen in NAMES else ""
    begin()


def is_known() -> bool:
    """Whether the person's choice was read in this session."""
    return CHOSEN in st.session_state


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Within it everything is said in this language, for what is drawn outside of a page's script."""
    before = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(before)


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


def _speak(language: str) -> None:
    _spoken.set(language)
    if st.session_state.get(KEY) != language:
        st.session_state[KEY] = language


_lock = threading.Lock()
_catalogs: dict[str, NullTranslations] = {ENGLISH: NullTranslations()}


def _catalog() -> NullTranslations:
    language = current()
    found = _catalogs.get(language)
    return found if found is not None else _loaded(language)


def _loaded(language: str) -> NullTranslations:
    """Read once a process."""
    with _lock:
        if language not in _catalogs:
            _catalogs[language] = catalogs.read(language)
        return _catalogs[language]
