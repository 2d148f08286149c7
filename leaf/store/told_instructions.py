"""With which questions the model was told a project's instructions, and which. For chats that the caller
was let into."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from leaf.store.database import Database, Transaction


def note(tx: Transaction, chat_id: str, message_id: str, digest: str, at: datetime) -> None:
    """It is told these with this question; nothing for an empty digest."""
    if digest:
        tx.execute(
            "INSERT INTO told_instructions (message_id, chat_id, digest, created_at) VALUES "
            "(:message, :chat, :digest, :at)",
            {"message": message_id, "chat": chat_id, "digest": digest, "at": at},
        )


def forget(tx: Transaction, message_id: str) -> None:
    """The question was taken back."""
    tx.execute("DELETE FROM told_instructions WHERE message_id = :id", {"id": message_id})


def any_in(db: Database, chat_id: str) -> bool:
    """Whether the model was ever told of instructions in this chat."""
    values = {"chat": chat_id}
    return bool(db.read("SELECT 1 AS yes FROM told_instructions WHERE chat_id = :chat", values))


def newest(db: Database, chat_id: str, branch: Collection[str]) -> str:
    """Digest of what it was told last in this branch; empty for nothing. A question that still waits
    can be taken back, and does not count."""
    rows = db.read(
        "SELECT t.message_id, t.digest FROM told_instructions t WHERE t.chat_id = :chat AND EXISTS "
        "(SELECT 1 FROM messages x WHERE x.chat_id = :chat AND x.parent_id = t.message_id AND "
        "x.status <> 'pending') ORDER BY t.created_at DESC, t.message_id DESC",
        {"chat": chat_id},
    )
    return next((str(row["digest"]) for row in rows if row["message_id"] in branch), "")
