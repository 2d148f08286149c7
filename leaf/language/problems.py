"""What Leaf's errors and the notes of its readers say, which is made and kept in English, in the
language of whoever reads it.

Models, exports, logs and the command line read them in English, and so do answers of earlier
versions. `docs/problems.py` finds their templates in the code, `locales/<language>/problems.po` has
what each is in a language. A text is known by the words of its template, looked for in their order;
what is not known for certain is said in English.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from string import Formatter

from leaf.language import catalogs
from leaf.language.amounts import amount_told
from leaf.language.places import place
from leaf.language.text import ENGLISH, current, separated

CATALOG = "problems.po"
LONGEST = 4_000
"""Characters; what is longer is said in English."""
SENTENCES = 12
"""In which a text is taken apart; one of more is known as a whole or not at all."""
WITHIN = 2
"""How deep in a sentence a value is looked at as a sentence itself."""
KEYS = (16, 4)
"""Characters at the beginning of a template, or at its end, by which it is looked up."""
PLACES = ("place", "places", "where")
"""Names of values that may be places in a file."""
AMOUNTS = ("amount", "when", "ends_text", "span", "rows", "counted")
"""Of values that may say how much, or when."""
AT_THE_END = "value"
"""Name of what may be ` in this chat`."""
SENTENCES_IN = ("message", "hint", "reason", "problem", "e", "why", "said")
"""Names of values that may be sentences of Leaf themselves."""
_END = re.compile(r"(?<=[.?!:…])[\"')”]?[ \n]+")
_NAME = re.compile(r"\{(n?)\w*\}")
_FIGURE = re.compile(r"-?\d[\d,.]*")


def told(error: BaseException) -> str:
    """What an error says: its message and then its hint, each known or not on its own."""
    message, hint = getattr(error, "message", ""), getattr(error, "hint", "")
    if not isinstance(message, str) or not message or not isinstance(hint, str):
        return said(str(error))
    return f"{said(message)} {said(hint)}".strip()


def said(text: str) -> str:
    """An error or a note as it was kept; of several sentences each that is known."""
    language = current()
    if language == ENGLISH or not text or len(text) > LONGEST:
        return text
    return _said(language, text)


def skeleton(template: str) -> str:
    """The template without the names of its values, of which figures are told apart."""
    return _NAME.sub(lambda name: "{n}" if is_figure(name[0][1:-1]) else "{}", template)


def is_figure(name: str) -> bool:
    """Whether a value of this name is a figure, as `n` and `n2`."""
    return name == "n" or (name[:1] == "n" and name[1:].isdigit())


@dataclass(frozen=True, slots=True)
class Template:
    """A sentence with the places of its values."""

    words: tuple[str, ...]
    """What stands before, between and behind the values."""
    names: tuple[str, ...]
    wording: str
    own: int
    """Characters of its own."""

    def values(self, text: str) -> dict[str, str] | None:
        """The values in a text that has these words in this order; None where it has not, or where
        nobody can tell which of it are the values."""
        ends = self._ends(text)
        if ends is None:
            return None
        value_of = {
            name: text[first:last] for name, (first, last) in zip(self.names, ends, strict=True)
        }
        figures = (value for name, value in value_of.items() if is_figure(name))
        return value_of if all(map(_FIGURE.fullmatch, figures)) else None

    def _ends(self, text: str) -> list[tuple[int, int]] | None:
        """Where each value begins and ends. Each of the words is looked for once from the left and
        once from the right: where these differ, the values could be others."""
        first, last = self.words[0], self.words[-1]
        if not self.names:
            return [] if text == first else None
        if len(text) < self.own or not (text.startswith(first) and text.endswith(last)):
            return None
        low, high = len(first), len(text) - len(last)
        lefts, at = [], low
        for words in self.words[1:-1]:
            at = text.find(words, at, high)
            if at < 0:
                return None
            lefts.append(at)
            at += len(words)
        at = high
        for n in range(len(lefts) - 1, -1, -1):
            words = self.words[n + 1]
            at = text.rfind(words, low, at)
            if at != lefts[n] and f"{{{self.names[n]}}}{words}{{{self.names[n + 1]}}}" not in (
                self.wording
            ):
                return None
        begins = [
            low,
            *(left + len(words) for left, words in zip(lefts, self.words[1:], strict=False)),
        ]
        return list(zip(begins, [*lefts, high], strict=True))


@dataclass(slots=True)
class ProblemIndex:
    """The templates of a language, by how they begin or end."""

    begin: dict[str, list[Template]] = field(default_factory=dict)
    end: dict[str, list[Template]] = field(default_factory=dict)
    others: list[Template] = field(default_factory=list)

    @classmethod
    def of(cls, sentences: Iterable[tuple[str, str]]) -> ProblemIndex:
        """Made of templates in English with what each is in the language."""
        known = cls()
        for english, wording in sentences:
            if english and wording:
                known.add(_template(english, wording))
        return known

    def add(self, template: Template) -> None:
        for size in KEYS:
            for words, of in (
                (template.words[0][:size], self.begin),
                (template.words[-1][-size:], self.end),
            ):
                if len(words) == size:
                    of.setdefault(words, []).append(template)
                    return
        self.others.append(template)

    def candidates(self, text: str) -> Iterator[Template]:
        for size in KEYS:
            yield from self.begin.get(text[:size], ())
            yield from self.end.get(text[-size:], ())
        yield from self.others

    def whole(self, text: str, within: int = WITHIN) -> tuple[str, int]:
        """What a text says as one sentence, and how many characters of it are the template's: of
        several that fit that with the most is meant. Empty where two of them say it otherwise."""
        meant, own = list[tuple[Template, dict[str, str]]](), 0
        for template in self.candidates(text):
            if template.own >= own and (values := template.values(text)) is not None:
                meant = [*(meant if template.own == own else ()), (template, values)]
                own = template.own
        wordings = {self._filled(template, values, within) for template, values in meant}
        return wordings.pop() if len(wordings) == 1 else "", own

    def _filled(self, template: Template, values: dict[str, str], within: int) -> str:
        value_of = {name: self._value(name, value, within) for name, value in values.items()}
        return template.wording.format_map(value_of)

    def _value(self, name: str, value: str, within: int) -> str:
        if is_figure(name):
            return separated(value)
        bare = name.rstrip("0123456789")
        if bare in PLACES or (bare == AT_THE_END and value.startswith(" in ")):
            return place(value)
        if bare in AMOUNTS:
            return amount_told(value)
        if bare in SENTENCES_IN and value and within:
            return self.whole(value, within - 1)[0] or value
        return value

    def say(self, text: str) -> str:
        """Taken apart at the ends of its sentences in the way in which most of it is known."""
        cuts = [0, *(match.end() for match in _END.finditer(text))]
        if cuts[-1] != len(text):
            cuts.append(len(text))
        if len(cuts) > SENTENCES + 1:
            return self.whole(text.strip())[0] or text
        best: list[tuple[int, str]] = [(0, "")]
        for end in range(1, len(cuts)):
            ways = (
                self._next(text[cuts[begin] : cuts[end]], before)
                for begin, before in enumerate(best)
            )
            best.append(max(ways, key=lambda way: way[0]))
        return best[-1][1]

    def _next(self, piece: str, before: tuple[int, str]) -> tuple[int, str]:
        """What was said so far with one piece more, and how much of both is known."""
        bare = piece.rstrip(" \n")
        wording, own = self.whole(bare)
        known, prefix = before
        return known + (own if wording else 0), prefix + (wording or bare) + piece[len(bare) :]


@lru_cache(maxsize=1_024)
def _said(language: str, text: str) -> str:
    return _known(language).say(text)


@lru_cache(maxsize=8)
def _known(language: str) -> ProblemIndex:
    """Read when a page in this language first has a problem to tell."""
    path = catalogs.LOCALES / language / CATALOG
    entries = catalogs.parsed(path.read_text(encoding="utf-8")) if path.is_file() else ()
    return ProblemIndex.of((entry.one, entry.said.get(0, "")) for entry in entries)


def _template(english: str, wording: str) -> Template:
    words, names = [""], []
    for literal, name, _, _ in Formatter().parse(english):
        words[-1] += literal
        if name is not None:
            names.append(name)
            words.append("")
    return Template(tuple(words), tuple(names), wording, sum(map(len, words)))


def forget() -> None:
    """The catalogs are read anew."""
    _known.cache_clear()
    _said.cache_clear()
