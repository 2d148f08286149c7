"""What is wrong, doubled or hidden in a table that stands on disk: rows of totals marked, and every
finding with its cells.

Called once for each table after its columns have their types. A table without totals and gaps keeps
its Parquet as it is; of another one `_row` and `_kind` are added. Linear in rows, in numbers of one
column type at a time; large tables are searched for words by DuckDB and only their candidates are
looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from leaf.readers.base import KIND, ROW, Note, TableInfo
from leaf.readers.tabular.asides import aside_notes, asides
from leaf.readers.tabular.cells import column_letter, places
from leaf.readers.tabular.cubes import NO_VALUE, CubeTotal, cube_totals
from leaf.readers.tabular.defects import Defect, defects
from leaf.readers.tabular.formulas import RowSum
from leaf.readers.tabular.place import TablePlace, locate, runs_of
from leaf.readers.tabular.sql import parquet_rows
from leaf.readers.tabular.sum_of_all import sum_of_all
from leaf.readers.tabular.table_file import TableFile
from leaf.readers.tabular.total_rows import TotalRows
from leaf.readers.tabular.totals import DoubtfulRow, ProvenRow

if TYPE_CHECKING:
    import duckdb

LISTED = 1_000
RECORDS = 2_000_000
TWICE = "A sum over the whole column may count things twice."


def examine(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    info: TableInfo,
    numbers: Sequence[int],
    place: TablePlace,
    soft: Mapping[int, str] | None = None,
    headings: Sequence[int] = (),
    sums: Mapping[int, Sequence[RowSum]] | None = None,
    told: Mapping[int, str] | None = None,
) -> TableInfo:
    """The table with its rows marked and its findings.

    `numbers` are the rows' numbers in the file; `soft` are words that were taken out of columns of
    numbers or dates, by position; `headings` are positions of rows that are headings of others;
    `sums` are rows whose formulas add up others; `told` are positions of rows that the file itself
    calls a subtotal or a total.
    """
    target = folder / info.parquet
    table = TableFile(connection, target, info.columns, info.rows)
    totals = TotalRows(table, sums)
    marks, doubts = totals.find(soft or {})
    cubes = _cubes(table, marks, doubts)
    for row in sum_of_all(table, marks):
        doubts.setdefault(row, DoubtfulRow("total", False))
    aside = asides(table, marks, doubts)
    marks |= aside.proven
    marks = {row: ProvenRow("heading") for row in headings if row < info.rows} | marks
    marks |= {
        row: replace(marks.get(row, ProvenRow(kind)), kind=kind)
        for row, kind in (told or {}).items()
    }
    doubts = {row: doubt for row, doubt in doubts.items() if row not in marks}
    regular = not len(numbers) or numbers[-1] - numbers[0] == len(numbers) - 1
    summed = {row: mark for row, mark in marks.items() if row not in aside.proven}
    notes = [
        *info.notes,
        *_total_notes(summed, doubts, numbers),
        *aside_notes(aside, numbers),
        *(_cube_note(one, info.columns[one.column][0], numbers) for one in cubes),
        *_differing(info, totals.summed, marks, doubts, numbers, place),
    ]
    if table.whole:
        notes += [_located(n, info.columns, place, numbers) for n in defects(table, marks)]
    notes = [locate(n, info.columns, place) for n in notes]
    if marks or not regular:
        _add_columns(connection, target, numbers, marks)
    kinds = _by_kind(marks, numbers)
    doubts |= {row: DoubtfulRow("summary", True) for row in aside.rows if row not in marks}
    doubted = dict(info.doubtful) | _by_kind(doubts, numbers)
    counts = dict(info.doubtful_counts) | {
        kind: len(rows) for kind, rows in _by_kind(doubts, numbers).items()
    }
    return replace(
        info,
        rows=info.rows - len(marks),
        notes=tuple(notes),
        first_row=numbers[0] if len(numbers) else 1,
        marked=bool(marks) or not regular,
        left_out=tuple((kind, tuple(rows[:LISTED])) for kind, rows in kinds.items()),
        left_out_counts=tuple((kind, len(rows)) for kind, rows in kinds.items()),
        doubtful=tuple((kind, tuple(rows[:LISTED])) for kind, rows in doubted.items()),
        doubtful_counts=tuple(counts.items()),
    )


def examine_records(
    connection: duckdb.DuckDBPyConnection, folder: Path, info: TableInfo
) -> TableInfo:
    """`examine` for a table whose rows are the records of its file, from the first on: what a
    program wrote as JSON or Parquet may end with a total as well. Tables of more than `RECORDS`
    rows stay as they are: what is looked at is held in memory, and whoever writes so many rows
    writes no totals between them."""
    if not 0 < info.rows <= RECORDS:
        return info
    place = TablePlace("", 1, info.rows, tuple(range(len(info.columns))))
    return examine(connection, folder, info, range(1, info.rows + 1), place)


def _cubes(
    table: TableFile, marks: dict[int, ProvenRow], doubts: dict[int, DoubtfulRow]
) -> list[CubeTotal]:
    """Members that sum all others; their rows join those that are proven or doubtful."""
    cubes = cube_totals(table)
    for one in cubes:
        if one.proven:
            marks |= {row: ProvenRow("subtotal") for row in one.rows if row not in marks}
        else:
            doubts |= {row: DoubtfulRow("subtotal", False) for row in one.rows}
    return cubes


def _by_kind(
    by_row: Mapping[int, ProvenRow] | Mapping[int, DoubtfulRow], numbers: Sequence[int]
) -> dict[str, list[int]]:
    kinds: dict[str, list[int]] = {}
    for row in sorted(by_row):
        kinds.setdefault(by_row[row].kind, []).append(numbers[row])
    return kinds


def _located(
    finding: Defect, columns: Sequence[tuple[str, str]], place: TablePlace, numbers: Sequence[int]
) -> Note:
    """A finding of positions as a note of rows of the file."""
    rows = [numbers[r] for r in finding.rows]
    row_ranges = places(rows) if rows else ""
    note = Note(finding.kind, finding.text, finding.count, row_ranges, short=finding.short)
    if finding.column >= 0 and place.sheet:
        letter = column_letter(place.columns[finding.column])
        cells = (
            ", ".join(
                f"{letter}{a}" if a == b else f"{letter}{a}:{letter}{b}"
                for a, b in runs_of(rows)[:12]
            )
            if rows
            else place.column(finding.column)
        )
        return replace(note, place=f"sheet {place.sheet}!{cells}", cells=cells)
    return note


def _total_notes(
    marks: Mapping[int, ProvenRow], doubts: Mapping[int, DoubtfulRow], numbers: Sequence[int]
) -> list[Note]:
    notes = []
    for kind, slug, what in (
        ("subtotal", "subtotal-rows", "subtotal"),
        ("total", "total-rows", "total"),
        ("note", "summary-rows", "average or other summary"),
        ("heading", "heading-rows", "heading"),
    ):
        at = [numbers[row] for row in sorted(marks) if marks[row].kind == kind]
        if at:
            text = (
                f"{len(at):,} {what} row{'s' if len(at) != 1 else ''} "
                f"{'are' if len(at) != 1 else 'is'} left out of queries."
            )
            notes.append(Note(slug, text, len(at), places(at)))
    return notes + _doubt_notes(doubts, numbers)


def _cube_note(total: CubeTotal, column: str, numbers: Sequence[int]) -> Note:
    """What a member of a column sums, and what becomes of its rows."""
    parts, count = ", ".join(total.parts[:3]), len(total.rows)
    more = f" and {len(total.parts) - 3} more" if len(total.parts) > 3 else ""
    at = places([numbers[row] for row in total.rows])
    if total.proven:
        text = (
            f"'{total.member}' in '{column}' is the sum of {parts}{more}: its {count:,} rows are left "
            f"out of queries."
        )
        return Note("cube-totals", text, count, at)
    if total.more:
        text = (
            f"{total.more + 1:,} members of '{column}' such as '{total.member}' are the sums of those "
            f"whose codes begin with theirs, in {count:,} rows: adding all of them counts twice."
        )
        return Note("cube-sums", text, count, at)
    if total.member == NO_VALUE:
        text = (
            f"Where '{column}' has no value, a row is the sum of {parts}{more}, in {count:,} rows: "
            f"adding all of them counts twice."
        )
        return Note("cube-sums", text, count, at)
    text = (
        f"'{total.member}' in '{column}' is the sum of {parts}{more} in {count:,} rows: adding all of "
        f"them counts twice."
    )
    return Note("cube-sums", text, count, at)


def _doubt_notes(doubts: Mapping[int, DoubtfulRow], numbers: Sequence[int]) -> list[Note]:
    """One note for all rows that are kept and may be totals."""
    if not doubts:
        return []
    worded = [numbers[row] for row in sorted(doubts) if doubts[row].worded]
    summed = [numbers[row] for row in sorted(doubts) if not doubts[row].worded]
    at = sorted([*worded, *summed])
    sentences = [
        *([_called(len(worded))] if worded else ()),
        *([_adding_up(len(summed))] if summed else ()),
        TWICE,
    ]
    return [Note("totals-doubtful", " ".join(sentences), len(at), places(at))]


def _called(rows: int) -> str:
    text = (
        f"Kept as data, but doubtful: {rows:,} rows are called a total or an average, which the "
        f"numbers do not prove."
    )
    if rows == 1:
        text = (
            "Kept as data, but doubtful: 1 row is called a total or an average, which the numbers "
            "do not prove."
        )
    return text


def _adding_up(rows: int) -> str:
    text = (
        f"Kept as data, but doubtful: {rows:,} rows equal the sum of rows nearby or are summed "
        f"twice."
    )
    if rows == 1:
        text = "Kept as data, but doubtful: 1 row equals the sum of rows nearby or is summed twice."
    return text


def _differing(
    info: TableInfo,
    columns: Sequence[int],
    marks: Mapping[int, ProvenRow],
    doubts: Mapping[int, DoubtfulRow],
    numbers: Sequence[int],
    place: TablePlace,
) -> list[Note]:
    """Printed totals that their rows do not give."""
    errors = [(row, *off) for row, mark in marks.items() for off in mark.off]
    errors = sorted(
        errors + [(row, *off) for row, doubt in doubts.items() if doubt.worded for off in doubt.off]
    )
    if not errors:
        return []
    examples = "; ".join(
        f"'{info.columns[columns[c]][0]}' in row {numbers[row]} is {printed:,.10g}, its rows give "
        f"{total:,.10g}"
        for row, c, printed, total in errors[:3]
    )
    more = f"; and {len(errors) - 3} more" if len(errors) > 3 else ""
    text = (
        f"{len(errors):,} printed total{'s do' if len(errors) != 1 else ' does'} not add up: "
        f"{examples}{more}."
    )
    rows = sorted({numbers[row] for row, *_ in errors})
    if not place.sheet:
        return [Note("totals-differ", text, len(errors), places(rows))]
    cells = ", ".join(
        f"{column_letter(place.columns[columns[c]])}{numbers[row]}" for row, c, *_ in errors[:12]
    )
    return [Note("totals-differ", text, len(errors), f"sheet {place.sheet}!{cells}", cells)]


def _add_columns(
    connection: duckdb.DuckDBPyConnection,
    target: Path,
    numbers: Sequence[int],
    marks: Mapping[int, ProvenRow],
) -> None:
    """Write the table anew with `_row` and `_kind`."""
    import numpy as np
    import pyarrow as pa

    from leaf.readers.tabular.sql import copy

    codes = np.zeros(len(numbers), dtype=np.int8)
    kinds = ["data", "subtotal", "total", "note", "heading"]
    for row, mark in marks.items():
        codes[row] = kinds.index(mark.kind)
    rows = pa.array(np.asarray(numbers, dtype=np.int64))
    column = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(kinds)).cast(pa.string())
    connection.complete()
    connection.register("marks", pa.table({ROW: rows, KIND: column}))
    fresh = target.with_suffix(".marked")
    try:
        copy(connection, f"FROM {parquet_rows(target)} POSITIONAL JOIN marks", fresh)
    finally:
        connection.unregister("marks")
    fresh.replace(target)
