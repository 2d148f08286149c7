"""What a tool is: a name, a description for the model, an input model, and a function. No tool
lives here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Protocol, cast

from pydantic import BaseModel

from leaf.documents.documents import DocumentService
from leaf.drive.drive import DriveService
from leaf.errors import InvalidInputError, NotFoundError, not_found
from leaf.files.library import Library, name_key
from leaf.shapes.chunks import Grown
from leaf.shapes.parts import ConsentData, DocumentData
from leaf.shapes.results import (
    NOTHING,
    CarriedResult,
    Doubt,
    NoteOnTable,
    Output,
    PassageShown,
    Shown,
    ToolResult,
)
from leaf.store.model import ChatFile, Scope
from leaf.store.results import OUTSIDE
from leaf.tables.notebooks import Notebooks
from leaf.tables.results import turn_of
from leaf.tables.tables import Tables
from leaf.tools.permissions import Permission, Permissions, unless_allowed

Effect = Literal["read", "write", "outside"]
"""What a call does: it reads; it writes what the user keeps, in the model's own words, which prove
no figure; or it acts outside of the chat's files, or brings in what was nobody else's, which it may
do only by `ToolContext.permit`."""
Replay = Literal["no", "step", "query", "cell", "chart"]
"""How a call runs again when an exported chat is computed again. `query` is SQL of its parameter
`sql`, `cell` Python of its parameter `code`, `chart` what it draws: these are compared with what
they gave. `step`: run again, as figures may rest on it."""
NO_CHAT = OUTSIDE
"""In place of a chat's id for a call outside any chat."""


@dataclass(frozen=True)
class Source:
    """A place that an answer rests on; one click away in the page."""

    handle: str
    """The chat's handle of the file: `f1`."""
    file_id: str
    name: str
    place: str
    """Locator: `pages 3-5`, `rows 1-200`, `sheet Summary!A1:F40`, `00:10:00-00:20:00`; empty for
    the whole file."""
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
    """`rows`, `pages`, `lines` …; `passages` of a search, of which nobody knows how many there
    are."""
    seen: int
    total: int
    ranges: tuple[tuple[int, int], ...] = ()
    """What was seen, 1-based and inclusive, so that calls add up without counting twice. Empty for
    a scan of all `seen`."""
    excluded: str = ""
    """What stands in the file and was left out, which `total` counts: `2 left out as totals, 1 as a
    title`."""
    table: str = ""
    """SQL name, for rows of a table: a sheet may hold several."""
    doubtful: tuple[Doubt, ...] = ()
    """Rows that are counted as data and may be none."""
    notes: tuple[NoteOnTable, ...] = ()
    """How the table was read, as far as it changes the figures that were asked for."""


@dataclass(frozen=True)
class CitablePassage:
    """A piece of a file that an answer can cite."""

    source: str
    """The file's handle and the place in it: `f1#pages 3`, `f2#sheet Data!A5:F40`,
    `f3#00:10:00-00:10:30`."""
    title: str
    """For people: `report.pdf, page 3`."""
    texts: tuple[str, ...]
    """One for each paragraph or range of rows: the smallest piece that can be cited by itself."""


@dataclass(frozen=True)
class Picture:
    """A picture that a model is to see. Its bytes are a blob of the workspace, scaled to what a
    model can use."""

    sha256: str
    media_type: str
    width: int
    height: int
    label: str
    """`page 3 of scan.pdf`."""


@dataclass(frozen=True)
class AskRequest:
    """What a tool asks the chat's model, beside the chat: nothing of it enters the chat's own
    context."""

    system: str
    content: str
    max_tokens: int


@dataclass(frozen=True)
class Asked:
    """What the model said to a tool."""

    text: str
    stop_reason: str
    """`end_turn`; `max_tokens` when the text was cut."""
    input_tokens: int
    output_tokens: int


class Ask(Protocol):
    """The chat's model for a tool. What it takes counts as the answer's."""

    @property
    def window(self) -> int:
        """Tokens that request and answer may have together."""

    def __call__(
        self,
        request: AskRequest,
        on_text: Callable[[str], None],
        on_restart: Callable[[], None] = ...,
    ) -> Asked:
        """One streamed turn without tools. `on_text` gets each new piece; `on_restart` says that
        the text begins anew, after a connection was cut. Raises ModelError, and RunError once the
        run is stopped.
        """


def _show_nothing(name: str, data_id: str, data: object) -> None:
    """Outside of a run nobody watches."""


def _say_nothing(text: str) -> None:
    """Outside of a run nobody watches."""


def _keep_nothing(_text: str, _read: Sequence[PassageShown]) -> list[PassageShown]:
    """Outside of a run nothing is traced."""
    return []


@dataclass(frozen=True)
class Hooks:
    """What a run lends to a tool call."""

    key: str = ""
    """Names this call for ever. A call that a crash interrupted is run again under the same key, so
    a tool that changes something does it once a key. Empty outside of runs."""
    show: Callable[[str, str, Any], None] = _show_nothing
    """Name, id and data of a `data-<name>` chunk that those who watch see now. It is not kept: see
    `ToolOutput.shows`."""
    progress: Callable[[str], None] = _say_nothing
    """Says in one line how far long work is, empty where there is no more to say. Shown while the
    call runs, never kept."""
    ask: Ask | None = None
    """None where no model is connected."""
    sees: bool = True
    """Whether the model that answers sees pictures."""
    file_tokens: int | None = None
    """Tokens of file content that the call may still bring in; None for no limit. See
    `within_budget`."""
    told: frozenset[str] = frozenset()
    """Keys of what was said of tables earlier in this chat and still stands before the model; see
    `tools.remarks`."""
    passages_behind: Callable[[str, Sequence[PassageShown]], list[PassageShown]] = _keep_nothing
    """Those lines of what a tool read, {"name", "place", "text"}, that hold the figures of a text
    which it wrote from that."""


@dataclass(frozen=True)
class ToolOutput:
    """What one call gives: `text` for the model, the rest for the page."""

    text: str
    summary: str
    """One line in plain words: `Summed revenue by region in q3_sales`."""
    sources: tuple[Source, ...] = ()
    coverage: tuple[Coverage, ...] = ()
    data: CarriedResult = NOTHING
    """What the page draws and receipts are found in: of the class that the tool declares as its
    `result`."""
    passages: tuple[CitablePassage, ...] = ()
    """What of `text` can be cited. A server that knows citations gets `head` and these instead of
    `text`."""
    head: str = ""
    """What stands before the passages: the file, its coverage, notes, the cursor."""
    pictures: tuple[Picture, ...] = ()
    """What the model is to see beside the text."""
    shows: tuple[Shown, ...] = ()
    """Parts `data-<name>` that the answer keeps."""

    def to_json(self) -> Output:
        """The `output` of a `tool-output-available` chunk."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        plain = {
            name: [asdict(one) for one in values[name]]
            for name in ("sources", "coverage", "passages", "pictures")
        }
        return cast(
            "Output", {**values, **plain, "data": self.data.to_json(), "shows": list(self.shows)}
        )


@dataclass(frozen=True)
class EditedCall:
    """What a call has to know that a person makes, with code of their own, beside one of an
    answer."""

    id: str
    """Of the edited step, which is kept with its results."""
    cells_before: int = 0
    """Cells of Python that had run in the chat before the step that was edited."""


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
    drive: DriveService
    documents: DocumentService
    deleted: tuple[ChatFile, ...] = ()
    """Files of the chat that were deleted from the library meanwhile: named, so that a tool can say
    so."""
    message_id: str = ""
    """The answer that is being written; empty outside a run."""
    hooks: Hooks = Hooks()
    python: Notebooks | None = None
    """Where Python runs; None where the machine cannot confine it."""
    permissions: Permissions | None = None
    edited: EditedCall | None = None
    """Set where a person edited a step of `message_id`; the variables of the chat's Python then stay
    as they are."""

    @property
    def edit_id(self) -> str:
        """Of the edited step that the call is; empty for a call of an answer."""
        return self.edited.id if self.edited else ""

    @property
    def key(self) -> str:
        return self.hooks.key

    @property
    def turn(self) -> str:
        """Names the turn of the model that the call is part of; empty outside of runs."""
        return turn_of(self.hooks.key)

    @property
    def ask(self) -> Ask | None:
        return self.hooks.ask

    def show(self, name: str, data_id: str, data: DocumentData | ConsentData | Grown) -> None:
        self.hooks.show(name, data_id, data)

    def progress(self, text: str) -> None:
        self.hooks.progress(text)

    def others(self) -> Sequence[str]:
        """Names of those who read along beside the one who asked."""
        if self.permissions is None or self.chat_id == NO_CHAT:
            return ()
        return self.permissions.others(self.scope, self.chat_id)

    def permit(self, asked: Permission) -> None:
        """Go on when a person allowed it. A call outside of a run was made by a person.

        Raises InvalidInputError when it was refused or nobody said anything, RunError when the run
        was stopped meanwhile.
        """
        if not self.key:
            return
        if self.permissions is None:
            raise InvalidInputError("Nobody can be asked here.", asked.refused)
        key = asked.key or self.key
        shown: ConsentData = {
            "key": key,
            "question": asked.question,
            "detail": asked.detail,
            "of_user": asked.of_user,
            "icon": asked.icon,
            "state": "waiting",
        }
        self.show("consent", self.key, shown)
        self.progress("Waiting for your permission …")
        decision = "refused"
        try:
            decision = self.permissions.ask(self.scope, self.chat_id, key, asked, self.stop)
        finally:
            self.show("consent", self.key, {**shown, "state": decision or "unanswered"})
        unless_allowed(decision, asked)


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
    icon: str = "check"
    """Name of the Material symbol beside its steps."""
    counted: tuple[str, str] | None = None
    """One and several of its calls, in the line that stands for an answer's steps: `("query",
    "queries")`."""
    effect: Effect = "read"
    repeatable: bool = True
    """Whether the call made again gives its result again and changes nothing by it; what stands for
    a compacted result says so."""
    result: type[ToolResult] = ToolResult
    """What its outputs give as `data`."""
    replay: Replay = "no"
    offered: Callable[[], bool] = lambda: True
    """Whether this machine can run it."""

    @property
    def inputs(self) -> dict[str, str]:
        """Parameter -> its word for people, for those that they see: the `title` of the field,
        which models do not see."""
        return {
            name: field.title
            for name, field in self.input_model.model_fields.items()
            if field.title
        }

    @property
    def code_input(self) -> str:
        """The parameter with the SQL or Python of a call, which a person may edit and run; empty
        for a tool without one."""
        return {"query": "sql", "chart": "sql", "cell": "code"}.get(self.replay, "")


SEVERAL_NAMED = 20


def find_file(context: ToolContext, name: str) -> ChatFile:
    """The chat's file with that handle, name or end of a name: `sales.csv` for `2024/sales.csv`, if
    it is the only one.

    Raises NotFoundError with the nearest names.
    """
    wanted = name.strip()
    for chat_file in context.files:
        if wanted in (chat_file.handle, chat_file.file.id):
            return chat_file
    key = name_key(name)
    named = [c for c in context.files if key in (name_key(c.file.name), c.slug.lower())]
    named = named or [c for c in context.files if name_key(c.file.name).endswith(f"/{key}")]
    if len(named) == 1:
        return named[0]
    if len(named) > 1:
        handles = ", ".join(f"{c.handle} {c.file.name}" for c in named[:SEVERAL_NAMED])
        more = f" and {len(named) - SEVERAL_NAMED:,} more" if len(named) > SEVERAL_NAMED else ""
        raise InvalidInputError(
            f"Several files are named '{quoted(wanted, 120)}'.", f"Use a handle: {handles}{more}."
        )
    for chat_file in context.deleted:
        if key in (chat_file.handle, name_key(chat_file.file.name), chat_file.slug):
            raise gone(chat_file)
    candidates = [c.file.name for c in context.files] + [c.handle for c in context.files]
    raise not_found("file", quoted(wanted, 120), candidates, "this chat")


def context_of(
    scope: Scope,
    chat_id: str,
    there: Sequence[ChatFile],
    library: Library,
    tables: Tables,
    drive: DriveService,
    documents: DocumentService,
    stop: threading.Event,
    hooks: Hooks = Hooks(),
    message_id: str = "",
    python: Notebooks | None = None,
    permissions: Permissions | None = None,
) -> ToolContext:
    """The context of a call over a chat's files, those deleted meanwhile among them."""
    live = tuple(c for c in there if c.file.deleted_at is None)
    deleted = tuple(c for c in there if c.file.deleted_at is not None)
    return ToolContext(
        scope,
        chat_id,
        live,
        library,
        tables,
        stop,
        drive,
        documents,
        deleted,
        message_id,
        hooks,
        python,
        permissions,
    )


LEAST_READ = 100
"""A piece of fewer tokens is not worth a call."""


def within_budget(context: ToolContext, wanted: int) -> int:
    """Tokens that a reading call may return: what is wanted, or what the answer's budget of file
    content has left.

    Raises InvalidInputError when that is used up, so that the model says so instead of reading on.
    """
    left = context.hooks.file_tokens
    if left is None or wanted <= left:
        return wanted
    if left < LEAST_READ:
        raise no_room()
    return left


def no_room() -> InvalidInputError:
    """What is said of a call that would bring in more of a file than the answer may still take
    in."""
    return InvalidInputError(
        "The budget of file content for this answer is used up (LEAF_FILE_TOKENS).",
        "Answer with what you have, say what was not read, and offer to go on in the "
        "next question.",
    )


def gone(chat_file: ChatFile) -> NotFoundError:
    """What is said of a file that was deleted from the library while the chat goes on."""
    day = f" on {chat_file.file.deleted_at:%Y-%m-%d}" if chat_file.file.deleted_at else ""
    return NotFoundError(
        f"{chat_file.file.name} was deleted{day}.", "The user can restore it on the Files page."
    )


def quoted(text: str, limit: int = 400) -> str:
    """`text` on one line, at most `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
