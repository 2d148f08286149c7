"""The numbers behind a chart, as its file keeps them: a row of names, then a row for each category
or point."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from leaf.readers.documents.ooxml import attribute, child, local

_NOT_CODE = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.|_.|\*.')
_LAST_SERIAL = 2_956_000
"""Serial numbers up to here are dates from either origin; the year 9993."""

Labels = dict[int, tuple[str, ...]]


@dataclass(frozen=True)
class _Series:
    name: str
    labels: Labels
    values: dict[int, str]
    sizes: dict[int, str]


def chart_rows(root: Any) -> list[list[str]]:
    """Empty where the chart has no series. Series that stand at places of their own, as in a chart
    of points, have rows of their own, so that no value stands at the place of another."""
    origin = _origin(root)
    series = [_series(item, origin) for item in root.iter() if local(item) == "ser"]
    if not series:
        return []
    labels = _shared(series)
    groups = [(labels, series)] if labels is not None else [(s.labels, [s]) for s in series]
    width = max((len(categories) for each, _ in groups for categories in each.values()), default=1)
    head = [name for s in series for name in (s.name, *([_size(s)] if s.sizes else []))]
    rows = [[""] * width + head]
    for categories, members in groups:
        for index in sorted(
            set(categories).union(*(s.values.keys() | s.sizes.keys() for s in members))
        ):
            place = ("",) * (width - len(categories.get(index, ()))) + categories.get(index, ())
            rows.append([*place, *_cells(series, members, index)])
    return rows


def _cells(series: list[_Series], members: list[_Series], index: int) -> list[str]:
    cells = []
    for one in series:
        here = any(one is member for member in members)
        cells.append(one.values.get(index, "") if here else "")
        if one.sizes:
            cells.append(one.sizes.get(index, "") if here else "")
    return cells


def _size(series: _Series) -> str:
    return f"{series.name} (size)".strip()


def _shared(series: list[_Series]) -> Labels | None:
    """The labels of all series; None where two of them say different things of one place."""
    labels: Labels = {}
    for one in series:
        for index, label in one.labels.items():
            if labels.setdefault(index, label) != label:
                return None
    return labels


def _series(item: Any, origin: datetime) -> _Series:
    name = " ".join(_points(item, origin, "tx").values())
    values = _points(item, origin, "val", "yVal")
    return _Series(name, _labels(item, origin), values, _points(item, origin, "bubbleSize"))


def _labels(series: Any, origin: datetime) -> Labels:
    """Index -> its label, of one word for each level of categories, the outer one first."""
    levels = [level for part in series if local(part) in ("cat", "xVal") for level in _levels(part)]
    if not levels:
        return {n: (text,) for n, text in _points(series, origin, "cat", "xVal").items()}
    inner, *outer = (_read_points(level, origin) for level in levels)
    labels: Labels = {}
    current = [""] * len(outer)
    for index in sorted(inner.keys() | {n for level in outer for n in level}):
        for depth in range(len(outer) - 1, -1, -1):
            if index in outer[depth]:
                current[:depth] = [""] * depth
                current[depth] = outer[depth][index]
        labels[index] = (*reversed(current), inner.get(index, ""))
    return labels


def _levels(part: Any) -> list[Any]:
    return [item for item in part.iter() if local(item) == "lvl"]


def _points(series: Any, origin: datetime, *names: str) -> dict[int, str]:
    """Cached values of a series by their index."""
    values: dict[int, str] = {}
    for part in (item for item in series if local(item) in names):
        values = _read_points(part, origin) | values
    return values


def _read_points(part: Any, origin: datetime) -> dict[int, str]:
    codes = [item.text or "" for item in part.iter() if local(item) == "formatCode"]
    values: dict[int, str] = {}
    for point in (item for item in part.iter() if local(item) == "pt"):
        value, index = child(point, "v"), attribute(point, "idx")
        if value is not None and index.isdecimal() and len(index) < 8:
            code = attribute(point, "formatCode") or (codes[0] if codes else "")
            values.setdefault(int(index), _shown((value.text or "").strip(), code, origin))
    return values


def _shown(value: str, code: str, origin: datetime) -> str:
    """A value; one whose format is that of a date as this date."""
    plain = _NOT_CODE.sub("", code.split(";")[0]).lower().replace("general", "")
    if not re.search(r"[yd]|mmm", plain) or not re.fullmatch(r"\d{1,7}(?:\.\d+)?", value):
        return value
    if not 60 < float(value) <= _LAST_SERIAL:
        return value
    moment = origin + timedelta(seconds=round(float(value) * 86_400))
    timed = moment.hour or moment.minute or moment.second
    return moment.isoformat(" ") if timed else moment.date().isoformat()


def _origin(root: Any) -> datetime:
    """The day from which the serial numbers of dates are counted."""
    setting = next((item for item in root.iter() if local(item) == "date1904"), None)
    late = setting is not None and attribute(setting, "val") not in ("0", "false")
    return datetime(1904, 1, 1) if late else datetime(1899, 12, 30)
