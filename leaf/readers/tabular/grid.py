"""A grid of cells as the search for tables sees it, and what it finds.

A grid is a list of rows; a cell is text or a plain Python value, empty is `""`. Only a sample of
the rows is looked at cell by cell, so a long table costs one cheap pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from leaf.readers.base import Note
from leaf.readers.tabular.cells import is_empty, kind_of
from leaf.readers.tabular.place import TablePlace

Row = Sequence[Any]
Grid = Sequence[Row]
Merge = tuple[tuple[int, int], tuple[int, int]]
"""First and last cell, 0-based (row, column), inclusive."""
SAMPLE = 240
"""Rows looked at from each end."""


@dataclass(frozen=True)
class TableBlock:
    """One table in a grid. All places are 0-based and inclusive."""

    top: int
    """First row of the header, or of the body if there is no header."""
    bottom: int
    left: int
    right: int
    names: tuple[str, ...]
    """Unique column names, for the columns `columns`."""
    columns: tuple[int, ...]
    """Grid columns that hold the table; empty spacer columns are left out."""
    body: Sequence[int]
    """Rows of data, in order."""
    header_rows: int = 0
    notes: tuple[Note, ...] = ()
    doubtful: tuple[int, ...] = ()
    """Rows of the body that may be headings: words alone between its parts."""
    headings: tuple[int, ...] = ()
    """Rows of the body that are headings of the rows below them."""
    remarks: tuple[int, ...] = ()
    """Rows at the end of the body that may be remarks."""
    counting: int = -1
    """The row below the header that numbers its columns; -1 without one."""
    name: str = ""
    """What the file itself calls it; empty where it has no name of its own."""
    told: tuple[tuple[int, str], ...] = ()
    """Rows of the body that the file itself calls a subtotal or a total."""

    @property
    def told_positions(self) -> dict[int, str]:
        """Where in `body` such rows are, and of what kind."""
        kinds = dict(self.told)
        return {p: kinds[row] for p, row in enumerate(self.body) if row in kinds} if kinds else {}

    @property
    def heading_positions(self) -> list[int]:
        """Where in `body` its headings are."""
        at = {row: position for position, row in enumerate(self.body)} if self.headings else {}
        return [at[row] for row in self.headings if row in at]

    def place(self, sheet: str = "", numbers: Sequence[int] = ()) -> TablePlace:
        """Where it stands in its file, for notes; `numbers` are the rows' places in it where they do
        not count from 1."""
        if not numbers:
            return TablePlace(sheet, self.top + 1, self.bottom + 1, self.columns, self.header_rows)
        top, first = numbers[self.top], numbers[min(self.top + self.header_rows, self.bottom)]
        return TablePlace(sheet, top, numbers[self.bottom], self.columns, first - top)


@dataclass(frozen=True)
class GridContent:
    """What a grid holds."""

    blocks: tuple[TableBlock, ...]
    notes: tuple[Note, ...] = ()
    """About what belongs to no table."""


@dataclass
class Region:
    """Rows and columns that may become a table, with rows around it that are text."""

    rows: list[int]
    left: int
    right: int
    titles: list[int] = field(default_factory=list)
    footers: list[int] = field(default_factory=list)
    values: Sequence[int] = ()
    """Of the titles, those that are labels with their values."""
    headings: list[int] = field(default_factory=list)
    """Of the rows, those of words alone that stand between parts of the table."""
    names: Sequence[int] = ()
    """Rows of a header that stand apart, or apart from the data; empty where nothing is known of
    one."""
    described: bool = False
    """Whether these rows describe the columns of series, each with a word for what it says of
    them."""
    _kinds: tuple[int, int, int, list[str]] = (0, 0, 0, [])

    def profile(self, view: GridView) -> list[str]:
        """`column_kinds` of its rows; found again when they are a tenth more, as many bands may be
        held against it."""
        rows, left, right, kinds = self._kinds
        if (left, right) != (self.left, self.right) or not rows <= len(self.rows) <= 1.1 * rows:
            named = set(self.names)
            body = [row for row in self.rows if row not in named] if named else self.rows
            kinds = column_kinds(view, body, range(self.left, self.right + 1))
            self._kinds = len(self.rows), self.left, self.right, kinds
        return kinds


@dataclass(frozen=True)
class GridView:
    """The grid as the search sees it."""

    grid: Grid
    filled: Sequence[int]
    """Cells that are not empty, by row."""
    widths: Sequence[int] | None
    """Cells as written by row, where that says something (delimited text)."""
    merges: Sequence[Merge]
    label: Callable[[int], str]
    """A row's number for notes."""
    drawn: Set[int] = frozenset()
    """Rows of delimited text that are one line of dashes, by which a table is drawn."""
    comments: Set[int] = frozenset()
    """Rows of delimited text that are comments and part one table from the next."""

    def cell(self, row: int, column: int) -> Any:
        cells = self.grid[row]
        return cells[column] if column < len(cells) else ""

    def kinds(self, row: int, columns: Sequence[int]) -> list[str]:
        return [kind_of(self.cell(row, c)) for c in columns]

    def fill(self, row: int, columns: Sequence[int]) -> int:
        return sum(not is_empty(self.cell(row, c)) for c in columns)

    def lone(self, row: int) -> bool:
        """A line of text rather than a row of cells."""
        return self.filled[row] <= 1


def hard_columns(grid: Grid, body: Sequence[int], columns: Sequence[int]) -> list[int]:
    """Columns that hold numbers, dates or booleans in most of their cells, told from a sample."""
    sample = body[:: max(1, len(body) // SAMPLE)]
    hard = []
    for c in columns:
        count = Counter(kind_of(grid[i][c]) for i in sample if c < len(grid[i]))
        if 2 * sum(count[k] for k in "nydb") > count["t"] + sum(count[k] for k in "nydb"):
            hard.append(c)
    return hard


def extent_of(view: GridView, rows: Sequence[int]) -> tuple[int, int]:
    if len(rows) > 4 * SAMPLE:
        rows = [*rows[:SAMPLE], *rows[:: max(1, len(rows) // SAMPLE)], *rows[-SAMPLE:]]
    left, right = 10**9, 0
    for i in rows:
        cells = view.grid[i]
        first = next((c for c, cell in enumerate(cells) if not is_empty(cell)), None)
        if first is None:
            continue
        left = min(left, first)
        last = len(cells) - 1
        while last > right and is_empty(cells[last]):
            last -= 1
        right = max(right, last)
    return min(left, right), right


def first_text(view: GridView, row: int) -> str:
    return next((str(c).strip() for c in view.grid[row] if not is_empty(c)), "")


def column_kinds(view: GridView, rows: Sequence[int], columns: Sequence[int]) -> list[str]:
    """The kind of each column over the denser rows of the lower two thirds: n, d, b, t, or e for
    nothing to go by."""
    sample = list(rows) if len(rows) <= 2 * SAMPLE else [*rows[:SAMPLE], *rows[-SAMPLE:]]
    fills = {i: view.fill(i, columns) for i in sample}
    typical = median([f for f in fills.values() if f]) if any(fills.values()) else 0
    dense = [i for i in sample if fills[i] >= 0.6 * typical] or sample
    lower = dense[min(len(dense) // 3, len(dense) - 1) :] if len(dense) > 3 else dense[1:] or dense
    table = [view.kinds(i, columns) for i in lower]
    result = []
    for position in range(len(columns)):
        count = Counter(kinds[position] for kinds in table)
        numbers = count["n"] + count["y"]
        best, most = max(
            (("n", numbers), ("d", count["d"]), ("b", count["b"]), ("t", count["t"])),
            key=lambda x: x[1],
        )
        result.append(best if most else "e")
    return result


def fits_in(profile: str, kind: str) -> bool:
    return kind == profile or (profile == "n" and kind == "y") or kind == "m"
