"""What a table holds without its rows, found in the confined child: `profile` is called by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leaf.tables import texts
from leaf.tables.connection import connect
from leaf.tables.rows import data_rows
from leaf.tables.sql import is_number, quoted
from leaf.tables.values import Cells, is_text_only, projection, type_name

Json = dict[str, Any]

EXACT_ROWS = 1_000_000
"""Up to here distinct values are counted exactly, above they are estimated."""
EXACT_QUARTILES = 20_000_000
"""Rows up to which quartiles are exact: a column of 20 million takes 3 s and 0.5 GB, and an
estimate no less time."""
EXACT_CELLS = 400_000_000
"""Values up to which they are, over all columns: about a minute."""
QUARTILES = (0.25, 0.5, 0.75)
MEASURES = 6
"""Figures of a column that are made in one pass: see `_measures`."""
NONE = "NULL"
"""The figure of a column that has none."""
TOP = 5
TOP_DISTINCT = 10_000
"""Most frequent values are looked for where a column has at most so many different ones."""
MAX_PROFILED = 200
"""Columns that are profiled; the rest is counted."""


def profile(parquet: str, seconds: float, memory_mb: int, mark: Json | None = None) -> Json:
    """Of rows of data: count; per column its type, nulls, distinct values, range, mean, standard
    deviation, quartiles or most frequent values, and the SQL that reads dates which stayed text;
    five samples. Above a million rows distinct values are estimated (`approximate`), far above that
    quartiles (`estimated`).
    """
    con = connect([parquet], seconds, memory_mb)
    con.execute(f"CREATE VIEW whole AS {data_rows(parquet, mark or {}, False)}")
    whole = con.sql("FROM whole")
    chosen = [
        (name, type_name(kind)) for name, kind in zip(whole.columns, whole.types, strict=True)
    ][:MAX_PROFILED]
    # A view of thousands of columns takes half a second whenever it is named.
    narrow = "TABLE" if len(whole.columns) > len(chosen) else "VIEW"
    con.execute(
        f"CREATE {narrow} t AS SELECT {', '.join(quoted(name) for name, _ in chosen)} FROM whole"
    )
    rows = con.sql("SELECT count(*) FROM t").fetchall()[0][0]
    exact = rows <= EXACT_ROWS
    cells = Cells()
    groups = [chosen[i : i + 20] for i in range(0, len(chosen), 20)]
    cut = (
        "approx_quantile"
        if rows > EXACT_QUARTILES
        or rows * sum(_has_order(kind) for _, kind in chosen) > EXACT_CELLS
        else ""
    )
    profiles = [
        p for group in groups for p in _profile_columns(con, group, rows, exact, cut, cells)
    ]
    sample = con.sql("FROM t LIMIT 5").project(
        projection([n for n, _ in chosen], [k for _, k in chosen])
    )
    shown = cells.rows(sample.to_arrow_reader(5).read_all())
    omitted = len(whole.columns) - len(chosen)
    return {
        "rows": rows,
        "columns": profiles,
        "sample": shown,
        "approximate": not exact,
        "estimated": bool(cut),
        "omitted": omitted,
    }


def _profile_columns(
    con: Any,
    columns: Sequence[tuple[str, str]],
    rows: int,
    exact: bool,
    estimate: str,
    cells: Cells,
) -> list[Json]:
    """Profiles of a few columns in one pass over them, one more for quartiles, of large tables a
    pass for each column, and one for the frequent values of each that has some.
    """
    measures = ", ".join(_measures(name, kind, exact) for name, kind in columns)
    values = cells.rows(con.sql(f"SELECT {measures} FROM t").to_arrow_reader(1).read_all())[0]
    cuts = [_quartiles(name, kind, estimate) for name, kind in columns]
    parts = (
        [cuts] if exact else [[cut] for cut in cuts]
    )  # quartiles hold every value of their column
    halves = [value for part in parts for value in _halves(con, part, cells)]
    profiles = []
    for index, (name, kind) in enumerate(columns):
        filled, distinct, low, high, mean, std = values[index * MEASURES : (index + 1) * MEASURES]
        repeated = (
            not is_number(kind) and 0 < distinct <= TOP_DISTINCT and distinct < max(filled, 2)
        )
        profile: Json = {
            "name": name,
            "type": kind,
            "nulls": rows - filled,
            "distinct": distinct,
            "min": low,
            "max": high,
        }
        profile |= {"mean": mean, "std": std, "quartiles": halves[index] or []}
        written = texts.dates_in(con, "t", name) if kind == "VARCHAR" else ""
        profiles.append(
            {**profile, "top": _top(con, name, kind, cells) if repeated else [], "cast": written}
        )
    return profiles


def _halves(con: Any, cuts: Sequence[str], cells: Cells) -> Sequence[Any]:
    """The quartiles of some columns. Where none has any, a statement would give a row for each of
    the table's, and of an empty table none."""
    if all(cut == NONE for cut in cuts):
        return [None] * len(cuts)
    table = con.sql(f"SELECT {', '.join(cuts)} FROM t").to_arrow_reader(1).read_all()
    return cells.rows(table)[0]


def _measures(name: str, kind: str, exact: bool) -> str:
    """Filled cells, distinct values, least, greatest, mean, standard deviation: NULL where the type
    has none."""
    column = quoted(name)
    distinct = f"count(DISTINCT {column})" if exact else f"approx_count_distinct({column})"
    low_high = f"min({column}), max({column})" if _has_order(kind) else "NULL, NULL"
    if is_number(kind):
        finite = f"FILTER (isfinite(CAST({column} AS DOUBLE)))"
        number = f"CAST({column} AS DOUBLE)"
        return (
            f"count({column}), {distinct}, {low_high}, avg({column}) {finite}, "
            f"stddev_samp({number}) {finite}"
        )
    return f"count({column}), {distinct}, {low_high}, NULL, NULL"


def _quartiles(name: str, kind: str, estimate: str) -> str:
    """A list of three, exact unless `estimate` names the function for it; NULL where the type has
    none.

    Of numbers they lie between two values where they have to, as in pandas; those of dates are
    values of the column.
    """
    column, parts = quoted(name), list(QUARTILES)
    if is_number(kind):
        number = f"CAST({column} AS DOUBLE)"
        return f"{estimate or 'quantile_cont'}({number}, {parts}) FILTER (isfinite({number}))"
    # DuckDB estimates the quartiles of days and moments alone.
    known = _has_order(kind) and (
        not estimate or kind in ("DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE")
    )
    return f"{estimate or 'quantile_disc'}({column}, {parts})" if known else NONE


def _has_order(kind: str) -> bool:
    """Whether there are a least and a greatest value, and quartiles."""
    return is_number(kind) or kind.startswith(("DATE", "TIME"))


def _top(con: Any, name: str, kind: str, cells: Cells) -> list[list[Any]]:
    """The most frequent values and how often each occurs."""
    value = f"CAST({quoted(name)} AS VARCHAR)" if is_text_only(kind) else quoted(name)
    counts = (
        f"SELECT {value}, count(*) FROM t WHERE {quoted(name)} IS NOT NULL GROUP BY 1 ORDER "
        f"BY 2 DESC, 1 LIMIT {TOP}"
    )
    return cells.rows(con.sql(counts).to_arrow_reader(TOP).read_all())
