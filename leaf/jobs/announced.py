"""Files that are named before their bytes come, as a page sends them: several at a time, in any
order, again after a cut line, each cancelled by itself."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from leaf.errors import RunError
from leaf.files.library import Library, StoredFile
from leaf.files.names import clean_path, split_path
from leaf.store import Store, announced, jobs
from leaf.store.jobs import ItemState, Job, JobItem, State
from leaf.store.model import Json, Scope
from leaf.store.objects.base import in_megabytes

NOT_HERE = "It did not get here whole: the page was closed or the connection lost. Add it again."
CLOSED = "It was not here whole when Leaf was closed. Try again, or add it again."

Reopen = Callable[[Scope, str, State], None]
"""Has a job go on in a state, whether it is over or not."""


class AnnouncedFiles:
    """The files that are to come. Safe to call from any number of threads."""

    def __init__(self, store: Store, library: Library, reopen: Reopen) -> None:
        self._db = store.db
        self._library = library
        self._reopen = reopen
        self._lock = threading.Lock()
        self._sent: dict[str, dict[int, int]] = {}
        """Job -> position -> bytes that have come, of files that are on their way."""

    def items(self, files: Sequence[tuple[str, int]]) -> list[tuple[str, Json, str]]:
        """Names, with folders before them, and sizes as items of a job. What is too large is failed
        at once."""
        return [self._item(name, size) for name, size in files]

    def _item(self, name: str, size: int) -> tuple[str, Json, str]:
        folder, last = split_path(name)
        shown, most = clean_path(folder, last), self._library.limit_bytes
        too_large = (
            f"'{shown}' is larger than {in_megabytes(most)}, the most that is taken. "
            "Split it, or have LEAF_MAX_UPLOAD_MB raised."
        )
        source: Json = {"path": name, "size": size}
        return (shown, {}, too_large) if size > most else (shown, source, "")

    def expect(self, scope: Scope, job_id: str, position: int) -> JobItem:
        """Say that the bytes of a file begin to come, for the first time or once more. Raises
        NotFoundError, RunError for a file that is here or is not wanted any more."""
        item = announced.item(self._db, scope, job_id, position)
        if item.state not in ("coming", "failed") or "path" not in item.given:
            raise RunError(f"'{item.name}' is not expected any more.", "Add it again.")
        if announced.turn(self._db, scope, job_id, ("failed",), "coming", position=position):
            self._reopen(scope, job_id, "arriving")
        self.sent(job_id, position, 0)
        return item

    def sent(self, job_id: str, position: int, size: int) -> None:
        """So many bytes of a file have come so far."""
        with self._lock:
            self._sent.setdefault(job_id, {})[position] = size

    def sent_of(self, job_id: str) -> dict[int, int]:
        """Position -> bytes that have come, of files that are on their way."""
        with self._lock:
            return dict(self._sent.get(job_id, {}))

    def receive(self, scope: Scope, job_id: str, position: int, stream: BinaryIO) -> None:
        """Keep the bytes of a file: from then on it is added, whatever dies.

        Raises NotFoundError, FileTooLargeError, StoreError, RunError for one that was cancelled
        meanwhile.
        """
        item = announced.item(self._db, scope, job_id, position)
        asked = jobs.get(self._db, scope, job_id).asked
        folder, last = split_path(str(item.given.get("path", item.name)))
        context = str(asked.get("context", ""))
        stored_file = self._library.keep(scope, last, stream, context=context, folder=folder)
        came = announced.came(
            self._db, scope, job_id, position, stored_file.name, given(stored_file)
        )
        self._forget(job_id, position)
        if not came:
            raise RunError(f"'{item.name}' is not expected any more.", "Add it again.")
        if jobs.get(self._db, scope, job_id).state in ("done", "failed"):
            self._reopen(scope, job_id, "working")

    def fail(self, scope: Scope, job_id: str, position: int, problem: str) -> None:
        """Say why a file did not come. Raises NotFoundError."""
        announced.turn(self._db, scope, job_id, ("coming",), "failed", problem, position)
        self._forget(job_id, position)

    def fail_all(self, scope: Scope, job_id: str, problem: str) -> None:
        """Say why nothing else comes. Raises NotFoundError."""
        announced.turn(self._db, scope, job_id, ("coming",), "failed", problem)
        with self._lock:
            self._sent.pop(job_id, None)

    def again(self, scope: Scope, job_id: str, position: int) -> None:
        """Look once more at a file whose bytes are here. Raises NotFoundError, RunError for one
        that has to be sent."""
        if "sha256" not in announced.item(self._db, scope, job_id, position).given:
            raise RunError("This file is not here.", "Add it again.")
        before: tuple[ItemState, ...] = ("failed", "unreadable")
        if announced.turn(self._db, scope, job_id, before, "waiting", "", position):
            self._reopen(scope, job_id, "working")

    def cancel(self, scope: Scope, job_id: str, position: int) -> JobItem:
        """Do without a file; the item as it was, which may be in the library already. Raises
        NotFoundError."""
        while True:
            item = announced.item(self._db, scope, job_id, position)
            # What it is in the end says what is to be taken back: it may be entered just now.
            if item.state == "cancelled" or announced.turn(
                self._db, scope, job_id, (item.state,), "cancelled", "", position
            ):
                self._forget(job_id, position)
                return item

    def cancel_all(self, scope: Scope, job_id: str) -> Job:
        """Do without all that are not there yet. Raises NotFoundError."""
        announced.turn(self._db, scope, job_id, announced.NOT_OVER, "cancelled")
        return jobs.get(self._db, scope, job_id)

    def _forget(self, job_id: str, position: int) -> None:
        with self._lock:
            sizes = self._sent.get(job_id, {})
            sizes.pop(position, None)
            if not sizes:
                self._sent.pop(job_id, None)


@dataclass(frozen=True)
class ItemProgress:
    """How far a file of a job is."""

    item: JobItem
    sent: int
    """Bytes that have come, while they come; else -1."""
    is_read: bool
    """Whether it is read ahead just now."""


def given(kept: StoredFile) -> Json:
    """How the content of a kept file is found again, and what is known of it."""
    return {
        "sha256": kept.sha256,
        "size": kept.size,
        "source": kept.source,
        "context": kept.context,
        "shared": kept.shared,
    }
