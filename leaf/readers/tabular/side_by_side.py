"""Tables side by side: columns of a region that belong together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from leaf.readers.tabular.cells import is_empty, kind_of, name_of
from leaf.readers.tabular.grid import SAMPLE, GridView, Region, column_kinds

_DEEPEST = 4
"""Rows at the top of a region in which the names of its columns may stand."""
Part = tuple[int, int]
"""First and last column."""


def split_columns(view: GridView, region: Region) -> list[Region]:
    """Tables side by side: parted by an empty column, and each one something by itself; or with the
    same names in the same order."""
    gaps = [
        c
        for c in range(region.left, region.right + 1)
        if not any(not is_empty(view.cell(i, c)) for i in region.rows)
    ]
    joined = _between_gaps(view, region, gaps) if gaps else _repeated(view, region)
    if len(joined) == 1:
        return [region]
    result = []
    for left, right in joined:
        rows = [
            i
            for i in region.rows
            if any(not is_empty(view.cell(i, c)) for c in range(left, right + 1))
        ]
        for run in _runs(view, rows, left, right):
            inside = [i for i in region.headings if i in run]
            result.append(
                Region(
                    run, left, right, headings=inside, names=[i for i in region.names if i in run]
                )
            )
    result[0].titles, result[-1].footers = region.titles, region.footers
    result[0].values = region.values
    return result


def _between_gaps(view: GridView, region: Region, gaps: Sequence[int]) -> list[Part]:
    """Columns of tables between empty ones."""
    parts: list[Part] = []
    start = region.left
    for c in [*gaps, region.right + 1]:
        if c > start:
            parts.append((start, c - 1))
        start = c + 1
    joined = [parts[0]]
    for part in parts[1:]:
        if _stands_alone(view, region, joined[-1], part):
            joined.append(part)
        else:
            joined[-1] = (joined[-1][0], part[1])
    return joined


def _repeated(view: GridView, region: Region) -> list[Part]:
    """Columns of tables without an empty one between them: all their names repeat (`Date, Item, Amount,
    Date, Item, Amount`), and the right ones end before the left one, or are of other days."""
    whole = [(region.left, region.right)]
    width = region.right - region.left + 1
    top = _names_row(view, region, whole[0]) if width >= 4 else None
    if top is None:
        return whole
    names = _names(view, top, whole[0])
    for size in range(2, width // 2 + 1):
        if width % size or names != names[:size] * (width // size):
            continue
        parts = [(at, at + size - 1) for at in range(region.left, region.right + 1, size)]
        rows = [i for i in region.rows if i > top]
        if all(_is_list(view, rows, part) for part in parts) and all(
            _ends_before(view, rows, a, b) or _has_other_days(view, rows, a, b)
            for a, b in pairwise(parts)
        ):
            return parts
    return whole


def _names_row(view: GridView, region: Region, part: Part) -> int | None:
    """The row at the top of a region in which each column of a part has a word for its name."""
    for row in region.rows[:_DEEPEST]:
        if all(kind_of(view.cell(row, c)) == "t" for c in range(part[0], part[1] + 1)):
            return row
    return None


def _names(view: GridView, row: int, part: Part) -> list[str]:
    return [name_of(view.cell(row, c)).lower() for c in range(part[0], part[1] + 1)]


def _is_list(view: GridView, rows: Sequence[int], part: Part) -> bool:
    """Whether rows begin with words or dates in a part, as those of a table of its own do, and not with
    one more number for what stands further left."""
    filled = [i for i in rows if view.fill(i, range(part[0], part[1] + 1))][:SAMPLE]
    first = [kind_of(view.cell(i, part[0])) for i in filled]
    return len(filled) > 1 and sum(kind in "td" for kind in first) >= 0.8 * len(filled)


def _ends_before(view: GridView, rows: Sequence[int], left: Part, right: Part) -> bool:
    """Whether the right part has values down to a row, and none below, where the left one goes on for
    more than one: of pairs, the last may have but one half."""
    filled = [bool(view.fill(i, range(right[0], right[1] + 1))) for i in rows]
    end = sum(filled)
    goes_on = [view.fill(i, range(left[0], left[1] + 1)) > 1 for i in rows[end:]]
    return all(filled[:end]) and 0 < end < len(rows) - 1 and sum(goes_on) > 0.5 * len(goes_on)


def _has_other_days(view: GridView, rows: Sequence[int], left: Part, right: Part) -> bool:
    """Whether both parts begin with dates, and with other ones in most rows."""
    pairs = [(view.cell(i, left[0]), view.cell(i, right[0])) for i in rows[:SAMPLE]]
    days = [(a, b) for a, b in pairs if kind_of(a) == kind_of(b) == "d"]
    return len(days) >= 0.5 * len(pairs) > 0 and sum(a != b for a, b in days) > 0.5 * len(days)


def _runs(view: GridView, rows: list[int], left: int, right: int) -> list[list[int]]:
    """Rows of one part, cut where two or more of its rows in a row are empty, and where a table with
    names of its own begins below one."""
    runs: list[list[int]] = [[]]
    for at, i in enumerate(rows):
        gap = i - runs[-1][-1] if runs[-1] else 0
        if gap > 2 or (gap == 2 and _begins(view, rows[at : at + 3], (left, right))):
            runs.append([])
        runs[-1].append(i)
    return runs


def _begins(view: GridView, rows: Sequence[int], part: Part) -> bool:
    """Whether rows are a title, names of columns side by side, and a row with a number or a date."""
    columns = range(part[0], part[1] + 1)
    if len(rows) < 3 or rows[2] - rows[0] > 2 or view.fill(rows[0], columns) != 1:
        return False
    named = [c for c in columns if not is_empty(view.cell(rows[1], c))]
    texts = {name_of(view.cell(rows[1], c)) for c in named}
    if len(texts) < len(named) or len(named) < 2 or named[-1] - named[0] >= len(named):
        return False
    below = {kind_of(view.cell(rows[2], c)) for c in named}
    return all(kind_of(view.cell(rows[1], c)) == "t" for c in named) and bool(below & {*"nyd"})


def _stands_alone(
    view: GridView, region: Region, left: tuple[int, int], right: tuple[int, int]
) -> bool:
    """Whether the right part has other rows or names its columns as the left one does, and not just
    an empty column before it."""
    if right[0] == right[1]:
        return False
    left_columns, right_columns = range(left[0], left[1] + 1), range(right[0], right[1] + 1)
    body = [i for i in region.rows if i not in region.names]
    left_rows = [i for i in body if view.fill(i, left_columns)]
    right_rows = [i for i in body if view.fill(i, right_columns)]
    if not left_rows or not right_rows:
        return False
    heads = [
        str(view.cell(region.rows[0], c)).strip().lower() for c in (*left_columns, *right_columns)
    ]
    if heads[0] and heads[0] in heads[len(left_columns) :]:
        return True
    if set(left_rows) != set(right_rows) and _are_named_apart(view, region, left, right):
        return True
    shared = len(set(left_rows) & set(right_rows)) >= 0.9 * min(len(left_rows), len(right_rows))
    spans = sorted(rows[-1] - rows[0] + 1 for rows in (left_rows, right_rows))
    return not shared or spans[0] < 0.9 * spans[1]


def _are_named_apart(view: GridView, region: Region, left: Part, right: Part) -> bool:
    """Whether two parts that begin with words or dates have names in the same row, and one name of words
    or dates in common or each a title of its own right above."""
    row = _names_row(view, region, left)
    if row is None or row != _names_row(view, region, right):
        return False
    body = [i for i in region.rows if i > row]
    if not _is_list(view, body, left) or not _is_list(view, body, right):
        return False
    keys = [_keys(view, row, body, part) for part in (left, right)]
    at = region.rows.index(row)
    titles = [
        view.kinds(region.rows[at - 1], range(a, b + 1)) if at else [] for a, b in (left, right)
    ]
    titled = all(kinds[:1] == ["t"] and set(kinds[1:]) <= {"e"} for kinds in titles)
    return bool(keys[0] & keys[1]) or titled


def _keys(view: GridView, names: int, body: Sequence[int], part: Part) -> set[str]:
    """The names of a part's columns of words and dates."""
    columns = range(part[0], part[1] + 1)
    kinds = column_kinds(view, [i for i in body if view.fill(i, columns)], columns)
    return {
        name for name, kind in zip(_names(view, names, part), kinds, strict=True) if kind in "td"
    }
