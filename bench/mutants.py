"""Mutation testing: small wrong changes of the code, one at a time, and whether the tests that run
that code notice.

A sample of mutants (`_mutants/mutate.py`) of each part is drawn with a seed. The tests of a part
run once as they are, which says which of them run which lines and how long they take; then, for each
mutant, those that run its lines, the shortest first, until one fails (`_mutants/trials.py`). A
mutant lives if all of them pass; what makes them hang counts as noticed. Two parts are tried at a
time.

    nice -n 10 python -m bench.mutants                      # a sample of every part
    nice -n 10 python -m bench.mutants loop totals -n 60    # two parts, sixty mutants each
    python -m bench.mutants --again FILE                    # those that lived in an earlier output

Works in a copy of the tree; browsers and corpora of third parties are left out, and PostgreSQL but
for the runs and the store, much of which is there for it alone. Needs Linux (`fork`).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pickle
import random
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from bench._figures import Figure, Report, changed
from bench._mutants.mutate import Mutant, mutants, sound
from bench._mutants.trials import Outcome, Trials

ROOT = Path(__file__).parents[1]
LIVING = 0.15
"""Target: at most this part of the mutants lives."""
SEED = 20261130
SAMPLE = 45
"""Mutants of each part."""
TOGETHER = 2
"""Parts that are tried at a time, each in a process of its own."""
OUTCOMES = "outcomes"
"""In a part's copy of the tree."""
LEFT_OUT = "not browser and not corpora"


@dataclass(frozen=True)
class Part:
    """Files that are changed, and the tests that should notice."""

    files: tuple[str, ...]
    tests: tuple[str, ...]
    postgres: bool = False
    """Whether the tests that need PostgreSQL are among them; one server serves all mutants."""


STORE = (
    "messages",
    "chats",
    "files",
    "chat_files",
    "members",
    "budgets",
    "jobs",
    "changes",
    "migrate",
    "participants",
)
PARTS = {
    "loop": Part(
        tuple(
            f"leaf/agent/{name}.py"
            for name in ("loop", "turns", "calls", "draft", "steps", "finishers", "budget")
        ),
        (
            "test_agent_loop",
            "test_agent_hooks",
            "test_events",
            "test_citations",
            "test_file_budget",
            "test_agent_compaction",
            "test_shapes",
            "test_one_run",
            "test_run_tasks",
            "test_agent_claude",
            "test_agent_keyless",
            "test_errors",
            "test_titles",
        ),
    ),
    "runs": Part(
        ("leaf/runs/*.py",),
        (
            "test_runs",
            "test_runs_board",
            "test_one_run",
            "test_run_tasks",
            "test_run_records",
            "test_taking_over",
            "test_going_on",
            "test_idle",
            "test_runs_sqlite",
            "test_errors",
            "test_batches",
            "test_followed",
            "test_full_disks",
            "test_processes",
            "test_titles",
            "test_edited_steps",
            "test_citations",
            "test_asking",
            "test_jobs_elsewhere",
            "test_live",
            "test_model_connections",
            "test_operations",
            "test_private",
            "test_refused",
            "test_removal",
            "test_remote",
            "test_replay",
            "test_ui_items",
            "test_ui_words",
        ),
        postgres=True,
    ),
    "store": Part(
        tuple(f"leaf/store/{name}.py" for name in STORE),
        (
            "test_store",
            "test_changes",
            "test_members",
            "test_budgets",
            "test_jobs",
            "test_file_words",
            "test_audit",
            "test_history",
            "test_asking",
            "test_boards",
            "test_chat_search",
            "test_old_data",
            "test_private",
            "test_removal",
        ),
        postgres=True,
    ),
    "totals": Part(
        ("leaf/readers/tabular/total*.py", "leaf/readers/tabular/formulas.py"),
        (
            "test_integrity",
            "test_totals",
            "test_formulas",
            "test_readers_tables",
            "test_readers_tables_sheets",
            "test_readers_tables_records",
            "test_doubtful_totals",
            "test_total_rows",
            "test_total_words",
            "test_totals_doubted",
            "test_totals_evidence",
            "test_totals_found",
            "test_totals_long",
            "test_totals_weighed",
        ),
    ),
    "receipts": Part(
        ("leaf/provenance/receipts/*.py", "leaf/provenance/basis.py"),
        (
            "test_receipts",
            "test_receipts_parts",
            "test_receipts_figures",
            "test_receipts_evidence",
            "test_receipts_derived",
            "test_receipts_directions",
            "test_receipts_grids",
            "test_receipts_meant",
            "test_receipts_pieces",
            "test_basis",
            "test_coverage",
            "test_partly",
            "test_agent_keyless",
            "test_containers",
            "test_old_data",
            "test_recompute",
            "test_replay",
            "test_tool_declarations",
            "test_ui_evidence",
        ),
    ),
}


def copied(folder: Path) -> None:
    """The working tree, as far as git knows of it."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
    ).stdout.decode()
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def drawn(folder: Path, part: Part, number: int, seed: int) -> list[Mutant]:
    """The sample, in the order of files and lines."""
    sources = {
        path: path.read_bytes() for pattern in part.files for path in sorted(folder.glob(pattern))
    }
    every = [
        (m, sources[path])
        for path in sources
        for m in mutants(str(path.relative_to(folder)), sources[path].decode())
    ]
    random.Random(seed).shuffle(every)
    sample = islice((mutant for mutant, source in every if sound(mutant, source)), number)
    return sorted(sample, key=lambda m: (m.path, m.span, m.kind))


def _in_copy(folder: Path, part: Part, sample: Sequence[Mutant]) -> int:
    """What the tests of a part make of the sample; the exit status of the process."""
    import pytest

    os.chdir(folder)
    sys.path[:] = [
        str(folder),
        *(entry for entry in sys.path if Path(entry or ".").resolve() not in (ROOT, folder)),
    ]
    from tests.forked_programs import ANEW  # of the copy

    os.environ[ANEW] = "1"
    options = [
        "-q",
        "-s",
        "-p",
        "no:cacheprovider",
        "--basetemp",
        str(folder / "t"),
        "-m",
        LEFT_OUT if part.postgres else f"{LEFT_OUT} and not postgres",
        "-W",
        "ignore",
        *(f"tests/{test}.py" for test in part.tests),
    ]
    with _server(part) as tidy:
        trials = Trials(folder, sample, lambda said: print(said, flush=True), tidy)
        ended = pytest.main(options, plugins=[trials])
    (folder / OUTCOMES).write_bytes(pickle.dumps(trials.outcomes))
    return 0 if ended in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) else 1


@contextlib.contextmanager
def _server(part: Part) -> Iterator[Callable[[], None]]:
    """A PostgreSQL server for the tests of a part that need one. Gives what empties it."""
    from tests import postgres  # of the copy

    if not part.postgres or postgres.programs() is None:
        yield lambda: None
        return
    with postgres.server() as address:
        os.environ[postgres.SHARED] = address
        yield partial(postgres.drop_fresh, address)


def measure(
    names: Sequence[str], number: int, seed: int, again: Collection[str] | None
) -> list[Outcome]:
    """Draw and try; says each mutant that lives as soon as it is known. Each part has a process,
    whose modules are those of its copy of the tree."""
    every: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="leaf-mutants-", ignore_cleanup_errors=True) as home:
        for name in names:  # before any begins, so that all are of one state
            (Path(home) / name).mkdir()
            copied(Path(home) / name)
        waiting, running = list(names), dict[int, str]()
        while waiting or running:
            if waiting and len(running) < TOGETHER:
                name = waiting.pop(0)
                folder = Path(home).resolve() / name
                sample = drawn(folder, PARTS[name], number, seed)
                sample = [m for m in sample if again is None or str(m) in again]
                pid = os.fork()
                if pid == 0:
                    status = 1
                    try:
                        status = _in_copy(folder, PARTS[name], sample)
                    except BaseException:  # noqa: BLE001 - it is said, and the process ends
                        traceback.print_exc()
                    finally:
                        os._exit(status)
                running[pid] = name
                continue
            pid, status = os.wait()
            name = running.pop(pid)
            into = Path(home).resolve() / name / OUTCOMES
            if status or not into.is_file():
                raise SystemExit(f"The tests of {name} could not be run: see above.")
            found: list[Outcome] = pickle.loads(into.read_bytes())
            print(f"{name}: {line(found)}", flush=True)
            every += found
    return every


def line(outcomes: Sequence[Outcome]) -> str:
    """How many of the mutants live."""
    ends = [outcome.end for outcome in outcomes if outcome.end != "unfit"]
    living = ends.count("lives") + ends.count("untested")
    return (
        f"{living} of {len(ends)} live ({living / max(1, len(ends)):.0%}; "
        f"{ends.count('untested')} of them untested), "
        f"{ends.count('noticed')} noticed, {ends.count('hangs')} hang"
    )


def main() -> int:
    """1 where more live than may."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "parts", nargs="*", default=[], metavar="PART", help=f"{', '.join(PARTS)} (all)"
    )
    parser.add_argument("-n", type=int, default=SAMPLE, help="mutants of each part")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument(
        "--again", type=Path, metavar="FILE", help="an earlier output: try those alone that lived"
    )
    given = parser.parse_args()
    rooms = {name.rpartition("/")[0] for part in PARTS.values() for name in part.files}
    report = Report("mutants", rooms, changed(parser, given))
    lines = given.again.read_text().splitlines() if given.again else []
    lived = {
        text.partition(": ")[2] for text in lines if text.startswith(("  lives: ", "  untested: "))
    }
    outcomes = measure(
        given.parts or list(PARTS), given.n, given.seed, lived if given.again else None
    )
    print(f"\nall: {line(outcomes)}")
    share = sum(outcome.lives for outcome in outcomes) / max(1, len(outcomes))
    what = f"{len(outcomes)} small wrong changes of the code that no test notices"
    return report.end([Figure("", what, share, LIVING, False, "{:.1%}")])


if __name__ == "__main__":
    raise SystemExit(main())
