"""A login provider on loopback whose exchange of the token fails in the way that a test wants."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlencode, urlsplit

SECRET = "secret-word-of-the-provider"
"""Stands in every failure; neither page nor log may have the code."""
CODE = "code-0815"
FAILURES: dict[str, tuple[int, str]] = {
    "client": (401, json.dumps({"error": "invalid_client", "error_description": SECRET})),
    "grant": (400, json.dumps({"error": "invalid_grant", "error_description": SECRET})),
    "down": (503, "<h1>Service Unavailable</h1>"),
    "garbage": (200, "<h1>Welcome to the router</h1>"),
    "empty": (200, json.dumps({"access_token": "a", "token_type": "Bearer"})),
}


class LoginServer:
    """The provider; a context manager. `fails` is a key of FAILURES, `cut` for a connection that breaks, or an OAuth error."""

    def __init__(self, fails: str) -> None:
        self.fails = fails
        handler = type("Handler", (_Handler,), {"app": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()


class _Handler(BaseHTTPRequestHandler):
    app: LoginServer

    def log_message(self, *_: Any) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/authorize":
            given = {key: values[0] for key, values in parse_qs(parts.query).items()}
            known = self.app.fails in (*FAILURES, "cut", "state")
            state = "of-somebody-else" if self.app.fails == "state" else given["state"]
            said = {"code": CODE} if known else {"error": self.app.fails, "error_description": SECRET}
            self.send_response(302)
            self.send_header("location", f"{given['redirect_uri']}?{urlencode({**said, 'state': state})}")
            self.end_headers()
            return
        if self.app.fails == "metadata":
            return self._send(500, "no")
        base = self.app.url
        addresses = {"issuer": base, "authorization_endpoint": f"{base}/authorize", "token_endpoint": f"{base}/token"}
        self._send(200, json.dumps({**addresses, "jwks_uri": f"{base}/jwks", "keys": []}))

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.app.fails == "cut":
            self.connection.close()
            return
        self._send(*FAILURES[self.app.fails])

    def _send(self, status: int, body: str) -> None:
        data = body.encode()
        self.send_response(status)
        self.send_header("content-type", "text/html" if body.startswith("<") else "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
