"""Documents as rows: what was written in a chat, with every version. Whoever takes part in the chat
sees them.

The text of a version is a file (see `files`). The chat's handle of a document always leads to the
file of its newest version.
"""

from __future__ import annotations

from dataclasses import dataclass

from leaf.errors import ConflictError, NotFoundError
from leaf.shapes.part_parser import parse_receipts
from leaf.shapes.parts import ReceiptsData
from leaf.store import audit, chat_files, chats, files
from leaf.store.database import Database, Row, Transaction, containing, now
from leaf.store.ids import new_id
from leaf.store.model import Document, DocumentKind, DocumentVersion, File, Scope
from leaf.store.users import MEMBER, params

COLUMNS = """
    d.id, d.workspace_id, d.chat_id, d.user_id, d.title, d.kind, d.document_type, d.file_name, d.media_type, d.version, d.file_id,
    d.handle, d.message_id, d.created_at, d.updated_at, d.deleted_at,
    coalesce((SELECT c.title FROM chats c WHERE c.id = d.chat_id), '') AS chat_title
"""
VISIBLE = (
    "d.workspace_id = :workspace AND EXISTS (SELECT 1 FROM chat_participants p "
    f"WHERE p.chat_id = d.chat_id AND p.user_id = :user) AND {MEMBER}"
)
"""True for the documents (as `d`) that the caller may see."""
VERSION = (
    "v.document_id, v.number, v.file_id, v.sha256, v.size, v.note, v.user_id, v.message_id, "
    "v.created_at"
)


@dataclass(frozen=True)
class NewDocument:
    """What is known of a document before it has a row."""

    chat_id: str
    title: str
    kind: DocumentKind
    document_type: str
    file_name: str
    media_type: str


@dataclass(frozen=True)
class VersionChange:
    """How a version came about."""

    note: str
    """`created`, `edited by hand`, `restored version 2` …"""
    message_id: str = ""
    key: str = ""
    """A change with the key of an earlier one is that one, and is not made again."""


def create(
    db: Database, scope: Scope, new: NewDocument, file: File, change: VersionChange
) -> Document:
    """A document whose first version is this file, under a handle of its own in the chat. Raises
    NotFoundError."""
    with db.transaction(scope) as tx:
        at = now()
        chats.hold(tx, scope, new.chat_id, at)
        if known := by_key(tx, scope, change.key):
            return known
        document_id = new_id()
        attached = chat_files.attach_again(
            tx, new.chat_id, file, new.file_name, change.message_id or document_id
        )
        tx.execute(
            """
            INSERT INTO documents (id, workspace_id, chat_id, user_id, title, kind, document_type, file_name, media_type,
                version, file_id, handle, message_id, created_at, updated_at)
            VALUES (:id, :workspace, :chat, :user, :title, :kind, :type, :name, :media_type,
                1, :file, :handle, :message, :at, :at)
            """,
            params(
                scope,
                id=document_id,
                chat=new.chat_id,
                title=new.title,
                kind=new.kind,
                type=new.document_type,
                name=_document_name(tx, scope, new.file_name, file),
                media_type=new.media_type,
                file=file.id,
                handle=attached.handle,
                message=change.message_id,
                at=at,
            ),
        )
        _add(tx, scope, document_id, 1, file, change)
        return get(tx, scope, document_id)


def add_version(
    db: Database,
    scope: Scope,
    document_id: str,
    file: File,
    change: VersionChange,
    *,
    base: int = 0,
) -> Document:
    """Make this file the newest version; the same bytes as the newest change nothing.

    `base` is the version that the change was made from: raises ConflictError where there is a newer
    one; 0 takes any. Raises NotFoundError, also for a document that was deleted meanwhile.
    """
    with db.transaction(scope) as tx:
        if known := by_key(tx, scope, change.key):
            return known
        tx.execute(
            f"UPDATE documents AS d SET title = d.title WHERE d.id = :id AND {VISIBLE}",
            params(scope, id=document_id),
        )
        document = get(tx, scope, document_id)
        newest = version(tx, scope, document_id, document.version)
        if base and base != document.version:
            raise ConflictError(
                f"'{document.title}' was changed meanwhile: its newest version is "
                f"{document.version} ({newest.note}), "
                f"the change was made from version {base}.",
                "Look at the newest version, and make the change there. Nothing was overwritten.",
            )
        if newest.file_id == file.id:
            return document
        old = files.get(tx, scope, document.file_id, deleted=True)
        name = old.name if old.source == "generated" else document.file_name
        if old.source == "generated" and not _is_newest_elsewhere(tx, old.id, document_id):
            files.rename_in(tx, scope, old, _versioned(name, document.version))
        if file.source == "generated" and not _is_newest_elsewhere(tx, file.id, document_id):
            name = files.rename_in(tx, scope, file, name)
        number = document.version + 1
        _add(tx, scope, document_id, number, file, change)
        tx.execute(
            "UPDATE chat_files SET file_id = :file WHERE chat_id = :chat AND handle = :handle",
            {"file": file.id, "chat": document.chat_id, "handle": document.handle},
        )
        tx.execute(
            "UPDATE documents SET version = :number, file_id = :file, file_name = :name, "
            "updated_at = :at WHERE id = :id",
            {"number": number, "file": file.id, "name": name, "at": now(), "id": document_id},
        )
        return get(tx, scope, document_id)


def get(
    db: Database | Transaction, scope: Scope, document_id: str, *, deleted: bool = False
) -> Document:
    """Raises NotFoundError, which for a deleted document says so; with `deleted` it is found."""
    rows = db.read(
        f"SELECT {COLUMNS} FROM documents d WHERE d.id = :id AND {VISIBLE}",
        params(scope, id=document_id),
    )
    if not rows:
        raise NotFoundError(
            f"No document '{document_id}'.", "See the Documents page for what there is."
        )
    document = Document(**rows[0])
    if document.deleted_at is not None and not deleted:
        raise gone(document)
    return document


def gone(document: Document) -> NotFoundError:
    """What is said of a document that was put away."""
    day = f" on {document.deleted_at:%-d %B %Y}" if document.deleted_at else ""
    return NotFoundError(
        f"The document '{document.title}' was deleted{day}.",
        "It can be restored on the Documents page; nothing was written.",
    )


def by_key(db: Database | Transaction, scope: Scope, key: str) -> Document | None:
    """The document that the call with this key made or changed before, a deleted one too."""
    if not key:
        return None
    rows = db.read(
        f"SELECT {COLUMNS} FROM documents d WHERE {VISIBLE} AND EXISTS "
        "(SELECT 1 FROM document_versions v WHERE v.document_id = d.id AND v.key = :key)",
        params(scope, key=key),
    )
    return Document(**rows[0]) if rows else None


def list_documents(
    db: Database | Transaction,
    scope: Scope,
    *,
    query: str = "",
    chat_id: str = "",
    deleted: bool = False,
    limit: int = 1_000,
    offset: int = 0,
) -> list[Document]:
    """Newest change first. With a query: those whose title, file name, type or chat contain all its
    words."""
    conditions = [VISIBLE, f"d.deleted_at IS {'NOT NULL' if deleted else 'NULL'}"]
    words: Row = {}
    for i, word in enumerate(query.split()[:10]):
        words[f"word{i}"] = containing(word)
        conditions.append(
            "lower(d.title || ' ' || d.file_name || ' ' || d.document_type || ' ' || "
            f"coalesce((SELECT c.title FROM chats c WHERE c.id = d.chat_id), '')) LIKE :word{i} "
            f"ESCAPE '!'"
        )
    if chat_id:
        conditions.append("d.chat_id = :chat")
        words["chat"] = chat_id
    rows = db.read(
        f"SELECT {COLUMNS} FROM documents d WHERE {' AND '.join(conditions)} "
        "ORDER BY d.updated_at DESC, d.id DESC LIMIT :limit OFFSET :offset",
        params(scope, limit=limit, offset=offset, **words),
    )
    return [Document(**row) for row in rows]


def versions(db: Database | Transaction, scope: Scope, document_id: str) -> list[DocumentVersion]:
    """Newest first, each with the name of who made it. Raises NotFoundError."""
    get(db, scope, document_id, deleted=True)
    rows = db.read(
        f"SELECT {VERSION}, coalesce((SELECT u.name FROM users u WHERE u.id = v.user_id), '') "
        f"AS author "
        "FROM document_versions v WHERE v.document_id = :id ORDER BY v.number DESC",
        {"id": document_id},
    )
    return [DocumentVersion(**row) for row in rows]


def version(
    db: Database | Transaction, scope: Scope, document_id: str, number: int
) -> DocumentVersion:
    """Raises NotFoundError for a version or a document that is not there."""
    get(db, scope, document_id, deleted=True)
    rows = db.read(
        f"SELECT {VERSION} FROM document_versions v WHERE v.document_id = :id AND "
        f"v.number = :number",
        {"id": document_id, "number": number},
    )
    if not rows:
        raise NotFoundError(
            f"The document has no version {number}.", "See its versions on the Documents page."
        )
    return DocumentVersion(**rows[0])


def receipts(db: Database, scope: Scope, document_id: str, number: int) -> ReceiptsData | None:
    """What was found for the figures of a version; None where nobody has looked. Raises
    NotFoundError."""
    get(db, scope, document_id, deleted=True)
    rows = db.read(
        "SELECT found FROM document_receipts WHERE document_id = :id AND number = :number",
        {"id": document_id, "number": number},
    )
    return parse_receipts(rows[0]["found"], f"version {number} of a document") if rows else None


def keep_receipts(
    db: Database, scope: Scope, document_id: str, number: int, found: ReceiptsData
) -> None:
    """Keep it; a version never changes, so what is there stays. Raises NotFoundError."""
    with db.transaction(scope) as tx:
        version(tx, scope, document_id, number)
        tx.execute(
            "INSERT INTO document_receipts (document_id, number, found) VALUES (:id, :number, "
            ":found) ON CONFLICT DO NOTHING",
            {"id": document_id, "number": number, "found": found},
        )


def delete(db: Database, scope: Scope, document_id: str) -> Document:
    """Put it away, with its file; `restore` brings both back. Raises NotFoundError."""
    with db.transaction(scope) as tx:
        document = get(tx, scope, document_id)
        tx.execute(
            "UPDATE documents SET deleted_at = :at WHERE id = :id", {"at": now(), "id": document_id}
        )
        if not _is_newest_elsewhere(tx, document.file_id, document_id):
            tx.execute(
                "UPDATE files SET deleted_at = :at WHERE id = :id AND source = 'generated' AND "
                "deleted_at IS NULL",
                {"at": now(), "id": document.file_id},
            )
        audit.add(tx, scope, "document deleted", document_id)
        return get(tx, scope, document_id, deleted=True)


def restore(db: Database, scope: Scope, document_id: str) -> Document:
    """Undo `delete`. Raises NotFoundError."""
    with db.transaction(scope) as tx:
        document = get(tx, scope, document_id, deleted=True)
        tx.execute("UPDATE documents SET deleted_at = NULL WHERE id = :id", {"id": document_id})
        tx.execute(
            "UPDATE files SET deleted_at = NULL WHERE id = :id AND source = 'generated'",
            {"id": document.file_id},
        )
        audit.add(tx, scope, "document restored", document_id)
        return get(tx, scope, document_id)


def of_file(
    db: Database | Transaction, scope: Scope, file_id: str, *, deleted: bool = False
) -> list[Document]:
    """Documents whose newest version is this file."""
    rows = db.read(
        f"SELECT {COLUMNS} FROM documents d WHERE d.file_id = :file AND {VISIBLE} "
        f"AND d.deleted_at IS {'NOT NULL' if deleted else 'NULL'} ORDER BY d.created_at",
        params(scope, file=file_id),
    )
    return [Document(**row) for row in rows]


def _add(
    tx: Transaction, scope: Scope, document_id: str, number: int, file: File, change: VersionChange
) -> None:
    tx.execute(
        """
        INSERT INTO document_versions (document_id, number, file_id, sha256, size, note, user_id, message_id, key, created_at)
        VALUES (:id, :number, :file, :sha256, :size, :note, :user, :message, :key, :at)
        """,
        params(
            scope,
            id=document_id,
            number=number,
            file=file.id,
            sha256=file.sha256,
            size=file.size,
            note=change.note,
            message=change.message_id,
            key=change.key,
            at=now(),
        ),
    )


def _is_newest_elsewhere(tx: Transaction, file_id: str, document_id: str) -> bool:
    """Whether another document that is not deleted has the same text, and so the same file."""
    return bool(
        tx.read(
            "SELECT 1 AS yes FROM documents WHERE file_id = :file AND id <> :id AND "
            "deleted_at IS NULL",
            {"file": file_id, "id": document_id},
        )
    )


def _document_name(tx: Transaction, scope: Scope, name: str, file: File) -> str:
    """The name of its file; where that file is another's as well, `Summary (2).md` …, which no file
    and no document has."""
    rows = tx.read(
        "SELECT file_name AS name FROM documents WHERE workspace_id = :workspace", params(scope)
    )
    taken = {str(row["name"]) for row in rows}
    return (
        name if name == file.name and name not in taken else files.free_name(tx, scope, name, taken)
    )


def _versioned(name: str, number: int) -> str:
    """`Summary.md` → `Summary, version 1.md`."""
    stem, dot, ending = name.rpartition(".")
    return f"{stem or name}, version {number}{dot if stem else ''}{ending if stem else ''}"
