"""Packages that chats have installed, by name and version. For chats that the caller was let into."""

from __future__ import annotations

from collections.abc import Mapping

from leaf.store.database import Database, now


class ChatPackages:
    """What `sandbox.packages` keeps its lists in."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def read(self, workspace_id: str, chat_id: str) -> dict[str, str] | None:
        """Name -> version; None where nothing was ever written for the chat."""
        rows = self._db.read(
            "SELECT packages FROM chat_packages WHERE workspace_id = :workspace AND chat_id = :chat",
            {"workspace": workspace_id, "chat": chat_id},
        )
        return {str(k): str(v) for k, v in rows[0]["packages"].items()} if rows else None

    def write(self, workspace_id: str, chat_id: str, packages: Mapping[str, str]) -> None:
        values = {
            "workspace": workspace_id,
            "chat": chat_id,
            "packages": dict(packages),
            "at": now(),
        }
        with self._db.transaction() as tx:
            tx.execute(
                "DELETE FROM chat_packages WHERE workspace_id = :workspace AND chat_id = :chat",
                values,
            )
            tx.execute(
                "INSERT INTO chat_packages (workspace_id, chat_id, packages, installed_at) "
                "VALUES (:workspace, :chat, :packages, :at)",
                values,
            )
