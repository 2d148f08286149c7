"""The list of files on their way, with what brings them: a drop anywhere on the page, the buttons
of the composer's menu, a paste. The bytes go beside the page's script (`upload_routes.py`), so that
a page is drawn, left and used meanwhile. The doings stand in `ui/assets/uploads.js`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from leaf.language.text import current, mark, t
from leaf.store.model import Chat
from leaf.ui import preview, state
from leaf.ui.redraw import redraw
from leaf.ui.spoken import PRELUDE, spoken
from leaf.ui.state import leaf, session
from leaf.ui.upload_keys import UploadKey
from leaf.ui.upload_view import under_way

ASSETS = Path(__file__).resolve().parent / "assets"
SCRIPTS = ("uploads_given.js", "uploads_rows.js", "uploads.js")
SCRIPT = "\n".join((ASSETS / name).read_text(encoding="utf-8") for name in SCRIPTS)
CHOOSER = (ASSETS / "chooser.js").read_text(encoding="utf-8")
CHAT_PAGE = Path(__file__).resolve().parents[1] / "pages" / "chat.py"
KEY = "upload-key"
EVENTS = ("chat", "ask", "changed")
"""What it tells: a chat was begun for files, those of a job are to be asked about, there is
something new for the page to draw."""
FILES = "files"
ZONE = mark(
    "Drop files anywhere, or choose them: tables, PDFs, documents, mails, pictures, recordings"
)


def draw(chat: Chat | None) -> None:
    """Above the composer: the files that come to this chat, and how all others are."""
    told = _draw(chat.id if chat else "", chat.id if chat else "new", t("Drop to add to this chat"))
    if begun := getattr(told, "chat", None):
        st.query_params["chat"] = str(begun)
        redraw()


def draw_files() -> None:
    """On Files: a place to choose them, and all that are on their way."""
    draw_zone()
    told = _draw(FILES, "", t("Drop to add to your files"))
    if job_id := getattr(told, "ask", None):
        _ask_about(str(job_id))


def draw_zone() -> None:
    """A place that takes files and says so. The list itself stands elsewhere on the page."""
    _chooser()(key="upload-zone", data={"form": "zone", "label": t(ZONE), **spoken(CHOOSER)})


def draw_buttons() -> None:
    """In the composer's menu: choose files, choose a folder."""
    _chooser()(key="upload-buttons", data={"form": "buttons", "label": "", **spoken(CHOOSER)})


def _draw(here: str, chat: str, drop: str) -> Any:
    data = {
        "here": here,
        "chat": chat,
        "drop": drop,
        "key": _key().words,
        "path": state.upload_path(),
        "most": leaf().settings.max_upload_bytes,
        "jobs": under_way(session()),
        **spoken(SCRIPT),
    }
    with st.container(key="uploads"):
        return _list()(
            key="leaf-uploads", data=data, **{f"on_{name}_change": _nothing for name in EVENTS}
        )


def _key() -> UploadKey:
    """This tab's, for its workspace."""
    workspace_id = session().scope.workspace_id
    known: tuple[str, UploadKey] | None = st.session_state.get(KEY)
    if known is None or known[0] != workspace_id or not state.upload_keys().renew(known[1]):
        key = state.upload_keys().make(state.account(), state.later(lambda own: own))
        st.session_state[KEY] = known = (workspace_id, key)
    known[1].language = current()
    known[1].model = str(st.session_state.get("new-chat-model") or "")
    return known[1]


def _ask_about(job_id: str) -> None:
    """A new chat with what a job has added."""
    file_ids = [item.file_id for item in session().jobs.outcomes(job_id) if item.file_id]
    chat = session().chats.create()
    session().attached.add(chat.id, list(dict.fromkeys(file_ids)))
    session().jobs.forget(job_id)
    preview.close()
    st.switch_page(CHAT_PAGE, query_params={"chat": chat.id})


def _nothing() -> None:
    """An event runs the script, which then looks by itself."""


@cache
def _list() -> Any:
    return st.components.v2.component(
        "leaf_uploads",
        html=(
            '<div class="leaf-uploads"><div class="leaf-uploads-said"></div>'
            '<div class="leaf-uploads-jobs"></div>'
            '<div class="leaf-uploads-hint" hidden></div>'
            '<div class="leaf-uploads-heard" role="status"></div>'
            '<input type="file" multiple hidden data-adds="files">'
            '<input type="file" webkitdirectory hidden '
            'data-adds="folder"></div>'
        ),
        css=(ASSETS / "uploads.css").read_text(),
        js=PRELUDE + SCRIPT,
        isolate_styles=False,
    )


@cache
def _chooser() -> Any:
    return st.components.v2.component(
        "leaf_upload_chooser",
        html='<div class="leaf-chooser"></div>',
        js=PRELUDE + CHOOSER,
        isolate_styles=False,
    )
