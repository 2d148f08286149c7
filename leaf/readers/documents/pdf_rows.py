"""Tables in a PDF that were drawn column by column, put back into rows.

pdfium gives text in the order in which it was drawn. Most tables are drawn row by row, and each row
is a line. Where columns were drawn one after the other, the cells of a row stand far apart; then
the positions of the cells say what belongs together.
"""

from __future__ import annotations

import ctypes
import itertools
import re
from dataclasses import dataclass
from typing import Any

SHORT = 32
"""Characters of a cell; prose in columns has longer lines."""
LEAST = 8
"""Short lines in a run before it can be a table."""
LINE = re.compile(r"[^\r\n]*\S[^\r\n]*")
NUMBER = re.compile(r"[\s$€£¥+\-–−(]*\d[\d.,\s'’]*[%)]?\s*\S{0,3}|[-–—*.]|n/?a", re.I)


@dataclass(frozen=True)
class DrawnText:
    """A short stretch of text as drawn, up to the next line break, and where it begins."""

    text: str
    left: float
    baseline: float
    size: float
    """Font size: how far apart lines are at least."""


def looks_tabular(text: str) -> bool:
    """Whether numbers stand one below the other among short lines, so that looking at positions is
    worth its cost."""
    run = numbers = most = 0
    for line in text.split("\n"):
        if not 0 < len(line) <= SHORT:
            run = numbers = most = 0
            continue
        run += 1
        numbers = numbers + 1 if NUMBER.fullmatch(line) else 0
        most = max(most, numbers)
        if run >= LEAST and most >= 3:
            return True
    return False


def text_by_rows(textpage: Any) -> str:
    """The page's text with such tables in rows; empty where none was found."""
    lines: list[str] = []
    changed = False
    text = textpage.get_text_range()
    raw_lines = [(match.start(), match[0]) for match in LINE.finditer(text)]
    for short, group in itertools.groupby(
        raw_lines, key=lambda item: len(item[1].strip()) <= SHORT
    ):
        run = list(group)
        rows = (
            _rows([_cell(textpage, at, line) for at, line in run])
            if short and len(run) >= LEAST
            else None
        )
        changed = changed or rows is not None
        lines.extend(rows if rows is not None else [line for _, line in run])
    return "\n".join(lines) if changed else ""


def _cell(textpage: Any, at: int, line: str) -> DrawnText:
    """A line at an index of the page's text, with the place of its first character."""
    import pypdfium2.raw as raw

    index = raw.FPDFText_GetCharIndexFromTextIndex(textpage, at)
    left, baseline = ctypes.c_double(), ctypes.c_double()
    raw.FPDFText_GetCharOrigin(textpage, index, left, baseline)
    return DrawnText(
        line.strip(),
        left.value,
        baseline.value,
        max(1.0, raw.FPDFText_GetFontSize(textpage, index)),
    )


def _rows(run: list[DrawnText]) -> list[str] | None:
    """The rows of a run of cells that was drawn by columns; None where it was not, or where it is
    no table."""
    columns = _columns(run)
    if len(run) < LEAST or len(columns) < 2:
        return None
    numeric = sum(bool(NUMBER.fullmatch(cell.text)) for column in columns[1:] for cell in column)
    if numeric < 0.5 * sum(len(column) for column in columns[1:]):
        return None
    rows: list[list[DrawnText]] = []
    for cell in sorted(run, key=lambda c: -c.baseline):
        if rows and abs(rows[-1][0].baseline - cell.baseline) <= 0.5 * max(
            rows[-1][0].size, cell.size
        ):
            rows[-1].append(cell)
        else:
            rows.append([cell])
    if sum(len(row) > 1 for row in rows) < 0.6 * len(rows):
        return None
    return [" ".join(cell.text for cell in sorted(row, key=lambda c: c.left)) for row in rows]


def _columns(run: list[DrawnText]) -> list[list[DrawnText]]:
    """Cells one below the other; a new column begins where the drawing goes back up, beside what
    came before."""
    columns: list[list[DrawnText]] = []
    for cell in run:
        if columns and cell.baseline < columns[-1][-1].baseline + 0.5 * cell.size:
            columns[-1].append(cell)
        else:
            columns.append([cell])
    beside = all(
        min(c.left for c in b) > min(c.left for c in a) for a, b in itertools.pairwise(columns)
    )
    return columns if beside and min(map(len, columns), default=0) >= 3 else []
