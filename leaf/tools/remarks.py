"""What must be said of a table with the figures that are made from it: what was left out, what is doubtful, how it was read.

The page shows all of it with every answer. The model is told once in a chat, when the table's rows first come to it: `new` leaves
out what the keys of earlier outputs say that it was told.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaf.formats.base import Note
from leaf.formats.notes import Effect, effect
from leaf.tables.tables import Table, left_out_in_words
from leaf.tools.base import Coverage, quoted

Json = dict[str, Any]

PLACE = 120
"""Characters of the cells of a note that a model is shown."""
_ALL_COLUMNS = re.compile(
    r"(?:\bselect\s+(?:distinct\s+)?|,\s*|\.)\*|\bcolumns\s*\(|\b(?:summarize|describe|pivot|unpivot)\b", re.IGNORECASE
)
_MORE_COLUMNS = re.compile(r" and \d+ more columns")
_MAY_BE = {
    "total": "totals",
    "subtotal": "subtotals",
    "summary": "averages or other summaries",
    "title": "titles",
    "note": "notes",
}
_NOTE_OF = {"title": "titles-doubtful", "note": "notes-doubtful"}
"""Kind of doubtful rows that stay in the data -> the note on them; that on titles may also be on rows that were left out."""
_MAY_BE_ONE = {
    **{kind: f"a {kind}" for kind in ("total", "subtotal", "title", "note")},
    "summary": "an average or another summary",
}


@dataclass(frozen=True)
class Reading:
    """A table as a call read it."""

    table: Table
    data_only: bool = True
    """Whether rows of data alone were read, and no others by NAME__all."""
    sql: str = ""
    """The statement, by which columns are known that it does not touch; empty where it may touch any."""


@dataclass(frozen=True)
class Remarks:
    """What a model is told now."""

    lines: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    """What an output keeps as `data["told"]`, so that it is not said again."""

    def to_json(self) -> Json:
        """For the `data` of an output: the keys, and the lines for when the output is folded."""
        return {"told": list(self.keys), "remarks": list(self.lines)} if self.keys else {}


def coverage(asked: Reading) -> Coverage:
    """A query, code or a profile scans every row of its table; what was left out of it is not read."""
    table = asked.table
    left = {**(table.left_out_counts if asked.data_only else {}), **table.outside}
    seen = table.rows if asked.data_only else table.rows + sum(table.left_out_counts.values())
    return Coverage(
        table.file_id,
        table.label,
        "rows",
        seen,
        seen + sum(left.values()),
        excluded=left_out_in_words(left),
        table=table.name,
        doubtful=tuple(doubts(table)),
        notes=tuple({"kind": n.kind, "text": n.text, "cells": n.cells or n.place} for n in _changing(asked)),
    )


def doubts(table: Table) -> Iterator[Json]:
    """Rows that are kept as data and may be none, a kind at a time."""
    for kind, count in table.doubtful_counts.items():
        cells = table.cells(table.doubtful.get(kind, ()))
        what = _MAY_BE_ONE.get(kind, f"a {kind}") if count == 1 else _MAY_BE.get(kind, f"{kind}s")
        rows = "1 row that may be" if count == 1 else f"{count:,} rows that may be"
        yield {
            "kind": kind,
            "count": count,
            "cells": cells,
            "text": f"{rows} {what} {'is' if count == 1 else 'are'} counted as data ({cells})",
        }
    said = {_NOTE_OF.get(kind, "totals-doubtful") for kind in table.doubtful_counts}
    for note in table.findings:
        if effect(note.kind) is Effect.DOUBT and note.kind not in said:
            text = note.text.rstrip(".") + (f" ({note.cells or note.place})" if note.cells or note.place else "")
            yield {"kind": note.kind, "count": note.count, "cells": note.cells or note.place, "text": text}


def new(asked: Sequence[Reading], told: frozenset[str]) -> Remarks:
    """What has to be said of the tables that a call read, without what was told before: a line for each table."""
    lines: list[str] = []
    keys: list[str] = []
    for one in asked:
        found = {_key(one.table, text): text for text in _sentences(one)}
        fresh = {key: text for key, text in found.items() if key not in told}
        keys += fresh
        if fresh:
            lines.append(f"On {one.table.name}: " + " ".join(fresh.values()))
    return Remarks(tuple(lines), tuple(keys))


def _sentences(asked: Reading) -> Iterator[str]:
    table = asked.table
    if asked.data_only and table.left_out_counts:
        yield f"{table.excluded} ({table.excluded_places}); {table.name}__all has them, with _row and _kind."
    if outside := left_out_in_words(table.outside):
        yield f"{outside}."
    for doubt in doubts(table):
        twice = ": a sum may count twice" if "total" in doubt["kind"] else ""
        yield f"{doubt['text']}{twice}."
    for note in _changing(asked):
        place = note.cells or note.place
        yield f"{note.text}{f' [{quoted(place, PLACE)}]' if place and note.count else ''}"


def _changing(asked: Reading) -> list[Note]:
    """The notes that change what the asked figures mean."""
    return [n for n in asked.table.findings if effect(n.kind) is Effect.FIGURES and _touches(asked, n)]


def _touches(asked: Reading, note: Note) -> bool:
    """Whether the statement reads a column that the note names; so do all of a note that names none, or not all."""
    named = [name for name, _ in asked.table.columns if f"'{name}'" in note.text]
    if not named or not asked.sql or _MORE_COLUMNS.search(note.text):
        return True
    sql = asked.sql.casefold()
    return "select" not in sql or bool(_ALL_COLUMNS.search(sql)) or any(name.casefold() in sql for name in named)


def _key(table: Table, text: str) -> str:
    """Short and the same for ever: which bytes, which table of theirs, which words."""
    return f"{zlib.crc32(f'{table.sha256} {table.name} {text}'.encode()):08x}"


def told_in(outputs: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """The keys of what earlier outputs told."""
    return frozenset(key for output in outputs for key in (output.get("data") or {}).get("told") or ())
