"""What the lines of a text stand under: a heading, a line in bold, the item of a list, and what each
line begins with, as in `- **North**: 1,204`. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_ITEM = r"(?:[-*+•]|\d{1,2}[.)])\s+"
_HEADING = re.compile(r"\s{0,3}(?P<level>#{1,6})\s+(?P<label>.+?)[\s#]*")
_ALONE = re.compile(
    rf"(?P<indent>\s*)(?P<item>{_ITEM})?(?:(?P<bold>\*\*|__)(?P<label>.+?)(?P=bold)\s*:?|(?P<plain>[^:|]{{1,60}}):)\s*"
)
_LEAD = re.compile(
    rf"\s*(?P<item>{_ITEM})?(?:(?P<bold>\*\*|__)(?P<label>.+?)(?P=bold)|(?P<plain>[^:–—|*]{{1,60}}?))\s*(?:[:–—]|(?(bold)-|(?!)))"
)
_LISTED = re.compile(rf"\s*{_ITEM}|\s{{2,}}\S")
BOLD, ITEM = 7, 8
"""Levels of lines that are no headings."""


@dataclass(frozen=True)
class OutlineLine:
    """A line, and what it stands under, the nearest first."""

    begin: int
    labels: tuple[str, ...]


@dataclass
class _Label:
    """A label, and whether what comes may still stand under it: one block, and lists behind it."""

    level: int
    text: str
    begun: bool = False
    over: bool = False


@dataclass
class _Open:
    """The labels that hold at a line, the outermost first."""

    labels: list[_Label] = field(default_factory=list)

    def add(self, level: int, text: str) -> None:
        self.labels = [label for label in self.labels if label.level < level]
        self.labels.append(_Label(level, text))

    def blank(self) -> None:
        for label in self.labels:
            label.over = label.begun

    def at(self, line: str) -> tuple[str, ...]:
        listed = bool(_LISTED.match(line))
        if not listed:
            self.labels = [label for label in self.labels if not label.over]
        indent = len(line) - len(line.lstrip())
        self.labels = [label for label in self.labels if label.level < ITEM + indent]
        for label in self.labels:
            label.begun = True
        return tuple(label.text for label in reversed(self.labels))


def outline_of(text: str) -> list[OutlineLine]:
    """Each line of a text."""
    return list(_lines(text))


def labels_at(lines: Sequence[OutlineLine], place: int) -> tuple[str, ...]:
    """What a place in the text stands under."""
    at = bisect_right(lines, place, key=lambda line: line.begin) - 1
    return lines[at].labels if at >= 0 else ()


def _lines(text: str) -> Iterator[OutlineLine]:
    held, begin = _Open(), 0
    for whole in text.splitlines(keepends=True):
        line = whole.rstrip()
        if not line:
            held.blank()
        elif heading := _HEADING.fullmatch(line):
            held.add(len(heading["level"]), _bare(heading["label"]))
        elif alone := _ALONE.fullmatch(line):
            level = ITEM + len(alone["indent"]) if alone["item"] else BOLD
            held.add(level, _bare(alone["label"] or alone["plain"]))
        else:
            lead = _LEAD.match(line)
            own = (_bare(lead["label"] or lead["plain"]),) if lead else ()
            yield OutlineLine(begin, (*own, *held.at(line)))
            begin += len(whole)
            continue
        yield OutlineLine(begin, ())
        begin += len(whole)


def _bare(label: str) -> str:
    return label.strip().strip("*_`:").strip()
