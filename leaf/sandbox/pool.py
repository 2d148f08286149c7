"""A few confined children that wait with their libraries loaded; each answers one call, or several of one workspace, and ends.

    call → a waiting child → link inputs into its in/ → one line of JSON in, one out → end it → move its out/ → remove its box

A box is a child's private folder: `in/` (read only), `tmp/` and `out/` (its own). Boxes live in `home/boxes/PID-RANDOM/`, which
is locked while its process lives, so that the next start can remove what a killed one left behind.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import itertools
import json
import logging
import os
import queue
import re
import secrets
import shutil
import signal
import stat
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import leaf
from leaf import errors
from leaf.sandbox import confine
from leaf.sandbox.bytecode import compile_ahead
from leaf.sandbox.room import Room, room

log = logging.getLogger(__name__)

TICK = 0.02
"""Seconds between two looks at a running child: stop, time, memory."""
DISK_TICK = 0.5
"""Seconds between two looks at what it has written."""
BLOCK = 4096
"""What a file or folder takes on the disk at least."""
ANSWER_BYTES = 64 * 1024 * 1024
"""Longest answer that is taken; more is a file's business."""
START_SECONDS = 12.0
"""How long the first child may take to become ready (usually 0.3), doubled after each that did not. One in some thousands hangs
while it starts; so that its successor comes soon, later ones get eight times what the slowest so far has taken."""
FLATTENINGS = 100_000
"""Levels of nested folders that are removed before a box is left for the next start."""
GIVE_UP = 3
"""Children that may fail to start before a caller is told."""
PRELOAD = (
    "leaf.sandbox.absent:hide",
    "leaf.tables.child:warm_up",
    "leaf.formats.columns:warm",
    "leaf.formats.worker",
    "pypdfium2",
    "python_calamine",
    "orjson",
    "lxml.etree",
)
"""What a waiting child has done already: 0.3 s of imports and first uses for about 60 MB of memory a child."""
PROGRESS = "leaf.formats.progress:tell_to"
"""What a child gives the way by which a function says how far it is."""
LIBRARIES = (
    *("duckdb", "pyarrow", "pandas", "openpyxl", "pypdf", "bs4", "trafilatura", "charset_normalizer"),
    *("PIL", "pi_heif", "vl_convert"),
    *("scipy.stats", "sklearn.linear_model", "statsmodels.api", "matplotlib.pyplot"),
)
"""What children load besides, sooner or later."""
ALLOCATION_SLACK = 5 * 1024**3
"""Address space above the memory limit before the kernel itself says no. One DuckDB string may ask for 4 GB at once, and then
the watch gives the clear answer; the kernel's refusal, which often crashes a library, is for a watch that comes too late."""


@dataclass(frozen=True)
class Limits:
    """What one call may use."""

    seconds: float = 60
    """Wall time from the request to the answer."""
    memory_mb: int = 2048
    """Memory held at once, file mappings not counted."""
    output_mb: int = 1024
    """Everything written to disk, temporary files included."""


OnProgress = Callable[[int, int], None]
"""Told how much is done of how much."""


@dataclass(frozen=True)
class Item:
    """One of several calls of a function in the same child."""

    arguments: Mapping[str, Any]
    """As for a single call, where `in:file` stands for `path` and `out:` for a folder of this item alone."""
    path: Path
    out: Path | None = None
    """Where what the function writes is moved to."""
    limits: Limits | None = None
    """Its own, where they are not those of all items."""


class Pool:
    """Calls functions in confined children. Any number of threads may call at once; `running` of them are served at a time."""

    def __init__(
        self,
        home: Path,
        *,
        size: int = 2,
        running: int | None = None,
        preload: Sequence[str] = PRELOAD,
        paths: Sequence[Path] = (),
        confined: bool | None = None,
        serve: str = "",
        limits: Limits | None = None,
        space: Room | None = None,
    ) -> None:
        """Nothing is started before the first call or `warm`.

        `preload` names modules that a waiting child imports and `module:function`s that it calls; `paths` are more folders to
        import from; `confined` False forces the plain process of machines that cannot confine. `serve` names the
        `module:function` that answers in children that are borrowed, not called, and `limits` what these may use. `space` is the
        memory that they share; as many calls run at once, and each may hold as much, as it allows.
        """
        self._home = home
        self._size = size
        self._preload = tuple(preload)
        self._paths = tuple(paths)
        self._confined = confined
        self._serve = serve
        self._limits = _lasting_limits(limits) if limits else {}
        self._room = space or room()
        running = running or self._room.running
        self._slots = threading.BoundedSemaphore(running)
        self.together = max(1, min(_cores(), running - 1))
        """Children that may work on batches at one time: as many as there are cores, and one fewer than may run."""
        self.batches = threading.BoundedSemaphore(self.together)
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
        self._starting: Child | None = None
        self._closed = False

    def call(
        self,
        function: str,
        arguments: Mapping[str, Any],
        *,
        inputs: Mapping[str, Path] | None = None,
        limits: Limits = Limits(),
        out: Path | None = None,
        stop: threading.Event | None = None,
        on_progress: OnProgress | None = None,
    ) -> Any:
        """Run `module:name` in a child and return its JSON value; `on_progress` is told (done, total) where the function says it.

        Each input is put into the child's `in/` under its key, a plain file name; an argument `in:KEY`, at any depth, becomes its
        path, and `out:` becomes the child's output folder, whose files are moved to `out` after success. LeafErrors of the
        function arrive as the same class. Raises SandboxError (or its kinds for time and memory) where no answer came,
        RunError after `stop`.
        """
        for key in inputs or {}:
            if not re.fullmatch(r"[\w.-]{1,100}", key) or key.startswith("."):
                raise ValueError(f"input key {key!r} is not a plain file name")
        limits, arguments = self._within(limits, arguments)

        def prepare(child: Child) -> Mapping[str, Any]:
            real = _prepared(child, inputs or {}, arguments)
            return _request(function, [real], _resource_limits(limits))

        with self._asked(prepare, stop) as child:
            answer = child.answer(limits, stop, on_progress=on_progress)
            child.stop()
            child.check_disk(limits)
            value = _unpack(answer, limits)
            if out is not None:
                _move_outputs(child.box / "out", out)
            return value

    def call_several(
        self,
        function: str,
        items: Sequence[Item],
        *,
        limits: Limits = Limits(),
        stop: threading.Event | None = None,
        on_answer: Callable[[], None] = lambda: None,
    ) -> list[Any | errors.LeafError]:
        """Call `module:name` for one item after another in the same child, which sees the files of them all.

        Their answers in order, a LeafError where the function raised one; fewer than there are items where the child failed at
        the next one: by its fault or by what an item before it had done to the child. `limits` are an item's. The items must be
        of one workspace. Raises StoreError, RunError after `stop`, SandboxError where no child can be started.
        """
        limits = replace(limits, memory_mb=min(self._room.child_mb, limits.memory_mb))

        def prepare(child: Child) -> Mapping[str, Any]:
            real = [_prepared_item(child, str(number), item) for number, item in enumerate(items)]
            cpu = {"RLIMIT_CPU": len(items) * _resource_limits(limits)["RLIMIT_CPU"]}
            return _request(function, real, {**_resource_limits(limits), **cpu})

        with self._asked(prepare, stop) as child:
            found: list[Any | errors.LeafError] = []
            for _ in items:
                try:
                    answer = child.answer(limits, stop)
                    child.check_disk(limits)
                except errors.SandboxError:
                    break
                if "value" not in answer and not isinstance(answer.get("error"), dict):
                    break
                found.append(_value_or_error(answer, limits))
                on_answer()
            child.stop()
            for number, (item, value) in enumerate(zip(items, found, strict=False)):
                if item.out is None or isinstance(value, errors.LeafError):
                    continue
                try:
                    _move_outputs(child.box / "out" / str(number), item.out)
                except errors.SandboxError:
                    return found[:number]
            return found

    @contextlib.contextmanager
    def _asked(self, prepare: Callable[[Child], Mapping[str, Any]], stop: threading.Event | None) -> Iterator[Child]:
        """A child that was handed the request that `prepare` makes for it; it ends with the context."""
        while not self._slots.acquire(timeout=TICK):
            _raise_if_stopped(stop)
        try:
            child = self._take(stop)
            try:
                while not child.send(prepare(child)):  # it died while it waited
                    self._end(child)
                    child = self._take(stop)
                yield child
            except OSError as e:
                raise _disk_error(e) from e
            finally:
                self._end(child)
        finally:
            self._slots.release()

    def _within(self, limits: Limits, arguments: Mapping[str, Any]) -> tuple[Limits, Mapping[str, Any]]:
        """No call may hold more than there is room for. A function that keeps to a limit by itself is told the lower one."""
        most = self._room.child_mb
        told = {"memory_mb": min(most, arguments["memory_mb"])} if isinstance(arguments.get("memory_mb"), int) else {}
        return replace(limits, memory_mb=min(most, limits.memory_mb)), {**arguments, **told}

    def borrow(self, stop: threading.Event | None = None) -> Child:
        """A child of one's own, until `give_back`. Raises SandboxError where none can be started, RunError after `stop`."""
        return self._take(stop)

    def give_back(self, child: Child) -> None:
        """End a borrowed child and remove its box; it is never lent again."""
        self._end(child)

    def waiting(self) -> int:
        """Children that wait to be called or borrowed."""
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

    def _take(self, stop: threading.Event | None) -> Child:
        """A waiting child, prepared now if none waits."""
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
                    _raise_if_stopped(stop)
                    self._changed.wait(TICK)
                child = self._waiting.popleft()
                self._busy.add(child)
                self._ready = min(self._size, max(self._ready, len(self._busy)))
                return child
            finally:
                self._wanted -= 1

    def _end(self, child: Child) -> None:
        child.stop()
        remove_box(child.box)
        with self._changed:
            self._busy.discard(child)
            self._changed.notify_all()

    def _start_keeper(self) -> None:
        """One thread starts all children and lives as long as the pool: Linux ends a child with the thread that started it."""
        if self._closed:
            raise errors.SandboxError("Leaf is shutting down.")
        if self._keeper is None:
            self._keeper = threading.Thread(target=self._keep, name="leaf-sandbox", daemon=True)
            self._keeper.start()
            atexit.register(self.close)

    def _keep(self) -> None:
        """The keeper's life: start children while they are short, end all at the close."""
        confined = confine.confinement().kind == "landlock" if self._confined is None else self._confined
        compile_ahead(Path(leaf.__file__).resolve().parent, (*self._preload, *LIBRARIES))
        try:
            with _boxes(self._home) as boxes:
                self._start_children(boxes, confined)
                with self._changed:
                    children = [*self._busy, *self._waiting]
                for child in children:
                    child.stop()
        except OSError as e:
            log.warning("the sandbox has no place on the disk", exc_info=True)
            with self._changed:
                self._keeper = None
                self._note_failure(e, count=GIVE_UP)

    def _start_children(self, boxes: Path, confined: bool) -> None:
        slowest = 0.0
        for number in itertools.count():
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._is_short())
                if self._closed:
                    return
            began = time.monotonic()
            try:
                child = self._started(boxes / str(number), confined)
            except (OSError, RuntimeError) as e:
                if self._closed:
                    return
                log.warning("a sandbox child could not be started", exc_info=True)
                self._note_failure(e)
                continue
            slowest = max(slowest, time.monotonic() - began)
            self._patience = max(3.0, 8 * slowest)
            self._offer(child)

    def _started(self, box: Path, confined: bool) -> Child:
        """A child that is ready. A close meanwhile ends it, since nobody would call it. Raises RuntimeError or OSError."""
        child = Child.start(box, confined, self._preload, self._paths, self._serve, self._limits)
        with self._changed:
            self._starting = child
            if self._closed:
                child.kill()
        try:
            child.wait_until_ready(self._patience)
        finally:
            with self._changed:
                self._starting = None
        return child

    def _is_short(self) -> bool:
        """Whether another child is needed now. While calls run only one is kept ready, or starting others would slow them."""
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


class Child:
    """One confined process, its box, and the lines that it says. Whoever holds it is the only one who asks it."""

    def __init__(self, process: confine.Confined, box: Path, confined: bool) -> None:
        self.box = box
        self.confined = confined
        self._process = process
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._ending: confine.Ending | None = None
        self._stopping = threading.Lock()
        self._peak = 0
        self._reader = threading.Thread(target=_read_lines, args=(process.stdout, self._lines), daemon=True)
        self._reader.start()

    @classmethod
    def start(
        cls,
        box: Path,
        confined: bool,
        preload: Sequence[str],
        paths: Sequence[Path],
        serve: str = "",
        limits: Mapping[str, int] | None = None,
    ) -> Child:
        """Start one, which begins to load its libraries. Raises RuntimeError or OSError."""
        folders = [box / "in", box / "tmp", box / "out"]
        for folder in folders:
            folder.mkdir(parents=True, mode=0o700)
        package = Path(leaf.__file__).resolve().parent
        extra = [*confine.library_folders(), *(p.resolve() for p in paths)]
        config = {
            "package": str(package),
            "paths": [str(p) for p in extra],
            "preload": preload,
            "serve": serve,
            "confined": confined,
            "log": str(box / "tmp" / ".log"),
            "limits": {"RLIMIT_CORE": 0, "RLIMIT_NOFILE": 512, **(limits or {})},
        }
        process = confine.start(
            package / "sandbox" / "child.py",
            json.dumps(config),
            folder=box / "tmp",
            readable=[package, *extra, box / "in"],
            writable=[box / "tmp", box / "out"],
            confined=confined,
        )
        with contextlib.suppress(OSError):  # if memory runs out, the kernel should end this one and not the app
            Path(f"/proc/{process.pid}/oom_score_adj").write_text("1000")
        return cls(process, box, confined)

    def wait_until_ready(self, seconds: float) -> None:
        """Wait until its libraries are loaded. Where it does not come to that in time, end it and raise RuntimeError."""
        try:
            ready = self._lines.get(timeout=seconds)
        except queue.Empty:
            ready = None
        if ready is None:
            said = self._last_words()
            self.stop()
            remove_box(self.box)
            raise RuntimeError(f"the child did not become ready: {said}")

    def send(self, request: Mapping[str, Any]) -> bool:
        """Hand over the request; False if the child is dead."""
        data = memoryview(json.dumps(request).encode() + b"\n")
        try:
            while data:
                data = data[self._process.stdin.write(data) :]
        except (BrokenPipeError, ValueError):
            return False
        return True

    def answer(
        self, limits: Limits, stop: threading.Event | None, spent: float = 0.0, on_progress: OnProgress | None = None
    ) -> dict[str, Any]:
        """Wait for the next answer and watch the child meanwhile. Of the limit's seconds `spent` are gone already.

        Raises SandboxError and its kinds, RunError after `stop`.
        """
        began = time.monotonic() - spent
        disk_at = time.monotonic() + DISK_TICK
        while True:
            with contextlib.suppress(queue.Empty):
                line = self._lines.get(timeout=TICK)
                if line is None:
                    raise self._death(limits)
                answer = _parse(line)
                if "progress" not in answer:
                    return answer
                if on_progress is not None:
                    _tell(on_progress, answer["progress"])
            _raise_if_stopped(stop)
            now = time.monotonic()
            if now - began > limits.seconds:
                raise _timeout_error(limits)
            if self.memory() > limits.memory_mb * 1024**2:
                raise _memory_error(limits)
            if now > disk_at:
                disk_at = now + DISK_TICK
                self.check_disk(limits)

    def check_disk(self, limits: Limits) -> None:
        """Raise SandboxError if the child has written more than it may."""
        written = sum(_written(self.box / name) for name in ("tmp", "out"))
        if written > limits.output_mb * 1024**2:
            raise _output_error(limits)

    @property
    def pid(self) -> int:
        return self._process.pid

    def is_alive(self) -> bool:
        """Whether the process is there: not ended by us, by the kernel or by itself."""
        try:
            state = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (OSError, IndexError):
            return False
        return self._ending is None and state not in "ZX"

    def kill(self) -> None:
        """End the process; whoever waits for its answer learns of it. Any thread may call this."""
        self._process.kill()

    def stop(self) -> confine.Ending:
        """End the process and reap it. May be called again."""
        with self._stopping:
            if self._ending is None:
                self._process.kill()
                self._reader.join(timeout=5)
                self._ending = self._process.wait()
            return self._ending

    def send_signal(self, number: int) -> None:
        """Send a signal; nothing happens if the child is gone."""
        with self._stopping, contextlib.suppress(ProcessLookupError):
            if self._ending is None:
                os.kill(self._process.pid, number)

    def memory(self) -> int:
        """Bytes of memory that are the child's own, what it shares with nobody but itself included; 0 where the system does not
        tell. Files that it maps do not count.
        """
        try:
            status = Path(f"/proc/{self._process.pid}/status").read_text()
        except OSError:
            return 0
        held = 1024 * sum(int(kilobytes) for kilobytes in re.findall(r"^(?:RssAnon|RssShmem|VmSwap):\s+(\d+) kB", status, re.M))
        self._peak = max(self._peak, held)
        return held

    def _death(self, limits: Limits) -> errors.SandboxError:
        """Why the child ended before it answered. A SIGKILL that is not ours is the kernel's, out of memory."""
        number = self.stop().signal
        said = self._last_words()
        log.debug("sandbox child ended with signal %s: %s", number, said)
        if number == getattr(signal, "SIGXCPU", None):
            return _timeout_error(limits)
        out_of_memory = re.search(r"bad_alloc|memory allocation of|MemoryError|[Oo]ut of memory|Cannot allocate memory", said)
        if number == getattr(signal, "SIGKILL", 9) or out_of_memory or self._peak > 0.8 * limits.memory_mb * 1024**2:
            return _memory_error(limits)
        how = f" (signal {number})" if number else ""
        hint = "Nothing else was affected."
        return errors.SandboxError(f"The process that did this work crashed{how}.", hint)

    def _last_words(self) -> str:
        """The end of what it wrote to stdout and stderr. The file is the child's, so it may be anything by now."""
        path = self.box / "tmp" / ".log"
        try:
            if not stat.S_ISREG(path.lstat().st_mode):
                return ""
            with path.open("rb") as file:
                file.seek(max(0, path.stat().st_size - 4_000))
                return file.read(4_000).decode(errors="replace")
        except OSError:
            return ""


def _read_lines(stream: IO[bytes], lines: queue.SimpleQueue[bytes | None]) -> None:
    """Put every whole line into `lines`, None at the end or when a line passes `ANSWER_BYTES`."""
    pieces: list[bytes] = []
    size = 0
    with contextlib.suppress(OSError, ValueError):
        while size <= ANSWER_BYTES and (chunk := stream.read(1 << 16)):
            pieces.append(chunk)
            size += len(chunk)
            if b"\n" in chunk:
                *whole, rest = b"".join(pieces).split(b"\n")
                for line in whole:
                    lines.put(line)
                pieces, size = [rest], len(rest)
    if size > ANSWER_BYTES:
        lines.put(json.dumps({"failure": {"type": "LongAnswer", "details": "", "too_big": True}}).encode())
    lines.put(None)


def _parse(line: bytes) -> dict[str, Any]:
    """The child's answer as a value; the child is not trusted to send JSON."""
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError) as e:
        raise errors.SandboxError("The process that did this work gave an answer that cannot be read.") from e
    return answer if isinstance(answer, dict) else {}


def _tell(on_progress: OnProgress, said: object) -> None:
    """Pass on how far a child says it is, if that can be: it is for people to see, and nothing rests on it."""
    if isinstance(said, list) and len(said) == 2 and all(isinstance(n, int) and n >= 0 for n in said):
        on_progress(min(said), said[1])


def _value_or_error(answer: Mapping[str, Any], limits: Limits) -> Any | errors.LeafError:
    try:
        return _unpack(answer, limits)
    except errors.LeafError as e:
        return e


def _unpack(answer: Mapping[str, Any], limits: Limits) -> Any:
    """The value of the call, or the error that it stands for."""
    if "value" in answer:
        return answer["value"]
    if "memory" in answer:
        raise _memory_error(limits)
    if isinstance(error := answer.get("error"), dict):
        raise _error_class(str(error.get("class")))(str(error.get("message", "")), str(error.get("hint", "")))
    failure = answer.get("failure")
    failure = failure if isinstance(failure, dict) else {}
    if failure.get("disk_full"):
        raise errors.StoreError("There is no space left on the disk.", "Free some space and try again.")
    if failure.get("too_big"):
        raise _output_error(limits)
    # Its name would tell a person nothing, and whether Leaf or the file is to blame nobody knows here.
    log.warning("sandbox child failed: %s", failure.get("details", "no answer"))
    hint = "Nothing else was affected; Leaf's log says more."
    error_ = errors.SandboxError("The work failed in its own process, in a way that Leaf did not expect.", hint)
    raise error_ from RuntimeError(failure.get("details", ""))


def _error_class(name: str) -> type[errors.LeafError]:
    """The class of `leaf.errors` with that name; nothing else can be named by a child."""
    found = getattr(errors, name, None)
    return found if isinstance(found, type) and issubclass(found, errors.LeafError) else errors.SandboxError


def _prepared(child: Child, inputs: Mapping[str, Path], arguments: Mapping[str, Any]) -> Any:
    """Put inputs into the child's box; the arguments with real paths."""
    for key, path in inputs.items():
        put_input(path, child.box / "in" / key, link=child.confined)
    return _real_paths(arguments, child.box / "in", child.box / "out")


def _prepared_item(child: Child, name: str, item: Item) -> Any:
    """The same for one of several, in folders of its own."""
    into, out = child.box / "in" / name, child.box / "out" / name
    into.mkdir(mode=0o700)
    out.mkdir(mode=0o700)
    put_input(item.path, into / "file", link=child.confined)
    return _real_paths(item.arguments, into, out)


def _real_paths(value: Any, into: Path, out: Path) -> Any:
    """`in:KEY` and `out:` replaced by paths, at any depth."""
    if isinstance(value, Mapping):
        return {k: _real_paths(v, into, out) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_real_paths(v, into, out) for v in value]
    if value == "out:":
        return str(out)
    if isinstance(value, str) and value.startswith("in:"):
        path = into / value.removeprefix("in:")
        return str(path) if path.parent == into and path.exists() else value
    return value


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _request(function: str, arguments: list[Any], limits: Mapping[str, int]) -> dict[str, Any]:
    return {"function": function, "arguments": arguments, "limits": limits, "progress": PROGRESS}


def _resource_limits(limits: Limits) -> dict[str, int]:
    """What the kernel itself enforces, for the case that the app is gone or too busy to watch."""
    return {"RLIMIT_CPU": int(limits.seconds * (os.cpu_count() or 1)) + 10, **_lasting_limits(limits)}


def _lasting_limits(limits: Limits) -> dict[str, int]:
    """Those that hold however long a child lives."""
    return {"RLIMIT_FSIZE": limits.output_mb * 1024**2, "RLIMIT_DATA": limits.memory_mb * 1024**2 + ALLOCATION_SLACK}


def put_input(source: Path, target: Path, *, link: bool) -> None:
    """Hard-link, or copy to another device. A child that nothing confines gets a copy: it could change the original."""
    if not source.is_file():
        raise errors.UnreadableFileError("The content of this file is no longer there.", "Add the file again.")
    if link:
        with contextlib.suppress(OSError):
            os.link(source, target)
            return
    shutil.copyfile(source, target)


def _move_outputs(source: Path, target: Path) -> None:
    """Move what the child wrote. It may have left links that point anywhere, so only plain files are taken."""
    target.mkdir(parents=True, exist_ok=True)
    if not stat.S_ISDIR(source.lstat().st_mode):
        raise errors.SandboxError("The process that did this work left something that is not a folder.")
    for entry in list(os.scandir(source)):
        if not entry.is_file(follow_symlinks=False):
            raise errors.SandboxError(f"The process that did this work left something that is not a file: '{entry.name}'.")
        shutil.move(entry.path, target / entry.name)


def _written(folder: Path) -> int:
    """Bytes on disk below a folder that is being changed meanwhile; each entry counts as a block at least.

    What cannot be looked at (closed to its owner, or nested deeper than a path can be long) counts as more than any limit.
    """
    total = 0
    pending = [str(folder)]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    total += BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    else:
                        with contextlib.suppress(FileNotFoundError):
                            total += entry.stat(follow_symlinks=False).st_size
        except FileNotFoundError:
            continue
        except OSError:
            return sys.maxsize
    return total


def _raise_if_stopped(stop: threading.Event | None) -> None:
    if stop is not None and stop.is_set():
        raise errors.RunError("Stopped.")


def _timeout_error(limits: Limits) -> errors.SandboxTimeoutError:
    return errors.SandboxTimeoutError(
        f"The work took more than {limits.seconds:g} seconds and was ended.", "Ask for a smaller part."
    )


def _memory_error(limits: Limits) -> errors.SandboxMemoryError:
    message = f"The work needed more than {limits.memory_mb:,} MB of memory and was ended."
    return errors.SandboxMemoryError(message, "Ask for a smaller part.")


def _output_error(limits: Limits) -> errors.SandboxError:
    return errors.SandboxError(f"The work wrote more than {limits.output_mb:,} MB and was ended.", "Ask for a smaller part.")


def _start_error(failure: Exception | None) -> errors.LeafError:
    if isinstance(failure, OSError):
        return _disk_error(failure)
    return errors.SandboxError(
        "The separate process that reads files could not be started.", "Try again; see `python -m leaf doctor`."
    )


def _disk_error(error: OSError) -> errors.StoreError:
    if error.errno == errno.ENOSPC:
        return errors.StoreError("There is no space left on the disk.", "Free some space and try again.")
    return errors.StoreError(f"The disk failed: {error.strerror or 'no reason given'}.")


@contextlib.contextmanager
def _boxes(home: Path) -> Iterator[Path]:
    """This pool's folder of boxes, locked; those of dead processes are removed first."""
    root = home / "boxes"
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _locked(root / ".lock", wait=True):
        for folder in root.iterdir():
            if folder.is_dir() and _is_abandoned(folder):
                remove_box(folder)
        mine = root.resolve() / f"{os.getpid()}-{secrets.token_hex(4)}"
        mine.mkdir(mode=0o700)
        lock = contextlib.ExitStack()
        lock.enter_context(_locked(mine / ".lock", wait=True))
    with lock:
        yield mine
    remove_box(mine)


def _is_abandoned(folder: Path) -> bool:
    try:
        with _locked(folder / ".lock", wait=False):
            return True
    except OSError:
        return False


@contextlib.contextmanager
def _locked(path: Path, *, wait: bool) -> Iterator[None]:
    """Hold a lock on a file; it goes with the process. Without `wait`, OSError if another holds it."""
    with path.open("a+b") as file:
        if sys.platform == "win32":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield


def remove_box(folder: Path) -> None:
    """Remove a folder even if a child has closed parts of it to its owner, or nested it deeper than a path can be long."""
    with contextlib.suppress(OSError, RecursionError):
        shutil.rmtree(folder)
    for number in itertools.count():
        try:
            entries = list(os.scandir(folder))
        except OSError:
            return
        if not entries:
            break
        for entry in entries:
            with contextlib.suppress(OSError):
                _flatten(folder, entry, number)
        if number > FLATTENINGS:
            log.warning("the box %s cannot be removed", folder.name)
            return
    with contextlib.suppress(OSError):
        folder.rmdir()


def _flatten(folder: Path, entry: os.DirEntry[str], number: int) -> None:
    """Remove one entry of a folder; the folders in it come up into `folder`, so that no path grows long."""
    if not entry.is_dir(follow_symlinks=False):
        os.unlink(entry.path)
        return
    os.chmod(entry.path, 0o700)
    for index, inner in enumerate(list(os.scandir(entry.path))):
        if inner.is_dir(follow_symlinks=False):
            os.rename(inner.path, folder / f"{number}-{index}-{secrets.token_hex(4)}")
        else:
            os.unlink(inner.path)
    os.rmdir(entry.path)
