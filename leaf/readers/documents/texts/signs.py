"""Signs of a plain text that take no place of their own on a screen, as accents apart from their letters
and vowels of Thai and Hindi, or that take two. In a line whose places are columns one sign stands for a
letter with what belongs to it, and none is lost."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from threading import Lock

FILLER = "\ue000"
"""Stands behind a sign that is two columns wide on a screen, so that places in a line are columns."""
_FIRST, _LAST = 0x100000, 0x10FFFD
"""Signs without a meaning, each for a letter with what belongs to it."""
_MOST_KNOWN = 30_000
_LONGEST = 64
_JOINERS = "\u200c\u200d"
_DRAWN = re.compile(r"[\s!-/:-@\[-`{-~\u2500-\u257f]")
"""Blanks and what draws a table: these carry no other sign."""
_MARKED = (range(0x300, 0x1F000), range(0xE0100, 0xE01F0))
"""Where signs without a place stand in Unicode."""


class _Letters:
    """Which sign stands for which letter with what belongs to it."""

    def __init__(self) -> None:
        self._signs = dict[str, str]()
        self._texts = dict[int, str]()
        self._lock = Lock()

    def sign(self, text: str) -> str:
        """One sign for a text; the text itself where it is too long or too many are known."""
        with self._lock:
            place = _FIRST + len(self._signs)
            sign = self._signs.get(text)
            if sign is None and len(text) > 1 and place - _FIRST >= _MOST_KNOWN:
                return text
            if sign is None and (len(text) > _LONGEST or place > _LAST):
                return text
            if sign is None:
                sign = self._signs[text] = chr(place)
                self._texts[place] = text
        return sign

    def text(self, line: str) -> str:
        """A line with what its signs stand for."""
        return line.translate(self._texts) if ord(max(line, default=" ")) >= _FIRST else line


_LETTERS = _Letters()


class _Places(dict[int, str]):
    """What stands for a sign alone in a line whose places are columns."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        if unicodedata.east_asian_width(sign) in "WF":
            text = sign + FILLER
        else:
            text = _LETTERS.sign(sign) if sign == FILLER or _FIRST <= code <= _LAST else sign
        self[code] = text
        return text


_PLACES = _Places()


def in_columns(line: str) -> str:
    """A line with a place for each column of the screen."""
    if line.isascii():
        return line
    line, marks = line.translate(_PLACES), _marks()
    if marks.isdisjoint(line):
        return line
    letters = list[str]()
    for sign in line:
        at = len(letters) - (2 if letters[-1:] == [FILLER] else 1)
        if sign in marks and at >= 0 and not _DRAWN.match(letters[at]):
            letters[at] += sign
        else:
            letters.append(sign)
    return "".join(letter if len(letter) == 1 else _as_one(letter) for letter in letters)


def as_written(text: str) -> str:
    """A piece of such a line as its file has it."""
    return text if text.isascii() else _LETTERS.text(text.replace(FILLER, ""))


def _as_one(letter: str) -> str:
    return _LETTERS.sign(_LETTERS.text(letter))


@cache
def _marks() -> frozenset[str]:
    """Signs that take no place."""
    signs = (chr(code) for codes in _MARKED for code in codes)
    return frozenset(_JOINERS).union(
        sign
        for sign in signs
        if unicodedata.category(sign) in ("Mn", "Me") or unicodedata.combining(sign)
    )
