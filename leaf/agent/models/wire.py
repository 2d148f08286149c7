"""What a Messages API server answers, as stream events: server-sent events with names or without,
or one JSON message.

Several servers leave out the names of events, or ignore `stream` and answer once at the end. Bytes
in, plain JSON out; who asked decides what an error means.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain

import orjson

from leaf.shapes import json_text
from leaf.shapes.raw import RawBlock, RawEvent, RawMessage

_BOM = b"\xef\xbb\xbf"


class BrokenOffError(ValueError):
    """The server reports an error in place of the rest of its answer."""

    def __init__(self, kind: str, said: str) -> None:
        super().__init__(kind, said)
        self.kind = kind
        """The API's word for it, such as `overloaded_error`; empty where it gives none."""
        self.said = said


class NotMessagesError(ValueError):
    """What came is no answer of the Messages API."""

    def __init__(self, said: str = "", *, openai: bool = False) -> None:
        super().__init__(said)
        self.said = said
        """The server's own words, if it had any."""
        self.openai = openai
        """Whether it is an answer of OpenAI's API."""


def events(pieces: Iterable[bytes]) -> Iterator[RawEvent]:
    """Stream events in order, from the bytes of an answer. Raises BrokenOffError, NotMessagesError,
    ValueError."""
    start, rest = _beginning(iter(pieces))
    if start.startswith(b"{"):
        yield from _of_message(_object(b"".join(chain((start,), rest))))
    else:
        yield from _of_stream(chain((start,), rest))


def _beginning(pieces: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """Enough to tell the form of the answer by, and what follows."""
    start = b""
    for piece in pieces:
        start = (start + piece).removeprefix(_BOM).lstrip()
        if start and not _BOM.startswith(start):
            break
    return start, pieces


def _of_stream(pieces: Iterable[bytes]) -> Iterator[RawEvent]:
    for name, data in _server_sent(pieces):
        if not data or data == "[DONE]":
            continue
        event = _object(data)
        event.setdefault("type", name)
        _check(event)
        if event["type"] != "ping":
            yield event


def _server_sent(pieces: Iterable[bytes]) -> Iterator[tuple[str, str]]:
    """Name and data of each server-sent event. What the end of the stream cuts off is no event."""
    name, data = "", list[str]()
    for line in _lines(pieces):
        key, _, value = line.decode("utf-8").partition(":")
        if not line:
            yield name, "\n".join(data)
            name, data = "", []
        elif key == "data":
            data.append(value.removeprefix(" "))
        elif key == "event":
            name = value.removeprefix(" ").strip()


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Whole lines without their ends, which are the three of the standard and no other."""
    rest = b""
    for piece in pieces:
        rest += piece
        held = rest.endswith(b"\r")  # perhaps half of a \r\n
        *lines, rest = (
            rest[: len(rest) - held].replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        )
        rest += b"\r" * held
        yield from lines


def _of_message(message: RawMessage) -> Iterator[RawEvent]:
    """The events that would have told a message piece by piece."""
    _check(message)
    content = message.get("content")
    if message.get("type") != "message" or not isinstance(content, list):
        raise NotMessagesError
    yield {"type": "message_start", "message": {**message, "content": []}}
    for index, block in enumerate(content):
        yield from _of_block(index, block)
    reason = {"stop_reason": message.get("stop_reason")}
    yield {"type": "message_delta", "delta": reason, "usage": message.get("usage")}
    yield {"type": "message_stop"}


def _of_block(index: int, block: RawBlock) -> Iterator[RawEvent]:
    if not isinstance(block, dict):
        raise NotMessagesError
    payload = block.get("input")
    if block.get("type") == "tool_use" and payload:
        text = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
        delta = {"type": "input_json_delta", "partial_json": text}
        yield {
            "type": "content_block_start",
            "index": index,
            "content_block": {**block, "input": {}},
        }
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    else:
        yield {"type": "content_block_start", "index": index, "content_block": block}
    yield {"type": "content_block_stop", "index": index}


def _object(text: str | bytes) -> RawEvent:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:  # half of a pair of surrogates, NaN: what other servers send
        value = json_text.read(text)
    if not isinstance(value, dict):
        raise NotMessagesError
    return value


def _check(answer: RawEvent) -> None:
    """Raises what an error, or an answer of another API, means."""
    error = answer.get("error")
    if answer.get("type") == "error" and isinstance(error, dict):
        raise BrokenOffError(str(error.get("type") or ""), words(error))
    if error or answer.get("object") == "error":
        raise NotMessagesError(words(error or answer))
    if "choices" in answer or str(answer.get("object", "")).startswith(
        ("chat.completion", "text_completion")
    ):
        raise NotMessagesError(openai=True)


def words(error: object) -> str:
    """A server's own words for an error, at most 300 characters: of an object its message, of
    several the first."""
    while isinstance(error, dict | list) and error:
        error = (
            error[0] if isinstance(error, list) else error.get("message") or error.get("msg") or ""
        )
    return " ".join(error.split())[:300].rstrip(".") if isinstance(error, str) else ""
