"""Kill Leaf while it answers, again and again, and see that every answer arrives, exact and once.

    python -m bench.faults --runs 100

A process (`bench._faulty`) is asked many questions; each takes five model turns and six tool calls,
some side by side. It is killed (SIGKILL) at random instants, started again, and killed again. The
model is a server in this process, so that it sees how often each turn was asked for. Other
scenarios follow: killed between the commit to the history and the last checkpoint, killed during
recovery, a disk that is full for a while, a clock that jumps. Exit code 1 if anything is lost,
wrong or done twice.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench._faulty import questions
from bench._figures import Figure, changed
from bench._figures import Report as Figures
from leaf.runs.engine import Engine
from leaf.settings import Settings
from leaf.shapes.part_values import texts_of
from leaf.store import messages, open_store, users
from tests.messages_server import MessagesServer, Turn

Json = dict[str, Any]
TOOL_TURNS = 4
LIFE_SECONDS = 120.0


class Model:
    """The brain of the server: what it says depends on the question and the turn alone. Counts how
    often each was asked for."""

    def __init__(self, delay: float) -> None:
        self.delay = delay
        self.asked: Counter[tuple[str, int]] = Counter()

    def __call__(self, body: Json) -> Turn:
        name = body["messages"][0]["content"][0]["text"]
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        self.asked[name, turn] += 1
        if turn == TOOL_TURNS:
            return Turn.say(closing_text(name), delay=self.delay)
        notes = [
            ("note" if i else "slow_note", {"text": f"{name}/{turn}/{i}"})
            for i in range(1 + turn % 2)
        ]
        return Turn.call(*notes, text=turn_text(name, turn), delay=self.delay)


def turn_text(name: str, turn: int) -> str:
    return f"Turn {turn} of {name}: I write it down, word by word."


def closing_text(name: str) -> str:
    return f"All that belongs to {name} is noted, and this is the end of the answer."


def expected_text(name: str) -> str:
    return "\n".join([*(turn_text(name, turn) for turn in range(TOOL_TURNS)), closing_text(name)])


def expected_effects() -> int:
    return sum(1 + turn % 2 for turn in range(TOOL_TURNS))


@dataclass
class Report:
    """What was found in the end."""

    scenario: str
    runs: int
    kills: int = 0
    answered: int = 0
    wrong_text: int = 0
    lost: int = 0
    effects_twice: int = 0
    effects_missing: int = 0
    calls_twice: int = 0
    """Model turns that were asked for again."""
    calls_beyond: int = 0
    """Of these: more than one for each time the run was begun again."""
    tools_again: int = 0
    """Tool calls that were run again; their effect was made once."""
    begun: Counter[int] = field(default_factory=Counter)
    """How often a run was begun -> runs."""
    views: int = 0
    views_wrong: int = 0
    seconds: float = 0.0

    @property
    def good(self) -> bool:
        return self.answered == self.runs and not (
            self.wrong_text
            or self.lost
            or self.effects_twice
            or self.effects_missing
            or self.calls_beyond
            or self.views_wrong
        )


class Trial:
    """One data folder, one model, and the lives of the process over it."""

    def __init__(
        self, scenario: str, home: Path, runs: int, seed: int, delay: float = 0.02
    ) -> None:
        self.report = Report(scenario, runs)
        self.home = home
        self.runs = runs
        self.random = random.Random(seed)
        self.model = Model(delay)
        self.server = MessagesServer(self.model)
        self.accepted: set[str] = set()

    def live(self, *options: str, kill_after: float | None = None, since: str = "READY") -> bool:
        """Start the process and let it live to its end, or so many seconds since its START, since
        it was READY, or since its first call of the MODEL. Says whether it came to its end.
        """
        asked = self.model.asked.total()
        command = [
            sys.executable,
            "-m",
            "bench._faulty",
            str(self.home),
            self.server.url,
            "--runs",
            str(self.runs),
            *options,
        ]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            if kill_after is None:
                process.wait(LIFE_SECONDS)
            else:
                if since != "START":
                    self.read(process.stdout, until="READY")
                while (
                    since == "MODEL"
                    and self.model.asked.total() == asked
                    and process.poll() is None
                ):
                    time.sleep(0.005)
                time.sleep(kill_after)
        finally:
            process.kill()
            process.wait()
        said = self.read(process.stdout)
        process.stdout.close()
        ended = "DONE" in said
        self.report.kills += not ended
        return ended

    def read(self, stream: Any, until: str = "") -> list[str]:
        said = []
        for line in stream:
            said.append(line.strip())
            if line.startswith("ASKED "):
                self.accepted.add(line.split()[1])
            if said[-1] == until:
                break
        return said

    def finish(self, began: float) -> Report:
        report = self.report
        report.seconds = time.monotonic() - began
        store = open_store(Settings(home=self.home))
        engine = Engine(self.home)
        engine.launch(lambda message_id: None)
        try:
            self.check(store, engine)
        finally:
            engine.close()
            store.close()
        return report

    def check(self, store: Any, engine: Engine) -> None:
        report = self.report
        scope = users.ensure_local_user(store.db)
        answers = {
            name: messages.get(store.db, scope, message_id)
            for name, message_id in questions(store, scope).items()
        }
        records = engine.records([answer.id for answer in answers.values()])
        report.lost = len(self.accepted - set(answers))
        for name, answer in answers.items():
            text = "\n".join(texts_of(answer.parts))
            report.answered += answer.status == "completed"
            report.wrong_text += text != expected_text(name)
            attempts = records[answer.id].attempts if answer.id in records else 1
            report.begun[attempts] += 1
            twice = sum(self.model.asked[name, turn] - 1 for turn in range(TOOL_TURNS + 1))
            report.calls_twice += twice
            report.calls_beyond += max(0, twice - max(attempts - 1, self.kills_allowed()))
        tried, done = lines(self.home / "tried.txt"), lines(self.home / "done.txt")
        report.tools_again = len(tried) - len(set(tried))
        report.effects_twice = len(done) - len(set(done))
        report.effects_missing = len(answers) * expected_effects() - len(set(done))
        views = [line.split() for line in lines(self.home / "views.txt")]
        report.views = len(views)
        report.views_wrong = sum(view[1:] != ["True", "True"] for view in views)

    def kills_allowed(self) -> int:
        """Attempts are counted anew when a run is begun again after a full disk, which is no
        kill."""
        return 1 if self.report.scenario == "full disk" else 0


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def random_kills(home: Path, runs: int, seed: int, kills: int) -> Report:
    """Killed at random instants of its life, several times for each run."""
    trial, began = Trial("random kills", home, runs, seed), time.monotonic()
    with trial.server:
        for _ in range(kills):
            since = trial.random.choice(("READY", "MODEL", "MODEL"))
            if trial.live("--views", kill_after=trial.random.uniform(0.0, 1.5), since=since):
                break
        if not trial.live("--views"):
            trial.live("--views")
    return trial.finish(began)


def killed_after_save(home: Path, runs: int, seed: int) -> Report:
    """Killed after an answer stands in the history and before the run database knows."""
    trial, began = (
        Trial("killed between save and checkpoint", home, runs, seed, delay=0.0),
        time.monotonic(),
    )
    with trial.server:
        for _ in range(runs // 2):
            trial.live("--die-after-save")
        trial.live()
    return trial.finish(began)


def killed_in_recovery(home: Path, runs: int, seed: int) -> Report:
    """Killed while it starts, at instants between the first import and the first resumed step."""
    trial, began = Trial("killed during recovery", home, runs, seed), time.monotonic()
    with trial.server:
        trial.live(kill_after=0.4, since="MODEL")
        for i in range(8):
            trial.live(kill_after=0.3 + 0.2 * i, since="START")
        trial.live("--views")
    return trial.finish(began)


def full_disk(home: Path, runs: int, seed: int) -> Report:
    """No file can grow for three seconds, in the middle of it all."""
    trial, began = Trial("full disk", home, runs, seed), time.monotonic()
    with trial.server:
        if not trial.live("--full-disk", "3"):
            trial.live()
    return trial.finish(began)


def jumping_clock(home: Path, runs: int, seed: int) -> Report:
    """The clock leaps a day forward and back three times a second; killed once."""
    trial, began = Trial("jumping clock", home, runs, seed), time.monotonic()
    with trial.server:
        trial.live("--jump-clock", kill_after=0.5, since="MODEL")
        trial.live("--jump-clock", "--views")
    return trial.finish(began)


def print_table(reports: Sequence[Report]) -> None:
    columns = (
        *(
            "scenario",
            "runs",
            "kills",
            "answered",
            "wrong_text",
            "lost",
            "effects_twice",
            "effects_missing",
        ),
        *("calls_twice", "calls_beyond", "tools_again", "views", "views_wrong"),
    )
    print(
        "| "
        + " | ".join(columns)
        + " | begun (times: runs) | seconds |\n|"
        + "---|" * (len(columns) + 2)
    )
    for report in reports:
        begun = ", ".join(f"{times}: {count}" for times, count in sorted(report.begun.items()))
        print(
            "| "
            + " | ".join(str(getattr(report, c)) for c in columns)
            + f" | {begun} | {report.seconds:.1f} |"
        )


def of_scenario(report: Report) -> list[Figure]:
    """What must be all, and what must be none; the table has the parts."""
    name = f"{report.scenario}, {report.runs} answers and {report.kills} kills"
    wrong = (
        report.lost
        + report.wrong_text
        + report.effects_twice
        + report.effects_missing
        + report.views_wrong
    )
    return [
        Figure(name, "answers that arrived", report.answered, report.runs, shown="{:.0f}"),
        Figure(
            name,
            "texts, effects and views that are lost, wrong or there twice",
            wrong,
            0,
            False,
            "{:.0f}",
        ),
        Figure(
            name,
            "model turns asked for again, beyond one for each kill",
            report.calls_beyond,
            0,
            False,
            "{:.0f}",
        ),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Kill Leaf while it answers, and count what is lost."
    )
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    figures = Figures("faults", ("leaf/runs", "leaf/store"), changed(parser, given))
    few = max(2, given.runs // 10)
    reports = []
    with tempfile.TemporaryDirectory(prefix="leaf-faults-") as folder:
        home = Path(folder)
        reports.append(random_kills(home / "random", given.runs, given.seed, given.kills))
        for i, scenario in enumerate(
            (killed_after_save, killed_in_recovery, full_disk, jumping_clock)
        ):
            reports.append(scenario(home / str(i), few, given.seed))
    print_table(reports)
    return figures.end([figure for report in reports for figure in of_scenario(report)])


if __name__ == "__main__":
    sys.exit(main())
