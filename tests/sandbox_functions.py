"""Functions that the tests of the sandbox run in its children: harmless ones, broken ones and hostile ones."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
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


def rest() -> None:
    time.sleep(60)


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
