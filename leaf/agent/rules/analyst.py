"""One question against the tables of a chat: answered where it has one meaning, asked back where it has several, refused else."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from leaf.agent.rules import answers
from leaf.agent.rules.grammar import Grammar, Query
from leaf.agent.rules.tables import Column, Table

OFFERED, COLUMNS_DESCRIBED, COLUMNS_SHOWN = 4, 40, 12
"""Questions that are offered; columns in a description, and beside what was not understood."""


@dataclass(frozen=True)
class Answer:
    """What is said, and questions that can be asked with a press."""

    text: str
    questions: tuple[str, ...] = ()
    refused: bool = False


def unite(tables: Sequence[Table], count: int) -> list[Table]:
    """One table in place of so many of one shape."""
    alike = next((names for table in tables if len(names := _alike(table, tables)) == count), ())
    first = [table for table in tables if table.name in alike[:1]]
    return [replace(t, united=alike, rows=0, columns=tuple(replace(c, nulls=0) for c in t.columns)) for t in first]


def _alike(table: Table, tables: Sequence[Table]) -> tuple[str, ...]:
    return tuple(other.name for other in tables if other.shape == table.shape)


def decide(grammars: Sequence[Grammar], left: int = 0) -> Answer | tuple[Table, Query]:
    """A query to carry out, or what to say instead. `left` tables were not looked at."""
    if not grammars:
        return Answer("No table can be read here. Attach one, or ask again.")
    if described := [g for g in grammars if g.describes()]:
        chosen = [g for g in described if g.has("T")] or described
        profiles = "\n\n".join(answers.of_profile(g.table, COLUMNS_DESCRIBED) for g in chosen[:OFFERED])
        return Answer(profiles, _working(chosen[0], _offers(chosen[0]), len(grammars) > 1))
    found = [(grammar, query) for grammar in grammars for query in grammar.readings()]
    if len(found) == 1 and (not left or found[0][0].has("T")):
        return found[0][0].table, found[0][1]
    return _ask_back(found, [g.table for g in grammars], left) if found else _refuse(grammars, left)


def _ask_back(found: Sequence[tuple[Grammar, Query]], tables: Sequence[Table], left: int) -> Answer:
    """Every meaning as a question that has only this one."""
    several, alike = len({g.table.name for g, _ in found}) > 1 or left > 0, len(_alike(found[0][0].table, tables))
    names = list(dict.fromkeys(answers.in_words(query) for _, query in found))
    united = [f"{names[0]} across the {alike} tables of this shape"] if alike > 1 and several else []
    asked = [answers.in_words(query) + (f" in {_place(g.table)}" if several else "") for g, query in found]
    why = f"{len(tables) + left} tables are here; it does not say which." if several else ""
    meant = f"It can mean: {'; '.join(names[:6])}." if len(names) > 1 else f"Understood: {names[0]}."
    text = "\n\n".join(filter(None, ("I did not understand which of these is meant.", why, meant)))
    return Answer(text, tuple(dict.fromkeys([*united, *asked]))[: OFFERED + 2], refused=True)


def _refuse(grammars: Sequence[Grammar], left: int) -> Answer:
    grammar = min(grammars, key=lambda g: (not g.has("T"), len(g.unknown()), -len(g.known())))
    unknown = ", ".join(f"“{word}”" for word in grammar.unknown())
    head = f"I did not understand: {unknown or 'how these words belong together'}."
    known = [f"I did understand {', '.join(grammar.known())}."] if grammar.known() else []
    others = [f"`{g.table.name}` ({g.table.file_name})" for g in grammars if g is not grammar]
    also = [f"Also here: {', '.join(others[:OFFERED])}{' and more' if len(others) > OFFERED else ''}."] if others else []
    text = "\n\n".join([head, *known, answers.of_profile(grammar.table, COLUMNS_SHOWN), *also])
    return Answer(text, _working(grammar, [*_nearly(grammar), *_offers(grammar)], len(grammars) + left > 1), refused=True)


def _working(grammar: Grammar, questions: Iterable[str], several: bool) -> tuple[str, ...]:
    """Of these the first that are sure to work, without backticks where these are not needed."""
    found: dict[str, None] = {}
    for question in questions:
        ways = [text + (f" in {_place(grammar.table)}" if several else "") for text in (question.replace("`", ""), question)]
        plain, marked = (Grammar(way, grammar.table, grammar.values).readings() for way in ways)
        if len(found) < OFFERED and len(marked) == 1:
            found.setdefault(ways[0] if plain == marked else ways[1])
    return tuple(found)


def _place(table: Table) -> str:
    """What a table is called in a question: its file, or its own name where the file has several."""
    return table.name if table.sheet else table.file_name


def _nearly(grammar: Grammar) -> Iterator[str]:
    """The question with columns in place of words that are almost their names."""
    names = {word: c.name for c in grammar.table.columns for word in (c.name.lower(), *c.words) if len(word) > 3}
    text = grammar.question
    for word in grammar.unknown():
        for near in difflib.get_close_matches(word.lower(), names, n=1, cutoff=0.75):
            text = text.replace(word, f"`{names[near]}`")
    yield from [text] if text != grammar.question else []


def _offers(grammar: Grammar) -> Iterator[str]:
    """Questions about the columns that were named, by themselves or by a value; then such as most tables can answer."""
    named = [*grammar.columns(), *(c for c in grammar.table.columns if c.name in grammar.valued())]
    known = sorted((c for c in grammar.table.columns if c.kind == "figure"), key=lambda c: not c.is_added_up)
    labels = [c for c in grammar.table.columns if c.is_label and 1 < c.distinct <= 50]
    label = next((c for c in [*named, *labels] if c.is_label), None)
    for column in dict.fromkeys([*(c for c in named if c.kind == "figure"), *known[:1]]):
        yield from [f"{_figure(column)} by `{label.name}`"] if label else []
        yield from (f"{_figure(column)} by month", _figure(column), f"highest `{column.name}`")
    yield from (f"number of rows by `{c.name}`" for c in [*named, *labels[:1]] if c.is_group and c.kind != "date")
    yield "number of rows"


def _figure(column: Column) -> str:
    return f"{'total' if column.is_added_up else 'average'} `{column.name}`"
