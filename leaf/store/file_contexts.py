"""What people wrote about files, and who may read it: the writer, those who take part in the chat
in which it was written, and everybody of the workspace once the writer shares it."""

from __future__ import annotations

from leaf.store.database import Database, Transaction, now
from leaf.store.model import Scope
from leaf.store.users import params


def _joined(condition: str) -> str:
    """All words on a file (as `f`) that meet a condition on their rows (as `x`), oldest first, a
    line each."""
    return (
        "COALESCE((SELECT string_agg(x.words, chr(10) ORDER BY x.created_at, x.chat_id) "
        f"FROM file_contexts x WHERE x.file_id = f.id AND {condition}), '')"
    )


SEEN = _joined(
    "(x.shared OR x.user_id = :user OR EXISTS "
    "(SELECT 1 FROM chat_participants o WHERE o.chat_id = x.chat_id AND o.user_id = :user))"
)
"""What the caller may read."""
SEEN_IN_CHAT = _joined(
    "(x.shared OR x.chat_id = :chat OR (x.user_id = :user AND "
    "(SELECT count(*) FROM chat_participants o WHERE o.chat_id = :chat) < 2))"
)
"""What may be said in a chat, where all who take part can read it; in a chat of the caller alone,
all of the caller's words."""


def own(db: Database | Transaction, scope: Scope, file_id: str) -> tuple[str, bool]:
    """What the caller wrote about a file, and whether all of it is shared."""
    rows = _rows(db, scope, file_id)
    return "\n".join(str(r["words"]) for r in rows), bool(rows) and all(r["shared"] for r in rows)


def add(tx: Transaction, scope: Scope, file_id: str, words: str, *, shared: bool = False) -> None:
    """Keep further words that the caller wrote outside of chats, unless they are there. Who calls
    checks the file."""
    there = next((r for r in _rows(tx, scope, file_id) if not r["chat_id"]), None)
    before = str(there["words"]) if there else ""
    words = words.strip()
    if not words or words in before:
        return
    if there:
        tx.execute(
            "DELETE FROM file_contexts WHERE file_id = :file AND user_id = :user AND chat_id = ''",
            {"file": file_id, "user": scope.user_id},
        )
    # What was not shared stays so, whatever is added to it.
    _write(
        tx,
        scope,
        file_id,
        f"{before}\n{words}".strip(),
        "",
        shared and (there is None or bool(there["shared"])),
    )


def replace(
    tx: Transaction, scope: Scope, file_id: str, words: str, *, chat_id: str, shared: bool
) -> None:
    """Put these words in place of all that the caller wrote about the file; empty ones take it
    away.

    Words that were written in one chat stay there; those of several are then the caller's alone,
    unless shared.
    """
    chats = {str(r["chat_id"]) for r in _rows(tx, scope, file_id)}
    place = chat_id or (chats.pop() if len(chats) == 1 else "")
    tx.execute(
        "DELETE FROM file_contexts WHERE file_id = :file AND user_id = :user",
        {"file": file_id, "user": scope.user_id},
    )
    if words.strip():
        _write(tx, scope, file_id, words.strip(), place, shared)


def forget(tx: Transaction, file_id: str) -> None:
    """With the file."""
    tx.execute("DELETE FROM file_contexts WHERE file_id = :file", {"file": file_id})


def _rows(db: Database | Transaction, scope: Scope, file_id: str) -> list[dict[str, object]]:
    return db.read(
        "SELECT x.chat_id, x.words, x.shared FROM file_contexts x WHERE x.file_id = :file AND "
        "x.user_id = :user "
        "ORDER BY x.created_at, x.chat_id",
        params(scope, file=file_id),
    )


def _write(
    tx: Transaction, scope: Scope, file_id: str, words: str, chat_id: str, shared: bool
) -> None:
    tx.execute(
        "INSERT INTO file_contexts (file_id, user_id, chat_id, words, shared, created_at) "
        "VALUES (:file, :user, :chat, :words, :shared, :at)",
        {
            "file": file_id,
            "user": scope.user_id,
            "chat": chat_id,
            "words": words,
            "shared": shared,
            "at": now(),
        },
    )
