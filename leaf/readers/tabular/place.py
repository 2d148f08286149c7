"""Where a table stands in its file, and notes with the cells that they speak of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from leaf.readers.base import Note
from leaf.readers.tabular.cells import column_letter


@dataclass(frozen=True)
class TablePlace:
    """Where a table stands in its file."""

    sheet: str
    """Empty outside of spreadsheets."""
    top: int
    """First row of the table, its header included, 1-based."""
    bottom: int
    columns: tuple[int, ...]
    """Columns of the sheet, 0-based, in the order of the table's."""
    header_rows: int = 0

    def column(self, index: int) -> str:
        """`B5:B100`: the values of one column."""
        letter = column_letter(self.columns[index]) if index < len(self.columns) else "?"
        return f"{letter}{self.top + self.header_rows}:{letter}{self.bottom}"

    def rows(self, runs: Sequence[tuple[int, int]]) -> str:
        """`A7:F7, A14:F15`: rows, first and last of each run, from the table's first column to its
        last."""
        left, right = (
            column_letter(min(self.columns, default=0)),
            column_letter(max(self.columns, default=0)),
        )
        return ", ".join(f"{left}{a}:{right}{b}" for a, b in runs)


def locate(note: Note, columns: Sequence[tuple[str, str]], place: TablePlace) -> Note:
    """A note with its cells, where it names rows or columns only."""
    if note.cells:
        return note
    if note.place.startswith("sheet "):
        return replace(note, cells=note.place.partition("!")[2])
    shown, _, more = note.place.partition(" and ")
    ranges = [(int(a), int(b or a)) for a, b in re.findall(r"\b(\d+)(?:-(\d+))?", shown)]
    if note.place.startswith("row") and ranges:
        cells = place.rows(ranges) + (f" and {more}" if more else "")
    else:
        # Notes on columns quote their names.
        cells = ", ".join(
            place.column(i) for i, (name, _) in enumerate(columns) if f"'{name}'" in note.text
        )
    if not cells:
        return note
    if not place.sheet:
        rows = f"rows {place.top + place.header_rows}-{place.bottom}"
        return note if note.place else replace(note, place=rows)
    return replace(note, place=f"sheet {place.sheet}!{cells}", cells=cells)


def runs_of(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """First and last of each run of numbers."""
    runs: list[tuple[int, int]] = []
    for n in sorted(numbers):
        if runs and n <= runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], n)
        else:
            runs.append((n, n))
    return runs
