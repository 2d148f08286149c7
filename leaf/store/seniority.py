"""Who came first stays who came first, whatever the clock does: hosts are those who have been in a chat
or project longest."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

from leaf.store.database import Transaction, now

_OWNER_COLUMN = {"chat_participants": "chat_id", "project_members": "project_id"}


def after_all(
    tx: Transaction, table: Literal["chat_participants", "project_members"], owner_id: str
) -> datetime:
    """When to say that somebody came into a chat or project: now, but later than everybody in it.

    A clock that was set back, or that of another host, is not asked alone. For transactions that
    keep other writers of the same chat or project waiting.
    """
    (row,) = tx.read(
        f"SELECT max(created_at) AS last FROM {table} WHERE {_OWNER_COLUMN[table]} = :owner",
        {"owner": owner_id},
    )
    at = now()
    return at if row["last"] is None else max(at, row["last"] + timedelta(microseconds=1))
