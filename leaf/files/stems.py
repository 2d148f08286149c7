"""Which words of an index are forms of one that somebody typed: by the Snowball stemmers, in the
languages that are there.

Words are stemmed when a query comes and not when they are indexed: the index keeps what is written,
and a word is held only against those of the index that begin as it does.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Protocol

UNKNOWN = ("english",)
"""For texts in no language that is known: the plural of names and headings."""
SHORTEST = 3
"""Shorter words have no forms: `as`, `IT`, `x1`."""


class Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


def beginning(word: str, languages: Iterable[str]) -> str:
    """What all forms of the word begin with, short enough for an ending that changes (`policy`,
    `policies`)."""
    shortest = min((stem(word, language) for language in languages or UNKNOWN), key=len)
    common = 0
    while common < min(len(word), len(shortest)) and word[common] == shortest[common]:
        common += 1
    return word[
        : max(2, common if common < len(shortest) else len(shortest) - (len(shortest) > SHORTEST))
    ]


def forms(word: str, words: Iterable[str], languages: Iterable[str]) -> list[str]:
    """Those of the words that have the stem of `word` in one of the languages, and the word
    itself."""
    spoken = tuple(languages) or UNKNOWN
    if len(word) < SHORTEST or any(c.isdigit() for c in word):
        return [word]
    stems = [(language, stem(word, language)) for language in spoken]
    same = (
        other
        for other in words
        if len(other) >= SHORTEST and any(stem(other, name) == wanted for name, wanted in stems)
    )
    return list(dict.fromkeys((word, *same)))


@lru_cache(maxsize=50_000)
def stem(word: str, language: str) -> str:
    """The stem by Snowball; a word is its own where that leaves next to nothing."""
    root = _stemmer(language).stemWord(word)
    return root if len(root) > 1 else word


@cache
def _stemmer(language: str) -> Stemmer:
    import snowballstemmer

    stemmer: Stemmer = snowballstemmer.stemmer(language)
    return stemmer
