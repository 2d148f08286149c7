"""What a call asks before it acts outside of the chat, or shows somebody's own to others: a person's
press of a button, never a model's word. What a model asks for may be what a file told it to.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from leaf.errors import InvalidInputError, RunError
from leaf.store import chats, consents, participants
from leaf.store.database import Database
from leaf.store.model import Scope

WAIT_SECONDS = 120.0
"""For which a call waits for its permission."""
LOOK = 0.3
"""Seconds between two looks for it."""
NAMED = 3


@dataclass(frozen=True)
class Permission:
    """What is asked."""

    question: str
    """What is done, with what, and who gets to see it: one sentence."""
    detail: str
    """What follows, and what happens without an answer."""
    refused: str
    """What the model is told when it is refused, and what it is to do then."""
    key: str = ""
    """Names it for ever; empty: by the call. Calls with one key are allowed together."""
    of_user: str = ""
    """Who alone may answer; empty: anybody in the chat."""
    icon: str = "front_hand"
    """Name of the Material symbol beside it."""


class Permissions:
    """Asks the people of a chat and waits for what they say."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def others(self, scope: Scope, chat_id: str) -> Sequence[str]:
        """Names of those who read along in a chat beside the caller. Raises NotFoundError."""
        if not chats.get(self._db, scope, chat_id).shared:
            return ()
        people = participants.list_participants(self._db, scope, chat_id)
        return tuple(one.name or one.email for one in people if one.user_id != scope.user_id)

    def ask(
        self, scope: Scope, chat_id: str, key: str, asked: Permission, stop: threading.Event
    ) -> str:
        """`allowed`, `refused`, or empty when nobody said anything in time.

        A call that a crash interrupted finds what was said before. Raises RunError after `stop`.
        """
        consents.ask(self._db, scope, chat_id, key, asked.question, asked.of_user)
        end = time.monotonic() + WAIT_SECONDS
        while (
            not (decision := consents.decision(self._db, scope, chat_id, key))
            and time.monotonic() < end
        ):
            if stop.wait(LOOK):
                raise RunError("Stopped.")
        # Who presses the button now is told that it is too late, since the first answer holds.
        return decision or (
            ""
            if consents.decide(self._db, scope, chat_id, key, "refused") == "refused"
            else "allowed"
        )


def unless_allowed(said: str, asked: Permission) -> None:
    """Raises InvalidInputError where nobody allowed it."""
    if said == "refused":
        raise InvalidInputError("The user refused it.", f"{asked.refused} Do not ask again.")
    if said != "allowed":
        raise InvalidInputError("Nobody allowed it in time.", f"{asked.refused} Say so.")


def in_words(names: Sequence[str]) -> str:
    """`Ben`, `Ben and Cara`, `Ben, Cara, Dan and 4 more`."""
    told = list(names[:NAMED])
    if more := len(names) - NAMED:
        told += [f"{more} more"] if more > 0 else []
    return " and ".join(filter(None, [", ".join(told[:-1]), told[-1]])) if told else ""
