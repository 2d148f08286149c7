"""What a child says of rows that it wrote, and what of that must fit together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leaf.sandbox.answers import unreadable
from leaf.tables.paging import check_rows
from leaf.tables.values import SHOWN_ROWS


@dataclass(frozen=True)
class RowsWritten:
    """A result that a child wrote, with its first rows."""

    columns: list[str]
    types: list[str]
    rows: list[list[Any]]
    total: int
    clipped: int


@dataclass(frozen=True)
class QueryAnswer(RowsWritten):
    """What a child says of a statement that ran."""

    sql: str
    """As it ran."""
    said: list[str]
    tables: list[str]
    """Names that it reads."""
    data_only: list[str]
    read: list[str] | None
    """Columns that it reads, by `touched.key`; None where it may be any."""
    first: dict[str, int]
    """Of tables that it does not read whole, how many rows at most."""
    offset: int
    of: int
    ranked: bool
    start: int
    """See `cuts.ResultCut`."""


def check_written(found: RowsWritten, folder: Path) -> None:
    """Raises SandboxError where the rows do not fit their columns, or none were written."""
    check_rows(found.columns, found.types, found.rows, SHOWN_ROWS)
    if not (folder / "result.parquet").is_file() or found.total < len(found.rows):
        raise unreadable()
