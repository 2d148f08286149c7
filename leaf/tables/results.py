"""Kept results that SQL and Python name as tables: which a text names, and what each rests on.

A result is `rN.parquet` beside `rN.json` in its chat's folder, so no other chat or workspace reaches it. What it rests on stands
in the second: its tables with what was left out of them, its statement, and the results that it was made from.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leaf.errors import NotFoundError

Json = dict[str, Any]

_NAME = re.compile(r"(?<![\w.])r[1-9]\d{0,8}(?!\w)", re.IGNORECASE)
_LIMIT = re.compile(r"\blimit\s+\d+\s*%?\s*(?:offset\s+\d+\s*)?\)*\s*;?\s*\Z", re.IGNORECASE)
DEPTH = 50
"""Results made of results that are followed back."""


@dataclass(frozen=True)
class Kept:
    """A result of the chat."""

    name: str
    parquet: Path
    about: Json
    """What was kept with it: see `Tables.about_result`."""

    @property
    def tables(self) -> Sequence[Json]:
        """Its tables as they were: name, file_id, file, handle, sha256, rows, sheet, place, left_out, data_only."""
        return self.about.get("tables") or ()

    @property
    def is_cut(self) -> bool:
        """Whether its own statement ends at a LIMIT that left rows out, or may have."""
        found = _LIMIT.search(str(self.about.get("sql") or ""))
        number = re.search(r"\d+", found[0]) if found else None
        return bool(found and number) and ("%" in found[0] or int(self.about["total"]) >= int(number[0]))  # type: ignore[index]


SIDE_BY_SIDE = "Calls of one turn do not see each other's results: name one in a later turn, or write its query as WITH."


def named(folder: Path, text: str, taken: Collection[str] = (), turn: str = "") -> list[Kept]:
    """The results that a text names, each once. Names in `taken` belong to tables of the chat, which go before.

    Those that `turn` itself made are not there for it: its calls run side by side, and which of them is r1 is known at its end.
    """
    names = dict.fromkeys(name.lower() for name in _NAME.findall(text))
    found = (kept(folder, name) for name in names if name not in taken)
    return [one for one in found if one is not None and not _is_of(one, turn)]


def kept(folder: Path, name: str) -> Kept | None:
    """The result of that name; None where the chat has none. Its rows may be gone, what it rests on is not."""
    try:
        about = json.loads((folder / f"{name}.json").read_text())
    except (OSError, ValueError):
        return None
    return Kept(name, folder / f"{name}.parquet", about) if isinstance(about, dict) and "total" in about else None


def names(folder: Path, turn: str = "") -> list[str]:
    """Names of a chat's results, oldest first, without those of `turn`."""
    numbers = sorted(int(p.stem[1:]) for p in folder.glob("r*.json") if p.stem[1:].isdigit() and p.stat().st_size)
    found = [f"r{number}" for number in numbers]
    return [name for name in found if not turn or (one := kept(folder, name)) is None or not _is_of(one, turn)]


def _is_of(one: Kept, turn: str) -> bool:
    return bool(turn) and one.about.get("turn") == turn


def read(folder: Path, one: Kept) -> frozenset[str] | None:
    """The columns that were read for a result and for those behind it, by `touched.key`; None where it may be any."""
    return united(read_of(before.about) for before in behind(folder, one))


def read_of(about: Mapping[str, Any]) -> frozenset[str] | None:
    """The columns that one statement, or code, read; None for a result of an earlier version, which did not keep them."""
    columns = about.get("read")
    return None if columns is None else frozenset(map(str, columns))


def united(read: Iterable[frozenset[str] | None]) -> frozenset[str] | None:
    """Columns read in several ways; None as soon as it may be any in one of them."""
    every = list(read)
    return None if None in every else frozenset().union(*(columns for columns in every if columns is not None))


def behind(folder: Path, one: Kept, depth: int = DEPTH) -> Iterator[Kept]:
    """The result and all that it was made from."""
    yield one
    for name in one.about.get("results") or ():
        if depth and (before := kept(folder, str(name))) is not None:
            yield from behind(folder, before, depth - 1)


def caveats(folder: Path, one: Kept, sha256: Mapping[str, str]) -> list[str]:
    """What a query over the result has to say of it. `sha256` are the bytes of the chat's live files by id."""
    said = [
        f"{before.name} ends at its own LIMIT ({int(before.about['total']):,} rows): it is not the whole."
        for before in {b.name: b for b in behind(folder, one)}.values()
        if before.is_cut
    ]
    for table in one.tables:
        name = str(table.get("file") or table["name"])
        if table["file_id"] not in sha256:
            said.append(f"{name}, which {one.name} was made from, was deleted since.")
        elif sha256[table["file_id"]] != table["sha256"]:
            said.append(f"{one.name} was made from an earlier version of {name}: query it again for its present rows.")
    return list(dict.fromkeys(said))


def lost(one: Kept) -> NotFoundError:
    """What is said of a result whose rows are gone."""
    how = "Run its code again." if one.about.get("code") else "Run its query again."
    return NotFoundError(f"The rows of {one.name} are gone, or what it was made from has changed since.", how)


def turn_of(key: str) -> str:
    """The turn of a model that a call belongs to, by the call's key: `MESSAGE/tool-3` of `MESSAGE/tool-3-1-query_tables`."""
    found = re.match(r"(.+/tool-\d+)-\d+-", key)
    return found[1] if found else ""
