"""Lines of a plain text that are printed with each page of a table: they part its rows, and are none."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

from leaf.readers.documents.texts.lines import is_drawn_rule, plain

_PAGE = re.compile(
    r"(?i)\b(?:page|seite|página|pagina|pág\.|pag\.|blatt|hoja|strona|стр\.?)\s*[:#]?\s*\d+\b|頁\s*\d+"
)
_DIGITS = re.compile(r"\d+")
_NEAR = 8
"""Lines below the head of a page among which the columns are named."""
_SHORTEST = 3
"""Lines from one head to the next."""


def page_heads(lines: Sequence[str]) -> set[int]:
    """Lines that differ by the number of their page alone, and below which the same names stand each
    time."""
    alike = defaultdict[str, list[int]](list)
    for at, line in enumerate(lines):
        if _PAGE.search(line):
            alike[_DIGITS.sub("#", plain(line))].append(at)
    heads = set[int]()
    for places in alike.values():
        apart = all(b - a >= _SHORTEST for a, b in pairwise(places))
        if len(places) > 1 and apart and _are_above_names(lines, places):
            heads |= set(places)
    return heads


def _are_above_names(lines: Sequence[str], places: Sequence[int]) -> bool:
    """Whether below most of some lines, but for the last one, a line without a number comes again."""
    below = Counter[str]()
    for at in places:
        below.update({plain(line) for line in lines[at + 1 : at + 1 + _NEAR] if _may_name(line)})
    return max(below.values(), default=0) >= max(2, 0.8 * (len(places) - 1))


def _may_name(line: str) -> bool:
    return "  " in line.strip() and not _DIGITS.search(line) and not is_drawn_rule(line)
