"""What scripts of the page say: they get the translations of their own texts with their data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from leaf.language.text import ENGLISH, current, forms, speaking, t

ASSETS = Path(__file__).resolve().parent / "assets"
PRELUDE = (ASSETS / "spoken.js").read_text(encoding="utf-8")
"""Stands before each script that speaks."""
SCRIPTS = (
    "chooser.js",
    "live.js",
    "lost.js",
    "palette.js",
    "uploads_given.js",
    "uploads_rows.js",
    "uploads.js",
    "unconnected.js",
)
"""Those that speak, of the assets."""
_TEXT = r'"((?:[^"\\]|\\.)*)"'
_TEXTS = re.compile(rf"\b(?:t|mark)\(\s*{_TEXT}|\bn_\({_TEXT},\s*{_TEXT}")


def texts(script: str) -> Iterator[tuple[str, str]]:
    """The texts of a script in English, the second of each for more than one of something, or
    empty."""
    for match in _TEXTS.finditer(script):
        text, one, many = match.groups()
        yield (one, many) if text is None else (text, "")


def spoken(*scripts: str) -> dict[str, object]:
    """For the data of a component with these scripts."""
    language = current()
    return {"language": language, "said": _said(language, scripts)}


@cache
def _said(language: str, scripts: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Tuples: to see whether a dict is a table Streamlit would load pandas."""
    if language == ENGLISH:
        return ()
    translations: dict[str, str] = {}
    with speaking(language):
        for one, many in (pair for script in scripts for pair in texts(script)):
            if many:
                translations[one], translations[many] = forms(one, many)
            else:
                translations[one] = t(one)
    return tuple(translations.items())
