"""JSON and JSON Lines: records become tables, what is no table is read as text by the lines of its
pretty-printed form.

Objects inside records become columns `a.b`; lists stay JSON text, since a row for each member would
count the record repeatedly.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from leaf.errors import FileTooLargeError, UnreadableFileError
from leaf.readers.base import Note, Outline, Passage, TableInfo, Where
from leaf.readers.encoding import open_text, sniff_encoding
from leaf.readers.tabular.cells import places, unique_names
from leaf.readers.tabular.column import Column
from leaf.readers.tabular.columns import MAX_COLUMNS, WrittenTable, write
from leaf.readers.tabular.integrity import examine_records
from leaf.readers.tabular.json_parser import JsonParser
from leaf.readers.tabular.json_records import Flat, dump, flatten, has_names, named, tables_in
from leaf.readers.tabular.nans import emptied
from leaf.readers.tabular.sql import connect, parquet_rows
from leaf.readers.tabular.values import describe, problem_notes, write_values

_LONGEST_LINE = 50_000_000
"""Characters of a record; what has no end by then is one document."""
_MEMORY_BYTES = 32_000_000
"""JSON Lines above this size are written in chunks."""
_CHUNK = 20_000
_CHARACTERS = 2.5


class JsonReader:
    """JSON, JSON Lines and GeoJSON."""

    def outline(self, path: Path) -> Outline:
        """Records and columns of the largest table, or lines if there is none."""
        tokens = int(path.stat().st_size / _CHARACTERS)
        if _is_lines(path):
            lines = _Lines(path)
            keys: dict[tuple[str, ...], None] = {}
            rows = 0
            for record in lines:
                rows += 1
                if rows <= 2_000:
                    keys.update(dict.fromkeys(flatten(record)))
            return Outline(
                "json",
                "application/x-ndjson",
                rows=rows,
                columns=len(keys),
                tokens=tokens,
                notes=lines.notes(),
            )
        parser = JsonParser()
        value = parser.document(path)
        notes = parser.notes()
        tables = tables_in(value)
        if not tables:
            count = _line_count(value)
            return Outline("json", "application/json", lines=count, tokens=tokens, notes=notes)
        largest = max(tables, key=lambda t: len(t.records)).records
        names = tuple(t.path for t in tables) if len(tables) > 1 else ()
        rows, columns = _extent(largest)
        return Outline(
            "json",
            "application/json",
            sheets=names,
            rows=rows,
            columns=columns,
            tokens=tokens,
            notes=notes,
        )

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        """One passage a record, as JSON; of a document without records, or if lines are asked for,
        a passage a line."""
        if _is_lines(path) and where.unit != "line":
            yield from _within((dump(r) for r in _Lines(path)), where, "row")
            return
        value = JsonParser().document(path) if not _is_lines(path) else list(_Lines(path))
        tables = tables_in(value)
        if where.sheet:
            tables = [t for t in tables if t.path.lower() == where.sheet.lower()]
        if len(tables) == 1 and where.unit != "line":
            yield from _within(
                (dump(r) for r in tables[0].records),
                where,
                "row",
                tables[0].path if where.sheet else "",
            )
            return
        yield from _within(_pretty(value), where, "line")

    def tables(self, path: Path, out: Path) -> list[TableInfo]:
        """Each list of records as a table; none for a document without one."""
        with connect(out) as connection:
            if _is_lines(path):
                lines = _Lines(path)
                if path.stat().st_size > _MEMORY_BYTES:
                    written = _in_chunks(connection, lines, out)
                else:
                    written = _write(connection, list(lines), out / "0.parquet")
                info = _info("0.parquet", "", written, lines.notes(), "lines")
                return [examine_records(connection, out, info)]
            infos = []
            parser = JsonParser()
            record_tables = tables_in(parser.document(path))
            for number, table in enumerate(record_tables):
                written = _write(connection, table.records, out / f"{number}.parquet")
                name = table.path if len(record_tables) > 1 else ""
                what = table.path or "records"
                notes = table.notes + parser.notes()
                info = _info(f"{number}.parquet", name, written, notes, what)
                infos.append(examine_records(connection, out, info))
            return infos


def _info(
    file: str, sheet: str, written: WrittenTable, notes: tuple[Note, ...], what: str
) -> TableInfo:
    return TableInfo(
        file,
        sheet,
        f"{what} 1-{written.rows}",
        written.rows,
        written.columns,
        notes=notes + written.notes,
    )


def _within(texts: Iterable[str], where: Where, unit: str, sheet: str = "") -> Iterator[Passage]:
    for number, text in enumerate(texts, 1):
        if where.last is not None and number > where.last:
            return
        if number >= where.first:
            yield Passage(text, unit, number, sheet)


def _pretty(value: Any) -> Iterator[str]:
    """The lines of a document as `json.dumps` sets it with an indent of two, made as they are asked
    for."""
    line = ""
    for piece in json.JSONEncoder(ensure_ascii=False, indent=2).iterencode(value):
        begun, *others = piece.split("\n")
        line += begun
        for other in others:
            yield line
            line = other
    yield line


def _line_count(value: Any) -> int:
    """How many lines `_pretty` gives."""
    if not isinstance(value, dict | list) or not value:
        return 1
    inner = value.values() if isinstance(value, dict) else value
    return 2 + len(value) + sum(_line_count(v) - 1 for v in inner if isinstance(v, dict | list))


def _is_lines(path: Path) -> bool:
    """Whether each of the first two lines is a JSON value of its own."""
    with open_text(path, sniff_encoding(path)) as file:
        values = 0
        for _ in range(50):
            read = file.readline(_LONGEST_LINE)
            if len(read) == _LONGEST_LINE:
                return False
            line = read.strip()
            if not line:
                continue
            if line[0] not in "{[" or not _parses(line):
                return False
            values += 1
            if values == 2:
                return True
    return False


def _parses(line: str) -> bool:
    import orjson

    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        try:
            json.loads(line)
        except (json.JSONDecodeError, RecursionError):
            return False
    return True


class _Lines:
    """The records of JSON Lines; may be gone through several times. Lines that are no JSON are
    skipped and counted."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._parser = JsonParser()
        self.skipped: list[int] = []
        self.count = 0

    def __iter__(self) -> Iterator[Any]:
        self.skipped, self.count, self._parser = [], 0, JsonParser()
        encoding = sniff_encoding(self._path)
        with open_text(self._path, encoding) as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    value = self._parser.line(line)
                except (json.JSONDecodeError, RecursionError):
                    self.skipped.append(number)
                    continue
                self.count += 1
                yield value
        if len(self.skipped) > self.count:
            raise UnreadableFileError(
                f"This file is no valid JSON: {len(self.skipped):,} lines cannot be read."
            )

    def notes(self) -> tuple[Note, ...]:
        notes = self._parser.notes()
        if not self.skipped:
            return notes
        count = len(self.skipped)
        text = (
            f"{count:,} line{'s' if count > 1 else ''} that {'are' if count > 1 else 'is'} no "
            f"valid JSON were left out."
        )
        return (Note("rows-skipped", text, count, places(self.skipped, "lines")), *notes)


def _flat_rows(records: list[Any]) -> tuple[list[tuple[str, ...]], list[Flat]]:
    """The ways to their values, and flat records; a list of lists may begin with names."""
    if records and isinstance(records[0], list):
        first = records[0]
        called = has_names(records)
        keys = first if called else [f"column_{n}" for n in range(1, len(first) + 1)]
        ways: list[tuple[str, ...]] = [(name,) for name in unique_names(keys)[0]]
        rows = [
            {
                k: dump(c) if isinstance(c, dict | list) else c
                for k, c in zip(ways, row, strict=True)
            }
            for row in records[called:]
        ]
        return ways, rows
    flat = [flatten(r) for r in records]
    paths: dict[tuple[str, ...], None] = {}
    for row in flat:
        paths.update(dict.fromkeys(row))
        _check_width(len(paths))
    return list(paths), flat


def _extent(records: list[Any]) -> tuple[int, int]:
    """How many rows and columns records make, the latter told from a sample."""
    if isinstance(records[0], list):
        return len(records) - has_names(records), len(records[0])
    keys: dict[tuple[str, ...], None] = {}
    for record in records[:2_000]:
        keys.update(dict.fromkeys(flatten(record)))
    return len(records), len(keys)


def _check_width(columns: int) -> None:
    if columns > MAX_COLUMNS:
        raise FileTooLargeError(
            f"Its records have over {MAX_COLUMNS:,} different members, and each would be a column.",
            "Export a record for each pair of name and value.",
        )


def _write(connection: Any, records: list[Any], target: Path) -> WrittenTable:
    keys, rows = _flat_rows(records)
    if not keys:
        raise UnreadableFileError(
            "The records of this JSON file have no members.", "Read it as text instead."
        )
    names, notes = named(keys)
    if isinstance(records[0], list) and len(rows) == len(records):
        text = f"No header row was found: the columns are named {names[0]} to {names[-1]}."
        notes += (Note("no-header", text),)
    values = [[row.get(key) for row in rows] for key in keys]
    written = write_values(connection, names, values, target)
    if written.rows != len(rows):
        raise UnreadableFileError(f"{len(rows):,} records were read but {written.rows:,} written.")
    return replace(written, notes=notes + written.notes)


def _in_chunks(connection: Any, lines: _Lines, out: Path) -> WrittenTable:
    """Large JSON Lines: kinds by column in a first pass, values in a second."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds: dict[tuple[str, ...], set[type]] = {}
    for record in lines:
        for key, member in flatten(record).items():
            types = kinds.setdefault(key, set())
            if member is not None:
                types.add(_kind(member))
        _check_width(len(kinds))
    names, notes = named(kinds)
    columns, fields, convert = [], [], []
    for n, (name, types) in enumerate(zip(names, kinds.values(), strict=True)):
        kind, arrow, change = _native(types)
        columns.append(Column(f"c{n}", name, text=kind == "text", type=kind))
        fields.append((f"c{n}", arrow))
        convert.append(change)
    chunked = out / "records.tmp"
    schema = pa.schema(fields)
    try:
        with pq.ParquetWriter(chunked, schema, compression="zstd") as writer:
            for rows in _chunks(flatten(r) for r in lines):
                arrays = [
                    pa.array(
                        [None if (v := row.get(key)) is None else change(v) for row in rows],
                        field.type,
                    )
                    for key, field, change in zip(kinds, schema, convert, strict=True)
                ]
                writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
        written = write(connection, parquet_rows(chunked), columns, out / "0.parquet")
    finally:
        chunked.unlink(missing_ok=True)
    if written.rows != lines.count:
        raise UnreadableFileError(
            f"{lines.count:,} records were read but {written.rows:,} written."
        )
    texts = {name for name, kind in written.columns if kind == "VARCHAR"}
    mixed = [
        c.name
        for c, types in zip(columns, kinds.values(), strict=True)
        if c.name in texts and len(types) > 1 and not types <= {int, float, _Long}
    ]
    notes += (*emptied(connection, out / "0.parquet", written.columns), *written.notes)
    notes += problem_notes({"types-mixed": [(name, written.rows) for name in mixed]})
    return replace(written, notes=notes)


class _Long(int):
    """The kind of integers that no float holds exactly."""


def _kind(value: Any) -> type:
    """The type by which a value of a record is written."""
    if type(value) is not int or abs(value) < 2**53:
        return type(value)
    return _Long if abs(value) < 2**63 else str


def _native(kinds: set[type]) -> tuple[str, Any, Callable[[Any], Any]]:
    import pyarrow as pa

    if kinds == {bool}:
        return "BOOLEAN", pa.bool_(), bool
    if kinds and kinds <= {int, _Long}:
        return "BIGINT", pa.int64(), int
    if kinds and kinds <= {int, float}:
        return "DOUBLE", pa.float64(), float
    return "text", pa.string(), describe


def _chunks(rows: Iterator[Flat]) -> Iterator[list[Flat]]:
    chunk: list[Flat] = []
    for row in rows:
        chunk.append(row)
        if len(chunk) >= _CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
