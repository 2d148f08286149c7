"""What is a table and what only looks like one: prose in columns, lists, forms, contents, indexes,
formulas."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence

from leaf.readers.documents.pdf_lines import number_like

Rows = Sequence[Sequence[str]]

BULLET = re.compile(
    r"[•◦▪▫■□●○∙·⁃‣➢➤✓✔–—*o\-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]|\[\d{1,3}\]|§+\s?\d+|\d{1,2}(?:\.\d{1,3}){0,4}\.?"
)
LEADER = re.compile(r"(?:\.\s?){4,}|_{4,}|…{2,}")
BLANK = re.compile(r"_{3,}|\.{5,}|\[\s*\]|[☐☑□]+")
EQUATION = re.compile(r"\(\d+(?:\.\d+)*[a-z]?\)")
PAGE_LIST = re.compile(r"\d{1,4}(?:\s?[,;–-]\s?\d{1,4})*")
CODE = re.compile(r"^(?:[#\\][A-Za-z]|//|/\*)|[;{}]$|\*/$")
"""How lines of programs begin and end, and cells of tables do not."""
LEAST_GLYPHS = 12
MANY_GLYPHS = 20
"""More different characters than marks, grades and ticks are."""
MOST_WORDS = 6
"""Words of a cell, on average, of a column without lines around it; prose has more."""


def is_list(rows: Rows) -> bool:
    """Whether all but one column are bullets or numbers of a list, or numbers of formulas."""
    columns = list(zip(*rows, strict=True))
    if len(columns) > 2:
        return False
    first, last = _filled(columns[0]), _filled(columns[-1])
    return (_share(first, BULLET) >= 0.7 and not _counts_up_with_numbers(columns)) or _share(
        last, EQUATION
    ) >= 0.6


def _counts_up_with_numbers(columns: Sequence[Sequence[str]]) -> bool:
    """Whether numbers stand beside numbers: years and values, not a list."""
    last = _filled(columns[-1])
    return sum(map(number_like, last)) >= 0.6 * max(1, len(last))


def is_contents(rows: Rows) -> bool:
    """Whether it is a list of contents or an index: leaders, or page numbers that go up with
    nothing above them."""
    texts = [" ".join(row) for row in rows]
    if sum(bool(LEADER.search(text)) for text in texts) >= 0.4 * len(texts):
        return True
    if len(rows[0]) > 4:
        return False
    last = [row[-1] for row in rows if row[-1]]
    pages = [int(cell) for cell in last if cell.isdigit() and len(cell) < 5]
    if (
        len(pages) >= max(4, 0.85 * len(last))
        and len(pages) >= 0.7 * len(rows)
        and pages == sorted(pages)
        and len(rows[0]) <= 3
    ):
        return len(rows[0]) == 2 or _share([row[0] for row in rows if row[0]], BULLET) > 0.5
    return False


def is_index(rows: Rows) -> bool:
    """Whether its cells are words followed by page numbers: `adjacency, 12, 40-44`."""
    cells = [cell for row in rows for cell in row if cell]
    entries = sum(
        bool(re.fullmatch(r"\D{3,60}?[,\s]\s*\d{1,4}(?:\s?[,;–-]\s?\d{1,4})*", cell))
        for cell in cells
    )
    return entries >= 0.5 * len(cells)


def is_form(rows: Rows) -> bool:
    """Whether its cells are labels to be filled in beside."""
    cells = [cell for row in rows for cell in row if cell]
    labels = sum(cell.rstrip().endswith(":") for cell in cells)
    blanks = sum(bool(BLANK.search(cell)) for cell in cells)
    return (labels + blanks) >= 0.3 * len(cells) or (labels + blanks) >= 0.6 * len(rows)


def is_glyphs(rows: Rows) -> bool:
    """Whether it shows the characters of a font: single ones, most of them once. Ticks and grades
    come again."""
    pieces = [piece for row in rows for cell in row for piece in cell.split()]
    single = [piece for piece in pieces if len(piece) == 1 and not piece.isdigit()]
    if len(pieces) < LEAST_GLYPHS or len(single) < 0.7 * len(pieces):
        return False
    return len(set(single)) >= min(MANY_GLYPHS, 0.5 * len(single)) or len(set(pieces)) == 1


def is_code(rows: Rows) -> bool:
    """Whether its rows are lines of a program, whose blanks stand below each other."""
    return sum(bool(CODE.search(" ".join(row).strip())) for row in rows) >= 0.5 * len(rows)


def words_in(rows: Rows) -> float:
    """Words of a cell, on average, of the column that has most."""
    columns = zip(*rows, strict=True)
    return max(
        (
            statistics.mean(len(c.split()) for c in filled)
            for column in columns
            if (filled := _filled(column))
        ),
        default=0,
    )


def numeric_columns(rows: Rows) -> int:
    """Columns, the first not counted, whose cells below the first row are numbers for the most
    part."""
    count = 0
    for column in list(zip(*rows, strict=True))[1:]:
        body = _filled(column[1:])
        count += (
            len(body) >= 2
            and sum(map(number_like, body)) >= 0.6 * len(body)
            and any(c.isdigit() for cell in body for c in cell)
        )
    return count


def filled_share(rows: Rows) -> float:
    cells = [cell for row in rows for cell in row]
    return sum(bool(cell) for cell in cells) / max(1, len(cells))


def full_rows(rows: Rows) -> int:
    """Rows with two filled cells at least."""
    return sum(sum(bool(cell) for cell in row) >= 2 for row in rows)


def _filled(column: Sequence[str]) -> list[str]:
    return [cell for cell in column if cell]


def _share(cells: Sequence[str], pattern: re.Pattern[str]) -> float:
    return sum(bool(pattern.fullmatch(cell)) for cell in cells) / max(1, len(cells))


def no_ruled_table(rows: Rows) -> bool:
    """Whether a grid of lines holds no data: the drawing of a form, a chart or a page."""
    if full_rows(rows) < 2 or is_form(rows):
        return True
    width = len(rows[0])
    filled = sum(bool(cell) for row in rows for cell in row)
    return filled_share(rows) < 0.25 and filled < 4 * width


def no_spaced_table(rows: Rows, rules: int) -> bool:
    """Whether pieces of text one below the other are no table. `rules` are the lines drawn above,
    in and below it."""
    numbers = numeric_columns(rows)
    if (
        full_rows(rows) < (2 if rules >= 2 or (numbers >= 2 and len(rows[0]) > 2) else 3)
        or len(rows) < 2
    ):
        return True
    if (
        is_list(rows)
        or is_contents(rows)
        or is_form(rows)
        or is_index(rows)
        or is_glyphs(rows)
        or is_code(rows)
    ):
        return True
    if filled_share(rows) < 0.35 or full_rows(rows) < 0.5 * len(rows):
        return True
    words = words_in(rows)
    if rules >= 2:
        return words > (25 if numbers else 14)
    if numbers:
        return words > 14
    even = sum(all(row) for row in rows) / len(rows)
    return len(rows[0]) < 3 or words > MOST_WORDS or even < 0.6 or len(rows) < 3


def doubt_of(rows: Rows, rules: int, doubled: int) -> str:
    """Why a table without lines around its cells may be read wrongly; empty where nothing speaks
    against it."""
    cells = sum(bool(cell) for row in rows for cell in row)
    if doubled > 0.05 * cells:
        return f"in {doubled} places two pieces of text came into one cell"
    if filled_share(rows) < 0.6:
        return "many of its cells are empty"
    if not numeric_columns(rows) and rules < 2:
        return "it has no lines and no numbers, and may be text that was set in columns"
    return ""
