"""Rows of any width on their way into a table, kept as text in a Parquet file until their types are
known."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path

from leaf.readers.base import Note
from leaf.readers.tabular.cells import is_empty, places
from leaf.readers.tabular.delimited_source import CHUNK_ROWS
from leaf.readers.tabular.footers import footer_notes, remark_doubts, remarks_below
from leaf.readers.tabular.total_rows import LABEL_COLUMNS
from leaf.readers.tabular.total_words import word_for_total

_SPARE = 20
"""Columns kept for rows that are longer than the others; what goes beyond is joined into the last
one."""

TAIL = 300
"""Rows held back until it is known that more follow: the last ones may be remarks."""


class TextSink:
    """Takes rows of any width and writes them as text columns, a chunk at a time; remarks at the
    very end are left out, as those of a file that is held whole."""

    def __init__(
        self,
        path: Path,
        width: int,
        start: int,
        names: Sequence[str] = (),
        counting: Sequence[str] = (),
        again: Sequence[int] = (),
        hard: Sequence[int] = (),
        columns: Sequence[int] = (),
    ) -> None:
        """`names` are the cells of the header and `counting` those of a row below it that numbers
        the columns: both may come again, as they did in the rows `again` before the first one.
        `hard` are columns of numbers or dates, and `columns` those of the table; others are some of it
        once a row has a value there."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.path, self.width, self.rows, self.seen = path, width + _SPARE, 0, 0
        self._usual, self._start = width, start
        self._schema = pa.schema([(f"c{n}", pa.string()) for n in range(self.width)])
        self._writer = pq.ParquetWriter(path, self._schema, compression="snappy")
        self._buffer: list[list[str]] = []
        self._short: list[int] = []
        self._long: list[int] = []
        self._shorts = self._longs = self._empty = 0
        self.columns = list(columns)
        """What the table has of the columns c0, c1, …"""
        self._empties = [n for n in range(self.width + 1) if n not in set(columns)]
        self._remarks: tuple[int, ...] = ()
        self.doubtful: tuple[int, ...] = ()
        """Rows at the end that stay and may be remarks."""
        self.gaps: list[int] = []
        """Empty lines, repeated headers and remarks that were left out."""
        self._names, self._counting = list(names) or None, list(counting) or None
        self._again = list(again)
        self._hard = tuple(hard[:LABEL_COLUMNS])
        self.words: dict[int, str] = {}
        """Words such as Total that were taken out of columns of numbers or dates, which would become
        text: position of the row -> word."""

    def add_all(self, rows: Iterator[list[str]]) -> None:
        """Take rows to the end of the file."""
        for cells in rows:
            self.seen += 1
            if cells == self._names or (cells == self._counting and self._follows_header()):
                self._again.append(self._start + self.seen)
                self.gaps.append(self._start + self.seen)
            elif not any(cells) or (not cells[0].strip() and all(map(is_empty, cells))):
                self._empty += 1
                self.gaps.append(self._start + self.seen)
            elif len(cells) == self._usual:
                self._keep(cells)
            else:
                self._keep(self._odd(cells))
            if len(self._buffer) >= CHUNK_ROWS + TAIL:
                self._write(CHUNK_ROWS)
        self._cut_remarks()

    def _keep(self, cells: list[str]) -> None:
        if self._empties[0] < len(cells):
            new_columns = [n for n in self._empties if n < len(cells) and not is_empty(cells[n])]
            if new_columns:
                self.columns = sorted([*self.columns, *new_columns])
                self._empties = [n for n in self._empties if n not in new_columns]
        for column in self._hard:
            if column < len(cells) and (word := word_for_total(cells[column])):
                cells[column] = ""
                self.words[self.rows + len(self._buffer)] = word
        self._buffer.append(cells)

    def _follows_header(self) -> bool:
        """Whether the row before the one that was read last repeats the header."""
        return self._again[-1:] == [self._start + self.seen - 1]

    def _odd(self, cells: list[str]) -> list[str]:
        """A row of another width, counted; what goes beyond the spare columns is joined."""
        number = self._start + self.seen
        if len(cells) < self._usual:
            self._shorts += 1
            self._short += [number][: max(0, 1_000 - len(self._short))]
        elif any(not is_empty(c) for c in cells[self._usual :]):
            self._longs += 1
            self._long += [number][: max(0, 1_000 - len(self._long))]
        over = cells[self.width :]
        if any(not is_empty(c) for c in over):
            return [*cells[: self.width - 1], " | ".join([cells[self.width - 1], *over])]
        return cells

    def _cut_remarks(self) -> None:
        """Take the remarks off the last rows, and keep what may be one in mind."""
        last = self._buffer[-TAIL:]
        numbers = self._last_numbers(len(last))
        remarks, self.doubtful = remarks_below(last, numbers, self._usual)
        if not remarks:
            return
        gone, self._remarks = set(remarks), remarks
        rows = [row for row, number in zip(last, numbers, strict=True) if number not in gone]
        short = sum(
            number in gone and len(row) < self._usual
            for row, number in zip(last, numbers, strict=True)
        )
        self._shorts -= short
        self._short = [number for number in self._short if number not in gone]
        self._buffer[-len(last) :] = rows
        self._move_words(len(last), [number in gone for number in numbers])
        self.gaps = sorted([*self.gaps, *remarks])

    def _move_words(self, count: int, gone: Sequence[bool]) -> None:
        """Words of the last `count` rows stand where those rows do now, or go with them."""
        first = self.rows + len(self._buffer) + sum(gone) - count
        for position in [position for position in self.words if position >= first]:
            word = self.words.pop(position)
            if not gone[position - first]:
                self.words[position - sum(gone[: position - first])] = word

    def _last_numbers(self, count: int) -> list[int]:
        """The numbers in the file of the last rows that were kept."""
        gaps = len(self.gaps) - 1
        numbers: list[int] = []
        for number in range(self._start + self.seen, 0, -1):
            if len(numbers) == count:
                break
            if gaps >= 0 and self.gaps[gaps] == number:
                gaps -= 1
            else:
                numbers.append(number)
        return numbers[::-1]

    def _write(self, most: int | None = None) -> None:
        """Write the rows that are held, or the first of them."""
        import pyarrow as pa

        rows = self._buffer[:most]
        if not rows:
            return
        count = len(rows)
        width = min(self.width, max(map(len, rows)))
        if any(len(row) != width for row in rows):
            rows = [row[:width] + [""] * (width - len(row)) for row in rows]
        arrays = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
        arrays += [pa.repeat("", count)] * (self.width - width)
        self._writer.write_table(pa.Table.from_arrays(arrays, schema=self._schema))
        self.rows += count
        del self._buffer[:count]

    def close(self) -> None:
        """Write what is left."""
        self._write()
        self._writer.close()

    def numbers(self) -> Sequence[int]:
        """The numbers in the file of all rows that were kept."""
        every = range(self._start + 1, self._start + self.seen + 1)
        if not self.gaps:
            return every
        left = set(self.gaps)
        return array("q", (number for number in every if number not in left))

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
            lines = "line was" if self._empty == 1 else "lines were"
            text = f"{self._empty:,} empty {lines} left out."
            notes.append(Note("rows-empty", text, self._empty))
        notes += footer_notes(self._remarks)
        notes += remark_doubts(self.doubtful)
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
