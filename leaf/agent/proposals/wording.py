"""The words of a query: as a person would say it, as long as the rules read that in this one way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

from leaf.agent.proposals.ideas import figure_of
from leaf.agent.proposals.roles import roles_of
from leaf.agent.rules import answers
from leaf.agent.rules.kinds import ROWS, Query
from leaf.agent.rules.tables import AskedColumn, AskedTable
from leaf.agent.rules.understanding import COMPARED, as_chart, compared, understood
from leaf.language.text import ENGLISH, current, t

LONGEST = 150
"""Characters of a question."""
TRIED = 16
"""Ways to say one query that are tried."""
_FIGURES = {"sum": "total", "avg": "average", "max": "highest", "min": "lowest", "median": "median"}
_ENGLISH = re.compile(r"[A-Za-z]+[a-rt-z]")


@dataclass(frozen=True)
class Proposal:
    """A question, and the query that it stands for."""

    question: str
    sql: str
    table: str
    """SQL name of the table that it asks."""
    least: int = 1
    """Rows that must come of it, or it says nothing."""


def worded(
    query: Query,
    table: AskedTable,
    tables: Sequence[AskedTable],
    *,
    drawn: bool = False,
    named: bool = False,
) -> Proposal | None:
    """The first way to say it that is read as this query alone, of all `tables` of the chat; None
    where there is none. `named`: it says which table it means, since there are others."""
    alone = [] if named else [""]
    named_so = [t("{figure} in {table}", figure="", table=name) for name in table.titles]
    endings = [*alone, *named_so] if named or len(tables) > 1 else alone
    for phrase, ending in islice(product(_ways(query, drawn), endings), TRIED):
        question = _sentence(phrase, ending)
        if len(question) > LONGEST or not question.isprintable():
            continue
        if understood(question, tables) == (table, query):
            shown = as_chart(question) if drawn else question
            return Proposal(shown, answers.sql_of(query, table), table.name, _least(query, drawn))
    return None


def comparison(one: AskedTable, other: AskedTable, tables: Sequence[AskedTable]) -> Proposal | None:
    """A figure that two tables have in common side by side, by a breakdown that both have; None
    where they have none, or no words for it are read so."""
    ours, theirs = roles_of(one), roles_of(other)
    common = [
        (c, d)
        for c in ours.categories
        for d in theirs.categories
        if c.words == d.words and c.type == d.type and set(c.values) & set(d.values)
    ]
    measures = _measured(one, other)
    if not common or not measures:
        return None
    first, second = (
        Query(figures=(figure_of(measure),), groups=((key, ""),))
        for measure, key in zip(measures, common[0], strict=True)
    )
    ways = product(
        (_spaced, answers.plain_name, answers.marked_name),
        zip(one.titles, other.titles, strict=False),
    )
    for say, names in ways:
        left, right = (
            t("{figure} in {table}", figure=_figure(query, say), table=name)
            for name, query in zip(names, (first, second), strict=True)
        )
        question = t(COMPARED, one=left, other=right, group=say(common[0][0]))
        meant = ((one, first), (other, second))
        if len(question) <= LONGEST and compared(question, tables) == meant:
            return Proposal(question, answers.joined_sql(*meant), one.name, 2)
    return None


def _measured(one: AskedTable, other: AskedTable) -> tuple[AskedColumn, AskedColumn] | None:
    """The first measure that both have; of files that are called alike but for their numbers, the
    first of each. What measures different things is not set side by side."""
    ours, theirs = roles_of(one).measures, roles_of(other).measures
    same = ((c, d) for c in ours for d in theirs if c.words == d.words)
    family = zip(ours[:1], theirs[:1], strict=False) if _stem(one) == _stem(other) else ()
    return next((*same, *family).__iter__(), None)


def _stem(table: AskedTable) -> str:
    return re.sub(r"[\d\W_]+", " ", table.file_name).strip().casefold()


def _least(query: Query, drawn: bool) -> int:
    single = not query.groups or (query.kind == "top" and query.limit == 1)
    return 3 if drawn else 1 if single else 2


def _sentence(phrase: str, ending: str) -> str:
    asked = phrase.endswith("?")
    return phrase[:1].upper() + phrase[1:].removesuffix("?") + ending + ("?" if asked else "")


def _ways(query: Query, drawn: bool) -> Iterator[str]:
    """Names without marks, then as they are written, then in marks; each without and with the
    column that says when. Other languages have the plain words of answers: a column's name has no
    gender that an article could agree with."""
    if current() != ENGLISH:
        for say in (_spaced, answers.plain_name, answers.marked_name):
            for exact in (False, True):
                yield answers.in_words(query, say, exact=exact)
        return
    for say in (_many, _spaced, answers.plain_name, answers.marked_name):
        for exact in (False, True):
            yield _said(query, say, exact, drawn)


def _spaced(c: AskedColumn) -> str:
    return " ".join(c.name.replace("_", " ").split())


def _many(c: AskedColumn) -> str:
    """The plural, for a list of the first ones."""
    name = _spaced(c)
    if not _ENGLISH.fullmatch(name.rpartition(" ")[2]):
        return name
    return re.sub(r"(?<=[^aeiou])ys$", "ies", f"{name}s")


def _said(query: Query, say: answers.Say, exact: bool, drawn: bool) -> str:
    one = _spaced if say is _many else say
    figure = _figure(query, one)
    groups = " and ".join(_group(c, step, one, exact) for c, step in query.groups)
    where = "".join(_condition(*condition, one, exact) for condition in query.filters)
    if query.kind == "top" and query.limit == 1:
        if query.figures == (ROWS,):
            return f"which {groups} has the most rows{where}?"
        rank = "highest" if query.rank == "max" else "lowest"
        return f"which {groups} has the {rank} {figure}{where}?"
    if query.kind == "top":
        label, _ = query.groups[0]
        figure = figure.removeprefix("highest ")
        return f"top {query.limit} {say(label)} by {figure}{where}"
    if query.kind == "share":
        return f"share of {figure} by {groups}{where}"
    if query.figures == (ROWS,) and not drawn:
        by = f" by {groups}" if groups else ""
        return f"how many rows are there{by}{where}?"
    return f"{figure} by {groups}{where}" if groups else f"what is the {figure}{where}?"


def _figure(query: Query, say: answers.Say) -> str:
    function, column = query.figures[0]
    if current() != ENGLISH:
        return answers.in_words(Query(figures=query.figures[:1]), say)
    if not column.name:
        return "number of rows"
    name = say(column)
    if function == "sum" and column.words[:1] == ("total",):
        return f"sum of {name}"
    return f"{_FIGURES.get(function, function)} {name}"


def _group(c: AskedColumn, step: str, say: answers.Say, exact: bool) -> str:
    if not step:
        return say(c)
    return f"{step} of {say(c)}" if exact else step


def _condition(
    c: AskedColumn, test: str, values: Sequence[str], say: answers.Say, exact: bool
) -> str:
    if test == "one of":
        return f' where {say(c)} is "{values[0]}"' if exact else f" for {say(c)} {values[0]}"
    return f" where {say(c)} in {values[0]}" if exact else f" in {values[0]}"
