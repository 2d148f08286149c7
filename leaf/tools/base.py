"""What a tool is: a name, a description for the model, an input model, and a function. No tool lives here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pydantic import BaseModel

from leaf.drive.drive import Drive
from leaf.errors import InvalidInputError, NotFoundError, not_found
from leaf.files.library import Library
from leaf.store.model import ChatFile, Scope
from leaf.tables.tables import Tables

Json = dict[str, Any]
NO_CHAT = "tool"
"""In place of a chat's id for a call outside any chat."""


@dataclass(frozen=True)
class Source:
    """A place that an answer rests on; one click away in the page."""

    handle: str
    """The chat's handle of the file: `f1`."""
    file_id: str
    name: str
    place: str
    """Locator: `pages 3-5`, `rows 1-200`, `sheet Summary!A1:F40`, `00:10:00-00:20:00`; empty for the whole file."""
    action: str
    """What was done there: `read`, `found`, `described`, `queried`."""
    query: str = ""
    """SQL or search words."""
    quote: str = ""
    """The passage itself, at most 400 characters."""


@dataclass(frozen=True)
class Coverage:
    """How much of a file a call saw, from the code that read it."""

    file_id: str
    name: str
    unit: str
    """`rows`, `pages`, `lines` …"""
    seen: int
    total: int
    ranges: tuple[tuple[int, int], ...] = ()
    """What was seen, 1-based and inclusive, so that calls add up without counting twice. Empty for a scan of all `seen`."""


@dataclass(frozen=True)
class ToolOutput:
    """What one call gives: `text` for the model, the rest for the page."""

    text: str
    summary: str
    """One line in plain words: `Summed revenue by region in q3_sales`."""
    sources: tuple[Source, ...] = ()
    coverage: tuple[Coverage, ...] = ()
    data: Json = field(default_factory=dict)
    """Drawn by kind: {"table": {"columns": [...], "types": [...], "rows": [[…]], "total": n, "result_id": "r1"}},
    {"passages": [{"name", "place", "text"}]}, {"chart": {"spec": {...}, "columns": [...], "rows": [[…]], "result_id": "r1"}},
    {"files": [...]}, {"profile": {...}}."""

    def to_json(self) -> Json:
        """The `output` of a `tool-output-available` chunk."""
        return asdict(self)


@dataclass(frozen=True)
class ToolContext:
    """What a call may use. Made anew for each call, so that tools keep no state."""

    scope: Scope
    chat_id: str
    files: tuple[ChatFile, ...]
    """Live files of the chat, in the order in which they came."""
    library: Library
    tables: Tables
    stop: threading.Event
    """Set when the user stops the run; long work looks at it."""
    drive: Drive
    deleted: tuple[ChatFile, ...] = ()
    """Files of the chat that were deleted from the library meanwhile: named, so that a tool can say so."""
    key: str = ""
    """Names this call for ever. A call that a crash interrupted is run again under the same key, so a tool that changes something
    does it once a key. Empty outside of runs."""
    message_id: str = ""
    """The answer that is being written; empty outside a run."""


@dataclass(frozen=True)
class Tool:
    """A tool as the model sees it, and the function behind it."""

    name: str
    description: str
    """Read by the model: what it does, when to use it, what comes back."""
    input_model: type[BaseModel]
    run: Callable[[ToolContext, Any], ToolOutput]
    """Raises LeafError, whose text goes to the model as the tool's error."""
    title: str = ""
    """For people, while it runs: `Reading a file`."""


def find_file(context: ToolContext, name: str) -> ChatFile:
    """The chat's file with that handle or name. Raises NotFoundError with the nearest names."""
    wanted = name.strip()
    for chat_file in context.files:
        if wanted in (chat_file.handle, chat_file.file.id):
            return chat_file
    named = [c for c in context.files if wanted.lower() in (c.file.name.lower(), c.slug.lower())]
    if len(named) == 1:
        return named[0]
    if len(named) > 1:
        handles = ", ".join(c.handle for c in named)
        raise InvalidInputError(f"Several files are named '{wanted}'.", f"Use a handle: {handles}.")
    for chat_file in context.deleted:
        if wanted.lower() in (chat_file.handle, chat_file.file.name.lower(), chat_file.slug):
            raise gone(chat_file)
    candidates = [c.file.name for c in context.files] + [c.handle for c in context.files]
    raise not_found("file", wanted, candidates, "this chat")


def context_of(
    scope: Scope,
    chat_id: str,
    there: Sequence[ChatFile],
    library: Library,
    tables: Tables,
    drive: Drive,
    stop: threading.Event,
    key: str = "",
    message_id: str = "",
) -> ToolContext:
    """The context of a call over a chat's files, those deleted meanwhile among them."""
    live = tuple(c for c in there if c.file.deleted_at is None)
    deleted = tuple(c for c in there if c.file.deleted_at is not None)
    return ToolContext(scope, chat_id, live, library, tables, stop, drive, deleted, key, message_id)


def gone(chat_file: ChatFile) -> NotFoundError:
    """What is said of a file that was deleted from the library while the chat goes on."""
    day = f" on {chat_file.file.deleted_at:%Y-%m-%d}" if chat_file.file.deleted_at else ""
    return NotFoundError(f"{chat_file.file.name} was deleted{day}.", "The user can restore it on the Files page.")


def quoted(text: str, limit: int = 400) -> str:
    """`text` on one line, at most `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
