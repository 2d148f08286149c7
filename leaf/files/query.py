"""What somebody typed, as words and phrases that FTS5 takes; text as it is indexed."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

MOST_TERMS = 24
_CJK = re.compile(r"([\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff])")


@dataclass(frozen=True)
class Term:
    """A word, or words that stand side by side: a quoted phrase, or what a mark divides, as in `Q3-2024`."""

    text: str
    quoted: bool = False

    @property
    def stem(self) -> str:
        return self.text[:-1] if len(self.text) > 4 and self.text[-1] in "sS" else self.text

    def is_in(self, words: str) -> bool:
        """Whether folded words, with blanks around them, have this term."""
        return f" {plain(self.text)} " in words


def exact(term: Term) -> str:
    """For FTS5: always a quoted string, so that nothing in it is an operator."""
    return f'"{spaced(term.text)}"'


def loose(term: Term) -> str:
    """The word as a beginning of words, without the plural's s; a short word or a quoted phrase as it is."""
    return exact(term) if term.quoted or len(term.text) < 3 else f'"{spaced(term.stem)}" *'


def parse(query: str) -> list[Term]:
    """Words and "phrases" of what somebody typed; everything that is neither, operators included, is left out."""
    terms: list[Term] = []
    for phrase, word in re.findall(r'["“„«]([^"“”„«»]+)["”“»]|([^\s\0"“”„«»]+)', query):
        text = " ".join("".join(c if c.isalnum() or unicodedata.category(c) == "Mn" else " " for c in phrase or word).split())
        if text and text not in ("AND", "OR", "NOT", "NEAR"):
            terms.append(Term(text, quoted=bool(phrase)))
    return list(dict.fromkeys(terms))[:MOST_TERMS]


def spaced(text: str) -> str:
    """Text as it is indexed: characters of scripts that put no blanks between words are words of their own."""
    return _CJK.sub(r" \1 ", text.replace("\0", " "))


def fold(text: str) -> str:
    """Lower case without accents, character for character, so that places in it are places in the text."""
    return "".join(_fold_character(c) for c in text)


def _fold_character(character: str) -> str:
    if character.isascii():
        return character.lower()
    return (unicodedata.normalize("NFKD", character).lower() or character)[0]


def plain(text: str) -> str:
    """The words of a text, folded, with single blanks between them."""
    return " ".join(re.findall(r"[^\W_]+", fold(text)))
