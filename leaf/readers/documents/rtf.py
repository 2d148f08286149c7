"""Rich Text documents, by striprtf: their text, rows of tables on one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from leaf.errors import FileTooLargeError, UnreadableFileError
from leaf.readers.base import Note, Outline, Passage, TableInfo, Where
from leaf.readers.documents.html import numbered
from leaf.readers.documents.rtf_marks import prepared
from leaf.readers.documents.tracked import notes_of_rtf
from leaf.readers.tabular.grids import Grid, Rows, is_table, write_grids
from leaf.readers.window import CHARS_PER_TOKEN, Extent

MAX_BYTES = 50_000_000
MAX_WITHOUT_PICTURES = 20_000_000
"""Bytes but for those of pictures; a novel has one million."""
MAX_GROUPS = 2_000_000
"""Groups, which striprtf keeps one in another."""
PICTURE = re.compile(rb"[0-9a-fA-F]{60,}\s?")
"""A line of a picture's bytes."""
_BEGIN, _CELL, _ROW = "\ue000", "\ue001", "\ue002"
"""What stands for the beginning of a row, the end of a cell and that of a row."""
_MARK = re.compile(r"\\(trowd|cell|row)(?![a-zA-Z])")


class RtfReader:
    """Paragraphs."""

    def outline(self, path: Path) -> Outline:
        paragraphs, notes = _read(path)
        tokens = int(sum(len(p) + 1 for p in paragraphs) / CHARS_PER_TOKEN)
        return Outline(
            *("rtf", "application/rtf"),
            lines=len(paragraphs),
            tables=len(_grids(path)),
            tokens=tokens,
            notes=notes,
        )

    def extent(self, path: Path, where: Where) -> Extent:
        paragraphs, notes = _read(path)
        return Extent(len(paragraphs), notes=notes)

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        yield from numbered(_read(path)[0], where)

    def tables(self, path: Path, out: Path) -> list[TableInfo]:
        """Every table of the document."""
        return write_grids(_grids(path), out)


def _grids(path: Path) -> list[Grid]:
    """Rows that nothing stands between are of one table."""
    tables: list[Rows] = [[]]
    for between, row in _pieces(prepared(_source(path))[0]):
        if row is None or between.strip():
            tables.append([])
        tables[-1] += [row] if row is not None else []
    widths = ((rows, max(map(len, rows), default=0)) for rows in tables)
    padded = [[row + [""] * (width - len(row)) for row in rows] for rows, width in widths]
    return [Grid("", rows) for rows in padded if is_table(rows)]


def _pieces(source: str) -> Iterator[tuple[str, list[str] | None]]:
    """Each row of a table with the text before it, and the text after the last one."""
    *rows, rest = _plain(_MARK.sub(_as_mark, source)).split(_ROW)
    for piece in rows:
        between, begun, row = piece.partition(_BEGIN)
        cells = [" ".join(cell.split()) for cell in row.replace(_BEGIN, "").split(_CELL)]
        last = cells.pop() if begun else ""
        yield between.replace(_CELL, "|"), [*cells, *filter(None, [last])] if begun else None
    yield rest.replace(_BEGIN, "").replace(_CELL, "|"), None


def _as_mark(word: re.Match[str]) -> str:
    return rf"\u{ord({'trowd': _BEGIN, 'cell': _CELL, 'row': _ROW}[word[1]])}?"


def _read(path: Path) -> tuple[list[str], tuple[Note, ...]]:
    """Its paragraphs, and what of them Word shows otherwise."""
    source = _source(path)
    plain, hidden, struck = prepared(source)
    lines: list[str] = []
    for between, row in _pieces(plain):
        lines += filter(None, map(_line, between.split("\n")))
        if row and any(row):
            lines.append(_tidy(" | ".join(row)).rstrip())
    return lines, notes_of_rtf(source, hidden, struck)


def _source(path: Path) -> str:
    """The document without its pictures. Raises FileTooLargeError."""
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
    return data.decode("latin-1")


def _plain(source: str) -> str:
    """Its text. Raises UnreadableFileError."""
    from striprtf.striprtf import rtf_to_text

    try:
        return str(rtf_to_text(source, errors="replace"))
    except (ValueError, LookupError, IndexError, RecursionError) as e:
        raise UnreadableFileError(
            "This Rich Text document is damaged.", "Save it as .docx or PDF, and add that."
        ) from e


def _line(text: str) -> str:
    """A line; of a row of a table in a table its cells, whose last one is closed by a bar too."""
    cells = _tidy(text).strip().removesuffix("|").split("|")
    return " | ".join(cell.strip() for cell in cells).rstrip() if any(map(str.strip, cells)) else ""


def _tidy(text: str) -> str:
    return text.replace("[footnote:  ", "[footnote: ")
