"""Which font of this machine has the letters of a picture, for the confined child that draws it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path

FOLDERS = (
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "/System/Library/Fonts",
    "/Library/Fonts",
    "C:/Windows/Fonts",
)
ENDINGS = (".ttf", ".otf", ".ttc", ".otc")
LIKELY = (
    "cjk",
    "notosans-regular",
    "dejavusans.ttf",
    "unifont",
    "droidsansfallback",
    "wqy",
    "arialuni",
    "msyh",
    "pingfang",
)
"""Fonts of many scripts, looked at first."""
MOST = 400
"""Fonts that are looked at."""
BUILT_IN = 0x0500
"""Letters below are in the renderer's own font: Latin, Greek, Cyrillic. So are these and general
punctuation."""
SIGNS = "€™←↑→↓↔∂∆∏∑−√∞∫≈≠≤≥◊"


def beyond(text: str) -> set[str]:
    """Letters and signs of a text that need a font of the machine."""
    high = {
        c for c in text if ord(c) >= BUILT_IN and not "\u2010" <= c <= "\u2044" and c not in SIGNS
    }
    return {c for c in high if unicodedata.category(c)[0] not in "ZCM"}


def best(letters: set[str]) -> tuple[str, set[str]]:
    """The family that has most of the letters, and those that it has not; empty where none has
    any."""
    best_family, missing = "", letters
    for path in _fonts():
        family, has = _read(path)
        if family and len(left := {c for c in letters if ord(c) not in has}) < len(missing):
            best_family, missing = family, left
        if not missing:
            break
    return best_family, missing


def _fonts() -> Iterator[Path]:
    paths = [
        p
        for folder in FOLDERS
        for p in sorted(Path(folder).rglob("*"))
        if p.suffix.lower() in ENDINGS
    ]

    def rank(path: Path) -> int:
        return next((i for i, part in enumerate(LIKELY) if part in path.name.lower()), len(LIKELY))

    yield from sorted(paths, key=rank)[:MOST]


def _read(path: Path) -> tuple[str, set[int]]:
    """A font's family and the letters that it has; nothing for a damaged one."""
    from fontTools.ttLib import TTFont, TTLibError

    try:
        with TTFont(path, lazy=True, fontNumber=0) as font:
            return str(font["name"].getBestFamilyName() or ""), set(font.getBestCmap() or ())
    except (TTLibError, OSError, KeyError, ValueError, AssertionError):
        return "", set()
