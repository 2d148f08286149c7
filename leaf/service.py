"""class Leaf: everything that the pages and the command line can do. No page, no SQL and no model call lives here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Literal

from leaf.agent.context import user_message
from leaf.agent.export import answer_markdown, chat_markdown
from leaf.agent.models.directory import ModelChoice, ModelDirectory
from leaf.agent.suggestions import suggest
from leaf.errors import InvalidInputError, LeafError, NotFoundError
from leaf.files.library import Added, Library, open_path
from leaf.files.line import describe
from leaf.files.sample import sample_files
from leaf.formats.base import KINDS, Window
from leaf.runs.records import Load, RunRecord, StepRecord
from leaf.runs.run import Run, Slice
from leaf.runs.runs import Runs
from leaf.runs.waiting import Place
from leaf.settings import Settings
from leaf.store import Store, chats, files, messages, users
from leaf.store.model import Chat, ChatFile, File, Message, Scope, Thread
from leaf.tables.tables import ResultPage, Table, Tables
from leaf.tools import registry
from leaf.tools.base import Json, ToolOutput, context_of

TITLE_CHARACTERS = 60
MESSAGES_DRAWN = 30
SUGGESTION_BYTES = 5_000_000
"""Tables of larger files are not converted just to suggest a question about them."""
LIBRARY_FILES = 200
"""Files that a tool run outside a chat can see."""


@dataclass(frozen=True)
class Preview:
    """A look into a file, for a person."""

    file: File
    kind: Literal["table", "page", "text"]
    """`page` is a picture beside its text."""
    window: Window | None = None
    """For `text` and `page`."""
    picture: bytes = b""
    """The page drawn, for `page`."""
    tables: tuple[Table, ...] = ()
    """For `table`: what can be chosen."""
    rows: ResultPage | None = None
    """For `table`: rows of the chosen one."""
    pages: int = 0
    page: int = 0


class Leaf:
    """One application over one data folder. Safe to call from any number of threads."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        library: Library,
        tables: Tables,
        runs: Runs,
        models: ModelDirectory,
        close: Callable[[], None],
    ) -> None:
        self.settings = settings
        self._store = store
        self._library = library
        self._tables = tables
        self._runs = runs
        self._models = models
        self._close = close

    def launch(self) -> None:
        """Go on with unfinished answers now, rather than with the next question. Raises StoreError, StoreBusyError."""
        self._runs.launch()

    def close(self) -> None:
        """Let go of runs, which the next start goes on with, end children, close the database. Use the object no more."""
        self._close()

    # --- who

    def local_scope(self) -> Scope:
        """The one user of an app without login, and their workspace."""
        return users.ensure_local_user(self._store.db)

    # --- chats

    def chats(self, scope: Scope, query: str = "", limit: int = 50) -> list[Chat]:
        """Newest first; with `query`, those whose title or messages hold it."""
        return chats.list_chats(self._store.db, scope, query=query, limit=limit)

    def new_chat(self, scope: Scope, model: str = "") -> Chat:
        """An empty chat."""
        return chats.create(self._store.db, scope, model=model)

    def chat(self, scope: Scope, chat_id: str) -> Chat:
        """Raises NotFoundError, also for a chat of somebody else."""
        return chats.get(self._store.db, scope, chat_id)

    def rename_chat(self, scope: Scope, chat_id: str, title: str) -> None:
        """Raises InvalidInputError for an empty title."""
        chats.rename(self._store.db, scope, chat_id, title)
        self._runs.touch()

    def delete_chat(self, scope: Scope, chat_id: str) -> None:
        """Stops its running and waiting answers; `restore_chat` undoes."""
        for message_id in messages.unfinished(self._store.db, scope, chat_id):
            self._runs.stop(message_id)
        chats.delete(self._store.db, scope, chat_id)
        self._runs.touch()

    def restore_chat(self, scope: Scope, chat_id: str) -> None:
        """Undo `delete_chat`."""
        chats.restore(self._store.db, scope, chat_id)
        self._runs.touch()

    def set_chat_model(self, scope: Scope, chat_id: str, model: str) -> None:
        """Model for the chat's next questions; empty for the default."""
        chats.set_model(self._store.db, scope, chat_id, model)

    # --- asking

    def send(self, scope: Scope, chat_id: str, text: str, file_ids: Sequence[str] = (), model: str = "") -> Message:
        """Keep the question with its files, and return the pending assistant message, which is answered when it is its turn: a
        chat answers one question at a time. Raises InvalidInputError for an empty question.
        """
        if not text.strip():
            raise InvalidInputError("The question is empty.", "Type one.")
        chat = self.chat(scope, chat_id)
        self._library.attach(scope, chat_id, file_ids)
        waiting = [c for c in self._library.chat_files(scope, chat_id) if not c.message_id]
        return self._ask(scope, chat, text.strip(), waiting, chat.head_id, model)

    def edit(self, scope: Scope, message_id: str, text: str) -> Message:
        """Ask a question again in other words, as a new branch; the earlier branch stays."""
        if not text.strip():
            raise InvalidInputError("The question is empty.", "Type one.")
        old = messages.get(self._store.db, scope, message_id)
        chat = self.chat(scope, old.chat_id)
        named = {f["fileId"] for part in old.parts if part["type"] == "data-files" for f in part["data"]}
        came = [c for c in self._library.chat_files(scope, chat.id) if c.file.id in named]
        return self._ask(scope, chat, text.strip(), came, old.parent_id, "")

    def retry(self, scope: Scope, message_id: str) -> Message:
        """Answer the same question again, as a new branch beside the old answer.

        Beside an answer that failed, the new one goes on from its last good step.
        """
        old = messages.get(self._store.db, scope, message_id)
        chat = self.chat(scope, old.chat_id)
        answer = messages.add_answer(self._store.db, scope, old.parent_id, model=chat.model or self.default_model())
        self._runs.start(scope, answer)
        return answer

    def goes_on(self, scope: Scope, message: Message) -> bool:
        """Whether `retry` of this answer goes on from its last good step, rather than asking again."""
        if message.status != "error" or message.model != (self.chat(scope, message.chat_id).model or self.default_model()):
            return False
        newest = messages.siblings(self._store.db, scope, message.id)[-1]
        return newest == message.id and self._runs.goes_on(message.id)

    def _ask(self, scope: Scope, chat: Chat, text: str, files: Sequence[ChatFile], parent_id: str, model: str) -> Message:
        parts: list[Json] = [{"type": "text", "text": text, "state": "done"}]
        if files:
            shown = [{"fileId": c.file.id, "handle": c.handle, "name": c.file.name, "kind": c.file.kind} for c in files]
            parts.append({"type": "data-files", "data": shown})
        exchange = messages.add_exchange(
            self._store.db,
            scope,
            chat.id,
            parts,
            raw=[user_message(text, files)],
            parent_id=parent_id,
            model=model or chat.model or self.default_model(),
            title=_title(text),
        )
        self._runs.start(scope, exchange.answer)
        return exchange.answer

    def stop(self, scope: Scope, message_id: str) -> None:
        """End the run; what was shown is kept."""
        messages.get(self._store.db, scope, message_id)
        self._runs.stop(message_id)

    def withdraw(self, scope: Scope, message_id: str) -> Message:
        """Take back a question that still waits, by its pending answer. Returns the question; its files wait again.

        Raises InvalidInputError once it is being answered.
        """
        return self._runs.withdraw(scope, message_id)

    def watch(self, scope: Scope, message_id: str) -> Run | None:
        """The run of an assistant message, readable from its first chunk; None when it is over and stands in the history."""
        messages.get(self._store.db, scope, message_id)
        return self._runs.watch(message_id)

    def running_chats(self) -> frozenset[str]:
        """Ids of the chats in which an answer is being written just now. Reads no store."""
        return self._runs.running_chats()

    def place(self, message_id: str) -> Place | None:
        """Where a question stands that waits, by its pending answer; None once it is its turn. Reads no store."""
        return self._runs.place(message_id)

    def load(self) -> Load:
        """How many answers this process writes, and how many questions wait. Reads no store."""
        return self._runs.load()

    def wait(self, scope: Scope, message_id: str, position: int, timeout: float) -> Slice:
        """Chunks of a run from `position`; see `Run.read`."""
        run = self.watch(scope, message_id)
        if run is None:
            raise NotFoundError("This answer is not being written any more.", "Read it from the chat.")
        return run.read(position, timeout)

    def message(self, scope: Scope, message_id: str) -> Message:
        """Raises NotFoundError."""
        return messages.get(self._store.db, scope, message_id)

    def thread(self, scope: Scope, chat_id: str, last: int = MESSAGES_DRAWN) -> Thread:
        """The newest messages of the branch that is shown."""
        return messages.thread(self._store.db, scope, chat_id, last=last)

    def show_branch(self, scope: Scope, message_id: str) -> None:
        """Show the branch that goes through this message, down to its newest end."""
        message = messages.get(self._store.db, scope, message_id)
        end = messages.newest_below(self._store.db, scope, message_id)
        chats.set_head(self._store.db, scope, message.chat_id, end)
        self._runs.touch()

    def set_feedback(self, scope: Scope, message_id: str, feedback: int) -> None:
        """1 thumbs up, -1 thumbs down, 0 none."""
        messages.set_feedback(self._store.db, scope, message_id, feedback)

    def revision(self, scope: Scope) -> int:
        """Changes whenever a chat or message changes, so that an idle page knows when to look."""
        return self._runs.revision

    def answer_markdown(self, scope: Scope, message_id: str) -> str:
        """An answer with its question, sources and coverage."""
        answer = messages.get(self._store.db, scope, message_id)
        question = messages.get(self._store.db, scope, answer.parent_id) if answer.parent_id else None
        return answer_markdown(answer, question)

    def chat_markdown(self, scope: Scope, chat_id: str) -> str:
        """The shown branch of a chat, from its first question."""
        thread = self.thread(scope, chat_id, last=1_000_000)
        return chat_markdown(self.chat(scope, chat_id).title, thread.messages)

    # --- the operator's view of runs; it asks for everybody

    def runs(self, status: str = "", limit: int = 50) -> list[RunRecord]:
        """The newest answers; with `status` (pending, streaming, completed, stopped, error) only those."""
        return self._runs.records(status, limit)

    def run_steps(self, message_id: str) -> list[StepRecord]:
        """What a run has done so far. Empty once its record was pruned, a day after its end. Raises NotFoundError."""
        return self._runs.steps(message_id)

    def resume_run(self, message_id: str) -> None:
        """Go on in this process with an unfinished answer that no other writes. Raises NotFoundError, RunError."""
        self._runs.resume(message_id)

    # --- files

    def add_file(
        self, scope: Scope, name: str, stream: BinaryIO, context: str = "", on_progress: Callable[[int], None] | None = None
    ) -> Added:
        """Keep a file in the library; the same content is kept once. Raises FileTooLargeError, StoreError."""
        return self._library.add(scope, name, stream, context=context, on_progress=on_progress)

    def add_path(self, scope: Scope, path: Path, context: str = "") -> Added:
        """`add_file` for a file on this machine."""
        with open_path(path) as stream:
            return self.add_file(scope, path.name, stream, context)

    def add_sample(self, scope: Scope) -> list[File]:
        """Sample data to try Leaf with."""
        return [
            self._library.add(scope, name, BytesIO(content), source="sample", context="Sample data").file
            for name, content in sample_files().items()
        ]

    def files(self, scope: Scope, query: str = "", sort: str = "newest") -> list[File]:
        """The library. `sort`: newest, name, size or kind."""
        return self._library.list(scope, query=query, sort=sort)

    def file(self, scope: Scope, file_id: str) -> File:
        """Raises NotFoundError."""
        return self._library.get(scope, file_id)

    def rename_file(self, scope: Scope, file_id: str, name: str) -> File:
        """The chats that use it keep their table names."""
        return self._library.rename(scope, file_id, name)

    def delete_file(self, scope: Scope, file_id: str) -> None:
        """`restore_file` undoes. Chats that use it say that it was deleted."""
        self._library.delete(scope, file_id)

    def restore_file(self, scope: Scope, file_id: str) -> None:
        """Undo `delete_file`."""
        self._library.restore(scope, file_id)

    def file_path(self, scope: Scope, file_id: str) -> Path:
        """The content on disk, read-only."""
        return self._library.open(scope, file_id)

    def describe_file(self, file: File) -> str:
        """Kind, counts and size in words."""
        return describe(file)

    def attach(self, scope: Scope, chat_id: str, file_ids: Sequence[str]) -> list[ChatFile]:
        """Put files of the library beside the next question of a chat."""
        return self._library.attach(scope, chat_id, file_ids)

    def detach(self, scope: Scope, chat_id: str, file_id: str) -> None:
        """Take a waiting file away again; files that came with a question stay."""
        self._library.detach(scope, chat_id, file_id)

    def chat_files(self, scope: Scope, chat_id: str) -> list[ChatFile]:
        """Files of a chat, in the order in which they came."""
        return self._library.chat_files(scope, chat_id)

    def chats_using(self, scope: Scope, file_id: str) -> list[Chat]:
        """Chats to which a file is attached."""
        return files.references(self._store.db, scope, file_id)

    def preview(
        self,
        scope: Scope,
        file_id: str,
        where: str = "",
        *,
        table: int = 0,
        offset: int = 0,
        limit: int = 50,
        order_by: str = "",
        descending: bool = False,
        cursor: str = "",
    ) -> Preview:
        """Rows of a table, a page with its picture, or text, at the place given. Raises FileError, NotFoundError."""
        file = self.file(scope, file_id)
        if file.outline.get("error"):
            raise LeafError(str(file.outline["error"]), str(file.outline.get("hint", "")))
        if file.kind in KINDS and KINDS[file.kind].tabular:
            found = self._file_tables(scope, file)
            if found:
                chosen = found[min(table, len(found) - 1)]
                rows = self._tables.page(scope, chosen, offset=offset, limit=limit, order_by=order_by, descending=descending)
                return Preview(file, "table", tables=tuple(found), rows=rows)
        window = self._library.read(scope, file, where, cursor=cursor, max_tokens=4_000)
        if file.kind == "pdf" and window.ranges:
            page = window.ranges[0][0]
            picture = self._library.picture(scope, file, page)
            return Preview(file, "page", window=window, picture=picture, pages=window.total or 0, page=page)
        return Preview(file, "text", window=window)

    def _file_tables(self, scope: Scope, file: File) -> list[Table]:
        alone = ChatFile(chat_id="", handle="f1", slug="table", file=file)
        found = self._tables.of(scope, [alone])
        if file.id in found.failures and not found.tables:
            raise LeafError(found.failures[file.id])
        return list(found.tables)

    # --- results

    def result_page(
        self,
        scope: Scope,
        chat_id: str,
        result_id: str,
        *,
        offset: int = 0,
        limit: int = 200,
        order_by: str = "",
        descending: bool = False,
    ) -> ResultPage:
        """Rows of a query's whole result."""
        self.chat(scope, chat_id)
        return self._tables.result(
            scope, chat_id, result_id, offset=offset, limit=limit, order_by=order_by, descending=descending
        )

    def export_result(self, scope: Scope, chat_id: str, result_id: str) -> Path:
        """The whole result as a CSV file."""
        self.chat(scope, chat_id)
        return self._tables.export(scope, chat_id, result_id, "csv")

    # --- tools and models

    def run_tool(
        self, scope: Scope, name: str, given: str | Json, *, chat_id: str = "", file_ids: Sequence[str] = ()
    ) -> ToolOutput:
        """Run one tool outside a run: on the chat's files, on `file_ids`, or on the newest of the library.

        Raises the LeafError whose text the model would get.
        """
        if chat_id:
            self._library.attach(scope, chat_id, file_ids)
            files = self._library.chat_files(scope, chat_id, deleted=True)
        else:
            chosen = [self.file(scope, i) for i in file_ids] or self.files(scope)[:LIBRARY_FILES]
            files = self._library.as_chat_files(chosen)
        context = context_of(scope, chat_id or "tool", files, self._library, self._tables, threading.Event())
        return registry.run(name, given, context)

    def suggestions(self, scope: Scope, files: Sequence[File]) -> list[str]:
        """Three questions to begin with."""
        small = [f for f in files if f.kind in KINDS and KINDS[f.kind].tabular and f.size <= SUGGESTION_BYTES]
        tables = self._tables.of(scope, self._library.as_chat_files(small[:6])).tables if small else ()
        return suggest(files, tables)

    def models(self) -> list[ModelChoice]:
        """Models that can be chosen, from the server where it says."""
        return self._models.choices()

    def default_model(self) -> str:
        """The model for chats that have none of their own."""
        return self._models.default()

    def set_default_model(self, model: str) -> None:
        """Kept in the data folder."""
        self._models.set_default(model)


def _title(question: str) -> str:
    """The first line of a question, cut at a word."""
    line = " ".join(question.split())
    if len(line) <= TITLE_CHARACTERS:
        return line
    return line[:TITLE_CHARACTERS].rsplit(" ", 1)[0] + " …"
