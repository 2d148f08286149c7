"""Where nobody signs in: only a browser that came by the address that Leaf printed at its start is
let in, so that no other program and no page of this machine can use the history.

The address carries a token, which is kept in the data folder. It is exchanged at once for a cookie
that scripts cannot read and pages of others do not send, and taken out of the address.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from leaf.language.text import mark, speaking, t
from leaf.remote.server import PATHS
from leaf.settings.private import (
    DistrustError,
    keep_private,
    read_private,
    write_private,
)
from leaf.ui import door_page
from leaf.ui.language import best

PARAMETER = "token"
DAYS = 30
"""How long a browser that was let in stays so; another visit by the printed address begins anew."""
SHORTEST = 32
TITLE = mark("Open Leaf from the terminal")
MESSAGE = mark("Leaf runs here, but this browser has not been let in yet.")
HINT = mark(
    "Open the address that Leaf printed in the terminal in which it was started: it ends with "
    "?token=… and is good for every browser of this machine."
)
AGAIN = '<meta http-equiv="refresh" content="0">'
"""A browser that follows a link of another site does not send the cookie; the page that it then
gets asks again, from here, and does."""

logger = logging.getLogger("leaf")


def kept_token(home: Path) -> str:
    """The token of this data folder, made at the first call. Raises OSError, SettingsError."""
    keep_private(home)
    path = home / "page-token"
    try:
        token = read_private(path).decode("ascii").strip()
        if len(token) >= SHORTEST:
            return token
        problem = "it is damaged"
    except FileNotFoundError:
        problem = ""
    except (OSError, UnicodeDecodeError):
        problem = "it cannot be read"
    except DistrustError as e:
        problem = str(e)
    if problem:
        logger.warning("%s is made anew: %s", path, problem)
    token = secrets.token_urlsafe(SHORTEST)
    write_private(path, token)
    return token


def address_with(url: str, token: str) -> str:
    """Where a browser is to begin; `url` itself without a token."""
    return f"{url}/?{PARAMETER}={token}" if token else url


class Entrance:
    """ASGI middleware that asks for the cookie, while there is a token."""

    def __init__(
        self,
        app: ASGIApp,
        token: Callable[[], str],
        open_paths: frozenset[str],
        open_below: str = "",
    ) -> None:
        """`open_below` is a path ending with a slash: each name right below it says by itself who may
        come."""
        self.app = app
        self.token = token
        self.open_paths = open_paths | PATHS
        self.open_below = open_below

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        token = "" if _passes(scope, self.open_paths, self.open_below) else self.token()
        headers = Headers(scope=scope) if token else Headers()
        shown = _shown(scope) if token else ""
        if not token or (not shown and _has_cookie(headers, token)):
            await self.app(scope, receive, send)
        elif hmac.compare_digest(shown.encode(), token.encode()):
            await _let_in(scope, token)(scope, receive, send)
        else:
            await _refuse(scope, headers)(scope, receive, send)


def _passes(scope: Scope, open_paths: frozenset[str], open_below: str) -> bool:
    if scope["type"] != "http":
        return bool(scope["type"] != "websocket")
    path = str(scope["path"])
    if path in open_paths:
        return True
    name = path.removeprefix(open_below)
    return name != path and name.isprintable() and "/" not in name


def _shown(scope: Scope) -> str:
    """The token in the address of a page; empty if there is none."""
    if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
        return ""
    return dict(_parameters(scope)).get(PARAMETER, "")


def _parameters(scope: Scope) -> list[tuple[str, str]]:
    try:
        query = scope.get("query_string", b"").decode("latin-1")
        return parse_qsl(query, keep_blank_values=True)
    except ValueError:
        return []


def _cookie_of(token: str) -> tuple[str, str]:
    """Name and value. Cookies know no ports, so each data folder has a name of its own, and what a
    cookie tells another server of this machine is not the token."""
    name = hashlib.sha256(b"name " + token.encode()).hexdigest()[:12]
    return f"leaf_{name}", hmac.new(token.encode(), b"leaf page", hashlib.sha256).hexdigest()


def _has_cookie(headers: Headers, token: str) -> bool:
    name, value = _cookie_of(token)
    for line in headers.getlist("cookie"):
        for part in line.split(";"):
            cookie_name, _, held = part.strip().partition("=")
            if cookie_name == name and hmac.compare_digest(held.encode(), value.encode()):
                return True
    return False


def _let_in(scope: Scope, token: str) -> Response:
    """To the same page without the token; the path begins with one slash, so that it leads
    nowhere else."""
    rest = urlencode([pair for pair in _parameters(scope) if pair[0] != PARAMETER])
    path = "/" + quote(scope["path"].lstrip("/\\"))
    response = Response(
        status_code=303,
        headers={"location": f"{path}?{rest}" if rest else path, "cache-control": "no-store"},
    )
    name, value = _cookie_of(token)
    response.set_cookie(
        name,
        value,
        max_age=DAYS * 86_400,
        httponly=True,
        samesite="strict",
        secure=scope.get("scheme") == "https",
    )
    return response


def _refuse(scope: Scope, headers: Headers) -> Response:
    status, cache_headers = 403, {"cache-control": "no-store"}
    if scope["type"] == "http" and "text/html" in headers.get("accept", ""):
        from_elsewhere = headers.get("sec-fetch-site") == "cross-site" and not _shown(scope)
        with speaking(best(headers.get("accept-language", ""))):
            words = t(TITLE), t(MESSAGE), t(HINT)
            page = door_page.page(*words, head=AGAIN if from_elsewhere else "")
        return HTMLResponse(page, status, cache_headers)
    return JSONResponse({"error": f"{MESSAGE} {HINT}"}, status, cache_headers)
