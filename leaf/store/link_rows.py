"""The rows of public links (see `links`), as they go: one by one, or with what they show."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from leaf.store.database import Database, Row, Transaction, now


def delete(tx: Transaction, link_ids: Iterable[str]) -> list[str]:
    """End these links; returns the hashes of their snapshots, which go unless other rows name them."""
    hashes = []
    for link_id in link_ids:
        values: Row = {"id": link_id}
        rows = tx.read("DELETE FROM shared_links WHERE id = :id RETURNING sha256", values)
        tx.execute("DELETE FROM shared_link_chats WHERE link_id = :id", values)
        hashes += [str(row["sha256"]) for row in rows]
    return hashes


def forget_chat(tx: Transaction, chat_id: str) -> list[str]:
    """The same for all that show anything of a chat."""
    return _forget(
        tx, "SELECT DISTINCT link_id AS id FROM shared_link_chats WHERE chat_id = :of", of=chat_id
    )


def forget_board(tx: Transaction, board_id: str) -> list[str]:
    """The same for those of a board."""
    return _forget(tx, "SELECT id FROM shared_links WHERE board_id = :of", of=board_id)


def forget_maker(tx: Transaction, workspace_id: str, user_id: str) -> list[str]:
    """The same for all that one person made in a workspace."""
    return _forget(
        tx,
        "SELECT id FROM shared_links WHERE workspace_id = :workspace AND user_id = :of",
        workspace=workspace_id,
        of=user_id,
    )


def forget_named(tx: Transaction, user_id: str) -> list[tuple[str, str]]:
    """The same for all whose page names somebody, since they had asked in its chat; workspace and hash
    of each."""
    rows = tx.read(
        "SELECT l.id, l.workspace_id, l.sha256 FROM shared_links l WHERE EXISTS (SELECT 1 FROM "
        "messages m WHERE m.chat_id = l.chat_id AND m.user_id = :user AND "
        "m.created_at <= l.taken_at)",
        {"user": user_id},
    )
    delete(tx, [str(row["id"]) for row in rows])
    return [(str(row["workspace_id"]), str(row["sha256"])) for row in rows]


def unscoped_forget_over(db: Database, kept: timedelta) -> list[tuple[str, str]]:
    """The same for those that ran out so long ago, and for those that came while what they show was
    deleted; workspace and hash of each."""
    with db.transaction() as tx:
        rows = tx.read(
            "SELECT l.id, l.workspace_id, l.sha256 FROM shared_links l WHERE l.expires_at < :horizon "
            "OR EXISTS (SELECT 1 FROM shared_link_chats s WHERE s.link_id = l.id AND NOT EXISTS ("
            "SELECT 1 FROM chats c WHERE c.id = s.chat_id))",
            {"horizon": now() - kept},
        )
        tx.concerns({str(row["workspace_id"]) for row in rows})
        delete(tx, [str(row["id"]) for row in rows])
    return [(str(row["workspace_id"]), str(row["sha256"])) for row in rows]


def _forget(tx: Transaction, those: str, **values: str) -> list[str]:
    return delete(tx, [str(row["id"]) for row in tx.read(those, values)])
