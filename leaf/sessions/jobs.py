"""Jobs: many files at once, added in the background, and how far that is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

from leaf.errors import DriveNotConnectedError, InvalidInputError, NotFoundError
from leaf.files.library import open_path
from leaf.jobs.announced import ItemProgress
from leaf.sessions.house import Part
from leaf.store import announced, chats
from leaf.store.jobs import Job, JobItem

JobList = list[Job]
Outcomes = list[JobItem]
Items = list[JobItem]
Shown = list[ItemProgress]


class Jobs(Part):
    """The user's jobs."""

    def begin(
        self,
        total: int,
        *,
        context: str = "",
        shared: bool = False,
        target: str = "",
        origin: str = "",
    ) -> Job:
        """Begin a job that adds files: hand them over with `take` or `take_paths`, and say
        `all_arrived`.

        `context` is what the caller writes about them, for nobody else's eyes unless `shared`.
        `target` is the chat beside whose next question they are put, or `new`; `origin` says where
        it was begun. Raises NotFoundError for a chat that is not there, StoreError.
        """
        self._check_target(target)
        asked = {"context": context, "shared": shared, "target": target, "origin": origin}
        return self._house.jobs.begin(self._scope, "files", total=total, asked=asked)

    def _check_target(self, target: str) -> None:
        """Raises NotFoundError for a chat that is not there."""
        if target not in ("", "new"):
            chats.get(self._db, self._scope, target)

    def take(
        self, job_id: str, sources: Iterable[tuple[str, BinaryIO]], *, problem: str = ""
    ) -> None:
        """Keep the bytes of files for a job; folders may stand before their names.

        `problem` says why there are none; then the files are told as failed.
        Raises NotFoundError, StoreError, RunError once it is over.
        """
        if problem:
            self._house.jobs.take_failed(
                self._scope, job_id, [(name, problem) for name, _ in sources]
            )
            return
        # One by one: a source may be open only until the next one is asked for.
        openers = ((name, partial(_left_open, stream)) for name, stream in sources)
        self._house.jobs.take(self._scope, job_id, openers)

    def take_paths(self, job_id: str, paths: Sequence[Path], folders: Sequence[str] = ()) -> None:
        """`take` for files on this machine; `folders` stand before their names."""
        named = zip(paths, folders or [""] * len(paths), strict=True)
        openers = ((f"{folder}/{path.name}", partial(open_path, path)) for path, folder in named)
        self._house.jobs.take(self._scope, job_id, openers)

    def announce(
        self, files: Sequence[tuple[str, int]], *, target: str = "", origin: str = ""
    ) -> Job:
        """Begin a job of files that are known by name, with folders before it, and size in bytes,
        before they come: send each with `expect` and `receive`.

        Raises NotFoundError for a chat that is not there, StoreError.
        """
        if target:
            chats.get(self._db, self._scope, target)
        asked = {"target": target, "origin": origin}
        return self._house.jobs.announce(self._scope, files, asked)

    def expect(self, job_id: str, position: int) -> Callable[[int], None]:
        """The bytes of an announced file begin to come, for the first time or once more: tell what
        this gives how many there are. Raises NotFoundError, RunError for one that is here or was
        cancelled."""
        announced = self._house.jobs.announced
        announced.expect(self._scope, job_id, position)
        return partial(announced.sent, job_id, position)

    def receive(self, job_id: str, position: int, stream: BinaryIO) -> None:
        """Keep the bytes of an announced file: from then on it is added, whatever dies. Raises
        NotFoundError, FileTooLargeError, StoreError, RunError for one that was cancelled."""
        self._house.jobs.announced.receive(self._scope, job_id, position, stream)

    def fail(self, job_id: str, position: int, problem: str) -> None:
        """Say why an announced file did not come. Raises NotFoundError."""
        self._house.jobs.announced.fail(self._scope, job_id, position, problem)

    def fail_rest(self, job_id: str, problem: str) -> None:
        """Say why none of the announced files comes that has not come yet. Raises NotFoundError."""
        self._house.jobs.announced.fail_all(self._scope, job_id, problem)

    def again(self, job_id: str, position: int) -> None:
        """Look once more at a file whose bytes are here. Raises NotFoundError, RunError for one
        that has to be sent."""
        self._house.jobs.announced.again(self._scope, job_id, position)

    def cancel(self, job_id: str, position: int) -> None:
        """Do without a file: it does not come, or is taken out of the chat and, where the job has
        added it and nothing else wants it, out of the library again, from where it can be restored.

        Raises NotFoundError.
        """
        item = self._house.jobs.cancel(self._scope, job_id, position)
        if item.state not in ("added", "known", "unreadable"):
            return
        target = str(self._house.jobs.get(self._scope, job_id).asked.get("target", ""))
        this = (item.file_id, job_id, position)
        _, targets = announced.wanted_too(self._db, self._scope, *this)
        with suppress(NotFoundError, InvalidInputError):  # a question went with it
            if target and target not in targets:
                self._house.library.detach(self._scope, target, item.file_id)
            wanted, _ = announced.wanted_too(self._db, self._scope, *this)
            if item.state != "known" and not wanted:
                self._house.library.delete(self._scope, item.file_id)

    def cancel_all(self, job_id: str) -> Job:
        """End a job: what it has added stays, and nothing else comes. Raises NotFoundError."""
        return self._house.jobs.cancel_all(self._scope, job_id)

    def shown(self, job_id: str, limit: int = 200) -> Shown:
        """How far so many files of a job are, in their order; where there are more, those that need
        somebody, then those that are under way. Raises NotFoundError."""
        return self._house.jobs.shown(self._scope, job_id, limit)

    def missing(self, chat_id: str) -> Items:
        """The files of the chat's next question that are not beside it: they come, wait, or failed.
        None that were cancelled, put away, or are done without. Raises NotFoundError."""
        chats.get(self._db, self._scope, chat_id)
        return announced.missing(self._db, self._scope, chat_id)

    def do_without(self, job_id: str) -> None:
        """Let questions go out without the files of a job that are not there. Raises
        NotFoundError."""
        announced.do_without(self._db, self._scope, job_id)

    def read_so_far(self, file_id: str) -> tuple[int, int]:
        """How many bytes of a large table are read, of how many; (0, 0) where it is not being read.
        Raises NotFoundError."""
        return self._house.tables.read_so_far(self._house.library.get(self._scope, file_id))

    def all_arrived(self, job_id: str, problem: str = "") -> None:
        """No more files come to a job; `problem` says why some are missing."""
        self._house.jobs.all_there(self._scope, job_id, problem)

    def begin_drive(
        self,
        refs: Sequence[str],
        *,
        folders: Sequence[str] = (),
        target: str = "",
        origin: str = "",
    ) -> Job:
        """Begin a job that brings files and folders of Drive in; `folders` are put beside the
        question as they are.

        Raises NotFoundError for a chat that is not there, DriveNotConnectedError, StoreError.
        """
        self._check_target(target)
        if self._house.drive.connection(self._scope).state != "connected":
            raise DriveNotConnectedError(
                "Google Drive is not connected.", "Connect it on the Drive page."
            )
        asked = {"refs": list(refs), "folders": list(folders), "target": target, "origin": origin}
        return self._house.jobs.begin(self._scope, "drive", asked=asked)

    def get(self, job_id: str) -> Job:
        """How far it is. Raises NotFoundError."""
        return self._house.jobs.get(self._scope, job_id)

    def wait(self, job_id: str, timeout: float = 3600.0) -> Job:
        """The job once it is over, or after `timeout` seconds. Raises NotFoundError."""
        return self._house.jobs.wait(self._scope, job_id, timeout)

    def outcomes(self, job_id: str) -> Outcomes:
        """What became of the files of a job so far, in their order. Raises NotFoundError."""
        return self._house.jobs.outcomes(self._scope, job_id)

    def stop(self, job_id: str) -> Job:
        """End a job; what it has added stays. Raises NotFoundError."""
        return self._house.jobs.stop(self._scope, job_id)

    def go_on(self, job_id: str) -> Job:
        """Take up again what a stopped or failed job has left. Raises NotFoundError."""
        return self._house.jobs.go_on(self._scope, job_id)

    def forget(self, job_id: str) -> None:
        """Put away a job that is over; what it added stays. Raises NotFoundError."""
        self._house.jobs.forget(self._scope, job_id)

    def list(self) -> JobList:
        """Those that are under way, or over and not put away, oldest first."""
        return self._house.jobs.list(self._scope)


def _left_open(stream: BinaryIO) -> AbstractContextManager[BinaryIO]:
    """Whoever gave the stream closes it."""
    return nullcontext(stream)
