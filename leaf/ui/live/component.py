"""The element of the page that shows what grows. Its look and its doings stand in
`ui/assets/live.css` and `live.js`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from leaf.ui.spoken import ASSETS, PRELUDE, spoken

SCRIPT = (ASSETS / "live.js").read_text(encoding="utf-8")
EVENTS = ("milestone", "done", "ticket", "fallback", "open")
"""What it tells: there is something for the page to draw, the answer is whole, it needs a new
ticket, it cannot connect, a person wants to see into a step that runs."""


@cache
def _component() -> Any:
    import streamlit as st

    return st.components.v2.component(
        "leaf_live",
        html='<div class="leaf-live" role="group"></div>',
        css=(ASSETS / "live.css").read_text(),
        js=PRELUDE + SCRIPT,
        isolate_styles=False,
    )


def draw(key: str, data: Mapping[str, Any]) -> Any:
    """Put it at the end of the page; what it has just told, by the names of `EVENTS`."""
    return _component()(
        key=key,
        data={**data, **spoken(SCRIPT)},
        **{f"on_{name}_change": _nothing for name in EVENTS},
    )


def _nothing() -> None:
    """An event runs the script, which then looks by itself."""
