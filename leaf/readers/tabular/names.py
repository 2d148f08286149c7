"""Headers whose rows stand apart: offices set a table's names in several rows, with empty ones
between them and the data."""

from __future__ import annotations

from collections.abc import Sequence

from leaf.readers.tabular.cells import is_empty, is_rule, is_unit, kind_of, name_of
from leaf.readers.tabular.described import description
from leaf.readers.tabular.grid import GridView, extent_of
from leaf.readers.tabular.header import is_unit_row, may_name

_MOST = 12
"""Rows of a header."""
_GAP = 6
"""How far the next row of a header, or the first of data, may be below the one above it."""
_COUNTED = 5
"""Numbers in a row that are no chance."""
_LABELS = 2
"""Headings of a group between names and data."""


def with_names(
    view: GridView, bands: Sequence[list[int]]
) -> tuple[list[list[int]], dict[int, list[int]], set[int]]:
    """Bands, with those of a header and the one below them as one; the rows of such headers by their
    band's first row; and the first rows of those whose header describes the columns of series."""
    joined: list[list[int]] = []
    names: dict[int, list[int]] = {}
    described: set[int] = set()
    at = 0
    while at < len(bands):
        header, end = description(view, bands, at)
        if header:
            described.add(bands[at][0])
        else:
            header, end = _header(view, bands, at)
        if header:
            names[bands[at][0]] = header
        joined.append([row for band in bands[at : end + 1] for row in band])
        at = end + 1
    return joined, names, described


def _header(view: GridView, bands: Sequence[list[int]], at: int) -> tuple[list[int], int]:
    """Rows of a header that begins with a band, and the band that holds the first row of data below
    it."""
    end, rows = at, list[int]()
    while end < len(bands) and _belongs(view, rows, bands[end]):
        rows += bands[end]
        end += 1
    if (
        end in (at, len(bands))
        or bands[end][0] - rows[-1] > _GAP
        or all(view.lone(i) for i in bands[at])
    ):
        return [], at
    lead, data = _lead(view, bands[end])
    if data is None:
        return [], at
    left, right = extent_of(view, [*rows, *lead, data])
    columns = range(left, right + 1)
    if not _is_data_below(view, rows, data, columns) or (
        lead and not _stands_above(view, rows, lead, columns)
    ):
        return [], at
    names = _without_labels(view, [*rows, *lead], columns)
    return (names, end) if _names_most(view, names, data, columns) else ([], at)


def _belongs(view: GridView, rows: Sequence[int], band: Sequence[int]) -> bool:
    """Whether a band may be more of a header: few rows that are near, and hold only what names
    columns."""
    if len(rows) + len(band) > _MOST or (rows and band[0] - rows[-1] > _GAP):
        return False
    return all(may_name(view, i) or _counts(view, i) for i in band) and any(
        not is_rule(c) and not is_empty(c) for i in band for c in view.grid[i]
    )


def _counts(view: GridView, row: int) -> bool:
    """Whether a row counts the columns to the right of the first, as that above the wells of a plate does:
    `1, 2, 3, …`."""
    cells = [name_of(cell) for cell in view.grid[row][1:] if not is_empty(cell)]
    return (
        is_empty(view.grid[row][0])
        and len(cells) >= _COUNTED
        and cells == [str(number) for number in range(1, len(cells) + 1)]
    )


def _lead(view: GridView, band: Sequence[int]) -> tuple[list[int], int | None]:
    """Rows of a header at the beginning of a band, and its first row of data, below headings of a
    group."""
    count = 0
    while count < min(len(band), _MOST) and (
        may_name(view, band[count]) or _is_units(view, band[count])
    ):
        count += 1
    first = count
    while count and view.lone(band[count - 1]) and not _is_units(view, band[count - 1]):
        count -= 1
    if first - count > _LABELS or first == len(band):
        return [], None
    return list(band[:count]), band[first]


def _is_units(view: GridView, row: int) -> bool:
    """Whether a row holds units alone, not below the name of the first column."""
    left, right = extent_of(view, [row])
    return (
        left > 0 and is_unit(view.cell(row, left))
        if left == right
        else is_unit_row(view, row, range(left, right + 1))
    )


def _is_data_below(view: GridView, rows: Sequence[int], row: int, columns: Sequence[int]) -> bool:
    """Whether a row has numbers, or words for none, in most of its cells; not years below years or
    days below days."""
    kinds = view.kinds(row, columns)
    cells = [p for p, kind in enumerate(kinds) if kind != "e"]
    values = [p for p in cells if kinds[p] in "nydmb"]
    if len(cells) < 2 or len(values) < 0.5 * (len(cells) - 1) or "t" in {kinds[p] for p in values}:
        return False
    above = [{kind_of(view.cell(i, columns[p])) for i in rows} for p in values]
    same = sum(kinds[p] in "yd" and kinds[p] in kind for p, kind in zip(values, above, strict=True))
    return same < 0.5 * len(values) and any(kinds[p] in "nm" for p in values)


def _stands_above(
    view: GridView, rows: Sequence[int], lead: Sequence[int], columns: Sequence[int]
) -> bool:
    """Whether rows are the upper part of a header whose lower part stands with the data: names that
    the lower part lacks."""
    if all(is_unit_row(view, i, columns) for i in lead):
        return True
    stub = columns[0]
    if all(is_empty(view.cell(i, stub)) for i in lead):
        return any(not is_empty(view.cell(i, stub)) for i in rows)
    return all(is_empty(view.cell(i, stub)) and not view.lone(i) for i in rows)


def _without_labels(view: GridView, names: Sequence[int], columns: Sequence[int]) -> list[int]:
    """Without words alone in the first column at the end, which are a heading of the rows below,
    where that column has a name."""
    rows = list(names)
    while len(rows) > 1 and view.lone(rows[-1]) and not is_empty(view.cell(rows[-1], columns[0])):
        if all(is_empty(view.cell(i, columns[0])) for i in rows[:-1]):
            break
        rows.pop()
    return rows


def _names_most(view: GridView, names: Sequence[int], data: int, columns: Sequence[int]) -> bool:
    """Whether most columns of the first row of data have a name, and few rows are full, as those of
    a table of words are."""
    used = [c for c in columns if not is_empty(view.cell(data, c))]
    named = [
        c
        for c in used[1:]
        if any(not is_empty(view.cell(i, c)) and not is_rule(view.cell(i, c)) for i in names)
    ]
    filled = [sum(not is_empty(c) and not is_rule(c) for c in view.grid[i]) for i in names]
    full = sum(count >= 0.8 * len(columns) for count in filled)
    return len(named) >= 0.6 * (len(used) - 1) and (full <= 2 or len(columns) < 4)
