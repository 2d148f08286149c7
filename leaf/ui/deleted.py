"""What was put away, in Settings: back again, or gone for good."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from leaf.errors import LeafError
from leaf.language.problems import told
from leaf.language.text import mark, t
from leaf.ui import markdown, words
from leaf.ui.controls import icon_button, then_redraw
from leaf.ui.dialogs import dialog
from leaf.ui.redraw import redraw
from leaf.ui.state import session
from leaf.ui.toasts import toast

SHOWN = 20
UNTITLED = mark("New chat")
LATER = mark("What is left of it in the database's file goes at the next start.")


def draw() -> None:
    """Chats and files that were deleted and can be restored."""
    chats, files = session().chats.deleted(SHOWN + 1), session().files.deleted(SHOWN + 1)
    if not chats and not files:
        st.caption(
            t(
                "Chats and files that you delete are kept in this list until they are deleted for good."
            )
        )
        return
    st.caption(t("Deleted chats and files can be restored until they are deleted for good."))
    with st.container(key="deleted", gap=None):
        for chat in chats[:SHOWN]:
            _draw(
                "chat",
                chat.id,
                chat.title or t(UNTITLED),
                "chat",
                partial(session().chats.restore, chat.id),
                partial(ask_chat, chat.id, chat.title or t(UNTITLED)),
            )
        for file in files[:SHOWN]:
            _draw(
                "file",
                file.id,
                file.name,
                "draft",
                partial(session().files.restore, file.id),
                partial(_ask_file, file.id, file.name),
            )
    if len(chats) > SHOWN or len(files) > SHOWN:
        st.caption(t("Older ones follow once these are restored or gone."))


def _draw(
    kind: str,
    key: str,
    name: str,
    icon: str,
    restore: Callable[[], object],
    purge: Callable[[], object],
) -> None:
    with st.container(
        horizontal=True, vertical_alignment="center", wrap=False, key=f"deleted-{kind}-{key}"
    ):
        st.markdown(f":material/{icon}: {markdown.label(name, 80)}", width="stretch")
        if st.button(t("Restore"), key=f"restore-{key}", type="tertiary"):
            then_redraw(restore)
        if icon_button(
            t("Delete {name} for good", name=markdown.label(name, 60)), f"purge-{key}", "delete"
        ):
            purge()


@dialog("Delete this chat for good")
def ask_chat(chat_id: str, title: str) -> None:
    """Ask once more, and say what goes and what stays."""
    st.markdown(
        t(
            "“{title}” goes with its questions and answers, its results, and the "
            "documents and pictures made in it. Files that were added to it stay in "
            "the library. This cannot be undone.",
            title=markdown.label(title, 80),
        )
    )
    if st.button(t("Delete for good"), type="primary", key="purge-chat"):
        _purge(lambda: session().chats.purge(chat_id), t("The chat"))


@dialog("Delete this file for good")
def _ask_file(file_id: str, name: str) -> None:
    inside = len(session().files.inside(file_id))
    along = (
        t(" with {files} that came out of it,", files=words.count(inside, "file")) if inside else ""
    )
    st.markdown(
        t(
            "“{name}” goes,{along} with all that was made of it. What chats answered "
            "from it stays in these chats: delete them, too, where that has to go. "
            "This cannot be undone.",
            name=markdown.label(name, 80),
            along=along,
        )
    )
    if st.button(t("Delete for good"), type="primary", key="purge-file"):
        _purge(lambda: session().files.purge(file_id), t("The file"))


def _purge(act: Callable[[], bool], what: str) -> None:
    try:
        with st.spinner(t("Deleting")):
            last_byte = act()
    except LeafError as e:
        st.warning(markdown.paragraph(told(e)))
        return
    st.session_state.pop("deleted-chat", None)
    st.session_state.pop("deleted-file", None)
    more = "" if last_byte else f" {t(LATER)}"
    toast(t("{what} is deleted for good.{more}", what=what, more=more), icon=":material/delete:")
    redraw()
