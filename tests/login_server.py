"""A login provider on loopback whose exchange of the token fails in the way that a test wants."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.loopback import Handler, LoopbackServer

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


class LoginServer(LoopbackServer):
    """The provider; a context manager. `fails` is a key of FAILURES, `cut` for a connection that
    breaks, or an OAuth error."""

    def __init__(self, fails: str) -> None:
        self.fails = fails
        super().__init__(_Handler)


class _Handler(Handler):
    app: LoginServer
    protocol_version = "HTTP/1.0"

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/authorize":
            given = {key: values[0] for key, values in parse_qs(parts.query).items()}
            known = self.app.fails in (*FAILURES, "cut", "state")
            state = "of-somebody-else" if self.app.fails == "state" else given["state"]
            said = (
                {"code": CODE} if known else {"error": self.app.fails, "error_description": SECRET}
            )
            self.send_response(302)
            self.send_header(
                "location", f"{given['redirect_uri']}?{urlencode({**said, 'state': state})}"
            )
            self.end_headers()
            return
        if self.app.fails == "metadata":
            return self.send(500, "no")
        base = self.app.url
        addresses = {
            "issuer": base,
            "authorization_endpoint": f"{base}/authorize",
            "token_endpoint": f"{base}/token",
        }
        self.send(200, json.dumps({**addresses, "jwks_uri": f"{base}/jwks", "keys": []}))

    def do_POST(self) -> None:
        self.body()
        if self.app.fails == "cut":
            self.connection.close()
            return
        status, said = FAILURES[self.app.fails]
        self.send(status, said, "text/html" if said.startswith("<") else "application/json")
