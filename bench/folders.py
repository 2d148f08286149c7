"""A folder of small files: what it costs to add it, and what the first search and the first query
over it cost.

    python -m bench.folders [--files 1400]

Files of five kinds are made (CSV, TXT, JSON, Markdown, HTML; a fixed seed), added in one go,
searched twice, and the tables of the CSV files opened. CPU is that of this process and of every
child that has ended (`os.times`), wall time that of a clock. Beside it, measured in the same run:
the same files read in one process with nothing around them, by pandas and the standard library.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench._figures import Figure, Report, changed

if TYPE_CHECKING:
    from leaf.sessions.session import Session


WORDS = [
    "budget",
    "harbour",
    "quarter",
    "invoice",
    "region",
    "supplier",
    "delay",
    "meeting",
    "turbine",
    "contract",
    "forecast",
    "staff",
    "meadow",
    "cargo",
    "ledger",
    "pump",
    "audit",
    "orchard",
    "signal",
    "freight",
    "boiler",
    "archive",
    "permit",
    "survey",
    "valve",
]


@dataclass(frozen=True)
class Cost:
    """What something took."""

    name: str
    cpu: float
    """Seconds in all processes."""
    wall: float
    target: float = 0.0
    """CPU seconds that it may take for 1,400 files; 0 for none."""


TARGET = 60.0
"""CPU seconds for adding 1,400 files, and for the first search over them."""


def make(folder: Path, count: int) -> list[Path]:
    """`count` small files of five kinds, 1 to 20 kB each."""
    random.seed(20261122)
    makers: list[tuple[str, Callable[[int], str]]] = [
        ("csv", _csv),
        ("txt", _text),
        ("json", _json),
        ("md", lambda i: f"# Report {i}\n\n{_text(i)}"),
        (
            "html",
            lambda i: (
                f"<html><head><title>Page {i}</title></head><body><h1>Page "
                f"{i}</h1><p>{_text(i)}</p></body></html>"
            ),
        ),
    ]
    paths = []
    for i in range(count):
        ending, maker = makers[i % len(makers)]
        path = folder / f"part-{i // 100:02d}" / f"file-{i:04d}.{ending}"
        path.parent.mkdir(exist_ok=True)
        path.write_text(maker(i), encoding="utf-8")
        paths.append(path)
    return paths


def _csv(i: int) -> str:
    rows = [
        f"{i}-{n},2026-{n % 12 + 1:02d}-{n % 28 + 1:02d},{random.choice(WORDS)},{random.randint(1, 900)},{random.random():.4f}"
        for n in range(random.randint(30, 400))
    ]
    return "\n".join(["id,day,what,count,price", *rows]) + "\n"


def _text(i: int) -> str:
    sentences = (
        " ".join(random.choices(WORDS, k=random.randint(6, 16))).capitalize() + "."
        for _ in range(random.randint(20, 160))
    )
    return f"Number {i}. " + "\n".join(sentences) + "\n"


def _json(i: int) -> str:
    records = [
        {"id": f"{i}-{n}", "what": random.choice(WORDS), "count": random.randint(1, 900)}
        for n in range(random.randint(20, 150))
    ]
    return json.dumps(records)


def cpu() -> float:
    """Seconds of this process and of all its children that have ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def timed(name: str, act: Callable[[], Any]) -> tuple[Cost, Any]:
    before, began = cpu(), time.monotonic()
    value = act()
    return Cost(name, cpu() - before, time.monotonic() - began), value


def plain(paths: list[Path]) -> int:
    """Read every file in this process, as a script would; the number of rows and lines."""
    import pandas as pd
    from bs4 import BeautifulSoup

    total = 0
    for path in paths:
        if path.suffix == ".csv":
            total += len(pd.read_csv(path))
        elif path.suffix == ".json":
            total += len(json.loads(path.read_text()))
        elif path.suffix == ".html":
            total += len(BeautifulSoup(path.read_text(), "lxml").get_text().splitlines())
        else:
            total += len(path.read_text().splitlines())
    return total


def measure(count: int) -> list[Cost]:
    """Add, search and open a folder of `count` files in a data folder of its own."""
    from leaf.settings import load
    from leaf.wiring import build

    home = Path(tempfile.mkdtemp(prefix="leaf-folders-"))
    try:
        folder = home / "given"
        folder.mkdir()
        paths = make(folder, count)
        costs = [
            timed("read by pandas and the standard library in one process", lambda: plain(paths))[0]
        ]
        os.environ["LEAF_HOME"] = str(home / "data")
        app = build(load())
        try:
            scope = app.local_scope()
            session = app.session(scope)
            cost, added = timed("added", lambda: add(session, paths))
            assert added == count, added
            costs.append(replace(cost, target=TARGET * count / 1_400))
            files = session.files.list()
            assert len(files) == count, len(files)
            for name in ("first search", "second search"):
                cost, found = timed(
                    name, lambda: app._house.library.search(scope, files, "turbine ledger")
                )
                assert found.searched == count, found.notes
                costs.append(replace(cost, target=TARGET * count / 1_400))
            tables = app._house.library.as_chat_files(
                [file for file in files if file.kind == "csv"]
            )
            cost, opened = timed(
                f"tables of the {len(tables):,} CSV files among them opened",
                lambda: app._house.tables.of(scope, tables),
            )
            assert len(opened.tables) == len(tables), opened.failures
            costs.append(cost)
        finally:
            app.close()
        return costs
    finally:
        shutil.rmtree(home, ignore_errors=True)


def add(session: Session, paths: list[Path]) -> int:
    """Add files and wait until all are there; how many are."""
    job = session.jobs.begin(total=len(paths))
    session.jobs.take_paths(job.id, paths)
    session.jobs.all_arrived(job.id)
    return int(session.jobs.wait(job.id).done)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=1_400)
    given = parser.parse_args()
    report = Report(
        "folders",
        ("leaf/files", "leaf/jobs", "leaf/readers", "leaf/sandbox"),
        changed(parser, given),
    )
    plainly, *costs = measure(given.files)
    name = f"{given.files:,} small files of five kinds, CPU of all processes"
    beside = [{plainly.name: plainly.cpu}, *({} for _ in costs[1:])]
    for cost in costs:
        print(f"{cost.name:55} {cost.cpu:8.1f} s of CPU {cost.wall:8.1f} s")
    return report.end(
        [
            Figure(name, cost.name, cost.cpu, cost.target or None, False, "{:.1f} s", others)
            for cost, others in zip(costs, beside, strict=True)
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
