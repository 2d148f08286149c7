"""One question against the tables of a chat: answered where it has one meaning, asked back where it has several, refused else."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from leaf.agent.rules import answers
from leaf.agent.rules.grammar import Grammar, Query
from leaf.agent.rules.tables import Table, known_values

Json = dict[str, Any]
OFFERED = 4
_NUMBERED = re.compile(r"\s*(question\s*)?\d{1,2}[.):]\s+", re.I)


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

    def __post_init__(self) -> None:
        self.question = _NUMBERED.sub("", self.question) if _NUMBERED.match(self.question) else self.question

    def add_shapes(self, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        self.more = [(name, tuple((str(c), str(t)) for n, c, t in rows if n == name)) for name in names]

    def unite(self) -> None:
        """Where the user pressed so: one table in place of as many of one shape."""
        if not self.pressed:
            return
        found = [(i, self._alike(t)) for i, t in enumerate(self.tables) if len(self._alike(t)) == self.pressed][:1]
        self.outputs = [self.outputs[i] for i, _ in found]
        columns = {i: tuple(replace(c, nulls=0) for c in self.tables[i].columns) for i, _ in found}
        self.tables = [replace(self.tables[i], united=names, columns=columns[i], rows=0) for i, names in found]
        self.more = []

    def _alike(self, table: Table) -> tuple[str, ...]:
        """Names of all tables of this shape."""
        return tuple(name for name, shape in [*((t.name, t.shape) for t in self.tables), *self.more] if shape == table.shape)

    def decide(self) -> Answer | tuple[Table, Query]:
        """A query to carry out, or what to say instead."""
        if not self.tables:
            return Answer("\n\n".join(self.failed) or "These tables are not here any more. Ask again.")
        values = self.values or [() for _ in self.tables]
        grammars = [Grammar(self.question, t, known_values(t, found)) for t, found in zip(self.tables, values, strict=True)]
        if any(g.describes() for g in grammars):
            chosen = [i for i, g in enumerate(grammars) if g.has("T")] or list(range(len(grammars)))
            parts = [answers.of_profile(self.tables[i], self.outputs[i]) for i in chosen[:OFFERED]]
            return Answer("\n\n".join([*parts, *self.failed]), self._checked(grammars[chosen[0]], _usual(self.tables[chosen[0]])))
        found = [(g, query) for g in grammars for query in g.readings()]
        if len(found) == 1 and (not self.more or found[0][0].has("T")):
            return found[0][0].table, found[0][1]
        return self._ask_back(found) if found else self._refuse(grammars)

    def _ask_back(self, found: Sequence[tuple[Grammar, Query]]) -> Answer:
        """Every meaning as a question that has only this one."""
        several = len({id(g) for g, _ in found}) > 1 or bool(self.more)
        asked = [f"{answers.in_words(query)}{f' in {_place(g.table)}' if several else ''}" for g, query in found]
        alike = len(self._alike(found[0][0].table))
        united = [f"{answers.in_words(found[0][1])} across the {alike} tables of this shape"] if alike > 1 and several else []
        names = list(dict.fromkeys(answers.in_words(query) for _, query in found))
        why = f"{len(self.tables) + len(self.more)} tables are here; it does not say which." if several else ""
        meant = f"It can mean: {'; '.join(names[:6])}." if len(names) > 1 else f"Understood: {names[0]}."
        text = "\n\n".join(filter(None, ("I did not understand which of these is meant.", why, meant, *self.failed)))
        return Answer(text, tuple(dict.fromkeys([*united, *asked]))[: OFFERED + 2])

    def _refuse(self, grammars: Sequence[Grammar]) -> Answer:
        grammar = min(grammars, key=lambda g: (not g.has("T"), len(g.unknown()), -len(g.known())))
        unknown = ", ".join(f"“{word}”" for word in grammar.unknown())
        head = f"I did not understand: {unknown or 'how these words belong together'}."
        known = f"I did understand {', '.join(grammar.known())}." if grammar.known() else ""
        profile = answers.of_profile(grammar.table, self.outputs[self.tables.index(grammar.table)])
        others = ", ".join(f"`{t.name}` ({t.file_name})" for t in self.tables if t is not grammar.table)
        text = "\n\n".join(filter(None, (head, known, profile, f"Also here: {others}." if others else "", *self.failed)))
        return Answer(text, self._checked(grammar, [*self._nearly(grammar), *_about(grammar), *_usual(grammar.table)]))

    def _checked(self, grammar: Grammar, questions: Iterable[str]) -> tuple[str, ...]:
        """Of these the first that are sure to work, without backticks where these are not needed."""
        place = f" in {_place(grammar.table)}" if len(self.tables) + len(self.more) > 1 else ""
        found: dict[str, None] = {}
        for question in questions:
            ways = [text + place for text in (question.replace("`", ""), question)]
            meanings = [Grammar(way, grammar.table, grammar.values).readings() for way in ways]
            if len(found) < OFFERED and len(meanings[1]) == 1:
                found.setdefault(ways[0] if meanings[0] == meanings[1] else ways[1])
        return tuple(found)

    def _nearly(self, grammar: Grammar) -> Iterator[str]:
        """The question with columns in place of words that are almost their names."""
        names = {word: c.name for c in grammar.table.columns for word in (c.name.lower(), *c.words) if len(word) > 3}
        text = self.question
        for word in grammar.unknown():
            for near in difflib.get_close_matches(word.lower(), names, n=1, cutoff=0.75):
                text = text.replace(word, f"`{names[near]}`")
        if text != self.question:
            yield text


def _place(table: Table) -> str:
    """What a table is called in a question: its file, or its own name where the file has several."""
    return table.name if table.sheet else table.file_name


def _about(grammar: Grammar) -> Iterator[str]:
    """Questions about the columns that were named."""
    groups = [c for c in grammar.columns() if c.kind in ("text", "bool")]
    for column in grammar.columns():
        name = f"{'total' if column.is_added_up else 'average'} `{column.name}`"
        if column.kind == "figure":
            yield from (*(f"{name} by `{g.name}`" for g in groups[:1]), name, f"highest `{column.name}`")
        elif column.is_group and column.kind != "date":
            yield f"number of rows by `{column.name}`"


def _usual(table: Table) -> Iterator[str]:
    """Questions that most tables can answer."""
    groups = [c for c in table.columns if c.kind in ("text", "bool") and 1 < c.distinct <= 50][:1]
    for figure in sorted((c for c in table.columns if c.kind == "figure"), key=lambda c: not c.is_added_up)[:1]:
        name = f"{'total' if figure.is_added_up else 'average'} `{figure.name}`"
        yield from (*(f"{name} by `{group.name}`" for group in groups), f"{name} by month", name)
    yield from (*(f"number of rows by `{group.name}`" for group in groups), "number of rows")
