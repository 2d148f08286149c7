"""What somebody typed, as words and phrases; text as it is indexed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

MOST_TERMS = 24
_UNSPACED_BLOCKS = (
    ("\u0e00", "\u0eff"), ("\u1000", "\u109f"), ("\u1780", "\u17ff"), ("\u2e80", "\u2fdf"),
    ("\u3005", "\u3007"), ("\u3040", "\u30ff"), ("\u3400", "\u4dbf"), ("\u4e00", "\u9fff"),
    ("\uac00", "\ud7af"), ("\uf900", "\ufaff"),
)  # fmt: skip
"""Thai, Lao, Burmese, Khmer, Chinese, Japanese, Korean."""
_BESIDE = "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u17b4-\u17d3"
"""Vowels and tones above, below and beside the letters of those scripts, which the index leaves
out."""
_UNSPACED_RANGES = "".join(f"{first}-{last}" for first, last in _UNSPACED_BLOCKS)
_UNSPACED = re.compile(f"([{_UNSPACED_RANGES}])")
SOFT_HYPHEN = "\u00ad"
"""Says where a word may be divided, and is not seen: no part of it."""
_UNREAD = (
    f"{SOFT_HYPHEN}\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed"
)
"""What may stand within a word and is no letter of it: that hyphen, the points and vowel signs of
Hebrew and Arabic, and the line that stretches Arabic letters."""
_MARKS = f"\u0300-\u036f{_UNREAD}"
_ONE = f"(?![{_BESIDE}])[{_UNSPACED_RANGES}]"
_RUN = (
    f"(?:(?![{_UNSPACED_RANGES}{_UNREAD}])[^\\W_])"
    f"(?:(?![{_UNSPACED_RANGES}])(?:[^\\W_]|[{_MARKS}]))*"
)
_WORD = re.compile(f"{_ONE}|{_RUN}")
_END_OF_LINE = f"[-{SOFT_HYPHEN}\u2010\u2011][ \\t]*\\r?\\n[ \\t]*"
"""A hyphen at a line's end; the next line may be indented."""
_LINE_END = re.compile(_END_OF_LINE)
_DIVIDED = re.compile(f"({_RUN}){_END_OF_LINE}({_RUN})")
_ALIKE = {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ı": "i"}
"""Letters whose stroke is no accent to Unicode: who has no such key types the plain one."""
_SEVERAL = {"æ": "ae", "œ": "oe", "þ": "th"}


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
    folded = _UNSPACED.sub(r" \1 ", " ".join([folded, *whole]))
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
    plain = (unicodedata.normalize("NFKD", character).lower() or character)[0]
    return _ALIKE.get(plain, plain)


def _letters(character: str) -> str:
    """What a character stands for, if that is several letters, small and without accents: `fi` of
    `ﬁ`, `ss` of `ß`, `tm` of `™`; else empty."""
    plain = unicodedata.normalize("NFKD", character).casefold()
    letters = "".join(_SEVERAL.get(c, c) for c in plain if not unicodedata.combining(c))
    return letters if letters[1:] and letters.isalnum() else ""


_NO_LETTER = re.compile(f"[{_UNREAD}]")


class _Spelt(dict[int, str]):
    """Ligature -> its letters, what is no letter of its word -> nothing, all else as it is."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        letters = _letters(character) if character.isalnum() else ""
        self[code] = spelt = "" if _NO_LETTER.match(character) else letters or character
        return spelt


_FOLDED = _Folded(
    {ord("ς"): "σ", ord("Σ"): "σ", **{code: chr(code) for code in range(0xAC00, 0xD7B0)}}
)
"""A syllable of Hangul is kept whole: its parts are no accents."""
_SPELT = _Spelt({code: chr(code) for code in range(0xAC00, 0xD7B0)})
