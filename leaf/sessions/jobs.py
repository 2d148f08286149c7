"""Jobs: many files at once, added in the background, and how far that is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import BinaryIO

from leaf.errors import DriveNotConnectedError
from leaf.files.library import open_path
from leaf.jobs.jobs import Source
from leaf.sessions.house import Part
from leaf.store import chats
from leaf.store.jobs import Job, JobItem

JobList = list[Job]
Sources = list[Source]
Outcomes = list[JobItem]


class Jobs(Part):
    """The user's jobs."""

    def begin(self, total: int, *, context: str = "", shared: bool = False, target: str = "", origin: str = "") -> Job:
        """Begin a job that adds files: hand them over with `take` or `take_paths`, and say `all_arrived`.

        `context` is what the caller writes about them, for nobody else's eyes unless `shared`.
        `target` is the chat beside whose next question they are put, or `new`; `origin` says where it was begun.
        Raises NotFoundError for a chat that is not there, StoreError.
        """
        if target not in ("", "new"):
            chats.get(self._db, self._scope, target)
        asked = {"context": context, "shared": shared, "target": target, "origin": origin}
        return self._house.jobs.begin(self._scope, "files", total=total, asked=asked)

    def take(self, job_id: str, sources: Iterable[tuple[str, BinaryIO]], *, problem: str = "") -> None:
        """Keep the bytes of files for a job; folders may stand before their names.

        `problem` says why there are none; then the files are told as failed.
        Raises NotFoundError, StoreError, RunError once it is over.
        """
        if problem:
            self._house.jobs.take_failed(self._scope, job_id, [(name, problem) for name, _ in sources])
            return
        given: Sources = [(name, partial(_left_open, stream)) for name, stream in sources]
        self._house.jobs.take(self._scope, job_id, given)

    def take_paths(self, job_id: str, paths: Sequence[Path], folders: Sequence[str] = ()) -> None:
        """`take` for files on this machine; `folders` stand before their names."""
        named = zip(paths, folders or [""] * len(paths), strict=True)
        given = ((f"{folder}/{path.name}", partial(open_path, path)) for path, folder in named)
        self._house.jobs.take(self._scope, job_id, given)

    def all_arrived(self, job_id: str, problem: str = "") -> None:
        """No more files come to a job; `problem` says why some are missing."""
        self._house.jobs.all_there(self._scope, job_id, problem)

    def begin_drive(self, refs: Sequence[str], *, folders: Sequence[str] = (), target: str = "", origin: str = "") -> Job:
        """Begin a job that brings files and folders of Drive in; `folders` are put beside the question as they are.

        Raises DriveNotConnectedError, StoreError.
        """
        if self._house.drive.connection(self._scope).state != "connected":
            raise DriveNotConnectedError("Google Drive is not connected.", "Connect it on the Drive page.")
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
