"""Titles of chats, made beside the runs: after the first answer of a chat a model is asked for one.

No answer waits for it and no question. Where it fails, or the process ends meanwhile, the cut
question stays the title, and so does whatever a person called the chat.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from leaf import logs
from leaf.agent import titling
from leaf.agent.endpoint import Endpoint
from leaf.agent.models.base import TokenUsage
from leaf.agent.models.prices import cost
from leaf.budgets.budgets import Budgets
from leaf.errors import LeafError
from leaf.shapes.part_values import texts_of
from leaf.shapes.parts import Part
from leaf.store import chats, usage
from leaf.store.database import Database
from leaf.store.model import Message, Scope

logger = logging.getLogger(__name__)

AT_ONCE = 4
SECONDS = 60.0
"""After which nobody waits for a title any more."""
CLOSING_SECONDS = 2.0
STEP = "title"
"""What the call is called among the steps of its answer, where its cost is counted."""


@dataclass(frozen=True)
class SavedAnswer:
    """An answer that is whole and saved."""

    scope: Scope
    message: Message
    history: Sequence[Message]
    """The branch up to its question."""
    parts: Sequence[Part]
    endpoint: Endpoint

    @property
    def question(self) -> str:
        return _words(self.history[0].parts)

    @property
    def first(self) -> bool:
        """Whether nothing before it was answered."""
        return not any(m.role == "assistant" and m.status == "completed" for m in self.history)


class Titles:
    """Makes them in a few threads, which are there only while one is to be made."""

    def __init__(self, db: Database, budgets: Budgets) -> None:
        self._db = db
        self._budgets = budgets
        self._guard = threading.Lock()
        self._waiting: deque[SavedAnswer] = deque()
        self._workers: dict[threading.Thread, threading.Event] = {}
        """Each with what ends its call."""
        self._closed = False

    def answered(self, answer: SavedAnswer) -> None:
        """Have a title made if this is a chat's first answer and a model gave it. Returns at
        once."""
        if not (answer.endpoint.can_write and answer.history and answer.first):
            return
        with self._guard:
            if self._closed:
                return
            self._waiting.append(answer)
            if len(self._workers) < AT_ONCE:
                stop = threading.Event()
                thread = threading.Thread(
                    target=self._work, args=(stop,), name="titles", daemon=True
                )
                self._workers[thread] = stop
                thread.start()

    def close(self) -> None:
        """End what is under way, before the database is closed."""
        with self._guard:
            self._closed = True
            self._waiting.clear()
            workers = dict(self._workers)
        for stop in workers.values():
            stop.set()
        for thread in workers:
            thread.join(CLOSING_SECONDS)

    def _work(self, stop: threading.Event) -> None:
        while True:
            with self._guard:
                if self._closed or not self._waiting:
                    del self._workers[threading.current_thread()]
                    return
                answer = self._waiting.popleft()
            try:
                self._make(answer, stop)
            except LeafError as e:
                logger.info("run %s: its chat got no title: %s", answer.message.id, logs.reason(e))
            except Exception:
                logger.exception("run %s: its chat got no title", answer.message.id)
            if not self._closed:
                stop.clear()  # the time was over for that one alone

    def _make(self, answer: SavedAnswer, stop: threading.Event) -> None:
        scope, message = answer.scope, answer.message
        before = titling.cut(answer.question)
        if chats.get(self._db, scope, message.chat_id).title != before:
            return
        if self._budgets.reached(scope):
            return
        alarm = threading.Timer(SECONDS, stop.set)
        alarm.daemon = True
        alarm.start()
        try:
            title = titling.ask(
                answer.endpoint,
                message.model,
                answer.question,
                _words(answer.parts),
                stop,
                lambda used: self._record(answer, used),
            )
        finally:
            alarm.cancel()
        if title:
            chats.retitle(self._db, scope, message.chat_id, before, title)
        else:
            logger.info("run %s: the model gave no title", message.id)

    def _record(self, answer: SavedAnswer, used: TokenUsage) -> None:
        if used == TokenUsage():
            return
        message = answer.message
        usage.unscoped_record(
            self._db,
            answer.scope,
            message.id,
            STEP,
            chat_id=message.chat_id,
            model=message.model,
            input_tokens=used.input,
            cached_tokens=used.cached,
            output_tokens=used.output,
            cost=cost(used, message.model),
        )


def _words(parts: Sequence[Part]) -> str:
    """What was written, without what tools gave."""
    return "\n".join(texts_of(parts)).strip()
