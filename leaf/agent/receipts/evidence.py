"""What the tools of a chat gave, as values that the figures of an answer can be matched to. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal, TypeVar

import numpy as np

from leaf.agent.receipts.figures import MONTHS, Figure, Reading, figures
from leaf.agent.receipts.names import names_a_row

Json = dict[str, Any]
T = TypeVar("T")
Kind = Literal["exact", "rounded", "derived", "counted", "printed", "quoted", "condition", "asked", "none"]
"""`exact`, `rounded`: a cell, or a fact of a column. `counted`: rows, coverage, frequencies. `printed`: what code printed.
`quoted`: words of a file. `condition`: stands in a query or another input of a tool, and is spoken of as a condition.
`asked`: repeated from the question in the role that it has there; such a figure has no mark."""

CELLS = 10_000
"""Cells of one result that are looked at: 200 rows of 50 columns."""
TEXT = 60_000
"""Characters of one text that are searched for figures."""
ALL_TEXT = 400_000
"""Characters of all texts together, those of this answer first, then of the newest calls before."""
HITS = 2_000
"""Values that one figure is compared with, those of this answer first: a 1 may stand in every row."""
LARGEST = 1e100
NEARBY = 60
"""Characters before and after a figure in a text whose words say what it is of."""
TIME_NAME = re.compile(
    r"(?i)(?:^|_|\b)(?:year|yr|month|quarter|qtr|week|day|date|period|jahr|monat|quartal|woche|tag|datum|année|annee|an|mois|trimestre|"
    r"semaine|jour|año|ano|mes|semana|dia|día|fecha|decade|season)(?:$|_|\b|s\b|\d)"
)
"""Columns that say when."""
SMALL = 100
"""Whole numbers below it stand everywhere."""
_WORD = re.compile(r"[^\W\d_]{3,}")
_CODE = re.compile(r"\b(?:[A-Z]{2}|[A-Z]{1,3}\d{1,4})\b")
"""Short names: `EU`, `Q3`."""
_FUNCTION_WORDS = (
    "the and for are was were has have had not but that this these those than then with from into its it's their there they them "
    "his her our your you who whom which what when where how why will would can could should may might must been being did does "
    "also more most less all any some such only just very about over under per one two "
    "der die das den dem des ein eine einen einem einer eines und oder aber nicht mit von vom zum zur bei für auf aus ist sind "
    "war waren hat haben hatte hatten wird werden wurde wurden als wie auch nur noch nach über unter durch sich dass dies diese "
    "dieser les une est sont été était étaient avec pour dans par sur aux ont avait que qui ses son leur plus pas mais "
    "los las una uno unos unas del con para fue fueron era eran han había como sus más pero entre desde hasta"
)
_FUNCTION = frozenset(_FUNCTION_WORDS.split())
"""Words that two texts share whatever they speak of."""
_NUMBER = re.compile(r"\d+")
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20|21)\d\d(?!\d)")
_AMOUNT = re.compile(r"\d+(?:[.,]\d+)+")
_PLAIN = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")


@lru_cache(maxsize=8_192)
def tokens(text: str) -> frozenset[str]:
    """Words and numbers by which two texts are held to speak of the same thing. A plural is its singular."""
    text = text.replace("_", " ")
    words = (word for word in map(str.casefold, _WORD.findall(text)) if word not in _FUNCTION)
    codes = (code.casefold() for code in _CODE.findall(text))
    return frozenset((*(word.rstrip("s") if len(word) > 4 else word for word in words), *codes, *_NUMBER.findall(text)))


def spoken(text: str) -> frozenset[str]:
    """The same of a sentence: the digits of its amounts name nothing."""
    return tokens(_AMOUNT.sub(" ", text))


@dataclass(frozen=True)
class Evidence:
    """One tool call of the chat that succeeded."""

    call_id: str
    tool: str
    input: Json
    output: Json
    """`ToolOutput` as JSON."""
    message_id: str = ""
    """The earlier answer that it belongs to; empty for the one that is looked at."""


NO_CALL = Evidence("", "", {}, {})


@dataclass(frozen=True)
class Value:
    """A number that a tool gave."""

    number: float
    shown: str
    kind: Kind
    evidence: Evidence
    result_id: str = ""
    row: int = -1
    """Index into the rows of the result, -1 where it is no cell."""
    column: str = ""
    place: str = ""
    how: str = ""
    labels: frozenset[str] = frozenset()
    """Words that say what it is of: its row, its column, the words around it."""
    line: frozenset[str] = frozenset()
    """Of these, those of the same line of a text."""

    @property
    def own(self) -> bool:
        """Whether the answer's own calls gave it."""
        return not self.evidence.message_id


@dataclass
class Table:
    """A result's numbers, for what can be derived from them."""

    evidence: Evidence
    result_id: str
    columns: list[str]
    numbers: Any
    """float64 of shape (rows, columns), NaN where there is no number."""
    labels: list[frozenset[str]]
    """For each row, its words without those that all rows have."""
    names: list[str]
    """For each row, what it is called: its first words."""
    whole: bool
    """Whether all rows of the result are here."""
    shared: frozenset[str] = frozenset()
    """Words that all rows have."""
    rows: Sequence[Sequence[Any]] = ()

    sql: str = ""
    """What made it, or nothing."""
    _named: dict[frozenset[str], frozenset[int]] = field(default_factory=dict)
    _kept: dict[str, Any] = field(default_factory=dict)

    def named(self, said: frozenset[str]) -> frozenset[int]:
        """Rows of which a sentence with these words speaks."""
        if said not in self._named:
            self._named[said] = frozenset(i for i, labels in enumerate(self.labels) if labels & said)
        return self._named[said]

    def kept(self, name: str, make: Callable[[], T]) -> T:
        """What was made of the table once; the next figure needs it again."""
        if name not in self._kept:
            self._kept[name] = make()
        made: T = self._kept[name]
        return made

    def is_measure(self, column: int) -> bool:
        """Whether a column holds numbers that something may follow from: years and months are none."""
        return self.measures[column]

    @property
    def measures(self) -> list[bool]:
        def made() -> list[bool]:
            filled = (~np.isnan(self.numbers)).any(axis=0)
            return [bool(some) and not self.is_time(j) for j, some in enumerate(filled)]

        return self.kept("measures", made)

    def is_time(self, column: int) -> bool:
        """Whether a column holds years, months or other numbers that say when."""
        numbers = self.numbers[:, column][~np.isnan(self.numbers[:, column])]
        whole = len(numbers) > 0 and bool(np.all((numbers == np.floor(numbers)) & (numbers > 0) & (numbers < 3_000)))
        return whole and bool(TIME_NAME.search(self.columns[column])) and len(self.columns) > 1

    @property
    def words(self) -> frozenset[str]:
        """Every word of its rows, its columns and what made it."""

        def all_words() -> frozenset[str]:
            return frozenset().union(*self.labels, self.shared, *map(tokens, self.columns), tokens(self.sql))

        return self.kept("words", all_words)

    def cell(self, row: int, column: int) -> Value:
        number = float(self.numbers[row, column])
        shown = f"{number:,.10g}"
        return Value(number, shown, "exact", self.evidence, self.result_id, row, self.columns[column])


@dataclass
class Book:
    """Everything that figures may be matched to."""

    values: list[Value] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    dates: list[tuple[str, Value]] = field(default_factory=list)
    """(ISO date, its value)."""
    texts: list[tuple[str, Value]] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    """Of files and columns: digits in them are no figures."""
    _numbers: Any = None
    """Absolute numbers of `values`, ascending."""
    _order: Any = None
    _row_words: frozenset[str] | None = None
    _own: Any = None
    """Absolute numbers of the answer's own calls among `values`, ascending."""
    _by_call: dict[int, list[Table]] = field(default_factory=dict)
    characters_left: int = ALL_TEXT
    """Of texts that may still be searched."""

    def close(self) -> None:
        """Make it ready for `near` and `around`."""
        sizes = np.array([abs(value.number) for value in self.values], dtype=float)
        self._order = np.argsort(sizes, kind="stable")
        self._numbers = sizes[self._order]
        self._own = np.unique(sizes[[i for i, value in enumerate(self.values) if value.own]])

    def tables_of(self, one: Evidence) -> list[Table]:
        """The results of one call."""
        if not self._by_call:
            for table in self.tables:
                self._by_call.setdefault(id(table.evidence), []).append(table)
        return self._by_call.get(id(one), [])

    def table_of(self, value: Value) -> Table | None:
        """The result that a cell is of."""
        return (
            next((t for t in self.tables_of(value.evidence) if t.result_id == value.result_id), None) if value.row >= 0 else None
        )

    @property
    def row_words(self) -> frozenset[str]:
        """The words by which rows of any result are told apart."""
        if self._row_words is None:
            self._row_words = frozenset().union(*(labels for table in self.tables for labels in table.labels))
        return self._row_words

    def near(self, reading: Reading) -> list[Value]:
        """Values whose size may be written like this, in the order in which they were found."""
        low, high = bounds(reading)
        first = np.searchsorted(self._numbers, low, side="left")
        last = np.searchsorted(self._numbers, high, side="right")
        return [self.values[i] for i in sorted(self._order[first:last])[:HITS]]

    def alike(self, value: float) -> list[Value]:
        """Values of about this size, as far as they are looked at."""
        first = np.searchsorted(self._numbers, abs(value) / 1.5, side="left")
        last = np.searchsorted(self._numbers, abs(value) * 1.5, side="right")
        return [self.values[i] for i in self._order[first:last][:HITS]]

    def around(self, value: float) -> int:
        """How many different values of the answer's own calls are of about this size."""
        first = np.searchsorted(self._own, abs(value) / 1.5, side="left")
        return int(np.searchsorted(self._own, abs(value) * 1.5, side="right") - first)


def bounds(reading: Reading) -> tuple[float, float]:
    """Smallest and largest size that a value may have. Texts say "fell by 12" of -12, so signs are left aside."""
    low, high = sorted((abs(reading.low), abs(reading.high)))
    if reading.low < 0 < reading.high:
        low = 0.0
    slack = 1e-9 * max(abs(reading.value), 1e-6)
    return low - slack, high + slack


def book_of(evidence: Iterable[Evidence]) -> Book:
    """`evidence`: the calls of this answer first, then those of earlier ones, newest first."""
    book = Book()
    for one in evidence:
        data = one.output.get("data") or {}
        for source in one.output.get("sources") or ():
            book.names.update(_endings_of(str(source["name"])))
        table, chart = data.get("table"), data.get("chart") or {}
        drawn = {**chart, "total": len(chart.get("rows") or ())}
        for rows in (table, *(data.get("tables") or ()), drawn):
            if isinstance(rows, Mapping) and "columns" in rows:
                _add_table(book, one, dict(rows))
        if profile := data.get("profile"):
            _add_profile(book, one, profile)
        for cover in one.output.get("coverage") or ():
            of = f"{cover['unit']} of {cover['name']}"
            for number in (cover["seen"], cover["total"]):
                book.values.append(_counted(number, one, of))
        if not table:
            _add_texts(book, one, data)
        for given in _strings(one.input):
            _add_text(book, given, Value(0.0, "", "condition", one, how="stands in the query"))
    book.close()
    return book


def _counted(number: float, one: Evidence, of: str, result_id: str = "", more: str = "") -> Value:
    return Value(float(number), f"{number:,}", "counted", one, result_id, how=of, labels=tokens(f"{of} {more}"))


def _add_table(book: Book, one: Evidence, table: Json) -> None:
    columns = [str(column) for column in table["columns"]]
    rows = (table.get("rows") or [])[: max(1, CELLS // max(1, len(columns)))]
    book.names.update(columns)
    for column in columns:
        named = Value(0.0, column, "condition", one, column=column, how="name of a column")
        _add_text(book, column, named)
        book.dates += [(year, named) for year in _YEAR.findall(column)]
    result_id = str(table.get("result_id") or "")
    total = int(table.get("total") or len(rows))
    texts = [c for j, c in enumerate(columns) if not any(isinstance(row[j], int | float) for row in rows if j < len(row))]
    book.values.append(_counted(total, one, f"rows of {result_id or 'the result'}", result_id, " ".join(texts)))
    for scanned in table.get("scanned") or ():
        book.values.append(_counted(scanned["rows"], one, f"rows of {scanned['name']}"))
    numbers = np.full((len(rows), len(columns)), math.nan)
    of_columns = [tokens(column) for column in columns]
    labels = [_labels(row, columns) for row in rows]
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            if cell is None or isinstance(cell, bool):
                continue
            number = number_of(cell)
            value = Value(number or 0.0, str(cell), "exact", one, result_id, i, columns[j], labels=labels[i] | of_columns[j])
            if number is not None:
                numbers[i, j] = number
                book.values.append(value)
            elif isinstance(cell, str):
                _add_text(book, cell[:2_000], value)
                if names_a_row(cell):
                    book.names.add(cell)
    if rows:
        shared = labels[0].intersection(*labels[1:]) if len(labels) > 1 else frozenset()
        own = [label - shared for label in labels]
        sql = str(table.get("sql") or one.input.get("sql") or "")
        book.tables.append(Table(one, result_id, columns, numbers, own, _names(rows), total == len(rows), shared, rows, sql))


def _labels(row: Sequence[Any], columns: Sequence[str]) -> frozenset[str]:
    """The words of a row, its dates as they may be written, its years and months, and the number that it begins with."""
    found: set[str] = set()
    for i, cell in enumerate(row):
        if isinstance(cell, str) and number_of(cell) is None:
            found |= tokens(cell[:200])
            for figure in figures(cell[:40]) if any(c.isdigit() for c in cell[:40]) else ():
                found |= {date[:end] for date in figure.dates for end in (4, 7, 10)}
                found |= {name for date in figure.dates for name, number in MONTHS.items() if date[5:7] == f"{number:02}"}
        elif isinstance(cell, int) and not isinstance(cell, bool) and (i == 0 or TIME_NAME.search(columns[i : i + 1][0])):
            found.add(str(cell))
    return frozenset(found)


def _endings_of(name: str) -> list[str]:
    """A file's name, as it may be written: with all of its folders, with some, or without them."""
    parts = name.split("/")
    return ["/".join(parts[at:]) for at in range(len(parts))]


def _names(rows: Sequence[Sequence[Any]]) -> list[str]:
    words = [[cell for cell in row if isinstance(cell, str)] for row in rows]
    return [found[0][:60] if found else f"row {i}" for i, found in enumerate(words, 1)]


def _add_profile(book: Book, one: Evidence, profile: Json) -> None:
    name = str(profile.get("name") or "the table")
    columns = profile.get("columns") or ()
    book.values.append(_counted(int(profile.get("rows") or 0), one, f"rows of {name}"))
    book.values.append(_counted(len(columns), one, f"columns of {name}"))
    for column in columns:
        title = str(column["name"])
        book.names.add(title)
        facts = [(fact, column.get(fact)) for fact in ("min", "max", "mean")]
        for fact, given in facts:
            value = Value(0.0, str(given), "exact", one, column=title, how=f"{fact} of {title}", labels=tokens(title))
            _add_cell(book, given, value)
        counts = [(f"{fact} of {title}", column.get(fact)) for fact in ("nulls", "distinct")]
        counts += [(f"rows with {title} = {value}", count) for value, count in column.get("top") or ()]
        book.values += [_counted(count, one, of) for of, count in counts if count is not None]
        for value, _ in column.get("top") or ():
            _add_cell(book, value, Value(0.0, str(value), "exact", one, column=title, how=f"a value of {title}"))
    for row in profile.get("sample") or ():
        labels = _labels(row, [str(column["name"]) for column in columns])
        for column, cell in zip(columns, row, strict=False):
            title = str(column["name"])
            _add_cell(book, cell, Value(0.0, str(cell), "exact", one, column=title, how="a sample row", labels=labels))


def _add_cell(book: Book, cell: Any, value: Value) -> None:
    number = number_of(cell)
    if number is not None:
        book.values.append(replace(value, number=number))
    elif isinstance(cell, str):
        _add_text(book, cell[:2_000], value)


def _add_texts(book: Book, one: Evidence, data: Json) -> None:
    passages = data.get("passages") or [p for p in one.output.get("passages") or () if p.get("texts")]
    for passage in passages:
        name, place = str(passage.get("name") or passage.get("title") or ""), str(passage.get("place") or "")
        text = str(passage.get("text") or "\n".join(passage.get("texts") or ()))
        _add_text(book, text, Value(0.0, "", "quoted", one, place=" ".join(filter(None, (name, place)))))
    if python := data.get("python"):
        for words in (python.get("printed"), python.get("value")):
            _add_text(book, str(words or ""), Value(0.0, "", "printed", one, how="printed by the code"))
    elif not passages:
        _add_text(book, str(one.output.get("text") or ""), Value(0.0, "", "quoted", one, place=_place(one.output)))


def _place(output: Json) -> str:
    sources: Sequence[Json] = output.get("sources") or ()
    if len(sources) != 1:
        return ""
    return " ".join(filter(None, (str(sources[0]["name"]), str(sources[0]["place"]))))


def _add_text(book: Book, text: str, value: Value) -> None:
    """Every figure that a text holds."""
    text = text[: min(TEXT, book.characters_left)]
    if not any(c.isdigit() for c in text):
        return
    book.characters_left -= len(text)
    book.texts.append((text, value))
    for figure, near, line in _figures_in(text):
        found = replace(value, shown=value.shown or figure.text, labels=value.labels | near, line=line)
        for reading in figure.readings:
            book.values.append(replace(found, number=reading.value))
            if figure.unit == "percent":
                book.values.append(replace(found, number=reading.value / 100))
        book.dates += [(date, found) for date in figure.dates]


@lru_cache(maxsize=512)
def _figures_in(text: str) -> tuple[tuple[Figure, frozenset[str], frozenset[str]], ...]:
    """The figures of a text, each with the words around it and those of its line. Kept, since later answers of a chat look at the
    same results."""

    def around(figure: Figure, before: str, after: str) -> tuple[Figure, frozenset[str], frozenset[str]]:
        line = before.rpartition("\n")[2] + " " + after.partition("\n")[0]
        return figure, tokens(f"{before} {after}"), tokens(line)

    return tuple(around(f, text[max(0, f.start - NEARBY) : f.start], text[f.end : f.end + NEARBY]) for f in figures(text))


def number_of(cell: Any) -> float | None:
    """A cell as a number; also one that is written plainly as text, as decimals are."""
    if isinstance(cell, bool) or cell is None:
        return None
    if isinstance(cell, int | float):
        return float(cell) if abs(cell) < LARGEST else None
    return float(cell) if isinstance(cell, str) and len(cell) < 40 and _PLAIN.fullmatch(cell) else None


def _strings(given: Any) -> Iterator[str]:
    if isinstance(given, str):
        yield given
    elif isinstance(given, Mapping):
        for value in given.values():
            yield from _strings(value)
    elif isinstance(given, list | tuple):
        for value in given:
            yield from _strings(value)
