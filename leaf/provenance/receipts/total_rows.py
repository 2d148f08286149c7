"""Rows of a result that add up its others, such as a query gives by `ROLLUP`: whoever adds up the
column counts everything twice with them. Pure.

A row counts as one only if it looks like one, without a name or called a total, and its numbers are
the sum of the rows that it stands for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from leaf.provenance.receipts.evidence import ResultNumbers
from leaf.readers.tabular.labels import label_of

_ADDED_UP = re.compile(r"(?i)\b(?:rollup|cube|grouping\s+sets)\b")
_NEAR = 1e-9


def named_totals(table: ResultNumbers) -> frozenset[int]:
    """Rows that look like totals: a name is missing that others have, or is a word for totals."""

    def compute() -> frozenset[int]:
        keys = _keys(table)
        return frozenset(
            i
            for i, row in enumerate(table.rows)
            if keys and any(_stands_for_all(row, key) for key in keys)
        )

    return table.kept("named totals", compute)


def total_rows(table: ResultNumbers) -> frozenset[int]:
    """Those of them that are the sum of the rows that they stand for."""

    def compute() -> frozenset[int]:
        named = named_totals(table)
        plain = [i for i in range(len(table.rows)) if i not in named]
        return frozenset(i for i in named if _adds_up(table, i, plain))

    return table.kept("total rows", compute)


def without_totals(table: ResultNumbers) -> Any:
    """The indices of all other rows, as an array."""
    totals = total_rows(table)
    return np.array([i for i in range(len(table.rows)) if i not in totals], dtype=int)


def _keys(table: ResultNumbers) -> list[int]:
    """Columns that name the rows: texts, and numbers that say when."""
    return [
        j
        for j in range(len(table.columns))
        if not table.is_measure(j) and any(_cell(row, j) is not None for row in table.rows)
    ]


def _cell(row: Sequence[Any], column: int) -> Any:
    return row[column] if column < len(row) else None


def _stands_for_all(row: Sequence[Any], key: int) -> bool:
    cell = _cell(row, key)
    if isinstance(cell, str) and cell.strip():
        label = label_of(cell)
        return label is not None and label.exact and label.kind != "average"
    return cell is None or isinstance(cell, str)


def _adds_up(table: ResultNumbers, total: int, plain: Sequence[int]) -> bool:
    """Whether a number of it is the sum of its rows; of one alone only where the query says that
    it adds up."""
    row = table.rows[total]
    own = [key for key in _keys(table) if not _stands_for_all(row, key)]
    parts = [i for i in plain if all(_cell(table.rows[i], key) == _cell(row, key) for key in own)]
    if len(parts) < (1 if _ADDED_UP.search(table.sql) else 2):
        return False
    sums = np.nansum(table.numbers[parts], axis=0)
    return any(
        table.is_measure(j)
        and sums[j] != 0
        and bool(np.isclose(sums[j], table.numbers[total, j], rtol=_NEAR, atol=0.0))
        for j in range(len(table.columns))
    )
