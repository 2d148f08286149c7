"""One answer in the making: what is shown of it, what goes back to the model, and what it took."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from leaf.agent.blocks import assistant_message, text_block
from leaf.agent.budget import shown_pictures
from leaf.agent.endpoint import Attempts
from leaf.agent.events import apply, reduce
from leaf.agent.models.base import TokenUsage, TurnCutError
from leaf.agent.steps import ModelStep, StepRunner, ToolStep
from leaf.agent.task import AnswerTask
from leaf.agent.window import Context
from leaf.errors import ModelError
from leaf.readers.binary import shortened
from leaf.shapes.chunks import Chunk, chunk
from leaf.shapes.part_values import texts_of
from leaf.shapes.parts import Part
from leaf.shapes.raw import RawBlock, RawMessage
from leaf.shapes.results import Output

Emit = Callable[[Chunk], None]
STATUS = "status"
"""Id of the `data-status` chunk {"text"}: what a run waits for; empty when it waits no more. It is
shown, never kept."""


@dataclass
class Draft:
    """What the parts of the loop work on. Outside of steps it changes by the values of steps
    alone."""

    task: AnswerTask
    context: Context
    emit: Emit
    step: StepRunner
    stop: threading.Event
    parts: list[Part] = field(default_factory=list)
    raw: list[RawMessage] = field(default_factory=list)
    """Messages API messages, fit to be sent back."""
    outputs: dict[str, Output] = field(default_factory=dict)
    """What tools gave, by the id that the model gave the call."""
    usage: TokenUsage = field(default_factory=TokenUsage)
    money: float | None = 0.0
    seconds: float = 0.0
    """Time spent in steps, so that a run that was interrupted counts the same."""
    call_ids: set[str] = field(default_factory=set)
    read: dict[str, int] = field(default_factory=dict)
    """Tokens of file content that were taken in, by handle."""
    context_tokens: int = 0
    """What the last turn had in its context at its end, as the server counted it."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def shown_tokens(self) -> int:
        """Tokens of the pictures that came with the question."""
        return sum(tokens for _, tokens in shown_pictures(self.task.history))

    @property
    def file_tokens(self) -> int:
        """Tokens of file content that the answer has taken in."""
        return self.shown_tokens + sum(self.read.values())

    # What is shown

    def emit_now(self, c: Chunk) -> None:
        """Show, from any thread, without keeping: inside a step, whose value keeps it."""
        with self._lock:
            self.emit(c)

    def say(self, c: Chunk) -> None:
        """Show outside of a step, and keep."""
        apply(self.parts, c)
        self.emit_now(c)

    def append_sentence(self, sentence: str) -> None:
        """Say something in our own words at the end of the answer, to the user and in what the
        model will remember."""
        for c in (
            chunk("text-start", id="end"),
            chunk("text-delta", id="end", delta=sentence),
            chunk("text-end", id="end"),
        ):
            self.say(c)
        block = text_block(sentence)
        if self.raw and self.raw[-1]["role"] == "assistant":
            self.raw[-1] = assistant_message([*self.raw[-1]["content"], block])
        else:
            self.raw.append(assistant_message([block]))

    def wait_for_next(self, attempts: Attempts, error: ModelError) -> bool:
        """Wait before the next attempt to reach the model, saying so. False if there is to be
        none."""
        wait = attempts.next_wait(error)
        if wait is None:
            return False
        if not isinstance(error, TurnCutError):
            text = f"{error.message} Trying again in {wait:.0f} s (attempt {attempts.made + 1})."
            self.emit_now(chunk("data-status", id=STATUS, data={"text": text}))
        self.stop.wait(wait)
        self.emit_now(chunk("data-status", id=STATUS, data={"text": ""}))
        return not self.stop.is_set()

    # What goes back to the model

    def keep_without_calls(self, content: list[RawBlock]) -> None:
        """Keep a last turn without tool calls that will never have a result."""
        if blocks := [block for block in content if block["type"] != "tool_use"]:
            self.raw.append(assistant_message(blocks))

    def keep_shown_text(self, chunks: Sequence[Chunk]) -> None:
        """Let the model know later what the user saw of a turn that did not come to its end, without
        the bytes that it may have been writing out."""
        texts = [shortened(text) for text in texts_of(reduce(chunks)) if text.strip()]
        if texts:
            self.raw.append(assistant_message([text_block(text) for text in texts]))

    # What it took

    def take_turn(self, name: str, step: ModelStep) -> None:
        """Count what a turn's step took and take over what it showed."""
        used = step.turn.usage if step.turn else TokenUsage()
        self.context.took(step.compaction, used.input, len(self.raw))
        self.context_tokens = used.input + used.output
        for c in step.chunks:
            apply(self.parts, c)
        self.count(step.usage, step.money)
        self.seconds += step.seconds
        if step.usage != TokenUsage():
            self.task.spent(name, step.usage, step.money)

    def take_content(self, step: ToolStep) -> None:
        """Count the file content that a tool's step brought, and what it took of a model."""
        for handle, tokens in (step.content or {}).items():
            self.read[handle] = self.read.get(handle, 0) + tokens
        if step.usage is not None:
            self.count(step.usage, step.money)

    def count(self, usage: TokenUsage, money: float | None) -> None:
        """Add what a step took of a model."""
        self.usage += usage
        self.money = None if self.money is None or money is None else self.money + money
