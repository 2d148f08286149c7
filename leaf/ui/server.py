"""Around the pages: Leaf is built before the first visitor and closed after the last; commands have
routes of their own; who may come is decided first; every response carries headers."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from leaf import logs
from leaf.errors import LeafError, NotFoundError
from leaf.language.problems import told
from leaf.language.text import t
from leaf.readers.media_types import OTHER, PLAYED, SEEN
from leaf.remote.server import routes
from leaf.settings import Settings
from leaf.ui import download_routes as downloading
from leaf.ui import shared, state
from leaf.ui.admitted import Admitted
from leaf.ui.cookies import Cookies, claims_in
from leaf.ui.downloads import DOWNLOADS
from leaf.ui.entrance import Entrance, address_with
from leaf.ui.health import health_routes
from leaf.ui.opening import Openings
from leaf.ui.page_head import PageHead
from leaf.ui.receiving import Receiving
from leaf.ui.shared import shared_routes
from leaf.ui.sign_in import SignInWords
from leaf.ui.sign_out import SignOut
from leaf.ui.standing import keep_marks, keep_theme, leave_loaded_alone
from leaf.ui.upload_routes import UploadRoutes
from leaf.ui.visitors import HEALTH, Visitors, is_local
from leaf.ui.wake import still_file_watchers

if TYPE_CHECKING:
    from leaf.sessions.session import Session

SCRIPTS = "script-src 'self' blob:"
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'self'",
        SCRIPTS,
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
"""Text from a file or a model may name a remote picture or script; nothing drawn in the page can
fetch it."""

LIVE_PATH = "/_leaf/live"
"""Where the page's component connects; `assets/live.js` says it, too."""

SHELL = str(Path(__file__).resolve().with_name("shell.py"))
"""The script behind every page."""

MEDIA_POLICY = "default-src 'none'; sandbox; frame-ancestors 'none'"
"""For what files hold, which the page plays or draws and nobody opens as a page: were it one, its
scripts would run in Leaf's name."""
SHOWN_TYPES = PLAYED | SEEN | {"application/pdf"}
"""What a browser may show by itself; anything else under `/media/` is saved."""
SVG = "image/svg+xml"
MEDIA_PATH = "/media/"
"""Where Streamlit serves what a page shows or offers."""

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
    """Build Leaf beside the event loop. A start that fails is told by the first page, which tries
    again."""
    still_file_watchers()
    keep_theme()
    keep_marks()
    state.serve_pages(asyncio.get_running_loop())
    state.serve_commands(_own_url())
    try:
        _tell((await asyncio.to_thread(state.built)).settings)
        await asyncio.to_thread(state.uploads().clear)
        await asyncio.to_thread(state.rooms().clear)
        leave_loaded_alone()
    except LeafError as e:
        logging.getLogger("leaf").warning("Leaf is not ready: %s", e)
    except Exception:
        logging.getLogger("leaf").exception("Leaf is not ready, by a fault of its own")
    _say_who_may_come()
    _say_where()
    try:
        yield
    finally:
        state.send_viewers_away()
        await asyncio.to_thread(state.close)


def _tell(settings: Settings) -> None:
    """What the log says from here on, and what is counted."""
    from streamlit import config

    logs.set_up(settings.log)
    # By Rich, Streamlit prints errors of pages past every log, with all that they say.
    config.set_option("logger.enableRich", False)
    if settings.metrics_token:
        state.metrics()


def _say_who_may_come() -> None:
    """For whoever started Leaf on an address that others reach."""
    from streamlit import config

    address = str(config.get_option("server.address") or "")
    rules = state.rules()
    if not rules.is_open and not is_local(address, "", forwarded=False):
        why = rules.problem or "no sign-in is set up"
        logging.getLogger("leaf").warning(
            "Leaf listens on %s and lets in this machine only: %s (docs/sign-in.md; "
            "LEAF_ALLOW_OPEN=1 lets everybody in)",
            address or "every address",
            why,
        )


def _say_where() -> None:
    """In place of Streamlit's greeting, which knows no token and asks the internet for this
    machine's address."""
    here = (_loopback_url() or _given_url()) + _based("")
    print(f"\n  Leaf is at {address_with(here, state.rules().token)}\n", flush=True)


def command_routes() -> list[Route]:
    """Where `python -m leaf` finds the app that holds the data, and what programs that watch over it
    ask."""
    return [*routes(state.built, state.key), *health_routes(_base())]


def live_route() -> WebSocketRoute:
    """Where browsers are told how an answer goes on."""

    async def enter(socket: WebSocket) -> None:
        await state.live().door(socket)

    return WebSocketRoute(_based(LIVE_PATH), enter)


def upload_routes() -> list[Route]:
    """Where pages send files."""
    return UploadRoutes(state.upload_keys, state.uploads, state.uploader).routes(
        _based(state.UPLOADS)
    )


def download_routes() -> list[Route]:
    """Where browsers take files along."""
    return downloading.DownloadRoutes(_session, state.rooms).routes(_based(DOWNLOADS))


def _session(cookies: Mapping[str, str], workspace_id: str) -> Session:
    """What whoever sends these cookies may do in a workspace. Raises SignInError, NotFoundError
    where it is not theirs."""
    signed = state.login_needed()
    if signed:
        return state.built().session(state.built().scope_in(claims_in(cookies), workspace_id))
    scope = state.local_scope()
    if scope.workspace_id != workspace_id:
        raise NotFoundError("There is no such workspace.")
    return state.built().session(scope)


def shared_link_routes() -> list[Route]:
    """Where public links lead."""
    return shared_routes(_based(shared.PATH), lambda token: state.built().shared_page(token))


def _based(path: str) -> str:
    """A path as browsers ask for it."""
    return f"{_base()}{path}"


def _base() -> str:
    """The path below which Leaf is served, as `/leaf`; empty for the root."""
    from streamlit import config

    base = str(config.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}" if base else ""


def _own_url() -> str:
    """`_loopback_url`; where there is none, the log says what that means for commands."""
    url = _loopback_url()
    if not url:
        logging.getLogger("leaf").warning(
            "Commands cannot reach this app: it listens on %s only, not on loopback", _address()
        )
    return url


def _loopback_url() -> str:
    """This server on loopback, with the port that was really taken; empty if it listens on another
    address only."""
    address = _address()
    host = {"::1": "[::1]"}.get(
        address, "127.0.0.1" if address in ("127.0.0.1", "localhost", "0.0.0.0", "::") else ""
    )
    return _given_url(host) if host else ""


def _given_url(host: str = "") -> str:
    from streamlit import config

    scheme = "https" if config.get_option("server.sslCertFile") else "http"
    return f"{scheme}://{host or _address()}:{config.get_option('server.port')}"


def _address() -> str:
    """On which this server listens."""
    from streamlit import config

    return str(config.get_option("server.address") or "0.0.0.0")


def explain(problem: Exception) -> bool:
    """What a person sees of an error that no page expected: a LeafError's own words, else one
    sentence. The log has the rest."""
    import streamlit as st

    from leaf.ui.markdown import paragraph

    if isinstance(problem, LeafError):
        st.warning(paragraph(told(problem)), icon=":material/warning:")
    else:
        logging.getLogger("leaf").error("A page failed", exc_info=problem)
        st.warning(
            t("This page could not be drawn. Reload it; the log says why."),
            icon=":material/warning:",
        )
    return True


def _close_media(headers: MutableHeaders) -> None:
    """What files hold is never a page, whatever type it was given."""
    headers["content-security-policy"] = MEDIA_POLICY
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type not in SHOWN_TYPES and not headers.get("content-disposition"):
        headers["content-disposition"] = "attachment"
        if media_type != SVG:  # which an <img> draws, and which is saved when it is opened
            headers["content-type"] = OTHER


def page_policy() -> str:
    """`CONTENT_SECURITY_POLICY`, and by their hashes the scripts that stand within Streamlit's own
    page: a browser that refuses them says an error on every visit."""
    from streamlit.file_util import get_static_dir

    page = Path(get_static_dir()) / "index.html"
    within = re.findall(rb"<script>(.*?)</script>", page.read_bytes(), re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(script).digest()).decode() for script in within]
    allowed = "".join(f" 'sha256-{one}'" for one in hashes)
    return CONTENT_SECURITY_POLICY.replace(SCRIPTS, SCRIPTS + allowed)


class SecurityHeaders:
    """ASGI middleware that adds `HEADERS` to every HTTP response, and for what files hold stricter
    ones."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._shared = _based(shared.PATH)
        self._downloads = _based(DOWNLOADS)
        self._headers = HEADERS | {"content-security-policy": page_policy()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        is_media = MEDIA_PATH in scope["path"]
        added_headers = self._headers
        if scope["path"].startswith(self._shared):
            added_headers = added_headers | shared.HEADERS
        is_download = scope["path"].startswith(self._downloads)
        if is_download:
            added_headers = added_headers | downloading.HEADERS

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in added_headers.items():
                    headers[name] = value
                if is_media or (is_download and headers.get("content-disposition")):
                    _close_media(headers)
            await send(message)

        await self.app(scope, receive, send_with_headers)


def middleware() -> list[Middleware]:
    """What stands around the pages, from the outside in, as `st.App` takes it."""
    paths = frozenset(_based(path) for path in HEALTH)
    return [
        Middleware(SecurityHeaders),
        Middleware(Cookies, https=state.by_https, ends_at=state.ends_at),
        Middleware(Visitors, rules=state.rules, open_paths=paths),
        Middleware(
            Entrance,
            token=lambda: state.rules().token,
            open_paths=paths,
            open_below=_based(shared.PATH),
        ),
        Middleware(SignInWords),
        Middleware(SignOut, based=_based),
        Middleware(Admitted, needed=state.login_needed, admit=state.admit, based=_based),
        Middleware(Openings, needed=state.login_needed, based=_based),
        Middleware(Receiving, uploads=state.uploads, who=state.uploader, based=_based),
        Middleware(PageHead, based=_based, not_below=_based(shared.PATH)),
    ]
