"""What was used, added up by day: written with each step, in its transaction, so that nobody counts
all steps again.

Days are those of the installation's time zone, in which budgets and the usage page ask. What is
asked in another one, or since a moment that is no midnight there, is counted from the steps
themselves. Sums are exact: money is decimal, and an answer whose steps lie on several days or are
of several models is counted once wherever answers are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from functools import cache
from typing import Any, Literal
from zoneinfo import ZoneInfo

from leaf.errors import SettingsError, StoreError
from leaf.store.database import Database, Row, Transaction

Counter = Literal["answers", "day_answers", "model_answers", "last_answers"]
"""How answers are counted in `usage_days`: by day and model, by day, by model, or once at all. Of
what was used since a day each answer is in one row, the last that it has a step in."""
DECIMAL = "DECIMAL(38, 12)"
TOKENS = "u.input_tokens + u.output_tokens"

_CELLS = f"""
    SELECT u.workspace_id, u.user_id, u.chat_id, u.message_id, u.model, CAST(u.created_at AT TIME ZONE :zone AS DATE) AS day,
        count(*) AS steps, sum(u.input_tokens) AS input_tokens, sum(u.cached_tokens) AS cached_tokens,
        sum(u.output_tokens) AS output_tokens,
        coalesce(sum(CASE WHEN u.cost IS NULL THEN {TOKENS} END), 0) AS unpriced_tokens,
        coalesce(sum(CAST(u.cost AS {DECIMAL})), 0) AS cost
    FROM usage_steps u GROUP BY 1, 2, 3, 4, 5, 6
"""
_MARKED = f"""
    SELECT c.*, min(c.model) OVER (PARTITION BY c.message_id, c.day) = c.model AS of_day,
        max(c.day) OVER (PARTITION BY c.message_id, c.model) = c.day AS of_model,
        max(c.day) OVER (PARTITION BY c.message_id) = c.day AS last
    FROM ({_CELLS}) c
"""
_SUMMED = ("input_tokens", "cached_tokens", "output_tokens", "unpriced_tokens", "cost")
_COUNTERS = ("answers", "day_answers", "model_answers", "last_answers")
_DAYS = ("user_id", "day", "model"), (*_SUMMED, "steps", *_COUNTERS)
_CHATS = ("user_id", "chat_id", "day"), (*_SUMMED, "last_answers")
_COUNTED = {
    **{name: f"sum(m.{name})" for name in (*_SUMMED, "steps")},
    "answers": "count(*)",
    "day_answers": "sum(CASE WHEN m.of_day THEN 1 ELSE 0 END)",
    "model_answers": "sum(CASE WHEN m.of_model THEN 1 ELSE 0 END)",
    "last_answers": "sum(CASE WHEN m.of_day AND m.last THEN 1 ELSE 0 END)",
}


def midnight(day: date, zone: ZoneInfo) -> datetime:
    """UTC moment at which a date begins. Where clocks skip midnight that is the moment of the
    change; where midnight comes twice, its first time (PEP 495, fold 0).
    """
    return datetime.combine(day, time(), zone).astimezone(UTC)


@dataclass(frozen=True)
class UsageSource:
    """Where sums are taken from: the days, or each step."""

    by_day: bool
    values: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of `since`: the moments that it was made with, as days where it is those."""

    @property
    def steps(self) -> str:
        """Rows with user, day and model, as `u`."""
        return "usage_days u" if self.by_day else "usage_steps u"

    @property
    def chats(self) -> str:
        """Rows with user, chat and day, as `u`; of its counters only `last_answers`."""
        return "usage_chats u" if self.by_day else "usage_steps u"

    def since(self, name: str) -> str:
        """True from this moment on; always, where it is None."""
        if self.values.get(name) is None:
            return "TRUE"
        return f"u.{'day' if self.by_day else 'created_at'} >= :{name}"

    @property
    def day(self) -> str:
        return "u.day" if self.by_day else "CAST(u.created_at AT TIME ZONE :zone AS DATE)"

    def cost(self, condition: str = "TRUE") -> str:
        """Dollars of the rows for which it holds."""
        return f"CAST({self._exact_cost(condition)} AS DOUBLE PRECISION)"

    def sums(self, counter: Counter, *, exact: bool = False) -> str:
        """The columns of a `UsageTotal`; with `exact` money as it can be added up again."""
        answers = f"sum(u.{counter})" if self.by_day else "count(DISTINCT u.message_id)"
        unpriced = (
            "u.unpriced_tokens" if self.by_day else f"CASE WHEN u.cost IS NULL THEN {TOKENS} END"
        )
        figures = {
            "answers": answers,
            "input_tokens": "sum(u.input_tokens)",
            "cached_tokens": "sum(u.cached_tokens)",
            "output_tokens": "sum(u.output_tokens)",
            "unpriced_tokens": f"sum({unpriced})",
        }
        columns = [f"CAST(coalesce({sql}, 0) AS BIGINT) AS {n}" for n, sql in figures.items()]
        cost = self._exact_cost("TRUE") if exact else self.cost()
        return ", ".join([*columns, f"{cost} AS cost"])

    def _exact_cost(self, condition: str) -> str:
        one = "u.cost" if self.by_day else f"CAST(u.cost AS {DECIMAL})"
        return f"coalesce(sum(CASE WHEN {condition} THEN {one} END), 0)"


def source(db: Database, *, zone: str = "", **moments: datetime | None) -> UsageSource:
    """The days, if they answer for these moments exactly, and by day in this zone, where one is
    named; else the steps."""
    day_zone = _zone(db)
    if not day_zone or zone not in ("", day_zone):
        return UsageSource(False, moments)
    days = {name: at and at.astimezone(ZoneInfo(day_zone)).date() for name, at in moments.items()}
    for name, at in moments.items():
        day = days[name]
        if at is not None and day is not None and midnight(day, ZoneInfo(day_zone)) != at:
            return UsageSource(False, moments)
    return UsageSource(True, days)


def add(tx: Transaction, message_id: str, step: str) -> None:
    """Count a step that this transaction has written. Who calls holds the chat, so that steps of
    one answer are counted one after the other."""
    rows = tx.read(
        "SELECT u.*, CAST(u.created_at AT TIME ZONE (SELECT z.zone FROM usage_zone z) AS DATE) "
        "AS day FROM usage_steps u WHERE u.message_id = :message",
        {"message": message_id},
    )
    if any(row["day"] is None for row in rows):
        return  # nothing is added up yet: the next start does all of it
    for row in rows:
        row["day"] = row["day"].date() if isinstance(row["day"], datetime) else row["day"]
    new = [row for row in rows if row["step"] == step]
    before = _marks((row["day"], row["model"]) for row in rows if row["step"] != step)
    after = _marks((row["day"], row["model"]) for row in rows)
    for row in new:
        changed = {(row["day"], row["model"])} | {
            cell for cell in before | after if before.get(cell) != after.get(cell)
        }
        for day, model in sorted(changed):
            values = _values(row, day, model)
            for place, name in enumerate(_COUNTERS):
                values[name] = (
                    after.get((day, model), _NONE)[place] - before.get((day, model), _NONE)[place]
                )
            _add_to(tx, "usage_days", *_DAYS, values)
        for day in sorted({day for day, _ in changed}):
            values = _values(row, day)
            values["last_answers"] = _last(after, day) - _last(before, day)
            _add_to(tx, "usage_chats", *_CHATS, values)


def check_zone(db: Database, zone: str) -> None:
    """Raises SettingsError for a time zone that this machine has and the database does not, as
    `localtime`: what is used could be counted on no day, so that no answer would end."""
    try:
        db.read("SELECT now() AT TIME ZONE :zone AS told", {"zone": zone})
    except StoreError as e:
        db.read("SELECT 1")  # raises where it is the database itself
        raise SettingsError(
            f"LEAF_TIME_ZONE is '{zone}', which the database does not know.",
            "Give a name like Europe/Berlin or UTC.",
        ) from e


def bring_up(db: Database, zone: str) -> bool:
    """Add up all steps anew where that is not done in this time zone, or where an earlier version
    has written steps meanwhile. For the start; returns whether it was done."""
    if _is_whole(db, zone):
        return False
    with db.migration() as tx:
        tx.keep_out("usage_steps")
        for table in ("usage_days", "usage_chats", "usage_zone"):
            tx.execute(f"DELETE FROM {table}")
        tx.execute("INSERT INTO usage_zone (zone) VALUES (:zone)", {"zone": zone})
        tx.execute(_insert_all("usage_days", *_DAYS), {"zone": zone})
        tx.execute(_insert_all("usage_chats", *_CHATS), {"zone": zone})
    return True


def _is_whole(db: Database, zone: str) -> bool:
    row = db.read(
        "SELECT (SELECT count(*) FROM usage_steps) AS there, "
        "(SELECT coalesce(sum(d.steps), 0) FROM usage_days d) AS counted"
    )[0]
    return _zone(db) == zone and int(row["there"]) == int(row["counted"])


def _zone(db: Database) -> str:
    """That of the days; empty where nothing is added up."""
    rows = db.read("SELECT zone FROM usage_zone")
    return str(rows[0]["zone"]) if rows else ""


Cell = tuple[date, str]
"""A day and a model."""
Marks = tuple[int, int, int, int]
_NONE: Marks = (0, 0, 0, 0)


def _marks(cells: Iterable[Cell]) -> dict[Cell, Marks]:
    """How one answer with steps in these cells is counted in each, in the order of `_COUNTERS`; the
    same as `_COUNTED` says of all."""
    there = set(cells)
    marks = {}
    for day, model in there:
        of_day = model == min(m for d, m in there if d == day)
        of_model = day == max(d for d, m in there if m == model)
        last = of_day and day == max(d for d, _ in there)
        marks[day, model] = (1, int(of_day), int(of_model), int(last))
    return marks


def _last(marks: Mapping[Cell, Marks], day: date) -> int:
    return sum(mark[3] for (d, _), mark in marks.items() if d == day)


def _values(row: Row, day: date, model: str | None = None) -> Row:
    """What a step adds to a row of sums: nothing, where it is another day's or another model's."""
    own = day == row["day"] and model in (None, row["model"])
    tokens = ("input_tokens", "cached_tokens", "output_tokens")
    unpriced = row["input_tokens"] + row["output_tokens"] if row["cost"] is None else 0
    sums = {**{name: row[name] for name in tokens}, "unpriced_tokens": unpriced, "steps": 1}
    return {
        **{name: row[name] for name in ("workspace_id", "user_id", "chat_id")},
        **{name: value if own else 0 for name, value in sums.items()},
        "cost": float(row["cost"] or 0) if own else 0.0,
        "day": day,
        "model": model,
    }


def _insert_all(table: str, key: tuple[str, ...], columns: tuple[str, ...]) -> str:
    keys = ", ".join(f"m.{name}" for name in ("workspace_id", *key))
    return (
        f"INSERT INTO {table} ({', '.join(('workspace_id', *key, *columns))}) "
        f"SELECT {keys}, {', '.join(_COUNTED[name] for name in columns)} FROM ({_MARKED}) m "
        f"GROUP BY {keys}"
    )


def _add_to(
    tx: Transaction, table: str, key: tuple[str, ...], columns: tuple[str, ...], values: Row
) -> None:
    """Most of the time there is a row, and for DuckDB an update is much less work than an insert
    that may meet one."""
    update, insert = _statements(table, key, columns)
    if not tx.read(update, values):
        tx.execute(insert, values)


@cache
def _statements(table: str, key: tuple[str, ...], columns: tuple[str, ...]) -> tuple[str, str]:
    """To add to a row that is there, and to write it where another transaction may do so, too."""
    keys, named = ("workspace_id", *key), ("workspace_id", *key, *columns)
    placeholders = {name: f":{name}" for name in named} | {
        "cost": f"CAST(CAST(:cost AS DOUBLE PRECISION) AS {DECIMAL})"
    }
    condition = " AND ".join(f"{name} = :{name}" for name in keys)
    added = ", ".join(f"{name} = {table}.{name} + {placeholders[name]}" for name in columns)
    insert = (
        f"INSERT INTO {table} ({', '.join(named)}) VALUES "
        f"({', '.join(placeholders[name] for name in named)}) "
        f"ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {added}"
    )
    return f"UPDATE {table} SET {added} WHERE {condition} RETURNING user_id", insert
