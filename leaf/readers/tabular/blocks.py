"""Tables in a grid of cells: title rows, header rows, body, notes below. Found by the cells' types,
never assumed.

Shared by delimited text and spreadsheets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from leaf.readers.base import Note, TableInfo
from leaf.readers.tabular.block_notes import (
    heading_doubts,
    lent_note,
    loose_notes,
    names_notes,
    numbers_notes,
    preamble_note,
    repeat_notes,
    several_notes,
    title_doubts,
    unnamed_note,
)
from leaf.readers.tabular.cells import is_empty, is_rule, places, unique_names
from leaf.readers.tabular.comment_lines import parting_comments
from leaf.readers.tabular.described import described_names, description_notes
from leaf.readers.tabular.footers import cut_remarks, footer_notes, remark_doubts
from leaf.readers.tabular.grid import (
    Grid,
    GridContent,
    GridView,
    Merge,
    Region,
    TableBlock,
    column_kinds,
)
from leaf.readers.tabular.header import (
    below_names,
    first_data,
    header_names,
    header_rows,
    lower_names,
    names_a_year,
)
from leaf.readers.tabular.headings import (
    headings_of_repeats,
    likely_headings,
    names_the_first_column,
    proven_headings,
    titled_headings,
)
from leaf.readers.tabular.numbered import gives_forms, numbering_row
from leaf.readers.tabular.regions import find_regions, is_table
from leaf.readers.tabular.sheet_grid import SheetGrid
from leaf.readers.tabular.side_by_side import split_columns


def with_doubts(info: TableInfo, block: TableBlock, numbers: Sequence[int] = ()) -> TableInfo:
    """A table with the rows of its block that are kept though they may be headings or remarks;
    `numbers` are the rows' places in their file where they do not count from 1."""
    kinds = [
        (kind, tuple(numbers[i] if numbers else i + 1 for i in rows))
        for kind, rows in (("title", block.doubtful), ("note", block.remarks))
        if rows
    ]
    return replace(
        info,
        doubtful=tuple((kind, rows[:1_000]) for kind, rows in kinds),
        doubtful_counts=tuple((kind, len(rows)) for kind, rows in kinds),
    )


def with_remarks(info: TableInfo, rows: Sequence[int]) -> TableInfo:
    """A table with rows at its end, by their numbers, that are kept though they may be remarks."""
    if not rows:
        return info
    return replace(
        info,
        doubtful=(*info.doubtful, ("note", tuple(rows))),
        doubtful_counts=(*info.doubtful_counts, ("note", len(rows))),
    )


def find_tables(
    grid: Grid,
    *,
    widths: Sequence[int] | None = None,
    merges: Sequence[Merge] = (),
    row_numbers: Sequence[int] | None = None,
    header: int = 0,
) -> GridContent:
    """Every table of a grid, from the top, left before right. `row_numbers` are the rows' 1-based
    numbers for notes; the first `header` rows are known to be no data."""
    numbers = row_numbers or range(1, len(grid) + 1)
    filled = list(grid.filled) if isinstance(grid, SheetGrid) else list(map(_filled, grid))
    for i in [i for i, count in enumerate(filled) if 0 < count <= 3]:
        filled[i] = sum(not is_empty(cell) for cell in grid[i])
    drawn = _without_lines(grid, filled)
    view = GridView(grid, filled, widths, merges, lambda i: str(numbers[i]), drawn)
    if comments := parting_comments(view):
        for i in comments:
            filled[i] = 1  # a line of text, whatever signs are in it
        view = replace(view, comments=frozenset(comments))
    regions = [part for region in find_regions(view) for part in split_columns(view, region)]
    blocks: list[TableBlock] = []
    loose: dict[int, int] = {}
    for region in regions:
        if is_table(view, region, alone=len(regions) == 1):
            blocks.append(_analyse(view, region, numbers, blocks, header))
        else:
            columns = range(region.left, region.right + 1)
            for i in region.rows:  # beside them a table may stand
                loose[i] = loose.get(i, 0) + view.fill(i, columns)
            loose |= {i: filled[i] for i in (*region.titles, *region.footers)}
    blocks = _naming_repeats(blocks, numbers)
    rows = sorted({numbers[i] for i in loose})
    notes = loose_notes(sum(loose.values()), rows) + several_notes(len(blocks))
    return GridContent(tuple(blocks), tuple(notes))


def _filled(row: Sequence[Any]) -> int:
    """Cells of a row that are not empty; one of blanks is, as in a heading that is padded."""
    count = len(row) - row.count("")
    blank = sum(cell.isspace() for cell in row if type(cell) is str and cell[:1] == " ")
    return count - blank


def _without_lines(grid: Grid, filled: list[int]) -> set[int]:
    """Counts rows that are a line drawn with dashes as empty; gives those that are one long line, from
    whatever column on."""
    drawn = set[int]()
    for i, row in enumerate(grid):
        first = next((cell for cell in row if cell), "") if filled[i] else ""
        if type(first) is not str or first[:1] not in _DASHES:
            continue
        below = filled[i + 1] if i + 1 < len(filled) else 0
        long = filled[i] == 1 and below != 1 and len(first) >= _LONG_LINE
        if (filled[i] > 1 or long) and all(is_empty(cell) or is_rule(cell) for cell in row):
            filled[i] = 0
            drawn.update({i} if long else ())
    return drawn


_DASHES = frozenset("-=_–—")
_LONG_LINE = 10
"""Dashes that a table is drawn with; fewer part the remarks below one."""


def _naming_repeats(blocks: list[TableBlock], numbers: Sequence[int]) -> list[TableBlock]:
    """Blocks whose header says in part what that of a block above says: it may be a row of one
    table for both."""
    new_blocks = []
    for at, block in enumerate(blocks):
        above = next(
            (b for b in reversed(blocks[max(0, at - 20) : at]) if _names_in_part(b, block)), None
        )
        if above:
            row = numbers[block.top]
            text = (
                f"Row {row} names columns in part as row {numbers[above.top]} does; it was "
                f"taken for a header of its own."
            )
            block = replace(
                block, notes=(*block.notes, Note("header-assumed", text, 0, places([row])))
            )
        new_blocks.append(block)
    return new_blocks


def _names_in_part(above: TableBlock, block: TableBlock) -> bool:
    """Whether two tables with headers stand in the same columns, and most but not all of their
    names are the same."""
    if above.columns != block.columns or not above.header_rows or not block.header_rows:
        return False
    same = sum(a == b for a, b in zip(above.names, block.names, strict=True))
    return 0.5 * len(block.names) <= same < len(block.names)


def _analyse(
    view: GridView,
    region: Region,
    numbers: Sequence[int],
    earlier: Sequence[TableBlock],
    known: int,
) -> TableBlock:
    """Titles, header, body and notes of one region; none of the grid's first `known` rows is
    data."""
    columns = _columns_in_use(view, region, region.rows)
    tail = cut_remarks(view, region.rows, columns)
    counting = _numbering_row(view, region, tail.rows, columns)
    rows = [i for i in tail.rows if i != counting] if counting >= 0 else tail.rows
    profile = column_kinds(view, rows, columns)
    told = sum(i < known or i < counting for i in rows[:-1])
    data, sure = (told, True) if told else first_data(view, rows, columns, profile)
    lender = None if sure or region.titles else _lender(earlier, columns)
    data -= lender is not None
    data = data if told else below_names(view, rows, columns, profile, data)
    header, above, data = _header_of(view, region, rows, columns, profile, data, counting)
    if not lender and (lender := _lender_for(view, region, earlier, columns, profile, header)):
        header, above = [], [*above, *header]
    if above:
        columns = _columns_in_use(view, region, [*header, *rows[data:]])
        profile = column_kinds(view, rows, columns)
    raw, named, header = _names_of(view, region, header, rows[data:], columns)
    body_rows = rows[rows.index(header[-1]) + 1 if header else data :]
    lender = None if header else lender
    names, empty, repeated = (_lent_names(lender, columns), 0, 0) if lender else unique_names(raw)
    body, again = _without_repeats(view, header, body_rows, columns, counting)
    notes = _notes_around(view, region, above, tail.remarks, columns, numbers)
    if lender and body:
        notes.append(lent_note(numbers[lender.top], numbers[body[0]]))
    else:
        notes += _header_notes(named, body, sure, names, empty, repeated, numbers)
        notes += description_notes(view, header, named, columns, numbers)
    if not lender:
        notes += _year_notes(view, header, body, columns, profile, numbers)
    notes += _numbering_notes(view, counting, columns, numbers)
    notes += repeat_notes([numbers[i] for i in again])
    notes += _gap_notes(view, body, columns, numbers)
    above_body = [*header, counting] if header and counting >= 0 else header
    title = max((*region.titles, *above), default=-1)
    repeats = headings_of_repeats(view, title, header, again, columns[0])
    headings, lines = _headings_of(view, region, above_body, body, columns, repeats)
    doubtful = tuple(i for i in tail.doubtful if i in body[-100:])
    notes += heading_doubts([numbers[i] for i in lines])
    notes += remark_doubts([numbers[i] for i in doubtful])
    return TableBlock(
        *_extent([*header, *body] or rows, columns),
        names,
        tuple(columns),
        body,
        above_body[-1] - header[0] + 1 if header else 0,
        tuple(notes),
        tuple(lines),
        tuple(headings),
        doubtful,
        counting,
    )


def _notes_around(
    view: GridView,
    region: Region,
    above: Sequence[int],
    remarks: Sequence[int],
    columns: Sequence[int],
    numbers: Sequence[int],
) -> list[Note]:
    """Of the rows above the header and below the body."""
    notes = footer_notes([numbers[i] for i in (*remarks, *region.footers)])
    titles = [numbers[i] for i in (*region.titles, *above)]
    if not titles:
        return notes
    values = {numbers[i] for i in region.values}
    others = [row for row in titles if row not in values]
    return [preamble_note(titles), *title_doubts(view, others, above, columns, numbers), *notes]


def _names_of(
    view: GridView, region: Region, header: list[int], body: Sequence[int], columns: list[int]
) -> tuple[list[Any], list[int], list[int]]:
    """The names of the columns, the rows that give them, and all rows of the header: the first of the
    body may belong to it."""
    if region.described:
        return *described_names(view, header, columns), header
    raw = header_names(view, header, columns)
    if not names_the_first_column(view, header, body, columns):
        return raw, header, header
    return [view.cell(body[0], columns[0]), *raw[1:]], header, [*header, body[0]]


def _extent(rows: Sequence[int], columns: Sequence[int]) -> tuple[int, int, int, int]:
    """First and last row, first and last column."""
    return rows[0], rows[-1], columns[0], columns[-1]


def _numbering_row(
    view: GridView, region: Region, rows: Sequence[int], columns: Sequence[int]
) -> int:
    """The row that numbers the columns; -1 without one."""
    at = numbering_row(view, rows, columns)
    return -1 if at is None or (region.names and rows[at] in region.names[:1]) else rows[at]


def _numbering_notes(
    view: GridView, counting: int, columns: Sequence[int], numbers: Sequence[int]
) -> list[Note]:
    """Of the row that numbers the columns or gives their widths; -1 without one."""
    if counting < 0:
        return []
    forms = gives_forms([view.cell(counting, c) for c in columns])
    return numbers_notes([numbers[counting]], forms=forms)


def _header_of(
    view: GridView,
    region: Region,
    rows: list[int],
    columns: list[int],
    profile: list[str],
    data: int,
    counting: int,
) -> tuple[list[int], list[int], int]:
    """Rows of the header, rows above them, and where the rows of the body begin; what stands above
    the row `counting`, that numbers the columns, is none of the body."""
    if region.names:
        named = set(region.names)
        header = [i for i in rows if i in named]
        above = [i for i in rows if i < header[0]] if region.described else []
        return header, above, rows.index(header[-1]) + 1
    header, above = header_rows(view, rows[:data], columns)
    if not header:
        return header, above, data
    late = [i for i in rows[:data] if i > header[-1]]
    header += [i for i in late if i < counting] or lower_names(
        view,
        late,
        header,
        columns,
        [p for p, kind in enumerate(profile) if kind in "ndb"],
        rows[data:],
    )
    return header, above, rows.index(header[-1]) + 1


def _lender(earlier: Sequence[TableBlock], columns: Sequence[int]) -> TableBlock | None:
    """The nearest table above in the same columns that has a header."""
    return next(
        (b for b in reversed(earlier[-20:]) if b.header_rows and b.columns == tuple(columns)), None
    )


def _lender_for(
    view: GridView,
    region: Region,
    earlier: Sequence[TableBlock],
    columns: Sequence[int],
    profile: Sequence[str],
    header: Sequence[int],
) -> TableBlock | None:
    """The nearest table above with names for the columns of one that has none, or but a word above its
    first column, and values of the same kinds in them."""
    lone = len(header) == 1 and view.filled[header[0]] == 1
    if region.titles or region.names or len(columns) < 3 or (header and not lone):
        return None
    for block in reversed(earlier[-20:]):
        if not block.header_rows or block.columns[0] != columns[0]:
            continue
        if not set(columns) <= set(block.columns):
            return None
        kinds = column_kinds(view, block.body, columns) if block.body else []
        hard = sum(kind in "ndb" for kind in profile)
        pairs = zip(kinds, profile, strict=False)
        return block if kinds and hard and all(a == b or a == "e" for a, b in pairs) else None
    return None


def _lent_names(lender: TableBlock, columns: Sequence[int]) -> tuple[str, ...]:
    """The names that a table has for some of its columns."""
    name_of = dict(zip(lender.columns, lender.names, strict=True))
    return tuple(name_of[c] for c in columns)


def _headings_of(
    view: GridView,
    region: Region,
    above: Sequence[int],
    body: Sequence[int],
    columns: list[int],
    repeats: Sequence[int],
) -> tuple[list[int], list[int]]:
    """Rows of the body that are headings of the rows below them, and lines of text between the parts
    of the table that may be. `repeats` stand above a repeated header."""
    proven = proven_headings(view, above, body, columns)
    titled = titled_headings(view, body, columns)
    headings = {*proven, *titled, *repeats}.intersection(body)
    likely = likely_headings(view, body, columns, sorted(headings))
    between = {*region.headings}.intersection(body) if region.headings else set()
    return sorted(headings), sorted({*between, *likely} - headings)


def _columns_in_use(view: GridView, region: Region, rows: Sequence[int]) -> list[int]:
    """Columns of a region in which some of its rows have a value."""
    return [
        c
        for c in range(region.left, region.right + 1)
        if any(not is_empty(view.cell(i, c)) for i in rows)
    ]


def _header_notes(
    header: list[int],
    body: Sequence[int],
    sure: bool,
    names: tuple[str, ...],
    empty: int,
    repeated: int,
    numbers: Sequence[int],
) -> list[Note]:
    if not header:
        return [unnamed_note(names, places([numbers[body[0]]]) if body else "")]
    notes: list[Note] = []
    place = places([numbers[i] for i in header])
    if len(header) > 1:
        text = (
            f"The header takes {len(header)} rows; names are joined from top to bottom, as in "
            f"'{max(names, key=len)[:80]}'."
        )
        notes.append(Note("header-two-rows", text, len(header), place))
    if not sure:
        text = (
            "Header and values look alike (all text), so that the first row was taken for the "
            "header by its place."
        )
        notes.append(Note("header-assumed", text, 0, place))
    return notes + names_notes(names, empty, repeated, place)


def _year_notes(
    view: GridView,
    header: Sequence[int],
    body: Sequence[int],
    columns: Sequence[int],
    profile: Sequence[str],
    numbers: Sequence[int],
) -> list[Note]:
    """That the one number of a header was taken for a year."""
    hard = [p for p, kind in enumerate(profile) if kind in "ndb"]
    if len(header) != 1 or not names_a_year(view, [header[0], *body], columns, hard):
        return []
    row = numbers[header[0]]
    text = f"Row {row} was taken for the header: its one number is a year, as none below it is."
    return [Note("header-assumed", text, 0, places([row]))]


def _gap_notes(
    view: GridView, body: Sequence[int], columns: Sequence[int], numbers: Sequence[int]
) -> list[Note]:
    notes = []
    gaps = [numbers[b] - 1 for a, b in pairwise(body) if b - a > 1 and not view.filled[b - 1]]
    if gaps:
        notes.append(
            Note(
                "rows-empty",
                f"Empty rows inside the table were left out in {len(gaps)} places.",
                len(gaps),
                places(gaps),
            )
        )
    return notes


def _without_repeats(
    view: GridView, header: list[int], body: Sequence[int], columns: list[int], counting: int
) -> tuple[Sequence[int], list[int]]:
    """Rows that repeat the header (files put one after the other, printed pages) are no data, nor
    is the row `counting` that numbers the columns below one."""
    if len(header) != 1 or len(columns) < 2:
        return body, []
    head = view.grid[header[0]]
    if sum(not is_empty(c) for c in head) < 2:
        return body, []
    again = [i for i in body if view.grid[i] == head]
    if not again:
        return body, []
    drop = set(again)
    if counting >= 0:
        drop |= {i for i in body if i - 1 in drop and view.grid[i] == view.grid[counting]}
    return [i for i in body if i not in drop], sorted(drop)
