"""What Python costs: the first cell of a chat, later cells, and 20 chats' variables at once.

    python -m bench.python [--chats N] [--runs N]

Exits with 1 if a target is missed: 400 ms for the first cell while a child waits, 50 ms beyond the
code's own time for later cells, 3 GB for all variables together. The baseline is a new Python that
imports pandas, which each cell would cost if no child waited and lived on. On a machine that is
busy with something else the times say little; hence the load.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench._figures import Figure, Report, changed
from leaf.sandbox.namespace import PythonCell
from leaf.sandbox.ran import Ran
from leaf.sandbox.sessions import Sessions

FIRST, OVERHEAD, MEMORY = 0.400, 0.050, 3 * 1024**3
FRAME = """
import numpy as np
import pandas as pd
df = pd.DataFrame({"a": np.arange(200_000), "b": np.random.rand(200_000)})
df.b.sum()
"""
LATER = (
    "x = df.a.sum()\nx",
    "df.groupby(df.a % 10).b.mean().max()",
    "print('hello')",
    "len(query('SELECT a FROM df LIMIT 10'))",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chats", type=int, default=20)
    parser.add_argument("--runs", type=int, default=9)
    given = parser.parse_args()
    report = Report("python", ("leaf/sandbox",), changed(parser, given))
    fresh = [timed_process() for _ in range(3)]
    with tempfile.TemporaryDirectory() as folder:
        sessions = Sessions(Path(folder), count=given.chats)
        try:
            first, later, memory, kept = measure(
                sessions, Path(folder) / "out", given.chats, given.runs
            )
        finally:
            sessions.close()
    anew = {"a new Python that imports pandas": statistics.median(fresh) * 1000}
    wait, over = statistics.median(first) * 1000, statistics.median(later) * 1000
    held, most = f"variables of {given.chats} chats at once", MEMORY / 1024**2
    return report.end(
        [
            Figure(
                "",
                "first cell of a chat with pandas while a child waits, median",
                wait,
                FIRST * 1000,
                False,
                "{:,.0f} ms",
                anew,
            ),
            Figure(
                "",
                "later cells, over the code's own time, median",
                over,
                OVERHEAD * 1000,
                False,
                "{:,.0f} ms",
                anew,
            ),
            Figure("", f"{held} (PSS)", memory / 1024**2, most, False, "{:,.0f} MB"),
            Figure("", f"{held}: chats that keep theirs", kept, given.chats, shown="{:.0f}"),
        ]
    )


def measure(
    sessions: Sessions, out: Path, chats: int, runs: int
) -> tuple[list[float], list[float], int, int]:
    """Seconds of first cells, overheads of later ones, bytes of all children together, and how many
    chats kept theirs."""
    sessions.warm()
    first: list[float] = []
    later: list[float] = []
    for number in range(chats):
        while not sessions.is_warm():  # as while a person or a model thinks
            time.sleep(0.1)
        cells: list[PythonCell] = []
        first.append(run(sessions, f"chat{number}", FRAME, cells, out)[0])
        for _ in range(runs if number == 0 else 1):
            for code in LATER:
                seconds, ran = run(sessions, f"chat{number}", code, cells, out)
                later.append(seconds - ran.seconds)
    return first, later, sum(pss(pid) for pid in sessions.pids()), len(sessions.chats())


def run(
    sessions: Sessions, chat: str, code: str, cells: list[PythonCell], out: Path
) -> tuple[float, Ran]:
    cell = PythonCell(f"{chat}-{len(cells)}", code, len(cells) + 1)
    began = time.perf_counter()
    ran = sessions.run(chat, cell, cells, lambda kind, name: {}, out)
    seconds = time.perf_counter() - began
    if ran.failure is not None:
        raise SystemExit(f"the cell failed: {ran.failure.text}")
    cells.append(cell)
    return seconds, ran


def timed_process() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import pandas, pyarrow, duckdb"], check=True)
    return time.perf_counter() - began


def pss(pid: int) -> int:
    """Memory of a process with its share of what it shares, in bytes."""
    found = re.search(
        r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE
    )
    return int(found.group(1)) * 1024 if found else 0


if __name__ == "__main__":
    sys.exit(main())
