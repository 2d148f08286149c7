"""The grammar: which questions are understood, and as what. Every word must have a role, or there is no reading at all.

A question is written as letters, one for each word or phrase (`tables.PHRASES` for most; K a column, P one in the plural, V a
value, N a number, Y a year, quarter or month, T a table; words that mean nothing have none). It must be one of `HEADS`, then
any of `TAILS`. A question that comes out in one way is answered; one that comes out in several is asked back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from leaf.agent.rules.tables import PHRASES, Column, Table, Word, fold, forms, split_words

MOST_WORDS, MOST_PATHS = 40, 20_000
_PARTS = 6
"""Most words of a phrase, name or value."""
Values = Mapping[str, Mapping[str, Sequence[str]]]
"""Folded text -> column -> values written so: `tables.known_values`."""
Item = tuple[str, Any]
"""A letter and what it stands for."""


@dataclass(frozen=True)
class Filter:
    """A condition on one column."""

    column: str
    test: str
    """`one of`, `true`; of numbers `between`, `=`, `<`, `<=`, `>`, `>=`; of periods `in`, `since`, `after`, `before`, `from`."""
    values: tuple[str, ...] = ()
    """Texts, numbers as text, or periods: `2023`, `2023-04`, `2023-Q2`."""

    @property
    def is_when(self) -> bool:
        return self.test in ("in", "since", "after", "before", "from")

    def fits(self, column: Column) -> bool:
        """Whether a period can be told by a column: one of years knows no months."""
        return column.kind == "date" or (column.kind == "year" and max(map(len, self.values)) == 4)


@dataclass(frozen=True)
class Query:
    """What a question asks of a table."""

    kind: str = "figures"
    """`figures` (grouped or not), `top`, `share`, `correlation`."""
    figures: tuple[tuple[str, str], ...] = ()
    """Function and column: ("sum", "price"); ("count", "") counts rows, ("distinct", "city") different values."""
    groups: tuple[tuple[str, str], ...] = ()
    """Column and step of time: ("region", ""), ("day", "month")."""
    filters: tuple[Filter, ...] = ()
    rank: str = ""
    """`max` or `min`, for `top`."""
    limit: int = 1
    said: frozenset[str] = field(default=frozenset(), compare=False)
    """What the reader should know of how words were taken."""


class Grammar:
    """One question against one table."""

    def __init__(self, question: str, table: Table, values: Values) -> None:
        self.question, self.table, self.values = question, table, values
        self.words: list[Word] = split_words(question)
        self.end = len(self.words)
        self.roles: list[list[tuple[int, str, Any]]] = [[] for _ in range(self.end + 1)]
        """At each word: where a role ends, its letter, what it stands for."""
        spans = [(i, j) for i in range(self.end) for j in range(i + 1, min(self.end, i + _PARTS) + 1)]
        for first, end in spans:
            self.roles[first] += [(end, *item) for item in self._items(self.words[first:end])]
        whole = [(i, j) for i, j in spans if j > i + 1 and any(e == j and r == "K" and not m.asked for e, r, m in self.roles[i])]
        for first, end in whole:  # the words of a whole name of several words mean nothing else, unless two names overlap
            if not any(first < i < end < j for i, j in whole):
                for i in range(first, end):
                    self.roles[i] = [role for role in self.roles[i] if role[0] > end or (i == first and role[0] == end)]

        self._live = {self.end}
        """Words from which the question can be read to its end."""
        for at in reversed(range(self.end)):
            self._live |= {at} if any(end in self._live for end, _, _ in self.roles[at]) else set()

    def _items(self, words: Sequence[Word]) -> Iterator[Item]:
        """All that these words can be."""
        keys, kinds, alone = tuple(w.key for w in words), {w.kind for w in words}, len(words) == 1
        if not kinds & {"quoted", "column"}:
            plural = forms(keys[0]) if alone and len(keys[0]) > 3 else ()
            roles = PHRASES.get(keys) or [role for form in sorted(plural) for role in PHRASES.get((form,), ())]
            yield from ((role, meaning) for role, meaning in dict.fromkeys(roles) if role[0] != "+")
            if alone and kinds == {"number"}:
                yield "N", words[0].text.replace(",", "")
            if alone and any(forms(keys[0]) & forms(noun) for noun in self.table.nouns):
                yield "r", ""
            if period := _period(keys):
                yield "Y", period
        if keys in self.table.names:
            yield "T", ""
        text = self._text(words)
        inside = [w.key for w in (split_words(text) if kinds & {"quoted", "column"} else words) if w.kind != "sign"]
        exact = [c for c in self.table.columns if fold(c.name) == fold(text)] if kinds & {"quoted", "column"} else []
        parted = any(w.kind == "sign" and (i in (0, len(words) - 1) or w.text not in "-/&+") for i, w in enumerate(words))
        found, loose = (exact, False) if exact or "column" in kinds or parted else self.table.called(inside)
        for column in found:
            named = replace(column, asked=text if loose else "")
            yield "K", named
            if keys[-1].endswith("s") or keys[-1] != (column.words or ("",))[-1]:
                yield "P", named
        if "column" not in kinds:
            yield from (("V", (column, tuple(spelt))) for column, spelt in self.values.get(fold(text), {}).items())

    def _text(self, words: Sequence[Word]) -> str:
        return words[0].text if len(words) == 1 else self.question[words[0].first : words[-1].end]

    def _paths(self, at: int = 0) -> Iterator[tuple[Item, ...]]:
        """Every way to give each word a role. Those that lead nowhere are not begun."""
        if at == self.end:
            yield ()
        for end, role, meaning in self.roles[at] if at in self._live else ():
            yield from ((*(() if role == "_" else ((role, meaning),)), *rest) for rest in self._paths(end))

    def readings(self) -> list[Query]:
        """Every way to read the whole question; the same said in two ways counts once."""
        found: dict[Query, None] = {}
        for number, path in enumerate(self._paths() if 0 < self.end <= MOST_WORDS else ()):
            if number > MOST_PATHS:
                return []
            letters = "".join(role for role, _ in path)
            loose = {f"“{c.asked}” is read as the column `{c.name}`." for role, c in path if role in "KP" and c.asked}
            for pattern, head in HEADS:
                if (m := re.match(pattern, letters)) and (query := head(self.table, path[: m.end()])):
                    for whole in self._tails(query, letters, path, m.end()):
                        for placed in filter(_allowed, self._placed(whole)):
                            found.setdefault(replace(placed, said=placed.said | loose))
        return list(found)

    def _tails(self, query: Query, letters: str, path: tuple[Item, ...], at: int) -> Iterator[Query]:
        if at == len(letters):
            yield query
        for pattern, tail in TAILS:
            m = re.compile(pattern).match(letters, at)
            if m and (longer := tail(query, path[m.start(1) : m.end(1)])):
                yield from self._tails(longer, letters, path, m.end())

    def _placed(self, query: Query) -> Iterator[Query]:
        """With the column that says when, where a question has a period or a step of time without one."""
        if all(column for column, _ in query.groups) and all(f.column for f in query.filters):
            yield query
            return
        periods = [f for f in query.filters if f.is_when]
        named = {f.column for f in periods} | {column for column, grain in query.groups if grain}
        steps = {grain for column, grain in query.groups if not column} - {"year", "time"}
        for c in self.table.columns:
            fits = all(f.fits(c) for f in periods if not f.column) and (c.kind == "date" or not steps)
            if fits and (c.name in named if any(named) else c.is_time):
                groups = tuple(
                    (g or c.name, grain.replace("time", "month") if g or c.kind == "date" else "") for g, grain in query.groups
                )
                filters = tuple(f if f.column else replace(f, column=c.name) for f in query.filters)
                yield replace(query, groups=groups, filters=filters)

    def is_only(self, letters: str) -> bool:
        """Whether all words can be of these kinds, one of the first kind among them."""
        paths = ({role for role, _ in path} for path in islice(self._paths(), 500))
        return self.end <= MOST_WORDS and any(letters[0] in path and path <= set(letters) for path in paths)

    def describes(self) -> bool:
        """Whether this only asks what a file or table holds."""
        return self.is_only("xTiakr")

    def has(self, letter: str) -> bool:
        return any(role == letter for roles in self.roles for _, role, _ in roles)

    def unknown(self) -> list[str]:
        """Words without any role; where none is, nothing: then the words are known, but not what they say together."""
        covered = {i for first in range(self.end) for end, _, _ in self.roles[first] for i in range(first, end)}
        return list(dict.fromkeys(w.text for i, w in enumerate(self.words) if i not in covered))

    def known(self) -> list[str]:
        """What was understood: columns and values, as the table writes them."""
        values = [f"“{spelt}” in `{column}`" for column, spelt in self.valued().items()]
        return [*(f"`{column.name}`" for column in self.columns()), *values]

    def columns(self) -> list[Column]:
        """Columns that the question names."""
        return list(dict.fromkeys(column for roles in self.roles for _, role, column in roles if role == "K"))

    def valued(self) -> dict[str, str]:
        """Columns with a value that the question names."""
        return {m[0]: m[1][0] for roles in self.roles for _, role, m in roles if role == "V"}

    def stretches(self) -> list[str]:
        """Texts that may be values of a column: stretches with a word that is neither a word of the rules nor a column."""
        sure = {i for i, roles in enumerate(self.roles) for end, role, _ in roles if role not in "NYV" for i in range(i, end)}
        spans = [(i, j) for i in range(self.end) for j in range(i + 1, min(self.end, i + _PARTS) + 1) if set(range(i, j)) - sure]
        texts = (self._text(self.words[i:j]) for i, j in spans)
        return list(dict.fromkeys(map(fold, texts)))[:120]


def _period(keys: Sequence[str]) -> str:
    """`2023`, `march 2023`, `q2 2023`, `2023-03` as results have them: 2023, 2023-03, 2023-Q2; empty for other words."""
    found = re.fullmatch(r"(?:(\w+) )?((?:1[5-9]|2[01])\d\d)(-(?:0[1-9]|1[0-2]|q[1-4])|)", " ".join(keys))
    if not found or not found[1]:
        return (found[2] + found[3]).upper() if found else ""
    roles = dict(PHRASES.get((found[1],), ()))
    part = f"-{roles['+part']}" if "+part" in roles else ""
    return "" if found[3] or not (part or roles.get("g") == "year") else found[2] + part


def _allowed(query: Query) -> bool:
    """Whether the parts go together."""
    columns, groups = [f.column for f in query.filters], len(query.groups)
    twice = len(set(columns)) < len(columns) or len(set(query.groups)) < groups
    if twice or groups > 2 or query.figures == (("count", "where"),):
        return False
    if query.kind == "share":
        return groups + len(query.filters) == 1 and (groups == 1 or query.figures[0][0] == "count")
    return groups == {"correlation": 0, "top": 1}.get(query.kind, groups)


# Heads: what is asked for


def _of(items: Sequence[Item], role: str) -> list[Any]:
    return [meaning for letter, meaning in items if letter == role]


def _figures(table: Table, items: Sequence[Item]) -> Query | None:
    """`average price`, `mean and median of a and b`, `prix moyen`, `monthly total units`, and a bare `revenue`."""
    functions, columns, said = _of(items, "f"), _of(items, "K"), frozenset[str]()
    ends = all(f in ("max", "min") for f in functions)
    if not functions and columns[0].is_added_up:
        functions, said = ["sum"], frozenset({f"`{columns[0].name}` is added up, as nothing else was said."})
    kinds = {c.kind for c in columns} - {"figure", *(("date", "year") if ends else ())}
    if not functions or kinds or ("sum" in functions and any(c.is_rate for c in columns)):
        return None
    steps = [("", grain) for grain in _of(items, "g")] + [("", "time") for _ in _of(items, "o")]
    return Query(figures=tuple((f, c.name) for c in columns for f in functions), groups=tuple(steps), said=said)


def _count(table: Table, items: Sequence[Item]) -> Query | None:
    """`how many cancelled orders`, `number of different cities`, `how many open …`."""
    filters = tuple(Filter(column, "one of", values) for column, values in _of(items, "V"))
    rows, distinct, plural = bool(_of(items, "r")), bool(_of(items, "d")), _of(items, "P")
    figure = ("count", "" if rows or filters else "where")
    for column in [*_of(items, "K"), *plural]:
        if column.kind == "bool" and not distinct:
            figure, filters = ("count", "" if rows else "where"), (Filter(column.name, "true"),)
        elif rows or column.kind == "date" or not (distinct or (plural and column.kind in ("text", "id"))):
            return None
        else:
            figure = ("count", "") if table.is_key(column) else ("distinct", column.name)
    return Query(figures=(figure,), filters=filters)


def _share(table: Table, items: Sequence[Item]) -> Query | None:
    """`share of revenue by region`, `what percentage of orders are cancelled`."""
    query = Query(figures=(("count", ""),)) if _of(items, "r") else _figures(table, items)
    return replace(query, kind="share") if query and query.figures[0][0] in ("sum", "count") and not query.groups else None


def _correlation(table: Table, items: Sequence[Item]) -> Query | None:
    a, b = _of(items, "K")
    return Query("correlation", (("corr", a.name), ("corr", b.name))) if a != b and a.kind == b.kind == "figure" else None


def _top(table: Table, items: Sequence[Item]) -> Query | None:
    """`top 5 products by total revenue`; where each row is a product of its own, `by revenue` is enough."""
    limit, at = next(iter(_of(items, "N")), "5"), next(i for i, (role, _) in enumerate(items) if role == "b")
    single = items[at - 1][1].distinct == table.rows and not _of(items, "f")
    query = _figures(table, [("f", "max"), *items[at:]] if single else items[at:])
    return _ranked(query, items[at - 1], items[0][1], int(limit)) if re.fullmatch(r"[1-9]\d{0,2}", limit) else None


def _which(table: Table, items: Sequence[Item]) -> Query | None:
    """`which region has the highest total revenue`, `which month had the most orders`."""
    at = 2 if items[2][0] in "mf" and items[2][1] in ("max", "min") else len(items) - 1
    rest = [item for i, item in enumerate(items[2:], 2) if i != at]
    query = Query(figures=(("count", ""),)) if rest[0][0] == "r" else _figures(table, rest)
    return _ranked(query, items[1], str(items[at][1]), 1) if items[at][1] in ("max", "min") else None


def _ranked(query: Query | None, key: Item, rank: str, limit: int) -> Query | None:
    column = key[1] if key[0] == "K" else None
    if query is None or query.groups or len(query.figures) != 1 or (column and (not column.is_group or column.kind == "date")):
        return None
    return replace(query, kind="top", groups=((column.name, "") if column else ("", key[1]),), rank=rank, limit=limit)


def _values(table: Table, items: Sequence[Item]) -> Query | None:
    """`which products are there`, `the different regions`: each with its rows."""
    [column] = _of(items, "K")
    return Query(figures=(("count", ""),), groups=((column.name, ""),)) if column.kind == "text" else None


# Tails: what it is asked of


def _by(query: Query, items: Sequence[Item]) -> Query | None:
    """`by region`, `by month of day`, `over time`. `revenue per unit` is a ratio, not a group."""
    columns = _of(items, "K")
    if steps := [*_of(items, "g"), *("time" for _ in _of(items, "o"))]:
        fits = all(c.kind == "date" for c in columns)
        groups = tuple((columns[0].name if columns else "", grain) for grain in steps)
    else:
        fits = all(c.is_group and (c.kind != "figure" or items[0][1] == "by" or not c.is_added_up) for c in columns)
        groups = tuple((c.name, "") for c in columns)
    return replace(query, groups=(*query.groups, *groups)) if fits else None


def _with(query: Query, condition: Filter) -> Query:
    counted = (("count", ""),) if query.figures == (("count", "where"),) else query.figures
    return replace(query, figures=counted, filters=(*query.filters, condition))


def _is_value(query: Query, items: Sequence[Item]) -> Query | None:
    """`in North`, `for North or South`, `region is North`, `returned`."""
    values, named = _of(items, "V"), _of(items, "K")
    if not values:
        return _with(query, Filter(named[0].name, "true")) if named[0].kind == "bool" else None
    spelt = tuple(dict.fromkeys(text for _, texts in values for text in texts))
    one = len({column for column, _ in values} | {c.name for c in named}) == 1
    return _with(query, Filter(values[0][0], "one of", spelt)) if one else None


def _is_number(query: Query, items: Sequence[Item]) -> Query | None:
    """`price above 5`, `price between 5 and 10`, `class 3`, `more than 5 units`."""
    [column], numbers = _of(items, "K"), _of(items, "N")
    test = "between" if _of(items, "w") else str(next(iter(_of(items, "h")), "="))
    loose_id, a_time = column.kind == "id" and column.asked, column.kind == "year" and test in ("between", "=")
    fits = column.kind in ("figure", "id", "year") and not loose_id and not a_time
    return _with(query, Filter(column.name, test, tuple(numbers))) if fits else None


def _is_when(query: Query, items: Sequence[Item]) -> Query | None:
    """`in 2023`, `since March 2023`, `order date between 2021 and 2022`."""
    named, periods, test = _of(items, "K"), _of(items, "Y"), str(next(iter(_of(items, "s")), "in"))
    condition = Filter(named[0].name if named else "", "from" if len(periods) > 1 else test, tuple(periods))
    return _with(query, condition) if all(map(condition.fits, named)) else None


_FIGURE = "(?:g?f(?:af|f)*i?K(?:aK)*|g?Kf|g?K)"
HEADS: tuple[tuple[str, Callable[[Table, Sequence[Item]], Query | None]], ...] = (
    (f"o?{_FIGURE}", _figures), ("c(?:[VK]?r|P|dK|K|V(?:P|dK))", _count), ("c", _count), ("cV", _count),
    (f"pi?(?:r|{_FIGURE})", _share), ("z[wi]?KaK", _correlation), (f"tN?Kb{_FIGURE}", _top),
    (f"k[Kg](?:[mf]{_FIGURE}|mr|{_FIGURE}f)", _which), ("(?:kd?|d)K", _values),
)  # fmt: skip
"""The letters of a head, and what it asks for. What can end at several places stands there several times."""
TAILS: tuple[tuple[str, Callable[[Query, Sequence[Item]], Query | None]], ...] = (
    ("(bK|bg|o)", _by), ("(bKaK|bgiK)", _by), ("(i?T|ir)", lambda query, items: query),
    ("a?i?(V(?:[au]V)*)", _is_value), ("a?i?(V(?:[au]V)*K)", _is_value), ("a?i?(Kq?V(?:[au]V)*)", _is_value),
    ("a?i?(K)", _is_value), ("a?i?(KhN|KwNaN|Kq?N|hNK)", _is_number), ("a?(iY)", _is_when),
    ("a?i?(K[iq]?Y|K?sY|K?i?wYaY)", _is_when),
)  # fmt: skip
