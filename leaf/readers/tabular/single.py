"""A file of one column: every line that is not empty is a row. None is a remark; titles stand only
above typed values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from leaf.readers.base import Note
from leaf.readers.tabular.cells import is_empty, kind_of, places, shape_of, unique_names
from leaf.readers.tabular.grid import GridContent, TableBlock

_SAMPLE = 500
"""Rows from the beginning that tell the header."""
_TITLES = 3
"""Most lines above a column of numbers, dates or the like: its name, and titles of several words
above that."""


def one_column(grid: Sequence[Sequence[str]]) -> GridContent:
    """The one table of rows with a single cell each."""
    rows = [i for i, cells in enumerate(grid) if any(not is_empty(c) for c in cells)]
    if not rows:
        return GridContent(())
    texts = [next(c for c in grid[i] if not is_empty(c)).strip() for i in rows[:_SAMPLE]]
    above, sure = _above(texts)
    titles, header, body = rows[: max(0, above - 1)], rows[max(0, above - 1) : above], rows[above:]
    name = texts[above - 1] if above else ""
    (names, _, _) = unique_names([name])
    edge = header or body
    return GridContent(
        (
            TableBlock(
                edge[0],
                rows[-1],
                0,
                0,
                names,
                (0,),
                body,
                len(header),
                _notes(titles, header, body, sure, names[0]),
            ),
        )
    )


def _above(texts: Sequence[str]) -> tuple[int, bool]:
    """How many rows stand above the values, and whether these show it."""
    kinds = [kind_of(text) for text in texts]
    first = next((n for n, kind in enumerate(kinds) if kind in "nydbm"), len(kinds))
    below = kinds[first:]
    titled = first <= _TITLES and all(" " in text for text in texts[: max(0, first - 1)])
    if titled and below and sum(k in "nydbm" for k in below) >= 0.8 * len(below):
        year = first == 0 and kinds[0] == "y" and len(kinds) > 2 and "y" not in kinds[1:]
        return (1, True) if year else (first, True)
    return _above_texts(texts)


def _above_texts(texts: Sequence[str]) -> tuple[int, bool]:
    head, below = texts[0], texts[1:]
    if not below:
        return 0, True
    shape, count = Counter(shape_of(text) for text in below).most_common(1)[0]
    alike = count >= 0.8 * len(below) and len(below) > 1
    if (
        head in below
        or len(head) > 60
        or (alike and shape_of(head) == shape and not re.fullmatch(r"A?a?|Aa( Aa)*", shape))
    ):
        return 0, True
    return 1, alike and shape_of(head) != shape


def _notes(
    titles: Sequence[int], header: Sequence[int], body: Sequence[int], sure: bool, name: str
) -> tuple[Note, ...]:
    notes = []
    if titles:
        text = (
            f"{len(titles)} row{'s' if len(titles) > 1 else ''} above the header: titles or "
            f"remarks, not part of the table."
        )
        notes.append(Note("preamble", text, len(titles), places([i + 1 for i in titles])))
    if not header:
        notes.append(
            Note(
                "no-header",
                f"No header row was found: the column is named {name}.",
                0,
                places([body[0] + 1]),
            )
        )
    elif not sure:
        text = (
            "Header and values look alike (all text), so that the first row was taken for the "
            "header by its place."
        )
        notes.append(Note("header-assumed", text, 0, places([header[0] + 1])))
    gaps = [b for a, b in pairwise(body) if b - a > 1]
    if gaps:
        text = (
            f"Empty rows inside the table were left out in {len(gaps)} "
            f"place{'s' if len(gaps) > 1 else ''}."
        )
        notes.append(Note("rows-empty", text, len(gaps), places(gaps)))
    return tuple(notes)
