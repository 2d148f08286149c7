"""A table's Parquet as it was just written, looked at column by column."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leaf.readers.tabular.sql import COUNTED, identifier, parquet_rows

if TYPE_CHECKING:
    import duckdb
    import numpy as np

    Bools = np.ndarray[Any, np.dtype[np.bool_]]
    Floats = np.ndarray[Any, np.dtype[np.float64]]

WHOLE_ROWS = 1_000_000
"""Up to here rows are judged by their numbers alone as well, and searched for duplicates."""
KEY = re.compile(
    r"(?i)(?:^|[\W_])(?:id|ids|key|uuid|guid|sku|code|nr|no|num|number|nummer|invoice|rechnung)\.?$"
)
"""Names of columns that tell rows apart."""
_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_NUMERIC = (*_INTEGERS, *(f"U{kind}" for kind in _INTEGERS), "FLOAT", "DOUBLE", "DECIMAL")


_CELLS, _LEAST, _MOST = 4_000_000, 8, 512
"""Cells of numbers that a query gives, and the columns that it gives at least and at most: each query
reads what the file says of all its columns."""


class TableFile:
    """A Parquet file, its columns' names and DuckDB types, and what can be asked of them."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        path: Path,
        columns: Sequence[tuple[str, str]],
        rows: int,
    ) -> None:
        self.connection, self.rows = connection, rows
        self.relation = parquet_rows(path)
        self.names = [name for name, _ in columns]
        self.number = COUNTED
        """SQL for the number of a row, from 0."""
        if any(name.lower() == COUNTED for name in self.names):
            self.number = identifier(_fresh(self.names))
            self.relation = (
                f"(SELECT *, row_number() OVER () - 1 AS {self.number} FROM {self.relation})"
            )
        self.types = [kind for _, kind in columns]
        self.texts = [i for i, kind in enumerate(self.types) if kind == "VARCHAR"]
        self.numeric = [
            i
            for i, kind in enumerate(self.types)
            if kind.startswith(_NUMERIC) and not kind.endswith("]")
        ]

    @property
    def whole(self) -> bool:
        """Whether it is short enough to have every row looked at."""
        return self.rows <= WHOLE_ROWS

    def column(self, index: int) -> str:
        """A column's name as SQL."""
        return identifier(self.names[index])

    def asked(self, what: str, rest: str = "") -> list[tuple[Any, ...]]:
        """Rows of `SELECT what FROM the table rest`."""
        return self.connection.execute(f"SELECT {what} FROM {self.relation} {rest}").fetchall()

    def numbers(self, columns: Sequence[int], first: int | None = None) -> Floats:
        """Rows × columns, all rows or the first ones; NaN where a cell is empty."""
        import numpy as np

        rows = self.rows if first is None else min(first, self.rows)
        values = np.full((rows, len(columns)), np.nan, order="F")
        least = _LEAST if rows <= WHOLE_ROWS else 1
        size = max(least, min(_MOST, _CELLS // max(1, rows)))
        for start in range(0, len(columns), size):
            batch = columns[start : start + size]
            select = ", ".join(f"{self._number(index)} AS v{at}" for at, index in enumerate(batch))
            arrays = self.connection.execute(
                f"SELECT {select} FROM {self.relation} LIMIT {rows}"
            ).fetchnumpy()
            for at in range(len(batch)):
                column = arrays.pop(f"v{at}")
                values[:, start + at] = (
                    np.ma.filled(column, np.nan)
                    if isinstance(column, np.ma.MaskedArray)
                    else column
                )
        for column in values.T:
            column[~np.isfinite(column)] = np.nan
        return values

    def _number(self, index: int) -> str:
        """SQL: a column's values as numbers, also where they are written in text."""
        if self.types[index] == "VARCHAR":
            return f"TRY_CAST({bare(self.names[index])} AS DOUBLE)"
        return f"CAST({self.column(index)} AS DOUBLE)"

    def empty(self, index: int) -> Bools:
        """By row, whether a column has no value."""
        return self._flags(f"{self.column(index)} IS NULL")

    def filled(self, index: int) -> Bools:
        """By row, whether a column has a value."""
        return self._flags(f"{self.column(index)} IS NOT NULL")

    def _flags(self, what: str) -> Bools:
        import numpy as np

        return np.asarray(
            self.connection.execute(f"SELECT {what} AS v FROM {self.relation}").fetchnumpy()["v"],
            dtype=bool,
        )

    def hashes(self, columns: Sequence[int]) -> Any:
        """By row, a hash of its values in some columns."""
        names = ", ".join(self.column(i) for i in columns)
        return self.connection.execute(
            f"SELECT hash({names}) AS v FROM {self.relation}"
        ).fetchnumpy()["v"]


def bare(name: str) -> str:
    """SQL: a text without the marks of thousands."""
    return f"regexp_replace({identifier(name)}, '[, ]', '', 'g')"


def counted(count: int) -> str:
    """`1 row`, `2,000 rows`."""
    return f"{count:,} row{'s' if count != 1 else ''}"


def _fresh(names: Sequence[str]) -> str:
    """A name that no column has."""
    longest = max(map(len, names))
    return "_" * (longest + 1)
