"""class Leaf: everything that the pages and the command line can do. No page, no SQL and no model call lives here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, Literal

from leaf import __version__
from leaf.agent.attached import AttachedEstimate, estimate_attached
from leaf.agent.budget import FileInChat, at_once
from leaf.agent.calibration import Calibration
from leaf.agent.context import user_message
from leaf.agent.export import answer_markdown, chat_markdown
from leaf.agent.models.directory import ModelChoice, ModelDirectory
from leaf.agent.models.prices import context_window
from leaf.agent.receipts.documents import of_messages, of_version
from leaf.agent.suggestions import suggest
from leaf.budgets.budgets import BudgetPlan, Budgets, Standing, UsageReport
from leaf.budgets.export import days_csv
from leaf.budgets.periods import Range
from leaf.documents.documents import Documents
from leaf.drive.drive import Drive
from leaf.drive.line import folder_line
from leaf.drive.model import (
    DriveAdded,
    DriveChange,
    DriveConnection,
    DriveFolder,
    DriveItem,
    DriveListing,
    DrivePreview,
    OnProgress,
)
from leaf.errors import DriveNotConnectedError, InvalidInputError, LeafError, NotFoundError
from leaf.exports.bundle import Told, bundle, manifest_of, used_files
from leaf.exports.notebook import notebook
from leaf.files.library import Added, Library, open_path
from leaf.files.line import describe
from leaf.files.members import OnMember
from leaf.files.sample import sample_files
from leaf.files.transcripts import KINDS as SOUND
from leaf.files.transcripts import OnProgress as OnWords
from leaf.files.transcripts import Transcript
from leaf.formats.base import KINDS, Window
from leaf.formats.locate import Sought
from leaf.formats.picture import tokens_of
from leaf.formats.where import around
from leaf.identity import identify, may_sign_in
from leaf.jobs.jobs import Jobs, Source
from leaf.runs.records import Load, RunRecord, StepRecord
from leaf.runs.run import Run, Slice
from leaf.runs.runs import Runs
from leaf.runs.waiting import Place
from leaf.settings import Allowance, Settings
from leaf.sound.base import Cue
from leaf.store import Store, chats, consents, file_contexts, files, logins, members, messages, participants, users
from leaf.store.documents import Change
from leaf.store.jobs import Job, JobItem
from leaf.store.model import (
    Chat,
    ChatFile,
    Document,
    File,
    Invitation,
    Member,
    Membership,
    Message,
    NamedUsage,
    Participant,
    Role,
    Scope,
    Thread,
    User,
    Visit,
)
from leaf.store.usage import Whose
from leaf.tables.notebooks import Notebooks
from leaf.tables.tables import Recomputed, ResultPage, Table, Tables
from leaf.tools import registry
from leaf.tools.base import NO_CHAT, Json, Picture, ToolOutput, context_of
from leaf.tools.recompute import again

ChartForm = Literal["png", "svg", "json"]
ChatForm = Literal["markdown", "notebook", "folder"]
TITLE_CHARACTERS = 60
MESSAGES_DRAWN = 30
SUGGESTION_BYTES = 5_000_000
"""Tables of larger files are not converted just to suggest a question about them."""
PICTURE_TOKENS = 20_000
"""Of the budget of file content that pictures shown with a question take at once; those beyond are looked at when needed."""
LIBRARY_FILES = 200
"""Files that a tool run outside a chat can see."""


@dataclass(frozen=True)
class Preview:
    """A look into a file, for a person."""

    file: File
    kind: Literal["table", "page", "picture", "text", "sound"]
    """`page` is a picture beside its text; `sound` is played beside its transcript."""
    window: Window | None = None
    """For `text` and `page`."""
    picture: bytes = b""
    """The page drawn, for `page`, or the picture itself."""
    tables: tuple[Table, ...] = ()
    """For `table`: what can be chosen."""
    rows: ResultPage | None = None
    """For `table`: rows of the chosen one."""
    pages: int = 0
    page: int = 0
    cues: tuple[Cue, ...] = ()
    """For `sound`: what is known so far of what is said."""
    transcript: Transcript | None = None
    """For `sound`."""
    sought: Sought | None = None
    """With a quote: where it stands, or why it was not found."""
    marks: int = 0
    """For `page`: how often the quote is marked in the picture, once a line."""


class Leaf:
    """One application over one data folder. Safe to call from any number of threads."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        library: Library,
        tables: Tables,
        drive: Drive,
        documents: Documents,
        runs: Runs,
        models: ModelDirectory,
        calibration: Calibration,
        budgets: Budgets,
        jobs: Jobs,
        close: Callable[[], None],
        python: Notebooks | None = None,
    ) -> None:
        self.settings = settings
        self._store = store
        self._library = library
        self._tables = tables
        self._drive = drive
        self.documents = documents
        """What can be looked up of documents; changes go through the methods below, so that idle pages notice them."""
        self._runs = runs
        self._models = models
        self._calibration = calibration
        self._budgets = budgets
        self._jobs = jobs
        self._close = close
        self._python = python

    def launch(self) -> None:
        """Go on with unfinished answers and jobs and have children ready now, rather than with the next question.

        Raises StoreError, StoreBusyError.
        """
        self._library.warm()
        self._runs.launch()
        self._jobs.launch()
        if self._python is not None:
            self._python.warm()

    def close(self) -> None:
        """Let go of runs, which the next start goes on with, end children, close the database. Use the object no more."""
        self._close()

    # --- who

    def local_scope(self) -> Scope:
        """The one user of an app without login, and their workspace."""
        return users.ensure_local_user(self._store.db)

    def sign_in(self, claims: Mapping[str, object], workspace_id: str = "") -> Visit:
        """Who a browser acts for, by the claims of its login; in that workspace if it is theirs, else where they were last.

        Asked at every turn, since a sign-in may end in another tab and a membership by another hand. The first time makes the
        user and "{first name}'s Workspace", and accepts invitations. Raises SignInError.
        """
        identity = identify(claims, self.settings, datetime.now(UTC))
        visit = logins.find(self._store.db, identity, workspace_id)
        if visit is None:
            logins.begin(self._store.db, identity)
            visit = logins.find(self._store.db, identity, workspace_id)
            self._runs.touch()
        if visit is None:
            raise NotFoundError("Your workspace was removed just now.", "Reload the page.")
        return visit

    def sign_out(self, visit: Visit, *, everywhere: bool = False) -> None:
        """End this sign-in in every tab, or all sign-ins of the user."""
        if everywhere:
            logins.end_all(self._store.db, visit)
        else:
            logins.end(self._store.db, visit)
        self._runs.touch()

    def unlink_account(self, email: str) -> bool:
        """Let the next account with this address take its user over. For whoever runs Leaf, never for a page."""
        return logins.unscoped_unlink(self._store.db, email)

    # --- workspaces

    def user(self, scope: Scope) -> User:
        """Raises NotFoundError."""
        return users.get_user(self._store.db, scope)

    def workspaces(self, scope: Scope) -> list[Membership]:
        """The user's workspaces."""
        return members.memberships(self._store.db, scope)

    def choose_workspace(self, visit: Visit, workspace_id: str) -> None:
        """Open this one in new tabs. Raises NotFoundError."""
        logins.remember_workspace(self._store.db, visit, workspace_id)

    def workspace_of(self, scope: Scope, chat_id: str) -> str:
        """The workspace of a chat that the user takes part in, for links into another one than is open; else empty."""
        for membership in self.workspaces(scope):
            try:
                chats.get(self._store.db, Scope(membership.workspace_id, scope.user_id), chat_id)
            except NotFoundError:
                continue
            return membership.workspace_id
        return ""

    def rename_workspace(self, scope: Scope, name: str) -> None:
        """For owners. Raises InvalidInputError."""
        members.rename(self._store.db, scope, name)
        self._runs.touch()

    def members(self, scope: Scope) -> list[Member]:
        """Everybody in the workspace."""
        return members.list_members(self._store.db, scope)

    def invitations(self, scope: Scope) -> list[Invitation]:
        """Those that wait."""
        return members.list_invitations(self._store.db, scope)

    def invite(self, scope: Scope, email: str) -> None:
        """Whoever owns the address joins at their next sign-in. For owners. Raises InvalidInputError."""
        address = members.clean_address(email)
        if not may_sign_in(address, self.settings):
            raise InvalidInputError(f"{address} may not sign in here.", "Whoever runs Leaf decides which addresses may.")
        members.invite(self._store.db, scope, email)
        self._runs.touch()

    def withdraw_invitation(self, scope: Scope, invitation_id: str) -> None:
        """For owners. Raises NotFoundError."""
        members.withdraw(self._store.db, scope, invitation_id)
        self._runs.touch()

    def set_role(self, scope: Scope, user_id: str, role: Role) -> None:
        """For owners. Raises InvalidInputError where no owner would be left."""
        members.set_role(self._store.db, scope, user_id, role)
        self._runs.touch()

    def remove_member(self, scope: Scope, user_id: str) -> None:
        """End a membership, its access and its running answers at once: another's (for owners), or one's own."""
        self._stop_all(members.remove(self._store.db, scope, user_id))

    # --- shared chats

    def participants(self, scope: Scope, chat_id: str) -> list[Participant]:
        """The host first."""
        return participants.list_participants(self._store.db, scope, chat_id)

    def authors(self, scope: Scope, chat_id: str) -> dict[str, str]:
        """User id -> name of everybody who asked in a chat."""
        return participants.authors(self._store.db, scope, chat_id)

    def add_participant(self, scope: Scope, chat_id: str, email: str) -> None:
        """Bring a member of the workspace into a chat. Raises NotFoundError."""
        participants.add(self._store.db, scope, chat_id, email)
        self._runs.touch()

    def remove_participant(self, scope: Scope, chat_id: str, user_id: str) -> None:
        """Take somebody out (for the host), or leave. Raises InvalidInputError where nobody would be left."""
        self._stop_all(participants.remove(self._store.db, scope, chat_id, user_id))

    def _stop_all(self, message_ids: Sequence[str]) -> None:
        for message_id in message_ids:
            self._runs.stop(message_id)
        self._runs.touch()

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
        unfinished = messages.unfinished(self._store.db, scope, chat_id)
        chats.delete(self._store.db, scope, chat_id)
        self._stop_all(unfinished)

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
        chat answers one question at a time. Raises InvalidInputError for an empty question, BudgetError where nothing is left.
        """
        if not text.strip():
            raise InvalidInputError("The question is empty.", "Type one.")
        chat = self.chat(scope, chat_id)
        self._library.attach(scope, chat_id, file_ids)
        self._budgets.check(scope)  # after the files: they wait in the chat while the question is refused
        waiting = [c for c in self._library.chat_files(scope, chat_id) if not c.message_id]
        folders = [f for f in self._drive.folders(scope, chat_id) if not f.message_id]
        return self._ask(scope, chat, text.strip(), waiting, folders, chat.head_id, model)

    def edit(self, scope: Scope, message_id: str, text: str) -> Message:
        """Ask a question again in other words, as a new branch; the earlier branch stays. Raises BudgetError."""
        if not text.strip():
            raise InvalidInputError("The question is empty.", "Type one.")
        self._budgets.check(scope)
        old = messages.get(self._store.db, scope, message_id)
        chat = self.chat(scope, old.chat_id)
        named = {f["fileId"] for part in old.parts if part["type"] == "data-files" for f in part["data"]}
        named.update(inside.id for file_id in list(named) for inside in self._library.inside(scope, file_id))
        came = [c for c in self._library.chat_files(scope, chat.id) if c.file.id in named]
        refs = {f["ref"] for part in old.parts if part["type"] == "data-drive-folders" for f in part["data"]}
        folders = [f for f in self._drive.folders(scope, chat.id) if f.ref in refs]
        return self._ask(scope, chat, text.strip(), came, folders, old.parent_id, "")

    def retry(self, scope: Scope, message_id: str) -> Message:
        """Answer the same question again, as a new branch beside the old answer.

        Beside an answer that failed, the new one goes on from its last good step. Raises BudgetError.
        """
        self._budgets.check(scope)
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

    def _ask(
        self,
        scope: Scope,
        chat: Chat,
        text: str,
        files: Sequence[ChatFile],
        folders: Sequence[DriveFolder],
        parent_id: str,
        model: str,
    ) -> Message:
        parts: list[Json] = [{"type": "text", "text": text, "state": "done"}]
        if files:
            shown = [
                {"fileId": c.file.id, "handle": c.handle, "name": c.file.name, "kind": c.file.kind} for c in _outermost(files)
            ]
            parts.append({"type": "data-files", "data": shown})
        if folders:
            named = [{"ref": f.ref, "name": f.name, "files": f.files} for f in folders]
            parts.append({"type": "data-drive-folders", "data": named})
        chosen = model or chat.model or self.default_model()
        exchange = messages.add_exchange(
            self._store.db,
            scope,
            chat.id,
            parts,
            raw=[user_message(text, files, [folder_line(f) for f in folders], self._pictures(scope, files, chosen))],
            parent_id=parent_id,
            model=chosen,
            title=_title(text),
        )
        if folders:
            self._drive.folders_sent(scope, chat.id, exchange.question.id)
        self._runs.start(scope, exchange.answer)
        return exchange.answer

    def _pictures(self, scope: Scope, files: Sequence[ChatFile], model: str) -> list[Picture]:
        """Pictures that came with a question and are shown at once, as far as they fit; the model can look at the others."""
        made_of: dict[str, Picture] = {}
        sizes: list[FileInChat] = []
        for item in files if self.settings.sees(model) else ():
            if item.file.kind != "picture" or item.file.outline.get("error"):
                continue
            try:
                made = self._library.view(scope, item.file, "1").pictures[0]
            except LeafError:
                continue  # the model is told of the file, and hears why when it looks at it
            label = f"{item.handle} {item.file.name}"
            made_of[item.handle] = Picture(made.sha256, made.media_type, made.width, made.height, label)
            sizes.append(FileInChat(item.handle, item.file.name, tokens_of(made.width, made.height), newest=True))
        decisions = at_once(sizes, min(PICTURE_TOKENS, self.settings.file_tokens))
        return [made_of[decision.handle] for decision in decisions if decision.choice == "shown at once"]

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

    def revision(self, _scope: Scope) -> int:
        """Changes whenever a chat or message changes, so that an idle page knows when to look."""
        return self._runs.revision

    def answer_markdown(self, scope: Scope, message_id: str) -> str:
        """An answer with its question, sources and coverage."""
        answer = messages.get(self._store.db, scope, message_id)
        question = messages.get(self._store.db, scope, answer.parent_id) if answer.parent_id else None
        return answer_markdown(answer, question, of_messages(self._store, self.documents, scope, [answer]))

    def chat_markdown(self, scope: Scope, chat_id: str) -> str:
        """The shown branch of a chat, from its first question."""
        thread = self.thread(scope, chat_id, last=1_000_000)
        traced = of_messages(self._store, self.documents, scope, thread.messages)
        return chat_markdown(self.chat(scope, chat_id).title, thread.messages, traced)

    def export_chat(self, scope: Scope, chat_id: str, form: ChatForm) -> bytes:
        """The shown branch as Markdown, as a notebook, or as a folder (ZIP) that `python -m leaf replay` computes again."""
        chat, thread = self.chat(scope, chat_id), self.thread(scope, chat_id, last=1_000_000)
        if form == "markdown":
            return self.chat_markdown(scope, chat_id).encode()
        there = self._library.chat_files(scope, chat_id, deleted=True)
        used = used_files(thread.messages)
        named = self._tables.of(scope, [c for c in there if c.file.id in used and c.file.deleted_at is None]).tables
        tables = {c.file.id: [t for t in named if t.file_id == c.file.id] for c in there}
        traced = of_messages(self._store, self.documents, scope, thread.messages)
        told = Told(chat.title, thread.messages, there, tables, __version__, datetime.now(UTC), traced)
        if form == "notebook":
            return notebook(manifest_of(told)).encode()
        return bundle(told, lambda sha256, name: self.written_file(scope, chat_id, sha256, name))

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

    # --- usage and budgets

    def usage(self, scope: Scope, range: Range = "30d", whose: Whose = "mine") -> UsageReport:
        """What the caller used, or an owner's workspace. Raises InvalidInputError for `everyone` by somebody who is no owner."""
        return self._budgets.report(scope, range, whose)

    def usage_csv(self, scope: Scope, range: Range = "30d", whose: Whose = "mine") -> str:
        """The same by day and model, for a spreadsheet."""
        return days_csv(self._budgets.report(scope, range, whose))

    def usage_of_all(self, range: Range, by: Literal["day", "model", "user"]) -> list[NamedUsage]:
        """Of everybody in all workspaces: the operator's view."""
        return self._budgets.operator_usage(range, by)

    def standing(self, scope: Scope) -> Standing:
        """What is left of the budgets that hold for the caller."""
        return self._budgets.standing(scope)

    def budget_plan(self, scope: Scope) -> BudgetPlan:
        """What is set in the workspace, and what can be."""
        return self._budgets.plan(scope)

    def set_budget(self, scope: Scope, subject: str, allowance: Allowance) -> None:
        """For owners; `subject` is `workspace`, `members` or a user's id. Raises InvalidInputError, NotFoundError."""
        self._budgets.set(scope, subject, allowance)
        self._runs.touch()

    # --- files

    def add_file(
        self,
        scope: Scope,
        name: str,
        stream: BinaryIO,
        context: str = "",
        on_progress: Callable[[int], None] | None = None,
        *,
        folder: str = "",
        shared: bool = False,
        on_member: OnMember | None = None,
    ) -> Added:
        """Keep a file in the library, and what is in it, if it is an archive or a mail; the same content is kept once.

        `folder` is where it came from: it stands before its name. `context` is what the caller writes about it, for nobody else's
        eyes unless `shared`. Raises FileTooLargeError, StoreError.
        """
        return self._library.add(
            scope, name, stream, context=context, shared=shared, folder=folder, on_progress=on_progress, on_member=on_member
        )

    def add_path(self, scope: Scope, path: Path, context: str = "", folder: str = "", shared: bool = False) -> Added:
        """`add_file` for a file on this machine."""
        with open_path(path) as stream:
            return self.add_file(scope, path.name, stream, context, folder=folder, shared=shared)

    def inside(self, scope: Scope, file_id: str) -> list[File]:
        """The files that came out of an archive or a mail, and out of those."""
        return self._library.inside(scope, file_id)

    # --- many files at once, in the background

    def begin_adding(
        self, scope: Scope, total: int, *, context: str = "", shared: bool = False, target: str = "", origin: str = ""
    ) -> Job:
        """Begin a job that adds files: hand them over with `take_files` or `take_paths`, and say `all_arrived`.

        `context` is what the caller writes about them, for nobody else's eyes unless `shared`.
        `target` is the chat beside whose next question they are put, or `new`; `origin` says where it was begun.
        Raises NotFoundError for a chat that is not there, StoreError.
        """
        if target not in ("", "new"):
            self.chat(scope, target)
        asked = {"context": context, "shared": shared, "target": target, "origin": origin}
        return self._jobs.begin(scope, "files", total=total, asked=asked)

    def take_files(self, scope: Scope, job_id: str, sources: Iterable[tuple[str, BinaryIO]], *, problem: str = "") -> None:
        """Keep the bytes of files for a job; folders may stand before their names.

        `problem` says why there are none; then the files are told as failed.
        Raises NotFoundError, StoreError, RunError once it is over.
        """
        if problem:
            self._jobs.take_failed(scope, job_id, [(name, problem) for name, _ in sources])
            return
        given: list[Source] = [(name, partial(_left_open, stream)) for name, stream in sources]
        self._jobs.take(scope, job_id, given)

    def take_paths(self, scope: Scope, job_id: str, paths: Sequence[Path], folders: Sequence[str] = ()) -> None:
        """`take_files` for files on this machine; `folders` stand before their names."""
        named = zip(paths, folders or [""] * len(paths), strict=True)
        self._jobs.take(scope, job_id, ((f"{folder}/{path.name}", partial(open_path, path)) for path, folder in named))

    def all_arrived(self, scope: Scope, job_id: str, problem: str = "") -> None:
        """No more files come to a job; `problem` says why some are missing."""
        self._jobs.all_there(scope, job_id, problem)

    def begin_drive_adding(
        self, scope: Scope, refs: Sequence[str], *, folders: Sequence[str] = (), target: str = "", origin: str = ""
    ) -> Job:
        """Begin a job that brings files and folders of Drive in; `folders` are put beside the question as they are.

        Raises DriveNotConnectedError, StoreError.
        """
        if self._drive.connection(scope).state != "connected":
            raise DriveNotConnectedError("Google Drive is not connected.", "Connect it on the Drive page.")
        asked = {"refs": list(refs), "folders": list(folders), "target": target, "origin": origin}
        return self._jobs.begin(scope, "drive", asked=asked)

    def jobs(self, scope: Scope) -> list[Job]:
        """The caller's jobs that are under way, or over and not put away, oldest first."""
        return self._jobs.list(scope)

    def job(self, scope: Scope, job_id: str) -> Job:
        """How far it is. Raises NotFoundError."""
        return self._jobs.get(scope, job_id)

    def wait_for_job(self, scope: Scope, job_id: str, timeout: float = 3600.0) -> Job:
        """The job once it is over, or after `timeout` seconds. Raises NotFoundError."""
        return self._jobs.wait(scope, job_id, timeout)

    def job_files(self, scope: Scope, job_id: str) -> list[JobItem]:
        """What became of the files of a job so far, in their order. Raises NotFoundError."""
        return self._jobs.outcomes(scope, job_id)

    def stop_job(self, scope: Scope, job_id: str) -> Job:
        """End a job; what it has added stays. Raises NotFoundError."""
        return self._jobs.stop(scope, job_id)

    def go_on_with_job(self, scope: Scope, job_id: str) -> Job:
        """Take up again what a stopped or failed job has left. Raises NotFoundError."""
        return self._jobs.go_on(scope, job_id)

    def forget_job(self, scope: Scope, job_id: str) -> None:
        """Put away a job that is over; what it added stays. Raises NotFoundError."""
        self._jobs.forget(scope, job_id)

    def add_sample(self, scope: Scope) -> list[File]:
        """Sample data to try Leaf with."""
        return [
            self._library.add(scope, name, BytesIO(content), source="sample", context="Sample data", shared=True).file
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

    def file_words(self, scope: Scope, file_id: str) -> tuple[str, bool]:
        """What the caller wrote about a file, and whether it is shared with the workspace."""
        return file_contexts.own(self._store.db, scope, file_id)

    def set_file_words(self, scope: Scope, file_id: str, words: str, *, chat_id: str = "", shared: bool = False) -> File:
        """Say something about a file, in place of what the caller said before.

        Others read it who take part in the chat, or if it is shared everybody in the workspace. Raises NotFoundError.
        """
        return files.set_context(self._store.db, scope, file_id, words, chat_id=chat_id, shared=shared)

    def delete_file(self, scope: Scope, file_id: str) -> None:
        """`restore_file` undoes. Chats that use it say that it was deleted. What came out of it goes along."""
        self._library.delete(scope, file_id)
        for document in self.documents.of_file(scope, file_id):
            self.delete_document(scope, document.id)

    def restore_file(self, scope: Scope, file_id: str) -> None:
        """Undo `delete_file`."""
        self._library.restore(scope, file_id)
        for document in self.documents.of_file(scope, file_id, deleted=True):
            self.restore_document(scope, document.id)

    def file_path(self, scope: Scope, file_id: str) -> Path:
        """The content on disk, read-only."""
        return self._library.open(scope, file_id)

    def describe_file(self, file: File) -> str:
        """Kind, counts and size in words."""
        return describe(file)

    def transcript(self, scope: Scope, file: File) -> Transcript:
        """How far the words of a recording are known. Asks nothing of an engine."""
        return self._library.transcript(scope, file)

    def transcribe(
        self, scope: Scope, file_id: str, *, on_progress: OnWords | None = None, stop: threading.Event | None = None
    ) -> str:
        """What is said in a recording, without times; empty if nobody speaks. Waits for it, and says how far it is.

        Raises UnreadableFileError for a video without sound, TranscriptionError where no engine is on, or it fails.
        """
        file = self.file(scope, file_id)
        self._library.transcribe(scope, file, stop, on_progress)
        return " ".join(cue.text for cue in self._library.cues(scope, file))

    def begin_transcript(self, scope: Scope, file_id: str) -> None:
        """Transcribe a recording in the background, if there is an engine and anything to hear. Raises FileError."""
        file = self.file(scope, file_id)
        self._library.begin_transcript(scope, file)
        if self._library.transcript(scope, file).state == "working":
            self._jobs.begin(scope, "transcript", total=1, asked={"file": file_id})

    @property
    def transcriber(self) -> str:
        """Name of the engine that transcribes; empty where none is on."""
        return self._library.engine

    def attach(self, scope: Scope, chat_id: str, file_ids: Sequence[str]) -> list[ChatFile]:
        """Put files of the library beside the next question of a chat."""
        return self._library.attach(scope, chat_id, file_ids)

    def attach_as(self, scope: Scope, chat_id: str, file_id: str, handle: str, slug: str) -> ChatFile:
        """Put a file into a chat under the handle and the table name that it has elsewhere. Raises InvalidInputError."""
        return self._library.attach_as(scope, chat_id, file_id, handle, slug)

    def attached_estimate(self, scope: Scope, chat_id: str, model: str = "") -> AttachedEstimate:
        """Tokens and money of the files that wait beside the next question. Asks no server."""
        waiting = [c for c in self._library.chat_files(scope, chat_id) if not c.message_id]
        model = model or self.chat(scope, chat_id).model or self.default_model()
        tables = frozenset(c.file.id for c in waiting if c.file.kind in KINDS and KINDS[c.file.kind].tabular)
        window = self.settings.model_window or context_window(model)
        limit = min(self.settings.file_tokens, int(window * self.settings.context_share))
        rates = self._calibration.rates(model)
        seen = PICTURE_TOKENS if self.settings.sees(model) else 0
        return estimate_attached(waiting, tables, model, rates, limit, self._calibration.requests(model), seen)

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
        quote: str = "",
    ) -> Preview:
        """Rows of a table, a page with its picture, or text, at the place given, or where the quote stands.

        Raises FileError, NotFoundError, InvalidInputError for a place that the file does not have.
        """
        file = self.file(scope, file_id)
        if file.outline.get("error"):
            raise LeafError(str(file.outline["error"]), str(file.outline.get("hint", "")))
        sought = self._library.locate_all(scope, file, [(where, quote)])[0] if quote else None
        if sought is not None and sought.found:
            where = sought.found.place
        if file.kind in KINDS and KINDS[file.kind].tabular:
            found = self._file_tables(scope, file)
            if found:
                chosen = found[min(table, len(found) - 1)]
                rows = self._tables.page(scope, chosen, offset=offset, limit=limit, order_by=order_by, descending=descending)
                return Preview(file, "table", tables=tuple(found), rows=rows, sought=sought)
        if file.kind in SOUND:
            cues, transcript = self._library.cues(scope, file), self._library.transcript(scope, file)
            return Preview(file, "sound", cues=cues, transcript=transcript, sought=sought)
        if file.kind == "picture":
            seen = self._library.view(scope, file, where or "1")
            picture, _ = self._library.seen(scope, seen.pictures[0].sha256)
            return Preview(file, "picture", picture=picture, pages=seen.total, page=seen.pictures[0].page)
        window = self._shown(scope, file, where if file.kind == "pdf" or not sought else around(where), cursor, sought)
        if file.kind == "pdf" and window.ranges:
            page, marks = window.ranges[0][0], 0
            if sought and sought.found:
                picture, marks = self._library.marked_picture(scope, file, page, quote)
            else:
                picture = self._library.picture(scope, file, page)
            return Preview(
                file, "page", window=window, picture=picture, pages=window.total or 0, page=page, sought=sought, marks=marks
            )
        return Preview(file, "text", window=window, sought=sought)

    def row_position(self, scope: Scope, table: Table, row: int) -> int:
        """Where row `row` of a file stands among the rows that `preview` shows of one of its tables, from 0."""
        return self._tables.position(scope, table, row)

    def _shown(self, scope: Scope, file: File, where: str, cursor: str, sought: Sought | None) -> Window:
        """The window at a place; from the beginning where a citation names one that the file does not have."""
        try:
            return self._library.read(scope, file, where, cursor=cursor, max_tokens=4_000)
        except InvalidInputError:
            if sought is None or sought.found:
                raise
            return self._library.read(scope, file, "", max_tokens=4_000)

    def thumbnail(self, scope: Scope, file_id: str) -> tuple[bytes, int, int]:
        """A small picture of a picture or of a PDF's first page, its width and height in pixels.

        Raises NotFoundError, FileError, InvalidInputError for other files.
        """
        return self._library.thumbnail(scope, file_id)

    def seen_picture(self, scope: Scope, sha256: str) -> bytes:
        """A picture that a model was shown. Raises NotFoundError."""
        return self._library.seen(scope, sha256)[0]

    def _file_tables(self, scope: Scope, file: File) -> list[Table]:
        alone = ChatFile(chat_id="", handle="f1", slug="table", file=file)
        found = self._tables.of(scope, [alone])
        if file.id in found.failures and not found.tables:
            raise LeafError(found.failures[file.id])
        return list(found.tables)

    # --- documents

    def save_document(self, scope: Scope, document_id: str, content: str, base: int) -> Document:
        """A version edited by hand, from version `base`. Raises ConflictError if that is not the newest any more."""
        saved = self.documents.write(scope, document_id, content, Change("edited by hand"), base=base)
        self._runs.touch()
        return saved

    def document_receipts(self, scope: Scope, document_id: str, number: int = 0) -> Json | None:
        """What the figures of a version (of the newest, for 0) rest on: {"figures", "with", "against", "receipts"}.

        None for code, and while the answer that writes it is not finished. Raises NotFoundError.
        """
        return of_version(self._store, self.documents, scope, document_id, number)

    def restore_document_version(self, scope: Scope, document_id: str, number: int) -> Document:
        """Make an earlier version the newest again; what was the newest stays as a version."""
        restored = self.documents.restore_version(scope, document_id, number)
        self._runs.touch()
        return restored

    def delete_document(self, scope: Scope, document_id: str) -> None:
        """`restore_document` undoes."""
        self.documents.delete(scope, document_id)
        self._runs.touch()

    def restore_document(self, scope: Scope, document_id: str) -> None:
        """Undo `delete_document`."""
        self.documents.restore(scope, document_id)
        self._runs.touch()

    # --- Google Drive

    def drive_connection(self, scope: Scope) -> DriveConnection:
        """How the caller stands with Drive. Asks nothing of Google."""
        return self._drive.connection(scope)

    def begin_drive_connection(self, scope: Scope, redirect_uri: str) -> str:
        """Address at Google where the user consents; it sends them back to `redirect_uri`. Raises SettingsError."""
        return self._drive.begin(scope, redirect_uri)

    def finish_drive_connection(self, scope: Scope, query: Mapping[str, str]) -> DriveConnection:
        """Take what came back in the address (`code` and `state`, or `error`). Raises LeafError that says what went wrong."""
        return self._drive.finish(scope, query)

    def disconnect_drive(self, scope: Scope) -> DriveConnection:
        """Revoke at Google and forget. Files that came from Drive stay. `why` tells if Google could not be told."""
        return self._drive.disconnect(scope)

    def drive_list(self, scope: Scope, folder: str = "root", *, cursor: str = "", page_size: int = 100) -> DriveListing:
        """A page of a folder. `folder`: `root`, `shared-with-me`, `drives`, an id, a `ref`, or any address of a folder."""
        return self._drive.list(scope, folder, cursor=cursor, page_size=page_size)

    def drive_search(
        self,
        scope: Scope,
        query: str,
        *,
        folder: str = "",
        kinds: Sequence[str] = (),
        modified_after: str = "",
        cursor: str = "",
        page_size: int = 50,
    ) -> DriveListing:
        """By name and content, in a folder with its subfolders or everywhere. `modified_after`: `2026-05-01`."""
        return self._drive.search(
            scope, query, folder=folder, kinds=kinds, modified_after=modified_after, cursor=cursor, page_size=page_size
        )

    def drive_item(self, scope: Scope, ref: str) -> DriveItem:
        """A file or folder by id, `ref` or address; shortcuts are followed. Raises NotFoundError."""
        return self._drive.item(scope, ref)

    def drive_add(
        self,
        scope: Scope,
        refs: Sequence[str],
        *,
        chat_id: str = "",
        on_progress: OnProgress | None = None,
        stop: threading.Event | None = None,
    ) -> DriveAdded:
        """Bring files, and folders with all that is in them, into the library, and put them beside the chat's next question."""
        if chat_id:
            self.chat(scope, chat_id)
        added = self._drive.add(scope, refs, on_progress=on_progress, stop=stop)
        if chat_id and added.files:
            self._library.attach(scope, chat_id, [file.id for file in added.files])
        return added

    def drive_preview(self, scope: Scope, ref: str) -> DrivePreview:
        """The beginning of a file; nothing is put into the library."""
        return self._drive.preview(scope, ref)

    def attach_drive_folder(self, scope: Scope, chat_id: str, ref: str) -> DriveFolder:
        """Put a folder beside the chat's next question: one line for the model, which lists it when it needs to."""
        return self._drive.attach_folder(scope, chat_id, ref)

    def detach_drive_folder(self, scope: Scope, chat_id: str, ref: str) -> None:
        """Take a waiting folder away again. Raises InvalidInputError once a question went with it."""
        self._drive.detach_folder(scope, chat_id, ref)

    def drive_folders(self, scope: Scope, chat_id: str) -> list[DriveFolder]:
        """Folders attached to a chat. Asks nothing of Google."""
        return self._drive.folders(scope, chat_id)

    def drive_changes(self, scope: Scope, chat_id: str, *, max_age: float = 120.0) -> list[DriveChange]:
        """What changed in Drive under this chat. Asks Google unless that was done within `max_age` seconds."""
        file_ids = [c.file.id for c in self._library.chat_files(scope, chat_id)]
        return self._drive.changes(scope, chat_id, file_ids, max_age=max_age)

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
        where: Mapping[str, str] | None = None,
    ) -> ResultPage:
        """Rows of a whole result, sorted and filtered if asked: see `tables.filters.condition`."""
        self.chat(scope, chat_id)
        return self._tables.result(
            scope, chat_id, result_id, offset=offset, limit=limit, order_by=order_by, descending=descending, where=where
        )

    def recompute(self, scope: Scope, chat_id: str, result_id: str) -> Recomputed:
        """Run a result's query again and compare. Raises NotFoundError, QueryError, FileError, SandboxError."""
        self.chat(scope, chat_id)
        files = self._library.chat_files(scope, chat_id, deleted=True)
        return self._tables.recompute(scope, chat_id, files, result_id)

    def recompute_cell(self, scope: Scope, message_id: str, call_id: str) -> Recomputed:
        """Run a cell of Python again, after those before it, and compare its tables and what it prints.

        Raises NotFoundError, SandboxError, FileError.
        """
        message = self.message(scope, message_id)
        part = next((p for p in message.parts if p.get("toolCallId") == call_id and p["type"] == "tool-run_python"), None)
        if part is None or self._python is None:
            raise NotFoundError("This cell is not there any more, or Python is not available on this machine.")
        return again(self._python, self._tables, self._library, scope, message, part)

    def export_result(self, scope: Scope, chat_id: str, result_id: str, form: Literal["csv", "xlsx", "parquet"] = "csv") -> Path:
        """The whole result as a file. Raises NotFoundError, and InvalidInputError where Excel has no room for it."""
        self.chat(scope, chat_id)
        names = {c.file.id: c.file.name for c in self._library.chat_files(scope, chat_id, deleted=True)}
        return self._tables.export(scope, chat_id, result_id, form, names)

    def draw_chart(
        self, spec: Mapping[str, object], columns: Sequence[str], rows: Sequence[Sequence[object]], form: ChartForm
    ) -> bytes:
        """A chart with its rows as PNG, SVG, or Vega-Lite in JSON. Raises InvalidInputError for what cannot be drawn."""
        with TemporaryDirectory(prefix="leaf-chart-") as folder:
            return self._tables.draw(spec, columns, rows, form, Path(folder)).read_bytes()

    def number_next_result(self, scope: Scope, chat_id: str, number: int) -> None:
        """Let the chat's next result be `r<number>`, as it was where the chat comes from."""
        self.chat(scope, chat_id)
        self._tables.number_next(scope, chat_id, number)

    # --- tools and models

    def run_tool(
        self,
        scope: Scope,
        name: str,
        given: str | Json,
        *,
        chat_id: str = "",
        file_ids: Sequence[str] = (),
        message_id: str = "",
    ) -> ToolOutput:
        """Run one tool outside a run: on the chat's files, on `file_ids`, or on the newest of the library.

        Calls that name the same `message_id`, which need not be one of the chat's, share the variables of Python.
        Raises the LeafError whose text the model would get.
        """
        if chat_id:
            self._library.attach(scope, chat_id, file_ids)
            files = self._library.chat_files(scope, chat_id, deleted=True)
        else:
            chosen = [self.file(scope, i) for i in file_ids] or self.files(scope)[:LIBRARY_FILES]
            files = self._library.as_chat_files(chosen)
        rooms = (self._library, self._tables, self._drive, self.documents)
        context = context_of(
            scope, chat_id or NO_CHAT, files, *rooms, threading.Event(), message_id=message_id, python=self._python
        )
        return registry.run(name, given, context)

    # --- Python

    def figure(self, scope: Scope, chat_id: str, sha256: str) -> bytes:
        """A figure that Python drew in this chat, as PNG. Raises NotFoundError."""
        self.chat(scope, chat_id)
        return self._library.seen(scope, sha256)[0]

    def written_file(self, scope: Scope, chat_id: str, sha256: str, name: str) -> Path:
        """Where the bytes of a file are that Python wrote in this chat. Raises NotFoundError."""
        return self._library.written(scope, chat_id, sha256, name)

    def keep_written(self, scope: Scope, chat_id: str, sha256: str, name: str) -> File:
        """Put a file that Python wrote into the library and into its chat.

        Raises NotFoundError, FileTooLargeError, StoreError.
        """
        with self.written_file(scope, chat_id, sha256, name).open("rb") as stream:
            file = self._library.add(scope, name, stream).file
        self._library.attach(scope, chat_id, [file.id])
        return file

    def decide(self, scope: Scope, chat_id: str, key: str, allow: bool) -> bool:
        """Answer what a step asks before it goes on. The first answer holds, and is returned. Raises NotFoundError."""
        return consents.decide(self._store.db, scope, chat_id, key, "allowed" if allow else "refused") == "allowed"

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


def _left_open(stream: BinaryIO) -> AbstractContextManager[BinaryIO]:
    """Whoever gave the stream closes it."""
    return nullcontext(stream)


def _outermost(files: Sequence[ChatFile]) -> list[ChatFile]:
    """Without the files that came out of one of the others."""
    there = {c.file.id for c in files}
    return [c for c in files if c.file.parent_id not in there]


def _title(question: str) -> str:
    """The first line of a question, cut at a word."""
    line = " ".join(question.split())
    if len(line) <= TITLE_CHARACTERS:
        return line
    return line[:TITLE_CHARACTERS].rsplit(" ", 1)[0] + " …"
