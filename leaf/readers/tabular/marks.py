"""Footnote marks behind the figures of a document's table: `12.5¹` is the figure 12.5."""

from __future__ import annotations

import re
from collections.abc import Sequence

from leaf.readers.base import Note

_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_MARKED = re.compile(
    rf"(?P<figure>[-+−(]?\s?[$€£¥]?\s?\d(?:[\d.,'’\s]*\d)?\s?%?\)?)\s?"
    rf"[{_RAISED}⁽](?:[{_RAISED}⁽⁾, ]*[{_RAISED}⁾])?"
)
_FIGURE = re.compile(r"[-+−(]?\s?[$€£¥]?\s?\d(?:[\d.,'’\s]*\d)?\s?%?\)?")
_BASES = frozenset(("2", "10"))
"""Figures that are raised to a power more often than they have a footnote."""


def without_marks(
    rows: Sequence[Sequence[str]], header: int
) -> tuple[list[list[str]], tuple[Note, ...]]:
    """The rows without the marks behind figures, and a note for each column that had any. A column
    that holds other words too, or whose marks may be powers, is left as it is."""
    grid = [list(row) for row in rows]
    top = max(header, 1)
    notes = []
    for column in range(max(map(len, grid), default=0)):
        cells = {n: row[column] for n, row in enumerate(grid) if n >= top and column < len(row)}
        figures = _figures(list(cells.values()))
        changed = [n for n, text in cells.items() if text.strip() in figures]
        for n in changed:
            grid[n][column] = figures[cells[n].strip()]
        if changed:
            name = " ".join(row[column] for row in grid[:top] if column < len(row)).strip()
            notes.append(_note(name or f"column {column + 1}", cells[changed[0]], len(changed)))
    return grid, tuple(notes)


def _figures(cells: Sequence[str]) -> dict[str, str]:
    """Marked figure -> figure; empty where the column's marks are not proven to be those of
    footnotes: some figure must have none, as powers and units do not come and go."""
    texts = {cell.strip() for cell in cells if any(c.isdigit() for c in cell)}
    figure_of = {
        text: match["figure"].strip() for text in texts if (match := _MARKED.fullmatch(text))
    }
    plain = texts - figure_of.keys()
    proven = (
        bool(plain) and all(map(_FIGURE.fullmatch, plain)) and not _BASES & {*figure_of.values()}
    )
    return figure_of if proven else {}


def _note(name: str, example: str, count: int) -> Note:
    marks = "1 footnote mark" if count == 1 else f"{count:,} footnote marks"
    verb = "is" if count == 1 else "are"
    text = f"{marks} behind figures in '{name}' {verb} left off, such as in {example.strip()}."
    return Note("footnote-marks", text, count)
