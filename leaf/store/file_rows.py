"""What is read of a file (as `f`), and who may see it."""

from __future__ import annotations

from leaf.store import file_contexts
from leaf.store.database import Database, Row, Transaction, one_of
from leaf.store.users import MEMBER

PLAIN = """
    f.id, f.workspace_id, f.user_id, f.name, f.media_type, f.kind, f.size, f.sha256, f.source, f.outline, f.created_at,
    f.deleted_at, COALESCE(f.parent_id, '') AS parent_id
"""
COLUMNS = f"{PLAIN}, {file_contexts.SEEN} AS upload_context"
IN_CHAT = f"{PLAIN}, {file_contexts.SEEN_IN_CHAT} AS upload_context"
"""The same for work in the chat `:chat`, where only such words about files stand as everybody there
may read."""
VISIBLE = f"""f.workspace_id = :workspace AND {MEMBER} AND (f.source <> 'generated' OR (
    SELECT max(1) FROM document_versions v JOIN documents d ON d.id = v.document_id JOIN
        chat_participants p ON p.chat_id = d.chat_id WHERE v.file_id = f.id AND p.user_id = :user) = 1
    OR (f.user_id = :user AND (SELECT max(1) FROM document_versions v WHERE v.file_id = f.id) IS NULL))"""
"""True for the files (as `f`) that the caller may see: of texts of documents those of their chats. One
written just now is no version yet. With EXISTS, PostgreSQL would read all versions first."""
OURS = f"f.workspace_id = :workspace AND {MEMBER}"
LISTED = """(f.source <> 'generated' OR EXISTS (
    SELECT 1 FROM documents d JOIN chat_participants p ON p.chat_id = d.chat_id WHERE d.file_id = f.id AND p.user_id = :user))"""
"""True for the files that stand in the library: not for earlier versions of documents, nor for
other people's documents."""


def plain_rows(db: Database | Transaction, sql: str, given: Row) -> list[Row] | None:
    """Files by a statement that gives `PLAIN` of files of the workspace, where that is all there is
    to them: none is a document's, and nobody wrote words about one. None where it is not, or where
    that is asked best in one statement (see `chats.seen`)."""
    if db.engine == "postgres":
        return None
    rows = db.read(sql, {name: given[name] for name in given if f":{name}" in sql})
    those, ids = one_of("x.file_id", [str(row["id"]) for row in rows])
    if any(row["source"] == "generated" for row in rows) or (
        rows and db.read(f"SELECT x.file_id FROM file_contexts x WHERE {those} LIMIT 1", ids)
    ):
        return None
    return [{**row, "upload_context": ""} for row in rows]
