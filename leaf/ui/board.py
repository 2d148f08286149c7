"""The head of the Board page: which board, who sees it, all of it computed again, exports."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from leaf.errors import LeafError
from leaf.language.problems import told
from leaf.language.text import in_digits, mark, t
from leaf.sessions.boards import BoardForm
from leaf.store.boards import FIRST_NAME, NAME_LENGTH, Board
from leaf.ui import browser, downloads, links, markdown, words
from leaf.ui.controls import icon_menu, say_problem, then_redraw
from leaf.ui.dialogs import dialog
from leaf.ui.redraw import redraw
from leaf.ui.state import session
from leaf.ui.toasts import toast

FORMS: tuple[tuple[BoardForm, str, str, str], ...] = (
    (
        "html",
        mark("Web page"),
        ":material/html:",
        mark("One file that opens in any browser"),
    ),
    (
        "pdf",
        "PDF",
        ":material/picture_as_pdf:",
        mark("To hand over or to print"),
    ),
    (
        "docx",
        "Word",
        ":material/docs:",
        mark("To work on"),
    ),
)
HOW = mark(
    "**Nothing is pinned yet.** *Pin to board* stands under every chart of an "
    "answer, and under every result table: open the steps of an answer, and there "
    "the step that made it. What is pinned stays here with what it rests on, and "
    "*Recompute* runs it again over the files as they are then."
)


def chosen(found: Sequence[Board]) -> Board | None:
    """The board of the address, or the first; None where there is none."""
    wanted = st.query_params.get("board", "")
    board = next((one for one in found if one.id == wanted), None)
    if wanted and board is None:
        st.warning(
            t("This board was deleted, or it is not shared with you any more."),
            icon=":material/link_off:",
        )
        browser.clean_address("board")
    return board or (found[0] if found else None)


def draw_empty(*, begin: bool = False) -> None:
    """What to do; with `begin` where there is no board at all."""
    st.markdown(t(HOW))
    if begin and st.button(t("New board"), key="first-board", icon=":material/add:"):
        _ask_new()


def draw_head(board: Board, found: Sequence[Board]) -> None:
    """Its name, and what can be done to all of it."""
    with st.container(horizontal=True, vertical_alignment="center", wrap=False, key="board-head"):
        st.title(markdown.label(board.name, NAME_LENGTH), anchor=False, width="stretch")
        options = [mark("New board"), *([mark("Rename"), mark("Delete")] if board.own else [])]
        act = icon_menu(t("New board, rename or delete"), options, key="board-menu")
    if act == "New board":
        _ask_new()
    elif act == "Rename":
        _ask_name(board)
    elif act == "Delete":
        _ask_delete(board)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="board-tools"):
        if len(found) > 1:
            _draw_choice(board, found)
        if board.own and board.pins:
            _draw_recompute(board)
        if board.pins:
            _draw_exports(board)
        # Links show the pins of their time, and can be revoked also when none is left.
        if board.own and (board.pins or session().links.of_board(board.id)):
            links.draw_board_button(board)
    _draw_who(board)


def _draw_choice(board: Board, boards: Sequence[Board]) -> None:
    names = {one.id: one.name if one.own else f"{one.name} · {one.author}" for one in boards}
    ids = list(names)
    # Another key for another board: the page may have come to it by its address.
    st.selectbox(
        t("Board"),
        ids,
        ids.index(board.id),
        format_func=lambda board_id: words.cut(names.get(board_id, ""), 60),
        key=f"board-choice-{board.id}",
        width=260,
        on_change=_choose,
        args=(f"board-choice-{board.id}",),
    )


def _choose(key: str) -> None:
    st.query_params["board"] = st.session_state[key]
    st.session_state.pop("board-page", None)


def _draw_who(board: Board) -> None:
    """Who sees it; the switch, where there is anybody else."""
    if not board.own:
        st.caption(
            t(
                ":material/group: {author} shares this board.",
                author=markdown.label(board.author, 60),
            )
        )
        return
    others = len(session().team.members()) - 1
    if not others and not board.shared:
        return
    st.toggle(
        t("Everyone in this workspace sees this board"),
        board.shared,
        key=f"board-shared-{board.id}-{board.shared}",
        on_change=_share,
        args=(board.id, not board.shared),
    )
    told = (
        t(
            "All {others} members see what is pinned here and can export it, also from "
            "chats in which they take no part. The chats stay closed to them.",
            others=others + 1,
        )
        if board.shared
        else t(
            "Only you see it now. When it is shared, what is pinned here becomes "
            "visible to all {others} members, also from chats in which they take no "
            "part.",
            others=others + 1,
        )
    )
    st.caption(told)


def _share(board_id: str, shared: bool) -> None:
    try:
        session().boards.share(board_id, shared)
    except LeafError as e:
        st.session_state["problem"] = told(e)


def _draw_recompute(board: Board) -> None:
    if not st.button(
        t("Recompute all"),
        key="recompute-all",
        icon=":material/refresh:",
        help=t(
            "Run every pinned result again, one after the other, over the files as they are now"
        ),
    ):
        return
    pins = [shown.pin for shown in session().boards.pins(board.id) if shown.pin.content]
    progress, changed = st.progress(0.0), 0
    for number, pin in enumerate(pins):
        status = t(
            "{number} of {n}: {title}",
            number=number + 1,
            n=len(pins),
            title=markdown.label(pin.title, 60),
        )
        progress.progress(number / len(pins), text=status)
        try:
            done = session().boards.recompute(pin.id)
        except LeafError:  # it was removed meanwhile, or its chat: the page says so
            continue
        changed += bool(done.outcome and done.outcome["outcome"] != "same")
    text = t("{results} computed again: ", results=words.count(len(pins), "result"))
    text += (
        t("{changed} did not come out the same.", changed=in_digits(changed))
        if changed
        else t("all are the same.")
    )
    toast(text, icon=":material/refresh:")
    redraw()


def _draw_exports(board: Board) -> None:
    menu = st.popover(
        t("Export"), icon=":material/ios_share:", on_change="rerun", key=f"export-board-{board.id}"
    )
    if not menu.open:
        return
    with menu:
        for form, label, icon, purpose in FORMS:
            downloads.button(
                t(label),
                downloads.place("boards", board.id, form),
                key=f"export-board-{form}",
                icon=icon,
                help=t(purpose),
                width="stretch",
            )
        st.caption(t("Each result with its query, its files and when it was computed."))


@dialog("New board")
def _ask_new() -> None:
    with st.form("new-board", border=False):
        name = st.text_input(t("Name"), max_chars=NAME_LENGTH, placeholder=FIRST_NAME)
        if st.form_submit_button(t("Create"), type="primary"):
            try:
                board = session().boards.create(name or FIRST_NAME)
            except LeafError as e:
                st.warning(markdown.paragraph(told(e)))
            else:
                st.query_params["board"] = board.id
                redraw()


@dialog("Rename board")
def _ask_name(board: Board) -> None:
    with st.form("rename-board", border=False):
        name = st.text_input(t("Name"), value=board.name, max_chars=NAME_LENGTH)
        if st.form_submit_button(t("Rename"), type="primary"):
            try:
                session().boards.rename(board.id, name or "")
            except LeafError as e:
                st.warning(markdown.paragraph(told(e)))
            else:
                redraw()


@dialog("Delete board")
def _ask_delete(board: Board) -> None:
    say_problem()
    pins = t(" with {pins}", pins=words.count(board.pins, "pin")) if board.pins else ""
    st.markdown(
        t(
            "**{name}**{pins} goes for good. What was pinned stays in its chats.",
            name=markdown.label(board.name, 80),
            pins=pins,
        )
    )
    if st.button(
        t("Delete for good"), key="delete-board", type="primary", icon=":material/delete:"
    ):
        st.query_params.pop("board", None)
        then_redraw(session().boards.delete, board.id)
