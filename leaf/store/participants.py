"""Who takes part in a chat. Whoever is in it may bring in members of the workspace; who has been in
it longest is its host."""

from __future__ import annotations

from leaf.errors import InvalidInputError, NotFoundError
from leaf.store import audit, chats, messages, project_chats
from leaf.store.database import Database, Transaction
from leaf.store.model import Participant, Scope
from leaf.store.seniority import after_all
from leaf.store.users import member_of


def list_participants(db: Database, scope: Scope, chat_id: str) -> list[Participant]:
    """The host first. Raises NotFoundError."""
    chats.get(db, scope, chat_id)
    rows = db.read(
        "SELECT u.id AS user_id, u.email, u.name FROM chat_participants p JOIN users u ON u.id = "
        "p.user_id "
        "WHERE p.chat_id = :chat ORDER BY p.created_at, u.id",
        {"chat": chat_id},
    )
    return [Participant(**row, host=i == 0) for i, row in enumerate(rows)]


def authors(db: Database, scope: Scope, chat_id: str) -> dict[str, str]:
    """User id -> name of everybody who ever asked in the chat, those who left included. Raises
    NotFoundError."""
    chats.get(db, scope, chat_id)
    rows = db.read(
        "SELECT DISTINCT u.id, u.name FROM messages x JOIN users u ON u.id = x.user_id WHERE "
        "x.chat_id = :chat",
        {"chat": chat_id},
    )
    return {str(row["id"]): str(row["name"]) for row in rows}


def add(db: Database, scope: Scope, chat_id: str, email: str) -> None:
    """Bring in a member of the workspace. Raises NotFoundError for a chat or an address that is not
    there, InvalidInputError for somebody who is not in the project of the chat."""
    with db.transaction(scope) as tx:
        _hold(tx, scope, chat_id)
        member = member_of(tx, scope, email)
        project_chats.check_may_join(tx, chat_id, member)
        tx.execute(
            "INSERT INTO chat_participants (chat_id, user_id, created_at) VALUES (:chat, :member, "
            ":at) ON CONFLICT DO NOTHING",
            {"chat": chat_id, "member": member, "at": after_all(tx, "chat_participants", chat_id)},
        )
        audit.add(tx, scope, "brought into chat", f"{chat_id} {member}")


def remove(db: Database, scope: Scope, chat_id: str, user_id: str) -> list[str]:
    """Take somebody out, or leave; returns the ids of answers that were being written for them.

    Raises NotFoundError; InvalidInputError where only the host may do it, or where nobody would be
    left.
    """
    with db.transaction(scope) as tx:
        _hold(tx, scope, chat_id)
        if user_id != scope.user_id:
            chats.check_host(tx, scope, chat_id, "take others out")
        there = [
            str(r["user_id"])
            for r in tx.read(
                "SELECT user_id FROM chat_participants WHERE chat_id = :id", {"id": chat_id}
            )
        ]
        if user_id not in there:
            raise NotFoundError("They do not take part in this chat.", "They may have left it.")
        if len(there) == 1:
            raise InvalidInputError("Nobody else is in this chat.", "Delete it instead.")
        stopped = messages.stop_unfinished(tx, scope, user_id, chat_id)
        tx.execute(
            "DELETE FROM chat_participants WHERE chat_id = :id AND user_id = :user",
            {"id": chat_id, "user": user_id},
        )
        left = user_id == scope.user_id
        audit.add(tx, scope, "left chat" if left else "taken out of chat", f"{chat_id} {user_id}")
    return stopped


def _hold(tx: Transaction, scope: Scope, chat_id: str) -> None:
    """Check the caller, and keep other changes of this chat waiting on PostgreSQL. It stays where
    it is in the list."""
    chats.get(tx, scope, chat_id)
    chats.hold_row(tx, chat_id)
