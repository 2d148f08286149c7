"""Ways out of the sandbox and ways to exhaust it, in Python and SQL: none may succeed, and each ends near its limit.

    python -m bench.sandbox [--only WORD]

Exits with 1 if an attempt succeeds, if the app cannot answer afterwards, or if one takes more than a second beyond its limit. The
same escapes are tried in a plain child process (`plain`): those that succeed there show that the attempt is a real one.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench import _escapes
from leaf.errors import LeafError
from leaf.sandbox.pool import Limits, Pool
from leaf.sandbox.sessions import Cell, Sessions

LIMITS = Limits(seconds=3, memory_mb=400, output_mb=64)
OVER = 1.0
"""Seconds beyond a limit after which an attempt counts as too slow."""
DONE = "ESCAPED"


@dataclass(frozen=True)
class Outcome:
    name: str
    held: bool
    seconds: float
    said: str
    plain: bool | None = None
    """Whether it succeeds in a plain process; None where that was not tried."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="attempts whose name holds this")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, outside(Path(folder)) as places:
        home = Path(folder) / "home"
        found = [*escapes(home, places, given.only), *bombs(home, given.only), *lies(home, given.only), *sql(home, given.only)]
        untouched = places.untouched()
    return report(found, untouched)


def report(found: list[Outcome], untouched: bool) -> int:
    """Print a line for each attempt that did not go as it must, and the sums."""
    late = [o for o in found if o.seconds > LIMITS.seconds + OVER]
    for outcome in found:
        if not outcome.held or outcome in late:
            why = "it succeeded" if not outcome.held else "too slow"
            print(f"FAILED {outcome.name}: {why}, {outcome.seconds:.1f} s; {outcome.said}")
    tried = [o for o in found if o.plain is not None]
    print(f"{len(found)} attempts, {sum(o.held for o in found)} held, {len(late)} ended late")
    print(
        f"of {len(tried)} escapes {sum(bool(o.plain) for o in tried)} succeed in a plain child process, 0 may succeed in Leaf's"
    )
    print(f"longest: {max((o.seconds for o in found), default=0):.2f} s at a limit of {LIMITS.seconds:g} s")
    print("the files, processes and listeners outside are untouched" if untouched else "FAILED something outside was changed")
    met = all(o.held for o in found) and not late and untouched and bool(found)
    print("met" if met else "MISSED")
    return 0 if met else 1


@dataclass(frozen=True)
class Outside:
    """What an escape would reach."""

    folder: Path
    secret: Path
    victim: subprocess.Popen[bytes]
    tcp: socket.socket
    udp: socket.socket
    unix: socket.socket

    def values(self) -> dict[str, object]:
        return {
            "SECRET": str(self.secret),
            "FOLDER": str(self.folder),
            "VICTIM": self.victim.pid,
            "APP": os.getpid(),
            "TCP": self.tcp.getsockname()[1],
            "UDP": self.udp.getsockname()[1],
            "UNIX": self.unix.getsockname(),
        }

    def untouched(self) -> bool:
        """Whether the file, the process and the three sockets are as they were."""
        about = self.secret.stat()
        same = self.secret.read_text() == "secret" and about.st_mode & 0o777 == 0o644 and about.st_nlink == 1
        same = same and sorted(p.name for p in self.folder.iterdir()) == ["home", "secret.txt", "socket"]
        for listener in (self.tcp, self.unix, self.udp):
            listener.settimeout(0)
            with contextlib.suppress(BlockingIOError):
                listener.recv(1) if listener.type == socket.SOCK_DGRAM else listener.accept()
                same = False
        return same and self.victim.poll() is None


@contextlib.contextmanager
def outside(folder: Path) -> Iterator[Outside]:
    secret = folder / "secret.txt"
    secret.write_text("secret")
    secret.chmod(0o644)
    (folder / "home").mkdir()
    os.environ["LEAF_BENCH_KEY"] = "sk-secret"
    with (
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"]) as victim,
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(type=socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX) as unix,
    ):
        udp.bind(("127.0.0.1", 0))
        unix.bind(str(folder / "socket"))
        unix.listen()
        yield Outside(folder, secret, victim, tcp, udp, unix)
        victim.kill()


def escapes(home: Path, places: Outside, only: str) -> Iterator[Outcome]:
    """What reaches for files, processes and the network. A success prints DONE."""
    head = "".join(f"{name} = {value!r}\n" for name, value in places.values().items())
    with sessions(home) as python:
        for name, code in _escapes.ESCAPES.items():
            if only in name:
                said, seconds = run(python, name, head + code)
                yield Outcome(name, DONE not in said, seconds, said[:150], plain(name, code, places))
        yield alive(python, "after the escapes")


def plain(name: str, code: str, places: Outside) -> bool | None:
    """Whether the attempt succeeds in a child process as Python starts it, against targets of its own."""
    if name in _escapes.NOT_PLAIN:
        return None
    with tempfile.TemporaryDirectory() as folder, outside(Path(folder)) as own:
        head = "".join(f"{key} = {value!r}\n" for key, value in own.values().items())
        script = f"import sys\n{head}{code}"
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, timeout=20)
            return DONE.encode() in done.stdout
    return False


def bombs(home: Path, only: str) -> Iterator[Outcome]:
    """What uses up time, memory, disk, processes or the reader of the answer. It has to end, by a limit or with an error."""
    with sessions(home) as python:
        for name, code in _escapes.BOMBS.items():
            if only in name:
                said, seconds = run(python, name, code)
                yield Outcome(name, DONE not in said, seconds, said[:150])
                python.forget("bench")
        yield alive(python, "after the bombs")


def lies(home: Path, only: str) -> Iterator[Outcome]:
    """What changes the child so that it tells the app something else. Whatever comes back is an error or plain, bounded text."""
    with sessions(home) as python:
        for name, code in _escapes.LIES.items():
            if only in name:
                said, seconds = run(python, name, code)
                again, _ = run(python, name, "1 + 1")
                yield Outcome(name, DONE not in said + again and len(said) < 60_000, seconds, said[:150])
                python.forget("bench")
        yield alive(python, "after the lies")


def sql(home: Path, only: str) -> Iterator[Outcome]:
    """The same in SQL, as query_tables runs it. A success is an answer that holds the secret, or anything outside changed."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    secret = home.parent / "secret.csv"
    secret.write_text("a\nsecret\n")
    table = home.parent / "t.parquet"
    pq.write_table(pa.table({"a": [1, 2]}), table)
    before = table.read_bytes()
    pool = Pool(home)
    limits = Limits(seconds=LIMITS.seconds, memory_mb=1024, output_mb=256)
    for name, query in _escapes.QUERIES.items():
        if only not in name:
            continue
        arguments = {
            "sql": query.replace("SECRET", str(secret)),
            "tables": {"t": "in:t.parquet"},
            "names": ["t"],
            "out": "out:",
            "seconds": LIMITS.seconds,
            "memory_mb": 1024,
        }
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as out:
            try:
                answer = pool.call(
                    "leaf.tables.child:query", arguments, inputs={"t.parquet": table}, limits=limits, out=Path(out)
                )
                said = str(answer["rows"])[:5_000]
            except LeafError as e:
                said = f"{type(e).__name__}: {e}"
        held = "'secret'" not in said and table.read_bytes() == before and secret.read_text() == "a\nsecret\n"
        yield Outcome(f"sql: {name}", held, time.monotonic() - began, said[:150])
    try:
        works = pool.call("platform:python_version", {}) != ""
    finally:
        pool.close()
    secret.unlink()
    table.unlink()
    yield Outcome("sql: after the queries", works, 0, "")


@contextlib.contextmanager
def sessions(home: Path) -> Iterator[Sessions]:
    python = Sessions(home, limits=LIMITS)
    try:
        yield python
    finally:
        python.close()


def run(python: Sessions, name: str, code: str) -> tuple[str, float]:
    """Run an attempt; what came back, and the seconds it took once a child was there."""
    cell = Cell(name, code)
    with tempfile.TemporaryDirectory() as out:
        with contextlib.suppress(LeafError):
            python.run("bench", Cell("first", "0"), [], lambda kind, named: {}, Path(out))
        began = time.monotonic()
        try:
            ran = python.run("bench", cell, [Cell("first", "0")], lambda kind, named: {}, Path(out))
            trouble = f"{ran.trouble.type}: {ran.trouble.message}" if ran.trouble else ""
            said = f"{ran.printed}{ran.value}{trouble}"
        except LeafError as e:
            said = f"{type(e).__name__}: {e.message}"
        return said, time.monotonic() - began


def alive(python: Sessions, when: str) -> Outcome:
    """Whether Python still works."""
    said, seconds = run(python, "alive", "6 * 7")
    return Outcome(when, said == "42", min(seconds, LIMITS.seconds), said)


if __name__ == "__main__":
    sys.exit(main())
