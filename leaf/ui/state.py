"""Where pages find Leaf, and whose behalf they act on. No drawing lives here."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers

from leaf import settings
from leaf.errors import LeafError, SettingsError, SignInError
from leaf.identity import ends_at as signed_in_until
from leaf.language.text import t
from leaf.remote.address import announce, withdraw
from leaf.store.model import Scope, Visit
from leaf.ui import visitors
from leaf.ui.cookies import claims_in
from leaf.ui.entrance import kept_token
from leaf.ui.making import Rooms
from leaf.ui.receiving import UploadLimits, Uploads
from leaf.ui.redraw import redraw
from leaf.ui.turns import DrawingTurns
from leaf.ui.upload_keys import UploadKeys
from leaf.ui.wake import Waker

if TYPE_CHECKING:
    from leaf.app import Leaf
    from leaf.doctor import Check
    from leaf.sessions.session import Session
    from leaf.ui.live.desk import LiveAnswers
    from leaf.ui.metrics import Metrics

T = TypeVar("T")

REGISTRY = "_leaf_registry"
UPLOADS = "/_leaf/uploads"
"""Where browsers send files, below the path at which Leaf is served."""
REMEMBERED = 1.0
"""Seconds for which a visit is not asked of the store again, unless something changed in this
process meanwhile."""


@dataclass
class Registry:
    """The one Leaf of this process."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    live_lock: threading.Lock = field(default_factory=threading.Lock)
    leaf: Any = None
    local_scope: Scope | None = None
    """The one user of an app without login; asked of the store once."""
    url: str = ""
    """Where commands reach this process; empty while it serves nobody, or nowhere on loopback."""
    key: str = ""
    """What a command has to know; empty while none may come."""
    login: bool | None = None
    """Whether people sign in; read from the secrets once."""
    rules: visitors.Rules | None = None
    """Who may reach this process; read from the settings once."""
    waker: Waker = field(default_factory=Waker)
    uploads: Uploads | None = None
    upload_keys: UploadKeys = field(default_factory=UploadKeys)
    rooms: Rooms = field(default_factory=lambda: Rooms(lambda: built().settings.home))
    turns: DrawingTurns = field(default_factory=DrawingTurns)
    live: LiveAnswers | None = None
    """Answers on their way to the screen; made when the first is shown."""
    metrics: Metrics | None = None
    """What is counted, where somebody wants to know."""
    loop: asyncio.AbstractEventLoop | None = None
    """The server's."""


def _registry() -> Registry:
    """Pinned on `sys`, because Streamlit evicts edited modules and any browser can empty
    `st.cache_resource`."""
    registry: Registry | None = getattr(sys, REGISTRY, None)
    # `setdefault` makes one of several that are made side by side the one for all.
    return registry or vars(sys).setdefault(REGISTRY, Registry())


def built() -> Leaf:
    """Leaf, built on first use, whoever asks: for the start and the gate. Raises SettingsError or
    StoreBusyError."""
    registry = _registry()
    with registry.lock:
        if registry.leaf is None:
            from leaf.wiring import build

            built = build(settings.load(secrets=_secrets()))
            try:
                built.launch()
            except LeafError:
                built.close()
                raise
            registry.leaf = built
            registry.waker.follow(built.changes)
            _announce(registry)
        return registry.leaf  # type: ignore[no-any-return]  # a protocol-free handle; see Registry


def leaf() -> Leaf:
    """Leaf, for what on a page is the same for everybody. Whoever may not act any more meets the
    gate instead."""
    current_scope()
    return built()


def session() -> Session:
    """What this browser may do, for a page. Whoever may not act any more meets the gate instead,
    also in the middle of a page."""
    return built().session(current_scope())


def later(act: Callable[[Session], T]) -> Callable[[], T]:
    """For what goes on outside of a page, such as live answers: whether the browser may act is
    asked again then."""
    claims, needed, scope = _claims(), login_needed(), current_scope()

    def call() -> T:
        allowed = built().scope_in(claims, scope.workspace_id) if needed else scope
        return act(built().session(allowed))

    return call


def close() -> None:
    """End what runs and release the database."""
    registry = _registry()
    with registry.lock:
        if registry.leaf is not None:
            withdraw(registry.leaf.settings.home, registry.key)
            registry.key = ""
            registry.leaf.close()
            registry.leaf = None


def waker() -> Waker:
    """Where pages wait until something that they show has changed."""
    return _registry().waker


def turns() -> DrawingTurns:
    """In which pages are drawn."""
    return _registry().turns


def live() -> LiveAnswers:
    """What this process keeps for answers that are shown while they are written."""
    registry = _registry()
    with registry.live_lock:  # the first pages after a start are drawn side by side
        if registry.live is None:
            from leaf.ui.live.desk import LiveAnswers

            registry.live = LiveAnswers(
                registry.loop,
                lambda workspace_id, topics: built().changes.newest(workspace_id, topics),
            )
        return registry.live


def metrics() -> Metrics:
    """What this process counts, from the first call on."""
    registry = _registry()
    with registry.live_lock:
        if registry.metrics is None:
            from leaf.ui.metrics import Metrics

            registry.metrics = Metrics()
        return registry.metrics


def serve_pages(loop: asyncio.AbstractEventLoop) -> None:
    """From here on browsers come, on this event loop: pages are drawn anew from outside, and
    answers are pushed to them."""
    registry = _registry()
    registry.loop = loop
    registry.waker.serve(loop)


def send_viewers_away() -> None:
    """End the connections on which answers go out, since the server closes."""
    live = _registry().live
    if live is not None:
        live.hub.close()


def serve_commands(url: str) -> None:
    """From here on commands may come to this address: as soon as Leaf is built, the key file says
    so."""
    _registry().url = url


def key() -> str:
    """What a command has to know; empty while none may come."""
    return _registry().key


def _announce(registry: Registry) -> None:
    """Only the process that holds the data writes the key file. Without it the app works, and
    commands say who holds the data."""
    if not registry.url:
        return
    try:
        registry.key = announce(registry.leaf.settings.home, registry.url).key
    except OSError as e:
        logging.getLogger("leaf").warning(
            "Commands cannot reach this app: the key file was not written: %s", e.strerror
        )


def login_needed() -> bool:
    """Whether people sign in. Any `[auth]` section means so, a broken one too: a slip must not open
    the app."""
    registry = _registry()
    if registry.login is None:
        registry.login = "auth" in _secrets()
    return registry.login


def auth_section() -> Mapping[str, object]:
    """`[auth]` of the secrets: shared keys, and a table for each named login provider."""
    section = _secrets().get("auth")
    return section if isinstance(section, Mapping) else {}


def enter() -> Visit | None:
    """The login gate. Whom this browser acts for; None is the one user of an app without login, on
    this machine.

    Raises SignInError, and SettingsError where an app without login is reached from elsewhere.
    """
    if not login_needed():
        _check_visitor()
        return None
    claims, wanted = _claims(), str(st.session_state.get("workspace", ""))
    known: _Remembered | None = st.session_state.get("visit")
    now = time.monotonic()
    if (
        known
        and known.until > now
        and known.asked == (claims, wanted, built().session(known.visit.scope).newest_change())
    ):
        return known.visit
    visit = built().sign_in(claims, wanted)
    wanted = st.session_state["workspace"] = visit.scope.workspace_id  # whatever other tabs open
    asked = (claims, wanted, built().session(visit.scope).newest_change())
    st.session_state["visit"] = _Remembered(visit, asked, now + REMEMBERED)
    return visit


def sign_in_ends() -> float | None:
    """When this browser's sign-in runs out, in seconds since 1970; None where nobody signs in."""
    return signed_in_until(_claims(), built().settings) if login_needed() else None


def current_visit() -> Visit | None:
    """`enter`, for a page that was let in: if that is over, the page is drawn anew and meets the
    gate."""
    if not login_needed():
        return None
    try:
        return enter()
    except SignInError:
        st.session_state.pop("visit", None)
        redraw()


def current_scope() -> Scope:
    """On whose behalf this browser acts, in which workspace. Every page passes through here before
    it reads anything."""
    visit = current_visit()
    return visit.scope if visit is not None else local_scope()


def local_scope() -> Scope:
    """The one user of an app without login."""
    registry = _registry()
    if registry.local_scope is None or registry.leaf is None:
        registry.local_scope = built().local_scope()
    return registry.local_scope


def drawn_for() -> str:
    """Who shares the drawing of pages with others; empty where nobody signs in."""
    return current_scope().user_id if login_needed() else ""


def open_workspace(workspace_id: str) -> None:
    """Show this one, here and in new tabs. What the tab remembers of the other one is dropped."""
    visit = current_visit()
    if visit is not None:
        built().choose_workspace(visit, workspace_id)
        for key in (
            "visit",
            "deleted-chat",
            "deleted-file",
            "deleted-document",
            "editing",
            "editing-step",
            "shown-from",
            "suggested-for",
            "deleted-prompt",
            "inserted-prompt",
            "palette-found",
            "project-chats",
        ):
            st.session_state.pop(key, None)
        st.session_state["workspace"] = workspace_id


def follow_link(chat_id: str) -> None:
    """Open the workspace of a chat to which a link leads, if it is another of the user's."""
    if not chat_id or st.session_state.get("followed") == chat_id or not login_needed():
        return
    st.session_state["followed"] = chat_id
    scope = current_scope()
    workspace_id = built().session(scope).team.workspace_of(chat_id)
    if workspace_id and workspace_id != scope.workspace_id:
        open_workspace(workspace_id)


def uploads() -> Uploads:
    """What browsers have sent and pages have not taken yet."""
    registry = _registry()
    with registry.live_lock:
        if registry.uploads is None:
            registry.uploads = Uploads(
                _upload_limits, lambda: built().settings.home, lambda: built().expect_files()
            )
        return registry.uploads


def upload_keys() -> UploadKeys:
    """With which tabs send files."""
    return _registry().upload_keys


def rooms() -> Rooms:
    """Where what people take along is made."""
    return _registry().rooms


def upload_path() -> str:
    """Where they send them, as browsers ask for it."""
    return path_of(UPLOADS)


def path_of(place: str) -> str:
    """A path of this Leaf, as browsers ask for it."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}{place}" if base else place


def address_of(place: str) -> str:
    """A place of this Leaf, as `board`, under the address by which this browser reached it."""
    reached = urlsplit(st.context.url or f"http://localhost:{st.get_option('server.port')}")
    return f"{reached.scheme}://{reached.netloc}{path_of(f'/{place}')}"


def account() -> str:
    """`uploader`, for a page."""
    return _account(_claims() if login_needed() else {})


def _upload_limits() -> UploadLimits:
    config = built().settings
    return UploadLimits(config.max_upload_bytes, config.uploads_person, config.uploads_total)


def uploader(cookies: Mapping[str, str]) -> str:
    """Whose uploads are counted together; empty: by session."""
    return _account(claims_in(cookies) if login_needed() else {})


def _account(claims: Mapping[str, object]) -> str:
    return f"{claims.get('iss')} {claims.get('sub')}" if claims else ""


def admit(claims: Mapping[str, object]) -> None:
    """For requests beside the page. Raises SignInError for claims that open nothing (any more)."""
    built().sign_in(claims)


def ends_at(claims: Mapping[str, object]) -> float | None:
    """Until when claims hold, in seconds since 1970; None where that is not known."""
    try:
        return signed_in_until(claims, built().settings)
    except LeafError:
        return None


def by_https() -> bool:
    """Whether browsers come by HTTPS, since the login provider sends them there."""
    return rules().origin.startswith("https://")


def rules() -> visitors.Rules:
    """Who may reach this process; read from the settings once they can be read, without building
    Leaf."""
    registry = _registry()
    if registry.rules is not None:
        return registry.rules
    new_rules = _read_rules()
    if not new_rules.problem:
        registry.rules = new_rules
    return new_rules


def _read_rules() -> visitors.Rules:
    """Settings that cannot be read let nobody in but this machine, and say which."""
    try:
        signed = login_needed()
        config = settings.load(secrets=_secrets())
    except SettingsError as e:
        return visitors.Rules(problem=str(e))
    is_open = signed or config.allow_open
    try:
        token = kept_token(config.home) if config.local_token and not is_open else ""
    except (OSError, SettingsError) as e:
        return visitors.Rules(problem=f"The data folder {config.home} cannot be used: {e}")
    return visitors.Rules(
        is_open,
        config.allowed_hosts,
        visitors.origin_of(_redirect_uri()) if signed else "",
        token,
    )


def _redirect_uri() -> str:
    return str(auth_section().get("redirect_uri", ""))


def checks() -> list[Check]:
    """What works on this machine; looked at once a session, because it starts a confined child."""
    if "checks" not in st.session_state:
        from leaf.doctor import check

        with st.spinner(t("Looking")):
            st.session_state["checks"] = check(leaf().settings, session().models)
    results: list[Check] = st.session_state["checks"]
    return results


@dataclass(frozen=True)
class _Remembered:
    """The answer of the gate, and to what."""

    visit: Visit
    asked: tuple[Mapping[str, object], str, int]
    until: float


def _claims() -> Mapping[str, object]:
    return dict(st.user.to_dict())


def _check_visitor() -> None:
    """Raises SettingsError for a visitor whom the rules refuse; the middleware has done so before,
    where there is one."""
    address = st.context.ip_address
    client = address if isinstance(address, str) else ""
    headers = Headers(
        {**st.context.headers.to_dict(), "host": st.context.headers.get("host") or "localhost"}
    )
    config = built().settings
    why = visitors.refusal(visitors.Rules(config.allow_open, config.allowed_hosts), headers, client)
    if why is not None:
        raise SettingsError(*why)


def _secrets() -> dict[str, object]:
    """Top-level keys of Streamlit's secrets, or nothing where there is no secrets file.

    Raises SettingsError for a file that cannot be read: going on without it could open an app that
    asks for sign-in.
    """
    from streamlit.errors import StreamlitSecretNotFoundError

    try:
        return dict(st.secrets.to_dict())
    except (StreamlitSecretNotFoundError, FileNotFoundError) as e:
        broken = [path for path in st.get_option("secrets.files") if Path(path).exists()]
        if broken:
            raise SettingsError(
                f"The secrets in {broken[0]} cannot be read.", "Check that the file is valid TOML."
            ) from e
        return {}
