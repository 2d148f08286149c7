"""What of a chat's history goes into a request, and what never does."""

from __future__ import annotations

import base64
import json
import random
from typing import Any

import pytest

from leaf.agent.amounts import Sizes
from leaf.agent.blocks import alternating, question_message, refuse_binary, text_block, tool_result
from leaf.agent.calibration import Calibration
from leaf.agent.compaction_plan import WindowLimits
from leaf.agent.context import repair, system_prompt, user_message
from leaf.agent.models.claude import ClaudeModel
from leaf.agent.window import Context
from leaf.errors import InvalidInputError
from leaf.store.model import Message
from leaf.tools import registry
from tests.agent_kit import agent_for, answer, question
from tests.messages_server import CHARACTERS_A_TOKEN, MessagesServer, Turn

Json = dict[str, Any]
THINKING = {"type": "thinking", "thinking": "Hm.", "signature": "sig"}
USE = {"type": "tool_use", "id": "c1", "name": "list_files", "input": {}}
OTHER = {"type": "tool_use", "id": "c2", "name": "list_files", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "c1", "content": "one file"}
SAID = {"type": "text", "text": "One file."}


def said(*raw: Json, model: str = "claude-sonnet-5-5") -> Message:
    return Message("a1", "chat", "u1", "assistant", "completed", [], list(raw), model=model)


def assistant(*blocks: Json) -> Json:
    return {"role": "assistant", "content": list(blocks)}


def user(*blocks: Json) -> Json:
    return {"role": "user", "content": list(blocks)}


TURNS = (assistant(THINKING, USE), user(RESULT), assistant(THINKING, SAID))


def request_messages(history: list[Message], *, model: str, profile: str) -> list[Json]:
    """What the first request of an answer after this history holds."""
    answer = Message("a9", "chat", "u9", "assistant", "streaming", [], [], model=model)
    limits = WindowLimits.of(model, 200_000, 8_000, 1.0)
    context = Context(answer, history, [], limits, Sizes(), Calibration(), profile)
    return context.messages([], [], None)


def test_raw_messages_go_out_byte_for_byte_as_they_were_kept() -> None:
    history = [question("Which files?"), said(*TURNS), question("And?", "u2")]
    sent = request_messages(history, model="claude-sonnet-5-5", profile="claude")
    assert json.dumps(sent) == json.dumps([*history[0].raw, *TURNS, *history[2].raw])


@pytest.mark.parametrize(
    ("model", "profile"), [("claude-opus-5-5", "claude"), ("claude-sonnet-5-5", "basic")]
)
def test_thinking_goes_only_to_the_model_that_thought_it(model: str, profile: str) -> None:
    sent = request_messages([question("Which files?"), said(*TURNS)], model=model, profile=profile)
    assert sent[1:] == [assistant(USE), user(RESULT), assistant(SAID)]


def test_turn_of_thinking_alone_leaves_no_empty_message_behind() -> None:
    sent = request_messages(
        [question("Hm?"), said(assistant(THINKING)), question("And?", "u2")],
        model="m",
        profile="claude",
    )
    assert [m["role"] for m in sent] == ["user", "user"]


BROKEN = [
    ([assistant(USE)], [["c1"]]),
    ([assistant(USE, OTHER), user(RESULT)], [["c1", "c2"]]),
    ([assistant(USE), user(SAID)], [["c1"]]),
    ([assistant(USE), assistant(SAID)], [["c1"]]),
    ([assistant(SAID), user(RESULT)], []),
    ([user(RESULT, SAID)], [[]]),
]


@pytest.mark.parametrize(("messages", "results"), BROKEN)
def test_broken_run_leaves_no_call_without_result_and_no_result_without_call(
    messages: list[Json], results: list[list[str]]
) -> None:
    repaired = repair(messages)
    answers = [
        [b["tool_use_id"] for b in m["content"] if b["type"] == "tool_result"]
        for m in repaired
        if m["role"] == "user"
    ]
    assert answers == results
    assert all(m["content"] for m in repaired)
    assert repair(repaired) == repaired
    kept = [
        block
        for message in messages
        for block in message["content"]
        if block["type"] != "tool_result"
    ]
    assert all(str(block) in str(repaired) for block in kept)


def test_result_that_a_run_never_gave_is_said_to_be_unfinished() -> None:
    [_, answer] = repair([assistant(USE)])
    assert answer["content"][0]["is_error"] is True
    assert "Not finished" in answer["content"][0]["content"]


def test_question_and_its_file_lines_are_one_text_made_once() -> None:
    assert question_message(" Hello? ", "[Attached: a.csv]\n") == user(
        {"type": "text", "text": "Hello?\n\n[Attached: a.csv]"}
    )
    assert user_message("Hello?") == user({"type": "text", "text": "Hello?"})


def test_empty_question_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="The question is empty"):
        question_message("  ")


def _base64(size: int) -> str:
    return base64.b64encode(random.Random(size).randbytes(size)).decode()


BINARY = {
    "one run": f"see {_base64(600)} here",
    "wrapped": "\n".join(_base64(900)[i : i + 76] for i in range(0, 900, 76)) + "\n",
    "data url": f"![x](data:image/png;base64,{_base64(90)})",
}
TEXTS = {
    "long word": "a" * 5_000,
    "dna": "ACGT" * 500,
    "hex": "".join(random.Random(1).choices("0123456789abcdef", k=2_000)),
    "numbers": "3.14159 " * 900,
    "words": "The quick brown fox jumps over the lazy dog 7 times. " * 300,
    "table": "\n".join(f"{i}|North{i}|{i * 3.5}" for i in range(900)),
    "code": "def f(x):\n    return {'A1': x, 'b2': [1, 2, 3]}\n" * 200,
    "links": "https://example.com/a/B1/c?d=E2&f=3 " * 100,
}


@pytest.mark.parametrize("kind", BINARY)
def test_binary_written_as_text_is_refused_wherever_a_block_is_made(kind: str) -> None:
    for make in (text_block, question_message, lambda text: tool_result("c1", text)):
        with pytest.raises(InvalidInputError, match="binary data"):
            make(BINARY[kind])


@pytest.mark.parametrize("kind", TEXTS)
def test_ordinary_text_passes_the_guard(kind: str) -> None:
    assert refuse_binary(TEXTS[kind]) == TEXTS[kind]


def test_no_block_is_empty() -> None:
    assert text_block("")["text"]
    assert tool_result("c1", "")["content"]


def test_system_prompt_and_tools_are_small_and_always_the_same() -> None:
    characters = len(system_prompt()) + len(json.dumps(registry.schemas()))
    assert characters / CHARACTERS_A_TOKEN <= 5_000
    assert json.dumps(registry.schemas()) == json.dumps(registry.schemas())


def test_a_server_of_templates_gets_question_and_answer_in_turns_and_another_all_as_it_was() -> (
    None
):
    stopped = [question("And South?", "u2"), question("And East?", "u3")]
    history = [question("North?"), said(assistant(SAID)), *stopped]
    with MessagesServer(lambda _: Turn.say("Fine."), models=(), strict=False) as server:
        for profile in ("basic", "claude"):
            agent = agent_for(ClaudeModel("", server.url), profile_for=lambda _, p=profile: p)
            assert answer(agent, history).text == "Fine."
    basic, claude = (request.body["messages"] for request in server.requests)
    assert [message["role"] for message in basic] == ["user", "assistant", "user"]
    assert [block["text"] for block in basic[-1]["content"]] == ["And South?", "And East?"]
    assert [message["role"] for message in claude] == ["user", "assistant", "user", "user"]
    assert alternating([{"role": "user", "content": "a"}, user(RESULT)]) == [
        user({"type": "text", "text": "a"}, RESULT)
    ]


@pytest.mark.parametrize(
    ("window", "most"), [(1_000_000, 16_000), (32_000, 16_000), (8_192, 4_096)]
)
def test_no_longer_turn_is_asked_for_than_the_window_has_room_for(window: int, most: int) -> None:
    with MessagesServer(lambda _: Turn.say("Fine."), models=(), strict=False) as server:
        agent = agent_for(ClaudeModel("", server.url), window_for=lambda _: window)
        short, long = "North?", "North and South and East? " * 300
        for words in (short, long):
            answer(agent, words)
    asked = [request.body["max_tokens"] for request in server.requests]
    assert asked[0] == most
    assert all(
        tokens + server.length(request.body) < window
        for tokens, request in zip(asked, server.requests, strict=True)
    )
