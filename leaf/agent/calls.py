"""Tool calls: what is wrong with each is decided in the step of the turn that made it; running one
is a step of its own."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from leaf.agent.blocks import assistant_message, output_result, tool_result
from leaf.agent.budget import allowed, content_of
from leaf.agent.draft import Draft
from leaf.agent.endpoint import Endpoint
from leaf.agent.events import apply
from leaf.agent.models.base import ModelTurn
from leaf.agent.narrate import unique_id
from leaf.agent.steps import ToolStep, TurnCall
from leaf.agent.writer import Writer
from leaf.errors import (
    InvalidInputError,
    LeafError,
    StorageAwayError,
    StoreAwayError,
    not_found,
)
from leaf.provenance.receipts.answer import passages_behind
from leaf.retries import Again, Waits, doubling, retry
from leaf.shapes.chunks import chunk, shown_chunk
from leaf.shapes.raw import RawBlock, ToolInput
from leaf.shapes.results import Output
from leaf.tools.base import Hooks, ToolOutput
from leaf.tools.inputs import accepted, check_input
from leaf.tools.remarks import once

if TYPE_CHECKING:
    from leaf.tools.base import Tool

LONGEST_WAIT = 10.0
"""Seconds between two tries of a call that waits for the place of files."""

_log = logging.getLogger(__name__)


def calls_of(
    tools: Mapping[str, Tool], number: int, turn: ModelTurn, taken: set[str]
) -> list[TurnCall]:
    """The tool calls of turn `number`, with what is wrong about each; `taken` are the ids of
    earlier calls of the answer."""
    calls = []
    for block in turn.content:
        if block["type"] != "tool_use":
            continue
        call_id = unique_id(block["id"], number, taken)
        arguments = turn.broken[block["id"]] if block["id"] in turn.broken else block["input"]
        own, problem = _checked(tools, block["name"], arguments)
        calls.append(TurnCall(block["id"], call_id, block["name"], own, problem))
    return calls


def _checked(tools: Mapping[str, Tool], name: str, arguments: str | ToolInput) -> tuple[Any, str]:
    """A call's input under the tool's own names of its parameters, and why it cannot be run: empty
    when it can."""
    if name not in tools:
        return arguments, str(not_found("tool", name, tools))
    try:
        own = accepted(tools[name], arguments)
        check_input(tools[name], own)
    except InvalidInputError as e:
        return arguments, str(e)
    return own, ""


class Calls:
    """Runs the calls of an answer."""

    def __init__(self, endpoint: Endpoint, draft: Draft) -> None:
        self._endpoint = endpoint
        self._draft = draft

    def run(self, number: int, turn: ModelTurn, calls: Sequence[TurnCall]) -> tuple[bool, bool]:
        """Run the calls of turn `number` side by side, results in the order of the calls. Says
        whether the answer may make so many, and whether it was stopped meanwhile.
        """
        draft, limits = self._draft, self._draft.task.limits
        before = len(draft.call_ids)
        draft.call_ids.update(call.id for call in calls)
        within = before + len(calls) <= limits.tool_calls
        runnable = [call for call in calls if not call.problem] if within else []
        names = [f"tool-{number}-{calls.index(call) + 1}-{call.name}" for call in runnable]
        room = allowed(draft.task.file_tokens, draft.file_tokens, len(runnable))
        jobs = [
            (name, partial(self._step, call, name, room))
            for name, call in zip(names, runnable, strict=True)
        ]
        started = {
            call.id: step
            for call, step in zip(runnable, draft.step.parallel(ToolStep, jobs), strict=True)
        }
        draft.seconds += max((step.seconds for step in started.values()), default=0.0)
        for step in started.values():
            draft.take_content(step)
        draft.raw.append(assistant_message(turn.content))
        told: set[str] = set()
        results = [self._result(call, started.get(call.id), within, told) for call in calls]
        draft.raw.append({"role": "user", "content": results})
        return within, any(step.stopped for step in started.values())

    def _step(self, call: TurnCall, step_name: str, room: int) -> ToolStep:
        """One tool call, as a step; it may bring in `room` tokens of file content."""
        draft, task = self._draft, self._draft.task
        started = time.monotonic()
        output: Output | None = None
        content: Mapping[str, int] | None = None
        error = ""
        writer = Writer(self._endpoint, draft, step_name)
        try:
            gave = self._output(call, self._hooks(call, step_name, writer, room)).to_json()
            output_result(call.raw_id, gave)
            content = content_of(gave, self._endpoint.calibration.rates(task.model))
            output = {**gave, "seconds": round(time.monotonic() - started, 3)}
        except StoreAwayError:
            raise  # the model cannot help it: the call is made again when the database is back
        except LeafError as e:
            error = str(e)
        except Exception:  # noqa: BLE001 - a fault in one tool is logged and told to the model; the answer goes on without it
            _log.exception("tool %s failed", call.name)
            error = (
                f"{call.name} failed by a fault of Leaf, not of the file or the input. Try "
                f"another way; tell the user."
            )
        asked = bool(writer.attempts)
        step = ToolStep(
            call.id,
            output,
            error,
            stopped=output is None and draft.stop.is_set(),
            seconds=time.monotonic() - started,
            content=content,
            usage=writer.spent if asked else None,
            money=writer.dollars.total if asked else 0.0,
        )
        for c in step.shown:
            draft.emit_now(c)
        return step

    def _output(self, call: TurnCall, hooks: Hooks) -> ToolOutput:
        """What the tool gives. While the place of files does not answer it is called again, under the
        same key, for as long as one would wait for a model: the model could not help it either."""
        draft = self._draft

        def wait(error: Exception, seconds: float) -> None:
            reason = error.message if isinstance(error, LeafError) else ""
            hooks.progress(f"{reason} Trying again in {seconds:.0f} s.")

        return retry(
            lambda: draft.task.run_tool(call.name, call.input, draft.stop, hooks),
            lambda error: Again() if isinstance(error, StorageAwayError) else None,
            Waits(doubling(1.0, LONGEST_WAIT), patience=self._endpoint.patience),
            stop=draft.stop,
            on_wait=wait,
        )

    def _hooks(self, call: TurnCall, step_name: str, writer: Writer, room: int) -> Hooks:
        """What this answer lends to a tool call."""
        draft, can_write = self._draft, self._endpoint.can_write

        def show(name: str, data_id: str, data: Any) -> None:
            draft.emit_now(shown_chunk(name, data_id, data))

        def progress(text: str) -> None:
            draft.emit_now(chunk("data-progress", id=call.id, data={"text": text}))

        return Hooks(
            key=f"{draft.task.message_id}/{step_name}",
            show=show,
            progress=progress,
            ask=writer if can_write else None,
            sees=self._endpoint.sees_for(draft.task.model),
            file_tokens=room if can_write else None,
            told=draft.context.told(draft.parts),
            passages_behind=passages_behind,
        )

    def _result(
        self, call: TurnCall, step: ToolStep | None, within: bool, told: set[str]
    ) -> RawBlock:
        """The tool_result of a call; its chunk, already emitted by the step, goes into the parts.
        What calls of this turn told before it, under the keys in `told`, the model is not told
        again: they ran side by side and did not know of each other.
        """
        draft = self._draft
        if step is None:
            text = (
                call.problem
                if within
                else f"Not run: one answer may make {draft.task.limits.tool_calls} tool calls."
            )
            if not call.problem:
                draft.say(chunk("tool-output-error", toolCallId=call.id, errorText=text))
            return tool_result(call.raw_id, text, is_error=True)
        for c in step.shown:
            apply(draft.parts, c)
        if step.output is None:
            return tool_result(call.raw_id, step.error, is_error=True)
        draft.outputs[call.raw_id] = step.output
        return output_result(call.raw_id, once(step.output, told))
