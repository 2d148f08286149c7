"""Those who ask and those who look on, each at whichever Leaf answers: what a browser behind a
balancer does."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from bench._chaos.questions import Question
from bench._cluster import Cluster, Process
from leaf.agent.events import reduce
from leaf.errors import LeafError, NotFoundError
from leaf.remote.contract import SessionCommands
from leaf.runs.board import ELSEWHERE
from leaf.shapes.chunks import Chunk
from leaf.shapes.part_values import texts_of
from leaf.store.model import Message

PAUSE = 0.5
"""Seconds before anything is tried again, and between two looks of a viewer."""
PATIENCE = 150.0
"""Seconds after which a question that nobody took, or an answer that did not end, is given up."""


@dataclass
class Asked:
    """A question that a Leaf has taken."""

    question: Question
    chat_id: str
    message_id: str
    at: Process
    since: float = field(default_factory=time.monotonic)


@dataclass
class Visitors:
    """All of them."""

    cluster: Cluster
    file_id: str
    seed: int
    asked: list[Asked] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    """What askers were told that had to ask again -> how often."""
    views: int = 0
    incomplete: list[str] = field(default_factory=list)
    """Live views at another Leaf than the asker's that did not come to the whole answer."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, question: Question) -> Asked | None:
        """Ask until a Leaf has taken it; None where none did."""
        chance = random.Random(f"{self.seed}/{question.number}")
        chat_id, until = "", time.monotonic() + PATIENCE
        while time.monotonic() < until:
            at = chance.choice(self.cluster.processes)
            try:
                session = at.session()
                if not chat_id:
                    chat_id = session.chats.create().id
                elif known := _answer(session, chat_id):
                    return self._took(Asked(question, chat_id, known.id, at))
                sent = session.messages.send(chat_id, question.text, [self.file_id])
                return self._took(Asked(question, chat_id, sent.id, at))
            except LeafError as e:
                self._note_refusal(e)
                time.sleep(PAUSE)
        return None

    def watch(self, asked: Asked) -> None:
        """Follow an answer at other Leafs, to its end."""
        chance = random.Random(f"{self.seed}/{asked.question.number}/watch")
        others = [one for one in self.cluster.processes if one is not asked.at]
        until = time.monotonic() + PATIENCE
        view = View(asked.message_id, until)
        while view.texts is None and time.monotonic() < until:
            at = chance.choice(others)
            try:
                view.look(at.session())
            except LeafError as e:
                view.seen = f"{e.message} ({at.app.home.name})"
                time.sleep(PAUSE)
        with self._lock:
            self.views += 1
            if view.texts != [asked.question.answer]:
                self.incomplete.append(f"{asked.message_id} {asked.question.text} {view}")

    def _took(self, asked: Asked) -> Asked:
        with self._lock:
            self.asked.append(asked)
        return asked

    def _note_refusal(self, error: LeafError) -> None:
        with self._lock:
            self.refused[error.message] += 1


def _answer(session: SessionCommands, chat_id: str) -> Message | None:
    """The answer to the question of a chat, where the question was kept although nobody said so."""
    messages = session.chats.thread(chat_id).messages
    return messages[-1] if messages else None


@dataclass
class View:
    """One answer as a viewer sees it."""

    message_id: str
    until: float
    """`time.monotonic()` at which it is given up."""
    texts: list[str] | None = None
    """Once it is over."""
    seen: str = ""
    """What was seen last, in words."""

    def look(self, at: SessionCommands) -> None:
        """Follow it at one Leaf, until it is over or is to be looked for again. Raises LeafError where
        that one does not answer."""
        chunks: list[Chunk] = []
        position = 0
        while time.monotonic() < self.until:
            try:
                piece = at.messages.wait(self.message_id, position, PAUSE)
            except NotFoundError:
                message = at.messages.get(self.message_id)
                self.seen = f"{message.status} in the history"
                if message.status not in ("pending", "streaming"):
                    self.texts = texts_of(message.parts)
                break
            chunks, position = [*chunks, *piece.chunks], piece.position
            self.seen = f"{len(chunks)} chunks: {[c['type'] for c in chunks[-3:]]}"
            if piece.done:
                last = chunks[-1]
                if last["type"] != "abort" or last.get("reason") != ELSEWHERE:
                    self.texts = texts_of(reduce(chunks))
                break
            time.sleep(PAUSE)
        else:
            return
        time.sleep(PAUSE)
