"""What it costs to take in answers: 80 at once from a model server on loopback, 25 words a second
each, a word an event.

    python -m bench.streams

Processor time of this process alone, by the kernel's count, for 1,000 words, while all of them
stream; the server is another process. Measured in one run: the SDK's own stream of events, Leaf's
reading of a turn, and whole answers of Leaf, from the question to what viewers read, with the
durable stream of the run database.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench._figures import Figure, Report
from bench._streams_server import WORDS_A_SECOND
from bench.page import model_server
from leaf import settings
from leaf.agent.models.base import ModelEvent, ModelRequest
from leaf.agent.models.claude import ClaudeModel
from leaf.runs.run import Run
from leaf.wiring import build

ANSWERS = 80
BEGUN, COUNTED = 10, 8.0
"""Words of each answer before the count begins; its seconds."""
MOST = 1.5
"""Target: what whole answers cost, against the SDK's bare stream of events in the same run."""
QUESTION = {"role": "user", "content": [{"type": "text", "text": "Stream"}]}


@dataclass
class Words:
    """How many words of an answer came so far."""

    count: int = 0


def main() -> int:
    """Print the table; 1 if the target is missed."""
    report = Report("streams", ("leaf/agent", "leaf/provenance", "leaf/runs"))
    with model_server("bench._streams_server") as url:
        sdk = _cost(lambda words: _of_sdk(url, words))
        print(
            f"{'the SDK, its own events':<45} {sdk:6.0f} ms of a core for 1,000 words", flush=True
        )
        turns = _cost(lambda words: _of_turns(url, words))
        print(f"{'a turn of Leaf, read and told':<45} {turns:6.0f} ms", flush=True)
        with tempfile.TemporaryDirectory() as home:
            whole = _of_answers(url, Path(home))
    name = (
        f"{ANSWERS} answers at once, {WORDS_A_SECOND} words a second each: processor for "
        f"1,000 words"
    )
    beside = {"the SDK's bare events": sdk}
    return report.end(
        [
            Figure(name, "whole answers", whole, MOST * sdk, False, "{:.0f} ms", beside),
            Figure(name, "a turn, read and told", turns, None, False, "{:.0f} ms", beside),
        ]
    )


def _cost(begin: Callable[[Words], None]) -> float:
    """Milliseconds of a core for 1,000 words, from so many threads that each read one answer."""
    words = [Words() for _ in range(ANSWERS)]
    threads = [threading.Thread(target=begin, args=(one,), daemon=True) for one in words]
    for thread in threads:
        thread.start()
    cost = _counted(words)
    for thread in threads:
        thread.join()
    return cost


def _counted(words: Sequence[Words]) -> float:
    """From when each of the answers has begun."""
    while min(one.count for one in words) < BEGUN:
        time.sleep(0.1)
    began, before = time.process_time(), sum(one.count for one in words)
    time.sleep(COUNTED)
    cost, came = time.process_time() - began, sum(one.count for one in words) - before
    return cost / came * 1_000_000


def _of_sdk(url: str, words: Words) -> None:
    import anthropic

    client = anthropic.Anthropic(api_key="no-key", base_url=url, max_retries=0)
    said = client.messages.create(
        model="steady", max_tokens=9, messages=[{"role": "user", "content": "Stream"}], stream=True
    )
    for event in said:
        words.count += event.type == "content_block_delta"


def _of_turns(url: str, words: Words) -> None:
    def told(event: ModelEvent) -> None:
        words.count += event.phase == "delta"

    model = ClaudeModel(api_key="no-key", base_url=url, retries=0)
    model.turn(
        ModelRequest("steady", "", (), [QUESTION], max_tokens=9, profile="basic"),
        told,
        threading.Event(),
    )


def _of_answers(url: str, home: Path) -> float:
    """The same of 80 questions, each in a chat of its own, and each answer read by somebody."""
    given = settings.load(
        {
            "LEAF_HOME": str(home),
            "LEAF_MODEL_URL": url,
            "LEAF_MODEL": "steady",
            "LEAF_MODEL_PROFILE": "basic",
            "LEAF_TITLES": "off",
        }
    )
    leaf = build(replace(given, runs=ANSWERS, runs_per_user=ANSWERS))
    leaf.launch()
    session = leaf.session(leaf.local_scope())
    answers = [
        session.messages.send(session.chats.create().id, "Stream").id for _ in range(ANSWERS)
    ]
    cost = _cost_of_reading([run for answer in answers if (run := session.messages.watch(answer))])
    leaf.close()
    return cost


def _cost_of_reading(runs: Sequence[Run]) -> float:
    left = list(runs)
    return _cost(lambda words: _read(left.pop(), words))


def _read(run: Run, words: Words) -> None:
    """A viewer who looks four times a second."""
    position, done = 0, False
    while not done:
        piece = run.read(position, 1.0)
        position, done = piece.position, piece.done
        words.count += sum(c["type"] == "text-delta" for c in piece.chunks)
        time.sleep(0.25)


if __name__ == "__main__":
    sys.exit(main())
