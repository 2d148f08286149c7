"""Around the pages: Leaf is built before the first visitor and closed after the last; commands have routes of their own; who may
come is decided first; every response carries headers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leaf.errors import LeafError
from leaf.remote.server import routes
from leaf.ui import state
from leaf.ui.sign_in import SignInWords
from leaf.ui.visitors import Visitors, is_local
from leaf.ui.wake import still_file_watchers

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "media-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self' data: blob:",
        "worker-src 'self' blob:",
        "frame-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'self'",
    )
)
"""Text from a file or a model may name a remote picture or script; nothing drawn in the page can fetch it."""

SHELL = str(Path(__file__).resolve().with_name("shell.py"))
"""The script behind every page."""

HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "SAMEORIGIN",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(self), payment=(), usb=()",
}


@asynccontextmanager
async def lifespan(_app: Any) -> AsyncIterator[None]:
    """Build Leaf beside the event loop. A start that fails is told by the first page, which tries again."""
    still_file_watchers()
    state.waker().serve(asyncio.get_running_loop())
    state.serve_commands(_own_url())
    try:
        await asyncio.to_thread(state.built)
    except LeafError as e:
        logging.getLogger("leaf").warning("Leaf is not ready: %s", e)
    except Exception:
        logging.getLogger("leaf").exception("Leaf is not ready, by a fault of its own")
    _say_who_may_come()
    try:
        yield
    finally:
        await asyncio.to_thread(state.close)


def _say_who_may_come() -> None:
    """For whoever started Leaf on an address that others reach."""
    from streamlit import config

    address = str(config.get_option("server.address") or "")
    rules = state.rules()
    if not rules.is_open and not is_local(address, "", forwarded=False):
        why = rules.problem or "no sign-in is set up"
        logging.getLogger("leaf").warning(
            "Leaf listens on %s and lets in this machine only: %s (docs/sign-in.md; LEAF_ALLOW_OPEN=1 lets everybody in)",
            address or "every address",
            why,
        )


def command_routes() -> list[Route]:
    """Where `python -m leaf` finds the app that holds the data."""
    return routes(state.built, state.key)


def _own_url() -> str:
    """This server on loopback, with the port that was really taken; empty if it listens on another address only."""
    from streamlit import config

    address = str(config.get_option("server.address") or "0.0.0.0")
    host = {"::1": "[::1]"}.get(address, "127.0.0.1" if address in ("127.0.0.1", "localhost", "0.0.0.0", "::") else "")
    if not host:
        logging.getLogger("leaf").warning("Commands cannot reach this app: it listens on %s only, not on loopback", address)
        return ""
    scheme = "https" if config.get_option("server.sslCertFile") else "http"
    return f"{scheme}://{host}:{config.get_option('server.port')}"


def explain(problem: Exception) -> bool:
    """What a person sees of an error that no page expected: a LeafError's own words, else one sentence. The log has the rest."""
    import streamlit as st

    from leaf.ui.markdown import paragraph

    if isinstance(problem, LeafError):
        st.warning(paragraph(str(problem)), icon=":material/warning:")
    else:
        logging.getLogger("leaf").error("A page failed", exc_info=problem)
        st.warning("This page could not be drawn. Reload it; the log says why.", icon=":material/warning:")
    return True


class SecurityHeaders:
    """ASGI middleware that adds `HEADERS` to every HTTP response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        await self.app(scope, receive, send_with_headers)


def middleware() -> list[Middleware]:
    """What stands around the pages, from the outside in, as `st.App` takes it."""
    return [Middleware(SecurityHeaders), Middleware(Visitors, rules=state.rules), Middleware(SignInWords)]
