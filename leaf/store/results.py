"""Results of queries and of code: their numbers, what they are about, and which bytes are their
rows. The bytes are in `blobs`.

A number is given once, in the chat's own row of `result_numbers`, which is written under the lock
of the chat: whatever becomes of the disk, and however many processes ask, no result takes the name
of another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from leaf.errors import NotFoundError
from leaf.store import chats
from leaf.store.database import Database, Transaction, now
from leaf.store.model import Json, Scope
from leaf.store.users import MEMBER, params

VERSION = 1
"""Of what `about` holds."""
OUTSIDE = "tool"
"""In place of a chat's id for a call outside any chat, whose results are the caller's alone."""
HIGHEST = 999_999_999
"""No name has more digits than this."""


@dataclass(frozen=True)
class ResultRow:
    """A result as it is recorded."""

    number: int
    about: Json
    """sql or code, tables and results behind it, columns, types, total, seconds, created."""
    sha256: str = ""
    """Of its Parquet; empty where its rows were lost before they were recorded."""
    size: int = 0
    """Bytes."""
    message_id: str = ""
    """The answer that made it; empty outside of answers."""
    turn: str = ""
    """The turn of the model in that answer."""
    call: str = ""
    """What of which tool call it is: the same where the call was interrupted and is carried out
    again. Empty outside of answers."""
    made_at: datetime = field(default_factory=now)
    version: int = VERSION


def standing(db: Database, scope: Scope, chat_id: str) -> bool | None:
    """Whether the chat's results have their rows here; None for a chat that the caller does not
    see."""
    rows = db.read(
        "SELECT EXISTS (SELECT 1 FROM result_numbers n WHERE n.workspace_id = :workspace AND "
        f"n.chat_id = :chat) AS begun WHERE {_seen(chat_id)}",
        _place(scope, chat_id),
    )
    return bool(rows[0]["begun"]) if rows else None


def add(db: Database, scope: Scope, chat_id: str, made: ResultRow) -> int:
    """Keep a result under the chat's next number, which is given back; that of `made` does not
    count. What the same call made when it was interrupted is replaced, and its number stays.
    Raises NotFoundError for a chat that the caller does not see."""
    with db.transaction(scope) as tx:
        _hold(tx, scope, chat_id)
        if made.call and (known := _made_before(tx, scope, chat_id, made)):
            return known
        rows = tx.read(
            "UPDATE result_numbers SET given = given + 1 WHERE workspace_id = :workspace AND "
            "chat_id = :chat RETURNING given",
            _place(scope, chat_id),
        )
        number = int(rows[0]["given"])
        _insert(tx, scope, chat_id, number, made)
    return number


def adopt(
    db: Database, scope: Scope, chat_id: str, found: Sequence[ResultRow], highest: int
) -> bool:
    """Record the results that a chat had before they had rows, under their own numbers; the next is
    above `highest`. False where that was done before.

    Raises NotFoundError for a chat that the caller does not see.
    """
    with db.transaction(scope) as tx:
        if not _hold(tx, scope, chat_id):
            return False
        for one in found:
            _insert(tx, scope, chat_id, one.number, one)
        _raise_to(tx, scope, chat_id, max([highest, *(one.number for one in found)]))
    return True


def number_from(db: Database, scope: Scope, chat_id: str, number: int) -> None:
    """Let the next result have this number, if none at or above it was given. Raises
    NotFoundError."""
    with db.transaction(scope) as tx:
        _hold(tx, scope, chat_id)
        _raise_to(tx, scope, chat_id, number - 1)


def find(db: Database, scope: Scope, chat_id: str, numbers: Sequence[int]) -> list[ResultRow]:
    """Those of these results that there are, by number; none for a chat that the caller does not
    see."""
    if not numbers:
        return []
    wanted = ", ".join(str(int(number)) for number in set(numbers))
    rows = db.read(
        "SELECT r.number, r.about, r.sha256, r.size, r.message_id, r.turn, r.made_at, r.version "
        "FROM results r WHERE r.workspace_id = :workspace AND r.chat_id = :chat "
        f"AND r.number IN ({wanted}) AND {_seen(chat_id)} ORDER BY r.number",
        _place(scope, chat_id),
    )
    return [ResultRow(**row) for row in rows]


def numbers(db: Database, scope: Scope, chat_id: str, but_turn: str = "") -> list[int]:
    """Numbers of a chat's results in order, without those of a turn; none for a chat that the
    caller does not see."""
    rows = db.read(
        "SELECT r.number FROM results r WHERE r.workspace_id = :workspace AND r.chat_id = :chat "
        f"AND (:turn = '' OR r.turn <> :turn) AND {_seen(chat_id)} ORDER BY r.number",
        {**_place(scope, chat_id), "turn": but_turn},
    )
    return [int(row["number"]) for row in rows]


def parts_said(db: Database, scope: Scope, chat_id: str) -> list[tuple[str, list[dict[str, Any]]]]:
    """Id and parts of each answer of a chat, on whichever branch; none for a chat that the caller
    does not see."""
    rows = db.read(
        "SELECT x.id, x.parts FROM messages x WHERE x.chat_id = :chat AND x.role = 'assistant' "
        f"AND {_seen(chat_id)} ORDER BY x.id",
        _place(scope, chat_id),
    )
    return [(str(row["id"]), list(row["parts"])) for row in rows]


def _seen(chat_id: str) -> str:
    """SQL that is true where the caller sees the chat, or is of the workspace outside of chats."""
    if chat_id == OUTSIDE:
        return MEMBER
    return f"EXISTS (SELECT 1 FROM chats c WHERE c.id = :chat AND {chats.VISIBLE})"


def _place(scope: Scope, chat_id: str) -> dict[str, object]:
    own = f"{OUTSIDE}:{scope.user_id}" if chat_id == OUTSIDE else chat_id
    return params(scope, chat=own)


def _hold(tx: Transaction, scope: Scope, chat_id: str) -> bool:
    """Keep other writers from the chat's numbers until the transaction ends; whether it has given
    none so far."""
    place = _place(scope, chat_id)
    if chat_id != OUTSIDE:
        if tx.engine == "postgres":  # DuckDB has one writer at a time
            tx.execute(
                f"UPDATE chats AS c SET head_id = c.head_id WHERE c.id = :chat AND {chats.VISIBLE}",
                place,
            )
        chats.get(tx, scope, chat_id, deleted=True)
    elif not tx.read(f"SELECT 1 AS yes WHERE {MEMBER}", place):
        raise NotFoundError("No such workspace.", "Sign in again.")
    return bool(
        tx.read(
            "INSERT INTO result_numbers (workspace_id, chat_id, given) VALUES (:workspace, :chat, "
            "0) ON CONFLICT DO NOTHING RETURNING given",
            place,
        )
    )


def _made_before(tx: Transaction, scope: Scope, chat_id: str, result: ResultRow) -> int:
    """The number that the call has given already, now of what it made this time; 0 if none."""
    rows = tx.read(
        "UPDATE results SET sha256 = :sha256, size = :size, version = :version, about = :about, "
        "made_at = :at WHERE workspace_id = :workspace AND chat_id = :chat AND call = :call "
        "RETURNING number",
        {
            **_place(scope, chat_id),
            "sha256": result.sha256,
            "size": result.size,
            "version": result.version,
            "about": result.about,
            "at": result.made_at,
            "call": result.call,
        },
    )
    return int(rows[0]["number"]) if rows else 0


def _raise_to(tx: Transaction, scope: Scope, chat_id: str, highest: int) -> None:
    tx.execute(
        "UPDATE result_numbers SET given = :highest WHERE workspace_id = :workspace AND "
        "chat_id = :chat AND given < :highest",
        {**_place(scope, chat_id), "highest": min(highest, HIGHEST - 1)},
    )


def _insert(tx: Transaction, scope: Scope, chat_id: str, number: int, result: ResultRow) -> None:
    tx.execute(
        "INSERT INTO results (workspace_id, chat_id, number, message_id, turn, call, sha256, size, "
        "version, about, made_at) VALUES (:workspace, :chat, :number, :message, :turn, :call, "
        ":sha256, :size, :version, :about, :at)",
        {
            **_place(scope, chat_id),
            "number": number,
            "message": result.message_id,
            "turn": result.turn,
            "call": result.call,
            "sha256": result.sha256,
            "size": result.size,
            "version": result.version,
            "about": result.about,
            "at": result.made_at,
        },
    )
