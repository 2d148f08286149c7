"""What a question is taken for, of all tables at hand: a figure of one of them, the same as a chart, or
two figures side by side."""

from __future__ import annotations

import re
from collections.abc import Sequence

from leaf.agent.proposals.roles import roles_of
from leaf.agent.rules.grammar import Grammar
from leaf.agent.rules.kinds import Query
from leaf.agent.rules.spoken import LONGEST, asked_as, language_of
from leaf.agent.rules.tables import AskedTable
from leaf.language.text import mark, speaking, t

AS_CHART = mark("Draw {query} as a chart")
COMPARED = mark("Compare {one} with {other} by {group}")
Meant = tuple[AskedTable, Query]
"""A query, and of which table."""


MEASURES = 4
"""Columns of figures of which a question may speak that names none."""
_AS_DRAWN = re.compile(
    r"""(?P<query>.+?)[\s,]+(?:as|in(?!\s(?:an?\s)?plot)|als|en|como|sous\sforme\sde)
    (?:\s(?:an?|einem|eine?|une?|el|la))?\s
    (?:(?P<kind>bar|column|line|balken|säulen|linien)?[\s-]?(?:chart|graph|plot|diagramm?|grafik)
    |(?:diagramme|graphique|graphe|courbe|gr[áa]fic[oa]|diagrama)
    (?:\s(?:en|à|de)\s(?P<shape>barres|bâtons|colonnes|lignes|barras|columnas|l[íi]neas))?)
    [\s.?!]*""",
    re.IGNORECASE | re.VERBOSE,
)
_DRAW = re.compile(
    r"(?:please\s|bitte\s)?(?:draw|plot|chart|zeichne|stelle|dessine|trace|dibuja|traza)\s", re.I
)


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
    readings = readings_of(grammars)
    return (readings[0][0].table, readings[0][1]) if len(readings) == 1 else None


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


def completed(grammars: Sequence[Grammar]) -> list[tuple[Grammar, Query]]:
    """What a question may mean that says what to compute and not of which column: `the total by
    region` of a table with a column for each month. Each reading with one column put in."""
    readings: list[tuple[Grammar, Query]] = []
    for grammar in grammars:
        for column in roles_of(grammar.table).measures[:MEASURES]:
            for end in _after_functions(grammar):
                asked = grammar.question
                whole = f"{asked[:end]} `{column.name}`{asked[end:]}"
                read = Grammar(whole, grammar.table, grammar.found).readings()
                readings += [(grammar, query) for query in read if len(read) == 1]
    return readings


def _after_functions(grammar: Grammar) -> list[int]:
    """Where the words end that say what to compute."""
    ends = {
        grammar.words[end - 1].end
        for roles in grammar.roles
        for end, role, _ in roles
        if role == "f"
    }
    return sorted(ends)


def drawn_as(question: str) -> str:
    """What is to be drawn as a chart; empty where a question asks for none."""
    if len(question) > LONGEST:
        return ""
    plain = " ".join(question.split())
    if behind := _AS_DRAWN.fullmatch(plain):
        return _DRAW.sub("", behind["query"], count=1) if _DRAW.match(plain) else behind["query"]
    return (asked_as(AS_CHART, question) or [""])[0]


def shape_of(question: str) -> str:
    """`bar` or `line`, where a question asks for a chart of that shape."""
    match = _AS_DRAWN.fullmatch(" ".join(question[:LONGEST].split()))
    word = ((match["kind"] or match["shape"] or "") if match else "").casefold()
    return "" if not word else "line" if word.startswith(("li", "lí")) else "bar"


def as_chart(question: str) -> str:
    """The same question, answered with a chart."""
    return t(AS_CHART, query=f"{question[:1].lower()}{question[1:]}")
