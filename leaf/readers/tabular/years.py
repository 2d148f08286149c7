"""Where the year stands in dates whose year has two digits: `24-01-05` is a day of 2024 in Sweden and
one of 2005 in Portugal, and often either is a day that there is. Pure."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence, Set
from typing import Literal

Place = Literal["first", "last", ""]
"""Where the year stands; empty where nothing decides."""
_Day = tuple[int, int, int]
"""Year, month, day."""
DAY = r"^[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{1,2}"
"""The date that a text begins with."""
_SERIES = 4
"""Days of which it is no chance that they stand in order."""
_MOST_YEARS = 25
"""Years that two digits are likely to tell apart; days of a month are apart by up to 30."""


def place_of_year(texts: Sequence[str], orders: Set[str]) -> Place:
    """Where the year stands in different dates that can be read with it first or last. `texts` are in
    the order in which they come up; `orders`, of `dmy` and `mdy`, are how they can be read with it
    last.

    The first and the last day of a month are days that people choose. Days in a row speak for
    themselves. And days of a month lie far apart where years do not: then little is enough for the
    year at the end, which is usual, and more is asked for the other.
    """
    parts = [(int(a), int(b), int(c)) for a, b, c in (re.split("[-/.]", text) for text in texts)]
    if not parts:
        return ""
    first = [(2000 + a, b, c) for a, b, c in parts]
    last = [_with_year_last(parts, order) for order in sorted(orders)]
    spans = tuple(max(p[n] for p in parts) - min(p[n] for p in parts) for n in (0, 2))
    in_row = _in_row(first), any(map(_in_row, last))
    ends = _chosen(first), any(map(_chosen, last))
    if ends[0] != ends[1]:
        return _by_ends(ends[0], spans, in_row)
    if in_row == (False, True) and len(parts) >= _SERIES:
        return "last"
    return _by_spans(*spans)


def _with_year_last(parts: Sequence[_Day], order: str) -> list[_Day]:
    if order == "dmy":
        return [(2000 + c, b, a) for a, b, c in parts]
    return [(2000 + c, a, b) for a, b, c in parts]


def _in_row(days: Sequence[_Day]) -> bool:
    """Whether the days stand in order, the earliest or the latest first."""
    return list(days) == sorted(days) or list(days) == sorted(days, reverse=True)


def _chosen(days: Sequence[_Day]) -> bool:
    """Whether each is the first day of its month, or each the last."""
    return all(day == 1 for _, _, day in days) or all(
        day == monthrange(year, month)[1] for year, month, day in days
    )


def _by_ends(year_first: bool, spans: tuple[int, ...], in_row: tuple[bool, bool]) -> Place:
    """Where the year stands if one reading alone makes each date the end of a month. Dates of 2001 or
    2031 look so when they are read the other way."""
    mine, other = in_row if year_first else in_row[::-1]
    if other and not mine:
        return "last" if year_first else ""
    unlikely = spans[0] > 0 if year_first else spans[1] >= 20
    if unlikely and other == mine:
        return ""
    return "first" if year_first else "last"


def _by_spans(first: int, last: int) -> Place:
    """Where the year stands by how far apart the first parts are, and how far the last."""
    if not last and first:
        return "last"
    if last < _MOST_YEARS and first >= min(28, 5 + 3 * last):
        return "last"
    if first < _MOST_YEARS and last >= max(20, min(28, 5 + 3 * first)):
        return "first"
    return ""
