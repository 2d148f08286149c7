"""Files on their way from Drive into the library. A thread brings them: a page may be drawn anew or left meanwhile."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import streamlit as st

from leaf.drive.model import DriveAdded, DriveItem, DriveProgress
from leaf.errors import FAULT, LeafError
from leaf.service import Leaf
from leaf.store.model import Scope
from leaf.ui import markdown, preview, words
from leaf.ui.controls import icon_button
from leaf.ui.state import current_scope, leaf

CHAT_PAGE = Path(__file__).resolve().parents[2] / "pages" / "chat.py"
NEW_CHAT = "new"
"""Target of files that are to be asked about in a chat that is begun for them."""
DRIVE = "drive"
PERIOD = 0.5
SKIPPED_SHOWN = 100


@dataclass
class Adding:
    """One batch. Written by its thread, read by the page."""

    items: Sequence[DriveItem]
    target: str
    """A chat's id, `NEW_CHAT`, or nothing for the library alone."""
    origin: str
    """Where it was begun: `DRIVE`, a chat's id, or nothing for a chat that is not begun yet."""
    stop: threading.Event = field(default_factory=threading.Event)
    progress: DriveProgress | None = None
    added: DriveAdded | None = None
    chat_id: str = ""
    """The chat with which the files went."""
    folders: int = 0
    """Folders attached to that chat."""
    problem: str = ""
    done: bool = False

    def run(self, app: Leaf, scope: Scope) -> None:
        """Carry it out. Whatever happens is kept for the page to say."""
        try:
            self._bring(app, scope)
        except LeafError as e:
            self.problem = "" if self.stop.is_set() else str(e)
        except Exception:
            logging.getLogger("leaf").exception("adding from Drive failed")
            self.problem = FAULT
        finally:
            self.done = True

    def _bring(self, app: Leaf, scope: Scope) -> None:
        """A chat takes folders as they are, listed when needed; the library takes what is in them."""
        lazy = [item for item in self.items if item.is_folder and self.target]
        refs = [item.ref for item in self.items if item not in lazy]
        if refs:
            self.added = app.drive_add(scope, refs, on_progress=self._report, stop=self.stop)
        file_ids = [file.id for file in self.added.files] if self.added else []
        if not self.target or self.stop.is_set() or not (file_ids or lazy):
            return
        self.chat_id = app.new_chat(scope).id if self.target == NEW_CHAT else self.target
        app.attach(scope, self.chat_id, file_ids)
        for folder in lazy:
            app.attach_drive_folder(scope, self.chat_id, folder.ref)
            self.folders += 1

    def _report(self, progress: DriveProgress) -> None:
        self.progress = progress


def current() -> Adding | None:
    """The batch that this browser began last and has not dismissed."""
    adding: Adding | None = st.session_state.get("adding")
    return adding


def running() -> bool:
    adding = current()
    return adding is not None and not adding.done


def start(scope: Scope, items: Sequence[DriveItem], target: str = "", origin: str = DRIVE) -> None:
    """Begin, and draw the page with its progress."""
    adding = Adding(list(items), target, origin)
    st.session_state["adding"] = adding
    threading.Thread(target=adding.run, args=(leaf(), scope), name="adding", daemon=True).start()
    st.rerun()


def draw(here: str = DRIVE) -> None:
    """Progress while it lasts, then what became of it. `here` is as in `Adding.origin`."""
    adding = current()
    if adding is None:
        return
    if not adding.done:
        _draw_progress()
    else:
        _draw_outcome(adding, here)


@st.fragment(run_every=PERIOD)
def _draw_progress() -> None:
    adding = current()
    if adding is None or adding.done:
        st.session_state.pop("drive-listing", None)
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center", key="adding"):
        progress = adding.progress
        share = min(progress.done / progress.total, 1.0) if progress and progress.total else 0.0
        st.progress(share, text=_progress_text(adding))
        if st.button("Stop", key="adding-stop", icon=":material/stop_circle:", disabled=adding.stop.is_set()):
            adding.stop.set()
            st.rerun(scope="fragment")


def _progress_text(adding: Adding) -> str:
    progress = adding.progress
    if adding.stop.is_set():
        return "Stopping …"
    if progress is None:
        return "Looking what there is …"
    size = f" · {words.size(progress.bytes)}" if progress.bytes else ""
    return f"{min(progress.done + 1, progress.total):,} of {progress.total:,} · {markdown.label(progress.name, 50)}{size}"


def _draw_outcome(adding: Adding, here: str) -> None:
    """What came, what did not and why. Where all went well with a chat, the chat itself says it.

    Only the page on which it was begun goes to the chat by itself: somebody who went elsewhere is not called away.
    """
    well = bool(adding.chat_id) and not _troubled(adding)
    if well and adding.chat_id == here:
        del st.session_state["adding"]
        return
    if well and adding.origin == here:
        _open_chat(adding.chat_id)
    with st.container(border=True, key="added"):
        with st.container(horizontal=True, vertical_alignment="center", wrap=False):
            st.markdown(outcome_text(adding), width="stretch")
            _draw_next(adding, here)
            if icon_button("Close this message", "added-close", "close"):
                del st.session_state["adding"]
                st.rerun()
        if adding.problem:
            st.warning(markdown.paragraph(adding.problem), icon=":material/warning:")
        if adding.added:
            _draw_skipped(adding.added)


def outcome_text(adding: Adding) -> str:
    """`12 files are in your library. 3 were skipped.`"""
    added = adding.added
    if adding.stop.is_set() and added is None:
        return "Stopped. What had come by then is in your library."
    pieces = ["Stopped."] if adding.stop.is_set() else []
    if added and added.files:
        verb = "is" if len(added.files) == 1 else "are"
        pieces.append(f"**{words.count(len(added.files), 'file')}** {verb} in your library.")
    elif not adding.problem and not adding.folders:
        pieces.append("No file was added.")
    if adding.folders:
        verb = "goes" if adding.folders == 1 else "go"
        pieces.append(f"{words.count(adding.folders, 'folder')} {verb} with the chat.")
    if added and added.skipped:
        verb = "was" if len(added.skipped) == 1 else "were"
        pieces.append(f"{words.count(len(added.skipped), 'file')} {verb} skipped.")
    return " ".join(pieces) or "Nothing was added."


def _troubled(adding: Adding) -> bool:
    added = adding.added
    return bool(adding.problem or adding.stop.is_set() or (added and (added.skipped or added.incomplete)))


def _draw_next(adding: Adding, here: str) -> None:
    """From the files to a question."""
    if adding.chat_id:
        if adding.chat_id != here and st.button("Open the chat", key="added-chat", icon=":material/chat:", type="primary"):
            _open_chat(adding.chat_id)
    elif adding.added and adding.added.files and st.button("Ask about them", key="added-ask", icon=":material/chat:"):
        scope = current_scope()
        chat = leaf().new_chat(scope)
        leaf().attach(scope, chat.id, [file.id for file in adding.added.files])
        _open_chat(chat.id)


def _open_chat(chat_id: str) -> None:
    st.session_state.pop("adding", None)
    preview.close()
    st.switch_page(CHAT_PAGE, query_params={"chat": chat_id})


def _draw_skipped(added: DriveAdded) -> None:
    """Reasons with their counts, most frequent first, and every name behind a click."""
    if added.incomplete:
        st.warning(markdown.paragraph(added.incomplete), icon=":material/warning:")
    if not added.skipped:
        return
    reasons = Counter(skipped.why for skipped in added.skipped)
    with st.expander(f"What was skipped, and why ({len(added.skipped):,})", type="compact", key="added-skipped"):
        for why, count in reasons.most_common():
            names = [skipped.name for skipped in added.skipped if skipped.why == why]
            listed = ", ".join(markdown.label(name, 60) for name in names[:SKIPPED_SHOWN])
            more = f" and {count - SKIPPED_SHOWN:,} more" if count > SKIPPED_SHOWN else ""
            st.markdown(f"{markdown.paragraph(why)}  \n:small[{listed}{more}]")
