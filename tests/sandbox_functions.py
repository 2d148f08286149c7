"""Functions that the tests of the sandbox run in its children: harmless ones, broken ones and
hostile ones."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from leaf.errors import EncryptedFileError, QueryError


def echo(value: Any) -> Any:
    return value


def chatter(value: Any) -> Any:
    """Writes to stdout by every road, as some parsers do."""
    print("print", flush=True)
    os.write(1, b"write\n")
    os.write(2, b"error\n")
    return value


def process_id() -> int:
    return os.getpid()


def draws() -> list[Any]:
    """One of each kind of chance, and the threads of the DuckDB that drew two of them."""
    import random

    import numpy

    from leaf.readers.tabular.sql import opened

    with opened(threads=3) as connection:
        drawn = connection.execute("SELECT random(), CAST(uuid() AS VARCHAR)").fetchall()[0]
        names = ("threads", "async_threads")
        settings = [connection.execute(f"SELECT current_setting('{n}')").fetchall() for n in names]
    return [random.random(), float(numpy.random.random()), *drawn, str(settings)]


def text_of(path: str) -> str:
    return Path(path).read_text()


def environment() -> dict[str, str]:
    return dict(os.environ)


def write_files(out: str, names: list[str]) -> None:
    for name in names:
        (Path(out) / name).write_text(name)


def long_answer(size: int) -> str:
    return "x" * size


def refuse() -> None:
    raise QueryError("What went wrong.", "What to do.")


def refuse_encrypted() -> None:
    raise EncryptedFileError("Locked.", "Unlock it.")


def break_down() -> None:
    raise ValueError("secret details of /etc/hosts")


def leave() -> None:
    sys.exit(3)


def not_json() -> object:
    return object()


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def say_and_sleep(seconds: float) -> None:
    from leaf.readers.progress import report

    report(1, 2)
    time.sleep(seconds)


def rest() -> None:
    time.sleep(60)


def load_long() -> None:
    """As much work as two seconds of a core are, as on a busy machine."""
    while time.process_time() < 2:
        pass


def spin() -> None:
    while True:
        pass


def die(number: int) -> None:
    os.kill(os.getpid(), number)


def grow(piece: int) -> None:
    held = []
    while True:
        held.append(bytearray(piece))


def overrun_stack() -> None:
    ctypes.string_at(0)


def fill_disk(out: str, files: int, size: int) -> None:
    for number in range(files):
        (Path(out) / str(number)).write_bytes(bytes(size))
    time.sleep(20)


def link_out(out: str, target: str) -> None:
    (Path(out) / "link").symlink_to(target)


def forge_answer() -> None:
    """Write to every descriptor that may be the way back."""
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, b'{"error": {"class": "__builtins__", "message": "forged"}}\n')
        except OSError:
            continue
    time.sleep(20)


def nonsense_answer() -> None:
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, b"[" * 100_000 + b"\n")
        except OSError:
            continue
    time.sleep(20)


def attempt(way: str, argument: str = "") -> str:
    """Try one way out. `done` if it worked, else the class of the refusal."""
    try:
        ATTEMPTS[way](argument)
    except OSError as e:
        return type(e).__name__
    return "done"


def _connect(family: int, kind: int, address: Any) -> None:
    with socket.socket(family, kind) as client:
        client.settimeout(2)
        client.connect(address)
        client.send(b"x")


def _listen(_: str) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()


def _fork(_: str) -> None:
    if os.fork() == 0:
        os._exit(0)


def _memory_file(_: str) -> None:
    os.close(os.memfd_create("x"))


def _own_file(how: int) -> int:
    path = os.path.join(os.environ["TMPDIR"], "own")
    Path(path).touch()
    return os.open(path, how)


def _of_pair(command: int, argument: Any) -> None:
    one, other = socket.socketpair()
    with one, other:
        fcntl.fcntl(one, command, argument)


def _ioctl_of_pair(command: int, number: int) -> None:
    one, other = socket.socketpair()
    with one, other:
        fcntl.ioctl(one, command, struct.pack("i", number))


def _libc(name: str, *arguments: Any) -> None:
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)


def _refused(attempt: Callable[[], Any]) -> None:
    """Only a refusal of the filter counts as one: another error comes from behind it."""
    try:
        attempt()
    except OSError as e:
        if e.errno == errno.EACCES:
            raise


def hide_files(way: str) -> str:
    """Fill the disk with files that no folder names."""
    libc = ctypes.CDLL(None)
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    path = os.path.join(os.environ["TMPDIR"], "gone")
    held = []
    for _ in range(30):
        file = open(path, "w+b")  # noqa: SIM115 - it stays open
        file.write(bytes(3_000_000))
        file.flush()
        os.unlink(path)
        if way == "mapped":
            libc.mmap(None, 4096, 3, 1, file.fileno(), 0)
            file.close()
        held.append(file)
        time.sleep(0.05)
    time.sleep(5)
    return "done"


def end_first_thread(size: int) -> None:
    """Go on in another thread, which takes memory, when the first one has ended."""

    def grow() -> None:
        time.sleep(0.3)
        held = bytearray(size)
        held[::4096] = b"x" * len(held[::4096])
        time.sleep(60)

    threading.Thread(target=grow).start()
    ctypes.CDLL(None).syscall(60 if os.uname().machine == "x86_64" else 93, 0)


def of_machine() -> list[str]:
    """Files of the own folder in /proc that tell of the machine, and can be read."""
    own = f"/proc/{os.getpid()}"
    places = [own, f"{own}/task/{os.getpid()}", "/proc/thread-self"]
    found = []
    for path in [f"{p}/{n}" for p in places for n in ("net/tcp", "net/unix", "net/route")]:
        with contextlib.suppress(OSError):
            found += [path] * bool(Path(path).read_text())
    return found


def of_itself() -> list[str]:
    """What libraries read of the own folder in /proc, as far as it can be read."""
    names = ("maps", "status", "stat", "statm", "cgroup")
    return [*(n for n in names if Path("/proc/self", n).read_text()), *os.listdir("/proc/self/fd")]


ATTEMPTS: dict[str, Callable[[str], Any]] = {
    "read": lambda path: Path(path).read_bytes(),
    "list": os.listdir,
    "write": lambda path: Path(path).write_text("x"),
    "append": lambda path: Path(path).open("a").close(),
    "delete": os.unlink,
    "rename": lambda path: os.rename(path, path + ".moved"),
    "truncate": lambda path: os.truncate(path, 0),
    "chmod": lambda path: os.chmod(path, 0o777),
    "chown": lambda path: os.chown(path, os.getuid(), os.getgid()),
    "times": os.utime,
    "attribute": lambda path: os.setxattr(path, "user.x", b"x"),
    "make-folder": lambda path: os.mkdir(path + ".folder"),
    "link": lambda path: os.link(path, os.path.join(os.environ["TMPDIR"], "link")),
    "read-through-symlink": lambda path: (
        os.symlink(path, os.path.join(os.environ["TMPDIR"], "symlink")),
        Path(os.environ["TMPDIR"], "symlink").read_bytes(),
    ),
    "tcp": lambda port: _connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", int(port))),
    "udp": lambda port: _connect(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", int(port))),
    "unix-socket": lambda path: _connect(socket.AF_UNIX, socket.SOCK_STREAM, path),
    "listen": _listen,
    "signal": lambda pid: os.kill(int(pid), 0),
    "kill": lambda pid: os.kill(int(pid), signal.SIGKILL),
    "fork": _fork,
    "shell": lambda _: subprocess.run(["/bin/sh", "-c", "true"], check=True),
    "memory-file": _memory_file,
    "owner": lambda pid: _of_pair(fcntl.F_SETOWN, int(pid)),
    "owner-ex": lambda pid: _of_pair(15, struct.pack("ii", 1, int(pid))),
    "which-signal": lambda _: _of_pair(10, int(signal.SIGKILL)),
    "lease": lambda _: fcntl.fcntl(_own_file(os.O_RDONLY), 1024, 0),
    "owner-by-ioctl": lambda pid: _ioctl_of_pair(0x8901, int(pid)),
    "group-by-ioctl": lambda pid: _ioctl_of_pair(0x8902, int(pid)),
    "file-flags": lambda _: fcntl.ioctl(_own_file(os.O_RDWR), 0x40086602, bytes(8)),
    "file-attributes": lambda _: fcntl.ioctl(_own_file(os.O_RDWR), 0x401C5820, bytes(28)),
    "datagrams": lambda _: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM),
    "packets": lambda _: socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET),
    "send-file": lambda _: socket.send_fds(socket.socketpair()[0], [b"x"], [0]),
    "inotify": lambda _: _libc("inotify_init1", 0),
    "fanotify": lambda _: _libc("fanotify_init", 0x200, 0),
    "space": lambda _: _libc(
        "fallocate", _own_file(os.O_RDWR), 1, ctypes.c_long(0), ctypes.c_long(1 << 20)
    ),
    "inet-pair": lambda _: _refused(lambda: socket.socketpair(socket.AF_INET)),
    "tipc-pair": lambda _: _refused(lambda: socket.socketpair(30)),
    "session": lambda _: os.setsid(),
    "group": lambda _: os.setpgid(0, 0),
    "sync": lambda _: _libc("syncfs", 1),
    "outlive": lambda _: _libc("prctl", 1, 0, 0, 0, 0),
    "merge": lambda _: _libc("prctl", 67, 1, 0, 0, 0),
    "unshare": lambda _: _libc("unshare", 0x400),
    # what libraries need
    "streams": lambda _: socket.socketpair()[0].close(),
    "own-signal": lambda _: os.kill(os.getpid(), 0),
    "lock": lambda _: fcntl.lockf(_own_file(os.O_RDWR), fcntl.LOCK_EX),
    "terminal": lambda _: (os.isatty(1), os.set_inheritable(_own_file(os.O_RDWR), True)),
    "allocate": lambda _: os.posix_fallocate(_own_file(os.O_RDWR), 0, 100_000),
}


def threads(count: int) -> int:
    """Threads are no processes: libraries need them."""
    seen: list[int] = []
    running = [threading.Thread(target=seen.append, args=(n,)) for n in range(count)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return len(seen)


def missing_key() -> str:
    """A fault of Leaf's own."""
    known: dict[str, str] = {}
    return known["secret column"]


def obey(path: str, out: str) -> dict[str, Any]:
    """Do what the file says; for batches."""
    verb, _, rest = Path(path).read_text().partition(" ")
    if "SPOILED" in os.environ:
        os._exit(3)
    if verb == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif verb == "exit":
        os._exit(0)
    elif verb == "hang":
        time.sleep(60)
    elif verb == "eat":
        eaten = [bytearray(50_000_000) for _ in range(40)]
        time.sleep(len(eaten))
    elif verb == "refuse":
        raise EncryptedFileError("Locked.", "Unlock it.")
    elif verb == "fail":
        raise KeyError("a fault of the reader")
    elif verb == "link":
        os.symlink("/etc/passwd", Path(out) / "said")
    elif verb == "spoil":
        os.environ["SPOILED"] = "yes"
        rest = "spoiled"
    elif verb == "count":
        rest = str(len(list(Path(path).parent.parent.iterdir())))
    if verb != "link":
        (Path(out) / "said").write_text(rest)
    return {"said": rest, "pid": os.getpid()}
