"""What readers of files with typed tables share: Arrow, databases, files of statistics programs.

Their tables come as Arrow batches whose types the file itself gives; here they become Parquet, rows
to read, and an outline.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from leaf.errors import InvalidInputError, UnreadableFileError, not_found
from leaf.readers.base import Note, Outline, Passage, TableInfo, Where
from leaf.readers.tabular.cells import unique_names
from leaf.readers.tabular.integrity import examine_records
from leaf.readers.tabular.nans import emptied
from leaf.readers.tabular.sql import connect, copy, identifier, opened
from leaf.readers.tabular.values import describe

if TYPE_CHECKING:
    import pyarrow as pa

_SAMPLE = 200
"""Rows whose text tells how long all rows are."""
_IN_A_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@dataclass(frozen=True)
class TypedSource:
    """One table of a file, not read yet."""

    name: str
    """Name of the table in its file; empty where the file is the table."""
    columns: tuple[str, ...]
    rows: int
    batches: Callable[[], Iterator[pa.RecordBatch]]
    """All rows in order. Types may not change between batches."""
    notes: tuple[Note, ...] = ()


class TypedReader(ABC):
    """A format whose tables have types of their own. A subclass opens the file and lists its
    tables."""

    kind: ClassVar[str]
    media_type: ClassVar[str]

    @abstractmethod
    def sources(self, path: Path) -> list[TypedSource]:
        """The tables of a file, in its order. Raises UnreadableFileError."""

    def outline(self, path: Path) -> Outline:
        """Counts from the file's own description, and tokens from a sample of rows."""
        sources = self.sources(path)
        largest = max(sources, key=lambda s: s.rows)
        names = tuple(s.name for s in sources) if len(sources) > 1 else ()
        notes = tuple(note for s in sources for note in s.notes)
        tokens = sum(_characters(s) for s in sources) / 2.5
        return Outline(
            self.kind,
            self.media_type,
            sheets=names,
            rows=largest.rows,
            columns=len(largest.columns),
            tokens=int(tokens),
            notes=notes,
        )

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        """One passage a row, of the table asked for or of all."""
        sources = self.sources(path)
        chosen = (
            [s for s in sources if s.name.casefold() == where.sheet.casefold()]
            if where.sheet
            else sources
        )
        if not chosen:
            raise not_found("table", where.sheet, [s.name for s in sources], "this file")
        for source in chosen[: 1 if where.first > 1 or where.last else None]:
            yield from _rows(source, where)

    def tables(self, path: Path, out: Path) -> list[TableInfo]:
        """Every table as Parquet, lists and records as JSON text."""
        infos = []
        with connect(out) as connection:
            for number, source in enumerate(self.sources(path)):
                info = write(connection, source, out / f"{number}.parquet")
                infos.append(examine_records(connection, out, info))
        return infos


def damaged(what: str, hint: str = "It may be cut short: export it again.") -> UnreadableFileError:
    """The error for a file that is not what it begins as."""
    return UnreadableFileError(f"This file is no readable {what}.", hint)


def _rows(source: TypedSource, where: Where) -> Iterator[Passage]:
    left, right = where.columns or (1, len(source.columns))
    if left > len(source.columns):
        raise InvalidInputError(
            f"The table has {len(source.columns)} columns.", "Ask for columns that it has."
        )
    header = f"[columns: {' | '.join(source.columns[left - 1 : right])}]\n"
    number = 0
    for batch in source.batches():
        if number + batch.num_rows < where.first:
            number += batch.num_rows
            continue
        columns = [plain(batch.column(i)) for i in range(left - 1, min(right, batch.num_columns))]
        for cells in zip(*columns, strict=True):
            number += 1
            if where.last is not None and number > where.last:
                return
            if number >= where.first:
                yield Passage(
                    header + " | ".join(describe(c) for c in cells), "row", number, source.name
                )
                header = ""


def plain(column: pa.Array) -> list[Any]:
    """Python values of a column; as text where Python has none, as for the year 20000."""
    import pyarrow as pa

    if pa.types.is_interval(column.type):
        with closing(opened()) as connection:
            connection.register("t", pa.table({"x": column}))
            return [
                text
                for (text,) in connection.execute("SELECT CAST(x AS VARCHAR) FROM t").fetchall()
            ]
    try:
        return list(_presentable(column).to_pylist())
    except UnicodeDecodeError:
        return _replaced(column)
    except (OverflowError, ValueError):
        if not _is_nested(column.type):
            return list(column.cast(pa.string()).to_pylist())
    with closing(opened()) as connection:
        connection.register("t", pa.table({"x": column}))
        return [
            text
            for (text,) in connection.execute(
                "SELECT CAST(to_json(x) AS VARCHAR) FROM t"
            ).fetchall()
        ]


def _replaced(column: pa.Array) -> list[Any]:
    """Texts that are not the UTF-8 which their column says, what fits none replaced. Raises
    UnreadableFileError for such texts inside lists and records."""
    import pyarrow as pa

    if _is_nested(column.type):
        raise UnreadableFileError(
            "Texts in lists or records of this file are not UTF-8.", "Export it again."
        )
    raw = column.cast(pa.large_binary()).to_pylist()
    return [None if text is None else text.decode("utf-8", "replace") for text in raw]


def _presentable(column: pa.Array) -> pa.Array:
    """Times of nanoseconds as microseconds: Python has no finer ones."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return column.cast(pa.timestamp("us", kind.tz), safe=False)
    if pa.types.is_time(kind) and kind.unit == "ns":
        return column.cast(pa.time64("us"), safe=False)
    if pa.types.is_duration(kind):
        return column.cast(pa.duration("us"), safe=False)
    return column


def _characters(source: TypedSource) -> float:
    """About how many characters all rows have, from the first ones."""
    length = count = 0
    for passage in _rows(source, Where(last=_SAMPLE)):
        length += len(passage.text) + 1
        count += 1
    return length / count * source.rows if count else 0.0


def write(connection: Any, source: TypedSource, target: Path) -> TableInfo:
    """A table as Parquet. Raises UnreadableFileError."""
    import duckdb
    import pyarrow as pa

    batches = source.batches()
    first = next(batches, None)
    schema = (
        first.schema
        if first is not None
        else pa.schema([(name, pa.string()) for name in source.columns])
    )
    names, _, repeated = unique_names(source.columns)
    flat = pa.schema(
        [(name, _plain_type(field.type)) for name, field in zip(names, schema, strict=True)]
    )
    nested = [name for name, field in zip(names, schema, strict=True) if _is_nested(field.type)]
    reader = pa.RecordBatchReader.from_batches(flat, _flattened(first, batches, flat))
    connection.register("source", reader)
    try:
        columns = ", ".join(
            f"CAST(to_json({identifier(n)}) AS VARCHAR) AS {identifier(n)}"
            if n in nested
            else identifier(n)
            for n in names
        )
        count = copy(connection, f"SELECT {columns} FROM source", target)
        written = connection.execute(
            "DESCRIBE SELECT * FROM read_parquet($path, hive_partitioning = false)",
            {"path": str(target)},
        ).fetchall()
        described = tuple((str(name), str(kind)) for name, kind, *_ in written)
        notes = [*source.notes, *emptied(connection, target, described)]
    except (duckdb.Error, pa.ArrowException) as e:
        raise UnreadableFileError(
            f"The table {source.name or 'of this file'} cannot be read whole.",
            "It may be damaged: export it again.",
        ) from e
    finally:
        connection.unregister("source")
    lasting = [
        name for name, field in zip(names, schema, strict=True) if pa.types.is_duration(field.type)
    ]
    if lasting:
        named = ", ".join(f"'{name}'" for name in lasting[:6])
        notes.append(Note("durations", f"Durations in {named} were read as seconds.", len(lasting)))
    if nested:
        text = f"Lists and records in {len(nested)} columns were turned into JSON text."
        notes.append(Note("nested", text, len(nested)))
    if repeated:
        text = f"{repeated} column names are repeated; a number was added to each."
        notes.append(Note("names-repeated", text, repeated))
    return TableInfo(
        target.name, source.name, f"rows 1-{count}", count, described, notes=tuple(notes)
    )


def _flattened(
    first: pa.RecordBatch | None, rest: Iterator[pa.RecordBatch], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for batch in chain([first] if first is not None else [], rest):
        batch.validate(full=True)  # what is no UTF-8 could be written and never be read
        yield pa.record_batch(
            [_as(batch.column(i), f.type) for i, f in enumerate(schema)], schema=schema
        )


def _as(column: pa.Array, kind: pa.DataType) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.type == kind:
        return column
    if pa.types.is_duration(column.type):
        counted = column.cast(pa.int64()).cast(pa.float64(), safe=False)
        return pc.divide(counted, float(_IN_A_SECOND[column.type.unit]))
    if pa.types.is_dictionary(column.type):
        words = _as(column.dictionary, kind)
        return pa.DictionaryArray.from_arrays(column.indices, words).dictionary_decode()
    if pa.types.is_run_end_encoded(column.type):
        return _as(pc.run_end_decode(column), kind)
    if pa.types.is_string(kind) and not pa.types.is_string_view(column.type):
        return pa.array([None if v is None else str(v) for v in plain(column)], kind)
    return column.cast(kind, safe=False)


def _is_nested(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_nested(kind))


def _plain_type(kind: pa.DataType) -> pa.DataType:
    """The type that a column is kept in: what DuckDB and Parquet have none for becomes the nearest,
    else text."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return _plain_type(kind.value_type)
    if types.is_string_view(kind) or types.is_binary_view(kind):
        return pa.string() if types.is_string_view(kind) else pa.binary()
    if isinstance(kind, pa.ExtensionType):
        return _plain_type(kind.storage_type)
    if types.is_float16(kind):
        return pa.float32()
    if types.is_null(kind) or types.is_interval(kind) or types.is_decimal256(kind):
        return pa.string()
    if types.is_duration(kind):
        return pa.float64()
    return kind
