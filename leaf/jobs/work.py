"""What jobs of each kind do. Everything here may be called again after a kill, and goes on with
what is not done."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from typing import Any, Protocol

from leaf.drive.drive import DriveService
from leaf.drive.model import packed, unpacked
from leaf.errors import InvalidInputError, LeafError, NotFoundError, RunError
from leaf.files.arrivals import problem
from leaf.files.library import Library, StoredFile
from leaf.files.transcripts import StillTranscribingError
from leaf.readers.base import holds_files
from leaf.store import Store, announced, chats, files, jobs
from leaf.store.jobs import Became, Job, JobItem
from leaf.store.model import File, Json, Scope
from leaf.tables.tables import Tables

AT_ONCE = 512
"""Items that are taken up together; those of a batch are kept together, so a kill loses the work on
fewer."""
DRIVE_AT_ONCE = 256
"""Files of Drive that are taken up together."""


class Watch(Protocol):
    """What a worker is told and tells."""

    stop: threading.Event
    resumed: bool
    """Whether another process began it, which may have ended at any line."""

    def looked(self) -> None:
        """One more file was looked at."""

    def say(self, text: str) -> None:
        """What is being done just now."""

    def more(self) -> bool:
        """Wait until more items have arrived; False when none will."""

    def beside(self, count: int) -> None:
        """So many files are done and beside the question for which they came."""

    def reading(self, file_id: str) -> AbstractContextManager[threading.Event]:
        """While a file is read ahead; the event ends that alone."""


class FilesWork:
    """Files whose bytes are kept: looked at in batches, entered, put beside a question, and large
    tables read ahead."""

    def __init__(self, store: Store, library: Library, tables: Tables) -> None:
        self._store = store
        self._library = library
        self._tables = tables

    def __call__(self, scope: Scope, job: Job, watch: Watch) -> None:
        """Raises StoreError, RunError after a stop."""
        if watch.resumed:
            came = [file.id for file in _files_of(self._store, scope, job.id)]
            self._put_beside(scope, job, came, watch)
        while (items := jobs.waiting(self._store.db, job.id, AT_ONCE)) or watch.more():
            if items:
                library_files = self._enter(scope, job.id, items, watch)
                self._put_beside(scope, job, [file.id for file in library_files], watch)
        take_out(self._store, self._library, scope, job.id, watch)
        those = _files_of(self._store, scope, job.id)
        self._put_beside(scope, job, [f.id for f in those if holds_files(f.kind, f.outline)], watch)
        read_ahead(self._store, self._tables, scope, job.id, watch)

    def _put_beside(self, scope: Scope, job: Job, file_ids: Sequence[str], watch: Watch) -> None:
        """As they come, so that a question need not wait for the rest; what was left out again
        since stays out."""
        put_beside(self._store, self._library, scope, job, file_ids)
        watch.beside(jobs.get(self._store.db, scope, job.id).done)

    def _enter(
        self, scope: Scope, job_id: str, items: Sequence[JobItem], watch: Watch
    ) -> list[File]:
        there = [item for item in items if self._is_there(scope, item)]
        gone = [item for item in items if item not in there]
        if gone:
            where = self._store.blobs.whereabouts
            missing = f"The bytes of this file are missing from {where}. Add it again."
            jobs.mark(
                self._store.db,
                job_id,
                [Became(item.position, "failed", problem=missing) for item in gone],
            )
        stored_files = [StoredFile(item.name, **item.given) for item in there]
        return enter(
            self._store,
            self._library,
            scope,
            job_id,
            [item.position for item in there],
            stored_files,
            watch,
        )

    def _is_there(self, scope: Scope, item: JobItem) -> bool:
        return self._store.blobs.exists(scope.workspace_id, str(item.given["sha256"]))


def enter(
    store: Store,
    library: Library,
    scope: Scope,
    job_id: str,
    positions: Sequence[int],
    kept: Sequence[StoredFile],
    watch: Watch,
) -> list[File]:
    """Enter kept files and keep what became of them: of new ones in the same transaction. The
    files, in no order; one that was cancelled while it was looked at is put away at once."""
    cancelled: set[int] = set()

    def beside(tx: Any, made: Sequence[tuple[int, str, bool, str]]) -> None:
        new = [
            _became(positions[index], file_id, why)
            for index, file_id, is_new, why in made
            if is_new
        ]
        unwanted = jobs.mark_in(tx, job_id, new)
        cancelled.update(unwanted)
        for index, file_id, is_new, _ in made:
            if is_new and positions[index] in unwanted:
                files.delete_in(tx, scope, file_id)

    library_files: list[File] = []
    for some in library.enter(scope, kept, beside=beside, stop=watch.stop, on_answer=watch.looked):
        known = [(index, added.file) for index, added in some if added.duplicate]
        cancelled |= jobs.mark(
            store.db, job_id, [_became_known(positions[index], file) for index, file in known]
        )
        library_files += [added.file for index, added in some if positions[index] not in cancelled]
    return library_files


def _became(position: int, file_id: str, why: str) -> Became:
    return Became(position, "unreadable" if why else "added", file_id, why)


def _became_known(position: int, file: File) -> Became:
    why = problem(file.outline)
    return Became(position, "unreadable" if why else "known", file.id, why)


class DriveWork:
    """Files and folders of Google Drive: listed once, then brought and entered some at a time."""

    def __init__(self, store: Store, library: Library, tables: Tables, drive: DriveService) -> None:
        self._store = store
        self._library = library
        self._tables = tables
        self._drive = drive

    def __call__(self, scope: Scope, job: Job, watch: Watch) -> None:
        """Raises DriveError, StoreError, RunError after a stop."""
        if not job.outcome.get("listed"):
            job = self._list(scope, job, watch)
        while items := jobs.waiting(self._store.db, job.id, DRIVE_AT_ONCE):
            self._bring(scope, job, items, watch)
        came = [file.id for file in _files_of(self._store, scope, job.id)]
        chat_id = put_beside(
            self._store, self._library, scope, job, came, always=bool(job.asked.get("folders"))
        )
        for ref in job.asked.get("folders", ()) if chat_id else ():
            self._drive.attach_folder(scope, chat_id, ref)
        read_ahead(self._store, self._tables, scope, job.id, watch)

    def _list(self, scope: Scope, job: Job, watch: Watch) -> Job:
        listing = self._drive.look(scope, job.asked["refs"], stop=watch.stop)
        items: list[tuple[str, Json, str]] = [
            (item.name, {**packed(item), "folder": listing.folders.get(item.id, "")}, "")
            for item in listing.items
        ]
        items += [(skipped.name, {}, skipped.why) for skipped in listing.skipped]
        if not job.there:  # else a kill came between the two writes
            jobs.append(self._store.db, scope, job.id, items, total=len(items))
        jobs.set_outcome(self._store.db, job.id, {"listed": True, "incomplete": listing.incomplete})
        return jobs.get(self._store.db, scope, job.id)

    def _bring(self, scope: Scope, job: Job, items: Sequence[JobItem], watch: Watch) -> None:
        by_item = {item.given["id"]: item.position for item in items}
        folders = {str(item.given["id"]): str(item.given["folder"]) for item in items}
        wanted = [
            unpacked({key: value for key, value in item.given.items() if key != "folder"})
            for item in items
        ]
        for item, outcome in self._drive.bring_all(
            scope, wanted, folders=folders, on_answer=watch.looked, stop=watch.stop
        ):
            jobs.mark(self._store.db, job.id, [_became_of(by_item[item.id], outcome)])


def _became_of(position: int, outcome: File | LeafError) -> Became:
    if isinstance(outcome, LeafError):
        return Became(position, "failed", problem=str(outcome))
    return _became(position, outcome.id, problem(outcome.outline))


class TranscriptWork:
    """The words of one recording. Its finished pieces are kept beside the job, so it goes on after
    the last one."""

    def __init__(self, store: Store, library: Library) -> None:
        self._store = store
        self._library = library

    def __call__(self, scope: Scope, job: Job, watch: Watch) -> None:
        """Raises FileError, TranscriptionError, RunError after a stop."""
        for item in jobs.waiting(self._store.db, job.id, 1):
            file = self._library.get(scope, item.given["file"])
            while True:
                try:
                    self._library.transcribe(scope, file, watch.stop)
                    break
                except StillTranscribingError:
                    continue
            jobs.mark(self._store.db, job.id, [Became(item.position, "added", file.id)])


def take_out(store: Store, library: Library, scope: Scope, job_id: str, watch: Watch) -> None:
    """Add what is in the archives and mails among the files of a job; what is there already
    stays."""
    for file in _files_of(store, scope, job_id):
        if holds_files(file.kind, file.outline):
            with suppress(NotFoundError):  # deleted while others were unpacked
                library.unpack(scope, file.id, watch.stop, partial(_say_member, watch, file.name))


def _say_member(watch: Watch, outer: str, _name: str, at: int, of: int) -> None:
    watch.say(f"{outer}: {at:,} of {of:,} files in it")


def _files_of(store: Store, scope: Scope, job_id: str) -> list[File]:
    ids = list(
        dict.fromkeys(
            item.file_id
            for item in jobs.outcomes(store.db, scope, job_id)
            if item.file_id and item.state != "cancelled"
        )
    )
    return files.get_all(store.db, scope, files.still_there(store.db, scope, ids))


def read_ahead(store: Store, tables: Tables, scope: Scope, job_id: str, watch: Watch) -> None:
    """Convert the large tables among the files of a job, so that the first question need not wait
    for it."""
    for file in _files_of(store, scope, job_id):
        with watch.reading(file.id) as stop:
            try:
                tables.prepare(scope, file, stop, watch.say)
            except RunError:
                if watch.stop.is_set():
                    raise


def put_beside(
    store: Store,
    library: Library,
    scope: Scope,
    job: Job,
    found: Sequence[str],
    *,
    always: bool = False,
) -> str:
    """Put files of a job beside the next question of the chat that was named; `new` makes one.
    Returns its id, if any.

    `always` also where there are no files.
    """
    target = str(job.asked.get("target", ""))
    if not target or not (found or always):
        return ""
    outcome = jobs.get(store.db, scope, job.id).outcome
    chat_id = str(outcome.get("chat", ""))
    if not chat_id:
        chat_id = chats.create(store.db, scope).id if target == "new" else target
        jobs.set_outcome(store.db, job.id, {**outcome, "chat": chat_id})
    there = files.still_there(store.db, scope, list(dict.fromkeys(found)))
    library.attach(scope, chat_id, there)
    for file_id in announced.taken_back(store.db, job.id) & set(there):
        with suppress(NotFoundError, InvalidInputError):  # whoever cancelled it was before or after
            library.detach(scope, chat_id, file_id)
    return chat_id
