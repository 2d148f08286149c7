"""What somebody typed, as words and phrases; text as it is indexed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

MOST_TERMS = 24
_CJK_RANGES = (
    "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
)
_CJK = re.compile(f"([{_CJK_RANGES}])")
_MARKS = "\u0300-\u036f"
_WORD = re.compile(
    f"[{_CJK_RANGES}]|(?:(?![{_CJK_RANGES}])[^\\W_])(?:(?![{_CJK_RANGES}])(?:[^\\W_]|[{_MARKS}]))*"
)


@dataclass(frozen=True)
class Term:
    """A word, or words that stand side by side: a quoted phrase, or what a mark divides, as in
    `Q3-2024`."""

    text: str
    quoted: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """As the index has them."""
        return tuple(word for _, _, word in tokens(self.text))


def parse(query: str) -> list[Term]:
    """Words and "phrases" of what somebody typed; everything that is neither, operators included,
    is left out."""
    terms: list[Term] = []
    for phrase, word in re.findall(r'["“„«]([^"“”„«»]+)["”“»]|([^\s\0"“”„«»]+)', query):
        text = " ".join(
            "".join(
                c if c.isalnum() or unicodedata.category(c) == "Mn" else " " for c in phrase or word
            ).split()
        )
        if text and text not in ("AND", "OR", "NOT", "NEAR"):
            terms.append(Term(text, quoted=bool(phrase)))
    return list(dict.fromkeys(terms))[:MOST_TERMS]


def spaced(text: str) -> str:
    """Text as it is indexed: folded, and characters of scripts that put no blanks between words are
    words of their own."""
    return _CJK.sub(r" \1 ", fold(text.replace("\0", " ")))


def tokens(text: str) -> Iterator[tuple[int, int, str]]:
    """The words of a text as the index has them, each with the place where it begins and ends."""
    for found in _WORD.finditer(fold(text)):
        word = found.group()
        yield (
            found.start(),
            found.end(),
            word if word.isalnum() else re.sub(f"[{_MARKS}]", "", word),
        )


def fold(text: str) -> str:
    """Lower case without accents, character for character, so that places in it are places in the
    text: an index is made of it.

    Names and what people type beside them are compared by `names.fold`.
    """
    return text.lower() if text.isascii() else text.translate(_FOLDED)


class _Folded(dict[int, str]):
    """Character -> what it is without its accent, for `str.translate`; made as characters are
    met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = folded = (
            (unicodedata.normalize("NFKD", character).lower() or character)[0]
            if code > 127
            else character.lower()
        )
        return folded


_FOLDED = _Folded(
    {ord("ς"): "σ", ord("Σ"): "σ", **{code: chr(code) for code in range(0xAC00, 0xD7B0)}}
)
"""A syllable of Hangul is kept whole: its parts are no accents."""
