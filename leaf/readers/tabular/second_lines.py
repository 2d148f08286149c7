"""Rows that go on with the row above: a description that takes a second line in an invoice, with
nothing in any other column. They stay rows, which is said, since they count as some."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leaf.readers.tabular.table_file import counted

if TYPE_CHECKING:
    from leaf.readers.tabular.table_file import Bools, TableFile

ROWS = 100_000
"""Of the longest table that is looked at."""
_LEAST, _MOST = 4, 60
"""Columns of a table that is."""
_USUAL = 0.9
"""Part of the other rows that fill the first column, and that of the text."""
_FILLED = 3
"""Cells that the other rows fill on average, at least, and half of all columns."""


def continuations(table: TableFile, data: Bools) -> tuple[str, tuple[int, ...], int]:
    """What is said of such rows, their positions, and the column of their text; no rows where there
    are none. `data` says which rows are no totals."""
    import numpy as np

    width = len(table.types)
    none = ("", (), -1)
    if not (_LEAST <= width <= _MOST and 2 < table.rows <= ROWS) or not table.texts:
        return none
    filled = [f"CAST({table.column(i)} IS NOT NULL AS INTEGER)" for i in range(width)]
    alone = f"{table.column(0)} IS NULL AND {' + '.join(filled)} = 1"
    asked = table.asked(
        f"{table.number}, {', '.join(filled)}", f"WHERE {alone} LIMIT {table.rows // 2 + 1}"
    )
    rows = [int(row) for row, *_ in asked if data[int(row)]]
    columns = {flags.index(1) for row, *flags in asked if data[int(row)]}
    if len(columns) != 1 or not 2 * len(rows) <= int(data.sum()):
        return none
    [column] = columns
    others = data.copy()
    others[rows] = False
    fill = np.stack([table.filled(i) for i in range(width)])[:, others]
    usual = fill[[0, column]].mean(axis=1) >= _USUAL
    above = all(row > 0 and (others[row - 1] or row - 1 in rows) for row in rows)
    if column not in table.texts or not (usual.all() and above):
        return none
    if fill.sum(axis=0).mean() < max(_FILLED, width / 2):
        return none
    hold = "holds" if len(rows) == 1 else "hold"
    text = (
        f"{counted(len(rows))} {hold} nothing but text in '{table.names[column]}' and may go on with the "
        f"row above; counted as rows of data."
    )
    return text, tuple(rows), column
