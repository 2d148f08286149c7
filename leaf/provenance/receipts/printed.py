"""What code prints line by line, each a name with its numbers, as the rows that it is: a frame, a
series, or `North: 15,120`. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from leaf.provenance.receipts.evidence import Evidence, PrintedCell, ResultNumbers
from leaf.provenance.receipts.figures import Figure
from leaf.provenance.receipts.words import YEAR, tokens

_LETTER = re.compile(r"[^\W\d_]")
_INDEX = re.compile(r"\s*\d+\s+(?=[^\W\d_])")
_AROUND = " \t\r\n:=|,;–—-→>'\"()[]{}"


@dataclass(frozen=True)
class PrintedRows:
    """Lines that stand together and hold as many numbers each."""

    begins: Sequence[int]
    """Where each line begins in the text."""
    end: int
    figures: Sequence[Sequence[Figure]]
    table: ResultNumbers

    def cell_at(self, place: int) -> PrintedCell | None:
        """The cell that stands there, if any does."""
        row = bisect_right(self.begins, place) - 1
        if row < 0 or place >= self.end:
            return None
        column = bisect_right([figure.start for figure in self.figures[row]], place)
        return PrintedCell(self.table, row, self.table.columns[column]) if column else None


@dataclass(frozen=True)
class _Line:
    begin: int
    end: int
    name: str
    words: frozenset[str]
    figures: Sequence[Figure]


def rows_of(text: str, all_figures: Sequence[Figure], one: Evidence) -> list[PrintedRows]:
    """All such lines of a text, at least two together, whose words tell them apart."""
    blocks: list[list[_Line]] = [[]]
    for line in _lines(text, all_figures):
        last = blocks[-1][-1] if blocks[-1] else line
        if line is None or last is None or len(last.figures) != len(line.figures):
            blocks.append([])
        if line is not None:
            blocks[-1].append(line)
    return [_rows(block, one) for block in blocks if len({line.words for line in block}) > 1]


def _lines(text: str, all_figures: Sequence[Figure]) -> Iterator[_Line | None]:
    """The lines that hold numbers behind a name; None for all others. One that begins with blanks
    where the line above has a name is of that as well, as pandas prints an index of two levels."""
    begin, outer = 0, ""
    for whole in text.splitlines(keepends=True):
        end = begin + len(whole)
        index = _INDEX.match(whole)
        first = begin + (index.end() if index else 0)
        numbers = [f for f in all_figures if first <= f.start < end]
        name = text[first : numbers[0].start].strip(_AROUND) if numbers else ""
        indent = len(whole) - len(whole.lstrip(" "))
        if numbers and not indent:
            outer = re.split(r"\s{2,}", name)[0]
        elif numbers and indent > len(outer):
            name = f"{outer} {name}".strip()
        yield (
            _Line(begin, end, name, _words(f"{name} {text[numbers[0].start : end]}"), numbers)
            if _LETTER.search(name)
            else None
        )
        begin = end


def _words(line: str) -> frozenset[str]:
    return frozenset(word for word in tokens(line) if not word.isdigit() or YEAR.fullmatch(word))


def _rows(block: Sequence[_Line], one: Evidence) -> PrintedRows:
    shared = frozenset.intersection(*(line.words for line in block))
    numbers = [
        [f.readings[0].value if f.readings else np.nan for f in line.figures] for line in block
    ]
    table = ResultNumbers(
        one,
        "",
        ["", *(f"number {place}" for place in range(len(numbers[0])))],
        np.array([[np.nan, *those] for those in numbers]),
        [line.words - shared for line in block],
        [line.name for line in block],
        False,
        shared,
        [[line.name, *those] for line, those in zip(block, numbers, strict=True)],
    )
    return PrintedRows(
        [line.begin for line in block], block[-1].end, [line.figures for line in block], table
    )
