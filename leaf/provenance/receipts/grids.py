"""The tables that a text holds in Markdown: what the head of its column says of a figure, which
stands on a line of its own. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

_RULE = re.compile(r"\s*\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?")
_BAR = re.compile(r"(?<!\\)\|")

Span = tuple[int, int]


@dataclass(frozen=True)
class TextCell:
    """A cell of such a table, below its head. Each span is a place in the text."""

    own: Span
    head: Span
    first: Span
    """The first cell of its row, which mostly says what the row is of."""

    def words(self, text: str) -> str:
        """All that is said of its figure: without the other cells of the row."""
        spans = dict.fromkeys((self.first, self.head, self.own))
        return " | ".join(text[begin:end].strip() for begin, end in spans)


def cells_of(text: str) -> list[TextCell]:
    """The cells of all its tables, in their order."""
    lines = list(_lines(text)) if "|" in text else []
    cells: list[TextCell] = []
    head: list[Span] = []
    for number, (begin, end) in enumerate(lines):
        line = text[begin:end]
        if "|" not in line:
            head = []
        elif _RULE.fullmatch(line) and number:
            above = lines[number - 1]
            head = _pieces(text, above) if "|" in text[slice(*above)] else []
        elif head:
            row = _pieces(text, (begin, end))
            cells += [TextCell(own, on, row[0]) for own, on in zip(row, head, strict=False)]
    return cells


def cell_at(cells: Sequence[TextCell], place: int) -> TextCell | None:
    """The cell in which something stands."""
    at = bisect_right(cells, place, key=lambda cell: cell.own[0]) - 1
    return cells[at] if at >= 0 and place < cells[at].own[1] else None


def _lines(text: str) -> Iterator[Span]:
    begin = 0
    for line in text.splitlines(keepends=True):
        yield begin, begin + len(line.rstrip())
        begin += len(line)


def _pieces(text: str, line: Span) -> list[Span]:
    """The cells of a line, with or without bars around it."""
    begin, end = line
    begin += len(text[begin:end]) - len(text[begin:end].lstrip())
    bars = [begin + bar.start() for bar in _BAR.finditer(text[begin:end])]
    edges = [begin - 1, *bars, end]
    pieces = [(a + 1, b) for a, b in pairwise(edges)]
    first = 1 if bars and bars[0] == begin else 0
    last = len(pieces) - (1 if bars and bars[-1] == end - 1 else 0)
    return pieces[first:last]
