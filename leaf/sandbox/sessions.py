"""A confined child for each chat that runs Python: its variables live on from cell to cell, and are rebuilt when they are gone.

    cell → the chat's child (or a fresh one, in which the earlier cells run again) → one line of JSON out and in → child is frozen

Between cells a child stands still (SIGSTOP), so that nothing which a cell has left running takes time or memory. Nothing that
comes back is believed: texts are cut, file names checked, files copied, and whoever reads those files does so in another child.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from leaf import errors
from leaf.sandbox.cells import FIGURES, FRAMES, PRINTED, VALUE
from leaf.sandbox.pool import TICK, Child, Limits, Pool, put_input
from leaf.sandbox.written import Written, copy_new, look

Json = dict[str, Any]

PRELOAD = ("leaf.sandbox.cells:warm_up", "duckdb")
"""Loaded in the child that waits: pandas, numpy, pyarrow and DuckDB, for about 60 MB of its own."""
LIMITS = Limits(seconds=60, memory_mb=2048, output_mb=1024)
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
NEEDS = 500
"""Tables and files that one cell may ask for."""
FIGURE_BYTES = 30 * 1024 * 1024
NOTE = 500
"""Characters of a note that are kept."""


@dataclass(frozen=True)
class Given:
    """A file that code may read."""

    path: Path
    view: str = ""
    """Of a table: SQL for its rows, in which `'{path}'` stands for the path. Empty: the file as it is."""
    numbered: str = ""
    """The same with `_row`, for a query that names it; empty: as `view`."""


Supply = Callable[[str, str], Mapping[str, Given]]
"""`table`, `result` or `file`, and its name -> the names it is known by and what they stand for. Raises LeafError."""


@dataclass(frozen=True)
class Cell:
    """One piece of Python of a chat."""

    key: str
    """Names it for ever."""
    code: str
    number: int = 1
    """Its place in the chat, from 1."""
    files: tuple[str, ...] = ()
    """Handles of files that it opens."""


@dataclass(frozen=True)
class Trouble:
    """Why a cell did not run to its end."""

    type: str
    message: str
    line: int
    """In the cell, from 1; 0 where it has none."""
    text: str
    """The traceback from the cell on."""


@dataclass(frozen=True)
class Ran:
    """What came of a cell. The texts are the code's own words; the files are as the code wrote them, unchecked."""

    printed: str
    characters: int
    """All that was printed; `printed` is the beginning."""
    value: str
    frames: tuple[tuple[Path, str], ...]
    """Parquet file and the variable's name, which may be empty."""
    figures: tuple[Path, ...]
    trouble: Trouble | None
    notes: tuple[str, ...]
    seconds: float
    """Of the cell alone, by the child's clock."""
    rebuilt: int = 0
    """Earlier cells that were run again first."""
    lost: tuple[str, ...] = ()
    """What could not be rebuilt, in words."""
    written: tuple[Written, ...] = ()
    """Copies of the files that it wrote into its working folder."""


@dataclass(frozen=True)
class _Known:
    """Names by which code reaches the chat's rows."""

    slugs: tuple[str, ...]
    """Of files; their tables' names begin with them."""
    results: tuple[str, ...]


@dataclass
class _Session:
    child: Child
    executed: tuple[str, ...] = ()
    """Keys of the cells whose effects the namespace has, in order."""
    paths: dict[Path, str] = field(default_factory=dict)
    """What was put into `in/`: where it came from -> its path there."""
    packages: tuple[str, ...] = ()
    used: float = field(default_factory=time.monotonic)
    memory: int = 0


class Sessions:
    """Runs cells. Any number of threads may call; those of one chat take turns."""

    def __init__(
        self,
        home: Path,
        *,
        idle_seconds: float = 900,
        count: int = SESSIONS,
        kept_mb: int = KEPT_MB,
        limits: Limits = LIMITS,
        running: int = RUNNING,
    ) -> None:
        self._pool = Pool(home, size=1, preload=PRELOAD, serve="leaf.sandbox.cells:serve", confined=True, limits=limits)
        self._fonts = home / "python" / "matplotlib"
        self._idle_seconds = idle_seconds
        self._count = count
        self._kept = kept_mb * 1024**2
        self.limits = limits
        self._slots = threading.BoundedSemaphore(running)
        self._guard = threading.Condition()
        self._sessions: dict[str, _Session] = {}
        self._held: set[str] = set()
        self._reaper: threading.Thread | None = None
        self._lister: threading.Thread | None = None
        self._closed = False

    def warm(self) -> None:
        """Begin to prepare a child, without waiting for it."""
        self._pool.warm()

    def is_warm(self) -> bool:
        """Whether a child waits."""
        return self._pool.waiting() > 0

    def run(
        self,
        chat: str,
        cell: Cell,
        earlier: Sequence[Cell],
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
        """Run a cell in the namespace that `earlier`, the chat's successful cells in order, have made; copy its files to `out`.

        `slugs` are the names of the chat's files in SQL, `results` those of its kept results;
        `packages` is the folder of the chat's own packages. An exception of the
        code is no exception here: see `Ran.trouble`. Raises SandboxError and its kinds when the child was ended, which takes the
        variables with it; RunError after `stop`.
        """
        limits = replace(self.limits, seconds=min(max(1.0, seconds or self.limits.seconds), LONGEST))
        with self._turn(chat, stop):
            if self._lister is None and "plot" in cell.code:  # so that the next child has the list
                self._lister = threading.Thread(target=_list_fonts, args=(self._fonts,), name="leaf-fonts", daemon=True)
                self._lister.start()
            names = _Known(tuple(slugs), tuple(results))
            session, rebuilt, lost = self._ready(chat, earlier, supply, names, packages, stop, progress)
            call = _Call(self, session, supply, names, limits, stop)
            before = look(session.child.box / "tmp")
            with self._watched(chat, session):
                answer = call.run(cell, replay=False)
                ran = _checked(answer, session.child.box / "out", out)
                if ran.trouble is None:
                    written, notes = copy_new(session.child.box / "tmp", before, out)
                    ran = replace(ran, written=written, notes=(*ran.notes, *notes))
            if ran.trouble is None:
                session.executed = (*session.executed, cell.key)
            return replace(ran, rebuilt=rebuilt, lost=tuple(lost))

    def forget(self, chat: str) -> None:
        """End a chat's child; its variables are rebuilt when they are needed."""
        with self._guard:
            while chat in self._held:
                self._guard.wait(TICK)
            session = self._sessions.pop(chat, None)
        if session is not None:
            self._pool.give_back(session.child)

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
        self._pool.close()

    # Which namespace

    def _ready(
        self,
        chat: str,
        earlier: Sequence[Cell],
        supply: Supply,
        names: _Known,
        packages: Path | None,
        stop: threading.Event | None,
        progress: Callable[[str], None],
    ) -> tuple[_Session, int, list[str]]:
        """The chat's session with the effects of exactly the earlier cells; how many were run again, and what was lost."""
        keys = tuple(c.key for c in earlier)
        session = self._sessions.get(chat)
        if session is not None and (session.executed != keys[: len(session.executed)] or not session.child.is_alive()):
            self._drop(chat)  # the namespace of another branch, or none any more
            session = None
        fresh = session is None
        if session is None:
            session = self._begin(chat, stop)
        self._give_packages(session, packages)
        missing = [c for c in earlier if c.key not in session.executed]
        if not missing:
            return session, 0, []
        try:
            with self._watched(chat, session):
                lost = self._replay(session, missing, supply, names, stop, progress)
        except errors.SandboxError as e:
            session = self._begin(chat, stop)
            self._give_packages(session, packages)
            lost = [
                f"The variables of earlier cells are gone and could not be rebuilt ({e.message}) Define again what is needed."
            ]
            missing = []
        session.executed = keys
        return session, len(missing) if fresh else 0, lost

    def _replay(
        self,
        session: _Session,
        cells: Sequence[Cell],
        supply: Supply,
        names: _Known,
        stop: threading.Event | None,
        progress: Callable[[str], None],
    ) -> list[str]:
        lost = []
        end = time.monotonic() + REPLAY_SECONDS
        for number, cell in enumerate(cells, 1):
            progress(f"Rebuilding the variables: cell {number} of {len(cells)}")
            limits = replace(self.limits, seconds=max(1.0, end - time.monotonic()))
            answer = _Call(self, session, supply, names, limits, stop).run(cell, replay=True)
            if isinstance(found := answer.get("error"), dict):
                lost.append(
                    f"Cell {cell.number} did not run again: {_text(found.get('type'), 80)}: {_text(found.get('message'))}"
                )
        return lost

    def _begin(self, chat: str, stop: threading.Event | None) -> _Session:
        self._make_room(chat)
        session = _Session(self._pool.borrow(stop))
        # Before it runs anything: later it might have made its folder a link to somewhere else.
        _copy_fonts(self._fonts, session.child.box / "tmp")
        with self._guard:
            self._sessions[chat] = session
            if self._reaper is None:
                self._reaper = threading.Thread(target=self._reap, name="leaf-python", daemon=True)
                self._reaper.start()
        return session

    def _give_packages(self, session: _Session, packages: Path | None) -> None:
        """Link the chat's own packages into its `in/`."""
        if packages is None or not packages.is_dir():
            return
        target = session.child.box / "in" / f"packages-{packages.name}"
        if not target.exists():
            shutil.copytree(packages, target, copy_function=_link, symlinks=False)
        if str(target) not in session.packages:
            session.packages = (*session.packages, str(target))

    # Whose turn, how long, how much

    @contextlib.contextmanager
    def _turn(self, chat: str, stop: threading.Event | None) -> Iterator[None]:
        """One cell of a chat at a time, and a few of all chats."""
        with self._guard:
            while chat in self._held:
                _raise_if_stopped(stop)
                self._guard.wait(TICK)
            if self._closed:
                raise errors.SandboxError("Leaf is shutting down.")
            self._held.add(chat)
        try:
            while not self._slots.acquire(timeout=TICK):
                _raise_if_stopped(stop)
            try:
                yield
            finally:
                self._slots.release()
        finally:
            with self._guard:
                self._held.discard(chat)
                self._guard.notify_all()
            self._make_room()

    @contextlib.contextmanager
    def _watched(self, chat: str, session: _Session) -> Iterator[None]:
        """Let the child run for as long as the body; then it stands still. Whatever goes wrong ends it."""
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
            self._pool.give_back(session.child)

    def _make_room(self, newcomer: str = "") -> None:
        """End the children that were used least recently, until the others are few and small enough."""
        while True:
            with self._guard:
                others = sum(s.memory for s in self._sessions.values())
                full = len(self._sessions) + bool(newcomer) > self._count or others > self._kept
                waiting = [(s.used, chat) for chat, s in self._sessions.items() if chat not in self._held]
                if not full or not waiting:
                    return
                session = self._sessions.pop(min(waiting)[1])
            self._pool.give_back(session.child)

    def _reap(self) -> None:
        """End children that nobody has used for a while."""
        while True:
            with self._guard:
                self._guard.wait(min(30.0, self._idle_seconds / 2))
                if self._closed:
                    return
                late = time.monotonic() - self._idle_seconds
                idle = [chat for chat, s in self._sessions.items() if s.used < late and chat not in self._held]
                sessions = [self._sessions.pop(chat) for chat in idle]
            for session in sessions:
                self._pool.give_back(session.child)


@dataclass
class _Call:
    """One cell on its way through a child."""

    sessions: Sessions
    session: _Session
    supply: Supply
    names: _Known
    limits: Limits
    stop: threading.Event | None

    def run(self, cell: Cell, *, replay: bool) -> Json:
        """The child's answer, unchecked but for its id. Raises SandboxError and its kinds, RunError."""
        child = self.session.child
        request_id = secrets.token_hex(8)
        try:
            _empty(child.box / "out")
            for handle in cell.files:
                self._put("file", handle)
            request = {
                "id": request_id,
                "code": cell.code,
                "number": cell.number,
                "replay": replay,
                "slugs": list(self.names.slugs),
                "results": list(self.names.results),
                "paths": list(self.session.packages),
                "out": str(child.box / "out"),
            }
            child.send(request)
            return self._answer(request_id)
        except errors.SandboxTimeoutError as e:
            said = f"The code took more than {self.limits.seconds:g} seconds and was ended."
            raise errors.SandboxTimeoutError(said, _GONE) from e
        except errors.SandboxMemoryError as e:
            said = f"The code needed more than {self.limits.memory_mb:,} MB of memory and was ended."
            raise errors.SandboxMemoryError(said, _GONE) from e
        except errors.SandboxError as e:
            said = "The Python process ended before the cell did." if "crashed" in e.message else e.message
            raise errors.SandboxError(said.replace("The work", "The code"), _GONE) from e
        except OSError as e:
            raise errors.StoreError(f"The disk failed: {e.strerror or 'no reason given'}.") from e

    def _answer(self, request_id: str) -> Json:
        """Wait for the end of the cell, and give it the tables and files that it asks for. That takes none of its time."""
        child, spent = self.session.child, 0.0
        for _ in range(NEEDS):
            began = time.monotonic()
            line = child.answer(self.limits, self.stop, spent)
            spent += time.monotonic() - began
            if "need" not in line:
                if line.get("id") != request_id:
                    raise errors.SandboxError("The Python process gave an answer to another question.")
                return line
            child.send(self._provided(line))
        raise errors.SandboxError(f"The code asked for more than {NEEDS} tables.")

    def _provided(self, line: Json) -> Json:
        try:
            return {"paths": self._put(_text(line.get("need"), 10), _text(line.get("name"), 300)), "error": ""}
        except errors.RunError:
            raise
        except errors.LeafError as e:
            return {"paths": {}, "error": str(e)}

    def _put(self, kind: str, name: str) -> dict[str, Json]:
        """Link what is known by that name into `in/`; name -> its path there and its views."""
        placed: dict[str, Json] = {}
        for known_as, given in self.supply(kind, name).items():
            if given.path not in self.session.paths:
                plain = re.sub(r"[^\w.-]+", "_", known_as)[-80:].lstrip(".")
                target = self.session.child.box / "in" / f"{len(self.session.paths) + 1}-{plain}"
                put_input(given.path, target, link=True)
                self.session.paths[given.path] = str(target)
            placed[known_as] = {"path": self.session.paths[given.path], "view": given.view, "numbered": given.numbered}
        return placed


_GONE = "The variables are rebuilt at the next call by running the chat's earlier cells again. Ask for less at once."


def _checked(answer: Json, box: Path, out: Path) -> Ran:
    """What the child says, each field made what it must be, and its files copied: the child could still write to its own."""
    found = answer.get("error")
    trouble = None
    if isinstance(found, dict):
        line = found.get("line")
        trouble = Trouble(
            _text(found.get("type"), 80) or "Error",
            _text(found.get("message"), 2_000),
            line if isinstance(line, int) and 0 < line < 1_000_000 else 0,
            _text(found.get("text"), 6_000),
        )
    characters, seconds = answer.get("characters"), answer.get("seconds")
    printed = _text(answer.get("printed"), PRINTED)
    frames = []
    for number, item in enumerate(_list(answer.get("frames"), FRAMES)):
        file = _text(item.get("file"), 40) if isinstance(item, dict) else ""
        if re.fullmatch(r"frame\d+\.parquet", file):
            name = _text(item.get("name"), 60)
            frames.append((_copied(box / file, out / f"frame{number}.parquet", 1 << 40), name if name.isidentifier() else ""))
    figures = []
    for number, file in enumerate(_list(answer.get("figures"), FIGURES)):
        if isinstance(file, str) and re.fullmatch(r"figure\d+\.png", file):
            figures.append(_copied(box / file, out / f"figure{number}.png", FIGURE_BYTES))
    return Ran(
        printed=printed,
        characters=max(len(printed), characters) if isinstance(characters, int) and characters < 1 << 60 else len(printed),
        value=_text(answer.get("value"), VALUE + 100),
        frames=tuple(frames),
        figures=tuple(figures),
        trouble=trouble,
        notes=tuple(_text(note, NOTE) for note in _list(answer.get("notes"), 20)),
        seconds=float(seconds) if isinstance(seconds, int | float) and 0 <= seconds < 1e6 else 0.0,
    )


def _text(value: Any, limit: int = NOTE) -> str:
    """Text of at most that length without what a terminal or database cannot take."""
    if not isinstance(value, str):
        return ""
    return re.sub("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]", "", value[:limit])


def _list(value: Any, limit: int) -> list[Any]:
    return value[:limit] if isinstance(value, list) else []


def _copied(source: Path, target: Path, limit: int) -> Path:
    """A copy of a plain file that the child wrote. It may have put anything there: a link, a pipe, a terabyte of holes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as e:
        raise errors.SandboxError("The Python process named a file that it did not write.") from e
    about = os.fstat(descriptor)
    if not stat.S_ISREG(about.st_mode) or about.st_size > min(limit, LIMITS.output_mb * 1024**2):
        os.close(descriptor)
        raise errors.SandboxError("The Python process left something that is not a file of a fitting size.")
    with os.fdopen(descriptor, "rb") as file, target.open("wb") as copy:
        shutil.copyfileobj(file, copy, 1 << 20)
    return target


def _empty(folder: Path) -> None:
    """Remove what the last cell left; a folder in it stays, and counts as written."""
    for entry in list(os.scandir(folder)):
        if not entry.is_dir(follow_symlinks=False):
            os.unlink(entry.path)


def _link(source: str, target: str) -> str:
    put_input(Path(source), Path(target), link=True)
    return target


def _list_fonts(fonts: Path) -> None:
    """Have matplotlib look for fonts once, in a process of its own; a child would have to do it anew each time."""
    if any(fonts.glob("fontlist-*.json")):
        return
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        fonts.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, "MPLCONFIGDIR": str(fonts)}
        command = [sys.executable, "-c", "import matplotlib.font_manager"]
        subprocess.run(command, env=environment, timeout=120, check=False, capture_output=True)


def _copy_fonts(fonts: Path, home: Path) -> None:
    """Give a child the list of fonts that another process has made: matplotlib needs a second for it."""
    target = home / ".cache" / "matplotlib"
    with contextlib.suppress(OSError):
        for path in fonts.glob("fontlist-*.json"):
            target.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / path.name)


def _raise_if_stopped(stop: threading.Event | None) -> None:
    if stop is not None and stop.is_set():
        raise errors.RunError("Stopped.")
