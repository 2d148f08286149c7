"""What answers used: tokens and money, one row per step of an answer, kept as soon as the step is over.

A member sees what they used and the sum of the workspace; an owner sees everybody's. A price that is not known counts no money,
and its tokens are counted apart, so that nobody takes the sum for the whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from leaf.store.chats import VISIBLE
from leaf.store.database import Database, Row, now
from leaf.store.model import DayUsage, NamedUsage, Scope, UsageTotal
from leaf.store.users import MEMBER, params

Whose = Literal["mine", "everyone"]
OWNER = "EXISTS (SELECT 1 FROM workspace_members o WHERE o.workspace_id = :workspace AND o.user_id = :user AND o.role = 'owner')"
"""True where the caller owns the workspace."""

_TOKENS = "u.input_tokens + u.output_tokens"
_SUMS = f"""
    count(DISTINCT u.message_id) AS answers,
    CAST(coalesce(sum(u.input_tokens), 0) AS BIGINT) AS input_tokens,
    CAST(coalesce(sum(u.cached_tokens), 0) AS BIGINT) AS cached_tokens,
    CAST(coalesce(sum(u.output_tokens), 0) AS BIGINT) AS output_tokens,
    coalesce(sum(u.cost), 0.0) AS cost,
    CAST(coalesce(sum(CASE WHEN u.cost IS NULL THEN {_TOKENS} END), 0) AS BIGINT) AS unpriced_tokens
"""


@dataclass(frozen=True)
class Used:
    """Sums that budgets are held against: of one user and of their workspace, since the day and since the month began."""

    day_usd: float
    day_tokens: int
    month_usd: float
    month_tokens: int


def unscoped_record(
    db: Database,
    scope: Scope,
    message_id: str,
    step: str,
    *,
    chat_id: str,
    model: str,
    input_tokens: int,
    cached_tokens: int,
    output_tokens: int,
    cost: float | None,
    at: datetime | None = None,
) -> None:
    """Keep what a step used; the first time counts, so that a step that is replayed counts once. `cost` None: price unknown.

    For runs only, which act for `scope`: it is kept also for somebody who was removed and for a chat that was deleted meanwhile,
    since it was spent.
    """
    with db.transaction(scope) as tx:
        tx.execute(
            """
            INSERT INTO usage_steps (message_id, step, workspace_id, user_id, chat_id, model, input_tokens, cached_tokens,
                output_tokens, cost, created_at)
            VALUES (:message, :step, :workspace, :user, :chat, :model, :input, :cached, :output, :cost, :at)
            ON CONFLICT DO NOTHING
            """,
            params(
                scope,
                message=message_id,
                step=step,
                chat=chat_id,
                model=model,
                input=input_tokens,
                cached=cached_tokens,
                output=output_tokens,
                cost=cost,
                at=at or now(),
            ),
        )


def used(db: Database, scope: Scope, *, day: datetime, month: datetime) -> tuple[Used, Used]:
    """What the caller and what the whole workspace used since these moments, runs that go on included."""
    figures = []
    for who, mine in (("mine", "u.user_id = :user"), ("all", "TRUE")):
        for span, since in (("day", "u.created_at >= :day"), ("month", "u.created_at >= :month")):
            held = f"CASE WHEN {mine} AND {since} THEN"
            figures.append(f"coalesce(sum({held} u.cost END), 0.0) AS {who}_{span}_usd")
            figures.append(f"CAST(coalesce(sum({held} {_TOKENS} END), 0) AS BIGINT) AS {who}_{span}_tokens")
    row = db.read(
        f"SELECT {', '.join(figures)} FROM usage_steps u "
        f"WHERE u.workspace_id = :workspace AND u.created_at >= :first AND {MEMBER}",
        params(scope, day=day, month=month, first=min(day, month)),
    )[0]
    return _used(row, "mine"), _used(row, "all")


def total(db: Database, scope: Scope, *, since: datetime | None = None, whole: bool = False) -> UsageTotal:
    """What the caller used; with `whole` the sum of the workspace, which every member may see. Purged chats count on."""
    mine = "" if whole else "AND u.user_id = :user "
    rows = db.read(
        f"SELECT {_SUMS} FROM usage_steps u WHERE u.workspace_id = :workspace {mine}AND {MEMBER}{_since(since)}",
        params(scope, since=since),
    )
    return UsageTotal(**rows[0])


def by_day(db: Database, scope: Scope, whose: Whose, zone: str, *, since: datetime | None = None) -> list[DayUsage]:
    """By day in a time zone and by model, oldest first."""
    rows = db.read(
        f"SELECT CAST(u.created_at AT TIME ZONE :zone AS DATE) AS day, u.model, {_SUMS} FROM usage_steps u "
        f"WHERE {_condition(whose, since)} GROUP BY 1, 2 ORDER BY 1, 2",
        params(scope, zone=zone, since=since),
    )
    return [DayUsage(_day(row.pop("day")), str(row.pop("model")), UsageTotal(**row)) for row in rows]


def by_model(db: Database, scope: Scope, whose: Whose, *, since: datetime | None = None) -> list[NamedUsage]:
    """By model, dearest first."""
    rows = db.read(
        f"SELECT u.model AS id, u.model AS name, {_SUMS} FROM usage_steps u WHERE {_condition(whose, since)} "
        f"GROUP BY 1, 2 ORDER BY {_DEAREST}",
        params(scope, since=since),
    )
    return _named(rows)


def by_chat(db: Database, scope: Scope, whose: Whose, *, since: datetime | None = None, limit: int = 50) -> list[NamedUsage]:
    """By chat, dearest first. Chats that the caller may not see, and those that were deleted, are one row with an empty id."""
    rows = db.read(
        f"WITH seen AS (SELECT c.id, c.title FROM chats c WHERE {VISIBLE} AND c.deleted_at IS NULL) "
        f"SELECT coalesce(s.id, '') AS id, coalesce(s.title, '') AS name, {_SUMS} FROM usage_steps u "
        f"LEFT JOIN seen s ON s.id = u.chat_id WHERE {_condition(whose, since)} GROUP BY 1, 2 ORDER BY {_DEAREST} LIMIT :limit",
        params(scope, since=since, limit=limit),
    )
    return _named(rows)


def by_user(db: Database, scope: Scope, whose: Whose, *, since: datetime | None = None) -> list[NamedUsage]:
    """By who asked, dearest first; people who have left are still counted."""
    rows = db.read(
        f"SELECT u.user_id AS id, coalesce(max(p.name), '') AS name, {_SUMS} FROM usage_steps u "
        f"LEFT JOIN users p ON p.id = u.user_id WHERE {_condition(whose, since)} GROUP BY 1 ORDER BY {_DEAREST}",
        params(scope, since=since),
    )
    return _named(rows)


def unscoped_by(
    db: Database, by: Literal["day", "model", "user"], zone: str, *, since: datetime | None = None
) -> list[NamedUsage]:
    """Of everybody in all workspaces. For the operator only."""
    key = {"day": "CAST(u.created_at AT TIME ZONE :zone AS DATE)", "model": "u.model", "user": "u.user_id"}[by]
    name = "max(p.email)" if by == "user" else f"min(CAST({key} AS TEXT))"
    rows = db.read(
        f"SELECT {key} AS id, coalesce({name}, '') AS name, {_SUMS} FROM usage_steps u "
        f"LEFT JOIN users p ON p.id = u.user_id WHERE TRUE{_since(since)} GROUP BY 1 ORDER BY {'1' if by == 'day' else _DEAREST}",
        {"zone": zone, "since": since},
    )
    return _named(rows)


_DEAREST = "cost DESC, 4 DESC, 1"


def _used(row: Row, who: str) -> Used:
    return Used(*(row[f"{who}_{name}"] for name in ("day_usd", "day_tokens", "month_usd", "month_tokens")))


def _condition(whose: Whose, since: datetime | None) -> str:
    """The caller's own rows, or all of the workspace for an owner; nothing for anybody else."""
    rights = f"u.user_id = :user AND {MEMBER}" if whose == "mine" else OWNER
    return f"u.workspace_id = :workspace AND {rights}{_since(since)}"


def _since(since: datetime | None) -> str:
    return "" if since is None else " AND u.created_at >= :since"


def _named(rows: list[Row]) -> list[NamedUsage]:
    return [NamedUsage(str(row.pop("id")), str(row.pop("name")), UsageTotal(**row)) for row in rows]


def _day(value: date | datetime) -> date:
    return value.date() if isinstance(value, datetime) else value
