"""Pictures made from files, and their copies at model servers. The bytes are in `blobs`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from leaf.errors import NotFoundError
from leaf.store.database import Database, Row, Transaction, now
from leaf.store.model import Scope
from leaf.store.users import MEMBER, params

OURS = f"d.workspace_id = :workspace AND {MEMBER}"
FIGURE = "d.source_sha256 LIKE 'figure:%'"
"""True for what code drew, rather than what was made of a file."""


@dataclass(frozen=True)
class DerivedPicture:
    """A picture made from a file, kept as a blob."""

    source_sha256: str
    page: int
    recipe: str
    sha256: str
    media_type: str
    width: int
    height: int


COLUMNS = "d.source_sha256, d.page, d.recipe, d.sha256, d.media_type, d.width, d.height"


def figure_source(chat_id: str, sha256: str) -> str:
    """What stands in place of a file's hash for a picture that code drew in a chat."""
    return f"figure:{chat_id}:{sha256}"


def find(
    db: Database | Transaction, scope: Scope, source_sha256: str, recipe: str, pages: Sequence[int]
) -> dict[int, DerivedPicture]:
    """Page -> the picture that was made of it, for those of `pages` that were."""
    rows = db.read(
        f"SELECT {COLUMNS} FROM derived_pictures d WHERE d.source_sha256 = :source AND d.recipe = "
        f":recipe AND {OURS}",
        params(scope, source=source_sha256, recipe=recipe),
    )
    return {row["page"]: DerivedPicture(**row) for row in rows if row["page"] in set(pages)}


def keep(db: Database, scope: Scope, made: DerivedPicture, lost: str = "") -> DerivedPicture:
    """Keep what was made of a page, also in the place of a picture of which the bytes are `lost`.
    Where another thread was faster, what that one made stays and is returned."""
    with db.transaction(scope) as tx:
        _check_member(tx, scope)
        if lost and lost != made.sha256:
            tx.execute(
                "DELETE FROM derived_pictures WHERE workspace_id = :workspace AND source_sha256 = "
                ":source AND page = :page AND recipe = :recipe AND sha256 = :lost",
                {
                    "workspace": scope.workspace_id,
                    "source": made.source_sha256,
                    "page": made.page,
                    "recipe": made.recipe,
                    "lost": lost,
                },
            )
        tx.execute(
            """
            INSERT INTO derived_pictures
                (workspace_id, source_sha256, page, recipe, sha256, media_type, width, height, created_at)
            VALUES (:workspace, :source, :page, :recipe, :sha256, :media_type, :width, :height, :at)
            ON CONFLICT (workspace_id, source_sha256, page, recipe) DO NOTHING
            """,
            {
                "workspace": scope.workspace_id,
                "source": made.source_sha256,
                "page": made.page,
                "recipe": made.recipe,
                "sha256": made.sha256,
                "media_type": made.media_type,
                "width": made.width,
                "height": made.height,
                "at": now(),
            },
        )
        return find(tx, scope, made.source_sha256, made.recipe, [made.page])[made.page]


def by_picture(db: Database, scope: Scope, sha256: str) -> DerivedPicture:
    """What is known of a picture by its own bytes. Raises NotFoundError, also for one of another
    workspace."""
    rows = db.read(
        f"SELECT {COLUMNS} FROM derived_pictures d WHERE d.sha256 = :sha256 AND {OURS} LIMIT 1",
        params(scope, sha256=sha256),
    )
    return _first(rows)


def of_file(db: Database, scope: Scope, sha256: str) -> DerivedPicture:
    """The same for one that was made of a file: everybody of the workspace may see it. Raises
    NotFoundError, also for a figure, which is its chat's."""
    rows = db.read(
        f"SELECT {COLUMNS} FROM derived_pictures d WHERE d.sha256 = :sha256 AND NOT {FIGURE} "
        f"AND {OURS} LIMIT 1",
        params(scope, sha256=sha256),
    )
    return _first(rows)


def of_chat(db: Database, scope: Scope, chat_id: str, sha256: str) -> DerivedPicture:
    """The same for a figure that code drew in this chat, which the caller is known to see. Raises
    NotFoundError, also for one of another chat.

    Rows of earlier versions do not name the chat: there a finished answer does.
    """
    rows = db.read(
        f"""
        SELECT {COLUMNS} FROM derived_pictures d WHERE {OURS} AND (d.source_sha256 = :here OR (
            d.source_sha256 = :somewhere AND EXISTS (SELECT 1 FROM messages m
                WHERE m.chat_id = :chat AND m.role = 'assistant'
                AND strpos(CAST(m.parts AS TEXT), :sha256) > 0))) LIMIT 1
        """,
        params(
            scope,
            here=figure_source(chat_id, sha256),
            somewhere=f"figure:{sha256}",
            chat=chat_id,
            sha256=sha256,
        ),
    )
    return _first(rows)


def _first(rows: Sequence[Row]) -> DerivedPicture:
    if not rows:
        raise NotFoundError("This picture is not kept any more.", "Its file was deleted for good.")
    return DerivedPicture(**rows[0])


def model_file(
    db: Database | Transaction, scope: Scope, sha256: str, endpoint: str, at: datetime
) -> str | None:
    """Under which id a model server keeps the picture until `at` or longer, empty if it goes
    inline; None if nothing is known."""
    rows = db.read(
        "SELECT d.file_id FROM model_files d "
        f"WHERE d.sha256 = :sha256 AND d.endpoint = :endpoint AND d.expires_at > :at AND {OURS}",
        params(scope, sha256=sha256, endpoint=endpoint, at=at),
    )
    return str(rows[0]["file_id"]) if rows else None


def keep_model_file(
    db: Database, scope: Scope, sha256: str, endpoint: str, file_id: str, expires_at: datetime
) -> str:
    """Keep the id of an upload; of two uploads at the same time the first one counts. Returns the
    id to use."""
    with db.transaction(scope) as tx:
        _check_member(tx, scope)
        values = {"workspace": scope.workspace_id, "sha256": sha256, "endpoint": endpoint}
        tx.execute(
            "DELETE FROM model_files "
            "WHERE workspace_id = :workspace AND sha256 = :sha256 AND endpoint = :endpoint AND "
            "expires_at <= :at",
            {**values, "at": now()},
        )
        tx.execute(
            """
            INSERT INTO model_files (workspace_id, sha256, endpoint, file_id, expires_at)
            VALUES (:workspace, :sha256, :endpoint, :file_id, :expires_at)
            ON CONFLICT (workspace_id, sha256, endpoint) DO NOTHING
            """,
            {**values, "file_id": file_id, "expires_at": expires_at},
        )
        known = model_file(tx, scope, sha256, endpoint, now())
        return file_id if known is None else known


def forget_model_files(db: Database, scope: Scope, endpoint: str, file_ids: Sequence[str]) -> int:
    """The server does not have these any more. Returns how many of them were known."""
    with db.transaction(scope) as tx:
        _check_member(tx, scope)
        return sum(
            len(
                tx.read(
                    "DELETE FROM model_files WHERE workspace_id = :workspace AND endpoint = "
                    ":endpoint AND file_id = :file_id "
                    "RETURNING file_id",
                    {"workspace": scope.workspace_id, "endpoint": endpoint, "file_id": file_id},
                )
            )
            for file_id in file_ids
        )


def _check_member(tx: Transaction, scope: Scope) -> None:
    if not tx.read(f"SELECT 1 AS yes WHERE {MEMBER}", params(scope)):
        raise NotFoundError("No such workspace.", "Sign in again.")
