"""What a step of an answer asks the people of the chat before it goes on, and what they said."""

from __future__ import annotations

from leaf.errors import InvalidInputError, NotFoundError
from leaf.store import chats
from leaf.store.database import Database, now
from leaf.store.model import Scope
from leaf.store.users import params


def ask(
    db: Database, scope: Scope, chat_id: str, key: str, question: str, of_user: str = ""
) -> None:
    """Put a question; one that was put before stays, with its answer. `of_user` alone may answer
    it; empty: anybody in the chat."""
    with db.transaction(scope) as tx:
        chats.get(tx, scope, chat_id)
        tx.execute(
            "INSERT INTO consents (key, workspace_id, chat_id, question, decision, user_id, "
            "of_user, created_at) "
            "SELECT :key, :workspace, :chat, :question, '', '', :of_user, :at "
            "WHERE NOT EXISTS (SELECT 1 FROM consents c WHERE c.key = :key)",
            params(scope, key=key, chat=chat_id, question=question, of_user=of_user, at=now()),
        )


def decision(db: Database, scope: Scope, chat_id: str, key: str) -> str:
    """`allowed`, `refused`, or empty while nobody has said."""
    rows = db.read(
        "SELECT decision FROM consents WHERE key = :key AND chat_id = :chat AND workspace_id = "
        ":workspace",
        params(scope, key=key, chat=chat_id),
    )
    return str(rows[0]["decision"]) if rows else ""


def decide(db: Database, scope: Scope, chat_id: str, key: str, decision: str) -> str:
    """Answer a question; the first answer holds, and is returned. Raises NotFoundError, and
    InvalidInputError where it is somebody else's to answer."""
    if decision not in ("allowed", "refused"):
        raise ValueError(decision)
    with db.transaction(scope) as tx:
        chats.get(tx, scope, chat_id)
        tx.execute(
            "UPDATE consents SET decision = :decision, user_id = :user, decided_at = :at "
            "WHERE key = :key AND chat_id = :chat AND decision = '' "
            "AND coalesce(of_user, '') IN ('', :user)",
            params(scope, key=key, chat=chat_id, decision=decision, at=now()),
        )
        rows = tx.read(
            "SELECT decision FROM consents WHERE key = :key AND chat_id = :chat",
            {"key": key, "chat": chat_id},
        )
    if not rows:
        raise NotFoundError("This question is not open any more.", "Ask again.")
    if not rows[0]["decision"]:
        raise InvalidInputError(
            "Only the person who asked can allow or refuse this.", "They see the same question."
        )
    return str(rows[0]["decision"])
