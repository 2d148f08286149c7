"""From nothing to an answer, as a stranger does it: a clean environment, a question, a kill in the
middle of an answer.

Each Python is tried with an old and a new SQLite, the kill with some pairs of them. What cannot be
had on this machine is skipped and said, never passed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.app_process import App
from tests.messages_server import MessagesServer, Turn
from tests.start_up.machines import ROOT, CannotBeHadError, Machine, machine

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
COMBINATIONS = [
    pytest.param(
        python, age, marks=pytest.mark.xdist_group(python)
    )  # one environment for each Python
    for python, age in [
        *((python, age) for python in PYTHONS for age in ("old", "new")),
        ("3.12", "oldest"),
    ]
]
KILLED = (("3.11", "old"), ("3.12", "oldest"), ("3.13", "new"), ("3.14", "new"))
"""Each Python, and each age of SQLite."""
SALES = "region,revenue\nNorth,100\nSouth,120\nNorth,200\n"
SLOW = Turn.say("\n\n".join(f"Paragraph {i}." for i in range(1, 41)), pieces=120, delay=0.1)
WHOLE = Turn.say("The whole answer.")


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("python", "age"), COMBINATIONS)
def test_leaf_starts_answers_and_outlives_a_kill(
    python: str, age: str, machines_folder: Path, tmp_path: Path, record_property: Any
) -> None:
    began = time.monotonic()
    try:
        chosen = machine(python, age, machines_folder)
    except CannotBeHadError as e:
        pytest.skip(str(e))
    made = time.monotonic()
    leaf = Leaf(chosen, tmp_path / "home")
    (tmp_path / "sales.csv").write_text(SALES)
    the_doctor_names_what_is_there(leaf, age)
    a_question_about_a_file_is_answered(leaf, tmp_path / "sales.csv")
    if (python, age) in KILLED:
        an_answer_outlives_a_kill(leaf, tmp_path / "sales.csv")
    took = f"{made - began:.0f} s to make, {time.monotonic() - made:.0f} s to try"
    record_property("what", f"SQLite {chosen.sqlite}, {took}")


class Leaf:
    """Commands and the app over one folder, in the environment that is tried."""

    def __init__(self, machine: Machine, home: Path) -> None:
        self.machine = machine
        self.home = home

    def run(self, *arguments: str, model: str = "") -> str:
        done = subprocess.run(
            [self.machine.python, "-m", "leaf", *arguments],
            cwd=ROOT,
            env=self._environ(model),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )
        assert done.returncode == 0, f"{arguments}: {done.stdout}\n{done.stderr}"
        return done.stdout

    def begin(self, *arguments: str, model: str = "") -> subprocess.Popen[str]:
        """A command that is read while it runs."""
        return subprocess.Popen(
            [self.machine.python, "-u", "-m", "leaf", *arguments],
            cwd=ROOT,
            env=self._environ(model),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def app(self, model: str) -> App:
        return App(self.home, model, python=str(self.machine.python), **self.machine.environ)

    def _environ(self, model: str) -> dict[str, str]:
        clean = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith(("LEAF_", "ANTHROPIC_", "STREAMLIT_"))
        }
        named = {"LEAF_MODEL_URL": model} if model else {}
        return {
            **clean,
            **self.machine.environ,
            **named,
            "LEAF_HOME": str(self.home),
            "PYTHONUTF8": "1",
        }


def the_doctor_names_what_is_there(leaf: Leaf, age: str) -> None:
    said = {check["name"]: check["text"] for check in json.loads(leaf.run("doctor", "--json"))}
    assert said["SQLite"].startswith(leaf.machine.sqlite)
    stands_in = {"new": "", "old": "Leaf adds the clock", "oldest": "pysqlite3"}[age]
    assert stands_in in said["SQLite"]
    assert (said["SQLite"] == leaf.machine.sqlite) == (age == "new")


def a_question_about_a_file_is_answered(leaf: Leaf, sales: Path) -> None:
    said = leaf.run("ask", "-f", str(sales), "Total revenue by region")
    assert "300" in said
    assert "120" in said


def an_answer_outlives_a_kill(leaf: Leaf, sales: Path) -> None:
    with MessagesServer([SLOW, WHOLE]) as server:
        app = leaf.app(server.url).start()
        try:
            page = urlopen(Request(app.url, headers={"Accept": "text/html"}), timeout=20)
            assert (page.status, "<script" in page.read().decode()) == (200, True)
            asked = datetime.now(UTC)
            asking = leaf.begin("ask", "--json", "-f", str(sales), "Tell me all", model=server.url)
            message_id = _read_until_it_speaks(asking)
            app.stop(signal.SIGKILL)
            asking.kill()
            asking.communicate()
            app.start()
            assert "The whole answer." in leaf.run("watch", message_id, model=server.url)
            run = json.loads(leaf.run("runs", "show", message_id, "--json", model=server.url))
            _check_times(run, asked)
        finally:
            app.stop()


def _read_until_it_speaks(asking: subprocess.Popen[str]) -> str:
    """The id of the answer, as soon as its first words are there."""
    assert asking.stdout is not None
    message_id, seen = "", []
    for line in asking.stdout:
        chunk = json.loads(line)
        seen.append(chunk)
        message_id = chunk.get("messageId") or message_id
        if chunk["type"] == "text-delta":
            return message_id
    raise AssertionError(f"the answer did not begin: {seen}")


def _check_times(run: dict[str, Any], asked: datetime) -> None:
    """What the run database says of when: begun after it was asked, ended by now."""
    begun, ended = (datetime.fromisoformat(run[name]) for name in ("begun_at", "ended_at"))
    assert asked <= begun <= ended <= datetime.now(UTC)
