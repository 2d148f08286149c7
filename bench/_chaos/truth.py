"""What became of the answers: rows in the database against what each question should leave, and what a
machine shows that took no part."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from bench._chaos.asking import Asked
from bench._chaos.events import Struck
from bench._chaos.questions import ROWS, Model, Question
from bench._cluster import Cluster
from leaf.errors import LeafError
from leaf.sessions.session import Session
from leaf.settings import load
from leaf.shapes.part_values import data_of, is_tool, texts_of
from leaf.store.model import Message
from leaf.wiring import build

UNFINISHED = ("pending", "streaming")
ENDING = 120.0
"""Seconds that the last answers may take after the last event."""


@dataclass
class Found:
    """What is not as it should be, with words on each."""

    lost: list[str] = field(default_factory=list)
    """Answers that were not given, not given whole, or twice."""
    missing: list[str] = field(default_factory=list)
    """Effects of tools that are not there."""
    doubled: list[str] = field(default_factory=list)
    """Effects that are there more than once."""
    incomplete: list[str] = field(default_factory=list)
    """What another machine does not show."""
    repeated: int = 0
    """Model calls that were made again."""
    beyond: int = 0
    """Of these: more than one for each event that struck the answer."""

    def tell(self) -> None:
        for name in ("lost", "missing", "doubled", "incomplete"):
            for words in getattr(self, name)[:10]:
                print(f"    {name}: {words}")


def settle(cluster: Cluster, asked: Sequence[Asked]) -> None:
    """Wait until all answers are over, or for as long as that may take."""
    until = time.monotonic() + ENDING
    wanted = [one.message_id for one in asked]
    while time.monotonic() < until:
        rows = cluster.rows(
            "SELECT count(*) FROM messages WHERE status = ANY(%s) AND id = ANY(%s)",
            list(UNFINISHED),
            wanted,
        )
        if rows[0][0] == 0:
            return
        time.sleep(0.5)


def look(
    cluster: Cluster, asked: Sequence[Asked], wanted: int, model: Model, struck: Sequence[Struck]
) -> Found:
    """All of it."""
    found = Found()
    if wanted > len(asked):
        found.lost.append(f"{wanted - len(asked)} questions that no Leaf took")
    _compare_rows(cluster, asked, found)
    _compare_calls(asked, model, struck, found)
    _look_elsewhere(cluster, asked, found)
    return found


def _compare_rows(cluster: Cluster, asked: Sequence[Asked], found: Found) -> None:
    """What each answer left in the tables, and how many messages each chat has."""
    there: dict[str, Counter[str]] = {one.message_id: Counter() for one in asked}
    for table in Question(0).effects:
        for message_id, count in cluster.rows(
            f"SELECT message_id, count(*) FROM {table} GROUP BY message_id"
        ):
            if message_id in there:
                there[message_id][table] = int(count)
    for one in asked:
        for table, count in one.question.effects.items():
            more = there[one.message_id][table] - count
            words = f"{one.question.text} {table}: {count + more} instead of {count}"
            if more:
                (found.doubled if more > 0 else found.missing).append(words)
    chats = dict(cluster.rows("SELECT chat_id, count(*) FROM messages GROUP BY chat_id"))
    found.doubled += [
        f"{one.question.text} {chats[one.chat_id]} messages in its chat"
        for one in asked
        if chats.get(one.chat_id, 0) > 2
    ]


def _compare_calls(
    asked: Sequence[Asked], model: Model, struck: Sequence[Struck], found: Found
) -> None:
    repeated = model.repeated()
    found.repeated = repeated.total()
    for one in asked:
        hits = sum(one.message_id in event.answers for event in struck)
        found.beyond += max(0, repeated[one.question.number] - hits)


def _look_elsewhere(cluster: Cluster, asked: Sequence[Asked], found: Found) -> None:
    """Each answer on a machine with an empty disk, which has only the database and the bucket."""
    home = cluster.folder / "viewer"
    leaf = build(load({**cluster.settings, "LEAF_HOME": str(home)}))
    try:
        session = leaf.session(leaf.local_scope())
        for one in asked:
            message = session.messages.get(one.message_id)
            if message.status != "completed" or texts_of(message.parts) != [one.question.answer]:
                said = " ".join(texts_of(message.parts))
                found.lost.append(
                    f"{one.question.text} {message.status} {message.error} {said[:80]}"
                )
            try:
                found.incomplete += [
                    f"{one.question.text} {problem}" for problem in _problems(session, one, message)
                ]
            except (LeafError, OSError) as e:
                found.incomplete.append(f"{one.question.text} {e}")
    finally:
        leaf.close()


def _problems(session: Session, one: Asked, message: Message) -> list[str]:
    """What of the effects of an answer cannot be opened, or is not what it should be."""
    question, effects = one.question, one.question.effects
    problems = [
        f"{part['type']}: {part.get('errorText', '')[:200]}"
        for part in message.parts
        if is_tool(part) and part["state"] != "output-available"
    ]
    if effects["results"]:
        rows = session.results.page(one.chat_id, "r1").rows
        if [[region, int(total)] for region, total in rows] != ROWS:
            problems.append(f"r1 holds {rows}")
    if effects["documents"]:
        texts = [
            session.documents.content(document)
            for document in session.documents.list(chat_id=one.chat_id)
        ]
        if [text.strip() for text in texts] != [question.document.strip()]:
            problems.append(f"documents: {texts}")
    if effects["made_files"]:
        written = [w for part in message.parts for w in data_of(part).get("written", ())]
        contents = [
            session.python.written(one.chat_id, w["sha256"], w["name"]).read_text() for w in written
        ]
        if len(contents) != 1 or not contents[0].startswith(question.written):
            problems.append(f"files: {contents}")
    return problems
