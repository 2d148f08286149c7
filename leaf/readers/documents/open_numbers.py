"""Numbers that text processors write before the items and headings of an OpenDocument text and do not
keep in it. They are counted as LibreOffice counts them, and written into the tree, as those of Word
are; one in a format that is not known here, or below a level that was not counted, is left away.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from leaf.readers.documents.ooxml import attribute, child, local
from leaf.readers.documents.word_numbers import LEVELS, NUMBER, Numbering, NumberLevel

_FORMATS = {
    "1": "decimal",
    "a": "lowerLetters",
    "A": "upperLetters",
    "i": "lowerRoman",
    "I": "upperRoman",
    "": "none",
    "01, 02, 03, ...": "decimalZero",
}
_SAME_LETTERS = {"a": "lowerLetter", "A": "upperLetter"}
_PLACE = re.compile(r"%(\d{1,2})%")
_STYLES = ("list-style", "outline-style")
_LEVEL = ("list-level-style-number", "outline-level-style")
_AWAY = ("tracked-changes", "forms")
_MOST_BASES = 20
"""Styles that are based on one another."""

_Levels = dict[int, NumberLevel]


def number_open(body: Any, *parts: Any) -> None:
    """Write the numbers of the paragraphs of a text into its tree; `parts` hold its styles."""
    _OpenNumbers([part for part in parts if part is not None]).number(body, None)


@dataclass(frozen=True)
class _ListPlace:
    """Where in a list something stands."""

    numbering: Numbering
    style: str
    level: int


class _OpenNumbers:
    """One way through a text."""

    def __init__(self, parts: list[Any]) -> None:
        named = [item for part in parts for item in part.iter() if local(item) in _STYLES]
        self._levels = {attribute(item, "name"): _levels(item) for item in named}
        outline = [item for item in named if local(item) == "outline-style"]
        self._outline_name = attribute(outline[0], "name") if outline else ""
        self._outline = Numbering(
            [None] * LEVELS, self._levels[self._outline_name] if outline else {}
        )
        self._paragraphs = {
            attribute(item, "name"): item
            for part in parts
            for item in part.iter()
            if local(item) == "style" and attribute(item, "family") == "paragraph"
        }
        self._by_id: dict[str, Numbering] = {}
        self._last: dict[str, Numbering] = {}

    def number(self, parent: Any, place: _ListPlace | None) -> None:
        """The numbers of all that stands in an element, in the order of the text."""
        for element in parent:
            name = local(element)
            if name == "list":
                self._list(element, place)
            elif name in ("p", "h"):
                self._paragraph(element, name)
                self.number(element, None)
            elif name and name not in _AWAY:
                self.number(element, None)

    def _list(self, element: Any, around: _ListPlace | None) -> None:
        style = attribute(element, "style-name") or (around.style if around else "")
        level = around.level + 1 if around else 0
        numbering = self._numbering(element, style, around)
        if key := attribute(element, "id"):
            self._by_id[key] = numbering
        self._last[style] = numbering
        place = _ListPlace(numbering, style, min(level, LEVELS - 1))
        for item in element:
            if local(item) in ("list-item", "list-header"):
                self._item(item, place)

    def _numbering(self, element: Any, style: str, around: _ListPlace | None) -> Numbering:
        levels = self._levels.get(style, {})
        if around:
            same = style == around.style
            return around.numbering if same else Numbering(list(around.numbering.counts), levels)
        before = self._by_id.get(attribute(element, "continue-list"))
        if before is None and attribute(element, "continue-numbering") == "true":
            before = self._last.get(style)
        if before is None and style and style == self._outline_name:
            before = self._outline
        return Numbering([None] * LEVELS if before is None else before.counts, levels)

    def _item(self, item: Any, place: _ListPlace) -> None:
        blocks = [block for block in item if local(block) in ("p", "h", "list")]
        first = blocks[0] if blocks and local(blocks[0]) != "list" else None
        if first is not None and local(item) == "list-item":
            own = attribute(item, "style-override")
            levels = self._levels.get(own, place.numbering.levels)
            _begin(item, place.numbering, place.level)
            _write(first, Numbering(place.numbering.counts, levels).next(place.level))
        for block in item:
            if local(block) == "list":
                self._list(block, place)
            else:
                self.number(block, None)

    def _paragraph(self, element: Any, name: str) -> None:
        level = attribute(element, "outline-level")
        if (
            name == "h"
            and level.isdigit()
            and 0 < int(level) <= LEVELS
            and self._is_counted(element)
        ):
            _begin(element, self._outline, int(level) - 1)
            _write(element, self._outline.next(int(level) - 1))

    def _is_counted(self, heading: Any) -> bool:
        """Whether a heading is numbered as chapters are: its style may be in another list, or in
        none."""
        if attribute(heading, "is-list-header") == "true":
            return False
        style = self._paragraphs.get(attribute(heading, "style-name"))
        for _ in range(_MOST_BASES):
            if style is None:
                break
            if any(key.endswith("}list-style-name") for key in style.attrib):
                return attribute(style, "list-style-name") == self._outline_name != ""
            style = self._paragraphs.get(attribute(style, "parent-style-name"))
        return True


def _begin(element: Any, numbering: Numbering, level: int) -> None:
    """Set the count of a level where an item or heading says with what it begins."""
    start = attribute(element, "start-value")
    if start.isdigit() and len(start) < 10:
        numbering.counts[level] = int(start) - 1


def _write(paragraph: Any, number: str) -> None:
    """A number that is kept in the text all the same is the one that is shown."""
    number_there = child(paragraph, "number")
    if number_there is not None:
        number = " ".join("".join(number_there.itertext()).split())
    if number:
        paragraph.set(NUMBER, number)


def _levels(style: Any) -> _Levels:
    items = {}
    for item in style:
        level = attribute(item, "level")
        if level.isdigit() and 0 < int(level) <= LEVELS:
            items[int(level) - 1] = item
    return {at: _level(item, at, items) for at, item in items.items()}


def _level(item: Any, at: int, items: dict[int, Any]) -> NumberLevel:
    if local(item) not in _LEVEL:
        return NumberLevel(format="bullet")
    start, shown = attribute(item, "start-value"), attribute(item, "display-levels")
    written = _PLACE.sub(r"%\1", attribute(item, "num-list-format"))
    if not written:
        first = at + 1 - (int(shown) if shown.isdigit() and len(shown) < 3 else 1)
        places = [
            f"%{place + 1}"
            for place in range(max(0, first), at + 1)
            if place in items and _format(items[place]) not in ("none", "bullet")
        ]
        written = (
            f"{attribute(item, 'num-prefix')}{'.'.join(places)}{attribute(item, 'num-suffix')}"
        )
    return NumberLevel(
        int(start) if start.isdigit() and len(start) < 10 else 1,
        _format(item),
        written[:100],
        legal=attribute(item, "is-legal") == "true",
    )


def _format(item: Any) -> str:
    if local(item) not in _LEVEL:
        return "bullet"
    name = attribute(item, "num-format")
    if attribute(item, "num-letter-sync") == "true" and name in _SAME_LETTERS:
        return _SAME_LETTERS[name]
    return _FORMATS.get(name, name)
