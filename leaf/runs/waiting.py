"""Questions that wait for their answer to be begun, and whose turn it is. No clock, no thread and no database lives here."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from leaf.store.model import Scope


@dataclass(frozen=True)
class Ticket:
    """One question's place in the queue."""

    message_id: str
    chat_id: str
    scope: Scope


@dataclass(frozen=True)
class Place:
    """Where a question stands that waits."""

    ahead: int
    """Answers of its chat that come first, the one that is being written included."""
    limit: Literal["", "person", "process"] = ""
    """Which limit on answers written at once is reached: that of whoever asked, or that of this process."""


class Waiting:
    """A queue that is fair between people: each in turn, however many questions one of them has asked.

    Within a chat the order is that of asking, because an answer builds on the one before it.
    """

    def __init__(self) -> None:
        self._people: OrderedDict[str, OrderedDict[str, Ticket]] = OrderedDict()
        """User id -> their tickets by message id, in the order of asking; who was served last stands last."""
        self._chats: dict[str, deque[str]] = {}
        """Chat id -> its waiting message ids, in the order of asking."""

    def __len__(self) -> int:
        return sum(len(chat) for chat in self._chats.values())

    def __contains__(self, message_id: str) -> bool:
        return any(message_id in tickets for tickets in self._people.values())

    def add(self, ticket: Ticket) -> None:
        """At the end. A ticket that waits already keeps its place."""
        tickets = self._people.setdefault(ticket.scope.user_id, OrderedDict())
        if ticket.message_id not in tickets:
            tickets[ticket.message_id] = ticket
            self._chats.setdefault(ticket.chat_id, deque()).append(ticket.message_id)

    def remove(self, message_id: str) -> Ticket | None:
        """Take a ticket out, whatever its place; None if it does not wait."""
        for user_id, tickets in self._people.items():
            if ticket := tickets.pop(message_id, None):
                if not tickets:
                    del self._people[user_id]
                self._chats[ticket.chat_id].remove(message_id)
                if not self._chats[ticket.chat_id]:
                    del self._chats[ticket.chat_id]
                return ticket
        return None

    def place(self, message_id: str, running: Collection[Ticket], *, per_user: int, total: int) -> Place | None:
        """Where a question stands, given what runs; None if it does not wait."""
        ticket = next((tickets[message_id] for tickets in self._people.values() if message_id in tickets), None)
        if ticket is None:
            return None
        ahead = self._chats[ticket.chat_id].index(message_id) + sum(one.chat_id == ticket.chat_id for one in running)
        if len(running) >= total:
            return Place(ahead, "process")
        held = sum(one.scope.user_id == ticket.scope.user_id for one in running)
        return Place(ahead, "person" if held >= per_user else "")

    def next(self, running: Collection[Ticket], busy_chats: Collection[str], *, per_user: int, total: int) -> Ticket | None:
        """Whose turn it is, given what runs; None if nobody may begin. The ticket stays until it is removed."""
        if len(running) >= total:
            return None
        held = Counter(ticket.scope.user_id for ticket in running)
        busy = {ticket.chat_id for ticket in running}.union(busy_chats)
        for user_id, tickets in self._people.items():
            if held[user_id] >= per_user:
                continue
            for ticket in tickets.values():
                if ticket.chat_id not in busy and self._chats[ticket.chat_id][0] == ticket.message_id:
                    self._people.move_to_end(user_id)
                    return ticket
        return None
