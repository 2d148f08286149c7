"""A server on loopback that speaks the Messages API over SSE, and refuses what the real one
refuses.

    with MessagesServer([Turn.call("list_files"), Turn.say("Two files.")]) as server:
        … LEAF_MODEL_URL=server.url …
        server.requests[0].body

A script is a list of turns and failures, used one after the other; or a brain: a function from the
request's body to a turn. Run `python -m tests.messages_server --port 8600 --speed 40` to try the
page by hand with the built-in brain.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import math
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.files_server import FilesDesk
from tests.loopback import Handler, LoopbackServer

Json = dict[str, Any]

CHARACTERS_A_TOKEN = 2.5
SAMPLING = ("temperature", "top_p", "top_k")
MODELS = ("claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5")


@dataclass(frozen=True)
class Turn:
    """What the server streams for one request."""

    blocks: tuple[Json, ...]
    """`{"type": "thinking", "thinking"}`, `{"type": "text", "text"}`, `{"type": "tool_use", "name",
    "input"}`. A text may have `"cite": [(source, words)]`: passages that the request must hold,
    found by source (or any, if empty) and words."""
    stop_reason: str = ""
    """Empty: `tool_use` with a tool call among the blocks, else `end_turn`."""
    pieces: int = 6
    """Deltas a block is cut into."""
    delay: float = 0.0
    """Seconds before each delta."""
    cut_after: int | None = None
    """Events after which the connection is cut."""
    stall_after: int | None = None
    """Events after which nothing more comes, until the client leaves."""
    error_after: int | None = None
    """Events after which an error event comes."""
    garbage_after: int | None = None
    """Events after which something that is not JSON comes."""
    end_after: int | None = None
    """Events after which the stream ends cleanly, without its last events."""
    held: threading.Event | None = None
    """What its first byte waits for, a minute at most; the server answers others meanwhile."""

    @staticmethod
    def say(text: str, *, thinking: str = "", **options: Any) -> Turn:
        """An answer."""
        return Turn((*_thinking(thinking), {"type": "text", "text": text}), **options)

    @staticmethod
    def cite(*pieces: str | tuple[str, str] | tuple[str, str, str], **options: Any) -> Turn:
        """An answer in pieces, as the API gives one with citations: words alone, (text, words
        cited) or (text, source, words)."""
        blocks: list[Json] = []
        for piece in pieces:
            text, *cited = (piece,) if isinstance(piece, str) else piece
            found = [(cited[0] if len(cited) > 1 else "", cited[-1])] if cited else []
            blocks.append({"type": "text", "text": text, **({"cite": found} if found else {})})
        return Turn(tuple(blocks), **options)

    @staticmethod
    def call(
        *calls: str | tuple[str, Json], text: str = "", thinking: str = "", **options: Any
    ) -> Turn:
        """Tool calls: names, or names with inputs. `{"__json__": "…"}` as an input is sent as it
        stands."""
        uses = [(c, {}) if isinstance(c, str) else c for c in calls]
        blocks = [
            {"type": "tool_use", "name": name, "input": tool_input} for name, tool_input in uses
        ]
        said = [{"type": "text", "text": text}] if text else []
        return Turn((*_thinking(thinking), *said, *blocks), **options)


def _thinking(text: str) -> list[Json]:
    return [{"type": "thinking", "thinking": text}] if text else []


@dataclass(frozen=True)
class Failure:
    """An answer that is no stream."""

    status: int
    kind: str = "api_error"
    message: str = "Internal server error"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    """Sent as it stands, in place of the API's error JSON; with status 200 as an event stream."""

    @staticmethod
    def unauthorized() -> Failure:
        return Failure(401, "authentication_error", "invalid x-api-key")

    @staticmethod
    def unknown_model(name: str = "nope") -> Failure:
        return Failure(404, "not_found_error", f"model: {name}")

    @staticmethod
    def rate_limited(retry_after: float = 0.05) -> Failure:
        return Failure(
            429, "rate_limit_error", "Too many requests", (("retry-after", str(retry_after)),)
        )

    @staticmethod
    def overloaded(retry_after: float = 0.05) -> Failure:
        return Failure(529, "overloaded_error", "Overloaded", (("retry-after", str(retry_after)),))

    @staticmethod
    def too_long() -> Failure:
        return Failure(
            400, "invalid_request_error", "prompt is too long: 1200000 tokens > 1000000 maximum"
        )

    @staticmethod
    def garbage() -> Failure:
        return Failure(200, body=b"<html><body>Welcome to the router</body></html>")


Brain = Callable[[Json], Turn | Failure]


@dataclass(frozen=True)
class Request:
    """A request as it came, and the figures the server gave for it."""

    path: str
    headers: dict[str, str]
    body: Json
    usage: Json = field(default_factory=dict)
    """`input_tokens` (fresh), `cache_creation_input_tokens`, `cache_read_input_tokens`."""

    @property
    def key(self) -> str:
        """The key that came with it."""
        return _key(self.headers)

    @property
    def tokens(self) -> int:
        """All input tokens."""
        return int(sum(self.usage.values()))


class MessagesServer(LoopbackServer):
    """The server; a context manager."""

    def __init__(
        self,
        script: Sequence[Turn | Failure] | Brain = (),
        *,
        port: int = 0,
        models: Sequence[str] = MODELS,
        key: str = "",
        lists: bool = True,
        slow: float = 0.0,
        moved_to: str = "",
        strict: bool = True,
        basic: bool = False,
        window: int = 0,
        tokens: Callable[[str], int] | None = None,
        form: Literal["events", "unnamed", "whole"] = "events",
    ) -> None:
        self.requests: list[Request] = []
        """Requests for a message that were in order, oldest first."""
        self.refused: list[str] = []
        """Why requests were refused."""
        self.connections = 0
        """All requests, the refused and failed ones included."""
        self.left = threading.Event()
        """Set when a client left in the middle of a stream."""
        self.models = tuple(models)
        self.key = key
        """The only key that is taken; empty takes any."""
        self.lists = lists
        """Whether it says which models it has."""
        self.slow = slow
        """Seconds before it answers anything."""
        self.moved_to = moved_to
        """Where it sends every request on to."""
        self.strict = strict
        self.basic = basic
        """Refuse thinking, cache marks and passages to cite, as some local servers do."""
        self.resolver = FilesDesk()
        """The Files API, and the checks of pictures."""
        self.window = window
        """Tokens above which a request is refused as too long; 0 for no limit."""
        self.form = form
        """How it answers: a stream of named events, one of `data:` alone, or one JSON message
        although a stream is asked for."""
        self._tokens = tokens or (lambda text: _tokens(len(text)))
        """Counts the tokens of a text."""
        self._script = script if callable(script) else None
        self._queue = iter(()) if callable(script) else iter(script)
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._cache: dict[str, int] = {}
        self._sent: dict[str, Json] = {}
        self._cited: set[str] = set()
        self._closing = threading.Event()
        super().__init__(_Handler, port)

    def __exit__(self, *error: object) -> None:
        self._closing.set()
        super().__exit__(*error)

    def answer(self, body: Json) -> Turn | Failure:
        with self._lock:
            if self._script:
                return self._script(body)
            return next(self._queue, Failure(500, "api_error", "the test's script is over"))

    def check(self, headers: dict[str, str], body: Json, size: int = 0) -> Failure | None:
        """What the API would refuse."""
        if self.strict and (refused := self.resolver.refusal(body, size)):
            self.refused.append(refused[2])
            return Failure(*refused)
        body = self.resolver.resolved(body)
        reason = _refusal(body, basic=self.basic) if self.strict else ""
        if self.strict and not reason:
            reason = self._changed(body)
        if not self.takes_key(headers):
            self.refused.append("key")
            return Failure.unauthorized()
        if "anthropic-version" not in headers or "application/json" not in headers.get(
            "content-type", ""
        ):
            reason = "anthropic-version and content-type: application/json are required headers"
        if self.models and body.get("model") not in self.models:
            self.refused.append("model")
            return Failure.unknown_model(str(body.get("model")))
        if not reason and self.window and (tokens := self.length(body)) > self.window:
            reason = f"prompt is too long: {tokens} tokens > {self.window} maximum"
        if reason:
            self.refused.append(reason)
            return Failure(400, "invalid_request_error", reason)
        return None

    def length(self, body: Json) -> int:
        """Tokens of a request."""
        return sum(self._tokens(piece) for piece, _ in _pieces(body))

    def takes_key(self, headers: dict[str, str]) -> bool:
        key = _key(headers)
        return bool(key) and self.key in ("", key)

    def _changed(self, body: Json) -> str:
        """Whether an assistant block, or anything before thinking, differs from what was sent: a
        signature is bound to it all."""
        before = _plain({"system": body.get("system"), "tools": body.get("tools")})
        for i, message in enumerate(body["messages"]):
            for block in message["content"] if isinstance(message["content"], list) else []:
                if (
                    block.get("citations")
                    and message["role"] == "assistant"
                    and _plain(block) not in self._cited
                ):
                    return f"messages.{i}: `text` blocks with citations cannot be modified"
                known = self._sent.get(block.get("signature") or block.get("id") or "")
                if known is None:
                    if block["type"] == "thinking":
                        return f"messages.{i}: Invalid `signature` in `thinking` block"
                    continue
                if _plain(block) != known["block"]:
                    return f"messages.{i}: `{block['type']}` blocks cannot be modified"
                if block["type"] == "thinking" and before != known["before"]:
                    return (
                        f"messages.{i}: what stands before a `thinking` block in the latest "
                        f"conversation cannot be modified"
                    )
            before += _plain(message)
        return ""

    def remember(self, body: Json, blocks: Sequence[Json]) -> None:
        """Keep what was sent, with all that stood before it."""
        before = _plain({"system": body.get("system"), "tools": body.get("tools")})
        before += "".join(_plain(message) for message in body["messages"])
        ids = [block.get("id") for block in blocks]
        with self._lock:
            for block in blocks:
                if block.get("id") and ids.count(block["id"]) > 1:
                    continue  # the real one gives no id twice, and what it would refuse is not known
                if block.get("citations"):
                    self._cited.add(_plain(block))
                if key := block.get("signature") or block.get("id"):
                    self._sent[key] = {"block": _plain(block), "before": before}

    def count(self, body: Json) -> Json:
        """Prefix matching at the cache marks, as the API does it: read what was written before,
        write up to the last mark."""
        digest, length, prefixes = hashlib.sha256(body["model"].encode()), 0, {}
        for piece, marked in _pieces(body):
            digest.update(piece.encode())
            length += self._tokens(piece)
            if marked:
                prefixes[digest.copy().hexdigest()] = length
        with self._lock:
            read = max((self._cache[key] for key in prefixes if key in self._cache), default=0)
            self._cache.update(prefixes)
        written = max(prefixes.values(), default=0)
        return {
            "input_tokens": length - max(written, read),
            "cache_creation_input_tokens": max(0, written - read),
            "cache_read_input_tokens": read,
        }

    def new_id(self, prefix: str) -> str:
        return f"{prefix}_{next(self._ids):06d}"

    def wait(self, seconds: float) -> bool:
        """False when the server is closing."""
        return not self._closing.wait(seconds)


def _key(headers: dict[str, str]) -> str:
    return headers.get("authorization", "").removeprefix("Bearer ") or headers.get("x-api-key", "")


def _tokens(characters: float) -> int:
    return math.ceil(characters / CHARACTERS_A_TOKEN)


def _plain(value: Any) -> str:
    """JSON without cache marks, keys in order."""
    return json.dumps(_unmarked(value), sort_keys=True, ensure_ascii=False)


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _unmarked(v) for k, v in value.items() if k != "cache_control"}
    return [_unmarked(v) for v in value] if isinstance(value, list) else value


def _blocks(content: Any) -> list[Json]:
    return content if isinstance(content, list) else [{"type": "text", "text": content or ""}]


def _pieces(body: Json) -> Iterator[tuple[str, bool]]:
    """The request in the order of the cache: tools, system, messages, each block with whether it
    carries a mark."""
    for tool in body.get("tools") or []:
        yield _plain(tool), "cache_control" in tool
    for block in _blocks(body.get("system")):
        yield _plain(block), "cache_control" in block
    for message in body["messages"]:
        for block in _blocks(message["content"]):
            yield message["role"] + _plain(block), "cache_control" in block


def _refusal(body: Json, *, basic: bool) -> str:
    """Why the API would refuse this request, empty when it would not."""
    for key in SAMPLING:
        if key in body:
            return f"{key}: Extra inputs are not permitted"
    if (body.get("tool_choice") or {}).get("type") in ("any", "tool"):
        return "tool_choice: Thinking may not be enabled when tool_choice forces tool use."
    if not isinstance(body.get("max_tokens"), int) or not body.get("messages"):
        return "max_tokens and messages: Field required"
    marks = sum(marked for _, marked in _pieces(body))
    if marks > 4:
        return f"A maximum of 4 blocks with cache_control may be provided. Found {marks}."
    if basic and (
        marks
        or "thinking" in body
        or any(b["type"] == "thinking" for m in body["messages"] for b in _blocks(m["content"]))
    ):
        return "thinking and cache_control are not known here"
    return _refused_blocks(body["messages"]) or _refused_passages(body["messages"], basic=basic)


def passages_of(messages: Sequence[Json]) -> list[Json]:
    """All `search_result` blocks of a request, in its order."""
    outer = [block for message in messages for block in _blocks(message["content"])]
    inner = [
        b
        for block in outer
        if block["type"] == "tool_result" and isinstance(block.get("content"), list)
        for b in block["content"]
    ]
    return [block for block in [*outer, *inner] if block["type"] == "search_result"]


def _refused_passages(messages: Sequence[Json], *, basic: bool) -> str:
    """What the API demands of passages to cite: their fields, text alone, and citations for all of
    them or for none."""
    passages = passages_of(messages)
    if basic and passages:
        return (
            "messages: Input tag 'search_result' found using 'type' does not match any of the "
            "expected tags"
        )
    if basic and any("citations" in block for m in messages for block in _blocks(m["content"])):
        return "text.citations: Extra inputs are not permitted"
    for block in passages:
        if set(block) - {"type", "source", "title", "content", "citations", "cache_control"}:
            return "search_result: Extra inputs are not permitted"
        if not all(
            isinstance(block.get(key), str) and block[key].strip() for key in ("source", "title")
        ):
            return "search_result.source and .title: Field required"
        if not isinstance(block.get("content"), list) or not block["content"]:
            return "search_result.content: at least one text block is required"
        for part in block["content"]:
            if (
                part.get("type") != "text"
                or set(part) - {"type", "text"}
                or not str(part.get("text", "")).strip()
            ):
                return "search_result.content: only non-empty text blocks are permitted"
        if set(block.get("citations") or {}) - {"enabled"}:
            return "search_result.citations: Extra inputs are not permitted"
    if len({bool((block.get("citations") or {}).get("enabled")) for block in passages}) > 1:
        return (
            "search_result.citations: must be enabled for all search results of a request "
            "or for none"
        )
    for location in (
        c
        for m in messages
        for b in _blocks(m["content"])
        for c in b.get("citations") or ()
        if b["type"] == "text"
    ):
        index = location["search_result_index"]
        if not (0 <= index < len(passages) and passages[index]["source"] == location["source"]):
            return (
                f"text.citations: search_result_index {index} is not the search result "
                f"{location['source']}"
            )
    return ""


def citation(messages: Sequence[Json], source: str, words: str) -> Json:
    """A citation of the passage that holds these words, as the API gives it. Raises LookupError for
    what was not sent."""
    plain = " ".join(words.split())
    for index, block in enumerate(passages_of(messages)):
        if source not in ("", block["source"]) or not (block.get("citations") or {}).get("enabled"):
            continue
        for number, part in enumerate(block["content"]):
            if plain in " ".join(part["text"].split()):
                return {
                    "type": "search_result_location",
                    "cited_text": part["text"],
                    "search_result_index": index,
                    "source": block["source"],
                    "title": block["title"],
                    "start_block_index": number,
                    "end_block_index": number + 1,
                }
    raise LookupError(
        f"no passage {source or 'at all'} with the words {words!r} was sent, so it cannot be cited"
    )


def _refused_blocks(messages: Sequence[Json]) -> str:
    if messages[0]["role"] != "user":
        return 'messages: first message must use the "user" role'
    waiting: list[str] = []
    for i, message in enumerate(_merged(messages)):
        results = []
        for block in _blocks(message["content"]):
            if reason := _refused_block(message["role"], block):
                return f"messages.{i}: {reason}"
            if block["type"] == "tool_result":
                results.append(block["tool_use_id"])
        if missing := [call for call in waiting if call not in results]:
            return (
                f"messages.{i}: `tool_use` ids were found without `tool_result` blocks "
                f"immediately after: {', '.join(missing)}"
            )
        if orphans := [call for call in results if call not in waiting]:
            return (
                f"messages.{i}: unexpected `tool_use_id` found in `tool_result` blocks: "
                f"{', '.join(orphans)}"
            )
        if len(set(results)) != len(results):
            return f"messages.{i}: each tool_use must have a single result"
        waiting = [b["id"] for b in _blocks(message["content"]) if b["type"] == "tool_use"]
    return (
        f"messages: `tool_use` ids were found without `tool_result` blocks: {', '.join(waiting)}"
        if waiting
        else ""
    )


def _merged(messages: Sequence[Json]) -> list[Json]:
    """Neighbouring messages of one role count as one."""
    merged: list[Json] = []
    for message in messages:
        if merged and merged[-1]["role"] == message["role"]:
            merged[-1] = {
                **message,
                "content": _blocks(merged[-1]["content"]) + _blocks(message["content"]),
            }
        else:
            merged.append(message)
    return merged


def _refused_block(role: str, block: Json) -> str:
    kind = block["type"]
    if kind == "text" and not block["text"].strip():
        return "text content blocks must be non-empty"
    if kind == "thinking" and "cache_control" in block:
        return "cache_control: Extra inputs are not permitted"
    if role == "assistant" and kind in ("document", "image", "tool_result"):
        return f"`{kind}` blocks are not allowed in assistant messages"
    if role == "user" and kind in ("tool_use", "thinking"):
        return f"`{kind}` blocks can only be in assistant messages"
    if kind == "tool_use" and not (
        isinstance(block.get("input"), dict)
        and re.fullmatch(r"[a-zA-Z0-9_-]+", block.get("id", ""))
    ):
        return (
            "tool_use.input: Input should be a valid dictionary; tool_use.id: should match pattern"
        )
    for part in (
        block.get("content") or []
        if kind == "tool_result" and isinstance(block.get("content"), list)
        else []
    ):
        if part["type"] == "text" and not part["text"].strip():
            return "text content blocks must be non-empty"
    return ""


class _Handler(Handler):
    app: MessagesServer

    def do_GET(self) -> None:
        with self.app._lock:
            self.app.connections += 1
        if self._put_off():
            return None
        headers = {key.lower(): value for key, value in self.headers.items()}
        if not self.app.takes_key(headers):
            return self._fail(Failure.unauthorized())
        if self.path.startswith("/v1/files/"):
            return self._json(*self.app.resolver.get(self.path.rpartition("/")[2]))
        if self.path.split("?")[0] != "/v1/models" or not self.app.lists:
            return self._fail(Failure(404, "not_found_error", "Not found"))
        fields = {"type": "model", "created_at": "2026-10-01T00:00:00Z", "lifecycle": "active"}
        data = [
            {"id": name, "display_name": name.replace("-", " ").title(), **fields}
            for name in self.app.models
        ]
        return self._json(200, {"data": data, "has_more": False, "first_id": None, "last_id": None})

    def do_DELETE(self) -> None:
        self._json(*self.app.resolver.delete(self.path.rpartition("/")[2]))

    def do_POST(self) -> None:
        raw = self.body()
        with self.app._lock:
            self.app.connections += 1
        if self._put_off():
            return None
        path = self.path.split("?")[0]
        headers = {key.lower(): value for key, value in self.headers.items()}
        if path == "/v1/files":
            if not self.app.takes_key(headers):
                return self._fail(Failure.unauthorized())
            return self._json(*self.app.resolver.upload(headers.get("content-type", ""), raw))
        try:
            body = json.loads(raw)
        except ValueError:
            return self._fail(
                Failure(400, "invalid_request_error", "The request body is not valid JSON")
            )
        if path == "/v1/messages/count_tokens":
            return self._json(
                200, {"input_tokens": self.app.length(self.app.resolver.resolved(body))}
            )
        if path != "/v1/messages":
            return self._fail(Failure(404, "not_found_error", "Not found"))
        if failure := self.app.check(headers, body, len(raw)):
            return self._fail(failure)
        answer = self.app.answer(body)
        if isinstance(answer, Failure):
            return self._fail(answer)
        try:
            cited = [
                citation(body["messages"], *one)
                for block in answer.blocks
                for one in block.get("cite") or ()
            ]
        except LookupError as e:
            self.app.refused.append(str(e))
            return self._fail(Failure(500, "api_error", str(e)))
        usage = self.app.count(self.app.resolver.resolved(body))
        with self.app._lock:
            self.app.requests.append(Request(path, headers, body, usage))
        if answer.held:
            answer.held.wait(60)
        if self.app.form == "whole":
            return self._json(200, _whole(self._events(body, answer, usage, cited)))
        return self._stream(body, answer, usage, cited)

    def _put_off(self) -> bool:
        """Wait, or send the client on, where the server does so."""
        if self.app.slow and not self.app.wait(self.app.slow):
            return True
        if self.app.moved_to:
            self._send(307, "text/plain", b"", [("location", self.app.moved_to + self.path)])
        return bool(self.app.moved_to)

    def _json(self, status: int, value: Json, headers: Sequence[tuple[str, str]] = ()) -> None:
        self._send(status, "application/json", json.dumps(value).encode(), headers)

    def _send(
        self, status: int, media_type: str, data: bytes, headers: Sequence[tuple[str, str]] = ()
    ) -> None:
        self.send_response(status)
        for key, value in (
            ("content-type", media_type),
            ("content-length", str(len(data))),
            *headers,
        ):
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(data)

    def _fail(self, failure: Failure) -> None:
        if failure.body is not None:
            media_type = "text/event-stream" if failure.status == 200 else "text/html"
            return self._send(failure.status, media_type, failure.body, failure.headers)
        error = {
            "type": "error",
            "error": {"type": failure.kind, "message": failure.message},
            "request_id": "req_1",
        }
        return self._json(failure.status, error, failure.headers)

    def _stream(self, body: Json, turn: Turn, usage: Json, cited: list[Json]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        self.close_connection = True
        try:
            self._write_events(body, turn, usage, cited)
        except (BrokenPipeError, ConnectionResetError):
            self.app.left.set()

    def _write_events(self, body: Json, turn: Turn, usage: Json, cited: list[Json]) -> None:
        for number, event in enumerate(self._events(body, turn, usage, cited)):
            if number == turn.cut_after:
                return
            if number == turn.stall_after:
                while self.app.wait(0.05):
                    self._chunk(b"" if self._client_is_there() else b": ")
                return
            if number == turn.end_after:
                break
            if number == turn.garbage_after:
                self._chunk(b'event: content_block_delta\ndata: {"type": "content_blo\n\n')
            if number == turn.error_after:
                error = {
                    "type": "error",
                    "error": {"type": "overloaded_error", "message": "Overloaded"},
                }
                named = "event: error\n" if self.app.form == "events" else ""
                self._chunk(f"{named}data: {json.dumps(error)}\n\n".encode())
                break
            if (
                turn.delay
                and event["type"] == "content_block_delta"
                and not self.app.wait(turn.delay)
            ):
                return
            name = f"event: {event['type']}\n" if self.app.form == "events" else ""
            self._chunk(f"{name}data: {json.dumps(event, ensure_ascii=False)}\n\n".encode())
        self.wfile.write(b"0\r\n\r\n")

    def _client_is_there(self) -> bool:
        """A client that has left is readable with nothing to read."""
        import select

        readable, _, _ = select.select([self.connection], [], [], 0)
        if not readable:
            return True
        self.app.left.set()
        return False

    def _chunk(self, data: bytes) -> None:
        if data:
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()

    def _events(
        self, body: Json, turn: Turn, usage: Json, cited: Sequence[Json] = ()
    ) -> Iterator[Json]:
        message = {
            "id": self.app.new_id("msg"),
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {**usage, "output_tokens": 1},
        }
        yield {"type": "message_start", "message": message}
        yield {"type": "ping"}
        sent, characters, left = [], 0, list(cited)
        for index, given in enumerate(turn.blocks):
            start, deltas, whole = self._block(given, turn.pieces)
            if given.get("cite"):
                taken, left = left[: len(given["cite"])], left[len(given["cite"]) :]
                start = {**start, "citations": []}
                deltas += [{"type": "citations_delta", "citation": one} for one in taken]
                whole = {"type": "text", "text": given["text"], "citations": taken}
            sent.append(whole)
            yield {"type": "content_block_start", "index": index, "content_block": start}
            for delta in deltas:
                characters += len(
                    delta.get("text") or delta.get("thinking") or delta.get("partial_json") or ""
                )
                yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        self.app.remember(self.app.resolver.resolved(body), sent)
        reason = turn.stop_reason or (
            "tool_use" if any(b["type"] == "tool_use" for b in turn.blocks) else "end_turn"
        )
        output = {**usage, "output_tokens": _tokens(characters) + 1}
        yield {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": output,
        }
        yield {"type": "message_stop"}

    def _block(self, given: Json, pieces: int) -> tuple[Json, list[Json], Json]:
        """A block as it starts, its deltas, and as a whole."""
        if given["type"] == "thinking":
            whole = {
                "type": "thinking",
                "thinking": given["thinking"],
                "signature": self.app.new_id("sig"),
            }
            deltas = [
                {"type": "thinking_delta", "thinking": t} for t in _cut(given["thinking"], pieces)
            ]
            deltas.append({"type": "signature_delta", "signature": whole["signature"]})
            return {"type": "thinking", "thinking": "", "signature": ""}, deltas, whole
        if given["type"] == "tool_use":
            text = given["input"].get("__json__") or json.dumps(given["input"])
            whole = {
                "type": "tool_use",
                "id": given["id"] if "id" in given else self.app.new_id("toolu"),
                "name": given["name"],
                "input": given["input"],
            }
            if "__json__" in given["input"]:
                whole["input"] = {}
            deltas = [
                {"type": "input_json_delta", "partial_json": t} for t in ["", *_cut(text, pieces)]
            ]
            return {**whole, "input": {}}, deltas, whole
        return (
            {"type": "text", "text": ""},
            [{"type": "text_delta", "text": t} for t in _cut(given["text"], pieces)],
            given,
        )


def _whole(events: Iterator[Json]) -> Json:
    """The message that a stream would have told."""
    message: Json = {}
    for event in events:
        match event["type"]:
            case "message_start":
                message = {**event["message"], "content": []}
            case "content_block_start":
                message["content"].append(dict(event["content_block"]))
                given = ""
            case "content_block_delta":
                block, delta = message["content"][-1], event["delta"]
                if delta["type"] == "input_json_delta":
                    given += delta["partial_json"]
                    block["input"] = (
                        json.loads(given)
                        if event["delta"]["partial_json"] and _is_json(given)
                        else {}
                    )
                elif delta["type"] == "citations_delta":
                    block["citations"].append(delta["citation"])
                else:
                    [key] = set(delta) - {"type"}
                    block[key] = block[key] + delta[key] if key != "signature" else delta[key]
            case "message_delta":
                message |= event["delta"] | {"usage": event["usage"]}
    return message


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _cut(text: str, pieces: int) -> list[str]:
    size = max(1, math.ceil(len(text) / max(1, pieces)))
    return [text[i : i + size] for i in range(0, len(text), size)]


def analyst(body: Json, *, delay: float = 0.0) -> Turn:
    """The brain for trying things by hand: list the files, describe the first table, count its
    rows, and say so."""
    results = _results_since_question(body["messages"])
    options: Json = {"delay": delay, "pieces": 40}
    if not results:
        return Turn.call(
            "list_files",
            thinking="First I look at which files there are.",
            text="I look at the files.",
            **options,
        )
    handles = re.findall(r"^(f\d+) · .*SQL: ([a-z0-9_]+)", results[0], re.MULTILINE)
    if not handles:
        return Turn.say(
            "There is **no table** among the files of this chat. Attach a CSV file or a "
            "spreadsheet.",
            **options,
        )
    handle, table = handles[0]
    if len(results) == 1:
        return Turn.call(
            ("describe_table", {"file": handle}), thinking="The columns come first.", **options
        )
    if len(results) == 2:
        return Turn.call(
            ("query_tables", {"sql": f'SELECT count(*) AS "rows" FROM "{table}"'}), **options
        )
    return Turn.say(
        f"## Result\n\nThe table `{table}` was counted:\n\n```\n{results[2][:600]}\n```\n\nThat "
        f"is all of it.",
        **options,
    )


def _results_since_question(messages: Sequence[Json]) -> list[str]:
    results: list[str] = []
    for message in messages:
        blocks = _blocks(message["content"])
        found = [str(b.get("content")) for b in blocks if b["type"] == "tool_result"]
        if message["role"] == "user":
            results = [*results, *found] if found else []
    return results


def main() -> None:
    parser = argparse.ArgumentParser(
        description="A Messages API server on loopback with a built-in brain, for trying the page."
    )
    parser.add_argument("--port", type=int, default=8600)
    parser.add_argument(
        "--speed", type=float, default=40.0, help="deltas a second; 0 for all at once"
    )
    given = parser.parse_args()
    delay = 1 / given.speed if given.speed else 0.0
    with MessagesServer(lambda body: analyst(body, delay=delay), port=given.port) as server:
        print(f"LEAF_MODEL_URL={server.url}", flush=True)
        while True:
            time.sleep(3600)


if __name__ == "__main__":
    main()
