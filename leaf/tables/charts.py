"""Vega-Lite specs from a model: checked before a page draws them. A spec may say how to draw rows,
never where to get any.

What a spec may not hold: data, URLs, images, maps, expressions outside a small set of functions,
columns that are not there. What is left must be valid by the Vega-Lite schema that altair ships.
"""

from __future__ import annotations

import difflib
import functools
import importlib.util
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from leaf.errors import InvalidInputError, not_found
from leaf.tables import chart_bounds
from leaf.tables.sql import is_number

Json = dict[str, Any]

MAX_BYTES = 20_000
MAX_DEPTH = 30
FORBIDDEN = {
    "data": "The rows are those of the result; leave 'data' out.",
    "datasets": "The rows are those of the result; leave 'datasets' out.",
    "url": "A chart may not load anything.",
    "href": "A chart may not link to anything.",
    "usermeta": "It has no meaning here.",
    "signal": "Use fixed values or fields.",
    "expr": "Use fixed values, fields, or a 'calculate' transform.",
    "lookup": "Join in the SQL query instead.",
    "from": "Join in the SQL query instead.",
    "bind": "Interactive inputs are not drawn here.",
    "customFormatTypes": "Use a d3 format.",
}
"""Key anywhere in a spec -> what to do instead."""
FORBIDDEN_MARKS = {
    "image": "A chart may not load pictures.",
    "geoshape": "There is no map data here.",
}
COMPOSITE_MARKS = ("boxplot", "errorbar", "errorband")
"""These bring a tooltip of their own."""
WORDS = {"title", "subtitle", "text", "description", "name"}
"""Keys whose strings are shown as text and never loaded."""
EXPRESSIONS = {"calculate", "filter", "test", "labelExpr"}
"""Keys whose value, if it is a string, is a Vega expression."""
FUNCTIONS = """
abs ceil floor round min max pow sqrt log exp sign clamp sin cos tan if isValid isNumber isString isDate isNaN isFinite toNumber
toString toDate toBoolean year quarter month week date day dayofyear hours minutes seconds datetime time utcyear utcquarter
utcmonth utcdate utcday utchours monthFormat monthAbbrevFormat dayFormat dayAbbrevFormat timeFormat utcFormat format length lower
upper trim substring slice split indexof lastindexof replace pad truncate parseFloat parseInt test regexp inrange extent span join
"""
NAMES = ("datum", "true", "false", "null", "NaN", "PI", "E", "LN2", "LN10", "SQRT2")
HOSTILE = re.compile(r"\b(constructor|prototype|__\w+__)\b")
COMPUTED_MEMBER = re.compile(r"[\w\])]\s*\[(?!\s*(?:''|\d+)\s*\])")
FIELD_LISTS = ("groupby", "fold", "flatten", "repeat")
FIELD_KEYS = (
    "density",
    "regression",
    "loess",
    "on",
    "quantile",
    "pivot",
    "value",
    "impute",
    "key",
    "stack",
    "extent",
)
"""Keys of a transform whose string is a field."""
PRODUCED = {
    "fold": ("key", "value"),
    "density": ("value", "density"),
    "quantile": ("prob", "value"),
    "regression": ("coef", "rSquared"),
}
"""Transform -> the fields it makes when it names none."""


_AMOUNTS = ("x", "y", "theta", "radius", "size")
_SAYS_TYPE = frozenset({"type", "aggregate", "bin", "timeUnit", "sort"})
"""What makes a channel more than its field; an order is one of names."""


def check(spec: Mapping[str, Any], columns: Sequence[str]) -> Json:
    """A drawable copy of `spec`: width, tooltips and escaped field names added. `columns` are those
    of the result.

    Raises InvalidInputError for what a spec may not hold, NotFoundError with the nearest names for
    an unknown field.
    """
    checked = _plain_copy(spec)
    checked.pop("$schema", None)
    _forbid(checked)
    _check_marks(checked)
    fields = _Fields(columns, checked)
    fields.check(checked)
    _validate(checked)
    chart_bounds.check(walk(checked))
    _add_defaults(checked)
    return checked


def _plain_copy(spec: Mapping[str, Any]) -> Json:
    """A copy that is JSON, small and not deep."""
    if not isinstance(spec, Mapping):
        raise InvalidInputError(
            "The spec is not an object.", 'Give a Vega-Lite object: {"mark": …, "encoding": {…}}.'
        )
    if _depth(spec) > MAX_DEPTH:
        raise InvalidInputError(
            f"The spec is nested more than {MAX_DEPTH} levels deep.", "Make it simpler."
        )
    try:
        text = json.dumps(spec, allow_nan=False)
    except (TypeError, ValueError) as e:
        raise InvalidInputError(f"The spec is not JSON: {e}.") from e
    if len(text) > MAX_BYTES:
        hint = "Put values into the query, not into the spec."
        raise InvalidInputError(
            f"The spec has {len(text):,} characters; the limit is {MAX_BYTES:,}.", hint
        )
    plain: Json = json.loads(text)
    return plain


def _depth(node: Any, level: int = 0) -> int:
    if level > MAX_DEPTH or not isinstance(node, Mapping | list | tuple):
        return level
    children = node.values() if isinstance(node, Mapping) else node
    return max((_depth(child, level + 1) for child in children), default=level)


def walk(node: Any, path: str = "") -> Iterator[tuple[str, Json]]:
    """Every object of the spec with its path."""
    if isinstance(node, dict):
        yield path, node
        for key, child in node.items():
            yield from walk(child, f"{path}.{key}" if path else str(key))
    elif isinstance(node, list):
        for index, child in enumerate(node):
            yield from walk(child, f"{path}[{index}]")


def _forbid(spec: Json) -> None:
    """Refuse keys that load, link or compute, and addresses in strings that are not shown as
    text."""
    for path, node in walk(spec):
        for key, value in node.items():
            if key in FORBIDDEN and not (key == "bind" and value in ("scales", "legend")):
                raise InvalidInputError(
                    f"'{_join(path, key)}' is not possible in a chart here.", FORBIDDEN[key]
                )
            if key in EXPRESSIONS:
                _check_expressions(value, _join(path, key))
            elif key not in WORDS:
                _refuse_addresses(value, _join(path, key))


def _refuse_addresses(value: Any, path: str) -> None:
    for text in [value] if isinstance(value, str) else value if isinstance(value, list) else []:
        if isinstance(text, str) and re.search(
            r"://|url\s*\(|^\s*(//|data:|javascript:|blob:|file:)", text, re.IGNORECASE
        ):
            raise InvalidInputError(f"'{path}' holds an address.", "A chart may not load anything.")


def _check_expressions(value: Any, path: str) -> None:
    """Strings under an expression key; a filter may combine several with and, or, not."""
    if isinstance(value, str):
        _check_expression(value, path)
    elif isinstance(value, dict):
        for key in ("and", "or", "not"):
            _check_expressions(value.get(key), path)
    elif isinstance(value, list):
        for part in value:
            _check_expressions(part, path)


def _check_expression(text: str, path: str) -> None:
    """Only `datum`, constants and a list of functions: what Vega's sandbox should hold back anyway
    does not reach it."""
    bare = re.sub(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", "''", text)
    names = re.findall(r"(?<![\w.$])[A-Za-z_$][\w$]*", bare)
    known = {*FUNCTIONS.split(), *NAMES}
    unknown = next((n for n in names if n not in known), None)
    if unknown:
        near = difflib.get_close_matches(unknown, known, n=1)
        hint = (
            f"Did you mean '{near[0]}'?"
            if near
            else "Compute it in the SQL query, or use datum['column']."
        )
        raise InvalidInputError(f"'{unknown}' is not possible in '{path}'.", hint)
    if (
        HOSTILE.search(text)
        or COMPUTED_MEMBER.search(bare)
        or re.search(r"[`;{}\\]|=>|(?<![=!<>])=(?!=)", bare)
        or chart_bounds.is_slow(text)
    ):
        raise InvalidInputError(
            f"The expression in '{path}' is not possible here.", "Compute it in the SQL query."
        )


def _check_marks(spec: Json) -> None:
    for path, node in walk(spec):
        mark = node.get("mark")
        kind = mark.get("type") if isinstance(mark, dict) else mark
        if isinstance(kind, str) and kind in FORBIDDEN_MARKS:
            raise InvalidInputError(f"'{_join(path, 'mark')}' is '{kind}'.", FORBIDDEN_MARKS[kind])


class _Fields:
    """The fields a spec may name: columns of the result and what its transforms make of them."""

    def __init__(self, columns: Sequence[str], spec: Json) -> None:
        self._columns = list(columns)
        self._made = set(_made_fields(spec))
        self._open = any("pivot" in t for t in _transforms(spec))
        """A pivot makes columns that only the rows could tell."""

    def check(self, spec: Json) -> None:
        """Check every field in place, and escape those that Vega would take for a path into a
        nested value."""
        for path, node in walk(spec):
            for key in list(node):
                self._check_entry(node, key, path)
        for transform in _transforms(spec):
            for key in FIELD_KEYS:
                if isinstance(transform.get(key), str):
                    transform[key] = self._known(transform[key], f"transform.{key}")

    def _check_entry(self, node: Json, key: str, path: str) -> None:
        value = node[key]
        if key == "field" and isinstance(value, str):
            node[key] = self._known(value, _join(path, key))
        elif key in FIELD_LISTS and isinstance(value, list):
            node[key] = self._all_known(value, _join(path, key))
        elif key == "repeat" and isinstance(value, dict):
            node[key] = {
                k: self._all_known(v, _join(path, key)) if isinstance(v, list) else v
                for k, v in value.items()
            }
        elif key in EXPRESSIONS and key != "labelExpr" and isinstance(value, str):
            for first, second in re.findall(
                r"datum\.([A-Za-z_$][\w$]*)|datum\[\s*['\"](.+?)['\"]\s*\]", value
            ):
                self._known(first or second, _join(path, key))

    def _all_known(self, names: list[Any], path: str) -> list[Any]:
        return [self._known(n, path) if isinstance(n, str) else n for n in names]

    def _known(self, name: str, path: str) -> str:
        if name in self._columns:
            return re.sub(r"([.\[\]\\])", r"\\\1", name)
        plain = re.sub(r"\\(.)", r"\1", name)
        if plain in self._columns or name in self._made or self._open or name == "*":
            return name
        whole = re.split(r"[.\[]", name)[0]
        if whole in self._columns or whole in self._made:
            return name
        raise not_found("field", name, [*self._columns, *sorted(self._made)], f"'{path}'")


def _transforms(spec: Json) -> Iterator[Json]:
    for _, node in walk(spec):
        if isinstance(transforms := node.get("transform"), list):
            yield from (t for t in transforms if isinstance(t, dict))


def _made_fields(spec: Json) -> Iterator[str]:
    """Everything that a transform names with `as`, and the names it takes without."""
    for _, node in walk(spec):
        aliases = node.get("as")
        for name in aliases if isinstance(aliases, list) else [aliases]:
            if isinstance(name, str):
                yield name
    for transform in _transforms(spec):
        for kind, names in PRODUCED.items():
            if kind in transform:
                yield from names


def _validate(spec: Json) -> None:
    """Raise InvalidInputError with the innermost thing that the schema does not know."""
    error = next(_validator().iter_errors({**spec, "data": {"name": "rows"}}), None)
    if error is not None:
        raise InvalidInputError(*_words(_innermost(error)))


@functools.cache
def _validator() -> Any:
    """The schema is 1.5 MB and takes 20 ms to read: once per process."""
    from jsonschema import Draft7Validator  # type: ignore[import-untyped] # it ships no types

    package = importlib.util.find_spec("altair")
    if package is None or not package.submodule_search_locations:
        raise InvalidInputError("Charts cannot be checked: altair is not installed.")
    folder = Path(package.submodule_search_locations[0]) / "vegalite"
    schema = sorted(folder.glob("v*/schema/vega-lite-schema.json"))[-1]
    return Draft7Validator(json.loads(schema.read_text(encoding="utf-8")))


def _innermost(error: Any) -> Any:
    """The error to tell a person: down through each 'not valid under any of the given schemas', by
    the one that fits best."""
    while error.context:
        nearest = min(_alternatives(error), key=lambda errors: _misfit(errors))
        error = min(nearest, key=lambda e: (_severity(e), -len(e.absolute_path)))
    return error


def _alternatives(error: Any) -> list[list[Any]]:
    """Errors of an `anyOf`, one list for each of its schemas."""
    by_schema: dict[int, list[Any]] = {}
    for inner in error.context:
        by_schema.setdefault(inner.schema_path[0], []).append(inner)
    return list(by_schema.values())


def _misfit(errors: list[Any]) -> tuple[int, int]:
    """How far a value is from a schema: the wrong sort of value is worse than a part missing, that
    worse than a wrong name."""
    return max(_severity(e) for e in errors), len(errors)


def _severity(error: Any) -> int:
    if error.context:
        return min(_misfit(errors)[0] for errors in _alternatives(error))
    if error.relative_path and error.validator not in ("const", "enum", "additionalProperties"):
        return 0
    return {"type": 3, "const": 2, "required": 2, "enum": 1, "additionalProperties": 1}.get(
        error.validator, 0
    )


def _wrong_and_known(error: Any) -> tuple[str, list[str]]:
    """The name or value that the schema does not know, and those that it does."""
    if error.validator == "additionalProperties":
        known = list(error.schema.get("properties", ()))
        return next((k for k in error.instance if k not in known), ""), known
    if error.validator in ("enum", "const"):
        values = error.validator_value if error.validator == "enum" else [error.validator_value]
        return str(error.instance), [v for v in values if isinstance(v, str)]
    return "", []


def _words(error: Any) -> tuple[str, str]:
    """Message and hint for a schema error."""
    path = error.json_path.removeprefix("$").lstrip(".") or "the spec"
    wrong, known = _wrong_and_known(error)
    near = difflib.get_close_matches(wrong, known, n=2, cutoff=0.5)
    hint = "Did you mean " + " or ".join(f"'{n}'" for n in near) + "?" if near else ""
    if not hint and known:
        hint = "Possible: " + ", ".join(known[:15]) + ("…" if len(known) > 15 else "") + "."
    if error.validator == "additionalProperties":
        return f"Vega-Lite knows no '{wrong}' in {path}.", hint
    if error.validator in ("enum", "const"):
        return f"'{wrong[:80]}' is not possible in {path}.", hint
    if error.validator == "required":
        return f"In {path} {error.message[:160]}.", hint
    return f"Vega-Lite does not take {json.dumps(error.instance)[:80]} in {path}.", hint


def _add_defaults(spec: Json) -> None:
    """As wide as its place, where Vega-Lite can do that, and a tooltip on every mark."""
    single = any(key in spec for key in ("mark", "layer"))
    faceted = isinstance(encoding := spec.get("encoding"), dict) and {
        "row",
        "column",
        "facet",
    } & set(encoding)
    if single and not faceted:
        spec.setdefault("width", "container")
    for _, node in list(walk(spec)):
        mark = node.get("mark")
        if isinstance(mark, str) and mark not in COMPOSITE_MARKS:
            node["mark"] = {"type": mark, "tooltip": True}
        elif isinstance(mark, dict) and mark.get("type") not in COMPOSITE_MARKS:
            mark.setdefault("tooltip", True)


def with_types(spec: Mapping[str, Any], types: Mapping[str, str]) -> Json:
    """A checked spec in which amounts and dates on the axes are drawn as such where it does not say
    what they are; Vega-Lite would draw each amount as a name. `types`: those of SQL by column.

    A number along the bottom with another one above it stays as it is: it may be a year.
    """
    typed_spec: Json = json.loads(json.dumps(spec))
    for _, node in list(walk(typed_spec)):
        encoding = node.get("encoding")
        if not isinstance(encoding, dict):
            continue
        kinds = {channel: _kind(encoding.get(channel), types) for channel in _AMOUNTS}
        if kinds["x"] == kinds["y"] == "quantitative":
            kinds["x"] = ""
        for channel, kind in kinds.items():
            if kind and not _SAYS_TYPE & set(encoding[channel]):
                encoding[channel]["type"] = kind
    return typed_spec


def _kind(channel: Any, types: Mapping[str, str]) -> str:
    field = channel.get("field") if isinstance(channel, dict) else None
    plain = re.sub(r"\\(.)", r"\1", field) if isinstance(field, str) else ""
    sql = types.get(plain, "")
    if is_number(sql):
        return "quantitative"
    return "temporal" if sql.startswith(("DATE", "TIMESTAMP")) and not sql.endswith("]") else ""


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
