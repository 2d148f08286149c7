"""Several files of Drive at once: some come down side by side, and what came is looked at and
entered together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Self

from leaf.drive.fetching import Fetched, Fetcher
from leaf.drive.model import DriveItem, DriveProgress, OnProgress
from leaf.errors import DriveNotConnectedError, LeafError, RunError, StoreError
from leaf.store.model import File, Scope

PARALLEL = 4
TOGETHER = 32
"""Files that are entered together: a fresh child costs more than most files that it reads. A kill
loses no more of them."""
LOOK = 0.2


Outcome = tuple[DriveItem, "File | LeafError"]


class Adding:
    """Progress is told from the caller's own thread, which may be the only one that can draw."""

    def __init__(
        self,
        fetcher: Fetcher,
        scope: Scope,
        folders: Mapping[str, str],
        on_progress: OnProgress | None,
        on_answer: Callable[[], None],
        stop: threading.Event | None,
    ) -> None:
        """`folders`: id of an item -> its folders from the one that was asked for down."""
        self._fetcher = fetcher
        self._scope = scope
        self._folders = folders
        self._on_progress = on_progress
        self._on_answer = on_answer
        self._stop = stop or threading.Event()
        self._over = threading.Event()
        """One of them met what would stop the others too, or nobody waits for them any more."""
        self._threads = ThreadPoolExecutor(PARALLEL, thread_name_prefix="leaf-drive")
        self._bytes: dict[str, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def run(self, items: Sequence[DriveItem], skipped: int) -> Iterator[Outcome]:
        """See `DriveService.bring_all`. What had come down when one ends them all is entered before
        that is raised."""
        total, done = len(items) + skipped, skipped
        running: dict[Future[Fetched | LeafError], DriveItem] = {
            self._threads.submit(self._one, item): item for item in items
        }
        waiting = set(running)
        came: list[tuple[DriveItem, Fetched]] = []
        failed: BaseException | None = None
        while waiting or came:
            over, waiting = (
                wait(waiting, timeout=LOOK, return_when=FIRST_COMPLETED)
                if waiting
                else (set(), waiting)
            )
            for future in over:
                if error := future.exception():
                    failed = failed or error
                elif isinstance(result := future.result(), Fetched) and result.file is None:
                    came.append((running[future], result))
                else:
                    done += 1
                    self._on_answer()
                    yield (
                        running[future],
                        result if isinstance(result, LeafError) else _file_of(result),
                    )
            if failed is not None:  # those that have begun are waited for, here or at the end
                self._over.set()
                waiting = {future for future in waiting if not future.cancel()}
            while len(came) >= TOGETHER or (came and not waiting):
                some, came = came[:TOGETHER], came[TOGETHER:]
                for outcome in self._entered(some):
                    done += 1
                    yield outcome
            self._tell(total, done)
        if failed is not None:
            raise failed

    def _entered(self, some: Sequence[tuple[DriveItem, Fetched]]) -> Iterator[Outcome]:
        for index, outcome in self._fetcher.enter(
            self._scope, [result for _, result in some], self._stop, self._on_answer
        ):
            yield some[index][0], outcome

    def _one(self, item: DriveItem) -> Fetched | LeafError:
        if self._stop.is_set() or self._over.is_set():
            raise RunError("Stopped.")
        folder = self._folders.get(item.id, "")
        try:
            if item.is_shortcut:
                item = self._fetcher.current(self._scope, item.ref)
            return self._fetcher.fetch(
                self._scope,
                item,
                lambda n: self._bytes.__setitem__(item.name, n),
                self._stop,
                folder=folder,
            )
        except (DriveNotConnectedError, StoreError, RunError):
            raise
        except LeafError as e:
            return e
        finally:
            self._bytes.pop(item.name, None)

    def _tell(self, total: int, done: int) -> None:
        if self._on_progress is not None:
            name, size = next(iter(list(self._bytes.items())), ("", 0))
            self._on_progress(DriveProgress(name, done, total, size))


def _file_of(result: Fetched) -> File:
    assert result.file is not None
    return result.file
