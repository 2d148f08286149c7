"""The pieces of a sentence that each name one thing and tell its number: `North made 300, | South
200`. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from leaf.provenance.receipts.figures import Figure

Span = tuple[int, int]

SHORT = 4
"""Words of a name at most that is listed with another."""
LONGEST = 80
"""Characters of a name at most."""
_WHEN = ("date", "year", "time")
_JOINS = r"and|und|et|y|&|sowie|ainsi que|bzw\.?"
_CUT = re.compile(
    rf",(?=\s)(?!\s(?:which|who|welche[rs]?|qui)\b)|;|\s(?:{_JOINS})(?=\s)|"
    r"\s(?:while|whereas|but|although|though|versus|vs\.?|against|compared (?:to|with)|than|followed by|"
    r"während|wohingegen|aber|doch|gegenüber|verglichen mit|gefolgt von|als|"
    r"mais|tandis que|alors que|contre|suivie?s? (?:de|par)|par rapport (?:à|au)|"
    r"pero|mientras(?: que)?|frente al?|seguid[oa]s? (?:de|por))(?=\s)|"
    r"\s(?P<to>to|auf|bis|à|a|hasta)(?=\s[$€£¥]?\d)|"
    r"(?<=\))(?=[\s,;]*[^\W\d_])|\s(?=\([^\d()]*[^\W\d_]{2,}[^()]*\d)",
    re.IGNORECASE,
)
"""Where a sentence goes on to something else; so it does behind a bracket, and in one that begins
with words."""
_LISTED = re.compile(rf"(?i)(?:{_JOINS})\Z")
_BETWEEN = re.compile(r"(?i)\b(?:between|from|zwischen|von|entre|de|desde)\b")
_WORD = re.compile(r"[^\W_]+")
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True)
class Piece:
    """A piece of a sentence in which a figure stands."""

    own: Span
    around: tuple[Span, ...] = ()
    """The pieces before and behind it up to the next that tells a number."""


@dataclass(frozen=True)
class _Cut:
    """All pieces of a sentence, what stands between them, and their numbers."""

    text: str
    spans: Sequence[Span]
    joins: Sequence[str]
    numbers: Sequence[Sequence[Figure]]


def pieces_of(
    text: str,
    bounds: Span,
    all_figures: Sequence[Figure],
    names: Collection[str] = (),
) -> dict[int, Piece]:
    """The pieces of a sentence by where their figures begin. Times tell no number, nor do names
    (`3DS`); none of these `names` is cut."""
    start, end = bounds[0], min(bounds[1], len(text))
    inside = [f for f in all_figures if start <= f.start < end]
    cuts = list(_cuts(text, (start, end), inside, names))
    spans = [(a[1], b[0]) for a, b in pairwise([(start, start), *cuts, (end, end)])]
    numbers: list[list[Figure]] = [[] for _ in spans]
    for figure in inside:
        if figure.unit not in _WHEN and not text[figure.end : figure.end + 1].isalpha():
            numbers[bisect_right([a for a, _ in spans], figure.start) - 1].append(figure)
    cut = _Cut(text, spans, [text[a:b].strip() for a, b in cuts], numbers)
    pieces = {
        figure.start: Piece((spans[_listed_from(cut, at)][0], end), tuple(_around(cut, at)))
        for at, (_, end) in enumerate(spans)
        for figure in numbers[at]
    }
    return pieces | dict(_in_order(cut))


def cut_names(names: Iterable[str]) -> frozenset[str]:
    """Those of some names in which a sentence would be cut: *trinidad and tobago*."""
    return frozenset(name for name in names if len(name) <= LONGEST and _CUT.search(name))


def _cuts(
    text: str, bounds: Span, inside: Sequence[Figure], names: Collection[str]
) -> Iterator[Span]:
    """Where it goes on, but within a figure or a name, and but for a `to` that no number stands
    before."""
    told = bounds[0]
    for match in _CUT.finditer(text, *bounds):
        within = any(f.start < match.end() and match.start() < f.end for f in inside)
        begun = any(told <= f.start < match.start() for f in inside if f.unit not in _WHEN)
        if within or (match["to"] and not begun) or _is_in_a_name(text, match, names):
            continue
        told = match.end()
        yield match.span()


def _is_in_a_name(text: str, cut: re.Match[str], names: Collection[str]) -> bool:
    around = text[max(0, cut.start() - LONGEST) : cut.end() + LONGEST].casefold()
    at = min(cut.start(), LONGEST)
    return any(
        begin < at + len(cut[0]) and at < begin + len(name)
        for name in names
        if (begin := around.find(name)) >= 0
    )


def _listed_from(cut: _Cut, at: int) -> int:
    """The first of the names that share a number: `North and South had 27,550`."""
    first = at
    while (
        first
        and not cut.numbers[first - 1]
        and (_LISTED.match(cut.joins[first - 1]) if first == at else cut.joins[first - 1] == ",")
        and len(_WORD.findall(cut.text[slice(*cut.spans[first - 1])])) <= SHORT
    ):
        first -= 1
    return first


def _around(cut: _Cut, at: int) -> Iterator[Span]:
    for way in (-1, 1):
        place = at + way
        while 0 <= place < len(cut.spans) and not cut.numbers[place]:
            yield cut.spans[place]
            place += way


def _in_order(cut: _Cut) -> Iterator[tuple[int, Piece]]:
    """Names one after the other, then as many numbers: `A, B and C have 1, 2 and 3`."""
    for at, there in enumerate(cut.numbers):
        last = at
        while len(there) == 1 and last + 1 < len(cut.spans) and _is_bare(cut, last + 1):
            last += 1
        first = at - (last - at)
        if last == at or first < 0 or any(cut.numbers[first:at]):
            continue
        listed = cut.joins[at - 1], cut.joins[last - 1]
        before = (*cut.joins[first : at - 1], *cut.joins[at : last - 1])
        lead = cut.text[cut.spans[first][0] : there[0].start]
        if not all(map(_LISTED.match, listed)) or {*before} - {","} or _BETWEEN.search(lead):
            continue
        names = (*cut.spans[first:at], (cut.spans[at][0], there[0].start))
        for name, place in zip(names, range(at, last + 1), strict=True):
            yield cut.numbers[place][0].start, Piece(name)


def _is_bare(cut: _Cut, at: int) -> bool:
    """Whether a piece is one number alone, with a word for its unit or `respectively`."""
    if len(cut.numbers[at]) != 1:
        return False
    (begin, end), figure = cut.spans[at], cut.numbers[at][0]
    return not _LETTER.search(cut.text[begin : figure.start]) and (
        len(_WORD.findall(cut.text[figure.end : end])) < 2
    )
