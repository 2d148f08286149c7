"""A model behind the Messages API: Anthropic's, or any server that speaks it. The only module that imports anthropic.

A turn is read in a thread of its own, so that Stop ends it at once even while the server sends nothing.
"""

from __future__ import annotations

import json
import queue
import re
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from leaf.agent.media import NoFilesError
from leaf.agent.models import openai_only, wire
from leaf.agent.models.base import Emit, Json, ModelEvent, ModelRequest, ModelTurn, TooLongError, TurnCutError, Usage
from leaf.errors import ModelError, RunError
from leaf.retries import retry_after
from leaf.settings import model_address

if TYPE_CHECKING:
    import anthropic
    from anthropic import APIResponse
    from anthropic._middleware import CallNext  # the package names this type nowhere else
    from anthropic._request import APIRequest

    from leaf.agent.media import Media

ANTHROPIC = "https://api.anthropic.com"
LONGEST_WAIT = 60.0
"""Seconds: a server that asks for a longer wait before the next try is reported as busy instead."""
LOST_UPLOADS = 2
"""New tries of a request whose uploads the server has lost."""
_CACHED = {"type": "ephemeral"}
_AGAIN = "Wait a minute, then ask again."


class ClaudeModel:
    """Streams turns from a Messages API server. Safe to use from any number of threads."""

    def __init__(
        self,
        api_key: str = "",
        base_url: str = "",
        *,
        retries: int = 2,
        stall_seconds: float = 180.0,
        connect_seconds: float = 10.0,
        media: Media | None = None,
    ) -> None:
        """`media` puts pictures into requests; without it a request has none."""
        self._media = media
        self._api_key = api_key
        self._url = model_address(base_url) or ANTHROPIC
        self._retries = retries
        """New tries before the stream begins; each waits as long as the server asks for."""
        self._stall_seconds = stall_seconds
        """Silence after which a stream counts as dead."""
        self._connect_seconds = connect_seconds
        self._client: anthropic.Anthropic | None = None
        self._lock = threading.Lock()

    def turn(self, request: ModelRequest, emit: Emit, stop: threading.Event) -> ModelTurn:
        """Answer once. Raises ModelError (TurnCutError once the stream has begun), RunError within a second of `stop`."""
        import anthropic
        import httpx2

        started = time.monotonic()
        builder = _TurnBuilder(emit)
        reader = _Reader(self._connect(), request, self._media, stop)
        try:
            for event in reader.events():
                builder.add(event)
            return builder.finish(request.model, time.monotonic() - started)
        except (anthropic.APIError, httpx2.HTTPError, ValueError, AssertionError) as e:
            if stop.is_set():
                raise RunError("Stopped.") from e
            raise self._translate(e, request.model, began=builder.began) from e
        finally:
            reader.close()

    def list_models(self) -> list[tuple[str, str]]:
        """Id and name of each model that the server offers, in its order. Raises ModelError where it cannot say."""
        import anthropic
        import httpx2

        try:
            page = self._connect().models.list(limit=100, timeout=self._connect_seconds)
            models = [(m.id, getattr(m, "display_name", None) or m.id) for m in page.data if _alive(m)]
        except (anthropic.APIError, httpx2.HTTPError, ValueError, AssertionError) as e:
            raise self._translate(e, "", began=False) from e
        if not models:
            raise ModelError(f"The model server at {self._place()} names no models.", "Type the model's name.")
        return models

    def _connect(self) -> anthropic.Anthropic:
        import anthropic
        import httpx2

        with self._lock:
            if self._client is None:
                self._client = anthropic.Anthropic(
                    api_key=self._api_key or "no-key",
                    base_url=self._url,
                    max_retries=self._retries,
                    timeout=httpx2.Timeout(self._stall_seconds, connect=self._connect_seconds),
                )
            return self._client

    def _place(self) -> str:
        """The server's address without what may be secret in it."""
        parts = urlsplit(self._url)
        return f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")

    def _translate(self, error: Exception, model: str, *, began: bool) -> ModelError:
        """One clear sentence for what the SDK or the connection threw, and what to do."""
        import anthropic
        import httpx2

        place = self._place()
        if isinstance(error, anthropic.APIStatusError):
            return self._translate_status(error, model)
        if isinstance(error, wire.BrokenOffError):
            return _translate_event(error)
        if isinstance(error, wire.NotMessagesError) and not began:
            return self._no_messages_api(error.said, openai=error.openai)
        if isinstance(error, anthropic.APITimeoutError | httpx2.TimeoutException):
            kind = TurnCutError if began else ModelError
            return kind(
                f"The model server at {place} sent nothing for {self._stall_seconds:g} seconds.", "Ask again.", retryable=True
            )
        if isinstance(error, anthropic.APIConnectionError):
            return ModelError(f"The model server at {place} cannot be reached.", self._where_to_look(), retryable=True)
        if isinstance(error, httpx2.HTTPError):
            return TurnCutError("The connection to the model was cut in the middle of the answer.", "Ask again.", retryable=True)
        if began:
            said = error.said if isinstance(error, wire.NotMessagesError) else ""
            return TurnCutError(f"The model server at {place} {_foreign(said)}", "Ask again.")
        return self._no_messages_api("", openai=False)

    def _no_messages_api(self, said: str, *, openai: bool, status: int | None = None) -> ModelError:
        """What answers there is something else: a server of OpenAI's API alone, which is named, or anything."""
        place, mark = self._place(), f" ({status})" if status else ""
        if openai or (self._url != ANTHROPIC and openai_only.speaks_openai(self._url, self._api_key)):
            text = f"The server at {place} speaks only OpenAI's API{mark}, and Leaf needs one that speaks the Messages API."
            return ModelError(text, openai_only.WHAT_TO_DO, status=status)
        if status:
            return ModelError(f"There is no Messages API at {place}{mark}.", self._where_to_look(), status=status)
        return ModelError(f"The model server at {place} {_foreign(said)}", self._where_to_look())

    def _translate_status(self, error: anthropic.APIStatusError, model: str) -> ModelError:
        status, place, said = error.status_code, self._place(), _said(error)
        if status == 401:
            return ModelError(f"The model server at {place} refused the key (401).", "Check ANTHROPIC_API_KEY.", status=status)
        if status == 403:
            return ModelError(f"The key may not use this model or server (403): {said}.", "Choose another model.", status=status)
        if status == 404 and model and _is_about_model(error, said, model):
            hint = "Choose another in the settings, or set LEAF_MODEL."
            return ModelError(f"The model server at {place} has no model '{model}' (404).", hint, status=status)
        if status in (404, 405, 501) or (status in (400, 422) and openai_only.is_about_path(said)):
            return self._no_messages_api(said, openai=False, status=status)
        if status == 413 or (status == 400 and _too_long(said)):
            hint = "Start a new chat, or ask with fewer files."
            text = f"The question with its history is longer than the model can take ({status})."
            tokens, most = _figures(said)
            return TooLongError(text, hint, status=status, tokens=tokens, most=most)
        if status == 402 or "credit balance" in said.lower():
            hint = "Top it up, or use another key."
            return ModelError(f"The account of this key has no credit left ({status}).", hint, status=status)
        reason = said or "no reason given"
        if status == 429 or status >= 500:
            text = f"The model server failed ({status}): {reason}."
            if status == 429:
                text = "The model server takes no more requests for now (429)."
            elif status in (503, 529):
                text = f"The model is overloaded ({status})."
            return ModelError(text, _AGAIN, retryable=True, status=status, wait=retry_after(error.response.headers))
        return ModelError(f"The model server rejected the request ({status}): {reason}.", status=status)

    def _where_to_look(self) -> str:
        if self._url == ANTHROPIC:
            return "Check the connection to the internet, then ask again."
        return "Check that it runs there and that LEAF_MODEL_URL is right."


def request_body(request: ModelRequest) -> Json:
    """Arguments of the streaming call. Earlier turns go out as they were; cache marks are set on copies."""
    body: Json = {"model": request.model, "max_tokens": request.max_tokens, "stream": True, "messages": list(request.messages)}
    if request.tools:
        body["tools"] = list(request.tools)
    if request.profile == "basic":
        return {**body, "system": request.system}
    return {
        **body,
        "system": [{"type": "text", "text": request.system, "cache_control": _CACHED}],
        "messages": _mark_newest(request.messages),
        "thinking": {"type": "adaptive", "display": "summarized"},
    }


def _mark_newest(messages: Sequence[Json]) -> list[Json]:
    """Cache marks at the ends of the newest two user messages: the newest writes, the one before is found again by its mark
    even when a turn of many blocks lies between them."""
    marked = list(messages)
    ends = [i for i, message in enumerate(messages) if message["role"] == "user" and isinstance(message["content"], list)]
    for i in ends[-2:]:
        *blocks, last = marked[i]["content"]
        marked[i] = {**marked[i], "content": [*blocks, {**last, "cache_control": _CACHED}]}
    return marked


class _Reader:
    """Reads a stream in a thread; `events` hands the events over, and gives up the moment `stop` is set."""

    def __init__(self, client: anthropic.Anthropic, request: ModelRequest, media: Media | None, stop: threading.Event) -> None:
        self._client = client.with_middleware(self._gate)
        self._request = request
        self._media = media
        self._stop = stop
        self._closed = threading.Event()
        self._queue: queue.Queue[Json | Exception | None] = queue.Queue()
        self._response: Any = None
        threading.Thread(target=self._read, name="model-stream", daemon=True).start()

    def events(self) -> Iterator[Json]:
        while True:
            if self._stop.is_set():
                raise RunError("Stopped.")
            try:
                item = self._queue.get(timeout=0.1)
            except queue.Empty:
                continue
            if item is None:
                return
            if isinstance(item, Exception):
                raise item
            yield item

    def close(self) -> None:
        """End the connection if it is still open. Only a shutdown of the socket wakes a thread that waits to read from it."""
        self._closed.set()
        response = self._response
        if response is None or response.is_closed:
            return
        stream = response.extensions.get("network_stream")
        sock = stream.get_extra_info("socket") if stream is not None else None
        if sock is not None:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                return  # already gone

    def _gate(self, request: APIRequest, call_next: CallNext) -> APIResponse[Any]:
        """No new try once nobody waits for it, nor after a longer wait than a person has patience for."""
        if self._closed.is_set():
            raise RunError("Stopped.")
        response = call_next(request)
        if retry_after(response.headers) > LONGEST_WAIT:
            response.http_response.headers["x-should-retry"] = "false"
        return response

    def _read(self) -> None:
        try:
            stream = self._open()
            with stream:
                self._response = stream.response
                if self._closed.is_set():
                    return
                for event in wire.events(stream.response.iter_bytes()):
                    self._queue.put(event)
            self._queue.put(None)
        except Exception as e:  # noqa: BLE001 - handed to the thread that waits, which sorts it
            self._queue.put(e)

    def _open(self) -> Any:
        """The stream. Uploads that the server has lost meanwhile are made anew: first those that it names, then all."""
        import anthropic

        old: list[str] = []
        for attempt in range(LOST_UPLOADS + 1):
            request, file_ids = self._request, []
            if self._media is not None:
                prepared = self._media.prepare(request.scope, request.messages, self._upload)
                request, file_ids = replace(request, messages=prepared.messages), prepared.file_ids
            try:
                return self._client.messages.create(**request_body(request))
            except (anthropic.BadRequestError, anthropic.NotFoundError) as e:
                lost = _lost_uploads(_said(e), file_ids)
                old = old or file_ids
                if lost and attempt:
                    lost = [file_id for file_id in file_ids if file_id in old]
                if self._media is None or attempt == LOST_UPLOADS or not self._media.lost(request.scope, lost):
                    raise
        raise AssertionError("unreachable")

    def _upload(self, data: bytes, media_type: str, kept: timedelta) -> tuple[str, datetime | None]:
        """A picture to the Files API. Its name says nothing about the user's file."""
        import anthropic

        name = f"picture.{media_type.rpartition('/')[2]}"
        try:
            made = self._client.files.upload(file=(name, data, media_type), expires_in_seconds=int(kept.total_seconds()))
        except (anthropic.RateLimitError, anthropic.AuthenticationError):
            raise
        except anthropic.APIStatusError as e:
            raise NoFilesError(f"The model server took no picture ({e.status_code}): {_said(e) or 'no reason given'}.") from e
        return made.id, made.expires_at


def _lost_uploads(said: str, file_ids: Sequence[str]) -> list[str]:
    """Which of the uploads a refusal is about: those that it names, else all; none if it is about something else."""
    named = [file_id for file_id in file_ids if file_id in said]
    words = said.lower()
    about_files = bool(named) or ("file" in words and any(word in words for word in ("not found", "expired", "does not exist")))
    if not about_files:
        return []
    return named or list(file_ids)


class _TurnBuilder:
    """Puts a turn together from stream events and says what arrives."""

    def __init__(self, emit: Emit) -> None:
        self.began = False
        self._emit = emit
        self._blocks: dict[int, Json] = {}
        self._inputs: dict[int, list[str]] = {}
        self._broken: dict[str, str] = {}
        self._usage: Json = {}
        self._stop_reason = ""
        self._model = ""

    def add(self, event: Json) -> None:
        """Raises ValueError for an event that is not the API's."""
        try:
            self._add(event)
        except (KeyError, TypeError, AttributeError) as e:
            raise ValueError("a stream event is not the API's") from e

    def _add(self, event: Json) -> None:
        kind = event.get("type")
        if kind == "message_start":
            self.began = True
            self._model = event["message"].get("model") or ""
            self._count(event["message"].get("usage"))
        elif kind == "content_block_start":
            self._start(event["index"], event["content_block"])
        elif kind == "content_block_delta":
            self._delta(event["index"], event["delta"])
        elif kind == "content_block_stop":
            self._end(event["index"])
        elif kind == "message_delta":
            self._stop_reason = event["delta"].get("stop_reason") or self._stop_reason
            self._count(event.get("usage"))

    def finish(self, model: str, seconds: float) -> ModelTurn:
        if not self.began:
            raise ValueError("the stream held no message")
        if not self._stop_reason:
            raise TurnCutError("The model's answer ended before it was complete.", "Ask again.", retryable=True)
        blocks = [self._blocks[i] for i in sorted(self._blocks)]
        content = [block for block in blocks if block["type"] != "text" or block["text"].strip()]
        return ModelTurn(content, self._stop_reason, self._usage_so_far(), self._model or model, seconds, self._broken)

    def _start(self, index: int, given: Json) -> None:
        block = {key: value for key, value in given.items() if value is not None}
        self._blocks[index] = block
        if block["type"] == "tool_use":
            self._inputs[index] = []
            self._say(index, "start", call_id=block["id"], name=block["name"])
        elif kind := _KINDS.get(block["type"]):
            self._say(index, "start")
            for citation in block.get("citations") or ():
                self._emit(ModelEvent("citation", index=index, citation=citation))
            if block.get(kind[1]):
                self._say(index, "delta", delta=block[kind[1]])

    def _delta(self, index: int, delta: Json) -> None:
        block = self._blocks[index]
        if delta["type"] == "input_json_delta":
            self._inputs.setdefault(index, []).append(delta["partial_json"])
            self._say(index, "delta", delta=delta["partial_json"])
        elif delta["type"] == "signature_delta":
            block["signature"] = delta["signature"]
        elif delta["type"] == "citations_delta":
            block.setdefault("citations", []).append(delta["citation"])
            self._emit(ModelEvent("citation", index=index, citation=delta["citation"]))
        elif kind := _KINDS.get(block["type"]):
            block[kind[1]] = block.get(kind[1], "") + delta[kind[1]]
            self._say(index, "delta", delta=delta[kind[1]])

    def _end(self, index: int) -> None:
        block = self._blocks[index]
        text = "".join(self._inputs.get(index, ()))
        if text:
            try:
                block["input"] = json.loads(text)
            except ValueError:
                block["input"] = None
        if block["type"] == "tool_use" and not isinstance(block.get("input"), dict):
            self._broken[block["id"]] = text
            block["input"] = {}
        self._say(index, "end")

    def _say(self, index: int, phase: Any, *, delta: str = "", call_id: str = "", name: str = "") -> None:
        if kind := _KINDS.get(self._blocks[index]["type"]):
            self._emit(ModelEvent(kind[0], phase, index, delta, call_id, name))

    def _count(self, usage: Json | None) -> None:
        """Take over the figures that are given: each message_delta has totals, not increments."""
        self._usage.update({key: value for key, value in (usage or {}).items() if value is not None})
        self._emit(ModelEvent("usage", usage=self._usage_so_far()))

    def _usage_so_far(self) -> Usage:
        created = self._usage.get("cache_creation_input_tokens", 0)
        cached = self._usage.get("cache_read_input_tokens", 0)
        fresh = self._usage.get("input_tokens", 0)
        return Usage(fresh + created + cached, cached, created, self._usage.get("output_tokens", 0))


_KINDS: dict[str, tuple[Any, str]] = {
    "text": ("text", "text"),
    "thinking": ("reasoning", "thinking"),
    "tool_use": ("tool-input", "input"),
}
"""Block type -> kind of its events, and the field that its deltas add to."""


def _translate_event(error: wire.BrokenOffError) -> ModelError:
    """An error in place of an answer, or of the rest of one. Overload and inner faults may pass; a refused request will not."""
    if error.kind in ("invalid_request_error", "authentication_error", "permission_error", "billing_error", "not_found_error"):
        return ModelError(f"The model server broke the answer off: {error.said or 'no reason given'}.")
    reason = "it is overloaded" if error.kind == "overloaded_error" else error.said or "no reason given"
    return TurnCutError(f"The model server broke the answer off: {reason}.", _AGAIN, retryable=True)


def _foreign(said: str) -> str:
    return "sent something that is not a Messages API stream" + (f": {said}." if said else ".")


def _is_about_model(error: anthropic.APIStatusError, said: str, model: str) -> bool:
    """Whether a 404 means the model. Of the servers that do not use the Messages API's own form, it names it."""
    body = error.body if isinstance(error.body, dict) else {}
    own = body.get("type") == "error" and not openai_only.is_about_path(said)
    return bool(said) and (own or model in said or ("model" in said.lower() and not openai_only.is_about_path(said)))


def _said(error: anthropic.APIStatusError) -> str:
    """The server's own words, at most 300 characters; empty where the body is no JSON, which is a page for browsers."""
    body = error.body if isinstance(error.body, dict) else {}
    return wire.words(body.get("error") or body.get("detail") or body)


def _too_long(said: str) -> bool:
    phrases = ("too long", "context window", "context length", "maximum context", "exceeds the max")
    return any(phrase in said.lower() for phrase in phrases)


def _figures(said: str) -> tuple[int, int]:
    """The server's own count and its limit, where it names them: `prompt is too long: 1200000 tokens > 1000000 maximum`."""
    found = re.search(r"(\d+) tokens > (\d+)", said)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _alive(model: Any) -> bool:
    return bool(getattr(model, "id", "")) and getattr(model, "lifecycle", "active") != "retired"
