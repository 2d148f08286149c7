"""Captions and transcripts (WebVTT, SubRip): what was said, by whom, and when."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
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
TAG = re.compile(r"</?(?:[a-z][^>]{0,200}|\d[\d:.]*)>|\{\\[^}]{0,100}\}", re.I)


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
    cues, unread = _cues(text.replace("\r\n", "\n").replace("\r", "\n"))
    if not cues:
        raise UnreadableFileError(
            "These captions hold no cue with a time.",
            "Check that the file is complete, or add it as plain text.",
        )
    notes = [note for note in (guess_note(encoding),) if note]
    if unread:
        notes.append(
            Note(
                "cues-skipped",
                f"{unread:,} cues have times that cannot be read and were left out.",
                unread,
            )
        )
    return cues, tuple(notes)


def _cues(text: str) -> tuple[list[Passage], int]:
    """Cues, and how many lines looked like times without being readable. A cue goes on to the next
    blank line or times."""
    cues: list[Passage] = []
    unread = 0
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        match = TIMING.fullmatch(lines[at])
        if match is None:
            unread += "-->" in lines[at]
            at += 1
            continue
        begin = at = at + 1
        while at < len(lines) and lines[at].strip() and not _begins_cue(lines, at):
            at += 1
        words = _words(lines[begin:at])
        if words:
            cues.append(
                Passage(words, "cue", len(cues) + 1, start=seconds(match[1]), end=seconds(match[2]))
            )
    return cues, unread


def _begins_cue(lines: list[str], at: int) -> bool:
    """Whether a cue begins here though no blank line came before: its times, or its number with the
    times below."""
    following = lines[at + 1] if at + 1 < len(lines) else ""
    return bool(TIMING.fullmatch(lines[at])) or (
        lines[at].strip().isdigit() and bool(TIMING.fullmatch(following))
    )


def _words(lines: list[str]) -> str:
    """The payload without markup, on one line; `<v Ann>` becomes `Ann: `."""
    text = VOICE.sub(
        lambda match: f"\x00{html.unescape(match[1]).strip()}: ",
        " ".join(line.strip() for line in lines),
    )
    text = html.unescape(TAG.sub("", text))
    return " ".join(text.replace("\x00", " ").split())
