"""Streamlit's cookies as Leaf wants them: over HTTPS only where Leaf is reached so, and no longer
than the sign-in lasts; and who a cookie says is signed in."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

USER = "_streamlit_user"
"""Begins the names of the cookies with claims, and of those with the provider's tokens."""
TOKENS = "_streamlit_user_tokens"
GRACE = 3600
"""Seconds for which claims stay after the sign-in ended, so that the page can say that it did."""
HSTS = "max-age=31536000"


def claims_in(cookies: Mapping[str, str]) -> Mapping[str, object]:
    """The claims of a sign-in, if Streamlit signed them; else none. Whether the sign-in holds is
    not asked here."""
    from streamlit.auth_util import get_cookie_with_chunks
    from streamlit.web.server.server_util import get_cookie_secret
    from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value

    secret = get_cookie_secret()

    def one(name: str) -> bytes | None:
        value = cookies.get(name)
        return decode_signed_value(secret, name, value.encode("latin-1")) if value else None

    try:
        claims = json.loads(get_cookie_with_chunks(one, USER) or b"{}") if secret else {}
    except ValueError:
        return {}
    return claims if isinstance(claims, dict) else {}


def cookies_of(headers: Headers) -> dict[str, str]:
    """Name -> value."""
    pairs = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
    return {name: value for name, _, value in pairs if name}


class Cookies:
    """ASGI middleware. `https` says whether browsers reach Leaf by HTTPS in any case, and
    `ends_at` until when claims hold, in seconds since 1970."""

    def __init__(
        self,
        app: ASGIApp,
        https: Callable[[], bool],
        ends_at: Callable[[Mapping[str, object]], float | None],
    ) -> None:
        self.app = app
        self.https = https
        self.ends_at = ends_at

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        secure = scope.get("scheme") == "https" or self.https()

        async def send_changed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if secure:
                    headers["strict-transport-security"] = HSTS
                _change(headers, self.ends_at, secure=secure)
            await send(message)

        await self.app(scope, receive, send_changed)


def _change(
    headers: MutableHeaders,
    ends_at: Callable[[Mapping[str, object]], float | None],
    *,
    secure: bool,
) -> None:
    lines = headers.getlist("set-cookie")
    if not lines:
        return
    line_of = {line.partition("=")[0]: line for line in lines}
    ends = None
    if any(_is_set(line) for name, line in line_of.items() if name.startswith(USER)):
        ends = ends_at(claims_in({name: _value(name, line) for name, line in line_of.items()}))
    del headers["set-cookie"]
    for line in lines:
        if line.startswith(USER) and _is_set(line):
            line = _lasting(line, ends)
        if secure and "secure" not in _attributes(line):
            line += "; Secure"
        headers.append("set-cookie", line)


def _lasting(line: str, ends: float | None) -> str:
    """With the time that is left; where that is not known, until the browser is closed."""
    parts = [
        part for part in line.split("; ") if not part.lower().startswith(("max-age=", "expires="))
    ]
    if ends is not None:
        more = 0 if line.startswith(TOKENS) else GRACE
        parts.append(f"Max-Age={max(1, int(ends - time.time()) + more)}")
    return "; ".join(parts)


def _is_set(line: str) -> bool:
    """Rather than cleared."""
    return "max-age" not in (attributes := _attributes(line)) or attributes["max-age"] != "0"


def _attributes(line: str) -> dict[str, str]:
    pairs = (part.strip().partition("=") for part in line.split(";")[1:])
    return {name.lower(): value for name, _, value in pairs}


def _value(name: str, line: str) -> str:
    try:
        return SimpleCookie(line)[name].value
    except (CookieError, KeyError):
        return ""
