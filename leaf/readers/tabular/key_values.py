"""Labels with their values above a table (`Sample | A1`, `Method | X.met`): what programs write of a
run before what it gave. They are titles of the table, not its names.

A list of two columns may be a table as well, so that only those count that stand above a table of
more columns, and whose values are of no one kind; or that stand right above the names of a table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from leaf.readers.tabular.cells import is_empty, is_measure, is_placeholder, kind_of, name_of
from leaf.readers.tabular.described import description
from leaf.readers.tabular.grid import SAMPLE, GridView

_MOST = 40
"""Rows of a list."""
_FEWEST = 3
"""Pairs of a list that stands apart; columns of a table below one."""
_LABELLED = re.compile(r"((?:[^\W\d][^:]{0,39})?):(?!//)(?:\s*\S.*)?", re.DOTALL)
_LOOKED_AT = 20
"""Rows below names that tell whether they are data."""


def lists_above(view: GridView, bands: Sequence[list[int]]) -> tuple[list[list[int]], set[int]]:
    """Bands, with labels and values that stand right above the names of a table as bands of their
    own; and the first rows of all bands that are such lists."""
    split: list[list[int]] = []
    lists: set[int] = set()
    for at, band in enumerate(bands):
        end = _end_of_list(view, band) or _end_of_record(view, band)
        end = end or _end_above_names(view, band, bands[at + 1] if at + 1 < len(bands) else ())
        if end and not description(view, bands, at)[0]:
            split += [band[:end], band[end:]]
            lists.add(band[0])
        else:
            split.append(band)
    stretch: list[list[int]] = []
    for band in split:
        if band[0] in lists or _may_be_list(view, band):
            stretch.append(band)
            continue
        if _is_wide(view, band):
            lists |= {each[0] for each in _lists_of(view, stretch)}
        stretch = []
    return split, lists


def _end_of_list(view: GridView, band: Sequence[int]) -> int:
    """How many rows of a band are labels and values right above the names of its columns; 0 where it
    has none."""
    end = 0
    while end < min(len(band) - 1, _MOST) and (
        view.lone(band[end]) or _is_pair(view, band[end], band[0])
    ):
        end += 1
    if _names_at(view, band, end, _FEWEST):
        return end if _says_much(view, band[:end]) else 0
    end -= 1  # the names of a table of two columns look like one more pair
    named = end > 0 and _names_at(view, band, end, 2) and _differs(view, band, end)
    return end if named and _says_much(view, band[:end]) else 0


def _end_above_names(view: GridView, band: Sequence[int], below: Sequence[int]) -> int:
    """How many rows of a band are labels and values above its last row, where that names the columns of
    the band below; 0 where it does not."""
    if len(band) < 3 or len(below) < _FEWEST or not _says_much(view, band[:-1]):
        return 0
    if not all(view.lone(i) or _is_pair(view, i, band[0]) for i in band[:-1]):
        return 0
    names = _words(view, band[-1])
    if not _are_different_words(view, band[-1]) or min(names) > _first(view, below[0]) + 1:
        return 0
    kinds = [view.kinds(i, list(names)) for i in below[:_LOOKED_AT]]
    numbers = sum(all(row[p] in "nyd" for row in kinds) for p in range(len(names)))
    return len(band) - 1 if 2 * numbers > len(names) else 0


def _end_of_record(view: GridView, band: Sequence[int]) -> int:
    """2 where a band begins with names and one row of values, right above the other names of a table:
    `Station, Height, Zone`, `A1, 210, -7`, `Year, Month, Day, Temperature`, … 0 where it does not."""
    if len(band) < 3 + _FEWEST or not all(_are_different_words(view, band[at]) for at in (0, 2)):
        return 0
    labels, names = (_words(view, band[at]) for at in (0, 2))
    kinds = view.kinds(band[1], range(len(view.grid[band[1]])))
    values = [c for c, kind in enumerate(kinds) if kind != "e"]
    if not set(values) <= set(labels) or 2 * len(values) < len(labels):
        return 0
    if sum(kinds[c] in "nyd" for c in values) < 2 or set(labels.values()) & set(names.values()):
        return 0
    below = [view.kinds(i, list(names)) for i in band[3 : 3 + _LOOKED_AT]]
    numbers = sum(all(kinds[p] in "nyd" for kinds in below) for p in range(len(names)))
    return 2 if numbers >= 2 else 0


def _are_different_words(view: GridView, row: int) -> bool:
    """Whether a row has words in columns side by side, all different, and nothing else."""
    words = _words(view, row)
    return (
        len(words) >= _FEWEST
        and list(words) == list(range(min(words), min(words) + len(words)))
        and len(set(words.values())) == len(words)
        and all(kind_of(view.cell(row, c)) == "t" for c in words)
    )


def _words(view: GridView, row: int) -> dict[int, str]:
    """Columns in which a row has a cell -> its words."""
    return {c: name_of(x).lower() for c, x in enumerate(view.grid[row]) if not is_empty(x)}


def _names_at(view: GridView, band: Sequence[int], at: int, fewest: int) -> bool:
    """Whether a row has a word for each of its columns from the left on, and the row below it is as
    wide as a table."""
    cells = [cell for cell in view.grid[band[at]] if not is_empty(cell)]
    texts = {name_of(cell).lower() for cell in cells}
    if len(cells) < fewest or len(texts) < len(cells) or at + 2 >= len(band):
        return False
    whole = [c for c, cell in enumerate(view.grid[band[at]]) if not is_empty(cell)]
    if any(kind_of(cell) != "t" for cell in cells) or whole[-1] - whole[0] >= len(whole):
        return False
    if whole[0] != _first(view, band[0]) and fewest == 2:
        return False
    below = [kind_of(view.cell(band[at + 1], c)) for c in whole]
    return sum(kind != "e" for kind in below) >= fewest and any(kind in "nydb" for kind in below)


def _differs(view: GridView, band: Sequence[int], end: int) -> bool:
    """Whether all rows below the names of two columns have numbers or dates where labels stand above
    them."""
    left = _first(view, band[0])
    below = [kind_of(view.cell(i, left)) for i in band[end + 1 : end + 1 + _LOOKED_AT]]
    return len(below) >= _FEWEST and all(kind in "nyd" for kind in below)


def _says_much(view: GridView, rows: Sequence[int]) -> bool:
    """Whether rows have two labels, all different, or one whose value is no word."""
    pairs = [i for i in rows if not view.lone(i)]
    labels = {name_of(view.cell(i, _first(view, i))).lower() for i in pairs}
    if len(labels) < len(pairs) or not pairs:
        return False
    label, value = str(view.cell(pairs[0], _first(view, pairs[0]))), _value(view, pairs[0])
    return len(pairs) > 1 or label.rstrip().endswith(":") or kind_of(value) in "nd"


def _is_pair(view: GridView, row: int, first: int) -> bool:
    """Whether a row has a label below that of another, a value, and at most what that is counted in."""
    cells = [(c, cell) for c, cell in enumerate(view.grid[row]) if not is_empty(cell)]
    if len(cells) not in (2, 3) or cells[0][0] != _first(view, first):
        return False
    if len(cells) == 3 and not (is_measure(cells[2][1]) and kind_of(cells[1][1]) in "ny"):
        return False
    return kind_of(cells[0][1]) == "t"


def _first(view: GridView, row: int) -> int:
    return next((c for c, cell in enumerate(view.grid[row]) if not is_empty(cell)), 0)


def _value(view: GridView, row: int) -> object:
    return [cell for cell in view.grid[row] if not is_empty(cell)][1]


def _may_be_list(view: GridView, band: Sequence[int]) -> bool:
    """Whether a band holds labels with their values and lines of text alone."""
    if len(band) > _MOST:
        return False
    return all(view.lone(i) or _is_pair(view, i, band[0]) for i in band) or _is_labelled(view, band)


def _is_labelled(view: GridView, band: Sequence[int]) -> bool:
    """Whether every cell of a band is a label with its value, no label twice: `Bank: 1010, Branch: 7`."""
    cells = [str(x).strip() for i in band for x in view.grid[i] if not is_empty(x)]
    labels = [match[1] for cell in cells if (match := _LABELLED.fullmatch(cell))]
    return len(labels) == len(cells) > 1 and len(set(labels)) == len(labels)


def _is_wide(view: GridView, band: Sequence[int]) -> bool:
    """Whether a band may be a table of more columns than a list has."""
    return sum(view.filled[i] >= _FEWEST for i in band[:SAMPLE]) >= 2


def _lists_of(view: GridView, stretch: Sequence[list[int]]) -> list[list[int]]:
    """The lists among the bands above a table: those whose values are of several kinds, and small ones
    beside them."""
    sure = [band for band in stretch if _is_mixed(view, band) or _is_labelled(view, band)]
    small = [band for band in stretch if len(_pairs(view, band)) < _FEWEST and _pairs(view, band)]
    return sure + small if sure else []


def _pairs(view: GridView, band: Sequence[int]) -> list[int]:
    return [i for i in band if not view.lone(i)]


def _is_mixed(view: GridView, band: Sequence[int]) -> bool:
    """Whether the values below the first, which may be a name, are of several kinds: numbers and dates,
    or one of the two among at least as many words."""
    pairs = _pairs(view, band)
    labels = {name_of(view.cell(i, _first(view, i))).lower() for i in pairs}
    if len(pairs) < _FEWEST or len(labels) < len(pairs):
        return False
    values = [_value(view, i) for i in pairs[1:]]
    kinds = [kind_of(value) for value in values if not is_placeholder(value)]
    words, dates = kinds.count("t"), kinds.count("d")
    numbers = len(kinds) - words - dates
    return bool(numbers and dates) or 0 < numbers + dates <= words
