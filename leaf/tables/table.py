"""A table of a file in a chat: where it was found, which of its rows are data, what is said of
it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from leaf.errors import not_found
from leaf.readers.base import KINDS, Note, TableInfo
from leaf.readers.notes import OUTSIDE
from leaf.readers.tabular.cells import places
from leaf.readers.tabular.sql import COUNTED
from leaf.store.model import ChatFile

Json = dict[str, Any]


@dataclass(frozen=True)
class Table:
    """One table of a file in a chat."""

    name: str
    """SQL name."""
    file_id: str
    file_name: str
    handle: str
    sheet: str
    place: str
    """Cell range or lines it was found at."""
    parquet: Path
    rows: int
    """Rows of data: what a query of the table's name sees."""
    columns: tuple[tuple[str, str], ...]
    """(name, DuckDB type) in order."""
    findings: tuple[Note, ...] = ()
    """What was guessed, mended, doubled or left out, each with its place."""
    hidden: bool = False
    sha256: str = ""
    first_row: int = 1
    marked: bool = False
    """Whether its Parquet holds `_row` and `_kind`; else its rows follow one another from
    `first_row`."""
    left_out: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Kind (`subtotal`, `total`, `note`) -> rows of the file that are of it, at most 1,000."""
    left_out_counts: Mapping[str, int] = field(default_factory=dict)
    doubtful: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Kind -> rows of the file that may be of it but are not proven to be: they are rows of data.
    At most 1,000."""
    doubtful_counts: Mapping[str, int] = field(default_factory=dict)
    shared: bool = False
    """Whether other tables stand in the same sheet or file beside it."""
    inside: bool = False
    """Whether it stands in a document: `sheet` is then what it is called there, and its rows have
    no numbers in the file."""

    @property
    def label(self) -> str:
        """What a person calls it: `book.xlsx · Data`; with its place where the sheet or the file
        holds several tables."""
        if self.shared:
            place = f"{self.sheet}!{self.place}" if self.sheet else self.place
            return f"{self.file_name} · {place}" if place else f"{self.file_name} · {self.name}"
        return f"{self.file_name} · {self.sheet}" if self.sheet else self.file_name

    @property
    def outside(self) -> Mapping[str, int]:
        """What stands around its rows and is none of them: `title`, `remark` … -> how many rows."""
        counts: dict[str, int] = {}
        for note in self.findings:
            if note.kind in OUTSIDE:
                counts[OUTSIDE[note.kind]] = counts.get(OUTSIDE[note.kind], 0) + note.count
        return counts

    @property
    def notes(self) -> tuple[str, ...]:
        """The findings' sentences."""
        return tuple(note.text for note in self.findings)

    @property
    def mark(self) -> Json:
        """Where its rows stand, for the child."""
        hidden = any(name.lower() == COUNTED for name, _ in self.columns)
        where = {"first": self.first_row, "marked": self.marked, "whole": not self.left_out}
        return {**where, "hidden": hidden}

    def place_of_row(self, row: int) -> str:
        """Locator of one row of the file: `sheet Data!A7:F7`, `row 7`; of a document the table's
        own place."""
        if self.inside:
            return self.place
        span = re.fullmatch(r"([A-Z]+)\d+:([A-Z]+)\d+", self.place) if self.sheet else None
        return f"sheet {self.sheet}!{span[1]}{row}:{span[2]}{row}" if span else f"row {row}"

    @property
    def excluded(self) -> str:
        """`12 left out as subtotals, 1 as a total`; empty where every row is data."""
        return left_out_in_words(self.left_out_counts)

    @property
    def excluded_places(self) -> str:
        """`rows 4, 7, 12` of the file."""
        numbers = sorted(n for rows in self.left_out.values() for n in rows)
        return places(numbers, shown=12) if numbers else ""

    def cells(self, rows: Sequence[int]) -> str:
        """Where some rows are: `Data!A7:F7, A14:F15`, `rows 7, 14-15`."""
        span = re.fullmatch(r"([A-Z]+)\d+:([A-Z]+)\d+", self.place) if self.sheet else None
        text = places(sorted(rows), shown=12)
        if not span:
            return f"{text} of {self.sheet}" if self.inside else text
        text, _, more = text.partition(" and ")
        runs = [(a, b or a) for a, b in re.findall(r"(\d+)(?:-(\d+))?", text)]
        return (
            f"{self.sheet}!"
            + ", ".join(f"{span[1]}{a}:{span[2]}{b}" for a, b in runs)
            + (f" and {more}" if more else "")
        )


_AS_ONE = {"note": "a summary", "summary": "a summary", "unreadable line": "an unreadable line"}
_AS_SEVERAL = {"note": "summaries", "summary": "summaries"}


def left_out_in_words(counts: Mapping[str, int]) -> str:
    """`2 left out as totals, 1 as a title`."""
    text = ""
    for kind, count in counts.items():
        what = _AS_ONE.get(kind, f"a {kind}") if count == 1 else _AS_SEVERAL.get(kind, f"{kind}s")
        text += f", {count:,} as {what}" if text else f"{count:,} left out as {what}"
    return text


@dataclass(frozen=True)
class TableSet:
    """The tables of some files, and why others have none."""

    tables: tuple[Table, ...]
    failures: Mapping[str, str]
    """File id -> one sentence, for tabular files that could not be read."""

    def find(self, name: str) -> Table:
        """The table with that SQL name. Raises NotFoundError with the nearest names."""
        for table in self.tables:
            if table.name.lower() == name.strip().strip('"').lower():
                return table
        raise not_found("table", name, [t.name for t in self.tables], "this chat")


def beside(tables: Sequence[Table], used: Sequence[Table]) -> tuple[Table, ...]:
    """The tables of the same files that were not used."""
    names, files = {t.name for t in used}, {t.file_id for t in used}
    return tuple(t for t in tables if t.file_id in files and t.name not in names)


def in_order(tables: Sequence[Table]) -> list[Table]:
    """The tables of a file, the one first that is meant where none is named: the largest that is
    not hidden."""
    first = max(tables, key=lambda t: (not t.hidden, t.rows))
    return [first, *(t for t in tables if t is not first)]


def table_of(
    chat_file: ChatFile, name: str, info: TableInfo, folder: Path, *, shared: bool = False
) -> Table:
    return Table(
        name=name,
        file_id=chat_file.file.id,
        file_name=chat_file.file.name,
        handle=chat_file.handle,
        sheet=info.sheet,
        place=info.place,
        parquet=folder / info.parquet,
        rows=info.rows,
        columns=info.columns,
        findings=info.notes,
        hidden=info.hidden,
        sha256=chat_file.file.sha256,
        first_row=info.first_row,
        marked=info.marked,
        left_out=dict(info.left_out),
        left_out_counts=dict(info.left_out_counts),
        doubtful=dict(info.doubtful),
        doubtful_counts=dict(info.doubtful_counts),
        shared=shared,
        inside=not KINDS[chat_file.file.kind].tabular,
    )
