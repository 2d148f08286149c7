"""What must be said of a table with the figures that are made from it: what was left out, what is
doubtful, how it was read.

The page shows all of it with every answer. The model is told once in a chat, when the table's rows
first come to it: `new` leaves out what the keys of earlier outputs say that it was told.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from leaf.readers.base import Note
from leaf.readers.notes import NO_VALUE_TAIL, OF_TEXTS, Effect, effect, joined
from leaf.shapes.results import Doubt, NoteOnTable, Output, ReadingNotes
from leaf.tables import touched
from leaf.tables.table import Table, left_out_in_words
from leaf.tools.base import Coverage, quoted

PLACE = 60
"""Characters of the cells of a note that `describe_table` shows; with a query comes one cell, for
an example."""
ROOM = 800
"""Characters of notes on columns in one output; what is said of rows counts, and is always said."""
NAMED = 4
"""Tables that a sentence names which is about several."""
_MORE_COLUMNS = re.compile(r" and \d+ more columns")
_COUNT = re.compile(r"\d[\d,]*(?= )")
_RANGE = re.compile(r"[A-Z]*(\d+)(?:[-:][A-Z]*(\d+))?")
_MAY_BE = {
    "total": "totals",
    "subtotal": "subtotals",
    "summary": "averages or other summaries",
    "title": "titles",
    "note": "notes",
}
_NOTE_OF = {"title": "titles-doubtful", "note": "notes-doubtful"}
"""Kind of doubtful rows that stay in the data -> the note on them; that on titles may also be on
rows that were left out."""
_MAY_BE_ONE = {
    **{kind: f"a {kind}" for kind in ("total", "subtotal", "title", "note")},
    "summary": "an average or another summary",
}


@dataclass(frozen=True)
class ReadTable:
    """A table as a call read it."""

    table: Table
    data_only: bool = True
    """Whether rows of data alone were read, and no others by NAME__all."""
    columns: frozenset[str] | None = None
    """The columns that the call reads, by `touched.key`; None where it may be any."""
    first: int | None = None
    """How many of its rows the call reads at most; None for all."""
    start: int = -1
    """Rows of data before the first of these, where they stand one below the other."""

    @property
    def there(self) -> int:
        """The rows that it could read."""
        others = 0 if self.data_only else sum(self.table.left_out_counts.values())
        return self.table.rows + others

    @property
    def seen(self) -> int:
        """Those that it did."""
        return self.there if self.first is None else max(0, min(self.first, self.there))

    @property
    def in_a_row(self) -> bool:
        """Whether it is known which of the rows were read, so that several pages add up."""
        return self.start >= 0 and 0 < self.seen < self.there


@dataclass(frozen=True)
class Sentence:
    """One thing to be said of one table."""

    table: str
    """Its SQL name."""
    text: str
    example: str = ""
    """A cell or row that it is about; empty where it is about all of them."""


@dataclass(frozen=True)
class Remarks:
    """What a model is told now."""

    sentences: tuple[Sentence, ...] = ()
    keys: tuple[str, ...] = ()
    """Of each sentence, in order: what an output keeps as `data["told"]`, so that it is not said
    again."""
    more: str = ""
    """How many there was no room for, and where they are."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The sentences, those that are equal but for their counts once for all their tables, a
        line for the same tables."""
        return tuple(_lines(self.sentences))

    @property
    def spoken(self) -> tuple[str, ...]:
        """The lines of the output's text."""
        return (*self.lines, *([self.more] if self.more else []))

    def to_json(self) -> ReadingNotes:
        """For the `data` of an output: the keys with their sentences, and the lines for when the
        output is compacted."""
        entries = [[s.table, s.text, s.example] for s in self.sentences]
        return (
            {"told": list(self.keys), "said_of": entries, "remarks": list(self.lines)}
            if self.keys
            else {}
        )


def coverage(asked: ReadTable) -> Coverage:
    """A query, code or a profile scans every row of its table, but for the first ones or a sample
    of them; what was left out of it is not read."""
    table = asked.table
    left = {**(table.left_out_counts if asked.data_only else {}), **table.outside}
    return Coverage(
        table.file_id,
        table.label,
        "rows",
        asked.seen,
        asked.there + sum(left.values()),
        ((asked.start + 1, asked.start + asked.seen),) if asked.in_a_row else (),
        excluded=left_out_in_words(left),
        table=table.name,
        doubtful=tuple(doubts(asked)),
        notes=tuple(
            NoteOnTable(kind=n.kind, text=n.text, cells=n.cells or n.place)
            for n in _changing(asked)
        ),
    )


def doubts(asked: ReadTable) -> Iterator[Doubt]:
    """What contradicts itself in the columns that were asked for, then rows that are kept as data
    and may be none, a kind at a time."""
    table = asked.table
    for note in table.findings:
        if effect(note.kind) is Effect.CONTRADICTION and _touches(asked, note):
            yield {
                "kind": note.kind,
                "count": note.count,
                "cells": note.cells or note.place,
                "text": note.text.rstrip("."),
            }
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
    note_kinds = {_NOTE_OF.get(kind, "totals-doubtful") for kind in table.doubtful_counts}
    if "totals-doubtful" in note_kinds:
        note_kinds.add("rows-doubtful")
    for note in table.findings:
        if effect(note.kind) is Effect.DOUBT and note.kind not in note_kinds:
            text = note.text.rstrip(".") + (
                f" ({note.cells or note.place})" if note.cells or note.place else ""
            )
            yield {
                "kind": note.kind,
                "count": note.count,
                "cells": note.cells or note.place,
                "text": text,
            }


def new(asked: Sequence[ReadTable], told: frozenset[str]) -> Remarks:
    """What has to be said of the tables that a call read, without what was told before.

    Rows that were left out or are in doubt come first, then the shortest notes, as far as there is
    room; the others are counted, and come with a later call that reads what they are about.
    """
    by_key = {
        _key_of(one.table, sentence): (rank, len(sentence.text) * rank, sentence)
        for one in asked
        for rank, sentences in enumerate((_of_rows(one), _of_columns(one)))
        for sentence in sentences
    }
    fresh = sorted(
        ((key, *about) for key, about in by_key.items() if key not in told),
        key=lambda item: item[1:3],
    )
    chosen: list[tuple[str, Sentence]] = []
    room, alike = ROOM, set[str]()
    for key, rank, _, sentence in fresh:
        room -= len(sentence.table if _without_count(sentence) in alike else sentence.text)
        if room < 0 and rank and chosen:
            break
        chosen.append((key, sentence))
        alike.add(_without_count(sentence))
    left = fresh[len(chosen) :]
    names = list(dict.fromkeys(sentence.table for *_, sentence in left))
    more = ""
    if left:
        many, were = ("s", "them") if len(left) > 1 else ("", "it")
        more = (
            f"{len(left)} more note{many} on how {_listed(names)} "
            f"{'was' if len(names) == 1 else 'were'} read: "
        )
        more += f"describe_table tells {were}."
    return Remarks(tuple(sentence for _, sentence in chosen), tuple(key for key, _ in chosen), more)


def of_columns(table: Table) -> Remarks:
    """All notes on how the columns of a table were read, which whoever looks at its columns is
    told."""
    by_key = {_key_of(table, sentence): sentence for sentence in _of_columns(ReadTable(table))}
    return Remarks(tuple(by_key.values()), tuple(by_key))


def once(output: Output, told: set[str]) -> Output:
    """An output without what another output of the same turn told before it; its own keys are added
    to `told`."""
    data = output.get("data") or {}
    keys, entries = (
        list(data.get("told") or ()),
        [Sentence(*map(str, one)) for one in data.get("said_of") or ()],
    )
    fresh = [sentence for key, sentence in zip(keys, entries, strict=False) if key not in told]
    text = output["text"]
    if len(fresh) < len(entries):
        text = text.replace(_block(entries), _block(fresh), 1)
    told.update(keys)
    return {**output, "text": text}


def _block(sentences: Iterable[Sentence]) -> str:
    return "".join(f"\n{line}" for line in _lines(sentences))


def _lines(sentences: Iterable[Sentence]) -> Iterator[str]:
    alike: dict[str, list[Sentence]] = {}
    entries = list(sentences)
    place = {table: n for n, table in enumerate(dict.fromkeys(one.table for one in entries))}
    for one in sorted(entries, key=lambda sentence: place[sentence.table]):
        alike.setdefault(_without_count(one), []).append(one)
    by_tables: dict[str, list[str]] = {}
    for group in alike.values():
        names = list(dict.fromkeys(one.table for one in group))
        by_tables.setdefault(_listed(names), []).append(_as_one(group))
    for about, texts in by_tables.items():
        yield f"On {about}: {' '.join(joined(texts))}"


def _as_one(group: Sequence[Sentence]) -> str:
    """What equal sentences say of several tables: `22 and 8 cells …`, `52 cells in all …`; one
    example."""
    text = group[0].text
    counts = [match[0] for one in group if (match := _COUNT.match(one.text))]
    if len(set(counts)) > 1:
        rest = _without_count(group[0])
        total = sum(int(count.replace(",", "")) for count in counts)
        text = f"{_and(counts)} {rest}" if len(counts) <= NAMED else f"In all {total:,} {rest}"
    example = next((one for one in group if one.example), None)
    if example is None:
        return text
    where = f"{example.example} of {example.table}" if len(group) > 1 else example.example
    return f"{text.rstrip('.')} ({where})."


def _without_count(sentence: Sentence) -> str:
    return (
        _COUNT.sub("", sentence.text, count=1).lstrip()
        if _COUNT.match(sentence.text)
        else sentence.text
    )


def _listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b, c, d and 3 more`."""
    return (
        f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"
        if len(names) > NAMED
        else _and(names)
    )


def _and(texts: Sequence[str]) -> str:
    return " and ".join((", ".join(texts[:-1]), texts[-1])) if len(texts) > 1 else "".join(texts)


def _of_rows(asked: ReadTable) -> Iterator[Sentence]:
    """What was left out, and what is in doubt."""
    table = asked.table
    if asked.data_only and table.left_out_counts:
        text = (
            f"{table.excluded} ({table.excluded_places}); {table.name}__all has them, with "
            f"_row and _kind."
        )
        yield Sentence(table.name, text)
    if outside := left_out_in_words(table.outside):
        yield Sentence(table.name, f"{outside}.")
    for doubt in doubts(asked):
        counts = effect(doubt["kind"]) is not Effect.CONTRADICTION and "total" in doubt["kind"]
        twice = ": a sum may count twice" if counts else ""
        yield Sentence(table.name, f"{doubt['text']}{twice}.")


def _of_columns(asked: ReadTable) -> Iterator[Sentence]:
    """How the columns were read that were asked for."""
    for note in _changing(asked):
        yield Sentence(
            asked.table.name,
            note.short or note.text,
            "" if note.short else _example(asked.table, note),
        )


def sentences(table: Table, notes: Sequence[Note], length: int) -> str:
    """Notes with their cells, as many as there is room for; without those of a whole column."""
    return " ".join(joined([_with_cells(table, note, length) for note in notes]))


def _with_cells(table: Table, note: Note, length: int) -> str:
    text = note.text if note.kind in OF_TEXTS else note.short or note.text
    place = "" if _is_whole(table, note) else note.cells or note.place
    if not place:
        return text
    end = NO_VALUE_TAIL if text.endswith(NO_VALUE_TAIL) else "."
    return (
        f"{text.removesuffix(end)} "
        f"({quoted(place.removeprefix('rows ') if note.short else place, length)}){end}"
    )


def _example(table: Table, note: Note) -> str:
    """`row 14`, `B7`: the first of a note's cells; empty where they are the whole column or there
    are none to count."""
    place = note.cells or note.place
    if not note.count or not place or _is_whole(table, note):
        return ""
    first = re.split(r", | and ", place)[0]
    return quoted(first if "-" in first else re.sub(r"^(row|line)s ", r"\1 ", first), PLACE)


def _is_whole(table: Table, note: Note) -> bool:
    """Whether what a note names are columns from end to end, which says nothing that their names do
    not say."""
    ends = [
        (int(first), int(last or first)) for first, last in _RANGE.findall(note.cells or note.place)
    ]
    there = table.rows + sum(table.left_out_counts.values())
    return (
        bool(ends)
        and "'" in note.text
        and all(last - first + 1 >= max(there, 2) for first, last in ends)
    )


def _changing(asked: ReadTable) -> list[Note]:
    """The notes that change what the asked figures mean."""
    return [
        n for n in asked.table.findings if effect(n.kind) is Effect.FIGURES and _touches(asked, n)
    ]


def _touches(asked: ReadTable, note: Note) -> bool:
    """Whether the call reads a column that the note is about; so does one of a note that names
    none, or not all."""
    about = [name for name, kind in asked.table.columns if f"'{name}'" in note.text]
    if note.kind in OF_TEXTS:
        about = [name for name, kind in asked.table.columns if "VARCHAR" in kind]
    elif not about or _MORE_COLUMNS.search(note.text):
        return True
    return asked.columns is None or any(touched.key(name) in asked.columns for name in about)


def _key_of(table: Table, note: Sentence) -> str:
    """Short and the same for ever: which bytes, which table of theirs, which words."""
    return f"{zlib.crc32(f'{table.sha256} {table.name} {note.text} {note.example}'.encode()):08x}"


def told_in(outputs: Sequence[Output]) -> frozenset[str]:
    """The keys of what earlier outputs told."""
    return frozenset(
        key for output in outputs for key in (output.get("data") or {}).get("told") or ()
    )
