"""Rows of averages, least and greatest values and counts: proven where every number is what its
word says, to its last digit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import log2
from typing import TYPE_CHECKING

from leaf.readers.tabular.labels import Label, is_least, is_most

if TYPE_CHECKING:
    from leaf.readers.tabular.spans import Bools, Floats, TableNumbers
    from leaf.readers.tabular.sums import Sign

_MIDDLE = re.compile(r"median|médian|zentralwert")
_COUNT = re.compile(r"count|anzahl|effectif|recuento|n$")
_SPREAD = re.compile(r"std")


def summaries(
    numbers: TableNumbers, labels: Mapping[int, Label], apart: set[int]
) -> dict[int, float]:
    """Row -> bits, of rows of which all numbers are what their word says of the rows of data;
    `apart` are totals among them."""
    import numpy as np

    data: Bools = np.asarray(~np.isnan(numbers.values).all(axis=1))
    data[[*apart, *labels]] = False
    bits_of = {}
    for row, label in labels.items():
        near = data.copy()
        bits = _bits(numbers, row, label, near)
        if bits is None and any(r < row for r in apart):
            near[: max(r for r in apart if r < row)] = False  # of the last group alone
            bits = _bits(numbers, row, label, near)
        if bits is not None:
            bits_of[row] = bits
    return bits_of


def last_summaries(called: Mapping[int, Sign], rows: int) -> set[int]:
    """The last rows of a table, where they are called by two words or more in the column of names (`Mean`,
    `SD`), and are few beside the others."""
    last = set[int]()
    for row in range(rows - 1, -1, -1):
        sign = called.get(row)
        if not (sign and sign.stub and sign.times == 1 and sign.label and sign.label.exact):
            break
        last.add(row)
    return last if len(last) > 1 and 4 * len(last) <= rows else set()


def _bits(numbers: TableNumbers, row: int, label: Label, data: Bools) -> float | None:
    import numpy as np

    least, most = is_least(label), is_most(label)
    rows = np.flatnonzero(data)
    bits = 0.0
    columns = np.flatnonzero(~np.isnan(numbers.values[row]))
    for c in columns:
        column = numbers.values[rows, c]
        column = column[~np.isnan(column)]
        printed = float(numbers.values[row, c])
        if len(column) < 2:
            return None
        if least or most:
            if printed != (column.min() if least else column.max()):
                return None
            bits += log2(len(column) / max(1, int((column == printed).sum())))
            continue
        slack = max(1e-9 * abs(printed), 0.51 * _step(printed))
        if abs(_value(label.word, column) - printed) > slack:
            return None
        bits += min(24.0, max(0.0, log2(1 + float(np.ptp(column)) / (2 * slack))))
    return bits if len(columns) else None


def _value(word: str, column: Floats) -> float:
    import numpy as np

    if _MIDDLE.match(word):
        return float(np.median(column))
    if _COUNT.match(word):
        return float(len(column))
    if _SPREAD.match(word):
        return float(column.std(ddof=1))
    return float(column.mean())


def _step(value: float) -> float:
    """The last digit that a number is printed with, up to six decimals; 0 for finer ones."""
    for decimals in range(7):
        if abs(value - round(value, decimals)) <= 1e-9 * max(1.0, abs(value)):
            return float(10.0**-decimals)
    return 0.0
