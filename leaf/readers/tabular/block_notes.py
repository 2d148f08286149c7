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


def loose_notes(cells: int, rows: Sequence[int]) -> list[Note]:
    """Of rows by their numbers whose filled cells are in no table."""
    if not rows:
        return []
    return [Note("loose-cells", _loose(cells, len(rows)), cells, places(rows))]


def _loose(cells: int, rows: int) -> str:
    text = (
        f"{cells:,} cells in {rows:,} rows belong to no table and were not loaded into one; they "
        f"can be read as text."
    )
    if rows == 1:
        text = (
            f"{cells:,} cells in one row belong to no table and were not loaded into one; they "
            f"can be read as text."
        )
    if cells == 1:
        text = "1 cell belongs to no table and was not loaded into one; it can be read as text."
    return text


def several_notes(blocks: int) -> list[Note]:
    if blocks < 2:
        return []
    text = f"{blocks} separate tables were found here; each was loaded on its own."
    return [Note("several-blocks", text, blocks)]


def unnamed_note(names: Sequence[str], first: str) -> Note:
    """Of a table without a header, and where its first row stands."""
    text = f"No header row was found: the columns are named {names[0]} to {names[-1]}."
    return Note("no-header", text, 0, first)


def names_notes(names: Sequence[str], empty: int, repeated: int, place: str) -> list[Note]:
    """Of `empty` names that were made up and `repeated` ones that got a number, in the header at
    `place`."""
    notes = []
    if empty:
        unnamed = [name for name in names if name.startswith("column_")][:6]
        text = f"{empty} columns have no name; they are called {', '.join(unnamed)}."
        notes.append(Note("names-empty", text, empty, place))
    if repeated:
        text = f"{repeated} column names are repeated; a number was added to each."
        notes.append(Note("names-repeated", text, repeated, place))
    return notes
