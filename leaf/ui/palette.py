"""The palette (Ctrl+K): chats, projects, pages, files, saved prompts and actions by their names, and the list of
shortcuts (?). The doings stand in `ui/assets/palette.js`; what it lists comes from the session, and
only while it is open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import streamlit as st

from leaf.errors import LeafError
from leaf.language.problems import told
from leaf.language.text import t
from leaf.store.prompts import TEXT_LENGTH
from leaf.ui import exports, preview, projects, prompts, sidebar, words
from leaf.ui.palette_button import PROMPTS_ONLY
from leaf.ui.redraw import redraw
from leaf.ui.spoken import PRELUDE, spoken
from leaf.ui.state import session
from leaf.ui.toasts import toast

if TYPE_CHECKING:
    from streamlit.navigation.page import StreamlitPage

ASSETS = Path(__file__).resolve().parent / "assets"
SCRIPT = (ASSETS / "palette.js").read_text(encoding="utf-8")
KEY = "leaf-palette"
FOUND = "palette-found"
"""What was found for the newest words, with their number, in the state of the session."""
CHOSEN = "palette-chosen"
DONE = "palette-done"
"""The number of the newest choice. They rise, and the browser says each again until it reads back its
number or a later one."""
CHATS, FILES, PROMPTS, PROJECTS = 6, 5, 6, 4
PROMPTS_ALONE = 50
LONGEST = 200


class PaletteItem(TypedDict):
    """One line of what was found."""

    kind: str
    id: str
    name: str
    detail: str
    icon: str


def draw(chat_id: str, pages: Sequence[StreamlitPage]) -> None:
    """Once a drawing of any page, before the page itself, so that it always stands in the same
    place."""
    places = [{"id": page.url_path, "name": t(page.title), "icon": _icon(page)} for page in pages]
    _draw(chat_id, places)


def carry_out(chat_page: StreamlitPage, pages: Sequence[StreamlitPage], chat_id: str) -> None:
    """What was chosen just now, if anything was. What the browser names is only found if it is the
    user's."""
    chosen = st.session_state.pop(CHOSEN, None)
    if chosen is None:
        return
    kind, wanted = str(chosen.get("kind", "")), str(chosen.get("id", ""))
    try:
        if kind == "chat":
            sidebar.open_chat(chat_page, session().chats.get(wanted).id)
        elif kind == "page":
            _go(next((page for page in pages if page.url_path == wanted), chat_page))
        elif kind == "project":
            preview.close()
            st.switch_page(projects.PAGE, query_params={"id": session().projects.get(wanted).id})
        elif kind == "file":
            preview.show(session().files.get(wanted).id)
        elif kind == "prompt":
            prompts.insert(session().prompts.get(wanted).text)
            if not chosen.get("composer"):
                st.switch_page(chat_page)
        elif kind == "action":
            _act(wanted, str(chosen.get("text", "")), chat_page, chat_id)
    except LeafError as e:
        toast(told(e), icon=":material/warning:")


def _go(page: StreamlitPage) -> None:
    preview.close()
    st.switch_page(page)


def _act(name: str, text: str, chat_page: StreamlitPage, chat_id: str) -> None:
    if name == "new":
        sidebar.open_chat(chat_page, "")
    elif name == "save":
        prompts.ask(text[:TEXT_LENGTH])
    elif chat_id and name in ("export", "rename"):
        chat = session().chats.get(chat_id)
        if name == "export":
            exports.ask(chat.id, chat.title or t(sidebar.UNTITLED))
        else:
            sidebar.rename(chat.id, chat.title)


@st.fragment
def _draw(chat_id: str, places: Sequence[Mapping[str, str]]) -> None:
    results = st.session_state.get(FOUND) or {"number": 0, "items": []}
    data = {  # tuples: to see whether a list is a table Streamlit would load pandas, 70 MB
        "pages": tuple(places),
        "chat": chat_id,
        "number": results["number"],
        "items": tuple(results["items"]),
        "done": st.session_state.get(DONE),
        **spoken(SCRIPT),
    }
    with st.container(key="palette"):
        _component()(
            key=KEY, data=data, on_asked_change=_look, on_chosen_change=_take, width="content"
        )
    if CHOSEN in st.session_state:
        redraw()


def _look() -> None:
    """Find what the newest words name. Only here is anything looked up."""
    asked = _heard("asked")
    if not isinstance(asked, Mapping):
        return
    text = str(asked.get("text", ""))[:LONGEST]
    number = asked.get("number")
    try:
        items = find(text, str(asked.get("only", "")))
    except LeafError as e:
        toast(told(e), icon=":material/warning:")
        items = []
    st.session_state[FOUND] = {"number": number, "items": items}


def _take() -> None:
    chosen = _heard("chosen")
    if not isinstance(chosen, Mapping):
        return
    number = int(chosen.get("number", 0))
    if number > st.session_state.get(DONE, 0):  # an earlier one may be said again after a later one
        st.session_state[DONE] = number
        st.session_state[CHOSEN] = dict(chosen)


def _heard(what: str) -> object:
    """None where Streamlit has dropped the component's state, as when a run ended before it had
    drawn the palette; the browser says it again."""
    return (st.session_state.get(KEY) or {}).get(what)


def find(text: str, only: str = "") -> list[PaletteItem]:
    """Prompts, projects, chats and files of the user with these words, the newest where there are none."""
    own = session()
    alone = only == PROMPTS_ONLY
    items: list[PaletteItem] = [
        {
            "kind": "prompt",
            "id": prompt.id,
            "name": prompt.name,
            "detail": " ".join(prompt.text.split())[:LONGEST]
            if prompt.own
            else t("By {author}", author=prompt.author or t("somebody")),
            "icon": "bookmark" if prompt.own else "group",
        }
        for prompt in own.prompts.list(text)[: PROMPTS_ALONE if alone else PROMPTS]
    ]
    if alone:
        return items
    items += [
        {
            "kind": "project",
            "id": project.id,
            "name": project.title,
            "detail": "",
            "icon": projects.icon(project),
        }
        for project in own.projects.list(text, PROJECTS)
    ]
    items += [
        {
            "kind": "chat",
            "id": chat.id,
            "name": chat.title or t(sidebar.UNTITLED),
            "detail": "",
            "icon": "group" if chat.shared else "forum",
        }
        for chat in own.chats.list(query=text, limit=CHATS)
    ]
    items += [
        {
            "kind": "file",
            "id": file.id,
            "name": file.name,
            "detail": words.counts(file.outline) or words.size(file.size),
            "icon": words.kind_icon(file.kind).removeprefix(":material/").removesuffix(":"),
        }
        for file in own.files.list(text)[:FILES]
    ]
    return items


def _icon(page: StreamlitPage) -> str:
    return page.icon.removeprefix(":material/").removesuffix(":")


@cache
def _component() -> Any:
    return st.components.v2.component(
        "leaf_palette",
        html='<div class="leaf-palette-root"></div>',
        css=(ASSETS / "palette.css").read_text(),
        js=PRELUDE + SCRIPT,
        isolate_styles=False,
    )
