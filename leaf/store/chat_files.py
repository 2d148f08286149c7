"""Which files are in a chat, and by which names the model knows them there: a handle and a slug that never change or move."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence

from leaf.errors import InvalidInputError, not_found
from leaf.store import chats, files
from leaf.store.database import Database, Row, Transaction, now
from leaf.store.model import ChatFile, File, Scope
from leaf.store.users import params

SLUG_LENGTH = 40
_ASCII = str.maketrans(
    {"ß": "ss", "æ": "ae", "Æ": "ae", "ø": "o", "Ø": "o", "œ": "oe", "Œ": "oe", "ł": "l", "Ł": "l", "đ": "d", "ı": "i"}
)
_RESERVED_WORDS = """
    all analyse analyze and anti any array as asc asof asymmetric at authorization binary both by case cast check collate
    collation column concurrently constraint create cross default deferrable desc describe distinct do else end except false
    fetch for foreign freeze from full glob group having ilike in initially inner intersect into is isnull join lambda
    lateral leading left like limit natural not notnull null offset on only or order outer overlaps pivot pivot_longer
    pivot_wider placing positional primary qualify references returning right select semi show similar some summarize
    symmetric table tablesample then to trailing true union unique unpack unpivot using variadic verbose when where window
    with
"""
"""Words that DuckDB 2.0 does not take as the name of a table without quotes (found by trying its keywords)."""


def slug(name: str, taken: Collection[str] = ()) -> str:
    """A name for SQL made from a file's name: `Q3 Übersicht.xlsx` → `q3_ubersicht`; begins with a letter; `_2` where taken."""
    stem = name.rpartition(".")[0] or name
    folded = unicodedata.normalize("NFKD", stem.translate(_ASCII)).encode("ascii", "ignore").decode().lower()
    plain = re.sub(r"[^a-z0-9]+", "_", folded).strip("_")[:SLUG_LENGTH].strip("_")
    if not plain:
        plain = "file"
    if not plain[0].isalpha() or plain in _RESERVED_WORDS.split():
        plain = f"t_{plain}"
    candidate, number = plain, 1
    while candidate in taken:
        number += 1
        candidate = f"{plain}_{number}"
    return candidate


def attach(db: Database, scope: Scope, chat_id: str, file_ids: Sequence[str], message_id: str = "") -> list[ChatFile]:
    """Put files into the chat, each under the next handle and a slug of its own; those that are there keep theirs.

    Without `message_id` they wait for the next question. Raises NotFoundError.
    """
    with db.transaction() as tx:
        chats.hold(tx, scope, chat_id, now())
        rows = tx.read("SELECT * FROM chat_files WHERE chat_id = :chat ORDER BY position", {"chat": chat_id})
        found = files.get_all(tx, scope, list(dict.fromkeys(file_ids)), chat_id=chat_id)
        return [_attach(tx, rows, chat_id, file, message_id) for file in found]


def attach_again(tx: Transaction, chat_id: str, file: File, name: str, message_id: str) -> ChatFile:
    """Put a file into a chat that the caller holds, under a handle of its own even if the chat has these bytes already."""
    rows = tx.read("SELECT slug, position FROM chat_files WHERE chat_id = :chat", {"chat": chat_id})
    return _insert(tx, rows, chat_id, file, name, message_id)


def attach_as(db: Database, scope: Scope, chat_id: str, file_id: str, handle: str, slug: str) -> ChatFile:
    """Put a file into a chat under names that it has elsewhere. Raises InvalidInputError if one of them is taken."""
    with db.transaction() as tx:
        chats.hold(tx, scope, chat_id, now())
        rows = tx.read("SELECT handle, slug FROM chat_files WHERE chat_id = :chat", {"chat": chat_id})
        if any(handle == r["handle"] or slug == r["slug"] for r in rows):
            raise InvalidInputError(f"'{handle}' or '{slug}' is taken in this chat.")
        file = files.get(tx, scope, file_id, chat_id=chat_id)
        _write(tx, chat_id, handle, slug, file, "", int(handle.removeprefix("f")))
        return ChatFile(chat_id, handle, slug, file)


def detach(db: Database, scope: Scope, chat_id: str, handle: str) -> None:
    """Take a file out of the chat. Its names stay its own if a question has gone out with it. Raises NotFoundError."""
    with db.transaction() as tx:
        chats.get(tx, scope, chat_id)
        rows = tx.read(
            "SELECT handle, message_id FROM chat_files WHERE chat_id = :chat AND detached_at IS NULL ORDER BY position",
            {"chat": chat_id},
        )
        row = next((r for r in rows if r["handle"] == handle), None)
        if row is None:
            raise not_found("file", handle, (str(r["handle"]) for r in rows), "this chat")
        key = {"chat": chat_id, "handle": handle, "at": now()}
        if row["message_id"]:
            tx.execute("UPDATE chat_files SET detached_at = :at WHERE chat_id = :chat AND handle = :handle", key)
        else:
            tx.execute("DELETE FROM chat_files WHERE chat_id = :chat AND handle = :handle", key)


def list_chat_files(db: Database | Transaction, scope: Scope, chat_id: str, *, deleted: bool = False) -> list[ChatFile]:
    """In the order in which they came; files deleted from the library only with `deleted`. Raises NotFoundError."""
    chats.get(db, scope, chat_id)
    live = "" if deleted else "AND f.deleted_at IS NULL "
    rows = db.read(
        f"SELECT k.handle, k.slug, k.message_id, {files.IN_CHAT} FROM chat_files k JOIN files f ON f.id = k.file_id "
        f"WHERE k.chat_id = :chat AND k.detached_at IS NULL AND {files.VISIBLE} {live}ORDER BY k.position",
        params(scope, chat=chat_id),
    )
    return [_chat_file(chat_id, row) for row in rows]


def _attach(tx: Transaction, rows: list[Row], chat_id: str, file: File, message_id: str) -> ChatFile:
    row = next((r for r in rows if r["file_id"] == file.id), None)
    if row is None:
        return _insert(tx, rows, chat_id, file, file.name, message_id)
    if row.get("detached_at") is not None:
        row["detached_at"], row["message_id"] = None, message_id
        tx.execute(
            "UPDATE chat_files SET detached_at = NULL, message_id = :message_id WHERE chat_id = :chat_id AND handle = :handle",
            row,
        )
    return ChatFile(chat_id, str(row["handle"]), str(row["slug"]), file, str(row["message_id"]))


def _insert(tx: Transaction, rows: list[Row], chat_id: str, file: File, name: str, message_id: str) -> ChatFile:
    position = max((int(r["position"]) for r in rows), default=0) + 1
    row = _write(tx, chat_id, f"f{position}", slug(name, {str(r["slug"]) for r in rows}), file, message_id, position)
    rows.append(row)
    return ChatFile(chat_id, str(row["handle"]), str(row["slug"]), file, message_id)


def _write(tx: Transaction, chat_id: str, handle: str, slug: str, file: File, message_id: str, position: int) -> Row:
    row: Row = {
        "chat_id": chat_id,
        "handle": handle,
        "slug": slug,
        "file_id": file.id,
        "message_id": message_id,
        "position": position,
        "at": now(),
    }
    tx.execute(
        "INSERT INTO chat_files (chat_id, handle, slug, file_id, message_id, position, created_at) "
        "VALUES (:chat_id, :handle, :slug, :file_id, :message_id, :position, :at)",
        row,
    )
    return row


def _chat_file(chat_id: str, row: Row) -> ChatFile:
    handle, name, message_id = str(row.pop("handle")), str(row.pop("slug")), str(row.pop("message_id"))
    return ChatFile(chat_id, handle, name, File(**row), message_id)
