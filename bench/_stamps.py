"""A server that speaks just enough of the Messages API to stream words which say when they were
sent."""

from __future__ import annotations

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SECONDS = 180.0
WORDS_A_PARAGRAPH = 25


class Handler(BaseHTTPRequestHandler):
    """One answer of `SECONDS` seconds: words such as `t1795230000123`, the milliseconds of the
    moment."""

    protocol_version = "HTTP/1.1"
    words_a_second = 50

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        body = json.dumps(
            {"data": [], "has_more": False, "first_id": None, "last_id": None}
        ).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        usage = {"input_tokens": 10, "output_tokens": 1}
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "content": [],
            "model": "stamps",
            "usage": usage,
        }
        self._event(
            "message_start", message={**message, "stop_reason": None, "stop_sequence": None}
        )
        self._event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        began, number = time.monotonic(), 0
        while (now := time.monotonic() - began) < SECONDS:
            time.sleep(max(0.0, number / self.words_a_second - now))
            number += 1
            end = "\n\n" if number % WORDS_A_PARAGRAPH == 0 else " "
            word = f"t{time.time_ns() // 1_000_000}{end}"
            self._event("content_block_delta", index=0, delta={"type": "text_delta", "text": word})
        self._event("content_block_stop", index=0)
        self._event(
            "message_delta",
            delta={"stop_reason": "end_turn", "stop_sequence": None},
            usage={"output_tokens": number},
        )
        self._event("message_stop")
        self.close_connection = True

    def _event(self, kind: str, **fields: Any) -> None:
        self.wfile.write(
            f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
        )
        self.wfile.flush()


class Server(ThreadingHTTPServer):
    """Takes many callers at once."""

    daemon_threads = True

    def handle_error(self, _request: Any, _address: Any) -> None:
        """Clients leave in the middle of an answer; that is no error."""

    request_queue_size = 128


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Handler.words_a_second = int(sys.argv[1])
    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    sys.stdin.close()
    server.serve_forever()
