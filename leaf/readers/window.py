"""From passages to what a model gets: as many as fit into a number of tokens, with locators,
coverage and a cursor for the rest.

Reading on from cursor to cursor gives every passage exactly once; one that is larger than a window
is cut and continued.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, runtime_checkable

from leaf.errors import InvalidInputError
from leaf.readers.base import (
    FEW_WORDS,
    GARBLED,
    NO_TEXT,
    TEXTLESS,
    Note,
    Outline,
    Passage,
    Reader,
    SheetRead,
    Where,
    Window,
)
from leaf.readers.binary import left_out, without_binary
from leaf.readers.locate.where import merged, parse, span, timestamp
from leaf.readers.sections import sections

CHARS_PER_TOKEN = 2.5
MAX_TOKENS = 50_000
"""Largest window; more would crowd out the conversation."""
MARK_EVERY = 10
"""Paragraphs between two marks in the text."""


@dataclass(frozen=True)
class Extent:
    """How large a file is in the units of its passages, and what must be said beside any part of
    it."""

    total: int | None = None
    """Units in the file or, where a sheet is asked for, in the sheet; None if unknown."""
    end: float | None = None
    """Seconds, for captions."""
    notes: tuple[Note, ...] = ()


@runtime_checkable
class MeasuringReader(Protocol):
    """A reader that can say its extent more cheaply than by its outline."""

    def extent(self, path: Path, where: Where) -> Extent:
        """Total and notes. Raises FileError."""


@dataclass(frozen=True)
class WindowPiece:
    """A passage, or the part of it that fits."""

    passage: Passage
    begin: int
    end: int
    """Characters of the passage's text, half open."""

    @property
    def text(self) -> str:
        return self.passage.text[self.begin : self.end]

    @property
    def cut(self) -> bool:
        return self.begin > 0 or self.end < len(self.passage.text)


@dataclass(frozen=True)
class Position:
    """A place between two windows: the passage that comes next, and how much of it was given."""

    unit: str
    sheet: str
    number: int
    nth: int
    """Passages of this number that were given before: a very long line arrives as several."""
    offset: int

    def leads_to(self, passage: Passage) -> bool:
        return (passage.unit, passage.sheet, passage.number) == (self.unit, self.sheet, self.number)


def read_window(
    reader: Reader,
    path: Path,
    kind: str,
    where: str,
    max_tokens: int,
    cursor: str,
    line_numbers: bool,
) -> Window:
    """One window, from `where` or from a cursor. Raises InvalidInputError for a place or a cursor
    that does not fit."""
    if not 1 <= max_tokens <= MAX_TOKENS:
        raise InvalidInputError(
            f"max_tokens is {max_tokens}.", f"Give a number from 1 to {MAX_TOKENS:,}."
        )
    words, position = decode_cursor(cursor, path, where) if cursor else (where, None)
    asked = parse(words, kind)
    passages = without_binary(reader.passages(path, _starting_at(asked, position)))
    pieces, following = fill(
        _after(passages, position), int(max_tokens * CHARS_PER_TOKEN), position, line_numbers
    )
    extent = measure(reader, path, asked, pieces[-1].passage if pieces else None)
    sheets = tuple(_sheets(pieces, extent.total))
    if pieces and pieces[0].passage.sheet != pieces[-1].passage.sheet:
        extent = replace(
            extent, total=None
        )  # a count of one sheet says nothing of a window over several
    if not pieces:
        return _nothing(words, asked, extent, kind)
    return Window(
        text=render(pieces, line_numbers),
        places=merged([piece.passage for piece in pieces], asked.columns),
        coverage=coverage(pieces, extent, asked),
        cursor=encode_cursor(words, following, path) if following else "",
        notes=(
            *extent.notes,
            *_scanned(pieces),
            *_garbled(pieces),
            *left_out(piece.text for piece in pieces),
        ),
        unit=pieces[0].passage.unit,
        ranges=_ranges(pieces),
        read=_read(pieces),
        sheets=sheets,
        total=extent.total,
        sections=sections(
            [(piece.passage, piece.text) for piece in pieces], asked.columns, line_numbers
        ),
    )


def measure(reader: Reader, path: Path, asked: Where, last: Passage | None) -> Extent:
    """The extent by the reader's own means, or by its outline; never less than the last passage
    that was read."""
    if last is not None and last.sheet and not asked.sheet:
        asked = replace(asked, sheet=last.sheet)
    if isinstance(reader, MeasuringReader):
        extent = reader.extent(path, asked)
    else:
        outline = reader.outline(path)
        extent = Extent(_total(outline, asked, last), outline.duration, outline.notes)
    if last is not None and extent.total is not None and last.number > extent.total:
        return replace(extent, total=last.number)
    return extent


def _total(outline: Outline, asked: Where, last: Passage | None) -> int | None:
    """The outline's count of the unit that was read; it knows no sheet's."""
    if last is not None and last.sheet:
        return None
    unit = last.unit if last else asked.unit
    if unit in ("page", "slide"):
        return outline.pages
    return outline.rows if unit in ("row", "") else outline.lines


def fill(
    passages: Iterable[Passage],
    budget: int,
    position: Position | None = None,
    line_numbers: bool = False,
) -> tuple[list[WindowPiece], Position | None]:
    """The pieces that fit into `budget` characters, and where the next window begins; at least one
    character is always given."""
    pieces: list[WindowPiece] = []
    left = budget
    begin = position.offset if position else 0
    nth = position.nth if position else 0
    for passage in passages:
        if pieces:
            previous = pieces[-1].passage
            same = (previous.unit, previous.sheet, previous.number) == (
                passage.unit,
                passage.sheet,
                passage.number,
            )
            nth = nth + 1 if same else 0
        cost = len(_mark(passage, None, line_numbers)) + 1
        size = len(passage.text) - begin + cost
        if size <= left:
            pieces.append(WindowPiece(passage, begin, len(passage.text)))
            left -= size
            begin = 0
            continue
        here = Position(passage.unit, passage.sheet, passage.number, nth, begin)
        if pieces and (passage.unit == "row" or size <= budget or left - cost < budget // 4):
            return (
                pieces,
                here,
                # rows are cut only at a window's begin: readers may repeat the header before the first
                # row
            )
        end = _cut(passage.text, begin, begin + max(1, left - cost))
        return [*pieces, WindowPiece(passage, begin, end)], replace(here, offset=end)
    return pieces, None


def _cut(text: str, begin: int, end: int) -> int:
    """A place to cut at or shortly before `end`: after a line, else after a word, else anywhere."""
    earliest = begin + (end - begin) * 3 // 4
    for blank in ("\n", " "):
        at = text.rfind(blank, earliest, end)
        if at > begin:
            return at + 1
    return end


def _starting_at(asked: Where, position: Position | None) -> Where:
    """The part to ask the reader for, so that a late window costs no more than an early one."""
    if position is None or position.unit == "cue" or position.sheet != asked.sheet:
        return asked
    return replace(asked, unit=asked.unit or position.unit, first=max(asked.first, position.number))


def _after(passages: Iterator[Passage], position: Position | None) -> Iterator[Passage]:
    if position is None:
        yield from passages
        return
    nth = 0
    for passage in passages:
        if not position.leads_to(passage):
            continue
        if nth == position.nth:
            yield passage
            yield from passages
            return
        nth += 1
    raise InvalidInputError(
        "This cursor does not fit the file.", "Leave the cursor out to read from the beginning."
    )


def encode_cursor(where: str, position: Position, path: Path) -> str:
    """Opaque text for the next call; holds the place, the words asked for and the file's size, with
    a checksum."""
    fields = [
        where,
        path.stat().st_size,
        position.unit,
        position.sheet,
        position.number,
        position.nth,
        position.offset,
    ]
    body = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(zlib.crc32(body).to_bytes(4, "big") + body).decode().rstrip("=")


def decode_cursor(cursor: str, path: Path, where: str = "") -> tuple[str, Position]:
    """The words and the place in a cursor. Raises InvalidInputError for a changed one, or one of
    another file or place."""
    hint = (
        "Give the cursor exactly as the last result named it, or leave it out to read from "
        "the beginning."
    )
    try:
        data = base64.urlsafe_b64decode(cursor.strip() + "=" * (-len(cursor.strip()) % 4))
        if zlib.crc32(data[4:]).to_bytes(4, "big") != data[:4]:
            raise ValueError("checksum")
        words, size, unit, sheet, number, nth, offset = json.loads(data[4:])
    except (ValueError, binascii.Error) as e:
        raise InvalidInputError("This is not a cursor that Leaf gave.", hint) from e
    if size != path.stat().st_size:
        raise InvalidInputError("This cursor belongs to another file.", hint)
    if where and " ".join(where.split()) != " ".join(str(words).split()):
        raise InvalidInputError(
            f"This cursor goes on with {words or 'the whole file'!r}, not with {where!r}.", hint
        )
    return str(words), Position(str(unit), str(sheet), int(number), int(nth), int(offset))


def render(pieces: list[WindowPiece], line_numbers: bool) -> str:
    """The text for the model, with locators where a page, slide, sheet or cue begins, and once for
    a run of lines."""
    parts: list[str] = []
    previous: WindowPiece | None = None
    for piece in pieces:
        if previous is None and piece.passage.unit in ("line", "row"):
            parts.append(_first_mark(pieces))
        parts.append(_mark(piece.passage, previous, line_numbers, continued=piece.begin > 0))
        parts.append(piece.text)
        parts.append("" if piece.text.endswith("\n") else "\n")
        previous = piece
    return "".join(parts).rstrip("\n")


def _first_mark(pieces: list[WindowPiece]) -> str:
    first, last = pieces[0].passage, pieces[-1].passage
    if first.sheet:
        return ""
    return f"[{span(first.unit, first.number, last.number)}]\n"


def _mark(
    passage: Passage, previous: WindowPiece | None, line_numbers: bool, continued: bool = False
) -> str:
    """What stands before a passage. Without a previous piece the longest form, so that the budget
    holds."""
    before = previous.passage if previous else None
    tail = ", continued" if continued else ""
    if passage.unit in ("page", "slide"):
        gap = "\n" if before else ""
        return f"{gap}[{passage.unit} {passage.number}{tail}]\n"
    if passage.unit == "cue" and passage.start is not None:
        return f"[{timestamp(passage.start)}] "
    sheet = (
        f"[sheet {passage.sheet}]\n"
        if passage.sheet and (before is None or before.sheet != passage.sheet)
        else ""
    )
    if passage.unit == "row":
        return f"{sheet}{passage.number}: "
    if passage.unit == "line":
        return f"{sheet}{passage.number:>6}\t" if line_numbers else sheet
    first = before is None or passage.number % MARK_EVERY == 0 or passage.text.startswith("#")
    return f"[{passage.unit} {passage.number}{tail}] " if first or line_numbers else ""


def coverage(pieces: list[WindowPiece], extent: Extent, asked: Where) -> str:
    """`pages 3-5 of 340`; says when a single passage is given in part."""
    places = ", ".join(merged([piece.passage for piece in pieces], asked.columns))
    part = " (in part)" if len(pieces) == 1 and pieces[0].cut else ""
    if pieces[0].passage.unit == "cue":
        return f"{places}{part}" + (f" of {timestamp(extent.end)}" if extent.end else "")
    return f"{places}{part}" + (f" of {extent.total:,}" if extent.total is not None else "")


def _scanned(pieces: list[WindowPiece]) -> tuple[Note, ...]:
    """Which of these pages are pictures only, and how to see them."""
    return (
        *_on_pages(pieces, NO_TEXT, "no-text-layer", "No text on"),
        *_on_pages(pieces, FEW_WORDS, "few-words", "Only a few words on"),
    )


def _on_pages(pieces: list[WindowPiece], mark: str, kind: str, what: str) -> tuple[Note, ...]:
    pages = [piece.passage for piece in pieces if piece.passage.text.startswith(mark)]
    if not pages:
        return ()
    places = ", ".join(merged(pages))
    them = "it" if len(pages) == 1 else "them"
    return (Note(kind, f"{what} {places}: scanned. view_file shows {them}.", len(pages), places),)


def _garbled(pieces: list[WindowPiece]) -> tuple[Note, ...]:
    """Which of these pages have a text that is none, and how to see them."""
    pages = [piece.passage for piece in pieces if piece.passage.text.startswith(GARBLED)]
    if not pages:
        return ()
    places = ", ".join(merged(pages))
    return (
        Note(
            "text-garbled",
            f"The text of {places} can't be trusted; view_file shows it.",
            len(pages),
            places,
        ),
    )


def _read(pieces: list[WindowPiece]) -> tuple[tuple[int, int], ...]:
    """Those that gave a text, and all of it or its end: what goes on in the next window is read when
    that is."""
    return _ranges(
        [
            piece
            for piece in pieces
            if piece.passage.text not in TEXTLESS and piece.end >= len(piece.passage.text)
        ]
    )


def _sheets(pieces: list[WindowPiece], total: int | None) -> Iterator[SheetRead]:
    """What is there of each sheet; `total` are the rows of the last, of the others all rows up to
    their last."""
    names = list(dict.fromkeys(piece.passage.sheet for piece in pieces if piece.passage.sheet))
    for name in names:
        own = [piece for piece in pieces if piece.passage.sheet == name]
        last = own[-1].passage.number
        yield SheetRead(name, _read(own), max(last, (name == names[-1] and total) or 0))


def _ranges(pieces: list[WindowPiece]) -> tuple[tuple[int, int], ...]:
    ranges: list[tuple[int, int]] = []
    for number in (piece.passage.number for piece in pieces):
        if ranges and ranges[-1][0] <= number <= ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return tuple(ranges)


def _nothing(words: str, asked: Where, extent: Extent, kind: str) -> Window:
    """An empty window for an empty file or an empty place; an error, with what is valid, for a
    place outside the file."""
    if not words:
        return Window(
            "", (), "nothing to read: the file holds no text", "", extent.notes, total=extent.total
        )
    if asked.unit == "cue" and extent.end is not None and asked.first > extent.end:
        raise _outside(words, f"Its times are 00:00:00-{timestamp(extent.end)}.")
    if asked.unit != "cue" and extent.total is not None and asked.first > extent.total:
        unit = "row" if asked.unit in ("", "cell") else asked.unit
        raise _outside(
            words,
            f"It has {span(unit, 1, extent.total)}." if extent.total else f"It has no {unit}s.",
        )
    return Window("", (), f"nothing at {words}", "", extent.notes, total=extent.total)


def _outside(words: str, hint: str) -> InvalidInputError:
    return InvalidInputError(f"'{words}' is outside this file.", hint)
