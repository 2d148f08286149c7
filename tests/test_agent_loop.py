"""The agent loop against a server that refuses what the real one refuses."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from leaf.agent.calibration import Calibration
from leaf.agent.cited import Citation, Verdict
from leaf.agent.events import place_of, reduce
from leaf.agent.models.base import Emit, ModelRequest, ModelTurn, TokenUsage
from leaf.agent.models.claude import ClaudeModel
from leaf.agent.steps import CitationStep, InlineSteps, ModelStep, S, ToolStep
from leaf.errors import QueryError, StorageAwayError
from leaf.provenance.coverage import merge_coverage, unite
from leaf.settings import RunLimits
from leaf.store.model import Message
from leaf.tools.base import Coverage, ToolOutput
from tests.agent_kit import Answered, agent_for, answer, answered, question, run_tool
from tests.messages_server import Brain, Failure, MessagesServer, Turn

Json = dict[str, Any]
Script = Sequence[Turn | Failure] | Brain
ADD = ("add_numbers", {"numbers": [1, 2, 3]})


def ask(
    script: Script, history: str | Sequence[Message] = "How much is it?", **options: Any
) -> tuple[Answered, MessagesServer]:
    """Answer against a server with that script; what it emitted must always give the parts that it
    kept."""
    with MessagesServer(script) as server:
        agent = agent_for(ClaudeModel("key", server.url, retries=0, stall_seconds=0.6))
        result = answer(agent, history, **options)
    assert server.refused == []
    assert reduce(result.chunks) == result.outcome.parts
    return result, server


def tool_parts(result: Answered) -> list[Json]:
    return [part for part in result.outcome.parts if part["type"].startswith("tool-")]


def results_of(server: MessagesServer, request: int = -1) -> list[Json]:
    return [
        b
        for b in server.requests[request].body["messages"][-1]["content"]
        if b["type"] == "tool_result"
    ]


def test_answer_runs_the_tools_and_gives_their_results_to_the_model() -> None:
    script = [Turn.call(ADD, thinking="Add."), Turn.say("It is **6**.", thinking="Six.")]
    result, server = ask(script)
    assert result.outcome.status == "completed"
    assert result.outcome.finish_reason == "stop"
    assert result.text == "It is **6**."
    assert results_of(server)[0]["content"] == "sum=6"
    assert 0 <= tool_parts(result)[0]["output"]["seconds"] < 60
    kinds = [part["type"] for part in result.outcome.parts]
    assert kinds == [
        "step-start",
        "reasoning",
        "tool-add_numbers",
        "step-start",
        "reasoning",
        "text",
        "data-receipts",
        "data-usage",
    ]
    assert result.chunks[-1] == {"type": "finish", "finishReason": "stop"}
    steps = [c["type"] for c in result.kinds("start-step", "finish-step")]
    assert steps == ["start-step", "finish-step"] * 2


@pytest.mark.parametrize("count", [2, 3])
def test_results_of_parallel_calls_go_back_in_the_order_of_the_calls(count: int) -> None:
    all_there = threading.Barrier(count, timeout=10)

    def meet(name: str, given: Json, stop: threading.Event) -> ToolOutput:
        all_there.wait()
        return ToolOutput(f"sum={sum(given['numbers'])}", "Added")

    calls = [("add_numbers", {"numbers": [n]}) for n in range(count)]
    result, server = ask([Turn.call(*calls), Turn.say("Done.")], tool=meet)
    assert [r["content"] for r in results_of(server)] == [f"sum={n}" for n in range(count)]
    assert len(result.kinds("tool-output-available")) == count


def test_chat_of_many_questions_sends_earlier_turns_unchanged_and_reads_them_from_the_cache() -> (
    None
):
    long_answer = "word " * 500

    def brain(body: Json) -> Turn:
        last = body["messages"][-1]["content"][-1]
        return (
            Turn.say(long_answer, thinking="So.")
            if last["type"] == "tool_result"
            else Turn.call(ADD, thinking="Add.")
        )

    history: list[Message] = []
    with MessagesServer(brain) as server:
        agent = agent_for(ClaudeModel("key", server.url, retries=0))
        for number in range(5):
            history.append(question(f"Question {number}?", f"u{number}"))
            result = answer(agent, history)
            assert result.outcome.status == "completed"
            history.append(answered(result.outcome, "claude-sonnet-5-5", f"a{number}"))
        assert server.refused == []
        later = server.requests[2:]
    read = sum(r.usage["cache_read_input_tokens"] for r in later) / sum(r.tokens for r in later)
    assert read > 0.7


def test_unknown_tool_is_answered_with_the_nearest_name_and_the_loop_goes_on() -> None:
    result, server = ask([Turn.call(("add_number", {"numbers": [1]})), Turn.say("Sorry.")])
    assert results_of(server)[0]["is_error"] is True
    assert "No tool 'add_number'. Did you mean 'add_numbers'" in results_of(server)[0]["content"]
    assert tool_parts(result)[0]["state"] == "output-error"
    assert result.outcome.status == "completed"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"numbers": "many"}, "The input of add_numbers is wrong: numbers"),
        ({}, "The input of add_numbers is wrong: numbers"),
        ({"__json__": '{"numbers": [1, 2'}, "The input of add_numbers is not"),
    ],
)
def test_wrong_input_goes_back_to_the_model_as_an_error(given: Json, sentence: str) -> None:
    result, server = ask(
        [Turn.call(("add_numbers", given)), Turn.call(ADD), Turn.say("Now it is 6.")]
    )
    assert results_of(server, 1)[0]["is_error"] is True
    assert sentence in results_of(server, 1)[0]["content"]
    assert len(result.kinds("tool-input-error")) == 1
    assert result.text == "Now it is 6."


def test_calls_beyond_the_limit_of_an_answer_are_said_not_to_be_run() -> None:
    result, _ = ask([Turn.call(ADD, ADD), Turn.say("None.")], limits=RunLimits(tool_calls=1))
    refused = [(part["state"], part["errorText"]) for part in tool_parts(result)]
    assert refused == [("output-error", "Not run: one answer may make 1 tool calls.")] * 2
    assert len(result.kinds("tool-output-error")) == 2
    # what is wrong with an input was said when it came
    wrong, _ = ask([Turn.call(("add_numbers", {})), Turn.say("Well.")])
    assert not wrong.kinds("tool-output-error")


def test_each_turn_that_a_server_counted_teaches_what_texts_take_of_its_model() -> None:
    calibration = Calibration()
    with MessagesServer([Turn.call(ADD), Turn.say("It is 6.")]) as server:
        agent = agent_for(ClaudeModel("key", server.url, retries=0), calibration=calibration)
        assert answer(agent, "And now?").outcome.status == "completed"
    assert calibration.requests("claude-sonnet-5-5") == 2


class UncountedModel:
    """Does not say what its turn took, as some local servers do not."""

    def turn(self, request: ModelRequest, emit: Emit, stop: threading.Event) -> ModelTurn:
        return ModelTurn([{"type": "text", "text": "Done."}], "end_turn", TokenUsage(output=2))


def test_a_turn_that_no_server_counted_teaches_nothing() -> None:
    calibration = Calibration()
    agent = agent_for(UncountedModel(), calibration=calibration)
    assert answer(agent, "And now?").outcome.status == "completed"
    assert calibration.requests("claude-sonnet-5-5") == 0


def test_as_many_calls_as_an_answer_may_make_are_run() -> None:
    asked = [Turn.call(ADD), Turn.call(ADD, ADD), Turn.say("Three sums.")]
    result, _ = ask(asked, limits=RunLimits(tool_calls=3))
    assert [part["state"] for part in tool_parts(result)] == ["output-available"] * 3
    assert result.text == "Three sums."


def test_error_and_fault_of_a_tool_go_back_to_the_model_beside_the_good_results() -> None:
    result, server = ask([Turn.call("fail", "crash", ADD), Turn.say("One worked.")])
    failed, crashed, added = results_of(server)
    assert failed["content"] == "No file 'x.csv'. There is 'a.csv'."
    assert "crash failed by a fault of Leaf, not of the file or the input." in crashed["content"]
    assert "ZeroDivision" not in str(
        [m["content"] for r in server.requests for m in r.body["messages"]]
    )
    assert "ZeroDivision" not in str(result.outcome.parts)
    assert (failed["is_error"], crashed["is_error"], added["content"]) == (True, True, "sum=6")
    assert [p["state"] for p in tool_parts(result)] == [
        "output-error",
        "output-error",
        "output-available",
    ]


def encoded(size: int) -> str:
    import base64
    import random

    return base64.b64encode(random.Random(1).randbytes(size)).decode()


def test_error_that_names_a_value_of_base64_goes_back_without_it() -> None:
    binary = encoded(600)

    def refuse(name: str, given: Json, stop: threading.Event) -> ToolOutput:
        raise QueryError(f"Could not convert string '{binary}' to INT32.", "Use TRY_CAST.")

    result, server = ask([Turn.call(ADD), Turn.say("I leave it out.")], tool=refuse)
    assert result.outcome.status == "completed"
    told = results_of(server)[0]["content"]
    assert told.startswith("Could not convert string '… ")
    assert told.endswith("Use TRY_CAST.")
    assert binary[:100] not in str(server.requests[-1].body)


def test_stop_while_base64_is_written_out_keeps_the_words_around_it() -> None:
    stop = threading.Event()
    turn = Turn.say(f"Here it is: {encoded(600)} Done.", pieces=3, stall_after=6)
    seen: list[str] = []

    def on_chunk(c: Json) -> None:
        seen.append(c.get("delta", ""))
        if len("".join(seen)) > 500:
            stop.set()

    result, _ = ask([turn], stop=stop, on_chunk=on_chunk)
    assert result.outcome.status == "stopped"
    assert result.outcome.raw[-1]["content"][0]["text"].startswith("Here it is: … ")


def test_result_that_holds_base64_is_kept_from_the_model() -> None:
    binary = encoded(3000)

    def leak(name: str, given: Json, stop: threading.Event) -> ToolOutput:
        return ToolOutput(f"picture: {binary}", "Read")

    _, server = ask([Turn.call(ADD), Turn.say("I cannot see it.")], tool=leak)
    assert "binary data" in results_of(server)[0]["content"]
    assert binary[:100] not in str(server.requests[-1].body)


@pytest.mark.parametrize(
    "where",
    [
        {"cut_after": 6},
        {"stall_after": 6},
        {"error_after": 6},
        {"garbage_after": 6},
        {"end_after": 6},
    ],
)
def test_cut_stream_is_asked_again_and_shows_only_the_new_attempt(where: dict[str, int]) -> None:
    result, server = ask([Turn.say("Old attempt of text.", **where), Turn.say("New attempt.")])
    assert result.text == "New attempt."
    [reset] = result.kinds("data-reset-step")
    assert reset["transient"], "clients of the protocol must not keep it among the answer's parts"
    assert any("Old" in c["delta"] for c in result.kinds("text-delta"))
    assert result.outcome.usage["input"] == sum(r.tokens for r in server.requests)


def test_stream_that_keeps_breaking_ends_in_an_error_and_keeps_what_was_shown() -> None:
    cut = Turn.say("Half of an answer that never comes.", cut_after=6)
    result, server = ask([Turn.call(ADD), cut, cut, cut])
    assert result.outcome.status == "error"
    assert result.outcome.error == (
        "The connection to the model was cut in the middle of the answer. Ask again. This "
        "was step 2."
    )
    assert result.chunks[-1] == {"type": "error", "errorText": result.outcome.error}
    assert result.text.startswith("Half of")
    assert tool_parts(result)[0]["state"] == "output-available"
    assert len(server.requests) == 4
    assert result.outcome.raw[-1]["content"][0]["text"] == result.text


def test_a_model_that_is_busy_is_asked_again_and_the_viewer_told_until_then() -> None:
    result, _ = ask([Failure.overloaded(), Failure.overloaded(), Turn.say("At last.")])
    said = [c["data"]["text"] for c in result.kinds("data-status")]
    assert [text.rpartition("(")[2] for text in said if text] == ["attempt 2).", "attempt 3)."]
    assert all("Trying again in" in text for text in said if text)
    assert said[1::2] == ["", ""], "nothing is said of a wait that is over"
    assert not [part for part in result.outcome.parts if part["type"] == "data-status"]


def test_refused_request_is_not_asked_again() -> None:
    result, server = ask([Failure.unauthorized(), Turn.say("Too late.")])
    assert result.outcome.status == "error"
    assert "Check ANTHROPIC_API_KEY." in result.outcome.error
    assert "This was step" not in result.outcome.error  # there was none before it
    assert server.connections == 1


def test_stop_in_the_middle_of_text_keeps_it_and_the_next_question_knows_of_it() -> None:
    stop = threading.Event()
    slow = Turn.say("word " * 400, pieces=400, delay=0.02)
    result, _ = ask(
        [slow], stop=stop, on_chunk=lambda c: stop.set() if c["type"] == "text-delta" else None
    )
    assert result.outcome.status == "stopped"
    assert result.chunks[-1]["type"] == "abort"
    assert result.text.startswith("word")
    history = [
        question("First?"),
        answered(result.outcome, "claude-sonnet-5-5"),
        question("And now?", "u2"),
    ]
    again, server = ask([Turn.say("Fine.")], history)
    assert again.outcome.status == "completed"
    assert "word" in server.requests[0].body["messages"][1]["content"][0]["text"]


def test_stop_while_a_tool_works_ends_the_run_and_the_next_question_is_not_refused() -> None:
    stop = threading.Event()
    result, _ = ask(
        [Turn.call("hang", ADD, thinking="Wait.")],
        stop=stop,
        on_chunk=lambda c: stop.set() if c["type"] == "tool-output-available" else None,
    )
    assert result.outcome.status == "stopped"
    assert [p["state"] for p in tool_parts(result)] == ["output-error", "output-available"]
    assert tool_parts(result)[0]["errorText"] == "Not finished."
    repaired = [
        question("First?"),
        answered(result.outcome, "claude-opus-5-5"),
        question("And now?", "u2"),
    ]
    again, _ = ask([Turn.say("Fine.")], repaired)
    assert again.outcome.status == "completed"


LIMITS = [
    (RunLimits(turns=2), "I stopped after 2 steps, the limit for one answer"),
    (RunLimits(tool_calls=2), "I stopped after 2 tool calls"),
    (RunLimits(tokens=100), "I stopped after 100 tokens"),
    (RunLimits(money=0.0001), "I stopped after $0.00"),
    (RunLimits(seconds=1e-9), "I stopped after 0 seconds"),
]


@pytest.mark.parametrize(("limits", "sentence"), LIMITS, ids=[s for _, s in LIMITS])
def test_limit_ends_with_an_answer_that_says_so(limits: RunLimits, sentence: str) -> None:
    result, _ = ask(lambda body: Turn.call(ADD, text="Once more."), limits=limits)
    assert result.outcome.status == "completed"
    assert result.outcome.finish_reason == "length"
    assert sentence in result.text
    assert "LEAF_RUN_" in result.text
    history = [
        question("First?"),
        answered(result.outcome, "claude-sonnet-5-5"),
        question("Go on.", "u2"),
    ]
    with MessagesServer(lambda body: Turn.say("Done.")) as server:
        assert (
            answer(agent_for(ClaudeModel("key", server.url, retries=0)), history).outcome.status
            == "completed"
        )
        assert sentence in str(server.requests[0].body["messages"])


ENDS = [
    ("refusal", "content-filter", "The model declined to answer this."),
    ("max_tokens", "length", "The answer was cut at the limit for one turn"),
    ("model_context_window_exceeded", "length", "This chat is now as long as the model can take."),
]


@pytest.mark.parametrize(("stop_reason", "finish", "sentence"), ENDS)
def test_each_odd_end_has_its_own_sentence(stop_reason: str, finish: str, sentence: str) -> None:
    result, _ = ask([Turn.say("Some text.", stop_reason=stop_reason)])
    assert result.outcome.finish_reason == finish
    assert result.text.startswith("Some text.\n" + sentence)
    [remembered] = result.outcome.raw  # in one message, as what the model said itself
    assert [block["text"].startswith(sentence) for block in remembered["content"]] == [False, True]


def test_a_tool_whose_files_are_away_is_called_again_and_the_viewer_is_told() -> None:
    calls: list[str] = []

    def away_once(name: str, given: Json, stop: threading.Event) -> ToolOutput:
        calls.append(name)
        if len(calls) == 1:
            raise StorageAwayError("The storage does not answer.")
        return run_tool(name, given, stop)

    with MessagesServer([Turn.call(ADD), Turn.say("It is 6.")]) as server:
        agent = agent_for(ClaudeModel("key", server.url, retries=0))
        result = answer(agent, "How much is it?", tool=away_once)
    assert calls == ["add_numbers", "add_numbers"]
    assert results_of(server)[0]["content"] == "sum=6"
    [told] = result.kinds("data-progress")
    assert told["data"]["text"] == "The storage does not answer. Trying again in 1 s."
    assert "data-progress" not in [part["type"] for part in result.outcome.parts]


def test_call_that_was_cut_by_the_length_limit_is_not_run_and_not_sent_back() -> None:
    cut = Turn.call(("add_numbers", {"__json__": '{"numb'}), stop_reason="max_tokens")
    result, _ = ask([cut])
    assert "add_numbers" not in str(result.outcome.raw)
    assert tool_parts(result)[0]["state"] == "output-error"


def test_answer_without_a_word_says_so() -> None:
    result, _ = ask([Turn((), stop_reason="end_turn")])
    assert "The model ended without an answer." in result.text


def test_paused_turn_is_sent_back_unchanged_and_goes_on() -> None:
    result, server = ask(
        [Turn.say("First half", thinking="Hm.", stop_reason="pause_turn"), Turn.say("second half.")]
    )
    assert result.text == "First half\nsecond half."
    sent = server.requests[1].body["messages"][-1]
    assert sent == result.outcome.raw[0]
    assert sent["role"] == "assistant"


def test_sources_coverage_and_usage_come_once_before_the_end() -> None:
    calls = [
        ("read_lines", {"file": "a.txt", "first": a, "last": b})
        for a, b in ((1, 10), (5, 20), (1, 10))
    ]
    result, server = ask([Turn.call(*calls), Turn.say("Read.")], inline_tokens=500_000)
    assert [place_of(c) for c in result.kinds("source-document")] == ["lines 1-10", "lines 5-20"]
    assert result.kinds("source-document")[0]["mediaType"] == "text/plain"
    [covered] = result.kinds("data-coverage")[0]["data"]["files"]
    assert (covered["seen"], covered["total"], covered["unit"], covered["ranges"]) == (
        20,
        100,
        "lines",
        [[1, 20]],
    )
    usage = result.outcome.usage
    assert usage["input"] == sum(r.tokens for r in server.requests)
    assert usage["cached"] == sum(r.usage["cache_read_input_tokens"] for r in server.requests)
    assert usage["cost"] > 0
    assert 0 <= usage["seconds"] < 60
    assert (usage["inline_tokens"], usage["inline_cost"]) == (500_000, pytest.approx(1.0))


class SlowSteps(InlineSteps):
    """Each step says that it took ten seconds, as one that is replayed says what it took then."""

    def __call__(self, name: str, shape: type[S], function: Callable[[], S], /) -> S:
        return self._slow(super().__call__(name, shape, function))

    def parallel(self, shape: type[S], jobs: Sequence[tuple[str, Callable[[], S]]], /) -> list[S]:
        return [self._slow(step) for step in super().parallel(shape, jobs)]

    def _slow(self, step: S) -> S:
        counted = isinstance(step, ModelStep | ToolStep | CitationStep)
        return replace(step, seconds=10.0) if counted else step  # type: ignore[type-var]


class Sure:
    """A resolver of citations that finds everything."""

    def name(self, handle: str) -> tuple[str, str] | None:
        return "id-1", "a.txt"

    def check(self, citations: Sequence[Citation]) -> list[Verdict]:
        return [Verdict(True, "lines 1-10") for _ in citations]


def test_an_answers_time_is_that_of_its_steps_and_calls_side_by_side_count_once() -> None:
    two = [Turn.call(ADD, ADD), Turn.say("It is 6.")]
    result, _ = ask(two, steps=SlowSteps())
    assert result.outcome.usage["seconds"] == pytest.approx(30, abs=0.5)
    cited = [Turn.say('It is 6 [f1#lines 1-10 "six"].')]
    result, _ = ask(cited, steps=SlowSteps(), resolver=Sure())
    assert len(result.kinds("source-document")) == 2, "as it was written, and as it was checked"
    assert result.outcome.usage["seconds"] == pytest.approx(20, abs=0.5)


def test_each_turns_use_is_told_under_the_name_of_its_step() -> None:
    told: list[tuple[str, TokenUsage, float | None]] = []
    result, server = ask(
        [Turn.call(ADD), Turn.say("It is 6.")], spent=lambda *one: told.append(one)
    )
    names = [name for name, _, _ in told]
    assert len(set(names)) == len(server.requests) == 2
    assert sum(used.input for _, used, _ in told) == result.outcome.usage["input"]
    assert sum(used.output for _, used, _ in told) == result.outcome.usage["output"]
    assert sum(money or 0 for _, _, money in told) == pytest.approx(result.outcome.usage["cost"])


def test_coverage_of_several_calls_never_counts_a_unit_twice() -> None:
    def output(*covers: Coverage) -> Json:
        return ToolOutput("", "", coverage=covers).to_json()

    scan = Coverage("t", "t.csv", "rows", 1000, 1000)
    page = Coverage("p", "p.pdf", "pages", 3, 340, ((3, 5),))
    overlap = Coverage("p", "p.pdf", "pages", 2, 340, ((5, 6),))
    merged = merge_coverage([output(scan, page), output(scan), output(overlap)])
    assert [(m["name"], m["seen"], m["total"]) for m in merged] == [
        ("t.csv", 1000, 1000),
        ("p.pdf", 4, 340),
    ]
    assert unite([(5, 9), (1, 2), (3, 3), (8, 12)]) == [[1, 3], [5, 12]]


@pytest.mark.parametrize(
    ("step", "outcome", "tokens"),
    [
        (ToolStep("c1", error="No such file."), "error", 0),
        (ToolStep("c1", stopped=True), "stopped", 0),
        (ToolStep("c1", usage=TokenUsage(input=7, output=5)), "ok", 12),
        (ModelStep(error="Overloaded."), "error", 0),
        (ModelStep(usage=TokenUsage(input=7, output=5)), "ok", 12),
    ],
)
def test_a_step_says_how_it_ended_and_what_it_took(
    step: ModelStep | ToolStep, outcome: str, tokens: int
) -> None:
    assert (step.outcome, step.tokens) == (outcome, tokens)


class KeptSteps:
    """Keeps the value of each finished step, as a durable executor does; may crash before a named
    step."""

    def __init__(self, kept: dict[str, Json], crash_before: str = "") -> None:
        self.kept = kept
        self.crash_before = crash_before

    def __call__(self, name: str, shape: type[S], function: Callable[[], S]) -> S:
        if name not in self.kept:
            if name == self.crash_before:
                raise KeyboardInterrupt
            self.kept[name] = json.loads(json.dumps(function().to_json()))
        return shape.from_json(self.kept[name])

    def parallel(self, shape: type[S], jobs: Sequence[tuple[str, Callable[[], S]]]) -> list[S]:
        return [self(name, shape, function) for name, function in jobs]


@pytest.mark.parametrize("crash_before", ["model-1", "tool-1-2-add_numbers", "model-2", "model-3"])
def test_run_that_goes_on_after_a_crash_does_no_step_twice_and_ends_the_same(
    crash_before: str,
) -> None:
    script = [Turn.call(ADD, ADD, thinking="Two."), Turn.call(ADD), Turn.say("Three sums.")]
    with MessagesServer(script) as server:
        agent = agent_for(ClaudeModel("key", server.url, retries=0))
        kept: dict[str, Json] = {}
        chunks: list[Json] = []
        with pytest.raises(KeyboardInterrupt):
            answer(agent, "Sum?", steps=KeptSteps(kept, crash_before), on_chunk=chunks.append)
        result = answer(agent, "Sum?", steps=KeptSteps(kept), on_chunk=chunks.append)
        assert len(server.requests) == 3
        assert server.refused == []
    assert result.text == "Three sums."
    assert reduce(chunks) == result.outcome.parts
    assert len(tool_parts(result)) == 3


class CountingModel:
    """Gives each call the id `call_0`, as some local servers do."""

    def turn(self, request: ModelRequest, emit: Emit, stop: threading.Event) -> ModelTurn:
        if len(request.messages) > 4:
            done = [{"type": "text", "text": "Done."}]
            return ModelTurn(done, "end_turn", TokenUsage(100, output=2))
        use = {
            "type": "tool_use",
            "id": "call_0",
            "name": "add_numbers",
            "input": {"numbers": [len(request.messages)]},
        }
        return ModelTurn([use], "tool_use", TokenUsage(50, output=10))


def test_call_ids_that_repeat_in_each_turn_are_told_apart() -> None:
    result = answer(agent_for(CountingModel()), "Sum?", steps=InlineSteps())
    assert [p["output"]["text"] for p in tool_parts(result)] == ["sum=1", "sum=3"]
    assert len({p["toolCallId"] for p in tool_parts(result)}) == 2


def added(*numbers: int, call_id: str) -> Json:
    return {
        "type": "tool_use",
        "id": call_id,
        "name": "add_numbers",
        "input": {"numbers": list(numbers)},
    }


@pytest.mark.parametrize("inputs", [((1, 2), (100,)), ((4,), (4,))], ids=["other", "same"])
@pytest.mark.parametrize("call_id", ["call", ""])
def test_calls_of_one_turn_with_one_id_each_have_their_own_result(
    inputs: tuple[tuple[int, ...], ...], call_id: str
) -> None:
    calls = Turn(tuple(added(*numbers, call_id=call_id) for numbers in inputs))
    result, server = ask([calls, Turn.say("Done.")])
    sums = [f"sum={sum(numbers)}" for numbers in inputs]
    assert [part["output"]["text"] for part in tool_parts(result)] == sums
    ids = [part["toolCallId"] for part in tool_parts(result)]
    assert len(set(ids)) == 2
    assert all(ids)
    assert [block["content"] for block in results_of(server)] == sums
    assert [block["tool_use_id"] for block in results_of(server)] == ids


def test_a_turn_that_says_tool_use_and_calls_none_ends_the_answer() -> None:
    result, server = ask([Turn.say("That is all.", stop_reason="tool_use")])
    assert (result.outcome.status, result.text) == ("completed", "That is all.")
    assert len(server.requests) == 1


@pytest.mark.parametrize("reason", ["end_turn", "stop_sequence"])
def test_calls_of_a_turn_that_says_that_it_ended_are_run(reason: str) -> None:
    result, _ = ask([Turn.call(ADD, stop_reason=reason), Turn.say("Six.")])
    assert tool_parts(result)[0]["output"]["text"] == "sum=6"
    assert result.text == "Six."


@pytest.mark.parametrize("text", ['{"numbers":' + "[" * 50_000, '{"a":' * 700 + "1" + "}" * 700])
def test_an_input_that_goes_too_deep_goes_back_to_the_model(text: str) -> None:
    result, server = ask([Turn.call(("add_numbers", {"__json__": text})), Turn.say("Sorry.")])
    assert result.outcome.status == "completed"
    assert results_of(server)[0]["is_error"] is True
    assert tool_parts(result)[0]["state"] == "output-error"


def test_an_answer_of_a_model_whose_price_is_not_known_has_no_cost() -> None:
    result = answer(agent_for(CountingModel()), "Sum?", model="llama")
    assert result.outcome.status == "completed"
    assert result.outcome.usage["cost"] is None


class RulesModel(CountingModel):
    """Notes what it is given of tools, as rules read it."""

    def __init__(self) -> None:
        self.given: list[dict[str, str]] = []

    def turn(self, request: ModelRequest, emit: Emit, stop: threading.Event) -> ModelTurn:
        self.given.append({call: output["text"] for call, output in request.outputs.items()})
        return super().turn(request, emit, stop)


def test_rules_are_given_what_tools_gave_by_the_ids_of_their_calls() -> None:
    model = RulesModel()
    answer(agent_for(model), "Sum?")
    assert model.given == [{}, {"call_0": "sum=1"}, {"call_0": "sum=3"}]
