"""Spreadsheets: XLSX, XLSM, XLSB, XLS and ODS, by calamine; SpreadsheetML by its XML.

Calamine gives values, but leaves error cells blank and formulas that were never calculated as well;
`sheet_parts` finds both and says them.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leaf.errors import UnreadableFileError, not_found
from leaf.readers.base import Note, Outline, Passage, TableInfo, Where
from leaf.readers.tabular.blocks import find_tables, with_doubts
from leaf.readers.tabular.cells import cell_range, column_letter, is_empty
from leaf.readers.tabular.formulas import within as within_table
from leaf.readers.tabular.grid import GridContent, Merge, TableBlock, hard_columns
from leaf.readers.tabular.hidden import within
from leaf.readers.tabular.integrity import examine
from leaf.readers.tabular.merges import as_list, inside, notes_of, repeated
from leaf.readers.tabular.sheet_grid import SheetGrid
from leaf.readers.tabular.sql import connect
from leaf.readers.tabular.titles import title_above
from leaf.readers.tabular.total_words import called_totals, counts_of_true, softened
from leaf.readers.tabular.values import describe, write_values
from leaf.readers.tabular.workbook import Sheet, Workbook
from leaf.readers.window import Extent

if TYPE_CHECKING:
    import duckdb

    from leaf.readers.tabular.merges import Column

_EXACT_BYTES = 2_000_000
"""Up to this file size the outline finds the tables; above it, it tells rows from the sheets'
extents."""
_MEDIA = {
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xlsb": "application/vnd.ms-excel.sheet.binary.macroEnabled.12",
    "xls": "application/vnd.ms-excel",
    "xml": "application/vnd.ms-excel",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
}


class SheetsReader:
    """Workbooks of any make."""

    def outline(self, path: Path) -> Outline:
        """Sheets, the largest table's size, and what is hidden. Tables are looked for only in small
        workbooks."""
        with Workbook(path) as book:
            exact = path.stat().st_size <= _EXACT_BYTES
            rows = columns = tokens = 0
            title = ""
            notes = [_hidden_note(sheet) for sheet in book.sheets if sheet.hidden]
            for sheet in book.sheets:
                height, width = book.extent(sheet)
                notes += within(sheet.notes, 1, height)
                if exact:
                    grid = book.rows(sheet)
                    content = _find(book, sheet, grid)
                    title = title or title_above(grid, content.blocks)
                    notes += [_on(sheet, n) for n in content.notes if n.kind == "loose-cells"]
                    notes += [
                        n
                        for block in content.blocks
                        for n in called_totals(grid, block, sheet.name)
                    ]
                    best = max(content.blocks, key=lambda b: len(b.body), default=None)
                    height, width = (len(best.body), len(best.names)) if best else (0, 0)
                    tokens += int(sum(len(_row_text(row, 0)) for row in grid) / 2.5)
                else:
                    height = max(0, height - 1)
                    tokens += int(height * width * 12 / 2.5)
                if height > rows:
                    rows, columns = height, width
            names = tuple(sheet.name for sheet in book.sheets)
            return Outline(
                "excel",
                _MEDIA[book.format],
                sheets=names,
                rows=rows,
                columns=columns,
                tokens=tokens,
                title=title,
                notes=tuple(notes),
            )

    def extent(self, path: Path, where: Where) -> Extent:
        """Rows of the sheet that is asked for, from row 1 to the last cell, and what must be said
        of it."""
        with Workbook(path) as book:
            if not where.sheet:
                return Extent(
                    notes=tuple(_hidden_note(sheet) for sheet in book.sheets if sheet.hidden)
                )
            sheet = _named(book, where.sheet)
            height = book.extent(sheet)[0]
            notes = ([_hidden_note(sheet)] if sheet.hidden else []) + within(sheet.notes, 1, height)
            return Extent(height, notes=tuple(notes))

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        """One passage a row that is not empty, as `A: Region | B: 2024`, sheet after sheet or of
        the sheet asked for."""
        with Workbook(path) as book:
            sheets = [_named(book, where.sheet)] if where.sheet else book.sheets
            for sheet in sheets:
                some = False
                left, right = where.columns or (1, 1 << 20)
                for number, row in enumerate(book.iterate(sheet), 1):
                    if where.unit and where.last is not None and number > where.last:
                        break
                    if where.unit and number < where.first:
                        continue
                    text = _row_text(row[left - 1 : right], left - 1)
                    if text:
                        some = True
                        yield Passage(text, "row", number, sheet.name)
                if some and where.unit and not where.sheet:
                    return

    def tables(self, path: Path, out: Path) -> list[TableInfo]:
        """Every table of every sheet, hidden ones included and marked."""
        infos: list[TableInfo] = []
        with _uncollected(), Workbook(path) as book, connect(out) as connection:
            for sheet in book.sheets:
                grid = book.rows(sheet)
                content = _find(book, sheet, grid)
                common = ([_hidden_note(sheet)] if sheet.hidden else []) + [
                    _on(sheet, n) for n in content.notes
                ]
                for block in content.blocks:
                    target = out / f"{len(infos)}.parquet"
                    notes = common + within(sheet.notes, block.top + 1, block.bottom + 1)
                    merges = inside(book.merges(sheet), block)
                    infos.append(
                        _write_block(connection, sheet, grid, block, target, tuple(notes), merges)
                    )
        return infos


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the garbage collector, which would go over millions of new cells again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _named(book: Workbook, name: str) -> Sheet:
    for sheet in book.sheets:
        if sheet.name.strip().lower() == name.strip().lower():
            return sheet
    raise not_found("sheet", name, [s.name for s in book.sheets], "this workbook")


def _hidden_note(sheet: Sheet) -> Note:
    return Note(
        "hidden-sheet",
        f"The sheet '{sheet.name}' is hidden in the workbook.",
        1,
        f"sheet {sheet.name}",
    )


def _on(sheet: Sheet, note: Note) -> Note:
    """A note on rows that are in no table, with the sheet that they are on."""
    if note.kind != "loose-cells" or note.place.startswith("sheet "):
        return note
    where = f"That is on sheet '{sheet.name}'."
    return replace(note, text=f"{note.text} {where}")


def _row_text(row: Sequence[Any], left: int) -> str:
    return " | ".join(
        f"{column_letter(left + n)}: {' '.join(describe(cell).split())}"
        for n, cell in enumerate(row)
        if not is_empty(cell)
    )


def _find(book: Workbook, sheet: Sheet, grid: list[list[Any]]) -> GridContent:
    if not grid:
        return GridContent(())
    return find_tables(grid, merges=book.merges(sheet))


# Blocks


def _write_block(
    connection: duckdb.DuckDBPyConnection,
    sheet: Sheet,
    grid: list[list[Any]],
    block: TableBlock,
    target: Path,
    notes: tuple[Note, ...],
    merges: Sequence[Merge],
) -> TableInfo:
    body = block.body
    if counts_of_true(grid, body, block.columns):
        body, at = (
            body[:-1],
            f"sheet {sheet.name}!{cell_range(body[-1], block.left, body[-1], block.right)}",
        )
        counted = Note(
            "total-rows",
            "The last row counts how often each column is true; it is no part of the table.",
            1,
            at,
        )
        notes = (*notes, counted)
    columns, kinds = _columns_of(grid, body, block.columns)
    words = softened(
        grid, body, hard_columns(grid, body, [c for c in block.columns if str in kinds[c]])
    )
    softer = {c for row_words in words.values() for c in row_words}
    whole = {c: values for c, values in columns.items() if c not in softer}
    filled, labels = repeated(whole, body, merges)
    columns |= filled
    values = [_without(columns[c], words, c) if c in softer else columns[c] for c in block.columns]
    known = [None if c in softer else kinds[c] for c in block.columns]
    written = write_values(
        connection, block.names, values, target, row_number=lambda n: body[n - 1] + 1, kinds=known
    )
    if written.rows != len(body):
        raise UnreadableFileError(
            f"Sheet '{sheet.name}': {len(body):,} rows were read but {written.rows:,} written."
        )
    cells = cell_range(block.top, block.left, block.bottom, block.right)
    all_notes = notes + tuple(notes_of(sheet.name, merges, labels)) + block.notes + written.notes
    info = TableInfo(
        target.name, sheet.name, cells, written.rows, written.columns, sheet.hidden, all_notes
    )
    info = with_doubts(info, block)
    place = block.place(sheet.name)
    numbers = [i + 1 for i in body]
    soft = {position: next(iter(row_words.values())) for position, row_words in words.items()}
    sums = within_table(sheet.sums, body, block.columns)
    return examine(
        connection, target.parent, info, numbers, place, soft, block.heading_positions, sums
    )


def _columns_of(
    grid: list[list[Any]], body: Sequence[int], columns: Sequence[int]
) -> tuple[dict[int, Column], dict[int, set[type]]]:
    """By column, the values in the rows of a body, and which types of Python they are of."""
    whole = bool(body) and len(body) == body[-1] - body[0] + 1
    if whole and isinstance(grid, SheetGrid):
        column_of = {c: grid.column(c, body[0], body[-1] + 1) for c in columns}
        return {c: values for c, (values, _) in column_of.items()}, {
            c: kinds for c, (_, kinds) in column_of.items()
        }
    rows = grid[body[0] : body[-1] + 1] if whole else [grid[i] for i in body]
    by_column = list(zip(*rows, strict=False)) if rows else []
    values: dict[int, Column] = {
        c: by_column[c] if c < len(by_column) else (None,) * len(rows) for c in columns
    }
    return values, {c: set(map(type, values[c])) for c in columns}


def _without(values: Column, words: dict[int, dict[int, str]], column: int) -> Column:
    """A column without the words that stand in place of its numbers."""
    drop = [position for position, row_words in words.items() if column in row_words]
    if not drop:
        return values
    cells = as_list(values)
    for position in drop:
        cells[position] = None
    return cells
