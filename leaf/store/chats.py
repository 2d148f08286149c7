"""Chats: begin, find, rename, delete with undo. A chat is visible to those members of its workspace
who take part in it."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from leaf.errors import InvalidInputError, NotFoundError
from leaf.store import audit, chat_search
from leaf.store.database import (
    Database,
    Params,
    Row,
    Transaction,
    composed,
    containing,
    now,
    one_of,
    searched,
)
from leaf.store.ids import new_id
from leaf.store.model import Chat, Scope
from leaf.store.users import MEMBER, params

_PLAIN = "c.id, c.workspace_id, c.user_id, c.title, c.model, c.head_id, c.created_at, c.updated_at, c.deleted_at"
COLUMNS = f"""
    {_PLAIN}, (SELECT count(*) FROM chat_participants q WHERE q.chat_id = c.id) > 1 AS shared
"""
VISIBLE = (
    "c.workspace_id = :workspace AND EXISTS (SELECT 1 FROM chat_participants p "
    f"WHERE p.chat_id = c.id AND p.user_id = :user) AND {MEMBER}"
)
"""True for the chats (as `c`) that the caller may see."""
TITLE_LENGTH = 200
BELONGING = (
    "run_leases",
    "messages",
    "chat_files",
    "drive_folders",
    "documents",
    "cells",
    "edited_steps",
    "board_pins",
    "shared_links",
    "shared_link_chats",
    "open_chats",
    "made_files",
    "results",
    "result_numbers",
    "consents",
    "chat_packages",
    "project_chats",
    "told_instructions",
    "chat_signatures",
    "chat_participants",
)
"""Tables whose rows belong to a chat, and go with it."""
NEWEST = 2_000
"""Chats in which a word is looked for first."""
LATER = "greatest(:at, c.updated_at + INTERVAL '1 microsecond')"
"""What `updated_at` is set to by whoever writes a chat (as `c`) at that moment: never what it was at
an earlier write, whatever the clock does. Signatures rest on that."""
_ORDER = "ORDER BY c.updated_at DESC, c.id DESC"


def create(db: Database, scope: Scope, *, title: str = "", model: str = "") -> Chat:
    """An empty chat in which the caller takes part. Raises NotFoundError if the caller is not of
    the workspace."""
    with db.transaction(scope) as tx:
        return create_in(tx, scope, title=title, model=model)


def create_in(tx: Transaction, scope: Scope, *, title: str = "", model: str = "") -> Chat:
    """The same in a transaction."""
    at = now()
    chat = Chat(new_id(), scope.workspace_id, scope.user_id, _clean(title), model, "", at, at)
    if not tx.read(f"SELECT 1 AS yes WHERE {MEMBER}", params(scope)):
        raise NotFoundError("No such workspace.", "Sign in again.")
    tx.execute(
        "INSERT INTO chats (id, workspace_id, user_id, title, model, head_id, created_at, "
        "updated_at) "
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
    row = seen(db, scope, chat_id)
    if row is None:
        raise no_chat(chat_id)
    chat = Chat(**row)
    if chat.deleted_at is not None and not deleted:
        raise NotFoundError(
            f"The chat '{chat.title or 'Untitled'}' was deleted.", "Restore it to go on with it."
        )
    return chat


def seen(db: Database | Transaction, scope: Scope, chat_id: str) -> Row | None:
    """The row of a chat that the caller may see, deleted or not."""
    values = params(scope, id=chat_id)
    if db.engine == "postgres":
        rows = db.read(f"SELECT {COLUMNS} FROM chats c WHERE c.id = :id AND {VISIBLE}", values)
        return rows[0] if rows else None
    # DuckDB plans each statement anew, and one of several tables for longer than three of one each
    # take together; who takes part and who belongs to what is also remembered (`ReadCache`).
    here = "SELECT q.user_id FROM chat_participants q WHERE q.chat_id = :id"
    people = [row["user_id"] for row in db.read(here, {"id": chat_id})]
    if scope.user_id not in people or not db.read(f"SELECT 1 AS yes WHERE {MEMBER}", params(scope)):
        return None
    rows = db.read(
        f"SELECT {_PLAIN} FROM chats c WHERE c.id = :id AND c.workspace_id = :workspace",
        {"id": chat_id, "workspace": scope.workspace_id},
    )
    return {**rows[0], "shared": len(people) > 1} if rows else None


def visible_among(db: Database, scope: Scope, chat_ids: Collection[str]) -> frozenset[str]:
    """Those of the chats that the caller may see."""
    those, ids = one_of("c.id", list(chat_ids))
    rows = db.read(f"SELECT c.id FROM chats c WHERE {those} AND {VISIBLE}", params(scope, **ids))
    return frozenset(str(row["id"]) for row in rows)


def unfinished_among(db: Database, scope: Scope, chat_ids: Collection[str]) -> frozenset[str]:
    """Those of the chats that the caller may see and in which an answer waits or is being
    written."""
    those, ids = one_of("c.id", list(chat_ids))
    rows = db.read(
        "SELECT DISTINCT c.id FROM chats c JOIN messages m ON m.chat_id = c.id WHERE "
        f"{those} AND m.status IN ('pending', 'streaming') AND {VISIBLE}",
        params(scope, **ids),
    )
    return frozenset(str(row["id"]) for row in rows)


def list_chats(
    db: Database,
    scope: Scope,
    *,
    query: str = "",
    deleted: bool = False,
    limit: int = 200,
    offset: int = 0,
) -> list[Chat]:
    """Newest activity first. With a query: those in whose title or messages all its words occur."""
    words = searched(query).split()[:10]
    if words and db.engine == "duckdb":
        chat_ids = chat_search.find(
            db, scope, words, deleted=deleted, newest=NEWEST, wanted=offset + limit
        )
        return _these(db, scope, chat_ids[offset : offset + limit])
    condition = f"{VISIBLE} AND c.deleted_at IS {'NOT NULL' if deleted else 'NULL'}"
    patterns = {f"pattern{i}": containing(word) for i, word in enumerate(words)}
    values = params(scope, limit=limit, offset=offset, **patterns)
    if (
        words
        and (found_newest := _among_newest(db, scope, condition, values, len(words))) is not None
    ):
        return found_newest
    return _listed(db, scope, [condition, *map(_anywhere, range(len(words)))], values)


def _among_newest(
    db: Database, scope: Scope, condition: str, values: Params, words: int
) -> list[Chat] | None:
    """The same search in the newest chats alone, whose messages are read one by one; None where
    those were not enough. A common word is found there, without asking where else it stands."""
    newest = f"SELECT c.id FROM chats c WHERE {condition} {_ORDER} LIMIT {NEWEST}"
    (there,) = db.read(f"SELECT count(*) AS chats, min(n.id) AS oldest FROM ({newest}) n", values)
    holding = map(_in_chat, range(words))
    among = f"c.id IN (SELECT n.id FROM ({newest}) n)"
    matches = _listed(
        db, scope, [condition, among, *holding], {**values, "oldest": there["oldest"]}
    )
    return matches if len(matches) == values["limit"] or there["chats"] < NEWEST else None


def _listed(db: Database, scope: Scope, conditions: list[str], values: Params) -> list[Chat]:
    """Which chats they are first: whatever else is said of a chat would be read of all of them."""
    chosen = db.read(
        f"SELECT c.id FROM chats c WHERE {' AND '.join(conditions)} {_ORDER} "
        "LIMIT :limit OFFSET :offset",
        values,
    )
    return _these(db, scope, [str(row["id"]) for row in chosen])


def _these(db: Database, scope: Scope, chat_ids: list[str]) -> list[Chat]:
    """Those of them that the caller may see, the newest activity first."""
    those, ids = one_of("c.id", chat_ids)
    rows = db.read(
        f"SELECT {COLUMNS} FROM chats c WHERE {VISIBLE} AND {those} {_ORDER}", params(scope, **ids)
    )
    return [Chat(**row) for row in rows]


def _in_chat(number: int) -> str:
    """True on PostgreSQL for a chat with this word; looks at the messages of that chat."""
    return (
        f"(lower(c.title) {_like(number)} OR EXISTS (SELECT 1 FROM messages x "
        f"WHERE x.chat_id = c.id AND x.chat_id >= :oldest AND x.words {_like(number)}))"
    )


def _anywhere(number: int) -> str:
    """The same; looks for all messages with this word, by the index."""
    return (
        f"c.id IN (SELECT t.id FROM chats t WHERE t.workspace_id = :workspace AND "
        f"lower(t.title) {_like(number)} UNION ALL SELECT x.chat_id FROM messages x "
        f"WHERE x.words {_like(number)})"
    )


def _like(number: int) -> str:
    return f"LIKE :pattern{number} ESCAPE '!'"


def rename(db: Database, scope: Scope, chat_id: str, title: str) -> Chat:
    """Raises NotFoundError, and InvalidInputError for an empty title."""
    if not _clean(title):
        raise InvalidInputError("A chat needs a title.", "Type at least one letter.")
    return _update(db, scope, chat_id, "title = :value", _clean(title))


def retitle(db: Database, scope: Scope, chat_id: str, before: str, title: str) -> bool:
    """Give a chat another title if it still has that one, and whether it did. A chat that is gone,
    or not the caller's any more, is left alone."""
    with db.transaction(scope) as tx:
        return bool(
            tx.read(
                "UPDATE chats AS c SET title = :title WHERE c.id = :id AND c.title = :before AND "
                f"c.deleted_at IS NULL AND {VISIBLE} RETURNING c.id",
                params(scope, id=chat_id, before=composed(before), title=_clean(title)),
            )
        )


def set_model(db: Database, scope: Scope, chat_id: str, model: str) -> Chat:
    """Choose the model of this chat; empty for the default. Raises NotFoundError."""
    return _update(db, scope, chat_id, "model = :value", model)


def forget_models(db: Database, scope: Scope) -> None:
    """Let all chats of the caller have the default model, since other models can be chosen now."""
    with db.transaction(scope) as tx:
        tx.execute(
            "UPDATE chats SET model = '' WHERE workspace_id = :workspace AND user_id = :user "
            f"AND model <> '' AND {MEMBER}",
            params(scope),
        )


def set_head(db: Database, scope: Scope, chat_id: str, message_id: str) -> Chat:
    """Show the branch that ends with this message of the chat. Raises NotFoundError."""
    with db.transaction(scope) as tx:
        get(tx, scope, chat_id)
        if not tx.read(
            "SELECT id FROM messages WHERE id = :id AND chat_id = :chat",
            {"id": message_id, "chat": chat_id},
        ):
            raise NotFoundError(f"No message '{message_id}' in this chat.", "Open the chat again.")
        tx.execute(
            "UPDATE chats SET head_id = :head WHERE id = :id", {"head": message_id, "id": chat_id}
        )
        return get(tx, scope, chat_id)


def delete(db: Database, scope: Scope, chat_id: str) -> Chat:
    """Put it away; `restore` brings it back. Raises NotFoundError, and InvalidInputError for one
    who only takes part."""
    with db.transaction(scope) as tx:
        check_host(tx, scope, chat_id, "delete it")
        return _update_in(tx, scope, chat_id, "deleted_at = :value", now(), "chat deleted")


def restore(db: Database, scope: Scope, chat_id: str) -> Chat:
    """Undo `delete`. Raises NotFoundError."""
    with db.transaction(scope) as tx:
        return _update_in(tx, scope, chat_id, "deleted_at = :value", None, "chat restored")


def delete_rows(tx: Transaction, those: str, given: Params) -> None:
    """Delete all rows of chats; `those` is SQL that gives their ids. What was used stays counted.
    Who calls has checked who asks; see `removal`."""
    documents = f"SELECT id FROM documents WHERE chat_id IN ({those})"
    for table in ("document_receipts", "document_versions"):
        tx.execute(f"DELETE FROM {table} WHERE document_id IN ({documents})", given)
    for table in BELONGING:
        tx.execute(f"DELETE FROM {table} WHERE chat_id IN ({those})", given)
    tx.execute(f"DELETE FROM chats WHERE id IN ({those})", given)


def hold(tx: Transaction, scope: Scope, chat_id: str, at: datetime) -> Chat:
    """The chat, with its newest activity set, kept from other writers until the transaction ends.
    Raises NotFoundError.

    The update is what makes a second writer wait on PostgreSQL; DuckDB has one writer anyway.
    """
    tx.execute(
        f"UPDATE chats AS c SET updated_at = {LATER} WHERE c.id = :id AND {VISIBLE}",
        params(scope, id=chat_id, at=at),
    )
    return get(tx, scope, chat_id)


def hold_row(tx: Transaction, chat_id: str) -> None:
    """Keep other changes of a chat waiting on PostgreSQL. It stays where it is in the list, and who
    calls looks at what may be seen of it afterwards."""
    tx.execute("UPDATE chats SET title = title WHERE id = :id", {"id": chat_id})


def hold_of(tx: Transaction, scope: Scope, message_id: str) -> None:
    """Keep the chat of a message, where the caller sees it, from other writers until the
    transaction ends. Nothing of it changes, so nobody is told."""
    if tx.engine == "postgres":  # DuckDB has one writer at a time
        tx.execute(
            "UPDATE chats AS c SET updated_at = c.updated_at WHERE c.id = (SELECT m.chat_id FROM "
            f"messages m WHERE m.id = :message) AND {VISIBLE}",
            params(scope, message=message_id),
        )


def host_of(db: Database | Transaction, chat_id: str) -> tuple[str, str]:
    """Id and name of whoever has been in the chat longest. For chats that the caller was found to
    be in."""
    rows = db.read(
        "SELECT u.id, u.name FROM chat_participants p JOIN users u ON u.id = p.user_id WHERE "
        "p.chat_id = :chat "
        "ORDER BY p.created_at, u.id LIMIT 1",
        {"chat": chat_id},
    )
    return str(rows[0]["id"]), str(rows[0]["name"])


def check_host(tx: Transaction, scope: Scope, chat_id: str, what: str) -> None:
    """Raises NotFoundError, and InvalidInputError where the chat is in another's hands."""
    get(tx, scope, chat_id, deleted=True)
    host, name = host_of(tx, chat_id)
    if host != scope.user_id:
        raise InvalidInputError(
            f"This chat is shared by {name}; only they can {what}.", "You can leave it."
        )


def no_chat(chat_id: str) -> NotFoundError:
    """Said alike for a chat that is not there and one that is somebody else's."""
    return NotFoundError(
        f"No chat '{chat_id}'.", "It may have been deleted; see the list of chats."
    )


def _update(db: Database, scope: Scope, chat_id: str, change: str, value: object) -> Chat:
    with db.transaction(scope) as tx:
        return _update_in(tx, scope, chat_id, change, value)


def _update_in(
    tx: Transaction, scope: Scope, chat_id: str, change: str, value: object, action: str = ""
) -> Chat:
    """`action` is what the audit log says; only a restored chat may have been deleted before."""
    get(tx, scope, chat_id, deleted=action == "chat restored")
    tx.execute(f"UPDATE chats SET {change} WHERE id = :id", {"value": value, "id": chat_id})
    if action:
        audit.add(tx, scope, action, chat_id)
    return get(tx, scope, chat_id, deleted=True)


def _clean(title: str) -> str:
    return " ".join(composed(title).split())[:TITLE_LENGTH]
