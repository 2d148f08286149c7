"""Files that nobody here chose: what is lost, what is left out on a guess, what is kept without a word.

    python -m bench.foreign [--corpora ../shared/data/foreign] [--only rows,hostile] [--show]

Sections lie in `bench/_foreign`, one a file, and are named here; `docs/foreign.md` says what each measures. Exit code 1 if a
target is missed. A corpus that is absent is said and skipped.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from bench._foreign import CORPORA, Figure

SECTIONS = ("rows", "hostile", "delimited", "layout", "articles", "documents")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--only", type=lambda names: names.split(","), default=SECTIONS)
    parser.add_argument("--show", action="store_true", help="name each row that was judged wrongly")
    given = parser.parse_args()
    figures: list[Figure] = []
    if unknown := set(given.only) - set(SECTIONS):
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    for name in given.only:
        figures += _section(name, given.corpora, given.show)
    return _report(figures)


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


def _report(figures: list[Figure]) -> int:
    print(f"\n{'corpus':<20} {'figure':<74} {'value':>10} {'target':>10}")
    for figure in figures:
        target = "" if figure.target is None else f"{'>=' if figure.at_least else '<='} {figure.target:g}"
        mark = "" if figure.met else "  missed"
        print(f"{figure.corpus:<20} {figure.what:<74} {figure.value:>10.5g} {target:>10}{mark}")
    missed = sum(not figure.met for figure in figures)
    print(f"\n{missed} of {sum(f.target is not None for f in figures)} targets missed.")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
