"""Processes of Python that tests start often, as forks of one that has the libraries loaded: the app
loads for four seconds of a core, a command for one or two.

    with Popen([sys.executable, "-m", "leaf", "files", "list"], stdout=PIPE) as process: ...

`Popen` and `run` are those of `subprocess` otherwise: the fork gets the arguments, the environment,
the folder and the streams that a new process would get, and runs the module or the code as
`__main__`. What other programs are asked for, another Python or options that need a new
interpreter, is started as ever. Tests of what a process loads, and of how it starts, use
`subprocess` itself.

Run as `python -m tests.forked_programs DESCRIPTOR` this is the process that forks.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

from tests.app_process import ROOT

LIBRARIES = (
    *("streamlit.web.cli", "streamlit.web.bootstrap", "streamlit.runtime", "streamlit.testing.v1"),
    *("pandas", "pyarrow.parquet", "duckdb", "altair", "psycopg", "sqlalchemy"),
    *("anthropic", "anthropic.types", "httpx2", "dbos", "uvicorn", "starlette.applications"),
    *("pydantic", "pydantic_settings", "sandlock", "orjson"),
    *("dbos._sys_db_sqlite", "sqlalchemy.dialects.sqlite"),
    *("leaf.cli.main", "leaf.wiring", "leaf.ui.server", "leaf.ui.sidebar", "leaf.ui.turns"),
    *("leaf.app", "leaf.runs.execute", "leaf.runs.titles", "leaf.keeping.tidying"),
    *("leaf.settings.sources", "leaf.store.duckdb"),
)
"""What the programs load anyway, sooner or later."""
ANEW = "TESTS_START_ANEW"
"""Set in the environment where all processes are to read their code from the disk, since it was
changed there."""
ORDER_BYTES = 1 << 20
_Status = tuple[int, int]


class Popen(subprocess.Popen[Any]):
    """A process that began as a fork, where that can be."""

    _ended: int | None = None
    """The end of a pipe that tells how the fork ended."""

    def _execute_child(self, args: Any, executable: Any, preexec_fn: Any, *more: Any) -> None:
        _close, _pass, cwd, env, _info, _flags, shell, *pipes = more
        streams = pipes[:6]
        p2cread, _p2cwrite, _c2pread, c2pwrite, _errread, errwrite = streams
        anew = shell or executable or preexec_fn or ANEW in os.environ
        program = None if anew else _program(args, cwd)
        if program is None:
            super()._execute_child(args, executable, preexec_fn, *more)  # type: ignore[misc]
            return
        order = {
            "program": program,
            "folder": str(cwd or Path.cwd()),
            "env": dict(os.environ if env is None else env),
        }
        inherited = (0, 1, 2)
        given = [
            mine if mine != -1 else usual
            for mine, usual in zip((p2cread, c2pwrite, errwrite), inherited, strict=True)
        ]
        self.pid, self._ended = _server().start(order, given)
        self._child_created = True
        self._close_pipe_fds(*streams)  # type: ignore[attr-defined]

    def _internal_poll(self, _deadstate: int | None = None, *more: Any) -> int | None:
        if self._ended is None:
            return super()._internal_poll(_deadstate, *more)  # type: ignore[misc, no-any-return]
        with self._waitpid_lock:  # type: ignore[attr-defined]
            if self.returncode is None:
                pid, status = self._try_wait(os.WNOHANG)
                if pid == self.pid:
                    self._handle_exitstatus(status)  # type: ignore[attr-defined]
        return self.returncode

    def _try_wait(self, wait_flags: int) -> _Status:
        if self._ended is None:
            return super()._try_wait(wait_flags)  # type: ignore[misc, no-any-return]
        if wait_flags & os.WNOHANG and not select.select([self._ended], [], [], 0)[0]:
            return 0, 0
        said = os.read(self._ended, 100)
        os.close(self._ended)
        return self.pid, int(said) if said else signal.SIGKILL


def run(args: list[str], **options: Any) -> subprocess.CompletedProcess[Any]:
    """`subprocess.run`, without its `input`."""
    timeout, check = options.pop("timeout", None), options.pop("check", False)
    if options.pop("capture_output", False):
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with Popen(args, **options) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(args, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


def _program(args: Any, cwd: Any) -> list[str] | None:
    """`-m` or `-c`, what follows it, and its arguments, where this Python is asked for no more, and
    for no other Leaf than the one that is loaded."""
    words = [os.fspath(word) for word in args] if not isinstance(args, str | bytes) else []
    known = len(words) > 2 and words[0] == sys.executable and words[1] in ("-m", "-c")
    folder = Path(cwd or Path.cwd())
    other = (folder / "leaf").exists() and folder.resolve() != ROOT
    return words[1:] if known and not other and sys.platform == "linux" else None


class _Server:
    """The process that forks, as who asks it sees it."""

    def __init__(self) -> None:
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        command = [sys.executable, "-m", "tests.forked_programs", str(theirs.fileno())]
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("LEAF_", "ANTHROPIC_"))}
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**clean, "PYTHONUTF8": "1"},
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )
        theirs.close()
        atexit.register(self.close)

    def start(self, order: dict[str, Any], streams: list[int]) -> tuple[int, int]:
        """The process id, and what tells by its end how that process ended."""
        reading, writing = os.pipe()
        try:
            with self._lock:
                data = json.dumps(order).encode()
                socket.send_fds(self._channel, [data], [*streams, writing])
                answer = self._channel.recv(100)
        finally:
            os.close(writing)
        if not answer:
            os.close(reading)
            raise RuntimeError("the process that forks programs has ended")
        return int(answer), reading

    def close(self) -> None:
        """It ends; what it began goes on."""
        self._channel.close()
        self._process.wait(20)


_begun: list[_Server] = []
_beginning = threading.Lock()


def _server() -> _Server:
    with _beginning:
        if not _begun:
            _begun.append(_Server())
        return _begun[0]


def _serve(channel: socket.socket) -> tuple[str, str]:
    """Fork for each order, and tell how each fork ended. Returns in the forks only, with what they
    were ordered to run: `-m` and a module, or `-c` and code."""
    for name in LIBRARIES:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    waking, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    running: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([channel, waking], [], [])
        if waking in ready:
            os.read(waking, 1000)
            _tell(running)
        if channel not in ready:
            continue
        data, given, _, _ = socket.recv_fds(channel, ORDER_BYTES, 4)
        if not data:
            os._exit(0)
        *streams, ended = given
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for mine in (channel.detach(), waking, woken, ended, *running.values()):
                os.close(mine)
            return _become(json.loads(data), streams)
        running[pid] = ended
        for stream in streams:
            os.close(stream)
        channel.send(str(pid).encode())


def _tell(running: dict[int, int]) -> None:
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        told = running.pop(pid)
        with contextlib.suppress(BrokenPipeError):
            os.write(told, str(status).encode())
        os.close(told)


def _become(order: dict[str, Any], streams: list[int]) -> tuple[str, str]:
    """All that a new process has of whoever starts it."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["env"])
    way, what, *arguments = order["program"]
    sys.path[0] = order["folder"] if way == "-m" else ""
    sys.argv[:] = ["-c" if way == "-c" else what, *arguments]
    return way, what


def _run(way: str, what: str) -> None:
    if way == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
        return
    names: dict[str, Any] = {"__name__": "__main__", "__builtins__": __builtins__}
    exec(compile(what, "<string>", "exec"), names)  # noqa: S102 - what `python -c` does


def _main() -> None:
    program = _serve(socket.socket(fileno=int(sys.argv[1])))
    code: Any = 0
    try:
        _run(*program)
    except SystemExit as e:
        code = e.code
    except KeyboardInterrupt:
        traceback.print_exc()
        code = -signal.SIGINT
    except BaseException:  # noqa: BLE001 - as the interpreter does
        traceback.print_exc()
        code = 1
    _end(code)


def _end(code: Any) -> None:
    """As the interpreter ends, but for freeing each object: most are those of the process that
    forked, which takes a second."""
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BrokenPipeError, ValueError):
            stream.flush()
    if code == -signal.SIGINT:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit((code or 0) & 0xFF)


if __name__ == "__main__":
    _main()
