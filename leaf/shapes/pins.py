"""What a pin of a board shows, as it is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

from leaf.shapes.results import Covered, Rows, TableRead


class PinContent(TypedDict):
    """The beginning of a result, or a chart with its rows, and what they rest on."""

    columns: Sequence[str]
    """The first of them, or those that the chart draws."""
    types: Sequence[str]
    rows: Rows
    """The first of them."""
    total: int
    """Rows of the whole result."""
    wide: int
    """Columns of the whole result."""
    sql: str
    code: str
    """Of Python; empty for a query."""
    covered: Sequence[Covered]
    sources: Sequence[TableRead]
    said: Sequence[str]
    """What a reader has to know of it: `r1 ends at its own LIMIT …`."""
    seconds: float
    computed_at: str
    """ISO 8601."""
    spec: NotRequired[dict[str, Any]]
    """Of a chart."""


class PinOutcome(TypedDict):
    """What came of computing a pinned result again."""

    outcome: str
    """`same`, `different`, or `failed`: then what was there before is still shown."""
    text: str
    cells: Sequence[Sequence[Any]]
    """The first different cells: row from 1, column, value then, value now."""
    at: str
    """ISO 8601."""
