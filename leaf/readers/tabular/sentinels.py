"""Numbers that stand for no value: `-999`, `9999`, the fill values of measuring programs. They are
kept, and said: an average over them is of nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leaf.readers.tabular.table_file import TableFile

_COLUMNS, _BATCH = 500, 100
"""Columns of a table that are looked at, and of one query."""
_NINES = tuple(10**digits - 1 for digits in range(2, 8))
_NEGATIVE = frozenset(
    {
        *(-float(nines) for nines in _NINES),
        *(-nines / 10 for nines in _NINES),
        *(-nines / 100 for nines in _NINES[1:]),
        *(-888.0, -777.0, -8888.0, -7777.0, -32768.0, -2147483648.0, -1e20, -1e30, -1e34),
    }
)
_POSITIVE = frozenset(
    {
        *(float(nines) for nines in _NINES[1:]),
        *(nines / 10 for nines in _NINES[2:]),
        *(nines / 100 for nines in _NINES[2:]),
        *(1e20, 1e30, 9.969209968386869e36),
    }
)
_FEW = 5
"""Values that there are besides, at least."""


def sentinels(table: TableFile) -> list[tuple[int, float, int]]:
    """Columns by their index, the number in each that may stand for no value, and how often it does.

    It is the least or the greatest value and lies outside the others by twice their range; a
    negative one below numbers of which none is negative need only come twice. One without a sign
    comes twice, and is five times the next.
    """
    result = []
    columns = table.numeric[:_COLUMNS]
    for start in range(0, len(columns), _BATCH):
        batch = columns[start : start + _BATCH]
        names = list(map(table.column, batch))  # as they are: Parquet knows their ends
        ends = table.asked(", ".join(f"min({name}), max({name})" for name in names))[0]
        for at, index in enumerate(batch):
            least, most = ends[2 * at], ends[2 * at + 1]
            for value in (least, most):
                if value in (_NEGATIVE if value == least else _POSITIVE) and (
                    count := _apart(table, f"CAST({names[at]} AS DOUBLE)", float(value))
                ):
                    result.append((index, float(value), count))
    return result


def _apart(table: TableFile, name: str, value: float) -> int:
    """How often a value stands in a column, if it lies far from all others; else 0."""
    others = f"FILTER ({name} <> {value!r} AND isfinite({name}))"
    count, rest, least, most = table.asked(
        f"count(*) FILTER ({name} = {value!r}), count({name}) {others}, min({name}) {others}, "
        f"max({name}) {others}"
    )[0]
    if rest < _FEW or count >= 0.9 * (count + rest):
        return 0
    span = most - least
    if value < 0:
        far = value < least - 2 * span or (count > 1 and least >= 0)
    else:
        far = count > 1 and value > most + 2 * span and value >= 5 * abs(most)
    return int(count) if far else 0
