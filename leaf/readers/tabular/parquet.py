"""Parquet files: already tables, so that they are copied as they are unless their columns hold
lists or records."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from leaf.errors import UnreadableFileError
from leaf.readers.base import Note, Outline, Passage, TableInfo, Where
from leaf.readers.tabular.cells import unique_names
from leaf.readers.tabular.integrity import examine_records
from leaf.readers.tabular.nans import emptied
from leaf.readers.tabular.sql import connect, copy, identifier, opened, parquet_rows
from leaf.readers.tabular.typed import TypedSource, plain, write
from leaf.readers.tabular.values import describe

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq

_NESTED = ("STRUCT", "MAP", "UNION")

_AT_ONCE = 256_000_000
"""Bytes, unpacked, of a group of rows whose columns are read together."""

_NOTHING = '"NULL"'
"""The type of a column without a value and without a type."""


class ParquetReader:
    """Apache Parquet."""

    def outline(self, path: Path) -> Outline:
        """From the file's own metadata; no data is read."""
        names, rows, size = _described(path)
        media_type = "application/vnd.apache.parquet"
        return Outline("parquet", media_type, rows=rows, columns=len(names), tokens=int(size / 2.5))

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        """One passage a row; row groups before the first one asked for are not read."""
        left, right = where.columns or (1, 1 << 30)
        header = ""
        for before, batch in _batches(path, int(where.first)):
            names = batch.schema.names
            if not header:
                header = f"[columns: {' | '.join(names[left - 1 : right])}]\n"
                shown = header
            columns = [plain(batch.column(i)) for i in range(left - 1, min(right, len(names)))]
            for number, cells in enumerate(zip(*columns, strict=True), before + 1):
                if where.last is not None and number > where.last:
                    return
                if number >= where.first:
                    yield Passage(shown + " | ".join(describe(c) for c in cells), "row", number)
                    shown = ""

    def tables(self, path: Path, out: Path) -> list[TableInfo]:
        """The file itself, or a copy with nested values as JSON text and column names made
        unique; rows of totals are marked."""
        with connect(out) as connection:
            return [examine_records(connection, out, self._written(connection, path, out))]

    def _written(self, connection: duckdb.DuckDBPyConnection, path: Path, out: Path) -> TableInfo:
        import duckdb

        target = out / "0.parquet"
        source = parquet_rows(path)
        raw_names, count, _ = _described(path)
        by_arrow = TypedSource("", tuple(raw_names), count, lambda: _read(path))
        if _has_durations(path):
            return write(connection, by_arrow, target)
        try:
            described = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
            names, _, repeated = unique_names(raw_names)
            nested = {
                name
                for name, kind, *_ in described
                if kind.endswith("[]") or kind.startswith(_NESTED) or "]" in kind
            }
            empty = {name for name, kind, *_ in described if kind == _NOTHING}
            plain = (
                not nested and not empty and list(names) == raw_names == [d[0] for d in described]
            )
            if plain and not _misdescribed(path):
                # a page that is damaged would else be found by each query anew
                connection.execute(f"SELECT max(hash(COLUMNS(*))) FROM {source}").fetchall()
                out.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
            else:
                parts = [
                    f"{_value(d[0], d[0] in nested, d[0] in empty)} AS {identifier(n)}"
                    for d, n in zip(described, names, strict=True)
                ]
                count = copy(connection, f"SELECT {', '.join(parts)} FROM {source}", target)
            columns = tuple(
                (n, "VARCHAR" if d[0] in nested | empty else str(d[1]))
                for d, n in zip(described, names, strict=True)
            )
            empties = emptied(connection, target, columns)
        except duckdb.Error:
            # Few files are read by the one library and not by the other; maps without values
            # are.
            return write(connection, by_arrow, target)
        notes = (*_notes(len(nested), repeated), *empties)
        return TableInfo(target.name, "", f"rows 1-{count}", count, columns, notes=notes)


def _notes(nested: int, repeated: int) -> Iterator[Note]:
    """What was changed, by the number of columns."""
    if nested:
        text = f"Lists and records in {nested} columns were turned into JSON text."
        yield Note("nested", text, nested)
    if repeated:
        text = f"{repeated} column names are repeated; a number was added to each."
        yield Note("names-repeated", text, repeated)


def _described(path: Path) -> tuple[list[str], int, int]:
    """Names of the columns, rows, and bytes unpacked. Some files are read by one of Arrow and
    DuckDB only."""
    import duckdb

    try:
        with _opened(path) as file:
            meta = file.metadata
            size = sum(meta.row_group(i).total_byte_size for i in range(meta.num_row_groups))
            return list(file.schema_arrow.names), int(meta.num_rows), size
    except UnreadableFileError:
        with opened() as connection:
            try:
                relation = connection.sql(f"FROM {parquet_rows(path)}")
                return list(relation.columns), len(relation), path.stat().st_size
            except duckdb.Error as e:
                raise _damaged() from e


def _batches(path: Path, first: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Batches from the one that holds row `first` on, each with the number of rows before it."""
    try:
        yield from _by_arrow(path, first)
    except _UnopenedError:
        yield from _by_duckdb(path)


def _by_duckdb(path: Path) -> Iterator[tuple[int, pa.RecordBatch]]:
    import duckdb

    number = 0
    with opened() as connection:
        try:
            for batch in connection.sql(f"FROM {parquet_rows(path)}").to_arrow_reader(1_000):
                yield number, batch
                number += batch.num_rows
        except duckdb.Error as e:
            raise _damaged() from e


def _by_arrow(path: Path, first: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    with _opened(path) as file:
        number, group = 0, 0
        while (
            group < file.num_row_groups and number + file.metadata.row_group(group).num_rows < first
        ):
            number += file.metadata.row_group(group).num_rows
            group += 1
        for batch in file.iter_batches(1_000, row_groups=list(range(group, file.num_row_groups))):
            if number + batch.num_rows >= first:
                yield number, batch
            number += batch.num_rows


def _read(path: Path) -> Iterator[pa.RecordBatch]:
    return (batch for _, batch in _batches(path, 1))


def _value(column: str, nested: bool, empty: bool) -> str:
    if nested:
        return f"CAST(to_json({identifier(column)}) AS VARCHAR)"
    return f"CAST({identifier(column)} AS VARCHAR)" if empty else identifier(column)


def _has_durations(path: Path) -> bool:
    """Whether Arrow's own notes in the file call some integers durations, which Parquet itself does
    not know."""
    import pyarrow as pa

    try:
        with _opened(path) as file:
            return any(pa.types.is_duration(field.type) for field in file.schema_arrow)
    except UnreadableFileError:
        return False


def _misdescribed(path: Path) -> bool:
    """Whether what a file says of the values of some columns contradicts them. DuckDB trusts it: a
    query would pass over rows that it asks for, or fail."""
    try:
        with _opened(path) as file:
            names = file.schema_arrow.names
            for number in range(file.num_row_groups):
                group = file.metadata.row_group(number)
                by_itself = group.total_byte_size > _AT_ONCE
                for some in [[name] for name in names] if by_itself else [names]:
                    values = file.read_row_group(number, columns=some)
                    for name in some:
                        statistics = group.column(names.index(name)).statistics
                        if statistics is not None and _contradicts(statistics, values.column(name)):
                            return True
            return False
    except UnreadableFileError:
        return True  # DuckDB alone reads it, and nobody can tell


def _contradicts(statistics: pq.Statistics, values: pa.ChunkedArray) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    if statistics.has_null_count and statistics.null_count != values.null_count:
        return True
    if not statistics.has_min_max:
        return False
    kind = values.type
    try:
        if pa.types.is_dictionary(kind):
            values = values.cast(kind.value_type)
        extremes = pc.min_max(values)
        if not extremes["min"].is_valid or pa.types.is_boolean(kind):
            return False
        low, high = (pa.scalar(bound, kind) for bound in (statistics.min, statistics.max))
        fits = pc.and_(
            pc.less_equal(low, extremes["min"]), pc.greater_equal(high, extremes["max"])
        ).as_py()
    except pa.ArrowNotImplementedError:
        return False  # a type that has no order here; DuckDB prunes by none of these either
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError, OverflowError):
        return True  # no value of the column's type
    return not fits


def _damaged() -> UnreadableFileError:
    return UnreadableFileError(
        "This file is no readable Parquet file.",
        "It may be cut short or encrypted: export it again.",
    )


@contextmanager
def _opened(path: Path) -> Iterator[pq.ParquetFile]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
        file.schema_arrow  # noqa: B018  Arrow looks at it when it is asked for
    except (pa.ArrowException, OSError) as e:
        raise _UnopenedError(*_damaged().args) from e
    try:
        with file:
            yield file
    except (pa.ArrowException, OSError) as e:
        raise _damaged() from e


class _UnopenedError(UnreadableFileError):
    """Arrow takes nothing of the file, so that another reader may begin anew."""
