"""Python cells that ran to their end, each with its place in the chat, so that a namespace can be
made anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaf.store import chats
from leaf.store.database import Database, now, one_of
from leaf.store.model import Scope
from leaf.store.users import params


@dataclass(frozen=True)
class KeptCell:
    key: str
    message_id: str
    """The answer in which it ran."""
    code: str
    files: tuple[str, ...]
    """Handles of files that it opened."""


def add(
    db: Database,
    scope: Scope,
    chat_id: str,
    message_id: str,
    key: str,
    code: str,
    files: Sequence[str],
) -> None:
    """Keep a cell; one with that key stays as it was. Raises NotFoundError for a chat that the
    caller does not see."""
    with db.transaction(scope) as tx:
        chats.get(tx, scope, chat_id)
        tx.execute(
            "INSERT INTO cells (key, workspace_id, chat_id, message_id, position, code, files, "
            "created_at) "
            "SELECT :key, :workspace, :chat, :message, "
            "(SELECT count(*) FROM cells c WHERE c.message_id = :message), :code, :files, :at "
            "WHERE NOT EXISTS (SELECT 1 FROM cells c WHERE c.key = :key)",
            params(
                scope,
                key=key,
                chat=chat_id,
                message=message_id,
                code=code,
                files=list(files),
                at=now(),
            ),
        )


def of_messages(
    db: Database, scope: Scope, chat_id: str, message_ids: Sequence[str]
) -> list[KeptCell]:
    """Cells of these answers, in the order of the answers and, in each, in that in which they
    ran."""
    chats.get(db, scope, chat_id)
    condition, ids = one_of("message_id", message_ids)
    rows = db.read(
        f"SELECT key, message_id, code, files FROM cells WHERE chat_id = :chat AND {condition} "
        f"ORDER BY position, created_at",
        {"chat": chat_id, **ids},
    )
    cells = [
        KeptCell(str(r["key"]), str(r["message_id"]), str(r["code"]), tuple(r["files"]))
        for r in rows
    ]
    order = {message_id: place for place, message_id in enumerate(message_ids)}
    return sorted(cells, key=lambda cell: order[cell.message_id])


def adopt(db: Database, old_id: str, new_id: str) -> None:
    """Give an answer that goes on from another's steps the cells of those steps. Doing it again
    changes nothing."""
    with db.transaction() as tx:
        tx.execute(
            "INSERT INTO cells (key, workspace_id, chat_id, message_id, position, code, files, "
            "created_at) "
            "SELECT replace(key, :old, :new), workspace_id, chat_id, :new, position, code, files, "
            ":at FROM cells x "
            "WHERE message_id = :old AND NOT EXISTS (SELECT 1 FROM cells c WHERE c.key = "
            "replace(x.key, :old, :new))",
            {"old": old_id, "new": new_id, "at": now()},
        )
