"""What benches have kept: the table of it in the pages, and whether the pages may still say it.

    python -m bench._results

is the part of `make check`: it names each documented figure that has no result, each that is too
old for the code, each missed target of which the page does not speak. JSON, git and pages alone, so
it takes a moment; where there is no history (an archive, a shallow clone) it says that it cannot
tell how old figures are.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench._figures import RESULTS, ROOT, Figure, git

MOST_COMMITS = 40
"""Commits that may touch what a bench measures before its figures are too old: about what one room
sees in a week of much work. Fewer, and nobody would get round to an hour of benches as often as
asked; more, and figures would be of another program.
"""


@dataclass(frozen=True)
class Page:
    """A page that shows figures."""

    name: str
    marker: str
    """Of the lines between which the table stands."""
    missed: str
    """The heading below which each bench that misses a target is spoken of by its name."""
    of: re.Pattern[str]
    """The benches that it shows."""

    @property
    def path(self) -> Path:
        return ROOT / "docs" / self.name


PAGES = (
    Page("bench.md", "figures", "## What is missed", re.compile(r"(?!foreign\.)")),
    Page("foreign.md", "foreign-figures", "## What is not reached", re.compile(r"foreign\.")),
)


@dataclass(frozen=True)
class Result:
    """What one bench has kept."""

    bench: str
    commit: str
    """Blank where it was measured without a history."""
    uncommitted: bool
    """Whether the code differed from that commit."""
    date: str
    machine: dict[str, Any]
    load: float
    """Processes that waited for a core in the minute before."""
    measures: list[str]
    """Paths whose change makes it old."""
    part: str
    figures: list[Figure]

    @property
    def path(self) -> Path:
        return RESULTS / f"{self.bench}.json"


def results(folder: Path = RESULTS) -> list[Result]:
    """All that was kept, by name. Raises ValueError for a file that is none."""
    return [_read(path) for path in sorted(folder.glob("*.json"))]


def _read(path: Path) -> Result:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        figures = [Figure(**figure) for figure in kept.pop("figures")]
        return Result(**kept, figures=figures)
    except (ValueError, TypeError, KeyError, AttributeError) as e:
        raise ValueError(f"{path} is no result of a bench: run the bench again.") from e


def benches() -> list[str]:
    """Every name under which a bench keeps figures: the modules of `bench`, and each part of
    `foreign`."""
    modules = {path.stem for path in (ROOT / "bench").glob("*.py") if not path.stem.startswith("_")}
    packages = {path.parent.name for path in (ROOT / "bench").glob("*/__main__.py")}
    parts = {
        path.stem
        for path in (ROOT / "bench" / "_foreign").glob("*.py")
        if "def measure(" in path.read_text(encoding="utf-8")
    }
    return sorted((modules | packages) - {"foreign"} | {f"foreign.{part}" for part in parts})


# The pages


def table(page: Page, every: Sequence[Result]) -> str:
    """One row a figure, then the benches that have kept nothing, then where and when the others
    ran."""
    kept = [result for result in every if page.of.match(result.bench)]
    lines = [
        "| bench | what is measured | result | beside it, in the same run | target |",
        "|---|---|---|---|---|",
    ]
    for result in kept:
        name = f"`{result.bench}`"
        subject = ""
        for figure in result.figures:
            value = figure.written(figure.value) + ("" if figure.met else " (missed)")
            words = f"… {figure.what}" if subject and figure.subject == subject else figure.sentence
            lines.append(
                f"| {name} | {words} | {value} | {figure.written_beside} | "
                f"{figure.written_target} |"
            )
            name, subject = "", figure.subject
    named = {name for name in benches() if page.of.match(name)}
    if absent := sorted(named - {result.bench for result in kept}):
        lines += ["", f"Not measured on this code: {', '.join(f'`{name}`' for name in absent)}."]
    return "\n".join([*lines, "", *_measured(kept)]).strip()


def _measured(kept: Sequence[Result]) -> list[str]:
    """Benches of one day, commit and machine together."""
    runs: dict[str, list[str]] = {}
    for result in kept:
        m = result.machine
        commit = f"commit {result.commit[:7]}" if result.commit else "code without a history"
        where = (
            f"{m['cores']} cores ({m['cpu']}), {m['memory_gb']} GB, {m['system']}, Python "
            f"{m['python']}"
        )
        runs.setdefault(f"{result.date}, {commit}, {where}", []).append(
            f"`{result.bench}` (load {result.load:g})"
        )
    return [f"- {run}: {', '.join(names)}" for run, names in runs.items()]


# What the pages may say


def complaints() -> tuple[list[str], list[str]]:
    """What is wrong with the kept figures and the pages that show them; what could not be told."""
    try:
        kept = results()
    except ValueError as e:
        return [str(e)], []
    history = bool(git("rev-parse", "HEAD"))
    shallow = git("rev-parse", "--is-shallow-repository").strip() == "true"
    wrong = [
        line
        for page in PAGES
        for line in of_page(page, page.path.read_text(encoding="utf-8"), kept)
    ]
    unknown = []
    for result in kept:
        wrong += of_result(result)
        age = commits_since(result) if history and not shallow else None
        if age is None:
            unknown.append(result.bench)
        elif age > MOST_COMMITS:
            changed = ", ".join(result.measures)
            wrong.append(
                f"{result.bench}: {age} commits have changed {changed} since it ran (at most "
                f"{MOST_COMMITS}). Run `make bench "
                f"BENCHES={result.bench.partition('.')[0]}` and `make docs`, or remove "
                f"{result.path.relative_to(ROOT)}."
            )
    why = (
        "there is no history here"
        if not history
        else "the history here is cut off"
        if shallow
        else "their commits are not here"
    )
    return wrong, [
        f"How old the figures of {', '.join(unknown)} are can't be told: {why}."
    ] if unknown else []


def of_page(page: Page, text: str, kept: Sequence[Result]) -> list[str]:
    """What is wrong with a page."""
    found = re.search(rf"<!-- {page.marker} -->\n(.*?)\n<!-- /{page.marker} -->", text, re.DOTALL)
    wrong = []
    if found is None or found[1] != table(page, kept):
        wrong.append(f"docs/{page.name} shows other figures than were kept. Run `make docs`.")
    said = text.partition(f"{page.missed}\n")[2].partition("\n## ")[0]
    for result in kept:
        missed = [figure.sentence for figure in result.figures if not figure.met]
        if missed and page.of.match(result.bench) and f"`{result.bench}`" not in said:
            wrong.append(
                f"{result.bench} misses: {'; '.join(missed)}. Mend it, or say so below "
                f"“{page.missed}” of {page.name}."
            )
    return wrong


def of_result(result: Result) -> list[str]:
    """What makes a result one of no code that anybody has."""
    wrong = []
    if result.bench not in benches():
        wrong.append(f"{result.path.relative_to(ROOT)} is of a bench that is no more. Remove it.")
    if result.uncommitted:
        wrong.append(
            f"{result.bench} was measured with changes that were in no commit. Commit, and "
            f"run it again."
        )
    if result.part:
        wrong.append(f"{result.bench} was measured in part ({result.part}). Run the whole bench.")
    if gone := [path for path in result.measures if not (ROOT / path).exists()]:
        wrong.append(
            f"{result.bench} has measured {', '.join(gone)}, which is no longer there. "
            f"Run it again."
        )
    return wrong


def commits_since(result: Result) -> int | None:
    """Commits after that of the result which changed what it measures; None where that cannot be
    told.

    A commit that is not in this history (it was rebased, or squashed) stands for the one that
    brought the result.
    """
    known = result.commit and git("merge-base", result.commit, "HEAD").strip() == result.commit
    since = (
        result.commit if known else git("log", "-1", "--format=%H", "--", str(result.path)).strip()
    )
    if not since:
        return None
    count = git(
        "rev-list", "--count", f"{since}..HEAD", "--", *result.measures, *own_files(result.bench)
    ).strip()
    return int(count) if count else None


def own_files(bench: str) -> list[str]:
    """The files of a bench: with others it would measure something else."""
    name, _, part = bench.partition(".")
    return (
        [f"bench/_{name}/{part}.py"]
        if part
        else [f"bench/{name}.py", f"bench/_{name}", f"bench/{name}"]
    )


def main() -> int:
    """Print what is wrong; 1 if anything is."""
    wrong, unknown = complaints()
    print("\n".join([*unknown, *wrong]) or f"Figures of {len(results())} benches are of this code.")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
