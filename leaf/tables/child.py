"""What the app asks of Parquet files, as functions for the confined child: query, page, export.
Plain JSON in and out.

SQL of a model or a user runs only here. DuckDB's settings are the second wall; the process is the
first.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leaf.errors import UnreadableFileError, not_found
from leaf.readers.tabular.sql import COUNTED, parquet_rows
from leaf.shapes import harmless
from leaf.tables import dialects, meanings
from leaf.tables.attempt import Attempt
from leaf.tables.connection import check_reading, connect, create_views
from leaf.tables.filters import condition
from leaf.tables.pitfalls import pitfalls
from leaf.tables.query_errors import translated
from leaf.tables.rows import KIND, ROW, number_of
from leaf.tables.sql import is_number, literal, quoted, words
from leaf.tables.values import BATCH, Cells, projection, type_name, unique, write

if TYPE_CHECKING:
    import duckdb

Json = dict[str, Any]

MENDED_MOST = 40
"""Changes that are made to one statement before it is given up."""
_NUMBER = "\u2060row"
"""Name of the column of row numbers behind the others; no file has a column of this name."""


def warm_up() -> None:
    """Do everything once that is slow the first time, before a query comes: open DuckDB, read a
    statement, write Parquet."""
    con = connect([], 1, 512)
    check_reading(con, "SELECT 1")
    with tempfile.TemporaryDirectory() as folder:
        write(
            con.sql("SELECT 1 AS a, 'b' AS b").project("#1 AS a, #2 AS b").to_arrow_reader(BATCH),
            Path(folder) / "warm.parquet",
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
    """Run one reading statement over views named `tables` (name -> Parquet file); write its whole
    result to `out`/result.parquet.

    A view holds the rows of data; `_row` is a column of it where the statement names it, so that
    `SELECT *` and PIVOT see the file's own columns only. NAME__all has every row with `_row` and
    `_kind`. `rows` says of a table where its rows stand: {"first": row of the file, "marked":
    whether `_row` and `_kind` are in it, "whole": whether all rows are data, "hidden": whether a
    column has the name of DuckDB's own numbers}; and of a kept result
    {"result": True}. `names` are all tables of the chat, for errors; `files` are other names (of
    files, sheets, handles) with the tables that they stand for. SQL in the habits of other systems
    is mended where its meaning is certain: `sql` is what ran, `said` what was changed. Raises
    QueryError, NotFoundError, SandboxMemoryError, SandboxTimeoutError.
    """
    import duckdb

    con = connect(tables.values(), seconds, memory_mb)
    remarks: list[str] = []
    changed: list[str] = []
    while True:
        attempt = Attempt(con, sql, tables, rows or {})
        try:
            answer = attempt.run(Path(out) / "result.parquet")
            cautions = [
                *meanings.cautions(attempt.sql, attempt.columns()),
                *pitfalls(con, attempt.sql, attempt.views_read),
            ]
            return {**answer, "sql": sql, "said": [*remarks, *_approximate(sql), *cautions]}
        except duckdb.Error as e:
            attempt.look()
            mended = None
            if len(changed) < MENDED_MOST:
                mended = dialects.mended(sql, str(e), files or {}, attempt.columns(), names)
            if mended is None or mended.sql in changed:
                raise translated(e, attempt, names, files or {}) from e
            sql = mended.sql
            changed.append(sql)
            remarks += [mended.said] if mended.said not in remarks else []
        finally:
            attempt.drop_views()


def _approximate(sql: str) -> list[str]:
    """What has to be said of a statement that DuckDB answers by estimates."""
    if "summarize" not in words(sql):
        return []
    return [
        "SUMMARIZE estimates: its quartiles and approx_unique are approximate; describe_table "
        "gives exact ones."
    ]


def adopt(parquet: str, out: str, memory_mb: int) -> Json:
    """Write a Parquet file that untrusted code made anew as `out`/result.parquet, and give its
    first rows.

    Raises UnreadableFileError where it is none.
    """
    import duckdb

    con = connect([parquet], 300, memory_mb)
    try:
        create_views(con, {"t": parquet})
        relation = con.sql("FROM t")
        columns, types = unique(relation.columns), [type_name(t) for t in relation.types]
        reader = relation.project(projection(columns, types)).to_arrow_reader(BATCH)
        rows, total, clipped = write(reader, Path(out) / "result.parquet")
    except duckdb.Error as e:
        reason = re.sub(r"^[A-Z][\w ]+ Error: ", "", str(e).strip()).partition("\n")[0][:200]
        raise UnreadableFileError(f"The table that the code made cannot be read: {reason}.") from e
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
    """Rows of a Parquet file, sorted and filtered if asked; of a table with totals all rows, their
    number and kind first.

    `numbers` are the rows' numbers in the file; empty for a result, which has none. `total` is the
    number of rows that meet the filter (`filters.condition`), `whole` that of all. Raises
    NotFoundError for an unknown column.
    """
    con = connect([parquet], 60, memory_mb)
    con.execute(f"CREATE VIEW t AS {_numbered(con, parquet, mark)}")
    relation = con.sql("FROM t")
    columns, types = list(relation.columns)[:-1], [type_name(t) for t in relation.types[:-1]]
    total = whole = con.sql("SELECT count(*) FROM t").fetchall()[0][0]
    if where:
        if where["column"] not in columns:
            raise not_found("column", where["column"], columns)
        relation = relation.filter(condition(where, dict(zip(columns, types, strict=True))))
        total = relation.aggregate("count(*)").fetchall()[0][0]
    if order_by:
        if order_by not in columns:
            raise not_found("column", order_by, columns)
        # Without the second key each page would have rows of one value in an order of its own.
        relation = relation.order(
            f"{quoted(order_by)} {'DESC' if descending else 'ASC'} NULLS LAST, {quoted(_NUMBER)}"
        )
    cells = Cells()
    wanted = f"{projection(columns, types)}, {quoted(_NUMBER)}"
    table = relation.limit(limit, offset).project(wanted).to_arrow_reader(BATCH).read_all()
    numbers = table.column(_NUMBER).to_pylist() if mark is not None else []
    rows = cells.rows(table.select(range(len(columns))))
    about = {"total": total, "whole": whole, "clipped": cells.clipped, "numbers": numbers}
    return {"columns": columns, "types": types, "rows": rows, **about}


def _numbered(con: duckdb.DuckDBPyConnection, parquet: str, mark: Json | None) -> str:
    """SQL for the rows as a page shows them, with their numbers in the file behind them; of a
    result with their numbers in its Parquet."""
    source = parquet_rows(parquet)
    if mark is not None and mark["marked"]:
        first = f"{ROW}, {KIND}, " if not mark["whole"] else ""
        return f"SELECT {first}* EXCLUDE ({ROW}, {KIND}), {ROW} AS {quoted(_NUMBER)} FROM {source}"
    own = {name.lower() for name in con.sql(f"FROM {source}").columns}
    number = number_of(COUNTED in own)
    first_row = 0 if mark is None else int(mark["first"])
    return f"SELECT *, {number} + {first_row} AS {quoted(_NUMBER)} FROM {source}"


def position(parquet: str, row: int, memory_mb: int) -> int:
    """How many rows of a table with gaps or totals stand before row `row` of its file."""
    con = connect([parquet], 60, memory_mb)
    counted = con.execute(
        f"SELECT count(*) FROM {parquet_rows(parquet)} WHERE {ROW} < ?", [row]
    ).fetchall()
    return int(counted[0][0])


def export_csv(parquet: str, out: str, memory_mb: int, raw: bool = False) -> None:
    """Write a Parquet file as `out`/export.csv: UTF-8, commas, a header. Text that a spreadsheet
    would take for a formula has an apostrophe before it, unless it is wanted as it stands."""
    target = str(Path(out) / "export.csv")
    # DuckDB writes under a temporary name first and then renames it.
    con = connect([parquet, target, str(Path(out) / "tmp_export.csv")], 600, memory_mb)
    create_views(con, {"t": parquet})
    told = con.execute("DESCRIBE t").fetchall()
    rows = "SELECT * FROM t" if raw else f"SELECT {', '.join(_inert(*c[:2]) for c in told)} FROM t"
    con.execute(f"COPY ({rows}) TO {literal(target)} (FORMAT csv, HEADER)")


def _inert(name: str, kind: str) -> str:
    """A column with its cells as `harmless.inert` has them."""
    column, alias = quoted(name), quoted(harmless.inert(name))
    if is_number(kind) or kind.startswith(("DATE", "TIME", "BOOLEAN")):
        return f"{column} AS {alias}"
    text = f"CAST({column} AS VARCHAR)"
    acts = f"regexp_matches({text}, {literal(harmless.FORMULA)})"
    number = f"regexp_matches({text}, {literal(harmless.NUMBER)})"
    return f"CASE WHEN {acts} AND NOT {number} THEN chr(39) || {text} ELSE {text} END AS {alias}"
