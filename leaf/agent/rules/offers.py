"""Questions that are offered where one was not understood: such as are sure to be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from leaf.agent.rules.answers import in_words
from leaf.agent.rules.grammar import Grammar
from leaf.agent.rules.kinds import ROWS, Query
from leaf.agent.rules.tables import NO_COLUMN, AskedColumn, AskedTable
from leaf.agent.rules.understanding import understood
from leaf.language.text import t

OFFERED = 4
"""Questions that are offered."""


def in_table(
    question: str, table: AskedTable, several: bool, tables: Sequence[AskedTable] = ()
) -> str:
    """The question, with the table that it asks where there are several: as a person would call it,
    where that is read as this one of `tables`."""
    if not several:
        return question
    ways = [t("{figure} in {table}", figure=question, table=name) for name in table.titles]
    meant = (way for way in ways if (read := understood(way, tables)) and read[0] == table)
    return next(meant, ways[-1])


def working(grammar: Grammar, several: bool, tables: Sequence[AskedTable] = ()) -> tuple[str, ...]:
    """The first offers that are sure to work, without backticks where these are not needed."""
    questions: dict[str, None] = {}
    for question in _offers(grammar):
        ways = (question.replace("`", ""), question)
        plain, marked = (Grammar(way, grammar.table, grammar.found).readings() for way in ways)
        if len(questions) < OFFERED and len(marked) == 1:
            asked = ways[0] if plain == marked else ways[1]
            questions.setdefault(in_table(asked, grammar.table, several, tables))
    return tuple(questions)


def _offers(grammar: Grammar) -> Iterator[str]:
    """Questions about the columns that were named, by themselves or by a value; then such as most
    tables can answer."""
    named, columns = list(grammar.named()), grammar.table.columns
    measures = sorted((c for c in columns if c.kind == "figure"), key=lambda c: not c.is_added_up)
    labels = [
        c
        for c in [*named, *columns]
        if c.kind in ("text", "bool") and (c in named or 1 < c.distinct <= 50)
    ]
    for column in dict.fromkeys([*(c for c in named if c.kind == "figure"), *measures[:1]]):
        function = "sum" if column.is_added_up else "avg"
        yield from (_offer(function, column, (label, "")) for label in labels[:1])
        yield _offer(function, column, (NO_COLUMN, "month"))
        yield _offer(function, column)
        yield _offer("max", column)
    yield from (
        _offer(*ROWS, (c, "")) for c in [*named, *labels[:1]] if c.is_group and c.kind != "date"
    )
    yield _offer(*ROWS)


def _offer(function: str, column: AskedColumn, *groups: tuple[AskedColumn, str]) -> str:
    return in_words(Query(figures=((function, column),), groups=groups))
