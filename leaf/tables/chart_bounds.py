"""How much a chart may make a browser do: few rows and a short spec may ask for a billion ticks, and
whoever opens the chat would wait for them each time. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from leaf.errors import InvalidInputError

Json = dict[str, Any]
Nodes = Iterable[tuple[str, Json]]

MOST = {
    **dict.fromkeys(("tickCount", "maxbins"), 1_000),
    **dict.fromkeys(("steps", "minsteps", "maxsteps", "width", "height"), 10_000),
}
"""Key of a number -> the most that it may be."""
STEPS, FACETS = 1_000, 200
"""Bins or values that are counted up to, and small charts in one."""
_REPEATED_GROUP = re.compile(r"\)\s*[*+{]")
_WIDE = re.compile(r"\bpad\((?![^,]*,\s*\d{1,3}\s*[,)])")
_MATCHES = re.compile(r"\b(?:test|regexp)\s*\(")
_COMPUTED = re.compile(r"\b(?:test|regexp)\s*\(\s*(?!regexp\b|['\"])")


def check(nodes: Nodes) -> None:
    """Raises InvalidInputError where a spec alone asks for too much."""
    _refuse(f"{path}.{key}" for path, node in nodes for key in _endless(node))


def check_rows(nodes: Nodes, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Raises InvalidInputError where a spec asks for too much of these rows."""
    places = {column: number for number, column in enumerate(columns)}
    _refuse(path for path, node in nodes if _is_over(path, node, places, rows))


def _refuse(places: Iterable[str]) -> None:
    for place in places:
        where = place.lstrip(".")
        raise InvalidInputError(f"'{where}' asks for too much in one chart.", "Make it simpler.")


def _endless(node: Json) -> Iterator[str]:
    """Keys of an object under which it asks for too much."""
    yield from (key for key, most in MOST.items() if _number(node.get(key)) > most)
    sizes = ((key, node.get(key)) for key in ("width", "height"))
    yield from (key for key, size in sizes if isinstance(size, dict) and _is_wide(size))
    if "stop" in node and _steps(node.get("start", 0), node["stop"], node.get("step", 1)) > STEPS:
        yield "stop"
    if isinstance(bins := node.get("bins"), dict) and not {"start", "stop"} <= set(bins):
        yield "bins"
    if "quantile" in node and _steps(0, 1, node.get("step", 1)) > STEPS:
        yield "step"


def _is_wide(size: Json) -> bool:
    return _number(size.get("step")) > STEPS


def _is_over(
    path: str, node: Json, places: Mapping[str, int], rows: Sequence[Sequence[Any]]
) -> bool:
    """Whether a channel has more bins, or small charts, than anybody looks at."""
    field = node.get("field")
    name = re.sub(r"\\(.)", r"\1", field) if isinstance(field, str) else ""
    if name not in places:
        return False
    values = [row[places[name]] for row in rows]
    small = path.rpartition(".")[2] in ("row", "column", "facet")
    return _bins(node.get("bin"), values) > STEPS or (small and len(set(map(str, values))) > FACETS)


def is_slow(expression: str) -> bool:
    """Whether an expression may take longer than anybody waits: patterns that are tried in many
    ways, or that the rows bring, and long texts."""
    tried = _MATCHES.search(expression) and _REPEATED_GROUP.search(expression)
    return bool(tried or _COMPUTED.search(expression) or _WIDE.search(expression))


def _bins(given: Any, values: Sequence[Any]) -> float:
    step = given.get("step") if isinstance(given, Mapping) else None
    if step is None:
        return 0
    extent = given.get("extent")
    numbers = [v for v in values if isinstance(v, int | float)]
    ends = extent if isinstance(extent, list) and extent else numbers
    return _steps(min(ends), max(ends), step) if ends else 0


def _steps(start: Any, stop: Any, step: Any) -> float:
    if not all(isinstance(one, int | float) for one in (start, stop, step)):
        return 0
    return abs(stop - start) / abs(step) if step else float("inf")


def _number(value: Any) -> float:
    return abs(value) if isinstance(value, int | float) else 0
