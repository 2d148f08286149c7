"""The grammar: which questions are understood, and as what. Every word must have a role, or there is no reading at all.

    question = [chart] (figures | count | share | correlation | top | which | values | rows | gaps) tail*
    tail     = by column | by month … | over time | in VALUE | where COLUMN than NUMBER | in 2023 | since 2023 | in TABLE

Each rule gives all ways to read what stands at a word. A question that comes out in one way is answered; one that comes out in
several is asked back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from leaf.agent.rules.tables import Column, Table
from leaf.agent.rules.words import LONGEST, PHRASES, Word, fold, forms, split_words

MOST_WORDS = 40
_PARTS = 6
"""Most words of a name or value."""
Values = Mapping[str, Mapping[str, Sequence[str]]]
"""Folded text -> column -> values written so: `tables.known_values`."""


@dataclass(frozen=True)
class Filter:
    """A condition on one column."""

    column: str
    test: str
    """`in`, `true`, `between`, `period`, `=`, `<`, `<=`, `>`, `>=`."""
    values: tuple[str, ...]
    """Texts, numbers as text, or the first day and the day after the last (either may be empty) of a period."""


@dataclass(frozen=True)
class Query:
    """What a question asks of a table."""

    kind: str = "figures"
    """`figures` (grouped or not), `top`, `share`, `correlation`, `values`, `rows`, `gaps`."""
    figures: tuple[tuple[str, str], ...] = ()
    """Function and column: ("sum", "price"); ("count", "") counts rows, ("distinct", "city") different values."""
    groups: tuple[tuple[str, str], ...] = ()
    """Column and step of time: ("region", ""), ("day", "month")."""
    filters: tuple[Filter, ...] = ()
    rank: str = ""
    """`max` or `min`, for `top`."""
    limit: int = 1
    chart: str = ""
    """`bar`, `line`, `arc`, or nothing."""
    said: frozenset[str] = field(default=frozenset(), compare=False)
    """What the reader should know of how words were taken."""


Found = Iterator[tuple[int, Any]]


class Grammar:
    """One question against one table."""

    def __init__(self, question: str, table: Table, values: Values) -> None:
        self.question, self.table, self.values = question, table, values
        self.words: list[Word] = split_words(question)
        self.end = len(self.words)
        self.roles: list[dict[str, list[tuple[int, Any]]]] = [{} for _ in range(self.end + 1)]
        for first in range(self.end):
            for end in range(first + 1, min(self.end, first + max(LONGEST, _PARTS)) + 1):
                self._name(first, end)
        self._skips = [self._skip(i) for i in range(self.end + 1)]

    def _name(self, first: int, end: int) -> None:
        """All that these words can be by themselves."""
        words = self.words[first:end]
        keys, kinds = tuple(w.key for w in words), {w.kind for w in words}
        if "quoted" not in kinds and "column" not in kinds:
            for role, meaning in PHRASES.get(keys, ()):
                self._add(first, end, role, meaning)
            if keys == (",",):
                self._add(first, end, "and", "")
                self._add(first, end, "stop", "")
            if len(words) == 1 and kinds == {"number"}:
                self._add(first, end, "number", words[0].text.replace(",", ""))
            if len(words) == 1 and any(forms(keys[0]) & forms(noun) for noun in self.table.nouns):
                self._add(first, end, "row", "")
        if len(words) > _PARTS:
            return
        if keys in self.table.names:
            self._add(first, end, "table", "")
        self._name_column(first, end, kinds)
        if "column" not in kinds:
            text = words[0].text if kinds == {"quoted"} else self.question[words[0].first : words[-1].end]
            for column, spelt in self.values.get(fold(text), {}).items():
                self._add(first, end, "value", (column, tuple(spelt)))

    def _name_column(self, first: int, end: int, kinds: set[str]) -> None:
        words = self.words[first:end]
        if kinds & {"quoted", "column"}:
            exact = [c for c in self.table.columns if len(words) == 1 and fold(c.name) == words[0].key]
            inside = tuple(w.key for w in split_words(words[0].text))
            found, loose = (exact, False) if exact else self.table.called(inside) if len(words) == 1 else ([], False)
        else:
            found, loose = self.table.called([w.key for w in words if w.kind != "sign"])
        for column in found:
            text = " ".join(w.text for w in words)
            self._add(first, end, "column", (column, f"“{text}” is read as the column `{column.name}`." if loose else ""))

    def _add(self, first: int, end: int, role: str, meaning: Any) -> None:
        self.roles[first].setdefault(role, []).append((end, meaning))

    def _skip(self, at: int) -> list[int]:
        """Where one can be after passing over words that mean nothing by themselves."""
        found, reach = [at], [at]
        while reach:
            for end, _ in self.roles[reach.pop()].get("stop", ()):
                if end not in found:
                    found.append(end)
                    reach.append(end)
        return found

    # Words

    def one(self, at: int, *roles: str) -> Found:
        """A word or phrase in one of these roles."""
        for start in self._skips[at]:
            for role in roles:
                yield from self.roles[start].get(role, ())

    def maybe(self, at: int, *roles: str) -> Iterator[int]:
        """Behind such a word, and without it."""
        yield at
        yield from (end for end, _ in self.one(at, *roles))

    def column(self, at: int, fits: Callable[[Column], bool]) -> Found:
        for end, (column, said) in self.one(at, "column"):
            if fits(column):
                yield end, (column, said)

    def several(self, at: int, rule: Callable[[int], Found], joins: Sequence[str] = ("and",), most: int = 3) -> Found:
        """One or more of what `rule` reads."""
        for end, found in rule(at):
            yield end, (found,)
            if most > 1:
                for joined, _ in self.one(end, *joins):
                    yield from ((last, (found, *rest)) for last, rest in self.several(joined, rule, joins, most - 1))

    # Questions

    def readings(self) -> list[Query]:
        """Every way to read the whole question; the same said in two ways counts once."""
        found: dict[Query, None] = {}
        if 0 < self.end <= MOST_WORDS:
            for at, chart in [(0, ""), *((end, c or "bar") for end, c in self.one(0, "chart"))]:
                for end, query in self._core(at):
                    for query in self._tails(end, query):
                        if allowed(query):
                            found.setdefault(replace(query, chart=chart) if chart else query)
        return list(found)

    def _core(self, at: int) -> Found:
        for rule in (
            self._figures,
            self._count,
            self._share,
            self._correlation,
            self._top,
            self._which,
            self._values,
            self._rows,
            self._gaps,
        ):
            yield from rule(at)

    def _measured(self, at: int) -> Found:
        """`average price`, `mean and median of a and b`, `prix moyen`, `monthly total units`, and a bare `revenue`."""
        for grain_end, grain in [(at, ""), *self.one(at, "grain")]:
            for end, functions in self.several(grain_end, lambda i: self.one(i, "figure")):
                for start in self.maybe(end, "in"):
                    for last, columns in self.several(start, lambda i: self.column(i, lambda c: self._computed(c, functions))):
                        yield last, self._of(functions, columns, grain)
            for end, pair in self.column(grain_end, lambda c: c.is_figure):
                for last, function in self.one(end, "figure"):
                    yield last, self._of((function,), (pair,), grain)
                if pair[0].is_added_up:
                    said = f"`{pair[0].name}` is added up, as nothing else was said."
                    yield end, self._of(("sum",), ((pair[0], pair[1]), (None, said)), grain)

    def _of(self, functions: Sequence[str], columns: Sequence[tuple[Column | None, str]], grain: str) -> Query:
        figures = tuple((f, c.name) for c, _ in columns if c for f in functions)
        groups = (("", grain),) if grain else ()
        return Query(figures=figures, groups=groups, said=frozenset(s for _, s in columns if s))

    def _computed(self, column: Column, functions: Sequence[str]) -> bool:
        """Ids and years are not computed with; the first and the last day, or year, can be asked for."""
        ordered = column.kind == "date" or column.is_year
        return column.is_figure or (ordered and all(f in ("max", "min") for f in functions))

    def _figures(self, at: int) -> Found:
        yield from self._measured(at)
        for end, _ in self.one(at, "trend"):
            for last, query in self._measured(end):
                yield last, replace(query, groups=(("", "time"),))

    def _count(self, at: int) -> Found:
        """`how many cancelled orders`, `number of different cities`, `how many are open`."""
        for end, _ in self.one(at, "count"):
            for start, filters in [(end, ()), *self._before(end)]:
                for last, _ in self.one(start, "row"):
                    yield last, Query(figures=(("count", ""),), filters=filters)
                if filters:
                    yield start, Query(figures=(("count", ""),), filters=filters)
                yield from self._different(start, filters, need=False)
            yield end, Query(figures=(("count", "where"),))

    def _before(self, at: int) -> Found:
        """A condition that stands before its noun: `cancelled`, `female`."""
        for end, (column, values) in self.one(at, "value"):
            yield end, (Filter(column, "in", values),)
        for end, (column, _) in self.column(at, lambda c: c.kind == "bool"):
            yield end, (Filter(column.name, "true", ()),)

    def _different(self, at: int, filters: tuple[Filter, ...], *, need: bool) -> Found:
        """Different values of a column of names; in the singular, or of numbers, only where the question says so."""
        for start, said in [(i, True) for i, _ in self.one(at, "distinct")] + ([] if need else [(at, False)]):
            for end, (column, note) in self.one(start, "column"):
                plural = self.words[end - 1].key != column.words[-1] if column.words else False
                plural = plural or self.words[end - 1].key.endswith("s")
                named = column.kind == "text" or column.is_id
                if (said or (named and plural)) and column.kind != "date":
                    notes = frozenset({note} - {""})
                    whole = column.is_id and column.nulls == 0 and column.distinct == self.table.rows
                    figure = ("count", "") if whole else ("distinct", column.name)
                    yield end, Query(figures=(figure,), filters=filters, said=notes)

    def _share(self, at: int) -> Found:
        """`share of revenue by region`, `what percentage of orders are cancelled`, `percentage of missing values in a`."""
        for end, _ in self.one(at, "share"):
            for start in self.maybe(end, "in"):
                for last, _ in self.one(start, "row"):
                    yield last, Query("share", (("count", ""),))
                for last, query in self._measured(start):
                    if [f for f, _ in query.figures] == ["sum"] and not query.groups:
                        yield last, replace(query, kind="share")
                for last, query in self._gaps(start):
                    yield last, replace(query, rank="share")

    def _correlation(self, at: int) -> Found:
        for end, _ in self.one(at, "correlation"):
            for start in self.maybe(end, "between", "in"):
                for last, pair in self.several(start, lambda i: self.column(i, lambda c: c.is_figure), most=2):
                    if len(pair) == 2 and pair[0][0] is not pair[1][0]:
                        yield last, replace(self._of(("corr",), pair, ""), kind="correlation")

    def _top(self, at: int) -> Found:
        """`top 5 products by revenue`, `bottom 3 orders by units`."""
        for end, rank in self.one(at, "top"):
            for start, number in [*self.one(end, "number"), (end, "5")]:
                if not re.fullmatch(r"[1-9]\d{0,2}", number):
                    continue
                for last, key in [*self.column(start, lambda c: c.is_group), *self.one(start, "row")]:
                    for by, _ in self.one(last, "by"):
                        for stop, query in self._measured(by):
                            if len(query.figures) == 1 and not query.groups:
                                yield stop, self._ranked(query, key, rank, int(number))
                        for stop, (column, said) in self.column(by, lambda c: c.is_figure):
                            alone = key == "" or key[0].distinct == self.table.rows
                            if alone:
                                yield (
                                    stop,
                                    self._ranked(
                                        Query(figures=(("max", column.name),), said=frozenset({said} - {""})),
                                        key,
                                        rank,
                                        int(number),
                                    ),
                                )

    def _ranked(self, query: Query, key: Any, rank: str, limit: int) -> Query:
        if key == "":
            column = query.figures[0][1]
            return replace(query, kind="rows", rank=rank, limit=limit, figures=(("", column),), said=frozenset())
        return replace(query, kind="top", rank=rank, limit=limit, groups=((key[0].name, ""),), said=query.said | {key[1]} - {""})

    def _which(self, at: int) -> Found:
        """`which region has the highest total revenue`, `which month had the most orders`."""
        for end, _ in self.one(at, "which"):
            keys = [(i, (c.name, ""), said) for i, (c, said) in self.column(end, lambda c: c.is_group and c.kind != "date")]
            keys += [(i, ("", grain), "") for i, grain in self.one(end, "grain")]
            for start, group, said in keys:
                for last, query, rank in self._extreme(start):
                    yield last, replace(query, kind="top", rank=rank, groups=(group,), said=query.said | {said} - {""})

    def _extreme(self, at: int) -> Iterator[tuple[int, Query, str]]:
        for end, rank in self.one(at, "most"):
            for last, _ in self.one(end, "row"):
                yield last, Query(figures=(("count", ""),)), rank
        for end, rank in self.one(at, "most", "figure"):
            if rank in ("max", "min"):
                for last, query in self._measured(end):
                    if len(query.figures) == 1 and not query.groups:
                        yield last, query, rank
        for end, query in self._measured(at):
            for last, rank in self.one(end, "figure"):
                if rank in ("max", "min") and len(query.figures) == 1 and not query.groups:
                    yield last, query, rank

    def _values(self, at: int) -> Found:
        """`which products are there`, `list the different regions`."""
        starts = [end for end, _ in self.one(at, "which", "list")]
        for start in [*starts, *(i for s in [at, *starts] for i, _ in self.one(s, "distinct"))]:
            for end, (column, said) in self.column(start, lambda c: c.kind == "text"):
                yield end, Query("values", (("count", ""),), ((column.name, ""),), said=frozenset({said} - {""}))

    def _rows(self, at: int) -> Found:
        for end, _ in self.one(at, "list"):
            for start, filters in [(end, ()), *self._before(end)]:
                for last, _ in self.one(start, "row"):
                    yield last, Query("rows", filters=filters)

    def _gaps(self, at: int) -> Found:
        """`missing values`, `how many missing values are in a`."""
        for start in {at, *(end for end, _ in self.one(at, "count", "which"))}:
            for end, _ in self.one(start, "gaps"):
                yield end, Query("gaps")
                for inside, _ in self.one(end, "in"):
                    for last, (column, said) in self.one(inside, "column"):
                        yield last, Query("gaps", (("gaps", column.name),), said=frozenset({said} - {""}))

    # What follows

    def _tails(self, at: int, query: Query) -> Iterator[Query]:
        if self.end in self._skips[at]:
            if query.figures != (("count", "where"),):
                yield from self._placed(query)
            elif query.filters:
                yield from self._placed(replace(query, figures=(("count", ""),)))
            return
        for end, following in self._tail(at, query):
            yield from self._tails(end, following)

    def _tail(self, at: int, query: Query) -> Found:
        for end, groups, said in self._groups(at):
            yield end, replace(query, groups=(*query.groups, *groups), said=query.said | said)
        for start in self.maybe(at, "in"):
            yield from ((end, query) for end, _ in self.one(start, "table"))
            if start != at:
                yield from ((end, query) for end, _ in self.one(start, "row"))
        joined = [i for end, _ in self.one(at, "and") for i in self.maybe(end, "in")]
        for start in {*self.maybe(at, "in"), *joined}:
            for end, condition, note in self._condition(start):
                yield end, replace(query, filters=(*query.filters, condition), said=query.said | {note} - {""})

    def _groups(self, at: int) -> Iterator[tuple[int, tuple[tuple[str, str], ...], frozenset[str]]]:
        for end, how in self.one(at, "by"):
            for last, pairs in self.several(end, lambda i: self.column(i, lambda c: self._divides(c, how)), most=2):
                yield last, tuple((c.name, "") for c, _ in pairs), frozenset(s for _, s in pairs if s)
            for last, grain in self.one(end, "grain"):
                yield last, (("", grain),), frozenset()
                for inside, _ in self.one(last, "in"):
                    for stop, (column, said) in self.column(inside, lambda c: c.kind == "date"):
                        yield stop, ((column.name, grain),), frozenset({said} - {""})
        for end, _ in self.one(at, "trend"):
            yield end, (("", "time"),), frozenset()

    def _divides(self, column: Column, how: str) -> bool:
        """`revenue per unit` is a ratio, not a grouping."""
        return column.is_group and (how == "by" or column.kind != "number" or column.is_year or not column.is_added_up)

    def _condition(self, at: int) -> Iterator[tuple[int, Filter, str]]:
        yield from self._by_value(at)
        yield from self._by_number(at)
        yield from self._by_time(at)

    def _by_value(self, at: int) -> Iterator[tuple[int, Filter, str]]:
        for end, found in self.several(at, lambda i: self.one(i, "value"), ("and", "or"), 5):
            if len({column for column, _ in found}) == 1:
                condition = Filter(found[0][0], "in", tuple(v for _, values in found for v in values))
                yield end, condition, ""
                yield from ((last, condition, "") for last, _ in self.column(end, lambda c: c.name == condition.column))
        for end, (column, said) in self.one(at, "column"):
            for start in self.maybe(end, "is"):
                for last, found in self.several(start, lambda i: self.one(i, "value"), ("and", "or"), 5):
                    if {name for name, _ in found} == {column.name}:
                        yield last, Filter(column.name, "in", tuple(v for _, values in found for v in values)), said
            if column.kind == "bool":
                yield end, Filter(column.name, "true", ()), said

    def _by_number(self, at: int) -> Iterator[tuple[int, Filter, str]]:
        for end, (column, said) in self.column(at, lambda c: c.kind == "number"):
            for start, test in self.one(end, "than"):
                yield from ((last, Filter(column.name, test, (n,)), said) for last, n in self.one(start, "number"))
            for start, _ in self.one(end, "between"):
                for low_end, low in self.one(start, "number"):
                    for joined, _ in self.one(low_end, "and"):
                        yield from ((i, Filter(column.name, "between", (low, n)), said) for i, n in self.one(joined, "number"))
            for start in self.maybe(end, "is"):
                yield from ((last, Filter(column.name, "=", (n,)), said) for last, n in self.one(start, "number"))
        for end, test in self.one(at, "than"):
            for start, number in self.one(end, "number"):
                for last, (column, said) in self.column(start, lambda c: c.kind == "number"):
                    yield last, Filter(column.name, test, (number,)), said

    def _by_time(self, at: int) -> Iterator[tuple[int, Filter, str]]:
        """A period, of the column that is named beside it or of the one that says when."""
        for start, column, said in [
            (at, "", ""),
            *((i, c.name, s) for i, (c, s) in self.column(at, lambda c: c.kind == "date" or c.is_year)),
        ]:
            for end, (first, after) in self._period(start, beside=bool(column)):
                yield end, Filter(column, "period", (first, after)), said

    def _period(self, at: int, *, beside: bool) -> Found:
        for start in [*(end for end, _ in self.one(at, "in")), *([at] if beside else [])]:
            yield from self._span(start)
        for end, test in self.one(at, "since"):
            for last, (first, after) in self._span(end):
                yield last, {">=": (first, ""), ">": (after, ""), "<": ("", first)}[test]
        for end, _ in self.one(at, "between"):
            for low_end, (first, _) in self._span(end):
                for joined, _ in self.one(low_end, "and"):
                    yield from ((last, (first, after)) for last, (_, after) in self._span(joined))

    def _span(self, at: int) -> Found:
        """`2023`, `March 2023`, `Q2 2023`, `2023-03`: its first day, and the day after its last."""
        for start in {at, *(end for end, grain in self.one(at, "grain") if grain == "year")}:
            for first in self._skips[start]:
                word = self.words[first] if first < self.end else Word("", "", "", 0, 0)
                following = self.words[first + 1].text if first + 1 < self.end else ""
                if year := _year(word.text):
                    yield first + 1, (f"{year}-01-01", f"{year + 1}-01-01")
                if word.kind == "date" and (found := re.fullmatch(r"(\d{4})-(0[1-9]|1[0-2])", word.text)):
                    yield first + 1, _months(int(found[1]), int(found[2]), 1)
                if (quarter := re.fullmatch(r"q([1-4])", word.key)) and (year := _year(following)):
                    yield first + 2, _months(year, 3 * int(quarter[1]) - 2, 3)
                for end, month in self.roles[first].get("month", ()):
                    if year := _year(following):
                        yield end + 1, _months(year, month, 1)

    def _placed(self, query: Query) -> Iterator[Query]:
        """With the column that says when, where a question has a period or a step of time without one."""
        open_group = any(not column for column, _ in query.groups)
        open_filter = any(not f.column for f in query.filters)
        if not open_group and not open_filter:
            yield query
            return
        whole = {grain for column, grain in query.groups if not column}
        named = {c for c, grain in query.groups if c and grain} | {
            f.column for f in query.filters if f.test == "period" and f.column
        }
        for column in self.table.columns:
            if named and column.name not in named or not named and not column.is_time:
                continue
            if column.kind != "date" and whole - {"year", "time"}:
                continue
            groups = tuple(
                (c or column.name, grain) if c or column.kind == "date" else (column.name, "") for c, grain in query.groups
            )
            filters = tuple(f if f.column else replace(f, column=column.name) for f in query.filters)
            yield replace(query, groups=groups, filters=filters)

    # Questions about a whole file

    def describes(self) -> bool:
        """Whether this only asks what a file or table holds."""
        reach = {(0, False)}
        for at in range(self.end):
            for said in {s for i, s in reach if i == at}:
                for role in ("describe", "table", "stop", "gaps", "in", "and", "which", "row"):
                    reach |= {(end, said or role == "describe") for end, _ in self.roles[at].get(role, ())}
        return (self.end, True) in reach

    def names_table(self) -> bool:
        """Whether the table or its file is named."""
        return any("table" in roles for roles in self.roles)

    # What was not understood

    def unknown(self) -> list[str]:
        """Words without any role; where none is, nothing: then the words are known, but not what they say together."""
        covered = {
            i for first in range(self.end) for found in self.roles[first].values() for end, _ in found for i in range(first, end)
        }
        return list(dict.fromkeys(w.text for i, w in enumerate(self.words) if i not in covered and w.text != ","))

    def known(self) -> list[str]:
        """What was understood: columns and values, as the table writes them."""
        found = [f"`{c.name}`" for i in range(self.end) for _, (c, _) in self.roles[i].get("column", ())]
        found += [
            f"“{values[0]}” in `{column}`" for i in range(self.end) for _, (column, values) in self.roles[i].get("value", ())
        ]
        return list(dict.fromkeys(found))

    def columns(self) -> list[Column]:
        """Columns that the question names."""
        return list(dict.fromkeys(c for i in range(self.end) for _, (c, _) in self.roles[i].get("column", ())))

    def stretches(self) -> list[str]:
        """Texts that may be values of a column: each stretch of words with one that is no word of the rules or a column."""
        known = {
            i
            for i in range(self.end)
            for role in self.roles[i]
            if role not in ("number", "value")
            for e, _ in self.roles[i][role]
            if e == i + 1
        }
        found = []
        for first in range(self.end):
            for end in range(first + 1, min(self.end, first + _PARTS) + 1):
                words = self.words[first:end]
                if any(i not in known for i in range(first, end)):
                    found.append(words[0].text if words[0].kind == "quoted" else self.question[words[0].first : words[-1].end])
        return list(dict.fromkeys(map(fold, found)))[:120]


def allowed(query: Query) -> bool:
    """Whether the parts go together."""
    columns = [f.column for f in query.filters]
    if len(set(columns)) < len(columns) or len(query.groups) > 2 or len(set(query.groups)) < len(query.groups):
        return False
    if query.kind == "share" and query.figures == (("count", ""),):
        return len(query.groups) + len(query.filters) == 1
    if query.kind == "share":
        return len(query.groups) == 1
    if query.kind in ("correlation", "values", "rows"):
        return len(query.groups) == (query.kind == "values")
    if query.kind == "gaps":
        return not query.groups and not query.filters
    return query.kind != "top" or len(query.groups) == 1


def _year(text: str) -> int:
    return int(text) if re.fullmatch(r"1[5-9]\d\d|2[01]\d\d", text) else 0


def _months(year: int, month: int, count: int) -> tuple[str, str]:
    after = month + count
    return f"{year}-{month:02}-01", f"{year + (after > 12)}-{(after - 1) % 12 + 1:02}-01"


def readings_of(questions: Iterable[str], table: Table, values: Values) -> list[str]:
    """Of these questions the ones with exactly one reading."""
    return [q for q in dict.fromkeys(questions) if len(Grammar(q, table, values).readings()) == 1]
