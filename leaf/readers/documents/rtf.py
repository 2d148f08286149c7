"""Rich Text documents, by striprtf: their text, rows of tables on one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from leaf.errors import FileTooLargeError, UnreadableFileError
from leaf.readers.base import Note, Outline, Passage, Where
from leaf.readers.documents.html import numbered
from leaf.readers.documents.rtf_marks import prepared
from leaf.readers.documents.tracked import notes_of_rtf
from leaf.readers.window import CHARS_PER_TOKEN, Extent

MAX_BYTES = 50_000_000
MAX_WITHOUT_PICTURES = 20_000_000
"""Bytes but for those of pictures; a novel has one million."""
MAX_GROUPS = 2_000_000
"""Groups, which striprtf keeps one in another."""
PICTURE = re.compile(rb"[0-9a-fA-F]{60,}\s?")
"""A line of a picture's bytes."""


class RtfReader:
    """Paragraphs."""

    def outline(self, path: Path) -> Outline:
        paragraphs, notes = _read(path)
        tokens = int(sum(len(p) + 1 for p in paragraphs) / CHARS_PER_TOKEN)
        return Outline("rtf", "application/rtf", lines=len(paragraphs), tokens=tokens, notes=notes)

    def extent(self, path: Path, where: Where) -> Extent:
        paragraphs, notes = _read(path)
        return Extent(len(paragraphs), notes=notes)

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        yield from numbered(_read(path)[0], where)


def _read(path: Path) -> tuple[list[str], tuple[Note, ...]]:
    """Its paragraphs, and what of them Word shows otherwise."""
    from striprtf.striprtf import rtf_to_text

    if path.stat().st_size > MAX_BYTES:
        raise FileTooLargeError(
            f"This document is over {MAX_BYTES // 1_000_000} MB.",
            "Save it as .docx or PDF, and add that.",
        )
    data = PICTURE.sub(b"", path.read_bytes())
    if len(data) > MAX_WITHOUT_PICTURES or data.count(b"{") > MAX_GROUPS:
        raise FileTooLargeError(
            "This Rich Text document is too long.", "Save it as .docx or PDF, and add that."
        )
    source = data.decode("latin-1")
    plain, hidden, struck = prepared(source)
    try:
        text = rtf_to_text(plain, errors="replace")
    except (ValueError, LookupError, IndexError, RecursionError) as e:
        raise UnreadableFileError(
            "This Rich Text document is damaged.", "Save it as .docx or PDF, and add that."
        ) from e
    lines = [line for raw_line in text.split("\n") if (line := _line(raw_line))]
    return lines, notes_of_rtf(source, hidden, struck)


def _line(text: str) -> str:
    """A line; of a row of a table its cells, whose last one is closed by a bar too. An empty first
    cell keeps its place."""
    cells = text.replace("[footnote:  ", "[footnote: ").strip().removesuffix("|").split("|")
    return " | ".join(cell.strip() for cell in cells).rstrip() if any(map(str.strip, cells)) else ""
