"""When a day and a month begin and end, in one time zone for the whole installation. Pure: the
moment is given.

A day begins when the wall clock first shows its date, so it has 23 or 25 hours when clocks change,
and is never there twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal, get_args
from zoneinfo import ZoneInfo

from leaf.store.usage_days import midnight

Span = Literal["day", "month"]
Range = Literal["today", "7d", "30d", "month", "all"]
RANGES: tuple[Range, ...] = get_args(Range)


@dataclass(frozen=True)
class Period:
    """A day or a month."""

    span: Span
    first: date
    """Its first day in the time zone."""
    start: datetime
    """UTC, the first moment of it."""
    end: datetime
    """UTC, the first moment after it."""


def period(span: Span, moment: datetime, zone: ZoneInfo) -> Period:
    """The day or month in which a moment lies."""
    day = moment.astimezone(zone).date()
    first = day if span == "day" else day.replace(day=1)
    after = (
        first + timedelta(days=1) if span == "day" else (first + timedelta(days=31)).replace(day=1)
    )
    return Period(span, first, midnight(first, zone), midnight(after, zone))


def range_start(chosen: Range, moment: datetime, zone: ZoneInfo) -> datetime | None:
    """UTC moment at which a range begins that ends now; None for all. `7d` is today and the six
    days before."""
    today = moment.astimezone(zone).date()
    if chosen == "all":
        return None
    if chosen == "month":
        return midnight(today.replace(day=1), zone)
    days = {"today": 0, "7d": 6, "30d": 29}[chosen]
    return midnight(today - timedelta(days=days), zone)
