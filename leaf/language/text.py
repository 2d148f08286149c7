"""Texts and figures in the language in which a thread speaks; English unless it was told another.

What a catalog lacks is said in English. Values are put in after the translation and come as the
caller made them, escaped where that is needed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from gettext import NullTranslations

from leaf.language import catalogs

ENGLISH = "en"
NAMES = {"en": "English", "de": "Deutsch", "fr": "Français", "es": "Español"}
"""Language -> what it calls itself."""
SEPARATORS = {"de": (".", ","), "fr": ("\u202f", ","), "es": (".", ",")}
"""What stands between thousands and before decimals, where that is not as in English."""

_spoken: ContextVar[str] = ContextVar("leaf-language", default="")
"""Of this thread or task."""
_asked: list[Callable[[], str]] = []


def t(text: str, /, **values: object) -> str:
    """A text in the language of whoever reads it, with values in the place of their names."""
    wording = _catalog().gettext(text) if text else text
    return wording.format_map(values) if values else wording


def n_(one: str, many: str, number_of: int, /, **values: object) -> str:
    """The form that goes with a number, which is `{n}` in it."""
    wording = _catalog().ngettext(one, many, number_of)
    return wording.format_map({"n": in_digits(number_of), **values})


def forms(one: str, many: str) -> tuple[str, str]:
    """For one and for several, with the names of their values."""
    catalog = _catalog()
    return catalog.ngettext(one, many, 1), catalog.ngettext(one, many, 2)


def mark(text: str) -> str:
    """The text itself: it is translated where it is said, by `t`."""
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
    """The language of this thread."""
    spoken = _spoken.get()
    if spoken:
        return spoken
    for of_thread in _asked:
        if spoken := of_thread():
            speak(spoken)
            return spoken
    return ENGLISH


def speak(language: str) -> None:
    """This thread or task speaks it from here on."""
    _spoken.set(language)


def ask(of_thread: Callable[[], str]) -> None:
    """Whom to ask for the language of a thread that was told none; empty where it has none."""
    _asked.append(of_thread)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Within it everything is said in this language."""
    before = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(before)


_lock = threading.Lock()
_catalogs: dict[str, NullTranslations] = {ENGLISH: NullTranslations()}


def _catalog() -> NullTranslations:
    language = current()
    catalog = _catalogs.get(language)
    return catalog if catalog is not None else _loaded(language)


def _loaded(language: str) -> NullTranslations:
    """Read once a process."""
    with _lock:
        if language not in _catalogs:
            _catalogs[language] = catalogs.read(language)
        return _catalogs[language]
