"""The words that a search over chats has found: the passage around them, of chats that are shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leaf.shapes.part_parser import parse_parts
from leaf.shapes.part_values import texts_of
from leaf.store.chats import VISIBLE
from leaf.store.database import Database, Row, composed, one_of, searched
from leaf.store.model import Scope
from leaf.store.users import params

BEFORE, LENGTH = 36, 130
"""Characters of a passage before the first word, and in all."""
WORDS = 10
PARTS = 60_000
"""Characters of a message's parts that are read for its passage; one with more, as with rows of
tables, is told in small letters, as the search keeps what it says."""


@dataclass(frozen=True)
class FoundPassage:
    message_id: str
    text: str
    """On one line, cut on both sides."""


def passages(
    db: Database, scope: Scope, chat_ids: Sequence[str], query: str
) -> dict[str, FoundPassage]:
    """By the chat: of the branch that is shown, the newest message that holds most of the words.
    None for a chat that has them in its title alone, or that the caller may not see.

    Two statements for all chats: which messages, without what they say; then what those say.
    """
    words = searched(query).split()[:WORDS]
    if not words or not chat_ids:
        return {}
    best = [row for row in _best(db, scope, chat_ids, words) if row["held"]]
    if not best:
        return {}
    ids, named = one_of("m.id", [row["id"] for row in best])
    # By their time as well: by ids alone DuckDB would read what all messages say.
    span = "m.created_at BETWEEN :first AND :last"
    times = [row["created_at"] for row in best]
    rows = db.read(
        "SELECT m.id, m.chat_id, m.words, CASE WHEN length(CAST(m.parts AS TEXT)) <= :most "
        f"THEN m.parts END AS parts FROM messages m WHERE {span} AND {ids}",
        {**named, "most": PARTS, "first": min(times), "last": max(times)},
    )
    return {row["chat_id"]: FoundPassage(row["id"], _around(_said(row), words)) for row in rows}


def _best(db: Database, scope: Scope, chat_ids: Sequence[str], words: Sequence[str]) -> list[Row]:
    """A message of each chat."""
    those, named = one_of("c.id", list(chat_ids))
    held = " + ".join(
        f"CASE WHEN strpos(m.words, :word{i}) > 0 THEN 1 ELSE 0 END" for i in range(len(words))
    )
    rows = db.read(
        f"SELECT m.id, m.chat_id, m.parent_id, m.created_at, c.head_id, {held} AS held "
        f"FROM chats c JOIN messages m ON m.chat_id = c.id WHERE {those} AND {VISIBLE}",
        params(scope, **named, **{f"word{i}": word for i, word in enumerate(words)}),
    )
    by_id = {row["id"]: row for row in rows}
    heads = {row["chat_id"]: row["head_id"] for row in rows}
    shown = [_branch(by_id, head) for head in heads.values() if head in by_id]
    # `max` takes the first of several: the newest.
    return [max(branch, key=lambda row: row["held"]) for branch in shown]


def _branch(by_id: dict[Any, Row], head: Any) -> list[Row]:
    """From its end to its beginning."""
    rows = [by_id[head]]
    while (parent := rows[-1]["parent_id"]) in by_id:
        rows.append(by_id[parent])
    return rows


def _said(row: Row) -> str:
    if row["parts"] is None:
        return str(row["words"])
    return "\n".join(texts_of(parse_parts(row["parts"], f"message {row['id']}")))


def _around(text: str, words: Sequence[str]) -> str:
    """The passage with the first of the words in it."""
    line = " ".join(composed(text).split())
    first = re.search("|".join(map(re.escape, words)), line, re.IGNORECASE)
    at = max(0, (first.start() if first else 0) - BEFORE)
    begin = line.find(" ", at, at + BEFORE // 2) + 1 if at else 0
    begin = begin or at
    cut = line[begin : begin + LENGTH].strip()
    return ("…" if begin else "") + cut + ("…" if begin + LENGTH < len(line) else "")
