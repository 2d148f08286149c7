"""What durable runs cost, and how soon they are back.

    python -m bench.runs

Prints each measurement beside its target; exit code 1 if one is missed.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from bench._faulty import ask, make_runs
from bench._figures import Figure, Report
from bench.faults import Model
from leaf.agent.models.base import Emit, ModelEvent, ModelRequest, ModelTurn
from leaf.agent.steps import CitationStep, InlineSteps, StepRunner
from leaf.runs.engine import Engine
from leaf.runs.run import Run
from leaf.runs.steps import DurableSteps, Stream
from leaf.shapes.chunks import chunk
from leaf.store import messages, users
from leaf.store.ids import new_id
from leaf.store.model import Scope
from tests.messages_server import MessagesServer

STEPS = 200
RUNS, VIEWERS, TOKENS_A_SECOND, SECONDS = 20, 40, 50, 6


class TokenModel:
    """Says the time, fifty times a second: whoever reads it knows how long it took to get there."""

    def turn(self, request: ModelRequest, emit: Emit, stop: threading.Event) -> ModelTurn:
        said = []
        emit(ModelEvent("text", "start", 0))
        for _ in range(TOKENS_A_SECOND * SECONDS):
            time.sleep(1 / TOKENS_A_SECOND)
            said.append(f"{time.monotonic()} ")
            emit(ModelEvent("text", "delta", 0, said[-1]))
        emit(ModelEvent("text", "end", 0))
        return ModelTurn([{"type": "text", "text": "".join(said)}], "end_turn")


def seconds_to_resume(home: Path) -> list[Figure]:
    """From the start of a process to the run that a killed one had begun, and to its next call of
    the model, which has the SDK imported first. The best of three, since this is about Leaf and not
    about what else the machine does.
    """
    model = Model(0.1)
    resumed, called = [], []
    with MessagesServer(model) as server:
        for _ in range(4):
            asked, began = model.asked.total(), time.monotonic()
            command = [sys.executable, "-m", "bench._faulty", str(home), server.url, "--runs", "1"]
            process = subprocess.Popen(
                command,
                env={**os.environ, "LEAF_BENCH_LOG": "1"},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            assert process.stderr is not None
            for line in process.stderr:
                if "run-begins" in line:
                    break
            resumed.append(time.monotonic() - began)
            while model.asked.total() == asked and time.monotonic() < began + 30:
                time.sleep(0.005)
            called.append(time.monotonic() - began)
            time.sleep(0.2)
            process.kill()
            process.wait()
            process.stderr.close()
    return [
        Figure("", "process start to resumed step", min(resumed[1:]), 2, False, "{:.2f} s"),
        Figure("", "process start to its call of the model", min(called[1:]), shown="{:.2f} s"),
    ]


def step_overhead(home: Path) -> float:
    """Milliseconds that a durable step takes beyond an inline one, at the median."""
    home.mkdir()
    spent: dict[str, list[float]] = {"durable": [], "inline": []}
    value = CitationStep((chunk("text-delta", id="t", delta="word " * 200),), 0.1)
    ended = threading.Event()

    def time_steps(kind: str, steps: StepRunner) -> None:
        for number in range(STEPS):
            began = time.perf_counter()
            steps(f"citations-{number}", CitationStep, lambda: value)
            spent[kind].append((time.perf_counter() - began) * 1000)

    def answer(message_id: str) -> None:
        run, stream = Run(message_id), Stream()
        time_steps(
            "durable", DurableSteps(run, stream, attempt=1, earlier={}, leaving=lambda: False)
        )
        time_steps("inline", InlineSteps())
        ended.set()

    engine = Engine(home)
    engine.launch(answer)
    engine.begin(new_id())
    ended.wait(120)
    engine.close()
    return statistics.median(spent["durable"]) - statistics.median(spent["inline"])


def count_writes(home: Path) -> int:
    """Transactions of the history for one question with its answer of many tokens."""
    runs, store = make_runs(home, TokenModel())
    scope = users.ensure_local_user(store.db)
    runs.launch()
    count, inner = [0], store.db.transaction

    def counted(scope: Scope | None = None) -> AbstractContextManager[Any]:
        count[0] += 1
        return inner(scope)

    store.db.transaction = counted  # type: ignore[method-assign]  # a count, in a measurement
    message = ask(runs, store, scope, "How many?")
    while messages.get(store.db, scope, message.id).status in ("pending", "streaming"):
        time.sleep(0.05)
    runs.close()
    store.close()
    return count[0] - 1  # the chat itself


def watch_many(home: Path) -> list[Figure]:
    """Twenty runs at fifty tokens a second, two viewers each, and a few that read the streams as
    other processes do."""
    runs, store = make_runs(home, TokenModel())
    scope = users.ensure_local_user(store.db)
    runs.launch()
    late: dict[str, list[float]] = {"memory": [], "stream": []}

    def note(kind: str, chunks: Any) -> None:
        now = time.monotonic()
        for c in chunks:
            # the space at the end comes by itself: it might have stood before a citation's mark
            if c["type"] == "text-delta" and (said := c["delta"].split()):
                late[kind].append(now - float(said[-1]))

    def view(run: Run) -> None:
        position, done = 0, False
        while not done:
            piece = run.read(position, 0.5)
            note("memory", piece.chunks)
            position, done = piece.position, piece.done
            time.sleep(0.1)

    def view_stream(message_id: str) -> None:
        while (
            messages.get(store.db, scope, message_id).status == "pending"
            or runs._engine.record(message_id) is None
        ):
            time.sleep(0.05)
        for chunks in runs._engine.read_stream(message_id):
            note("stream", chunks)

    asked = [ask(runs, store, scope, f"Question {i}") for i in range(RUNS)]
    watched = [run for message in asked if (run := runs.watch(message.id))]
    viewers = [threading.Thread(target=view, args=(watched[i % RUNS],)) for i in range(VIEWERS)]
    viewers += [threading.Thread(target=view_stream, args=(message.id,)) for message in asked[:4]]
    began, cpu = time.monotonic(), time.process_time()
    for viewer in viewers:
        viewer.start()
    for viewer in viewers:
        viewer.join()
    share = (time.process_time() - cpu) / (time.monotonic() - began)
    runs.close()
    store.close()
    return [
        Figure(
            "",
            f"chunk to viewer, p95 of {VIEWERS} viewers of {RUNS} runs",
            _p95(late["memory"]) * 1000,
            300,
            False,
            "{:.0f} ms",
        ),
        Figure(
            "",
            "chunk to viewer in another process (stream), p95",
            _p95(late["stream"]) * 1000,
            shown="{:.0f} ms",
        ),
        Figure("", f"CPU of {RUNS} runs and all viewers, of one core", share, shown="{:.0%}"),
        Figure("", "CPU of one core by viewer", share / len(viewers), shown="{:.1%}"),
    ]


def _p95(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


def main() -> int:
    report = Report("runs", ("leaf/runs", "leaf/store"))
    with tempfile.TemporaryDirectory(prefix="leaf-runs-") as folder:
        home = Path(folder)
        figures = [
            *seconds_to_resume(home / "resume"),
            Figure(
                "",
                "durable step beyond an inline one, median",
                step_overhead(home / "steps"),
                10,
                False,
                "{:.1f} ms",
            ),
            Figure(
                "",
                "history writes of one message",
                count_writes(home / "writes"),
                4,
                False,
                "{:.0f}",
            ),
            *watch_many(home / "viewers"),
        ]
    return report.end(figures)


if __name__ == "__main__":
    sys.exit(main())
