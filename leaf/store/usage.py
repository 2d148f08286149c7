"""What answers used: tokens and money, one row per step of an answer, kept as soon as the step is
over.

A member sees what they used and the sum of the workspace; an owner sees everybody's. A price that
is not known counts no money, and its tokens are counted apart, so that nobody takes the sum for the
whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from leaf.store import usage_days
from leaf.store.chats import VISIBLE
from leaf.store.database import Database, Row, now, one_of
from leaf.store.model import DayUsage, NamedUsage, Scope, UsageTotal
from leaf.store.usage_days import TOKENS, UsageSource, source
from leaf.store.users import MEMBER, params

Whose = Literal["mine", "everyone"]
OWNER = (
    "EXISTS (SELECT 1 FROM workspace_members o WHERE o.workspace_id = :workspace AND "
    "o.user_id = :user AND o.role = 'owner')"
)
"""True where the caller owns the workspace."""


@dataclass(frozen=True)
class Used:
    """Sums that budgets are held against: of one user and of their workspace, since the day and
    since the month began."""

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
    """Keep what a step used; the first time counts, so that a step that is replayed counts once.
    `cost` None: price unknown.

    For runs only, which act for `scope`: it is kept also for somebody who was removed and for a
    chat that was deleted meanwhile, since it was spent.
    """
    with db.transaction(scope) as tx:
        if tx.engine == "postgres":  # DuckDB has one writer at a time
            tx.execute("UPDATE chats SET title = title WHERE id = :chat", {"chat": chat_id})
        new = tx.read(
            """
            INSERT INTO usage_steps (message_id, step, workspace_id, user_id, chat_id, model, input_tokens, cached_tokens,
                output_tokens, cost, created_at)
            VALUES (:message, :step, :workspace, :user, :chat, :model, :input, :cached, :output, :cost, :at)
            ON CONFLICT DO NOTHING RETURNING step
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
        if new:
            usage_days.add(tx, message_id, step)


def used(db: Database, scope: Scope, *, day: datetime, month: datetime) -> tuple[Used, Used]:
    """What the caller and what the whole workspace used since these moments, runs that go on
    included."""
    counted = source(db, day=day, month=month)
    figures = []
    for who, mine in (("mine", "u.user_id = :user"), ("all", "TRUE")):
        for span in ("day", "month"):
            held = f"{mine} AND {counted.since(span)}"
            figures.append(f"{counted.cost(held)} AS {who}_{span}_usd")
            figures.append(
                f"CAST(coalesce(sum(CASE WHEN {held} THEN {TOKENS} END), 0) AS BIGINT) AS "
                f"{who}_{span}_tokens"
            )
    first = "day" if day < month else "month"
    row = db.read(
        f"SELECT {', '.join(figures)} FROM {counted.steps} "
        f"WHERE u.workspace_id = :workspace AND {counted.since(first)} AND {MEMBER}",
        params(scope, **counted.values),
    )[0]
    return _used(row, "mine"), _used(row, "all")


def total(
    db: Database, scope: Scope, *, since: datetime | None = None, whole: bool = False
) -> UsageTotal:
    """What the caller used; with `whole` the sum of the workspace, which every member may see.
    Purged chats count on."""
    counted = source(db, since=since)
    mine = "" if whole else "AND u.user_id = :user "
    rows = db.read(
        f"SELECT {counted.sums('last_answers')} FROM {counted.steps} WHERE "
        f"u.workspace_id = :workspace {mine}AND {MEMBER} AND {counted.since('since')}",
        params(scope, **counted.values),
    )
    return UsageTotal(**rows[0])


def by_day(
    db: Database, scope: Scope, whose: Whose, zone: str, *, since: datetime | None = None
) -> list[DayUsage]:
    """By day in a time zone and by model, oldest first."""
    counted = source(db, zone=zone, since=since)
    rows = db.read(
        f"SELECT {counted.day} AS day, u.model, {counted.sums('answers')} FROM {counted.steps} "
        f"WHERE {_condition(counted, whose)} GROUP BY 1, 2 ORDER BY 1, 2",
        params(scope, zone=zone, **counted.values),
    )
    return [
        DayUsage(_day(row.pop("day")), str(row.pop("model")), UsageTotal(**row)) for row in rows
    ]


def by_model(
    db: Database, scope: Scope, whose: Whose, *, since: datetime | None = None
) -> list[NamedUsage]:
    """By model, dearest first."""
    counted = source(db, since=since)
    rows = db.read(
        f"SELECT u.model AS id, u.model AS name, {counted.sums('model_answers')} FROM "
        f"{counted.steps} WHERE {_condition(counted, whose)} GROUP BY 1, 2 ORDER BY {_DEAREST}",
        params(scope, **counted.values),
    )
    return _named(rows)


def by_chat(
    db: Database, scope: Scope, whose: Whose, *, since: datetime | None = None, limit: int = 50
) -> list[NamedUsage]:
    """By chat, dearest first. Chats that the caller may not see, and those that were deleted, are
    one row with an empty id."""
    counted = source(db, since=since)
    usages = [*_seen(db, scope, whose, counted, limit), *_unseen(db, scope, whose, counted)]
    return sorted(usages, key=lambda n: (-n.total.cost, -n.total.input_tokens, n.id))[:limit]


def _seen(
    db: Database, scope: Scope, whose: Whose, counted: UsageSource, limit: int
) -> list[NamedUsage]:
    """The dearest chats that the caller may see. First only of the dearest of all is asked which
    those are, and all sums are made of these alone: either takes longer for every chat than to find
    the dearest."""
    own = f"(SELECT c.id FROM chats c WHERE {VISIBLE} AND c.deleted_at IS NULL)"
    held = _condition(counted, whose)
    titles: dict[str, str] = {}
    for among in ("TRUE", f"u.chat_id IN {own}"):
        rows = db.read(
            f"SELECT u.chat_id AS id FROM {counted.chats} WHERE {held} AND {among} GROUP BY 1 "
            f"ORDER BY {counted.cost()} DESC, sum(u.input_tokens) DESC, 1 LIMIT :limit",
            params(scope, limit=limit, **counted.values),
        )
        titles = _titles(db, scope, [str(row["id"]) for row in rows])
        if len(titles) == len(rows):
            break
    shown, ids = one_of("u.chat_id", list(titles))
    sums = db.read(
        f"SELECT u.chat_id AS id, {counted.sums('last_answers', exact=True)} FROM "
        f"{counted.chats} WHERE {held} AND {shown} GROUP BY 1",
        params(scope, **ids, **counted.values),
    )
    return [_summed(chat_id := str(row.pop("id")), titles[chat_id], [row]) for row in sums]


def _titles(db: Database, scope: Scope, chat_ids: list[str]) -> dict[str, str]:
    """Of those of the chats that the caller may see."""
    those, ids = one_of("c.id", chat_ids)
    rows = db.read(
        f"SELECT c.id, c.title FROM chats c WHERE {VISIBLE} AND c.deleted_at IS NULL AND {those}",
        params(scope, **ids),
    )
    return {str(row["id"]): str(row["title"]) for row in rows}


def _unseen(db: Database, scope: Scope, whose: Whose, counted: UsageSource) -> list[NamedUsage]:
    """The other chats as one entry, if there are any: those that the caller takes no part in, and
    of those in which they do what was deleted."""
    sums = f"SELECT {counted.sums('last_answers', exact=True)} FROM {counted.chats}"
    held = _condition(counted, whose)
    rows = db.read(
        f"{sums} WHERE {held} AND NOT EXISTS (SELECT 1 FROM chat_participants p "
        "WHERE p.chat_id = u.chat_id AND p.user_id = :user) HAVING count(*) > 0 UNION ALL "
        f"{sums} WHERE {held} AND u.chat_id IN (SELECT c.id FROM chats c WHERE {VISIBLE} "
        "AND c.deleted_at IS NOT NULL) HAVING count(*) > 0",
        params(scope, **counted.values),
    )
    return [_summed("", "", rows)] if rows else []


def _summed(chat_id: str, title: str, rows: list[Row]) -> NamedUsage:
    """Money is added up before it is rounded."""
    sums = {name: sum(row[name] for row in rows) for name in rows[0]}
    cost = float(sums.pop("cost"))
    return NamedUsage(chat_id, title, UsageTotal(**sums, cost=cost))


def by_user(
    db: Database, scope: Scope, whose: Whose, *, since: datetime | None = None
) -> list[NamedUsage]:
    """By who asked, dearest first; people who have left are still counted."""
    counted = source(db, since=since)
    rows = db.read(
        f"SELECT u.user_id AS id, coalesce(max(p.name), '') AS name, "
        f"{counted.sums('last_answers')} FROM {counted.steps} LEFT JOIN users p ON "
        f"p.id = u.user_id WHERE {_condition(counted, whose)} GROUP BY 1 ORDER BY {_DEAREST}",
        params(scope, **counted.values),
    )
    return _named(rows)


def unscoped_by(
    db: Database, by: Literal["day", "model", "user"], zone: str, *, since: datetime | None = None
) -> list[NamedUsage]:
    """Of everybody in all workspaces. For the operator only."""
    counted = source(db, zone=zone if by == "day" else "", since=since)
    key = {"day": counted.day, "model": "u.model", "user": "u.user_id"}[by]
    name = "max(p.email)" if by == "user" else f"min(CAST({key} AS TEXT))"
    rows = db.read(
        f"SELECT {key} AS id, coalesce({name}, '') AS name, {counted.sums(_COUNTERS[by])} FROM "
        f"{counted.steps} LEFT JOIN users p ON p.id = u.user_id WHERE "
        f"{counted.since('since')} GROUP BY 1 ORDER BY {'1' if by == 'day' else _DEAREST}",
        {"zone": zone, **counted.values},
    )
    return _named(rows)


_COUNTERS: dict[str, usage_days.Counter] = {
    "day": "day_answers",
    "model": "model_answers",
    "user": "last_answers",
}
_DEAREST = "cost DESC, 4 DESC, 1"


def _used(row: Row, who: str) -> Used:
    return Used(
        *(row[f"{who}_{name}"] for name in ("day_usd", "day_tokens", "month_usd", "month_tokens"))
    )


def _condition(counted: UsageSource, whose: Whose) -> str:
    """The caller's own rows, or all of the workspace for an owner; nothing for anybody else."""
    rights = f"u.user_id = :user AND {MEMBER}" if whose == "mine" else OWNER
    return f"u.workspace_id = :workspace AND {rights} AND {counted.since('since')}"


def _named(rows: list[Row]) -> list[NamedUsage]:
    return [NamedUsage(str(row.pop("id")), str(row.pop("name")), UsageTotal(**row)) for row in rows]


def _day(value: date | datetime) -> date:
    return value.date() if isinstance(value, datetime) else value
