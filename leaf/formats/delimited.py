"""Delimited text: CSV, TSV and their kin, with what people and programs do to them.

Two ways lead to Parquet. A large file whose samples are clean goes through DuckDB with the dialect and the columns given, in one
pass and never whole in memory; DuckDB guesses nothing, the first value that does not fit stops it, and its rows are counted
against the file's lines. Everything else is read record by record, mended, counted and typed over all values.

A row's number is its record's place in the file from 1, empty lines, titles and header counted: what a spreadsheet shows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from leaf.errors import UnreadableFileError
from leaf.formats.base import Note, Outline, Passage, TableInfo, Where
from leaf.formats.blocks import find_tables, with_doubts
from leaf.formats.cells import is_empty, places, unique_names
from leaf.formats.columns import (
    TEXT,
    Column,
    Plan,
    Written,
    connect,
    copy,
    guarded_plans,
    identifier,
    literal,
    write,
    write_table,
)
from leaf.formats.delimited_source import (
    SAMPLE_CHARACTERS,
    Source,
    count_lines,
    open_source,
    read_grid,
    reader,
    records_of,
    repair_notes,
)
from leaf.formats.dialect import Records
from leaf.formats.encoding import open_text
from leaf.formats.grid import Block, Found, hard_columns
from leaf.formats.integrity import examine
from leaf.formats.place import Place
from leaf.formats.progress import watched
from leaf.formats.single import one_column
from leaf.formats.text_sink import TextSink, ragged_notes
from leaf.formats.titles import title_above
from leaf.formats.total_words import called_totals, softened
from leaf.formats.window import Extent

if TYPE_CHECKING:
    import duckdb

FAST_BYTES = 4_000_000
"""From this size on the one-pass way is tried."""
GRID_BYTES = 32_000_000
"""Up to this size a messy file is held in memory, so that every block of it is found."""
_HEAD_ROWS = 2_000


class DelimitedReader:
    """CSV, TSV and other delimited text."""

    def outline(self, path: Path) -> Outline:
        """Exact for files of some megabytes; of larger ones the lines are counted and the rest is told from the beginning."""
        source = open_source(path)
        size = path.stat().st_size
        if size <= FAST_BYTES:
            grid, notes = read_grid(source)
            found = _find(source, grid)
            title = title_above(grid, found.blocks)
            largest = max(found.blocks, key=lambda b: len(b.body), default=None)
            rows, columns = (len(largest.body), len(largest.names)) if largest else (0, 0)
            notes += found.notes + (largest.notes if largest else ())
            notes += tuple(n for block in found.blocks for n in called_totals(grid, block))
        else:
            head = list(islice(records_of(source), _HEAD_ROWS))
            found = _find(source, head)
            title = title_above(head, found.blocks)
            first = found.blocks[0] if found.blocks else None
            rows = max(0, count_lines(path, source.encoding) - (first.body[0] if first and first.body else 0))
            columns, notes = (len(first.names) if first else 0), source.notes + (first.notes if first else ())
            if any("\n" in cell for row in head for cell in row):
                notes += (Note("rows-estimated", "Cells go over several lines, so that the number of rows is an estimate."),)
        return Outline("csv", "text/csv", rows=rows, columns=columns, tokens=int(size / 2.5), title=title, notes=notes)

    def extent(self, path: Path, where: Where) -> Extent:
        """Records of the file, title and header rows among them, as the numbers of passages count them."""
        source = open_source(path)
        if path.stat().st_size > FAST_BYTES:
            return Extent(count_lines(path, source.encoding), notes=source.notes)
        grid, notes = read_grid(source)
        found = _find(source, grid)
        largest = max(found.blocks, key=lambda b: len(b.body), default=None)
        return Extent(len(grid), notes=notes + found.notes + (largest.notes if largest else ()))

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        """One passage a row: its cells joined by ` | `. The first one carries the header if it begins below it."""
        source = open_source(path)
        first, last = int(where.first), where.last
        records = records_of(source)
        head: list[list[str]] = list(islice(records, _HEAD_ROWS))
        found = _find(source, head)
        names = " | ".join(found.blocks[0].names) if found.blocks else ""
        header_end = found.blocks[0].body[0] if found.blocks and found.blocks[0].body else 0
        with_header = bool(names) and first > header_end
        for number, cells in enumerate(_chain(head, records), 1):
            if last is not None and number > last:
                return
            if number < first or all(is_empty(c) for c in cells):
                continue
            chosen = cells if where.columns is None else cells[where.columns[0] - 1 : where.columns[1]]
            text = " | ".join(" ".join(c.split()) for c in chosen)
            yield Passage(f"[columns: {names}]\n{text}" if with_header else text, "row", number)
            with_header = False

    def tables(self, path: Path, out: Path) -> list[TableInfo]:
        """Every table of the file as Parquet; most have one."""
        source = open_source(path)
        size = path.stat().st_size
        if size >= FAST_BYTES:
            info = _through_duckdb(source, out)
            if info:
                return [info]
        return _from_grid(source, out) if size <= GRID_BYTES else [_streamed(source, out)]


def _chain(head: list[list[str]], rest: Iterator[list[str]]) -> Iterator[list[str]]:
    yield from head
    yield from rest


def _find(source: Source, grid: list[list[str]]) -> Found:
    if source.dialect.one_column:
        return one_column(grid)
    return find_tables(grid, widths=[len(row) for row in grid])


def _from_grid(source: Source, out: Path) -> list[TableInfo]:
    grid, notes = read_grid(source)
    found = _find(source, grid)
    if not found.blocks:
        raise UnreadableFileError(f"{source.path.name} holds no table.", "Read it as text instead.")
    infos = []
    with connect(out) as connection:
        for number, block in enumerate(found.blocks):
            infos.append(_write_block(connection, source, grid, block, out / f"{number}.parquet", notes + found.notes))
    return infos


def _write_block(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    grid: list[list[str]],
    block: Block,
    target: Path,
    notes: tuple[Note, ...],
) -> TableInfo:
    import pyarrow as pa

    names, columns, body = block.names, block.columns, block.body
    header = grid[block.top + block.header_rows - 1] if block.header_rows else []
    widths = Counter(len(grid[i]) for i in body)
    usual = widths.most_common(1)[0][0] if widths else len(columns)
    extra: tuple[Note, ...] = ()
    if header and len(widths) == 1 and block.header_rows == 1 and len(header) == usual - 1 and names[-1].startswith("column_"):
        names, _, _ = unique_names(["", *header])
        extra = (Note("header-shifted", "The header has one name fewer than the rows have cells; the first column has no name."),)
    words = softened(grid, body, hard_columns(grid, body, columns))
    arrays = []
    for c in columns:
        cells = [row[c] if c < len(row) else None for row in map(grid.__getitem__, body)]
        for position in (p for p, found in words.items() if c in found):
            cells[position] = None
        arrays.append(pa.array(cells, pa.string()))
    table = pa.Table.from_arrays(arrays, names=[f"c{n}" for n in range(len(columns))])
    plan = [Column(f"c{n}", name) for n, name in enumerate(names)]
    written = write_table(connection, table, plan, target, comma_first=_comma_first(source), row_number=lambda n: body[n - 1] + 1)
    _check_rows(written, len(body), source)
    ragged = _ragged(grid, block, max(usual, len(header)) if header else usual)
    lines = f"lines {block.top + 1}-{block.bottom + 1}"
    all_notes = notes + block.notes + extra + ragged + written.notes
    info = with_doubts(TableInfo(target.name, "", lines, written.rows, written.columns, notes=all_notes), block)
    place = Place("", block.top + 1, block.bottom + 1, columns, block.header_rows)
    soft = {position: next(iter(found.values())) for position, found in words.items()}
    return examine(connection, target.parent, info, [i + 1 for i in body], place, soft, block.heading_positions)


def _check_rows(written: Written, counted: int, source: Source) -> None:
    if written.rows != counted:
        raise UnreadableFileError(
            f"{source.path.name}: {counted:,} rows were read but {written.rows:,} written.",
            "Convert the file to UTF-8 and try again.",
        )


def _comma_first(source: Source) -> bool:
    """Where semicolons part the cells, a comma in a number is more likely its decimal mark."""
    return source.dialect.delimiter == ";"


def _ragged(grid: Sequence[Sequence[str]], block: Block, usual: int) -> tuple[Note, ...]:
    short = [i + 1 for i in block.body if len(grid[i]) < usual]
    long = [i + 1 for i in block.body if len(grid[i]) > usual and any(not is_empty(c) for c in grid[i][usual:])]
    return ragged_notes(short, long, len(short), len(long), len(block.body), usual)


# One pass through DuckDB


def _through_duckdb(source: Source, out: Path) -> TableInfo | None:
    """The table of a large clean file, or None where its samples or its rows are not clean."""
    dialect = source.dialect
    if source.encoding.name != "utf-8" or source.encoding.mixed_newlines or source.encoding.newline == "\r":
        return None
    if len(dialect.delimiter) > 1 or dialect.skip_space or dialect.escape or dialect.sep_line:
        return None
    layout = _clean_layout(source)
    if layout is None:
        return None
    block, samples, header = layout
    import duckdb

    relation = _read_csv(source, block)
    target = out / "0.parquet"
    with connect(out) as connection:
        try:
            with watched(connection, source.path.stat().st_size):
                written = _in_one_pass(connection, relation, block, samples, target)
            written = written or _in_two_passes(connection, relation, source, block, header, out, target)
        except duckdb.Error:
            target.unlink(missing_ok=True)
            return None
        if written is None or not _all_rows_there(connection, source, block, written, target):
            target.unlink(missing_ok=True)
            return None
        lines = f"lines {block.top + 1}-{block.body[0] + written.rows}"
        notes = source.notes + block.notes + written.notes
        info = TableInfo(target.name, "", lines, written.rows, written.columns, notes=notes)
        return _examined(connection, out, info, block, block.body[0])


def _examined(
    connection: duckdb.DuckDBPyConnection, out: Path, info: TableInfo, block: Block, start: int, gaps: Sequence[int] = ()
) -> TableInfo:
    """A table whose rows follow one another from the file's row `start`, 0-based, but for the rows `gaps`, 1-based."""
    last = start + info.rows + len(gaps)
    left = set(gaps)
    numbers = [n for n in range(start + 1, last + 1) if n not in left] if left else range(start + 1, last + 1)
    place = Place("", block.top + 1, last, tuple(range(len(info.columns))), block.header_rows)
    return examine(connection, out, info, numbers, place)


def _clean_layout(source: Source) -> tuple[Block, list[list[str]], list[str]] | None:
    """The head's one table, sample values by column from the head, the middle and the end, and its header where that is one row.

    None if anything is odd.
    """
    with open_text(source.path, source.encoding) as file:
        head_lines = file.read(SAMPLE_CHARACTERS).splitlines(keepends=True)[:-1]
    records = Records(head_lines, source.dialect)
    grid = list(records)
    if records.repaired or records.nuls or records.lines_read != len(grid) or _has_controls(source.path):
        return None
    found = _find(source, grid)
    if len(found.blocks) != 1 or found.notes or found.blocks[0].doubtful or found.blocks[0].headings:
        return None
    block = found.blocks[0]
    width = len(grid[block.body[0]]) if block.body else 0
    if width < 2 or len(block.columns) != width or any(len(grid[i]) != width for i in block.body):
        return None
    if list(block.body) != list(range(block.body[0], len(grid))):
        return None
    rows = [grid[i] for i in block.body]
    for line_group in _slices(source):
        probe = Records(line_group, source.dialect)
        more = [row for row in probe if row != [""]]
        if probe.repaired or any(len(row) != width for row in more):
            return None
        rows += more
    return block, [list(column) for column in zip(*rows, strict=True)], _header_cells(block, grid)


def _header_cells(block: Block, grid: Sequence[Sequence[str]]) -> list[str]:
    """The cells of a header of one row with two names or more, by which it is known again further down; else none."""
    cells = list(grid[block.top]) if block.header_rows == 1 else []
    return cells if sum(not is_empty(cell) for cell in cells) > 1 else []


def _has_controls(path: Path) -> bool:
    """Whether a file in UTF-8 holds control characters of the second kind anywhere."""
    with path.open("rb") as file:
        while chunk := file.read(1 << 22):
            if b"\xc2" in chunk and re.search(rb"\xc2[\x80-\x84\x86-\x9f]", chunk):
                return True
    return False


def _slices(source: Source) -> Iterator[list[str]]:
    """Whole lines from three places further on, the end among them."""
    size = source.path.stat().st_size
    with source.path.open("rb") as file:
        for start in (size // 3, 2 * size // 3, max(0, size - 65_536)):
            file.seek(start)
            data = file.read(65_536)
            lines = data.decode("utf-8", "replace").splitlines(keepends=True)
            yield lines[1:] if start + 65_536 >= size else lines[1:-1]


def _read_csv(source: Source, block: Block) -> str:
    columns = ", ".join(f"'c{n}': 'VARCHAR'" for n in range(len(block.names)))
    dialect = source.dialect
    return (
        f"read_csv({literal(str(source.path))}, auto_detect = false, header = false, skip = {block.body[0]}, "
        f"delim = {literal(dialect.delimiter)}, quote = {literal(dialect.quote)}, escape = {literal(dialect.quote)}, "
        f"columns = {{{columns}}}, null_padding = false, strict_mode = true)"
    )


def _in_one_pass(
    connection: duckdb.DuckDBPyConnection, relation: str, block: Block, samples: list[list[str]], target: Path
) -> Written | None:
    """Convert with the types that the samples show; None at the first value of another kind."""
    import duckdb

    plans = guarded_plans(samples)
    if plans is None:
        return None
    select = ", ".join(f"{plan.guarded(f'c{n}')} AS {identifier(block.names[n])}" for n, plan in enumerate(plans))
    try:
        rows = copy(connection, f"SELECT {select} FROM {relation}", target)
    except duckdb.InvalidInputException as e:
        if "unexpected value" in str(e):
            return None
        raise
    return Written(rows, _types(block, plans), ())


def _types(block: Block, plans: Iterable[Plan]) -> tuple[tuple[str, str], ...]:
    return tuple((name, plan.type) for name, plan in zip(block.names, plans, strict=True))


def _in_two_passes(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    source: Source,
    block: Block,
    header: Sequence[str],
    out: Path,
    target: Path,
) -> Written | None:
    """All as text first, then typed over all values; None where the header comes again, as no value then is of one type."""
    text = out / "text.tmp"
    try:
        with watched(connection, source.path.stat().st_size):
            copy(connection, f"SELECT * FROM {relation}", text, compression="snappy")
        columns = [Column(f"c{n}", name) for n, name in enumerate(block.names)]
        first = block.body[0]
        stored = f"read_parquet({literal(str(text))})"
        again = " AND ".join(f"c{n} = {literal(name)}" for n, name in enumerate(header) if name)
        if again and connection.execute(f"SELECT 1 FROM {stored} WHERE {again} LIMIT 1").fetchone():
            return None
        return write(connection, stored, columns, target, comma_first=_comma_first(source), row_number=lambda n: first + n)
    finally:
        text.unlink(missing_ok=True)


def _all_rows_there(connection: duckdb.DuckDBPyConnection, source: Source, block: Block, written: Written, target: Path) -> bool:
    """Rows written against the file's lines, with line breaks inside cells and a last empty line allowed for."""
    lines = count_lines(source.path, source.encoding) - block.body[0]
    if written.rows == lines:
        return True
    texts = [identifier(name) for name, kind in written.columns if kind == TEXT.type]
    if not texts:
        return False
    inside = " + ".join(f"sum(length({t}) - length(replace({t}, chr(10), '')))" for t in texts)
    row = connection.execute(f"SELECT {inside} FROM read_parquet({literal(str(target))})").fetchone()
    return row is not None and written.rows + int(row[0] or 0) == lines


# Row by row, never whole in memory


def _streamed(source: Source, out: Path) -> TableInfo:
    """A large messy file as one table: laid out by its beginning, read record by record."""
    rows, records = reader(source)
    head = list(islice(rows, _HEAD_ROWS))
    found = _find(source, head)
    if not found.blocks:
        raise UnreadableFileError(f"{source.path.name} holds no table.", "Read it as text instead.")
    block = max(found.blocks, key=lambda b: len(b.body))
    start = block.body[0] if block.body else block.bottom + 1
    width = max(len(block.names), source.dialect.width)
    sink = TextSink(out / "text.tmp", width, start, _header_cells(block, head))
    sink.add_all(_chain(head[start:], rows))
    sink.close()
    size = source.path.stat().st_size
    names, _, _ = unique_names([*block.names, *[""] * (sink.width - len(block.names))])
    columns = [Column(f"c{n}", name) for n, name in enumerate(names)]
    try:
        with connect(out) as connection:
            relation = f"read_parquet({literal(str(sink.path))})"
            with watched(connection, size, after=size):
                written = write(
                    connection, relation, columns, out / "0.parquet", comma_first=_comma_first(source), row_number=sink.number_of
                )
            _check_rows(written, sink.rows, source)
            notes = source.notes + repair_notes(records) + block.notes + _passed_over(block, head)
            notes += sink.notes() + written.notes
            lines = f"lines {block.top + 1}-{start + sink.seen}"
            info = TableInfo("0.parquet", "", lines, written.rows, written.columns, notes=notes)
            return _examined(connection, out, info, block, start, sink.gaps)
    finally:
        sink.path.unlink(missing_ok=True)


def _passed_over(block: Block, head: Sequence[Sequence[str]]) -> tuple[Note, ...]:
    """A note on rows above the one table of a large file where more stands there than its titles."""
    rows = [i + 1 for i in range(block.top) if not all(is_empty(c) for c in head[i])]
    if len(rows) <= sum(note.count for note in block.notes if note.kind == "preamble"):
        return ()
    text = f"{len(rows):,} rows above the table were not loaded; they can be read as text."
    return (Note("loose-cells", text, len(rows), places(rows)),)
