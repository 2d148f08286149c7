"""What DuckDB was asked before and would answer the same.

A page asks some hundred small questions, most of them as it did a moment ago, and DuckDB, which is
made for large ones, takes one to ten milliseconds to plan each: half of the processor time of an
answer. One process alone holds the file, so an answer holds until one of the tables that it was
read from is written. PostgreSQL, which others write as well, is always asked.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from leaf.store.changes import TOPICS

MOST_ROWS = 200
MOST_WEIGHT = 50_000
"""Characters and bytes of one answer; larger ones are asked for again."""
KEPT_WEIGHT = 16_000_000
"""The same of all answers that are kept."""
OVERHEAD = 500
"""What a question weighs besides."""

_CHANGING = re.compile(
    r"\b(now|today|random|uuid|nextval|currval|current_\w+|get_current_\w+|pragma|duckdb_\w+)\b",
    re.IGNORECASE,
)
"""Functions that answer differently though nothing was written."""
_WRITTEN = re.compile(
    r"\b(?:INSERT(?:\s+OR\s+\w+)?\s+INTO|DELETE\s+FROM|UPDATE(?!\s+SET\b))\s+\"?(?P<table>\w+)\"?"
    r"(?:(?:\s+AS)?\s+\w+)??(?:\s+SET\s+(?P<column>\w+)\s*=\s*(?P<value>[\w.]+)\s*(?:WHERE|$))?",
    re.IGNORECASE,
)
_STRUCTURE = re.compile(
    r"\b(ALTER|CREATE|DROP|TRUNCATE|COPY|MERGE|ATTACH|DETACH|IMPORT)\b", re.IGNORECASE
)
_WORD = re.compile(r"\w+")

Answer = tuple[list[tuple[str, bool]], list[tuple[Any, ...]]]
"""Columns, each with whether it is JSON, and rows as DuckDB gives them."""


@dataclass(frozen=True)
class _Kept:
    state: tuple[int, ...]
    """Of the tables that it was read from, as they were before it was asked for."""
    answer: Answer
    weight: int


@dataclass(frozen=True)
class CachedRead:
    """A statement with its values, and the state of its tables before it is asked."""

    key: tuple[Any, ...]
    state: tuple[int, ...]


class ReadCache:
    """Of one database. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[Any, ...], _Kept] = OrderedDict()
        self._weight = 0
        self._written = dict.fromkeys(TOPICS, 0)
        self._committing = dict.fromkeys(TOPICS, 0)

    def question(self, sql: str, values: dict[str, Any]) -> CachedRead | None:
        """None where the answer cannot be kept. Take it before asking: what is written meanwhile
        makes the answer an old one."""
        tables = tables_of(sql)
        if not tables:
            return None
        key = (sql, *sorted(values.items()))
        try:
            hash(key)
        except TypeError:
            return None
        with self._lock:
            if any(self._committing[table] for table in tables):
                return None
            return CachedRead(key, tuple(self._written[table] for table in tables))

    def answer(self, question: CachedRead) -> Answer | None:
        """What is kept and still holds."""
        with self._lock:
            entry = self._kept.get(question.key)
            if entry is None or entry.state != question.state:
                return None
            self._kept.move_to_end(question.key)
            return entry.answer

    def keep(self, question: CachedRead, answer: Answer) -> None:
        """For the next time, unless it is large."""
        rows = answer[1]
        if len(rows) > MOST_ROWS or any(isinstance(v, list | dict) for row in rows for v in row):
            return  # whoever gets a list may change it
        weight = _weight(rows)
        if weight > MOST_WEIGHT:
            return
        with self._lock:
            self._drop(question.key)
            self._kept[question.key] = _Kept(question.state, answer, weight)
            self._weight += weight
            while self._weight > KEPT_WEIGHT:
                self._drop(next(iter(self._kept)))

    @contextmanager
    def committing(self, statements: Iterable[str]) -> Iterator[None]:
        """Around the end of a transaction in which these were carried out. Until it is over nobody
        is answered from here, so nobody who has seen what is new is told what is old; then what was
        read of their tables before is old, also after a commit of which nobody knows."""
        tables: set[str] = set()
        for sql in statements:
            targets = written_by(sql)
            tables |= TOPICS.keys() if targets is None else targets & TOPICS.keys()
        with self._lock:
            for table in tables:
                self._committing[table] += 1
        try:
            yield
        finally:
            with self._lock:
                for table in tables:
                    self._committing[table] -= 1
                    self._written[table] += 1

    def _drop(self, key: tuple[Any, ...]) -> None:
        if entry := self._kept.pop(key, None):
            self._weight -= entry.weight


@lru_cache(maxsize=1000)
def tables_of(sql: str) -> tuple[str, ...]:
    """The tables that a statement may read; none where its answer changes by itself, or where it
    writes."""
    if _CHANGING.search(sql) or _STRUCTURE.search(sql) or written_by(sql):
        return ()
    return tuple(sorted(set(_WORD.findall(sql)) & TOPICS.keys()))


@lru_cache(maxsize=1000)
def written_by(sql: str) -> frozenset[str] | None:
    """The tables that a statement writes; None: it may be any. To set a column to itself is to hold
    the row."""
    if _STRUCTURE.search(sql):
        return None
    tables = set()
    for match in _WRITTEN.finditer(sql):
        value = (match["value"] or "").rpartition(".")[2]
        if value and match["column"].lower() == value.lower():
            continue
        tables.add(match["table"].lower())
    return frozenset(tables)


def _weight(rows: Sequence[Sequence[Any]]) -> int:
    return OVERHEAD + sum(
        len(value) if isinstance(value, str | bytes) else 10 for row in rows for value in row
    )
