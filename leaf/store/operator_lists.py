"""What the operator sees of all workspaces and accounts."""

from __future__ import annotations

from dataclasses import dataclass

from leaf.store.database import Database


@dataclass(frozen=True)
class WorkspaceRecord:
    """A workspace, as the operator sees it."""

    id: str
    name: str
    owners: str
    """Their addresses."""
    members: int
    chats: int
    files: int


@dataclass(frozen=True)
class AccountRecord:
    """An account, as the operator sees it."""

    id: str
    email: str
    name: str
    workspaces: int


def unscoped_workspaces(db: Database) -> list[WorkspaceRecord]:
    """All of them, oldest first."""
    rows = db.read(
        """
        SELECT w.id, w.name,
            coalesce((SELECT string_agg(u.email, ', ' ORDER BY u.email) FROM workspace_members m JOIN users u ON u.id = m.user_id
                WHERE m.workspace_id = w.id AND m.role = 'owner'), '') AS owners,
            (SELECT count(*) FROM workspace_members m WHERE m.workspace_id = w.id) AS members,
            (SELECT count(*) FROM chats c WHERE c.workspace_id = w.id) AS chats,
            (SELECT count(*) FROM files f WHERE f.workspace_id = w.id) AS files
        FROM workspaces w ORDER BY w.created_at, w.id
        """
    )
    return [WorkspaceRecord(**row) for row in rows]


def unscoped_accounts(db: Database) -> list[AccountRecord]:
    """All of them, oldest first."""
    rows = db.read(
        "SELECT u.id, u.email, u.name, (SELECT count(*) FROM workspace_members m WHERE m.user_id = "
        "u.id) AS workspaces FROM users u ORDER BY u.created_at, u.id"
    )
    return [AccountRecord(**row) for row in rows]
