"""A file of delimited text, its encoding and its dialect, its records as they are read, and the
tables in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from leaf.errors import FileTooLargeError, UnreadableFileError
from leaf.readers.base import Note
from leaf.readers.encoding import Encoding, guess_note, open_text, sniff_encoding
from leaf.readers.progress import report
from leaf.readers.tabular.blocks import find_tables
from leaf.readers.tabular.cells import places, unique_names
from leaf.readers.tabular.columns import MAX_COLUMNS, WrittenTable
from leaf.readers.tabular.dialect import Dialect, Records, sniff
from leaf.readers.tabular.eurostat import eurostat_flags
from leaf.readers.tabular.flag_rows import flags_below
from leaf.readers.tabular.flags import LayoutFinder, write_parted
from leaf.readers.tabular.grid import GridContent, TableBlock
from leaf.readers.tabular.sectioned import section_blocks, sections_dialect
from leaf.readers.tabular.single import one_column

SAMPLE_CHARACTERS = 300_000
_CONTROLS = {
    code: bytes([code]).decode("cp1252", "ignore") or chr(code)
    for code in range(0x80, 0xA0)
    if code != 0x85
}
"""Control characters that no text holds, and the signs that Windows has in their places: they were
decoded as Latin-1 before."""
_FLAG_LINES = 501
"""Lines that tell whether flags stand with the numbers; one header and pairs of rows."""
HEAD_ROWS = 2_000
"""Rows of a large file by which it is laid out."""
CHUNK_ROWS = 50_000
LONGEST_LINE = 16_000_000
"""Characters."""


@dataclass(frozen=True)
class DelimitedSource:
    """A file and how to read it."""

    path: Path
    encoding: Encoding
    dialect: Dialect
    sectioned: bool = False
    """Whether each line says of which table it is."""
    flags: LayoutFinder | None = None
    """What tells where flags stand, if they stand with the numbers."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was guessed."""
        notes = [n for n in (guess_note(self.encoding),) if n]
        if self.encoding.mixed_newlines:
            notes.append(
                Note(
                    "newlines-mixed",
                    "Lines end in different ways; each kind of ending was taken as one.",
                )
            )
        if self.dialect.doubt:
            text = (
                f"Each line was read as one value; it may be columns parted by "
                f"{self.dialect.doubt}, but nothing proves that."
            )
            notes.append(Note("one-column", text))
        return tuple(notes)

    @property
    def comma_first(self) -> bool:
        """Where semicolons part the cells, a comma in a number is more likely its decimal mark."""
        return self.dialect.delimiter == ";"


def open_source(path: Path) -> DelimitedSource:
    """The file with its encoding and dialect, told from its beginning. Raises UnreadableFileError,
    FileTooLargeError."""
    if not path.stat().st_size:
        raise UnreadableFileError(
            "This file is empty.", "Upload the file again, or check how it was exported."
        )
    encoding = sniff_encoding(path)
    with open_text(path, encoding) as file:
        sample = file.read(SAMPLE_CHARACTERS).replace("\0", "")
    if not sample.strip():
        raise UnreadableFileError(
            "This file holds only white space.",
            "Upload the file again, or check how it was exported.",
        )
    sections = sections_dialect(sample)
    dialect = sections or sniff(sample)
    if dialect.width > MAX_COLUMNS:
        raise FileTooLargeError(
            f"This file has {dialect.width:,} columns; the limit is {MAX_COLUMNS:,}.",
            "Turn columns into rows, or export fewer of them.",
        )
    lines = sample.splitlines(keepends=True)[:_FLAG_LINES]
    if len(sample) == SAMPLE_CHARACTERS:
        lines = lines[:-1]
    flags = eurostat_flags(lines, dialect) or flags_below(lines, dialect) if lines else None
    return DelimitedSource(path, encoding, dialect, sections is not None, flags)


def without_flags(source: DelimitedSource, out: Path) -> tuple[DelimitedSource, tuple[Note, ...]]:
    """A source with flags in columns of their own, written into `out`, and what is said of that; the
    source itself where it has none."""
    layout = source.flags(records_of(source)) if source.flags else None
    if layout is None:
        return source, ()
    target = out / "parted.csv"
    write_parted(records_of(source), layout, target)
    parted = DelimitedSource(
        target, Encoding("utf-8", 0, False, "\n"), Dialect(width=len(layout.names))
    )
    return parted, (*source.notes, *layout.notes())


def as_loaded(source: DelimitedSource, grid: list[list[str]]) -> list[list[str]]:
    """Some records of a file, from its first on, with the columns that its table will have."""
    layout = source.flags(grid) if source.flags else None
    return list(layout.parted(grid)) if layout else grid


def reader(source: DelimitedSource) -> tuple[Iterator[list[str]], Records]:
    """All records of a file as they are read, and what had to be mended in those that were. Raises
    FileTooLargeError."""
    file = open_text(source.path, source.encoding)

    def lines() -> Iterator[str]:
        size, characters = source.path.stat().st_size, 0
        with closing(file):
            for number, line in enumerate(iter(partial(file.readline, LONGEST_LINE), "")):
                characters += len(line)
                if len(line) == LONGEST_LINE:
                    raise FileTooLargeError(
                        f"Line {number + 1:,} has over {LONGEST_LINE // 1_000_000} million "
                        f"characters, so this is no table.",
                        "Export it again with one row a line, or add it as text (.txt).",
                    )
                if number % CHUNK_ROWS == CHUNK_ROWS - 1:
                    report(
                        min(size, characters), 2 * size
                    )  # what is read row by row is gone through again to be typed
                mended = line if line.isascii() else line.translate(_CONTROLS)
                records.controls += mended != line
                yield mended

    records = Records(lines(), source.dialect)
    return _numbered(records), records


def _numbered(records: Records) -> Iterator[list[str]]:
    if records.dialect.sep_line:
        yield [""]  # the `sep=` line keeps its place, so that numbers stay those of the file
    yield from records


def records_of(source: DelimitedSource) -> Iterator[list[str]]:
    """All records of a file."""
    return reader(source)[0]


def read_grid(source: DelimitedSource) -> tuple[list[list[str]], tuple[Note, ...]]:
    """A whole file as rows of cells, and what was mended or guessed."""
    rows, records = reader(source)
    grid = list(rows)
    return grid, source.notes + repair_notes(records)


def repair_notes(records: Records) -> tuple[Note, ...]:
    """What was mended in the records that were read."""
    notes = []
    if records.repaired:
        shift = int(records.dialect.sep_line)
        count = len(records.repaired)
        text = (
            f"Quotes that did not fit were taken as plain characters in {count:,} "
            f"row{'s' if count != 1 else ''}."
        )
        notes.append(
            Note("repaired-quotes", text, count, places([n + shift for n in records.repaired]))
        )
    if records.controls:
        lines = f"{records.controls:,} line{'s' if records.controls != 1 else ''}"
        text = f"In {lines} control characters were read as Windows means them: ’ for U+0092."
        notes.append(Note("controls-mended", text, records.controls))
    if records.nuls:
        notes.append(
            Note("nul-bytes", f"{records.nuls:,} NUL characters were left out.", records.nuls)
        )
    if records.formulas:
        text = f'{records.formulas:,} texts written as formulas, as ="01", were read as what they give.'
        notes.append(Note("formulas-of-texts", text, records.formulas))
    return tuple(notes)


def count_lines(path: Path, encoding: Encoding) -> int:
    """Lines of a file, the last one counted also without a line ending."""
    newline = encoding.newline[-1].encode(encoding.name)
    count, last = 0, b""
    with path.open("rb") as file:
        while chunk := file.read(1 << 22):
            count += chunk.count(newline)
            last = chunk
    return count + (not last.endswith(newline))


def blocks_of(source: DelimitedSource, grid: list[list[str]], *, header: int = 0) -> GridContent:
    """The tables in some records of a file, and what stands around them; `header` as `find_tables`
    takes it."""
    if source.sectioned:
        return section_blocks(grid)
    if source.dialect.one_column:
        return one_column(grid)
    return find_tables(grid, widths=[len(row) for row in grid], header=header)


def check_rows(written: WrittenTable, counted: int) -> None:
    """Raises UnreadableFileError where rows were lost on the way to Parquet."""
    if written.rows != counted:
        raise UnreadableFileError(
            f"This file could not be kept whole: {counted:,} rows were read but {written.rows:,} written.",
            "Convert the file to UTF-8 and try again.",
        )


def usual_width(grid: Sequence[Sequence[str]], body: Sequence[int], width: int) -> int:
    """How many cells most rows have; `width` where there is none."""
    widths = Counter(len(grid[i]) for i in body)
    return widths.most_common(1)[0][0] if widths else width


def shifted(
    block: TableBlock, grid: Sequence[Sequence[str]]
) -> tuple[tuple[str, ...], tuple[Note, ...]] | None:
    """The names of a table whose header has one name fewer than all of its rows have cells, as R
    writes it where rows have names, and what is said of it; None for any other."""
    if block.name or block.header_rows != 1 or not block.names[-1].startswith("column_"):
        return None
    header, widths = grid[block.top], {len(grid[i]) for i in block.body}
    if not header or widths != {len(header) + 1}:
        return None
    cells = ["", *header]
    names, _, _ = unique_names(cells[column] for column in block.columns)
    text = "The header has one name fewer than the rows have cells; the first column has no name."
    return names, (Note("header-shifted", text),)
