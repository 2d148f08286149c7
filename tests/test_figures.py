"""What benches measure is kept, shown and given up when it is old."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bench import search
from bench._figures import Figure
from bench._results import MOST_COMMITS, PAGES, benches

ROOT = Path(__file__).resolve().parents[1]
BENCH = """
import argparse, sys
from bench._figures import Figure, Report, changed

parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int, default=100)
parser.add_argument("--milliseconds", type=float, default=9.0)
parser.add_argument("--figures", type=int, default=2)
given = parser.parse_args()
report = Report("speed", ["leaf/readers"], changed(parser, given, harmless=("milliseconds", "figures")))
made = [
    Figure("", "time of a file", given.milliseconds, 10, False, "{:.1f} ms", {"bare DuckDB": 7.5}),
    Figure("100 rows", "read", 0.995, 0.99, True, "{:.1%}"),
]
sys.exit(report.end(made[: given.figures]))
"""
FILL = """
from bench._results import PAGES, results, table
for page in PAGES:
    begin, end = f"<!-- {page.marker} -->\\n", f"\\n<!-- /{page.marker} -->"
    text = page.path.read_text()
    head, tail = text.partition(begin)[0], text.partition(end)[2]
    page.path.write_text(head + begin + table(page, results()) + end + tail)
"""


@dataclass
class Repository:
    """A repository with a room, a bench that measures it, and the pages that show figures."""

    root: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        return subprocess.run(
            command, cwd=self.root, env=environ, capture_output=True, text=True, check=False
        )

    def git(self, *arguments: str) -> str:
        ran = self.run("git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.strip()

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run(sys.executable, *arguments)

    def measure(self, *options: str) -> subprocess.CompletedProcess[str]:
        return self.python("-m", "bench.speed", *options)

    def fill(self) -> None:
        assert self.python("-c", FILL).returncode == 0

    def commit(self, path: str, content: str) -> None:
        (self.root / path).write_text(content)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", f"Change {path}")

    def check(self) -> tuple[int, str]:
        ran = self.python("-m", "bench._results")
        assert not ran.stderr, ran.stderr
        return ran.returncode, ran.stdout

    @property
    def kept(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.root / "bench/results/speed.json").read_text())
        return found


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "work")
    for folder in ("leaf/readers", "leaf/ui", "bench/_foreign", "docs", "tests"):
        (made.root / folder).mkdir(parents=True)
    for name in ("_figures.py", "_results.py"):
        shutil.copy(ROOT / "bench" / name, made.root / "bench" / name)
    (made.root / "bench/speed.py").write_text(BENCH)
    (made.root / ".gitignore").write_text("__pycache__\n/bench/out/\n")
    for page in PAGES:
        text = f"# Page\n\n<!-- {page.marker} -->\n<!-- /{page.marker} -->\n\n{page.missed}\n\n"
        (made.root / "docs" / page.name).write_text(text)
    made.git("init", "-q", "-b", "main")
    made.commit("leaf/readers/base.py", "1")
    return made


@pytest.fixture
def measured(repository: Repository) -> Repository:
    """With figures that are kept, shown and committed."""
    assert repository.measure().returncode == 0
    repository.fill()
    repository.commit("leaf/ui/page.py", "1")
    return repository


# What is kept


def test_a_figure_is_written_with_its_unit_target_and_baselines() -> None:
    figure = Figure("40 tables", "loaded exactly", 0.9912, 0.97, True, "{:.1%}", {"pandas": 0.5})
    assert figure.sentence == "40 tables: loaded exactly"
    assert (figure.written(figure.value), figure.written_target, figure.written_beside) == (
        "99.1 %",
        "≥ 97.0 %",
        "pandas: 50.0 %",
    )
    assert Figure("", "lost", 0, 0, False, "{:.0f}").written_target == "0"
    assert Figure("", "lost", 0).written_target == ""


@pytest.mark.parametrize(
    ("value", "target", "at_least", "met"),
    [
        (1, 1, True, True),
        (0.9, 1, True, False),
        (1, 1, False, True),
        (1.1, 1, False, False),
        (5, None, True, True),
    ],
)
def test_a_target_is_the_least_or_the_most(
    value: float, target: float | None, at_least: bool, met: bool
) -> None:
    assert Figure("", "x", value, target, at_least).met is met


def test_a_run_keeps_each_figure_with_its_baseline_commit_machine_and_load(
    repository: Repository,
) -> None:
    ran = repository.measure()
    assert ran.returncode == 0, ran.stdout
    assert "Kept in bench/results/speed.json" in ran.stdout
    kept = repository.kept
    assert kept["commit"] == repository.git("rev-parse", "HEAD")
    assert kept["uncommitted"] is False
    assert kept["measures"] == ["leaf/readers"]
    assert kept["figures"][0]["beside"] == {"bare DuckDB": 7.5}
    assert kept["machine"]["cores"] >= 1
    assert kept["load"] >= 0


def test_a_missed_target_fails_the_bench_and_is_said(repository: Repository) -> None:
    ran = repository.measure("--milliseconds", "11")
    assert ran.returncode == 1
    assert "MISSED" in ran.stdout
    assert repository.kept["figures"][0]["value"] == 11


@pytest.mark.parametrize(
    "options", [("--rows", "5"), ("--figures", "1")], ids=["smaller", "with fewer figures"]
)
def test_a_run_of_a_part_leaves_what_was_kept(measured: Repository, options: Sequence[str]) -> None:
    before = measured.kept
    ran = measured.measure(*options)
    assert "Not the whole bench" in ran.stdout
    assert measured.kept == before
    assert (measured.root / "bench/out/speed.json").exists()


def test_a_bench_that_measures_nothing_fails(repository: Repository) -> None:
    assert repository.measure("--figures", "0").returncode == 1


def test_a_bench_cannot_measure_a_room_that_is_not_there(repository: Repository) -> None:
    repository.git("mv", "leaf/readers", "leaf/formats")
    ran = repository.measure()
    assert "speed measures leaf/readers, which is not there" in ran.stderr


# What the pages may say


def test_figures_of_this_code_pass_and_the_page_names_machine_and_commit(
    measured: Repository,
) -> None:
    assert measured.check() == (0, "Figures of 1 benches are of this code.\n")
    page = (measured.root / "docs/bench.md").read_text()
    assert "| `speed` | time of a file | 9.0 ms | bare DuckDB: 7.5 ms | ≤ 10.0 ms |" in page
    assert f"commit {measured.kept['commit'][:7]}" in page


def test_a_bench_without_a_result_is_listed_and_its_figures_are_gone(measured: Repository) -> None:
    (measured.root / "bench/results/speed.json").unlink()
    assert "shows other figures than were kept" in measured.check()[1]
    measured.fill()
    page = (measured.root / "docs/bench.md").read_text()
    assert "Not measured on this code: `speed`." in page
    assert "time of a file" not in page
    assert measured.check()[0] == 0


def test_a_figure_that_was_typed_into_the_page_fails(measured: Repository) -> None:
    page = measured.root / "docs/bench.md"
    page.write_text(page.read_text().replace("9.0 ms", "2.0 ms"))
    code, said = measured.check()
    assert code == 1
    assert "docs/bench.md shows other figures than were kept" in said


def test_figures_grow_old_by_commits_to_what_they_measure_alone(measured: Repository) -> None:
    for number in range(MOST_COMMITS):
        measured.commit("leaf/readers/base.py", f"{number} later")
        measured.commit("leaf/ui/page.py", f"{number} later")
    assert measured.check()[0] == 0
    measured.commit("bench/speed.py", BENCH + "\n")
    code, said = measured.check()
    assert code == 1
    assert f"speed: {MOST_COMMITS + 1} commits have changed leaf/readers since it ran" in said
    assert measured.measure().returncode == 0
    measured.fill()
    assert measured.check()[0] == 0


def test_a_commit_that_was_rebased_away_stands_for_the_one_that_brought_the_result(
    measured: Repository,
) -> None:
    gone = measured.kept["commit"]
    measured.git("checkout", "-q", "--orphan", "other")
    measured.commit("leaf/ui/page.py", "2")
    measured.git("branch", "-q", "-D", "main")
    assert gone not in measured.git("rev-list", "HEAD")
    assert measured.check() == (0, "Figures of 1 benches are of this code.\n")
    for number in range(MOST_COMMITS + 1):
        measured.commit("leaf/readers/base.py", f"{number} later")
    assert measured.check()[0] == 1


def test_a_shallow_clone_cannot_tell_and_passes(measured: Repository, tmp_path: Path) -> None:
    measured.git("clone", "-q", "--depth", "1", f"file://{measured.root}", str(tmp_path / "clone"))
    code, said = Repository(tmp_path / "clone").check()
    assert code == 0
    assert "How old the figures of speed are can't be told: the history here is cut off." in said


def test_an_archive_cannot_tell_and_passes(measured: Repository) -> None:
    shutil.rmtree(measured.root / ".git")
    code, said = measured.check()
    assert code == 0
    assert "can't be told: there is no history here" in said


def test_figures_of_changes_that_are_in_no_commit_fail(repository: Repository) -> None:
    (repository.root / "leaf/readers/base.py").write_text("2")
    repository.measure()
    repository.fill()
    assert repository.kept["uncommitted"] is True
    code, said = repository.check()
    assert code == 1
    assert "speed was measured with changes that were in no commit" in said


def test_a_room_that_moved_away_has_to_be_measured_again(measured: Repository) -> None:
    measured.git("mv", "leaf/readers", "leaf/formats")
    measured.git("commit", "-q", "-m", "Move")
    code, said = measured.check()
    assert code == 1
    assert "speed has measured leaf/readers, which is no longer there" in said


def test_a_missed_target_has_to_be_said_in_words(repository: Repository) -> None:
    repository.measure("--milliseconds", "11")
    repository.fill()
    code, said = repository.check()
    assert code == 1
    assert "speed misses: time of a file" in said
    page = repository.root / "docs/bench.md"
    page.write_text(
        page.read_text() + "`speed` reads slower than it should, since files are copied.\n"
    )
    assert repository.check()[0] == 0
    assert "11.0 ms (missed)" in page.read_text()


def test_a_result_that_is_broken_is_named(measured: Repository) -> None:
    (measured.root / "bench/results/speed.json").write_text("{}")
    code, said = measured.check()
    assert code == 1
    assert "speed.json is no result of a bench" in said


# The benches of this repository


@pytest.mark.parametrize("bench", sorted({name.partition(".")[0] for name in benches()}))
def test_every_bench_reports_under_its_own_name_what_is_there(bench: str) -> None:
    path = ROOT / "bench" / f"{bench}.py"
    path = path if path.exists() else ROOT / "bench" / bench / "__main__.py"
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    reports = [
        call
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id in ("Report", "Figures")
    ]
    assert reports, f"{bench} keeps no figures"
    if bench != "foreign":
        assert ast.literal_eval(reports[0].args[0]) == bench
    rooms = [
        n.value
        for n in ast.walk(ast.parse(path.read_text()))
        if isinstance(n, ast.Constant) and isinstance(n.value, str)
    ]
    named = {room for room in rooms if room.startswith("leaf/") and " " not in room}
    assert named
    assert all(any(ROOT.glob(room)) for room in named), named


@pytest.mark.parametrize("page", ["docs/bench.md", "CONTRIBUTING.md"])
def test_the_pages_say_after_how_many_commits_figures_are_old(page: str) -> None:
    assert f"more than {MOST_COMMITS} commits" in " ".join((ROOT / page).read_text().split())


@pytest.mark.parametrize(
    ("one", "other", "are"),
    [
        ("report", "reported", True),
        ("market", "marks", True),
        ("region", "revenue", False),
        ("a", "b", False),
    ],
)
def test_forms_of_a_word_are_told_by_how_they_begin(one: str, other: str, are: bool) -> None:
    assert search._are_forms(one, other) is are
