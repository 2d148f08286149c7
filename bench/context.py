"""A chat of 300 questions with 5 MB of tool results, against a server that refuses what is longer
than its window and counts cache hits by exact prefix: whether it ever fails for length, what it
takes, and what is read from the cache.

Baselines, on the same server and messages: sending everything, which ends where the window does;
and a window that slides with each question, which never fails but changes its beginning each time,
so that system and tools alone are found in the cache.
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time
import zlib
from typing import Any

from bench._figures import Figure, Report
from leaf.agent.blocks import question_message
from leaf.agent.context import system_prompt
from leaf.agent.endpoint import Endpoint
from leaf.agent.finishers import FINISHERS
from leaf.agent.loop import Agent
from leaf.agent.models.base import ModelRequest, TokenUsage
from leaf.agent.models.claude import ClaudeModel, request_body
from leaf.agent.models.prices import cost
from leaf.agent.steps import InlineSteps
from leaf.agent.task import AnswerTask
from leaf.settings import RunLimits
from leaf.store.model import Message
from leaf.tools import registry
from leaf.tools.base import Coverage, Hooks, Source, ToolOutput
from tests.messages_server import MessagesServer, Turn

Json = dict[str, Any]
MODEL = "claude-sonnet-5-5"
QUESTIONS, RESULTS, WINDOW = 300, 5_000_000, 100_000
CACHED, FOLDS = 0.85, 75
"""Targets: the part of the input read from the cache, and the most compactions."""
WORDS = (
    "revenue",
    "region",
    "order",
    "customer",
    "delivery",
    "contract",
    "warranty",
    "budget",
    "supplier",
    "increase",
    "report",
    "plan",
)


def main() -> int:
    report = Report("context", ("leaf/agent", "leaf/provenance"))
    started = time.monotonic()
    with MessagesServer(brain, window=WINDOW) as server:
        history, compactions, failed = chat(server)
        used, money = sums([request.usage for request in server.requests])
        refused, requests = len(server.refused), len(server.requests)
    results = sum(
        len(b["content"])
        for m in history
        for r in m.raw
        for b in r["content"]
        if b["type"] == "tool_result"
    )
    share = used.cached / used.input
    seconds = time.monotonic() - started
    print(
        f"     {QUESTIONS} questions, {results / 1e6:.1f} MB of results, window {WINDOW:,} "
        f"tokens, {seconds:.0f} s"
    )
    print(
        f"     {requests} requests, {used.input:,} tokens in, ${money:.2f} at list price; refused "
        f"and sent again: {refused}"
    )
    ends = everything_ends_at(history)
    slid, slid_money = sliding(history)
    asked = (
        f"{QUESTIONS} questions with {results / 1e6:.1f} MB of tool results in a window of "
        f"{WINDOW:,} tokens"
    )
    slides = "a window that slides with each question"
    return report.end(
        [
            Figure(
                "",
                f"{asked}: failed for length",
                failed,
                0,
                False,
                "{:.0f}",
                {"without folding": QUESTIONS - ends + 1},
            ),
            Figure("", "the first question that is refused without folding", ends, shown="{:.0f}"),
            Figure(
                "",
                "input read from the cache",
                share,
                CACHED,
                True,
                "{:.1%}",
                {slides: slid.cached / slid.input},
            ),
            Figure("", "folds", compactions, FOLDS, False, "{:.0f}"),
            Figure("", "folds, to see that any came", compactions, 1, True, "{:.0f}"),
            Figure("", "price of the input", money, None, False, "${:.2f}", {slides: slid_money}),
        ]
    )


def brain(body: Json) -> Turn:
    """One call a question, then an answer of about 60 words."""
    asked = sum(m["role"] == "user" and m["content"][0]["type"] == "text" for m in body["messages"])
    if body["messages"][-1]["content"][0]["type"] == "text":
        return Turn.call(
            (
                "read_file",
                {"file": "f1", "where": f"lines {len(json.dumps(body['messages'][-1]))}"},
            ),
            thinking="I look.",
        )
    return Turn.say(f"Answer {asked}: " + prose(60, asked), thinking="That is it.")


def prose(words: int, seed: int) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=words))


def read(name: str, given: Json, stop: threading.Event, hooks: Hooks) -> ToolOutput:
    text = prose(RESULTS // QUESTIONS // 8 + 50, zlib.crc32(hooks.key.encode()))
    source = Source("f1", "id", "report.txt", str(given["where"]), "read")
    return ToolOutput(
        f"report.txt (f1) · {given['where']}\n\n{text}",
        "Read report.txt",
        (source,),
        (Coverage("id", "report.txt", "lines", 90, 900),),
    )


def chat(server: MessagesServer) -> tuple[list[Message], int, int]:
    """The whole chat; how often it was compacted, and how many answers failed."""
    endpoint = Endpoint(
        ClaudeModel("key", server.url), lambda model: "claude", window_for=lambda model: WINDOW
    )
    agent = Agent(endpoint, registry.all_tools(), registry.schemas(), FINISHERS)
    history: list[Message] = []
    compactions = failed = 0
    for number in range(QUESTIONS):
        raw = [question_message(f"Question {number}: {prose(12, number)}?")]
        history.append(Message(f"u{number}", "c", "", "user", "completed", [], raw))
        task = AnswerTask(f"a{number}", MODEL, list(history), read, RunLimits())
        outcome = agent.answer(task, lambda chunk: None, InlineSteps(), threading.Event())
        failed += outcome.status != "completed" or outcome.finish_reason == "length"
        compactions += sum(part["type"] == "data-folded" for part in outcome.parts)
        answer = Message(
            f"a{number}",
            "c",
            "",
            "assistant",
            outcome.status,
            outcome.parts,
            outcome.raw,
            MODEL,
            outcome.usage,
        )
        history.append(answer)
    return history, compactions, failed


def sums(usages: list[Json]) -> tuple[TokenUsage, float]:
    """Tokens and dollars of all requests, answers not counted."""
    whole, money = TokenUsage(), 0.0
    for u in usages:
        fresh, created, cached = (
            u["input_tokens"],
            u["cache_creation_input_tokens"],
            u["cache_read_input_tokens"],
        )
        one = TokenUsage(fresh + created + cached, cached, created, 0)
        whole += one
        money += cost(one, MODEL) or 0.0
    return whole, money


def everything_ends_at(history: list[Message]) -> int:
    """The first question that the window does not hold when nothing is compacted."""
    counter = MessagesServer()
    total = counter.length(request_body(request([])))
    for number, message in enumerate(history):
        total += counter.length({"messages": message.raw})
        if total > WINDOW:
            return number // 2 + 1
    return 0


def sliding(history: list[Message]) -> tuple[TokenUsage, float]:
    """The same chat with the newest messages that fit, for each question anew; thinking left out,
    as it has to be then."""
    counter = MessagesServer()
    plain = [[_unthought(raw) for raw in message.raw] for message in history]
    sizes = [counter.length({"messages": raws}) for raws in plain]
    usages = []
    for number in range(0, len(history), 2):
        room, first = int(WINDOW * 0.8) - 5_000, number
        while first >= 2 and room - sizes[first] > sizes[first - 1] + sizes[first - 2]:
            room -= sizes[first - 1] + sizes[first - 2]
            first -= 2
        before = [raw for raws in plain[first : number + 1] for raw in raws]
        usages.append(counter.count(request_body(request(before))))
        usages.append(counter.count(request_body(request([*before, *plain[number + 1][:2]]))))
    return sums(usages)


def request(messages: list[Json]) -> ModelRequest:
    return ModelRequest(MODEL, system_prompt(), registry.schemas(), messages)


def _unthought(raw: Json) -> Json:
    return {**raw, "content": [block for block in raw["content"] if block["type"] != "thinking"]}


if __name__ == "__main__":
    sys.exit(main())
