"""Links that anyone may open: each shows one snapshot of a chat or a board.

Of the token that stands in the address only the SHA-256 is kept. A link is made by whoever is the host
of every chat of which the snapshot shows something, be it pinned on a board, and opens while they still
are, belong to the workspace, and none of these chats was put away; what is deleted for good takes the
links that show it along.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from leaf.errors import InvalidInputError, NotFoundError
from leaf.store import audit, boards, chats, link_rows, project_chats
from leaf.store.database import Database, Transaction, now
from leaf.store.ids import new_id
from leaf.store.model import Scope
from leaf.store.seniority import after_all
from leaf.store.usage import OWNER
from leaf.store.users import MEMBER, params

LinkState = Literal["open", "expired", "resting"]
MOST = 20
"""Links of one chat or board."""
_MAKERS = (
    "EXISTS (SELECT 1 FROM workspace_members w WHERE w.workspace_id = l.workspace_id AND "
    "w.user_id = l.user_id)"
)
_THERE = f"""
    ({_MAKERS} AND NOT EXISTS (SELECT 1 FROM shared_link_chats s WHERE s.link_id = l.id AND NOT EXISTS (
        SELECT 1 FROM chats c JOIN chat_participants q ON q.chat_id = c.id AND q.user_id = l.user_id
        WHERE c.id = s.chat_id AND c.deleted_at IS NULL AND NOT EXISTS (
            SELECT 1 FROM chat_participants e WHERE e.chat_id = c.id AND (e.created_at < q.created_at OR
                (e.created_at = q.created_at AND e.user_id < q.user_id))))))
"""
"""True for the links (as `l`) whose maker may let anyone read what they show."""
_COLUMNS = f"""
    l.id, l.chat_id, l.board_id, l.created_at, l.taken_at, l.expires_at, l.opened, l.opened_at,
    l.user_id = :user AS own,
    coalesce((SELECT max(u.name) FROM users u WHERE u.id = l.user_id), '') AS author,
    CASE WHEN l.expires_at <= :now THEN 'expired' WHEN {_THERE} THEN 'open' ELSE 'resting' END AS state,
    coalesce((SELECT max(c.title) FROM chats c JOIN chat_participants p ON p.chat_id = c.id AND
        p.user_id = :user WHERE c.id = l.chat_id), (SELECT max(b.name) FROM boards b WHERE
        b.id = l.board_id AND (b.shared OR b.user_id = :user)), '') AS title
"""
_MAY_END = f"(l.user_id = :user OR {OWNER} OR ({{host}}))"
_TAKES_PART = (
    "EXISTS (SELECT 1 FROM chat_participants p WHERE p.chat_id = l.chat_id AND p.user_id = :user)"
)


@dataclass(frozen=True)
class SharedLink:
    """A link as those see it who may end it. Its address is not among what is known of it."""

    id: str
    chat_id: str
    board_id: str
    """One of both is empty."""
    created_at: datetime
    taken_at: datetime
    """When the snapshot was made that it shows."""
    expires_at: datetime | None
    opened: int
    opened_at: datetime | None
    own: bool
    author: str
    state: LinkState
    """`resting`: its maker may not let anyone read what it shows now."""
    title: str
    """Of the chat or board; empty for one that the caller may not see."""


@dataclass(frozen=True)
class LinkDraft:
    """A link that is to be."""

    token: str
    sha256: str
    """Of its snapshot, which is kept already."""
    chats: Collection[str]
    """Those of which something stands in it."""
    chat_id: str = ""
    board_id: str = ""
    lasts: timedelta | None = None


def hashed(token: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def add(db: Database, scope: Scope, draft: LinkDraft) -> SharedLink:
    """Raises NotFoundError, and InvalidInputError for one who only takes part in a chat of which it
    shows something, and for one too many."""
    link_id, at = new_id(), now()
    with db.transaction(scope) as tx:
        check_may_share(tx, scope, draft.chat_id, draft.board_id)
        (there,) = tx.read(
            "SELECT count(*) AS n FROM shared_links WHERE chat_id = :chat AND board_id = :board",
            {"chat": draft.chat_id, "board": draft.board_id},
        )
        if there["n"] >= MOST:
            raise InvalidInputError(f"There are {MOST} links already.", "Revoke one first.")
        tx.execute(
            "INSERT INTO shared_links (id, workspace_id, user_id, chat_id, board_id, token_hash, "
            "sha256, created_at, taken_at, expires_at, opened, opened_at) VALUES (:id, :workspace, "
            ":user, :chat, :board, :hash, :sha256, :at, :at, :ends, 0, NULL)",
            params(
                scope,
                id=link_id,
                chat=draft.chat_id,
                board=draft.board_id,
                hash=hashed(draft.token),
                sha256=draft.sha256,
                at=at,
                ends=at + draft.lasts if draft.lasts else None,
            ),
        )
        _name_chats(tx, scope, link_id, draft.chats)
        audit.add(tx, scope, "public link made", f"{link_id} {draft.chat_id or draft.board_id}")
        return get(tx, scope, link_id)


def check_may_share(tx: Transaction, scope: Scope, chat_id: str, board_id: str) -> None:
    """Raises NotFoundError, and InvalidInputError for one whose chat or board it is not."""
    if chat_id:
        chats.get(tx, scope, chat_id)
        chats.check_host(tx, scope, chat_id, "let anyone read it by a link")
    elif not boards.get(tx, scope, board_id).own:
        raise InvalidInputError(
            "This board is somebody else's; only they can let anyone read it by a link.",
            "Ask them.",
        )


def _check_may_show(tx: Transaction, scope: Scope, chat_id: str) -> None:
    """A board is no way around the host of a chat. Raises NotFoundError, InvalidInputError."""
    title = chats.get(tx, scope, chat_id).title or "Untitled"
    host, name = chats.host_of(tx, chat_id)
    if host != scope.user_id:
        raise InvalidInputError(
            f"“{title}” is shared by {name}; only they can let anyone read of it by a link.",
            "Remove what is pinned of it from the board, or ask them.",
        )


def of_chat(db: Database, scope: Scope, chat_id: str) -> list[SharedLink]:
    """Newest first. Raises NotFoundError."""
    chats.get(db, scope, chat_id)
    return _read(db, scope, "l.chat_id = :chat", chat=chat_id)


def of_board(db: Database, scope: Scope, board_id: str) -> list[SharedLink]:
    """Newest first; none for one whose board it is not. Raises NotFoundError."""
    own = boards.get(db, scope, board_id).own
    return _read(db, scope, "l.board_id = :board", board=board_id) if own else []


def of_workspace(db: Database, scope: Scope) -> list[SharedLink]:
    """All of them, newest first. For owners: raises InvalidInputError, NotFoundError for a
    stranger."""
    if not db.read(f"SELECT 1 AS yes WHERE {MEMBER}", params(scope)):
        raise NotFoundError("No such workspace.", "You may have been removed from it.")
    if not db.read(f"SELECT 1 AS yes WHERE {OWNER}", params(scope)):
        raise InvalidInputError(
            "Only an owner of the workspace sees all of its public links.", "Ask one of them."
        )
    return _read(db, scope, "TRUE")


def get(db: Database | Transaction, scope: Scope, link_id: str) -> SharedLink:
    """One that the caller may end. Raises NotFoundError."""
    links = _read(db, scope, "l.id = :link", link=link_id)
    if not links:
        raise NotFoundError("No such link.", "It may have been revoked.")
    return links[0]


def renew_in(
    tx: Transaction, scope: Scope, link_id: str, sha256: str, shown: Collection[str]
) -> str:
    """Have it show another snapshot; returns the hash of the one before. Raises as `add`."""
    link = get(tx, scope, link_id)
    check_may_renew(link)
    check_may_share(tx, scope, link.chat_id, link.board_id)
    (before,) = tx.read("SELECT sha256 FROM shared_links WHERE id = :id", {"id": link_id})
    tx.execute(
        "UPDATE shared_links SET sha256 = :sha256, taken_at = :at WHERE id = :id",
        {"sha256": sha256, "at": now(), "id": link_id},
    )
    tx.execute("DELETE FROM shared_link_chats WHERE link_id = :id", {"id": link_id})
    _name_chats(tx, scope, link_id, shown)
    audit.add(tx, scope, "public link updated", link_id)
    return str(before["sha256"])


def check_may_renew(link: SharedLink) -> None:
    """Raises InvalidInputError for a link of somebody else: they decided what it shows."""
    if not link.own:
        raise InvalidInputError(
            f"This link is {link.author or 'somebody'}'s.", "Make one of your own."
        )


def revoke_in(tx: Transaction, scope: Scope, link_id: str) -> list[str]:
    """End it; returns the hash of its snapshot. Raises NotFoundError."""
    get(tx, scope, link_id)
    audit.add(tx, scope, "public link revoked", link_id)
    return link_rows.delete(tx, [link_id])


def unscoped_open(db: Database, token: str) -> tuple[str, str] | None:
    """Workspace and hash of the snapshot that a token opens, and count that it was opened; None for
    every token that opens nothing, whatever the reason."""
    wanted, at = hashed(token), now()
    rows = db.read(
        "SELECT l.id, l.workspace_id, l.token_hash, l.sha256, l.opened FROM shared_links l WHERE "
        f"l.token_hash = :hash AND (l.expires_at IS NULL OR l.expires_at > :now) AND {_THERE}",
        {"hash": wanted, "now": at},
    )
    if not rows or not hmac.compare_digest(str(rows[0]["token_hash"]), wanted):
        return None
    row = rows[0]
    with db.transaction() as tx:
        counted = tx.read(
            "UPDATE shared_links SET opened = opened + 1, opened_at = :at WHERE id = :id RETURNING "
            "opened",
            {"at": at, "id": row["id"]},
        )
        if not counted:  # it was revoked in this moment
            return None
        if counted[0]["opened"] == 1:
            audit.add(tx, Scope(row["workspace_id"], ""), "public link first opened", row["id"])
    return str(row["workspace_id"]), str(row["sha256"])


# --- members who come by a chat's own address


def set_open(db: Database, scope: Scope, chat_id: str, shared: bool) -> None:
    """Whether members of the workspace who open the chat's address may join. Raises NotFoundError,
    InvalidInputError for a chat of a project."""
    with db.transaction(scope) as tx:
        chats.get(tx, scope, chat_id)
        there = bool(tx.read("SELECT 1 AS yes FROM open_chats WHERE chat_id = :c", {"c": chat_id}))
        if there == shared:
            return
        if shared and project_chats.project_of(tx, chat_id):
            raise InvalidInputError(
                "This chat is in a project, whose people are in all of its chats.",
                "Bring others into the project, or move the chat out of it, first.",
            )
        if shared:
            tx.execute(
                "INSERT INTO open_chats (chat_id, workspace_id, user_id, created_at) VALUES "
                "(:chat, :workspace, :user, :at) ON CONFLICT DO NOTHING",
                params(scope, chat=chat_id, at=now()),
            )
        else:
            tx.execute("DELETE FROM open_chats WHERE chat_id = :chat", {"chat": chat_id})
        action = "chat opened to members" if shared else "chat closed to members"
        audit.add(tx, scope, action, chat_id)


def is_open(db: Database, scope: Scope, chat_id: str) -> bool:
    """Whether they may. Raises NotFoundError."""
    chats.get(db, scope, chat_id)
    return bool(db.read("SELECT 1 AS yes FROM open_chats WHERE chat_id = :c", {"c": chat_id}))


def host_of_open(db: Database | Transaction, scope: Scope, chat_id: str) -> str:
    """The name of the host of a chat that the caller may join; empty for every other chat. People
    come into a project's chats by the project alone, and into those of nobody who is still of the
    workspace not at all."""
    rows = db.read(
        "SELECT c.id FROM chats c JOIN open_chats o ON o.chat_id = c.id WHERE c.id = :chat AND "
        f"c.workspace_id = :workspace AND c.deleted_at IS NULL AND {MEMBER} AND EXISTS (SELECT 1 "
        "FROM chat_participants p JOIN workspace_members o ON o.user_id = p.user_id AND "
        "o.workspace_id = :workspace WHERE p.chat_id = c.id) AND NOT EXISTS (SELECT 1 FROM "
        "project_chats k WHERE k.chat_id = c.id)",
        params(scope, chat=chat_id),
    )
    return chats.host_of(db, chat_id)[1] if rows else ""


def join(db: Database, scope: Scope, chat_id: str) -> None:
    """Take part in a chat that is open to members. Raises NotFoundError."""
    with db.transaction(scope) as tx:
        chats.hold_row(tx, chat_id)  # who moves it into a project meanwhile sees who joined
        if not host_of_open(tx, scope, chat_id):
            raise chats.no_chat(chat_id)
        joined = tx.read(
            "INSERT INTO chat_participants (chat_id, user_id, created_at) VALUES (:chat, :user, "
            ":at) ON CONFLICT DO NOTHING RETURNING chat_id",
            params(scope, chat=chat_id, at=after_all(tx, "chat_participants", chat_id)),
        )
        if joined:
            audit.add(tx, scope, "joined chat by its link", chat_id)


def _read(
    db: Database | Transaction, scope: Scope, condition: str, **values: object
) -> list[SharedLink]:
    """Of the workspace, those that the caller may end: their own, those of their chats, an owner
    all."""
    may = _MAY_END.format(host=_TAKES_PART)
    rows = db.read(
        f"SELECT {_COLUMNS} FROM shared_links l WHERE {condition} AND l.workspace_id = :workspace "
        f"AND {may} AND {MEMBER} ORDER BY l.created_at DESC, l.id DESC",
        params(scope, now=now(), **values),
    )
    return [SharedLink(**row) for row in rows]


def _name_chats(tx: Transaction, scope: Scope, link_id: str, shown: Collection[str]) -> None:
    for chat_id in sorted(set(shown)):
        _check_may_show(tx, scope, chat_id)
        tx.execute(
            "INSERT INTO shared_link_chats (link_id, workspace_id, user_id, chat_id) VALUES (:link, "
            ":workspace, :user, :chat)",
            params(scope, link=link_id, chat=chat_id),
        )
