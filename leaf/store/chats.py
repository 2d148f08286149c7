"""Chats: begin, find, rename, delete with undo. A chat is visible to those members of its workspace who take part in it."""

from __future__ import annotations

from datetime import datetime

from leaf.errors import InvalidInputError, NotFoundError
from leaf.store.database import Database, Row, Transaction, containing, now
from leaf.store.ids import new_id
from leaf.store.model import Chat, Scope
from leaf.store.users import MEMBER, params

COLUMNS = """
    c.id, c.workspace_id, c.user_id, c.title, c.model, c.head_id, c.created_at, c.updated_at, c.deleted_at,
    (SELECT count(*) FROM chat_participants q WHERE q.chat_id = c.id) > 1 AS shared
"""
VISIBLE = (
    "c.workspace_id = :workspace AND EXISTS (SELECT 1 FROM chat_participants p "
    f"WHERE p.chat_id = c.id AND p.user_id = :user) AND {MEMBER}"
)
"""True for the chats (as `c`) that the caller may see."""
TITLE_LENGTH = 200


def create(db: Database, scope: Scope, *, title: str = "", model: str = "") -> Chat:
    """An empty chat in which the caller takes part. Raises NotFoundError if the caller is not of the workspace."""
    at = now()
    chat = Chat(new_id(), scope.workspace_id, scope.user_id, _clean(title), model, "", at, at)
    with db.transaction(scope) as tx:
        if not tx.read(f"SELECT 1 AS yes WHERE {MEMBER}", params(scope)):
            raise NotFoundError("No such workspace.", "Sign in again.")
        tx.execute(
            "INSERT INTO chats (id, workspace_id, user_id, title, model, head_id, created_at, updated_at) "
            "VALUES (:id, :workspace, :user, :title, :model, '', :at, :at)",
            params(scope, id=chat.id, title=chat.title, model=model, at=at),
        )
        tx.execute(
            "INSERT INTO chat_participants (chat_id, user_id, created_at) VALUES (:id, :user, :at)",
            {"id": chat.id, "user": scope.user_id, "at": at},
        )
    return chat


def get(db: Database | Transaction, scope: Scope, chat_id: str, *, deleted: bool = False) -> Chat:
    """Raises NotFoundError; a deleted chat is found only with `deleted`."""
    rows = db.read(f"SELECT {COLUMNS} FROM chats c WHERE c.id = :id AND {VISIBLE}", params(scope, id=chat_id))
    if not rows:
        raise no_chat(chat_id)
    chat = Chat(**rows[0])
    if chat.deleted_at is not None and not deleted:
        raise NotFoundError(f"The chat '{chat.title or 'Untitled'}' was deleted.", "Restore it to go on with it.")
    return chat


def list_chats(
    db: Database, scope: Scope, *, query: str = "", deleted: bool = False, limit: int = 200, offset: int = 0
) -> list[Chat]:
    """Newest activity first. With a query: those in whose title or messages all its words occur."""
    conditions = [VISIBLE, f"c.deleted_at IS {'NOT NULL' if deleted else 'NULL'}"]
    words: Row = {}
    for i, word in enumerate(query.split()[:10]):
        words[f"word{i}"] = containing(word)
        conditions.append(
            f"(lower(c.title) LIKE :word{i} ESCAPE '!' OR EXISTS (SELECT 1 FROM messages x "
            f"WHERE x.chat_id = c.id AND x.words LIKE :word{i} ESCAPE '!'))"
        )
    rows = db.read(
        f"SELECT {COLUMNS} FROM chats c WHERE {' AND '.join(conditions)} "
        "ORDER BY c.updated_at DESC, c.id DESC LIMIT :limit OFFSET :offset",
        params(scope, limit=limit, offset=offset, **words),
    )
    return [Chat(**row) for row in rows]


def rename(db: Database, scope: Scope, chat_id: str, title: str) -> Chat:
    """Raises NotFoundError, and InvalidInputError for an empty title."""
    if not _clean(title):
        raise InvalidInputError("A chat needs a title.", "Type at least one letter.")
    return _update(db, scope, chat_id, "title = :value", _clean(title))


def set_model(db: Database, scope: Scope, chat_id: str, model: str) -> Chat:
    """Choose the model of this chat; empty for the default. Raises NotFoundError."""
    return _update(db, scope, chat_id, "model = :value", model)


def set_head(db: Database, scope: Scope, chat_id: str, message_id: str) -> Chat:
    """Show the branch that ends with this message of the chat. Raises NotFoundError."""
    with db.transaction(scope) as tx:
        get(tx, scope, chat_id)
        if not tx.read("SELECT id FROM messages WHERE id = :id AND chat_id = :chat", {"id": message_id, "chat": chat_id}):
            raise NotFoundError(f"No message '{message_id}' in this chat.", "Open the chat again.")
        tx.execute("UPDATE chats SET head_id = :head WHERE id = :id", {"head": message_id, "id": chat_id})
        return get(tx, scope, chat_id)


def delete(db: Database, scope: Scope, chat_id: str) -> Chat:
    """Put it away; `restore` brings it back. Raises NotFoundError, and InvalidInputError for one who only takes part."""
    with db.transaction(scope) as tx:
        check_host(tx, scope, chat_id, "delete it")
    return _update(db, scope, chat_id, "deleted_at = :value", now())


def restore(db: Database, scope: Scope, chat_id: str) -> Chat:
    """Undo `delete`. Raises NotFoundError."""
    return _update(db, scope, chat_id, "deleted_at = :value", None, deleted=True)


def purge(db: Database, scope: Scope, chat_id: str) -> None:
    """Delete for good, with its messages. Files stay in the library, and what was used stays counted.

    Raises NotFoundError, and InvalidInputError for one who only takes part.
    """
    with db.transaction(scope) as tx:
        check_host(tx, scope, chat_id, "delete it")
        for statement in (
            "DELETE FROM messages WHERE chat_id = :id",
            "DELETE FROM chat_files WHERE chat_id = :id",
            "DELETE FROM drive_folders WHERE chat_id = :id",
            "DELETE FROM document_receipts WHERE document_id IN (SELECT id FROM documents WHERE chat_id = :id)",
            "DELETE FROM document_versions WHERE document_id IN (SELECT id FROM documents WHERE chat_id = :id)",
            "DELETE FROM documents WHERE chat_id = :id",
            "DELETE FROM cells WHERE chat_id = :id",
            "DELETE FROM made_files WHERE chat_id = :id",
            "DELETE FROM consents WHERE chat_id = :id",
            "DELETE FROM chat_participants WHERE chat_id = :id",
            "DELETE FROM chats WHERE id = :id",
        ):
            tx.execute(statement, {"id": chat_id})


def hold(tx: Transaction, scope: Scope, chat_id: str, at: datetime) -> Chat:
    """The chat, with its newest activity set, kept from other writers until the transaction ends. Raises NotFoundError.

    The update is what makes a second writer wait on PostgreSQL; DuckDB has one writer anyway.
    """
    tx.execute(f"UPDATE chats AS c SET updated_at = :at WHERE c.id = :id AND {VISIBLE}", params(scope, id=chat_id, at=at))
    return get(tx, scope, chat_id)


def host_of(db: Database | Transaction, chat_id: str) -> tuple[str, str]:
    """Id and name of whoever has been in the chat longest. For chats that the caller was found to be in."""
    rows = db.read(
        "SELECT u.id, u.name FROM chat_participants p JOIN users u ON u.id = p.user_id WHERE p.chat_id = :chat "
        "ORDER BY p.created_at, u.id LIMIT 1",
        {"chat": chat_id},
    )
    return str(rows[0]["id"]), str(rows[0]["name"])


def check_host(tx: Transaction, scope: Scope, chat_id: str, what: str) -> None:
    """Raises NotFoundError, and InvalidInputError where the chat is in another's hands."""
    get(tx, scope, chat_id, deleted=True)
    host, name = host_of(tx, chat_id)
    if host != scope.user_id:
        raise InvalidInputError(f"This chat is shared by {name}; only they can {what}.", "You can leave it.")


def no_chat(chat_id: str) -> NotFoundError:
    """Said alike for a chat that is not there and one that is somebody else's."""
    return NotFoundError(f"No chat '{chat_id}'.", "It may have been deleted; see the list of chats.")


def _update(db: Database, scope: Scope, chat_id: str, change: str, value: object, *, deleted: bool = False) -> Chat:
    with db.transaction(scope) as tx:
        get(tx, scope, chat_id, deleted=deleted)
        tx.execute(f"UPDATE chats SET {change} WHERE id = :id", {"value": value, "id": chat_id})
        return get(tx, scope, chat_id, deleted=True)


def _clean(title: str) -> str:
    return " ".join(title.split())[:TITLE_LENGTH]
