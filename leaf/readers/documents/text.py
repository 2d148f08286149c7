"""Plain text, line by line: notes, Markdown, logs and code. A log of a gigabyte is never held in
memory."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TextIO

from leaf.readers.base import Note, Outline, Passage, TableInfo, Where
from leaf.readers.documents.texts.tables import count_tables, text_tables, write_text_tables
from leaf.readers.encoding import Encoding, guess_note, open_text, sniff_encoding
from leaf.readers.window import CHARS_PER_TOKEN, Extent

LONGEST = 1_000_000
"""Characters of one line that are read at a time; a longer line arrives as several passages of one
number."""
BLOCK = 1 << 20


class CodeReader:
    """Lines, found lazily. What is laid out in columns in a program is no table."""

    def outline(self, path: Path) -> Outline:
        encoding = sniff_encoding(path)
        width = (
            4
            if encoding.name.startswith("utf-32")
            else 2
            if encoding.name.startswith("utf-16")
            else 1
        )
        tokens = int(path.stat().st_size / width / CHARS_PER_TOKEN)
        return Outline(
            "text",
            "text/plain",
            lines=_count(path, encoding),
            tokens=tokens,
            notes=_notes(encoding),
        )

    def extent(self, path: Path, where: Where) -> Extent:
        """Number of lines, by counting line ends."""
        encoding = sniff_encoding(path)
        return Extent(_count(path, encoding), notes=_notes(encoding))

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        encoding = sniff_encoding(path)
        first = int(where.first)
        with _open_at(path, encoding, first) as file:
            number = first
            while where.last is None or number <= where.last:
                text = file.readline(LONGEST)
                if not text:
                    return
                yield Passage(text.rstrip("\r\n"), "line", number)
                number += text.endswith("\n")


class TextReader(CodeReader):
    """The same, with the tables that are laid out for the eye."""

    def outline(self, path: Path) -> Outline:
        outline = super().outline(path)
        tables, cut = count_tables(path, sniff_encoding(path))
        return replace(outline, tables=tables, notes=(*outline.notes, *cut))

    def tables(self, path: Path, out: Path) -> list[TableInfo]:
        """Every table that is laid out for the eye; the number of a row is that of its line."""
        return write_text_tables(text_tables(path, sniff_encoding(path)), out)


def _notes(encoding: Encoding) -> tuple[Note, ...]:
    note = guess_note(encoding)
    return (note,) if note else ()


def _plain(encoding: Encoding) -> bool:
    """Whether the byte 10 is a line's end and nothing else, so that lines can be counted without
    decoding."""
    multibyte = encoding.name.startswith(("utf-16", "utf-32", "iso2022"))
    return not multibyte and encoding.newline != "\r"


def _count(path: Path, encoding: Encoding) -> int:
    if not _plain(encoding):
        with open_text(path, encoding) as text:
            return _count_decoded(text)
    count, last = 0, b"\n"
    with path.open("rb") as file:
        file.seek(encoding.bom)
        while block := file.read(BLOCK):
            count += block.count(b"\n")
            last = block[-1:]
    return count + (last != b"\n")


def _count_decoded(text: TextIO) -> int:
    count, last = 0, "\n"
    while block := text.read(BLOCK):
        count += block.count("\n")
        last = block[-1:]
    return count + (last != "\n")


def _open_at(path: Path, encoding: Encoding, line: int) -> TextIO:
    """The text from the beginning of a line. Lines before it are counted in bytes where that is
    possible."""
    if not _plain(encoding):
        text = open_text(path, encoding)
        _skip(text, line - 1)
        return text
    return open_text(path, encoding, _offset(path, encoding.bom, line), newline="\n")


def _skip(text: TextIO, lines: int) -> None:
    while lines > 0:
        piece = text.readline(LONGEST)
        if not piece:
            return
        lines -= piece.endswith("\n")


def _offset(path: Path, at: int, line: int) -> int:
    """Byte at which a line begins; the end of the file if it has fewer."""
    missing = line - 1
    with path.open("rb") as file:
        file.seek(at)
        while missing > 0 and (block := file.read(BLOCK)):
            count = block.count(b"\n")
            if count >= missing:
                return at + _nth_end(block, missing)
            missing -= count
            at += len(block)
    return at


def _nth_end(block: bytes, nth: int) -> int:
    ends = io.BytesIO(block)
    return sum(len(line) for line in islice(ends, nth))
