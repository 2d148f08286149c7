"""Rows next to a table's names that are no part of them: titles of sections, labels with their
values, records of what the file is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from leaf.readers.tabular.cells import is_empty, kind_of, shape_of, size_of
from leaf.readers.tabular.grid import GridView


def is_section_title(view: GridView, row: int, columns: Sequence[int]) -> bool:
    """Whether the only cell of a row below the names is merged over nearly all columns: it stands above
    the rows that follow, and names no column."""
    if view.filled[row] != 1 or len(columns) < 3:
        return False
    return any(
        r1 == r2 == row
        and not is_empty(view.cell(row, c1))
        and sum(c1 <= c <= c2 for c in columns) >= 0.8 * len(columns)
        for (r1, c1), (r2, c2) in view.merges
    )


def is_labels(view: GridView, row: int, columns: Sequence[int]) -> bool:
    """Whether a row is `Name:, Anke Reuter, , Dept.:, Sales`: different labels with a colon, each with
    its value beside it, and nothing else."""
    texts = ["" if is_empty(cell := view.cell(row, c)) else str(cell).strip() for c in columns]
    labels = [p for p, text in enumerate(texts) if text.endswith(":")]
    values = [p + 1 for p in labels if p + 1 < len(texts) and texts[p + 1]]
    if not labels or len(values) < len(labels) or set(labels) & set(values):
        return False
    if len({texts[p] for p in labels}) < len(labels):
        return False
    return {p for p, text in enumerate(texts) if text} == {*labels, *values}


def is_record(view: GridView, row: int, columns: Sequence[int]) -> bool:
    """Whether a row above names says what its file is (`EXTF;700;21;Buchungsstapel`): words, and
    numbers that neither count columns nor are years."""
    cells = [view.cell(row, c) for c in columns]
    sizes = [size for cell in cells if kind_of(cell) == "n" and (size := size_of(cell)) is not None]
    words = sum(kind_of(cell) == "t" for cell in cells)
    steps = {b - a for a, b in pairwise(sizes)}
    return words > 0 and len(sizes) > 2 and len(steps) > 1 and max(sizes) >= 100


def comes_again(view: GridView, row: int, below: Sequence[int], columns: Sequence[int]) -> bool:
    """Whether words that stand in few columns of a row stand so again further down: `Account 10000, Acme
    Ltd` and `Account 10001, Bolt Ltd` begin parts of the table."""
    at = [c for c in columns if not is_empty(view.cell(row, c))]
    if not at or at[0] != columns[0] or 2 * len(at) > len(columns):
        return False
    make = shape_of(view.cell(row, columns[0]))
    return any(
        view.filled[i] == len(at)
        and all(kind_of(view.cell(i, c)) == "t" for c in at)
        and shape_of(view.cell(i, columns[0])) == make
        for i in below
    )
