"""Under which names a table is seen, and which of its rows each shows: one answer for SQL and for
Python."""

from __future__ import annotations

from dataclasses import dataclass

from leaf.tables.rows import ALL, all_rows, data_rows
from leaf.tables.table import Table


@dataclass(frozen=True)
class ResultView:
    name: str
    sql: str
    """`'{path}'` stands for the path of the Parquet file."""
    numbered: str = ""
    """The same with `_row`, for a statement that names it; empty: as `sql`."""


def views(table: Table) -> tuple[ResultView, ...]:
    """By its name its rows of data, by NAME__all every row with its number and kind."""
    path = "{path}"
    data = ResultView(
        table.name, data_rows(path, table.mark, False), data_rows(path, table.mark, True)
    )
    return data, ResultView(f"{table.name}{ALL}", all_rows(path, table.mark))
