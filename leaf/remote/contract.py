"""What a command may ask of the app. The types written here are also what the codec rebuilds values
by."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol

from leaf.agent.connections import ModelConnection
from leaf.agent.models.directory import ModelChoice
from leaf.agent.probe import Tested
from leaf.budgets.periods import Range
from leaf.files.library import Added
from leaf.keeping.backup import BackupMade
from leaf.runs.records import RunRecord, StepRecord
from leaf.runs.run import Slice
from leaf.shapes.raw import ToolInput
from leaf.store.audit import AuditLine
from leaf.store.jobs import Job, JobItem
from leaf.store.model import Chat, ChatFile, File, Message, NamedUsage, Scope, Thread
from leaf.store.operator_lists import AccountRecord, WorkspaceRecord
from leaf.tools.base import ToolOutput

METHODS = frozenset(
    {
        "accounts",
        "attached.add",
        "audit",
        "backup",
        "chats.create",
        "chats.get",
        "chats.list",
        "chats.markdown",
        "chats.purge",
        "chats.thread",
        "files.list",
        "files.purge",
        "jobs.all_arrived",
        "jobs.begin",
        "jobs.forget",
        "jobs.get",
        "jobs.go_on",
        "jobs.list",
        "jobs.outcomes",
        "jobs.stop",
        "jobs.wait",
        "local_scope",
        "messages.get",
        "messages.send",
        "messages.stop",
        "messages.wait",
        "models.connection",
        "models.default",
        "models.list",
        "models.try_used",
        "purge_account",
        "purge_workspace",
        "resume_run",
        "run_steps",
        "runs",
        "tools.run",
        "unlink_account",
        "usage_of_all",
        "workspaces",
    }
)
"""All that a call may name: of a part of the local user's session, or of Leaf itself.
`files.add_path` and `jobs.take_paths` have a route of their own, which streams the file; `launch`
and `close` never cross."""

ChatList = list[Chat]
ChoiceList = list[ModelChoice]
FileList = list[File]
JobList = list[Job]
Outcomes = list[JobItem]


class ChatCommands(Protocol):
    """See `sessions.chats`."""

    def list(self, query: str = "", limit: int = 50) -> ChatList: ...

    def create(self, model: str = "") -> Chat: ...

    def get(self, chat_id: str) -> Chat: ...

    def thread(self, chat_id: str, last: int = 30, first: str = "") -> Thread: ...

    def markdown(self, chat_id: str) -> str: ...

    def purge(self, chat_id: str) -> bool: ...


class MessageCommands(Protocol):
    """See `sessions.messages`."""

    def get(self, message_id: str) -> Message: ...

    def send(
        self,
        chat_id: str,
        text: str,
        file_ids: Sequence[str] = (),
        model: str = "",
        head: str = "",
    ) -> Message: ...

    def stop(self, message_id: str) -> None: ...

    def wait(self, message_id: str, position: int, timeout: float) -> Slice: ...


class ModelCommands(Protocol):
    """See `sessions.models`."""

    def connection(self) -> ModelConnection: ...

    def default(self) -> str: ...

    def list(self) -> ChoiceList: ...

    def try_used(self, model: str = "") -> Tested: ...


class FileCommands(Protocol):
    """See `sessions.files`."""

    def list(self, query: str = "", sort: str = "newest") -> FileList: ...

    def add_path(
        self, path: Path, context: str = "", folder: str = "", shared: bool = False
    ) -> Added: ...

    def purge(self, file_id: str) -> bool: ...


class AttachedCommands(Protocol):
    """See `sessions.attached`."""

    def add(self, chat_id: str, file_ids: Sequence[str]) -> list[ChatFile]: ...


class JobCommands(Protocol):
    """See `sessions.jobs`."""

    def begin(
        self,
        total: int,
        *,
        context: str = "",
        shared: bool = False,
        target: str = "",
        origin: str = "",
    ) -> Job: ...

    def take_paths(
        self, job_id: str, paths: Sequence[Path], folders: Sequence[str] = ()
    ) -> None: ...

    def all_arrived(self, job_id: str, problem: str = "") -> None: ...

    def get(self, job_id: str) -> Job: ...

    def outcomes(self, job_id: str) -> Outcomes: ...

    def wait(self, job_id: str, timeout: float = 3600.0) -> Job: ...

    def stop(self, job_id: str) -> Job: ...

    def forget(self, job_id: str) -> None: ...

    def go_on(self, job_id: str) -> Job: ...

    def list(self) -> JobList: ...


class ToolCommands(Protocol):
    """See `sessions.tools`."""

    def run(
        self,
        name: str,
        given: str | ToolInput,
        *,
        chat_id: str = "",
        file_ids: Sequence[str] = (),
        message_id: str = "",
    ) -> ToolOutput: ...


class SessionCommands(Protocol):
    """What commands use of a session; see `sessions.session`."""

    @property
    def chats(self) -> ChatCommands: ...

    @property
    def messages(self) -> MessageCommands: ...

    @property
    def models(self) -> ModelCommands: ...

    @property
    def files(self) -> FileCommands: ...

    @property
    def attached(self) -> AttachedCommands: ...

    @property
    def jobs(self) -> JobCommands: ...

    @property
    def tools(self) -> ToolCommands: ...


class Commands(Protocol):
    """What the command line works on: `Leaf` in this process, or the app that holds the data. See
    `Leaf` for each method."""

    def launch(self) -> None: ...

    def close(self) -> None: ...

    def local_scope(self) -> Scope: ...

    def session(self, scope: Scope, /) -> SessionCommands: ...

    def runs(self, status: str = "", limit: int = 50) -> list[RunRecord]: ...

    def run_steps(self, message_id: str) -> list[StepRecord]: ...

    def resume_run(self, message_id: str) -> None: ...

    def usage_of_all(
        self, range: Range, by: Literal["day", "model", "user"]
    ) -> list[NamedUsage]: ...

    def unlink_account(self, email: str) -> bool: ...

    def backup(self, target: Path, *, secrets: bool = False) -> BackupMade: ...

    def audit(self, kind: str = "", email: str = "", limit: int = 50) -> list[AuditLine]: ...

    def workspaces(self) -> list[WorkspaceRecord]: ...

    def accounts(self) -> list[AccountRecord]: ...

    def purge_workspace(self, workspace_id: str) -> bool: ...

    def purge_account(self, email: str) -> bool: ...
