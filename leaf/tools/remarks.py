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
ROOM = 800
"""Characters of notes on columns in one output; what is said of rows counts, and is always said."""
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
    """Of each line, in order: what an output keeps as `data["told"]`, so that it is not said again."""
    more: str = ""
    """How many there was no room for, and where they are."""

    @property
    def spoken(self) -> tuple[str, ...]:
        """The lines of the output's text."""
        return (*self.lines, *([self.more] if self.more else []))

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
    """What has to be said of the tables that a call read, without what was told before, a line each.

    Rows that were left out or are in doubt come first, then the shortest notes, as far as there is room; the others are counted,
    and come with a later call that reads what they are about.
    """
    found = {
        _key(one.table, text): (rank, len(text) * rank, one.table.name, text)
        for one in asked
        for rank, sentences in enumerate((_of_rows(one), _of_columns(one)))
        for text in sentences
    }
    fresh = sorted(((key, *about) for key, about in found.items() if key not in told), key=lambda item: item[1:3])
    said: list[tuple[str, str]] = []
    room = ROOM
    for key, rank, _, name, text in fresh:
        room -= len(text)
        if room < 0 and rank and said:
            break
        said.append((key, f"On {name}: {text}"))
    left = fresh[len(said) :]
    names = list(dict.fromkeys(name for *_, name, _ in left))
    tables = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    more = f"{len(left)} more note{'s' if len(left) > 1 else ''} on how {tables} {'was' if len(names) == 1 else 'were'} read: "
    more = f"{more}describe_table tells {'them' if len(left) > 1 else 'it'}." if left else ""
    return Remarks(tuple(line for _, line in said), tuple(key for key, _ in said), more)


def of_columns(table: Table) -> Remarks:
    """All notes on how the columns of a table were read, which whoever looks at its columns is told."""
    found = {_key(table, text): f"On {table.name}: {text}" for text in _of_columns(Reading(table))}
    return Remarks(tuple(found.values()), tuple(found))


def once(output: Mapping[str, Any], told: set[str]) -> Json:
    """An output without the lines that another output of the same turn told before it; its own keys are added to `told`."""
    data = output.get("data") or {}
    text = str(output["text"])
    for key, line in zip(data.get("told") or (), data.get("remarks") or (), strict=False):
        if key in told:
            text = text.replace(f"\n{line}", "", 1)
        told.add(key)
    return {**output, "text": text}


def _of_rows(asked: Reading) -> Iterator[str]:
    """What was left out, and what is in doubt."""
    table = asked.table
    if asked.data_only and table.left_out_counts:
        yield f"{table.excluded} ({table.excluded_places}); {table.name}__all has them, with _row and _kind."
    if outside := left_out_in_words(table.outside):
        yield f"{outside}."
    for doubt in doubts(table):
        twice = ": a sum may count twice" if "total" in doubt["kind"] else ""
        yield f"{doubt['text']}{twice}."


def _of_columns(asked: Reading) -> Iterator[str]:
    """How the columns were read that were asked for."""
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
    if "select" not in sql or _ALL_COLUMNS.search(sql):
        return True
    return any(re.search(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", sql) for name in named)


def _key(table: Table, text: str) -> str:
    """Short and the same for ever: which bytes, which table of theirs, which words."""
    return f"{zlib.crc32(f'{table.sha256} {table.name} {text}'.encode()):08x}"


def told_in(outputs: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """The keys of what earlier outputs told."""
    return frozenset(key for output in outputs for key in (output.get("data") or {}).get("told") or ())
