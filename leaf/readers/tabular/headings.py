"""Rows of a table that hold words in the first column and nothing else, or a number and a name in the
first two: headings of the rows below them, where that is proven."""

from __future__ import annotations

import re
from collections.abc import Sequence

from leaf.readers.tabular.cells import is_empty, kind_of, shape_of
from leaf.readers.tabular.grid import SAMPLE, Grid, GridView
from leaf.readers.tabular.periods import TIME_NAME, is_period

_LONGEST = 120
"""Characters of a heading."""


def proven_headings(
    view: GridView, header: Sequence[int], body: Sequence[int], columns: Sequence[int]
) -> list[int]:
    """Rows of the body that are set apart as headings are: by a gap above alone, a colon, capitals,
    or as the first below names.

    A row of data whose values are all missing looks the same but for that, so that a table of which
    more than a third are such rows has none that are proven.
    """
    if len(columns) < 3:
        return []
    lone = [
        at
        for at, i in enumerate(body[:-1])
        if view.filled[i] == 1 and _is_heading(view, i, columns[0])
    ]
    if not lone or 3 * len(lone) > len(body):
        return []
    known = set(lone)
    loud = _few_capitals(view, body, columns[0])
    proven: set[int] = set()
    for at in lone:
        if not _leads(view, body, at, known):
            continue
        text = str(view.cell(body[at], columns[0])).strip()
        apart = at > 0 and body[at] - body[at - 1] > 1 and body[at + 1] - body[at] == 1
        if apart or text.endswith(":") or (loud and text.isupper()) or at - 1 in proven:
            proven.add(at)
    first = [at for at in lone if at < 2 and at == lone.index(at) and _leads(view, body, at, known)]
    if first and (proven - set(first) or _is_apart(view, header, body, columns)):
        proven |= set(first)
    return [body[at] for at in sorted(proven)]


def titled_headings(view: GridView, body: Sequence[int], columns: Sequence[int]) -> list[int]:
    """Rows of the body with words in the first two columns alone (`Account 10000; Acme Ltd`), where the
    second has numbers or dates below. There are two at least, the first words are of one make, and
    a gap stands above each but the first below the names."""
    if len(columns) < 4:
        return []
    pairs = [at for at, i in enumerate(body[:-1]) if _is_titled(view, i, columns)]
    makes = {shape_of(view.cell(body[at], columns[0])) for at in pairs}
    if len(pairs) < 2 or len(makes) > 1 or 3 * len(pairs) > len(body):
        return []
    apart = all(at == 0 or body[at] - body[at - 1] > 1 for at in pairs)
    lead = all(view.filled[body[at + 1]] > 2 for at in pairs)
    others = [view.cell(i, columns[1]) for i in body if view.filled[i] > 2]
    kinds = [kind_of(cell) for cell in others if not is_empty(cell)]
    hard = sum(kind in "nyd" for kind in kinds) >= 0.9 * len(kinds) > 0
    return [body[at] for at in pairs] if apart and lead and hard else []


def joined_words(
    grid: Grid, body: Sequence[int], headings: Sequence[int], columns: Sequence[int]
) -> dict[int, str]:
    """The words of headings, by position in `body`, that stand in two columns though the second has
    numbers or dates: together they can stand in the first, and the second keeps its type."""
    words: dict[int, str] = {}
    for position in headings:
        cells = [(c, cell) for c, cell in enumerate(grid[body[position]]) if not is_empty(cell)]
        if [c for c, _ in cells] == list(columns[:2]):
            words[position] = " / ".join(str(cell).strip() for _, cell in cells)
    return words


def likely_headings(
    view: GridView, body: Sequence[int], columns: Sequence[int], proven: Sequence[int]
) -> list[int]:
    """Rows of the body with a name alone above rows with values, where nearly all cells of the others
    are filled: they may be headings, or rows whose values are missing."""
    if len(columns) < 3:
        return []
    lone = [at for at, i in enumerate(body[:-1]) if view.filled[i] == 1]
    if not lone or 3 * len(lone) > len(body):
        return []
    others = [i for i in body if view.filled[i] > 1]
    near = others[:: max(1, len(others) // SAMPLE)]
    if not near:
        return []
    if sum(view.fill(i, columns) for i in near) < 0.9 * len(near) * len(columns):
        return []
    known = {at for at in lone if _is_heading(view, body[at], columns[0])}
    gone = set(proven)
    leading = list[int]()
    for at in sorted(
        known, reverse=True
    ):  # names in a row are of what stands below the last of them
        if at + 1 in leading or view.filled[body[at + 1]] > 1:
            leading.append(at)
    return [body[at] for at in sorted(leading) if body[at] not in gone]


_DIMENSION = re.compile(r"[A-Z][A-Z0-9_]+ \([^()]+\)")
"""A dimension and how its members are written; a member without values is no such word."""


def names_the_first_column(
    view: GridView, header: Sequence[int], body: Sequence[int], columns: Sequence[int]
) -> bool:
    """Whether the first row of the body is `region,,,` below `year,2020,2021` and `product,A,B`, as pandas
    writes a table of several levels, or `GEO (Labels),,` below `TIME,2020,2021`, as Eurostat does: each
    row of the header has a name for its level in the first column, and no other row is a word alone.
    """
    if len(body) < 2 or len(columns) < 3 or not _is_heading(view, body[0], columns[0]):
        return False
    if len(header) < 2:
        dimension = _DIMENSION.fullmatch(str(view.cell(body[0], columns[0])).strip())
        if not header or not dimension or not _names_periods(view, header[0], columns):
            return False
    levels = [str(view.cell(i, columns[0])).strip() for i in header]
    if not all(levels) or len(set(levels)) < len(levels) or not view.lone(body[0]):
        return False
    return not any(view.lone(i) for i in body[1:SAMPLE])


def _names_periods(view: GridView, row: int, columns: Sequence[int]) -> bool:
    """Whether a row is `Time, 2020, 2021`: what its cells are called, and the cells."""
    first, *others = (view.cell(row, c) for c in columns)
    named = [cell for cell in others if not is_empty(cell)]
    is_called = isinstance(first, str) and TIME_NAME.fullmatch(first.strip())
    return bool(is_called) and len(named) > 1 and all(map(is_period, named))


def headings_of_repeats(
    view: GridView, title: int, header: Sequence[int], again: Sequence[int], column: int
) -> list[int]:
    """Rows with a name alone right above each row that repeats the header, as one stands above the
    header: each part of the table has its title."""
    rows = [i - 1 for i in again]
    if not rows or not header or title != header[0] - 1:
        return []
    apart = all(view.filled[i] == 1 and _is_heading(view, i, column) for i in (title, *rows))
    return rows if apart else []


def _is_heading(view: GridView, row: int, column: int) -> bool:
    cell = view.cell(row, column)
    return kind_of(cell) in "ty" and len(str(cell)) <= _LONGEST


def _is_titled(view: GridView, row: int, columns: Sequence[int]) -> bool:
    return view.filled[row] == 2 and all(kind_of(view.cell(row, c)) == "t" for c in columns[:2])


def _leads(view: GridView, body: Sequence[int], at: int, known: set[int]) -> bool:
    """Whether rows with values stand below, or another such row first."""
    return at + 1 in known or view.filled[body[at + 1]] > 1


def _few_capitals(view: GridView, body: Sequence[int], column: int) -> bool:
    """Whether few words of the first column are in capitals, so that these say something."""
    texts = [
        str(view.cell(i, column))
        for i in body[:500]
        if view.filled[i] > 1 and not is_empty(view.cell(i, column))
    ]
    return sum(text.isupper() for text in texts) <= 0.1 * len(texts)


def _is_apart(
    view: GridView, header: Sequence[int], body: Sequence[int], columns: Sequence[int]
) -> bool:
    """Whether a gap parts the first row from the names, or these lack one for the first column."""
    if not header:
        return False
    return body[0] - header[-1] > 1 or all(is_empty(view.cell(i, columns[0])) for i in header)
