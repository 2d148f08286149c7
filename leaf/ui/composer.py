"""Where a question is written: the waiting files, the text, and beside it what to attach and which
model answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from leaf.drive.model import DriveFolder
from leaf.errors import LeafError
from leaf.files.line import problem
from leaf.files.names import shortened
from leaf.language.problems import said, told
from leaf.language.text import t
from leaf.store.model import Chat, ChatFile
from leaf.ui import (
    about,
    adding,
    asking,
    audio,
    browser,
    budget,
    connection,
    freshness,
    markdown,
    palette_button,
    pictures,
    projects,
    prompts,
    thread,
    upload_list,
    uploads,
    words,
)
from leaf.ui.controls import icon_button
from leaf.ui.draw import draw_folder
from leaf.ui.preview import show as show_preview
from leaf.ui.redraw import CARRIED_OUT, redraw
from leaf.ui.state import session

LIBRARY_SHOWN = 200
"""Files of the library that can be chosen from the menu; the Files page reaches all."""


def carry_out(chat_id: str) -> bool:
    """Ask what was submitted, before anything is drawn: this drawing shows it then, in the thread,
    beside the composer and in the sidebar, and none has to follow. True if something was asked, or
    given back.

    What comes with a recording takes a while and is left to `draw`, which shows how far it is; so
    is a chat that cannot be opened, of which the page says why.
    """
    submitted = st.session_state.get("composer")
    st.session_state[CARRIED_OUT] = frozenset()
    if submitted is None or isinstance(submitted, str) or not _only_words(submitted):
        return False
    try:
        chat = session().chats.get(chat_id) if chat_id else None
    except LeafError:
        return False
    st.session_state[CARRIED_OUT] = frozenset({"composer"})
    _ask(chat, submitted.text.strip())
    return True


def draw(chat: Chat | None, running_id: str) -> None:
    """The composer at the bottom of the page. What is submitted and was not carried out is, before
    the page is drawn."""
    with st.bottom:
        progress = st.container()
        with progress:
            uploads.say("composer")
            _say_problem()
            budget.say_standing()
            _give_back_withdrawn()
            adding.draw(chat.id if chat else "")
            upload_list.draw(chat)
        there = session().attached.list(chat.id) if chat else []
        folders = session().drive.folders(chat.id) if chat else []
        waiting = [item for item in there if not item.message_id]
        if chat and (folders or any(item.file.source == "drive" for item in there)):
            _draw_drive(chat, folders)
        if chat and (waiting or any(not folder.message_id for folder in folders)):
            _draw_waiting(waiting, [folder for folder in folders if not folder.message_id], chat)
    if "given-back" in st.session_state:
        st.session_state["composer"] = st.session_state.pop("given-back")
    # Inside `st.bottom`, where it would go by itself: where it does, Streamlit makes the browser
    # follow the end, and whoever scrolls while it glides is pulled back.
    with st.bottom:
        submitted = st.chat_input(
            t("Ask about your files") if not running_id else t("Write the next question"),
            key="composer",
            accept_audio=True,
        )
        with st.container(
            horizontal=True, vertical_alignment="center", gap="small", key="composer-tools"
        ):
            _draw_attach(chat, waiting)
            palette_button.button(
                t("Prompts"), "bookmarks", "open-prompts", palette_button.PROMPTS_ONLY
            )
            _draw_models(chat)
            if chat:
                projects.draw_of(chat)
            if running_id:
                _draw_stop(running_id)
        browser.focus_composer(f"focus-{chat.id if chat else 'new'}")
        prompts.draw_inserted()
    if submitted and not st.session_state.get(CARRIED_OUT):
        with progress:
            _submit(chat, submitted.text, submitted.audio)


def _only_words(submitted: Any) -> bool:
    return bool(submitted.text.strip()) and submitted.audio is None


def ask(chat: Chat | None, text: str, file_ids: Sequence[str] = ()) -> None:
    """Send a question and draw its chat. What cannot be sent is said, and the text given back."""
    _ask(chat, text, file_ids)
    redraw()


def _ask(chat: Chat | None, text: str, file_ids: Sequence[str] = ()) -> None:
    try:
        chat = chat or session().chats.create(st.session_state.get("new-chat-model") or "")
        asking.send(chat.id, text, file_ids, thread.seen(chat.id))
    except LeafError as e:
        asking.give_back(e, text)
    if chat is not None and st.query_params.get("chat") != chat.id:
        st.query_params["chat"] = chat.id


def attach(chat: Chat | None, file_ids: Sequence[str]) -> None:
    """Put files beside the next question, in a new chat where there is none, and draw that chat."""
    chat = chat or session().chats.create(st.session_state.get("new-chat-model") or "")
    session().attached.add(chat.id, file_ids)
    st.query_params["chat"] = chat.id
    redraw()


def _submit(chat: Chat | None, text: str, recording: Any = None) -> None:
    """The recording first. If it fails, nothing is asked yet: the text comes back.

    A recording without words beside it is the question: it is transcribed, and asked in its words.
    """
    text = text.strip()
    outcome = uploads.UploadOutcome()
    if recording is not None:
        recording.name = audio.recording_name()
        outcome = uploads.take_in([recording])
    file_ids = [file.id for file in outcome.files]
    uploads.remember(outcome, "composer")
    if recording is not None and not text and not outcome.problems:
        text = audio.question(outcome.files[-1])
    if text and not outcome.problems and not _is_kept_back(chat):
        ask(chat, text, file_ids)
    st.session_state["given-back"] = text
    if file_ids:
        attach(chat, file_ids)
    redraw()


def _is_kept_back(chat: Chat | None) -> bool:
    """Whether files of the question are missing, which is then said: what came with it waits with
    them."""
    try:
        if chat:
            uploads.check_all_there(chat.id)
    except LeafError as e:
        st.session_state["composer-problem"] = told(e)
        return True
    return False


def _say_problem() -> None:
    problem = st.session_state.pop("composer-problem", None)
    if problem:
        st.warning(markdown.paragraph(problem), icon=":material/warning:")


def _give_back_withdrawn() -> None:
    """The text of a question that was taken back, for as long as nothing else is asked."""
    if "withdrawn" in st.session_state:
        question_id, text = st.session_state["withdrawn"]
        browser.give_back(text, question_id)


def _draw_drive(chat: Chat, folders: Sequence[DriveFolder]) -> None:
    """How Drive stands, in a chat that rests on it: quiet while all is well."""
    standing = session().drive.connection()
    if standing.state == "connected":
        freshness.draw_line(chat.id)
        freshness.watch(chat.id)
        return
    rest = (
        t("Its folders cannot be opened, what came from it is kept.")
        if folders
        else t("What came from it is kept.")
    )
    state = (
        t("does not answer this account any more")
        if standing.state == "error"
        else t("is disconnected")
    )
    connection.draw_hint(standing, t("Drive {state}. {rest}", state=state, rest=rest), "composer")


def _draw_waiting(waiting: Sequence[ChatFile], folders: Sequence[DriveFolder], chat: Chat) -> None:
    """Files and folders that will go out with the next question; a click shows one, the cross takes
    it away."""
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key="waiting"):
        there = {item.file.id for item in waiting}
        shown = [
            item for item in waiting if item.file.parent_id not in there
        ]  # an archive stands for what came out of it
        for item in shown[:8]:
            file = item.file
            with st.container(
                horizontal=True,
                gap=None,
                wrap=False,
                width="content",
                vertical_alignment="center",
                key=f"chip-{file.id}",
            ):
                title = markdown.label(shortened(file.name, 36), 36)
                if file.kind == "picture":
                    pictures.draw_thumbnail(file.id, file.name, f"small-{file.id}", (56, 30))
                if st.button(
                    title,
                    key=f"look-{file.id}",
                    icon=":material/warning:" if problem(file) else words.kind_icon(file.kind),
                    help=markdown.label(said(problem(file)), 300) or t("Open the file"),
                ):
                    show_preview(file.id)
                    redraw()
                if icon_button(
                    t("Say something about {title}", title=title), f"about-{file.id}", "edit_note"
                ):
                    about.write(file.id, file.name, chat.id)
                if icon_button(t("Leave out {title}", title=title), f"remove-{file.id}", "close"):
                    session().attached.remove(chat.id, file.id)
                    redraw()
        for folder in folders:
            with st.container(
                horizontal=True, gap=None, wrap=False, width="content", key=f"chip-{folder.ref}"
            ):
                draw_folder(folder.name, folder.ref, folder.files, f"look-{folder.ref}")
                if icon_button(
                    t("Leave out {name}", name=markdown.label(folder.name, 36)),
                    f"remove-{folder.ref}",
                    "close",
                ):
                    session().drive.detach_folder(chat.id, folder.ref)
                    redraw()
        if len(shown) > 8:
            st.caption(t("and {n} more", n=len(shown) - 8))
    for wrong in [problem(item.file) for item in waiting if problem(item.file)][:8]:
        st.caption(f":orange[:material/warning: {markdown.label(said(wrong), 300)}]")
    audio.draw_states([item.file for item in waiting])
    _draw_estimate(waiting, chat)


def _draw_estimate(waiting: Sequence[ChatFile], chat: Chat) -> None:
    """What the files would take, before anything is sent. Nothing where rules answer: they cost
    nothing."""
    if not waiting or session().models.keyless():
        return
    lines = words.attached(session().attached.estimate(chat.id))
    with st.container(gap=None, key="attached-estimate"):
        for number, line in enumerate(lines):
            icon = ":material/data_usage:" if number == 0 else ":orange[:material/warning:]"
            st.caption(f"{icon} {markdown.label(line, 300)}")


def _draw_attach(chat: Chat | None, waiting: Sequence[ChatFile]) -> None:
    """Files and folders of this computer, of the library and of Drive. The list is read only while
    the menu is open."""
    menu = st.popover(
        t("Attach"), icon=":material/attach_file:", type="tertiary", key="attach", on_change="rerun"
    )
    if not menu.open:
        return
    with menu:
        upload_list.draw_buttons()
        there = {item.file.id for item in waiting}
        files = [file for file in session().files.list()[:LIBRARY_SHOWN] if file.id not in there]
        names = {
            file.id: f"{file.name} · {words.counts(file.outline) or words.size(file.size)}"
            for file in files
        }
        chosen = st.multiselect(
            t("From your files"),
            list(names),
            format_func=lambda i: names[i],
            key="attach-chosen",
            placeholder=t("Choose files"),
        )
        if st.button(t("Attach"), key="attach-do", type="primary", disabled=not chosen):
            attach(chat, chosen)
        _draw_attach_drive(chat)


def _draw_attach_drive(chat: Chat | None) -> None:
    """A link from Drive, or the way to the Drive page and back. Nothing where Leaf has no Drive."""
    standing = session().drive.connection()
    if standing.state == "unconfigured":
        return
    st.caption(t("From Google Drive"))
    if standing.state != "connected":
        if st.button(
            t("Connect Google Drive"), key="attach-drive-connect", icon=":material/add_link:"
        ):
            st.switch_page(connection.DRIVE_PAGE)
        return
    link = st.text_input(
        t("Link"),
        key="attach-drive-link",
        placeholder=t("Paste a link to a file or folder"),
        label_visibility="collapsed",
    )
    with st.container(horizontal=True):
        if st.button(
            t("Attach the link"), key="attach-drive-do", disabled=not link or adding.running()
        ):
            _attach_link(chat, link or "")
        if st.button(
            t("Browse Drive"),
            key="attach-drive-browse",
            type="tertiary",
            icon=":material/add_to_drive:",
        ):
            st.switch_page(connection.DRIVE_PAGE, query_params={"for": chat.id} if chat else None)


def _attach_link(chat: Chat | None, link: str) -> None:
    try:
        with st.spinner(t("Asking Drive")):
            item = session().drive.item(link.strip())
    except LeafError as e:
        st.warning(markdown.paragraph(told(e)), icon=":material/warning:")
        return
    adding.start([item], chat.id if chat else adding.NEW_CHAT, chat.id if chat else "")


def _draw_models(chat: Chat | None) -> None:
    """The model for this chat. Without one connected, a quiet line says who answers."""
    models = session().models
    if models.keyless():
        st.caption(t("No model connected: simple questions only."), width="content")
        return
    chosen = models.meant((chat.model if chat else st.session_state.get("new-chat-model")) or "")
    menu = st.popover(
        markdown.label(chosen, 32),
        icon=":material/neurology:",
        type="tertiary",
        key="model",
        on_change="rerun",
        help=t("Model"),
    )
    if not menu.open:
        return
    with menu:
        names = {one.id: one.name for one in models.list()}
        names.setdefault(chosen, chosen)
        picked = st.radio(
            t("Model for this chat"),
            list(names),
            index=list(names).index(chosen),
            format_func=lambda i: markdown.label(names[i]),
        )
        if picked and picked != chosen:
            if chat:
                session().chats.set_model(chat.id, picked)
            else:
                st.session_state["new-chat-model"] = picked
            redraw()


def _draw_stop(running_id: str) -> None:
    st.space("stretch")
    st.button(
        t("Stop"),
        key=f"stop-{running_id}",
        icon=":material/stop_circle:",
        shortcut="Escape",
        help=t("End this answer; what was found so far is kept"),
        on_click=_stop,
        args=(running_id,),
    )


def _stop(message_id: str) -> None:
    session().messages.stop(message_id)
