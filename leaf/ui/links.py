"""Sharing by a link: the dialog of a chat and of a board, the list of all public links for owners, and
the way into a chat that is open to members."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal
from urllib.parse import urlencode

import streamlit as st

from leaf.errors import LeafError
from leaf.language.problems import told
from leaf.language.text import mark, t
from leaf.sessions.links import LinkMade
from leaf.store.boards import Board
from leaf.store.links import SharedLink
from leaf.store.model import Chat
from leaf.ui import browser, clock, markdown, shared, words
from leaf.ui.controls import say_problem, then_redraw
from leaf.ui.dialogs import dialog
from leaf.ui.redraw import redraw
from leaf.ui.state import address_of, current_visit, rules, session
from leaf.ui.toasts import toast

LASTS = {7: mark("7 days"), 30: mark("30 days"), 0: mark("No end")}
MADE = "link-made"
CHAT_SHOWS = mark(
    "**Readers see** the questions and answers of this chat as they stand now, with charts, queries, the "
    "rows that answers show, the names of files and of those who asked. **They do not see** what is "
    "asked later, files or downloads, documents, Drive, other chats, or who else is in the workspace."
)
BOARD_SHOWS = mark(
    "**Readers see** what is pinned here as it stands now: titles, charts, the rows that are shown, "
    "queries and the names of files. **They do not see** what is pinned or computed later, files or "
    "downloads, the chats behind it, or who is in the workspace."
)
STATES = {
    "expired": mark("It has run out: it opens nothing."),
    "resting": mark("It opens nothing now: what it shows was put away, or is in another's hands."),
}


def offered() -> bool:
    """Whether there is any link to share here."""
    return current_visit() is not None or session().links.allowed()


def draw_button(chat: Chat) -> None:
    """`Share by link`, for a chat."""
    if _pressed("tertiary"):
        _share_chat(chat)


def draw_board_button(board: Board) -> None:
    """The same for a board of one's own."""
    if offered() and _pressed("secondary"):
        _share_board(board)


def _pressed(kind: Literal["secondary", "tertiary"]) -> bool:
    """Whether the button is; the address of a link that was made before is shown no more then."""
    pressed = st.button(t("Share by link"), key="share-link", icon=":material/link:", type=kind)
    if pressed:
        st.session_state.pop(MADE, None)
    return pressed


@dialog("Share this chat by link", width="medium")
def _share_chat(chat: Chat) -> None:
    say_problem()
    if current_visit() is not None:
        st.markdown(t("**Members of this workspace**"))
        _draw_address(address_of("?" + urlencode({"chat": chat.id})), "members")
        is_open = session().links.is_open(chat.id)
        st.toggle(
            t("Members who open it may join this chat"),
            is_open,
            key=f"chat-open-{chat.id}-{is_open}",
            on_change=partial(_try, session().links.set_open, chat.id, not is_open),
        )
        st.caption(
            t("They join with a press, then see the whole chat and can ask in it.")
            if is_open
            else t(
                "It opens for those who are in this chat. Others hear that it is not shared with "
                "them."
            )
        )
    if session().links.allowed():
        hosting = session().chats.participants(chat.id)[0].user_id == session().scope.user_id
        make = partial(session().links.share_chat, chat.id) if hosting else None
        _draw_public(session().links.of_chat(chat.id), make, CHAT_SHOWS)


@dialog("Share this board by link", width="medium")
def _share_board(board: Board) -> None:
    say_problem()
    if current_visit() is not None:
        st.markdown(t("**Members of this workspace**"))
        _draw_address(address_of("board?" + urlencode({"board": board.id})), "members")
        st.caption(
            t("All members can open it.")
            if session().boards.get(board.id).shared
            else t(
                "It opens for you alone until *Everyone in this workspace sees this board* is on."
            )
        )
    if session().links.allowed():
        make = partial(session().links.share_board, board.id)
        _draw_public(session().links.of_board(board.id), make, BOARD_SHOWS)


def _draw_address(address: str, key: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", wrap=False, key=f"link-{key}"):
        st.code(address, language=None, wrap_lines=True, width="stretch")
        browser.copy_button(address, f"copy-link-{key}")


def _draw_public(
    there: Sequence[SharedLink], make: Callable[[int], LinkMade] | None, shows: str
) -> None:
    """`make` makes one more; None for one who may not."""
    st.markdown(t("**Anyone with the link can read**"))
    if make is None:
        st.caption(t("Only whoever began this chat can make such a link."))
    else:
        st.markdown(f":small[{t(shows)}]")
        if not rules().is_open:
            st.caption(
                t(
                    ":material/info: This Leaf is reached from this machine only, so a link opens "
                    "here and nowhere else."
                )
            )
        _draw_make(make)
    for link in there:
        _draw_link(link)


def _draw_make(make: Callable[[int], LinkMade]) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", key="make-link"):
        st.selectbox(
            t("Ends after"),
            list(LASTS),
            format_func=lambda days: t(LASTS[days]),
            key="link-lasts",
            width=140,
        )
        pressed = st.button(
            t("Create link"), key="create-link", type="primary", icon=":material/public:"
        )
    if pressed:
        with st.spinner(t("Taking the snapshot")):
            _try(_make, make)
        redraw("fragment")


def _make(make: Callable[[int], LinkMade]) -> None:
    share = make(int(st.session_state.get("link-lasts", 7)))
    address = address_of(f"{shared.PATH.strip('/')}/{share.token}")
    st.session_state[MADE] = (share.link.id, address)


def _try(act: Callable[..., object], *args: object) -> None:
    try:
        act(*args)
    except LeafError as e:
        st.session_state["problem"] = told(e)


def _draw_link(link: SharedLink) -> None:
    made_id, address = st.session_state.get(MADE, ("", ""))
    with st.container(border=True, key=f"public-link-{link.id}"):
        if link.id == made_id:
            _draw_address(address, "public")
            st.caption(
                t(":material/info: Copy it now: Leaf keeps no copy of it, and shows it this once.")
            )
        st.markdown(_told(link))
        if link.state in STATES:
            st.caption(f":orange[:material/link_off: {t(STATES[link.state])}]")
        with st.container(horizontal=True, gap="small"):
            update = may_update(link) and st.button(
                t("Update link"),
                key=f"update-link-{link.id}",
                icon=":material/refresh:",
                help=t("From now on it shows how this stands now"),
            )
            revoke = st.button(
                t("Revoke"),
                key=f"revoke-link-{link.id}",
                icon=":material/link_off:",
                help=t("End it at once, for everybody who has it"),
            )
        if update:
            _update(link.id)
        if revoke:
            _revoke(link.id)


def may_update(link: SharedLink) -> bool:
    """Whether it can show how things stand now: a board, from which something was removed that kept the
    link closed, too."""
    return link.own and (link.state == "open" or (bool(link.board_id) and link.state == "resting"))


def _update(link_id: str) -> None:
    with st.spinner(t("Taking the snapshot")):
        _try(session().links.update, link_id)
    if "problem" not in st.session_state:
        toast(t("The link shows it as it is now."), icon=":material/refresh:")
    redraw("fragment")


def _revoke(link_id: str) -> None:
    _try(session().links.revoke, link_id)
    if "problem" not in st.session_state:
        toast(t("Revoked: the link opens nothing any more."), icon=":material/link_off:")
    redraw("fragment")


def _told(link: SharedLink) -> str:
    """`Made on 3 Mar by Ann · shows it as of 4 Mar · ends 10 Mar · opened 3 times, last 14:02`."""
    today = clock.today()
    author = ""
    if current_visit() is not None:
        author = t(" by {author}", author=markdown.label(link.author, 40))
    pieces = [t("Made {day}{author}", day=words.when(link.created_at, today), author=author)]
    if link.taken_at != link.created_at:
        pieces.append(t("shows it as of {day}", day=words.when(link.taken_at, today)))
    ends = link.expires_at
    pieces.append(t("ends {day}", day=words.when(ends, today)) if ends else t("no end"))
    if link.opened_at is None:
        pieces.append(t("not opened yet"))
    else:
        times = words.count(link.opened, "time")
        last = words.when(link.opened_at, today)
        pieces.append(t("opened {times}, last {day}", times=times, day=last))
    return " · ".join(pieces)


# --- Settings


def draw_all() -> None:
    """All public links of the workspace, for its owners; nothing where there can be none."""
    try:
        there = session().links.all()
    except LeafError:  # no owner
        return
    allowed = session().links.allowed()
    if not there and not allowed:
        return
    st.header(t("Public links"), anchor=False)
    st.caption(
        t("Anyone who has one reads a snapshot of a chat or a board, without signing in.")
        if allowed
        else t("Whoever runs Leaf does not allow public links now: these open nothing.")
    )
    if not there:
        st.caption(t("Nothing of this workspace is public."))
    for link in there:
        with st.container(
            horizontal=True, vertical_alignment="center", wrap=False, key=f"all-links-{link.id}"
        ):
            kind = t("Chat") if link.chat_id else t("Board")
            title = markdown.label(link.title, 60)
            what = t("{kind} “{title}”", kind=kind, title=title) if link.title else kind
            state = STATES.get(link.state, "")
            closed = f"  \n:small[:orange[{t(state)}]]" if state else ""
            st.markdown(f"{what}  \n:small[{_told(link)}]{closed}", width="stretch")
            if st.button(
                t("Revoke"),
                key=f"revoke-any-{link.id}",
                icon=":material/link_off:",
                type="tertiary",
            ):
                then_redraw(session().links.revoke, link.id)


# --- a chat that is open to members


def draw_door(chat_id: str) -> bool:
    """The way into a chat that the user may join; False where there is none."""
    host = session().links.host_of(chat_id)
    if not host:
        return False
    name = markdown.label(host, 60)
    with st.container(border=True, key="join-chat"):
        st.markdown(t("**{name} shares a chat with the members of this workspace.**", name=name))
        st.caption(
            t("Once you join, you see the whole chat and can ask in it. Its people see you, too.")
        )
        if st.button(t("Join this chat"), key="join", type="primary", icon=":material/group_add:"):
            then_redraw(session().links.join, chat_id)
    return True
