"""The way from a result or a chart in an answer to a board."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from leaf.errors import LeafError
from leaf.language.problems import told
from leaf.language.text import mark, t
from leaf.store.boards import Board
from leaf.ui import markdown
from leaf.ui.controls import distinct
from leaf.ui.state import session
from leaf.ui.toasts import toast

HELP = mark("Keep it on a page of its own, where it can be computed again")


def draw_button(
    chat_id: str, result_id: str, key: str, spec: Mapping[str, Any] | None = None
) -> None:
    """*Pin to board*; whoever has several boards chooses one. With `spec` the chart is pinned, as it
    is drawn."""
    own = [board for board in session().boards.list() if board.own]
    boards = distinct({board.id: markdown.label(board.name, 40) for board in own})
    pin_args = (chat_id, result_id, spec)
    if len(boards) > 1:
        st.menu_button(
            t("Pin to board"),
            list(boards),
            format_func=boards.__getitem__,
            key=f"pin-{key}",
            type="tertiary",
            icon=":material/keep:",
            help=t(HELP),
            on_click=_pin_to,
            args=(f"pin-{key}", *pin_args),
        )
        return
    st.button(
        t("Pin to board"),
        key=f"pin-{key}",
        type="tertiary",
        icon=":material/keep:",
        help=t(HELP),
        on_click=_pin,
        args=(*pin_args, next(iter(boards), "")),
    )


# A press is carried out before anything is drawn, also where its person has gone to another page.


def _pin_to(key: str, chat_id: str, result_id: str, spec: Mapping[str, Any] | None) -> None:
    if chosen := st.session_state.get(key):
        _pin(chat_id, result_id, spec, chosen)


def _pin(chat_id: str, result_id: str, spec: Mapping[str, Any] | None, board_id: str) -> None:
    try:
        _, board, new = session().boards.pin(chat_id, result_id, spec, board_id)
    except LeafError as e:
        toast(markdown.label(told(e), 300), icon=":material/warning:")
    else:
        toast(_said(board, new), icon=":material/keep:")


def _said(board: Board, new: bool) -> str:
    name = markdown.label(board.name, 60)
    if not new:
        return t("It is on “{name}” already.", name=name)
    seen = t(", which everyone in this workspace sees") if board.shared else ""
    return t("Pinned to “{name}”{seen}.", name=name, seen=seen)
