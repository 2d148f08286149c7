"""The branch of a chat as it is read: from its end back, and only as far as somebody looks.

A long chat is kept whole, but of it an answer needs what is sent to the model, and the page what is
in its window.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import overload

from leaf.shapes.part_parser import parse_parts
from leaf.store.database import Database, Row, Transaction
from leaf.store.model import Message

COLUMNS = """
    x.id, x.chat_id, x.parent_id, x.role, x.status, x.parts, x.raw, x.model, x.usage, x.error, x.feedback,
    x.created_at, x.updated_at, x.user_id
"""
PIECE, LARGEST_PIECE = 16, 256
"""Messages that are read at once: twice as many each time that somebody looks further back."""


@dataclass
class Tree:
    """Who follows whom in one chat."""

    parents: dict[str, str] = field(default_factory=dict)
    children: dict[str, list[str]] = field(default_factory=dict)
    times: dict[str, datetime] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)

    def branch(self, end: str) -> list[str]:
        """Ids from the first question to this message."""
        ids: list[str] = []
        while end:
            ids.append(end)
            end = self.parents[end]
        return ids[::-1]

    def siblings(self, message_id: str) -> tuple[str, ...]:
        return tuple(self.children[self.parents[message_id]])

    def newest_below(self, message_id: str) -> str:
        while message_id in self.children:
            message_id = self.children[message_id][-1]
        return message_id


def tree(db: Database | Transaction, chat_id: str) -> Tree:
    """Of all messages of a chat, without what they say."""
    message_tree = Tree()
    rows = db.read(
        "SELECT id, parent_id, role, created_at FROM messages WHERE chat_id = :chat ORDER BY "
        "created_at, id",
        {"chat": chat_id},
    )
    for row in rows:
        message_id, parent_id = str(row["id"]), str(row["parent_id"])
        (
            message_tree.parents[message_id],
            message_tree.times[message_id],
            message_tree.roles[message_id],
        ) = (
            parent_id,
            row["created_at"],
            row["role"],
        )
        message_tree.children.setdefault(parent_id, []).append(message_id)
    return message_tree


def message_of(row: Row) -> Message:
    """A row as it is kept, its parts checked."""
    return Message(**{**row, "parts": parse_parts(row["parts"], f"message {row['id']}")})


def read(
    db: Database, chat_id: str, times: Mapping[str, datetime], ids: Sequence[str]
) -> list[Message]:
    """These messages, in this order, as far as they are there.

    They are looked for by their time: by a list of ids DuckDB would read what every message of the
    chat says.
    """
    if not ids:
        return []
    wanted = [times[message_id] for message_id in ids]
    rows = db.read(
        f"SELECT {COLUMNS} FROM messages x WHERE x.chat_id = :chat AND x.created_at >= :first AND "
        f"x.created_at <= :last",
        {"chat": chat_id, "first": min(wanted), "last": max(wanted)},
    )
    row_of = {str(row["id"]): row for row in rows}
    return [message_of(row_of[message_id]) for message_id in ids if message_id in row_of]


class Branch(Sequence[Message]):
    """The messages of a branch, oldest first, read when they are looked at. Safe to use from any
    number of threads."""

    def __init__(self, db: Database, chat_id: str, message_tree: Tree, ids: Sequence[str]) -> None:
        self.roles: tuple[str, ...] = tuple(message_tree.roles[message_id] for message_id in ids)
        """Who said each of them; known without reading it."""
        self._db = db
        self._chat_id = chat_id
        self._ids = tuple(ids)
        self._times = message_tree.times
        self._known: dict[int, Message] = {}
        self._piece = PIECE
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._ids)

    @overload
    def __getitem__(self, at: int) -> Message: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Message, ...]: ...

    def __getitem__(self, at: int | slice) -> Message | tuple[Message, ...]:
        with self._lock:
            if isinstance(at, slice):
                wanted = range(*at.indices(len(self)))
                return tuple(self._message(i) for i in sorted(wanted, reverse=True))[::-1]
            return self._message(range(len(self))[at])

    def __iter__(self) -> Iterator[Message]:
        """All of them, read as a slice is: one after another from the first on, each would be a
        piece of its own."""
        return iter(self[:])

    @property
    def read(self) -> int:
        """How many of them were read so far."""
        return len(self._known)

    def _message(self, at: int) -> Message:
        if at not in self._known:
            places = [
                i for i in range(max(0, at + 1 - self._piece), at + 1) if i not in self._known
            ]
            self._piece = min(LARGEST_PIECE, 2 * self._piece)
            messages = read(self._db, self._chat_id, self._times, [self._ids[i] for i in places])
            by_id = {message.id: message for message in messages}
            self._known.update({i: by_id[self._ids[i]] for i in places if self._ids[i] in by_id})
        return self._known[at]
