"""What a bench has measured: one class for all figures, and the report that prints them, keeps them
and tells the exit code.

Kept are `bench/results/NAME.json`, of runs at the documented size alone; what a smaller run finds
lies in `bench/out`, which is not part of the repository. `bench/_results.py` reads what was kept.
Nothing of Leaf is imported here.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench" / "results"
PARTIAL = ROOT / "bench" / "out"
BESIDE_CODE = ("bench", "tests", ":!bench/results", ":!bench/out")
"""What a bench runs besides the packages that it measures: changes there make the commit as wrong a
name for its code."""


@dataclass(frozen=True)
class Figure:
    """One measured figure."""

    subject: str
    """What it was measured on: a corpus, a set of questions, a database; blank where the bench has
    but one."""
    what: str
    """What is compared or counted, of how many: `rows left out that are data, of 24,812`."""
    value: float
    target: float | None = None
    """None where a figure only informs."""
    at_least: bool = True
    """Whether `target` is the least (else the most) that counts as met."""
    shown: str = "{:.5g}"
    """How value, target and baselines are written: `{:.1%}`, `{:,.0f} ms`."""
    beside: Mapping[str, float] = field(default_factory=dict)
    """What others do in the same run: name of the baseline -> its value."""

    @property
    def met(self) -> bool:
        """Whether the target is reached; always, where there is none."""
        if self.target is None:
            return True
        return self.value >= self.target if self.at_least else self.value <= self.target

    @property
    def sentence(self) -> str:
        return f"{self.subject}: {self.what}" if self.subject else self.what

    def written(self, value: float) -> str:
        """A value of this figure as pages and terminals show it."""
        return re.sub(r"(?<=\d)%", " %", self.shown.format(value))

    @property
    def written_target(self) -> str:
        if self.target is None:
            return ""
        return (
            f"{'≥' if self.at_least else '≤'} {self.written(self.target)}"
            if self.target or self.at_least
            else "0"
        )

    @property
    def written_beside(self) -> str:
        return "; ".join(f"{name}: {self.written(value)}" for name, value in self.beside.items())


class Report:
    """The figures of one run of a bench. Made before anything is measured: it notes the load that
    the machine has then."""

    def __init__(self, bench: str, measures: Collection[str], part: str = "") -> None:
        """`measures` are the paths from the root of the repository whose change makes the figures
        old; `part` says, where not all is measured at the documented size, what is (see `changed`).
        Raises ValueError for a path that does not exist.
        """
        if missing := [path for path in measures if not (ROOT / path).exists()]:
            raise ValueError(f"{bench} measures {', '.join(missing)}, which is not there.")
        self._bench = bench
        self._measures = sorted(measures)
        self._part = part
        self._load = os.getloadavg()[0]
        self._commit = commit()
        self._changes = uncommitted([*self._measures, *BESIDE_CODE])

    def end(self, figures: Sequence[Figure]) -> int:
        """Print the figures, keep them, and give the exit code: 1 if a target is missed or nothing
        was measured.

        Raises ValueError if two figures have the same words.
        """
        named = [figure.sentence for figure in figures]
        if twice := {name for name in named if named.count(name) > 1}:
            raise ValueError(
                f"Two figures of {self._bench} are called: {'; '.join(sorted(twice))}."
            )
        print("\n" + table(figures))
        missed = sum(not figure.met for figure in figures)
        print(
            f"\n{self._bench}: {missed} of {sum(f.target is not None for f in figures)} "
            f"targets missed."
        )
        print(self._keep(figures), flush=True)
        return int(missed > 0 or not figures)

    def _keep(self, figures: Sequence[Figure]) -> str:
        """Write the figures; a sentence that says where."""
        kept, part = RESULTS / f"{self._bench}.json", self._part
        if not part and (fewer := _count(kept) - len(figures)) > 0:
            part = (
                f"{fewer} figures fewer than were kept (remove {kept.relative_to(ROOT)} if "
                f"the bench has no more now)"
            )
        path = PARTIAL / kept.name if part else kept
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            json.dumps(self._result(figures), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )
        where = path.relative_to(ROOT)
        return (
            f"Not the whole bench ({part}): in {where}, the kept figures stay as they are."
            if part
            else f"Kept in {where}."
        )

    def _result(self, figures: Sequence[Figure]) -> dict[str, Any]:
        return {
            "bench": self._bench,
            "commit": self._commit,
            "uncommitted": self._changes,
            "date": datetime.now(UTC).date().isoformat(),
            "machine": machine(),
            "load": round(self._load, 1),
            "measures": self._measures,
            "part": self._part,
            "figures": [asdict(figure) for figure in figures],
        }


def changed(
    parser: argparse.ArgumentParser,
    given: argparse.Namespace,
    harmless: Collection[str] = ("show", "corpora"),
) -> str:
    """The options that make a run another than the documented one: `rows 1000`; blank if there is
    none."""
    found = []
    for name, value in vars(given).items():
        if name not in harmless and value != parser.get_default(name):
            found.append(
                f"{name} {' '.join(map(str, value)) if isinstance(value, list) else value}"
            )
    return ", ".join(found)


def table(figures: Sequence[Figure]) -> str:
    """The figures as lines of a terminal, one each, and its baselines below it."""
    width = max((len(figure.sentence) for figure in figures), default=0)
    lines = []
    for figure in figures:
        verdict = (
            ""
            if figure.target is None
            else f"  {figure.written_target}  {'ok' if figure.met else 'MISSED'}"
        )
        lines.append(f"{figure.sentence:<{width}}  {figure.written(figure.value):>12}{verdict}")
        lines += [
            f"{'  ' + name:<{width}}  {figure.written(value):>12}"
            for name, value in figure.beside.items()
        ]
    return "\n".join(lines)


def machine() -> dict[str, Any]:
    """What the bench runs on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cores": os.cpu_count(),
        "cpu": _cpu(),
        "memory_gb": round(memory / 1e9),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()


def commit() -> str:
    """The commit that is checked out; blank where there is no history."""
    return git("rev-parse", "HEAD").strip()


def uncommitted(paths: Sequence[str]) -> bool:
    """Whether anything below these paths differs from the commit that is checked out."""
    return bool(git("status", "--porcelain", "--", *paths).strip())


def git(*arguments: str) -> str:
    """What git says of this repository; blank where it has nothing to say or is absent."""
    try:
        run = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return run.stdout if run.returncode == 0 else ""


def _count(path: Path) -> int:
    try:
        return len(json.loads(path.read_text(encoding="utf-8"))["figures"])
    except (OSError, ValueError, KeyError):
        return 0
