"""One question against the tables of a chat: answered where it has one meaning, asked back where it has several, refused else."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from leaf.agent.rules import answers
from leaf.agent.rules.grammar import Grammar, Query
from leaf.agent.rules.query import in_words, with_time
from leaf.agent.rules.tables import Table, known_values

Json = dict[str, Any]

OFFERED = 4


@dataclass(frozen=True)
class Answer:
    """What is said, and questions that can be asked with a press."""

    text: str
    questions: tuple[str, ...] = ()


@dataclass
class Analyst:
    """What is known of the tables when the question is read."""

    question: str
    pressed: int = 0
    """How many tables of one shape the user wants to be read as one."""
    tables: list[Table] = field(default_factory=list)
    outputs: list[Json] = field(default_factory=list)
    values: list[Sequence[Sequence[Any]]] = field(default_factory=list)
    """For each table the rows that `lookup_sql` found."""
    failed: list[str] = field(default_factory=list)
    more: list[tuple[str, tuple[tuple[str, str], ...]]] = field(default_factory=list)
    """Tables that were not described, with their columns; none where these are not known."""
    refused: bool = False

    def add(self, table: Table, output: Json) -> None:
        self.tables.append(table)
        self.outputs.append(output)

    def take_shapes(self, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        self.more = [(name, tuple((str(c), str(t)) for n, c, t in rows if n == name)) for name in names]

    def unite(self) -> None:
        """Where the user pressed so: one table in place of as many of one shape."""
        if self.pressed:
            groups = [(i, self._alike(table)) for i, table in enumerate(self.tables)]
            i, names = next(((i, names) for i, names in groups if len(names) == self.pressed), (0, ()))
            columns = tuple(replace(c, nulls=0, distinct=c.distinct) for c in self.tables[i].columns) if names else ()
            self.tables = [replace(self.tables[i], united=names, columns=columns, rows=0)] if names else []
            self.outputs, self.more = [self.outputs[i]] if names else [], []

    def _alike(self, table: Table) -> tuple[str, ...]:
        """Names of all tables of this shape."""
        shapes = [*((t.name, t.shape) for t in self.tables), *self.more]
        return tuple(name for name, shape in shapes if shape == table.shape)

    def stretches(self, table: Table) -> list[str]:
        return Grammar(self.question, table, {}).stretches()

    def decide(self) -> Answer | tuple[Table, Query]:
        """A query to carry out, or what to say instead."""
        if not self.tables:
            lost = "The files are not the same any more: ask again." if self.pressed else "No table could be used."
            return Answer("\n\n".join(self.failed) or lost)
        values = self.values or [() for _ in self.tables]
        grammars = [Grammar(self.question, t, known_values(t, found)) for t, found in zip(self.tables, values, strict=True)]
        if any(g.describes() for g in grammars):
            return self._described(grammars)
        found = [(g, with_time(query, g.table)) for g in grammars for query in g.readings()]
        if len(found) == 1 and (not self.more or grammars[0].has("T")):
            grammar, query = found[0]
            return grammar.table, query
        return self._ask_back(found) if found else self._refuse(grammars)

    def _described(self, grammars: Sequence[Grammar]) -> Answer:
        chosen = [i for i, g in enumerate(grammars) if g.has("T")] or list(range(len(grammars)))
        parts = [answers.of_profile(self.tables[i], self.outputs[i]) for i in chosen[:OFFERED]]
        return Answer("\n\n".join([*parts, *self.failed]), self._checked(grammars[chosen[0]], _usual(self.tables[chosen[0]])))

    def _ask_back(self, found: Sequence[tuple[Grammar, Query]]) -> Answer:
        """Every meaning as a question that has only this one."""
        self.refused = True
        several = len({id(g) for g, _ in found}) > 1 or bool(self.more)
        offered = []
        for grammar, query in found:
            place = f" in {grammar.table.file_name}" if several else ""
            offered.append(f"{in_words(query)}{place}")
        alike = self._alike(found[0][0].table)
        if len(alike) > 1:
            kind = "files" if len({t.file_name for t in self.tables}) > 1 else "tables"
            offered.insert(0, f"{in_words(found[0][1])} across the {len(alike)} {kind} of this shape")
        why = f"{len(self.tables) + len(self.more)} tables are here, and the question does not say which." if several else ""
        names = list(dict.fromkeys(in_words(query) for _, query in found))
        meant = f"It can mean: {'; '.join(names[:6])}." if len(names) > 1 else f"Understood: {names[0]}."
        head = "I did not understand which of these is meant."
        return Answer("\n\n".join(filter(None, (head, why, meant, *self.failed))), tuple(dict.fromkeys(offered))[: OFFERED + 2])

    def _refuse(self, grammars: Sequence[Grammar]) -> Answer:
        self.refused = True
        grammar = min(grammars, key=lambda g: (not g.has("T"), len(g.unknown()), -len(g.known())))
        unknown = ", ".join(f"“{word}”" for word in grammar.unknown())
        head = f"I did not understand: {unknown or 'how these words belong together'}."
        known = f"I did understand {', '.join(grammar.known())}." if grammar.known() else ""
        profile = answers.of_profile(grammar.table, self.outputs[self.tables.index(grammar.table)])
        others = [f"`{t.name}` ({t.file_name})" for t in self.tables if t is not grammar.table][:OFFERED]
        more = f"Also here: {', '.join(others)}." if others else ""
        offered = self._checked(grammar, [*self._nearly(grammar), *_about(grammar), *_usual(grammar.table)])
        return Answer("\n\n".join(filter(None, (head, known, profile, more, *self.failed))), offered)

    def _checked(self, grammar: Grammar, questions: Iterable[str]) -> tuple[str, ...]:
        """Of these the first that are sure to work."""
        place = f" in {grammar.table.file_name}" if len(self.tables) + len(self.more) > 1 else ""
        found: dict[str, None] = {}
        for question in questions:
            if len(found) < OFFERED and len(Grammar(question + place, grammar.table, grammar.values).readings()) == 1:
                found.setdefault(question + place)
        return tuple(found)

    def _nearly(self, grammar: Grammar) -> Iterator[str]:
        """The question with a column in place of a word that is almost its name."""
        names = {word: c.name for c in grammar.table.columns for word in (c.name.lower(), *c.words) if len(word) > 3}
        unknown = grammar.unknown()
        near = {word: difflib.get_close_matches(word.lower(), names, n=1, cutoff=0.75) for word in unknown}
        text = self.question
        for word in unknown:
            if near[word]:
                text = text.replace(word, f"`{names[near[word][0]]}`")
        if text != self.question:
            yield text


def _about(grammar: Grammar) -> Iterator[str]:
    """Questions about the columns that were named."""
    named = grammar.columns()
    groups = [c for c in named if c.kind in ("text", "bool")] or [
        c for c in grammar.table.columns if c.kind == "text" and c.distinct < 50
    ]
    for column in named:
        if column.is_figure:
            name = "total" if column.is_added_up else "average"
            yield from (f"{name} `{column.name}` by `{g.name}`" for g in groups[:1])
            yield f"{name} `{column.name}`"
            yield f"highest `{column.name}`"
        elif column.is_group:
            yield f"number of rows by `{column.name}`"


def _usual(table: Table) -> Iterator[str]:
    """Questions that most tables can answer."""
    groups = [c for c in table.columns if c.kind in ("text", "bool") and 1 < c.distinct <= 50]
    figures = sorted((c for c in table.columns if c.is_figure), key=lambda c: not c.is_added_up)
    for figure in figures[:1]:
        name = "total" if figure.is_added_up else "average"
        yield from (f"{name} `{figure.name}` by `{group.name}`" for group in groups[:1])
        yield f"{name} `{figure.name}` by month"
        yield f"average `{figure.name}`"
    yield from (f"number of rows by `{group.name}`" for group in groups[:1])
    yield "number of rows"
