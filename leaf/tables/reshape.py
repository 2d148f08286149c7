"""A chart changed by hand: another mark, other columns on its axes and for its colour. Pure."""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaf.errors import InvalidInputError
from leaf.tables import charts

Json = dict[str, Any]

MARKS = ("bar", "line", "area", "point", "pie")
_NUMBER = re.compile(
    r"^U?(TINY|SMALL|BIG|HUGE)?INT|^INTEGER|^UINTEGER|^DOUBLE|^FLOAT|^REAL|^DECIMAL"
)
_STRUCTURE = (
    "layer",
    "concat",
    "hconcat",
    "vconcat",
    "facet",
    "repeat",
    "spec",
)
_OF_EACH_ROW = ("filter", "calculate", "window", "joinaggregate", "timeUnit", "bin")
"""Transforms that leave the rows and columns of the result what they are, but for those that a
filter leaves out."""
_SMALL_ONES = ("row", "column", "facet")
"""Channels by which one chart becomes several."""


@dataclass(frozen=True)
class Choice:
    """What a chart shows. Empty where the chart says it in a way of its own, or not at all."""

    mark: str = ""
    """One of MARKS."""
    x: str = ""
    y: str = ""
    color: str = ""


def choice_of(spec: Mapping[str, Any], columns: Sequence[str]) -> Choice:
    """What can be chosen of a chart, as it is."""
    if any(key in spec for key in _STRUCTURE):
        return Choice()
    mark = spec.get("mark")
    kind = mark.get("type") if isinstance(mark, Mapping) else mark
    encoding = spec.get("encoding")
    if not isinstance(encoding, Mapping):
        return Choice()

    def column(*channels: str) -> str:
        for channel in channels:
            field = (
                encoding[channel].get("field")
                if isinstance(encoding.get(channel), Mapping)
                else None
            )
            plain = re.sub(r"\\(.)", r"\1", field) if isinstance(field, str) else ""
            if plain in columns:
                return plain
        return ""

    if kind == "arc":
        return Choice("pie", column("color"), column("theta"))
    known = {"circle": "point", "square": "point", "tick": "point", "trail": "line"}.get(
        str(kind), str(kind)
    )
    return Choice(known if known in MARKS else "", column("x"), column("y"), column("color"))


def reshaped(
    spec: Mapping[str, Any], columns: Sequence[str], types: Sequence[str], wanted: Choice
) -> Json:
    """The chart as it was chosen, checked as every other. What was not changed keeps its titles,
    formats and order.

    Rows that it leaves out stay out. Raises InvalidInputError where an axis is missing, or what it
    leaves out is no row of the result.
    """
    was = choice_of(spec, columns)
    if wanted == was:
        return dict(spec)
    transforms = spec.get("transform") or ()
    transforms_kept = _of_each_row(transforms)
    simple = was != Choice() and len(transforms_kept) == len(transforms)
    old_encoding: Mapping[str, Any] = spec["encoding"] if simple else {}
    kinds = dict(zip(columns, types, strict=False))
    _check_axes(wanted, old_encoding)
    changed: Json = {
        key: copy.deepcopy(value)
        for key, value in spec.items()
        if key in ("title", "config", "height", "width")
        or (key == "params" and simple and wanted.mark != "pie")
    }
    if transforms_kept:
        changed["transform"] = transforms_kept

    def channel(name: str, field: str, before: str, **extra: Any) -> Json:
        if simple and field == before and name in old_encoding:
            return {**copy.deepcopy(dict(old_encoding[name])), **extra}
        return {"field": field, "type": _type(kinds.get(field, ""), name, wanted.mark), **extra}

    if wanted.mark == "pie":
        changed["mark"] = {"type": "arc", "tooltip": True}
        encoding: Json = {
            "color": {"field": wanted.x, "type": "nominal", "sort": None},
            "theta": {"field": wanted.y, "type": "quantitative"},
        }
    else:
        mark = spec.get("mark") if simple and wanted.mark == was.mark else wanted.mark or "bar"
        changed["mark"] = copy.deepcopy(mark)
        encoding = {}
        for name, field, before in (
            ("x", wanted.x, was.x),
            ("y", wanted.y, was.y),
            ("color", wanted.color, was.color),
        ):
            if field:
                encoding[name] = channel(name, field, before)
                if (
                    encoding[name].get("type") in ("nominal", "ordinal")
                    and "sort" not in encoding[name]
                ):
                    encoding[name]["sort"] = None
            elif simple and not before and name in old_encoding and name != "color":
                encoding[name] = copy.deepcopy(dict(old_encoding[name]))
    for name in _SMALL_ONES:
        if name in old_encoding:
            encoding[name] = copy.deepcopy(old_encoding[name])
    changed["encoding"] = {
        name: value
        for name, value in encoding.items()
        if value.get("field") or name in old_encoding
    }
    return charts.check(changed, columns)


def _check_axes(wanted: Choice, old_encoding: Mapping[str, Any]) -> None:
    if wanted.mark == "pie" and not (wanted.x and wanted.y):
        raise InvalidInputError("Choose a column for the slices and one for their size.")
    if not (wanted.x or "x" in old_encoding) or not (wanted.y or "y" in old_encoding):
        raise InvalidInputError("Choose a column for each axis.")


def _of_each_row(transforms: Sequence[Json]) -> list[Json]:
    """The transforms before the first that makes other rows. Raises InvalidInputError where some
    of those are left out."""
    steady = list(
        itertools.takewhile(lambda one: any(key in one for key in _OF_EACH_ROW), transforms)
    )
    if any("filter" in one for one in transforms[len(steady) :]):
        raise InvalidInputError("This chart leaves out rows that it makes itself; ask for another.")
    return copy.deepcopy(steady)


def _type(kind: str, channel: str, mark: str) -> str:
    """How a column's values are drawn; years along bars stand beside each other."""
    if kind.startswith(("DATE", "TIMESTAMP")):
        return "temporal"
    if _NUMBER.match(kind):
        return "ordinal" if channel == "x" and mark == "bar" else "quantitative"
    return "nominal"
