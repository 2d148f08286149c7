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
SOFT_HYPHEN = "\u00ad"
"""Says where a word may be divided, and is not seen: no part of it."""
_MARKS = f"\u0300-\u036f{SOFT_HYPHEN}"
_RUN = f"(?:(?![{_CJK_RANGES}])[^\\W_])(?:(?![{_CJK_RANGES}])(?:[^\\W_]|[{_MARKS}]))*"
_WORD = re.compile(f"[{_CJK_RANGES}]|{_RUN}")
_HYPHENS = "-\u2010\u2011"
_LINE_END = re.compile(f"[{_HYPHENS}]\\r?\\n")
_DIVIDED = re.compile(f"({_RUN})[{_HYPHENS}]\\r?\\n({_RUN})")


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
    query = query.replace(SOFT_HYPHEN, "")
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
    """Text as it is indexed: folded, ligatures as their letters, and characters of scripts that put
    no blanks between words are words of their own. Behind it all the words that a line's end has
    divided stand whole."""
    folded = fold(text.replace("\0", " "))
    whole = [match[1] + match[2] for match in _divided(text, folded)]
    folded = _CJK.sub(r" \1 ", " ".join([folded, *whole]))
    return folded if folded.isascii() else folded.translate(_SPELT)


def tokens(text: str) -> Iterator[tuple[int, int, str]]:
    """The words of a text as the index has them, each with the place where it begins and ends."""
    folded = fold(text)
    for match in _WORD.finditer(folded):
        yield match.start(), match.end(), _spelt(match[0])
    for match in _divided(text, folded):
        yield match.start(), match.end(), _spelt(match[1] + match[2])


def _spelt(word: str) -> str:
    return word if word.isascii() else re.sub(f"[{_MARKS}]", "", word.translate(_SPELT))


def _divided(text: str, folded: str) -> Iterator[re.Match[str]]:
    """The two parts of each word that a hyphen and a line's end divide. What goes on with a capital
    has a hyphen of its own: `Baden-Württemberg`."""
    if _LINE_END.search(text):
        for match in _DIVIDED.finditer(folded):
            if text[match.start(2)].islower():
                yield match


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
        self[code] = folded = _folded(chr(code))
        return folded


def _folded(character: str) -> str:
    """One that stands for several letters stays: a ligature is spelt out where places do not matter,
    and a sign such as `™` is part of no word."""
    if character.isascii():
        return character.lower()
    if _letters(character):
        return character
    return (unicodedata.normalize("NFKD", character).lower() or character)[0]


def _letters(character: str) -> str:
    """What a character stands for, if that is several letters, small and without accents: `fi` of
    `ﬁ`, `tm` of `™`; else empty."""
    plain = unicodedata.normalize("NFKD", character).lower()
    letters = "".join(c for c in plain if not unicodedata.combining(c))
    return letters if letters[1:] and letters.isalnum() else ""


class _Spelt(dict[int, str]):
    """Ligature -> its letters, a soft hyphen -> nothing, all else as it is."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = spelt = (_letters(character) if character.isalnum() else "") or character
        return spelt


_FOLDED = _Folded(
    {ord("ς"): "σ", ord("Σ"): "σ", **{code: chr(code) for code in range(0xAC00, 0xD7B0)}}
)
"""A syllable of Hangul is kept whole: its parts are no accents."""
_SPELT = _Spelt({ord(SOFT_HYPHEN): "", **{code: chr(code) for code in range(0xAC00, 0xD7B0)}})
