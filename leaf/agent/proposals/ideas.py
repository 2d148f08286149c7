"""The queries that a person would make of a table, first of all and after an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from leaf.agent.proposals.roles import Roles, roles_of, steps_of
from leaf.agent.rules.kinds import ROWS, Query
from leaf.agent.rules.tables import AskedColumn, AskedTable
from leaf.tables.sql import calls, significant

FIRST = 5
"""How many are asked for where there are more than one reads."""
_FUNCTIONS = {"sum", "avg", "mean", "median", "min", "max"}
_FINER = {"year": ("quarter", "month", ""), "quarter": ("month", ""), "month": ("",)}
_EQUALS = re.compile(
    r"""(?:"([^"]+)"|\b(\w+))\s*(?:=\s*'([^']*)'|IN\s*\(\s*'([^']*)'\s*\))""", re.IGNORECASE
)
_YEAR = re.compile(r"\byear\s*\(\s*(?:\"([^\"]+)\"|(\w+))\s*\)\s*=\s*'?(\d{4})\b", re.IGNORECASE)
_STEPS = (
    ("quarter", re.compile(r"\bquarter\b", re.IGNORECASE)),
    ("month", re.compile(r"'%Y-%m'|\bmonth\b", re.IGNORECASE)),
    ("year", re.compile(r"\byear\b|'%Y'", re.IGNORECASE)),
)


def figure_of(c: AskedColumn) -> tuple[str, AskedColumn]:
    """What people mean by it: the sum of amounts, the average of all else."""
    return ("sum" if c.is_added_up else "avg", c)


def first_ideas(table: AskedTable) -> Iterator[Query]:
    """The likeliest first."""
    roles = roles_of(table)
    figures = [figure_of(c) for c in roles.measures[:3]] or [ROWS]
    main = figures[0]
    for c in roles.times[:1]:
        yield from (Query(figures=(main,), groups=((c, step),)) for step in steps_of(c)[:1])
    for c in roles.categories[:1]:
        yield Query(figures=(main,), groups=((c, ""),))
    yield from _largest(roles, main)
    for c in roles.categories[1:3]:
        yield Query(figures=(main,), groups=((c, ""),))
    for c in roles.times[:1] if figures[1:] else ():
        yield from (Query(figures=(figures[1],), groups=((c, s),)) for s in steps_of(c)[:1])
    for figure in figures[1:]:
        yield from (Query(figures=(figure,), groups=((c, ""),)) for c in roles.categories[:1])
    if main != ROWS:
        yield from (Query(figures=(ROWS,), groups=((c, ""),)) for c in roles.categories[:2])
    yield Query(figures=(main,))
    if main != ROWS:
        yield Query(figures=(("max", main[1]),))


def _largest(roles: Roles, main: tuple[str, AskedColumn]) -> Iterator[Query]:
    """The first of many names; where each row has its own, they are ranked and nothing is added."""
    for c in roles.names[:1]:
        limit = 1 if main == ROWS else FIRST
        yield Query("top", (main,), ((c, ""),), rank="max", limit=limit)
    for c in roles.keys[:1] if main != ROWS and not roles.names else ():
        yield Query("top", (("max", main[1]),), ((c, ""),), rank="max", limit=FIRST)


@dataclass(frozen=True)
class TableQuery:
    """What an answer asked of a table, and the first rows that came of it."""

    query: Query
    rows: Sequence[Sequence[Any]] = ()
    drawn: bool = False


@dataclass(frozen=True)
class Idea:
    """A query that may follow an answer."""

    query: Query
    drawn: bool = False


def next_ideas(table: AskedTable, rested: TableQuery) -> Iterator[Idea]:
    """What a person asks next: the period before, a finer step of time, the exception, a chart,
    another breakdown; then what they would have begun with."""
    query, roles = rested.query, roles_of(table)
    ideas = [
        *map(Idea, _period_before(query)),
        *map(Idea, _finer(query, roles)),
        *map(Idea, _exception(query, roles, rested.rows)),
        *_charted(rested),
        *map(Idea, _broken_down(query, roles)),
        *map(Idea, first_ideas(table)),
    ]
    yield from dict.fromkeys(idea for idea in ideas if idea.drawn or idea.query != query)


def _plain(query: Query) -> Query:
    """Its figure, without groups and ranks."""
    figure = query.figures[0] if query.figures else ROWS
    return Query(figures=(figure,), filters=query.filters)


def _period_before(query: Query) -> Iterator[Query]:
    for at, (c, test, values) in enumerate(query.filters):
        if test == "in" and len(values) == 1 and re.fullmatch(r"\d{4}", values[0]):
            filters = list(query.filters)
            filters[at] = (c, test, (str(int(values[0]) - 1),))
            yield replace(query, filters=tuple(filters))


def _finer(query: Query, roles: Roles) -> Iterator[Query]:
    stepped = [(c, step) for c, step in query.groups if c.is_time]
    for c, step in stepped:
        fits = [finer for finer in _FINER.get(step, ()) if finer in steps_of(c)]
        yield from (replace(_plain(query), groups=((c, finer),)) for finer in fits[:1])
    if not stepped:
        for c in roles.times[:1]:
            yield from (replace(_plain(query), groups=((c, s),)) for s in steps_of(c)[:1])


def _exception(query: Query, roles: Roles, rows: Sequence[Sequence[Any]]) -> Iterator[Query]:
    """What made the largest group large; which period was the highest."""
    if len(query.groups) != 1 or len(rows) < 2:
        return
    group, _ = query.groups[0]
    if group.is_time:
        yield replace(_plain(query), kind="top", groups=query.groups, rank="max")
        return
    value = next((row[0] for row in rows if isinstance(row[0], str)), None)
    if group.kind != "text" or value not in group.values or query.filters or not value:
        return
    inside = replace(_plain(query), filters=((group, "one of", (value,)),))
    for c in [c for c in roles.categories if c != group][:2]:
        yield replace(inside, groups=((c, ""),))


def _charted(rested: TableQuery) -> Iterator[Idea]:
    """The same as a picture, where there is something to see."""
    query = rested.query
    single = query.kind == "figures" and len(query.figures) == len(query.groups) == 1
    if single and not rested.drawn and 3 <= len(rested.rows) <= 40:
        yield Idea(query, drawn=True)


def _broken_down(query: Query, roles: Roles) -> Iterator[Query]:
    used = {c for c, _ in query.groups} | {c for c, *_ in query.filters}
    for c in [c for c in roles.categories if c not in used][:2]:
        yield replace(_plain(query), groups=((c, ""),))


def rested_on(sql: str, table: AskedTable) -> Query:
    """What a statement asks of a table, as far as its words tell: for what may be asked next, never
    for what it gave."""
    names = {c.name.lower(): c for c in table.columns}
    used = [
        names[word]
        for token in significant(sql)
        if (word := token.text.strip('"').lower()) in names
    ]
    figure = _figure_in(sql, names)
    filters = _filters_in(sql, names)
    grouped = re.search(r"\bgroup\s+by\b", sql, re.IGNORECASE)
    held = {figure[1], *(c for c, *_ in filters)}
    groups = [c for c in dict.fromkeys(used) if c not in held and (c.is_time or c.is_group)]
    keys = [(c, _step_in(sql) if c.is_time else "") for c in groups[:1]] if grouped else []
    return Query(figures=(figure,), groups=tuple(keys), filters=filters)


def _figure_in(sql: str, names: dict[str, AskedColumn]) -> tuple[str, AskedColumn]:
    for call in calls(sql):
        column = names.get(call.arguments[0].strip('"').lower()) if call.arguments else None
        if call.name in _FUNCTIONS and column is not None and column.kind == "figure":
            return ("avg" if call.name == "mean" else call.name, column)
    return ROWS


def _filters_in(
    sql: str, names: dict[str, AskedColumn]
) -> tuple[tuple[AskedColumn, str, tuple[str, ...]], ...]:
    """Those that are recognised: a column is one text, or lies in a year."""
    filters: dict[AskedColumn, tuple[AskedColumn, str, tuple[str, ...]]] = {}
    for quoted, bare, one, other in _EQUALS.findall(sql):
        column = names.get((quoted or bare).lower())
        if column is not None and (value := one or other) in column.values:
            filters[column] = (column, "one of", (value,))
    for quoted, bare, year in _YEAR.findall(sql):
        column = names.get((quoted or bare).lower())
        if column is not None and column.is_time:
            filters[column] = (column, "in", (year,))
    return tuple(filters.values())


def _step_in(sql: str) -> str:
    return next((step for step, told in _STEPS if told.search(sql)), "")
