"""Servers that speak the Messages API in their own way, or another API: what is understood, and
what is said."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leaf.agent.models import wire
from leaf.agent.models.base import (
    ModelEvent,
    ModelRequest,
    ModelTurn,
    TokenUsage,
    TooLongError,
    TurnCutError,
)
from leaf.agent.models.claude import ClaudeModel
from leaf.doctor import check
from leaf.errors import ModelError, SettingsError
from leaf.settings import Settings, load, model_address
from tests.messages_server import Failure, Json, MessagesServer, Turn
from tests.openai_server import REFUSALS, OpenAIServer, Refusal

ADD = {
    "name": "add_numbers",
    "description": "Adds.",
    "input_schema": {"type": "object", "properties": {}},
}
QUESTION = {"role": "user", "content": [{"type": "text", "text": "Add."}]}


def turn_of(url: str, events: list[ModelEvent] | None = None, **options: Any) -> ModelTurn:
    model = ClaudeModel("key", url, retries=0, stall_seconds=2)
    request = ModelRequest(
        **{
            "model": "claude-sonnet-5-5",
            "system": "Add.",
            "tools": [ADD],
            "messages": [QUESTION],
            **options,
        }
    )
    return model.turn(
        request, (lambda e: None) if events is None else events.append, threading.Event()
    )


@pytest.mark.parametrize("form", ["unnamed", "whole"])
def test_a_turn_is_the_same_however_the_server_tells_it(form: Any) -> None:
    script = [
        Turn.call(
            ("add_numbers", {"numbers": [1, 2], "why": "Grüße 手机"}),
            thinking="Two numbers.",
            text="I add “them”.",
        )
    ]
    with MessagesServer(script) as plain, MessagesServer(script, form=form) as other:
        shown: list[ModelEvent] = []
        expected, turn = turn_of(plain.url), turn_of(other.url, shown)
    assert replace(turn, seconds=expected.seconds) == expected
    assert turn.stop_reason == "tool_use"
    assert [b["type"] for b in turn.content] == ["thinking", "text", "tool_use"]
    said = {
        kind: "".join(e.delta for e in shown if e.kind == kind)
        for kind in ("reasoning", "text", "tool-input")
    }
    assert (said["reasoning"], said["text"]) == ("Two numbers.", "I add “them”.")
    assert json.loads(said["tool-input"]) == {"numbers": [1, 2], "why": "Grüße 手机"}


@pytest.mark.parametrize("form", ["unnamed", "whole"])
def test_what_such_a_server_sent_goes_back_as_it_was(form: Any) -> None:
    """The server refuses blocks that differ from those that it sent."""
    with MessagesServer(
        [Turn.call("add_numbers", thinking="Hm."), Turn.say("3")], form=form
    ) as server:
        first = turn_of(server.url)
        result = {"type": "tool_result", "tool_use_id": first.content[1]["id"], "content": "3"}
        messages = [
            QUESTION,
            {"role": "assistant", "content": first.content},
            {"role": "user", "content": [result]},
        ]
        assert turn_of(server.url, messages=messages).content[0]["text"] == "3"
        assert not server.refused


CUTS = [
    ({"cut_after": 5}, "The connection to the model was cut in the middle of the answer."),
    ({"error_after": 5}, "The model server broke the answer off: it is overloaded."),
    ({"end_after": 5}, "The model's answer ended before it was complete."),
    ({"stall_after": 5}, "sent nothing for 2 seconds."),
]


@pytest.mark.parametrize(("where", "sentence"), CUTS, ids=[next(iter(w)) for w, _ in CUTS])
def test_a_stream_without_names_of_events_breaks_off_like_any_other(
    where: dict[str, int], sentence: str
) -> None:
    with (
        MessagesServer([Turn.say("A long answer.", **where)], form="unnamed") as server,
        pytest.raises(TurnCutError) as caught,
    ):
        turn_of(server.url)
    assert sentence in str(caught.value)


def test_a_whole_message_without_a_reason_to_stop_is_an_answer_cut_short() -> None:
    body = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "Half"}],
        "stop_reason": None,
    }
    with (
        MessagesServer([Failure(200, body=json.dumps(body).encode())]) as server,
        pytest.raises(TurnCutError, match="complete"),
    ):
        turn_of(server.url)


def streamed(*blocks: Json, reason: str = "tool_use") -> Failure:
    """An answer with these events of its blocks, as they stand."""
    usage = {"input_tokens": 10, "output_tokens": 1}
    events: list[Json] = [
        {"type": "message_start", "message": {"model": "m", "usage": usage}},
        *blocks,
        {"type": "message_delta", "delta": {"stop_reason": reason}},
        {"type": "message_stop"},
    ]
    return Failure(200, body="".join(f"data: {json.dumps(e)}\n\n" for e in events).encode())


def begun(block: Json, index: int = 0) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": block}


def added(delta: Json, index: int = 0) -> Json:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def piece(json_text: object) -> Json:
    return added({"type": "input_json_delta", "partial_json": json_text})


def call(call_id: str = "a", **block: object) -> Json:
    return begun({"type": "tool_use", "id": call_id, "name": "add_numbers", "input": {}, **block})


OVER = {"type": "content_block_stop", "index": 0}
TEXT = begun({"type": "text"})
WORDS = added({"type": "text_delta", "text": "I add."})


@pytest.mark.parametrize(
    ("events", "content"),
    [
        ((TEXT, OVER, call(), piece('{"n": 1}'), OVER), [1]),
        ((TEXT, WORDS, call(), piece('{"n": 1}')), ["I add.", 1]),
        ((TEXT, WORDS, added({"type": "later_delta", "later": 1}), OVER), ["I add."]),
        ((call(), piece('{"n": 1}'), OVER, call("b"), piece('{"n": 2}'), OVER), [1, 2]),
        ((call(input='{"n": 1}'), OVER), [1]),
        ((call(), piece({"n": 1}), OVER), [1]),
    ],
    ids=["no-text", "no-end", "unknown-delta", "one-index", "input-as-text", "input-as-object"],
)
def test_blocks_that_a_server_tells_in_its_own_way_are_whole(
    events: tuple[Json, ...], content: list[object]
) -> None:
    shown: list[ModelEvent] = []
    with MessagesServer([streamed(*events)], strict=False) as server:
        turn = turn_of(server.url, shown)
    assert [b["text"] if b["type"] == "text" else b["input"]["n"] for b in turn.content] == content
    assert not turn.broken
    ends = [e.index for e in shown if e.phase == "end"]
    assert len(ends) == len(set(ends)) == len([e for e in shown if e.phase == "start"])


@pytest.mark.parametrize(
    ("events", "text"),
    [
        ((TEXT, added({"type": "text_delta", "text": "half \ud83d."}), OVER), "half �."),
        (
            (
                TEXT,
                added({"type": "text_delta", "text": "\ud83d"}),
                added({"type": "text_delta", "text": "\ude00"}),
                OVER,
            ),
            "😀",
        ),
        ((begun({"type": "text", "text": "half \ud83d."}), OVER), "half �."),
        ((TEXT, WORDS, OVER, call(), piece('{"n": "\\ud83d"}'), OVER), "I add."),
        ((TEXT, WORDS, OVER, call(), piece('{"n": NaN, "m": 1e400}'), OVER), "I add."),
    ],
    ids=["half", "both-halves", "at-once", "half-in-an-input", "no-numbers"],
)
def test_what_no_request_can_hold_is_not_sent_back(events: tuple[Json, ...], text: str) -> None:
    with MessagesServer([streamed(*events), Turn.say("Done.")], strict=False) as server:
        turn = turn_of(server.url)
        assert ascii(turn.content[0]["text"]) == ascii(text)
        assert len(turn.broken) == len(turn.content) - 1
        messages = [QUESTION, {"role": "assistant", "content": turn.content}, QUESTION]
        assert turn_of(server.url, messages=messages).content[0]["text"] == "Done."


def test_figures_that_no_server_can_have_counted_are_made_whole() -> None:
    usage = {"input_tokens": -5, "output_tokens": 1.5, "cache_read_input_tokens": "7"}
    message = {"type": "message", "content": [{"type": "text", "text": "a"}], "usage": usage}
    body = json.dumps({**message, "stop_reason": "end_turn"}).encode()
    with MessagesServer([Failure(200, body=body)]) as server:
        assert turn_of(server.url).usage == TokenUsage(7, cached=7, output=1)


@pytest.mark.parametrize(
    ("reason", "meant"),
    [
        ("stop", "end_turn"),
        ("tool_calls", "tool_use"),
        ("length", "max_tokens"),
        ("content_filter", "refusal"),
    ],
)
def test_reasons_in_the_words_of_openais_api_are_understood(reason: str, meant: str) -> None:
    with MessagesServer([streamed(TEXT, WORDS, OVER, reason=reason)]) as server:
        assert turn_of(server.url).stop_reason == meant


TOO_LONG = [
    ("prompt is too long: 1200000 tokens > 1000000 maximum", 1_200_000, 1_000_000),
    (
        "input length and `max_tokens` exceed context limit: 174167 + 64000 > 200000, decrease "
        "input length or `max_tokens` and try again",
        174_167,
        136_000,
    ),
    (
        "request (33000 tokens) exceeds the available context size (8192 tokens), try "
        "increasing it",
        33_000,
        8_192,
    ),
    (
        "This model's maximum context length is 16384 tokens. However, you requested 122946 "
        "tokens (112946 in the messages, 10000 in the completion).",
        112_946,
        6_384,
    ),
    (
        "This model's maximum context length is 8192 tokens. However, your request has 10000 "
        "input tokens.",
        10_000,
        8_192,
    ),
    ("The decoder prompt (length 5000) is longer than the maximum model length of 4096.", 0, 0),
]


@pytest.mark.parametrize(("words", "tokens", "most"), TOO_LONG)
@pytest.mark.parametrize("within", ["status", "event"])
def test_a_request_that_is_too_long_is_known_in_the_words_of_each_server(
    words: str, tokens: int, most: int, within: str
) -> None:
    error = {"type": "invalid_request_error", "message": words}
    event = f"data: {json.dumps({'type': 'error', 'error': error})}\n\n".encode()
    failure = (
        Failure(400, "invalid_request_error", words)
        if within == "status"
        else Failure(200, body=event)
    )
    with MessagesServer([failure]) as server, pytest.raises(TooLongError) as caught:
        turn_of(server.url)
    assert (caught.value.tokens, caught.value.most) == (tokens, most)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_cut_where_the_standard_says_and_nowhere_else(size: int, end: str) -> None:
    text = "手机\u2028\x85\x0bStück"
    events = [
        {"type": "content_block_delta", "index": 0, "delta": {"text": text}},
        {"type": "message_stop"},
    ]
    lines = [
        ": a comment",
        "id: 7",
        "",
        *(f"data:{json.dumps(e, ensure_ascii=False)}{end}" for e in events),
        "data: [DONE]",
        "",
        "",
    ]
    stream = b"\xef\xbb\xbf" + end.join(lines).encode()
    pieces = [stream[i : i + size] for i in range(0, len(stream), size)]
    assert list(wire.events(pieces)) == events


ADDRESSES = [
    ("{}", ""),
    ("{}/", ""),
    ("{}//", ""),
    ("{}/v1", ""),
    ("{}/V1/", ""),
    ("{}/v1/messages", ""),
    ("{}//v1//messages/", ""),
    ("{}/v1/messages/count_tokens", ""),
    ("{}/v1/chat/completions", ""),
    ("{}/v1/models", ""),
    (' "{}/v1" ', ""),
    ("<{}>", ""),
    ("{}/api/v1/messages", "/api"),
    ("{}/anthropic", "/anthropic"),
    ("{}/anthropic/V1", "/anthropic"),
    ("{}/v1beta", "/v1beta"),
]


@pytest.mark.parametrize(("given", "prefix"), ADDRESSES, ids=[a for a, _ in ADDRESSES])
def test_an_address_is_understood_with_whatever_people_paste_behind_it(
    given: str, prefix: str
) -> None:
    for base in (
        "http://127.0.0.1:8600",
        "https://user:pass@models.example.org",
        "http://[::1]:11434",
    ):
        assert load({"LEAF_MODEL_URL": given.format(base)}, {}).model_url == base + prefix
    assert (
        load({"ANTHROPIC_BASE_URL": given.format("HTTP://Host.Example:80")}, {}).model_url
        == f"http://host.example:80{prefix}"
    )


@pytest.mark.parametrize("ending", ["", "/v1", "/v1/messages/"])
def test_questions_lists_and_counts_go_to_the_same_server_whatever_the_ending(ending: str) -> None:
    with MessagesServer([Turn.say("Hi.")]) as server:
        assert turn_of(server.url + ending).content[0]["text"] == "Hi."
        assert len(ClaudeModel("key", server.url + ending).list_models()) == 3


WRONG = [
    (
        "localhost:11434",
        "LEAF_MODEL_URL is 'localhost:11434', without http:// or https:// in front.",
    ),
    ("user:hidden@host/v1", "LEAF_MODEL_URL is 'host/v1', without http"),
    ("ftp://host", "LEAF_MODEL_URL is 'ftp://host', without http"),
    ("http://", "LEAF_MODEL_URL is not an address."),
    ("http:///v1", "LEAF_MODEL_URL is not an address."),
    ("http://host:port", "LEAF_MODEL_URL is not an address."),
    ("http://[::1", "LEAF_MODEL_URL is not an address."),
    ("http://my host", "LEAF_MODEL_URL is not an address."),
    (
        "https://host/v1?key=hidden",
        "LEAF_MODEL_URL has something behind a ? or # after https://host/v1. Leave that out",
    ),
]


@pytest.mark.parametrize(("given", "sentence"), WRONG, ids=[g for g, _ in WRONG])
def test_an_address_that_cannot_be_one_is_named_by_its_key_without_anything_secret(
    given: str, sentence: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        load({"LEAF_MODEL_URL": given}, {})
    assert sentence in str(caught.value)
    assert "hidden" not in str(caught.value)
    with pytest.raises(SettingsError, match="ANTHROPIC_BASE_URL"):
        load({"ANTHROPIC_BASE_URL": given}, {})


@pytest.mark.parametrize(
    "address", ["", "https://api.anthropic.com", "https://api.anthropic.com/v1/"]
)
def test_anthropics_own_address_stays_what_it_is(address: str) -> None:
    assert model_address(address) in ("", "https://api.anthropic.com")


OPENAI = "speaks only OpenAI's API"


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS)
@pytest.mark.parametrize(("lists", "prefix"), [(True, "/v1"), (False, "/v1"), (True, "")])
def test_a_server_of_openais_api_alone_is_named_with_what_to_do(
    refusal: Refusal, lists: bool, prefix: str
) -> None:
    with (
        OpenAIServer(refusal, lists=lists, prefix=prefix) as server,
        pytest.raises(ModelError) as caught,
    ):
        turn_of(f"{server.url}/v1")
    said = str(caught.value)
    assert f"The server at {server.url} {OPENAI}" in said
    assert "LiteLLM" in said
    assert "LEAF_MODEL_URL" in said
    assert not caught.value.retryable


OTHERS = [
    (Failure.unknown_model("claude-sonnet-5-5"), "has no model 'claude-sonnet-5-5' (404)."),
    (
        Failure(404, body=b'{"error":{"message":"The model `x` does not exist.","code":404}}'),
        "has no model",
    ),
    (Failure(404, body=b"<h1>nothing here</h1>"), "There is no Messages API at http://127.0.0.1"),
    (Failure(200, body=b"<h1>A router</h1>"), "something that is not a Messages API stream."),
    (
        Failure(200, body=b'{"error":{"message":"out of memory","code":500}}'),
        "not a Messages API stream: out of memory.",
    ),
    (
        Failure(200, body=b'{"type":"error","error":{"type":"api_error","message":"No GPU"}}'),
        "broke the answer off: No GPU.",
    ),
    (Failure(200, body=b"[1, 2]"), "something that is not a Messages API stream."),
    (
        Failure(200, body=b'{"type":"message","content":[7]}'),
        "something that is not a Messages API stream.",
    ),
    (
        Failure(200, body=b'{"type":"message","content":"text"}'),
        "something that is not a Messages API stream.",
    ),
    (Failure(200, body=b'data: "a word"\n\n'), "something that is not a Messages API stream."),
    (
        Failure(422, body=b'{"detail":[{"loc":["body"],"msg":"Field required"}]}'),
        "rejected the request (422): Field required.",
    ),
    (
        Failure(400, body=b'{"object":"error","message":"No such option"}'),
        "rejected the request (400): No such option.",
    ),
]


@pytest.mark.parametrize(("failure", "sentence"), OTHERS, ids=[s[:40] for _, s in OTHERS])
def test_what_is_no_server_of_openais_is_not_called_one(failure: Failure, sentence: str) -> None:
    with MessagesServer([failure]) as server, pytest.raises(ModelError) as caught:
        turn_of(server.url)
    assert sentence in str(caught.value)
    assert OPENAI not in str(caught.value)


@pytest.fixture
def doctored(tmp_path: Path) -> Any:
    def line(url: str, **options: Any) -> tuple[bool, str]:
        settings = Settings(
            home=tmp_path, model_url=url, **{"model": "claude-sonnet-5-5", **options}
        )
        [found] = [c for c in check(settings) if c.name == "Model"]
        return found.ok, found.text

    return line


def test_doctor_asks_the_server_one_question_before_it_says_that_it_works(doctored: Any) -> None:
    with MessagesServer([Turn.say("Ready.")], form="whole") as server:
        ok, text = doctored(server.url.replace("http://", "http://user:hidden@"))
        assert ok
        assert "answers" in text
        assert "3 models offered" in text
        assert "hidden" not in text
        assert len(server.requests) == 1
        assert server.requests[0].body["max_tokens"] <= 16


def test_doctor_names_a_server_that_only_lists_models_in_openais_way(doctored: Any) -> None:
    with OpenAIServer(REFUSALS["lm studio"]) as server:
        ok, text = doctored(server.url, model="llama")
    assert not ok
    assert OPENAI in text
    assert "LiteLLM" in text


def test_doctor_names_a_model_that_the_server_does_not_have(doctored: Any) -> None:
    with MessagesServer([], models=("llama",)) as server:
        ok, text = doctored(server.url)
    assert not ok
    assert "has no model 'claude-sonnet-5-5'" in text
