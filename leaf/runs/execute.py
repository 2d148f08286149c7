"""What one run does: build the task from the history, let the agent answer, save the answer. No
write per token: one when it was asked, one when it is begun, one for what each step took, and one
for the answer.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial

from leaf import logs
from leaf.agent.budget import FileInChat
from leaf.agent.connections import ModelConnections
from leaf.agent.events import apply, compact, reduce
from leaf.agent.loop import Agent
from leaf.agent.models.base import TokenUsage
from leaf.agent.steps import KeptValue, Step, StepRunner
from leaf.agent.task import AnswerTask, Outcome, RunTool
from leaf.budgets.budgets import Budgets
from leaf.documents.documents import DocumentService
from leaf.drive.drive import DriveService
from leaf.errors import LeafError, NotFoundError, StoreError
from leaf.files.library import Library
from leaf.provenance.receipts.documents import of_messages
from leaf.runs.citing import FileCitationResolver
from leaf.runs.run import Run
from leaf.runs.shown import keep_shown
from leaf.runs.steps import LeaveError
from leaf.runs.titles import SavedAnswer, Titles
from leaf.sandbox.slots import working_for
from leaf.settings import RunLimits
from leaf.shapes.chunks import Chunk, chunk
from leaf.shapes.raw import ToolInput
from leaf.store import Store, fence, messages, usage
from leaf.store.model import Message, Scope, Status
from leaf.tables.notebooks import Notebooks
from leaf.tables.tables import Tables
from leaf.tools import registry
from leaf.tools.base import Hooks, ToolContext, ToolOutput, context_of
from leaf.tools.permissions import Permissions

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class TaskStep(Step):
    """What a task rests on beside the history, as it was at its first time."""

    kind = "task"
    limits: RunLimits
    inline_tokens: int
    files: tuple[FileInChat, ...] = ()
    file_tokens: int | None = None
    """Tokens of file content that the answer may take in; None in answers of before there was such
    a bound."""
    connection: str | None = None
    """Id of the model connection with which it was begun, empty for the environment's; never a key.
    None in answers of before there was more than one."""

    def to_json(self) -> KeptValue:
        return super().to_json() | {
            "limits": asdict(self.limits),
            "files": [asdict(file) for file in self.files],
        }


@dataclass(frozen=True)
class SaveStep(Step):
    """The answer is saved."""

    kind = "save"
    status: Status


class Executor:
    """Carries out runs, one call each; holds nothing between them."""

    def __init__(
        self,
        store: Store,
        library: Library,
        tables: Tables,
        drive: DriveService,
        documents: DocumentService,
        agent: Agent,
        limits: RunLimits,
        run_tool: Callable[[str, ToolInput, ToolContext], ToolOutput] = registry.run,
        budgets: Budgets | None = None,
        file_tokens: int = 100_000,
        python: Notebooks | None = None,
        connections: ModelConnections | None = None,
        titles: Titles | None = None,
    ) -> None:
        """Without `connections` the agent's own model server answers everybody; without `titles`
        chats keep the cut question as theirs."""
        self._store = store
        self._library = library
        self._tables = tables
        self._drive = drive
        self._documents = documents
        self._agent = agent
        self._limits = limits
        self._run_tool = run_tool
        self._budgets = budgets
        self._file_tokens = file_tokens
        self._python = python
        self._connections = connections
        self._titles = titles
        self._permissions = Permissions(store.db)

    def __call__(
        self,
        scope: Scope,
        message: Message,
        run: Run,
        steps: StepRunner,
        stream: Callable[[Chunk], None],
    ) -> None:
        """Answer and save. The stream ends only after that, so that whoever sees its end finds the
        answer in the history.

        Called again for a run that was interrupted, it takes the same steps. Raises LeaveError
        where it is to be begun again.
        """
        last: list[Chunk] = []
        answered: SavedAnswer | None = None

        def emit(c: Chunk) -> None:
            if c["type"] in ("finish", "abort", "error"):
                last.append(c)
            else:
                run.emit(c)
                stream(c)

        try:
            with working_for(scope.user_id):
                agent, task = self._task(scope, message, steps, run.stop)
                outcome = agent.answer(task, emit, steps, run.stop)
            steps("save", SaveStep, partial(self._finish, scope, message, outcome, stream, last))
            if outcome.status == "completed":
                answered = SavedAnswer(
                    scope,
                    replace(message, model=task.model),
                    task.history,
                    outcome.parts,
                    agent.endpoint,
                )
        except StoreError as e:
            raise LeaveError(e.message) from e
        except Exception as e:
            if not threading.main_thread().is_alive():
                raise LeaveError from e  # Python is going down, and with it whatever the run needs
            last.append(self._give_up(scope, message, run, e))
        run.emit(last[-1])
        if self._titles is not None and answered is not None:
            self._titles.answered(answered)

    def _task(
        self, scope: Scope, message: Message, steps: StepRunner, stop: threading.Event
    ) -> tuple[Agent, AnswerTask]:
        """The task of the first time: what settings and files have become since then must not
        change the order of the steps. It is answered by the asker's connection of now, to the end.
        """
        task = steps("task", TaskStep, partial(self._task_settings, scope, message))
        agent = self._agent
        if self._connections is not None:
            model, connection = self._connections.resume(scope, message.model, task.connection)
            agent, message = agent.at(connection.endpoint), replace(message, model=model)
        return agent, AnswerTask(
            message_id=message.id,
            model=message.model,
            history=messages.history(self._store.db, scope, message.chat_id, message.parent_id),
            run_tool=self._tool_runner(scope, message),
            limits=task.limits,
            inline_tokens=task.inline_tokens,
            scope=scope,
            resolver=FileCitationResolver(self._library, scope, message.chat_id, stop),
            files=task.files,
            file_tokens=self._file_tokens if task.file_tokens is None else task.file_tokens,
            budget_reached=partial(self._budgets.reached, scope) if self._budgets else lambda: "",
            spent=partial(self._record, scope, message),
        )

    def _record(
        self, scope: Scope, message: Message, step: str, used: TokenUsage, money: float | None
    ) -> None:
        """Keep what a step took at once, so that it counts also while the run goes on, and however
        it ends."""
        usage.unscoped_record(
            self._store.db,
            scope,
            message.id,
            step,
            chat_id=message.chat_id,
            model=message.model,
            input_tokens=used.input,
            cached_tokens=used.cached,
            output_tokens=used.output,
            cost=money,
        )

    def _task_settings(self, scope: Scope, message: Message) -> TaskStep:
        files = self._library.chat_files(scope, message.chat_id)
        tokens = sum(int(c.file.outline.get("tokens") or 0) for c in files)
        told = tuple(
            FileInChat(
                c.handle,
                c.file.name,
                int(c.file.outline.get("tokens") or 0),
                c.message_id == message.parent_id,
            )
            for c in files
        )
        connection = self._connections.of(scope).id if self._connections else None
        return TaskStep(self._limits, tokens, told, self._file_tokens, connection)

    def _tool_runner(self, scope: Scope, message: Message) -> RunTool:
        """Tools see the files as they are at the call, so that a file deleted meanwhile is missing
        and said to be."""

        def run_tool(
            name: str, given: ToolInput, stop: threading.Event, hooks: Hooks
        ) -> ToolOutput:
            files = self._library.chat_files(scope, message.chat_id, deleted=True)
            rooms = (self._library, self._tables, self._drive, self._documents)
            context = context_of(
                scope,
                message.chat_id,
                files,
                *rooms,
                stop,
                hooks,
                message.id,
                self._python,
                self._permissions,
            )
            return self._run_tool(name, given, context)

        return run_tool

    def _finish(
        self,
        scope: Scope,
        message: Message,
        outcome: Outcome,
        stream: Callable[[Chunk], None],
        last: list[Chunk],
    ) -> SaveStep:
        """The last step: save, then let the stream end."""
        self._save(scope, message, outcome)
        self._trace_documents(scope, replace(message, status=outcome.status, parts=outcome.parts))
        stream(last[-1])
        return SaveStep(outcome.status)

    def _trace_documents(self, scope: Scope, message: Message) -> None:
        """Find receipts for what the answer wrote. What can't be found now is found when somebody
        opens it."""
        try:
            with fence.behind(None):  # the lease went with the answer that was saved
                of_messages(self._store, self._documents, scope, [message])
        except LeafError as e:
            logger.warning("figures of documents were not traced yet: %s", logs.reason(e))

    def _give_up(self, scope: Scope, message: Message, run: Run, error: Exception) -> Chunk:
        """End an answer that cannot go on, and keep what it has shown. Returns its last chunk."""
        text = str(error)
        if not isinstance(error, LeafError):
            logger.error("run %s failed", message.id, exc_info=error)
            text = (
                "Leaf failed in a way that it did not expect. Ask again; if it happens twice, "
                "please report it."
            )
        parts = reduce(compact(run.read().chunks))
        last = chunk("error", errorText=text)
        apply(parts, last)
        try:
            self._save(
                scope, message, Outcome("error", parts, [], {"model": message.model}, "error", text)
            )
        except StoreError as e:
            raise LeaveError(e.message) from e
        except NotFoundError:  # who asked was taken out of the chat: it stands there as stopped
            logger.info("run %s ended: its asker does not reach the chat any more", message.id)
            keep_shown(self._store.db, run)
        return last

    def _save(self, scope: Scope, message: Message, outcome: Outcome) -> None:
        """Saving twice changes nothing."""
        messages.finish(
            self._store.db,
            scope,
            message.id,
            parts=outcome.parts,
            raw=outcome.raw,
            usage=outcome.usage,
            status=outcome.status,
            error=outcome.error,
        )
        logs.event(
            logger,
            "run-ends",
            run=message.id,
            status=outcome.status,
            seconds=float(outcome.usage.get("seconds") or 0),
            input=int(outcome.usage.get("input") or 0),
            output=int(outcome.usage.get("output") or 0),
        )
