"""A confined child for each chat that runs Python: its variables live on from cell to cell, and are
rebuilt when they are gone.

    cell → the chat's child (or a fresh one, in which the earlier cells run again) → one line of JSON out and in → child is frozen

Between cells a child stands still (SIGSTOP), so that nothing which a cell has left running takes
time or memory. Nothing that comes back is believed: texts are cut, file names checked, files
copied, and whoever reads those files does so in another child.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from leaf import errors
from leaf.sandbox.children import Children
from leaf.sandbox.fonts import copy_fonts, list_fonts
from leaf.sandbox.limits import TICK, CallLimits, raise_if_stopped
from leaf.sandbox.namespace import CellCall, Namespace, PythonCell, RowNames, Supply
from leaf.sandbox.ran import OUTPUT_MB, Ran, checked, text
from leaf.sandbox.slots import Slots
from leaf.sandbox.written import copy_new, look

PRELOAD = ("leaf.sandbox.cells:warm_up", "duckdb")
"""Loaded in the child that waits: pandas, numpy, pyarrow and DuckDB, for about 60 MB of its own."""
LIMITS = CallLimits(seconds=60, memory_mb=2048, output_mb=OUTPUT_MB)
LONGEST = 600.0
"""Seconds that a cell may ask for."""
REPLAY_SECONDS = 120.0
"""Longest time for which earlier cells run again to rebuild the variables."""
SESSIONS = 20
"""Chats whose variables are kept at once."""
KEPT_MB = 3072
"""Memory of all of them together while they wait."""
RUNNING = 4
"""Cells that run at once; further ones wait."""


class Sessions:
    """Runs cells. Any number of threads may call; those of one chat take turns."""

    def __init__(
        self,
        home: Path,
        *,
        idle_seconds: float = 900,
        count: int = SESSIONS,
        kept_mb: int = KEPT_MB,
        limits: CallLimits = LIMITS,
        running: int = RUNNING,
        without: Collection[str] = (),
    ) -> None:
        self._children = Children(
            home,
            size=1,
            preload=PRELOAD,
            serve="leaf.sandbox.cells:serve",
            confined=True,
            limits=limits,
            without=without,
        )
        self._fonts = home / "python" / "matplotlib"
        self._idle_seconds = idle_seconds
        self._count = count
        self._kept = kept_mb * 1024**2
        self.limits = limits
        self._slots = Slots(running)
        self._guard = threading.Condition()
        self._sessions: dict[str, Namespace] = {}
        self._held: set[str] = set()
        self._reaper: threading.Thread | None = None
        self._lister: threading.Thread | None = None
        self._closed = False

    def warm(self) -> None:
        """Begin to prepare a child, without waiting for it."""
        self._children.warm()

    def is_warm(self) -> bool:
        """Whether a child waits."""
        return self._children.waiting() > 0

    def run(
        self,
        chat: str,
        cell: PythonCell,
        earlier: Sequence[PythonCell],
        supply: Supply,
        out: Path,
        *,
        slugs: Sequence[str] = (),
        results: Sequence[str] = (),
        packages: Path | None = None,
        seconds: float = 0.0,
        stop: threading.Event | None = None,
        progress: Callable[[str], None] = lambda _text: None,
    ) -> Ran:
        """Run a cell in the namespace that `earlier`, the chat's successful cells in order, have
        made; copy its files to `out`.

        `slugs` are the names of the chat's files in SQL, `results` those of its kept results;
        `packages` is the folder of the chat's own packages. An exception of the code is no
        exception here: see `Ran.trouble`. Raises SandboxError and its kinds when the child was
        ended, which takes the variables with it; RunError after `stop`.
        """
        limits = replace(
            self.limits, seconds=min(max(1.0, seconds or self.limits.seconds), LONGEST)
        )
        with self._turn(chat, stop):
            if self._lister is None and "plot" in cell.code:  # so that the next child has the list
                self._lister = threading.Thread(
                    target=list_fonts, args=(self._fonts,), name="leaf-fonts", daemon=True
                )
                self._lister.start()
            names = RowNames(tuple(slugs), tuple(results))
            session, rebuilt, lost = self._ready(
                chat, earlier, supply, names, packages, stop, progress
            )
            call = CellCall(session, supply, names, limits, stop)
            before = look(session.child.box / "tmp")
            with self._watched(chat, session):
                answer = call.run(cell, replay=False)
                ran = checked(answer, session.child.box / "out", out)
                if ran.failure is None:
                    written, notes = copy_new(session.child.box / "tmp", before, out)
                    ran = replace(ran, written=written, notes=(*ran.notes, *notes))
            if ran.failure is None:
                session.executed = (*session.executed, cell.key)
            return replace(ran, rebuilt=rebuilt, lost=tuple(lost))

    def forget(self, chat: str) -> None:
        """End a chat's child; its variables are rebuilt when they are needed."""
        with self._guard:
            while chat in self._held:
                self._guard.wait(TICK)
            session = self._sessions.pop(chat, None)
        if session is not None:
            self._children.give_back(session.child)

    def chats(self) -> dict[str, int]:
        """Chats whose variables are kept -> bytes of memory that each holds."""
        with self._guard:
            return {chat: session.child.memory() for chat, session in self._sessions.items()}

    def pids(self) -> list[int]:
        """Processes that hold variables."""
        with self._guard:
            return [session.child.pid for session in self._sessions.values()]

    def close(self) -> None:
        """End every child."""
        with self._guard:
            self._closed = True
            self._guard.notify_all()
        self._children.close()

    # Which namespace

    def _ready(
        self,
        chat: str,
        earlier: Sequence[PythonCell],
        supply: Supply,
        names: RowNames,
        packages: Path | None,
        stop: threading.Event | None,
        progress: Callable[[str], None],
    ) -> tuple[Namespace, int, list[str]]:
        """The chat's session with the effects of exactly the earlier cells; how many were run
        again, and what was lost."""
        keys = tuple(c.key for c in earlier)
        session = self._sessions.get(chat)
        if session is not None and (
            session.executed != keys[: len(session.executed)] or not session.child.is_alive()
        ):
            self._drop(chat)  # the namespace of another branch, or none any more
            session = None
        fresh = session is None
        if session is None:
            session = self._begin(chat, stop)
        session.give_packages(packages)
        missing = [c for c in earlier if c.key not in session.executed]
        if not missing:
            return session, 0, []
        try:
            with self._watched(chat, session):
                lost = self._replay(session, missing, supply, names, stop, progress)
        except errors.SandboxError as e:
            session = self._begin(chat, stop)
            session.give_packages(packages)
            lost = [
                f"The variables of earlier cells are gone and could not be rebuilt ({e.message}) "
                f"Define again what is needed."
            ]
            missing = []
        session.executed = keys
        return session, len(missing) if fresh else 0, lost

    def _replay(
        self,
        session: Namespace,
        cells: Sequence[PythonCell],
        supply: Supply,
        names: RowNames,
        stop: threading.Event | None,
        progress: Callable[[str], None],
    ) -> list[str]:
        lost = []
        end = time.monotonic() + REPLAY_SECONDS
        for number, cell in enumerate(cells, 1):
            progress(f"Rebuilding the variables: cell {number} of {len(cells)}")
            limits = replace(self.limits, seconds=max(1.0, end - time.monotonic()))
            answer = CellCall(session, supply, names, limits, stop).run(cell, replay=True)
            if answer.error is not None:
                lost.append(
                    f"Cell {cell.number} did not run again: {text(answer.error.type, 80)}: "
                    f"{text(answer.error.message)}"
                )
        progress("")  # what comes now is the cell itself
        return lost

    def _begin(self, chat: str, stop: threading.Event | None) -> Namespace:
        self._make_room(chat)
        session = Namespace(self._children.take(stop))
        # Before it runs anything: later it might have made its folder a link to somewhere else.
        copy_fonts(self._fonts, session.child.box / "tmp")
        with self._guard:
            self._sessions[chat] = session
            if self._reaper is None:
                self._reaper = threading.Thread(target=self._reap, name="leaf-python", daemon=True)
                self._reaper.start()
        return session

    # Whose turn, how long, how much

    @contextlib.contextmanager
    def _turn(self, chat: str, stop: threading.Event | None) -> Iterator[None]:
        """One cell of a chat at a time, and a few of all chats."""
        with self._guard:
            while chat in self._held:
                raise_if_stopped(stop)
                self._guard.wait(TICK)
            if self._closed:
                raise errors.SandboxError("Leaf is shutting down.")
            self._held.add(chat)
        try:
            with self._slots.taken(stop):
                yield
        finally:
            with self._guard:
                self._held.discard(chat)
                self._guard.notify_all()
            self._make_room()

    @contextlib.contextmanager
    def _watched(self, chat: str, session: Namespace) -> Iterator[None]:
        """Let the child run for as long as the body; then it stands still. Whatever goes wrong ends
        it."""
        session.child.send_signal(signal.SIGCONT)
        try:
            yield
        except BaseException:
            self._drop(chat)
            raise
        session.child.send_signal(signal.SIGSTOP)
        session.used, session.memory = time.monotonic(), session.child.memory()

    def _drop(self, chat: str) -> None:
        with self._guard:
            session = self._sessions.pop(chat, None)
        if session is not None:
            self._children.give_back(session.child)

    def _make_room(self, newcomer: str = "") -> None:
        """End the children that were used least recently, until the others are few and small
        enough."""
        while True:
            with self._guard:
                others = sum(s.memory for s in self._sessions.values())
                full = len(self._sessions) + bool(newcomer) > self._count or others > self._kept
                waiting = [
                    (s.used, chat) for chat, s in self._sessions.items() if chat not in self._held
                ]
                if not full or not waiting:
                    return
                session = self._sessions.pop(min(waiting)[1])
            self._children.give_back(session.child)

    def _reap(self) -> None:
        """End children that nobody has used for a while."""
        while True:
            with self._guard:
                self._guard.wait(min(30.0, self._idle_seconds / 2))
                if self._closed:
                    return
                late = time.monotonic() - self._idle_seconds
                idle = [
                    chat
                    for chat, s in self._sessions.items()
                    if s.used < late and chat not in self._held
                ]
                sessions = [self._sessions.pop(chat) for chat in idle]
            for session in sessions:
                self._children.give_back(session.child)
