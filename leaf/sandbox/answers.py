"""What a child may say: a line is measured before anything is built of it, and parsed once, against
the type that its caller expects. Nothing else of it is believed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from leaf import errors
from leaf.sandbox.limits import CallLimits

T = TypeVar("T")
DEPTH = 100
"""Lists and objects inside one another."""
OFTEN = 0.1
"""Seconds between two words on how far a call is that are passed on."""
FARTHEST = 1 << 62
MESSAGE = 4_000
"""Characters of an error's words that are kept."""
OTHERS = bytes(set(range(256)) - set(b',[]{}"'))
"""What is neither a mark of JSON's structure nor the end of a string."""
RAISED = frozenset(
    {
        *("FileError", "UnreadableFileError", "EncryptedFileError", "FileTooLargeError"),
        *("NotFoundError", "InvalidInputError", "QueryError"),
        *("SandboxError", "SandboxTimeoutError", "SandboxMemoryError"),
    }
)
"""Errors that a function of a child raises. Others are about people, the store or a stop, of which
a child knows nothing."""


class CallEnd(Generic[T]):
    """How a call ended."""


@dataclass(frozen=True)
class CallValue(CallEnd[T]):
    """The value of a call."""

    value: T


@dataclass(frozen=True)
class RaisedError(CallEnd[Any]):
    """An error of Leaf that the function raised."""

    error: errors.LeafError


@dataclass(frozen=True)
class Breakdown(CallEnd[Any]):
    """The function ended in a way that nobody meant."""

    details: str = ""
    """For whoever asked the log for words."""
    trace: str = ""
    """The same without what was said, for the log."""
    memory: bool = False
    disk_full: bool = False
    too_big: bool = False


OnProgress = Callable[[int, int], None]
"""How much is done of how much."""


@dataclass(frozen=True)
class _ErrorSaid:
    message: str
    hint: str


class Parser(Generic[T]):
    """Parses the lines of a child that was called."""

    def __init__(
        self, returns: type[T], limits: CallLimits, on_progress: OnProgress | None = None
    ) -> None:
        self._returns = returns
        self._limits = limits
        self._on_progress = on_progress
        self._told_at = 0.0

    def __call__(self, line: bytes) -> CallEnd[T] | None:
        """How the call ended; None for a line that only says how far it is. Raises SandboxError for
        any that is none of these."""
        match loaded(line, self._limits):
            case {"value": value}:
                return CallValue(checked(value, self._returns))
            case {"error": {"class": str(name), **details}}:
                return RaisedError(_raised(name, checked(details, _ErrorSaid)))
            case {"memory": True}:
                return Breakdown(memory=True)
            case {"failure": failure}:
                return checked(failure, Breakdown)
            case {"progress": [int(done), int(total)]} if 0 <= min(done, total) <= FARTHEST:
                self._tell(min(done, total), min(total, FARTHEST))
                return None
        raise unreadable()

    def _tell(self, done: int, total: int) -> None:
        """It is for people to see, and nothing rests on it: what comes too often is left out."""
        now = time.monotonic()
        if self._on_progress is not None and now > self._told_at + OFTEN:
            self._told_at = now
            self._on_progress(done, total)


def loaded(line: bytes, limits: CallLimits) -> Any:
    """A line as plain JSON, if it is no longer and holds no more values than it may. Raises
    SandboxError."""
    if len(line) > limits.answer_mb * 1024**2 or _is_over(line, limits.items):
        raise too_long()
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as e:
        raise unreadable() from e


def checked(value: Any, returns: type[T]) -> T:
    """Plain JSON as a value of a type. Raises SandboxError where it is none."""
    try:
        typed_value: T = _adapter(returns).validate_python(value)
    except (ValidationError, RecursionError) as e:
        raise unreadable() from e
    return typed_value


def plain(value: Any) -> Any:
    """A value as plain JSON, as it is kept."""
    return _adapter(type(value)).dump_python(value, mode="json")


def unreadable() -> errors.SandboxError:
    return errors.SandboxError("The process that did this work gave an answer that cannot be read.")


def too_long() -> errors.SandboxError:
    return errors.SandboxError(
        "The process that did this work gave an answer that is too long.", "Ask for a smaller part."
    )


def _adapter(returns: Any) -> TypeAdapter[Any]:
    if returns not in _ADAPTERS:
        _ADAPTERS[returns] = TypeAdapter(returns)
    return _ADAPTERS[returns]


_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


def _raised(name: str, details: _ErrorSaid) -> errors.LeafError:
    kind = getattr(errors, name) if name in RAISED else errors.SandboxError
    error: errors.LeafError = kind(details.message[:MESSAGE], details.hint[:MESSAGE])
    return error


def _is_over(line: bytes, most: int) -> bool:
    """Whether a line holds more values than that, or nests them deeper than `DEPTH`; found without
    making an object for each."""
    opened = line.count(b"[") + line.count(b"{")
    if opened <= DEPTH and opened + line.count(b",") <= most:
        return False
    if b"\\" in line:
        line = line.replace(b"\\\\", b"").replace(b'\\"', b"")
    marks = line.translate(None, OTHERS).replace(b'""', b"")
    if marks.count(b'"') > 4 * most:
        return True
    outside = b"".join(marks.split(b'"')[::2])
    if sum(outside.count(mark) for mark in (b",", b"[", b"{")) > most:
        return True
    nested = outside.replace(b",", b"")
    for _ in range(DEPTH):
        if not nested:
            return False
        nested = nested.replace(b"[]", b"").replace(b"{}", b"")
    return bool(nested)
