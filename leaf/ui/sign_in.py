"""Why a sign-in failed: Streamlit's own routes log it and send the browser back without a word;
here it is put into words.

What is sent back is a word of a fixed list in the address, which the gate draws and clears. Nothing
that a provider or an address says is shown, and no code, state, token or secret is read.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leaf.language.text import mark

PARAMETER = "sign_in"
TROUBLES = {
    "cancelled": mark(
        "You were not signed in: access was not allowed at the login provider. Sign in "
        "again to allow it."
    ),
    "refused": mark(
        "The login provider refused the sign-in. Try again. If it happens again, tell whoever "
        "runs Leaf; its log says more."
    ),
    "stale": mark(
        "This sign-in was used already, is too old, or was begun in another browser. "
        "Sign in again from here; cookies of this page must be allowed."
    ),
    "client": mark(
        "The login provider does not accept this Leaf. Whoever runs it has to check "
        "`client_id`, `client_secret` and `redirect_uri` in the `[auth]` section of "
        "the secrets; nothing is wrong with your account."
    ),
    "unreachable": mark(
        "The login provider cannot be reached just now. Wait a minute, then sign in again. "
        "If it happens again, tell whoever runs Leaf; its log says more."
    ),
    "unclear": mark(
        "The login provider did not confirm the sign-in, so you were not signed in. Try again. "
        "If it happens again, tell whoever runs Leaf; its log says more."
    ),
}
"""Word in the address -> what the page says."""
LOGIN, CALLBACK = "/auth/login", "/oauth2callback"
COOKIE = "_streamlit_user="
STREAMLITS = "streamlit.web.server.starlette.starlette_auth_routes"
NO_PROVIDER = "Missing provider"
"""How Streamlit's record begins where no sign-in of this browser is known."""
_heard: ContextVar[list[logging.LogRecord] | None] = ContextVar("heard", default=None)


class SignInWords:
    """ASGI middleware: where signing in fails, the browser is sent back with a word for why."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        logger = logging.getLogger(STREAMLITS)
        if not any(isinstance(f, _Listener) for f in logger.filters):
            logger.addFilter(_Listener())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = str(scope.get("path", "")).rstrip("/")
        if scope["type"] != "http" or not path.endswith((LOGIN, CALLBACK)):
            await self.app(scope, receive, send)
            return
        begun = False
        word = ""

        async def send_with_word(message: Message) -> None:
            nonlocal begun, word
            if message["type"] == "http.response.start":
                begun = True
                word = _word(path, scope.get("query_string", b"").decode("latin-1"), message, heard)
                if word:
                    _lead_back(message, path, word)
            elif word:
                message = {**message, "body": b""}
            await send(message)

        with _listening() as heard:
            try:
                await self.app(scope, receive, send_with_word)
            except Exception:
                if begun:
                    raise
                logging.getLogger("leaf").exception("signing in failed")
                start: Message = {"type": "http.response.start", "status": 302, "headers": []}
                _lead_back(start, path, "unclear")
                await send(start)
                await send({"type": "http.response.body", "body": b""})


class _Listener(logging.Filter):
    """Hears what Streamlit logs while it answers a request, exceptions above all, and lets every
    record pass."""

    def filter(self, record: logging.LogRecord) -> bool:
        heard = _heard.get()
        if heard is not None:
            heard.append(record)
        return True


@contextmanager
def _listening() -> Iterator[list[logging.LogRecord]]:
    heard: list[logging.LogRecord] = []
    token = _heard.set(heard)
    try:
        yield heard
    finally:
        _heard.reset(token)


def _word(path: str, query: str, start: Message, heard: list[logging.LogRecord]) -> str:
    """Why it failed; empty if it did not, or if nothing was tried: providers lead back here after a
    sign-out too."""
    if path.endswith(LOGIN):
        return _cause(heard) if start["status"] >= 400 else ""
    params = parse_qs(query)
    if not {"code", "error", "state"} & params.keys():
        return ""
    cookies = [
        value.decode("latin-1")
        for name, value in start.get("headers", ())
        if name.lower() == b"set-cookie"
    ]
    if any(c.startswith(COOKIE) and not _clears(c) for c in cookies):
        return ""
    if error := params.get("error"):
        return (
            "cancelled"
            if error[0] in ("access_denied", "user_cancelled_login", "user_cancelled_authorize")
            else "refused"
        )
    return _cause(heard)


def _clears(cookie: str) -> bool:
    return cookie.removeprefix(COOKIE).startswith(('"";', ";")) or "max-age=0" in cookie.lower()


def _cause(heard: list[logging.LogRecord]) -> str:
    """What the exception says: a word of OAuth's, or a connection that failed."""
    if any(str(record.msg).startswith(NO_PROVIDER) for record in heard):
        return "stale"
    for error in (record.exc_info[1] for record in heard if record.exc_info):
        error_code = str(getattr(error, "error", ""))
        if error_code in ("invalid_client", "unauthorized_client", "redirect_uri_mismatch"):
            return "client"
        if error_code in ("mismatching_state", "invalid_grant"):
            return "stale"
        if isinstance(error, OSError) or type(error).__module__.split(".")[0] in (
            "httpx",
            "httpx2",
            "httpcore",
            "httpcore2",
        ):
            return "unreachable"
    return "unclear"


def _lead_back(start: Message, path: str, word: str) -> None:
    """Turn a response into one that leads to the front page with the word."""
    start["status"] = 302
    headers = MutableHeaders(scope=start)
    base = path.removesuffix(LOGIN).removesuffix(CALLBACK)
    headers["location"] = (
        urlsplit(headers.get("location") or f"{base}/").path + f"?{PARAMETER}={word}"
    )
    headers["content-length"] = "0"
