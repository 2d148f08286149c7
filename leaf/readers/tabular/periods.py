"""Periods as offices and banks write them: `2024`, `2024 Q1`, `2024 JAN`, `M01`, `1. Quartal`; how long
each is, and which of them cover others. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from enum import IntEnum
from functools import lru_cache
from typing import Any

from leaf.readers.tabular.cells import kind_of
from leaf.readers.tabular.months import LANGUAGES, names_of

LONGEST = 30
"""Characters of a period."""


class Length(IntEnum):
    """Of a period, the longest last."""

    DAY = 0
    WEEK = 1
    MONTH = 2
    QUARTER = 3
    HALF = 4
    YEAR = 5


@dataclass(frozen=True)
class NamedPeriod:
    """A stretch of time that a text names."""

    length: Length
    year: int = 0
    """0 where the text tells none."""
    number: int = 0
    """Which week, month, quarter or half of the year; of a day its month. 0 where none is told."""

    def around(self) -> list[NamedPeriod]:
        """The longer periods that cover it."""
        month = NamedPeriod(Length.MONTH, self.year, self.number)
        longer = [month] if self.length is Length.DAY and self.number else []
        if self.length is Length.MONTH:
            longer.append(NamedPeriod(Length.QUARTER, self.year, (self.number + 2) // 3))
            longer.append(NamedPeriod(Length.HALF, self.year, (self.number + 5) // 6))
        if self.length is Length.QUARTER:
            longer.append(NamedPeriod(Length.HALF, self.year, (self.number + 1) // 2))
        if self.length < Length.YEAR and (self.year or self.length > Length.WEEK):
            longer.append(NamedPeriod(Length.YEAR, self.year))
        return longer


_YEAR = r"(?:1[5-9]|20)\d\d"
_GAP = r"[ \u00a0._/:-]{0,3}"
_DATED = re.compile(rf"({_YEAR}){_GAP}(.*[^ ])|(.*?[\w.]){_GAP}({_YEAR})")
_BOTH = re.compile(rf"{_YEAR}(?:\.0)?|(?:FY|CY) ?{_YEAR}", re.ASCII)
_DAY = re.compile(rf"({_YEAR})[-/.](0?[1-9]|1[0-2])[-/.][0-3]?\d(?:[T ].*)?$", re.ASCII)
_ORDINAL = r"(?:st|nd|rd|th|er|[eè]me|[.ºª°])?"
_NUMBER = r"(?P<n>[1-4]|i{1,3}|iv)"
_QUARTERS = (
    r"quarters?|qtr\.?|quartal|trimestres?|trimestri|trim\.?|kwarta[łl]|kwartaal|kvartal|квартал"
)
_HALVES = r"half(?:[ -]?year)?|halbjahr|semest(?:re|er)|hy|halvår|полугодие"
_PARTS: tuple[tuple[Length, re.Pattern[str]], ...] = (
    (Length.QUARTER, re.compile(r"(?i)[qtk]0?(?P<n>[1-4])")),
    (Length.QUARTER, re.compile(r"(?i)(?P<n>[1-4])q")),
    (Length.QUARTER, re.compile(rf"(?i){_NUMBER}{_ORDINAL} ?(?:{_QUARTERS})")),
    (Length.QUARTER, re.compile(rf"(?i)(?:{_QUARTERS}) ?(?P<n>[1-4])")),
    (Length.HALF, re.compile(r"(?i)[hs]0?(?P<n>[12])")),
    (Length.HALF, re.compile(r"(?i)(?P<n>[12])h")),
    (Length.HALF, re.compile(rf"(?i){_NUMBER}{_ORDINAL} ?(?:{_HALVES})")),
    (Length.MONTH, re.compile(r"(?i)m(?P<n>0[1-9]|1[0-2])")),
    (Length.WEEK, re.compile(r"(?i)(?:w|kw)(?P<n>\d\d?)")),
    (Length.YEAR, re.compile(r"M13|Q05|S03|A01")),
    (
        Length.YEAR,
        re.compile(
            r"(?i)(?:full |whole |calendar |fiscal )?year|annual|fy|gesamtjahr|jahr|ann[ée]e|año|anual"
        ),
    ),
)
"""Parts of a year. `M13`, `Q05`, `S03` and `A01` are the years among the months, quarters and halves
of the Bureau of Labor Statistics."""
_COUNTED_MONTH = re.compile(r"M?(?:0?(?P<n>[1-9])|(?P<m>1[0-2]))")
"""A month where a year stands beside it."""
_WORD = re.compile(rf"(?P<w>[^\W\d_]{{3,}})\.?(?:{_GAP}'?(?P<y>\d\d))?")


def period_of(cell: Any) -> NamedPeriod | None:
    """What a cell says, if it is a period and nothing else."""
    if isinstance(cell, date):
        return NamedPeriod(Length.DAY, cell.year, cell.month)
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    text = "" if isinstance(cell, bool) or cell is None else str(cell).strip()
    return _period(text) if 0 < len(text) <= LONGEST else None


@lru_cache(maxsize=10_000)
def _period(text: str) -> NamedPeriod | None:
    if _BOTH.fullmatch(text):
        return NamedPeriod(Length.YEAR, int(re.sub(r"\.0$|\D", "", text)))
    if day := _DAY.match(text):
        return NamedPeriod(Length.DAY, int(day[1]), int(day[2]))
    if kind_of(text) == "d":
        year = re.search(rf"(?<!\d){_YEAR}(?!\d)", text)
        return NamedPeriod(Length.DAY, int(year[0]) if year else 0)
    dated = _DATED.fullmatch(text)
    if not dated:
        return _part_of(text, 0)
    return _part_of(dated[2] or dated[3], int(dated[1] or dated[4]))


def _part_of(text: str, year: int) -> NamedPeriod | None:
    """A part of a year, of which 0 is not known."""
    for length, pattern in _PARTS:
        if match := pattern.fullmatch(text):
            number = match.groupdict().get("n") or "0"
            return NamedPeriod(length, year, _ROMAN.get(number.lower()) or int(number))
    if year and (match := _COUNTED_MONTH.fullmatch(text)):
        return NamedPeriod(Length.MONTH, year, int(match["n"] or match["m"]))
    match = _WORD.fullmatch(text)
    number = _month_number(match["w"].lower()) if match else 0
    if not match or not number or (year and match["y"]):
        return None
    short = int(match["y"]) if match["y"] else None
    if short is not None:
        year = short + (2000 if short < 69 else 1900)
    return NamedPeriod(Length.MONTH, year, number)


_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4}


def _month_number(word: str) -> int:
    """Of the first language that knows a word; 0 where none does."""
    return next((names[word] for names in map(names_of, LANGUAGES) if word in names), 0)


TIME_NAME = re.compile(
    r"(?i)(?:\w+[ _])?\w*(?:date|datum|dato|fecha|day|tag|month|monat|mois|mes|year|jahr|année|annee|año|period|"
    r"quart|time|zeit|week|woche)\w*"
)
"""What a column of periods is called."""


def is_period(cell: Any) -> bool:
    """Whether a cell names a day, a month, a year or the like, and nothing else."""
    return period_of(cell) is not None


def covering(periods: Iterable[NamedPeriod]) -> set[NamedPeriod]:
    """Those of some periods that cover shorter ones among them."""
    among = set(periods)
    return among & {longer for period in among for longer in period.around()}
