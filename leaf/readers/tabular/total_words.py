"""Words for totals in a grid that is not written yet: in its outline, and where they would turn
columns of numbers into text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from leaf.readers.base import Note
from leaf.readers.tabular.cells import places
from leaf.readers.tabular.labels import Label, is_ordinary, is_share, label_of
from leaf.readers.tabular.place import locate
from leaf.readers.tabular.table_file import WHOLE_ROWS
from leaf.readers.tabular.total_rows import LABEL_COLUMNS

if TYPE_CHECKING:
    from leaf.readers.tabular.grid import TableBlock

NUMERIC_STARTS = "0123456789-+.$€£¥("
"""What numbers and dates begin with, and no word does."""


def called_totals(grid: Sequence[Sequence[Any]], block: TableBlock, sheet: str = "") -> list[Note]:
    """Rows of a table that was only looked at whose first text is a word for totals; arithmetic
    says later if they are some."""
    known: dict[str, Label | None] = {}
    candidates: list[tuple[int, Label]] = []
    for i in block.body[:WHOLE_ROWS]:
        row = grid[i]
        for c in block.columns[:LABEL_COLUMNS]:
            cell = row[c] if c < len(row) else None
            if type(cell) is str and cell and cell[0] not in NUMERIC_STARTS and not cell.isspace():
                if cell not in known:
                    known[cell] = label_of(cell)
                label = known[cell]
                if label:
                    candidates.append((i + 1, label))
                break
    # A name such as Total Care proves nothing; beside a plain Total, North Total is one as well.
    words = [label for _, label in candidates if label.exact and not is_share(label)]
    if all(map(is_ordinary, words)):
        return []
    rows = [row for row, _ in candidates]
    text = (
        f"{len(rows):,} rows are called a total or an average; queries leave out those that are one."
        if len(rows) > 1
        else "1 row is called a total or an average; queries leave it out if it is one."
    )
    return [locate(Note("totals-called", text, len(rows), places(rows)), (), block.place(sheet))]


def counts_of_true(
    grid: Sequence[Sequence[Any]], body: Sequence[int], columns: Sequence[int]
) -> bool:
    """Whether the last row is called a total and says of columns of true and false how many are
    true: they would become text."""
    if len(body) < 3:
        return False
    last = grid[body[-1]]
    cells = {c: last[c] for c in columns if c < len(last) and last[c] not in (None, "")}
    numbers = {c: cell for c, cell in cells.items() if type(cell) in (int, float)}
    called = [cell for c, cell in cells.items() if c not in numbers]
    if not numbers or len(called) != 1 or type(called[0]) is not str or not label_of(called[0]):
        return False
    for c, count in numbers.items():
        values = [
            grid[i][c] for i in body[:-1] if c < len(grid[i]) and grid[i][c] not in (None, "")
        ]
        if any(type(value) is not bool for value in values) or sum(values) != count:
            return False
    return True


def softened(
    grid: Sequence[Sequence[Any]], body: Sequence[int], hard: Sequence[int]
) -> dict[int, dict[int, str]]:
    """Words such as Total in columns of numbers or dates: position in `body` -> column -> word.
    They would turn it into text."""
    words: dict[int, dict[int, str]] = {}
    for c in hard[:LABEL_COLUMNS]:
        for position, i in enumerate(body):
            row = grid[i]
            if c < len(row) and (word := word_for_total(row[c])):
                words.setdefault(position, {})[c] = word
    return words


def word_for_total(cell: Any) -> str:
    """The word of a cell that is one such as Total and nothing else; else empty."""
    if type(cell) is not str or not cell or cell[0] in NUMERIC_STARTS:
        return ""
    label = label_of(cell)
    return cell.strip() if label and label.exact and not is_ordinary(label) else ""
