"""The model behind the Messages API: what is sent, what comes back, and what each failure says."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from leaf.agent.models.base import ModelEvent, ModelRequest, ModelTurn, TokenUsage, TurnCutError
from leaf.agent.models.chosen import ChosenModel
from leaf.agent.models.claude import ClaudeModel, request_body
from leaf.agent.models.directory import ModelDirectory
from leaf.agent.models.prices import cost, inline_cost
from leaf.agent.steps import ModelStep
from leaf.errors import InvalidInputError, ModelError, RunError
from leaf.settings import Settings
from leaf.store import open_store
from tests.messages_server import Failure, MessagesServer, Turn

ADD = {
    "name": "add_numbers",
    "description": "Adds.",
    "input_schema": {"type": "object", "properties": {}},
}
HELLO = [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}]


def request(messages: list[dict[str, Any]] = HELLO, **options: Any) -> ModelRequest:
    return ModelRequest(
        **{
            "model": "claude-sonnet-5-5",
            "system": "Be brief.",
            "tools": [ADD],
            "messages": messages,
            **options,
        }
    )


def ask(
    server: MessagesServer,
    events: list[ModelEvent] | None = None,
    *,
    stop: threading.Event | None = None,
    **options: Any,
) -> ModelTurn:
    model = ClaudeModel("key", server.url, **{"retries": 0, "stall_seconds": 0.6, **options})
    emit: Callable[[ModelEvent], None] = events.append if events is not None else lambda e: None
    return model.turn(request(), emit, stop or threading.Event())


def test_turn_holds_raw_blocks_with_signatures_and_streams_them_as_they_come() -> None:
    script = [
        Turn.call(("add_numbers", {"numbers": [1, 2]}), thinking="Two numbers.", text="I add them.")
    ]
    events: list[ModelEvent] = []
    with MessagesServer(script) as server:
        turn = ask(server, events)
    assert turn.stop_reason == "tool_use"
    assert [b["type"] for b in turn.content] == ["thinking", "text", "tool_use"]
    assert turn.content[0] == {
        "type": "thinking",
        "thinking": "Two numbers.",
        "signature": "sig_000002",
    }
    assert turn.content[2]["input"] == {"numbers": [1, 2]}
    shown = {
        kind: "".join(e.delta for e in events if e.kind == kind)
        for kind in ("reasoning", "text", "tool-input")
    }
    assert shown == {
        "reasoning": "Two numbers.",
        "text": "I add them.",
        "tool-input": '{"numbers": [1, 2]}',
    }
    assert len([e for e in events if e.kind == "text" and e.phase == "delta"]) > 3


def test_turn_survives_the_way_through_json() -> None:
    with MessagesServer([Turn.call("add_numbers", thinking="Hm.")]) as server:
        turn = ask(server)
    assert ModelStep.from_json(json.loads(json.dumps(ModelStep(turn).to_json()))).turn == turn


def test_usage_counts_all_input_and_the_last_totals_stand() -> None:
    with MessagesServer([Turn.say("Hello there."), Turn.say("Hello again.")]) as server:
        first, second = ask(server).usage, ask(server).usage
        sent = server.requests
    assert first.input == sent[0].tokens
    assert first.cached == 0
    assert second.cached == sent[1].usage["cache_read_input_tokens"] > 0
    assert second.cached + second.cache_creation <= second.input == sent[1].tokens
    assert second.output > 1


def test_claude_profile_sends_thinking_and_marks_system_and_newest_turns_without_touching_the_messages() -> (
    None
):
    messages = [*HELLO, {"role": "assistant", "content": [{"type": "text", "text": "Hi."}]}, *HELLO]
    body = request_body(request(messages))
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert ["cache_control" in m["content"][-1] for m in body["messages"]] == [True, False, True]
    assert not {"temperature", "top_p", "top_k", "tool_choice"} & set(body)
    assert all("cache_control" not in m["content"][-1] for m in messages)


def test_basic_profile_sends_nothing_that_a_local_server_may_not_know() -> None:
    with MessagesServer([Turn.say("Hi.")], models=("llama",), basic=True) as server:
        model = ClaudeModel("", server.url)
        turn = model.turn(
            request(model="llama", profile="basic"), lambda e: None, threading.Event()
        )
        body = server.requests[0].body
    assert turn.content == [{"type": "text", "text": "Hi."}]
    assert body["system"] == "Be brief."
    assert "cache_control" not in str(body)


FAILURES = [
    (Failure.unauthorized(), "refused the key (401). Check ANTHROPIC_API_KEY."),
    (
        Failure(403, "permission_error", "not for you"),
        "may not use this model or server (403): not for you.",
    ),
    (
        Failure.unknown_model(),
        "has no model 'claude-sonnet-5-5' (404). Choose another in the settings, or set "
        "LEAF_MODEL.",
    ),
    (Failure(404, body=b"<h1>nothing here</h1>"), "There is no Messages API at http://127.0.0.1"),
    (Failure.too_long(), "longer than the model can take (400). Start a new chat"),
    (Failure(413, "request_too_large", "too large"), "longer than the model can take (413)."),
    (
        Failure(400, "invalid_request_error", "Your credit balance is too low"),
        "no credit left (400).",
    ),
    (
        Failure(400, "invalid_request_error", "max_tokens: too big"),
        "rejected the request (400): max_tokens: too big.",
    ),
    (
        Failure.rate_limited(),
        "takes no more requests for now (429). Wait a minute, then ask again.",
    ),
    (Failure.overloaded(), "The model is overloaded (529). Wait a minute, then ask again."),
    (Failure(500), "failed (500): Internal server error."),
    (Failure.garbage(), "something that is not a Messages API stream."),
    (
        Failure(200, body=b"event: message_start\ndata: {broken\n\n"),
        "something that is not a Messages API stream.",
    ),
]


@pytest.mark.parametrize(
    ("failure", "sentence"), FAILURES, ids=[f"{f.status}-{s[:24]}" for f, s in FAILURES]
)
def test_failure_before_the_stream_says_what_and_what_to_do(
    failure: Failure, sentence: str
) -> None:
    with MessagesServer([failure]) as server, pytest.raises(ModelError) as caught:
        ask(server)
    assert sentence in str(caught.value)
    assert not isinstance(caught.value, TurnCutError)
    assert caught.value.retryable is (failure.status in (429, 500, 529))


CUTS = [
    ({"cut_after": 5}, "The connection to the model was cut in the middle of the answer."),
    ({"stall_after": 5}, "sent nothing for 0.6 seconds."),
    ({"error_after": 5}, "The model server broke the answer off: it is overloaded."),
    ({"garbage_after": 5}, "something that is not a Messages API stream."),
    ({"end_after": 5}, "The model's answer ended before it was complete."),
]


@pytest.mark.parametrize(("where", "sentence"), CUTS, ids=[next(iter(w)) for w, _ in CUTS])
def test_stream_that_breaks_off_says_so_and_may_be_tried_again(
    where: dict[str, int], sentence: str
) -> None:
    events: list[ModelEvent] = []
    with (
        MessagesServer([Turn.say("A long answer.", **where)]) as server,
        pytest.raises(TurnCutError) as caught,
    ):
        ask(server, events)
    assert sentence in str(caught.value)
    assert any(e.kind == "text" and e.delta for e in events)
    assert events[0].usage.input > 0


@pytest.mark.parametrize("failure", [Failure.rate_limited(), Failure.overloaded(), Failure(500)])
def test_request_is_tried_again_before_the_stream_begins(failure: Failure) -> None:
    with MessagesServer([failure, failure, Turn.say("Here I am.")]) as server:
        turn = ask(server, retries=2)
        assert server.connections == 3
    assert turn.content[0]["text"] == "Here I am."


def test_wait_longer_than_a_person_has_patience_is_reported_at_once() -> None:
    with (
        MessagesServer([Failure.rate_limited(3600)]) as server,
        pytest.raises(ModelError, match="429"),
    ):
        ask(server, retries=2)


def test_server_that_does_not_run_is_named_with_its_address_and_nothing_secret() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    model = ClaudeModel("sk-secret", f"http://user:hidden@127.0.0.1:{port}", retries=0)
    with pytest.raises(ModelError) as caught:
        model.turn(request(), lambda e: None, threading.Event())
    assert f"The model server at http://127.0.0.1:{port} cannot be reached." in str(caught.value)
    assert "LEAF_MODEL_URL" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize(
    "turn",
    [Turn.say("A long answer.", stall_after=5), Turn.say("word " * 400, pieces=400, delay=0.05)],
)
def test_stop_ends_a_stream_at_once_and_closes_the_connection(turn: Turn) -> None:
    stop = threading.Event()
    begun = threading.Event()
    with MessagesServer([turn]) as server:
        threading.Thread(target=lambda: (begun.wait(10), stop.set()), daemon=True).start()
        model = ClaudeModel("key", server.url, stall_seconds=60)
        with pytest.raises(RunError, match=r"Stopped\."):
            model.turn(request(), lambda e: begun.set() if e.kind == "text" else None, stop)
        assert server.left.wait(10)


def test_stop_while_waiting_for_the_next_try_sends_no_further_request() -> None:
    stop = threading.Event()
    with MessagesServer([Failure.rate_limited(0.5), Turn.say("Too late.")]) as server:
        threading.Timer(0.2, stop.set).start()
        with pytest.raises(RunError, match=r"Stopped\."):
            ask(server, stop=stop, retries=2)
        time.sleep(0.8)
        assert server.connections == 1


@pytest.mark.parametrize("text", ['{"numbers": [1, 2', "[1, 2]", "{numbers}"])
def test_input_that_is_not_a_json_object_is_kept_as_it_came_and_sent_back_empty(text: str) -> None:
    with MessagesServer([Turn.call(("add_numbers", {"__json__": text}))]) as server:
        turn = ask(server)
    assert turn.content[0]["input"] == {}
    assert turn.broken == {turn.content[0]["id"]: text}


def test_call_without_any_input_has_an_empty_one() -> None:
    with MessagesServer([Turn.call("add_numbers")]) as server:
        turn = ask(server)
    assert turn.content[0]["input"] == {}
    assert turn.broken == {}


def test_models_come_from_the_server_with_the_default_first(tmp_path: Any) -> None:
    with MessagesServer(models=("a-model", "claude-sonnet-5-5")) as server:
        settings = Settings(home=tmp_path, api_key="key", model_url=server.url)
        store = open_store(settings)
        chosen = ChosenModel(store.db, tmp_path)
        directory = ModelDirectory(settings, ClaudeModel("key", server.url).list_models, chosen)
        assert [c.id for c in directory.choices()] == ["claude-sonnet-5-5", "a-model"]
        directory.set_default("a-model")
        assert [c.name for c in ModelDirectory(settings, list, chosen).choices()] == ["a-model"]
        with pytest.raises(InvalidInputError, match="not the name of a model"):
            directory.set_default("two words")
        store.close()


def test_models_can_be_chosen_although_the_server_does_not_say(tmp_path: Any) -> None:
    with MessagesServer(key="other") as server:
        asked = ClaudeModel("key", server.url, retries=0).list_models
        anthropics = ModelDirectory(Settings(home=tmp_path, api_key="key"), asked)
        assert anthropics.choices()[0].id == "claude-sonnet-5-5"
        local = Settings(home=tmp_path, model_url=server.url, model="llama")
        assert [c.id for c in ModelDirectory(local, asked).choices()] == ["llama"]


def test_without_a_key_the_rules_are_the_only_choice(tmp_path: Any) -> None:
    assert [c.id for c in ModelDirectory(Settings(home=tmp_path), list).choices()] == ["keyless"]


PRICES = [
    (TokenUsage(1_000_000, 0, 0, 0), "claude-sonnet-5-5", 2.0),
    (TokenUsage(1_000_000, 1_000_000, 0, 100_000), "claude-sonnet-5-5", 0.1 + 1.0),
    (TokenUsage(1_000_000, 500_000, 500_000, 0), "claude-opus-5-5-20261001", 0.1 + 2.5),
    (TokenUsage(100_000, 0, 0, 0), "claude-haiku-5-5", 0.01),
    (TokenUsage(100_001, 0, 0, 0), "claude-haiku-5-5", 0.05000050),
    (TokenUsage(100, 0, 0, 100), "llama", None),
    (TokenUsage(), "keyless", 0.0),
]


@pytest.mark.parametrize(("usage", "model", "dollars"), PRICES)
def test_cost_follows_the_price_list(usage: TokenUsage, model: str, dollars: float | None) -> None:
    assert cost(usage, model) == (None if dollars is None else pytest.approx(dollars))


def test_inlining_costs_plain_input() -> None:
    assert inline_cost(1_000_000, "claude-sonnet-5-5") == pytest.approx(2.0)
    assert inline_cost(1_000_000, "llama") is None
