"""What a chart needs to be read well wherever it is drawn: room for its bars, labels on them, and
figures and dates as the reader's language writes them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leaf.language.dates import DATES
from leaf.language.text import SEPARATORS, current

Json = dict[str, Any]

STEP = 18
"""Pixels that a bar and its label need at least."""
DISCRETE = ("nominal", "ordinal")
CONFIG: Json = {"axisDiscrete": {"labelFlush": False}}
"""The page's theme moves the first and the last label of an axis inward: off their bars."""


def readable(
    spec: Mapping[str, Any], columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> Json:
    """The spec as it is drawn for whoever reads it now."""
    config = spec.get("config")
    own = config if isinstance(config, Mapping) else {}
    return {**_roomy(spec, columns, rows), "config": {**CONFIG, **_locale(), **own}}


def least_height(
    spec: Mapping[str, Any], columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> int:
    """Pixels that the names along the vertical axis need; 0 where it has none."""
    encoding = spec.get("encoding")
    y = encoding.get("y") if isinstance(encoding, Mapping) else None
    if not isinstance(y, Mapping) or y.get("type") not in DISCRETE or y.get("field") not in columns:
        return 0
    at = list(columns).index(str(y["field"]))
    return len({str(row[at]) for row in rows}) * STEP


def _roomy(spec: Mapping[str, Any], columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Json:
    """Without a height in which its bars are lower than their labels: then each has its step."""
    height, needed = spec.get("height"), least_height(spec, columns, rows)
    squeezed = isinstance(height, int | float) and height < needed
    return {key: value for key, value in spec.items() if not (squeezed and key == "height")}


def _locale() -> Json:
    """Vega's for the reader's language; none for English, which it speaks by itself."""
    names = DATES.get(current())
    if names is None:
        return {}
    thousands, decimals = SEPARATORS.get(current(), (",", "."))
    number = {"decimal": decimals, "thousands": thousands, "grouping": [3], "currency": ["$", ""]}
    time = {
        "dateTime": names.whole,
        "date": names.date,
        "time": "%H:%M:%S",
        "periods": ["AM", "PM"],
        "days": list(names.days),
        "shortDays": list(names.short_days),
        "months": list(names.months),
        "shortMonths": list(names.short_months),
    }
    return {"locale": {"number": number, "time": time}}
