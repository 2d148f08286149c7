"""What the tests of the agent share: small tools, a task, and an answer with everything that was
emitted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from leaf.agent.blocks import question_message
from leaf.agent.endpoint import Endpoint
from leaf.agent.finishers import FINISHERS
from leaf.agent.loop import Agent
from leaf.agent.models.base import Model
from leaf.agent.steps import InlineSteps, StepRunner
from leaf.agent.task import AnswerTask, Outcome
from leaf.errors import NotFoundError, RunError
from leaf.settings import RunLimits, Settings
from leaf.store.model import Message
from leaf.tools.base import Coverage, Source, Tool, ToolOutput

Json = dict[str, Any]


class NoInput(BaseModel):
    """No parameters."""


class AddInput(BaseModel):
    numbers: list[int]


class ReadInput(BaseModel):
    file: str
    first: int = 1
    last: int = 10


def _never(*_: Any) -> ToolOutput:
    raise AssertionError("tools are run through the task's run_tool")


TOOLS = [
    Tool("add_numbers", "Adds numbers.", AddInput, _never),
    Tool("read_lines", "Reads lines of a file.", ReadInput, _never),
    Tool("fail", "Fails.", NoInput, _never),
    Tool("crash", "Crashes.", NoInput, _never),
    Tool("hang", "Waits until it is stopped.", NoInput, _never),
]
SCHEMAS = [
    {
        "name": t.name,
        "description": t.description,
        "input_schema": t.input_model.model_json_schema(),
    }
    for t in TOOLS
]


def run_tool(name: str, given: Json, stop: threading.Event) -> ToolOutput:
    if name == "add_numbers":
        return ToolOutput(f"sum={sum(given['numbers'])}", f"Added {len(given['numbers'])} numbers")
    if name == "read_lines":
        first, last = given.get("first", 1), given.get("last", 10)
        source = Source("f1", "id-1", given["file"], f"lines {first}-{last}", "read")
        cover = Coverage("id-1", given["file"], "lines", last - first + 1, 100, ((first, last),))
        return ToolOutput("text of the lines", "Read lines", (source,), (cover,))
    if name == "crash":
        raise ZeroDivisionError("a fault in the tool")
    if name == "hang":
        stop.wait(20)
        raise RunError("Stopped.")
    raise NotFoundError("No file 'x.csv'.", "There is 'a.csv'.")


@dataclass
class Answered:
    """An answer, and what was emitted on the way to it."""

    outcome: Outcome
    chunks: list[Json] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(part["text"] for part in self.outcome.parts if part["type"] == "text")

    def kinds(self, *kinds: str) -> list[Json]:
        return [c for c in self.chunks if c["type"] in kinds]


def question(text: str, message_id: str = "u1") -> Message:
    return Message(
        message_id,
        "chat",
        "",
        "user",
        "completed",
        [{"type": "text", "text": text}],
        [question_message(text)],
    )


def answered(outcome: Outcome, model: str, message_id: str = "a1") -> Message:
    return Message(
        message_id, "chat", "", "assistant", outcome.status, outcome.parts, outcome.raw, model=model
    )


def agent_for(model: Model, **options: Any) -> Agent:
    settings = Settings()
    fast: Json = {"profile_for": settings.profile_for, "retry_waits": (0.01, 0.02)}
    return Agent(Endpoint(model, **{**fast, **options}), TOOLS, SCHEMAS, FINISHERS)


def answer(
    agent: Agent,
    history: str | Sequence[Message],
    *,
    model: str = "claude-sonnet-5-5",
    limits: RunLimits | None = None,
    steps: StepRunner | None = None,
    stop: threading.Event | None = None,
    on_chunk: Callable[[Json], None] = lambda c: None,
    inline_tokens: int = 0,
    message_id: str = "a1",
    tool: Callable[[str, Json, threading.Event], ToolOutput] = run_tool,
    **task_options: Any,
) -> Answered:
    chunks: list[Json] = []

    def emit(c: Json) -> None:
        chunks.append(c)
        on_chunk(c)

    messages = [question(history)] if isinstance(history, str) else list(history)
    task = AnswerTask(
        message_id,
        model,
        messages,
        lambda name, given, stop, hooks: tool(name, given, stop),
        limits or RunLimits(),
        inline_tokens,
        **task_options,
    )
    return Answered(
        agent.answer(task, emit, steps or InlineSteps(), stop or threading.Event()), chunks
    )
