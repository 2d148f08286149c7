"""The grammar: which questions are understood, and as what. Every word must have a role, or there
is no reading at all.

A question is written as letters, one for each word or phrase (`tables.PHRASES` for most; K a
column, P one in the plural, V a value, N a number, Y a year, quarter or month, T a table; words
that mean nothing have none). It must be one of `HEADS`, then any of `TAILS`. A question that comes
out in one way is answered; one that comes out in several is asked back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from leaf.agent.column_kinds import is_rate
from leaf.agent.rules.numbers import meanings, period_of, written
from leaf.agent.rules.spoken import language_of, roles_of_phrase, words_of
from leaf.agent.rules.tables import (
    NO,
    NO_COLUMN,
    YES,
    AskedColumn,
    AskedTable,
    PassedOver,
    QuestionWord,
    forms,
    split_words,
    with_numbers,
)
from leaf.files.names import fold
from leaf.language.text import t

MOST_WORDS, MOST_PATHS = 40, 20_000
_PARTS = 6
"""Most words of a phrase, name or value; names of files may have more."""
Item = tuple[str, Any]
"""A letter and what it stands for."""


@dataclass(frozen=True)
class Query:
    """What a question asks of a table."""

    kind: str = "figures"
    """`figures` (grouped or not), `top`, `share`."""
    figures: tuple[tuple[str, AskedColumn], ...] = ()
    """Function and column: `sum` of price, `distinct` of city; `count` of no column counts rows."""
    groups: tuple[tuple[AskedColumn, str], ...] = ()
    """Column and step of time: region by itself, day by `month`."""
    filters: tuple[tuple[AskedColumn, str, tuple[str, ...]], ...] = ()
    """Column, test and what with: `one of` texts; `true`; `between`, `=`, `<`, `<=`, `>`, `>=`
    numbers as text; `in`, `since`, `after`, `before`, `between` periods: `2023`, `2023-04`,
    `2023-Q2`. No column for a period: the one that says when.
    """
    rank: str = ""
    """`max` or `min`, for `top`."""
    limit: int = 1
    said: frozenset[str] = field(default=frozenset(), compare=False)
    """What the reader should know of how words were taken."""


ROWS = ("count", NO_COLUMN)
_PASSED = "_i"
"""Roles of words that add nothing to what is asked."""
_HOLDERS = ("data", "dataset", "table", "sheet", "file")


class Grammar:
    """One question against one table."""

    def __init__(
        self, question: str, table: AskedTable | None = None, found: Sequence[Sequence[str]] = ()
    ) -> None:
        """`found`: table, column and text of cells that the question may name, from
        `lookup_sql`."""
        self.question, self.table, self.found = question, table or AskedTable(), found
        self.values: dict[str, dict[AskedColumn, list[str]]] = {}
        """Folded text -> column -> the values that are written so."""
        for column in self.table.columns:
            looked_up = [
                value
                for name, where, value in found
                if (name, where) == (self.table.name, column.name)
            ]
            for value in dict.fromkeys([*column.values, *looked_up]):
                self.values.setdefault(fold(value), {}).setdefault(column, []).append(value)
        self.language, self.spoken = language_of(question), words_of(question)
        self.words = with_numbers(split_words(question), question, written(question, self.language))
        self.end, keys = len(self.words), {word.key for word in self.words}
        self.says_yes_or_no = any(len(key) > 1 for key in keys & (YES | NO))
        self.roles: list[list[tuple[int, str, Any]]] = [[] for _ in range(self.end + 1)]
        """At each word: where a role ends, its letter, what it stands for."""
        parts = max(_PARTS, *map(len, self.table.names), 0)
        self.spans = [
            (i, j) for i in range(self.end) for j in range(i + 1, min(self.end, i + parts) + 1)
        ]
        for first, end in self.spans:
            self.roles[first] += [(end, *item) for item in self._items(self.words[first:end])]
        self.roles = [self._told_apart(at, roles) for at, roles in enumerate(self.roles)]
        names = [
            (i, j)
            for i in range(self.end)
            for j, r, m in self.roles[i]
            if r == "K" and not m.asked and j > i + 1
        ]
        # The words of a whole name of several words mean nothing else, unless two names overlap.
        for first, end in names:
            for i in range(first, end) if not any(first < i < end < j for i, j in names) else ():
                self.roles[i] = [
                    role
                    for role in self.roles[i]
                    if role[0] > end or (i == first and role[0] == end)
                ]
        self._live = {self.end}
        """Words from which the question can be read to its end."""
        for at in reversed(range(self.end)):
            self._live |= {at} if any(end in self._live for end, _, _ in self.roles[at]) else set()

    def _told_apart(
        self, at: int, roles: Sequence[tuple[int, str, Any]]
    ) -> list[tuple[int, str, Any]]:
        """Roles of a word; one that is a value of the table too is passed over with a note, and not
        at all where it is written as an abbreviation."""
        values = {end: meaning for end, role, meaning in roles if role == "V"}
        candidates = []
        for end, role, meaning in roles:
            if role == "_" and end not in values and self._tells_which(at, end):
                continue
            if role in _PASSED and end in values:
                if end == at + 1 and self._is_abbreviation(self.words[at]):
                    continue
                column, spelt = values[end]
                meaning = PassedOver(self._text(self.words[at:end]), spelt[0], column.name)
            candidates.append((end, role, meaning))
        return candidates

    def _tells_which(self, at: int, end: int) -> bool:
        """Whether a word says more than it mostly does, so that it must not be passed over: nobody
        here knows which one is `this month`; `US revenue` and `data revenue` are another one."""
        behind = {role for _, role, _ in self.roles[end]} if end < self.end else set()
        if self.words[at].key in ("this", "that"):
            return "g" in behind
        short = len(self.words[at].text) == 2 and self._is_abbreviation(self.words[at])
        return end == at + 1 and (short or (self.words[at].key in _HOLDERS and "K" in behind))

    def _is_abbreviation(self, word: QuestionWord) -> bool:
        """Whether it stands in capitals among others that do not: `IT`, `US`."""
        return len(word.text) > 1 and word.text.isupper() and not self.question.isupper()

    def _items(self, words: Sequence[QuestionWord]) -> Iterator[Item]:
        """All that these words can be."""
        keys, kinds, alone = tuple(w.key for w in words), {w.kind for w in words}, len(words) == 1
        if not kinds & {"quoted", "column"}:
            roles = roles_of_phrase(keys, self.spoken)
            yield from (role for role in roles if role[0][0] != "+")
            if alone and kinds == {"number"}:
                yield from (("N", number) for number in meanings(words[0].text, self.language))
            if alone and (nouns := [n for n in self.table.nouns if forms(keys[0]) & forms(n)]):
                yield "r", "figure" if any(map(self.table.is_figure, nouns)) else ""
            if period := period_of(keys):
                yield "Y", period
        if keys in self.table.names:
            yield "T", ""
        text = self._text(words)
        inside = [
            w.key
            for w in (split_words(text) if kinds & {"quoted", "column"} else words)
            if w.kind != "sign"
        ]
        exact = (
            [c for c in self.table.columns if fold(c.name) == fold(text)]
            if kinds & {"quoted", "column"}
            else []
        )
        parted = any(
            w.kind == "sign" and (i in (0, len(words) - 1) or w.text not in "-/&+")
            for i, w in enumerate(words)
        )
        columns, loose = (
            (exact, False) if exact or "column" in kinds or parted else self.table.called(inside)
        )
        for column in columns:
            named = replace(column, asked=text if loose else "", beside=self.says_yes_or_no)
            yield "K", named
            if keys[-1].endswith("s") or keys[-1] != (column.words or ("",))[-1]:
                yield "P", named
        if "column" not in kinds:
            yield from (
                ("V", (column, tuple(spelt)))
                for column, spelt in self.values.get(fold(text), {}).items()
            )

    def _text(self, words: Sequence[QuestionWord]) -> str:
        return words[0].text if len(words) == 1 else self.question[words[0].first : words[-1].end]

    def _paths(self, at: int = 0) -> Iterator[tuple[Item, ...]]:
        """Every way to give each word a role. Those that lead nowhere are not begun."""
        if at == self.end:
            yield ()
        for end, role, meaning in self.roles[at] if at in self._live else ():
            yield from (
                (*(() if (role, meaning) == ("_", "") else ((role, meaning),)), *rest)
                for rest in self._paths(end)
            )

    def readings(self) -> list[Query]:
        """Every way to read the whole question; the same said in two ways counts once."""
        queries: dict[Query, None] = {}
        for number, path in enumerate(self._paths() if 0 < self.end <= MOST_WORDS else ()):
            if number > MOST_PATHS:
                return []
            passed = {str(meaning) for _, meaning in path if isinstance(meaning, PassedOver)}
            path = tuple(item for item in path if item[0] != "_")
            letters = "".join(role for role, _ in path)
            loose = passed | {
                t("“{word}” is read as the column {column}.", word=c.asked, column=f"`{c.name}`")
                for role, c in path
                if role in "KP" and c.asked
            }
            for head, pattern in (
                (head, pattern) for head, patterns in HEADS.items() for pattern in patterns
            ):
                if (m := re.match(pattern, letters)) and (
                    query := head(self.table, path[: m.end()])
                ):
                    for whole in self._tails(query, letters, path, m.end()):
                        for placed in filter(_allowed, self._placed(whole)):
                            queries.setdefault(replace(placed, said=placed.said | loose))
        return list(queries)

    def _tails(
        self, query: Query, letters: str, path: tuple[Item, ...], at: int
    ) -> Iterator[Query]:
        if at == len(letters):
            yield query
        for tail, pattern in (
            (tail, pattern) for tail, patterns in TAILS.items() for pattern in patterns
        ):
            if (m := re.match(pattern, letters[at:])) and (
                longer := tail(query, path[at : at + m.end()])
            ):
                yield from self._tails(longer, letters, path, at + m.end())

    def _placed(self, query: Query) -> Iterator[Query]:
        """With the column that says when, where a question has a period or a step of time without
        one."""
        periods = [(c, values) for c, _, values in query.filters if c.kind in ("", "date", "year")]
        whens = {column for column, _ in periods} | {
            column for column, grain in query.groups if grain
        }
        if NO_COLUMN not in whens:
            yield query
            return
        steps = {grain for column, grain in query.groups if column == NO_COLUMN} - {"year", "time"}
        for c in [c for c in self.table.columns if c in whens] or [
            c for c in self.table.columns if c.is_time
        ]:
            if all(c.tells(values) for column, values in periods if column == NO_COLUMN) and (
                c.kind == "date" or not steps
            ):
                step = {"time": "month"} if c.kind == "date" else {"time": "", "year": ""}
                groups = (
                    (c, step.get(grain, grain)) if g == NO_COLUMN else (g, grain)
                    for g, grain in query.groups
                )
                filters = (
                    (c if column == NO_COLUMN else column, test, operands)
                    for column, test, operands in query.filters
                )
                yield replace(query, groups=tuple(groups), filters=tuple(filters))

    def is_only(self, letters: str) -> bool:
        """Whether all words can be of these kinds, one of the first kind among them."""
        paths = ({role for role, _ in path} - {"_"} for path in islice(self._paths(), 500))
        return self.end <= MOST_WORDS and any(
            letters[0] in path and path <= set(letters) for path in paths
        )

    def describes(self) -> bool:
        """Whether this only asks what a file or table holds."""
        return self.is_only("xTiakr")

    def has(self, letter: str) -> bool:
        return any(role == letter for roles in self.roles for _, role, _ in roles)

    def unknown(self) -> list[str]:
        """Words without any role; where none is, nothing: then the words are known, but not what
        they say together."""
        covered = {
            i
            for first in range(self.end)
            for end, _, _ in self.roles[first]
            for i in range(first, end)
        }
        return list(dict.fromkeys(w.text for i, w in enumerate(self.words) if i not in covered))

    def named(self) -> dict[AskedColumn, str]:
        """Columns that the question names: by themselves, or by a value, as the table writes it."""
        columns = {column: "" for roles in self.roles for _, role, column in roles if role == "K"}
        return columns | {
            m[0]: m[1][0] for roles in self.roles for _, role, m in roles if role == "V"
        }

    def stretches(self) -> list[str]:
        """Texts that may be values of a column: stretches with a word that is neither a word of the
        rules nor a column."""
        sure = {
            i
            for i, roles in enumerate(self.roles)
            for end, role, _ in roles
            if role not in "NYV" and not self._is_abbreviation(self.words[i])
            for i in range(i, end)
        }
        texts = (self._text(self.words[i:j]) for i, j in self.spans if set(range(i, j)) - sure)
        return list(dict.fromkeys(map(fold, texts)))[:120]


def _allowed(query: Query) -> bool:
    """Whether the parts go together."""
    columns, groups = [column for column, *_ in query.filters], len(query.groups)
    twice = len(set(columns)) < len(columns) or len(set(query.groups)) < groups
    share = groups + len(columns) == 1 and (groups == 1 or query.figures == (ROWS,))
    fits = {"share": share, "top": groups == 1}.get(query.kind, groups <= 2)
    return fits and not twice


def _of(items: Sequence[Item], roles: str) -> list[Any]:
    return [meaning for role, meaning in items if role in roles]


def _figures(_table: AskedTable, items: Sequence[Item]) -> Query | None:
    """`average price`, `mean and median of a and b`, `prix moyen`, `monthly total units`, `total US
    revenue`, and a bare `revenue`."""
    functions, columns, notes = _of(items, "f"), _of(items, "K"), frozenset[str]()
    ends = all(f in ("max", "min") for f in functions)
    if not functions and columns[0].is_added_up:
        added = f"`{columns[0].name}`"
        functions, notes = (
            ["sum"],
            frozenset({t("{column} is added up, as nothing else was said.", column=added)}),
        )
    kinds = {c.kind for c in columns} - {"figure", *(("date", "year") if ends else ())}
    if not functions or kinds or ("sum" in functions and any(is_rate(c.words) for c in columns)):
        return None
    steps = tuple((NO_COLUMN, grain) for grain in _of(items, "go"))
    filters = tuple((column, "one of", values) for column, values in _of(items, "V"))
    figures = tuple((f, c) for c in columns for f in functions)
    return Query(figures=figures, groups=steps, filters=filters, said=notes)


def _count(table: AskedTable, items: Sequence[Item]) -> Query | None:
    """`how many cancelled orders`, `number of different cities`, `how many open …`."""
    filters = tuple((column, "one of", values) for column, values in _of(items, "V"))
    rows, distinct, plural, figure = _of(items, "r"), _of(items, "d"), _of(items, "P"), ROWS
    for column in _of(items, "KP"):
        if column.flag and not distinct:
            filters = (*filters, (column, *column.flag))
        elif (
            rows
            or column.kind == "date"
            or not (distinct or (plural and column.kind in ("text", "id")))
        ):
            return None
        else:
            figure = ROWS if table.is_key(column) else ("distinct", column)
    return Query(figures=(figure,), filters=filters)


def _rows(items: Sequence[Item]) -> Query | None:
    """The number of rows, but not where their name is that of a figure: `most revenue`."""
    return None if "figure" in _of(items, "r") else Query(figures=(ROWS,))


def _share(table: AskedTable, items: Sequence[Item]) -> Query | None:
    """`share of revenue by region`, `what percentage of orders are cancelled`."""
    query = _rows(items) if _of(items, "r") else _figures(table, items)
    return (
        replace(query, kind="share")
        if query and query.figures[0][0] in ("sum", "count") and not query.groups
        else None
    )


def _top(table: AskedTable, items: Sequence[Item]) -> Query | None:
    """`top 5 products by total revenue`."""
    at = next(i for i, (role, _) in enumerate(items) if role == "b")
    query = _figures(table, _ranking(table, items[at - 1], items[at:], "max"))
    return _ranked(query, items[at - 1], items[0][1], next(iter(_of(items, "N")), "5"))


def _which(table: AskedTable, items: Sequence[Item], limit: str = "1") -> Query | None:
    """`which region has the highest total revenue`, `which month had the most orders`."""
    at = 2 if items[2][0] in "mf" and items[2][1] in ("max", "min") else len(items) - 1
    key, rank = items[1], str(items[at][1])
    rest = _ranking(table, key, [item for i, item in enumerate(items[2:], 2) if i != at], rank)
    query = _rows(rest) if rest[0][0] == "r" else _figures(table, rest)
    return _ranked(query, key, rank, limit) if rank in ("max", "min") else None


def _best(table: AskedTable, items: Sequence[Item]) -> Query | None:
    """`the five products with the highest total revenue`, `which 3 months had the most orders`."""
    at = next(at for at, (role, _) in enumerate(items) if role == "N")
    rest = [item for i, item in enumerate(items[at:]) if i != 2 or item[0] != "i"]
    return _which(table, rest, limit=items[at][1])


def _ranking(table: AskedTable, key: Item, items: Sequence[Item], rank: str) -> Sequence[Item]:
    """The words of a figure, with the function that nothing else says: the highest price is that of
    a row; so is the highest revenue where each row is a product of its own."""
    columns = [] if _of(items, "f") else _of(items, "K")
    single = key[0] == "K" and key[1].distinct == table.rows
    return [("f", rank), *items] if columns and (single or is_rate(columns[0].words)) else items


def _ranked(query: Query | None, key: Item, rank: str, limit: str) -> Query | None:
    group = (key[1], "") if key[0] == "K" else (NO_COLUMN, key[1])
    if (
        query is None
        or query.groups
        or len(query.figures) != 1
        or not group[0].is_group
        or group[0].kind == "date"
        or not re.fullmatch(r"[1-9]\d{0,2}", limit)
    ):
        return None
    return replace(query, kind="top", groups=(group,), rank=rank, limit=int(limit))


def _by(query: Query, items: Sequence[Item]) -> Query | None:
    """`by region`, `by month of day`, `over time`. `revenue per unit` is a ratio, not a group."""
    columns = _of(items, "K")
    if steps := _of(items, "go"):
        fits = all(c.kind == "date" for c in columns)
        groups = [(columns[0] if columns else NO_COLUMN, grain) for grain in steps]
    else:
        fits = all(
            c.is_group and (c.kind != "figure" or items[0][1] == "by" or not c.is_added_up)
            for c in columns
        )
        groups = [(c, "") for c in columns]
    return replace(query, groups=(*query.groups, *groups)) if fits else None


def _where(query: Query, items: Sequence[Item]) -> Query | None:
    """`in North or South`, `region is North`; `in 2023`, `since March 2023`; `price above 5`,
    `class 3`; `returned`."""
    values, periods, numbers = (_of(items, role) for role in "VYN")
    columns = list(dict.fromkeys([*_of(items, "K"), *(column for column, _ in values)])) or [
        NO_COLUMN
    ]
    test = "between" if _of(items, "w") else next(iter(_of(items, "hs")), "in" if periods else "=")
    if values:
        fits, test = len(columns) == 1, "one of"
    elif periods:
        fits = columns[0] == NO_COLUMN or columns[0].tells(periods)
    elif numbers:
        fits = {
            "figure": True,
            "id": not columns[0].asked,
            "year": test not in ("between", "="),
        }.get(columns[0].kind, False)
    else:
        test, values_meant = columns[0].condition
        fits = bool(test and not (query.groups and items[0][0] == "a"))
        values = [(columns[0], values_meant)]
    spelt = [*dict.fromkeys(text for _, texts in values for text in texts), *periods, *numbers]
    return (
        replace(query, filters=(*query.filters, (columns[0], test, tuple(spelt)))) if fits else None
    )


_FIGURE = "(?:g?f(?:af|f)*i?V?K(?:aK)*|g?Kf|g?K)"
_RANKED = f"[mf]{_FIGURE}|mr|{_FIGURE}f"
HEADS: dict[Callable[[AskedTable, Sequence[Item]], Query | None], tuple[str, ...]] = {
    _figures: (f"o?{_FIGURE}",),
    _count: ("c(?:[VK]?r|P|dK|K|V(?:P|dK))", "c(?!i?[Trbo]|$)", "cV"),
    _share: (f"pi?(?:r|{_FIGURE})",),
    _top: (f"tN?Kb{_FIGURE}",),
    _which: (f"k[Kg](?:{_RANKED})",),
    _best: (f"k?N[Kg]i?(?:{_RANKED})",),
}
"""What can be asked for, and its letters: a pattern for each place at which it can end."""
TAILS: dict[Callable[[Query, Sequence[Item]], Query | None], tuple[str, ...]] = {
    _by: ("bK|bg|o", "bKaK|bgiK"),
    _where: (
        "a?i?(?:Kq?)?V(?:[au]V)*|a?i?(?:KhN|KwNaN|Kq?N|hNK|K[iq]?Y|K?sY|K?i?wYaY)",
        "a?i?V(?:[au]V)*K",
        "a?i?K",
        "a?iY",
    ),
    lambda query, _items: query: ("i?T|ir",),
}
"""What it is asked of."""
