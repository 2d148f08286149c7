"""Rows below a gap that are one more part of the table above it: they have no names of their own, and
what they hold stands below its names as its own rows do.

A part may fill other columns than those above it, as credits do below debits, so that its numbers
say nothing by themselves; that it is filled as the rows above are, has nothing where no name
stands, and no words where these have numbers, does.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from leaf.readers.tabular.cells import FOOTER, is_empty, kind_of, shape_of
from leaf.readers.tabular.grid import SAMPLE, GridView, Region, first_text, fits_in
from leaf.readers.tabular.header import are_names

_MOST_HEADINGS = 2


def stands_first(view: GridView, region: Region, row: int) -> bool:
    """Whether a row holds words in a region's first column and nothing else, as a heading above
    years does."""
    return view.filled[row] == 1 and kind_of(view.cell(row, region.left)) == "t"


def headings_of_part(
    view: GridView, region: Region, text: Sequence[int], rows: Sequence[int]
) -> list[int] | None:
    """The headings above rows that are a part of the table above a gap, None where they are none.
    `text` are lines of text between the two."""
    columns = range(region.left, region.right + 1)
    names = next((i for i in region.rows[:3] if are_names(view, i, list(columns))), None)
    if len(columns) < 3 or names is None or not all(stands_first(view, region, i) for i in text):
        return None
    labels = _labels(view, region, rows)
    headings, values = [*text, *labels], rows[len(labels) :]
    if not 0 < len(headings) <= _MOST_HEADINGS or not values:
        return None
    if any(FOOTER.match(first_text(view, i)) for i in headings):
        return None
    named = [not is_empty(view.cell(names, c)) for c in columns]
    above = [i for i in region.rows[region.rows.index(names) + 1 :] if view.filled[i] > 1]
    if not _fits(view, region, values, columns, named):
        return None
    return headings if _is_as_full(view, above, values, columns) else None


def _labels(view: GridView, region: Region, rows: Sequence[int]) -> Sequence[int]:
    """Rows at the beginning of a band that are headings: words in the first column alone, or in the
    first two as a row of the table above has them (`Account 10000; Acme Ltd`)."""
    for at, row in enumerate(rows[: _MOST_HEADINGS + 1]):
        if not stands_first(view, region, row) and not _is_titled(view, region, row):
            return rows[:at]
    return ()


def _is_titled(view: GridView, region: Region, row: int) -> bool:
    """Whether a row holds two words, the second where the table has numbers or dates, and one of
    that make stands in the table above."""
    if not _is_pair(view, region, row) or region.profile(view)[1] not in "nd":
        return False
    make = shape_of(view.cell(row, region.left))
    return any(
        _is_pair(view, region, i) and shape_of(view.cell(i, region.left)) == make
        for i in region.rows[1:][:SAMPLE]
    )


def _is_pair(view: GridView, region: Region, row: int) -> bool:
    """Whether a row holds words in the first two columns and nothing else."""
    return view.filled[row] == 2 and all(
        kind_of(view.cell(row, c)) == "t" for c in (region.left, region.left + 1)
    )


def _fits(
    view: GridView,
    region: Region,
    rows: Sequence[int],
    columns: Sequence[int],
    named: Sequence[bool],
) -> bool:
    """Whether rows hold numbers and dates where a table does, or where it has but a name, and the
    first of them is none of names or years."""
    profile = region.profile(view)
    right = wrong = empty = 0
    for row in rows[:SAMPLE]:
        kinds = view.kinds(row, columns)
        hard = [p for p, kind in enumerate(kinds) if kind in "nydb" and p]
        odd = sum(
            kind != "e" and not (named[p] and _may_stand(kind, profile[p]))
            for p, kind in enumerate(kinds)
        )
        years = all(kinds[p] == "y" for p in hard)
        if row == rows[0] and (odd or years):
            return False
        right, wrong, empty = right + len(hard), wrong + odd, empty + (not hard)
    return wrong <= 0.1 * right and empty <= 0.2 * len(rows[:SAMPLE])


def _may_stand(kind: str, profile: str) -> bool:
    """Whether a cell may stand in a column of a kind: where it has no values yet, any may."""
    return profile == "e" or fits_in(profile, kind) or (profile == "t" and kind in "ty")


def _is_as_full(
    view: GridView, above: Sequence[int], rows: Sequence[int], columns: Sequence[int]
) -> bool:
    """Whether rows are filled as those of the table above are, as a list of a few values below it
    is not."""
    if not above:
        return False
    typical = median(view.fill(i, columns) for i in above[-SAMPLE:])
    return median(view.fill(i, columns) for i in rows[:SAMPLE]) >= 0.8 * typical
