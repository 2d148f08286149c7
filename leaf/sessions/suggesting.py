"""Questions that can be asked with a press: made of the data at hand, by rules and without a model.
Each stands for a statement, which was run, or for words of a text, which were found; what gave nothing
is not offered."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, islice, zip_longest

from leaf.agent.proposals.ideas import TableQuery, first_ideas, next_ideas, rested_on
from leaf.agent.proposals.wording import Proposal, comparison, worded
from leaf.agent.rules.kinds import Query
from leaf.agent.rules.spoken import SAYS_ABOUT
from leaf.agent.rules.tables import AskedTable, is_lookup, read_table
from leaf.agent.rules.understanding import understood
from leaf.errors import LeafError
from leaf.language.text import t
from leaf.readers.base import holds_tables
from leaf.sessions.house import House
from leaf.shapes.part_values import data_of, is_tool, newest, succeeded, texts_of, tool_name
from leaf.shapes.parts import Part
from leaf.shapes.results import TableShown
from leaf.store.model import ChatFile, File, Message, Scope
from leaf.tables.glances import Glimpse
from leaf.tables.table import Table
from leaf.tools.table_data import profile_json

WANTED = 3
BYTES, MEANT_BYTES = 5_000_000, 20_000_000
"""Larger files are not read just to suggest a question about them; nor those, where one is meant."""
TEXT_BYTES = 5_000_000
FILES = 6
"""Files whose tables are looked at."""
TABLES = 8
"""Tables that are looked at; where a chat has more, each question names its own."""
COLUMNS = 200
"""Columns of a table that are looked at: the first that have more than one value."""
RUN = 6
"""Statements of one table that are run at most."""
HEADINGS = 8
TEXTS = frozenset(
    ("pdf", "docx", "pptx", "odt", "odp", "rtf", "epub", "text", "html", "email", "msg", "captions")
)
_HEADING = re.compile(r"^(?:\[[^\]\n]*\] *)?#{1,4} +([^#\n]{4,60}?) *$", re.MULTILINE)


@dataclass(frozen=True)
class Suggested:
    """A question, and what it stands for."""

    question: str
    sql: str = ""
    """The statement that gave rows; empty for a question about a text or a whole file."""


@dataclass(frozen=True)
class _KnownTables:
    """Tables at hand, and what is known of their columns."""

    tables: tuple[Table, ...] = ()
    asked: tuple[AskedTable, ...] = ()
    more: bool = False
    """Whether there are others beside them."""

    @staticmethod
    def of(
        house: House, scope: Scope, files: Sequence[ChatFile], meant: Collection[str]
    ) -> _KnownTables:
        """The tables of the first files that are not too large; `meant` are ids of those that are
        looked at for certain. Raises StoreError, SandboxError."""
        every = [f for f in files if holds_tables(f.file.kind, f.file.outline)]
        sound = [f for f in every if not f.file.outline.get("error")]
        sizes = {f.file.id: MEANT_BYTES if f.file.id in meant else BYTES for f in sound}
        small = [
            f
            for f in sound
            if f.file.size <= sizes[f.file.id]
            or (f.file.id in meant and house.tables.is_read(scope, f.file))
        ][:FILES]
        all_tables = house.tables.of(scope, small).tables if small else ()
        tables = tuple(t for t in all_tables if t.rows and t.columns)[:TABLES]
        asked = tuple(_telling(asked_table(house, scope, table)) for table in tables)
        return _KnownTables(
            tables, asked, more=len(tables) < len(all_tables) or len(small) < len(sound)
        )

    @property
    def offered(self) -> list[tuple[int, AskedTable]]:
        """Those that questions are offered about, with their places: who hid a sheet does not ask
        about it."""
        shown = [not table.hidden for table in self.tables]
        return [(at, asked) for at, asked in enumerate(self.asked) if shown[at] or not any(shown)]

    def word(self, query: Query, at: int, *, drawn: bool = False) -> Proposal | None:
        """The query about one of them in words."""
        return worded(query, self.asked[at], self.asked, drawn=drawn, named=self.more)


def asked_table(house: House, scope: Scope, table: Table) -> AskedTable:
    """As the rules see it. Raises SandboxError."""
    profile = profile_json(table, house.tables.profiles.describe(scope, table))
    return read_table(profile, table.handle, table.file_name)


def _telling(table: AskedTable) -> AskedTable:
    """With as many columns as questions are made of: pairs of thousands take minutes."""
    if len(table.columns) <= COLUMNS:
        return table
    first = sorted(table.columns, key=lambda column: column.distinct < 2)[:COLUMNS]
    names = {column.name for column in first}
    return replace(table, columns=tuple(c for c in table.columns if c.name in names))


def beginnings(house: House, scope: Scope, files: Sequence[File]) -> list[Suggested]:
    """Three questions to begin with, of different files where there are several."""
    there = house.library.as_chat_files(files)
    known = _KnownTables.of(house, scope, there, [file.id for file in files if len(files) == 1])
    offered = [
        list(islice(filter(None, (known.word(q, at) for q in first_ideas(table))), RUN))
        for at, table in known.offered
    ]
    working = _working(house, known.tables, [_comparisons(known), *offered])
    compared, working = working[0][:1], working[1:]
    by_file = [*working, *(_of_text(house, scope, file) for file in files if file.kind in TEXTS)]
    sound = [file for file in files if not file.outline.get("error")]
    described = [[Suggested(_described(file))] for file in sound if file.kind not in TEXTS]
    first = _in_turn(by_file)
    suggestions = [*first[: WANTED - len(compared)], *compared, *first, *_in_turn(described)]
    return list(dict.fromkeys(suggestions))[:WANTED]


def _comparisons(known: _KnownTables) -> list[Proposal]:
    """Of tables with a breakdown in common, the first pairs."""
    pairs = combinations([] if known.more else [table for _, table in known.offered], 2)
    return list(islice(filter(None, (comparison(*pair, known.asked) for pair in pairs)), 2))


def follow_ups(
    house: House, scope: Scope, message: Message, thread: Sequence[Message]
) -> list[Suggested]:
    """Three questions after an answer, from what it used; none after one that failed or asked
    back. `thread` is the chat up to there: what was asked in it is not offered again."""
    if (
        message.status != "completed"
        or newest(message.parts, "questions")
        or _ended_in_error(message)
    ):
        return []
    asked = {_folded(" ".join(texts_of(m.parts))) for m in thread if m.role == "user"}
    question = next((m for m in thread if m.id == message.parent_id), None)
    files = house.library.chat_files(scope, message.chat_id)
    used = {
        r.get("file_id") for t in map(_queried, message.parts) if t for r in t.get("scanned") or ()
    }
    files = sorted(files, key=lambda c: c.file.id not in used)
    known = _KnownTables.of(house, scope, files, [file_id for file_id in used if file_id])
    words = " ".join(texts_of(question.parts)) if question else ""
    suggestions = _after_query(house, known, message.parts, words)
    if len(suggestions) < WANTED:
        suggestions += _after_text(house, scope, files, message.parts)
        suggestions += _in_turn(_working(house, known.tables, _first(known)))
    fresh = [s for s in dict.fromkeys(suggestions) if _folded(s.question) not in asked]
    return fresh[:WANTED]


def _ended_in_error(message: Message) -> bool:
    """Whether the last step of an answer did not work: then it says why, and no more."""
    last = next((part for part in reversed(message.parts) if is_tool(part)), None)
    return last is not None and succeeded(last) is None


def _first(known: _KnownTables) -> list[list[Proposal]]:
    return [
        list(islice(filter(None, (known.word(q, at) for q in first_ideas(table))), WANTED))
        for at, table in known.offered
    ]


def _after_query(
    house: House, known: _KnownTables, parts: Sequence[Part], question: str
) -> list[Suggested]:
    """From the last query of an answer: what it asked, of which table."""
    asked = (t for t in map(_queried, reversed(parts)) if t is not None)
    shown = next((t for t in asked if not _looks_up(str(t.get("sql") or ""))), None)
    if shown is None:
        return []
    names = [table.name for table in known.tables]
    at = next(
        (names.index(r["name"]) for r in shown.get("scanned") or () if r["name"] in names), None
    )
    if at is None:
        return []
    table = known.asked[at]
    read = understood(question, known.asked)
    query = read[1] if read and read[0] == table else rested_on(str(shown.get("sql") or ""), table)
    drawn = any(data_of(part).get("chart") for part in parts)
    ideas = next_ideas(table, TableQuery(query, shown["rows"], drawn))
    offered = (known.word(idea.query, at, drawn=idea.drawn) for idea in ideas)
    return _working(house, known.tables, [list(islice(filter(None, offered), RUN))])[0]


def _queried(part: Part) -> TableShown | None:
    if not is_tool(part) or tool_name(part) != "query_tables" or succeeded(part) is None:
        return None
    return data_of(part).get("table")


def _looks_up(sql: str) -> bool:
    """Whether a statement looks at single rows, or for words: nobody asks on from that."""
    return is_lookup(sql) or re.search(r"\b_row\b", sql) is not None


def _after_text(
    house: House, scope: Scope, files: Sequence[ChatFile], parts: Sequence[Part]
) -> list[Suggested]:
    """About the texts that an answer quoted."""
    used = {
        p["file_id"]
        for part in parts
        for p in data_of(part).get("passages") or ()
        if "file_id" in p
    }
    read = [c.file for c in files if c.file.id in used and c.file.kind in TEXTS]
    return _in_turn([_of_text(house, scope, file) for file in read[:2]])


def _working(
    house: House, tables: Sequence[Table], offered: Sequence[Sequence[Proposal]]
) -> list[list[Suggested]]:
    """Those whose statement gave what was asked for, list by list."""
    every = list(chain.from_iterable(offered))
    gave = iter(house.tables.glances.look(tables, [p.sql for p in every]))
    return [
        [
            Suggested(p.question, p.sql)
            for p, glimpse in zip(some, islice(gave, len(some)), strict=True)
            if _says(glimpse, p)
        ]
        for some in map(list, offered)
    ]


def _says(glimpse: Glimpse | None, proposal: Proposal) -> bool:
    """Whether the rows answer the question: as many as it needs, with figures in them."""
    if glimpse is None or glimpse.total < proposal.least:
        return False
    return sum(row[-1] is not None for row in glimpse.rows) >= proposal.least


def _of_text(house: House, scope: Scope, file: File) -> list[Suggested]:
    """What it says of its own headings, and in all. Nothing of one that cannot be read."""
    if file.outline.get("error") or not file.name.isprintable():
        return []
    titles = [h for h in headings(house, scope, file)[:WANTED] if _is_found(house, scope, file, h)]
    about = [Suggested(t(SAYS_ABOUT, file=file.name, heading=heading)) for heading in titles]
    whole = [Suggested(t("What are the main points of {file}?", file=file.name))]
    return [*whole, *about]


def headings(house: House, scope: Scope, file: File) -> list[str]:
    """Those of a text's beginning, without its title; none of one that is large or cannot be
    read."""
    if file.size > TEXT_BYTES or file.outline.get("error") or file.kind == "captions":
        return []
    try:
        window = house.library.texts.read(scope, file, max_tokens=3000)
    except LeafError:
        return []  # whoever asks about it is told why
    titles = dict.fromkeys(_plain(h) for h in _HEADING.findall(window.text)[1:])
    return [heading for heading in titles if heading][:HEADINGS]


def _is_found(house: House, scope: Scope, file: File, heading: str) -> bool:
    try:
        return bool(house.library.search(scope, [file], heading, 1).hits)
    except LeafError:
        return False


def _plain(heading: str) -> str:
    return " ".join(re.sub(r"[*_`\[\]#]|^\d+(?:\.\d+)*\.?\s", "", heading).split()).rstrip(".:?!")


def _described(file: File) -> str:
    if file.outline.get("rows"):
        return t("Describe {file}: columns, gaps and oddities", file=file.name)
    return t("Describe {file}: what does it hold?", file=file.name)


def _in_turn(lists: Iterable[Sequence[Suggested]]) -> list[Suggested]:
    """The first of each, then the second of each."""
    return [one for round_ in zip_longest(*lists) for one in round_ if one is not None]


def _folded(question: str) -> str:
    return " ".join(question.casefold().split()).rstrip("?.! ")
