"""What a file holds, in a few lines and one chart, before anybody asks: made without a model, in bounded
time, once for each table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from leaf.agent.proposals.ideas import first_ideas
from leaf.agent.proposals.roles import roles_of
from leaf.agent.rules import answers
from leaf.agent.rules.kinds import Query
from leaf.agent.rules.tables import AskedColumn, AskedTable
from leaf.errors import LeafError, SandboxError
from leaf.language.text import ENGLISH, speaking
from leaf.readers.base import holds_tables
from leaf.readers.notes import Effect, effect
from leaf.sandbox.answers import checked, plain
from leaf.sessions.house import House
from leaf.sessions.suggesting import MEANT_BYTES, TEXTS, asked_table, headings
from leaf.shapes.results import ChartShown
from leaf.store.model import ChatFile, File, Scope
from leaf.tables import charts
from leaf.tables.convert import write_whole
from leaf.tables.glances import Glimpse
from leaf.tables.sql import quoted
from leaf.tables.table import Table

MADE = 1
"""Raised when overviews are made in another way; those that were kept are then made anew."""
TABLES = 3
"""Tables of a file that are looked at; the others are counted."""
BARS, POINTS = 12, 60
"""Most marks of a chart."""
NAMED = 3
"""Gaps that are named, the longest."""
HEIGHT = 190
_COUNTED = (Effect.FIGURES, Effect.DOUBT, Effect.CONTRADICTION)


@dataclass(frozen=True)
class DateRange:
    """What the main column of dates covers."""

    column: str
    first: str
    last: str
    step: str
    """`day`, `weekday`, `month`: the finest of which at least half are there; empty where none is,
    and nothing can be said to be missing."""
    missing: int = 0
    """Steps between the first and the last of which there is no row."""
    gaps: tuple[tuple[str, str], ...] = ()
    """The longest stretches of those, first and last day, or month."""


@dataclass(frozen=True)
class TableFacts:
    """What is kept of a table."""

    dates: DateRange | None = None
    chart: dict[str, Any] | None = None
    """A `ChartShown`; None where nothing sensible can be drawn."""


@dataclass(frozen=True)
class TableOverview:
    """One table of a file."""

    label: str
    rows: int
    columns: int
    facts: TableFacts
    left_out: str = ""
    """`2 left out as totals`."""
    doubts: tuple[str, ...] = ()
    """What may make figures wrong, a sentence each."""


@dataclass(frozen=True)
class Overview:
    """What a file holds."""

    file: File
    tables: tuple[TableOverview, ...] = ()
    more: int = 0
    """Tables beside those."""
    headings: tuple[str, ...] = ()
    """The first ones of a text."""
    said: tuple[str, ...] = field(default=())
    """What was not looked at, and why."""


def overview(house: House, scope: Scope, file: File) -> Overview:
    """Raises StoreError. What cannot be looked at is said."""
    if file.outline.get("error"):
        return Overview(file)
    titles = tuple(headings(house, scope, file)) if file.kind in TEXTS else ()
    if not holds_tables(file.kind, file.outline):
        return Overview(file, headings=titles)
    if file.size > MEANT_BYTES and not house.tables.is_read(scope, file):
        return Overview(file, said=("It is large, and is not read before it is asked for.",))
    there = house.tables.of(scope, [ChatFile("", "f1", "table", file)])
    shown = [t for t in there.tables if t.rows and t.columns and not t.hidden][:TABLES]
    tables = tuple(_table(house, scope, table) for table in shown)
    return Overview(
        file, tables, len(there.tables) - len(tables), titles, tuple(there.failures.values())
    )


def _table(house: House, scope: Scope, table: Table) -> TableOverview:
    doubts = [n.text for n in table.findings if effect(n.kind) in _COUNTED and n.text]
    facts = _facts(house, scope, table)
    return TableOverview(
        table.label, table.rows, len(table.columns), facts, table.excluded, tuple(doubts)
    )


def _facts(house: House, scope: Scope, table: Table) -> TableFacts:
    """Those that are kept beside the table's rows, or such made now; what cannot be found out in
    time is left away, and tried again the next time."""
    path = table.parquet.with_suffix(f".overview-{MADE}.json")
    known = _kept(path)
    if known is None:
        try:
            with speaking(ENGLISH):  # it is kept for whoever looks at the file
                known = _look(house, table, asked_table(house, scope, table))
            write_whole(path, json.dumps(plain(known)))
        except SandboxError:
            return TableFacts()
    return known


def _kept(path: Path) -> TableFacts | None:
    try:
        return checked(json.loads(path.read_text()), TableFacts)
    except (OSError, ValueError, SandboxError):
        return None


def _look(house: House, table: Table, asked: AskedTable) -> TableFacts:
    """One call for all statements."""
    when = next((c for c in roles_of(asked).times if c.kind == "date"), None)
    query = _drawable(asked)
    statements = [*(_date_statements(when, asked) if when else ())]
    statements += [answers.sql_of(query, asked)] if query else []
    glimpses = house.tables.glances.look([table], statements)
    dates = _dates(when, glimpses) if when else None
    return TableFacts(dates, _chart(query, glimpses[-1]) if query else None)


def _drawable(asked: AskedTable) -> Query | None:
    """The first thing that one would ask and that a small chart can show."""
    for query in first_ideas(asked):
        if answers.chart_of(query, drawn=True) is not None:
            group, _ = query.groups[0]
            if group.is_time or group.distinct <= BARS:
                return query
    return None


def _chart(query: Query, glimpse: Glimpse | None) -> dict[str, Any] | None:
    if glimpse is None:
        return None
    rows = [row for row in glimpse.rows if row[0] is not None and row[-1] is not None]
    spec = answers.chart_of(query, drawn=True)
    if spec is None or not 3 <= len(rows) <= POINTS or len({row[-1] for row in rows}) < 2:
        return None
    try:
        drawable = charts.check({**spec, "height": HEIGHT}, glimpse.columns)
    except LeafError:
        return None
    shown: ChartShown = {
        "spec": drawable,
        "columns": glimpse.columns,
        "types": glimpse.types,
        "rows": rows,
    }
    return dict(shown)


def _date_statements(c: AskedColumn, asked: AskedTable) -> list[str]:
    """How many days and months there are, how many of them at a weekend; the longest gaps in days,
    and in months."""
    day, source = f"CAST({c.sql} AS DATE)", asked.source
    month = f"CAST(date_trunc('month', {c.sql}) AS DATE)"
    known = f"FROM {source} WHERE {quoted(c.name)} IS NOT NULL"
    counted = (
        f"SELECT count(DISTINCT {day}), count(DISTINCT {month}), "
        f"count(DISTINCT {day}) FILTER (isodow({day}) > 5), CAST(min({day}) AS VARCHAR), "
        f"CAST(max({day}) AS VARCHAR) {known}"
    )
    return [counted, *(_gaps(f"SELECT DISTINCT {step} AS d {known}") for step in (day, month))]


def _gaps(steps: str) -> str:
    return (
        f"WITH s AS ({steps}), g AS (SELECT d, lead(d) OVER (ORDER BY d) AS n FROM s) "
        "SELECT CAST(d AS VARCHAR), CAST(n AS VARCHAR) FROM g WHERE n IS NOT NULL "
        f"ORDER BY n - d DESC, d LIMIT {NAMED}"
    )


def _dates(c: AskedColumn, glimpses: Sequence[Glimpse | None]) -> DateRange | None:
    counted, by_day, by_month = glimpses[:3]
    if counted is None or not counted.rows or counted.rows[0][3] is None:
        return None
    days, months, weekends, first, last = counted.rows[0]
    low, high = date.fromisoformat(first), date.fromisoformat(last)
    every = _days(low, high, weekdays=not weekends)
    all_months = (high.year - low.year) * 12 + high.month - low.month + 1
    if 2 * days >= every and days > 2:
        lacking_days = (_between(a, b, weekdays=not weekends) for a, b in _pairs(by_day))
        named = [(str(gap[0]), str(gap[-1])) for gap in lacking_days if gap]
        step = "day" if weekends else "weekday"
        return DateRange(c.name, first, last, step, every - days, tuple(named))
    if 2 * months >= all_months and months > 2:
        lacking = [(_month(a, 1), _month(b, -1)) for a, b in _pairs(by_month)]
        named = [(a, b) for a, b in lacking if a <= b]
        return DateRange(c.name, first, last, "month", all_months - months, tuple(named))
    return DateRange(c.name, first, last, "")


def _pairs(glimpse: Glimpse | None) -> list[tuple[date, date]]:
    return (
        [(date.fromisoformat(a), date.fromisoformat(b)) for a, b in glimpse.rows] if glimpse else []
    )


def _between(low: date, high: date, *, weekdays: bool) -> list[date]:
    """The days, or weekdays, between two others."""
    every = [low + timedelta(i) for i in range(1, (high - low).days)]
    return [day for day in every if not weekdays or day.weekday() < 5]


def _days(low: date, high: date, *, weekdays: bool) -> int:
    """Days from one to the other, both counted."""
    days = (high - low).days + 1
    if not weekdays:
        return days
    weeks, rest = divmod(days, 7)
    return 5 * weeks + sum((low.weekday() + i) % 7 < 5 for i in range(rest))


def _month(day: date, by: int) -> str:
    number = day.year * 12 + day.month - 1 + by
    return f"{number // 12:04d}-{number % 12 + 1:02d}"
