"""Dialogs: a question of its own above the page, which stays until it is answered or left.

Streamlit takes a dialog away as soon as the page is drawn anew, with whatever was typed into it. A
page here is drawn anew when another tab, another person or an answer has changed what it shows. So
what is new waits until the dialog is left; and where the page has to be drawn all the same, the
drawing ends with the dialog, until whoever reads it leaves it or goes elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Literal, NamedTuple, ParamSpec

import streamlit as st
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState, get_script_run_ctx

from leaf.errors import LeafError
from leaf.language.problems import told
from leaf.language.text import t
from leaf.ui import markdown
from leaf.ui.redraw import leave
from leaf.ui.state import current_scope, waker
from leaf.ui.wake import session_id

P = ParamSpec("P")
OPEN = "open-dialog"
"""The one that is open, in the state of the session."""
OF_PAGE = ("chat", "board", "document", "folder", "id")
"""What an address names that a page is of; `id` is a project's."""


class _Opened(NamedTuple):
    place: tuple[str, ...]
    script: str
    """Whose widgets its own are: with another they would be others, and empty."""
    show: Callable[[], None]


def dialog(
    title: str, width: Literal["small", "medium", "large"] = "small"
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """`st.dialog` whose title is said in the language of whoever opens it, and which stays open.
    `redraw()` from within closes it."""

    def decorated(draw: Callable[P, None]) -> Callable[P, None]:
        @wraps(draw)
        def content(*given: P.args, **named: P.kwargs) -> None:
            before = leave.set(_forget)
            try:
                draw(*given, **named)
            except LeafError as e:  # what it is about has gone meanwhile
                st.warning(markdown.paragraph(told(e)))
            finally:
                leave.reset(before)

        def show(*given: P.args, **named: P.kwargs) -> None:
            st.dialog(t(title), width=width, on_dismiss=_forget)(content)(*given, **named)

        @wraps(draw)
        def opened(*given: P.args, **named: P.kwargs) -> None:
            context = get_script_run_ctx()
            if context is None or context.has_dialog_opened:  # two were pressed: the first it is
                return
            script = ThreadState.get().active_script_hash
            st.session_state[OPEN] = _Opened(_place(), script, partial(show, *given, **named))
            waker().hold(session_id())
            show(*given, **named)

        return opened

    return decorated


def keep_open() -> None:
    """At the end of a drawing: draw the dialog that is open again."""
    opened: _Opened | None = st.session_state.get(OPEN)
    if opened is None:
        return
    if opened.place != _place():
        _forget()
        return
    context = get_script_run_ctx()
    if context is not None and not context.has_dialog_opened:
        waker().hold(session_id())
        with context.run_with_active_hash(opened.script):
            opened.show()


def page_is_free() -> bool:
    """Whether the page may be drawn anew for what is new. While a dialog is open it may not: it is
    drawn as soon as that is left."""
    if OPEN not in st.session_state:
        return True
    waker().ring(session_id())
    return False


def _forget() -> None:
    if st.session_state.pop(OPEN, None) is not None:
        waker().release(session_id())


def _place() -> tuple[str, ...]:
    """Whose page, which one, and what it is of."""
    scope, context = current_scope(), get_script_run_ctx()
    page = context.page_script_hash if context else ""
    return (
        scope.user_id,
        scope.workspace_id,
        page,
        *(st.query_params.get(name, "") for name in OF_PAGE),
    )
