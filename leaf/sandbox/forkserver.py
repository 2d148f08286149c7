"""The app's end of a fork server: a process that has loaded the libraries of the children once, so
that a child costs a hundredth of a second and shares their memory. What runs in it is `forked.py`.

A child is the server's, not this process's: it is reaped there, when this process asks for it, so
that its number is nobody else's before. It ends with the server, and that with the thread that
started it.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import platform
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from leaf.sandbox.confine import (
    YOUNG,
    ExitStatus,
    environment,
    let_app_go_first,
    readable_paths,
)
from leaf.sandbox.kinds import SCRIPT, ChildKind
from leaf.sandbox.syscalls import MACHINES

ANSWER_SECONDS = 20.0
"""Longest that the server may take for a fork, or to reap a child that has ended."""
ANSWER_BYTES = 4096
LONGEST = 20
"""Times as long as one that does nothing, until a server that works all the while is given up."""
LOOK_SECONDS = 0.5
"""How often it is looked whether a server that starts does anything."""
ENDING_SECONDS = 20.0
"""Longest wait for the end of a child that was killed. One whose files the disk still takes comes
later: nobody else waits for it, and it is reaped with its server."""
LANDLOCK_ABI = 6
"""What a process needs to close its signals and abstract sockets by itself: Linux 6.12."""


@functools.cache
def can_confine_itself() -> bool:
    """Whether a process of this machine can be confined after it has started: the kernel is young
    enough, and its system calls are known."""
    if sys.platform != "linux" or platform.machine() not in MACHINES:
        return False
    try:
        import sandlock
    except (ImportError, OSError, RuntimeError):
        return False
    abi: int = sandlock.landlock_abi_version()
    return abi >= LANDLOCK_ABI


class ForkServer:
    """A server of one kind of children. Any number of threads may ask."""

    def __init__(self, folder: Path, kind: ChildKind) -> None:
        """Start it; `folder` is its own, for what libraries write as they load. Raises OSError."""
        folder.mkdir(parents=True, mode=0o700)
        self._log = folder / ".log"
        self._asking = threading.Lock()
        self._gone = False
        """Whether it has been found unable to answer: before the system knows that it has ended."""
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        config = {**kind.config(), "orders": theirs.fileno()}
        with theirs, self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-X", "utf8", str(SCRIPT), json.dumps(config)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=folder,
                env=environment(folder),
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        let_app_go_first(self._process.pid)

    def wait_until_ready(self, seconds: float) -> None:
        """Wait until it has loaded its libraries. Raises RuntimeError where it ends before, or has
        done nothing for so long: on a machine that is busy it may take many times as long."""
        end = time.monotonic() + LONGEST * seconds
        worked, seen = 0, time.monotonic()
        while not select.select([self._channel], [], [], min(LOOK_SECONDS, seconds))[0]:
            now, before = time.monotonic(), worked
            worked = self._worked()
            if worked > before:
                seen = now
            if now > min(seen + seconds, end):
                break
        if self._answer(0.01) != {"ready": True}:
            raise RuntimeError("the fork server said something else")

    def _worked(self) -> int:
        """Clock ticks that it was given of the cores so far."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            of_it = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
            return int(of_it[11]) + int(of_it[12])
        return 0

    def fork(
        self,
        folder: Path,
        *,
        home: Path,
        log: Path,
        readable: Sequence[Path],
        writable: Sequence[Path],
        limits: Mapping[str, int],
    ) -> Forked:
        """A new child that works in `folder`, below the data folder `home`. Raises RuntimeError where the server is gone,
        OSError."""
        order = {
            "folder": str(folder),
            "log": str(log),
            "readable": readable_paths(readable, home),
            "writable": [str(p) for p in writable],
            "env": environment(folder),
            "limits": dict(limits),
            "degraded": YOUNG,
        }
        requests, stdin = os.pipe()
        stdout, answers = os.pipe()
        try:
            answer = self._ask(order, requests, answers)
            if "error" in answer:
                raise RuntimeError(f"the system gives no further process: {answer['error']}")
            return Forked(self, answer["pid"], stdin, stdout)
        except BaseException:
            for end in (stdin, stdout):
                os.close(end)
            raise
        finally:
            for end in (requests, answers):
                os.close(end)

    def reap(self, pid: int) -> ExitStatus:
        """How a child ended, which it has. Where the server is gone it has ended with it, and not
        for what it did itself."""
        try:
            status: int = self._ask({"reap": pid})["status"]
        except (RuntimeError, OSError):
            return ExitStatus(code=1)
        if os.WIFSIGNALED(status):
            return ExitStatus(signal=os.WTERMSIG(status))
        return ExitStatus(code=os.waitstatus_to_exitcode(status))

    def is_alive(self) -> bool:
        return not self._gone and self._process.poll() is None

    def kill(self) -> None:
        """End it, and its children with it. Any thread may call this, and more than once."""
        self._process.kill()

    def close(self) -> None:
        """End it, its children, and reap it."""
        self.kill()
        with self._asking:
            self._channel.close()
        self._process.wait()

    def said(self) -> str:
        """The end of what it wrote to stdout and stderr."""
        with contextlib.suppress(OSError):
            return self._log.read_bytes()[-4_000:].decode(errors="replace")
        return ""

    def _ask(self, order: Mapping[str, Any], *descriptors: int) -> dict[str, Any]:
        data = json.dumps(order).encode()
        with self._asking:
            try:
                socket.send_fds(self._channel, [data], descriptors)
                return self._answer(ANSWER_SECONDS)
            except OSError as e:
                self._gone = True
                raise RuntimeError(f"the fork server is gone ({e})") from e

    def _answer(self, seconds: float) -> dict[str, Any]:
        """Its next answer. One that answers too late is ended, since nobody could tell which order
        its answers belong to."""
        self._channel.settimeout(seconds)
        try:
            data = self._channel.recv(ANSWER_BYTES)
        except TimeoutError as e:
            self._gone = True
            self.kill()
            raise RuntimeError(f"the fork server does not answer: {self.said()}") from e
        if not data:
            self._gone = True
            raise RuntimeError(f"the fork server has ended: {self.said()}")
        answer: dict[str, Any] = json.loads(data)
        return answer


class Forked:
    """A child of a fork server: `confine.Started`."""

    def __init__(self, server: ForkServer, pid: int, stdin: int, stdout: int) -> None:
        self._server = server
        self.pid = pid
        # not its number: with its server it may be gone, and that may be another's. First, since
        # it may fail, and who asked closes both pipes then
        self._handle = os.pidfd_open(pid)
        self.stdin: IO[bytes] = os.fdopen(stdin, "wb", buffering=0)
        self.stdout: IO[bytes] = os.fdopen(stdout, "rb", buffering=0)

    def is_orphaned(self) -> bool:
        return not self._server.is_alive()

    def send_signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def wait(self) -> ExitStatus:
        ended = select.poll()
        ended.register(self._handle, select.POLLIN)
        ending = ExitStatus(signal=int(signal.SIGKILL))
        if ended.poll(1000 * ENDING_SECONDS):
            ending = self._server.reap(self.pid)
        os.close(self._handle)
        for stream in (self.stdin, self.stdout):
            with contextlib.suppress(OSError):
                stream.close()
        return ending
