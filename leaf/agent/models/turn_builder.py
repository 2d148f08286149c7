"""A turn of a model, put together from the events of a Messages API stream."""

from __future__ import annotations

import json
from itertools import chain, count
from typing import Any

from leaf.agent.models.base import Emit, ModelEvent, ModelTurn, TokenUsage, TurnCutError
from leaf.shapes import json_text
from leaf.shapes.raw import RawBlock, RawEvent


class TurnBuilder:
    """Puts a turn together from stream events and says what arrives."""

    def __init__(self, emit: Emit) -> None:
        self.began = False
        self._emit = emit
        self._blocks: dict[int, RawBlock] = {}
        """By their place in the turn, which is the order in which they begin: some servers give
        several blocks one index."""
        self._places: dict[int, int] = {}
        """The server's index -> place of the block that has it now."""
        self._open: set[int] = set()
        self._inputs: dict[int, list[str]] = {}
        self._texts: dict[int, list[str]] = {}
        """Of each block what came of its text, put together when it ends: to add each word to a
        long text would copy it."""
        self._broken: dict[str, str] = {}
        self._usage: RawEvent = {}
        self._stop_reason = ""
        self._model = ""

    def add(self, event: RawEvent) -> None:
        """Raises ValueError for an event that is not the API's."""
        try:
            self._add(event)
        except (KeyError, TypeError, AttributeError) as e:
            raise ValueError("a stream event is not the API's") from e

    def _add(self, event: RawEvent) -> None:
        kind = event.get("type")
        if kind == "message_start":
            self.began = True
            self._model = event["message"].get("model") or ""
            self._count(event["message"].get("usage"))
        elif kind == "content_block_start":
            self._start(event["index"], event["content_block"])
        elif kind == "content_block_delta":
            self._delta(self._places[event["index"]], event["delta"])
        elif kind == "content_block_stop":
            self._end(self._places[event["index"]])
        elif kind == "message_delta":
            reason = event["delta"].get("stop_reason") or self._stop_reason
            self._stop_reason = _REASONS.get(reason, reason)
            self._count(event.get("usage"))

    def finish(self, model: str, seconds: float) -> ModelTurn:
        if not self.began:
            raise ValueError("the stream held no message")
        if not self._stop_reason:
            raise TurnCutError(
                "The model's answer ended before it was complete.", "Ask again.", retryable=True
            )
        for index in sorted(self._open):
            self._end(index)
        blocks = [self._blocks[i] for i in sorted(self._blocks)]
        content = [block for block in blocks if block["type"] != "text" or block["text"].strip()]
        return ModelTurn(
            content,
            self._stop_reason,
            self._usage_so_far(),
            self._model or model,
            seconds,
            self._broken,
        )

    def _start(self, said: int, raw_block: RawEvent) -> None:
        if said in self._places:
            self._end(self._places[said])
        index = self._places[said] = len(self._blocks)
        self._open.add(index)
        block = {key: value for key, value in raw_block.items() if value is not None}
        if block["type"] == "tool_use":
            block["id"] = self._own_id(str(block.get("id", "")))
            block["name"] = str(block["name"])
        self._blocks[index] = block
        if block["type"] == "tool_use":
            self._inputs[index] = []
            self._say(index, "start", call_id=block["id"], name=block["name"])
        elif kind := _KINDS.get(block["type"]):
            self._say(index, "start")
            block[kind[1]] = _whole_characters(block.get(kind[1], ""))
            for citation in block.get("citations") or ():
                self._emit(ModelEvent("citation", index=index, citation=citation))
            if block.get(kind[1]):
                self._say(index, "delta", delta=block[kind[1]])

    def _own_id(self, call_id: str) -> str:
        """The id of a call, made its own where a server gives several calls of a turn one id, or
        none: by it each result finds its call."""
        taken = {block.get("id") for block in self._blocks.values()}
        others = (f"{call_id or 'call'}-{number}" for number in count(1 if not call_id else 2))
        return next(own for own in chain([call_id], others) if own and own not in taken)

    def _delta(self, index: int, delta: RawEvent) -> None:
        block = self._blocks[index]
        if delta["type"] == "input_json_delta":
            piece = delta["partial_json"]
            piece = json.dumps(piece, ensure_ascii=False) if isinstance(piece, dict) else piece
            self._inputs.setdefault(index, []).append(piece)
            self._say(index, "delta", delta=piece)
        elif delta["type"] == "signature_delta":
            block["signature"] = delta["signature"]
        elif delta["type"] == "citations_delta":
            block.setdefault("citations", []).append(delta["citation"])
            self._emit(ModelEvent("citation", index=index, citation=delta["citation"]))
        elif (kind := _KINDS.get(block["type"])) and kind[1] in delta:
            self._texts.setdefault(index, [block.get(kind[1], "")]).append(delta[kind[1]])
            self._say(index, "delta", delta=delta[kind[1]])

    def _join(self, index: int) -> None:
        block = self._blocks[index]
        block[_KINDS[block["type"]][1]] = _whole_characters("".join(self._texts.pop(index)))

    def _end(self, index: int) -> None:
        if index not in self._open:
            return
        self._open.remove(index)
        block = self._blocks[index]
        if index in self._texts:
            self._join(index)
        text = "".join(self._inputs.get(index, ()))
        if not text and isinstance(block.get("input"), str):
            text = block["input"]
        if text:
            try:
                block["input"] = json_text.read(text)
            except ValueError:
                block["input"] = None
        if block["type"] == "tool_use" and not _goes_back(block.get("input")):
            self._broken[block["id"]] = text
            block["input"] = {}
        self._say(index, "end")

    def _say(
        self, index: int, phase: Any, *, delta: str = "", call_id: str = "", name: str = ""
    ) -> None:
        if kind := _KINDS.get(self._blocks[index]["type"]):
            self._emit(ModelEvent(kind[0], phase, index, delta, call_id, name))

    def _count(self, usage: RawEvent | None) -> None:
        """Take over the figures that are given: each message_delta has totals, not increments."""
        for key in _COUNTED:
            if (value := (usage or {}).get(key)) is not None:
                self._usage[key] = _tokens(value)
        self._emit(ModelEvent("usage", usage=self._usage_so_far()))

    def _usage_so_far(self) -> TokenUsage:
        created = self._usage.get("cache_creation_input_tokens", 0)
        cached = self._usage.get("cache_read_input_tokens", 0)
        fresh = self._usage.get("input_tokens", 0)
        return TokenUsage(
            fresh + created + cached, cached, created, self._usage.get("output_tokens", 0)
        )


def _whole_characters(text: str) -> str:
    """A text whose halves of characters are one where both are there: some servers cut between
    them. What is alone is no text, and no request could hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _goes_back(value: object) -> bool:
    """Whether an input can be sent back as it is: an object, without halves of characters and
    numbers that JSON has not."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return False
    return isinstance(value, dict)


def _tokens(value: object) -> int:
    """A figure of a server that may count wrongly, or in its own way: caches taken off twice,
    fractions, digits as text."""
    if isinstance(value, str) and value.isdecimal():
        value = int(value[:20])
    return int(min(MOST_TOKENS, max(0, value))) if isinstance(value, int | float) else 0


MOST_TOKENS = 10**12
_COUNTED = (
    "input_tokens",
    "output_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
)
_KINDS: dict[str, tuple[Any, str]] = {
    "text": ("text", "text"),
    "thinking": ("reasoning", "thinking"),
    "tool_use": ("tool-input", "input"),
}
"""Block type -> kind of its events, and the field that its deltas add to."""

_REASONS = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}
"""Why a turn ended, in the words of OpenAI's API, which some gateways leave as they are."""
