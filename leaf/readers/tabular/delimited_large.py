"""Large delimited files, never whole in memory: a clean one through DuckDB in one pass, a messy one
row by row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from leaf.errors import UnreadableFileError
from leaf.readers.base import Note, TableInfo
from leaf.readers.encoding import open_text
from leaf.readers.progress import watched
from leaf.readers.tabular.blocks import with_remarks
from leaf.readers.tabular.cells import is_empty, places, unique_names
from leaf.readers.tabular.column import Column
from leaf.readers.tabular.columns import WrittenTable, write
from leaf.readers.tabular.delimited_source import (
    HEAD_ROWS,
    SAMPLE_CHARACTERS,
    DelimitedSource,
    blocks_of,
    check_rows,
    count_lines,
    reader,
    repair_notes,
    shifted,
)
from leaf.readers.tabular.dialect import Records
from leaf.readers.tabular.footers import remarks_below
from leaf.readers.tabular.grid import TableBlock, hard_columns
from leaf.readers.tabular.integrity import examine
from leaf.readers.tabular.parse_plan import TEXT, ParsePlan
from leaf.readers.tabular.place import TablePlace
from leaf.readers.tabular.plans import guarded_plans
from leaf.readers.tabular.sql import connect, copy, identifier, literal, parquet_rows
from leaf.readers.tabular.text_sink import TAIL, TextSink
from leaf.readers.tabular.total_rows import LABEL_COLUMNS
from leaf.readers.tabular.total_words import NUMERIC_STARTS, word_for_total

if TYPE_CHECKING:
    import duckdb

_OF_ALL_ROWS = frozenset({"footer", "header-repeated", "notes-doubtful", "rows-empty"})
"""Kinds of notes that the head of a file cannot give for all of it."""
_MOST_WORDS = 10_000
"""Different texts of a column that are looked at; one with more is none of numbers."""
_SPACE = "".join(filter(str.isspace, map(chr, range(0x3001))))
"""Characters of which an empty cell may consist."""


def through_duckdb(source: DelimitedSource, out: Path) -> TableInfo | None:
    """The table of a large clean file, or None where its samples or its rows are not clean."""
    dialect = source.dialect
    if (
        source.encoding.name != "utf-8"
        or source.encoding.guessed
        or source.encoding.mixed_newlines
        or source.encoding.newline == "\r"
    ):
        return None
    if len(dialect.delimiter) > 1 or dialect.skip_space or dialect.escape or dialect.sep_line:
        return None
    layout = _clean_layout(source)
    if layout is None:
        return None
    block, samples, header, hard = layout
    import duckdb

    relation = _read_csv(source, block)
    target = out / "0.parquet"
    with connect(out) as connection:
        try:
            with watched(connection, source.path.stat().st_size):
                written = _in_one_pass(connection, relation, block, samples, header, target)
            written = written or _in_two_passes(
                connection, relation, source, block, header, hard, out, target
            )
        except duckdb.Error:
            target.unlink(missing_ok=True)
            return None
        if (
            written is None
            or not _all_rows_there(connection, source, block, written, target)
            or _has_empty_row(connection, written, target)
        ):
            target.unlink(missing_ok=True)
            return None
        lines = f"lines {block.top + 1}-{block.body[0] + written.rows}"
        notes = source.notes + block.notes + written.notes
        info = TableInfo(target.name, "", lines, written.rows, written.columns, notes=notes)
        first, last = block.body[0] + 1, block.body[0] + written.rows
        place = _place(block, last, range(len(written.columns)))
        return examine(connection, out, info, range(first, last + 1), place)


def _clean_layout(
    source: DelimitedSource,
) -> tuple[TableBlock, list[list[str]], list[str], list[int]] | None:
    """The head's one table, sample values by column from the head, the middle and the end, its
    header where that is one row, and its columns of numbers and dates.

    None if anything is odd.
    """
    with open_text(source.path, source.encoding) as file:
        head_lines = file.read(SAMPLE_CHARACTERS).splitlines(keepends=True)[:-1]
    records = Records(head_lines, source.dialect)
    grid = list(records)
    if (
        records.repaired
        or records.nuls
        or records.formulas
        or records.lines_read != len(grid)
        or _has_controls(source.path)
    ):
        return None
    content = blocks_of(source, grid)
    if (
        len(content.blocks) != 1
        or content.notes
        or content.blocks[0].doubtful
        or content.blocks[0].remarks
        or content.blocks[0].headings
        or shifted(content.blocks[0], grid)
    ):
        return None
    block = content.blocks[0]
    width = len(grid[block.body[0]]) if block.body else 0
    if width < 2 or len(block.columns) != width or any(len(grid[i]) != width for i in block.body):
        return None
    if list(block.body) != list(range(block.body[0], len(grid))):
        return None
    rows = [grid[i] for i in block.body]
    more: list[list[str]] = []
    for line_group in _slices(source):
        probe = Records(line_group, source.dialect)
        more = [row for row in probe if row != [""]]
        if probe.repaired or probe.formulas or any(len(row) != width for row in more):
            return None
        rows += more
    if any(remarks_below(more[-TAIL:], range(len(more[-TAIL:])), width)):
        return None
    header, _ = _header_cells(block, grid)
    hard = hard_columns(rows, range(len(rows)), range(width))
    return block, [list(column) for column in zip(*rows, strict=True)], header, hard


def _header_cells(block: TableBlock, grid: Sequence[Sequence[str]]) -> tuple[list[str], list[str]]:
    """The cells of a header of one row with two names or more, by which it is known again further
    down, and those of the row that numbers its columns; else none."""
    counting = block.counting - block.top
    if block.header_rows != 1 + (counting == 1):
        return [], []
    cells = list(grid[block.top])
    if sum(not is_empty(cell) for cell in cells) < 2:
        return [], []
    return cells, list(grid[block.counting]) if counting == 1 else []


def _of_the_head(block: TableBlock) -> tuple[Note, ...]:
    """What is said of a block, but for what is told of all its rows once they are read."""
    return tuple(note for note in block.notes if note.kind not in _OF_ALL_ROWS)


def _has_controls(path: Path) -> bool:
    """Whether a file in UTF-8 holds control characters of the second kind anywhere."""
    with path.open("rb") as file:
        while chunk := file.read(1 << 22):
            if b"\xc2" in chunk and re.search(rb"\xc2[\x80-\x84\x86-\x9f]", chunk):
                return True
    return False


def _slices(source: DelimitedSource) -> Iterator[list[str]]:
    """Whole lines from three places further on, the end among them."""
    size = source.path.stat().st_size
    with source.path.open("rb") as file:
        for start in (size // 3, 2 * size // 3, max(0, size - 65_536)):
            file.seek(start)
            data = file.read(65_536)
            lines = data.decode("utf-8", "replace").splitlines(keepends=True)
            yield lines[1:] if start + 65_536 >= size else lines[1:-1]


def _read_csv(source: DelimitedSource, block: TableBlock) -> str:
    columns = ", ".join(f"'c{n}': 'VARCHAR'" for n in range(len(block.names)))
    dialect = source.dialect
    return (
        f"read_csv({literal(str(source.path))}, auto_detect = false, hive_partitioning = false, "
        f"header = false, skip = "
        f"{block.body[0]}, "
        f"delim = {literal(dialect.delimiter)}, quote = {literal(dialect.quote)}, escape = "
        f"{literal(dialect.quote)}, "
        f"columns = {{{columns}}}, null_padding = false, strict_mode = true)"
    )


def _in_one_pass(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    block: TableBlock,
    samples: list[list[str]],
    header: Sequence[str],
    target: Path,
) -> WrittenTable | None:
    """Convert with the types that the samples show; None at the first value of another kind, and
    where the header comes again among columns of text alone."""
    import duckdb

    plans = guarded_plans(samples)
    if plans is None:
        return None
    select = ", ".join(
        f"{plan.guarded(f'c{n}')} AS {identifier(block.names[n])}" for n, plan in enumerate(plans)
    )
    try:
        rows = copy(connection, f"SELECT {select} FROM {relation}", target)
    except duckdb.InvalidInputException as e:
        if "unexpected value" in str(e):
            return None
        raise
    if all(plan is TEXT for plan in plans) and _comes_again(
        connection, parquet_rows(target), block.names, header
    ):
        return None
    return WrittenTable(rows, _types(block, plans), ())


def _comes_again(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    columns: Sequence[str],
    header: Sequence[str],
) -> bool:
    """Whether a row holds the names of its columns."""
    same = " AND ".join(
        f"{identifier(column)} = {literal(name)}"
        for column, name in zip(columns, header, strict=False)
        if name
    )
    query = f"SELECT 1 FROM {relation} WHERE {same} LIMIT 1"
    return bool(same) and connection.execute(query).fetchone() is not None


def _has_total_words(
    connection: duckdb.DuckDBPyConnection, relation: str, columns: Sequence[str]
) -> bool:
    """Whether a word such as Total stands in one of these columns."""
    for column in map(identifier, columns):
        words = (
            f"SELECT DISTINCT {column} FROM {relation} WHERE {column} > '' AND "
            f"strpos({literal(NUMERIC_STARTS)}, left({column}, 1)) = 0 LIMIT {_MOST_WORDS}"
        )
        if any(word_for_total(word) for (word,) in connection.execute(words).fetchall()):
            return True
    return False


def _types(block: TableBlock, plans: Iterable[ParsePlan]) -> tuple[tuple[str, str], ...]:
    return tuple((name, plan.type) for name, plan in zip(block.names, plans, strict=True))


def _in_two_passes(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    source: DelimitedSource,
    block: TableBlock,
    header: Sequence[str],
    hard: Sequence[int],
    out: Path,
    target: Path,
) -> WrittenTable | None:
    """All as text first, then typed over all values; None where the header comes again, or a word
    for totals stands among numbers or dates, as no value then is of one type."""
    text = out / "text.tmp"
    try:
        with watched(connection, source.path.stat().st_size):
            copy(connection, f"SELECT * FROM {relation}", text, compression="snappy")
        columns = [Column(f"c{n}", name) for n, name in enumerate(block.names)]
        first = block.body[0]
        stored = parquet_rows(text)
        if _comes_again(connection, stored, [column.source for column in columns], header):
            return None
        if _has_total_words(connection, stored, [columns[c].source for c in hard[:LABEL_COLUMNS]]):
            return None
        return write(
            connection,
            stored,
            columns,
            target,
            comma_first=source.comma_first,
            row_number=lambda n: first + n,
        )
    finally:
        text.unlink(missing_ok=True)


def _all_rows_there(
    connection: duckdb.DuckDBPyConnection,
    source: DelimitedSource,
    block: TableBlock,
    written: WrittenTable,
    target: Path,
) -> bool:
    """Rows written against the file's lines, with line breaks inside cells and a last empty line
    allowed for."""
    lines = count_lines(source.path, source.encoding) - block.body[0]
    if written.rows == lines:
        return True
    texts = [identifier(name) for name, kind in written.columns if kind == TEXT.type]
    if not texts:
        return False
    inside = " + ".join(f"sum(length({t}) - length(replace({t}, chr(10), '')))" for t in texts)
    row = connection.execute(f"SELECT {inside} FROM {parquet_rows(target)}").fetchone()
    return row is not None and written.rows + int(row[0] or 0) == lines


def _has_empty_row(
    connection: duckdb.DuckDBPyConnection, written: WrittenTable, target: Path
) -> bool:
    """Whether a row may have been nothing but delimiters, which is none of the table: no column of
    it has a value."""
    kinds = sorted(written.columns, key=lambda column: column[1] == TEXT.type)
    empty = " AND ".join(
        f"trim(coalesce({identifier(name)}, ''), {literal(_SPACE)}) = ''"
        if kind == TEXT.type
        else f"{identifier(name)} IS NULL"
        for name, kind in kinds
    )
    query = f"SELECT 1 FROM {parquet_rows(target)} WHERE {empty} LIMIT 1"
    return connection.execute(query).fetchone() is not None


def streamed(source: DelimitedSource, out: Path) -> TableInfo:
    """A large messy file as one table: laid out by its beginning, read record by record."""
    rows, records = reader(source)
    head = list(islice(rows, HEAD_ROWS))
    content = blocks_of(source, head)
    if not content.blocks:
        raise UnreadableFileError("This file holds no table.", "Read it as text instead.")
    block = max(content.blocks, key=lambda b: len(b.body))
    start = block.body[0] if block.body else block.bottom + 1
    width = max(block.columns[-1] + 1, source.dialect.width)
    repeated = _header_cells(block, head)
    between = range(block.top + block.header_rows, start)
    again = [n + 1 for n in between if head[n] and head[n] in repeated]
    hard = hard_columns(head, block.body, block.columns)
    sink = TextSink(out / "text.tmp", width, start, *repeated, again, hard, block.columns)
    sink.add_all(chain(head[start:], rows))
    sink.close()
    size = source.path.stat().st_size
    known, shift_notes = shifted(block, head) or (block.names, ())
    called = dict(zip(block.columns, known, strict=True))
    names, _, _ = unique_names([called.get(n, "") for n in sink.columns])
    columns = [Column(f"c{n}", name) for n, name in zip(sink.columns, names, strict=True)]
    try:
        with connect(out) as connection:
            relation = parquet_rows(sink.path)
            with watched(connection, size, after=size):
                written = write(
                    connection,
                    relation,
                    columns,
                    out / "0.parquet",
                    comma_first=source.comma_first,
                    row_number=sink.number_of,
                )
            check_rows(written, sink.rows)
            notes = source.notes + repair_notes(records) + _of_the_head(block) + shift_notes
            notes += _passed_over(block, head) + sink.notes() + written.notes
            lines = f"lines {block.top + 1}-{start + sink.seen}"
            info = TableInfo("0.parquet", "", lines, written.rows, written.columns, notes=notes)
            info = with_remarks(info, sink.doubtful)
            place = _place(block, start + sink.seen, sink.columns)
            return examine(connection, out, info, sink.numbers(), place, sink.words)
    finally:
        sink.path.unlink(missing_ok=True)


def _place(block: TableBlock, last: int, columns: Sequence[int]) -> TablePlace:
    """Where a table stands whose last row is the file's row `last`, 1-based."""
    return TablePlace("", block.top + 1, last, tuple(columns), block.header_rows)


def _passed_over(block: TableBlock, head: Sequence[Sequence[str]]) -> tuple[Note, ...]:
    """A note on rows above the one table of a large file where more stands there than its
    titles."""
    rows = [i + 1 for i in range(block.top) if not all(is_empty(c) for c in head[i])]
    if len(rows) <= sum(note.count for note in block.notes if note.kind == "preamble"):
        return ()
    text = (
        f"{len(rows):,} rows above the table were not loaded; they can be read as text."
        if len(rows) > 1
        else "1 row above the table was not loaded; it can be read as text."
    )
    return (Note("loose-cells", text, len(rows), places(rows)),)
