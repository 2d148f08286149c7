"""Finding quoted words in a text. Pure.

What is compared are the words: letters without regard to case, accents, ligatures, and the spaces,
hyphens, quotation marks and Markdown between them, so that a word divided at a line's end is the
same word. Figures are compared exactly: their signs, decimal marks, percent and currency signs
count, and a match begins and ends at whole figures and words, so that 10 is never found in 100,
10.5 or -10, nor 1,234 in (1,234). Nothing is ever guessed: one other word, and the quote is not found.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Scripts that put no blanks between words (Korean does, but with endings attached): each character
is a word of its own."""
_DASHES = "\\-\u2010\u2011\u2012\u2013\u2014\u2212"
_WORD = re.compile(
    rf"[{UNSPACED}]|[^\W_{UNSPACED}]+"
    rf"|(?<=\d)[.,:/'’{_DASHES}](?=\d)"  # within a figure
    r"|(?<![^\W_])[\-\u2012\u2013\u2212](?=[\d$€£¥])"  # its sign
    r"|\((?=[$€£¥]\s?\d[\d.,]*\)|\d+(?:[.,]\d+)+\))"  # that of accounts: (1,234)
    r"|[<>=+±≤≥≠](?=\s?[\d$€£¥.\-\u2212])"
    r"|[%‰$€£¥₹]"
)
_WITHIN = frozenset(".,:/'-")
"""Marks that make another figure of the figure beside them."""
_ELLIPSIS = re.compile(r"[\[(]?\s*(?:…|\.{3,})\s*[\])]?")
APART = 3_000
"""Characters that may be left out at an ellipsis."""
TRIES = 200
"""Places at which the first words of a quote with ellipses are tried."""

Span = tuple[int, int]
"""Characters of a text, half open."""


@dataclass(frozen=True)
class Words:
    """A text as the words in it, without what stands between them."""

    joined: str
    """All words, one after the other; two figures are kept apart by a blank."""
    begins: tuple[int, ...]
    """Of each word, where it begins in `joined`."""
    places: tuple[Span, ...]
    """Of each word, where it stands in the text."""

    def __len__(self) -> int:
        """Letters, digits and marks that count."""
        return len(self.joined) - self.joined.count(" ")


def words(text: str) -> Words:
    """The words of a text and their places."""
    pieces: list[str] = []
    begins: list[int] = []
    places: list[Span] = []
    at, last = 0, ""
    for match in _WORD.finditer(text):
        word = match[0]
        plain = word.lower() if word.isascii() else _fold(word)
        if not plain:
            continue
        if last.isdigit() and plain[0].isdigit():
            pieces.append(" ")
            at += 1
        pieces.append(plain)
        begins.append(at)
        places.append(match.span())
        at += len(plain)
        last = plain[-1]
    return Words("".join(pieces), tuple(begins), tuple(places))


@lru_cache(maxsize=20_000)
def _fold(word: str) -> str:
    """Small letters without accents; ligatures as their letters. Raised digits and fractions stay:
    10² is not 102."""
    if word in "\u2010\u2011\u2012\u2013\u2014\u2212":
        return "-"
    if word == "’":
        return "'"
    letters = (
        c if unicodedata.category(c) == "No" else unicodedata.normalize("NFKD", c) for c in word
    )
    return "".join(c for c in "".join(letters).casefold() if not "\u0300" <= c <= "\u036f")


def find(text: Words, quote: str) -> tuple[Span, ...]:
    """Where the quoted words stand: one span, or several where the quote has ellipses. Empty if
    they do not."""
    return next(find_all(text, quote), ())


def find_all(text: Words, quote: str) -> Iterator[tuple[Span, ...]]:
    """Every place of the quoted words, in order."""
    parts = [part for part in map(words, _ELLIPSIS.split(quote)) if part.joined]
    if not parts:
        return
    for number, first in enumerate(_occurrences(text, parts[0], 0)):
        spans = [first]
        if number >= TRIES and len(parts) > 1:
            return
        for part in parts[1:]:
            start = bisect_left(text.places, (spans[-1][1], 0))
            following = next(_occurrences(text, part, start), None)
            if following is None or following[0] - spans[-1][1] > APART:
                break
            spans.append(following)
        if len(spans) == len(parts):
            yield tuple(spans)


def _occurrences(text: Words, part: Words, word: int) -> Iterator[Span]:
    """Spans of whole words, from the given word of the text on."""
    if word >= len(text.begins):
        return
    joined, begins, wanted = text.joined, text.begins, part.joined
    at = joined.find(wanted, begins[word])
    while at >= 0:
        end = at + len(wanted)
        first, after = bisect_left(begins, at), bisect_left(begins, end)
        starts = first < len(begins) and begins[first] == at
        ends = (
            end == len(joined)
            or joined[end] == " "
            or (after < len(begins) and begins[after] == end)
        )
        apart = after < len(begins) and text.places[after][0] > text.places[after - 1][1]
        if starts and ends and not _in_figure(joined, at, end, apart):
            yield text.places[first][0], text.places[after - 1][1]
        at = joined.find(wanted, at + 1)


def _in_figure(joined: str, at: int, end: int, apart: bool) -> bool:
    """Whether the match is a part of a longer figure: of -10, 10.5 or 2024-05-01. What stands
    `apart` behind it is the sign of the next: 10 and -5."""
    before = (
        at > 0
        and (joined[at - 1] in _WITHIN or joined[at - 1] == "(")
        and (joined[at].isdigit() or joined[at] in "$€£¥")
    )
    within = end < len(joined) and joined[end] in _WITHIN and joined[end - 1].isdigit()
    return before or (within and not apart)
