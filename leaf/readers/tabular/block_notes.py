"""What is said of the rows around a table and between its parts."""

from __future__ import annotations

from collections.abc import Sequence

from leaf.readers.base import Note
from leaf.readers.tabular.cells import places
from leaf.readers.tabular.grid import GridView

_MANY_TITLES = 10
"""Rows above a header; a report's head is shorter."""


def lent_note(lender: int, first: int) -> Note:
    """Of rows by their numbers: that of the table above, and the first one below it."""
    text = (
        f"No header row was found: the columns have the names of the table above, of row {lender}."
    )
    return Note("no-header", text, 0, places([first]))


def preamble_note(titles: Sequence[int]) -> Note:
    """Of rows by their numbers."""
    text = (
        f"{_rows(len(titles))} above the header {_are(len(titles))} titles or remarks and "
        f"not part of the table."
    )
    return Note("preamble", text, len(titles), places(titles))


def numbers_notes(rows: Sequence[int], *, forms: bool = False) -> list[Note]:
    """Of rows by their numbers; `forms` says that they give the columns' widths."""
    if not rows:
        return []
    if forms:
        text = (
            f"Row {rows[0]} says how wide the columns are and what they hold; it was taken for part "
            f"of the header."
        )
        return [Note("header-two-rows", text, 1, places(rows))]
    text = (
        f"Row {rows[0]} numbers the columns below their names; it was taken for part of the header."
    )
    return [Note("header-two-rows", text, 1, places(rows))]


def repeat_notes(rows: Sequence[int]) -> list[Note]:
    """Of rows by their numbers."""
    if not rows:
        return []
    text = f"The header is repeated in {_rows(len(rows))}, which {_are(len(rows))} left out."
    return [Note("header-repeated", text, len(rows), places(rows))]


def heading_doubts(rows: Sequence[int]) -> list[Note]:
    """Of rows by their numbers."""
    if not rows:
        return []
    text = (
        f"{_rows(len(rows))} between parts of the table may be headings or remarks; kept as data."
    )
    return [Note("titles-doubtful", text, len(rows), places(rows))]


def _rows(count: int) -> str:
    return f"{count:,} row{'s' if count != 1 else ''}"


def _are(count: int) -> str:
    return "are" if count != 1 else "is"


def title_doubts(
    view: GridView,
    titles: Sequence[int],
    above: Sequence[int],
    columns: Sequence[int],
    numbers: Sequence[int],
) -> list[Note]:
    """Rows above the header that were left out and may be rows of data: many of them, or filled as
    rows of a table are."""
    rows = [numbers[i] for i in above if view.fill(i, columns) >= max(3, 0.5 * len(columns))]
    if len(titles) > _MANY_TITLES:
        rows = list(titles)
    if not rows:
        return []
    text = (
        f"{_rows(len(rows))} above the header {_are(len(rows))} left out as titles, but may "
        f"be rows of data."
    )
    return [Note("titles-doubtful", text, len(rows), places(rows))]
