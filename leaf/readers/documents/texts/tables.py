"""The tables of a plain text, which are laid out for the eye: drawn with pipes and dashes, in columns
that blanks part, or lines of numbers alone. The text stays a text; its tables can be queried too, and
the number of a row is that of its line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from leaf.readers.base import Note, TableInfo
from leaf.readers.documents.texts.columns import column_tables
from leaf.readers.documents.texts.drawn import drawn_tables
from leaf.readers.documents.texts.extracts import without_dots
from leaf.readers.documents.texts.lines import LaidOut, TextTable, assemble, spread
from leaf.readers.documents.texts.loose import loose_lines
from leaf.readers.documents.texts.numbers import number_tables
from leaf.readers.encoding import Encoding, open_text
from leaf.readers.tabular.delimited import write_rows
from leaf.readers.tabular.grids import MAX_TABLES

MOST_BYTES = 32_000_000
"""Of a larger text the tables are not looked for."""
WHOLE_BYTES = 1_000_000
"""Up to this size a text is looked at whole."""
SAMPLE = 200_000
"""Bytes from the beginning, the middle and the end of a larger one, which must hold a table."""
_LONGEST = 4_000
"""Characters of a line that may be one of a table."""


def text_tables(path: Path, encoding: Encoding) -> list[TextTable]:
    """All tables of a text, from above."""
    written = _lines(path, encoding)
    lines = _spread(written)
    long = frozenset(at for at, line in enumerate(written) if len(line) > _LONGEST)
    tables, above = list[TextTable](), 0
    drawn = _drawn(lines)[:MAX_TABLES]
    for table in drawn:
        tables.append(without_dots(lines, assemble(lines, table, above)))
        above = table.parts[-1].last + 1
    loose = loose_lines(lines, long, drawn, [table.title for table in tables])
    return [
        replace(table, notes=(*table.notes, *notes))
        for table, notes in zip(tables, loose, strict=True)
    ]


def count_tables(path: Path, encoding: Encoding) -> tuple[int, tuple[Note, ...]]:
    """How many tables a text has, and what is said of those that are not looked for."""
    size = path.stat().st_size
    if size > MOST_BYTES and _may_hold(path, encoding, size):
        text = (
            f"This text holds tables, but is over {MOST_BYTES // 1_000_000} MB: they can be read and "
            f"not be queried. Cut it into smaller files."
        )
        return 0, (Note("tables-cut", text),)
    lines = _lines(path, encoding)
    if not lines and size > WHOLE_BYTES:
        text = (
            f"This text is over {WHOLE_BYTES // 1_000_000} MB: tables were looked for at its beginning, "
            f"middle and end, where none is. Others can be read and not be queried."
        )
        return 0, (Note("tables-sampled", text),)
    return min(MAX_TABLES, len(_drawn(_spread(lines)))), ()


def _lines(path: Path, encoding: Encoding) -> list[str]:
    """The lines of a text in which tables are looked for. Of a large one only where its beginning,
    middle or end holds some, so that a log costs little."""
    size = path.stat().st_size
    if size > MOST_BYTES or (size > WHOLE_BYTES and not _may_hold(path, encoding, size)):
        return []
    with open_text(path, encoding, newline=_newline(encoding)) as file:
        return file.read().split("\n")


def _newline(encoding: Encoding) -> str | None:
    """As the lines of a text are told apart where they are read."""
    return None if encoding.newline == "\r" else "\n"


def _may_hold(path: Path, encoding: Encoding, size: int) -> bool:
    if encoding.name.startswith(("utf-16", "utf-32")):
        return size <= MOST_BYTES
    for start in (encoding.bom, size // 2, size - SAMPLE):
        with open_text(path, encoding, start, newline=_newline(encoding)) as file:
            lines = file.read(SAMPLE).split("\n")
        if _drawn(_spread(lines[start > encoding.bom : -1])):
            return True
    return False


def _spread(lines: Sequence[str]) -> list[str]:
    return [spread(line) if 0 < len(line) <= _LONGEST else "" for line in lines]


def _drawn(lines: list[str]) -> list[LaidOut]:
    """Tables drawn with pipes first, then those with names; the lines of these are in no other."""
    tables, taken = list(drawn_tables(lines)), [False] * len(lines)
    _take(taken, tables)
    for find in (column_tables, number_tables):
        more = find(lines, taken)
        _take(taken, more)
        tables += more
    return sorted(tables, key=lambda table: table.parts[0].first)


def _take(taken: list[bool], tables: Sequence[LaidOut]) -> None:
    for part in (part for table in tables for part in table.parts):
        taken[part.first : part.last + 1] = [True] * (part.last + 1 - part.first)


def write_text_tables(tables: Sequence[TextTable], out: Path) -> list[TableInfo]:
    """Each table as Parquet, its header and totals looked for as in any other."""
    out.mkdir(parents=True, exist_ok=True)
    infos: list[TableInfo] = []
    for number, table in enumerate(tables, 1):
        caption = (Note("caption", f"Its caption: {table.title}"),) if table.title else ()
        written = write_rows(table.rows, table.numbers, out, len(infos), header=table.header)
        infos += [
            replace(info, sheet=f"table {number}", notes=(*caption, *table.notes, *info.notes))
            for info in written
        ]
    return infos
