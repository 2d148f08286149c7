"""Drawing the page anew from within its own script, without losing what else was pressed.

Presses that come while a page is drawn are carried out together afterwards, one part of the page
after the other. Streamlit's `st.rerun` ends all of that: where a part that only looks for news asks
for the page, a press that comes after it in the row is forgotten, and so is a message that was sent
where the script ends above the composer. Here they are handed on to the next drawing. What nobody
hands on is a press that waits while the browser itself asks for the whole page, as with a second
press elsewhere: Streamlit ends the run that it waits for.

A part that asks for the page does not know where the page stands: its own request carries the address
that the browser had when it was sent, which is the one before where the page was just given another.
So the page is drawn where its newest whole drawing left it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, NoReturn

import streamlit as st
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.scriptrunner_utils.script_requests import (
    RerunData,
    _has_active_trigger_value,
)
from streamlit.runtime.scriptrunner_utils.script_run_context import (
    ScriptRunContext,
    get_script_run_ctx,
)
from streamlit.runtime.state.common import user_key_from_element_id

leave: ContextVar[Callable[[], None]] = ContextVar("leave", default=lambda: None)
"""What a part of the page does before it asks for the whole of it: a dialog closes."""

CARRIED_OUT = "carried-out"
"""Keys of widgets, in the state of the session, whose presses this drawing has carried out before it
draws them."""

_ADDRESS = "page-address"


@dataclass(frozen=True)
class PageAddress:
    """Where a page stands: its query, and Streamlit's name of the page."""

    query: str = ""
    page: str = ""


def keep_address() -> PageAddress:
    """In a whole drawing, when it begins and at its end: where the page stands from now on."""
    context = get_script_run_ctx()
    if context is None:
        return PageAddress()
    address = PageAddress(context.query_string, context.page_script_hash)
    st.session_state[_ADDRESS] = address
    return address


def redraw(scope: Literal["app", "fragment"] = "app") -> NoReturn:
    """End this drawing and begin with the page again, or with the fragment that calls; where that is
    drawn with the page, with the page. What was pressed and not come to yet is carried out then. A
    dialog that asks for the page is closed. Take it where you would take `st.rerun`."""
    context = get_script_run_ctx()
    if scope == "app":
        leave.get()()
    elif context is not None and not context.fragment_ids_this_run:
        scope = "app"
    if context is not None and scope == "app" and context.fragment_ids_this_run:
        _stay(context)
    if context is not None and context.script_requests is not None:
        pressed = _not_come_to(context)
        if pressed.widgets:
            state = context.session_state._state  # noqa: SLF001 - tests/test_ui_redraw.py names what is not public here
            context.script_requests.request_rerun(  # joined by what `st.rerun` asks for
                RerunData(
                    query_string=context.query_string,
                    page_script_hash=context.page_script_hash,
                    is_fragment_scoped_rerun=scope == "fragment",
                    cached_message_hashes=context.cached_message_hashes,
                    context_info=context.context_info,
                    replay_trigger_states=pressed,
                    replay_trigger_values=state._capture_replay_trigger_values(pressed),  # noqa: SLF001
                )
            )
    st.rerun(scope=scope)
    raise AssertionError("There is no script to run again.")


def _stay(context: ScriptRunContext) -> None:
    """Where the page stands, unless this part of it has just given it another address."""
    address = st.session_state.get(_ADDRESS)
    with context.session_state.query_params() as now:
        asked = now._initial_query_params  # noqa: SLF001
        changed = {
            name: [value] if isinstance(value, str) else list(value)
            for name, value in now._query_params.items()  # noqa: SLF001
        } != asked
    if isinstance(address, PageAddress) and not changed:
        context.query_string = address.query
        context.pages_manager.set_current_page_script_hash(address.page)


def _not_come_to(context: ScriptRunContext) -> WidgetStates:
    """Presses on what this run of the script has not drawn yet, but for those carried out already."""
    states = context.session_state._state._new_widget_state  # noqa: SLF001
    drawn = context.shared.widget_ids_this_run.snapshot()
    done: Collection[str] = st.session_state.get(CARRIED_OUT, ())
    left = (
        states.get_serialized(widget)
        for widget in list(states.states)
        if widget not in drawn and user_key_from_element_id(widget) not in done
    )
    return WidgetStates(widgets=[one for one in left if one and _has_active_trigger_value(one)])
