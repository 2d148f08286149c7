"""Pages of rows: of a table of a file, of a kept result."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leaf.sandbox.answers import unreadable
from leaf.sandbox.limits import CallLimits
from leaf.sandbox.pool import Pool
from leaf.store.model import Scope
from leaf.tables.table import Table

Json = dict[str, Any]

QUERY_LIMITS = CallLimits(seconds=60, memory_mb=2048, output_mb=4096, answer_mb=64, items=4_000_000)
MAX_PAGE = 10_000


@dataclass(frozen=True)
class RowsWanted:
    """Which rows a page holds, and in which order."""

    offset: int = 0
    limit: int = 200
    """At most `MAX_PAGE`."""
    order_by: str = ""
    """A column; empty for the order in which they are kept."""
    descending: bool = False
    where: Mapping[str, str] | None = None
    """A filter of a result: see `filters.condition`."""


FIRST = RowsWanted()


@dataclass(frozen=True)
class ResultPage:
    """Some rows of a result or of a table."""

    columns: list[str]
    types: list[str]
    rows: list[list[Any]]
    total: int
    offset: int
    clipped: int = 0
    sql: str = ""
    """Empty for a table."""
    numbers: Sequence[int] = ()
    """Of a table: the rows' numbers in its file, in order. Of a result empty."""
    whole: int = 0
    """Rows before the filter; `total` are those that meet it."""
    edited: str = ""
    """Of a result that a person's code made: the edited step."""


@dataclass(frozen=True)
class PageRead:
    """Rows as the child gives them."""

    columns: list[str]
    types: list[str]
    rows: list[list[Any]]
    total: int
    whole: int
    clipped: int
    numbers: list[int]


class Pages:
    """Reads rows of Parquet files, a page at a time."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def page(
        self,
        _scope: Scope,
        table: Table,
        wanted: RowsWanted = FIRST,
        stop: threading.Event | None = None,
    ) -> ResultPage:
        """Rows of a table, sorted if asked; totals and notes are among them, and `_row` and `_kind`
        then come first.

        Raises NotFoundError for an unknown column.
        """
        return self.of_parquet(table.parquet, wanted, stop, mark=table.mark)

    def position(self, _scope: Scope, table: Table, row: int) -> int:
        """Where row `row` of the file stands in `page`, from 0; for a row between two of them the
        later one."""
        if not table.marked:
            return min(max(0, row - table.first_row), max(0, table.rows - 1))
        arguments = {"parquet": "in:t.parquet", "row": row, "memory_mb": QUERY_LIMITS.memory_mb}
        index = self._pool.call(
            "leaf.tables.child:position",
            arguments,
            returns=int,
            inputs={"t.parquet": table.parquet},
            limits=QUERY_LIMITS,
        )
        return min(max(0, index), max(0, table.rows + sum(table.left_out_counts.values()) - 1))

    def of_parquet(
        self,
        parquet: Path,
        wanted: RowsWanted,
        stop: threading.Event | None,
        *,
        sql: str = "",
        mark: Json | None = None,
    ) -> ResultPage:
        """Rows of any Parquet file of Leaf's own; `mark` says of a table where they stand in its
        file."""
        offset, limit = max(0, wanted.offset), min(max(0, wanted.limit), MAX_PAGE)
        arguments = {
            "parquet": "in:t.parquet",
            "offset": offset,
            "limit": limit,
            "order_by": wanted.order_by,
            "descending": wanted.descending,
            "memory_mb": QUERY_LIMITS.memory_mb,
            "mark": mark,
            "where": dict(wanted.where) if wanted.where else None,
        }
        page = self._pool.call(
            "leaf.tables.child:page",
            arguments,
            returns=PageRead,
            inputs={"t.parquet": parquet},
            limits=QUERY_LIMITS,
            stop=stop,
        )
        check_rows(page.columns, page.types, page.rows, limit)
        return ResultPage(**vars(page), offset=offset, sql=sql)


def check_rows(
    columns: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[Any]], most: int
) -> None:
    """Raises SandboxError where rows do not fit their columns, or are more than were asked for."""
    wide = len(columns)
    if len(types) != wide or len(rows) > most or any(len(row) != wide for row in rows):
        raise unreadable()
