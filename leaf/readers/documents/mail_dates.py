"""When a mail was sent, as its `Date` says it: in UTC, and whether it names a zone that is known."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

_OFFSET = re.compile(r"\s*(?:GMT|UTC|UT)?\s*([+-]\d{2}):?([0-5]\d)\b(?!\s*:)")
_TIME = re.compile(r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?")
_HALF = re.compile(r"(\d{1,2})([:.]\d{2}(?:[:.]\d{2})?)\s*([ap])\.?m\b\.?", re.I)
"""A time of twelve hours."""
_UNIVERSAL = re.compile(r"(?:[+-]0000\b|\bUTC?\b|\bGMT\b|\d\s*Z\b)", re.I)
_ISO = re.compile(r"\s*\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
_FRACTION = re.compile(r"(:\d\d)\.\d+")
_ZONES = {
    hours: names.split()
    for hours, names in (
        (0, "WET"),
        (1, "CET MET MEZ WEST"),
        (2, "CEST MEST MESZ EET"),
        (3, "EEST MSK"),
        (9, "JST KST"),
        (10, "AEST"),
        (11, "AEDT"),
        (12, "NZST"),
        (13, "NZDT"),
    )
}
"""Hours before UTC of zones that the standard library does not know, where a name is one zone."""
_NAME = re.compile(r"[A-Z]{2,5}\b")


def sent_at(text: str) -> tuple[datetime | None, bool]:
    """The moment, None where it cannot be read, and whether its zone is known; without one it is
    taken for UTC."""
    try:
        moment, zoned = _iso(text) if _ISO.match(text) else _of_mail(text)
        return moment.astimezone(UTC), zoned
    except (ValueError, TypeError, IndexError, OverflowError):
        return None, True


def _iso(text: str) -> tuple[datetime, bool]:
    plain = _OFFSET.sub(r"\1:\2", _FRACTION.sub(r"\1", text.strip()), count=1)
    moment = datetime.fromisoformat(plain)
    return (moment, True) if moment.tzinfo else (moment.replace(tzinfo=UTC), False)


def _of_mail(text: str) -> tuple[datetime, bool]:
    time = _TIME.search(text)
    end = time.end() if time else 0
    text = text[:end] + _OFFSET.sub(r" \1\2", text[end:], count=1)
    half = _HALF.search(text)
    if half:
        text = text[: half.start()] + half[1] + half[2] + text[half.end() :]
    moment = parsedate_to_datetime(text)
    if 99 < moment.year < 1000:
        moment = moment.replace(year=moment.year + 1900)
    if half:
        moment += timedelta(hours=12 * (half[3].lower() == "p") - 12 * (moment.hour == 12))
    if moment.tzinfo:
        return moment, True
    moment = moment.replace(tzinfo=UTC)
    names = _NAME.findall(text[end:])
    hours = next((hours for hours, zones in _ZONES.items() if set(zones) & set(names)), None)
    if hours is None:
        return moment, bool(_UNIVERSAL.search(text[end:]))
    return moment - timedelta(hours=hours), True
