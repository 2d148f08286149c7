"""What the tools of a chat gave, as values that the figures of an answer can be matched to:
the shapes, with what is looked up in them. `reading` fills them. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import numpy as np

from leaf.provenance.receipts.figures import NumberRange
from leaf.provenance.receipts.words import YEAR, tokens
from leaf.shapes.raw import ToolInput
from leaf.shapes.results import Output

T = TypeVar("T")
Kind = Literal[
    "exact", "rounded", "derived", "counted", "printed", "quoted", "condition", "asked", "none"
]
"""`exact`, `rounded`: a cell, or a fact of a column. `counted`: rows, coverage, frequencies.
`printed`: what code printed. `quoted`: words of a file. `condition`: stands in a query or another
input of a tool, and is spoken of as a condition. `asked`: repeated from the question in the role
that it has there; such a figure has no mark."""

ALL_TEXT = 400_000
"""Characters of all texts together, those of this answer first, then of the newest calls before."""
HITS = 2_000
"""Values that one figure is compared with, those of this answer first: a 1 may stand in every
row."""
LARGEST = 1e100
TIME_NAME = re.compile(
    r"(?i)(?:^|_|\b)(?:year|yr|month|quarter|qtr|week|day|date|period|jahr|monat|quartal|woche|tag|datum|année|annee|an|mois|trimestre|"
    r"semaine|jour|año|ano|mes|semana|dia|día|fecha|decade|season)(?:$|_|\b|s\b|\d)"
)
"""Columns that say when."""
SMALL = 100
"""Whole numbers below it stand everywhere."""
_IN_PERCENT = re.compile(r"(?i)%|pct|per[ _]?cent|prozent|pour[ _]?cent|por[ _]?c[ei]ent|points?")
_DIVIDES = r"(?:[\w)\"]\s*/\s*[\w(\"]|\bavg\s*\(\s*case\b)"
_PLAIN = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")


@dataclass(frozen=True)
class Evidence:
    """One tool call of the chat that succeeded."""

    call_id: str
    tool: str
    input: ToolInput
    output: Output
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
    others: frozenset[str] = frozenset()
    """Words of other rows beside which it stands, where it is no cell of a result."""
    printed: PrintedCell | None = field(default=None, compare=False)
    """The cell that it is of lines which code printed."""

    @property
    def own(self) -> bool:
        """Whether the answer's own calls gave it."""
        return not self.evidence.message_id


@dataclass(frozen=True)
class PrintedCell:
    """One of the numbers of lines that are the rows of a table."""

    table: ResultNumbers
    row: int
    column: str


@dataclass
class ResultNumbers:
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
    part: bool = False
    """Whether the query asked for some rows only, such as the first ten: what they come to is not
    what all come to."""
    _named: dict[frozenset[str], frozenset[int]] = field(default_factory=dict)
    _kept: dict[str, Any] = field(default_factory=dict)

    def named(self, said: frozenset[str]) -> frozenset[int]:
        """Rows of which a sentence with these words speaks."""
        if said not in self._named:
            self._named[said] = frozenset(
                i for i, labels in enumerate(self.labels) if labels & said
            )
        return self._named[said]

    @property
    def telling(self) -> frozenset[str]:
        """The words that tell its rows apart; numbers that are no years tell none."""

        def compute() -> frozenset[str]:
            every = frozenset[str]().union(*self.labels)
            return frozenset(word for word in every if not word.isdigit() or YEAR.fullmatch(word))

        return self.kept("telling", compute)

    def called(self, name: str) -> frozenset[int]:
        """Rows of which a text cell is this very name, however it is marked up."""
        return self.callings.get(bare(name) or " ", frozenset())

    @property
    def callings(self) -> dict[str, frozenset[int]]:
        """Its text cells, as `bare` gives them, with the rows that each stands in."""

        def compute() -> dict[str, frozenset[int]]:
            rows: dict[str, set[int]] = {}
            for i, row in enumerate(self.rows):
                for cell in row:
                    if isinstance(cell, str) and number_of(cell) is None:
                        rows.setdefault(bare(cell), set()).add(i)
            return {cell: frozenset(those) for cell, those in rows.items()}

        return self.kept("called", compute)

    def calls(self, row: int, sentence: str, but: frozenset[int]) -> bool:
        """Whether a sentence has a text of a row that those others have not."""
        others = {cell for i in but for cell in self.rows[i] if isinstance(cell, str)}
        return any(
            isinstance(cell, str) and len(cell) > 1 and cell not in others and cell in sentence
            for cell in self.rows[row]
        )

    def with_all(self, said: frozenset[str]) -> frozenset[int]:
        """Rows that hold all of those of these words that tell rows apart."""
        meant = said & self.telling
        known = self.kept("with all", lambda: dict[frozenset[str], frozenset[int]]())
        if meant not in known:
            rows = (i for i, labels in enumerate(self.labels) if meant and meant <= labels)
            known[meant] = frozenset(rows)
        return known[meant]

    def kept(self, name: str, make: Callable[[], T]) -> T:
        """What was made of the table once; the next figure needs it again."""
        if name not in self._kept:
            self._kept[name] = make()
        value: T = self._kept[name]
        return value

    def is_measure(self, column: int) -> bool:
        """Whether a column holds numbers that something may follow from: years and months are
        none."""
        return self.measures[column]

    @property
    def measures(self) -> list[bool]:
        def compute() -> list[bool]:
            filled = (~np.isnan(self.numbers)).any(axis=0)
            return [bool(some) and not self.is_time(j) for j, some in enumerate(filled)]

        return self.kept("measures", compute)

    def has_both_signs(self, column: int) -> bool:
        """Whether a column holds gains and losses, so that a number's sign says which it is. Where
        all are negative, as costs are in some books, a text leaves it out."""
        numbers = self.numbers[:, column]
        return bool((numbers > 0).any() and (numbers < 0).any())

    def is_ratio(self, column: int) -> bool:
        """Whether a column holds parts of one for sure: the query divides and makes no per cent of
        it, or all rows come to one."""
        return self.kept(f"ratio {column}", lambda: self._comes_to_one(column))

    def _comes_to_one(self, column: int) -> bool:
        numbers = self.numbers[:, column][~np.isnan(self.numbers[:, column])]
        if not len(numbers) or (abs(numbers) > 1).any() or _IN_PERCENT.search(self.columns[column]):
            return False
        name = re.escape(self.columns[column])
        divides = "100" not in self.sql and bool(
            re.search(rf'(?i){_DIVIDES}(?:(?!\bas\b).)*\bas\s+"?{name}\b', self.sql, re.DOTALL)
        )
        of_one = len(numbers) > 1 and (numbers >= 0).all() and abs(numbers.sum() - 1) < 0.005
        return divides or bool(of_one)

    def is_time(self, column: int) -> bool:
        """Whether a column holds years, months or other numbers that say when."""
        numbers = self.numbers[:, column][~np.isnan(self.numbers[:, column])]
        whole = len(numbers) > 0 and bool(
            np.all((numbers == np.floor(numbers)) & (numbers > 0) & (numbers < 3_000))
        )
        return whole and bool(TIME_NAME.search(self.columns[column])) and len(self.columns) > 1

    @property
    def words(self) -> frozenset[str]:
        """Every word of its rows, its columns and what made it."""

        def all_words() -> frozenset[str]:
            return frozenset().union(
                *self.labels, self.shared, *map(tokens, self.columns), tokens(self.sql)
            )

        return self.kept("words", all_words)

    def cell(self, row: int, column: int) -> Value:
        number = float(self.numbers[row, column])
        shown = f"{number:,.10g}"
        return Value(
            number, shown, "exact", self.evidence, self.result_id, row, self.columns[column]
        )


@dataclass
class EvidenceBook:
    """Everything that figures may be matched to."""

    values: list[Value] = field(default_factory=list)
    tables: list[ResultNumbers] = field(default_factory=list)
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
    _by_call: dict[int, list[ResultNumbers]] = field(default_factory=dict)
    characters_left: int = ALL_TEXT
    """Of texts that may still be searched."""

    @property
    def characters(self) -> int:
        """Of the texts in it, where it was made with room for all of them."""
        return ALL_TEXT - self.characters_left

    def add(self, read: EvidenceBook) -> None:
        """Take over what one call gave. What is found out about its tables stays here: it may be
        added to others as well."""
        self.values += read.values
        self.tables += [replace(table, _named={}) for table in read.tables]
        self.dates += read.dates
        self.texts += read.texts
        self.names |= read.names
        self.characters_left -= sum(len(text) for text, _ in read.texts)

    def close(self) -> None:
        """Make it ready for `near` and `around`."""
        sizes = np.array([abs(value.number) for value in self.values], dtype=float)
        self._order = np.argsort(sizes, kind="stable")
        self._numbers = sizes[self._order]
        self._own = np.unique(sizes[[i for i, value in enumerate(self.values) if value.own]])

    def tables_of(self, one: Evidence) -> list[ResultNumbers]:
        """The results of one call."""
        if not self._by_call:
            for table in self.tables:
                self._by_call.setdefault(id(table.evidence), []).append(table)
        return self._by_call.get(id(one), [])

    def table_of(self, value: Value) -> ResultNumbers | None:
        """The result that a cell is of."""
        return (
            next(
                (t for t in self.tables_of(value.evidence) if t.result_id == value.result_id), None
            )
            if value.row >= 0
            else None
        )

    @property
    def row_words(self) -> frozenset[str]:
        """The words by which rows of any result are told apart."""
        if self._row_words is None:
            self._row_words = frozenset().union(
                *(labels for table in self.tables for labels in table.labels)
            )
        return self._row_words

    def near(self, reading: NumberRange) -> list[Value]:
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


def bare(name: str) -> str:
    """A name without what marks it up."""
    return " ".join(name.strip(" *_`").split()).casefold()


def bounds(reading: NumberRange) -> tuple[float, float]:
    """Smallest and largest size that a value may have. Texts say "fell by 12" of -12, so signs are
    left aside."""
    low, high = sorted((abs(reading.low), abs(reading.high)))
    if reading.low < 0 < reading.high:
        low = 0.0
    slack = 1e-9 * max(abs(reading.value), 1e-6)
    return low - slack, high + slack


def number_of(cell: Any) -> float | None:
    """A cell as a number; also one that is written plainly as text, as decimals are."""
    if isinstance(cell, bool) or cell is None:
        return None
    if isinstance(cell, int | float):
        return float(cell) if abs(cell) < LARGEST else None
    return (
        float(cell) if isinstance(cell, str) and len(cell) < 40 and _PLAIN.fullmatch(cell) else None
    )
