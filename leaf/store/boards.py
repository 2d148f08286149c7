"""Boards: pages of pinned results.

A board is its maker's own until they share it with the workspace, and they alone change it. It shows
what its maker may read: of a chat that was put away, or in which its maker takes part no more,
nothing is shown to anybody. What a chat's pins hold goes with the chat.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from leaf.errors import InvalidInputError, NotFoundError
from leaf.shapes.pins import PinContent, PinOutcome
from leaf.store import audit, chats, link_rows
from leaf.store.database import Database, Row, Transaction, now, one_of
from leaf.store.ids import new_id
from leaf.store.model import Scope
from leaf.store.users import MEMBER, params

PinKind = Literal["table", "chart"]
PinState = Literal["", "deleted", "left"]
FIRST_NAME = "Board"
NAME_LENGTH = 120
TITLE_LENGTH = 200
MOST_BOARDS = 50
"""Of one person in a workspace."""
MOST_PINS = 200
"""On a board."""
KEPT_REMOVED = timedelta(days=1)
_MINE = f"b.workspace_id = :workspace AND b.user_id = :user AND {MEMBER}"
_SEEN = (
    f"b.workspace_id = :workspace AND {MEMBER} AND (b.user_id = :user OR (b.shared AND EXISTS ("
    "SELECT 1 FROM workspace_members o WHERE o.workspace_id = b.workspace_id AND "
    "o.user_id = b.user_id)))"
)
_ON = "n.board_id = b.id AND n.removed_at IS NULL"
_BOARD = f"""
    b.id, b.user_id, b.name, b.shared, b.created_at, b.user_id = :user AS own,
    coalesce((SELECT max(u.name) FROM users u WHERE u.id = b.user_id), '') AS author,
    (SELECT count(*) FROM board_pins n WHERE {_ON}) AS pins
"""
_PIN = """
    n.id, n.board_id, n.chat_id, n.message_id, n.result, n.sha256, n.kind, n.title, n.content,
    n.earlier, n.outcome, n.pinned_at, n.user_id = :user AS own,
    CASE WHEN NOT EXISTS (SELECT 1 FROM chat_participants q WHERE q.chat_id = n.chat_id AND
        q.user_id = n.user_id) THEN 'left' WHEN c.deleted_at IS NOT NULL THEN 'deleted' ELSE '' END
        AS state,
    CASE WHEN EXISTS (SELECT 1 FROM chat_participants p WHERE p.chat_id = n.chat_id AND
        p.user_id = :user) THEN c.title END AS chat_title
"""
_FROM = "FROM board_pins n JOIN boards b ON b.id = n.board_id JOIN chats c ON c.id = n.chat_id"


@dataclass(frozen=True)
class Board:
    """A page of pinned results."""

    id: str
    user_id: str
    name: str
    shared: bool
    """Whether all members of the workspace may see it."""
    created_at: datetime
    own: bool
    """Whether the caller made it, and may change it."""
    author: str
    """Who made it."""
    pins: int


@dataclass(frozen=True)
class Pin:
    """A result on a board."""

    id: str
    board_id: str
    chat_id: str
    message_id: str
    result: str
    """Its name in the chat."""
    sha256: str
    """Of its rows, as they were when it was pinned or computed again."""
    kind: PinKind
    title: str
    """Empty for others where nothing may be shown."""
    content: PinContent | None
    """None where nothing may be shown: see `state`."""
    earlier: PinContent | None
    """Before it was computed again and came out otherwise."""
    outcome: PinOutcome | None
    """Of the last time it was computed again."""
    pinned_at: datetime
    own: bool
    """Whether the board is the caller's."""
    state: PinState
    """`deleted`: its chat was put away. `left`: whose board it is takes part in the chat no more."""
    chat_title: str | None
    """None where the caller does not take part in the chat."""


@dataclass(frozen=True)
class PinDraft:
    """A pin that is to be."""

    chat_id: str
    message_id: str
    result: str
    sha256: str
    kind: PinKind
    title: str
    content: PinContent


@dataclass(frozen=True)
class SourceFile:
    """A file as it is now."""

    name: str
    deleted: bool


def list_boards(db: Database, scope: Scope) -> list[Board]:
    """Those that the caller may see: their own first, oldest first."""
    rows = db.read(
        f"SELECT {_BOARD} FROM boards b WHERE {_SEEN} ORDER BY own DESC, b.created_at, b.id",
        params(scope),
    )
    return [Board(**row) for row in rows]


def get(db: Database | Transaction, scope: Scope, board_id: str) -> Board:
    """Raises NotFoundError."""
    rows = db.read(
        f"SELECT {_BOARD} FROM boards b WHERE b.id = :board AND {_SEEN}",
        params(scope, board=board_id),
    )
    if not rows:
        raise _no_board()
    return Board(**rows[0])


def create(db: Database, scope: Scope, name: str) -> Board:
    """Raises NotFoundError for one who is not of the workspace, InvalidInputError for an empty
    name and for too many."""
    with db.transaction(scope) as tx:
        return _create(tx, scope, name)


def rename(db: Database, scope: Scope, board_id: str, name: str) -> None:
    """Raises NotFoundError, InvalidInputError for an empty name."""
    with db.transaction(scope) as tx:
        _hold(tx, scope, board_id)
        tx.execute(
            "UPDATE boards SET name = :name WHERE id = :board",
            {"name": _named(name, NAME_LENGTH, "A board needs a name."), "board": board_id},
        )


def share(db: Database, scope: Scope, board_id: str, shared: bool) -> None:
    """Let all members of the workspace see it, or nobody else. Raises NotFoundError."""
    with db.transaction(scope) as tx:
        if _hold(tx, scope, board_id).shared == shared:
            return
        tx.execute(
            "UPDATE boards SET shared = :shared WHERE id = :board",
            {"shared": shared, "board": board_id},
        )
        audit.add(tx, scope, "board shared" if shared else "board no longer shared", board_id)


def delete_in(tx: Transaction, scope: Scope, board_id: str) -> list[str]:
    """With its pins and public links; what was pinned stays in its chats. Returns the hashes of the
    links' snapshots. Raises NotFoundError."""
    _hold(tx, scope, board_id)
    snapshots = link_rows.forget_board(tx, board_id)
    tx.execute("DELETE FROM board_pins WHERE board_id = :board", {"board": board_id})
    tx.execute("DELETE FROM boards WHERE id = :board", {"board": board_id})
    audit.add(tx, scope, "board deleted", board_id)
    return snapshots


def pins(db: Database, scope: Scope, board_id: str, *, limit: int, offset: int = 0) -> list[Pin]:
    """From top to bottom; none of a board that the caller may not see."""
    rows = db.read(
        f"SELECT {_PIN} {_FROM} WHERE n.board_id = :board AND n.removed_at IS NULL AND {_SEEN} "
        "ORDER BY n.place, n.id LIMIT :limit OFFSET :offset",
        params(scope, board=board_id, limit=limit, offset=offset),
    )
    return [_pin(row) for row in rows]


def own_pin(db: Database | Transaction, scope: Scope, pin_id: str) -> Pin:
    """One on a board of the caller's. Raises NotFoundError."""
    rows = db.read(
        f"SELECT {_PIN} {_FROM} WHERE n.id = :pin AND n.removed_at IS NULL AND {_MINE}",
        params(scope, pin=pin_id),
    )
    if not rows:
        raise _no_pin()
    return _pin(rows[0])


def add(db: Database, scope: Scope, board_id: str, draft: PinDraft) -> tuple[Pin, bool]:
    """Pin at the end of a board, without `board_id` of the caller's oldest, which is made if there
    is none; a result that is there already stays as it is. Also whether it is new.

    Raises NotFoundError for a board that is not the caller's and a chat that they do not see,
    InvalidInputError for a full board.
    """
    with db.transaction(scope) as tx:
        chats.get(tx, scope, draft.chat_id)
        board = _hold(tx, scope, board_id) if board_id else _first(tx, scope)
        there = _places(tx, board.id)
        known = tx.read(
            "SELECT n.id, n.content FROM board_pins n WHERE n.board_id = :board AND n.chat_id = :chat AND "
            "n.result = :result AND n.kind = :kind AND n.removed_at IS NULL",
            {
                "board": board.id,
                "chat": draft.chat_id,
                "result": draft.result,
                "kind": draft.kind,
            },
        )
        same = [r for r in known if r["content"].get("spec") == draft.content.get("spec")]
        if same:
            return own_pin(tx, scope, str(same[0]["id"])), False
        if len(there) >= MOST_PINS:
            raise InvalidInputError(
                f"“{board.name}” has {MOST_PINS} pins, which is as many as a board takes.",
                "Remove some, or pin to another board.",
            )
        pin_id = new_id()
        _insert(tx, scope, board.id, pin_id, draft, max(there.values(), default=0) + 1)
        return own_pin(tx, scope, pin_id), True


def rename_pin(db: Database, scope: Scope, pin_id: str, title: str) -> None:
    """Raises NotFoundError, InvalidInputError for an empty title."""
    clean = _named(title, TITLE_LENGTH, "A pin needs a title.")
    with db.transaction(scope) as tx:
        own_pin(tx, scope, pin_id)
        tx.execute(
            "UPDATE board_pins SET title = :title WHERE id = :pin", {"title": clean, "pin": pin_id}
        )


def move(db: Database, scope: Scope, pin_id: str, steps: int) -> None:
    """So many places down, or up for a negative number, as far as there is room. Two that move at
    once wait for each other. Raises NotFoundError."""
    with db.transaction(scope) as tx:
        board_id = own_pin(tx, scope, pin_id).board_id
        _hold(tx, scope, board_id)
        there = _places(tx, board_id)
        if pin_id not in there:
            raise _no_pin()
        order = [one for one in there if one != pin_id]
        order.insert(max(0, list(there).index(pin_id) + steps), pin_id)
        for place, one in enumerate(order, 1):
            if there[one] != place:
                tx.execute(
                    "UPDATE board_pins SET place = :place WHERE id = :pin",
                    {"place": place, "pin": one},
                )


def remove(db: Database, scope: Scope, pin_id: str) -> None:
    """Take it off; `restore` undoes, for a day. Raises NotFoundError."""
    with db.transaction(scope) as tx:
        own_pin(tx, scope, pin_id)
        tx.execute(
            "UPDATE board_pins SET removed_at = :at WHERE id = :pin", {"at": now(), "pin": pin_id}
        )


def restore(db: Database, scope: Scope, pin_id: str) -> None:
    """Undo `remove`. Raises NotFoundError, InvalidInputError where the board is full now."""
    with db.transaction(scope) as tx:
        rows = tx.read(
            f"SELECT n.board_id, n.removed_at {_FROM} WHERE n.id = :pin AND {_MINE}",
            params(scope, pin=pin_id),
        )
        if not rows:
            raise _no_pin()
        board = _hold(tx, scope, str(rows[0]["board_id"]))
        if rows[0]["removed_at"] is None:
            return
        if board.pins >= MOST_PINS:
            raise InvalidInputError("The board is full.", "Remove another pin first.")
        tx.execute("UPDATE board_pins SET removed_at = NULL WHERE id = :pin", {"pin": pin_id})


def unscoped_forget_removed(db: Database) -> None:
    """Pins that were removed longer ago than they can be restored, with what they show."""
    with db.transaction() as tx:
        rows = tx.read(
            "DELETE FROM board_pins WHERE removed_at < :before RETURNING workspace_id",
            {"before": now() - KEPT_REMOVED},
        )
        tx.concerns({str(row["workspace_id"]) for row in rows})


def computed(
    db: Database,
    scope: Scope,
    pin: Pin,
    outcome: PinOutcome,
    draft: PinDraft | None = None,
    earlier: PinContent | None = None,
) -> Pin:
    """Keep what came of computing a pin again: `draft` is what it shows from now on, if that is
    something else. Raises NotFoundError for one that was removed meanwhile."""
    with db.transaction(scope) as tx:
        own_pin(tx, scope, pin.id)
        values: Row = {"pin": pin.id, "outcome": dict(outcome)}
        if draft is None:
            tx.execute("UPDATE board_pins SET outcome = :outcome WHERE id = :pin", values)
        else:
            values |= {"result": draft.result, "sha256": draft.sha256}
            values |= {
                "content": dict(draft.content),
                "earlier": dict(earlier) if earlier else None,
            }
            tx.execute(
                "UPDATE board_pins SET outcome = :outcome, result = :result, sha256 = :sha256, "
                "content = :content, earlier = :earlier WHERE id = :pin",
                values,
            )
        return own_pin(tx, scope, pin.id)


def source_files(db: Database, scope: Scope, file_ids: Sequence[str]) -> Mapping[str, SourceFile]:
    """Files of the workspace as they are now, by id; one that was deleted for good is not there."""
    those, ids = one_of("f.id", list(file_ids))
    rows = db.read(
        "SELECT f.id, f.name, f.deleted_at IS NOT NULL AS deleted FROM files f WHERE "
        f"f.workspace_id = :workspace AND {those} AND {MEMBER}",
        params(scope, **ids),
    )
    return {str(row["id"]): SourceFile(row["name"], bool(row["deleted"])) for row in rows}


def _create(tx: Transaction, scope: Scope, name: str) -> Board:
    if not tx.read(f"SELECT 1 AS yes WHERE {MEMBER}", params(scope)):
        raise NotFoundError("No such workspace.", "Sign in again.")
    mine = tx.read(f"SELECT count(*) AS n FROM boards b WHERE {_MINE}", params(scope))
    if int(mine[0]["n"]) >= MOST_BOARDS:
        raise InvalidInputError(
            f"You have {MOST_BOARDS} boards, which is as many as there may be.", "Delete one first."
        )
    board_id = new_id()
    tx.execute(
        "INSERT INTO boards (id, workspace_id, user_id, name, shared, created_at) VALUES (:id, "
        ":workspace, :user, :name, FALSE, :at)",
        params(
            scope, id=board_id, name=_named(name, NAME_LENGTH, "A board needs a name."), at=now()
        ),
    )
    return get(tx, scope, board_id)


def _first(tx: Transaction, scope: Scope) -> Board:
    """The caller's oldest board, held; made where there is none, by one of two that pin at once."""
    tx.execute(
        "UPDATE workspace_members SET role = role WHERE workspace_id = :workspace AND "
        "user_id = :user",
        params(scope),
    )
    rows = tx.read(
        f"SELECT b.id FROM boards b WHERE {_MINE} ORDER BY b.created_at, b.id LIMIT 1",
        params(scope),
    )
    return _hold(tx, scope, str(rows[0]["id"])) if rows else _create(tx, scope, FIRST_NAME)


def _hold(tx: Transaction, scope: Scope, board_id: str) -> Board:
    """A board of the caller's, kept from other writers until the transaction ends. Raises
    NotFoundError."""
    held = tx.read(
        f"UPDATE boards AS b SET name = b.name WHERE b.id = :board AND {_MINE} RETURNING b.id",
        params(scope, board=board_id),
    )
    if not held:
        raise _no_board()
    return get(tx, scope, board_id)


def _places(tx: Transaction, board_id: str) -> dict[str, int]:
    """Ids of a board's pins in order, and where each stands."""
    rows = tx.read(
        "SELECT n.id, n.place FROM board_pins n WHERE n.board_id = :board AND n.removed_at IS NULL "
        "ORDER BY n.place, n.id",
        {"board": board_id},
    )
    return {str(row["id"]): int(row["place"]) for row in rows}


def _insert(
    tx: Transaction, scope: Scope, board_id: str, pin_id: str, draft: PinDraft, place: int
) -> None:
    tx.execute(
        "INSERT INTO board_pins (id, board_id, workspace_id, user_id, chat_id, message_id, result, "
        "sha256, kind, title, place, content, earlier, outcome, pinned_at, removed_at) VALUES (:id, "
        ":board, :workspace, :user, :chat, :message, :result, :sha256, :kind, :title, :place, "
        ":content, NULL, NULL, :at, NULL)",
        params(
            scope,
            id=pin_id,
            board=board_id,
            chat=draft.chat_id,
            message=draft.message_id,
            result=draft.result,
            sha256=draft.sha256,
            kind=draft.kind,
            title=_named(draft.title, TITLE_LENGTH, "A pin needs a title."),
            place=place,
            content=dict(draft.content),
            at=now(),
        ),
    )


def _pin(row: Row) -> Pin:
    """Nothing is told of what may not be shown; its title, which is a question of the chat, whose board
    it is alone, who restores or removes it."""
    hidden: dict[str, Any] = {"content": None, "earlier": None, "outcome": None}
    hidden["title"] = row["title"] if row["own"] else ""
    return Pin(**{**row, **(hidden if row["state"] else {})})


def _named(text: str, longest: int, empty: str) -> str:
    clean = " ".join(text.split())[:longest]
    if not clean:
        raise InvalidInputError(empty, "Type at least one letter.")
    return clean


def _no_board() -> NotFoundError:
    return NotFoundError("No such board.", "It may have been deleted, or is not shared any more.")


def _no_pin() -> NotFoundError:
    return NotFoundError("This pin is not there any more.", "It was removed, or its board was.")
