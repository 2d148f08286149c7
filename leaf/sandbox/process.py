"""One confined process from its start to its end: asked by lines of JSON, watched while it
works."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import queue
import re
import signal
import stat
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from leaf import errors
from leaf.sandbox import confine
from leaf.sandbox.boxes import bytes_without_name, bytes_written, remove_box
from leaf.sandbox.forkserver import ForkServer
from leaf.sandbox.kinds import SCRIPT, ChildKind
from leaf.sandbox.limits import (
    TICK,
    CallLimits,
    memory_error,
    output_error,
    raise_if_stopped,
    timeout_error,
)
from leaf.sandbox.lines import Lines

A = TypeVar("A")
log = logging.getLogger(__name__)

DISK_TICK, DISK_SHARE = 0.1, 20
"""Seconds between two looks at what it has written: so many at least, and so many times what a look
takes."""


_STATE = re.compile(rb"^State:\s+(\w)", re.M)
_HELD = re.compile(rb"^(?:RssAnon|RssShmem|VmSwap):\s+(\d+) kB", re.M)
_STATUS_BYTES = 16_384
"""More than the kernel says of a process."""


def _read(path: str) -> bytes:
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(file, _STATUS_BYTES)
    finally:
        os.close(file)


class Child:
    """One confined process, its box, and the lines that it says. Whoever holds it is the only one
    who asks it."""

    def __init__(self, process: confine.Started, box: Path, confined: bool) -> None:
        self.box = box
        self.confined = confined
        self._process = process
        self._lines = Lines(process.stdout)
        self._ending: confine.ExitStatus | None = None
        self._stopping = threading.Lock()
        self._peak = 0
        self._shows_files = False

    @classmethod
    def start(cls, box: Path, kind: ChildKind, server: ForkServer | None = None) -> Child:
        """Start one, by the server if there is one, which begins to load its libraries. Raises
        RuntimeError or OSError."""
        folders = [box / "in", box / "tmp", box / "out"]
        for folder in folders:
            folder.mkdir(parents=True, mode=0o700)
        readable, writable = [*kind.imported(), box / "in"], [box / "tmp", box / "out"]
        log, limits = box / "tmp" / ".log", kind.child_limits()
        home = box.parents[2]
        process: confine.Started
        if server is not None:
            process = server.fork(
                box / "tmp", home=home, log=log, readable=readable, writable=writable, limits=limits
            )
        else:
            process = confine.start(
                SCRIPT,
                json.dumps({**kind.config(), "log": str(log), "limits": limits, "orders": None}),
                folder=box / "tmp",
                home=home,
                readable=readable,
                writable=writable,
                confined=kind.confined,
                without=kind.without,
            )
        with contextlib.suppress(
            OSError
        ):  # if memory runs out, the kernel should end this one and not the app
            Path(f"/proc/{process.pid}/oom_score_adj").write_text("1000")
        return cls(process, box, kind.confined)

    def wait_until_ready(self, seconds: float) -> None:
        """Wait until its libraries are loaded. Where it does not come to that in time, end it and
        raise RuntimeError."""
        try:
            ready = self._lines.take(seconds)
        except queue.Empty:
            ready = None
        if ready is None:
            last_words = self._last_words()
            self.stop()
            remove_box(self.box)
            raise RuntimeError(f"the child did not become ready: {last_words}")
        # where the system shows none of it now, its hiding them later says nothing
        with contextlib.suppress(OSError):
            self._shows_files = bool(os.listdir(f"/proc/{self.pid}/fd"))

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
        self,
        parse: Callable[[bytes], A | None],
        limits: CallLimits,
        stop: threading.Event | None,
        spent: float = 0.0,
    ) -> A:
        """Wait for a line that `parse` understands as an answer, None being none yet, and watch the
        child meanwhile. Of the limit's seconds `spent` are gone already.

        Raises what `parse` raises, SandboxError and its kinds, RunError after `stop`.
        """
        began = time.monotonic() - spent
        disk_at = time.monotonic() + DISK_TICK
        while True:
            with contextlib.suppress(queue.Empty):
                line = self._lines.take(TICK)
                if line is None:
                    raise self._death(limits)
                if (reply := parse(line)) is not None:
                    return reply
            raise_if_stopped(stop)
            state, held = self._look()
            if state == "Z":
                # Where its first thread alone has ended the system shows neither what it holds nor
                # what it maps, so the others may not go on. What it has answered is read first.
                self.kill()
            now = time.monotonic()
            if now - began > limits.seconds:
                raise timeout_error(limits)
            if held > limits.memory_mb * 1024**2:
                raise memory_error(limits)
            if now > disk_at:
                self.check_disk(limits)
                took = time.monotonic() - now
                disk_at = now + max(DISK_TICK, DISK_SHARE * took)

    def check_disk(self, limits: CallLimits) -> None:
        """Raise SandboxError if the child has written more than it may, what it has deleted and
        still holds included."""
        written = sum(bytes_written(self.box / name) for name in ("tmp", "out"))
        if self._shows_files and self._ending is None:
            written += bytes_without_name(self.pid, self.box)
        if written > limits.output_mb * 1024**2:
            raise output_error(limits)

    @property
    def pid(self) -> int:
        return self._process.pid

    def is_alive(self) -> bool:
        """Whether the process is there: not ended by us, by the kernel or by itself."""
        return self._ending is None and self._look()[0] not in ("", "Z", "X")

    def is_orphaned(self) -> bool:
        """Whether the server that forked it is gone, so that it ends at any moment."""
        return self._process.is_orphaned()

    def _look(self) -> tuple[str, int]:
        """The kernel's letter for what its first thread does, empty where it is gone or the system
        does not tell; and its `memory`. Fifty times a second for each child that works, so it is one
        file, read without a detour."""
        try:
            status = _read(f"/proc/{self._process.pid}/status")
        except OSError:
            return "", 0
        state = _STATE.search(status)
        held = 1024 * sum(map(int, _HELD.findall(status)))
        self._peak = max(self._peak, held)
        return state[1].decode() if state else "", held

    def kill(self) -> None:
        """End the process; whoever waits for its answer learns of it. Any thread may call this."""
        with self._stopping:
            if self._ending is None:
                self._process.kill()

    def stop(self) -> confine.ExitStatus:
        """End the process and reap it. May be called again."""
        with self._stopping:
            if self._ending is None:
                self._process.kill()
                self._lines.close(timeout=5)
                self._ending = self._process.wait()
            return self._ending

    def send_signal(self, number: int) -> None:
        """Send a signal; nothing happens if the child is gone."""
        with self._stopping:
            if self._ending is None:
                self._process.send_signal(number)

    def memory(self) -> int:
        """Bytes of memory that are the child's own, what it shares with nobody but itself included;
        0 where the system does not tell. Files that it maps do not count.
        """
        return self._look()[1]

    def _death(self, limits: CallLimits) -> errors.SandboxError:
        """Why the child ended before it answered. A SIGKILL that is not ours is the kernel's, out
        of memory."""
        if self._lines.too_long:
            return output_error(limits)
        number = self.stop().signal
        last_words = self._last_words()
        log.debug("sandbox child ended with signal %s: %s", number, last_words)
        if number == getattr(signal, "SIGXCPU", None):
            return timeout_error(limits)
        out_of_memory = re.search(
            r"bad_alloc|memory allocation of|MemoryError|[Oo]ut of memory|Cannot allocate memory",
            last_words,
        )
        if (
            number == getattr(signal, "SIGKILL", 9)
            or out_of_memory
            or self._peak > 0.8 * limits.memory_mb * 1024**2
        ):
            return memory_error(limits)
        how = f" (signal {number})" if number else ""
        hint = "Nothing else was affected."
        return errors.SandboxError(f"The process that did this work crashed{how}.", hint)

    def _last_words(self) -> str:
        """The end of what it wrote to stdout and stderr. The file is the child's, so it may be
        anything by now."""
        path = self.box / "tmp" / ".log"
        try:
            if not stat.S_ISREG(path.lstat().st_mode):
                return ""
            with path.open("rb") as file:
                file.seek(max(0, path.stat().st_size - 4_000))
                return file.read(4_000).decode(errors="replace")
        except OSError:
            return ""
