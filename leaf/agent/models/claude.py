"""A model behind the Messages API: Anthropic's, or any server that speaks it. This
module and `claude_errors` alone import anthropic.

A turn is read in a thread of its own, so that Stop ends it at once even while the server sends
nothing.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from leaf.agent.media import NoFilesError
from leaf.agent.models import wire
from leaf.agent.models.base import Emit, ModelRequest, ModelTurn
from leaf.agent.models.certificates import trusted
from leaf.agent.models.claude_errors import ANTHROPIC, ErrorTranslator, words_of
from leaf.agent.models.pace import PACE
from leaf.agent.models.reach import Reach
from leaf.agent.models.turn_builder import TurnBuilder
from leaf.errors import ModelError, RunError
from leaf.retries import retry_after
from leaf.settings import model_address
from leaf.shapes.raw import RawEvent, RawMessage

if TYPE_CHECKING:
    import anthropic
    import httpx2
    from anthropic import APIResponse
    from anthropic._middleware import CallNext  # the package names this type nowhere else
    from anthropic._request import APIRequest

    from leaf.agent.media import Media

LONGEST_WAIT = 60.0
"""Seconds: a server that asks for a longer wait before the next try is reported as busy instead."""
LOOK_SECONDS = 0.2
"""How often whoever waits for a stream looks whether it was stopped."""
LOST_UPLOADS = 2
"""New tries of a request whose uploads the server has lost."""
_CACHED = {"type": "ephemeral"}


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
        reach: Reach | None = None,
    ) -> None:
        """`media` puts pictures into requests; without it a request has none. `reach` says where a
        connection that a person made may lead; the environment's may lead anywhere."""
        self._media = media
        self._api_key = api_key
        self._url = model_address(base_url) or ANTHROPIC
        self._retries = retries
        """New tries before the stream begins; each waits as long as the server asks for."""
        self._stall_seconds = stall_seconds
        """Silence after which a stream counts as dead."""
        self._connect_seconds = connect_seconds
        self._reach = reach
        self._errors = ErrorTranslator(
            self._url, api_key, stall_seconds, self._http_client, own=reach is not None
        )
        self._client: anthropic.Anthropic | None = None
        self._lock = threading.Lock()

    def prepare(self) -> None:
        """Load the client, which takes a second or two, before somebody waits for an answer. Asks
        nobody anything."""
        _ = self._connect().messages

    def turn(self, request: ModelRequest, emit: Emit, stop: threading.Event) -> ModelTurn:
        """Answer once. Raises ModelError (TurnCutError once the stream has begun), RunError within
        a second of `stop`."""
        import anthropic
        import httpx2

        started = time.monotonic()
        builder = TurnBuilder(emit)
        reader = _StreamReader(self._connect(), request, self._media, builder.add)
        try:
            reader.wait(stop)
            return builder.finish(request.model, time.monotonic() - started)
        except (anthropic.APIError, httpx2.HTTPError, ValueError, AssertionError) as e:
            if stop.is_set():
                raise RunError("Stopped.") from e
            raise self._errors.translate(e, request.model, began=builder.began) from e
        finally:
            reader.close()

    def list_models(self) -> list[tuple[str, str]]:
        """Id and name of each model that the server offers, in its order. Raises ModelError where
        it cannot say."""
        import anthropic
        import httpx2

        try:
            page = self._connect().models.list(limit=100, timeout=self._connect_seconds)
            models = [
                (m.id, getattr(m, "display_name", None) or m.id) for m in page.data if _alive(m)
            ]
        except (anthropic.APIError, httpx2.HTTPError, ValueError, AssertionError) as e:
            raise self._errors.translate(e, "", began=False) from e
        if not models:
            raise ModelError(
                f"The model server at {self._errors.place()} names no models.",
                "Type the model's name.",
            )
        return models

    def _connect(self) -> anthropic.Anthropic:
        import anthropic
        import httpx2

        with self._lock:
            if self._client is None:
                timeout = httpx2.Timeout(self._stall_seconds, connect=self._connect_seconds)
                self._client = anthropic.Anthropic(
                    api_key=self._api_key or "no-key",
                    base_url=self._url,
                    max_retries=self._retries,
                    timeout=timeout,
                    http_client=self._http_client(timeout=timeout)
                    if self._reach
                    else anthropic.DefaultHttpxClient(timeout=timeout, verify=trusted()),
                    default_headers=_without_headers_of_environment() if self._reach else None,
                )
            return self._client

    def _http_client(self, **options: Any) -> httpx2.Client:
        import httpx2

        from leaf.agent.models import judged

        options["verify"] = trusted()
        return judged.client(self._reach, **options) if self._reach else httpx2.Client(**options)


def _without_headers_of_environment() -> dict[str, Any]:
    """The SDK sends what ANTHROPIC_CUSTOM_HEADERS says to every server; what is meant for the
    operator's is not for a person's own."""
    import anthropic

    lines = os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "").split("\n")
    return {line.partition(":")[0].strip(): anthropic.omit for line in lines if ":" in line}


def request_body(request: ModelRequest) -> dict[str, Any]:
    """Arguments of the streaming call. Earlier turns go out as they were; cache marks are set on
    copies."""
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "stream": True,
        "messages": list(request.messages),
    }
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


def _mark_newest(messages: Sequence[RawMessage]) -> list[RawMessage]:
    """Cache marks at the ends of the newest two user messages: the newest writes, the one before is
    found again by its mark even when a turn of many blocks lies between them."""
    marked = list(messages)
    ends = [
        i
        for i, message in enumerate(messages)
        if message["role"] == "user" and isinstance(message["content"], list)
    ]
    for i in ends[-2:]:
        *blocks, last = marked[i]["content"]
        marked[i] = {**marked[i], "content": [*blocks, {**last, "cache_control": _CACHED}]}
    return marked


class _StreamReader:
    """Reads a stream in a thread, which takes in each event as it comes; `wait` gives up soon after
    `stop` is set."""

    def __init__(
        self,
        client: anthropic.Anthropic,
        request: ModelRequest,
        media: Media | None,
        take: Callable[[RawEvent], None],
    ) -> None:
        self._client = client.with_middleware(self._gate)
        self._request = request
        self._media = media
        self._take = take
        self._taking = threading.Lock()
        """Held while an event is taken in, so that none is once nobody waits."""
        self._closed = threading.Event()
        self._over = threading.Event()
        self._failure: BaseException | None = None
        self._response: Any = None
        threading.Thread(target=self._read, name="model-stream", daemon=True).start()

    def wait(self, stop: threading.Event) -> None:
        """Until the stream has ended. Raises what reading it raised, and RunError once `stop` is
        set."""
        while not self._over.wait(LOOK_SECONDS):
            if stop.is_set():
                raise RunError("Stopped.")
        if stop.is_set():
            raise RunError("Stopped.")
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """End the connection if it is still open. Only a shutdown of the socket wakes a thread that
        waits to read from it."""
        with self._taking:
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
        """No new try once nobody waits for it, nor after a longer wait than a person has patience
        for."""
        if self._closed.is_set():
            raise RunError("Stopped.")
        response = call_next(request)
        if retry_after(response.headers) > LONGEST_WAIT:
            response.http_response.headers["x-should-retry"] = "false"
        return response

    def _read(self) -> None:
        try:
            stream = self._open()
            with stream, PACE.reading(stream.response):
                self._response = stream.response
                for event in wire.events(stream.response.iter_bytes()):
                    with self._taking:
                        if self._closed.is_set():
                            return
                        self._take(event)
        except BaseException as e:  # noqa: BLE001 - handed to the thread that waits, which sorts it
            self._failure = e
        finally:
            self._over.set()

    def _open(self) -> Any:
        """The stream. Uploads that the server has lost meanwhile are made anew: first those that it
        names, then all."""
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
                lost = _lost_uploads(words_of(e), file_ids)
                old = old or file_ids
                if lost and attempt:
                    lost = [file_id for file_id in file_ids if file_id in old]
                if (
                    self._media is None
                    or attempt == LOST_UPLOADS
                    or not self._media.lost(request.scope, lost)
                ):
                    raise
        raise AssertionError("unreachable")

    def _upload(
        self, data: bytes, media_type: str, lifetime: timedelta
    ) -> tuple[str, datetime | None]:
        """A picture to the Files API. Its name says nothing about the user's file."""
        import anthropic

        name = f"picture.{media_type.rpartition('/')[2]}"
        try:
            upload = self._client.files.upload(
                file=(name, data, media_type), expires_in_seconds=int(lifetime.total_seconds())
            )
        except (anthropic.RateLimitError, anthropic.AuthenticationError):
            raise
        except anthropic.APIStatusError as e:
            raise NoFilesError(
                f"The model server took no picture ({e.status_code}): "
                f"{words_of(e) or 'no reason given'}."
            ) from e
        return upload.id, upload.expires_at


def _lost_uploads(refusal: str, file_ids: Sequence[str]) -> list[str]:
    """Which of the uploads a refusal is about: those that it names, else all; none if it is about
    something else."""
    named = [file_id for file_id in file_ids if file_id in refusal]
    words = refusal.lower()
    about_files = bool(named) or (
        "file" in words
        and any(word in words for word in ("not found", "expired", "does not exist"))
    )
    if not about_files:
        return []
    return named or list(file_ids)


def _alive(model: Any) -> bool:
    return bool(getattr(model, "id", "")) and getattr(model, "lifecycle", "active") != "retired"
