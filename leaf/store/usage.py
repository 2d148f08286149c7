"""What answers used: tokens and money, one row per answer."""

from __future__ import annotations

from datetime import datetime

from leaf.store import messages
from leaf.store.database import Database, now
from leaf.store.model import Scope, UsageTotal
from leaf.store.users import MEMBER, params

_SUMS = """
    count(*) AS answers,
    CAST(coalesce(sum(input_tokens), 0) AS BIGINT) AS input_tokens,
    CAST(coalesce(sum(cached_tokens), 0) AS BIGINT) AS cached_tokens,
    CAST(coalesce(sum(output_tokens), 0) AS BIGINT) AS output_tokens,
    coalesce(sum(cost), 0.0) AS cost
"""


def record(
    db: Database,
    scope: Scope,
    message_id: str,
    *,
    model: str,
    input_tokens: int,
    cached_tokens: int,
    output_tokens: int,
    cost: float,
) -> None:
    """Keep what an answer used, in place of what was said of it before. Raises NotFoundError."""
    with db.transaction() as tx:
        message = messages.get_of_any_chat(tx, scope, message_id)
        tx.execute(
            """
            INSERT INTO usage (message_id, workspace_id, user_id, chat_id, model, input_tokens, cached_tokens, output_tokens,
                cost, created_at)
            VALUES (:message, :workspace, :user, :chat, :model, :input, :cached, :output, :cost, :at)
            ON CONFLICT (message_id) DO UPDATE SET model = excluded.model, input_tokens = excluded.input_tokens,
                cached_tokens = excluded.cached_tokens, output_tokens = excluded.output_tokens, cost = excluded.cost
            """,
            params(
                scope,
                message=message_id,
                chat=message.chat_id,
                model=model,
                input=input_tokens,
                cached=cached_tokens,
                output=output_tokens,
                cost=cost,
                at=now(),
            ),
        )


def total(db: Database, scope: Scope, *, chat_id: str = "", since: datetime | None = None) -> UsageTotal:
    """What the caller used in the workspace, in one chat or since a moment; purged chats count on."""
    rows = db.read(f"SELECT {_SUMS} FROM usage u WHERE {_condition(chat_id, since)}", params(scope, chat=chat_id, since=since))
    return UsageTotal(**rows[0])


def by_model(db: Database, scope: Scope, *, since: datetime | None = None) -> dict[str, UsageTotal]:
    """The same by model, dearest first."""
    rows = db.read(
        f"SELECT model, {_SUMS} FROM usage u WHERE {_condition('', since)} GROUP BY model ORDER BY cost DESC, model",
        params(scope, since=since),
    )
    return {str(row.pop("model")): UsageTotal(**row) for row in rows}


def _condition(chat_id: str, since: datetime | None) -> str:
    conditions = [f"u.workspace_id = :workspace AND u.user_id = :user AND {MEMBER}"]
    if chat_id:
        conditions.append("u.chat_id = :chat")
    if since is not None:
        conditions.append("u.created_at >= :since")
    return " AND ".join(conditions)
