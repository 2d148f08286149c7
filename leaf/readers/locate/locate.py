"""Quotes located in a file: the page, rows, paragraph or time at which the quoted words stand. Runs
in the confined child.

A quote is looked for at the place that was named, then in the rest of the file, since a reader with
a good quote and a wrong page number is helped by the right page. Text is read as the model was
given it, so whatever it was shown can be found again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from leaf.errors import InvalidInputError, LeafError
from leaf.readers.base import Passage, Reader, Where
from leaf.readers.locate.quotes import Span, Words, find, find_all, words
from leaf.readers.locate.where import column_letters, column_number, merged, parse, sheet_span
from leaf.readers.packed import unpacked

Json = dict[str, Any]

LEAST = 3
"""Letters and digits that a quote needs, unless it is a cell of a table."""
LEAST_ELSEWHERE = 12
"""The same for a quote that is looked for in the whole file: fewer stand anywhere by chance."""
_LOCATOR = re.compile(
    r"\[columns: [^\n]*\]\n|^ *\d+\t|"
    r"^[ \t]*\[(?:(?:pages?|slides?|paragraphs?|lines?|rows?|sheet)\b[^\]\n]{0,120}|\d+:\d\d:\d\d)\][ \t]?"
    r"|(?<=\s)\[\d+:\d\d:\d\d\] ",
    re.M,
)
"""What Leaf puts between passages, and no file says."""
LONGEST = 20_000
"""Characters of a quote that are compared."""
BUFFER = 60_000
"""Characters of a file that are searched together."""
MOST = 40_000_000
"""Characters of a file in which a quote is looked for."""
_CELL = re.compile(r"(?:^| \| )([A-Z]{1,3}): ")
_COLUMNS = re.compile(r"\[columns: [^\n]*\]\n")
_ROW = re.compile(r"(?:^|\s)\d+:(?:\s|$)")
"""The number of a row, as a reading has it: a quote that says it was copied from there."""


@dataclass(frozen=True)
class Box:
    """A rectangle around words on a page, in shares of its width and height, from the left and the
    top."""

    page: int
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True)
class Located:
    """Where quoted words stand."""

    place: str
    """Locator: `page 3`, `sheet Data!B5:C6`, `rows 5-6`, `paragraph 12`, `00:10:02-00:10:05`."""
    sheet: str = ""
    """Of a spreadsheet."""
    moved: bool = False
    """Whether that is elsewhere than at the place that was named."""
    spans: tuple[tuple[int, int, int], ...] = ()
    """Page, paragraph, line, cue or row, and the characters of its text, half open."""
    boxes: tuple[Box, ...] = ()
    """On pages of a PDF."""


@dataclass(frozen=True)
class Sought:
    """What became of a quote: where it stands, or in one clause why it was not found."""

    found: Located | None
    why: str = ""
    """`it has no page 99`, `the words are not in it`, `the quote is too short to be checked`."""


def locate(path: str, kind: str, asked: Sequence[Sequence[str]]) -> list[Json]:
    """For each (place, quote) what became of it, as JSON of `Sought`. Raises FileError."""
    from leaf.readers.worker import reader_of

    with unpacked(Path(path)) as plain:
        sought = search(reader_of(kind), plain, kind, [(place, quote) for place, quote in asked])
        return [
            asdict(one if kind != "pdf" else _with_boxes(plain, one, q))
            for one, (_, q) in zip(sought, asked, strict=True)
        ]


def search(reader: Reader, path: Path, kind: str, asked: Sequence[tuple[str, str]]) -> list[Sought]:
    """Each quote at its place, and those that are not there in one pass over the whole file."""
    results: list[Sought | None] = []
    wheres: list[Where] = []
    for place, quote in asked:
        where, outside = _where(reader, path, kind, place)
        quote = quote[:LONGEST]
        wheres.append(where)
        size = len(words(quote))
        if not size:
            results.append(Sought(None, outside or "no words of it were quoted"))
        elif not outside and (location := _in_passages(reader.passages(path, where), quote, size)):
            results.append(Sought(location))
        elif size < LEAST_ELSEWHERE:
            short = (
                "the quote is too short to be checked"
                if size < LEAST
                else "the words are not there"
            )
            results.append(Sought(None, outside or short))
        else:
            results.append(Sought(None, outside) if outside else None)
    missing = [
        i
        for i, one in enumerate(results)
        if one is None or (one.why and len(words(asked[i][1])) >= LEAST_ELSEWHERE)
    ]
    elsewhere = _everywhere(
        reader.passages(path, Where()), {i: (asked[i][1][:LONGEST], wheres[i]) for i in missing}
    )
    for i in missing:
        before = results[i]
        if i in elsewhere:
            results[i] = Sought(elsewhere[i])
        elif before is None:
            results[i] = Sought(None, "the words are not in it")
    return [one for one in results if one is not None]


def _where(reader: Reader, path: Path, kind: str, place: str) -> tuple[Where, str]:
    """The place, and why there is none: one that does not fit the file, or lies beyond its end."""
    try:
        where = parse(place, kind)
    except InvalidInputError:
        return Where(), f"it has no {place!r}"
    try:
        some = next(iter(reader.passages(path, where)), None)
    except LeafError:
        return where, f"it has no {place}"
    return where, "" if some is not None or not place else f"it has no {place}"


def _in_passages(passages: Iterable[Passage], quote: str, size: int) -> Located | None:
    """The quote in these passages, read together."""
    held: list[Passage] = []
    length = 0
    for passage in passages:
        held.append(passage)
        length += len(passage.text)
        if length > MOST:
            break
    if size < LEAST and not (held and held[0].unit == "row"):
        return None
    return next(_matches(held, quote), None)


def _everywhere(
    passages: Iterable[Passage], asked: dict[int, tuple[str, Where]]
) -> dict[int, Located]:
    """Each quote's place that is nearest to where it was said to be."""
    best: dict[int, tuple[float, Located]] = {}
    if not asked:
        return {}
    overlap = max(2_000, max(2 * len(quote) for quote, _ in asked.values()))
    for together in _buffers(passages, overlap):
        texts = _readings(together)
        for i, (quote, where) in asked.items():
            for number, located in enumerate(_matches(together, quote, texts)):
                away = _distance(located, together, where)
                if i not in best or away < best[i][0]:
                    best[i] = (away, replace(located, moved=away > 0))
                if number >= 20:
                    break
    return {i: located for i, (_, located) in best.items()}


def _buffers(passages: Iterable[Passage], overlap: int) -> Iterator[list[Passage]]:
    """Neighbouring passages in pieces that overlap, so that a quote across two of them is found."""
    held: list[Passage] = []
    length = total = new = 0
    for passage in passages:
        held.append(passage)
        length += len(passage.text) + 1
        new += 1
        total += len(passage.text)
        if length >= BUFFER + overlap or total > MOST:
            yield held
            if total > MOST:
                return
            tail: list[Passage] = []
            length = new = 0
            for earlier in reversed(held):
                if length + len(earlier.text) > overlap:
                    break
                tail.insert(0, earlier)
                length += len(earlier.text) + 1
            held = tail
    if new:
        yield held


def _distance(located: Located, passages: Sequence[Passage], where: Where) -> float:
    """How far from the place that was named; 0 if it is there, at least in part."""
    numbers = {number for number, _, _ in located.spans}
    hits = [
        p for p in passages if p.number in numbers and (not p.sheet or p.sheet == located.sheet)
    ]
    if where.sheet and located.sheet.lower() != where.sheet.lower():
        return 1e9
    if not where.unit:
        return 0.0
    if where.unit == "cue":
        first, last = min(p.start or 0.0 for p in hits), max(p.end or 0.0 for p in hits)
    else:
        first, last = float(min(numbers)), float(max(numbers))
    end = where.last if where.last is not None else float("inf")
    return max(0.0, where.first - last, first - end)


# Texts in which a quote may stand


@dataclass(frozen=True)
class _Stretch:
    """A part of a text that was put together from passages."""

    begin: int
    end: int
    passage: int
    """Which of the passages."""
    offset: int
    """Where it begins in the passage's text; -1 for what was put before it."""
    column: int = 0
    """Of a cell, from 1."""
    put: bool = False
    """Whether it is a number or a letter that was put before a row or a cell."""


@dataclass(frozen=True)
class _TextReading:
    """One way to read passages as a text: as the model was shown them, or without what was put
    around the cells."""

    text: Words
    stretches: tuple[_Stretch, ...]
    numbered: bool = False
    """Whether each row has its number before it, which no file says."""


def _readings(passages: Sequence[Passage]) -> list[_TextReading]:
    if not passages or passages[0].unit != "row":
        return [_joined([[(p.text, i, 0, 0)] for i, p in enumerate(passages)])]
    rows = [_cells(i, passage) for i, passage in enumerate(passages)]
    numbered = [
        [(f"{p.number}: ", i, -1, 0), *row]
        for i, (p, row) in enumerate(zip(passages, rows, strict=True))
    ]
    readings = [replace(_joined(numbered), numbered=True), _joined(rows)]
    if any(cell[3] for row in rows for cell in row):
        readings.append(_joined([[cell for cell in row if not _is_label(cell)] for row in rows]))
    return readings


_Piece = tuple[str, int, int, int]
"""Text, which passage it is of, its offset in the passage's text, column (below 0 for the letter
before a cell)."""


def _is_label(piece: _Piece) -> bool:
    return piece[3] < 0


def _cells(index: int, passage: Passage) -> list[_Piece]:
    """A row as its cells and the letters before them (with the column below 0); a row without
    letters as it is."""
    header = _COLUMNS.match(passage.text)
    at = header.end() if header else 0
    marks = list(_CELL.finditer(passage.text, at)) if passage.sheet else []
    if not marks or marks[0].start() != at:
        return [(passage.text[at:], index, at, 0)]
    pieces: list[_Piece] = []
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        end = following.start() if following else len(passage.text)
        column = column_number(mark[1])
        pieces.append((passage.text[mark.start() : mark.end()], index, mark.start(), -column))
        pieces.append((passage.text[mark.end() : end] + " ", index, mark.end(), column))
    return pieces


def _joined(rows: Sequence[Sequence[_Piece]]) -> _TextReading:
    parts: list[str] = []
    stretches: list[_Stretch] = []
    at = 0
    for row in rows:
        for text, passage, offset, column in row:
            parts.append(text)
            stretches.append(
                _Stretch(at, at + len(text), passage, offset, abs(column), offset < 0 or column < 0)
            )
            at += len(text)
        parts.append("\n")
        at += 1
    return _TextReading(words("".join(parts)), tuple(stretches))


def _matches(
    passages: Sequence[Passage], quote: str, readings: Sequence[_TextReading] | None = None
) -> Iterator[Located]:
    """Where the quote stands among the passages, in order, by the first reading in which it
    does."""
    bare = unmarked(quote)
    for words_of_file in (quote, bare) if bare != quote else (quote,):
        for reading in readings if readings is not None else _readings(passages):
            some = False
            if reading.numbered and not _ROW.search(words_of_file):
                continue
            for spans in find_all(reading.text, words_of_file):
                if not _is_of_file(reading, spans):
                    continue
                some = True
                yield _located(passages, reading, spans)
            if some:
                return


def _is_of_file(reading: _TextReading, spans: Sequence[Span]) -> bool:
    """Whether a match holds more than what was put before a row or a cell."""
    return any(
        not stretch.put and stretch.begin < end and begin < stretch.end
        for begin, end in spans
        for stretch in reading.stretches
    )


def unmarked(text: str) -> str:
    """The text with blanks in place of the locators that Leaf puts into what it reads, character
    for character."""
    return _LOCATOR.sub(lambda mark: " " * len(mark[0]), text)


def find_in_window(text: str, quote: str) -> tuple[Span, ...]:
    """Where the quote stands in a window's text, whatever locators stand between its words."""
    return find(words(unmarked(text)), unmarked(quote))


def _located(passages: Sequence[Passage], reading: _TextReading, spans: Sequence[Span]) -> Located:
    touched = [
        (stretch, max(begin, stretch.begin), min(end, stretch.end))
        for begin, end in spans
        for stretch in reading.stretches
        if stretch.begin < end and begin < stretch.end
    ]
    indexes = sorted({stretch.passage for stretch, _, _ in touched})
    hits = [passages[i] for i in indexes]
    columns = [stretch.column for stretch, _, _ in touched if stretch.column]
    place = _cell_place(hits, columns) if columns and hits[0].sheet else ", ".join(merged(hits))
    characters: dict[int, Span] = {}
    for stretch, begin, end in touched:
        if stretch.offset >= 0:
            first, last = (
                stretch.offset + begin - stretch.begin,
                stretch.offset + end - stretch.begin,
            )
            known = characters.get(stretch.passage, (first, last))
            characters[stretch.passage] = (min(known[0], first), max(known[1], last))
    spans_in = tuple((passages[i].number, *span) for i, span in characters.items())
    return Located(place, hits[0].sheet, spans=spans_in)


def _cell_place(rows: Sequence[Passage], columns: Sequence[int]) -> str:
    first, last = rows[0], rows[-1]
    left, right = min(columns), max(columns)
    if first.number == last.number and left == right:
        sheet, _, _ = sheet_span(first.sheet, first.number, last.number, (left, right)).rpartition(
            "!"
        )
        return f"{sheet}!{column_letters(left)}{first.number}"
    return sheet_span(first.sheet, first.number, last.number, (left, right))


def _with_boxes(path: Path, sought: Sought, quote: str) -> Sought:
    from leaf.readers.locate.pdf_marks import boxes_on

    if sought.found is None:
        return sought
    boxes = tuple(
        Box(number, *rectangle)
        for number, _, _ in sought.found.spans[:4]
        for rectangle in boxes_on(path, number, quote)
    )
    return replace(sought, found=replace(sought.found, boxes=boxes))
