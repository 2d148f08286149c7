"""The row that numbers the columns of a form, or gives their widths: below the names, above the
data, and no record."""

from __future__ import annotations

import re
from collections.abc import Sequence

from leaf.readers.tabular.cells import is_empty, kind_of
from leaf.readers.tabular.grid import SAMPLE, GridView
from leaf.readers.tabular.header import header_names

_FEWEST = 3
"""Columns of a table whose numbers say something."""
_DEEPEST = 8
"""Rows above the numbers: titles and the rows of a header."""
_COUNT = re.compile(
    r"(?i)(?:col(?:umn|\.)?|sp(?:alte|\.)|гр(?:афа|\.)?|no\.?|№)?\s?"
    r"[(\[]?(?P<number>\d{1,3})[)\].]?(?:\s*=[^=]*|\s*\([^()]*\))?"
)
"""`3`, `(3)`, `[3]`, `3.`, `col. 3`, `4=3-2`: the number of a column, and how it is computed."""
_FORMS = re.compile(r"\d{1,3}[sdn]")
"""`15s`, `20d`, `14n`: how wide a column may be and whether it holds text, dates or numbers."""
_DEEPEST_FORMS = 400
"""Rows above forms: comments on what the file holds are long."""
_LETTERS = ("ABCDEFGH", "АБВГДЕЖЗ", "ΑΒΓΔΕΖΗΘ")


def numbering_row(view: GridView, rows: Sequence[int], columns: Sequence[int]) -> int | None:
    """Position in `rows` of the row that counts the columns right below their names, where it fits
    the rows below in no way; None where it may be a record."""
    if len(columns) < _FEWEST:
        return None
    if (forms := _forms_row(view, rows, columns)) is not None:
        return forms
    for at in range(1, min(_DEEPEST, len(rows) - 1)):
        cells = [_text(view.cell(rows[at], c)) for c in columns]
        start = _before_numbers(cells)
        if start is None:
            continue
        below = _below(view, rows, at, columns)
        named = _names_stand_above(view, rows[:at], columns, start)
        return at if named and _is_unlike(cells, start, below) else None
    return None


def gives_forms(cells: Sequence[object]) -> bool:
    """Whether a row says how wide each column is and what it holds, as the second row of an RDB file
    does."""
    return len(cells) >= _FEWEST and all(_FORMS.fullmatch(_text(cell)) for cell in cells)


def _forms_row(view: GridView, rows: Sequence[int], columns: Sequence[int]) -> int | None:
    """Position of the row that gives the forms of the columns right below their names."""
    for at in range(1, min(_DEEPEST_FORMS, len(rows) - 1)):
        if not gives_forms([view.cell(rows[at], c) for c in columns]):
            continue
        names = [_text(view.cell(rows[at - 1], c)) for c in columns]
        alike = any(
            gives_forms([view.cell(i, c) for c in columns]) for i in rows[at + 1 : at + 1 + SAMPLE]
        )
        return at if all(names) and len(set(names)) == len(names) and not alike else None
    return None


def _below(
    view: GridView, rows: Sequence[int], at: int, columns: Sequence[int]
) -> list[list[object]]:
    """The cells of the rows below one, but for those that say again what it and the row above it
    do, as printed pages do."""
    header_rows = [[view.cell(i, c) for c in columns] for i in rows[at - 1 : at + 1]]
    below = [[view.cell(i, c) for c in columns] for i in rows[at + 1 : at + 1 + SAMPLE]]
    return [row for row in below if row not in header_rows]


def _text(cell: object) -> str:
    """A cell as it is read: numbers of a sheet may be decimal ones."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if is_empty(cell) or isinstance(cell, bool) else str(cell).strip()


def _before_numbers(cells: Sequence[str]) -> int | None:
    """How many columns of a row stand before its numbers, empty or lettered from A on; None where
    it does not count its columns one by one to the last."""
    matches = [_COUNT.fullmatch(cell) for cell in cells]
    start = next((p for p, number in enumerate(matches) if number), len(cells))
    numbers = [int(number["number"]) if number else 0 for number in matches[start:]]
    if not numbers or numbers[0] not in (1, start + 1) or not _fits_before(cells[:start]):
        return None
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return None
    fewest = 2 if any(cells[:start]) else _FEWEST
    return start if len(numbers) >= fewest else None


def _fits_before(cells: Sequence[str]) -> bool:
    """Whether the cells before the numbers are empty, two at most, or the first letters of an
    alphabet."""
    if not any(cells):
        return len(cells) <= 2
    letters = "".join(cells).upper()
    return all(len(cell) == 1 for cell in cells) and any(a.startswith(letters) for a in _LETTERS)


def _names_stand_above(
    view: GridView, above: Sequence[int], columns: Sequence[int], start: int
) -> bool:
    """Whether the row above holds names, and with those further up nearly all columns have one, most
    of them different: below `Jan, Jan, Jan` numbers are days, and names themselves."""
    kinds = view.kinds(above[-1], columns)
    if any(kind in "nb" for kind in kinds) or "t" not in kinds:
        return False
    names = header_names(view, list(above[-3:]), list(columns))[start:]
    words = [name for name in names if name]
    return len(words) >= 0.7 * len(names) and len(set(words)) > 0.5 * len(words)


def _is_unlike(cells: Sequence[str], start: int, below: Sequence[Sequence[object]]) -> bool:
    """Whether a row that counts is written as no row below is, so that it is none of them: by its
    numbers, or by what stands before them."""
    if len(below) < 2:
        return False
    values = [[text for row in below if (text := _text(row[p]))] for p in range(len(cells))]
    if _has_other_numbers(cells[start:], values[start:]):
        return True
    if start == 0:
        return _counts_rows(values[0])
    if not any(cells[:start]):
        return all(len(column) == len(below) for column in values[:start])
    return _has_other_letters(cells[:start], values[:start])


def _has_other_numbers(cells: Sequence[str], values: Sequence[Sequence[str]]) -> bool:
    """Whether numbers stand where all rows below have words, or alone have brackets or say how they
    are computed."""
    if any(map(_are_words, values)):
        return True
    signs = [sign for sign in "([" if all(cell.startswith(sign) for cell in cells)]
    signs += ["="] * any("=" in cell for cell in cells)
    return any(all(sign not in cell for column in values for cell in column) for sign in signs)


def _has_other_letters(cells: Sequence[str], values: Sequence[Sequence[str]]) -> bool:
    """Whether letters stand where rows below have numbers, or names alone.

    `A, 1, 2, 3` may be a record of something called A; `a` and the letters of other alphabets are
    the way in which forms count.
    """
    if any(column and all(kind_of(cell) in "nyd" for cell in column) for column in values):
        return True
    capitals = all("A" <= cell <= "Z" for cell in cells)
    return not capitals and all(column and min(map(len, column)) > 2 for column in values)


def _are_words(values: Sequence[str]) -> bool:
    """Whether a column holds words, two at least, and no number among them."""
    kinds = [kind_of(value) for value in values]
    return kinds.count("t") > 1 and all(kind in "tm" for kind in kinds)


def _counts_rows(values: Sequence[str]) -> bool:
    """Whether a column says which row is the first, the second and so on; three at least."""
    return len(values) >= _FEWEST and list(values) == [str(n + 1) for n in range(len(values))]
