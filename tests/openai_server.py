"""A server on loopback that speaks OpenAI's API and no other, with the ways in which such servers
refuse `/v1/messages`."""

from __future__ import annotations

import json
from dataclasses import dataclass

from tests.loopback import Handler, LoopbackServer

CHUNK = {
    "id": "chatcmpl-1",
    "object": "chat.completion.chunk",
    "choices": [{"index": 0, "delta": {"content": "Hi"}}],
}


@dataclass(frozen=True)
class Refusal:
    """What the server says to `POST /v1/messages`."""

    status: int
    body: str
    media_type: str = "application/json"


REFUSALS = {
    "openai": Refusal(
        404,
        '{"error":{"message":"Invalid URL (POST '
        '/v1/messages)","type":"invalid_request_error","code":null}}',
    ),
    "fastapi": Refusal(404, '{"detail":"Not Found"}'),
    "llama.cpp": Refusal(
        404, '{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}'
    ),
    "ollama": Refusal(404, "404 page not found", "text/plain"),
    "lm studio": Refusal(
        200, '{"error":"Unexpected endpoint or method. (POST /v1/messages). Returning 200 anyway"}'
    ),
    "other method": Refusal(405, '{"detail":"Method Not Allowed"}'),
    "bad request": Refusal(
        400, '{"error":{"message":"Unknown endpoint","type":"invalid_request_error"}}'
    ),
    "page": Refusal(
        200, "<!doctype html><html><body>Chat with your models</body></html>", "text/html"
    ),
    "its own stream": Refusal(
        200, f"data: {json.dumps(CHUNK)}\n\ndata: [DONE]\n\n", "text/event-stream"
    ),
    "its own answer": Refusal(200, json.dumps({"object": "chat.completion", "choices": []})),
}


class OpenAIServer(LoopbackServer):
    """The server; a context manager."""

    def __init__(self, refusal: Refusal, *, lists: bool = True, prefix: str = "/v1") -> None:
        self.refusal = refusal
        self.lists = lists
        """Whether it lists models; otherwise only `/chat/completions` is there."""
        self.prefix = prefix
        super().__init__(_Handler)


class _Handler(Handler):
    app: OpenAIServer

    def do_GET(self) -> None:
        if self.path == f"{self.app.prefix}/models" and self.app.lists:
            return self.send(
                200, '{"object":"list","data":[{"id":"llama","object":"model","owned_by":"me"}]}'
            )
        self.send(self.app.refusal.status, self.app.refusal.body, self.app.refusal.media_type)

    def do_POST(self) -> None:
        self.body()
        if self.path == f"{self.app.prefix}/chat/completions":
            error = {
                "message": "messages: array too short",
                "type": "invalid_request_error",
                "param": "messages",
            }
            return self.send(400, json.dumps({"error": error}))
        self.send(self.app.refusal.status, self.app.refusal.body, self.app.refusal.media_type)
