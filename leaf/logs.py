"""What Leaf writes into its log: one line an event, in words or as JSON, never a word of a question,
an answer or a file.

An event has a name and fields. `watch` hears of each, which is all that the metrics know.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TextIO

Watcher = Callable[[str, Mapping[str, Any]], None]
_ROOT = "leaf"
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
    only what is wrong. A second call takes the place of the first."""
    root = logging.getLogger(_ROOT)
    for handler in [one for one in root.handlers if isinstance(one, LogWriter)]:
        root.removeHandler(handler)
    root.addHandler(LogWriter(form, out or sys.stderr))
    root.setLevel(logging.WARNING if form == "quiet" else logging.INFO)


class LogWriter(logging.StreamHandler[TextIO]):
    """Writes the lines of Leaf's log."""

    def __init__(self, form: str, out: TextIO) -> None:
        super().__init__(out)
        self.setFormatter(_JsonFormatter() if form == "json" else _TextFormatter())


class _TextFormatter(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s", "%Y-%m-%d %H:%M:%S")


class _JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"at": at, "level": record.levelname.lower(), "logger": record.name}
        if name := getattr(record, "event", ""):
            line |= {"event": name, **getattr(record, "fields", {})}
        else:
            line["message"] = record.getMessage()
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def _word(value: str | float | bool) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    return str(value).replace(" ", "-")
