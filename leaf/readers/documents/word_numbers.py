"""Numbers that Word writes before paragraphs and does not keep in their text: `4.2` of a clause, `a)`
of an item. They are counted as Word counts them, and written into the tree; a bullet is no number. One
in a format that is not known here, or below a level that was not counted, is left away, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from leaf.readers.documents.ooxml import attribute, child, local

NUMBER = "leaf-number"
"""The attribute of a paragraph that holds its number."""
LEVELS = 9
_MOST_BASES = 20
"""Styles that are based on one another."""
_PLACE = re.compile(r"%([1-9])")
_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


def _roman(number: int) -> str:
    if not 0 < number < 4_000:
        return str(number)
    letters = ""
    for value, sign in _ROMAN:
        count, number = divmod(number, value)
        letters += sign * count
    return letters


def _letters(number: int) -> str:
    """a to z, then aa to zz, as Word goes on."""
    return (
        chr(97 + (number - 1) % 26) * ((number - 1) // 26 + 1) if 0 < number <= 780 else str(number)
    )


def _in_alphabet(number: int) -> str:
    """a to z, then aa, ab, ac, as web pages and OpenDocument go on."""
    letters = ""
    while number > 0:
        number, last = divmod(number - 1, 26)
        letters = chr(97 + last) + letters
    return letters


FORMATS: dict[str, Callable[[int], str]] = {
    "decimal": str,
    "decimalZero": lambda number: f"{number:02d}",
    "lowerRoman": _roman,
    "upperRoman": lambda number: _roman(number).upper(),
    "lowerLetter": _letters,
    "upperLetter": lambda number: _letters(number).upper(),
    "lowerLetters": _in_alphabet,
    "upperLetters": lambda number: _in_alphabet(number).upper(),
    "none": lambda number: "",
}


@dataclass(frozen=True)
class NumberLevel:
    """A level of a numbering."""

    start: int = 1
    format: str = "decimal"
    text: str = ""
    """`%1.%2`, a place for each level."""
    style: str = ""
    """The paragraphs that stand on it by their style alone."""
    restart: int | None = None
    """The last level, from 1, after which it begins anew; None: after any above; 0: never."""
    legal: bool = False
    """Whether all its places are digits; `01` stays that."""


@dataclass
class Numbering:
    """A numbering as paragraphs name it."""

    counts: list[int | None]
    """Of each level; those that share a definition go on counting where the others ended."""
    levels: dict[int, NumberLevel]
    starts: dict[int, int] = field(default_factory=dict)
    """Levels that begin anew where this numbering is met first."""

    def next(self, at: int) -> str:
        """The number of the next paragraph on a level; empty where it has none that is known."""
        if at in self.starts:
            self.counts[at] = self.starts.pop(at) - 1
        before = self.counts[at]
        self.counts[at] = self._level(at).start if before is None else before + 1
        for below in range(at + 1, LEVELS):
            restart = self._level(below).restart
            if restart is None or at < restart:
                self.counts[below] = None
        return self._written(at)

    def _level(self, at: int) -> NumberLevel:
        return self.levels.get(at, NumberLevel())

    def _written(self, at: int) -> str:
        level = self._level(at)
        places = [int(digit) - 1 for digit in _PLACE.findall(level.text)]
        formats = {place: self._level(place).format for place in places}
        if level.legal:
            formats = {
                place: name if name == "decimalZero" else "decimal"
                for place, name in formats.items()
            }
        if (
            level.format == "bullet"
            or not FORMATS.keys() >= set(formats.values())
            or any(self.counts[place] is None for place in places)
        ):
            return ""

        def count(place: re.Match[str]) -> str:
            at = int(place[1]) - 1
            return FORMATS[formats[at]](self.counts[at] or 0)

        return _PLACE.sub(count, level.text).strip()


@dataclass(frozen=True)
class NumberedStyle:
    """What a style says of the numbers of its paragraphs."""

    numbering: str = ""
    level: int | None = None
    base: str = ""


def number_paragraphs(root: Any, numbering: Any, styles: Any) -> None:
    """Write the numbers of the paragraphs of a part into its tree."""
    if numbering is None:
        return
    named = _named_styles(styles)
    known = _numberings(numbering, named)
    for paragraph in root.iter():
        if local(paragraph) != "p" or _is_away(paragraph):
            continue
        name, level, style = _place(paragraph, named)
        if name in known:
            at = _level_of(known[name], level, style)
            if number := known[name].next(at):
                paragraph.set(NUMBER, number)


def _is_away(paragraph: Any) -> bool:
    """Whether it was deleted, or says again in older terms what was said before."""
    return child(paragraph, "pPr", "rPr", "del") is not None or any(
        local(around) in ("Fallback", "del", "moveFrom") for around in paragraph.iterancestors()
    )


def _place(paragraph: Any, named: dict[str, NumberedStyle]) -> tuple[str, int | None, str]:
    """The numbering of a paragraph, its level where it is said, and the style that it is from."""
    style = child(paragraph, "pPr", "pStyle")
    own = child(paragraph, "pPr", "numPr")
    name, level = _numbers(own)
    inherited, source = NumberedStyle(), attribute(style, "val") if style is not None else ""
    for _ in range(_MOST_BASES):
        inherited = named.get(source, NumberedStyle())
        if inherited.numbering or not inherited.base:
            break
        source = inherited.base
    if name:
        return name, level or 0, ""
    return inherited.numbering, level if level is not None else inherited.level, source


def _level_of(numbering: Numbering, level: int | None, style: str) -> int:
    linked = [at for at, each in numbering.levels.items() if style and each.style == style]
    return linked[0] if linked else level or 0


def _numbers(properties: Any) -> tuple[str, int | None]:
    """The numbering and the level that a `numPr` names."""
    if properties is None:
        return "", None
    name, level = child(properties, "numId"), child(properties, "ilvl")
    return (
        attribute(name, "val") if name is not None else "",
        min(_value(level, 0), LEVELS - 1) if level is not None else None,
    )


def _value(element: Any, default: int) -> int:
    text = attribute(element, "val") if element is not None else ""
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else default


def _named_styles(styles: Any) -> dict[str, NumberedStyle]:
    named = {}
    for style in styles if styles is not None else ():
        if local(style) == "style":
            name, level = _numbers(child(style, "pPr", "numPr"))
            base = child(style, "basedOn")
            named[attribute(style, "styleId")] = NumberedStyle(
                name, level, attribute(base, "val") if base is not None else ""
            )
    return named


def _numberings(root: Any, styles: dict[str, NumberedStyle]) -> dict[str, Numbering]:
    """Name -> numbering. Names lead to definitions, which may be those of a style."""
    definitions = {
        attribute(item, "abstractNumId"): item for item in root if local(item) == "abstractNum"
    }
    items = {attribute(item, "numId"): item for item in root if local(item) == "num"}
    counts: dict[str, list[int | None]] = {}
    known = {}
    for name, item in items.items():
        key = _definition_of(item)
        link = child(definitions[key], "numStyleLink") if key in definitions else None
        if link is not None:
            linked = styles.get(attribute(link, "val"), NumberedStyle()).numbering
            key = _definition_of(items[linked]) if linked in items else key
        if key in definitions:
            shared = counts.setdefault(key, [None] * LEVELS)
            known[name] = _numbering(item, definitions[key], shared)
    return known


def _definition_of(item: Any) -> str:
    link = child(item, "abstractNumId")
    return attribute(link, "val") if link is not None else ""


def _numbering(item: Any, definition: Any, counts: list[int | None]) -> Numbering:
    levels = dict(_levels(definition))
    starts = {}
    for change in item:
        if local(change) == "lvlOverride":
            levels.update(_levels(change))
            start, at = child(change, "startOverride"), attribute(change, "ilvl")
            if start is not None and at in tuple("012345678"):
                starts[int(at)] = _value(start, 1)
    return Numbering(counts, levels, starts)


def _levels(parent: Any) -> list[tuple[int, NumberLevel]]:
    return [
        (int(attribute(item, "ilvl")), _level(item))
        for item in parent
        if local(item) == "lvl" and attribute(item, "ilvl") in tuple("012345678")
    ]


def _level(item: Any) -> NumberLevel:
    def word(name: str, default: str = "") -> str:
        element = child(item, name)
        return attribute(element, "val") if element is not None else default

    restart = child(item, "lvlRestart")
    legal = child(item, "isLgl")
    return NumberLevel(
        _value(child(item, "start"), 0),
        word("numFmt", "decimal"),
        word("lvlText")[:100],
        word("pStyle"),
        _value(restart, 0) if restart is not None else None,
        legal is not None and attribute(legal, "val") not in ("0", "false", "off"),
    )
