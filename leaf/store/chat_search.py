"""Chats with some words on DuckDB, which has no index for words: reads what is said in as few chats
as it can, and compares every word with that.

The newest chats come first, where a common word is found soon; then those whose signature has room
for the words (`signatures.py`), with those that have none; and where these are too many, all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from leaf.store import signatures
from leaf.store.database import Database, Row
from leaf.store.model import Scope
from leaf.store.users import MEMBER, params

FIRST = 100
"""Chats that are read first; ten times as many then, and so on."""
MOST = 20_000
"""Chats of which reading them alone is faster than reading everything."""
RARE = 0.02
"""A word that so few of all signatures have room for is not looked for in the newest chats first."""
_ORDER = "ORDER BY c.updated_at DESC, c.id DESC"
_TAKES_PART = "c.id IN (SELECT p.chat_id FROM chat_participants p WHERE p.user_id = :user)"


def find(
    db: Database, scope: Scope, words: Sequence[str], *, deleted: bool, newest: int, wanted: int
) -> list[str]:
    """Ids of at least so many chats that have all words in their title or messages, if there are,
    the newest activity first; of those alone that the caller may see."""
    if not db.read(f"SELECT 1 AS yes WHERE {MEMBER}", params(scope)):
        return []
    return _Search(db, scope, words, deleted).find(newest, wanted)


class _Search:
    def __init__(self, db: Database, scope: Scope, words: Sequence[str], deleted: bool) -> None:
        self._db, self._words = db, words
        self._given = params(scope, **{f"word{n}": word for n, word in enumerate(words)})
        self._kept = (
            f"c.workspace_id = :workspace AND c.deleted_at IS {'NOT NULL' if deleted else 'NULL'} "
            f"AND {_TAKES_PART}"
        )
        self._fits: list[str] = []
        for number, word in enumerate(words):
            condition, bits = signatures.fitting(word, number)
            self._fits.append(condition)
            self._given |= bits

    def find(self, newest: int, wanted: int) -> list[str]:
        signed, fit, chats = self._counts()
        if fit >= RARE * signed:
            there = self._chats("chats c", [], newest)
            chat_ids = self._having(there, wanted)
            if len(chat_ids) >= wanted or len(there) < newest:
                return chat_ids
        possible = fit + max(0, chats - signed)
        if possible > min(MOST, chats / 2):
            return self._anywhere(wanted)
        return self._having(self._chats(signatures.joined(), self._possible()), wanted)

    def _counts(self) -> tuple[int, int, int]:
        """Signatures, those of them with room for all words, and chats; of everybody, which is
        enough to choose the faster way."""
        (row,) = self._db.read(
            f"SELECT count(*) AS signed, count(*) FILTER (WHERE {' AND '.join(self._fits)}) AS fit,"
            " (SELECT count(*) FROM chats) AS chats FROM chat_signatures s",
            self._given,
        )
        return int(row["signed"]), int(row["fit"]), int(row["chats"])

    def _possible(self) -> list[str]:
        """True for a chat that may have each word: no signature that holds tells otherwise."""
        return [
            f"({_holds('lower(c.title)', number)} OR s.chat_id IS NULL OR ({fit}))"
            for number, fit in enumerate(self._fits)
        ]

    def _chats(self, source: str, conditions: list[str], limit: int | None = None) -> list[Row]:
        """Chats that the caller may see, with what stands in their titles."""
        titles = ", ".join(
            f"{_holds('lower(c.title)', number)} AS has{number}" for number in self._numbers
        )
        return self._db.read(
            f"SELECT c.id, {titles} FROM {source} WHERE "
            f"{' AND '.join([self._kept, *conditions])} {_ORDER}{'' if limit is None else ' LIMIT :limit'}",
            {**self._given, "limit": limit},
        )

    def _having(self, there: list[Row], wanted: int) -> list[str]:
        """Those of the chats that have all words, until there are enough."""
        chat_ids: list[str] = []
        for piece in _pieces(there):
            chat_ids += self._read(piece)
            if len(chat_ids) >= wanted:
                break
        return chat_ids

    def _read(self, piece: list[Row]) -> list[str]:
        ids = [str(row["id"]) for row in piece if not self._has_all(row)]
        hits_of: dict[Any, Row] = {}
        if ids:
            words = ", ".join(
                f"bool_or({_holds('x.words', number)}) AS has{number}" for number in self._numbers
            )
            rows = self._db.read(
                f"SELECT x.chat_id, {words} FROM {signatures.said_in()} GROUP BY x.chat_id",
                {**self._given, **signatures.those(ids)},
            )
            hits_of = {row["chat_id"]: row for row in rows}
        return [str(row["id"]) for row in piece if self._has_all(row, hits_of.get(row["id"], {}))]

    def _has_all(self, chat: Row, hits: Row | None = None) -> bool:
        return all(
            chat[f"has{number}"] or (hits or {}).get(f"has{number}") for number in self._numbers
        )

    def _anywhere(self, wanted: int) -> list[str]:
        """By reading all that was ever said."""
        conditions = [
            f"(c.id IN (SELECT x.chat_id FROM messages x WHERE {_holds('x.words', number)}) "
            f"OR {_holds('lower(c.title)', number)})"
            for number in self._numbers
        ]
        return [str(row["id"]) for row in self._chats("chats c", conditions, wanted)]

    @property
    def _numbers(self) -> range:
        return range(len(self._words))


def _pieces(rows: list[Row]) -> Iterator[list[Row]]:
    start, size = 0, FIRST
    while start < len(rows):
        yield rows[start : start + size]
        start, size = start + size, size * 10


def _holds(text: str, number: int) -> str:
    """True where a word stands anywhere in a text."""
    return f"strpos({text}, :word{number}) > 0"
