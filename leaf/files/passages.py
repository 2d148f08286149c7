"""Pieces of a file's text as the search index keeps them: cut to a good size, each with its place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from leaf.files.query import Term, fold
from leaf.formats.where import sheet_span, span, timestamp

PASSAGE = 800
"""Characters up to which a passage is kept whole or filled with its neighbours."""
LONGEST = PASSAGE * 5 // 4
"""Characters above which a passage is cut; what remains after a cut is never tiny."""
SNIPPET = 400
"""Characters of a hit that are shown."""


@dataclass(frozen=True)
class Passage:
    """A piece of text as the index keeps it, with the units that it covers."""

    unit: str
    first: int
    last: int
    sheet: str
    start: float | None
    stop: float | None
    text: str

    def place(self, first: int, last: int) -> str:
        """The locator of some of its units."""
        if self.start is not None:
            return f"{timestamp(self.start)}-{timestamp(self.stop if self.stop is not None else self.start)}"
        return sheet_span(self.sheet, first, last) if self.sheet else span(self.unit, first, last)


def cut(passages: Iterable[Passage]) -> Iterator[Passage]:
    """Passages of a good size for the index: long ones cut, neighbouring short paragraphs drawn together; no text twice."""
    held: Passage | None = None
    for passage in passages:
        if held is not None and _follows(held, passage):
            held = replace(held, last=passage.last, text=f"{held.text}\n{passage.text}")
            continue
        if held is not None:
            yield from _pieces(held)
        held = passage
    if held is not None:
        yield from _pieces(held)


def _follows(held: Passage, passage: Passage) -> bool:
    near = held.unit == passage.unit == "paragraph" and held.sheet == passage.sheet and passage.first == held.last + 1
    return near and len(held.text) + len(passage.text) < PASSAGE


def _pieces(passage: Passage) -> Iterator[Passage]:
    """The passage, cut where a line, a sentence or a word ends; pieces of lines have the numbers of their lines."""
    text, begin, line = passage.text, 0, passage.first
    if len(text) <= LONGEST:
        yield passage
        return
    while begin < len(text):
        end = _end_of_piece(text, begin)
        piece = text[begin:end]
        lines = piece.rstrip("\n").count("\n") if passage.unit == "line" else 0
        if piece.strip() and passage.unit == "line":
            yield replace(passage, first=line, last=line + lines, text=piece.rstrip("\n"))
        elif piece.strip():
            yield replace(passage, text=piece.strip())
        line += piece.count("\n")
        begin = end


def _end_of_piece(text: str, begin: int) -> int:
    if len(text) - begin <= LONGEST:
        return len(text)
    for mark in ("\n", ". ", " "):
        found = text.rfind(mark, begin + PASSAGE // 2, begin + PASSAGE)
        if found >= 0:
            return found + len(mark)
    return begin + PASSAGE


def parse_line(line: str) -> Passage:
    """A line of what the sandbox wrote."""
    found: dict[str, Any] = json.loads(line)
    number, text = int(found["number"]), str(found["text"])
    last = number + text.count("\n") if found["unit"] == "line" else number
    return Passage(str(found["unit"]), number, last, str(found["sheet"] or ""), found["start"], found["end"], text)


def snippet(text: str, terms: Iterable[Term]) -> tuple[int, int]:
    """The part of the text, cut at lines or words, in which most of the terms stand together."""
    if len(text) <= SNIPPET:
        return 0, len(text)
    folded = fold(text)
    patterns = [re.compile(re.escape(fold(t.stem)).replace(r"\ ", r"\W+")) for t in terms]
    found = sorted((m.start(), i) for i, p in enumerate(patterns) for m in p.finditer(folded))
    if not found:
        return 0, _blank_before(text, SNIPPET)
    at = max((place for place, _ in found), key=lambda a: (len({i for b, i in found if a <= b < a + SNIPPET * 3 // 4}), -a))
    begin = max(0, min(at - SNIPPET // 4, len(text) - SNIPPET))
    begin = 0 if begin == 0 else _blank_before(text, begin) if text[begin - 1] not in " \n" else begin
    return begin, len(text) if begin + SNIPPET >= len(text) else max(_blank_before(text, begin + SNIPPET), at + 1)


def _blank_before(text: str, at: int) -> int:
    """The place after the last line end, else blank, in the 100 characters before `at`; `at` itself if there is none."""
    for blank in ("\n", " "):
        found = text.rfind(blank, max(0, at - 100), at)
        if found >= 0:
            return found + 1
    return at
