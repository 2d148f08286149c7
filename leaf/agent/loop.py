"""The agent loop: ask the model, run the tools that it calls, give it the results, until it answers or a limit is reached.

Each model turn and each tool call is a step: a function whose plain-JSON value a durable executor keeps, so that after a crash
finished steps are not run again. Chunks are emitted inside the steps; whatever a step emits twice, the reducer takes once.

Which steps come, and in which order, may depend on nothing but the task and the values of earlier steps: not on the clock, not on
`stop`, not on what the code of today would decide about a call of yesterday. That is why a value says whether it was stopped
and what is wrong with each call. Whoever changes the order of the steps reads docs/runs.md first.
"""

from __future__ import annotations

import logging
import threading
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from leaf.agent import basis
from leaf.agent.amounts import Sizes
from leaf.agent.blocks import assistant_message, output_result, plain, refuse_binary, text_block, tool_result, unseen
from leaf.agent.budget import BUDGET, FileInChat, allowed, as_part, content_of, decide, shown_pictures, with_arrived
from leaf.agent.calibration import Calibration
from leaf.agent.cited import Citation, Desk, Numbers, checked, citation_of
from leaf.agent.context import system_prompt
from leaf.agent.events import Chunk, Part, apply, chunk, compact, place_of, reduce
from leaf.agent.fold_plan import Limits, Planned
from leaf.agent.folding import Fold
from leaf.agent.models.base import Model, ModelEvent, ModelRequest, ModelTurn, TooLongError, TurnCutError, Usage
from leaf.agent.models.prices import context_window, cost, inline_cost
from leaf.agent.narrate import Narrator, source_chunks, unique_id
from leaf.agent.receipts.answer import RECEIPTS, of_answer, passages_behind
from leaf.agent.window import Context, folded_chunk, log_fold
from leaf.errors import BudgetError, InvalidInputError, LeafError, ModelError, RunError, not_found
from leaf.retries import Waits, doubling
from leaf.settings import RunLimits
from leaf.store.model import Message, Scope, Status
from leaf.tools.base import Asked, AskRequest, Hooks
from leaf.tools.inputs import accepted, check_input
from leaf.tools.remarks import once

if TYPE_CHECKING:
    from leaf.tools.base import Tool, ToolOutput

Json = dict[str, Any]
Emit = Callable[[Chunk], None]
RunTool = Callable[[str, Json, threading.Event, Hooks], "ToolOutput"]
"""Runs one tool by name with a checked input, until the event is set. Raises LeafError, whose text goes to the model."""

STOPPED = "Stopped. What was found so far is kept."
STATUS = "status"
"""Id of the `data-status` chunk {"text"}: what a run waits for; empty when it waits no more. It is shown, never kept."""
LONGEST_BACKOFF = 30.0
"""Seconds between two attempts to reach a model server, unless the server asks for more."""
_NOTHING_ASKED: Mapping[str, Any] = {
    "turn": None,
    "calls": [],
    "error": "",
    "stopped": False,
    "chunks": [],
    "usage": asdict(Usage()),
    "money": 0.0,
    "seconds": 0.0,
}
"""The value of a model's step in which no model was asked."""
_log = logging.getLogger(__name__)


class StepRunner(Protocol):
    """Runs steps. A durable one gives back the kept value of a step that has finished before, and shows it again (`shown`)."""

    def __call__(self, name: str, /, function: Callable[[], Json]) -> Json: ...

    def parallel(self, jobs: Sequence[tuple[str, Callable[[], Json]]]) -> list[Json]:
        """The values of independent steps, in the order of the jobs."""


class InlineSteps:
    """Steps that nothing keeps: each runs at once, independent ones in threads."""

    def __init__(self, workers: int = 8) -> None:
        self._workers = workers

    def __call__(self, _name: str, /, function: Callable[[], Json]) -> Json:
        return function()

    def parallel(self, jobs: Sequence[tuple[str, Callable[[], Json]]]) -> list[Json]:
        if len(jobs) < 2:
            return [function() for _, function in jobs]
        with ThreadPoolExecutor(min(self._workers, len(jobs)), thread_name_prefix="tool") as pool:
            return list(pool.map(lambda job: job[1](), jobs))


@dataclass(frozen=True)
class AnswerTask:
    """One question to be answered."""

    message_id: str
    """The assistant message that is being made."""
    model: str
    history: Sequence[Message]
    """The branch up to and including the question, oldest first."""
    run_tool: RunTool
    limits: RunLimits = field(default_factory=RunLimits)
    inline_tokens: int = 0
    """Estimated tokens of the chat's files, had they been put into the prompt."""
    files: Sequence[FileInChat] = ()
    """The chat's files, in the order in which they came."""
    file_tokens: int = 100_000
    """Tokens of file content that the answer takes in."""
    budget_reached: Callable[[], str] = lambda: ""
    """Asked inside each step that would ask the model: the sentence for a budget that is used up, or nothing."""
    spent: Callable[[str, Usage, float | None], None] = lambda _step, _usage, _money: None
    """Told what each step took, by its name; a step that is replayed is told again."""
    scope: Scope | None = None
    """On whose behalf; None only where no picture is kept."""
    desk: Desk | None = None
    """Looks up what is cited; without one nothing is checked."""


@dataclass(frozen=True)
class Outcome:
    """What became of a question."""

    status: Status
    """`completed`, `stopped` or `error`."""
    parts: list[Part]
    """The same as the reduced stream of chunks, and complete also where finished steps were not run again."""
    raw: list[Json]
    """Messages API messages of this answer, fit to be sent back."""
    usage: Json
    """The data of the `data-usage` part."""
    finish_reason: str = "stop"
    """`stop`; `length` for a limit (of the run, a turn or the context); `content-filter` for a refusal; else the status."""
    error: str = ""
    """One sentence for a person, with status `error`."""


class Agent:
    """Answers questions with a model and tools. Holds nothing between answers."""

    def __init__(
        self,
        model: Model,
        tools: Sequence[Tool],
        schemas: Sequence[Json],
        *,
        profile_for: Callable[[str], str],
        sees_for: Callable[[str], bool] = lambda _model: True,
        window_for: Callable[[str], int] = context_window,
        can_write: bool = True,
        calibration: Calibration | None = None,
        context_share: float = 0.8,
        max_output_tokens: int = 16_000,
        retry_waits: Sequence[float] = (1.0, 4.0),
        patience: float = 120.0,
    ) -> None:
        self.model = model
        self.tools: Mapping[str, Tool] = {tool.name: tool for tool in tools}
        self.schemas = list(schemas)
        self.profile_for = profile_for
        self.sees_for = sees_for
        """Whether a model sees pictures."""
        self.window_for = window_for
        self.can_write = can_write
        """Whether the model can write a text when a tool asks it to; rules cannot."""
        self.calibration = calibration or Calibration()
        self.context_share = context_share
        """Part of the model's window at which a chat is folded."""
        self.sizes = Sizes()
        self.max_output_tokens = max_output_tokens
        self.retry_waits = tuple(retry_waits)
        """Seconds before each new attempt of a turn whose stream was cut."""
        self.patience = patience
        """Seconds for which a turn is tried again while the model server cannot be reached or takes no requests."""

    def answer(self, task: AnswerTask, emit: Emit, step: StepRunner, stop: threading.Event) -> Outcome:
        """Answer, streaming to `emit`. What can go wrong ends in an Outcome with status `error`, not in an exception."""
        return _Answer(self, task, emit, step, stop).run()


@dataclass(frozen=True)
class _Call:
    """One tool call of a turn."""

    raw_id: str
    id: str
    """`raw_id`, made different where a server uses one id twice."""
    name: str
    input: Any
    problem: str = ""
    """Why it cannot be run as it came."""


@dataclass
class _Answer:
    """One answer in the making."""

    agent: Agent
    task: AnswerTask
    emit: Emit
    step: StepRunner
    stop: threading.Event
    parts: list[Part] = field(default_factory=list)
    raw: list[Json] = field(default_factory=list)
    outputs: dict[str, Json] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    money: float | None = 0.0
    seconds: float = 0.0
    """Time spent in steps, so that a run that was interrupted counts the same."""
    call_ids: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)
    context: Context = field(init=False)
    read: dict[str, int] = field(default_factory=dict)
    """Tokens of file content that were taken in, by handle."""
    context_tokens: int = 0
    """What the last turn had in its context at its end, as the server counted it."""

    def __post_init__(self) -> None:
        agent, model = self.agent, self.task.model
        message = Message(self.task.message_id, "", "", "assistant", "streaming", [], [], model=model)
        limits = Limits.of(model, agent.window_for(model), agent.max_output_tokens, agent.context_share)
        profile = agent.profile_for(model)
        self.context = Context(message, self.task.history, agent.schemas, limits, agent.sizes, agent.calibration, profile)

    def run(self) -> Outcome:
        self.say(chunk("start", messageId=self.task.message_id))
        number = 0
        while True:
            number += 1
            if reached := self.limit_reached(number):
                return self.finish("length", reached)
            value = self.step(f"model-{number}", partial(self.ask, number))
            self.take(f"model-{number}", value)
            if used_up := value.get("used_up"):
                return self.finish("length", _budget_text(used_up)) if number > 1 else self.fail(used_up, number)
            if value["turn"] is None:
                self.keep_shown_text(value["chunks"])
                return self.abort() if value["stopped"] else self.fail(value["error"], number)
            turn = ModelTurn.from_json(value["turn"])
            if turn.stop_reason == "tool_use":
                within, stopped = self.use_tools(number, turn, [_Call(**call) for call in value["calls"]])
                self.say(chunk("finish-step"))
                if stopped:
                    return self.abort()
                if not within:
                    return self.finish("length", _limit_text(f"{self.task.limits.tool_calls} tool calls", "TOOL_CALLS"))
                continue
            self.say(chunk("finish-step"))
            if turn.stop_reason == "pause_turn" and turn.content:
                self.raw.append(assistant_message(turn.content))
                continue
            self.keep_without_calls(turn.content)
            return self.finish(*_closing(turn))

    # The model's turn

    def ask(self, number: int) -> Json:
        """One turn, as a step. A stream that is cut is tried again, a server that is down waited for; the new attempt takes the
        place of the old one.
        """
        if used_up := self.task.budget_reached():
            return {**_NOTHING_ASKED, "used_up": used_up}
        attempts = _Attempts(self.agent.retry_waits, self.agent.patience)
        chunks: list[Chunk] = []
        turn: ModelTurn | None = None
        error: ModelError | None = None
        planned = self.context.plan(self.raw, self.parts) if self.agent.can_write else None
        folded_again = False
        while not self.stop.is_set():
            chunks.clear()
            turn, error = self.ask_once(number, chunks, attempts, planned)
            if _too_long(turn, error) and not folded_again:
                folded_again = True
                fold = planned.fold if planned else self.context.fold
                harder = self.context.plan_harder(self.raw, self.parts, fold, error)
                if harder is not None:
                    planned = harder
                    continue
            if error is None or not self.wait_for_next(attempts, error):
                break
        calls = self.calls_of(number, turn) if turn else []
        for call in calls:
            self.record(chunks, _input_chunk(call))
        return {
            "turn": turn.to_json() if turn else None,
            "fold": planned.fold.to_json() if planned else None,
            "calls": [asdict(call) for call in calls],
            "error": str(error or ""),
            "stopped": turn is None and self.stop.is_set(),
            "chunks": compact(chunks),
            "usage": asdict(attempts.spent),
            "money": attempts.dollars.total,
            "seconds": time.monotonic() - attempts.began,
        }

    def ask_once(
        self, number: int, chunks: list[Chunk], attempts: _Attempts, planned: Planned | None
    ) -> tuple[ModelTurn | None, ModelError | None]:
        """One attempt: a turn, or an error, or neither when it was stopped."""
        say = partial(self.record, chunks)
        say(chunk("start-step", step=number))
        if attempts.made:
            say(chunk("data-reset-step", data={"step": number}, transient=True))
        attempts.made += 1
        if planned:
            log_fold(self.task.message_id, planned)
            say(folded_chunk(number, planned, self.agent.window_for(self.task.model)))
        request = self.request(planned.fold if planned else self.context.fold)
        narrator = Narrator(number, say, self.call_ids, Numbers(self.parts), self.task.desk)
        turn: ModelTurn | None = None
        error: ModelError | None = None
        try:
            turn = self.agent.model.turn(request, narrator.event, self.stop)
        except ModelError as e:
            error = e
        except LeafError:
            if not self.stop.is_set():
                raise
        used = turn.usage if turn else narrator.usage
        if turn and used.input:
            self.context.learn(request.messages, used.input)
        attempts.spent, attempts.dollars = attempts.spent + used, attempts.dollars.add(cost(used, self.task.model))
        return turn, error

    def wait_for_next(self, attempts: _Attempts, error: ModelError) -> bool:
        """Wait before the next attempt, saying so. False if there is to be none."""
        wait = attempts.next_wait(error)
        if wait is None:
            return False
        if not isinstance(error, TurnCutError):
            text = f"{error.message} Trying again in {wait:.0f} s (attempt {attempts.made + 1})."
            self.emit_now(chunk("data-status", id=STATUS, data={"text": text}))
        self.stop.wait(wait)
        self.emit_now(chunk("data-status", id=STATUS, data={"text": ""}))
        return not self.stop.is_set()

    def request(self, fold: Fold | None) -> ModelRequest:
        profile = self.agent.profile_for(self.task.model)
        messages = self.context.messages(self.raw, self.parts, fold)
        return ModelRequest(
            model=self.task.model,
            system=system_prompt(profile),
            tools=self.agent.schemas,
            messages=self.sendable(messages, profile),
            max_tokens=self.agent.max_output_tokens,
            profile=profile,
            scope=self.task.scope,
            outputs=dict(self.outputs),
        )

    def sendable(self, messages: list[Json], profile: str) -> list[Json]:
        """The messages as this model takes them."""
        sees = self.agent.sees_for(self.task.model)
        if profile == "basic":
            return [plain(message, sees=sees) for message in messages]
        return messages if sees else [unseen(message) for message in messages]

    def take(self, name: str, value: Json) -> None:
        """Count what a step took and take over what it showed."""
        self.context.took(value, len(self.raw))
        used = (value["turn"] or {}).get("usage") or {}
        self.context_tokens = int(used.get("input") or 0) + int(used.get("output") or 0)
        for c in value["chunks"]:
            apply(self.parts, c)
        self.count(value)
        self.seconds += value["seconds"]
        used = Usage(**value["usage"])
        if used != Usage():
            self.task.spent(name, used, value["money"])

    def count(self, value: Json) -> None:
        """Add what a step took of a model. A tool's step that asked none has no such figures."""
        if "usage" not in value:
            return
        self.usage += Usage(**value["usage"])
        self.money = None if self.money is None or value["money"] is None else self.money + value["money"]

    # Tools

    def calls_of(self, number: int, turn: ModelTurn) -> list[_Call]:
        """The turn's tool calls, with what is wrong about each."""
        calls = []
        for block in turn.content:
            if block["type"] != "tool_use":
                continue
            call_id = unique_id(block["id"], number, self.call_ids)
            given = turn.broken[block["id"]] if block["id"] in turn.broken else block["input"]
            own, problem = self.checked(block["name"], given)
            calls.append(_Call(block["id"], call_id, block["name"], own, problem))
        return calls

    def checked(self, name: str, given: str | Json) -> tuple[Any, str]:
        """A call's input under the tool's own names of its parameters, and why it cannot be run: empty when it can."""
        if name not in self.agent.tools:
            return given, str(not_found("tool", name, self.agent.tools))
        try:
            own = accepted(self.agent.tools[name], given)
            check_input(self.agent.tools[name], own)
        except InvalidInputError as e:
            return given, str(e)
        return own, ""

    def use_tools(self, number: int, turn: ModelTurn, calls: list[_Call]) -> tuple[bool, bool]:
        """Run the turn's calls side by side, results in the order of the calls. Says whether the run may make so many, and
        whether it was stopped meanwhile.
        """
        before = len(self.call_ids)
        self.call_ids.update(call.id for call in calls)
        within = before + len(calls) <= self.task.limits.tool_calls
        runnable = [call for call in calls if not call.problem] if within else []
        names = [f"tool-{number}-{calls.index(call) + 1}-{call.name}" for call in runnable]
        room = allowed(self.task.file_tokens, self.shown_tokens + sum(self.read.values()), len(runnable))
        jobs = [(name, partial(self.use_tool, call, name, room)) for name, call in zip(names, runnable, strict=True)]
        started = {call.id: value for call, value in zip(runnable, self.step.parallel(jobs), strict=True)}
        self.seconds += max((value["seconds"] for value in started.values()), default=0.0)
        for value in started.values():
            for handle, tokens in (value.get("content") or {}).items():
                self.read[handle] = self.read.get(handle, 0) + tokens
            self.count(value)
        self.raw.append(assistant_message(turn.content))
        told: set[str] = set()
        results = [self.result_of(call, started.get(call.id), within, told) for call in calls]
        self.raw.append({"role": "user", "content": results})
        return within, any(value["stopped"] for value in started.values())

    def use_tool(self, call: _Call, step_name: str, room: int) -> Json:
        """One tool call, as a step; it may bring in `room` tokens of file content."""
        started = time.monotonic()
        value: Json = {"id": call.id, "output": None, "error": "", "stopped": False}
        writer = _Writer(self, step_name)
        try:
            output = self.task.run_tool(call.name, call.input, self.stop, self.hooks(call, step_name, writer, room)).to_json()
            refuse_binary(output["text"])
            output_result(call.raw_id, output)
            value["output"] = {**output, "seconds": round(time.monotonic() - started, 3)}
            value["content"] = content_of(output, self.agent.calibration.rates(self.task.model))
        except LeafError as e:
            value["error"] = str(e)
        except Exception:  # noqa: BLE001 - a fault in one tool is logged and told to the model; the answer goes on without it
            _log.exception("tool %s failed", call.name)
            value["error"] = (
                f"{call.name} failed by a fault of Leaf, not of the file or the input. Try another way; tell the user."
            )
        value["stopped"] = value["output"] is None and self.stop.is_set()
        value["seconds"] = time.monotonic() - started
        if writer.attempts:
            value.update(usage=asdict(writer.spent), money=writer.dollars.total)
        for c in shown(value):
            self.emit_now(c)
        return value

    def hooks(self, call: _Call, step_name: str, writer: _Writer, room: int) -> Hooks:
        """What this run lends to a tool call."""

        def show(name: str, data_id: str, data: Json) -> None:
            self.emit_now(chunk(f"data-{name}", id=data_id, data=data))

        def progress(text: str) -> None:
            self.emit_now(chunk("data-progress", id=call.id, data={"text": text}))

        ask = writer if self.agent.can_write else None
        sees = self.agent.sees_for(self.task.model)
        key = f"{self.task.message_id}/{step_name}"
        told = self.context.told(self.parts)
        room_left = room if self.agent.can_write else None
        return Hooks(key, show, progress, ask, sees, room_left, told, passages_behind)

    def result_of(self, call: _Call, value: Json | None, within: bool, told: set[str]) -> Json:
        """The tool_result of a call; its chunk, already emitted by the step, goes into the parts. What calls of this turn told
        before it, under the keys in `told`, the model is not told again: they ran side by side and did not know of each other.
        """
        if value is None:
            text = call.problem if within else f"Not run: one answer may make {self.task.limits.tool_calls} tool calls."
            if not call.problem:
                self.say(chunk("tool-output-error", toolCallId=call.id, errorText=text))
            return tool_result(call.raw_id, text, is_error=True)
        for c in shown(value):
            apply(self.parts, c)
        if value["output"] is None:
            return tool_result(call.raw_id, value["error"], is_error=True)
        self.outputs[call.raw_id] = value["output"]
        return output_result(call.raw_id, once(value["output"], told))

    # The end

    def limit_reached(self, number: int) -> str:
        """The sentence for a limit that is reached before this turn, or nothing."""
        limits = self.task.limits
        if number > limits.turns:
            return _limit_text(f"{limits.turns} steps", "TURNS")
        if self.seconds >= limits.seconds:
            return _limit_text(f"{limits.seconds:,.0f} seconds", "SECONDS")
        if self.usage.input + self.usage.output >= limits.tokens:
            return _limit_text(f"{limits.tokens:,} tokens", "TOKENS")
        if self.money is not None and self.money >= limits.money:
            return _limit_text(f"${limits.money:,.2f}", "MONEY")
        return ""

    def keep_without_calls(self, content: list[Json]) -> None:
        """Keep a last turn without tool calls that will never have a result."""
        if blocks := [block for block in content if block["type"] != "tool_use"]:
            self.raw.append(assistant_message(blocks))

    def keep_shown_text(self, chunks: list[Chunk]) -> None:
        """Let the model know later what the user saw of a turn that did not come to its end."""
        texts = [part["text"] for part in reduce(chunks) if part["type"] == "text" and part["text"].strip()]
        if texts:
            self.raw.append(assistant_message([text_block(text) for text in texts]))

    def finish(self, reason: str, sentence: str = "") -> Outcome:
        if sentence:
            self.append_sentence(sentence)
        return self.end("completed", chunk("finish", finishReason=reason), finish_reason=reason)

    def append_sentence(self, sentence: str) -> None:
        """Say something in our own words at the end of the answer, to the user and in what the model will remember."""
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

    def fail(self, error: str, number: int) -> Outcome:
        if number > 1:
            error = f"{error} This was step {number}."
        return self.end("error", chunk("error", errorText=error), finish_reason="error", error=error)

    def abort(self) -> Outcome:
        return self.end("stopped", chunk("abort", reason=STOPPED), finish_reason="stopped")

    def end(self, status: Status, last: Chunk, *, finish_reason: str, error: str = "") -> Outcome:
        """Say what the answer rests on and what it took, then close the stream."""
        usage: Json = {
            **asdict(self.usage),
            "cost": self.money,
            "model": self.task.model,
            "seconds": round(self.seconds, 3),
            "context": self.context_tokens,
            "inline_tokens": self.task.inline_tokens,
            "inline_cost": inline_cost(self.task.inline_tokens, self.task.model),
        }
        if status == "completed":
            self.check_citations()
        receipts = of_answer(self.parts, self.task.history) if status == "completed" else None
        names = {file.handle: file.name for file in self.task.files}
        found = basis.of_answer(self.parts, self.task.history, receipts["receipts"] if receipts else (), names)
        for c in source_chunks(found.outputs):
            self.say(c)
        if found.covered:
            self.say(chunk("data-coverage", id="coverage", data=found.covered))
        self.tell_budget()
        if receipts:
            self.say(chunk(f"data-{RECEIPTS}", id=RECEIPTS, data=receipts))
        self.say(chunk("data-usage", id="usage", data=usage))
        self.say(last)
        return Outcome(status, self.parts, self.raw, usage, finish_reason, error)

    def check_citations(self) -> None:
        """Look whether the cited words stand where the answer says, as a step of its own.

        Which citations there are depends on kept values only, and the step's name on which they are: an answer that takes over
        the steps of a failed one looks again if it cites other things.
        """
        cited = [part for part in self.parts if citation_of(part)]
        if self.task.desk is None or not cited:
            return
        mark = zlib.crc32(repr([(p["sourceId"], place_of(p), p["providerMetadata"]) for p in cited]).encode())
        value = self.step(f"citations-{mark:08x}", partial(self.check_cited, cited, self.task.desk))
        for c in value["chunks"]:
            apply(self.parts, c)
        self.seconds += value["seconds"]

    def check_cited(self, cited: Sequence[Part], desk: Desk) -> Json:
        """The step: the parts of the citations again, each with what was found."""
        started = time.monotonic()
        found = [part["providerMetadata"]["leaf"] for part in cited]
        verdicts = desk.check([Citation(leaf["source"], leaf["quote"]) for leaf in found])
        chunks = [checked(part, verdict) for part, verdict in zip(cited, verdicts, strict=True)]
        for c in chunks:
            self.emit_now(c)
        return {"chunks": chunks, "seconds": time.monotonic() - started}

    @property
    def shown_tokens(self) -> int:
        """Tokens of the pictures that came with the question."""
        return sum(tokens for _, tokens in shown_pictures(self.task.history))

    def tell_budget(self) -> None:
        """Say, and log, what of each file went into the answer. Nothing where no file was touched."""
        task = self.task
        shown_now: dict[str, int] = {}
        for handle, tokens in shown_pictures(task.history):
            shown_now[handle] = shown_now.get(handle, 0) + tokens
        folded = self.context.folded_handles(self.raw, self.parts)
        used = self.shown_tokens + sum(self.read.values())
        decisions = decide(with_arrived(task.files, self.outputs.values()), self.read, shown_now, folded)
        for decision in decisions:
            _log.info(
                "budget run=%s file=%s tokens=%d of=%d decision=%s",
                task.message_id,
                decision.handle,
                decision.read,
                decision.tokens,
                decision.choice.replace(" ", "-"),
            )
        if used and decisions:
            self.say(chunk(f"data-{BUDGET}", id=BUDGET, data=as_part(task.file_tokens, used, decisions)))

    # Chunks

    def emit_now(self, c: Chunk) -> None:
        with self.lock:
            self.emit(c)

    def record(self, chunks: list[Chunk], c: Chunk) -> None:
        chunks.append(c)
        self.emit_now(c)

    def say(self, c: Chunk) -> None:
        """Emit outside of a step, and keep."""
        apply(self.parts, c)
        self.emit_now(c)


def shown(value: Json) -> list[Chunk]:
    """The chunks of a step's value: what a viewer is shown again when the step is not run again."""
    if "output" not in value:
        return list(value.get("chunks", ()))
    if value["output"] is not None:
        kept = [chunk(f"data-{s['name']}", id=s["id"], data=s["data"]) for s in value["output"].get("shows", ())]
        return [chunk("tool-output-available", toolCallId=value["id"], output=value["output"]), *kept]
    if value["stopped"]:
        return []
    return [chunk("tool-output-error", toolCallId=value["id"], errorText=value["error"])]


def reused(value: Json) -> Json:
    """A step's value taken over from another answer, which has paid for it."""
    paid = {"usage": asdict(Usage()), "money": 0.0} if "usage" in value else {}
    return {**value, **paid, "seconds": 0.0}


def good(value: Any) -> bool:
    """Whether a step's value is one to go on from: neither a turn that failed nor anything that was stopped."""
    return isinstance(value, dict) and not value.get("stopped") and value.get("turn", value) is not None


class _Writer:
    """The chat's model for one tool call; see `leaf.tools.base.Ask`. Counts what it took."""

    def __init__(self, answer: _Answer, step_name: str) -> None:
        self._answer = answer
        self._step_name = step_name
        self.attempts = 0
        self.spent = Usage()
        self.dollars = _Money()

    @property
    def window(self) -> int:
        return self._answer.agent.window_for(self._answer.task.model)

    def __call__(
        self, request: AskRequest, on_text: Callable[[str], None], on_restart: Callable[[], None] = lambda: None
    ) -> Asked:
        answer = self._answer
        if reached := answer.task.budget_reached():
            raise BudgetError(reached)
        wanted = ModelRequest(
            model=answer.task.model,
            system=request.system,
            tools=(),
            messages=[{"role": "user", "content": [text_block(request.content)]}],
            max_tokens=request.max_tokens,
            profile=answer.agent.profile_for(answer.task.model),
        )
        attempts = _Attempts(answer.agent.retry_waits, answer.agent.patience)
        while True:
            attempts.made += 1
            turn, error = self._attempt(wanted, on_text)
            if turn is not None:
                text = "".join(block["text"] for block in turn.content if block["type"] == "text")
                return Asked(text, turn.stop_reason, turn.usage.input, turn.usage.output)
            if error is None or not answer.wait_for_next(attempts, error):
                raise error or RunError("Stopped.")
            on_restart()

    def _attempt(self, wanted: ModelRequest, on_text: Callable[[str], None]) -> tuple[ModelTurn | None, ModelError | None]:
        """One attempt: a turn, or an error that may pass. Raises RunError once it is stopped."""
        used = Usage()

        def event(e: ModelEvent) -> None:
            nonlocal used
            if e.kind == "usage":
                used = e.usage
            elif e.kind == "text" and e.delta:
                on_text(e.delta)

        self.attempts += 1
        try:
            turn = self._answer.agent.model.turn(wanted, event, self._answer.stop)
            used = turn.usage
            return turn, None
        except ModelError as e:
            return None, e
        finally:
            dollars = cost(used, wanted.model)
            self.spent += used
            self.dollars = self.dollars.add(dollars)
            if used != Usage():  # told at once, because one tool call may ask often; a call that runs again pays again
                self._answer.task.spent(f"{self._step_name}/{uuid4()}", used, dollars)


class _Attempts:
    """The attempts of one turn: how many there were, what they took, and how long to wait before the next."""

    def __init__(self, cut_waits: Sequence[float], patience: float) -> None:
        self.made = 0
        self.spent = Usage()
        self.dollars = _Money()
        self.began = time.monotonic()
        self._cuts = Waits(cut_waits)
        self._refusals = Waits(doubling(1.0, LONGEST_BACKOFF), patience=patience)

    def next_wait(self, error: ModelError) -> float | None:
        """Seconds to wait after this error; None when it will not pass, or not within the patience."""
        if isinstance(error, TurnCutError):
            return self._cuts.next()
        return self._refusals.next(least=error.wait) if error.retryable else None


@dataclass(frozen=True)
class _Money:
    """A sum that is unknown as soon as one summand is."""

    total: float | None = 0.0

    def add(self, dollars: float | None) -> _Money:
        return _Money(None if self.total is None or dollars is None else self.total + dollars)


def _too_long(turn: ModelTurn | None, error: ModelError | None) -> bool:
    return isinstance(error, TooLongError) or (turn is not None and turn.stop_reason == "model_context_window_exceeded")


def _input_chunk(call: _Call) -> Chunk:
    fields = {"toolCallId": call.id, "toolName": call.name, "input": call.input}
    return (
        chunk("tool-input-error", **fields, errorText=call.problem) if call.problem else chunk("tool-input-available", **fields)
    )


def _budget_text(used_up: str) -> str:
    return f"I stopped here, so this may be incomplete. {used_up} What was found so far is kept; ask me to go on then."


def _limit_text(reached: str, variable: str) -> str:
    return (
        f"I stopped after {reached}, the limit for one answer, so this may be incomplete. "
        f"Ask me to go on, or raise the limit (LEAF_RUN_{variable})."
    )


def _closing(turn: ModelTurn) -> tuple[str, str]:
    """The finish reason of a last turn, and the sentence that it needs, if any."""
    if turn.stop_reason == "refusal":
        return "content-filter", "The model declined to answer this. Put the question in another way, or choose another model."
    if turn.stop_reason == "max_tokens":
        return "length", "The answer was cut at the limit for one turn (LEAF_MAX_OUTPUT_TOKENS). Ask me to go on."
    if turn.stop_reason == "model_context_window_exceeded":
        return "length", "This chat is now as long as the model can take. Start a new chat with the files that you need."
    if not any(block["type"] == "text" and block["text"].strip() for block in turn.content):
        return "stop", "The model ended without an answer. Ask again, or put the question in another way."
    return "stop", ""
