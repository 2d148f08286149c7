"""Which files are in a chat, and by which names the model knows them there: a handle and a slug
that never change or move."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from leaf.errors import InvalidInputError, not_found
from leaf.store import chats, file_rows, files
from leaf.store.database import Database, Row, Transaction, now, one_of
from leaf.store.model import ChatFile, File, Scope
from leaf.store.slugs import slug, slugs
from leaf.store.users import params


def attach(
    db: Database, scope: Scope, chat_id: str, file_ids: Sequence[str], message_id: str = ""
) -> list[ChatFile]:
    """Put files into the chat, each under the next handle and a slug of its own; those that are
    there keep theirs.

    Without `message_id` they wait for the next question. Raises NotFoundError.
    """
    with db.transaction(scope) as tx:
        chats.hold(tx, scope, chat_id, now())
        rows = tx.read(
            "SELECT * FROM chat_files WHERE chat_id = :chat ORDER BY position", {"chat": chat_id}
        )
        library_files = files.get_all(tx, scope, list(dict.fromkeys(file_ids)), chat_id=chat_id)
        there = {str(r["file_id"]) for r in rows}
        new = [file for file in library_files if file.id not in there]
        names = dict(
            zip(
                (f.id for f in new),
                slugs([f.name for f in new], {str(r["slug"]) for r in rows}),
                strict=True,
            )
        )
        return [
            _attach(tx, rows, chat_id, file, names.get(file.id, ""), message_id)
            for file in library_files
        ]


def attach_again(tx: Transaction, chat_id: str, file: File, name: str, message_id: str) -> ChatFile:
    """Put a file into a chat that the caller holds, under a handle of its own even if the chat has
    these bytes already."""
    rows = tx.read("SELECT slug, position FROM chat_files WHERE chat_id = :chat", {"chat": chat_id})
    return _insert(tx, rows, chat_id, file, slug(name, {str(r["slug"]) for r in rows}), message_id)


def attach_as(
    db: Database, scope: Scope, chat_id: str, file_id: str, handle: str, slug: str
) -> ChatFile:
    """Put a file into a chat under names that it has elsewhere. Raises InvalidInputError if one of
    them is taken."""
    with db.transaction(scope) as tx:
        chats.hold(tx, scope, chat_id, now())
        rows = tx.read(
            "SELECT handle, slug FROM chat_files WHERE chat_id = :chat", {"chat": chat_id}
        )
        if any(handle == r["handle"] or slug == r["slug"] for r in rows):
            raise InvalidInputError(f"'{handle}' or '{slug}' is taken in this chat.")
        file = files.get(tx, scope, file_id, chat_id=chat_id)
        _write(tx, chat_id, handle, slug, file, "", int(handle.removeprefix("f")))
        return ChatFile(chat_id, handle, slug, file)


def send_in(
    tx: Transaction, chat_id: str, message_id: str, file_ids: Collection[str] | None = None
) -> None:
    """Give files that wait to the question with which they go; None: all that wait. What came beside
    the next question meanwhile, of which the model is not told with this one, waits on."""
    those, ids = ("TRUE", {}) if file_ids is None else one_of("file_id", list(file_ids))
    tx.execute(
        "UPDATE chat_files SET message_id = :message WHERE chat_id = :chat AND message_id = '' "
        f"AND detached_at IS NULL AND {those}",
        {"message": message_id, "chat": chat_id, **ids},
    )


def wait_again_in(tx: Transaction, chat_id: str, message_id: str) -> None:
    """Files and folders of a question that is taken back wait for the next one."""
    for table in ("chat_files", "drive_folders"):
        tx.execute(
            f"UPDATE {table} SET message_id = '' WHERE chat_id = :chat AND message_id = :message",
            {"message": message_id, "chat": chat_id},
        )


def detach(db: Database, scope: Scope, chat_id: str, handle: str) -> None:
    """Take a file out of the chat. Its names stay its own if a question has gone out with it.
    Raises NotFoundError."""
    with db.transaction(scope) as tx:
        chats.get(tx, scope, chat_id)
        rows = tx.read(
            "SELECT handle, message_id FROM chat_files WHERE chat_id = :chat AND detached_at IS "
            "NULL ORDER BY position",
            {"chat": chat_id},
        )
        row = next((r for r in rows if r["handle"] == handle), None)
        if row is None:
            raise not_found("file", handle, (str(r["handle"]) for r in rows), "this chat")
        key = {"chat": chat_id, "handle": handle, "at": now()}
        if row["message_id"]:
            tx.execute(
                "UPDATE chat_files SET detached_at = :at WHERE chat_id = :chat AND "
                "handle = :handle",
                key,
            )
        else:
            tx.execute("DELETE FROM chat_files WHERE chat_id = :chat AND handle = :handle", key)


def list_chat_files(
    db: Database | Transaction, scope: Scope, chat_id: str, *, deleted: bool = False
) -> list[ChatFile]:
    """In the order in which they came; files deleted from the library only with `deleted`. Raises
    NotFoundError."""
    chats.get(db, scope, chat_id)
    live = "" if deleted else "AND f.deleted_at IS NULL "
    values = params(scope, chat=chat_id)
    among = (
        "FROM chat_files k JOIN files f ON f.id = k.file_id WHERE k.chat_id = :chat AND "
        f"k.detached_at IS NULL {live}AND"
    )
    named, order = "SELECT k.handle, k.slug, k.message_id,", "ORDER BY k.position"
    plain = f"{named} {file_rows.PLAIN} {among} f.workspace_id = :workspace {order}"
    rows = file_rows.plain_rows(db, plain, values)
    if rows is None:
        rows = db.read(f"{named} {file_rows.IN_CHAT} {among} {file_rows.VISIBLE} {order}", values)
    return [_chat_file(chat_id, row) for row in rows]


def waiting_names(db: Database, scope: Scope, chat_ids: Sequence[str]) -> dict[str, str]:
    """Chat id -> the name, without its folders, of the first file that waits there for a question, of
    chats that the caller may see and that have one."""
    those, named = one_of("k.chat_id", [*chats.visible_among(db, scope, chat_ids)])
    rows = db.read(
        "SELECT k.chat_id, f.name FROM chat_files k JOIN files f ON f.id = k.file_id WHERE "
        f"{those} AND f.workspace_id = :workspace AND k.message_id = '' AND k.detached_at IS NULL "
        "AND f.deleted_at IS NULL ORDER BY k.position DESC",
        {"workspace": scope.workspace_id, **named},
    )
    return {row["chat_id"]: row["name"].rpartition("/")[2] for row in rows}


def _attach(
    tx: Transaction, rows: list[Row], chat_id: str, file: File, name: str, message_id: str
) -> ChatFile:
    row = next((r for r in rows if r["file_id"] == file.id), None)
    if row is None:
        return _insert(tx, rows, chat_id, file, name, message_id)
    if row.get("detached_at") is not None:
        row["detached_at"], row["message_id"] = None, message_id
        tx.execute(
            "UPDATE chat_files SET detached_at = NULL, message_id = :message_id WHERE chat_id = "
            ":chat_id AND handle = :handle",
            row,
        )
    return ChatFile(chat_id, str(row["handle"]), str(row["slug"]), file, str(row["message_id"]))


def _insert(
    tx: Transaction, rows: list[Row], chat_id: str, file: File, name: str, message_id: str
) -> ChatFile:
    position = max((int(r["position"]) for r in rows), default=0) + 1
    row = _write(tx, chat_id, f"f{position}", name, file, message_id, position)
    rows.append(row)
    return ChatFile(chat_id, str(row["handle"]), str(row["slug"]), file, message_id)


def _write(
    tx: Transaction,
    chat_id: str,
    handle: str,
    slug: str,
    file: File,
    message_id: str,
    position: int,
) -> Row:
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
    handle, name, message_id = (
        str(row.pop("handle")),
        str(row.pop("slug")),
        str(row.pop("message_id")),
    )
    return ChatFile(chat_id, handle, name, File(**row), message_id)
