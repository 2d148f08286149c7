"""A cell of Python run again, and what it gives compared with what was kept of it."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leaf.errors import not_found
from leaf.files.library import Library
from leaf.store.model import ChatFile, Message, Scope
from leaf.tables.notebooks import Notebooks
from leaf.tables.tables import Recomputed, Tables


def again(
    notebooks: Notebooks,
    tables: Tables,
    library: Library,
    scope: Scope,
    message: Message,
    part: Mapping[str, Any],
    stop: threading.Event | None = None,
) -> Recomputed:
    """`part` is the `tool-run_python` part of the message. Raises NotFoundError, SandboxError and its kinds, FileError."""
    data = part["output"]["data"]
    kept, frames = data["python"], data.get("tables") or []
    there = library.chat_files(scope, message.chat_id, deleted=True)
    live = [c for c in there if c.file.deleted_at is None]
    sources = part["output"].get("sources") or []
    gone = [str(s["name"]) for s in sources if s["file_id"] not in {c.file.id for c in live}]
    if gone:
        return Recomputed("gone", f"{', '.join(dict.fromkeys(gone))} was deleted, so this cannot be computed again.")

    def open_file(name: str) -> tuple[ChatFile, Path]:
        found = next((c for c in live if name in (c.handle, c.file.name, c.slug, c.file.id)), None)
        if found is None:
            raise not_found("file", name, [c.handle for c in live], "this chat")
        return found, library.open(scope, found.file.id)

    with tempfile.TemporaryDirectory(prefix="leaf-cell-") as folder:
        code = str(part["input"]["code"])
        ran = notebooks.again(scope, message.chat_id, message.id, int(kept["cell"]), code, live, open_file, Path(folder), stop)
        seconds = round(ran.seconds, 3)
        if ran.trouble is not None:
            return Recomputed("different", f"Computed again, it failed: {ran.trouble.message}", seconds=seconds)
        if len(ran.frames) != len(frames):
            return Recomputed("different", f"Computed again, it gives {len(ran.frames)} tables in place of {len(frames)}.")
        for frame, (path, _) in zip(frames, ran.frames, strict=True):
            found = tables.compare_frame(scope, message.chat_id, str(frame["result_id"]), path, seconds, stop)
            if found.outcome != "same":
                return found
    if (ran.printed, ran.value) != (kept["printed"], kept["value"]):
        return Recomputed("different", "Computed again, it prints something else.", seconds=seconds)
    what = "its tables and what it prints are" if frames else "what it prints is"
    return Recomputed("same", f"Computed again in {seconds:.1f} s: {what} the same.", seconds=seconds)
