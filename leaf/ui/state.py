"""Where pages find Leaf, and whose behalf they act on. No drawing lives here."""

from __future__ import annotations

import logging
import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from leaf import settings
from leaf.errors import LeafError
from leaf.remote.address import announce, withdraw
from leaf.store.model import Scope

if TYPE_CHECKING:
    from leaf.service import Leaf
    from leaf.wiring import Check


REGISTRY = "_leaf_registry"


@dataclass
class Registry:
    """The one Leaf of this process."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    leaf: Any = None
    local_scope: Scope | None = None
    """The one user of an app without login; asked of the store once."""
    url: str = ""
    """Where commands reach this process; empty while it serves nobody, or nowhere on loopback."""
    key: str = ""
    """What a command has to know; empty while none may come."""


def _registry() -> Registry:
    """Pinned on `sys`, because Streamlit evicts edited modules and any browser can empty `st.cache_resource`."""
    registry = getattr(sys, REGISTRY, None)
    if registry is None:
        registry = Registry()
        setattr(sys, REGISTRY, registry)
    return registry


def leaf() -> Leaf:
    """Leaf, built on first use. Raises SettingsError or StoreBusyError; the next call tries again."""
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
            _announce(registry)
        return registry.leaf  # type: ignore[no-any-return]  # a protocol-free handle; see Registry


def close() -> None:
    """End what runs and release the database."""
    registry = _registry()
    with registry.lock:
        if registry.leaf is not None:
            withdraw(registry.leaf.settings.home, registry.key)
            registry.key = ""
            registry.leaf.close()
            registry.leaf = None


def serve_commands(url: str) -> None:
    """From here on commands may come to this address: as soon as Leaf is built, the key file says so."""
    _registry().url = url


def key() -> str:
    """What a command has to know; empty while none may come."""
    return _registry().key


def _announce(registry: Registry) -> None:
    """Only the process that holds the data writes the key file. Without it the app works, and commands say who holds the data."""
    if not registry.url:
        return
    try:
        registry.key = announce(registry.leaf.settings.home, registry.url).key
    except OSError as e:
        logging.getLogger("leaf").warning("Commands cannot reach this app: the key file was not written: %s", e.strerror)


def current_scope() -> Scope:
    """On whose behalf this browser acts. The login gate: every page passes through here before it reads anything."""
    registry = _registry()
    if registry.local_scope is None or registry.leaf is None:
        registry.local_scope = leaf().local_scope()
    return registry.local_scope


def checks() -> list[Check]:
    """What works on this machine; looked at once a session, because it starts a confined child."""
    import streamlit as st

    if "checks" not in st.session_state:
        from leaf.wiring import check

        with st.spinner("Looking"):
            st.session_state["checks"] = check(leaf().settings)
    found: list[Check] = st.session_state["checks"]
    return found


def _secrets() -> dict[str, object]:
    """Top-level keys of Streamlit's secrets, or nothing where there is no secrets file."""
    import streamlit as st
    from streamlit.errors import StreamlitSecretNotFoundError

    try:
        return dict(st.secrets.to_dict())
    except (StreamlitSecretNotFoundError, FileNotFoundError):
        return {}
