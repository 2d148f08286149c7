"""Who may reach this Leaf, by where a request comes from and to which name it was sent. Decided
before anything else sees it.

Without sign-in that is this machine only: no other name, address or proxy. With sign-in, or where
LEAF_ALLOW_OPEN says so, every name leads here, or those of LEAF_ALLOWED_HOSTS. What a page asks for,
by a websocket or otherwise, besides has to come from a page of that same name and port; of others'
pages only a link leads here.
"""

from __future__ import annotations

import ipaddress
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from leaf.language import problems
from leaf.language.text import speaking, t
from leaf.ui import door_page
from leaf.ui.language import best

FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
"""Headers by which a proxy shows that it brings somebody in."""
HEALTH = ("/_stcore/health", "/healthz", "/readyz", "/metrics")
"""Asked by what watches over the process, under any name; the answers hold nothing of anybody, and
the metrics have a token of their own."""
PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
CLOSED = (
    "This Leaf has no sign-in and can be used only on the machine on which it runs.",
    "Whoever runs it can set up sign-in (docs/sign-in.md), or set LEAF_ALLOW_OPEN=1 to let "
    "everybody in.",
)
FOREIGN = (
    "This connection does not come from a page of this Leaf.",
    "If it does, the proxy in front of Leaf has to pass the Host header on, or "
    "LEAF_ALLOWED_HOSTS has to name the host.",
)
logger = logging.getLogger("leaf")


@dataclass(frozen=True)
class Rules:
    """What the settings say about visitors."""

    is_open: bool = False
    """Whether other machines may come: people sign in, or are let in without."""
    hosts: tuple[str, ...] = ()
    """The names under which they may; none: any. `*.example.org` is every name below it."""
    origin: str = ""
    """Scheme, name and port to which the login provider sends people back, as a browser writes
    them."""
    token: str = field(default="", repr=False)
    """What a browser has to have come with, where nobody signs in; empty: nothing."""
    problem: str = ""
    """Why nobody else may come, where that is not a decision but a setting that cannot be read."""


def refusal(rules: Rules, headers: Headers, client: str) -> tuple[str, str] | None:
    """Why this request is refused and what to do, or None. `client` is the address it comes from;
    empty for here."""
    host = headers.get("host") or ""
    if not rules.is_open and not is_local(
        host, client, any(header in headers for header in FORWARDED)
    ):
        return (rules.problem, "") if rules.problem else CLOSED
    names = [
        host_name(authority)
        for authority in (host, _first(headers.get("x-forwarded-host")))
        if authority
    ]
    known = (*rules.hosts, host_name(urlsplit(rules.origin).netloc))
    if (
        rules.is_open
        and rules.hosts
        and not any(_is_loopback(name) or _named(name, known) for name in names)
    ):
        return (
            f"This Leaf is not reached as '{names[0] if names else ''}'.",
            "Use the address that you were given. Whoever runs it can add the name to "
            "LEAF_ALLOWED_HOSTS.",
        )
    return None


def trusted_host(rules: Rules, headers: Headers) -> str | None:
    """The Host under which a websocket goes on: that of the page it belongs to. None if the page is
    somebody else's.

    A proxy may put a name of its own in place of the one the browser used. The browser's is then
    known by what the proxy adds, which no page can, or by the settings.
    """
    host, origin = headers.get("host") or "", headers.get("origin")
    if origin is None:
        return host
    if len(headers.getlist("origin")) > 1 or len(headers.getlist("host")) > 1:
        return None
    try:
        page = urlsplit(origin)
        wanted = (host_name(page.netloc), page.port or PORTS.get(page.scheme))
        reached = [
            authority for authority in (host, _first(headers.get("x-forwarded-host"))) if authority
        ]
        same = [
            authority
            for authority in reached
            if (host_name(authority), _port(authority) or PORTS.get(page.scheme)) == wanted
        ]
    except ValueError:
        return None
    usual = (PORTS.get(page.scheme), *(_port(authority) for authority in reached))
    known = rules.is_open and (
        (_named(wanted[0], rules.hosts) and wanted[1] in usual) or origin.lower() == rules.origin
    )
    return page.netloc if wanted[0] and (same or known) else None


def is_own_request(rules: Rules, headers: Headers, method: str) -> bool:
    """Whether a request over HTTP was made by a page of this Leaf, by a person (a link, an address
    that was typed) or by no browser. A page elsewhere, on another port of this machine too, can
    lead a person here and do nothing else."""
    site, mode = headers.get("sec-fetch-site", ""), headers.get("sec-fetch-mode", "")
    if site in ("cross-site", "same-site"):
        return mode == "navigate" and method in ("GET", "HEAD")
    origin = headers.get("origin")
    if origin == "null":  # what a form of a page without referrer sends
        return site == "same-origin"
    return trusted_host(rules, headers) is not None


def is_local(host: str, address: str, forwarded: bool) -> bool:
    """Whether a request is of this machine: what it was sent to, where it came from (empty for
    here), through no proxy."""
    return (
        not forwarded and _is_loopback(host_name(host)) and (not address or _is_loopback(address))
    )


def host_name(host: str) -> str:
    """The name in a `Host` header: without port and brackets, in lower case, without a dot at its
    end. Empty if it is none."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return ""
    if parts.username is not None or parts.path or parts.query or parts.fragment:
        return ""
    return (parts.hostname or "").removesuffix(".")


def origin_of(address: str) -> str:
    """Scheme, name and port of an address, as a browser writes them; empty if it has none."""
    try:
        parts = urlsplit(address.strip().lower())
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme and parts.netloc else ""


def _port(host: str) -> int | None:
    return urlsplit(f"//{host}").port


def _first(value: str | None) -> str:
    """Each proxy of a row adds its own; the first is what the browser asked for."""
    return (value or "").split(",")[0].strip()


def _named(name: str, hosts: Sequence[str]) -> bool:
    return bool(name) and any(
        name == host or (host.startswith("*.") and name.endswith(host[1:]))
        for host in hosts
        if host
    )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


class Visitors:
    """ASGI middleware that lets in whom the rules let in, and tells the others why not."""

    def __init__(
        self, app: ASGIApp, rules: Callable[[], Rules], open_paths: frozenset[str]
    ) -> None:
        self.app = app
        self.rules = rules
        self.open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        kind = scope["type"]
        if kind not in ("http", "websocket") or (
            kind == "http" and scope["path"] in self.open_paths
        ):
            await self.app(scope, receive, send)
            return
        rules, headers = self.rules(), Headers(scope=scope)
        why = refusal(rules, headers, (scope.get("client") or ("",))[0])
        if why is None and kind == "http" and not is_own_request(rules, headers, scope["method"]):
            why = _foreign_page(headers)
        if why is None and kind == "websocket":
            host = trusted_host(rules, headers)
            if host is None:
                why = _foreign_page(headers)
            else:
                scope = _with_host(scope, host)
        if why is None:
            await self.app(scope, receive, send)
        else:
            await _refuse(scope, headers, why)(scope, receive, send)


def _foreign_page(headers: Headers) -> tuple[str, str]:
    logger.warning(
        "A request was refused: the page is of %s, the request was sent to %s. If that is "
        "Leaf's own page, let the proxy pass "
        "the Host header on, or name the outer host in LEAF_ALLOWED_HOSTS.",
        json.dumps(headers.get("origin", "")[:200]),
        json.dumps(headers.get("host", "")[:200]),
    )
    return FOREIGN


def _with_host(scope: Scope, host: str) -> Scope:
    """Streamlit compares Host and Origin letter by letter and would otherwise look up its own
    address on the internet."""
    headers = [(name, value) for name, value in scope["headers"] if name != b"host"]
    return {**scope, "headers": [(b"host", host.encode("latin-1")), *headers]}


def _refuse(scope: Scope, headers: Headers, why: tuple[str, str]) -> Response:
    with speaking(best(headers.get("accept-language", ""))):
        message, hint = map(problems.said, why)
        page = door_page.page(t("Leaf is not open here"), message, hint)
    if scope["type"] == "http" and "text/html" in headers.get("accept", ""):
        return HTMLResponse(page, 403, {"cache-control": "no-store"})
    return JSONResponse({"error": f"{message} {hint}".strip()}, 403, {"cache-control": "no-store"})
