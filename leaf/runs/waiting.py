"""Questions that wait for their answer to be begun, and whose turn it is. No clock, no thread and
no database lives here."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from leaf.store.model import Scope


@dataclass(frozen=True)
class QueueEntry:
    """One question's place in the queue."""

    message_id: str
    chat_id: str
    scope: Scope


@dataclass(frozen=True)
class QueuePlace:
    """Where a question stands that waits."""

    ahead: int
    """Answers of its chat that come first, the one that is being written included."""
    limit: Literal["", "person", "process"] = ""
    """Which limit on answers written at once is reached: that of whoever asked, or that of this
    process."""


class Waiting:
    """A queue that is fair between people: each in turn, however many questions one of them has
    asked.

    Within a chat the order is that of asking, because an answer builds on the one before it.
    """

    def __init__(self) -> None:
        self._people: OrderedDict[str, OrderedDict[str, QueueEntry]] = OrderedDict()
        """User id -> their tickets by message id, in the order of asking; who was served last
        stands last."""
        self._chats: dict[str, deque[str]] = {}
        """Chat id -> its waiting message ids, in the order of asking."""

    def __len__(self) -> int:
        return sum(len(chat) for chat in self._chats.values())

    def __contains__(self, message_id: str) -> bool:
        return any(message_id in entries for entries in self._people.values())

    def entries(self) -> list[QueueEntry]:
        """All that wait."""
        return [entry for entries in self._people.values() for entry in entries.values()]

    def add(self, entry: QueueEntry) -> None:
        """At the end. A ticket that waits already keeps its place."""
        entries = self._people.setdefault(entry.scope.user_id, OrderedDict())
        if entry.message_id not in entries:
            entries[entry.message_id] = entry
            self._chats.setdefault(entry.chat_id, deque()).append(entry.message_id)

    def remove(self, message_id: str) -> QueueEntry | None:
        """Take a ticket out, whatever its place; None if it does not wait."""
        for user_id, entries in self._people.items():
            if entry := entries.pop(message_id, None):
                if not entries:
                    del self._people[user_id]
                self._chats[entry.chat_id].remove(message_id)
                if not self._chats[entry.chat_id]:
                    del self._chats[entry.chat_id]
                return entry
        return None

    def asker(self, message_id: str) -> str:
        """Who asked a question that waits; empty if it does not."""
        return next((user for user, entries in self._people.items() if message_id in entries), "")

    def place(
        self, message_id: str, running: Collection[QueueEntry], *, per_user: int, total: int
    ) -> QueuePlace | None:
        """Where a question stands, given what runs; None if it does not wait."""
        entry = next(
            (entries[message_id] for entries in self._people.values() if message_id in entries),
            None,
        )
        if entry is None:
            return None
        ahead = self._chats[entry.chat_id].index(message_id) + sum(
            one.chat_id == entry.chat_id for one in running
        )
        if len(running) >= total:
            return QueuePlace(ahead, "process")
        held = sum(one.scope.user_id == entry.scope.user_id for one in running)
        return QueuePlace(ahead, "person" if held >= per_user else "")

    def ready(
        self, running: Collection[QueueEntry], busy: Collection[str], *, per_user: int
    ) -> list[str]:
        """Message ids of those that would be begun if a process could write answers without end:
        what keeps the others is a person's limit or the order of their chat. `running` and `busy`
        as for `next`."""
        held = Counter(entry.scope.user_id for entry in running)
        busy = {entry.chat_id for entry in running}.union(busy)
        message_ids: list[str] = []
        for user_id, entries in self._people.items():
            free = sorted(  # in an order that all processes share: each counts its own of them
                entry.message_id
                for entry in entries.values()
                if entry.chat_id not in busy and self._chats[entry.chat_id][0] == entry.message_id
            )
            message_ids += [] if user_id in busy else free[: max(0, per_user - held[user_id])]
        return message_ids

    def next(
        self,
        running: Collection[QueueEntry],
        busy: Collection[str],
        *,
        per_user: int,
        total: int,
    ) -> QueueEntry | None:
        """Whose turn it is, given what runs; None if nobody may begin. `busy` are ids of chats and of
        people for whom nothing is to be begun. The ticket stays until it is
        removed."""
        if len(running) >= total:
            return None
        held = Counter(entry.scope.user_id for entry in running)
        busy = {entry.chat_id for entry in running}.union(busy)
        for user_id, entries in self._people.items():
            if held[user_id] >= per_user or user_id in busy:
                continue
            for entry in entries.values():
                if entry.chat_id not in busy and self._chats[entry.chat_id][0] == entry.message_id:
                    self._people.move_to_end(user_id)
                    return entry
        return None
