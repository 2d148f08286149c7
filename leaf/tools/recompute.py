"""A cell of Python run again, and what it gives compared with what was kept of it."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from leaf.errors import not_found
from leaf.files.library import Library
from leaf.sandbox.ran import Ran
from leaf.settings.disk import scratch
from leaf.shapes.part_values import data_of
from leaf.store.model import ChatFile, File, Message, Scope
from leaf.tables.again import Recomputed
from leaf.tables.notebooks import Notebooks
from leaf.tables.table import Table
from leaf.tables.tables import Tables


@dataclass(frozen=True)
class OneTable:
    """The one table of a cell that is asked about."""

    result_id: str
    """The result that the cell itself gave."""
    against: str = ""
    """A later result of the same code, with which it is compared instead."""
    keep: bool = False
    """Whether what is not the same becomes a result of its own."""
    newer: Mapping[str, File] = field(default_factory=dict)
    """Files that are read in place of those of these ids."""
    instead: Mapping[str, str] = field(default_factory=dict)
    """Results that stand for those that its code names."""


def again(
    notebooks: Notebooks,
    tables: Tables,
    library: Library,
    scope: Scope,
    message: Message,
    part: Mapping[str, Any],
    stop: threading.Event | None = None,
    only: OneTable | None = None,
    *,
    edited: bool = False,
) -> Recomputed:
    """`part` is the `tool-run_python` part of the message, or such a one of a step of it that a
    person `edited`; with `only` that table of it alone is compared. Raises NotFoundError, SandboxError and
    its kinds, FileError."""
    newer = only.newer if only else {}
    there = in_place(library.chat_files(scope, message.chat_id, deleted=True), newer)
    live = [c for c in there if c.file.deleted_at is None]
    if gone := _gone(part, [*newer, *(c.file.id for c in live)]):
        return Recomputed(
            "gone", f"{', '.join(gone)} was deleted, so this cannot be computed again."
        )

    def open_file(name: str) -> tuple[ChatFile, Path]:
        chat_file = next(
            (c for c in live if name in (c.handle, c.file.name, c.slug, c.file.id)), None
        )
        if chat_file is None:
            raise not_found("file", name, [c.handle for c in live], "this chat")
        return chat_file, library.open(scope, chat_file.file.id)

    with scratch("cell") as folder:
        ran = notebooks.again(
            scope,
            message.chat_id,
            message.id,
            int(part["output"]["data"]["python"]["cell"]),
            str(part["input"]["code"]),
            live,
            open_file,
            folder,
            stop,
            files=list(part["input"].get("files") or ()) if edited else None,
            instead=only.instead if only else None,
        )
        data = part["output"]["data"]
        now = tables.of(scope, live, stop).tables if only and only.keep else None
        return _compared(tables, scope, message.chat_id, data, ran, stop, only, now)


def cells_before(notebooks: Notebooks, scope: Scope, message: Message, call_id: str) -> int:
    """How many cells of its branch had run when this step of an answer began. One that failed has
    no number of its own and comes after the last one that did not."""
    before = notebooks.count(scope, message.chat_id, message.parent_id)
    for part in message.parts:
        cell = (data_of(part).get("python") or {}).get("cell")
        if part.get("toolCallId") == call_id:
            return int(cell) - 1 if cell else before
        before = int(cell) if cell else before
    return before


def results_shown(part: Mapping[str, Any]) -> list[str]:
    """Names of the results that a cell gave; empty for other parts."""
    output = part.get("output")
    data = output.get("data") if isinstance(output, dict) else None
    if not isinstance(data, dict) or not data.get("python"):
        return []
    return [str(table.get("result_id")) for table in data.get("tables") or ()]


def in_place(files: Sequence[ChatFile], newer: Mapping[str, File]) -> list[ChatFile]:
    """Files of a chat, some with the bytes of another one."""
    return [replace(c, file=newer.get(c.file.id, c.file)) for c in files]


def _gone(part: Mapping[str, Any], there: Sequence[str]) -> list[str]:
    """Names of the files that the cell read and the chat has no more."""
    sources = part["output"].get("sources") or []
    return list(dict.fromkeys(str(s["name"]) for s in sources if s["file_id"] not in there))


def _compared(
    tables: Tables,
    scope: Scope,
    chat_id: str,
    data: Mapping[str, Any],
    ran: Ran,
    stop: threading.Event | None,
    only: OneTable | None,
    now: Sequence[Table] | None,
) -> Recomputed:
    """`data` is what was kept of the cell's output."""
    record, frames = data["python"], data.get("tables") or []
    seconds = round(ran.seconds, 3)
    if ran.failure is not None:
        return Recomputed(
            "different", f"Computed again, it failed: {ran.failure.message}", seconds=seconds
        )
    if len(ran.frames) != len(frames):
        return Recomputed(
            "different",
            f"Computed again, it gives {len(ran.frames)} tables in place of {len(frames)}.",
        )
    compared = [
        tables.again.compare_frame(
            scope,
            chat_id,
            (only and only.against) or str(frame["result_id"]),
            path,
            seconds,
            stop,
            tables=now,
            instead=only.instead if only else None,
        )
        for frame, (path, _) in zip(frames, ran.frames, strict=True)
        if only is None or only.result_id == frame["result_id"]
    ]
    if different := next(
        (comparison for comparison in compared if comparison.outcome != "same"), None
    ):
        return different
    if only and compared:
        return compared[0]
    if (ran.printed, ran.value) != (record["printed"], record["value"]):
        return Recomputed("different", "Computed again, it prints something else.", seconds=seconds)
    what = "its tables and what it prints are" if frames else "what it prints is"
    return Recomputed(
        "same", f"Computed again in {seconds:.1f} s: {what} the same.", seconds=seconds
    )
