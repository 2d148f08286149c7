"""The pieces of the Drive page: where one is, what lies there, and what is chosen of it.

Place and search stand in the page's address, so that a reload and a bookmark lead back. A listing
is asked for once and kept until the place changes: ticking a box asks nothing of Google.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import streamlit as st

from leaf.drive.model import DRIVES, ROOT, SHARED, DriveConnection, DriveItem, DriveListing
from leaf.errors import LeafError
from leaf.language.problems import said, told
from leaf.language.text import in_digits, mark, t
from leaf.store.model import Chat
from leaf.ui import adding, clock, connection, markdown, preview, words
from leaf.ui.controls import icon_button, icon_menu
from leaf.ui.dialogs import dialog
from leaf.ui.redraw import redraw
from leaf.ui.state import session
from leaf.ui.toasts import toast

PER_PAGE = 50
VIEWS = {ROOT: mark("My Drive"), SHARED: mark("Shared with me"), DRIVES: mark("Shared drives")}
KINDS = {
    "": mark("All kinds"),
    "folder": mark("Folders"),
    "spreadsheet": mark("Spreadsheets"),
    "document": mark("Documents"),
    "presentation": mark("Presentations"),
    "pdf": "PDFs",
    "text": mark("Text"),
}
AGES = {0: mark("Any time"), 7: mark("Past week"), 31: mark("Past month"), 366: mark("Past year")}
"""Days since the last change -> words."""
_ADDRESS = re.compile(r"https?://\S+$")


@dataclass(frozen=True)
class DriveView:
    """What of Drive is wanted: a folder or view, or a search in it or everywhere."""

    folder: str
    query: str = ""
    within: bool = False
    """Whether a search stays in the folder."""
    kind: str = ""
    days: int = 0
    cursor: str = ""


def draw(standing: DriveConnection) -> None:
    """Everything below the title."""
    chat = _chosen_chat()
    st.caption(
        markdown.label(t("{account} · read only", account=standing.account or "Google Drive"))
    )
    if chat:
        _draw_target(chat)
    where = st.container()
    place = _place(where)
    listing = _load(place)
    if listing is None:
        return
    with where:
        _draw_breadcrumbs(listing, place)
    if listing.incomplete:
        st.warning(markdown.paragraph(said(listing.incomplete)), icon=":material/warning:")
    _draw_listing(listing, place, chat.id if chat else "")


def open_folder(ref: str) -> None:
    """Let the page show another folder; the search is over."""
    st.query_params["folder"] = ref
    st.query_params.pop("q", None)
    for key in ("drive-search", "drive-kind", "drive-age", "drive-within", "drive-cursors"):
        st.session_state.pop(key, None)


# --- where one is


def _chosen_chat() -> Chat | None:
    """The chat for which files are being chosen, if its composer led here."""
    wanted = st.query_params.get("for", "")
    if not wanted:
        return None
    try:
        return session().chats.get(wanted)
    except LeafError:
        del st.query_params["for"]
        return None


def _draw_target(chat: Chat) -> None:
    with st.container(
        horizontal=True, vertical_alignment="center", border=True, key="drive-target"
    ):
        title = f"“{markdown.label(chat.title, 60)}”" if chat.title else t("the new chat")
        st.markdown(t(":material/forum: Choosing for {title}", title=title), width="stretch")
        if st.button(
            t("Back to the chat"), key="drive-back", type="tertiary", icon=":material/arrow_back:"
        ):
            st.switch_page(adding.CHAT_PAGE, query_params={"chat": chat.id})


def _place(where: st.delta_generator.DeltaGenerator) -> DriveView:
    """Draws the views and the search, and reads from them what is wanted."""
    folder = st.query_params.get("folder", ROOT)
    query = st.query_params.get("q", "")
    with where:
        st.session_state["drive-view"] = folder if folder in VIEWS and not query else None
        st.segmented_control(
            t("View"),
            list(VIEWS),
            format_func=lambda view: t(VIEWS[view]),
            key="drive-view",
            label_visibility="collapsed",
            on_change=_view,
            args=(folder,),
        )
        st.session_state.setdefault("drive-search", query)
        st.text_input(
            t("Search Drive"),
            key="drive-search",
            placeholder=t("Search names and content, or paste a link from Drive"),
            label_visibility="collapsed",
            icon=":material/search:",
            on_change=_search,
        )
        if not query or _ADDRESS.match(query):
            return DriveView(folder, query, cursor=_cursor())
        with st.container(horizontal=True, vertical_alignment="bottom", key="drive-filters"):
            kind = st.selectbox(
                t("Kind"),
                list(KINDS),
                format_func=lambda kind: t(KINDS[kind]),
                key="drive-kind",
                width=170,
            )
            days = st.selectbox(
                t("Modified"),
                list(AGES),
                format_func=lambda days: t(AGES[days]),
                key="drive-age",
                width=150,
            )
            inside = folder not in VIEWS
            within = inside and st.toggle(t("Only in the folder that was open"), key="drive-within")
            if st.button(
                t("End the search"), key="drive-unsearch", type="tertiary", icon=":material/close:"
            ):
                open_folder(folder)
                redraw()
    return DriveView(folder, query, bool(within), kind or "", days or 0, _cursor())


def _view(folder: str) -> None:
    """A click on the view that is shown takes its choice away, and leads to its top."""
    open_folder(st.session_state.get("drive-view") or folder)


def _search() -> None:
    query = (st.session_state.get("drive-search") or "").strip()
    st.session_state.pop("drive-cursors", None)
    if query:
        st.query_params["q"] = query
    else:
        st.query_params.pop("q", None)


def _cursor() -> str:
    """Where the page begins that is shown; empty for the first."""
    cursors = st.session_state.get("drive-cursors")
    return cursors[-1] if cursors else ""


def _draw_breadcrumbs(listing: DriveListing, place: DriveView) -> None:
    if place.query:
        caption = (
            t("Found by “{query}”", query=markdown.label(place.query, 60))
            if not _ADDRESS.match(place.query)
            else t("Behind the link")
        )
        st.caption(
            t("{found}, in this folder and below", found=caption) if place.within else caption
        )
        return
    with st.container(
        horizontal=True, vertical_alignment="center", gap="xsmall", key="drive-crumbs"
    ):
        for number, crumb in enumerate(listing.breadcrumbs):
            if number:
                st.caption(":material/chevron_right:", width="content")
            last = number == len(listing.breadcrumbs) - 1
            name = markdown.label(crumb.name, 40)
            if last:
                st.markdown(f"**{name}**", width="content")
            else:
                key = f"drive-crumb-{number}-{crumb.ref}"
                st.button(name, key=key, type="tertiary", on_click=open_folder, args=(crumb.ref,))
        if icon_button(t("Look again what is there"), "drive-reload", "refresh"):
            forget()
            redraw()


# --- what lies there


def forget() -> None:
    """Let the next drawing ask Google again."""
    st.session_state.pop("drive-listing", None)


def _load(place: DriveView) -> DriveListing | None:
    """The listing of a place, asked for once. What fails is said, with a way to try again."""
    entry = st.session_state.get("drive-listing")
    if entry and entry[0] == place:
        listing: DriveListing = entry[1]
        return listing
    try:
        with st.spinner(t("Searching Drive") if place.query else t("Listing the folder")):
            listing = _ask(place)
    except LeafError as e:
        st.session_state.pop("drive-cursors", None)
        _draw_failure(e)
        return None
    st.session_state["drive-listing"] = (place, listing)
    return listing


def _ask(place: DriveView) -> DriveListing:
    if not place.query:
        return session().drive.list(place.folder, cursor=place.cursor, page_size=PER_PAGE)
    if _ADDRESS.match(place.query):
        item = session().drive.item(place.query)
        if item.is_folder:
            open_folder(item.ref)
            redraw()
        return DriveListing(None, (), (item,))
    since = clock.today() - timedelta(days=place.days)
    return session().drive.search(
        place.query,
        folder=place.folder if place.within else "",
        kinds=[place.kind] if place.kind else (),
        modified_after=since.isoformat() if place.days else "",
        cursor=place.cursor,
        page_size=PER_PAGE,
    )


def _draw_failure(problem: LeafError) -> None:
    standing = session().drive.connection()
    if standing.state != "connected":
        connection.draw_card(standing)
        return
    st.warning(markdown.paragraph(told(problem)), icon=":material/warning:")
    with st.container(horizontal=True):
        if st.button(t("Try again"), key="drive-again", icon=":material/refresh:"):
            redraw()
        st.button(
            t("Go to My Drive"),
            key="drive-home",
            type="tertiary",
            on_click=open_folder,
            args=(ROOT,),
        )


@st.fragment
def _draw_listing(listing: DriveListing, place: DriveView, chat_id: str) -> None:
    """The rows and what is chosen; a fragment, so that ticking a box draws nothing else."""
    picked = _picked()
    if picked:
        _draw_picked(picked, chat_id)
    if not listing.items:
        _draw_empty(place)
    with st.container(key="drive-rows", gap=None):
        today = clock.today()
        busy = adding.running()
        for number, item in enumerate(listing.items):
            _draw_row(number, item, today, chat_id, busy=busy)
    _draw_paging(listing)


def _draw_empty(place: DriveView) -> None:
    if place.query:
        st.markdown(
            t(
                "Nothing in Drive matches. Google searches whole words in names and "
                "content; new files take a few minutes."
            )
        )
    elif place.folder == DRIVES:
        st.markdown(t("No shared drives. You see here those of which you are a member."))
    elif place.folder == SHARED:
        st.markdown(
            t(
                "Nobody has shared anything with this account yet. A folder's link can "
                "be pasted into the search above."
            )
        )
    else:
        st.markdown(t("This folder is empty."))


def _draw_row(number: int, item: DriveItem, today: date, chat_id: str, *, busy: bool) -> None:
    name, row = markdown.label(item.name, 90) or t("Without a name"), f"{number}-{item.ref}"
    with st.container(
        horizontal=True, vertical_alignment="center", wrap=False, key=f"drive-row-{number}"
    ):
        _draw_box(number, item, name)
        with st.container(gap=None, width="stretch"):
            shortcut = " :gray[:material/shortcut:]" if item.is_shortcut else ""
            help_text = t("Open the folder") if item.is_folder else t("Preview")
            if st.button(
                f"{name}{shortcut}",
                key=f"drive-open-{row}",
                type="tertiary",
                icon=words.drive_icon(item.kind),
                help=help_text,
            ):
                _open(item)
            st.caption(markdown.label(facts(item, today), 200))
            if not item.can_download:
                st.caption(t(":orange[:material/lock: Its owner does not allow downloading it.]"))
        if item.is_folder or item.can_download:
            verb = t("Add") if chat_id else t("Ask")
            about = t("folder") if item.is_folder else t("file")
            help_text = (
                t("Put this {about} beside the question", about=about)
                if chat_id
                else t("Ask about this {about} in a new chat", about=about)
            )
            symbol = ":material/add:" if chat_id else ":material/chat:"
            if st.button(verb, key=f"drive-ask-{row}", icon=symbol, help=help_text, disabled=busy):
                adding.start([item], chat_id or adding.NEW_CHAT)
        chosen = icon_menu(
            t("More for {kind} {number}", kind=item.kind, number=number + 1),
            _options(item),
            key=f"drive-menu-{row}",
        )
    if chosen:
        _carry_out(chosen, item)


ADD_FILE, ADD_FOLDER, LOOK, OPEN, WEB = (
    mark("Add to Files"), mark("Add all its files to Files"), mark("Preview"), mark("Open"),
    mark("Open in Google Drive"),
)  # fmt: skip


def _options(item: DriveItem) -> list[str]:
    options = [OPEN if item.is_folder else LOOK]
    if item.is_folder:
        options.append(ADD_FOLDER)
    elif item.can_download:
        options.append(ADD_FILE)
    return [*options, WEB] if item.link else options


def _carry_out(chosen: str, item: DriveItem) -> None:
    if chosen in (ADD_FILE, ADD_FOLDER):
        if adding.running():
            toast(t("Files are still being added."), icon=":material/hourglass:")
        else:
            adding.start([item])
    elif chosen == WEB:
        _show_link(item)
    else:
        _open(item)


def _open(item: DriveItem) -> None:
    if item.is_folder:
        open_folder(item.ref)
    elif item.file_id:
        preview.show(item.file_id)
    else:
        preview.show_drive(item.ref)
    redraw()


@dialog("Open in Google Drive")
def _show_link(item: DriveItem) -> None:
    st.markdown(markdown.label(item.name, 120))
    st.link_button(t("Open in a new tab"), item.link, type="primary", icon=":material/open_in_new:")


def facts(item: DriveItem, today: date) -> str:
    """`Google Sheet · 3 Mar · Ana · 48 kB · in your library`."""
    pieces = [
        t("Shared drive")
        if item.drive_id == item.id
        else words.drive_kind(item.kind, item.mime_type),
        t("shortcut") if item.is_shortcut else "",
        words.when(item.modified, today) if item.modified else "",
        item.owner,
        words.size(item.size) if item.size is not None else "",
        t("in your library") if item.file_id else "",
    ]
    return " · ".join(piece for piece in pieces if piece)


# --- what is chosen of it


def _picked() -> dict[str, DriveItem]:
    """By `ref`; kept while one walks through folders."""
    picked: dict[str, DriveItem] = st.session_state.setdefault("drive-picked", {})
    return picked


def _draw_box(number: int, item: DriveItem, name: str) -> None:
    key = f"drive-pick-{number}"
    st.session_state[key] = item.ref in _picked()
    st.checkbox(
        t("Choose {name}", name=name),
        key=key,
        label_visibility="collapsed",
        disabled=not (item.is_folder or item.can_download),
        on_change=_pick,
        args=(key, item),
    )


def _pick(key: str, item: DriveItem) -> None:
    if st.session_state.get(key):
        _picked()[item.ref] = item
    else:
        _picked().pop(item.ref, None)


def _draw_picked(picked: dict[str, DriveItem], chat_id: str) -> None:
    items = list(picked.values())
    busy = adding.running()
    with st.container(
        horizontal=True, vertical_alignment="center", border=True, key="drive-picked-bar"
    ):
        st.markdown(t("**{items}** chosen", items=picked_text(items)), width="stretch")
        target = chat_id or adding.NEW_CHAT
        label = t("Add to the chat") if chat_id else t("Ask about them")
        if st.button(
            label, key="drive-picked-ask", type="primary", icon=":material/chat:", disabled=busy
        ):
            _start(items, target)
        if st.button(
            t("Add to Files"), key="drive-picked-add", icon=":material/library_add:", disabled=busy
        ):
            _start(items, "")
        st.button(t("Clear"), key="drive-picked-clear", type="tertiary", on_click=picked.clear)


def _start(items: Sequence[DriveItem], target: str) -> None:
    st.session_state.pop("drive-picked", None)
    adding.start(items, target)


def picked_text(items: Sequence[DriveItem]) -> str:
    """`2 folders and 3 files`."""
    folders = sum(item.is_folder for item in items)
    files = len(items) - folders
    pieces = [words.count(folders, "folder")] if folders else []
    pieces += [words.count(files, "file")] if files else []
    return t(" and ").join(pieces)


def _draw_paging(listing: DriveListing) -> None:
    """Google gives a cursor and no number of pages."""
    cursors = st.session_state.setdefault("drive-cursors", [])
    if not cursors and not listing.cursor:
        return
    first = len(cursors) * PER_PAGE + 1
    with st.container(horizontal=True, vertical_alignment="center", key="drive-paging"):
        st.caption(
            f"{in_digits(first)}–{in_digits(first + len(listing.items) - 1)}"
            if listing.items
            else "",
            width="stretch",
        )
        if cursors and st.button(
            t("Back"), key="drive-before", type="tertiary", icon=":material/arrow_back:"
        ):
            cursors.pop()
            redraw()
        if listing.cursor and st.button(
            t("Next"),
            key="drive-next",
            type="tertiary",
            icon=":material/arrow_forward:",
            icon_position="right",
        ):
            cursors.append(listing.cursor)
            redraw()
