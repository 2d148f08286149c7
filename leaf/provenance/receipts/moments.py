"""Which of two numbers of a result is the later one: by a column of dates, years, quarters or
months, or by the columns' names. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from leaf.provenance.receipts.evidence import (
    TIME_NAME,
    EvidenceBook,
    ResultNumbers,
    Value,
    number_of,
)
from leaf.provenance.receipts.figures import MONTHS

Moment = tuple[int, ...]

FIRST_YEAR = 1_000
"""Smaller numbers that say when are months, quarters and the like."""
MOST_COLUMNS = 40
"""Columns whose names are compared with each other."""

_YEARS = r"(?:1[5-9]|20|21)\d\d"
_DAY = re.compile(rf"({_YEARS})(?:-(\d\d)(?:-(\d\d))?)?(?:[T ]\d\d:\d\d.*)?\Z")
_PART = re.compile(
    rf"(?:(?P<y1>{_YEARS})[ -]?)?(?P<kind>[qthks])(?P<n>[1-4])(?:[ /-]?(?P<y2>{_YEARS}))?\Z",
    re.IGNORECASE,
)
_FISCAL = re.compile(rf"(?:fy|gj|ex|cy)[ _-]?(?:({_YEARS})|(\d\d))\Z", re.IGNORECASE)
_MONTH = re.compile(rf"(?:(?P<y1>{_YEARS})[ -])?(?P<name>[^\W\d_]+)\.?(?:[ -](?P<y2>{_YEARS}))?\Z")
_YEAR_NAMES = ("year", "yr", "jahr", "année", "annee", "an", "año", "ano", "decade", "season")
"""In names of columns whose moments come before those of all other columns."""
_FIRST_AND_LAST = (
    "before/after previous/current previous/this prev/curr prev/current prior/current last/this "
    "old/new start/end begin/end "
    "beginning/end first/last initial/final pre/post opening/closing open/close vorher/nachher "
    "alt/neu anfang/ende avant/après "
    "avant/apres ancien/nouveau début/fin antes/después antes/despues anterior/actual "
    "inicial/final inicio/fin earlier/later"
)
_PAIRS = [pair.split("/") for pair in _FIRST_AND_LAST.split()]


def later(a: Value, b: Value, book: EvidenceBook) -> int:
    """1 where `a` is the later one of two cells that differ in their time alone, -1 where `b` is; 0
    where that is not known."""
    table = book.table_of(a)
    if table is None or table is not book.table_of(b) or (a.row != b.row) == (a.column != b.column):
        return 0
    return in_time(table, a.row, b.row) if a.row != b.row else _by_names(a.column, b.column)


def before(table: ResultNumbers) -> dict[int, int]:
    """For each row the one that comes just before it in time, if there is one that has its other
    words."""

    def compute() -> dict[int, int]:
        groups: dict[tuple[Any, ...], list[tuple[list[tuple[int, Moment]], int]]] = {}
        for row, (names, when) in enumerate(_keys(table)):
            if when:
                groups.setdefault((names, tuple(_sorts(when))), []).append((when, row))
        earlier_of: dict[int, int] = {}
        for rows in groups.values():
            rows.sort()
            earlier_of |= {
                row: earlier for (at, earlier), (when, row) in pairwise(rows) if at < when
            }
        return earlier_of

    return table.kept("before", compute)


def columns_before(table: ResultNumbers) -> dict[int, int]:
    """For each column of numbers the one that comes just before it in time by its name."""

    def compute() -> dict[int, int]:
        earlier_of: dict[int, int] = {}
        measures = [j for j in range(len(table.columns)) if table.is_measure(j)][:MOST_COLUMNS]
        for j in measures:
            earlier = [i for i in measures if _by_names(table.columns[j], table.columns[i]) > 0]
            newest = [
                i
                for i in earlier
                if not any(_by_names(table.columns[k], table.columns[i]) > 0 for k in earlier)
            ]
            if len(newest) == 1:
                earlier_of[j] = newest[0]
        return earlier_of

    return table.kept("columns before", compute)


def in_time(table: ResultNumbers, a: int, b: int) -> int:
    """By the cells that say when, if the rows have all their other words in common."""
    (names, first), (others, second) = _keys(table)[a], _keys(table)[b]
    if names != others or _sorts(first) != _sorts(second):
        return 0
    return (first > second) - (first < second)


def _sorts(when: Sequence[tuple[int, Moment]]) -> list[tuple[int, int, bool]]:
    """Of what sort moments are; `2024` is neither before nor after `Q1`."""
    return [(rank, len(at), _has_year(at)) for rank, at in when]


def _has_year(at: Moment) -> bool:
    return at[0] >= FIRST_YEAR


def _keys(table: ResultNumbers) -> list[tuple[tuple[str, ...], list[tuple[int, Moment]]]]:
    """For each row its words, and the moments of which it is, the years first."""

    def key(row: Sequence[Any]) -> tuple[tuple[str, ...], list[tuple[int, Moment]]]:
        cells = [
            (name, cell, moment(cell, name)) for name, cell in zip(table.columns, row, strict=False)
        ]
        words = tuple(
            cell
            for _, cell, at in cells
            if isinstance(cell, str) and not at and number_of(cell) is None
        )
        return words, sorted((_rank(name), at) for name, _, at in cells if at)

    return table.kept("moments", lambda: [key(row) for row in table.rows])


def _rank(name: str) -> int:
    return int(not any(word in name.casefold() for word in _YEAR_NAMES))


def _by_names(a: str, b: str) -> int:
    one, other = (re.split(r"[\W_]+", name.casefold()) for name in (a, b))
    one, other = _split(one), _split(other)
    if len(one) != len(other):
        return 0
    differ = [(x, y) for x, y in zip(one, other, strict=True) if x != y]
    if not differ:
        return 0
    if len(differ) == 1:
        x, y = differ[0]
        if [x, y] in _PAIRS or [y, x] in _PAIRS:
            return 1 if [y, x] in _PAIRS else -1
    moments = [(moment(x, "year"), moment(y, "year")) for x, y in differ]
    if not all(x and y and len(x) == len(y) and _has_year(x) == _has_year(y) for x, y in moments):
        return 0
    ordered = sorted(moments, key=lambda pair: not _has_year(pair[0]))
    first, second = [x for x, _ in ordered], [y for _, y in ordered]
    return (first > second) - (first < second)


def _split(words: list[str]) -> list[str]:
    """The words of a column's name; a year that hangs on a word stands apart."""
    return [
        piece for word in words for piece in re.split(rf"(?<=[a-z])(?={_YEARS}\b)", word) if piece
    ]


def moment(cell: Any, name: str) -> Moment:
    """When a cell is: the year and what is below it, as far as it says; empty for what is no
    time."""
    if isinstance(cell, bool) or cell is None:
        return ()
    if isinstance(cell, int | float):
        return (
            (int(cell),)
            if 0 < cell < 3_000 and cell == int(cell) and TIME_NAME.search(name)
            else ()
        )
    text = str(cell).strip()
    if day := _DAY.match(text):
        return tuple(int(part) for part in day.groups() if part)
    if part := _PART.match(text):
        return tuple(int(n) for n in (part["y1"] or part["y2"], part["n"]) if n)
    if fiscal := _FISCAL.match(text):
        return (int(fiscal[1] or 2_000 + int(fiscal[2])),)
    if (month := _MONTH.match(text)) and (number := MONTHS.get(month["name"].casefold())):
        return tuple(int(n) for n in (month["y1"] or month["y2"], number) if n)
    return ()
