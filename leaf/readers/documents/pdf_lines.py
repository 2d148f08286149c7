"""Words of a page of a PDF as lines, and lines as pieces that stand apart: what columns are made
of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from leaf.readers.documents.pdf_words import PdfWord, Rule, whole

APART = 0.62
"""Blank between two pieces of a line, in heights of the line; between words it is 0.2 to 0.5, in
justified text too."""
NUMBER = re.compile(
    r"[(\[]?\s*[-–—−+±<>≤≥~≈]?\s*(?:[$€£¥₹]|US\$|EUR|USD|CHF|GBP|kr\.?)?\s*[-–—−+]?\s*(?:\d[\d.,\s'’\u00a0\u202f]*|[.,]\d+)"
    r"\s*(?:%|‰|[$€£¥₹]|[a-zA-Zµ°²³*†‡]{1,3})?\s*[)\]]?\s*(?:\(?[±+-]?[\d.,]+\s*%?\)?)?[*†‡a-d]?",
)
NOTHING = re.compile(r"[-–—−.…*:/]+|n/?\.?a\.?|\(?[A-Z]\)?|k\.\s?A\.", re.I)
"""What stands for a number that is not there."""


@dataclass(frozen=True)
class Chunk:
    """Words of a line with no more than a blank between them."""

    words: tuple[PdfWord, ...]

    @cached_property
    def left(self) -> float:
        return min(word.left for word in self.words)

    @cached_property
    def right(self) -> float:
        return max(word.right for word in self.words)

    @cached_property
    def text(self) -> str:
        return whole(" ".join(word.text for word in self.words))


@dataclass(frozen=True)
class TextLine:
    """Words beside each other."""

    chunks: tuple[Chunk, ...]
    top: float
    bottom: float

    @cached_property
    def left(self) -> float:
        return self.chunks[0].left

    @cached_property
    def right(self) -> float:
        return max(chunk.right for chunk in self.chunks)

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    @cached_property
    def words(self) -> tuple[PdfWord, ...]:
        return tuple(word for chunk in self.chunks for word in chunk.words)

    @cached_property
    def text(self) -> str:
        return " ".join(chunk.text for chunk in self.chunks)


def number_like(text: str) -> bool:
    """Whether a cell is a number, or what stands for a missing one."""
    return bool(NUMBER.fullmatch(text) or NOTHING.fullmatch(text))


def lines_of(words: Iterable[PdfWord], down: Sequence[Rule] = ()) -> list[TextLine]:
    """Lines from above; a vertical line between two words parts them however near they are."""
    rows: list[list[PdfWord]] = []
    places: list[tuple[float, float]] = []
    for word in sorted(words, key=lambda w: (w.middle[1], w.left)):
        middle = word.middle[1]
        if places and (
            places[-1][0] <= middle <= places[-1][1] or _overlap(places[-1], word) > 0.6
        ):
            rows[-1].append(word)
            if word.height > 0.7 * (places[-1][1] - places[-1][0]):
                places[-1] = (
                    min(places[-1][0], word.top + 0.2 * word.height),
                    max(places[-1][1], word.bottom - 0.2 * word.height),
                )
        else:
            rows.append([word])
            places.append((word.top + 0.2 * word.height, word.bottom - 0.2 * word.height))
    return [_line(sorted(row, key=lambda w: w.left), down) for row in rows]


def _overlap(place: tuple[float, float], word: PdfWord) -> float:
    shared = min(place[1], word.bottom) - max(place[0], word.top)
    return shared / max(0.1, min(word.height, place[1] - place[0]))


def _line(row: list[PdfWord], down: Sequence[Rule]) -> TextLine:
    chunks: list[list[PdfWord]] = []
    reach = 0.0
    for word in row:
        if (
            chunks
            and word.left - reach <= APART * _height(word, chunks[-1][-1])
            and not _parted(chunks[-1][-1], word, down)
        ):
            chunks[-1].append(word)
        else:
            chunks.append([word])
        reach = max(reach, word.right) if len(chunks[-1]) > 1 else word.right
    return TextLine(
        tuple(Chunk(tuple(words)) for words in chunks),
        min(w.top for w in row),
        max(w.bottom for w in row),
    )


def _height(a: PdfWord, b: PdfWord) -> float:
    return max(1.0, min(a.height, b.height))


def _parted(a: PdfWord, b: PdfWord, down: Sequence[Rule]) -> bool:
    y = b.middle[1]
    return any(a.middle[0] < rule.at < b.middle[0] and rule.start <= y <= rule.end for rule in down)


def text_of(words: Iterable[PdfWord]) -> str:
    """Words as they are read: by lines, blanks between them; a word that is parted at a line's end
    stays parted."""
    return " ".join(line.text for line in lines_of(words))
