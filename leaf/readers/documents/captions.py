"""Captions and transcripts (WebVTT, SubRip): what was said, by whom, and when."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from leaf.errors import FileTooLargeError, UnreadableFileError
from leaf.readers.base import Note, Outline, Passage, Where
from leaf.readers.encoding import decode, guess_note
from leaf.readers.locate.where import seconds
from leaf.readers.window import CHARS_PER_TOKEN, Extent

MAX_BYTES = 50_000_000
"""A day of speech is some 2 MB."""

STAMP = r"(?:\d+:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?"
TIMING = re.compile(rf"\s*({STAMP})\s*-+>\s*({STAMP})(?:\s+\S.*)?\s*")
VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>", re.I)
TAG = re.compile(
    r"</?(?:[cibusv]|lang|ruby|rt|font|span)(?:\.[^\s<>]*)?(?:\s+[\w:-]+\s*=[^<>]{0,200})?\s*>"
    rf"|<lang(?:\.[^\s<>]*)?\s+[^<>]{{1,200}}>|<{STAMP}>|\{{\\[^}}]{{0,100}}\}}",
    re.I,
)
"""Markup of WebVTT and SubRip; any other `<` is a sign that somebody wrote."""
BREAK = re.compile(r"<br\s*/?>", re.I)
NUMBER = re.compile(r"\W*\d+\W*")
"""What SubRip calls a cue; WebVTT calls it anything."""
ASIDE = re.compile(r"(?:NOTE|STYLE|REGION)(?:\s.*)?|WEBVTT.*")
"""How a block of WebVTT begins that says nothing: a remark, the look, the head of the file."""


class CaptionsReader:
    """Cues in the order of the file."""

    def outline(self, path: Path) -> Outline:
        cues, notes = _parse(path)
        tokens = int(sum(len(cue.text) + 11 for cue in cues) / CHARS_PER_TOKEN)
        return Outline(
            "captions", "text/vtt", lines=len(cues), duration=_end(cues), tokens=tokens, notes=notes
        )

    def extent(self, path: Path, where: Where) -> Extent:
        cues, notes = _parse(path)
        return Extent(len(cues), _end(cues), notes)

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        """Cues that are on screen at some time of the part asked for."""
        first = where.first if where.unit == "cue" else 0.0
        for cue in _parse(path)[0]:
            start, end = cue.start or 0.0, cue.end or 0.0
            if (end >= first or start >= first) and (where.last is None or start <= where.last):
                yield cue


def _end(cues: list[Passage]) -> float | None:
    return max((cue.end or 0.0 for cue in cues), default=None)


def _parse(path: Path) -> tuple[list[Passage], tuple[Note, ...]]:
    if path.stat().st_size > MAX_BYTES:
        raise FileTooLargeError(
            f"These captions are over {MAX_BYTES // 1_000_000} MB.",
            "Split the file, and add the pieces.",
        )
    text, encoding = decode(path)
    captions = _Found(text)
    cues = captions.cues()
    if not cues:
        raise UnreadableFileError(
            "These captions hold no cue with a time.",
            "Check that the file is complete, or add it as plain text.",
        )
    notes = [note for note in (guess_note(encoding), *captions.notes()) if note]
    return cues, tuple(notes)


class _Found:
    """Cues with the lines of each. A line that begins no cue belongs to the one before it, also
    after an empty line: what is said may have one in it."""

    def __init__(self, text: str) -> None:
        self._timed: list[tuple[str, str, list[str]]] = []
        self._before: list[str] = []
        """Lines that no cue comes before."""
        self._into = self._before
        self._unread = 0
        self._webvtt = text.startswith("WEBVTT")
        for block in _blocks(text):
            self._take(block)

    def cues(self) -> list[Passage]:
        """Those in which something is said, in order."""
        utterances = [
            (start, end, words) for start, end, lines in self._timed if (words := _words(lines))
        ]
        return [
            Passage(words, "cue", number, start=seconds(start), end=seconds(end))
            for number, (start, end, words) in enumerate(utterances, 1)
        ]

    def notes(self) -> list[Note]:
        """What is in no cue."""
        notes = []
        if unread := self._unread:
            text = f"{unread:,} cues have times that cannot be read and were left out."
            notes.append(Note("cues-skipped", text, unread))
        if before := len(self._before):
            text = f"{before:,} lines before the first time were left out."
            notes.append(Note("cues-skipped", text, before))
        return notes

    def _take(self, block: list[str]) -> None:
        aside = self._webvtt and bool(ASIDE.fullmatch(block[0]))
        for at, line in enumerate(block):
            if match := TIMING.fullmatch(line):
                self._begin(match[1], match[2])
                aside = False
            elif not aside and self._is_broken(block, at):
                self._unread += 1
                self._into = []
            elif not aside and not self._is_name(block, at):
                self._into.append(line)

    def _begin(self, start: str, end: str) -> None:
        self._into = []
        self._timed.append((start, end, self._into))

    def _is_broken(self, block: list[str], at: int) -> bool:
        """Whether a cue begins here whose times cannot be read."""
        first = at == 0 or (at == 1 and self._is_name(block, 0))
        return first and _has_times(block[at])

    def _is_name(self, block: list[str], at: int) -> bool:
        """Whether a line is what the cue below is called. Where no empty line comes before, only a
        number above times that can be read is."""
        following = block[at + 1] if at + 1 < len(block) else ""
        if at:
            return block[at].strip().isdigit() and bool(TIMING.fullmatch(following))
        named = self._webvtt or bool(NUMBER.fullmatch(block[at]))
        return named and "-->" not in block[at] and _has_times(following)


def _has_times(line: str) -> bool:
    """Whether a line is meant to say from when to when; an arrow alone may be something said."""
    return "-->" in line and any(c.isdigit() for c in line)


def _blocks(text: str) -> Iterator[list[str]]:
    """Lines between empty lines. Where every second line is empty, line ends were doubled."""
    lines = text.rstrip("\x1a").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not any(line.strip() for line in lines[1::2]):
        lines = lines[::2]
    for empty, block in groupby(lines, lambda line: not line.strip()):
        if not empty:
            yield list(block)


def _words(lines: list[str]) -> str:
    """The payload without markup, on one line; `<v Ann>` becomes `Ann: `."""
    text = VOICE.sub(
        lambda match: f"\x00{html.unescape(match[1]).strip()}: ",
        BREAK.sub(" ", " ".join(line.strip() for line in lines)),
    )
    text = html.unescape(TAG.sub("", text))
    return " ".join(text.replace("\x00", " ").split())
