"""What Leaf writes into its log: one line an event, in words or as JSON, never a word of a question,
an answer or a file.

An event has a name and fields. `watch` hears of each, which is all that the metrics know. What an
error says may hold a column, a cell or the name of a file, so of an error the log has its kind and
the places in the code, whoever writes it: Streamlit and DBOS, too.
"""

from __future__ import annotations

import errno
import json
import logging
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any, TextIO

from leaf.errors import LeafError, RunError, StorageError, StoreError

Watcher = Callable[[str, Mapping[str, Any]], None]
_ROOT = "leaf"
_BEHIND = "behind it: "
_LINE = re.compile(
    rf"(?:{_BEHIND})?[\w.]{{1,100}}(?: \(\w{{1,20}}\))?|  [\w./<>-]{{1,200}}:\d+ in [\w<>]{{1,100}}"
)
"""What `trace` writes, and nothing else."""
_DEPTH, _FRAMES = 20, 40
_watchers: list[Watcher] = []


def event(logger: logging.Logger, name: str, **fields: str | float | bool) -> None:
    """Log that something happened. Field values are names, numbers and switches, not content."""
    for watcher in _watchers:
        watcher(name, fields)
    told = " ".join(f"{key}={_word(value)}" for key, value in fields.items())
    logger.info("%s %s", name, told, extra={"event": name, "fields": fields})


def watch(watcher: Watcher) -> Callable[[], None]:
    """Call it with the name and fields of each event from here on, in the thread in which it
    happens; what is returned ends that."""
    _watchers.append(watcher)
    return lambda: _watchers.remove(watcher)


def set_up(form: str = "", out: TextIO | None = None) -> None:
    """Write the log of this process: in words or, with `json`, as an object a line; with `quiet`
    only what is wrong; with `full` also what errors say. A second call takes the place of the
    first."""
    logging.setLogRecordFactory(logging.LogRecord if form == "full" else _record_without_words)
    root = logging.getLogger(_ROOT)
    for handler in [one for one in root.handlers if isinstance(one, LogWriter)]:
        root.removeHandler(handler)
    root.addHandler(LogWriter(form, out or sys.stderr))
    root.setLevel(logging.WARNING if form == "quiet" else logging.INFO)


def reason(error: BaseException) -> str:
    """Why something failed, for a line of the log: of the database and of runs what the error says,
    which names no file and no chat; of any other its kind."""
    told = isinstance(error, StoreError | RunError) and not isinstance(error, StorageError)
    return error.message if told and isinstance(error, LeafError) else _kind(error)


def trace(error: BaseException) -> str:
    """The kind of an error and of those behind it, each with its places in the code, innermost
    last; not a word of what they say."""
    return "\n".join(_trace(error))


def plain(told: str) -> str:
    """A `trace` that came from a child, without what is none."""
    return "\n".join(line for line in told.splitlines()[:200] if _LINE.fullmatch(line))


def _trace(error: BaseException) -> Iterator[str]:
    seen: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in seen and len(seen) < _DEPTH:
        yield f"{_BEHIND if seen else ''}{_kind(cause)}"
        for frame, line in list(traceback.walk_tb(cause.__traceback__))[-_FRAMES:]:
            place = "/".join(PurePath(frame.f_code.co_filename).parts[-3:])
            yield f"  {place}:{line} in {frame.f_code.co_name}"
        seen.append(cause)
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)


def _kind(error: BaseException) -> str:
    """Its class, and the number that the system or a database has for it."""
    number = errno.errorcode.get(getattr(error, "errno", None) or 0, "")
    state = number or str(getattr(error, "sqlstate", None) or "")
    return f"{type(error).__name__} ({state})" if state.isalnum() else type(error).__name__


def _record_without_words(*args: Any, **more: Any) -> logging.LogRecord:
    """A record whose error every formatter tells as `trace` does, those of libraries, too, and an
    error within its message as `reason` does. What a store for files says stays: it names bytes."""
    record = logging.LogRecord(*args, **more)
    if isinstance(record.args, tuple):
        record.args = tuple(_without_words(one) for one in record.args)
    if record.exc_info and record.exc_info[1] is not None:
        record.exc_text = trace(record.exc_info[1])
    return record


def _without_words(value: object) -> object:
    told = isinstance(value, BaseException) and not isinstance(value, StorageError)
    return reason(value) if told and isinstance(value, BaseException) else value


class LogWriter(logging.StreamHandler[TextIO]):
    """Writes the lines of Leaf's log."""

    def __init__(self, form: str, out: TextIO) -> None:
        super().__init__(out)
        self.setFormatter(_JsonFormatter() if form == "json" else _TextFormatter(form == "full"))


class _TextFormatter(logging.Formatter):
    def __init__(self, full: bool = False) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s", "%Y-%m-%d %H:%M:%S")
        self._full = full

    def format(self, record: logging.LogRecord) -> str:
        words = getattr(record, "words", "") if self._full else ""
        return f"{super().format(record)}\n{words}" if words else super().format(record)


class _JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"at": at, "level": record.levelname.lower(), "logger": record.name}
        if name := getattr(record, "event", ""):
            line |= {"event": name, **getattr(record, "fields", {})}
        else:
            line["message"] = record.getMessage()
        if record.exc_info:
            line["exception"] = record.exc_text or self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def _word(value: str | float | bool) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    return str(value).replace(" ", "-")
