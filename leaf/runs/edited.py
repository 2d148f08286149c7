"""Steps of answers that a person edits and runs: by the tool that the model called, on the chat's
files as they are now, in a thread of their own. What comes of one stands beside the step, and is the
chat's like any other result.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, cast

from leaf.documents.documents import DocumentService
from leaf.drive.drive import DriveService
from leaf.errors import InvalidInputError, LeafError, NotFoundError, RunError, StoreError
from leaf.files.library import Library
from leaf.shapes.part_values import call_in, tool_name
from leaf.shapes.parts import ToolPart
from leaf.shapes.raw import ToolInput
from leaf.store import Store, edited_steps, messages
from leaf.store.database import now
from leaf.store.edited_steps import LOST, EditedStep
from leaf.store.model import Json, Message, Scope
from leaf.tables.notebooks import Notebooks
from leaf.tables.tables import Tables
from leaf.tools import registry
from leaf.tools.base import EditedCall, Hooks, ToolContext, ToolOutput, context_of
from leaf.tools.inputs import check_input
from leaf.tools.recompute import cells_before

logger = logging.getLogger(__name__)

BEAT = 1.0
"""Seconds between two signs of life of a running step; how far it is is told with them."""
PATIENCE = 10.0
"""Seconds that `close` waits for what runs to end."""
LONGEST_CODE = 100_000
"""Characters of SQL or Python."""


@dataclass
class _Running:
    """A step that this process runs."""

    stop: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)
    progress: str = ""

    def say(self, text: str) -> None:
        self.progress = text


class StepEditor:
    """Runs edited steps. Every call takes the scope on whose behalf it is made."""

    def __init__(
        self,
        store: Store,
        library: Library,
        tables: Tables,
        drive: DriveService,
        documents: DocumentService,
        python: Notebooks | None = None,
        run_tool: Callable[[str, ToolInput, ToolContext], ToolOutput] = registry.run,
    ) -> None:
        self._store = store
        self._library = library
        self._tables = tables
        self._drive = drive
        self._documents = documents
        self._python = python
        self._run_tool = run_tool
        self._guard = threading.Lock()
        self._running: dict[str, _Running] = {}
        self._closed = False

    def begin(self, scope: Scope, message_id: str, call_id: str, code: str) -> EditedStep:
        """Run a step with other code; the step stays as it is.

        Raises NotFoundError for a step that the caller does not see, InvalidInputError for one
        without SQL and Python, for code that is none, and while the answer is being written or
        another edited step of the caller runs; RunError after `close`.
        """
        message = messages.get(self._store.db, scope, message_id)
        name, tool_input = _edited(message, call_id, code)
        wanted = EditedStep(
            "",
            "",
            message_id,
            call_id,
            scope.user_id,
            "",
            name,
            tool_input,
            "running",
            now(),
        )
        with self._guard:
            if self._closed:
                raise RunError("Leaf is shutting down.", "Run it again when it is back.")
            step = edited_steps.begin(self._store.db, scope, wanted)
            run = self._running[step.id] = _Running()
        self._start(step, self._carry_out, scope, message, step, run)
        self._start(step, self._beat, step, run)
        return step

    def _start(self, step: EditedStep, work: Callable[..., None], *arguments: object) -> None:
        name = f"edited-{step.id}"
        threading.Thread(target=work, args=arguments, name=name, daemon=True).start()

    def stop(self, scope: Scope, edit_id: str) -> None:
        """End a running step, wherever it runs. Raises NotFoundError."""
        edited_steps.stop(self._store.db, scope, edit_id)
        if run := self._running.get(edit_id):
            run.stop.set()

    def wait(self, edit_id: str, seconds: float) -> None:
        """Until a step that this process runs is over, or time is."""
        if run := self._running.get(edit_id):
            run.done.wait(seconds)

    def close(self) -> None:
        """End what runs; each says why."""
        with self._guard:
            self._closed = True
            runs = list(self._running.values())
        for run in runs:
            run.stop.set()
        until = time.monotonic() + PATIENCE
        for run in runs:
            run.done.wait(max(0.0, until - time.monotonic()))

    def _carry_out(self, scope: Scope, message: Message, step: EditedStep, run: _Running) -> None:
        output: Json | None = None
        error = ""
        began = time.monotonic()
        try:
            gave = self._run_tool(
                step.tool, dict(step.given), self._context(scope, message, step, run)
            )
            output = {**gave.to_json(), "seconds": round(time.monotonic() - began, 3)}
        except LeafError as e:
            error = str(e)
        except Exception:  # a fault is told to the person, whose code stays
            logger.exception("edited step %s failed", step.id)
            error = "Leaf failed in a way that it did not expect. If it happens twice, please report it."
        stopped = output is None and run.stop.is_set()
        if stopped:
            error = LOST if self._closed else "Stopped."
        state: edited_steps.State = "done" if output else "stopped" if stopped else "failed"
        try:
            edited_steps.finish(self._store.db, scope, step.id, state, output, error)
        except StoreError:
            logger.exception("edited step %s was not kept", step.id)
        finally:
            with self._guard:
                del self._running[step.id]
            run.done.set()

    def _beat(self, step: EditedStep, run: _Running) -> None:
        while not run.done.wait(BEAT):
            with suppress(StoreError):  # the next beat tells it
                if edited_steps.unscoped_beat(self._store.db, step.id, run.progress):
                    run.stop.set()

    def _context(
        self, scope: Scope, message: Message, step: EditedStep, run: _Running
    ) -> ToolContext:
        """As of a call of the answer, but that a person makes it."""
        rooms = (self._library, self._tables, self._drive, self._documents)
        files = self._library.chat_files(scope, message.chat_id, deleted=True)
        hooks = Hooks(progress=run.say)
        context = context_of(
            scope, message.chat_id, files, *rooms, run.stop, hooks, message.id, self._python
        )
        before = 0
        if self._python is not None and registry.declared(step.tool).replay == "cell":
            before = cells_before(self._python, scope, message, step.call_id)
        return replace(context, edited=EditedCall(step.id, before))


def _edited(message: Message, call_id: str, code: str) -> tuple[str, Json]:
    """The tool of a step, and its input with other code. Raises what `StepEditor.begin` does."""
    part = call_in(message.parts, call_id)
    if part is None:
        raise NotFoundError("No such step.", "Open the chat again.")
    tool_input, key = part.get("input"), registry.declared(tool_name(part)).code_input
    if not key or not isinstance(tool_input, dict) or not tool_input.get(key):
        raise InvalidInputError("This step has no SQL and no Python.", "Choose one that has.")
    if not code.strip():
        raise InvalidInputError("There is nothing to run.", "Write what is to run.")
    if len(code) > LONGEST_CODE:
        raise InvalidInputError(
            f"This is longer than {LONGEST_CODE:,} characters.", "Run it in pieces."
        )
    edited = {**tool_input, key: code}
    tool = registry.find(tool_name(part))
    check_input(tool, edited)
    return tool.name, edited


def part_of(step: EditedStep) -> ToolPart:
    """The step as a part of an answer, for what draws and computes such; its own id is that of its
    call."""
    part: dict[str, Any] = {
        "type": f"tool-{step.tool}",
        "toolCallId": step.id,
        "state": {"done": "output-available", "running": "input-available"}.get(
            step.state, "output-error"
        ),
        "input": dict(step.given),
    }
    if step.output is not None:
        part["output"] = step.output
    if step.error:
        part["errorText"] = step.error
    return cast("ToolPart", part)
