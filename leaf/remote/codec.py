"""Calls, values and errors as JSON, and back. Values are rebuilt by the types of
`contract.Commands`.

    {"method": "chats.get", "arguments": {"chat_id": "…"}}  →  {"value": …}  or  {"error": {"type", "message", "hint"}}

A method of a session stands behind the name of its part. A scope never crosses: the app acts for
its local user, whatever a caller says.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError

from leaf import errors
from leaf.errors import InvalidInputError, LeafError
from leaf.files.library import Added
from leaf.remote.contract import METHODS, Commands, SessionCommands
from leaf.shapes.results import ToolResult


@dataclass(frozen=True)
class Method:
    """A method that may be called."""

    name: str
    part: str
    """The part of a session that has it; empty for one of Leaf itself."""
    signature: inspect.Signature
    """Without `self`."""
    types: dict[str, TypeAdapter[Any]]
    """Of its parameters, and under `return` of its value."""


@lru_cache
def method(name: str) -> Method:
    """Raises InvalidInputError for a name that is not on the list."""
    if name not in METHODS:
        raise InvalidInputError(f"The app offers no '{name[:80]}' to commands.")
    part, _, own = name.rpartition(".")
    function = getattr(_part(part) if part else Commands, own)
    hints = get_type_hints(function)
    parameters = list(inspect.signature(function).parameters.values())[1:]
    types = {key: TypeAdapter(hints[key]) for key in (*(p.name for p in parameters), "return")}
    return Method(own, part, inspect.Signature(parameters), types)


def _part(name: str) -> Any:
    """What commands use of a part of a session."""
    return get_type_hints(getattr(SessionCommands, name).fget)["return"]


def pack_call(name: str, values: tuple[Any, ...], named: dict[str, Any]) -> bytes:
    """A call as it is sent."""
    bound = method(name).signature.bind(*values, **named)
    return to_json({"method": name, "arguments": bound.arguments})


def unpack_call(body: bytes) -> tuple[Method, dict[str, Any]]:
    """The method and its checked arguments. Raises InvalidInputError for anything that is not a
    call."""
    call = from_json(body)
    if not isinstance(call, dict) or not isinstance(call.get("method"), str):
        raise InvalidInputError("This is not a call.")
    called = method(call["method"])
    try:
        bound = called.signature.bind(**call.get("arguments", {}))
        return called, {
            key: called.types[key].validate_python(value) for key, value in bound.arguments.items()
        }
    except (TypeError, ValidationError) as e:
        raise InvalidInputError(f"'{called.name}' was not called with what it takes.") from e


def pack_value(value: object) -> bytes:
    """An answer."""
    return to_json({"value": value})


def unpack_value(name: str, value: object) -> Any:
    """The value of a method's answer, as the dataclasses that the method gives."""
    return _rebuilt(method(name).types["return"], value)


def unpack_added(value: object) -> Added:
    """What became of an uploaded file."""
    added: Added = _rebuilt(TypeAdapter(Added), value)
    return added


def pack_error(error: LeafError) -> bytes:
    """An answer that says what went wrong."""
    return to_json(
        {"error": {"type": type(error).__name__, "message": error.message, "hint": error.hint}}
    )


def unpack_error(given: Mapping[str, object]) -> LeafError:
    """The same error; one of a class that is not known here is a plain LeafError."""
    error_class = getattr(errors, str(given.get("type")), None)
    known = (
        error_class
        if isinstance(error_class, type) and issubclass(error_class, LeafError)
        else LeafError
    )
    return known(str(given.get("message", "")), str(given.get("hint", "")))


def to_json(value: object) -> bytes:
    """Half a surrogate pair, which the command line gives for a byte that is no text, becomes a
    question mark."""
    return json.dumps(value, ensure_ascii=False, default=_plain).encode("utf-8", "replace")


def from_json(body: bytes) -> Any:
    """Raises InvalidInputError."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as e:
        raise InvalidInputError("This is not JSON.") from e


def _plain(value: object) -> object:
    if isinstance(value, ToolResult):
        return value.to_json()
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in fields(value)}
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _rebuilt(adapter: TypeAdapter[Any], value: object) -> Any:
    try:
        return adapter.validate_python(value)
    except ValidationError as e:
        raise LeafError(
            "The app answered in a way that is not understood here.", "Restart the app."
        ) from e
