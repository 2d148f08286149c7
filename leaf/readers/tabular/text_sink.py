"""Rows of any width on their way into a table, kept as text in a Parquet file until their types are
known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from leaf.readers.base import Note
from leaf.readers.tabular.cells import is_empty, places
from leaf.readers.tabular.delimited_source import CHUNK_ROWS

_SPARE = 20
"""Columns kept for rows that are longer than the others; what goes beyond is joined into the last
one."""


class TextSink:
    """Takes rows of any width and writes them as text columns, a chunk at a time; lines of text at
    the very end are left out."""

    def __init__(self, path: Path, width: int, start: int, names: Sequence[str] = ()) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.path, self.width, self.rows, self.seen = path, width + _SPARE, 0, 0
        self._usual, self._start = width, start
        self._schema = pa.schema([(f"c{n}", pa.string()) for n in range(self.width)])
        self._writer = pq.ParquetWriter(path, self._schema, compression="snappy")
        self._buffer: list[list[str]] = []
        self._short: list[int] = []
        self._long: list[int] = []
        self._shorts = self._longs = self._empty = self._dropped = 0
        self._widest = width
        self._footers: list[int] = []
        self.gaps: list[int] = []
        """Empty lines and repeated headers that were left out."""
        self._names = list(names) or None
        self._again: list[int] = []

    def add_all(self, rows: Iterator[list[str]]) -> None:
        """Take rows to the end of the file."""
        pending: list[tuple[int, list[str]]] = []
        for cells in rows:
            self.seen += 1
            if cells == self._names:
                self._again.append(self._start + self.seen)
                self.gaps.append(self._start + self.seen)
            elif len(cells) == self._usual and cells != [""]:
                if pending:
                    self._flush_pending(pending)
                self._buffer.append(cells)
            elif cells == [""]:
                self._empty += 1
                self.gaps.append(self._start + self.seen)
            else:
                pending.append((self._start + self.seen, cells))
                if len(pending) > 40:
                    self._flush_pending(pending)
            if len(self._buffer) >= CHUNK_ROWS:
                self._write()
        if all(len(cells) == 1 for _, cells in pending):
            self._footers = [number for number, _ in pending]
        else:
            self._flush_pending(pending)

    def _flush_pending(self, pending: list[tuple[int, list[str]]]) -> None:
        for number, cells in pending:
            if len(cells) < self._usual:
                self._shorts += 1
                self._short += [number][: max(0, 1_000 - len(self._short))]
            elif any(not is_empty(c) for c in cells[self._usual :]):
                self._longs += 1
                self._long += [number][: max(0, 1_000 - len(self._long))]
                self._widest = max(self._widest, min(len(cells), self.width))
            over = cells[self.width :]
            if any(not is_empty(c) for c in over):
                cells = [*cells[: self.width - 1], " | ".join([cells[self.width - 1], *over])]
            self._buffer.append([*cells, *[""] * (self._usual - len(cells))])
        pending.clear()

    def _write(self) -> None:
        import pyarrow as pa

        if not self._buffer:
            return
        rows, count = self._buffer, len(self._buffer)
        width = min(self.width, max(map(len, rows)))
        if any(len(row) != width for row in rows):
            rows = [row[:width] + [""] * (width - len(row)) for row in rows]
        arrays = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
        arrays += [pa.repeat("", count)] * (self.width - width)
        self._writer.write_table(pa.Table.from_arrays(arrays, schema=self._schema))
        self.rows += len(self._buffer)
        self._buffer.clear()

    def close(self) -> None:
        """Write what is left."""
        self._write()
        self._writer.close()
        self.width = self._widest

    def number_of(self, position: int) -> int:
        """The number in the file of the n-th row that was kept."""
        number = self._start + position
        for gap in self.gaps:
            if gap > number:
                break
            number += 1
        return number

    def notes(self) -> tuple[Note, ...]:
        """What was odd about the rows."""
        notes = list(
            ragged_notes(self._short, self._long, self._shorts, self._longs, self.rows, self._usual)
        )
        if self._again:
            one = len(self._again) == 1
            rows = (
                f"{len(self._again):,} row, which is"
                if one
                else f"{len(self._again):,} rows, which are"
            )
            text = f"The header is repeated in {rows} left out."
            notes.append(Note("header-repeated", text, len(self._again), places(self._again)))
        if self._empty:
            notes.append(
                Note("rows-empty", f"{self._empty:,} empty lines were left out.", self._empty)
            )
        if self._footers:
            text = f"{len(self._footers)} lines below the table are notes and not part of it."
            notes.append(Note("footer", text, len(self._footers), places(self._footers)))
        return tuple(notes)


def ragged_notes(
    short: Sequence[int], long: Sequence[int], shorts: int, longs: int, rows: int, usual: int
) -> tuple[Note, ...]:
    """Rows with too few and too many cells: some of their numbers, and how many there are."""
    notes = []
    if shorts:
        text = f"{shorts:,} of {rows:,} rows had fewer than {usual} cells; filled with nulls."
        notes.append(Note("rows-ragged", text, shorts, places(short)))
    if longs:
        text = (
            f"{longs:,} of {rows:,} rows had more than {usual} cells; the rest went into "
            f"columns of their own: check these rows."
        )
        notes.append(Note("rows-long", text, longs, places(long)))
    return tuple(notes)
