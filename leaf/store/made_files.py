"""Files that Python wrote in a chat: which there are, and who may have them. The bytes are in
`blobs`."""

from __future__ import annotations

from dataclasses import dataclass

from leaf.errors import NotFoundError
from leaf.store import chats
from leaf.store.database import Database, now
from leaf.store.model import Scope


@dataclass(frozen=True)
class MadeFile:
    """A file that a cell wrote."""

    sha256: str
    name: str
    size: int
    """Bytes."""


def add(
    db: Database, scope: Scope, chat_id: str, message_id: str, made: MadeFile, call: str = ""
) -> MadeFile:
    """Keep it in its chat; the same file once. Of a tool call that is carried out again, since it was
    interrupted, it takes the place of the file that the call wrote under that name before, which
    nobody was shown. Raises NotFoundError for a chat that the caller does not see."""
    with db.transaction(scope) as tx:
        chats.get(tx, scope, chat_id)
        if call:
            tx.execute(
                "DELETE FROM made_files WHERE chat_id = :chat AND call = :call AND name = :name "
                "AND sha256 <> :sha256",
                {"chat": chat_id, "call": call, "name": made.name, "sha256": made.sha256},
            )
        tx.execute(
            """
            INSERT INTO made_files
                (chat_id, sha256, name, workspace_id, message_id, call, size, created_at)
            VALUES (:chat, :sha256, :name, :workspace, :message, :call, :size, :at)
            ON CONFLICT (chat_id, sha256, name) DO NOTHING
            """,
            {
                "chat": chat_id,
                "sha256": made.sha256,
                "name": made.name,
                "workspace": scope.workspace_id,
                "message": message_id,
                "call": call,
                "size": made.size,
                "at": now(),
            },
        )
    return made


def get(db: Database, scope: Scope, chat_id: str, sha256: str, name: str) -> MadeFile:
    """Raises NotFoundError, also where another chat has it."""
    chats.get(db, scope, chat_id)
    rows = db.read(
        "SELECT size FROM made_files WHERE chat_id = :chat AND sha256 = :sha256 AND name = :name",
        {"chat": chat_id, "sha256": sha256, "name": name},
    )
    if not rows:
        raise NotFoundError(
            f"'{name[:200]}' is not a file that Python wrote in this chat.",
            "Ask for it to be written again.",
        )
    return MadeFile(sha256, name, int(rows[0]["size"]))
