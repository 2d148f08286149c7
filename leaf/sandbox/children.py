"""Confined children that wait with their libraries loaded: one thread starts them while they are
short, and ends with them all.

Each is taken by one caller, who alone asks it, and given back to be ended.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import logging
import threading
import time
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from leaf import errors
from leaf.sandbox import confine
from leaf.sandbox.boxes import open_boxes, remove_box
from leaf.sandbox.bytecode import compile_ahead
from leaf.sandbox.forkserver import ForkServer, can_confine_itself
from leaf.sandbox.kinds import PACKAGE, ChildKind
from leaf.sandbox.limits import TICK, CallLimits, disk_error, lasting_limits, raise_if_stopped
from leaf.sandbox.process import Child

log = logging.getLogger(__name__)

START_SECONDS = 12.0
"""How long the first child may take to become ready (usually 0.3), doubled after each that did not.
One in some thousands hangs while it starts; so that its successor comes soon, later ones get eight
times what the slowest so far has taken."""
GIVE_UP = 3
"""Children that may fail to start before a caller is told."""
LIBRARIES = (
    *(
        "duckdb",
        "pyarrow",
        "pandas",
        "openpyxl",
        "pypdf",
        "bs4",
        "trafilatura",
        "charset_normalizer",
    ),
    *("PIL", "pi_heif", "vl_convert"),
    *("scipy.stats", "sklearn.linear_model", "statsmodels.api", "matplotlib.pyplot"),
)
"""What children load besides, sooner or later."""


class Children:
    """Any number of threads may take one. What ends a child is `give_back`, which is also the end
    of its box."""

    def __init__(
        self,
        home: Path,
        *,
        size: int,
        preload: Sequence[str],
        paths: Sequence[Path] = (),
        confined: bool | None = None,
        serve: str = "",
        limits: CallLimits | None = None,
        without: Collection[str] = (),
    ) -> None:
        """Nothing is started before the first `take` or `warm`; while nothing runs, at most `size`
        wait.

        `preload` names modules that a waiting child imports and `module:function`s that it calls;
        `paths` are more folders to import from; `confined` False forces the plain process of
        machines that cannot confine. `serve` names the `module:function` that answers in them where
        they are asked more than once, and `limits` what these may use.
        `without` are protections that an older kernel lacks: see `confine.YOUNG`.
        """
        self._home = home
        self._size = size
        self._confined = confined
        self._kind = ChildKind(
            confined=bool(confined),
            preload=tuple(preload),
            paths=tuple(paths),
            serve=serve,
            limits=lasting_limits(limits) if limits else {},
            without=tuple(without),
        )
        self._changed = threading.Condition()
        self._waiting: deque[Child] = deque()
        self._busy: set[Child] = set()
        self._ready = 1
        """Children that wait while nothing runs: one, until two calls have come at once."""
        self._wanted = 0
        self._failures = 0
        self._failure: Exception | None = None
        self._patience = START_SECONDS
        self._keeper: threading.Thread | None = None
        self._starting: Child | ForkServer | None = None
        self._server: ForkServer | None = None
        self._forks = False
        """Whether children are forked: not where none of the first servers came to be ready."""
        self._refusals = 0
        self._has_forked = False
        self._closed = False

    def take(self, stop: threading.Event | None = None) -> Child:
        """A waiting child, prepared now if none waits, one's own until `give_back`.

        Raises SandboxError where none can be started, RunError after `stop`.
        """
        while (child := self._taken(stop)).is_orphaned():
            self.give_back(child)
        return child

    def _taken(self, stop: threading.Event | None) -> Child:
        """One that waited, which may have lost its server meanwhile."""
        raise_if_stopped(stop)
        with self._changed:
            self._start_keeper()
            failures = self._failures
            self._wanted += 1
            self._changed.notify_all()
            try:
                while not self._waiting:
                    if self._closed:
                        raise errors.SandboxError("Leaf is shutting down.")
                    if self._failures >= failures + GIVE_UP:
                        raise _start_error(self._failure) from self._failure
                    raise_if_stopped(stop)
                    self._changed.wait(TICK)
                child = self._waiting.popleft()
                self._busy.add(child)
                self._ready = min(self._size, max(self._ready, len(self._busy)))
                return child
            finally:
                self._wanted -= 1
                self._changed.notify_all()  # the next one may be short

    def give_back(self, child: Child) -> None:
        """End a child and remove its box; it is never lent again."""
        child.stop()
        remove_box(child.box)
        with self._changed:
            self._busy.discard(child)
            self._changed.notify_all()

    def waiting(self) -> int:
        """Children that wait."""
        with self._changed:
            return len(self._waiting)

    def warm(self) -> None:
        """Begin to prepare the waiting children, without waiting for them."""
        with self._changed:
            self._start_keeper()

    def close(self) -> None:
        """End every child, also those that work for someone, and remove the boxes."""
        with self._changed:
            self._closed = True
            if self._starting is not None:
                self._starting.kill()
            self._changed.notify_all()
        if self._keeper is not None:
            self._keeper.join(timeout=10)
        atexit.unregister(self.close)

    def _start_keeper(self) -> None:
        """One thread starts all children and lives as long as the pool: Linux ends a child with the
        thread that started it."""
        if self._closed:
            raise errors.SandboxError("Leaf is shutting down.")
        if self._keeper is None:
            self._keeper = threading.Thread(target=self._keep, name="leaf-sandbox", daemon=True)
            self._keeper.start()
            atexit.register(self.close)

    def _keep(self) -> None:
        """The keeper's life: start children while they are short, end all at the close."""
        if self._confined is None:
            confined = confine.confinement().kind == "landlock"
            self._kind = replace(self._kind, confined=confined)
        # a kernel that lacks protections cannot confine what has started already
        self._forks = self._kind.confined and not self._kind.without and can_confine_itself()
        compile_ahead(PACKAGE, (*self._kind.preload, *LIBRARIES))
        try:
            with open_boxes(self._home) as boxes:
                self._start_children(boxes)
                with self._changed:
                    children = [*self._busy, *self._waiting]
                for child in children:
                    child.stop()
                self._close_server()
        except OSError as e:
            log.warning("the sandbox has no place on the disk: %s", e)
            with self._changed:
                self._keeper = None
                self._note_failure(e, count=GIVE_UP)

    def _start_children(self, boxes: Path) -> None:
        slowest = 0.0
        for number in itertools.count():
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._is_short())
                if self._closed:
                    return
            began = time.monotonic()
            try:
                child = self._started(boxes / str(number))
            except (OSError, RuntimeError) as e:
                if self._closed:
                    return
                known = isinstance(e, OSError)  # such as a disk that is full: no matter for a trace
                log.warning("a sandbox child could not be started: %s", e, exc_info=not known)
                self._note_failure(e)
                continue
            slowest = max(slowest, time.monotonic() - began)
            self._patience = max(3.0, 8 * slowest)
            self._offer(child)

    def _started(self, box: Path) -> Child:
        """A child that is ready. A close meanwhile ends it, since nobody would call it. Raises
        RuntimeError or OSError."""
        if self._forks:
            try:
                child = self._forked(box)
            except RuntimeError:
                if self._closed or self._has_forked:
                    raise
                self._close_server()
                self._refusals += 1
                self._forks = self._refusals < GIVE_UP
                what = "this one is" if self._forks else "each is"
                log.warning(f"no child could be forked; {what} started anew", exc_info=True)
            else:
                self._has_forked = True
                return child
        child = Child.start(box, self._kind)
        with self._starts(child):
            child.wait_until_ready(self._patience)
        return child

    def _forked(self, box: Path) -> Child:
        """A child of the server, which is started first where there is none."""
        if self._server is not None and not self._server.is_alive():
            self._close_server()
        if self._server is None:
            self._server = ForkServer(box.parent / f"server-{box.name}", self._kind)
            with self._starts(self._server):
                self._server.wait_until_ready(self._patience)
        child = Child.start(box, self._kind, self._server)
        with self._starts(child):
            child.wait_until_ready(self._patience)
        return child

    @contextlib.contextmanager
    def _starts(self, process: Child | ForkServer) -> Iterator[None]:
        """While it lasts, a close ends the process, since nobody would call it."""
        with self._changed:
            self._starting = process
            if self._closed:
                process.kill()
        try:
            yield
        finally:
            with self._changed:
                self._starting = None

    def _close_server(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    def _is_short(self) -> bool:
        """Whether another child is needed now. While calls run only one is kept ready, or starting
        others would slow them."""
        if self._failure is not None and not self._wanted:
            return False
        return len(self._waiting) < max(self._wanted, 1 if self._busy else self._ready)

    def _offer(self, child: Child) -> None:
        with self._changed:
            self._failure = None
            self._waiting.append(child)
            self._changed.notify_all()

    def _note_failure(self, failure: Exception, count: int = 1) -> None:
        with self._changed:
            self._failure = failure
            self._failures += count
            self._patience = min(2 * self._patience, 60.0)
            self._changed.notify_all()


def _start_error(failure: Exception | None) -> errors.LeafError:
    if isinstance(failure, OSError):
        return disk_error(failure)
    return errors.SandboxError(
        "The separate process that reads files could not be started.",
        "Try again; see `python -m leaf doctor`.",
    )
