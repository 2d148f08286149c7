"""Where a browser takes a file along: the addresses, and the buttons of pages that lead there.

An address says what is wanted and proves nothing, so it can be pressed however often its page was
drawn anew, and any Leaf of the same database answers it: see `ui/download_routes.py`.
"""

from __future__ import annotations

from typing import Literal
from urllib.parse import quote, urlencode, urlsplit

import streamlit as st

from leaf.ui.state import address_of, current_scope, path_of

DOWNLOADS = "/_leaf/downloads"
"""Below the path at which Leaf is served."""


HOSTED = "/~/+"
"""Below this Community Cloud serves an app, in a frame of its own page."""


def place(*parts: str, **query: str) -> str:
    """Where something of the open workspace is taken from, below `/`: `place("files", id)`."""
    path = "/".join(quote(part, safe="") for part in (current_scope().workspace_id, *parts))
    asked = {name: value for name, value in query.items() if value}
    return f"{DOWNLOADS}/{path}" + (f"?{urlencode(asked)}" if asked else "")


def address(*parts: str, **query: str) -> str:
    """The same as a whole address, for players, which take no other."""
    return address_of((before(st.context.url) + place(*parts, **query)).removeprefix("/"))


def before(reached: str | None) -> str:
    """What a host puts before every path, by the address at which a browser has the page."""
    return HOSTED if urlsplit(reached or "").path.startswith(f"{HOSTED}/") else ""


def button(
    label: str,
    where: str,
    *,
    key: str | None = None,
    icon: str | None = ":material/download:",
    help: str | None = None,
    type: Literal["primary", "secondary", "tertiary"] = "secondary",
    width: Literal["content", "stretch"] = "content",
) -> None:
    """Leads to a `place`. What goes wrong there is said in a tab of its own, beside the page."""
    path = before(st.context.url) + path_of(where)
    st.link_button(label, path, key=key, icon=icon, help=help, type=type, width=width)
