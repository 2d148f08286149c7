"""The grammar: which questions are understood, and as what. Every word must have a role, or there
is no reading at all.

A question is written as letters, one for each word or phrase (`tables.PHRASES` for most; K a
column, P one in the plural, V a value, N a number, Y a year, quarter, month or day, T a table; words
that mean nothing have none). It must be one of `kinds.HEADS`, then any of `TAILS`. A question that
comes out in one way is answered; one that comes out in several is asked back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from leaf.agent.rules.kinds import HEADS, TAILS, Item, Query, allowed, is_told_by
from leaf.agent.rules.numbers import meanings, period_of, written
from leaf.agent.rules.spoken import language_of, roles_of_phrase, words_of
from leaf.agent.rules.tables import (
    NO,
    NO_COLUMN,
    PHRASES,
    TURNING,
    YES,
    AskedColumn,
    AskedTable,
    PassedOver,
    QuestionWord,
    forms,
    split_words,
    with_numbers,
)
from leaf.files.names import fold
from leaf.language.text import t

MOST_WORDS, MOST_PATHS = 40, 20_000
MOST_LEFT_OUT = 6
"""Words without which a question is still much the same."""
_PARTS = 6
"""Most words of a phrase, name or value; names of files may have more."""
_PASSED = "_i"
"""Roles of words that add nothing to what is asked."""
_LEADING = frozenset("_vkqia~")
"""Roles of words that can stand before `show` at the beginning of a question."""
_WHETHER = (
    *("is", "are", "was", "were", "does", "do", "did", "has", "have"),
    *("ist", "sind", "war", "waren", "hat", "haben", "est", "sont", "es", "son"),
)
"""Words with which a question begins that is answered with yes or no."""
_CALLING = ("field", "get", "find")
_ARRIVING = frozenset(["to", "dest", "destination", "arrival"])
"""Words in names of columns that say where something goes."""
_HOLDERS = ("data", "dataset", "table", "sheet", "file")


class Grammar:
    """One question against one table."""

    def __init__(
        self, question: str, table: AskedTable | None = None, found: Sequence[Sequence[str]] = ()
    ) -> None:
        """`found`: table, column and text of cells that the question may name, from
        `lookup_sql`."""
        self.question, self.table, self.found = question, table or AskedTable(), found
        self.values: dict[str, dict[AskedColumn, list[str]]] = {}
        """Folded text -> column -> the values that are written so."""
        for column in self.table.columns:
            looked_up = [
                value
                for name, where, value in found
                if (name, where) == (self.table.name, column.name)
            ]
            for value in dict.fromkeys([*column.values, *looked_up]):
                self.values.setdefault(fold(value), {}).setdefault(column, []).append(value)
        self.language, self.spoken = language_of(question), words_of(question)
        self.words = with_numbers(split_words(question), question, written(question, self.language))
        self.end, keys = len(self.words), {word.key for word in self.words}
        self.says_yes_or_no = any(len(key) > 1 for key in keys & (YES | NO))
        self.roles: list[list[tuple[int, str, Any]]] = [[] for _ in range(self.end + 1)]
        """At each word: where a role ends, its letter, what it stands for."""
        parts = max(_PARTS, *map(len, self.table.names), 0)
        self.spans = [
            (i, j) for i in range(self.end) for j in range(i + 1, min(self.end, i + parts) + 1)
        ]
        for first, end in self.spans:
            self.roles[first] += [(end, *item) for item in self._items(self.words[first:end])]
        for at in range(self.end):
            self.roles[at] += self._several(at)
        self.roles = [self._told_apart(at, roles) for at, roles in enumerate(self.roles)]
        names = [
            (i, j)
            for i in range(self.end)
            for j, r, m in self.roles[i]
            if r == "K" and not m.asked and j > i + 1
        ]
        # The words of a whole name of several words mean nothing else, unless two names overlap.
        for first, end in names:
            for i in range(first, end) if not any(first < i < end < j for i, j in names) else ():
                self.roles[i] = [
                    role
                    for role in self.roles[i]
                    if role[0] > end or (i == first and role[0] == end)
                ]
        self._live = {self.end}
        """Words from which the question can be read to its end."""
        for at in reversed(range(self.end)):
            self._live |= {at} if any(end in self._live for end, _, _ in self.roles[at]) else set()

    def _several(self, at: int) -> list[tuple[int, str, Any]]:
        """A word that is nothing else as several of a value: `males` of a column with `male`."""
        if any(end == at + 1 for end, _, _ in self.roles[at]):
            return []
        singular = sorted(forms(self.words[at].key) - {self.words[at].key})
        return [
            (at + 1, "V", (column, tuple(spelt)))
            for form in singular
            for column, spelt in self.values.get(form, {}).items()
        ]

    def _told_apart(
        self, at: int, roles: Sequence[tuple[int, str, Any]]
    ) -> list[tuple[int, str, Any]]:
        """Roles of a word; one that is a value of the table too is passed over with a note, and not
        at all where it is written as an abbreviation."""
        values = {end: meaning for end, role, meaning in roles if role == "V"}
        names = {end for end, role, meaning in roles if role == "K" and not meaning.asked}
        candidates = []
        for end, role, meaning in roles:
            if role == "g" and end in names:  # a column that is called so says it better
                continue
            if role in ("_", "v") and end not in values and self._tells_which(at, end):
                continue
            if self._means_otherwise(at, end, role, meaning):
                continue
            if at == 0 and role in ("_", "q") and self._asks_whether():
                continue
            if role in _PASSED and end in values:
                if end == at + 1 and self._is_abbreviation(self.words[at]):
                    continue
                column, spelt = values[end]
                meaning = PassedOver(self._text(self.words[at:end]), spelt[0], column.name)
            candidates.append((end, role, meaning))
        return candidates

    def _tells_which(self, at: int, end: int) -> bool:
        """Whether a word says more than it mostly does, so that it must not be passed over: nobody
        here knows which one is `this month`; `US revenue` and `data revenue` are another one."""
        behind = {role for _, role, _ in self.roles[end]} if end < self.end else set()
        if self.words[at].key in ("this", "that"):
            plain = any(
                role in ("g", "r") or (role == "K" and not meaning.condition[0])
                for _, role, meaning in (self.roles[end] if end < self.end else ())
            )
            return plain or (self.words[at].key == "this" and "K" in behind)
        if self._asks_to_show(at) and behind & {"K", "V", "r"}:
            return any(not roles & _LEADING for roles in self._roles_before(at))
        short = len(self.words[at].text) == 2 and self._is_abbreviation(self.words[at])
        return end == at + 1 and (short or (self.words[at].key in _HOLDERS and "K" in behind))

    def _asks_whether(self) -> bool:
        """Whether it is answered with yes or no, which no figure of a table is; `are there gaps` is
        with all there is."""
        whether = bool(self.table.columns) and self.words[0].key in _WHETHER
        return whether and not self.has("x")

    def _asks_to_show(self, at: int) -> bool:
        """Whether a word asks to show something, or may: a `list price` is no price in a list."""
        key = self.words[at].key
        return key in _CALLING or any(role == "v" for role, _ in PHRASES.get((key,), ()))

    def _roles_before(self, at: int) -> list[set[str]]:
        """Of each word before this one, what it can be."""
        return [{role for _, role, _ in roles} for roles in self.roles[:at]]

    def _means_otherwise(self, at: int, end: int, role: str, meaning: Any) -> bool:
        """Whether a word asks for something else where it stands: `what does price mean` is no
        average, `no` without its column no value, and nothing comes `from` where it arrives."""
        word = self.words[at]
        if role == "f" and end == self.end and word.key in ("mean", "means"):
            return word.key == "means" or any(w.key in ("do", "does") for w in self.words[:at])
        if role == "V" and end == at + 1 and word.kind == "word" and word.key in TURNING:
            capital = at > 0 and word.text[0].isupper() and word.text in meaning[1]
            behind = at > 0 and end == self.end and "i" in self._roles_before(at)[-1]
            placed = behind and word.key not in NO  # `how many in third`
            return not (capital or placed or self._is_beside(at, meaning[0]))
        if role == "i" and word.key == "from" and end < self.end:
            columns = [m[0] for _, r, m in self.roles[end] if r == "V"]
            return bool(columns) and all(_ARRIVING & set(c.words) for c in columns)
        return False

    def _is_beside(self, at: int, column: AskedColumn) -> bool:
        """Whether the name of a column stands next to a word, or before it with `is`."""
        before = {at, at - 1} if at and "q" in self._roles_before(at)[-1] else {at}
        return any(
            role == "K" and meaning == column and (first == at + 1 or end in before)
            for first, roles in enumerate(self.roles)
            for end, role, meaning in roles
        )

    def _is_abbreviation(self, word: QuestionWord) -> bool:
        """Whether it stands in capitals among others that do not: `IT`, `US`."""
        return len(word.text) > 1 and word.text.isupper() and not self.question.isupper()

    def _items(self, words: Sequence[QuestionWord]) -> Iterator[Item]:
        """All that these words can be."""
        keys, kinds, alone = tuple(w.key for w in words), {w.kind for w in words}, len(words) == 1
        if not kinds & {"quoted", "column"}:
            roles = roles_of_phrase(keys, self.spoken)
            yield from (role for role in roles if role[0][0] != "+")
            if alone and kinds == {"number"}:
                yield from (("N", number) for number in meanings(words[0].text, self.language))
            if alone and (nouns := [n for n in self.table.nouns if forms(keys[0]) & forms(n)]):
                yield "r", self.table.row_of(nouns)
            if period := period_of(keys):
                yield "Y", period
        if keys in self.table.names:
            yield "T", ""
        text = self._text(words)
        inside = [
            w.key
            for w in (split_words(text) if kinds & {"quoted", "column"} else words)
            if w.kind != "sign"
        ]
        exact = (
            [c for c in self.table.columns if fold(c.name) == fold(text)]
            if kinds & {"quoted", "column"}
            else []
        )
        parted = any(
            w.kind == "sign" and (i in (0, len(words) - 1) or w.text not in "-/&+")
            for i, w in enumerate(words)
        )
        columns, loose = (
            (exact, False) if exact or "column" in kinds or parted else self.table.called(inside)
        )
        for column in columns:
            other = keys[-1] != (column.words or ("",))[-1]
            named = replace(
                column, asked=text if loose else "", plural=other, beside=self.says_yes_or_no
            )
            yield "K", named
            if other or keys[-1].endswith("s"):
                yield "P", named
        if "column" not in kinds:
            yield from (
                ("V", (column, tuple(spelt)))
                for column, spelt in self.values.get(fold(text), {}).items()
            )

    def _text(self, words: Sequence[QuestionWord]) -> str:
        return words[0].text if len(words) == 1 else self.question[words[0].first : words[-1].end]

    def _paths(self, at: int = 0) -> Iterator[tuple[Item, ...]]:
        """Every way to give each word a role. Those that lead nowhere are not begun."""
        if at == self.end:
            yield ()
        for end, role, meaning in self.roles[at] if at in self._live else ():
            yield from (
                (*(() if (role, meaning) == ("_", "") else ((role, meaning),)), *rest)
                for rest in self._paths(end)
            )

    def readings(self) -> list[Query]:
        """Every way to read the whole question; the same said in two ways counts once."""
        queries: dict[Query, None] = {}
        for number, path in enumerate(self._paths() if 0 < self.end <= MOST_WORDS else ()):
            if number > MOST_PATHS:
                return []
            passed = {str(meaning) for _, meaning in path if isinstance(meaning, PassedOver)}
            path = _plain(path)
            letters = "".join(role for role, _ in path)
            loose = passed | {
                t("“{word}” is read as the column {column}.", word=c.asked, column=f"`{c.name}`")
                for role, c in path
                if role in "KP" and c.asked
            }
            for head, pattern in (
                (head, pattern) for head, patterns in HEADS.items() for pattern in patterns
            ):
                if (m := re.match(pattern, letters)) and (
                    query := head(self.table, path[: m.end()])
                ):
                    for whole in self._tails(query, letters, path, m.end()):
                        for placed in filter(allowed, self._placed(whole)):
                            queries.setdefault(replace(placed, said=placed.said | loose))
        return list(queries)

    def _tails(
        self, query: Query, letters: str, path: tuple[Item, ...], at: int
    ) -> Iterator[Query]:
        if at == len(letters):
            yield query
        for tail, pattern in (
            (tail, pattern) for tail, patterns in TAILS.items() for pattern in patterns
        ):
            if (m := re.match(pattern, letters[at:])) and (
                longer := tail(query, path[at : at + m.end()])
            ):
                yield from self._tails(longer, letters, path, at + m.end())

    def _placed(self, query: Query) -> Iterator[Query]:
        """With the column that says when, where a question has a period or a step of time without
        one."""
        periods = [(c, values) for c, _, values in query.filters if c.kind in ("", "date", "year")]
        whens = {column for column, _ in periods} | {
            column for column, grain in query.groups if grain
        }
        if NO_COLUMN not in whens:
            yield query
            return
        steps = {grain for column, grain in query.groups if column == NO_COLUMN} - {"year", "time"}
        for c in [c for c in self.table.columns if c in whens] or [
            c for c in self.table.columns if c.is_time or is_told_by(c, query)
        ]:
            if all(c.tells(values) for column, values in periods if column == NO_COLUMN) and (
                c.kind == "date" or not steps
            ):
                step = {"time": "month"} if c.kind == "date" else {"time": "", "year": ""}
                groups = (
                    (c, step.get(grain, grain)) if g == NO_COLUMN else (g, grain)
                    for g, grain in query.groups
                )
                filters = (
                    (c if column == NO_COLUMN else column, test, operands)
                    for column, test, operands in query.filters
                )
                yield replace(query, groups=tuple(groups), filters=tuple(filters))

    def is_only(self, letters: str) -> bool:
        """Whether all words can be of these kinds, one of the first kind among them."""
        paths = ({role for role, _ in path} - {"_"} for path in islice(self._paths(), 500))
        return self.end <= MOST_WORDS and any(
            letters[0] in path and path <= set(letters) for path in paths
        )

    def describes(self) -> bool:
        """Whether this only asks what a file or table holds."""
        return self.is_only("xTiakrc")

    def has(self, letter: str) -> bool:
        return any(role == letter for roles in self.roles for _, role, _ in roles)

    def unknown(self) -> list[str]:
        """Words without any role; where none is, nothing: then the words are known, but not what
        they say together."""
        return list(dict.fromkeys(word.text for word in self._unknown))

    @property
    def _unknown(self) -> list[QuestionWord]:
        covered = {
            i
            for first in range(self.end)
            for end, _, _ in self.roles[first]
            for i in range(first, end)
        }
        return [word for i, word in enumerate(self.words) if i not in covered]

    def nearest(self) -> Query | None:
        """What the question would ask without the words that mean nothing here, or with one of them
        for its rows: `how many games` of a table of games. None where that is not one thing, or they
        turn it into another."""
        unknown = self._unknown
        if self.end > MOST_WORDS or not 0 < len(unknown) <= MOST_LEFT_OUT:
            return None
        if any(word.key in TURNING or word.kind == "sign" for word in unknown):
            return None
        for rows in (None, *unknown):
            readings = Grammar(self._without(unknown, rows), self.table, self.found).readings()
            if len(readings) == 1:
                return readings[0]
        return None

    def _without(self, words: Sequence[QuestionWord], rows: QuestionWord | None) -> str:
        text = self.question
        for word in reversed(words):
            instead = t("rows") if word == rows else ""
            text = f"{text[: word.first]} {instead} {text[word.end :]}"
        return text

    def named(self) -> dict[AskedColumn, str]:
        """Columns that the question names: by themselves, or by a value, as the table writes it."""
        columns = {column: "" for roles in self.roles for _, role, column in roles if role == "K"}
        return columns | {
            m[0]: m[1][0] for roles in self.roles for _, role, m in roles if role == "V"
        }

    def stretches(self) -> list[str]:
        """Texts that may be values of a column: stretches with a word that is neither a word of the
        rules nor a column."""
        sure = {
            i
            for i, roles in enumerate(self.roles)
            for end, role, _ in roles
            if role not in "NYV" and not self._is_abbreviation(self.words[i])
            for i in range(i, end)
        }
        texts = (self._text(self.words[i:j]) for i, j in self.spans if set(range(i, j)) - sure)
        return list(dict.fromkeys(map(fold, texts)))[:120]


def _plain(path: Sequence[Item]) -> tuple[Item, ...]:
    """Without words that add nothing, and of several small words in a row the last one. What is
    compared stands beside one another, whatever joins it."""
    items = [item for item in path if item[0] != "_"]
    compared = any(role == "e" for role, _ in items)
    return tuple(
        ("n", meaning) if compared and role in "a" else (role, meaning)
        for at, (role, meaning) in enumerate(items)
        if role != "i" or [role for role, _ in items[at + 1 : at + 2]] != ["i"]
    )
