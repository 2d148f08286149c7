"""The way to Google Drive: how it stands, connecting, what Google sent back, and disconnecting. The
same card on both pages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from leaf.drive.model import DriveConnection
from leaf.errors import LeafError
from leaf.language.problems import said, told
from leaf.language.text import t
from leaf.ui import browser, clock, markdown, words
from leaf.ui.dialogs import dialog
from leaf.ui.redraw import redraw
from leaf.ui.state import address_of, session
from leaf.ui.toasts import toast

DRIVE_PAGE = Path(__file__).resolve().parents[1] / "pages" / "drive.py"
CALLBACK = frozenset({"code", "state", "error"})
"""What Google puts into the address when it sends the user back; any of them marks a return."""


def take_callback() -> None:
    """If Google has just sent the user back: take in what it says, and clear it from the address
    whatever becomes of it."""
    returned = {key: st.query_params[key] for key in st.query_params}
    if not CALLBACK & returned.keys():
        return
    st.query_params.clear()
    # A browser that reconnects at this moment sends the same address again.
    if st.session_state.get("drive-returned") == returned.get("state", ""):
        return
    st.session_state["drive-returned"] = returned.get("state", "")
    _finish(returned)


def _finish(returned: Mapping[str, str]) -> None:
    st.session_state.pop("drive-problem", None)
    try:
        with st.spinner(t("Connecting")):
            connection = session().drive.finish(returned)
    except LeafError as e:
        st.session_state["drive-problem"] = told(e)
    else:
        account = markdown.label(connection.account) or "Google Drive"
        toast(t("Connected: {account}", account=account), icon=":material/check:")


def draw_card(connection: DriveConnection) -> None:
    """How Drive stands for this user, and what can be done about it."""
    with st.container(border=True, key="drive-card"):
        _say_problem()
        if connection.state == "unconfigured":
            _draw_unconfigured(connection)
        elif connection.state == "absent":
            _draw_absent()
        elif connection.state == "connected":
            _draw_connected(connection)
        else:
            _draw_broken(connection)


def draw_hint(connection: DriveConnection, text: str, key: str) -> None:
    """One line in a chat that needs Drive and does not have it, with the way to connect."""
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key=f"drive-hint-{key}"
    ):
        st.caption(f":orange[:material/cloud_off: {text}]", width="content")
        if connection.state != "unconfigured":
            label = t("Connect again") if connection.state == "error" else t("Connect Drive")
            if st.button(
                label, key=f"drive-offer-{key}", type="tertiary", icon=":material/add_link:"
            ):
                st.switch_page(DRIVE_PAGE)


def redirect_uri() -> str:
    """Where Google sends the user back to: the Drive page, under the address by which this browser
    reached Leaf."""
    return address_of("drive")


def _say_problem() -> None:
    problem = st.session_state.get("drive-problem")
    if problem:
        st.warning(markdown.paragraph(problem), icon=":material/warning:")


def _why(connection: DriveConnection) -> str:
    return f"{said(connection.why)} {said(connection.hint)}".strip()


def _draw_unconfigured(connection: DriveConnection) -> None:
    st.markdown(t("**Google Drive is not set up** for this Leaf."))
    st.markdown(markdown.paragraph(_why(connection)))
    st.caption(t("At Google, allow this address as redirect URI of the client:"))
    st.code(redirect_uri(), language=None)


def _draw_absent() -> None:
    st.markdown(
        t(
            "**Not connected.** Ask about files that are in Google Drive, without "
            "downloading them first."
        )
    )
    st.markdown(
        t(
            "- Leaf may **read** your Drive; it cannot change, share or delete "
            "anything there.\n- A file comes down only when you add it or an answer "
            "needs it. It then stays in your library.\n- You can disconnect at any "
            "time, here or at Google."
        )
    )
    _draw_connect(t("Connect Google Drive"))


def _draw_broken(connection: DriveConnection) -> None:
    of = (
        t(" to {account}", account=markdown.label(connection.account)) if connection.account else ""
    )
    st.markdown(
        t(
            ":orange[:material/warning:] **The connection{of} does not work.** {why}",
            of=of,
            why=markdown.paragraph(said(connection.why)),
        )
    )
    if connection.hint:
        st.markdown(markdown.paragraph(said(connection.hint)))
    if connection.kind == "service":
        return
    with st.container(horizontal=True):
        _draw_connect(t("Connect again"))
        if st.button(t("Try again"), key="drive-try", icon=":material/refresh:"):
            _try_again()
        _draw_disconnect()
    st.caption(t("Files that came from Drive are still in your library."))


def _try_again() -> None:
    """Some troubles pass: a quota, an API that was switched on meanwhile. Then the connection works
    without a new consent."""
    st.session_state.pop("drive-problem", None)
    try:
        with st.spinner(t("Asking Google")):
            session().drive.list(page_size=1)
    except LeafError as e:
        st.session_state["drive-problem"] = told(e)
    redraw()


def _draw_connected(connection: DriveConnection) -> None:
    account = markdown.label(connection.account) or "Google Drive"
    since = (
        t(" since {at}", at=words.when(connection.since, clock.today())) if connection.since else ""
    )
    if connection.kind == "service":
        st.markdown(
            t(
                ":green[:material/check_circle:] **Connected** as the service account "
                "{account}, for everybody.",
                account=account,
            )
        )
        st.caption(
            t(
                "It sees what was shared with it. It is set where Leaf is deployed, "
                "and cannot be disconnected here."
            )
        )
        return
    st.markdown(
        t(
            ":green[:material/check_circle:] **Connected** to {account}{since}, to read only.",
            account=account,
            since=since,
        )
    )
    if connection.why:
        st.caption(f":orange[:material/warning: {markdown.paragraph(_why(connection))}]")
    _draw_disconnect()


def _draw_connect(label: str) -> None:
    """Only the click makes the address at Google, for each may be used once and not for long."""
    if not st.button(label, key="drive-connect", type="primary", icon=":material/add_link:"):
        return
    st.session_state.pop("drive-problem", None)
    try:
        address = session().drive.begin(redirect_uri())
    except LeafError as e:
        st.warning(markdown.paragraph(told(e)), icon=":material/warning:")
        return
    browser.leave_for(address)
    st.link_button(
        t("Google's page did not open? Open it"),
        address,
        type="tertiary",
        icon=":material/open_in_new:",
    )


def _draw_disconnect() -> None:
    if st.button(t("Disconnect"), key="drive-disconnect", icon=":material/link_off:"):
        _disconnect()


@dialog("Disconnect Google Drive?")
def _disconnect() -> None:
    st.markdown(
        t(
            "Leaf gives its permission back to Google and forgets it. Files that came "
            "from Drive stay in your library, chats keep their answers; folders "
            "attached to chats cannot be opened until you connect again."
        )
    )
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button(t("Keep it"), key="drive-keep", type="tertiary"):
            redraw()
        if st.button(t("Disconnect"), key="drive-disconnect-sure", type="primary"):
            try:
                with st.spinner(t("Disconnecting")):
                    left = session().drive.disconnect()
            except LeafError as e:
                st.warning(markdown.paragraph(told(e)), icon=":material/warning:")
                return
            st.session_state.pop("drive-problem", None)
            if left.why and left.state == "absent":
                st.session_state["drive-problem"] = _why(left)
            redraw()
