"""A row that is the sum of all others, wherever it stands and whatever it is called: a state above its
counties, an account above its campaigns.

The search for totals (`sums.py`) asks that most columns add up. Beside margins of error, rates and
people counted once, two columns that do so to the last digit are no chance either; such a row is said
to be doubtful, never left out.
"""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING

from leaf.readers.tabular.cubes import step_of

if TYPE_CHECKING:
    from leaf.readers.tabular.table_file import Floats, TableFile

ROWS = 100_000
"""Of the longest table that is looked at."""
_LONG, _NEAR = 5_000, 1e-3
"""Rows from which on a table's numbers are looked at only where a row comes as near as this to half of
its columns' sums, which a query tells in a tenth of the time."""
_OTHERS = 4
"""Rows that it sums, at least."""
_COLUMNS = 60
"""Columns of numbers that are looked at."""
_AGREEING = 2
"""Columns that add up, at least."""
_SOME = 0.3
"""Their part of all columns in which the row has a number."""
_PROOF = 24.0
"""Bits of agreement from which on it is no chance; a column gives as many as the sum has digits, in
twos, and twenty at most."""


def sum_of_all(table: TableFile, left_out: Container[int]) -> list[int]:
    """The row of a table that is the sum of all others, by position; empty where there is none.
    `left_out` are rows that are known to be no data."""
    import numpy as np

    if not _OTHERS < table.rows <= ROWS or len(table.numeric) < _AGREEING:
        return []
    rows = np.array([row for row in range(table.rows) if row not in left_out], dtype=np.int64)
    if len(rows) <= _OTHERS:
        return []
    columns = table.numeric[:_COLUMNS]
    if len(rows) > _LONG and not _comes_near(table, columns):
        return []
    values = table.numbers(columns)[rows]
    bits = np.stack([_bits(values[:, at]) for at in range(values.shape[1])], axis=1)
    agreeing = (bits > 0).sum(axis=1)
    filled = (np.nan_to_num(values) != 0).sum(axis=1)
    proof = (
        (agreeing >= _AGREEING)
        & (agreeing >= _SOME * filled)
        & (bits.sum(axis=1) >= _PROOF + np.log2(len(rows)))
    )
    return [int(row) for row in rows[proof]]


def _comes_near(table: TableFile, columns: Sequence[int]) -> bool:
    """Whether a row is about half of the sums of its columns."""
    names = [f"CAST({table.column(index)} AS DOUBLE)" for index in columns]
    asked = ", ".join(f"sum({name}), max(abs({name}))" for name in names)
    whole = table.asked(asked)[0]
    near = [
        f"CAST(coalesce(abs(2 * {name} - {total!r}) <= {_NEAR * abs(total)!r}, false) AS INTEGER)"
        for name, total, most in zip(names, whole[::2], whole[1::2], strict=True)
        if total and math.isfinite(total) and (2 + _NEAR) * most >= abs(total)
    ]
    if len(near) < _AGREEING:
        return False
    return bool(table.asked("1", f"WHERE {' + '.join(near)} >= {_AGREEING} LIMIT 1"))


def _bits(column: Floats) -> Floats:
    """By row, what it says that the row's number is the sum of all others; 0 where it is not."""
    import numpy as np

    numbers = np.nan_to_num(column)
    bits = np.zeros(len(column))
    if np.count_nonzero(numbers) <= _OTHERS:
        return bits
    step = step_of(column)
    off = np.abs(2 * numbers - numbers.sum())
    # To the last digit; else as rounded parts, each of which may be off by half a step.
    for room in (step / 1_000, step * len(numbers) / 2):
        rooms = room + 1e-9 * np.abs(numbers)
        agree = (off <= rooms) & (numbers != 0) & (bits == 0)
        bits[agree] = np.minimum(
            np.log2(1 + np.abs(numbers[agree]) / (2 * rooms[agree] + step)), 20
        )
        if step == 1:  # whole numbers are counts, which nobody rounds
            break
    return bits
