"""Files that nobody here chose: what is lost, what is left out on a guess, what is kept without a
word.

    python -m bench.foreign [--corpora ../shared/data/foreign] [--only rows,hostile] [--show]

Sections lie in `bench/_foreign`, one a file, and are named here; `docs/foreign.md` says what each
measures. Each keeps its own figures. Exit code 1 if a target is missed. A corpus that is absent is
said and skipped.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from bench._figures import Report
from bench._foreign import CORPORA, Figure

SECTIONS = ("rows", "hostile", "delimited", "layout", "articles", "documents")
MEASURES = ("leaf/readers",)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--only", type=lambda names: names.split(","), default=SECTIONS)
    parser.add_argument("--show", action="store_true", help="name each row that was judged wrongly")
    given = parser.parse_args()
    if unknown := set(given.only) - set(SECTIONS):
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    missed = 0
    for name in given.only:
        report = Report(f"foreign.{name}", MEASURES)
        if figures := _section(name, given.corpora, given.show):
            missed |= report.end(figures)
    return missed


def _section(name: str, corpora: Path, show: bool) -> list[Figure]:
    """Each in a process of its own: what one has loaded changes what another may use."""
    start = time.perf_counter()
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        figures = process.submit(_measure, name, corpora, show).result()
    print(f"{name}: {len(figures)} figures in {time.perf_counter() - start:.0f} s", flush=True)
    return figures


def _measure(name: str, corpora: Path, show: bool) -> list[Figure]:
    figures: list[Figure] = importlib.import_module(f"bench._foreign.{name}").measure(corpora, show)
    return figures


if __name__ == "__main__":
    sys.exit(main())
