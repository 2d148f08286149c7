"""An exception of a cell as its author needs it: the line of the cell, the last frames, one
sentence. Standard library only."""

from __future__ import annotations

import contextlib
import re
import traceback
from collections.abc import Iterator
from difflib import get_close_matches
from types import TracebackType
from typing import Any

Json = dict[str, Any]

MESSAGE = 2_000
"""Characters of an exception's own message."""
COLUMNS = 30
"""Columns of a DataFrame that are named."""
LIBRARY_FRAMES = 3
"""Frames below the cell's own that are shown."""


def explain(error: BaseException, cell: str, code: str) -> Json:
    """{"type", "message", "line", "text"}: `text` is a traceback that begins in the cell; `line` is
    0 where there is none."""
    if isinstance(error, SyntaxError) and error.filename == cell:
        line = error.lineno or 0
        return {
            "type": type(error).__name__,
            "message": str(error.msg),
            "line": line,
            "text": _syntax(error, code),
        }
    frames = traceback.extract_tb(_from_cell(error.__traceback__))
    own = [frame for frame in frames if frame.filename.startswith("<cell ")]
    line = next((frame.lineno for frame in reversed(own) if frame.filename == cell), 0) or 0
    message = ". ".join(filter(None, (one_line(error), _columns(error))))
    return {
        "type": type(error).__name__,
        "message": message,
        "line": line,
        "text": _text(error, frames),
    }


def _columns(error: BaseException) -> str:
    """Of a column that a DataFrame does not have: the nearest, and those there are."""
    if not isinstance(error, KeyError | AttributeError | ValueError):
        return ""
    with contextlib.suppress(Exception):  # any object of the code may stand there
        wanted = (
            error.name if isinstance(error, AttributeError) else error.args[0] if error.args else ""
        )
        names = (
            [wanted]
            if isinstance(wanted, str) and "'" not in wanted
            else re.findall(r"'([^']+)'", str(wanted))
        )
        columns = next((c for c in map(_columns_of, _held(error)) if c), [])
        missing = [name for name in names if name and name not in columns]
        if columns and missing:
            lowered = {column.lower(): column for column in columns}
            near = [
                lowered[n]
                for name in missing[:3]
                for n in get_close_matches(name.lower(), lowered, n=1)
            ]
            meant = f"Did you mean {' or '.join(map(repr, near))}? " if near else ""
            more = f" and {len(columns) - COLUMNS} more" if len(columns) > COLUMNS else ""
            return f"{meant}The columns are {', '.join(map(repr, columns[:COLUMNS]))}{more}."
    return ""


def _held(error: BaseException) -> Iterator[Any]:
    """What the code was looking into, the innermost first."""
    if isinstance(error, AttributeError):
        yield error.obj
        return
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    for frame in reversed(frames):
        yield from (
            frame.f_locals.get(name) for name in ("self", "obj", "data", "frame", "left", "right")
        )


def _columns_of(value: Any) -> list[str]:
    """Of a DataFrame, or of the one that something was grouped from."""
    value = getattr(value, "obj", value) if type(value).__name__.endswith("GroupBy") else value
    if type(value).__name__ != "DataFrame" or not type(value).__module__.startswith("pandas"):
        return []
    return [str(column) for column in value.columns]


def one_line(error: BaseException) -> str:
    """The exception's message, cut and without paths of the machine."""
    try:
        text = str(error)
    except BaseException:  # noqa: BLE001 - an exception of the code may not even be printable
        text = "(no message)"
    return _without_paths(text)[:MESSAGE]


def _from_cell(trace: TracebackType | None) -> TracebackType | None:
    """The traceback from the first frame of the cell on; all of it where the cell has none (a table
    that cannot be read)."""
    start = trace
    while start is not None and not start.tb_frame.f_code.co_filename.startswith("<cell "):
        start = start.tb_next
    return start


def _text(error: BaseException, frames: traceback.StackSummary) -> str:
    lines = []
    own = max(
        (i for i, frame in enumerate(frames) if frame.filename.startswith("<cell ")), default=-1
    )
    below = list(frames)[own + 1 :]
    for frame in [
        *list(frames)[: own + 1][-6:],
        *([] if len(below) <= LIBRARY_FRAMES else [None]),
        *below[-LIBRARY_FRAMES:],
    ]:
        if frame is None:
            lines.append(f"  … {len(below) - LIBRARY_FRAMES} more frames inside libraries")
            continue
        lines.append(f"  {_place(frame.filename)}, line {frame.lineno}, in {frame.name}")
        if frame.line:
            lines.append(f"    {frame.line}")
    message = one_line(error)
    lines.append(f"{type(error).__name__}: {message}" if message else type(error).__name__)
    return "\n".join(lines)


def _syntax(error: SyntaxError, code: str) -> str:
    lines = code.splitlines()
    number = error.lineno or 0
    shown = lines[number - 1] if 0 < number <= len(lines) else ""
    mark = " " * max(0, (error.offset or 1) - 1) + "^"
    return (
        f"  {error.filename}, line {number}\n    {shown}\n    {mark}\n{type(error).__name__}: "
        f"{error.msg}"
    )


def _place(filename: str) -> str:
    """`<cell 3>`, or a library's file below the folder of libraries: paths of the machine are
    nobody's business."""
    if filename.startswith("<"):
        return filename
    below = r"^.*/(?:(?:site-packages|python3\.\d+|packages)/|(?=leaf/sandbox/))"
    return re.sub(below, "", filename).removeprefix("/")


def _without_paths(text: str) -> str:
    return re.sub(r"/[^\s'\"]*/(boxes/[^/\s'\"]+/\d+|site-packages|python3\.\d+)/", "", text)
