"""Delimited text: CSV, TSV and their kin, with what people and programs do to them.

Two ways lead to Parquet. A large file whose samples are clean goes through DuckDB with the dialect
and the columns given, in one pass and never whole in memory; DuckDB guesses nothing, the first
value that does not fit stops it, and its rows are counted against the file's lines. Everything else
is read record by record, mended, counted and typed over all values.

A row's number is its record's place in the file from 1, empty lines, titles and header counted:
what a spreadsheet shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from leaf.errors import UnreadableFileError
from leaf.readers.base import Note, Outline, Passage, TableInfo, Where
from leaf.readers.tabular.blocks import find_tables, with_doubts
from leaf.readers.tabular.cells import is_empty
from leaf.readers.tabular.column import Column
from leaf.readers.tabular.columns import write_table
from leaf.readers.tabular.delimited_large import streamed, through_duckdb
from leaf.readers.tabular.delimited_source import (
    HEAD_ROWS,
    DelimitedSource,
    as_loaded,
    blocks_of,
    check_rows,
    count_lines,
    open_source,
    read_grid,
    records_of,
    shifted,
    usual_width,
    without_flags,
)
from leaf.readers.tabular.grid import TableBlock, hard_columns
from leaf.readers.tabular.headings import joined_words
from leaf.readers.tabular.integrity import examine
from leaf.readers.tabular.sql import connect
from leaf.readers.tabular.text_sink import ragged_notes
from leaf.readers.tabular.titles import title_above
from leaf.readers.tabular.total_words import called_totals, softened
from leaf.readers.window import Extent

if TYPE_CHECKING:
    import duckdb

FAST_BYTES = 4_000_000
"""From this size on the one-pass way is tried."""
GRID_BYTES = 32_000_000
"""Up to this size a messy file is held in memory, so that every block of it is found."""


class DelimitedReader:
    """CSV, TSV and other delimited text."""

    def outline(self, path: Path) -> Outline:
        """Exact for files of some megabytes; of larger ones the lines are counted and the rest is
        told from the beginning."""
        source = open_source(path)
        size = path.stat().st_size
        if size <= FAST_BYTES:
            grid, notes = read_grid(source)
            grid = as_loaded(source, grid)
            content = blocks_of(source, grid)
            title = title_above(grid, content.blocks)
            largest = max(content.blocks, key=lambda b: len(b.body), default=None)
            rows, columns = (len(largest.body), len(largest.names)) if largest else (0, 0)
            notes += content.notes + (largest.notes if largest else ())
            notes += tuple(n for block in content.blocks for n in called_totals(grid, block))
        else:
            head = as_loaded(source, list(islice(records_of(source), HEAD_ROWS)))
            content = blocks_of(source, head)
            title = title_above(head, content.blocks)
            first = content.blocks[0] if content.blocks else None
            rows = max(
                0,
                count_lines(path, source.encoding) - (first.body[0] if first and first.body else 0),
            )
            columns, notes = (
                (len(first.names) if first else 0),
                source.notes + (first.notes if first else ()),
            )
            if any("\n" in cell for row in head for cell in row):
                notes += (
                    Note(
                        "rows-estimated",
                        "Cells go over several lines, so that the number of rows is an estimate.",
                    ),
                )
        return Outline(
            "csv",
            "text/csv",
            rows=rows,
            columns=columns,
            tokens=int(size / 2.5),
            title=title,
            notes=notes,
        )

    def extent(self, path: Path, where: Where) -> Extent:
        """Records of the file, title and header rows among them, as the numbers of passages count
        them."""
        source = open_source(path)
        if path.stat().st_size > FAST_BYTES:
            return Extent(count_lines(path, source.encoding), notes=source.notes)
        grid, notes = read_grid(source)
        content = blocks_of(source, grid)
        largest = max(content.blocks, key=lambda b: len(b.body), default=None)
        return Extent(len(grid), notes=notes + content.notes + (largest.notes if largest else ()))

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        """One passage a row: its cells joined by ` | `. The first one carries the header if it
        begins below it."""
        source = open_source(path)
        first, last = int(where.first), where.last
        records = records_of(source)
        head: list[list[str]] = list(islice(records, HEAD_ROWS))
        content = blocks_of(source, head)
        names = " | ".join(content.blocks[0].names) if content.blocks else ""
        header_end = content.blocks[0].body[0] if content.blocks and content.blocks[0].body else 0
        with_header = bool(names) and first > header_end
        for number, cells in enumerate(chain(head, records), 1):
            if last is not None and number > last:
                return
            if number < first or all(is_empty(c) for c in cells):
                continue
            chosen = (
                cells if where.columns is None else cells[where.columns[0] - 1 : where.columns[1]]
            )
            text = " | ".join(" ".join(c.split()) for c in chosen)
            yield Passage(f"[columns: {names}]\n{text}" if with_header else text, "row", number)
            with_header = False

    def tables(self, path: Path, out: Path, *, header: int = 0) -> list[TableInfo]:
        """Every table of the file as Parquet; most have one. `header` is how many rows at its top
        are known to be its header."""
        source, notes = without_flags(open_source(path), out)
        try:
            infos = _tables(source, out, header)
        finally:
            if source.path != path:
                source.path.unlink()
        if source.path == path:
            return infos
        # Rows of flags are empty in the copy.
        return [
            replace(info, notes=(*notes, *(n for n in info.notes if n.kind != "rows-empty")))
            for info in infos
        ]


def _tables(source: DelimitedSource, out: Path, header: int) -> list[TableInfo]:
    size = source.path.stat().st_size
    if size >= FAST_BYTES and not header:
        info = through_duckdb(source, out)
        if info:
            return [info]
    small = size <= GRID_BYTES or source.sectioned  # whose tables lie all over the file
    return _from_grid(source, out, header) if small else [streamed(source, out)]


def _from_grid(source: DelimitedSource, out: Path, header: int) -> list[TableInfo]:
    grid, notes = read_grid(source)
    content = blocks_of(source, grid, header=header)
    if not content.blocks:
        raise UnreadableFileError("This file holds no table.", "Read it as text instead.")
    infos = []
    with connect(out) as connection:
        for number, block in enumerate(content.blocks):
            infos.append(
                _write_block(
                    connection,
                    source,
                    grid,
                    block,
                    out / f"{number}.parquet",
                    notes + content.notes,
                )
            )
    return infos


def write_rows(
    grid: list[list[str]], numbers: Sequence[int], out: Path, before: int, *, header: int = 0
) -> list[TableInfo]:
    """Every table of some rows as Parquet, named after the `before` ones that are there. `numbers` are
    the rows' places in their file; the first `header` rows are known to be no data."""
    content = find_tables(grid, row_numbers=numbers, header=header)
    infos = []
    with connect(out) as connection:
        for number, block in enumerate(content.blocks, before):
            target = out / f"{number}.parquet"
            infos.append(
                _write_block(connection, None, grid, block, target, content.notes, numbers)
            )
    return infos


def _write_block(
    connection: duckdb.DuckDBPyConnection,
    source: DelimitedSource | None,
    grid: list[list[str]],
    block: TableBlock,
    target: Path,
    notes: tuple[Note, ...],
    numbers: Sequence[int] = (),
) -> TableInfo:
    """`numbers` are the rows' places in their file where they do not count from 1."""
    import pyarrow as pa

    numbers = numbers or range(1, len(grid) + 1)

    names, columns, body = block.names, block.columns, block.body
    header = grid[block.top + block.header_rows - 1] if block.header_rows else []
    usual, shift = usual_width(grid, body, len(columns)), shifted(block, grid)
    names, extra = shift or (names, ())
    words = softened(grid, body, hard_columns(grid, body, columns))
    joined = joined_words(grid, body, block.heading_positions, columns)
    arrays = []
    for c in columns:
        cells = [row[c] if c < len(row) else None for row in map(grid.__getitem__, body)]
        for position in (p for p, row_words in words.items() if c in row_words):
            cells[position] = None
        for position, text in joined.items() if c in columns[:2] else ():
            cells[position] = text if c == columns[0] else None
        arrays.append(pa.array(cells, pa.string()))
    table = pa.Table.from_arrays(arrays, names=[f"c{n}" for n in range(len(columns))])
    plan = [Column(f"c{n}", name) for n, name in enumerate(names)]
    written = write_table(
        connection,
        table,
        plan,
        target,
        comma_first=source is not None and source.comma_first,
        row_number=lambda n: numbers[body[n - 1]],
    )
    check_rows(written, len(body))
    ragged = _ragged(grid, block, numbers, max(usual, len(header)) if header else usual)
    lines = f"lines {numbers[block.top]}-{numbers[block.bottom]}"
    all_notes = notes + block.notes + extra + ragged + written.notes
    info = with_doubts(
        TableInfo(target.name, block.name, lines, written.rows, written.columns, notes=all_notes),
        block,
        numbers,
    )
    soft = {position: next(iter(row_words.values())) for position, row_words in words.items()}
    return examine(
        connection,
        target.parent,
        info,
        [numbers[i] for i in body],
        block.place(numbers=numbers),
        soft,
        block.heading_positions,
        told=block.told_positions,
    )


def _ragged(
    grid: Sequence[Sequence[str]], block: TableBlock, numbers: Sequence[int], usual: int
) -> tuple[Note, ...]:
    short = [numbers[i] for i in block.body if len(grid[i]) < usual]
    long = [
        numbers[i]
        for i in block.body
        if len(grid[i]) > usual and any(not is_empty(c) for c in grid[i][usual:])
    ]
    return ragged_notes(short, long, len(short), len(long), len(block.body), usual)
