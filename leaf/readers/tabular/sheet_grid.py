"""The rows of a sheet as calamine gives them, and their columns, taken while the cells are at hand.

A cell of Python is slow to come back to: of each thousand rows the columns are turned at once into
arrays where they hold values of one type, and the empty cells of each row are counted. What a table
needs of its columns later is put together from these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

_FIRST = 64
"""Rows of the first piece: titles and names stand among them, so that it seldom is of one type."""
_ROWS = 512


@dataclass(frozen=True)
class _RowPiece:
    """Some rows: of each column the types that occur, and its values where there is only one that
    can be an array."""

    first: int
    end: int
    kinds: tuple[set[type], ...]
    arrays: tuple[pa.Array | None, ...]


class SheetGrid(list[list[Any]]):
    """Rows of one width; an empty cell is an empty text."""

    def __init__(self, rows: Iterator[list[Any]]) -> None:
        super().__init__()
        self.filled: list[int] = []
        """Cells of each row that are not empty."""
        self._pieces: list[_RowPiece] = []
        size = _FIRST
        while some := list(islice(rows, size)):
            self._take(some)
            size = _ROWS

    def _take(self, rows: list[list[Any]]) -> None:
        columns = list(zip(*rows, strict=True))
        kinds = tuple(set(map(type, column)) for column in columns)
        arrays = tuple(_array(column, types) for column, types in zip(columns, kinds, strict=True))
        self._pieces.append(_RowPiece(len(self), len(self) + len(rows), kinds, arrays))
        gaps = [
            column
            for column, types in zip(columns, kinds, strict=True)
            if str in types and "" in column
        ]
        width = len(columns)
        self.filled += (
            [width - texts.count("") for texts in zip(*gaps, strict=True)]
            if gaps
            else [width] * len(rows)
        )
        self += rows

    def column(
        self, index: int, first: int, end: int
    ) -> tuple[Sequence[Any] | pa.ChunkedArray, set[type]]:
        """Values of a column in some rows, as an array where all are of one type; and the types of
        Python that occur."""
        import pyarrow as pa

        kinds = set[type]()
        arrays: list[pa.Array | None] = []
        for piece in self._pieces:
            start, stop = max(first, piece.first), min(end, piece.end)
            if start >= stop:
                continue
            types, array = piece.kinds[index], piece.arrays[index]
            if array is None or (start, stop) != (piece.first, piece.end):
                part = [row[index] for row in self[start:stop]]
                types = set(map(type, part))
                array = _array(part, types)
            kinds |= types
            arrays.append(array)
        if len(kinds) == 1 and (kind := _arrow_types().get(next(iter(kinds)))):
            return pa.chunked_array(arrays, kind), kinds
        return [row[index] for row in self[first:end]], kinds


@cache
def _arrow_types() -> dict[type, pa.DataType]:
    import pyarrow as pa

    return {float: pa.float64(), str: pa.string(), date: pa.date32()}


def _array(values: Sequence[Any], kinds: set[type]) -> pa.Array | None:
    import pyarrow as pa

    kind = _arrow_types().get(next(iter(kinds))) if len(kinds) == 1 else None
    return pa.array(values, kind) if kind else None
