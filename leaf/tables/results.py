"""Kept results that SQL and Python name as tables: which a text names, and what each rests on.

What a result is stands in its row of the chat; its rows are a blob. What it rests on is among that:
its tables with what was left out of them, its statement, and the results that it was made from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from leaf.errors import ResultGoneError
from leaf.store.results import ResultRow

Json = dict[str, Any]

_NAME = re.compile(r"(?<![\w.])r[1-9]\d{0,8}(?!\w)", re.IGNORECASE)
_LIMIT = re.compile(r"\blimit\s+\d+\s*%?\s*(?:offset\s+\d+\s*)?\)*\s*;?\s*\Z", re.IGNORECASE)
DEPTH = 50
"""Results made of results that are followed back."""


@dataclass(frozen=True)
class StoredResult:
    """A result of the chat. Its rows may be gone, what it rests on is not."""

    name: str
    row: ResultRow

    @property
    def about(self) -> Json:
        """What was kept with it: see `KeptResults.about`."""
        return self.row.about

    @property
    def tables(self) -> Sequence[Json]:
        """Its tables as they were: name, file_id, file, handle, sha256, rows, sheet, place,
        left_out, data_only."""
        return self.about.get("tables") or ()

    @property
    def how(self) -> Literal["query", "code", ""]:
        """What makes it anew; empty where that is not known."""
        return "query" if self.about.get("sql") else "code" if self.about.get("code") else ""

    @property
    def edited(self) -> str:
        """The edited step that it is of; empty where no person edited what made it."""
        return str(self.about.get("edited") or "")

    @property
    def is_cut(self) -> bool:
        """Whether its own statement ends at a LIMIT that left rows out, or may have."""
        match = _LIMIT.search(str(self.about.get("sql") or ""))
        number = re.search(r"\d+", match[0]) if match else None
        if match is None or number is None:
            return False
        return "%" in match[0] or int(self.about["total"]) >= int(number[0])


Find = Callable[[str], StoredResult | None]
"""The result of that name; None where the chat has none."""


def names_in(text: str, taken: Collection[str] = ()) -> list[str]:
    """Names of results that a text holds, each once. Names in `taken` belong to tables of the chat,
    which go before."""
    names = dict.fromkeys(name.lower() for name in _NAME.findall(text))
    return [name for name in names if name not in taken]


def read(find: Find, one: StoredResult) -> frozenset[str] | None:
    """The columns that were read for a result and for those behind it, by `touched.key`; None where
    it may be any."""
    return united(read_of(before.about) for before in behind(find, one))


def read_of(about: Mapping[str, Any]) -> frozenset[str] | None:
    """The columns that one statement, or code, read; None for a result of an earlier version, which
    did not keep them."""
    columns = about.get("read")
    return None if columns is None else frozenset(map(str, columns))


def united(read: Iterable[frozenset[str] | None]) -> frozenset[str] | None:
    """Columns read in several ways; None as soon as it may be any in one of them."""
    every = list(read)
    return (
        None
        if None in every
        else frozenset().union(*(columns for columns in every if columns is not None))
    )


def behind(find: Find, one: StoredResult, depth: int = DEPTH) -> Iterator[StoredResult]:
    """The result and all that it was made from."""
    yield one
    for name in one.about.get("results") or ():
        if depth and (before := find(str(name))) is not None:
            yield from behind(find, before, depth - 1)


def caveats(find: Find, one: StoredResult, sha256: Mapping[str, str]) -> list[str]:
    """What a query over the result has to say of it. `sha256` are the bytes of the chat's live
    files by id."""
    every = {b.name: b for b in behind(find, one)}.values()
    sentences = [
        f"{before.name} ends at its own LIMIT ({int(before.about['total']):,} rows): it is not "
        f"the whole."
        for before in every
        if before.is_cut
    ]
    sentences += [edited_by_hand(before.name) for before in every if before.edited]
    for table in one.tables:
        name = str(table.get("file") or table["name"])
        if table["file_id"] not in sha256:
            sentences.append(f"{name}, which {one.name} was made from, was deleted since.")
        elif sha256[table["file_id"]] != table["sha256"]:
            sentences.append(
                f"{one.name} was made from an earlier version of {name}: query it again for its "
                f"present rows."
            )
    return list(dict.fromkeys(sentences))


def edited_by_hand(name: str) -> str:
    """What is said of a result that a person's code made."""
    return f"{name} comes from a step that a person edited and ran."


def lost(one: StoredResult, why: str) -> ResultGoneError:
    """What is said of a result whose rows are gone; `why` ends its sentence."""
    hints = {"query": "Run its query again.", "code": "Run its code again."}
    hint = hints.get(one.how, "Ask for them again.")
    return ResultGoneError(f"The rows of {one.name} are gone: {why}.", hint, again=bool(one.how))


def turn_of(key: str) -> str:
    """The turn of a model that a call belongs to, by the call's key: `MESSAGE/tool-3` of
    `MESSAGE/tool-3-1-query_tables`."""
    match = re.match(r"(.+/tool-\d+)-\d+-", key)
    return match[1] if match else ""


def message_of(turn: str) -> str:
    """The answer that a turn belongs to; empty outside of answers."""
    return turn.rpartition("/")[0]
