"""What became of each row of a file, as its reader tells it: data, header, left out, or in no
table; and which rows are named."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from leaf.errors import LeafError
from leaf.readers.base import Note, TableInfo
from leaf.readers.tabular.delimited import DelimitedReader
from leaf.readers.tabular.sheets import SheetsReader

NAMING = frozenset(
    {
        "preamble",
        "footer",
        "loose-cells",
        "header-repeated",
        "header-assumed",
        "header-two-rows",
        "titles-doubtful",
        "notes-doubtful",
    }
)
"""Notes whose places name rows that are in no table, or may not belong there."""


@dataclass
class Reading:
    """Rows are numbered from 1, as the file has them."""

    error: str = ""
    data: set[int] = field(default_factory=set)
    header: set[int] = field(default_factory=set)
    left_out: dict[int, str] = field(default_factory=dict)
    """Row -> its kind in the table: subtotal, total, note."""
    named: set[int] = field(default_factory=set)
    """Rows in no table that a note names."""
    doubtful: set[int] = field(default_factory=set)
    """Rows kept as data, but named as doubtful."""
    unnamed: int = 0
    """Rows that notes count without naming them."""
    tables: list[tuple[int, ...]] = field(default_factory=list)
    """By table, its rows, totals among them; no headings."""
    sums: dict[tuple[int, str], dict[int, float]] = field(default_factory=dict)
    """Table and column of numbers -> row -> value."""


def read(path: Path, *, sums: bool = False) -> Reading:
    """The file through the reader of its kind."""
    reader = SheetsReader() if path.suffix == ".xlsx" else DelimitedReader()
    reading = Reading()
    with tempfile.TemporaryDirectory() as folder:
        try:
            infos = reader.tables(path, Path(folder))
        except LeafError as e:
            reading.error = str(e)
            return reading
        for number, info in enumerate(infos):
            _add(reading, number, info, Path(folder), sums)
    return reading


def _add(reading: Reading, number: int, info: TableInfo, folder: Path, sums: bool) -> None:
    relation = f"'{folder / info.parquet}'"
    with duckdb.connect() as connection:
        if info.marked:
            kinds = connection.execute(f"SELECT _row, _kind FROM {relation}").fetchall()
        else:
            kinds = [(info.first_row + n, "data") for n in range(info.rows)]
        reading.tables.append(tuple(row for row, kind in kinds if kind != "heading"))
        for row, kind in kinds:
            if kind == "data":
                reading.data.add(row)
            else:
                reading.left_out[row] = kind
        if sums:
            _values(reading, number, info, relation, [row for row, _ in kinds], connection)
    top = re.search(r"\d+", info.place)
    reading.header |= set(range(int(top[0]) if top else 1, min((r for r, _ in kinds), default=1)))
    for note in info.notes:
        if note.kind in NAMING:
            rows, more = named(note)
            reading.named |= rows
            reading.unnamed += more
    for _, rows_of in getattr(info, "doubtful", ()):
        reading.doubtful |= set(rows_of)


def _values(
    reading: Reading,
    number: int,
    info: TableInfo,
    relation: str,
    rows: list[int],
    connection: duckdb.DuckDBPyConnection,
) -> None:
    for name, kind in info.columns:
        if not kind.startswith(("BIGINT", "DOUBLE", "INTEGER", "DECIMAL")):
            continue
        quoted = name.replace('"', '""')
        values = connection.execute(f'SELECT "{quoted}" FROM {relation}').fetchall()
        reading.sums[number, name] = {
            row: float(v) for row, (v,) in zip(rows, values, strict=True) if v is not None
        }


def named(note: Note) -> tuple[set[int], int]:
    """The rows that a note's place names, and how many it counts without naming them."""
    place, _, more = (note.cells or note.place).partition(" and ")
    rows: set[int] = set()
    for a, b in re.findall(r"(?<![\d])[A-Z]*(\d+)(?:[-:][A-Z]*(\d+))?", place):
        rows |= set(range(int(a), int(b or a) + 1))
    return rows, max(0, note.count - len(rows)) if more else 0
