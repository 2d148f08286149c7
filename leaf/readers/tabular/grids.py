"""Tables inside documents: grids of text out of web pages, Word and presentations, loaded as a CSV
file would be."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from leaf.readers.base import Note, TableInfo
from leaf.readers.tabular.delimited import DelimitedReader
from leaf.readers.tabular.marks import without_marks
from leaf.readers.tabular.merges import Reaching, notes_of_spans, numbers_once

Rows = list[list[str]]

MAX_SPAN = 1_000
"""Columns or rows that one cell may go over; a page can ask for billions."""
MAX_CELLS = 2_000_000
"""Cells of one table, those that a span fills among them."""
MAX_TABLES = 500
LEAST_ROWS, LEAST_COLUMNS = 2, 2


@dataclass(frozen=True)
class GridCell:
    """A cell and how far it reaches."""

    text: str
    columns: int = 1
    rows: int = 1


@dataclass(frozen=True)
class Grid:
    """A table of a document."""

    place: str
    """Locator of where it stands: `slide 3`; empty where the document has no such places."""
    rows: Rows
    title: str = ""
    """Its caption."""
    notes: tuple[Note, ...] = ()
    """What must be known about how it was found."""
    header: int = 0
    """Rows at its top that the document calls its header; 0 where it does not say."""


def is_table(rows: Rows) -> bool:
    """Whether it holds data: at least two rows with two filled cells each. What has less places
    text on a page."""
    return (
        sum(sum(bool(cell.strip()) for cell in row) >= LEAST_COLUMNS for row in rows) >= LEAST_ROWS
    )


def expanded(rows: Iterable[Sequence[GridCell]]) -> Rows:
    """Rows of equal length. A cell over several columns is written in its first one; one over
    several rows in each of them, as `Reaching` below the first.
    """
    lines: Rows = []
    above: dict[int, tuple[int, str]] = {}
    cells = 0
    for row in rows:
        line: list[str] = []
        for cell in row:
            _carry(line, above)
            width, height = min(max(cell.columns, 1), MAX_SPAN), min(max(cell.rows, 1), MAX_SPAN)
            for at in range(width):
                text = cell.text if at == 0 else ""
                if height > 1:
                    above[len(line)] = (height - 1, text)
                line.append(text)
        _carry(line, above)
        cells += len(line)
        if cells > MAX_CELLS:
            break
        lines.append(line)
    widest = max(map(len, lines), default=0)
    return [line + [""] * (widest - len(line)) for line in lines]


def _carry(line: list[str], above: dict[int, tuple[int, str]]) -> None:
    """Add the cells that reach down into this row at the place that is next."""
    while len(line) in above:
        left, text = above.pop(len(line))
        if left > 1:
            above[len(line)] = (left - 1, text)
        line.append(Reaching(text))


def write_grids(grids: Iterable[Grid], out: Path) -> list[TableInfo]:
    """Each grid as Parquet, its header and totals found as in any other table."""
    out.mkdir(parents=True, exist_ok=True)
    infos: list[TableInfo] = []
    for number, grid in enumerate(grids, 1):
        if number > MAX_TABLES:
            text = f"Only the first {MAX_TABLES} tables of the file were loaded."
            infos[0] = replace(
                infos[0], notes=(*infos[0].notes, Note("tables-cut", text, MAX_TABLES))
            )
            break
        infos += _written(grid, number, out, len(infos))
    return infos


def _unmarked(grid: Grid) -> tuple[Rows, tuple[Note, ...]]:
    """The rows without footnote marks behind figures, in which cells from above are still known."""
    plain, notes = without_marks(grid.rows, grid.header)
    rows = [
        [
            Reaching(text) if isinstance(cell, Reaching) else text
            for cell, text in zip(a, b, strict=True)
        ]
        for a, b in zip(grid.rows, plain, strict=True)
    ]
    return rows, notes


def _written(grid: Grid, number: int, out: Path, before: int) -> Iterator[TableInfo]:
    rows, marks = _unmarked(grid)
    spans = numbers_once(rows, grid.header)
    source = out / f".grid-{number}.csv"
    folder = out / f".grid-{number}"
    folder.mkdir()
    try:
        with source.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, quoting=csv.QUOTE_ALL).writerows(
                [" ".join(cell.split()) for cell in row] for row in rows
            )
        for at, info in enumerate(DelimitedReader().tables(source, folder, header=grid.header)):
            name = f"{before + at}.parquet"
            (folder / info.parquet).rename(out / name)
            caption = (Note("caption", f"Its caption: {grid.title}"),) if grid.title else ()
            last = int(info.place.rpartition("-")[2])
            merged = notes_of_spans(spans, info.first_row, last)
            notes = (*caption, *grid.notes, *marks, *merged, *info.notes)
            yield replace(
                info, parquet=name, sheet=f"table {number}", place=grid.place, notes=notes
            )
    finally:
        source.unlink(missing_ok=True)
        for left in folder.glob("*"):
            left.unlink()
        folder.rmdir()
