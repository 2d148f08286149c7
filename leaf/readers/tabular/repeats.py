"""Tables below one another whose columns are called by the same numbers and whose rows by the same
words: two plates of an instrument (1 to 12 above, A to H beside), or two measures by region and year.

Under one header their values would stand in the same cells, with nothing to tell them apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from leaf.readers.tabular.cells import is_empty, kind_of, name_of, size_of
from leaf.readers.tabular.grid import SAMPLE, GridView

_DEEPEST = 4
"""Rows of a band, its titles included, in which its names may stand."""
_FEWEST = 3
"""Numbers that name columns."""
Numbers = tuple[tuple[int, float], ...]
"""Columns and the numbers that they are called by."""


def parted(view: GridView, band: Sequence[int]) -> list[list[int]]:
    """A band, parted above each row that repeats the numbers it is named by, where the rows below are
    called as those above are; lines of text right above such a row go with it."""
    at = _names_at(view, band)
    if at is None:
        return [list(band)]
    names = numbers_of(view, band[at])
    last, value = names[-1]
    again = [
        n
        for n in range(at + 2, len(band) - 1)
        if size_of(view.cell(band[n], last)) == value and numbers_of(view, band[n]) == names
    ]
    starts = [0]
    for n, following in pairwise([*again, len(band)]):
        above = band[starts[-1] : n]
        if _are_called_alike(view, names, above, band[n + 1 : following]):
            starts.append(n - _lines_above(view, above))
    return [list(band[a:b]) for a, b in pairwise([*starts, len(band)])]


def names_again(view: GridView, above: Sequence[int], rows: Sequence[int]) -> bool:
    """Whether a band is named by the numbers that a table above it is named by, and its rows as those
    of it are."""
    at, first = _names_at(view, rows), _names_at(view, above)
    if at is None or first is None:
        return False
    names = numbers_of(view, rows[at])
    if numbers_of(view, above[first]) != names:
        return False
    return _are_called_alike(view, names, above[first + 1 :], rows[at + 1 :])


def numbers_of(view: GridView, row: int) -> Numbers:
    """What a row of names calls its columns, where it counts them from 1, or by years, behind at most
    words; nothing for other rows."""
    filled = [(c, cell) for c, cell in enumerate(view.grid[row]) if not is_empty(cell)]
    while filled and kind_of(filled[0][1]) == "t":
        filled.pop(0)
    sizes = [(c, size_of(cell) if kind_of(cell) in "ny" else None) for c, cell in filled]
    numbers = tuple((c, size) for c, size in sizes if size is not None)
    if len(numbers) < _FEWEST or len(numbers) < len(sizes) or not numbers[0][0]:
        return ()
    steps = {b[1] - a[1] for a, b in pairwise(numbers)}
    years = all(kind_of(cell) == "y" for _, cell in filled)
    return numbers if steps == {1} and (years or numbers[0][1] == 1) else ()


def _names_at(view: GridView, band: Sequence[int]) -> int | None:
    """Position in a band of its first row that is no line of text, if that has numbers for names."""
    at = next((n for n, row in enumerate(band[:_DEEPEST]) if not view.lone(row)), None)
    return at if at is not None and numbers_of(view, band[at]) else None


def _lines_above(view: GridView, rows: Sequence[int]) -> int:
    """How many rows at the end of some are lines of text."""
    count = 0
    while count < min(len(rows), _DEEPEST) and view.lone(rows[-1 - count]):
        count += 1
    return count


def _are_called_alike(
    view: GridView, names: Numbers, above: Sequence[int], below: Sequence[int]
) -> bool:
    """Whether most rows of two parts have the same words before their numbers."""
    upper, lower = (_labels(view, names[0][0], rows) for rows in (above, below))
    shared = len(upper & lower)
    return shared > 1 and 2 * shared >= min(len(upper), len(lower))


def _labels(view: GridView, end: int, rows: Sequence[int]) -> set[tuple[Any, ...]]:
    """What rows have before the column `end`."""
    cells = (tuple(name_of(view.cell(i, c)) for c in range(end)) for i in rows[:SAMPLE])
    return {label for label in cells if any(label)}
