"""The words of questions and names, and the tables and columns that they may name; the SQL that
looks into these.

Words that mean something by themselves stand in words.txt. What is not there and names nothing in a
table is not understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from leaf.agent.column_kinds import (
    CHANGES,
    GENERIC,
    is_added_up,
    is_id,
    kind_of,
    name_words,
    says_when,
    word_parts,
)
from leaf.files.names import fold
from leaf.language.text import t
from leaf.shapes.results import ColumnShown, ProfileShown
from leaf.tables.sql import literal, quoted

_TOKEN = re.compile(
    r"""(?P<quoted>"[^"]+"|`[^`]+`|“[^”]+”|„[^“”]+[“”]|«[^»]+»|(?<!\w)'[^']+'(?!\w))
    |(?P<date>\d{4}-(?:\d{2}(?:-\d{2})?|[Qq][1-4])(?![\d-]))
    |(?P<number>(?:-|(?<![\w−–])[−–])?(?:\d+(?:,\d{3})+(?:\.\d+)?(?!\w)|\d+(?:\.\d+)?(?!\w)))
    |(?P<word>[^\W_]+)
    |(?P<sign><=|>=|!=|<>|==|=|<|>|!(?=[\w"'`“„«(])|[%,&+*/^~|±×÷¬∀-⋿-])""",
    re.VERBOSE,
)
_SIGNS = {"≥": ">=", "≤": "<=", "≠": "!=", "−": "-"}
"""Signs of mathematics -> as words.txt has them. What stands in neither is not understood, and
never passed over: `≈ 5` is not `5`."""


@dataclass(frozen=True)
class QuestionWord:
    """One word, number, date, quotation or sign of a question."""

    text: str
    key: str
    """Small letters without accents."""
    kind: str
    """`word`, `number`, `date`, `quoted`, `column` (in backticks) or `sign`."""
    first: int
    end: int


def split_words(text: str) -> list[QuestionWord]:
    """`Total unitPrice in "New York"` -> total · unit · price · in · New York."""
    return list(_split(text))


@lru_cache(4096)  # names of tables, which each way to read a question asks for again
def _split(text: str) -> tuple[QuestionWord, ...]:
    words: list[QuestionWord] = []
    for match in _TOKEN.finditer(text):
        kind, piece, first, end = str(match.lastgroup), match.group(), match.start(), match.end()
        if kind == "quoted":
            words.append(
                QuestionWord(
                    piece[1:-1],
                    fold(piece[1:-1]),
                    "column" if piece[0] == "`" else kind,
                    first,
                    end,
                )
            )
        elif kind == "sign":
            words.append(QuestionWord(piece, _SIGNS.get(piece, piece), kind, first, end))
        else:
            words += [
                QuestionWord(part, fold(part), kind, first, end) for part in word_parts(piece)
            ]
    return tuple(words)


def with_numbers(
    words: Sequence[QuestionWord], text: str, spans: Iterable[tuple[int, int]]
) -> list[QuestionWord]:
    """The words of a text, the numbers at these places as one word each: `1.234,56`."""
    tokens = list(words)
    for first, end in spans:
        inside = [i for i, word in enumerate(tokens) if first <= word.first and word.end <= end]
        if inside and {tokens[i].kind for i in inside} <= {"number", "sign"}:
            piece = text[first:end]
            tokens[inside[0] : inside[-1] + 1] = [QuestionWord(piece, piece, "number", first, end)]
    return tokens


@dataclass(frozen=True)
class PassedOver:
    """A word that adds nothing, and is a value of a column as well: `it` beside `IT`."""

    word: str
    value: str
    column: str

    def __str__(self) -> str:
        return t(
            "“{word}” is read as a small word, not as the value {value} of {column}.",
            word=self.word,
            value=self.value,
            column=f"`{self.column}`",
        )


_HISSING = ("ses", "xes", "zes", "ches", "shes")


@lru_cache(4096)
def forms(key: str) -> frozenset[str]:
    """A word, and what it may be the plural of, or another ending of; of a short one `es` makes a
    plural where it must: `sales` are no `sal`."""
    endings = {"s", "es", "e", "n", "en", "r"} if len(key) > 4 else {"s"} if len(key) > 3 else set()
    if len(key) == 5 and not key.endswith(_HISSING):
        endings -= {"es"}
    return frozenset(
        {key, *(key.removesuffix(ending) for ending in endings), re.sub("ies$", "y", key)}
    )


def _same(asked: Sequence[str], name: Sequence[str]) -> bool:
    """Whether these are the same words, or forms of them."""
    pairs = zip(asked, name, strict=False)
    return len(asked) == len(name) > 0 and all(b in forms(a) or a in forms(b) for a, b in pairs)


PHRASES: dict[tuple[str, ...], list[tuple[str, str]]] = {}
"""Words of a phrase -> its roles, each with what it stands for; from words.txt."""
SPOKEN: dict[str, set[str]] = {"en": set(), "de": set(), "fr": set(), "es": set()}
"""Language -> words that stand in its phrases."""
SAID_IN: dict[tuple[tuple[str, ...], tuple[str, str]], str] = {}
"""Words of a phrase and a role of theirs -> the first language that has it."""
SEEMING: set[tuple[str, ...]] = set()
"""Phrases that are words of other languages as well: `media`, `war`."""
TURNING: set[str] = set()
"""Words that turn a question into another one."""
LEANING: dict[str, set[str]] = {language: set() for language in SPOKEN}
"""Language -> words that tell it where its phrases do not."""
for _line in (
    Path(__file__).with_name("words.txt").read_text("utf-8").replace("\n ", " ").splitlines()
):
    _role, _, _all = _line.partition(": ") if _line[0] != "#" else ("", "", "")
    for (_language, _words), _phrases in zip(SPOKEN.items(), _all.split("|"), strict=False):
        for _phrase in filter(None, map(str.strip, re.split(r", |,\s*$", _phrases))):
            _keys = tuple(_phrase.strip('"*').split())
            if _role in ("!", "?"):
                TURNING.update(_keys if _role == "!" else ())
                LEANING[_language].update(key for key in _keys if len(key) > 2)
                continue
            _words.update(_keys)
            PHRASES.setdefault(_keys, []).append(_role.partition(" ")[::2])
            SAID_IN.setdefault((_keys, PHRASES[_keys][-1]), _language)
            SEEMING.update({_keys} if _phrase.endswith("*") else ())
YES = frozenset(["yes", "y", "true", "ja", "wahr", "oui", "vrai", "si", "verdadero"])
NO = frozenset(["no", "n", "false", "nein", "falsch", "non", "faux", "falso"])
_LONG_NAME = 4
"""Words of a name that is called by its first ones: `CPI` of `CPI INDEX 00: ALL ITEMS`."""
GROUPED = 30
"""Most different whole numbers of a column that is grouped by."""


@dataclass(frozen=True)
class AskedColumn:
    """A column, and what is known of its values."""

    name: str
    type: str
    kind: str
    """As `column_kinds.kind_of` says."""
    words: tuple[str, ...] = ()
    distinct: int = 0
    nulls: int = 0
    min: Any = None
    max: Any = None
    values: tuple[str, ...] = ()
    """Texts known from the profile: the most frequent, and those of the sample."""
    asked: str = field(default="", compare=False)
    """How a question calls it, where that is not quite its name."""
    plural: bool = field(default=False, compare=False)
    """Whether a question speaks of several of its values: `categories`."""
    beside: bool = field(default=False, compare=False)
    """Whether a question says yes or no itself, so that no column does by its name alone."""

    @property
    def sql(self) -> str:
        """Its values; dates that are stored as text as such."""
        is_text = (self.kind, self.type) == ("date", "VARCHAR")
        return f"TRY_CAST({quoted(self.name)} AS TIMESTAMP)" if is_text else quoted(self.name)

    @property
    def core(self) -> list[str]:
        """The words of its name that it cannot do without: `no show` is not `show`."""
        return [
            word
            for at, word in enumerate(self.words)
            if word not in GENERIC or (word == "no" and at == 0 and "of" not in self.words)
        ]

    @property
    def is_time(self) -> bool:
        """Whether “in 2023” can mean this column without naming it."""
        return says_when(self.kind, self.words)

    def tells(self, periods: Sequence[str]) -> bool:
        """Whether it says that something was in such a period: one of years knows no months."""
        return self.kind == "date" or (self.kind == "year" and max(map(len, periods)) == 4)

    @property
    def is_added_up(self) -> bool:
        """Whether it is added up where a question does not say what to do."""
        return self.kind == "figure" and is_added_up(self.words)

    @property
    def flag(self) -> tuple[str, tuple[str, ...]] | None:
        """The test of rows for which it says yes, and what with; None for a column of anything but
        yes and no."""
        spelt = {fold(value): value for value in self.values}
        if self.kind == "bool":
            return "true", ()
        if self.distinct != len(self.values) or not spelt or set(spelt) - YES - NO:
            return None
        return "one of", tuple(v for v in self.values if fold(v) in YES) or ("yes",)

    @property
    def condition(self) -> tuple[str, tuple[str, ...]]:
        """What its name alone asks for behind a figure; empty for nothing."""
        return (not (self.beside and self.kind == "text") and self.flag) or ("", ())

    @property
    def is_group(self) -> bool:
        """Whether it makes groups: of numbers only a few whole ones do."""
        few = "INT" in self.type and self.distinct <= GROUPED and not self.is_added_up
        return few or self.kind not in ("figure", "id")


NO_COLUMN = AskedColumn("", "", "")
"""Of a figure that counts rows; and in place of the column that says when, until it is found."""


@dataclass(frozen=True)
class AskedTable:
    """A table that SQL can reach."""

    name: str = ""
    handle: str = ""
    file_name: str = ""
    rows: int = 0
    columns: tuple[AskedColumn, ...] = ()
    sheet: str = ""
    united: tuple[str, ...] = ()
    """SQL names of tables of the same shape that are read as one."""
    doubtful: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """SQL name -> rows of the file that are data and may be totals."""
    without: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """SQL name -> such rows that are not to be read."""

    @property
    def source(self) -> str:
        """What to select from."""
        parts = " UNION ALL BY NAME ".join(map(self._rows, self.united or (self.name,)))
        return f"({parts})" if self.united or self.without else quoted(self.name)

    def _rows(self, name: str) -> str:
        rows = ", ".join(map(str, dict(self.without).get(name, ())))
        return f"SELECT * FROM {quoted(name)}" + (f" WHERE _row NOT IN ({rows})" if rows else "")

    @property
    def shape(self) -> tuple[tuple[str, str], ...]:
        return tuple((column.name, column.type) for column in self.columns)

    @property
    def titles(self) -> tuple[str, ...]:
        """What a question calls it, as a person would: its file, and its sheet where it has one;
        last its own name, which only this table has."""
        if not self.sheet:
            return (self.file_name, self.name)
        sheet = t("{figure} in {table}", figure=self.sheet, table=self.file_name)
        return (self.file_name, sheet, self.name)

    @property
    def title(self) -> str:
        """What an answer calls it: its file, and its sheet where it has one."""
        return self.titles[-2]

    @cached_property
    def names(self) -> list[tuple[str, ...]]:
        """The ways to name it, as words: its file with all folders or the last ones, with and
        without the ending."""
        ends = [
            self.file_name,
            *(self.file_name[m.end() :] for m in re.finditer("/", self.file_name)),
        ]
        names = (
            *ends,
            *(re.sub(r"\.\w{1,8}$", "", end) for end in ends),
            self.name,
            self.handle,
            self.sheet,
        )
        return [tuple(w.key for w in split_words(name)) for name in names if name]

    @cached_property
    def nouns(self) -> list[str]:
        """What one row is: `orders` of orders.csv, or of a column order_id without a repetition."""
        words = [
            w for w in name_words(re.sub(r"\.\w{1,8}$", "", self.file_name)) if not w[0].isdigit()
        ]
        file_nouns = (
            []
            if {"by", "per", "of", "nach", "pro", "je", "par", "por"} & set(words)
            else words[-1:]
        )
        return [
            *file_nouns,
            *(c.words[0] + "s" for c in self.columns if len(c.words) == 2 and self.is_key(c)),
        ]

    def is_figure(self, noun: str) -> bool:
        """Whether a word for its rows is one for its figures as well: `sales` of sales.csv."""
        figures = any(column.kind == "figure" for column in self.columns)
        return figures and any(is_added_up((form,)) for form in forms(noun))

    def row_of(self, nouns: Iterable[str]) -> str:
        """What else such words for its rows mean: `figure`, or `repeated` where several rows share
        one, as the lines of an order do; empty for nothing else."""
        if any(map(self.is_figure, nouns)):
            return "figure"
        named = [
            c for c in self.columns for noun in nouns if is_id(c.words) and _same([noun], c.core)
        ]
        return "repeated" if any(c.distinct < self.rows - c.nulls for c in named) else ""

    def is_key(self, column: AskedColumn) -> bool:
        """Whether each row has its own."""
        return is_id(column.words) and column.nulls == 0 and column.distinct == self.rows > 1

    def called(self, words: Sequence[str]) -> tuple[list[AskedColumn], bool]:
        """The columns that these words name equally well, and whether that has to be said because
        it is not quite their name."""
        exact = [
            c for c in self.columns if c.words == tuple(words) or "".join(c.words) == "".join(words)
        ]
        plural = [c for c in self.columns if _same(words, c.words)]
        core = [c for c in self.columns if _same(words, c.core)]
        last = [
            c
            for c in self.columns
            if _same(words, c.words[-len(words) :]) and not CHANGES & set(c.words[: -len(words)])
        ]
        first = [
            c
            for c in self.columns
            if len(c.words) >= _LONG_NAME and _same(words, c.words[: len(words)])
        ]
        matches = exact or plural or core or last or (first if len(first) == 1 else [])
        return matches, not (exact or plural)


def read_table(profile: ProfileShown, handle: str, file_name: str) -> AskedTable:
    """From `data["profile"]` of describe_table."""
    sample = profile.get("sample") or []
    columns = [
        _column(c, [row[i] for row in sample if i < len(row)])
        for i, c in enumerate(profile["columns"])
    ]
    place = re.match(r"sheet ([^!]+)", str(profile.get("place") or ""))
    doubtful = tuple(profile.get("doubtful") or ())
    return AskedTable(
        profile["name"],
        handle,
        file_name,
        int(profile["rows"]),
        tuple(columns),
        place[1] if place else "",
        doubtful=((profile["name"], doubtful),) if doubtful else (),
    )


def _column(c: ColumnShown, sample: list[Any]) -> AskedColumn:
    texts = dict.fromkeys(
        str(v) for v in (*(value for value, _ in c.get("top") or ()), *sample) if v is not None
    )
    kind = kind_of(c["name"], c["type"], (c.get("min"), c.get("max")), texts)
    counts = int(c.get("distinct") or 0), int(c.get("nulls") or 0)
    values = tuple(texts) if kind == "text" else ()
    return AskedColumn(
        c["name"],
        c["type"],
        kind,
        name_words(c["name"]),
        *counts,
        c.get("min"),
        c.get("max"),
        values,
    )


_LOOKUP = "WITH wanted(text) AS (VALUES "


def is_lookup(sql: str) -> bool:
    """Whether a statement only found out what a question's words name."""
    return sql.startswith(_LOOKUP)


def lookup_sql(tables: Sequence[AskedTable], texts: Iterable[str]) -> str:
    """Which text columns hold these texts as whole cells, whatever their case and accents; empty
    where nothing is wanted."""
    wanted = ", ".join(f"({literal(text)})" for text in dict.fromkeys(texts))
    parts = [
        f'SELECT {literal(t.name)} AS "table", {literal(c.name)} AS "column", {quoted(c.name)} AS '
        f'"value" FROM {t.source} '
        f"WHERE strip_accents(lower(trim({quoted(c.name)}))) IN (FROM wanted) GROUP BY 3"
        for t in tables
        for c in t.columns
        if c.type == "VARCHAR"
    ]
    return f"{_LOOKUP}{wanted}) {' UNION ALL '.join(parts)}" if wanted and parts else ""
