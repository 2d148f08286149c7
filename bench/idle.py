"""What Leaf costs while nobody asks anything: one tab open, for a minute.

    python -m bench.idle

Processor time is that of the app and its children by the kernel's own count, so a busy machine does
not change it. Prints each measurement beside its limit, then which threads woke how often; exit
code 1 if a limit is missed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from bench._figures import Figure, Report
from bench.page import ROOT, browser, free_port
from tests import postgres

SETTLES = 75.0
"""Seconds before the count: what a start does for its first minute is over by then."""
SECONDS = 60.0
CPU_LIMIT, STATEMENTS_LIMIT = 0.5, 1.0
"""Percent of one core; statements a second."""
SHOWN = 12
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Look:
    """The counts of one moment."""

    cpu: float
    """Seconds of a core, of the app and its children."""
    statements: int
    wakes: dict[str, int]
    """How often each thread of the app has gone to sleep, by its name and number."""


def main() -> int:
    """Print the tables; 1 if a limit is missed."""
    report = Report("idle", ("leaf/ui", "leaf/runs", "leaf/jobs", "leaf/store"))
    figures = _measure("DuckDB and SQLite", "")
    with ExitStack() as stack:
        try:
            where = stack.enter_context(postgres.server())
        except pytest.skip.Exception as e:
            print(f"PostgreSQL: {e}")
        else:
            figures += _measure("PostgreSQL", f"postgresql:///postgres{where}")
    return report.end(figures)


def _measure(name: str, database_url: str) -> list[Figure]:
    with (
        tempfile.TemporaryDirectory() as home,
        _app(Path(home), database_url) as url,
        browser() as chromium,
    ):
        page = chromium.new_page()
        page.goto(url)
        page.get_by_role("heading", name="What do you want to know?").wait_for()
        time.sleep(SETTLES)
        before = _look(url)
        time.sleep(SECONDS)
        after = _look(url)
    woken = {thread: wakes - before.wakes.get(thread, 0) for thread, wakes in after.wakes.items()}
    for thread, wakes in sorted(woken.items(), key=lambda item: -item[1])[:SHOWN]:
        if wakes:
            print(f"    {wakes / SECONDS:6.2f} a second  {thread}")
    name = f"a page open for a minute, {name}"
    used, sent = (
        (after.cpu - before.cpu) / SECONDS,
        (after.statements - before.statements) / SECONDS,
    )
    return [
        Figure(name, "of a core", used, CPU_LIMIT / 100, False, "{:.2%}"),
        Figure(name, "statements a second", sent, STATEMENTS_LIMIT, False, "{:.2f}"),
    ]


def _look(url: str) -> Look:
    with urlopen(f"{url}/bench/look", timeout=30) as answer:
        said: dict[str, Any] = json.load(answer)
    pid = int(said["pid"])
    wakes = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        name = said["threads"].get(task.name, "of a library")
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            wakes[f"{name} ({task.name})"] = _slept(task)
    return Look(
        sum(cpu(process) for process in family(pid)), sum(said["statements"].values()), wakes
    )


def _slept(task: Path) -> int:
    """Voluntary switches: each is a wait that has ended."""
    lines = (task / "status").read_text().splitlines()
    return next(
        int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches")
    )


def family(pid: int) -> list[int]:
    """The process and all that it has started, and so on."""
    found = [pid]
    with suppress(FileNotFoundError, ProcessLookupError):  # threads and processes end meanwhile
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):
                for child in (task / "children").read_text().split():
                    found += family(int(child))
    return found


def cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


@contextmanager
def _app(home: Path, database_url: str) -> Iterator[str]:
    port = free_port()
    served = ["--server.address", "127.0.0.1", "--server.port", str(port)]
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "bench/_idle_app.py", *served],
        cwd=ROOT,
        env={
            **os.environ,
            "LEAF_HOME": str(home),
            "LEAF_LOCAL_TOKEN": "off",
            "LEAF_DATABASE_URL": database_url,
            "PYTHONPATH": str(ROOT),
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                urlopen(f"{url}/_stcore/health", timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    sys.exit(main())
