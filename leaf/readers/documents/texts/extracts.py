"""Tables in a plain text that show but a part of their rows, as pandas, polars, DuckDB and R print long
ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from leaf.readers.base import Note
from leaf.readers.documents.texts.lines import TextTable
from leaf.readers.tabular.cells import places

_DOTS = re.compile(r"\.{2,3}|…|·|⋮|:")
MORE = re.compile(r"^\s*#.*?([\d,]+) more rows\b|\(\d[\d,]* shown\)")
"""A line that says of how many rows a table shows none."""
_SHAPE = re.compile(r"\[(\d+) rows x \d+ columns\]")
_NEAR = 4
"""Lines below a table that say of how many rows it is."""


def without_dots(lines: Sequence[str], table: TextTable) -> TextTable:
    """The table without rows that hold dots alone, and what is said of it if rows are missing."""
    pairs = list(zip(table.rows, table.numbers, strict=True))
    dots = [number for row, number in pairs[table.header :] if _is_dots(row)]
    rows = [pair for pair in pairs if pair[1] not in set(dots) or not _is_dots(pair[0])]
    last = table.numbers[-1]
    below = lines[last : last + _NEAR]
    shape = next(filter(None, map(_SHAPE.search, below)), None)
    cut = any(map(MORE.search, below)) or bool(shape and int(shape[1]) > len(rows) - table.header)
    if not dots and not cut:
        return table
    text = "The table is an extract: the text says that it has more rows, which are not in it."
    if dots:
        text = "The table is an extract: rows were left out of it where dots stand in the text."
    note = Note("table-extract", text, 0, places(dots) if dots else "")
    return replace(
        table,
        rows=[row for row, _ in rows],
        numbers=[number for _, number in rows],
        notes=(*table.notes, note),
    )


def _is_dots(row: Sequence[str]) -> bool:
    cells = [cell for cell in row if cell]
    return len(cells) > 1 and all(map(_DOTS.fullmatch, cells))
