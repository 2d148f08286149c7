"""An exception of a cell as its author needs it: the line of the cell, the last frames, one sentence. Standard library only."""

from __future__ import annotations

import re
import traceback
from types import TracebackType
from typing import Any

Json = dict[str, Any]

MESSAGE = 2_000
"""Characters of an exception's own message."""
LIBRARY_FRAMES = 3
"""Frames below the cell's own that are shown."""


def explain(error: BaseException, cell: str, code: str) -> Json:
    """{"type", "message", "line", "text"}: `text` is a traceback that begins in the cell; `line` is 0 where there is none."""
    if isinstance(error, SyntaxError) and error.filename == cell:
        line = error.lineno or 0
        return {"type": type(error).__name__, "message": str(error.msg), "line": line, "text": _syntax(error, code)}
    frames = traceback.extract_tb(_from_cell(error.__traceback__))
    own = [frame for frame in frames if frame.filename.startswith("<cell ")]
    line = next((frame.lineno for frame in reversed(own) if frame.filename == cell), 0) or 0
    return {"type": type(error).__name__, "message": one_line(error), "line": line, "text": _text(error, frames)}


def one_line(error: BaseException) -> str:
    """The exception's message, cut and without paths of the machine."""
    try:
        said = str(error)
    except Exception:  # noqa: BLE001 - an exception of the code may not even be printable
        said = "(no message)"
    return _without_paths(said)[:MESSAGE]


def _from_cell(found: TracebackType | None) -> TracebackType | None:
    """The traceback from the first frame of the cell on; all of it where the cell has none (a table that cannot be read)."""
    start = found
    while start is not None and not start.tb_frame.f_code.co_filename.startswith("<cell "):
        start = start.tb_next
    return start


def _text(error: BaseException, frames: traceback.StackSummary) -> str:
    lines = []
    own = max((i for i, frame in enumerate(frames) if frame.filename.startswith("<cell ")), default=-1)
    below = list(frames)[own + 1 :]
    for frame in [*list(frames)[: own + 1][-6:], *([] if len(below) <= LIBRARY_FRAMES else [None]), *below[-LIBRARY_FRAMES:]]:
        if frame is None:
            lines.append(f"  … {len(below) - LIBRARY_FRAMES} more frames inside libraries")
            continue
        lines.append(f"  {_place(frame.filename)}, line {frame.lineno}, in {frame.name}")
        if frame.line:
            lines.append(f"    {frame.line}")
    said = one_line(error)
    lines.append(f"{type(error).__name__}: {said}" if said else type(error).__name__)
    return "\n".join(lines)


def _syntax(error: SyntaxError, code: str) -> str:
    lines = code.splitlines()
    number = error.lineno or 0
    shown = lines[number - 1] if 0 < number <= len(lines) else ""
    mark = " " * max(0, (error.offset or 1) - 1) + "^"
    return f"  {error.filename}, line {number}\n    {shown}\n    {mark}\n{type(error).__name__}: {error.msg}"


def _place(filename: str) -> str:
    """`<cell 3>`, or a library's file below the folder of libraries: paths of the machine are nobody's business."""
    if filename.startswith("<"):
        return filename
    return re.sub(r"^.*/(?:site-packages|python3\.\d+|packages)/", "", filename).removeprefix("/")


def _without_paths(text: str) -> str:
    return re.sub(r"/[^\s'\"]*/(boxes/[^/\s'\"]+/\d+|site-packages|python3\.\d+)/", "", text)
