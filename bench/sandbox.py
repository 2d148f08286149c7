"""Ways out of the sandbox and ways to exhaust it, lies of children, requests of strangers and texts
that act: none may succeed, and each ends near its limit.

    python -m bench.sandbox [--only WORD] [--parts PART …]

The escapes are tried again as on older kernels, without one of the young protections of Landlock
after the other and without any of them. A kernel that lacks one of the others (before 6.2) confines
nothing, and Leaf says so.

Exits with 1 if an attempt succeeds, if the app cannot answer afterwards, or if one takes more than
a second beyond its limit. The same escapes are tried in a plain child process (`plain`): those that
succeed there show that the attempt is a real one.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from bench import _escapes
from bench._attempts import DONE, GROWN_MB, LIMITS, OVER, SECRET, Outcome, grown, tells
from bench._figures import Figure, Report, changed
from bench._parsers import parsers
from bench._requests import requests
from bench._texts import GROWTH, LONGER, PATTERNS, SIZE, TIMES, texts
from leaf.errors import LeafError
from leaf.sandbox.confine import YOUNG
from leaf.sandbox.limits import CallLimits
from leaf.sandbox.namespace import Given, PythonCell, Supply
from leaf.sandbox.pool import Pool
from leaf.sandbox.sessions import Sessions
from leaf.tables.written import QueryAnswer

FEWEST = 270
"""Attempts that there are at least, each another one."""
DISK = replace(LIMITS, output_mb=8)
INPUT = "region,revenue\nNorth,1\n"
PARTS = ("escapes", "bombs", "disk", "lies", "sql", "parsers", "requests", "texts", "older")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="attempts whose name holds this")
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    given = parser.parse_args()
    measured = ("leaf/sandbox", "leaf/tables/child.py", "leaf/ui", "leaf/files", "leaf/shapes")
    kept = Report("sandbox", measured, changed(parser, given))
    with tempfile.TemporaryDirectory() as folder, outside(Path(folder)) as places:
        home = Path(folder) / "home"
        found = list(attempts(home, places, given.only, given.parts))
        untouched = places.untouched()
    return kept.end(figures(found, untouched))


def attempts(home: Path, places: Outside, only: str, parts: list[str]) -> Iterator[Outcome]:
    """Those of the parts, one after the other."""
    of: dict[str, Callable[[], Iterator[Outcome]]] = {
        "escapes": lambda: escapes(home, places, only),
        "bombs": lambda: bombs(home, only),
        "disk": lambda: disk(home, only),
        "lies": lambda: lies(home, places, only),
        "sql": lambda: sql(home, only),
        "parsers": lambda: parsers(home, only, places.untouched),
        "requests": lambda: requests(_made(home / "requests"), only),
        "texts": lambda: texts(only),
        "older": lambda: older(home, places, only),
    }
    for part in parts:
        for outcome in of[part]():
            if not outcome.held or outcome.late:
                why = "it succeeded" if not outcome.held else "too slow"
                print(
                    f"FAILED {outcome.name}: {why}, {outcome.seconds:.1f} s; {outcome.said}",
                    flush=True,
                )
            yield outcome


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def figures(found: list[Outcome], untouched: bool) -> list[Figure]:
    """What all attempts together say."""
    tried = [o for o in found if o.plain is not None]
    plainly = {f"a plain child process, of {len(tried)} escapes": sum(bool(o.plain) for o in tried)}
    name = "ways out, to use everything up, to lie or to act"
    counted = (
        ("attempts, each another one", sum(not o.repeated for o in found), FEWEST, True),
        ("… tried again as on older kernels", sum(o.repeated for o in found), None, True),
        (
            f"that ended more than {OVER:.0f} second beyond the limit",
            sum(o.late for o in found),
            0,
            False,
        ),
        ("files, processes and listeners outside that were touched", int(not untouched), 0, False),
    )
    seconds = max((o.seconds for o in found if o.limit == LIMITS.seconds), default=0)
    return [
        Figure(name, "that succeeded", sum(not o.held for o in found), 0, False, "{:.0f}", plainly),
        *(
            Figure(name, what, value, target, least, "{:.0f}")
            for what, value, target, least in counted
        ),
        Figure(name, f"the longest, at a limit of {LIMITS.seconds:g} s", seconds, shown="{:.2f} s"),
        *_of_long_texts([o for o in found if o.growth is not None]),
    ]


def _of_long_texts(found: list[Outcome]) -> list[Figure]:
    """What drawing and exporting takes of texts that are made to take long."""
    if not found:
        return []
    name = f"drawing and exporting a text of {SIZE:,} characters that is made to take long"
    worst, ratio = max(o.times for o in found), max(o.growth or 0 for o in found)
    ordinary = "the slowest, against the parser's reading of an ordinary one as long"
    times = f"the worst against a text of {SIZE // TIMES:,}"
    return [
        Figure(name, "patterns", len(found), PATTERNS, True, "{:.0f}"),
        Figure(name, ordinary, worst, LONGER, False, "{:.1f} times"),
        Figure(name, times, ratio, GROWTH, False, "{:.1f} times"),
    ]


@dataclass(frozen=True)
class Outside:
    """What an escape would reach."""

    folder: Path
    secret: Path
    input: Path
    """A file that code may read, linked from here."""
    victim: subprocess.Popen[bytes]
    tcp: socket.socket
    udp: socket.socket
    unix: socket.socket
    abstract: socket.socket

    def values(self) -> dict[str, object]:
        return {
            "SECRET": str(self.secret),
            "FOLDER": str(self.folder),
            "VICTIM": self.victim.pid,
            "APP": os.getpid(),
            "TCP": self.tcp.getsockname()[1],
            "UDP": self.udp.getsockname()[1],
            "UNIX": self.unix.getsockname(),
            "ABSTRACT": self.abstract.getsockname(),
        }

    def head(self) -> str:
        """The values as code."""
        return "".join(f"{name} = {value!r}\n" for name, value in self.values().items())

    def untouched(self) -> bool:
        """Whether the files, the process and the sockets are as they were."""
        about, read = self.secret.stat(), self.input.stat()
        same = (
            self.secret.read_text() == SECRET
            and about.st_mode & 0o777 == 0o644
            and about.st_nlink == 1
            and self.input.read_text() == INPUT
            and (read.st_mode & 0o777, int(read.st_mtime)) == (0o600, 1_700_000_000)
        )
        there = sorted(p.name for p in self.folder.iterdir())
        same = same and there == ["home", "input.csv", "secret.txt", "socket"]
        for listener in (self.tcp, self.unix, self.udp, self.abstract):
            listener.settimeout(0)
            with contextlib.suppress(BlockingIOError):
                listener.recv(1) if listener.type == socket.SOCK_DGRAM else listener.accept()
                same = False
        return same and self.victim.poll() is None


@contextlib.contextmanager
def outside(folder: Path) -> Iterator[Outside]:
    secret, given = folder / "secret.txt", folder / "input.csv"
    secret.write_text(SECRET)
    secret.chmod(0o644)
    given.write_text(INPUT)
    given.chmod(0o600)
    os.utime(given, (1_700_000_000, 1_700_000_000))
    (folder / "home").mkdir()
    os.environ["LEAF_BENCH_KEY"] = "sk-secret"
    with (
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"]) as victim,
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(type=socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX) as unix,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as abstract,
    ):
        udp.bind(("127.0.0.1", 0))
        unix.bind(str(folder / "socket"))
        unix.listen()
        abstract.bind(f"\0leaf-{secrets.token_hex(8)}")
        yield Outside(folder, secret, given, victim, tcp, udp, unix, abstract)
        victim.kill()


def escapes(home: Path, places: Outside, only: str) -> Iterator[Outcome]:
    """What reaches for files, processes and the network. A success prints DONE, or is seen outside."""
    with sessions(home) as python:
        for name, code in _escapes.ESCAPES.items():
            if only in name:
                said, seconds = run(python, name, places.head() + code, supply(places))
                held = DONE not in said and places.untouched()
                yield Outcome(name, held, seconds, said[:150], plain(name, code))
        yield alive(python, "after the escapes")


def older(home: Path, places: Outside, only: str) -> Iterator[Outcome]:
    """The escapes on kernels that lack a young protection of Landlock, or all of them."""
    for without in (*((name,) for name in YOUNG), YOUNG):
        lacking = without[0] if len(without) == 1 else "all of them"
        with sessions(home, without) as python:
            for name, code in _escapes.ESCAPES.items():
                if only in name:
                    said, seconds = run(python, name, places.head() + code, supply(places))
                    held = DONE not in said and places.untouched()
                    yield Outcome(f"without {lacking}: {name}", held, seconds, said, repeated=True)
            yield alive(python, f"after the escapes without {lacking}")


def plain(name: str, code: str) -> bool | None:
    """Whether the attempt succeeds in a child process as Python starts it, against targets of its
    own."""
    if name in _escapes.NOT_PLAIN:
        return None
    with tempfile.TemporaryDirectory() as folder, outside(Path(folder)) as own:
        (Path(folder) / "home" / "own").mkdir()
        script = f"{own.head()}open_file = lambda _: FOLDER + '/input.csv'\n{code}"
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run(
                [sys.executable, "-c", script],
                cwd=Path(folder) / "home" / "own",
                capture_output=True,
                timeout=20,
            )
            return DONE.encode() in done.stdout or not own.untouched()
    return False


def bombs(home: Path, only: str) -> Iterator[Outcome]:
    """What uses up time, memory, disk, processes or the reader of the answer. It has to end, by a
    limit or with an error."""
    with sessions(home) as python:
        for name, code in _escapes.BOMBS.items():
            if only in name:
                said, seconds = run(python, name, code)
                yield Outcome(name, DONE not in said, seconds, said[:150])
                python.forget("bench")
        yield alive(python, "after the bombs")


def disk(home: Path, only: str) -> Iterator[Outcome]:
    """What takes more of the disk than there is, in one cell or in many. A success comes to its
    end."""
    with sessions(home, limits=DISK) as python:
        for name, code in _escapes.DISK.items():
            if only in name:
                said, seconds = run(python, name, code)
                yield Outcome(name, DONE not in said, seconds, said[:150])
                python.forget("bench")
        if only in (name := "a little by each of many quick cells"):
            yield little_by_little(python, name)
        yield alive(python, "after what takes the disk")


def little_by_little(python: Sessions, name: str) -> Outcome:
    """Cells of one namespace that are each over before anybody looks at the disk."""
    done: list[PythonCell] = []
    began, said = time.monotonic(), DONE
    with tempfile.TemporaryDirectory() as out:
        for number in range(20):
            cell = PythonCell(f"q{number}", f"n = open('q{number}', 'wb').write(bytes(10**6))")
            try:
                python.run("bench", cell, done, nothing, Path(out))
            except LeafError as e:
                said = e.message
                break
            done.append(cell)
    python.forget("bench")
    seconds = (time.monotonic() - began) / (len(done) + 1)
    return Outcome(name, "wrote more" in said, seconds, f"{len(done)} cells; {said}")


def lies(home: Path, places: Outside, only: str) -> Iterator[Outcome]:
    """What changes the child so that it tells the app something else. Whatever comes back is an
    error or plain, bounded text."""
    with sessions(home) as python:
        for name, code in _escapes.LIES.items():
            if only in name:
                with grown() as by:
                    said, seconds = run(python, name, places.head() + code, supply(places))
                again, _ = run(python, name, "1 + 1")
                held = DONE not in said + again and len(said) < 60_000 and by[0] < GROWN_MB
                held = held and places.untouched()
                yield Outcome(name, held, seconds, f"{by[0]:.0f} MB in the app; {said[:150]}")
                python.forget("bench")
        yield alive(python, "after the lies")


def sql(home: Path, only: str) -> Iterator[Outcome]:
    """The same in SQL, as query_tables runs it. A success is an answer that holds the secret, or
    anything outside changed."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    secret = home.parent / "secret.csv"
    secret.write_text("a\nsecret\n")
    table = home.parent / "t.parquet"
    pq.write_table(pa.table({"a": [1, 2]}), table)
    before = table.read_bytes()
    pool = Pool(home)
    limits = CallLimits(seconds=LIMITS.seconds, memory_mb=1024, output_mb=256)
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
                    "leaf.tables.child:query",
                    arguments,
                    returns=QueryAnswer,
                    inputs={"t.parquet": table},
                    limits=limits,
                    out=Path(out),
                    takes=r"result\.parquet",
                )
                said = str(answer.rows)[:5_000]
            except LeafError as e:
                said = f"{type(e).__name__}: {e}"
        held = (
            "'secret'" not in said
            and table.read_bytes() == before
            and secret.read_text() == "a\nsecret\n"
        )
        yield Outcome(f"sql: {name}", held, time.monotonic() - began, said[:150])
    try:
        works = pool.call("platform:python_version", {}, returns=str) != ""
    finally:
        pool.close()
    secret.unlink()
    table.unlink()
    yield Outcome("sql: after the queries", works, 0, "", repeated=True)


def supply(places: Outside) -> Supply:
    """Any file that code asks for is the one that it may have; the slow one takes its time, and no
    table is there."""

    def given(kind: str, name: str) -> dict[str, Given]:
        if name == "slow":
            time.sleep(2)
        return {name: Given(places.input)} if kind == "file" and name != "slow" else {}

    return given


def nothing(_kind: str, name: str) -> dict[str, Given]:
    """What code asks for is not there."""
    return {}


@contextlib.contextmanager
def sessions(
    home: Path, without: tuple[str, ...] = (), limits: CallLimits = LIMITS
) -> Iterator[Sessions]:
    python = Sessions(home, limits=limits, without=without)
    try:
        yield python
    finally:
        python.close()


def run(python: Sessions, name: str, code: str, given: Supply = nothing) -> tuple[str, float]:
    """Run an attempt; what came back, and the seconds it took once a child was there."""
    cell = PythonCell(name, code)
    with tempfile.TemporaryDirectory() as out:
        with contextlib.suppress(LeafError):
            python.run("bench", PythonCell("first", "0"), [], given, Path(out))
        began = time.monotonic()
        try:
            ran = python.run("bench", cell, [PythonCell("first", "0")], given, Path(out))
            failure = f"{ran.failure.type}: {ran.failure.message}" if ran.failure else ""
            said = f"{ran.printed}{ran.value}{failure}"
        except LeafError as e:
            said = f"{type(e).__name__}: {e.message}"
        seconds = time.monotonic() - began
        return f"{said} {DONE}, with a secret" if tells(Path(out)) else said, seconds


def alive(python: Sessions, when: str) -> Outcome:
    """Whether Python still works."""
    said, seconds = run(python, "alive", "6 * 7")
    return Outcome(when, said == "42", min(seconds, LIMITS.seconds), said, repeated=True)


if __name__ == "__main__":
    sys.exit(main())
