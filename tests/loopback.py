"""A server on loopback for tests: what those that play a model, a Drive or a login provider have in
common."""

from __future__ import annotations

import contextlib
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class Handler(BaseHTTPRequestHandler):
    """One connection. `app` is the server that it belongs to."""

    app: Any
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: Any) -> None:
        """Quiet."""

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def send(
        self,
        status: int,
        content: str | bytes,
        media_type: str = "application/json",
        **headers: str,
    ) -> None:
        """A whole answer; `_` in the name of a header stands for `-`."""
        data = content.encode() if isinstance(content, str) else content
        self.send_response(status)
        for name, value in {
            "content-type": media_type,
            "content-length": str(len(data)),
            **headers,
        }.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)


class LoopbackServer:
    """Serves from the context's beginning to its end, in threads of its own; at a port that is
    free, unless one is given."""

    def __init__(self, handler: type[Handler], port: int = 0) -> None:
        bound = type("Bound", (handler,), {"app": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", port), bound)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        ending = threading.Thread(target=self._http.shutdown, daemon=True)
        ending.start()
        while ending.is_alive():  # it looks twice a second whether it is to end, or when one comes
            with contextlib.suppress(OSError):
                socket.create_connection(self._http.server_address[:2], 1).close()
            ending.join(0.02)
        self._http.server_close()
