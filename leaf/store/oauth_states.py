"""Consents on their way: what a redirect must bring back. Each is taken once, by the user who began
it, within its time."""

from __future__ import annotations

from datetime import timedelta

from leaf.errors import NotFoundError
from leaf.store.database import Database, now
from leaf.store.model import Scope
from leaf.store.users import MEMBER, params


def add(
    db: Database, scope: Scope, provider: str, state: str, verifier: str, lifetime: timedelta
) -> None:
    """Keep a state, and forget those whose time is over. Raises NotFoundError if the caller is not
    of the workspace."""
    at = now()
    with db.transaction(scope) as tx:
        if not tx.read(f"SELECT 1 AS yes WHERE {MEMBER}", params(scope)):
            raise NotFoundError("No such workspace.", "Sign in again.")
        tx.execute("DELETE FROM oauth_states WHERE expires_at < :at", {"at": at})
        tx.execute(
            "INSERT INTO oauth_states (state, workspace_id, user_id, provider, verifier, "
            "created_at, expires_at) "
            "VALUES (:state, :workspace, :user, :provider, :verifier, :at, :until)",
            params(
                scope, state=state, provider=provider, verifier=verifier, at=at, until=at + lifetime
            ),
        )


def take(db: Database, scope: Scope, provider: str, state: str) -> str | None:
    """The verifier kept with the state, which is then gone; None if it is unknown, used, expired or
    somebody else's."""
    with db.transaction(scope) as tx:
        rows = tx.read(
            f"DELETE FROM oauth_states WHERE state = :state AND workspace_id = :workspace AND "
            f"user_id = :user "
            f"AND provider = :provider AND {MEMBER} RETURNING verifier, expires_at",
            params(scope, state=state, provider=provider),
        )
    return str(rows[0]["verifier"]) if rows and rows[0]["expires_at"] >= now() else None
