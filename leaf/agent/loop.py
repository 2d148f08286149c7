"""The agent loop: ask the model, run the tools that it calls, give it the results, until it answers
or a limit is reached.

Each model turn and each tool call is a step (`steps`): a function whose value a durable executor
keeps, so that after a crash finished steps are not run again. Chunks are emitted inside the steps;
whatever a step emits twice, the reducer takes once.

Which steps come, and in which order, may depend on nothing but the task and the values of earlier
steps: not on the clock, not on `stop`, not on what the code of today would decide about a call of
yesterday. That is why a value says whether it was stopped and what is wrong with each call. Whoever
changes the order of the steps reads docs/runs.md first.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from leaf.agent.amounts import Sizes
from leaf.agent.blocks import assistant_message
from leaf.agent.calls import Calls
from leaf.agent.compaction_plan import WindowLimits
from leaf.agent.draft import Draft, Emit
from leaf.agent.endpoint import Endpoint
from leaf.agent.ends import STOPPED, budget_text, closing, limit_reached, limit_text
from leaf.agent.finishers import Ending, Finisher
from leaf.agent.models.base import ENDED_WHOLE
from leaf.agent.steps import ModelStep, StepRunner
from leaf.agent.task import AnswerTask, Outcome
from leaf.agent.turns import Turns
from leaf.agent.window import Context
from leaf.shapes.chunks import LastChunk, chunk
from leaf.shapes.raw import ToolSchema
from leaf.store.model import Message, Status

if TYPE_CHECKING:
    from leaf.tools.base import Tool


class Agent:
    """Answers questions with a model and tools. Holds nothing between answers but how long texts
    are."""

    def __init__(
        self,
        endpoint: Endpoint,
        tools: Sequence[Tool],
        schemas: Sequence[ToolSchema],
        finishers: Sequence[Finisher],
        sizes: Sizes | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._tools: Mapping[str, Tool] = {tool.name: tool for tool in tools}
        self._schemas = list(schemas)
        self._finishers = tuple(finishers)
        self._sizes = sizes or Sizes()

    @property
    def endpoint(self) -> Endpoint:
        """Its model server."""
        return self._endpoint

    def at(self, endpoint: Endpoint) -> Agent:
        """The same with another model server."""
        tools = tuple(self._tools.values())
        return Agent(endpoint, tools, self._schemas, self._finishers, self._sizes)

    def answer(
        self, task: AnswerTask, emit: Emit, step: StepRunner, stop: threading.Event
    ) -> Outcome:
        """Answer, streaming to `emit`. What can go wrong ends in an Outcome with status `error`,
        not in an exception."""
        draft = Draft(task, self._context(task), emit, step, stop)
        turns = Turns(self._endpoint, self._tools, self._schemas, draft)
        return _Answer(draft, turns, Calls(self._endpoint, draft), self._finishers).run()

    def _context(self, task: AnswerTask) -> Context:
        endpoint, model = self._endpoint, task.model
        message = Message(task.message_id, "", "", "assistant", "streaming", [], [], model=model)
        limits = WindowLimits.of(
            model,
            endpoint.window_for(model),
            endpoint.answer_tokens(model),
            endpoint.context_share,
        )
        profile = endpoint.profile_for(model)
        return Context(
            message, task.history, self._schemas, limits, self._sizes, endpoint.calibration, profile
        )


class _Answer:
    """The way of one answer, from its first turn to its last chunk."""

    def __init__(
        self, draft: Draft, turns: Turns, calls: Calls, finishers: Sequence[Finisher]
    ) -> None:
        self.draft = draft
        self.turns = turns
        self.calls = calls
        self.finishers = finishers

    def run(self) -> Outcome:
        draft = self.draft
        draft.say(chunk("start", messageId=draft.task.message_id))
        number = 0
        while True:
            number += 1
            if reached := limit_reached(draft, number):
                return self.finish("length", reached)
            step = draft.step(f"model-{number}", ModelStep, partial(self.turns.step, number))
            draft.take_turn(f"model-{number}", step)
            if step.used_up:
                return (
                    self.finish("length", budget_text(step.used_up))
                    if number > 1
                    else self.fail(step.used_up, number)
                )
            if step.turn is None:
                draft.keep_shown_text(step.chunks)
                return self.abort() if step.stopped else self.fail(step.error, number)
            turn = step.turn
            if step.calls and turn.stop_reason in ENDED_WHOLE:
                within, stopped = self.calls.run(number, turn, step.calls)
                draft.say(chunk("finish-step"))
                if stopped:
                    return self.abort()
                if not within:
                    return self.finish(
                        "length",
                        limit_text(f"{draft.task.limits.tool_calls} tool calls", "TOOL_CALLS"),
                    )
                continue
            draft.say(chunk("finish-step"))
            if turn.stop_reason == "pause_turn" and turn.content:
                draft.raw.append(assistant_message(turn.content))
                continue
            draft.keep_without_calls(turn.content)
            return self.finish(*closing(turn))

    def finish(self, reason: str, sentence: str = "") -> Outcome:
        if sentence:
            self.draft.append_sentence(sentence)
        return self.end("completed", chunk("finish", finishReason=reason), finish_reason=reason)

    def fail(self, error: str, number: int) -> Outcome:
        if number > 1:
            error = f"{error} This was step {number}."
        return self.end(
            "error", chunk("error", errorText=error), finish_reason="error", error=error
        )

    def abort(self) -> Outcome:
        return self.end("stopped", chunk("abort", reason=STOPPED), finish_reason="stopped")

    def end(
        self, status: Status, last: LastChunk, *, finish_reason: str, error: str = ""
    ) -> Outcome:
        """Say what the answer rests on and what it took, then close the stream."""
        ending = Ending(self.draft, status)
        for finish in self.finishers:
            finish(ending)
        self.draft.say(last)
        return Outcome(status, self.draft.parts, self.draft.raw, ending.usage, finish_reason, error)
