"""Files of every kind, changed at random but reproducibly, given to an app as uploads: added,
unpacked, their tables opened, asked and described, searched, read, drawn, heard.

    python -m bench.fuzzing [--inputs 20000] [--seed 1] [--only NUMBER …] [--corpora FOLDER] [--show]

Seeds are small files that are made here, and those of the public corpora. A file is known by the
seed and its number: `--only` gives it to an app again, and saves it in `bench/out/fuzzing`. The app
is a process of its own, which may not die; its children may, each with one file's work, which is
then said of that file. Every sentence is judged (`bench/_fuzzing/judge.py`), and in each batch a
good file stands beside the changed ones, which must come out as it went in. Exit code 1 if a target
is missed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench._figures import PARTIAL, ROOT, Figure, Report, changed
from bench._fuzzing.app import ROUND
from bench._fuzzing.judge import BROKEN, CRASH, HANG, MEMORY, UNCLEAR, UNFORESEEN
from bench._fuzzing.mutate import changed as changed_file
from bench._fuzzing.seeds import all_seeds
from leaf.readers.base import KINDS

LIFE = 2_048
"""Files that one app takes before another begins with an empty data folder."""
PATIENCE = 900.0
"""Seconds within which an app tells of a round: far more than one takes, were each file of a batch
to end at its limit."""
MEMORY_MB = 1_024
CORPORA = ROOT.parent / "shared" / "data"
APP = ("-m", "bench._fuzzing.app")
Json = dict[str, Any]


@dataclass
class Tally:
    """What is known so far."""

    inputs: int = 0
    opened: int = 0
    refused: int = 0
    steps: int = 0
    sentences: int = 0
    peak_mb: int = 0
    app_deaths: int = 0
    app_hangs: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    hurt: int = 0
    seconds: float = 0.0

    def add(self, told: Json) -> None:
        self.inputs += told["count"]
        self.opened += told["opened"]
        self.refused += told["refused"]
        self.steps += told["steps"]
        self.sentences += told["sentences"]
        self.peak_mb = max(self.peak_mb, told["peak_mb"])
        self.kinds.update(told["kinds"])
        self.verdicts.update(one["what"] for one in told["verdicts"])
        self.hurt += len(told["hurt"])


def main() -> int:
    """Print what is wrong as it is found, then the figures; 1 if a target is missed."""
    parser = options()
    given = parser.parse_args()
    part = changed(parser, given) or ("" if given.corpora.is_dir() else "without the corpora")
    report = Report("fuzzing", ("leaf/readers", "leaf/sandbox", "leaf/files"), part)
    numbers = given.only or list(range(given.inputs))
    if given.only:
        _save(given)
    tally, began = Tally(), time.monotonic()
    for at in range(0, len(numbers), LIFE):
        live(given, numbers[at : at + LIFE], tally)
    tally.seconds = time.monotonic() - began
    return report.end(figures(tally, len(numbers)))


def options() -> argparse.ArgumentParser:
    """What a run may be told."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--inputs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, nargs="*", default=[])
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--show", action="store_true", help="also what crashed and was logged")
    return parser


def figures(tally: Tally, wanted: int) -> list[Figure]:
    """The figures of a run of so many files."""
    subject = f"{wanted:,} changed files of {len(tally.kinds)} kinds"
    least = min((tally.kinds[kind] for kind in KINDS), default=0)
    found = tally.verdicts

    def none(what: str, count: int) -> Figure:
        return Figure(subject, what, count, 0, at_least=False, shown="{:,.0f}")

    def told(what: str, count: int) -> Figure:
        return Figure(subject, what, count, shown="{:,.0f}")

    return [
        Figure(subject, "given to an app", tally.inputs, wanted, shown="{:,.0f}"),
        Figure(subject, "of the kind with the fewest", least, wanted // 26, shown="{:,.0f}"),
        none("deaths of the app", tally.app_deaths),
        none("rounds that never ended", tally.app_hangs),
        Figure(subject, "most memory of the app", tally.peak_mb, MEMORY_MB, at_least=False, shown="{:,.0f} MB"),
        none("steps that ran into their limit of time", found[HANG]),
        none(f"sentences that are not clear, of {tally.sentences:,}", found[UNCLEAR]),
        none("failures that no reader foresaw", found[UNFORESEEN]),
        none(f"results that do not fit together, of {tally.steps - tally.sentences:,}", found[BROKEN]),
        none("good files beside them that suffered", tally.hurt),
        told("children that crashed, each said of its file", found[CRASH]),
        told("steps that ran into their limit of memory, each said of its file", found[MEMORY]),
        told("opened", tally.opened),
        told("refused", tally.refused),
        Figure(subject, "time", tally.seconds / 60, shown="{:,.0f} min"),
    ]  # fmt: skip


def live(given: argparse.Namespace, numbers: Sequence[int], tally: Tally) -> None:
    """Have apps take the files, another one where one has died."""
    left = list(numbers)
    while left:
        with tempfile.TemporaryDirectory(prefix="leaf-fuzzing-") as home:
            for told in _rounds(given, left, Path(home), tally):
                left = left[told["count"] :]
                tally.add(told)
                _print(told, tally, given.show)
        left = left[ROUND:]


def _rounds(
    given: argparse.Namespace, numbers: Sequence[int], home: Path, tally: Tally
) -> Iterator[Json]:
    """What an app tells of its rounds, until it ends. One that ends too early, or tells nothing for
    too long, is counted, and the round that it was at is left out."""
    about = {
        "seed": given.seed,
        "numbers": numbers,
        "corpora": str(given.corpora),
        "home": str(home),
    }
    app = subprocess.Popen(
        [sys.executable, *APP, json.dumps(about)],
        stdout=subprocess.PIPE, cwd=ROOT, text=True,
    )  # fmt: skip
    assert app.stdout is not None
    done = 0
    while True:
        watch = threading.Timer(PATIENCE, app.kill)
        watch.start()
        line = app.stdout.readline()
        hung = not watch.is_alive()
        watch.cancel()
        told = json.loads(line) if line.endswith("\n") else {}
        if "count" not in told:
            break
        done += told["count"]
        yield told
    app.kill()
    app.wait()
    if "end" not in told:
        tally.app_hangs += hung
        tally.app_deaths += not hung
        lost = numbers[done : done + ROUND]
        print(f"the app {'hung' if hung else 'died'} at one of {lost}", flush=True)


def _print(told: Json, tally: Tally, show: bool) -> None:
    for one in told["verdicts"]:
        if show or one["what"] not in (CRASH, MEMORY):
            print(
                f"{one['what']:10} {one['index']:6} {one['step']:8} {one['file']} ({one['changes']})"
            )
            print(f"{'':18}{one['why'][:500]}")
    for line in told["hurt"]:
        print(f"hurt       {line}")
    for line in told["details"] if show else ():
        print(f"logged     {line.strip()[-1_500:]}")
    print(
        f"{tally.inputs:,} given, {dict(tally.verdicts)}, the app holds {told['peak_mb']} MB",
        flush=True,
    )


def _save(given: argparse.Namespace) -> None:
    """Write the chosen files to where they can be looked at."""
    folder, seeds = PARTIAL / "fuzzing", all_seeds(given.corpora)
    folder.mkdir(parents=True, exist_ok=True)
    for number in given.only:
        one = changed_file(seeds, given.seed, number)
        (folder / one.name).write_bytes(one.data)
        print(f"{folder / one.name} ({' > '.join(one.changes)})")


if __name__ == "__main__":
    sys.exit(main())
