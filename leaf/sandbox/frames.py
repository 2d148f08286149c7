"""DataFrames to and from Parquet, and DuckDB over both, in the confined child that runs Python."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

BATCH = 200_000
"""Rows written at a time."""
EXACT = 2**53
"""Integers up to here are all floats."""


def warm_up() -> None:
    """Import what every DataFrame needs and use it once."""
    import io

    import numpy as np
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    buffer = io.BytesIO()
    frame = pd.DataFrame({"a": np.arange(3), "b": ["x", "y", "z"]})
    pq.write_table(pa.Table.from_pandas(frame), buffer, compression="zstd")
    pq.read_table(buffer).to_pandas()
    frame.groupby("b")["a"].sum().sort_values().to_frame()
    repr(frame)


def is_frame(value: Any) -> bool:
    import pandas as pd

    return isinstance(value, pd.DataFrame)


def as_frame(value: Any) -> Any:
    """A DataFrame or Series as a DataFrame whose index, if it says something, is a column; None for
    anything else."""
    import pandas as pd

    if isinstance(value, pd.Series):
        value = value.to_frame(value.name if value.name is not None else "value")
    if not isinstance(value, pd.DataFrame):
        return None
    index = value.index
    if isinstance(index, pd.RangeIndex) and index.name is None:
        return value
    names = [
        str(n) if n is not None else ("index" if index.nlevels == 1 else f"level_{i}")
        for i, n in enumerate(index.names)
    ]
    taken = {_column_name(c) for c in value.columns}
    return value.reset_index(
        names=[n if n not in taken else f"{n}_index" for n in names], allow_duplicates=True
    )


def read(table: Mapping[str, str]) -> Any:
    """A table of the chat (its path and view) as a DataFrame of its own: dates as datetimes,
    decimals as floats."""
    if table["view"]:
        return query(_at(table["view"], table["path"]), {}, {})
    import pyarrow.parquet as pq

    return _from_arrow(pq.read_table(table["path"], use_threads=False))


def write(frame: Any, path: Path) -> list[str]:
    """Write a DataFrame as Parquet; what had to be changed for that, in words. Raises OSError when
    the file grows too large."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    frame = frame.set_axis(_unique([_column_name(c) for c in frame.columns]), axis=1)
    notes = []
    if not len(frame.columns):
        raise ValueError("a DataFrame without columns cannot be kept as a result")
    schema_of = frame.head(1_000_000)
    mixed = [name for name in frame.columns if not _fits(schema_of[name], pa)]
    if mixed:
        frame = frame.assign(**{name: frame[name].map(_as_text) for name in mixed})
        notes.append(f"Kept as text, since it mixes types: {', '.join(mixed[:10])}.")
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False, nthreads=1)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        frame = frame.map(_as_text)
        notes.append("Kept as text, since it mixes types.")
        table = pa.Table.from_pandas(frame, preserve_index=False, nthreads=1)
    pq.write_table(
        table.replace_schema_metadata(None), path, compression="zstd", row_group_size=BATCH
    )
    return notes


def query(sql: str, tables: Mapping[str, Mapping[str, str]], own: Mapping[str, Any]) -> Any:
    """Rows of a query over tables (name -> path and views) and DataFrames, as a DataFrame."""
    import duckdb

    with duckdb.connect(":memory:", config={"threads": 2, "memory_limit": "1GB"}) as con:
        con.execute("SET python_enable_replacements = false")
        numbered = re.search(r"\b_row\b", sql) is not None
        for name, table in tables.items():
            view = (
                (numbered and table["numbered"])
                or table["view"]
                or "FROM read_parquet('{path}', hive_partitioning = false)"
            )
            con.execute(f"CREATE VIEW {_quoted(name)} AS {_at(view, table['path'])}")
        for name, frame in own.items():
            if name not in tables:
                con.register(name, frame)
        return _from_arrow(con.sql(sql).to_arrow_table())


def _from_arrow(table: Any) -> Any:
    import pyarrow as pa

    for number, field in enumerate(table.schema):
        if pa.types.is_decimal(field.type):
            table = table.set_column(number, field.name, _number(table.column(number), pa))
    frame = table.to_pandas(date_as_object=False, use_threads=False)
    for number, column in enumerate(table.columns):
        if pa.types.is_integer(column.type) and column.null_count and _is_beyond(column):
            frame.isetitem(number, _whole(column))
    return frame


def _number(column: Any, pa: Any) -> Any:
    """Decimals as floats; sums of integers, which DuckDB gives as decimals, as integers where a
    float would not hold them."""
    if column.type.scale == 0:
        with suppress(pa.ArrowInvalid):
            whole = column.cast(pa.int64())
            return whole if _is_beyond(whole) else column.cast(pa.float64())
    return column.cast(pa.float64())


def _is_beyond(column: Any) -> bool:
    """Whether a float cannot hold all of these integers, so that two would become one."""
    import pyarrow.compute as pc

    ends = pc.min_max(column).as_py()
    return any(end is not None and abs(end) > EXACT for end in ends.values())


def _whole(column: Any) -> Any:
    """Integers of which some are missing, and which stay integers."""
    import pandas as pd

    kind = "UInt64" if str(column.type).startswith("u") else "Int64"
    return pd.array(column.to_pylist(), dtype=kind)


def _as_text(value: Any) -> str | None:
    """A value of a column that mixes types; what is missing stays so."""
    import pandas as pd

    missing = value is None or (pd.api.types.is_scalar(value) and pd.isna(value))
    return None if missing else str(value)


def _fits(column: Any, pa: Any) -> bool:
    """Whether Arrow takes the column as it is."""
    if column.dtype != object:
        return True
    try:
        pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return False
    return True


def _column_name(column: Any) -> str:
    """A column's name as text; the levels of a tuple joined."""
    text = (
        "_".join(str(part) for part in column if str(part))
        if isinstance(column, tuple)
        else str(column)
    )
    return text or "column"


def _unique(names: list[str]) -> list[str]:
    taken: set[str] = set()
    unique = []
    for name in names:
        candidate, number = name, 1
        while candidate.lower() in taken:
            number += 1
            candidate = f"{name}_{number}"
        taken.add(candidate.lower())
        unique.append(candidate)
    return unique


def _at(view: str, path: str) -> str:
    return view.replace("'{path}'", "'" + path.replace("'", "''") + "'")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
