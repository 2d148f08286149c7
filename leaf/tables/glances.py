"""Small statements of the app's own, run before anybody asks: what they give is shown and not kept as
a result of a chat."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leaf.sandbox.answers import unreadable
from leaf.sandbox.limits import CallLimits
from leaf.sandbox.pool import Pool
from leaf.tables.glance import ROWS
from leaf.tables.paging import check_rows
from leaf.tables.table import Table

EACH, TOGETHER = 1.0, 2.0
"""Seconds of one statement, and after which none is begun."""
GLANCE_LIMITS = CallLimits(seconds=10, memory_mb=1024, output_mb=512)


@dataclass(frozen=True)
class Glimpse:
    """The first rows of a result."""

    columns: list[str]
    types: list[str]
    rows: list[list[Any]]
    total: int
    """All its rows."""


class Glances:
    """Runs several statements in one call."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def look(
        self,
        tables: Sequence[Table],
        statements: Sequence[str],
        stop: threading.Event | None = None,
    ) -> list[Glimpse | None]:
        """What each gives over the rows of data of `tables`, in order; None for one that does not
        run, or not in time. Raises SandboxError and its kinds, RunError after `stop`."""
        if not statements:
            return []
        arguments = {
            "statements": list(statements),
            "tables": {t.name: f"in:{number}.parquet" for number, t in enumerate(tables)},
            "rows": {t.name: t.mark for t in tables},
            "each": EACH,
            "seconds": TOGETHER,
            "memory_mb": GLANCE_LIMITS.memory_mb,
        }
        glimpses = self._pool.call(
            "leaf.tables.glance:look",
            arguments,
            returns=list[Glimpse | None],
            inputs={f"{number}.parquet": t.parquet for number, t in enumerate(tables)},
            limits=GLANCE_LIMITS,
            stop=stop,
        )
        if len(glimpses) != len(statements):
            raise unreadable()
        for one in filter(None, glimpses):
            check_rows(one.columns, one.types, one.rows, ROWS)
        return glimpses
