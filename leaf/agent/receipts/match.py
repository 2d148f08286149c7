"""A receipt for each figure of an answer: the value that it is, or that it is made from. Pure, and without a model.

A figure has a receipt if it equals a value that a tool gave, as it stands or rounded as it is written; if it stands in words
that were read, in the question, or in a query; or if it follows from such values by one step (`derive`). Numbers that are met
easily, the small and the roughly rounded ones, need a word in common with what they are matched to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from leaf.agent.receipts.derive import (
    ANYWHERE,
    LABELLED,
    PARAGRAPH,
    SENTENCE,
    Steps,
    chance,
    derive,
    of_cells,
    of_figures,
    of_first,
    of_named,
    of_totals,
)
from leaf.agent.receipts.evidence import NO_CALL, Book, Evidence, Kind, Value, book_of, tokens
from leaf.agent.receipts.figures import Figure, Reading, figures

Json = dict[str, Any]

DERIVED_FROM = 10
"""Results that figures may follow from: those of this answer, then the newest of earlier ones."""
SMALL = 100
"""Whole numbers below it stand everywhere."""
COMMON = 1_000
"""Smaller numbers are not taken from a row of which the sentence does not speak, if it speaks of others."""
BY_CHANCE = 0.3
"""Expected hits by chance up to which a rounded value is taken for what it was rounded from, without a word in common."""
_WEAKER = {"quoted": 1, "condition": 2, "asked": 3}
_PERCENT = re.compile(
    r"%|pct|percent|prozent|share|rate|ratio|growth|margin|change|anteil|quote|marge|wachstum|portion|proportion", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"(?<=[.!?:])\s+(?=[A-ZÄÖÜ(*\"“])|\n+")


@dataclass(frozen=True)
class Receipt:
    """One figure and where it comes from."""

    text_index: int
    """Which of the answer's texts it stands in, from 0."""
    start: int
    end: int
    text: str
    kind: Kind
    call_id: str = ""
    message_id: str = ""
    """The earlier answer whose call it is; empty for this one."""
    result_id: str = ""
    row: int = -1
    """Index into the shown rows of the result, -1 where it is no cell."""
    column: str = ""
    value: str = ""
    """The value behind it, unrounded."""
    how: str = ""
    """In words: `North − South`, `rows of r2`."""
    place: str = ""
    """File and place of the words that it stands in."""

    def to_json(self) -> Json:
        return {k: v for k, v in asdict(self).items() if v not in ("", -1) or k in ("kind", "text_index")}


def match(texts: Sequence[str], evidence: Sequence[Evidence], question: str = "") -> list[Receipt]:
    """A receipt for each figure of an answer's texts, in their order; of kind `none` where there is none.

    `evidence`: the calls of this answer first, then those of earlier ones, newest first.
    """
    book = book_of(evidence, question)
    return [receipt for index, text in enumerate(texts) for receipt in _of_text(index, text, book)]


def _of_text(index: int, text: str, book: Book) -> list[Receipt]:
    all_figures = figures(text, book.names)
    sentences = [_around(text, figure) for figure in all_figures]
    said = {bounds: _said(text, bounds, all_figures) for bounds in {*sentences}}
    direct = {
        i: (figure, *hit)
        for i, (figure, at) in enumerate(zip(all_figures, sentences, strict=True))
        if (hit := _direct(figure, book, said[at]))
    }
    found: list[Receipt] = []
    for i, figure in enumerate(all_figures):
        if i in direct:
            _, value, kind = direct[i]
            found.append(_receipt(index, figure, kind, value))
            continue
        derived = derive(figure, _pools(text, figure, sentences[i], said[sentences[i]], direct, book))
        if derived:
            found.append(_receipt(index, figure, "derived", derived.value, f"{derived.number:,.10g}", derived.how))
        else:
            found.append(_receipt(index, figure, "none", Value(0.0, "", "none", NO_CALL)))
    return found


def _pools(
    text: str,
    figure: Figure,
    sentence: tuple[int, int],
    said: frozenset[str],
    direct: Mapping[int, tuple[Figure, Value, Kind]],
    book: Book,
) -> Iterator[tuple[Steps, float]]:
    """What the figure may follow from, the nearest first, with the limit of chance for each; made only as far as it is needed."""
    paragraph = _paragraph(text, figure.start)
    near = [(f, v) for f, v, _ in direct.values() if sentence[0] <= f.start < sentence[1]]
    about = [(f, v) for f, v, _ in direct.values() if paragraph[0] <= f.start < paragraph[1]]
    yield of_figures(near), SENTENCE
    tables = book.tables[:DERIVED_FROM]
    yield from ((of_named(table, said), LABELLED) for table in tables)
    yield from ((of_first(table, said), LABELLED) for table in tables)
    if len(about) > len(near):
        yield of_figures(about), PARAGRAPH
    yield from ((of_totals(table, said), PARAGRAPH) for table in tables)
    yield from ((of_cells(table), ANYWHERE) for table in tables if not table.named(said))


def _direct(figure: Figure, book: Book, said: frozenset[str]) -> tuple[Value, Kind] | None:
    """The value that a figure is, as it stands or rounded, and how it is that."""
    if figure.unit == "time":
        hit = next((value for text, value in book.texts if figure.text in text), None)
        return (hit, hit.kind) if hit else None
    if figure.dates:
        hit = next((value for date, value in book.dates if any(date.startswith(d) for d in figure.dates)), None)
        if hit is not None or figure.unit == "date":
            return (hit, hit.kind) if hit else None
    best: tuple[tuple[bool | int, ...], Value, Kind] | None = None
    for reading, as_ratio in _targets(figure):
        for at, hit in enumerate(book.near(reading)):
            exact = abs(abs(hit.number) - abs(reading.value)) <= 1e-11 * max(1e-6, abs(reading.value))
            labelled = bool(said & hit.labels)
            if not _believed(figure, reading, hit, exact, said, as_ratio, book):
                continue
            cell = hit.kind == "exact"
            kind: Kind = hit.kind if exact or not cell else "rounded"
            rank = (not (cell and labelled), not exact, not cell, _WEAKER.get(hit.kind, 0), not labelled, at)
            if best is None or rank < best[0]:
                best = (rank, hit, kind)
    return (best[1], best[2]) if best else None


def _believed(
    figure: Figure, reading: Reading, hit: Value, exact: bool, said: frozenset[str], as_ratio: bool, book: Book
) -> bool:
    """Whether a value that would be written like the figure is the one that is meant."""
    labelled = bool(said & hit.labels)
    if hit.kind in ("asked", "condition"):
        return exact
    if figure.unit == "percent" and not as_ratio and not _PERCENT.search(f"{hit.column} {hit.how} {hit.shown}"):
        return labelled and exact and hit.kind == "exact" and reading.value != int(reading.value)
    if abs(reading.value) < COMMON and hit.row >= 0 and _of_another_row(hit, said, book):
        return False
    small = abs(reading.value) < SMALL and reading.value == int(reading.value)
    if exact and not small:
        return True
    return labelled or (not small and chance(max(0, book.around(reading.value) - 1), reading) <= BY_CHANCE)


def _of_another_row(hit: Value, said: frozenset[str], book: Book) -> bool:
    """Whether the sentence names rows of the result, and the value's row is none of them."""
    table = next((t for t in book.tables_of(hit.evidence) if t.result_id == hit.result_id), None)
    if table is None:
        return False
    named = table.named(said)
    return bool(named) and hit.row not in named


def _targets(figure: Figure) -> list[tuple[Reading, bool]]:
    """What a value may be to be written like this: `12.3 %` is 12.3, or as a ratio 0.123."""
    found = [(reading, False) for reading in figure.readings]
    return found + [(r.scaled(0.01), True) for r in figure.readings] if figure.unit == "percent" else found


def _receipt(index: int, figure: Figure, kind: Kind, value: Value, number: str = "", how: str = "") -> Receipt:
    return Receipt(
        index,
        figure.start,
        figure.end,
        figure.text,
        kind,
        value.evidence.call_id,
        value.evidence.message_id,
        value.result_id,
        value.row,
        value.column,
        (number or value.shown)[:200],
        how or value.how,
        value.place,
    )


def _said(text: str, bounds: tuple[int, int], all_figures: Sequence[Figure]) -> frozenset[str]:
    """The words of a sentence, and its dates as results write them."""
    dates = {date for f in all_figures if bounds[0] <= f.start < bounds[1] for date in f.dates}
    return tokens(text[bounds[0] : bounds[1]]) | dates


def _around(text: str, figure: Figure) -> tuple[int, int]:
    """The sentence or line that a figure stands in. A line of a list or a table is not cut at its points."""
    first = last = 0
    for end in _SENTENCE_END.finditer(text):
        if end.end() > figure.start:
            last = end.start()
            break
        first = end.end()
    return first, last or len(text) + 1


def _paragraph(text: str, at: int) -> tuple[int, int]:
    first, last = text.rfind("\n\n", 0, at), text.find("\n\n", at)
    return max(0, first), len(text) + 1 if last < 0 else last
