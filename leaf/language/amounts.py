"""How much, and when: what budgets and boards say in English, in the language of whoever reads it:
`$1,204.50`, `2,000,000 tokens`, `December`, `at midnight (UTC)`, `3 Mar 2026, 14:02`."""

from __future__ import annotations

import calendar
import re

from leaf.language.dates import DATES
from leaf.language.text import ENGLISH, current, mark, n_, separated, t

WORDS = (mark("today"), mark("day"), mark("month"), mark("less than $0.0001"))
TOKENS = mark("{n} tokens")
MIDNIGHT = mark("at midnight ({zone})")
FIRST = mark("on 1 {month} ({zone})")
DAY = mark("{day} {month} {year}")
MONTHS = tuple(calendar.month_name[1:])
_SHORT = "|".join(month[:3] for month in MONTHS)
_MOMENT = re.compile(rf"(\d\d?) ({_SHORT}) (\d{{4}}), (\d\d:\d\d)")
_DOLLARS = re.compile(r"\$\d[\d,.]*")
_TOKENS = re.compile(r"(\d[\d,]*) tokens")
_ROWS = re.compile(r"(\d[\d,]*) rows?")
_MIDNIGHT = re.compile(r"at midnight \((.+)\)")
_FIRST = re.compile(rf"on 1 ({'|'.join(MONTHS)}) \((.+)\)")


def amount_told(text: str) -> str:
    """An amount, or a time, in the language of the page; what is neither is said as it is."""
    if current() == ENGLISH:
        return text
    if text in WORDS:
        return t(text)
    if text in MONTHS:
        return _month(text)
    if _DOLLARS.fullmatch(text):
        return separated(text)
    if match := _TOKENS.fullmatch(text):
        return t(TOKENS, n=separated(match[1]))
    if match := _ROWS.fullmatch(text):
        return n_("{n} row", "{n} rows", int(match[1].replace(",", "")))
    if match := _MIDNIGHT.fullmatch(text):
        return t(MIDNIGHT, zone=match[1])
    if match := _FIRST.fullmatch(text):
        return t(FIRST, month=_month(match[1]), zone=match[2])
    if match := _MOMENT.fullmatch(text):
        return f"{t(DAY, day=match[1], month=t(match[2]), year=match[3])}, {match[4]}"
    return text


def _month(english: str) -> str:
    names = DATES.get(current())
    return names.months[MONTHS.index(english)] if names else english
