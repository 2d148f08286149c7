"""The seam between the store and the two databases: SQL with `:name` parameters, JSON and UTC times
in and out.

Both adapters run the same SQL text. A `dict` or `list` given as a parameter is written as JSON; a
JSON column is read as Python values. Only this package knows that there is SQL.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

from leaf.store.changes import Hub
from leaf.store.model import Scope

Row = dict[str, Any]
Params = Mapping[str, Any]
Engine = Literal["duckdb", "postgres"]

_TOKENS = re.compile(r"'(?:[^']|'')*'|--[^\n]*|::|:([a-z_][a-z0-9_]*)")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class Transaction(Protocol):
    """Statements that are committed together or not at all."""

    @property
    def engine(self) -> Engine:
        """Of the database."""

    def read(self, sql: str, params: Params = ...) -> list[Row]:
        """Rows of a query, or of a statement with RETURNING; sees what this transaction has
        written."""

    def execute(self, sql: str, params: Params = ...) -> None:
        """Run a statement. Without parameters it may be a script of several."""

    def concerns(self, workspace_ids: Iterable[str]) -> None:
        """Tell these workspaces of what is written, where no scope says whose it is."""

    def tell(self, topic: str) -> None:
        """Tell them of a topic that no written table stands for."""

    def keep_out(self, table: str) -> None:
        """Let nobody else write to a table until the end; who reads is not kept waiting."""


class Snapshot(Protocol):
    """All that is committed at one moment, to be read while others write."""

    def read(self, sql: str, params: Params = ...) -> list[Row]:
        """Rows of a query."""

    def stream(self, sql: str) -> Iterator[Sequence[Any]]:
        """Rows of a query as the driver gives them, some at a time."""


class Database(Protocol):
    """What the modules of this package are given. Safe to share between threads."""

    @property
    def engine(self) -> Engine:
        """Which of the two it is, for what cannot be asked of both in the same words."""

    @property
    def changes(self) -> Hub:
        """Where what is written is told, once it is committed."""

    def read(self, sql: str, params: Params = ...) -> list[Row]:
        """Rows of a query over what is committed. Raises StoreError."""

    def transaction(self, scope: Scope | None = ...) -> AbstractContextManager[Transaction]:
        """Commits at the end, rolls back if the body raises. Do not nest. Raises StoreError.

        What it writes is told in the workspace of `scope`; without one, in those that the body
        names.
        """

    def single(self, sql: str, params: Params = ...) -> list[Row]:
        """One statement with RETURNING, in a commit of its own and behind no fence, of which nobody
        is told: for what is done so often that a transaction around it would cost more than it
        does. Raises StoreError."""

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """What is committed now; it does not change until the end. Raises StoreError."""

    def migration(self) -> AbstractContextManager[Transaction]:
        """A transaction that keeps other processes from migrating the same database."""

    def scrub(self) -> None:
        """Leave nothing in the database's files of rows that are deleted, as far as that is in this
        process's hands. Raises StoreError, StoreBusyError; then the files are as they were."""

    def listen(self) -> None:
        """Hear from now on what other processes write to the same database. Once is enough."""

    def tell(self, lines: Sequence[str]) -> None:
        """Tell lines to the other processes that listen to the same database now; they get them in
        `changes.hear`. None is kept: one that is too long for a notice, or that comes while one does
        not listen, is not heard. Raises StoreError."""

    def close(self) -> None:
        """Give the database back; nothing may be asked afterwards."""


def translate(sql: str, mark: str) -> tuple[str, frozenset[str]]:
    """`:name` turned into `mark` (such as `$name` or `%(name)s`), and the names. Literals, comments
    and `::` casts stay."""
    names: set[str] = set()

    def replace(found: re.Match[str]) -> str:
        name = found.group(1)
        if name is None:
            return found.group(0)
        names.add(name)
        return mark.replace("name", name)

    return _TOKENS.sub(replace, sql), frozenset(names)


def bind(names: frozenset[str], params: Params) -> dict[str, Any]:
    """The named parameters as a database takes them; others are left out."""
    return {name: storable(params[name]) for name in names}


def encode(value: Any) -> str:
    """JSON that both databases take: what has no place in it (NaN, infinity, half a surrogate pair)
    becomes null or U+FFFD."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:
        text = json.dumps(
            _finite(value), ensure_ascii=False, allow_nan=False, separators=(",", ":")
        )
    return _UNSTORABLE.sub("\ufffd", text)


def utc(value: datetime) -> datetime:
    """The same moment with the standard library's UTC, whatever zone object the driver made."""
    return value.astimezone(UTC)


def now() -> datetime:
    return datetime.now(UTC)


def one_of(column: str, values: Sequence[str]) -> tuple[str, dict[str, str]]:
    """`column IN (…)` with parameters of its own; false for no values."""
    if not values:
        return "FALSE", {}
    params = {f"in{i}": value for i, value in enumerate(values)}
    return f"{column} IN ({', '.join(f':{name}' for name in params)})", params


def containing(words: str) -> str:
    """A LIKE pattern (escape character `!`) for text that contains these words, as `searched`."""
    return "%" + re.sub(r"([!%_])", r"!\1", searched(words)) + "%"


def searched(text: str) -> str:
    """As it is searched: in lower case and composed, since one system writes as a letter with an
    accent behind it what another writes as one letter."""
    return composed(composed(text).lower())


def composed(text: str) -> str:
    """With each accent in its letter, as far as there is such a letter."""
    return unicodedata.normalize("NFC", text)


def storable(value: Any) -> Any:
    """A value as both databases keep it."""
    if isinstance(value, dict | list):
        return encode(value)
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value) if _UNSTORABLE.search(value) else value
    return value


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    return value
