"""What a question is taken for, of all tables at hand: a figure of one of them, the same as a chart, or
two figures side by side."""

from __future__ import annotations

from collections.abc import Sequence

from leaf.agent.rules.grammar import Grammar, Query
from leaf.agent.rules.spoken import asked_as, language_of
from leaf.agent.rules.tables import AskedTable
from leaf.language.text import mark, speaking, t

AS_CHART = mark("Draw {query} as a chart")
COMPARED = mark("Compare {one} with {other} by {group}")
Meant = tuple[AskedTable, Query]
"""A query, and of which table."""


def readings_of(grammars: Sequence[Grammar]) -> list[tuple[Grammar, Query]]:
    return [(grammar, query) for grammar in grammars for query in grammar.readings()]


def understood(question: str, tables: Sequence[AskedTable]) -> tuple[AskedTable, Query] | None:
    """What a question about figures is answered with where `tables` are all that a chat has; None
    where it is asked back, refused, or asks for something else."""
    question = drawn_as(question) or question
    named = {
        t.handle
        for t in tables
        if Grammar(question, AskedTable("", t.handle, t.file_name)).has("T")
    }
    grammars = [Grammar(question, t) for t in tables if not named or t.handle in named]
    if any(grammar.describes() for grammar in grammars):
        return None
    found = readings_of(grammars)
    return (found[0][0].table, found[0][1]) if len(found) == 1 else None


def compared(question: str, tables: Sequence[AskedTable]) -> tuple[Meant, Meant] | None:
    """The two figures that a question sets beside one another, each by the same groups of its own
    table; None for any other question."""
    if not (asked := asked_as(COMPARED, question, greedy="other")):
        return None
    with speaking(language_of(question)):
        sides = [t("{figures} by {groups}", figures=side, groups=asked[2]) for side in asked[:2]]
    one, other = (understood(side, tables) for side in sides)
    if one is None or other is None or one[0] == other[0]:
        return None
    plain = all(
        query.kind == "figures" and len(query.figures) == len(query.groups) == 1
        for _, query in (one, other)
    )
    return (one, other) if plain else None


def drawn_as(question: str) -> str:
    """What is to be drawn as a chart; empty where a question asks for none."""
    return (asked_as(AS_CHART, question) or [""])[0]


def as_chart(question: str) -> str:
    """The same question, answered with a chart."""
    return t(AS_CHART, query=f"{question[:1].lower()}{question[1:]}")
