"""What a command may ask of the app. The types written here are also what the codec rebuilds values by."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol

from leaf.budgets.periods import Range
from leaf.files.library import Added
from leaf.runs.records import RunRecord, StepRecord
from leaf.runs.run import Slice
from leaf.store.jobs import Job, JobItem
from leaf.store.model import Chat, ChatFile, File, Message, NamedUsage, Scope, Thread
from leaf.tools.base import Json, ToolOutput

METHODS = frozenset(
    {
        "all_arrived",
        "attach",
        "begin_adding",
        "chat",
        "chat_markdown",
        "chats",
        "files",
        "forget_job",
        "go_on_with_job",
        "job",
        "job_files",
        "jobs",
        "local_scope",
        "message",
        "new_chat",
        "resume_run",
        "run_steps",
        "run_tool",
        "runs",
        "send",
        "stop",
        "stop_job",
        "thread",
        "unlink_account",
        "usage_of_all",
        "wait",
        "wait_for_job",
    }
)
"""All that a call may name. `add_path` and `take_paths` have a route of their own, which streams the file; `launch` and `close`
never cross."""


class Commands(Protocol):
    """What the command line works on: `Leaf` in this process, or the app that holds the data. See `Leaf` for each method."""

    def launch(self) -> None: ...

    def close(self) -> None: ...

    def local_scope(self) -> Scope: ...

    def chats(self, scope: Scope, query: str = "", limit: int = 50) -> list[Chat]: ...

    def new_chat(self, scope: Scope, model: str = "") -> Chat: ...

    def chat(self, scope: Scope, chat_id: str) -> Chat: ...

    def chat_markdown(self, scope: Scope, chat_id: str) -> str: ...

    def send(self, scope: Scope, chat_id: str, text: str, file_ids: Sequence[str] = (), model: str = "") -> Message: ...

    def stop(self, scope: Scope, message_id: str) -> None: ...

    def wait(self, scope: Scope, message_id: str, position: int, timeout: float) -> Slice: ...

    def message(self, scope: Scope, message_id: str) -> Message: ...

    def thread(self, scope: Scope, chat_id: str, last: int = 30) -> Thread: ...

    def runs(self, status: str = "", limit: int = 50) -> list[RunRecord]: ...

    def run_steps(self, message_id: str) -> list[StepRecord]: ...

    def resume_run(self, message_id: str) -> None: ...

    def usage_of_all(self, range: Range, by: Literal["day", "model", "user"]) -> list[NamedUsage]: ...

    def unlink_account(self, email: str) -> bool: ...

    def add_path(self, scope: Scope, path: Path, context: str = "", folder: str = "", shared: bool = False) -> Added: ...

    def attach(self, scope: Scope, chat_id: str, file_ids: Sequence[str]) -> list[ChatFile]: ...

    def begin_adding(
        self, scope: Scope, total: int, *, context: str = "", shared: bool = False, target: str = "", origin: str = ""
    ) -> Job: ...

    def take_paths(self, scope: Scope, job_id: str, paths: Sequence[Path], folders: Sequence[str] = ()) -> None: ...

    def all_arrived(self, scope: Scope, job_id: str, problem: str = "") -> None: ...

    def jobs(self, scope: Scope) -> list[Job]: ...

    def job(self, scope: Scope, job_id: str) -> Job: ...

    def job_files(self, scope: Scope, job_id: str) -> list[JobItem]: ...

    def wait_for_job(self, scope: Scope, job_id: str, timeout: float = 3600.0) -> Job: ...

    def stop_job(self, scope: Scope, job_id: str) -> Job: ...

    def forget_job(self, scope: Scope, job_id: str) -> None: ...

    def go_on_with_job(self, scope: Scope, job_id: str) -> Job: ...

    def files(self, scope: Scope, query: str = "", sort: str = "newest") -> list[File]: ...

    def run_tool(
        self,
        scope: Scope,
        name: str,
        given: str | Json,
        *,
        chat_id: str = "",
        file_ids: Sequence[str] = (),
        message_id: str = "",
    ) -> ToolOutput: ...
