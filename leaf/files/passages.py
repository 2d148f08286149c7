"""Pieces of a file's text as the search index keeps them: cut to a good size, each with its
place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from leaf.files.query import tokens
from leaf.files.ranking import Wanted
from leaf.readers.base import Passage
from leaf.readers.locate.where import sheet_span, span, timestamp
from leaf.readers.pieces import end_of_piece
from leaf.sandbox.answers import checked, loaded, too_long, unreadable
from leaf.sandbox.limits import CallLimits

PASSAGE = 800
"""Characters up to which a passage is kept whole or filled with its neighbours."""
LONGEST = PASSAGE * 5 // 4
"""Characters above which a passage is cut; what remains after a cut is never tiny."""
LINE = 1024 * 1024
"""Bytes of one passage as a child writes it: some 8,000 characters and its place."""
CHARACTERS = 21_000_000
"""Of one file that are taken: a little more than a child gives."""
SNIPPET = 400
"""Characters of a hit that are shown."""


@dataclass(frozen=True)
class IndexedPassage:
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


def cut(passages: Iterable[IndexedPassage]) -> Iterator[IndexedPassage]:
    """Passages of a good size for the index: long ones cut, neighbouring short paragraphs drawn
    together; no text twice."""
    held: IndexedPassage | None = None
    for passage in passages:
        if held is not None and _follows(held, passage):
            held = replace(held, last=passage.last, text=f"{held.text}\n{passage.text}")
            continue
        if held is not None:
            yield from _pieces(held)
        held = passage
    if held is not None:
        yield from _pieces(held)


def _follows(held: IndexedPassage, passage: IndexedPassage) -> bool:
    near = (
        held.unit == passage.unit == "paragraph"
        and held.sheet == passage.sheet
        and passage.first == held.last + 1
    )
    return near and len(held.text) + len(passage.text) < PASSAGE


def _pieces(passage: IndexedPassage) -> Iterator[IndexedPassage]:
    """The passage, cut where a line, a sentence or a word ends; pieces of lines have the numbers of
    their lines."""
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
    return len(text) if len(text) - begin <= LONGEST else end_of_piece(text, begin, PASSAGE)


def read_passages(path: Path) -> Iterator[IndexedPassage]:
    """What a child wrote for the index, as far as it is allowed to: one JSON object a line. Raises
    SandboxError for what is none."""
    left = CHARACTERS
    with path.open("rb") as file:
        while line := file.readline(LINE + 1):
            if len(line) > LINE:
                raise too_long()
            passage = checked(loaded(line, CallLimits()), Passage)
            times = [t for t in (passage.start, passage.end) if t is not None]
            if not 0 <= passage.number < 1 << 53 or not all(0 <= t < 1e9 for t in times):
                raise unreadable()
            left -= len(passage.text)
            if left < 0 or not passage.text:
                raise too_long()
            yield _indexed(passage)


def _indexed(passage: Passage) -> IndexedPassage:
    lines = passage.text.count("\n") if passage.unit == "line" else 0
    return IndexedPassage(
        passage.unit,
        passage.number,
        passage.number + lines,
        passage.sheet,
        passage.start,
        passage.end,
        passage.text,
    )


def snippet(text: str, wanted: Sequence[Wanted]) -> tuple[int, int]:
    """The part of the text, cut at lines or words, in which most of what was wanted stands
    together; never cut inside of that."""
    if len(text) <= SNIPPET:
        return 0, len(text)
    begin, end = _closest(text, wanted)
    room = SNIPPET - (end - begin)
    start = max(0, min(begin - room // 3, len(text) - SNIPPET))
    stop = min(len(text), max(end, start + SNIPPET))
    return _blank_after(text, start, begin), _blank_before(text, stop, end)


def _closest(text: str, wanted: Sequence[Wanted]) -> tuple[int, int]:
    """Where the most different words stand within what can be shown, the most words where several
    do so, else the first."""
    there = list(tokens(text))
    words = [word for _, _, word in there]
    hits = sorted(
        (there[first][0], there[last][1], number)
        for number, each in enumerate(wanted)
        for first, last in each.places(words)
    )
    best, most = (0, 0), (0, 0)
    for i, (begin, _, _) in enumerate(hits):
        near = [hit for hit in hits[i:] if hit[1] - begin <= SNIPPET * 3 // 4] or [hits[i]]
        count = (len({number for *_, number in near}), len(near))
        if count > most:
            most, best = count, (begin, min(max(end for _, end, _ in near), begin + SNIPPET))
    return best


def _blank_after(text: str, at: int, latest: int) -> int:
    """The first place from `at` to `latest` where a line, else a word begins."""
    if at == 0 or text[at - 1].isspace():
        return at
    for blank in ("\n", " "):
        index = text.find(blank, at, min(latest, at + 100))
        if index >= 0:
            return index + 1
    return at


def _blank_before(text: str, at: int, earliest: int) -> int:
    """The last place from `earliest` to `at` where a line, else a word ends."""
    if at == len(text) or text[at].isspace():
        return at
    for blank in ("\n", " "):
        index = text.rfind(blank, max(earliest, at - 100), at)
        if index >= 0:
            return index
    return at
