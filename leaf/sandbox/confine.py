"""How a process is confined on this machine, and the starting of one. What runs inside is
`child.py`, who asks it `process.py`.

On Linux with Landlock: `sandlock` gives the child the interpreter and its own folders, no network,
no other process, an empty environment. Children are forked from a process that has loaded their
libraries where they can then confine themselves (`forkserver`), and started one by one where they
cannot. Elsewhere: a plain process with resource limits where the system has them; `confinement()`
says so.
"""

from __future__ import annotations

import contextlib
import functools
import mimetypes
import os
import signal
import site
import subprocess
import sys
import sysconfig
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, Protocol

from leaf.sandbox.capacity import limit_files
from leaf.sandbox.child import NICE
from leaf.sandbox.seccomp import CLOSED

ITS_OWN = frozenset(
    {
        *("socket", "connect", "bind", "sendmsg", "sendmmsg"),
        *("fork", "vfork", "execve", "execveat", "setpgid", "setsid"),
    }
)
"""Calls that sandlock decides about itself, and those by which Python is yet to start. The child's
own filter refuses them."""
DENIED_SYSCALLS = (
    *(name for name in CLOSED if name not in ITS_OWN),
    *("fchmodat2", "setxattrat", "removexattrat", "file_setattr"),
)
YOUNG = ("NET_TCP", "FS_IOCTL_DEV", "SIGNAL_SCOPE", "ABSTRACT_UNIX_SOCKET_SCOPE")
"""Protections of Landlock that came with kernels 6.7, 6.10 and 6.12: a child starts without them,
too."""
SYSTEM_PATHS = (
    *("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/localtime", "/etc/timezone"),
    *("/sys/devices/system/cpu", "/dev/urandom", "/dev/null"),
)
PREFIX_PARTS = ("bin", "lib", "lib64", "libexec", "share", "etc", "ssl", "fonts", "pyvenv.cfg")
"""What belongs to an interpreter in the folder that it was put into."""

AGAIN = 0.12
"""Seconds after which Linux is told again where a session stands."""


@dataclass(frozen=True)
class Confinement:
    """What this machine can do for a child."""

    kind: Literal["landlock", "process"]
    """`landlock`: files, network and processes are closed by the kernel. `process`: a separate
    process and nothing more."""
    reason: str
    """One sentence for a person."""


@functools.cache
def confinement() -> Confinement:
    """Find out by trying, once per process: a kernel that has Landlock may still refuse it inside a
    container."""
    if sys.platform != "linux":
        return Confinement(
            "process",
            f"{sys.platform} has no Landlock; files are parsed in a separate process that is "
            f"not confined.",
        )
    try:
        import sandlock
    except (ImportError, OSError, RuntimeError) as e:
        return Confinement(
            "process",
            f"sandlock cannot be loaded ({e}); files are parsed in a separate process that is "
            f"not confined.",
        )
    abi = sandlock.landlock_abi_version()
    here = Path(__file__).parent  # a full or missing temporary folder says nothing of the kernel
    try:
        trial = _sandbox(here, home=here, readable=[], writable=[], env={}).run(
            [sys.executable, "-I", "-S", "-c", "pass"], timeout=20
        )
    except (sandlock.SandlockError, RuntimeError, OSError, ValueError) as e:
        return Confinement(
            "process",
            f"The kernel cannot confine a process (Landlock ABI {abi}: {e}); it only runs "
            f"separately.",
        )
    if not trial.success:
        return Confinement(
            "process",
            f"A trial in the sandbox failed (Landlock ABI {abi}); files are parsed in a process "
            f"that is not confined.",
        )
    return Confinement(
        "landlock", f"Landlock ABI {abi} and seccomp by sandlock {sandlock.__version__}."
    )


@dataclass(frozen=True)
class ExitStatus:
    """How a process ended."""

    signal: int = 0
    """Number of the signal that ended it; 0 for none."""
    code: int = 0


class Started(Protocol):
    """A running child with a pipe to it and one from it, however it was started."""

    pid: int
    stdin: IO[bytes]
    stdout: IO[bytes]

    def is_orphaned(self) -> bool:
        """Whether the process that it ends with is gone, so that it ends at any moment."""

    def send_signal(self, number: int) -> None:
        """Send a signal; nothing happens if the child is gone. Not after `wait`."""

    def kill(self) -> None:
        """End the child and whatever it started. May be called again, not after `wait`."""

    def wait(self) -> ExitStatus:
        """Reap the child and close the pipes. Call it once, after `kill`."""


class Confined:
    """A child of this process: `Started`."""

    def __init__(self, process: Any) -> None:
        self._process = process
        self.pid: int = process.pid
        self.stdin: IO[bytes] = process.stdin
        self.stdout: IO[bytes] = process.stdout

    def is_orphaned(self) -> bool:
        return False  # it ends with this process alone

    def send_signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def kill(self) -> None:
        if isinstance(self._process, subprocess.Popen):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL) if hasattr(
                    os, "killpg"
                ) else self._process.kill()
        else:
            self._process.kill()

    def wait(self) -> ExitStatus:
        result = self._process.wait()
        for stream in (self.stdin, self.stdout):
            with contextlib.suppress(OSError):
                stream.close()
        if isinstance(self._process, subprocess.Popen):
            return ExitStatus(signal=-result) if result < 0 else ExitStatus(code=result)
        if result.signal > 0:
            return ExitStatus(signal=result.signal)
        # sandlock names no signal for a SIGKILL.
        return (
            ExitStatus(code=result.exit_code)
            if result.exit_code >= 0
            else ExitStatus(signal=int(signal.SIGKILL))
        )


def start(
    script: Path,
    argument: str,
    *,
    folder: Path,
    home: Path,
    readable: Sequence[Path],
    writable: Sequence[Path],
    confined: bool,
    without: Collection[str] = (),
) -> Confined:
    """Start `python -I script argument` with `folder` as its working directory. `home` is the data
    folder. Raises RuntimeError or OSError.

    `without` names protections of `YOUNG` that are left out, as on a kernel that lacks them. The
    calling thread must outlive the child: Linux ends a child with the *thread* that started it.
    """
    command = [sys.executable, "-I", "-X", "utf8", str(script), argument]
    env = environment(folder)
    if confined:
        from sandlock import StdioMode

        sandbox = _sandbox(
            folder,
            home=home,
            readable=[script, *readable],
            writable=writable,
            env=env,
            without=without,
        )
        started = Confined(
            sandbox.popen(
                command, stdin=StdioMode.PIPED, stdout=StdioMode.PIPED, stderr=StdioMode.NULL
            )
        )
    else:
        started = Confined(
            subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=folder,
                env={**env, **_windows_environment()},
                bufsize=0,
                start_new_session=True,
            )
        )
    let_app_go_first(started.pid)
    return started


def let_app_go_first(pid: int) -> None:
    """Where Linux shares the cores among sessions first, as it does outside of containers, a child that
    leads a session of its own would have as much of them as the whole app, however low it stands in
    its session: the session is put behind the app's, too."""
    # Not every system has it; the child may be gone already.
    with contextlib.suppress(AttributeError, OSError):
        if os.getsid(pid) != pid:
            return  # in the app's own session, where its own nice value counts
        group = Path(f"/proc/{pid}/autogroup")
        try:
            group.write_text(str(NICE))
        except BlockingIOError:  # Linux takes one in a tenth of a second
            time.sleep(AGAIN)
            group.write_text(str(NICE))


def library_folders() -> list[Path]:
    """Folders outside the interpreter's own prefix from which this process imports installed
    packages."""
    candidates = [*site.getsitepackages(), site.getusersitepackages()]
    return [Path(p) for p in candidates if p in sys.path and os.path.isdir(p)]


def readable_paths(further: Sequence[Path], home: Path) -> list[str]:
    """All that a child may read: the interpreter, its libraries, a little of the system, the limits
    of the container, and `further`. Nothing of the data folder `home`, wherever that is, but what
    `further` names of it."""
    closed = os.path.realpath(home)
    there = [p for p in further if p.exists()]
    inside = [str(p) for p in there if p.is_relative_to(closed)]
    outside = (*_runtime(), *(str(p) for p in there if str(p) not in inside))
    return [*(one for path in outside for one in _around(path, closed)), *inside]


@functools.cache
def _runtime() -> tuple[str, ...]:
    """What every child may read; looked up once, since there is one for each call."""
    system = (*SYSTEM_PATHS, *_interpreter(), *mimetypes.knownfiles)
    paths = dict.fromkeys(map(str, (*system, *limit_files(), *library_folders())))
    return tuple(path for path in paths if os.path.exists(path))


def _interpreter() -> Iterator[str]:
    """Where the interpreter and what was installed for it are. An environment may have been made in
    the folder of a project, whose other files are nobody's business."""
    for prefix in dict.fromkeys((sys.prefix, sys.base_prefix)):
        yield from (os.path.join(prefix, part) for part in PREFIX_PARTS)
    yield from (path for name, path in sysconfig.get_paths().items() if name != "data")


@functools.cache
def _around(path: str, closed: str) -> tuple[str, ...]:
    """A path that is there, or what lies in it beside a folder that is to stay closed: Landlock opens
    folders with all that is in them."""
    real = os.path.realpath(path)
    if not Path(closed).is_relative_to(real):
        return (path,)
    if closed == real:
        return ()
    return tuple(one for entry in os.scandir(real) for one in _around(entry.path, closed))


def _sandbox(
    folder: Path,
    *,
    home: Path,
    readable: Sequence[Path],
    writable: Sequence[Path],
    env: Mapping[str, str],
    without: Collection[str] = (),
) -> Any:
    """The policy. sandlock's own `max_memory` is left out: it counts mappings and drifts upwards (a
    child that never held 500 MB was killed at 2 GB after some minutes of queries); `process.py`
    watches the memory that the child really holds."""
    from sandlock import Protection, Sandbox

    return Sandbox(
        # of its own folder there sandlock shows nothing that tells of the machine
        fs_readable=[*readable_paths(readable, home), "/proc/self"],
        fs_writable=[str(p) for p in writable],
        max_processes=1,
        extra_deny_syscalls=list(DENIED_SYSCALLS),
        # Young protections of Landlock; seccomp closes the same doors on kernels that lack them.
        allow_degraded=[Protection[name] for name in YOUNG if name not in without],
        disable=[Protection[name] for name in without],
        clean_env=True,
        env=dict(env),
        cwd=str(folder),
    )


def environment(folder: Path) -> dict[str, str]:
    """All that the child gets to see of the environment: one time zone, few threads, no keys."""
    home = str(folder)
    places = {"HOME": home, "TMPDIR": home, "TEMP": home, "TMP": home}
    threads = {
        "OMP_NUM_THREADS": "2",
        "OPENBLAS_NUM_THREADS": "1",
        "ARROW_IO_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",
    }
    return {
        **places,
        **threads,
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
    }


def _windows_environment() -> dict[str, str]:
    """Python does not start on Windows without its system folder."""
    return {k: os.environ[k] for k in ("SYSTEMROOT", "WINDIR") if k in os.environ}
