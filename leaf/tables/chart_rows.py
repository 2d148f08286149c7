"""The rows of a chart as a browser reads them: a day is that day wherever the chart is looked at,
two numbers stay two, and what has no place on an axis of time has none. Pure."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from leaf.tables.charts import EXPRESSIONS, walk

Json = dict[str, Any]
Rows = Sequence[Sequence[Any]]

_DAY = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\dT[\d:.]+)(?:\+00:00|Z)")
_QUOTED_DAY = re.compile(r"(['\"])(\d{4}-\d\d-\d\d)\1")
_OF_DATES = (
    r"\b(?:time|toDate|date|day|dayofyear|year|quarter|month|week|hours|minutes|seconds|timeFormat)"
)
_PLACING = ("x", "y", "xOffset", "yOffset", "row", "column", "facet", "color", "theta", "radius")
_COMPARED = ("equal", "lt", "lte", "gt", "gte", "range", "oneOf", "datum", "domain")
EXACT = 2**53
"""Whole numbers up to here are all different to a browser."""


def placed(spec: Mapping[str, Any], columns: Sequence[str], rows: Rows) -> tuple[Json, Rows]:
    """A checked spec and its rows as they are drawn.

    A browser takes `2024-01-01` for midnight in Greenwich, and shows it in its own time: that is
    December in New York. So days are told with an hour, and moments without their distance from
    UTC, by which they stand in tables too.
    """
    drawn: Json = json.loads(json.dumps(spec))
    times = _of_time(drawn, columns)
    numbers = _of_long_numbers(drawn, columns, rows)
    _change_expressions(drawn, times)
    _change_literals(drawn, lambda node: _is_time(node) or _field(node) in times, _date)
    _change_literals(drawn, lambda node: _field(node) in numbers, _as_text)
    changes = [
        _local if name in times else _as_text if name in numbers else None for name in columns
    ]
    if any(changes):
        rows = [
            [change(v) if change else v for change, v in zip(changes, row, strict=True)]
            for row in rows
        ]
    _leave_out(drawn, columns, rows)
    return drawn, rows


def undated(spec: Mapping[str, Any], columns: Sequence[str], rows: Rows) -> int:
    """Rows that a chart does not show, since they have no place in its time."""
    at = {columns.index(name) for _, node in walk(spec) for name in _times(node, columns, _PLACING)}
    return sum(any(row[i] is None for i in at) for row in rows)


def _times(node: Json, columns: Sequence[str], among: Iterable[str]) -> Iterator[str]:
    """Columns by which a view places its rows in time."""
    encoding = node.get("encoding")
    channels = encoding if isinstance(encoding, dict) else {}
    for channel in map(channels.get, among):
        if isinstance(channel, dict) and _is_time(channel) and _field(channel) in columns:
            yield _field(channel)


def _is_time(channel: Mapping[str, Any]) -> bool:
    return "timeUnit" in channel or channel.get("type") == "temporal"


def _field(node: Mapping[str, Any]) -> str:
    """The column of a channel or a condition, whose name may be escaped."""
    field = node.get("field")
    return re.sub(r"\\(.)", r"\1", field) if isinstance(field, str) else ""


def _of_time(spec: Json, columns: Sequence[str]) -> set[str]:
    """Columns that a chart takes for times, but none that it counts in UTC itself."""
    nodes = [node for _, node in walk(spec)]
    expressions = [text for node in nodes for text in _expressions(node)]
    times = {_field(node) for node in nodes if _is_time(node)}
    utc = {_field(node) for node in nodes if _is_utc(node)}
    for name in columns:
        member = rf"\(\s*datum(?:\.{re.escape(name)}\b|\[\s*['\"]{re.escape(name)}['\"]\s*\])"
        if any(re.search(_OF_DATES + member, text) for text in expressions):
            times.add(name)
        if any(re.search(r"\butc\w+" + member, text) for text in expressions):
            utc.add(name)
    return (times - utc) & set(columns)


def _is_utc(node: Mapping[str, Any]) -> bool:
    unit, scale = node.get("timeUnit"), node.get("scale")
    named = unit.get("unit") if isinstance(unit, dict) else unit
    return (
        (isinstance(unit, dict) and bool(unit.get("utc")))
        or (isinstance(named, str) and named.startswith("utc"))
        or (isinstance(scale, dict) and scale.get("type") == "utc")
    )


def _expressions(node: Mapping[str, Any]) -> Iterator[str]:
    yield from (node[key] for key in EXPRESSIONS if isinstance(node.get(key), str))


def _local(value: Any) -> Any:
    return _told_local(value) if isinstance(value, str) else value


@functools.lru_cache(16_384)  # a chart is drawn at each run of its page, and has few days
def _told_local(value: str) -> str:
    if day := _DAY.fullmatch(value):
        year, month, of_month = day.groups()
        return f"{year}-{month or '01'}-{of_month or '01'}T00:00:00"
    moment = _MOMENT.fullmatch(value)
    return moment[1] if moment else value


def _of_long_numbers(spec: Json, columns: Sequence[str], rows: Rows) -> set[str]:
    """Columns of numbers that a browser cannot all tell apart, and that are names to the chart."""
    named = {_field(node) for _, node in walk(spec) if not _is_amount(node)} & set(columns)
    return {name for name in named if any(map(_is_long, _column(rows, columns.index(name))))}


def _is_amount(node: Mapping[str, Any]) -> bool:
    return node.get("type") == "quantitative" or bool({"aggregate", "bin"} & set(node))


def _column(rows: Rows, at: int) -> Iterator[Any]:
    return (row[at] for row in rows)


def _is_long(value: Any) -> bool:
    return isinstance(value, int) and abs(value) > EXACT


def _as_text(value: Any) -> Any:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_number else value


def _change_expressions(spec: Json, times: set[str]) -> None:
    """Days in expressions as what they are compared with: a date of an axis, else text as the
    rows have it."""
    parsed = {_field(node) for _, node in walk(spec) if _is_time(node)}
    for _, node in walk(spec):
        for key in EXPRESSIONS:
            text = node.get(key)
            if isinstance(text, str) and any(name in text for name in times):
                dated = any(name in text for name in times & parsed)
                node[key] = _QUOTED_DAY.sub(_datetime if dated else r"\1\2T00:00:00\1", text)


def _datetime(match: re.Match[str]) -> str:
    year, month, day = map(int, match[2].split("-"))
    return f"datetime({year}, {month - 1}, {day})"


def _change_literals(spec: Json, of: Callable[[Json], bool], change: Callable[[Any], Any]) -> None:
    """What a spec compares columns with, or places beside them, as their values are now."""
    for node in [node for _, node in walk(spec) if of(node)]:
        scale = node.get("scale")
        for holder in (node, scale) if isinstance(scale, dict) else (node,):
            holder.update(
                {key: _changed(holder[key], change) for key in _COMPARED if key in holder}
            )


def _changed(value: Any, change: Callable[[Any], Any]) -> Any:
    return [change(one) for one in value] if isinstance(value, list) else change(value)


def _date(value: Any) -> Any:
    """A day as Vega-Lite writes one, which takes a text for no place on an axis."""
    day = _DAY.fullmatch(value) if isinstance(value, str) else None
    if day is None:
        return value
    year, month, of_month = (int(part or 1) for part in day.groups())
    return {"year": year, "month": month, "date": of_month}


def _leave_out(spec: Json, columns: Sequence[str], rows: Rows) -> None:
    """Nothing is drawn without its time: it would stand at the year 1970."""
    for _, node in list(walk(spec)):
        for name in _times(node, columns, _PLACING):
            if any(value is None for value in _column(rows, columns.index(name))):
                known = {"filter": f"isValid(datum[{json.dumps(name)}])"}
                node["transform"] = [known, *node.get("transform", ())]
