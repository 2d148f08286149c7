"""Connections to other services: one per user, workspace and provider. The secret arrives encrypted
and leaves so."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from leaf.errors import NotFoundError
from leaf.store import audit
from leaf.store.database import Database, now
from leaf.store.ids import new_id
from leaf.store.model import Json, Scope
from leaf.store.users import MEMBER, params

OWN = f"workspace_id = :workspace AND user_id = :user AND provider = :provider AND {MEMBER}"
AUDITED_AS = {
    "google-drive": ("Drive connected", "Drive disconnected"),
    "model": ("model connected", "model disconnected"),
}
"""Provider -> what the audit log says of its connection."""


@dataclass(frozen=True)
class Integration:
    id: str
    provider: str
    account: str
    secret: str
    """Encrypted."""
    state: Json
    """{"why", "hint"} where it fails; what else the provider's package keeps."""
    created_at: datetime
    updated_at: datetime


def get(db: Database, scope: Scope, provider: str) -> Integration | None:
    """The caller's connection, or None."""
    rows = db.read(
        f"SELECT id, provider, account, secret, state, created_at, updated_at FROM integrations "
        f"WHERE {OWN}",
        params(scope, provider=provider),
    )
    return Integration(**rows[0]) if rows else None


def put(db: Database, scope: Scope, provider: str, account: str, secret: str, state: Json) -> None:
    """Keep a new connection in place of the caller's old one. Raises NotFoundError if they are not
    of the workspace."""
    at = now()
    with db.transaction(scope) as tx:
        if not tx.read(f"SELECT 1 AS yes WHERE {MEMBER}", params(scope)):
            raise NotFoundError("No such workspace.", "Sign in again.")
        tx.execute(f"DELETE FROM integrations WHERE {OWN}", params(scope, provider=provider))
        tx.execute(
            "INSERT INTO integrations (id, workspace_id, user_id, provider, account, secret, "
            "state, created_at, updated_at) "
            "VALUES (:id, :workspace, :user, :provider, :account, :secret, :state, :at, :at)",
            params(
                scope,
                id=new_id(),
                provider=provider,
                account=account,
                secret=secret,
                state=state,
                at=at,
            ),
        )
        audit.add(tx, scope, AUDITED_AS[provider][0])


def set_secret(db: Database, scope: Scope, integration_id: str, secret: str) -> None:
    """Keep a refreshed secret. Nothing happens if the connection was replaced or deleted
    meanwhile."""
    with db.transaction(scope) as tx:
        tx.execute(
            f"UPDATE integrations SET secret = :secret, updated_at = :at WHERE id = :id AND "
            f"workspace_id = :workspace "
            f"AND user_id = :user AND {MEMBER}",
            params(scope, id=integration_id, secret=secret, at=now()),
        )


def set_state(db: Database, scope: Scope, integration_id: str, state: Json) -> None:
    """Say how it stands. Nothing happens if the connection was replaced or deleted meanwhile."""
    with db.transaction(scope) as tx:
        tx.execute(
            "UPDATE integrations SET state = :state WHERE id = :id AND workspace_id = :workspace "
            f"AND user_id = :user AND {MEMBER}",
            params(scope, id=integration_id, state=state),
        )


def delete(db: Database, scope: Scope, provider: str) -> None:
    """Forget the caller's connection."""
    with db.transaction(scope) as tx:
        if tx.read(
            f"DELETE FROM integrations WHERE {OWN} RETURNING id", params(scope, provider=provider)
        ):
            audit.add(tx, scope, AUDITED_AS[provider][1])
