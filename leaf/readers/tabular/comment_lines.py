"""Tables of delimited text that lie one below the other with nothing but comments between them, as
Google Analytics writes its reports: `#` and words, no empty line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from leaf.readers.tabular.cells import is_empty
from leaf.readers.tabular.grid import GridView, Row

_COMMENT = re.compile(r"#+(?:\s|$|[-=*_#])")
"""`# Start date: …`, `#`, `#----`; `#1234` may be a number of an order."""


def parting_comments(view: GridView) -> list[int]:
    """Rows of comments with a table right above them and names of other columns right below;
    comments within one table part nothing."""
    if view.widths is None:
        return []
    comments = [i for i, row in enumerate(view.grid) if _is_comment(row)]
    return [
        row for group in _groups(comments) if _parts(view, group[0], group[-1]) for row in group
    ]


def _is_comment(row: Row) -> bool:
    return bool(row) and str(row[0])[:1] == "#" and bool(_COMMENT.match(str(row[0])))


def _groups(rows: Sequence[int]) -> Iterator[list[int]]:
    """Rows that follow one another."""
    starts = [n for n, (a, b) in enumerate(pairwise([-2, *rows])) if b > a + 1]
    for start, end in pairwise([*starts, len(rows)]):
        yield list(rows[start:end])


def _parts(view: GridView, first: int, last: int) -> bool:
    """Whether two rows of one width stand right above, and below names of that many columns as the
    row after them has cells: words where the rows above have numbers or dates, and the next row has
    some again."""
    if first < 2 or last + 2 >= len(view.grid) or view.widths is None:
        return False
    above, below = (first - 2, first - 1), (last + 1, last + 2)
    for one, other in (above, below):
        if view.widths[one] != view.widths[other] or min(view.filled[one], view.filled[other]) < 2:
            return False
    if any(_is_comment(view.grid[i]) for i in (*above, *below)):
        return False
    columns = range(max(view.widths[first - 1], view.widths[last + 1]))
    values = [view.kinds(i, columns) for i in above]
    names, record = (view.kinds(i, columns) for i in below)
    hard = [p for p in columns if all(kinds[p] in "nyd" for kinds in values)]
    named = [names[p] for p in hard if names[p] != "e"]
    cells = [str(c).strip().lower() for c in view.grid[last + 1] if not is_empty(c)]
    return (
        bool(named)
        and set(names) <= {"t", "e"}
        and len(set(cells)) == len(cells)
        and any(kind in "nyd" for kind in record)
    )
