"""Numbers that stand behind each other's names: *North made 200 and South 300*, the other way round.
Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from leaf.provenance.receipts.evidence import EvidenceBook, ResultNumbers, Value
from leaf.provenance.receipts.figures import Figure
from leaf.provenance.receipts.words import tokens

APART = 12
"""Characters between two words that are no name together."""
_WORD = re.compile(r"[^\W_]+")
_OF_THE_NEXT = re.compile(
    r"(?i)(?:\(|\b(?:in|of|for|from|by|at|von|im|für|bei|de|du|des|en|pour|para|del?)"
    r"(?:\s(?:the|der|dem|den|la|le|les|el|los|las))?)\s*[*_]*\Z"
)
"""What leads from a number to the name behind it: `200 of South`."""


def swapped(
    text: str,
    bounds: tuple[int, int],
    all_figures: Sequence[Figure],
    values: Mapping[int, Value],
    book: EvidenceBook,
) -> set[int]:
    """Those figures of a sentence that are cells of one column, where names and numbers take turns,
    a name first, and each of these numbers is that of another one of the names.

    `values`: its figures that are cells.
    """
    groups: dict[tuple[int, str], list[int]] = {}
    for i, value in values.items():
        if (table := book.table_of(value)) is not None:
            groups.setdefault((id(table), value.column), []).append(i)
    wrong: set[int] = set()
    for those in groups.values():
        table = book.table_of(values[those[0]])
        if table is not None and len(those) > 1:
            wrong |= set(_of_column(text, bounds[0], sorted(those), all_figures, values, table))
    return wrong


def _of_column(
    text: str,
    begin: int,
    those: Sequence[int],
    all_figures: Sequence[Figure],
    values: Mapping[int, Value],
    table: ResultNumbers,
) -> Iterator[int]:
    rows = [values[i].row for i in those]
    places = [_place(text, begin, all_figures[those[-1]].end, own) for own in _own(table, rows)]
    if len({*rows}) < len(rows) or None in places:
        return
    names = sorted((place, row) for place, row in zip(places, rows, strict=True) if place)
    before = begin
    for (place, _), i in zip(names, those, strict=True):
        figure = all_figures[i]
        if not before <= place[0] < place[1] <= figure.start:
            return
        if before > begin and _OF_THE_NEXT.search(text[before : place[0]]):
            return
        before = figure.end
    for (_, row), i in zip(names, those, strict=True):
        if values[i].row != row:
            yield i


def _own(table: ResultNumbers, rows: Sequence[int]) -> list[frozenset[str]]:
    """For each row the words that none of the others has."""
    labels = [table.labels[row] & table.telling for row in rows]
    return [
        label.difference(*(other for other in labels if other is not label)) for label in labels
    ]


def _place(text: str, begin: int, end: int, words: frozenset[str]) -> tuple[int, int] | None:
    """Where these words stand, if they do so in one place only."""
    spans = [m.span() for m in _WORD.finditer(text, begin, end) if tokens(m[0]) & words]
    if not spans or any(b[0] - a[1] >= APART for a, b in pairwise(spans)):
        return None
    return spans[0][0], spans[-1][1]
