"""What came later in the place of a file: a file is never changed, so a new version of it is another
file that came under the same name."""

from __future__ import annotations

from collections.abc import Sequence

from leaf.store.database import Database, one_of
from leaf.store.file_rows import COLUMNS, VISIBLE
from leaf.store.model import File, Scope
from leaf.store.users import params


def newer(db: Database, scope: Scope, file_ids: Sequence[str]) -> dict[str, File]:
    """For each of these files the newest that came later under its name, from whoever added it or
    into a chat of the caller's that has it, where that holds something else. A text that Leaf wrote
    has versions of its own."""
    those, ids = one_of("o.id", list(dict.fromkeys(file_ids)))
    rows = db.read(
        f"""
        SELECT o.id AS old_id, o.sha256 AS old_sha256, {COLUMNS}
        FROM files o JOIN files f ON f.workspace_id = o.workspace_id AND f.given_name = o.given_name
        WHERE {those} AND o.workspace_id = :workspace AND {VISIBLE} AND f.id > o.id
            AND f.source <> 'generated' AND o.source <> 'generated' AND f.deleted_at IS NULL
            AND (f.user_id = o.user_id OR EXISTS (
                SELECT 1 FROM chat_files a JOIN chat_files b ON b.chat_id = a.chat_id
                JOIN chat_participants p ON p.chat_id = a.chat_id AND p.user_id = :user
                WHERE a.file_id = o.id AND b.file_id = f.id))
        ORDER BY f.created_at, f.id
        """,
        params(scope, **ids),
    )
    newest_of: dict[str, tuple[str, File]] = {}
    for row in rows:
        old, sha256 = str(row.pop("old_id")), str(row.pop("old_sha256"))
        newest_of[old] = (sha256, File(**row))
    return {old: file for old, (sha256, file) in newest_of.items() if file.sha256 != sha256}
