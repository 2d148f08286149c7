"""A row that is the sum of all others, wherever it stands and whatever it is called: a state above its
counties, an account above its campaigns.

The search for totals (`sums.py`) asks that most columns add up. Beside margins of error, rates and
people counted once, two columns that do so to the last digit are no chance either; such a row is said
to be doubtful, never left out.
"""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leaf.readers.tabular.table_file import Floats, TableFile

ROWS = 100_000
"""Of the longest table that is looked at."""
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
    """The row of a table that is the sum of all others, by position; none where there is none.
    `left_out` are rows that are known to be no data."""
    import numpy as np

    if not _OTHERS < table.rows <= ROWS or len(table.numeric) < _AGREEING:
        return []
    values = table.numbers(table.numeric[:_COLUMNS])
    rows = np.array([row for row in range(table.rows) if row not in left_out], dtype=np.int64)
    values = values[rows]
    if len(rows) <= _OTHERS:
        return []
    bits = np.stack([_bits(values[:, at]) for at in range(values.shape[1])], axis=1)
    agreeing = (bits > 0).sum(axis=1)
    filled = (np.nan_to_num(values) != 0).sum(axis=1)
    proof = (
        (agreeing >= _AGREEING)
        & (agreeing >= _SOME * filled)
        & (bits.sum(axis=1) >= _PROOF + np.log2(len(rows)))
    )
    return [int(row) for row in rows[proof]]


def _bits(column: Floats) -> Floats:
    """By row, what it says that the row's number is the sum of all others; 0 where it is not."""
    import numpy as np

    numbers = np.nan_to_num(column)
    finite = np.isfinite(column)
    bits = np.zeros(len(column))
    if int((finite & (numbers != 0)).sum()) <= _OTHERS or not np.isfinite(numbers).all():
        return bits
    step = _step(numbers)
    # Rounded parts may be off by half a step each; whole numbers are counts.
    room = 1e-9 * np.abs(numbers) + (1e-9 if step == 1 else step * len(numbers) / 2)
    agree = (np.abs(2 * numbers - numbers.sum()) <= room) & (numbers != 0)
    bits[agree] = np.minimum(np.log2(1 + np.abs(numbers[agree]) / (2 * room[agree] + step)), 20)
    return bits


def _step(numbers: Floats) -> float:
    """What the numbers are rounded to, up to six decimals."""
    import numpy as np

    whole = next((n for n in (1000.0, 100.0, 10.0, 5.0) if (numbers % n == 0).all()), 0.0)
    return whole or next(
        (
            10.0**-n
            for n in range(7)
            if np.allclose(numbers, np.round(numbers, n), rtol=0, atol=1e-9)
        ),
        1e-6,
    )
