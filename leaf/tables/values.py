"""Rows on their way out of DuckDB: whole into Parquet, the first of them as plain JSON."""

from __future__ import annotations

import datetime
import decimal
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from leaf.tables.sql import quoted

SHOWN_ROWS = 200
"""Rows of a query's result that go to the caller; the whole of it goes to a file."""
CELL = 500
"""Characters of one cell that are shown."""
BATCH = 122_880
"""Rows written at a time: DuckDB's own row group."""
TEXT_ONLY = re.compile(
    r"\b(?:INTERVAL|BIT|BIGNUM|VARINT|TIME WITH TIME ZONE|TIMETZ|TIME_NS|UHUGEINT|UNION|VARIANT"
    r"|GEOMETRY)\b"
)
"""Types that Parquet lacks; of the whole numbers the one that has no room in its decimals."""
NAMED = re.compile(r"\"(?:[^\"]|\"\")*\"|'(?:[^']|'')*'")
"""Names within a type: of a record's fields, of what an ENUM may be."""


def unique(columns: Sequence[str]) -> list[str]:
    """Column names with repeated ones numbered, since a Parquet file needs each once."""
    taken: set[str] = set()
    names = []
    for column in columns:
        name, number = column, 1
        while name.lower() in taken:
            number += 1
            name = f"{column}_{number}"
        taken.add(name.lower())
        names.append(name)
    return names


def type_name(kind: Any) -> str:
    return str(kind).strip('"')


def is_text_only(kind: str) -> bool:
    """Whether Parquet lacks a type, or one that a list or record is made of."""
    return TEXT_ONLY.search(NAMED.sub("", kind)) is not None


def projection(columns: Sequence[str], types: Sequence[str], at: Sequence[int] = ()) -> str:
    """Every column (those `at` the given places, from 1) under its unique name, as text where
    Parquet lacks the type."""
    places = at or range(1, len(columns) + 1)
    stored = (
        f"CAST(#{i} AS VARCHAR)" if is_text_only(kind) else f"#{i}"
        for i, kind in zip(places, types, strict=True)
    )
    return ", ".join(
        f"{value} AS {quoted(name)}" for value, name in zip(stored, columns, strict=True)
    )


def write(reader: Any, path: Path) -> tuple[list[list[Any]], int, int]:
    """Write all batches; give the first rows as plain values, the number of rows, and how many
    shown cells were cut."""
    import pyarrow.parquet as pq

    cells = Cells()
    rows: list[list[Any]] = []
    total = 0
    with pq.ParquetWriter(path, reader.schema, compression="zstd") as writer:
        for batch in reader:
            writer.write_batch(batch)
            if total < SHOWN_ROWS:
                rows += cells.rows(batch.slice(0, SHOWN_ROWS - total))
            total += batch.num_rows
    return rows, total, cells.clipped


class Cells:
    """Turns Arrow values into what JSON can hold, and counts the cells that it cut."""

    def __init__(self) -> None:
        self.clipped = 0

    def rows(self, batch: Any) -> list[list[Any]]:
        columns = [[self.plain(v) for v in values(column)] for column in batch.columns]
        return [list(row) for row in zip(*columns, strict=True)] if columns else []

    def plain(self, value: Any) -> Any:
        """NaN is null, an infinity its name, a time ISO text, a decimal a number, bytes their
        count."""
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float):
            return (
                value
                if math.isfinite(value)
                else None
                if math.isnan(value)
                else ("inf" if value > 0 else "-inf")
            )
        if isinstance(value, str):
            return self._clip(value)
        if isinstance(value, decimal.Decimal):
            return int(value) if value == value.to_integral_value() else float(value)
        if isinstance(value, datetime.date | datetime.time):
            return value.isoformat()
        if isinstance(value, bytes):
            return f"<{len(value)} bytes>"
        return self._nested(value)

    def _nested(self, value: Any) -> Any:
        """Lists and structs as they are while they are short, else as cut text."""
        if isinstance(value, Mapping):
            value = {str(k): self.plain(v) for k, v in value.items()}
        elif isinstance(value, Iterable):
            value = [self.plain(v) for v in value]
        else:
            return self._clip(str(value))
        text = str(value)
        return value if len(text) <= CELL else self._clip(text)

    def _clip(self, text: str) -> str:
        if len(text) <= CELL:
            return text
        self.clipped += 1
        return text[: CELL - 1] + "…"


def values(column: Any) -> list[Any]:
    """Python values of an Arrow column; dates that Python cannot hold come as text, and a number of
    32 bits has its own digits: 0.1 is not 0.10000000149011612."""
    import pyarrow as pa

    if pa.types.is_float32(column.type):
        return [None if v is None else float(v) for v in column.cast(pa.string()).to_pylist()]
    try:
        return list(column.to_pylist())
    except (OverflowError, ValueError):
        return [_value(column[i], pa) for i in range(len(column))]


def _value(scalar: Any, pa: Any) -> Any:
    try:
        return scalar.as_py()
    except (OverflowError, ValueError):
        kind = scalar.type
        if pa.types.is_struct(kind):
            return {field.name: _value(scalar[field.name], pa) for field in kind}
        if pa.types.is_map(kind):
            return [(_value(one[0], pa), _value(one[1], pa)) for one in scalar.values]
        if pa.types.is_nested(kind):
            return [_value(one, pa) for one in scalar.values]
        return _beyond(scalar, pa)


def _beyond(scalar: Any, pa: Any) -> str:
    """A day or moment outside of Python's years; DuckDB's infinities are the last numbers that
    there are."""
    is_day = pa.types.is_date32(scalar.type)
    number = scalar.cast(pa.int32() if is_day else pa.int64()).as_py()
    most = 2 ** (31 if is_day else 63) - 1
    if abs(number) >= most:
        return "infinity" if number > 0 else "-infinity"
    text = str(scalar.cast(pa.string()).as_py())
    return text if not text.startswith("<") else f"{number} days from 1970-01-01"
