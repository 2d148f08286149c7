"""DataFrames to and from Parquet, and DuckDB over both, in the confined child that runs Python."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

BATCH = 200_000
"""Rows written at a time."""
ALL_ROWS = 2**40
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

    frame = _dense(frame.set_axis(_unique([_column_name(c) for c in frame.columns]), axis=1))
    notes = []
    if not len(frame.columns):
        raise ValueError("a DataFrame without columns cannot be kept as a result")
    kinds = {name: _kind(frame[name], pa) for name in frame.columns}
    mixed = [name for name, kind in kinds.items() if kind is None]
    spans = [n for n, k in kinds.items() if k is not None and not _is_plain(k, pa)]
    if mixed or spans:
        frame = frame.assign(**{name: _texts(frame[name]) for name in (*mixed, *spans)})
    if mixed:
        notes.append(f"Kept as text, since it mixes types: {', '.join(mixed[:10])}.")
    if spans:
        notes.append(f"Kept as text: {', '.join(spans[:10])}.")
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
        # or it takes the type of a column of objects from a few of them: behind 1 it read 2.5 as 2
        con.execute(f"SET pandas_analyze_sample = {ALL_ROWS}")
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
                con.register(name, _registered(frame))
        return _from_arrow(con.sql(sql).to_arrow_table())


def is_same(frame: Any, other: Any) -> bool:
    """Whether a query sees the same rows in both. Columns that share their memory are not looked
    through."""
    return (
        frame.shape == other.shape
        and list(frame.columns) == list(other.columns)
        and all(_is_same(frame.iloc[:, i], other.iloc[:, i]) for i in range(frame.shape[1]))
    )


def _is_same(column: Any, other: Any) -> bool:
    if column.dtype != other.dtype:
        return False
    ends = [c.to_numpy()[:1].__array_interface__["data"] for c in (column, other) if _is_numpy(c)]
    shared = ends[0] == ends[1] if ends else column.array is other.array
    return shared or bool(column.reset_index(drop=True).equals(other.reset_index(drop=True)))


def _is_numpy(column: Any) -> bool:
    import numpy as np

    return isinstance(column.dtype, np.dtype)


def _registered(frame: Any) -> Any:
    """A DataFrame of the code as DuckDB takes it: months, bins and complex numbers as text."""
    frame = _dense(frame).copy(deep=False)
    for number, kind in enumerate(frame.dtypes):
        if _is_odd(kind):
            frame.isetitem(number, _texts(frame.iloc[:, number]))
    return frame


def _is_odd(kind: Any) -> bool:
    import pandas as pd

    kind = kind.categories.dtype if isinstance(kind, pd.CategoricalDtype) else kind
    return isinstance(kind, pd.PeriodDtype | pd.IntervalDtype) or kind.kind == "c"


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


def _texts(column: Any) -> Any:
    """A column as text, which is no category any more."""
    return column.astype(object).map(_as_text)


def _dense(frame: Any) -> Any:
    """Columns that hold little as others do."""
    import pandas as pd

    sparse = [i for i, kind in enumerate(frame.dtypes) if isinstance(kind, pd.SparseDtype)]
    dense = frame.copy(deep=False) if sparse else frame
    for number in sparse:
        dense.isetitem(number, frame.iloc[:, number].sparse.to_dense())
    return dense


def _kind(column: Any, pa: Any) -> Any:
    """What Arrow takes the column for; None where it does not take it."""
    column = column.head(1_000_000 if column.dtype == object else 1)
    try:
        kind = pa.array(column, from_pandas=True).type
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return None
    # behind a day it takes the day of a moment
    return None if pa.types.is_date(kind) and any(map(_is_moment, column)) else kind


def _is_moment(value: Any) -> bool:
    return isinstance(value, datetime) and value == value  # NaT is one, too, and none


def _is_plain(kind: Any, pa: Any) -> bool:
    """Whether a Parquet file tells what a value is. Of a month, a bin or a duration others would
    read the bare numbers that stand for it."""
    if isinstance(kind, pa.BaseExtensionType) or pa.types.is_duration(kind):
        return False
    if pa.types.is_interval(kind) or (pa.types.is_struct(kind) and not kind.num_fields):
        return False
    if pa.types.is_dictionary(kind):
        return _is_plain(kind.value_type, pa)
    return all(_is_plain(kind.field(i).type, pa) for i in range(kind.num_fields))


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
