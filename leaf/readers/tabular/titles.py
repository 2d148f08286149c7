"""The words above a table: what a sheet or a file calls itself, where its name does not."""

from __future__ import annotations

from collections.abc import Sequence

from leaf.readers.tabular.cells import is_empty
from leaf.readers.tabular.grid import TableBlock

ROWS = 3
LONGEST = 200
"""Characters of a title."""


def title_above(grid: Sequence[Sequence[object]], blocks: Sequence[TableBlock]) -> str:
    """The text of the rows above the first table's header, on one line; empty where it begins at
    once."""
    top = min((block.top for block in blocks), default=0)
    rows = [row for row in grid[:top] if any(not is_empty(cell) for cell in row)][:ROWS]
    lines = (
        " ".join(" ".join(str(cell).split()) for cell in row if not is_empty(cell)) for row in rows
    )
    text = " / ".join(line for line in lines if any(c.isalpha() for c in line))
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
