"""What the app asks of Parquet files, as functions for the confined child: query, page, profile, export. Plain JSON in and out.

SQL of a model or a user runs only here. DuckDB's settings are the second wall; the process is the first.
"""

from __future__ import annotations

import datetime
import decimal
import math
import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leaf.errors import (
    LeafError,
    NotFoundError,
    QueryError,
    SandboxMemoryError,
    SandboxTimeoutError,
    UnreadableFileError,
    not_found,
)
from leaf.tables import dialects, meanings, texts
from leaf.tables.filters import condition
from leaf.tables.results import SIDE_BY_SIDE
from leaf.tables.sql import is_number, literal, quoted, without_semicolon, words
from leaf.tables.touched import read_columns

if TYPE_CHECKING:
    import duckdb

Json = dict[str, Any]

SHOWN_ROWS = 200
"""Rows of a query's result that go to the caller; the whole of it goes to a file."""
CELL = 500
"""Characters of one cell that are shown."""
BATCH = 122_880
"""Rows written at a time: DuckDB's own row group."""
EXACT_ROWS = 1_000_000
"""Up to here distinct values are counted exactly, above they are estimated."""
EXACT_QUARTILES = 20_000_000
"""Rows up to which quartiles are exact: a column of 20 million takes 3 s and 0.5 GB, and an estimate no less time."""
EXACT_CELLS = 400_000_000
"""Values up to which they are, over all columns: about a minute."""
MENDED_MOST = 40
"""Changes that are made to one statement before it is given up."""
QUARTILES = (0.25, 0.5, 0.75)
MEASURES = 6
"""Figures of a column that are made in one pass: see `_measures`."""
TOP = 5
TOP_DISTINCT = 10_000
"""Most frequent values are looked for where a column has at most so many different ones."""
READING_ONLY = "Only reading is possible here: one SELECT, WITH, FROM, VALUES, DESCRIBE, SUMMARIZE, SHOW or PIVOT."
TEXT_ONLY = ("INTERVAL", "BIT", "BIGNUM", "VARINT", "TIME WITH TIME ZONE", "TIMETZ", "TIME_NS", "UNION", "VARIANT", "GEOMETRY")
"""Types that Parquet lacks, written as text; beginnings of DuckDB's names."""
MAX_PROFILED = 200
"""Columns that are profiled; the rest is counted."""
CHANGING = {"insert", "update", "delete", "merge", "copy"}
ALL = "__all"
"""Behind a table's name: every row of it, totals and notes among them, with `_row` and `_kind`."""
ROW, KIND = "_row", "_kind"
_NUMBER = "\u2060row"
"""Name of the column of row numbers behind the others; no file has a column of this name."""


def warm_up() -> None:
    """Do everything once that is slow the first time, before a query comes: open DuckDB, read a statement, write Parquet."""
    con = _connect([], 1, 512)
    _check_reading(con, "SELECT 1")
    with tempfile.TemporaryDirectory() as folder:
        _write(
            con.sql("SELECT 1 AS a, 'b' AS b").project("#1 AS a, #2 AS b").to_arrow_reader(BATCH), Path(folder) / "warm.parquet"
        )
    con.close()


def query(
    sql: str,
    tables: Mapping[str, str],
    names: Sequence[str],
    out: str,
    seconds: float,
    memory_mb: int,
    rows: Mapping[str, Json] | None = None,
    files: Mapping[str, Sequence[str]] | None = None,
) -> Json:
    """Run one reading statement over views named `tables` (name -> Parquet file); write its whole result to `out`/result.parquet.

    A view holds the rows of data; `_row` is a column of it where the statement names it, so that `SELECT *` and PIVOT see the
    file's own columns only. NAME__all has every row with `_row` and `_kind`. `rows` says of a table where its rows stand:
    {"first": row of the file, "marked": whether `_row` and `_kind` are in it, "whole": whether all rows are data}; and of a kept
    result {"result": True}. `names` are all tables of the chat, for errors; `files` are other names (of files, sheets, handles)
    with the tables that they stand for. SQL in the habits of other systems is mended where its meaning is certain: `sql` is
    what ran, `said` what was changed.
    Raises QueryError, NotFoundError, SandboxMemoryError, SandboxTimeoutError.
    """
    import duckdb

    con = _connect(tables.values(), seconds, memory_mb)
    said: list[str] = []
    changed: list[str] = []
    while True:
        attempt = _Attempt(con, sql, tables, rows or {})
        try:
            answer = attempt.run(Path(out) / "result.parquet")
            cautions = meanings.cautions(attempt.sql, attempt.columns())
            return {**answer, "sql": sql, "said": [*said, *_approximate(sql), *cautions]}
        except duckdb.Error as e:
            attempt.look()
            mended = None
            if len(changed) < MENDED_MOST:
                mended = dialects.mended(sql, str(e), files or {}, attempt.columns(), names)
            if mended is None or mended.sql in changed:
                raise _translated(e, attempt, names, files or {}) from e
            sql = mended.sql
            changed.append(sql)
            said += [mended.said] if mended.said not in said else []
        finally:
            attempt.drop_views()


class _Attempt:
    """One statement over its views."""

    def __init__(self, con: duckdb.DuckDBPyConnection, sql: str, tables: Mapping[str, str], rows: Mapping[str, Json]) -> None:
        self.con, self.sql, self.tables, self.rows = con, sql, tables, rows
        self.used: list[str] = []
        """Names of the tables that it reads, as far as that was found out."""
        self._views: list[str] = []

    def run(self, path: Path) -> Json:
        """Write the whole result. Raises duckdb.Error, QueryError."""
        self.sql = without_semicolon(self.sql)
        _check_reading(self.con, self.sql)
        found = self._make_views()
        relation = self.con.sql(self.sql)
        kept = _kept(relation.columns)
        given = [_type_name(t) for t in relation.types]
        columns, types = _unique([relation.columns[i - 1] for i in kept]), [given[i - 1] for i in kept]
        read = read_columns(self.con, self.sql, self.columns())
        reader = relation.project(_projection(columns, types, kept)).to_arrow_reader(BATCH)
        shown, total, clipped = _write(reader, path)
        about = {"columns": columns, "types": types, "rows": shown, "total": total, "clipped": clipped}
        return {**about, "tables": self.used, "read": read, "data_only": [name for name in found if name in self.tables]}

    def look(self) -> None:
        """Name the tables of a statement that could not be read so far that this was done."""
        if not self._views:
            self._make_views()

    def columns(self) -> list[str]:
        """Of the tables that it reads."""
        return [name for name, _ in self.typed()]

    def typed(self) -> list[tuple[str, str]]:
        """Columns of the tables that it reads, with their types."""
        views = [self.con.table(name) for name in self.used if name in self._views]
        return [(c, _type_name(t)) for view in views for c, t in zip(view.columns, view.types, strict=True)]

    def reserved(self) -> list[str]:
        """Words that name no column without quotes."""
        found = self.con.sql("SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'").fetchall()
        return [word for (word,) in found]

    def drop_views(self) -> None:
        for name in self._views:
            self.con.execute(f"DROP VIEW {quoted(name)}")
        self._views = []

    def _make_views(self) -> list[str]:
        """Name every table; what of them the statement reads."""
        sql, tables = self.sql, self.tables
        everything = {f"{name}{ALL}": name for name in tables if f"{name}{ALL}" in sql.lower() and f"{name}{ALL}" not in tables}
        found = _used_tables(self.con, sql, [*tables, *everything])
        self.used = list(dict.fromkeys(everything.get(name, name) for name in found))
        numbered = re.search(r"\b_row\b", sql) is not None
        views = {name: data_rows(path, self.rows.get(name, {}), numbered) for name, path in tables.items()}
        views |= {view: all_rows(tables[name], self.rows.get(name, {})) for view, name in everything.items()}
        for name, rows in views.items():
            self.con.execute(f"CREATE VIEW {quoted(name)} AS {rows}")
            self._views.append(name)
        return found


def _approximate(sql: str) -> list[str]:
    """What has to be said of a statement that DuckDB answers by estimates."""
    if "summarize" not in words(sql):
        return []
    return ["SUMMARIZE estimates: its quartiles and approx_unique are approximate; describe_table gives exact ones."]


def adopt(parquet: str, out: str, memory_mb: int) -> Json:
    """Write a Parquet file that untrusted code made anew as `out`/result.parquet, and give its first rows.

    Raises UnreadableFileError where it is none.
    """
    import duckdb

    con = _connect([parquet], 300, memory_mb)
    try:
        _create_views(con, {"t": parquet})
        relation = con.sql("FROM t")
        columns, types = _unique(relation.columns), [_type_name(t) for t in relation.types]
        reader = relation.project(_projection(columns, types)).to_arrow_reader(BATCH)
        rows, total, clipped = _write(reader, Path(out) / "result.parquet")
    except duckdb.Error as e:
        said = re.sub(r"^[A-Z][\w ]+ Error: ", "", str(e).strip()).partition("\n")[0][:200]
        raise UnreadableFileError(f"The table that the code made cannot be read: {said}.") from e
    return {"columns": columns, "types": types, "rows": rows, "total": total, "clipped": clipped}


def page(
    parquet: str,
    offset: int,
    limit: int,
    order_by: str,
    descending: bool,
    memory_mb: int,
    mark: Json | None = None,
    where: Mapping[str, str] | None = None,
) -> Json:
    """Rows of a Parquet file, sorted and filtered if asked; of a table with totals all rows, their number and kind first.

    `numbers` are the rows' numbers in the file; empty for a result, which has none. `total` is the number of rows that meet the
    filter (`filters.condition`), `whole` that of all. Raises NotFoundError for an unknown column.
    """
    con = _connect([parquet], 60, memory_mb)
    if mark is None:
        _create_views(con, {"t": parquet})
    elif mark["marked"]:
        first = f"{ROW}, {KIND}, " if not mark["whole"] else ""
        shown = f"{first}* EXCLUDE ({ROW}, {KIND}), {ROW} AS {quoted(_NUMBER)}"
        con.execute(f"CREATE VIEW t AS SELECT {shown} FROM read_parquet({literal(parquet)})")
    else:
        number = f"file_row_number + {int(mark['first'])} AS {quoted(_NUMBER)}"
        con.execute(f"CREATE VIEW t AS SELECT *, {number} FROM read_parquet({literal(parquet)})")
    relation = con.sql("FROM t")
    columns, types = list(relation.columns), [_type_name(t) for t in relation.types]
    if mark is not None:
        columns, types = columns[:-1], types[:-1]
    total = whole = con.sql("SELECT count(*) FROM t").fetchall()[0][0]
    if where:
        if where["column"] not in columns:
            raise not_found("column", where["column"], columns)
        relation = relation.filter(condition(where, dict(zip(columns, types, strict=True))))
        total = relation.aggregate("count(*)").fetchall()[0][0]
    if order_by:
        if order_by not in columns:
            raise not_found("column", order_by, columns)
        relation = relation.order(f"{quoted(order_by)} {'DESC' if descending else 'ASC'} NULLS LAST")
    cells = _Cells()
    wanted = _projection(columns, types) + (f", {quoted(_NUMBER)}" if mark is not None else "")
    found = relation.limit(limit, offset).project(wanted).to_arrow_reader(BATCH).read_all()
    numbers = found.column(_NUMBER).to_pylist() if mark is not None else []
    rows = cells.rows(found.select(range(len(columns))))
    about = {"total": total, "whole": whole, "clipped": cells.clipped, "numbers": numbers}
    return {"columns": columns, "types": types, "rows": rows, **about}


def position(parquet: str, row: int, memory_mb: int) -> int:
    """How many rows of a table with gaps or totals stand before row `row` of its file."""
    con = _connect([parquet], 60, memory_mb)
    counted = con.execute(f"SELECT count(*) FROM read_parquet({literal(parquet)}) WHERE {ROW} < ?", [row]).fetchall()
    return int(counted[0][0])


def profile(parquet: str, seconds: float, memory_mb: int, mark: Json | None = None) -> Json:
    """Of rows of data: count; per column its type, nulls, distinct values, range, mean, standard deviation, quartiles or most
    frequent values, and the SQL that reads dates which stayed text; five samples. Above a million rows distinct values are
    estimated (`approximate`), far above that quartiles (`estimated`).
    """
    con = _connect([parquet], seconds, memory_mb)
    con.execute(f"CREATE VIEW whole AS {data_rows(parquet, mark or {}, False)}")
    whole = con.sql("FROM whole")
    chosen = [(name, _type_name(kind)) for name, kind in zip(whole.columns, whole.types, strict=True)][:MAX_PROFILED]
    # A view of thousands of columns takes half a second whenever it is named.
    narrow = "TABLE" if len(whole.columns) > len(chosen) else "VIEW"
    con.execute(f"CREATE {narrow} t AS SELECT {', '.join(quoted(name) for name, _ in chosen)} FROM whole")
    rows = con.sql("SELECT count(*) FROM t").fetchall()[0][0]
    exact = rows <= EXACT_ROWS
    cells = _Cells()
    groups = [chosen[i : i + 20] for i in range(0, len(chosen), 20)]
    cut = "approx_quantile" if rows > EXACT_QUARTILES or rows * sum(_has_order(kind) for _, kind in chosen) > EXACT_CELLS else ""
    profiles = [p for group in groups for p in _profile_columns(con, group, rows, exact, cut, cells)]
    sample = con.sql("FROM t LIMIT 5").project(_projection([n for n, _ in chosen], [k for _, k in chosen]))
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


def export_csv(parquet: str, out: str, memory_mb: int) -> None:
    """Write a Parquet file as `out`/export.csv: UTF-8, commas, a header."""
    target = str(Path(out) / "export.csv")
    # DuckDB writes under a temporary name first and then renames it.
    con = _connect([parquet, target, str(Path(out) / "tmp_export.csv")], 600, memory_mb)
    _create_views(con, {"t": parquet})
    con.execute(f"COPY t TO {literal(target)} (FORMAT csv, HEADER)")


def _connect(paths: Iterable[str], seconds: float, memory_mb: int) -> duckdb.DuckDBPyConnection:
    """A closed DuckDB that can open `paths`. The settings stand in the order in which none undoes another."""
    import duckdb

    config: dict[str, str | bool | int | float | list[str]] = {
        "allow_persistent_secrets": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    con = duckdb.connect(":memory:", config=config)
    # Room for what is not DuckDB's own: the interpreter, Arrow batches, the Parquet writer.
    memory = max(128, int(memory_mb * 0.7))
    for setting in (
        f"allowed_paths = [{', '.join(map(literal, paths))}]",
        f"temp_directory = {literal(tempfile.gettempdir())}",
        f"memory_limit = '{memory}MiB'",
        f"threads = {min(8, len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count() or 1)}",
        "max_temp_directory_size = '1500MiB'",
        f"max_execution_time = {int(seconds * 1000)}",
        "python_enable_replacements = false",
        "allow_community_extensions = false",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        con.execute(f"SET {setting}")
    return con


def _create_views(con: duckdb.DuckDBPyConnection, tables: Mapping[str, str]) -> None:
    for name, path in tables.items():
        con.execute(f"CREATE VIEW {quoted(name)} AS FROM read_parquet({literal(path)})")


def data_rows(path: str, rows: Json, numbered: bool) -> str:
    """SQL for a table's rows of data, with `_row` if it is wanted. The rows of a result have no numbers but their own columns."""
    source = f"read_parquet({literal(path)})"
    if rows.get("result"):
        return f"FROM {source}"
    if rows.get("marked"):
        columns = f"EXCLUDE ({KIND})" if numbered else f"EXCLUDE ({ROW}, {KIND})"
        return f"SELECT * {columns} FROM {source}" + ("" if rows["whole"] else f" WHERE {KIND} = 'data'")
    return f"SELECT *, file_row_number + {int(rows.get('first', 1))} AS {ROW} FROM {source}" if numbered else f"FROM {source}"


def all_rows(path: str, rows: Json) -> str:
    if rows.get("marked"):
        return f"FROM read_parquet({literal(path)})"
    return f"SELECT *, 'data' AS {KIND} FROM ({data_rows(path, rows, True)})"


def _kept(columns: Sequence[str]) -> list[int]:
    """Places of a result's columns, from 1; `SELECT *, _row` gives `_row` twice, of which one is enough."""
    seen: set[str] = set()
    kept = []
    for place, column in enumerate(columns, 1):
        name = re.sub(r"^(_row|_kind)[_:]\d+$", r"\1", column)
        if name in (ROW, KIND) and name in seen:
            continue
        seen.add(name)
        kept.append(place)
    return kept


def _check_reading(con: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Raise QueryError unless `sql` is one statement that only reads. `con.sql` would run a changing one at once."""
    import duckdb

    statements = duckdb.extract_statements(sql)
    if not statements:
        raise QueryError("The query is empty.", "Write one SELECT statement.")
    if len(statements) > 1:
        raise QueryError(f"There are {len(statements)} statements; only one can run at a time.", READING_ONLY)
    kind = statements[0].type
    if kind == duckdb.StatementType.SELECT:
        # A common table expression may hold an INSERT or COPY while its statement still counts as a SELECT.
        tree = con.execute("SELECT json_serialize_sql(?)", [sql]).fetchall()[0][0]
        changing = re.search(r'"type":"(INSERT|UPDATE|DELETE|MERGE_INTO|MERGE|COPY)_QUERY_NODE"', tree)
        name = changing.group(1).split("_")[0] if changing else ""
    elif kind == duckdb.StatementType.MULTI:  # PIVOT: a type and a SELECT
        name = next((w.upper() for w in words(sql) if w in CHANGING), "")
    else:
        name = str(kind).rpartition(".")[2]
    if name:
        raise QueryError(f"{name} is not possible.", READING_ONLY)


def _used_tables(con: duckdb.DuckDBPyConnection, sql: str, tables: Sequence[str]) -> list[str]:
    """The tables that the query reads. Asked before there are views: of a view DuckDB would name what is behind it."""
    import duckdb

    try:
        found = {name.lower() for name in con.get_table_names(sql)}
    except duckdb.Error:  # a PIVOT, or columns that only the tables themselves could tell
        found = {word.strip('"').lower() for word in re.findall(r'"[^"]+"|\w+', sql)}
    return [name for name in tables if name.lower() in found]


def _unique(columns: Sequence[str]) -> list[str]:
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


def _type_name(kind: Any) -> str:
    return str(kind).strip('"')


def _projection(columns: Sequence[str], types: Sequence[str], at: Sequence[int] = ()) -> str:
    """Every column (those `at` the given places, from 1) under its unique name, as text where Parquet lacks the type."""
    places = at or range(1, len(columns) + 1)
    stored = (f"CAST(#{i} AS VARCHAR)" if kind.startswith(TEXT_ONLY) else f"#{i}" for i, kind in zip(places, types, strict=True))
    return ", ".join(f"{value} AS {quoted(name)}" for value, name in zip(stored, columns, strict=True))


def _write(reader: Any, path: Path) -> tuple[list[list[Any]], int, int]:
    """Write all batches; give the first rows as plain values, the number of rows, and how many shown cells were cut."""
    import pyarrow.parquet as pq

    cells = _Cells()
    rows: list[list[Any]] = []
    total = 0
    with pq.ParquetWriter(path, reader.schema, compression="zstd") as writer:
        for batch in reader:
            writer.write_batch(batch)
            if total < SHOWN_ROWS:
                rows += cells.rows(batch.slice(0, SHOWN_ROWS - total))
            total += batch.num_rows
    return rows, total, cells.clipped


class _Cells:
    """Turns Arrow values into what JSON can hold, and counts the cells that it cut."""

    def __init__(self) -> None:
        self.clipped = 0

    def rows(self, batch: Any) -> list[list[Any]]:
        columns = [[self.plain(v) for v in _values(column)] for column in batch.columns]
        return [list(row) for row in zip(*columns, strict=True)] if columns else []

    def plain(self, value: Any) -> Any:
        """NaN is null, an infinity its name, a time ISO text, a decimal a number, bytes their count."""
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else None if math.isnan(value) else ("inf" if value > 0 else "-inf")
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


def _values(column: Any) -> list[Any]:
    """Python values of an Arrow column; dates that Python cannot hold come as text."""
    try:
        return list(column.to_pylist())
    except (OverflowError, ValueError):
        import pyarrow as pa

        return [_value(column[i], pa) for i in range(len(column))]


def _value(scalar: Any, pa: Any) -> Any:
    try:
        return scalar.as_py()
    except (OverflowError, ValueError):
        return (
            "infinity" if scalar.cast(pa.int32() if pa.types.is_date32(scalar.type) else pa.int64()).as_py() > 0 else "-infinity"
        )


def _profile_columns(
    con: Any, columns: Sequence[tuple[str, str]], rows: int, exact: bool, estimate: str, cells: _Cells
) -> list[Json]:
    """Profiles of a few columns in one pass over them, one more for quartiles, of large tables a pass for each column, and one
    for the frequent values of each that has some.
    """
    measures = ", ".join(_measures(name, kind, exact) for name, kind in columns)
    found = cells.rows(con.sql(f"SELECT {measures} FROM t").to_arrow_reader(1).read_all())[0]
    cuts = [_quartiles(name, kind, estimate) for name, kind in columns]
    parts = [cuts] if exact else [[cut] for cut in cuts]  # quartiles hold every value of their column
    halves = [
        value
        for part in parts
        for value in cells.rows(con.sql(f"SELECT {', '.join(part)} FROM t").to_arrow_reader(1).read_all())[0]
    ]
    profiles = []
    for index, (name, kind) in enumerate(columns):
        filled, distinct, low, high, mean, std = found[index * MEASURES : (index + 1) * MEASURES]
        repeated = not is_number(kind) and 0 < distinct <= TOP_DISTINCT and distinct < max(filled, 2)
        profile: Json = {"name": name, "type": kind, "nulls": rows - filled, "distinct": distinct, "min": low, "max": high}
        profile |= {"mean": mean, "std": std, "quartiles": halves[index] or []}
        written = texts.dates_in(con, "t", name) if kind == "VARCHAR" else ""
        profiles.append({**profile, "top": _top(con, name, kind, cells) if repeated else [], "cast": written})
    return profiles


def _measures(name: str, kind: str, exact: bool) -> str:
    """Filled cells, distinct values, least, greatest, mean, standard deviation: NULL where the type has none."""
    column = quoted(name)
    distinct = f"count(DISTINCT {column})" if exact else f"approx_count_distinct({column})"
    low_high = f"min({column}), max({column})" if _has_order(kind) else "NULL, NULL"
    if is_number(kind):
        finite = f"FILTER (isfinite(CAST({column} AS DOUBLE)))"
        number = f"CAST({column} AS DOUBLE)"
        return f"count({column}), {distinct}, {low_high}, avg({column}) {finite}, stddev_samp({number}) {finite}"
    return f"count({column}), {distinct}, {low_high}, NULL, NULL"


def _quartiles(name: str, kind: str, estimate: str) -> str:
    """A list of three, exact unless `estimate` names the function for it; NULL where the type has none.

    Of numbers they lie between two values where they have to, as in pandas; those of dates are values of the column.
    """
    column, parts = quoted(name), list(QUARTILES)
    if is_number(kind):
        number = f"CAST({column} AS DOUBLE)"
        return f"{estimate or 'quantile_cont'}({number}, {parts}) FILTER (isfinite({number}))"
    # DuckDB estimates the quartiles of days and moments alone.
    known = _has_order(kind) and (not estimate or kind in ("DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"))
    return f"{estimate or 'quantile_disc'}({column}, {parts})" if known else "NULL"


def _has_order(kind: str) -> bool:
    """Whether there are a least and a greatest value, and quartiles."""
    return is_number(kind) or kind.startswith(("DATE", "TIME"))


def _top(con: Any, name: str, kind: str, cells: _Cells) -> list[list[Any]]:
    """The most frequent values and how often each occurs."""
    value = f"CAST({quoted(name)} AS VARCHAR)" if kind.startswith(TEXT_ONLY) else quoted(name)
    counts = f"SELECT {value}, count(*) FROM t WHERE {quoted(name)} IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {TOP}"
    return cells.rows(con.sql(counts).to_arrow_reader(TOP).read_all())


_NO_TABLE = r'Table with name (.+?) does not exist|Referenced table "(.+?)" not found'
_UNKNOWN = rf'{_NO_TABLE}|Cannot access file "(.+?)"|No files found that match the pattern "(.+?)"'


def _translated(error: duckdb.Error, attempt: _Attempt, names: Sequence[str], files: Mapping[str, Sequence[str]]) -> LeafError:
    """DuckDB's error in our terms: the nearest names for a name that is not there, no paths, no class names."""
    import duckdb

    text, con, sql, used = str(error), attempt.con, attempt.sql, attempt.used
    if isinstance(error, duckdb.OutOfMemoryException) or "bad_alloc" in text:
        return SandboxMemoryError(
            "The query needed more memory than it may use.", "Filter or aggregate first, or take fewer columns."
        )
    if isinstance(error, duckdb.InterruptException):
        return SandboxTimeoutError("The query took longer than it may.", "Filter or aggregate first, or take fewer columns.")
    if found := re.search(_UNKNOWN, text):
        named = next(group for group in found.groups() if group).strip('"')
        if inside := dialects.tables_of(named, files):
            return _file_for_table(named, inside)
        if re.search(r"\.\w{1,8}$", named):
            return not_found("file or table", named, [n for n in names if not re.fullmatch(r"r\d+", n)], "this chat")
    if isinstance(error, duckdb.PermissionException) or re.search(
        "configuration has been locked|No files found that match", text
    ):
        return QueryError("SQL here can read the tables of this chat and nothing else: no files, no network, no settings.")
    if found := re.search(_NO_TABLE, text):
        return _no_table((found[1] or found[2]).strip('"'), names)
    if re.search(r'column "?_kind"?', text):
        everything = ", ".join(f"{name}{ALL}" for name in used) or "the table's name with __all behind it"
        return QueryError("A table by its name holds rows of data only, and no `_kind`.", f"Use {everything} for all rows.")
    if (missing := dialects.missing_column(text)) and (columns := [c for table in used for c in con.table(table).columns]):
        unknown = not_found("column", missing, columns, ", ".join(used))
        if hint := meanings.advice(text, sql, columns, ()):
            return NotFoundError(unknown.message, hint)
        return _with_quotes(_in_double_quotes(unknown, columns), missing, sql)
    message = re.sub(r"^[A-Z][\w ]+ Error: ", "", text)
    if hint := _advice(message, attempt):
        message = re.sub(r"\s*Did you mean .*", "", message)
    message = re.sub(r"\s*Candidate functions:.*?(?=\n\n|\nLINE|\Z)", "", meanings.nearer(message), flags=re.S)
    message = re.sub(r" (You might need to|In order to select one, please) add explicit type casts\.", "", message)
    message = re.sub(r"STRUCT\(.*\)(?= when casting)", "of a whole row", message)
    # The line number and the mark below it count from a statement that DuckDB wrapped around the query.
    message = re.sub(r"\s*\nLINE \d+: (.*)\n[ ^]*$", r" In: \1", message)
    message = re.sub(r"(?<!\w)(?:/[\w.@+-]+){2,}", lambda m: Path(m[0]).name, message)
    return QueryError(message[:1_000].strip(), hint)


def _advice(message: str, attempt: _Attempt) -> str:
    """What to write instead: for a function of another system, for a column that is text where a date or number belongs."""
    said: list[str] = []
    if re.search(r"(No function matches|best candidate function)[\s\S]*VARCHAR|cast|Conversion", message):
        for name, kind in attempt.typed():
            named = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", attempt.sql, re.I)
            if kind == "VARCHAR" and named and len(said) < 3 and (cast := texts.cast_for(attempt.con, attempt.used, name)):
                said.append(f'"{name}" is text: write {cast}.')
    general = meanings.advice(message, attempt.sql, attempt.columns(), attempt.reserved())
    return " ".join(said) or general or _compared_columns(message, attempt)


def _compared_columns(message: str, attempt: _Attempt) -> str:
    """A word on quotes, where a comparison failed with a column whose name may have been meant as a text."""
    if "Could not convert" not in message and "can't be cast" not in message:
        return ""
    found = [said for said in meanings.cautions(attempt.sql, attempt.columns()) if "for the text" in said]
    return " ".join(found[:3])


def _in_double_quotes(unknown: NotFoundError, columns: Sequence[str]) -> NotFoundError:
    """The same with how the nearest name is written, where it needs quotes."""
    near = next((c for c in columns if unknown.hint.startswith(f"Did you mean '{c}'")), "")
    if not near or re.fullmatch(r"[^\W\d]\w*", near):
        return unknown
    return NotFoundError(unknown.message, f"{unknown.hint} Write {quoted(near)}.")


def _no_table(name: str, names: Sequence[str]) -> NotFoundError:
    """A name like that of a result is compared with the results that there are, any other with the tables."""
    results = [known for known in names if re.fullmatch(r"r\d+", known)]
    if not re.fullmatch(r"r\d+", name, re.IGNORECASE):
        return not_found("table", name, [known for known in names if known not in results], "this chat")
    there = f"There is {', '.join(results) or 'none'}. {SIDE_BY_SIDE}"
    return NotFoundError(f"No result '{name}' in this chat.", there)


def _file_for_table(file: str, tables: Sequence[str]) -> NotFoundError:
    """What is said of a query that names a file where a table belongs; several files may have that name."""
    of_one_file = len({table.partition("__")[0] for table in tables}) == 1
    listed = ", ".join(tables[:12]) + (f" and {len(tables) - 12} more" if len(tables) > 12 else "")
    its = "its table is" if len(tables) == 1 else "its tables are" if of_one_file else "those of that name are"
    hint = f"Write FROM {tables[0]}." if of_one_file else f"Name the one that is meant: FROM {tables[0]}."
    return NotFoundError(f"'{file}' is a file, and SQL reads tables: {its} {listed}.", hint)


def _with_quotes(unknown: NotFoundError, name: str, sql: str) -> NotFoundError:
    """The same with a word on quotes, where a name in double quotes is compared with something, as a text would be."""
    if not re.search(r"""(?:[=<>(,]|\b(?:like|in|and|when|then|else))\s*""" + re.escape(quoted(name)), sql, re.I):
        return unknown
    text = literal(name)
    return NotFoundError(
        unknown.message, f"{unknown.hint} If it is a text, write {text}: double quotes are for names of columns."
    )
