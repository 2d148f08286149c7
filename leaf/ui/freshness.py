"""What changed in Drive under the chat that is shown. Google is asked in a thread of its own, so
that no drawing waits for it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from leaf.drive.model import DriveChange
from leaf.errors import FAULT, LeafError
from leaf.language import problems
from leaf.language.text import mark, t
from leaf.sessions.session import Session
from leaf.ui import clock, markdown, words
from leaf.ui.state import session, waker
from leaf.ui.wake import session_id

ASK_EVERY = 150.0
"""Seconds between two questions to Google while the chat is open."""
NAMED = 4
WHAT = {
    "changed": mark("has changed"),
    "added": mark("is new"),
    # Google does not tell the one from the other, and another account may be connected since.
    "removed": mark("is gone or no longer shared"),
}


@dataclass
class ChatFreshness:
    """What is known about one chat. Written by its thread, read by the page."""

    chat_id: str
    changes: tuple[DriveChange, ...] = ()
    problem: str = ""
    asked_at: float = float("-inf")

    def ask(self, own: Session, tell: Callable[[], None]) -> None:
        """`tell` is called when something else is known than before."""
        before = (self.changes, self.problem)
        self._ask(own)
        if (self.changes, self.problem) != before:
            tell()

    def _ask(self, own: Session) -> None:
        try:
            self.changes, self.problem = tuple(own.drive.changes(self.chat_id)), ""
        except LeafError as e:
            self.problem = str(e)
        except Exception:
            logging.getLogger("leaf").exception("asking Drive for changes failed")
            self.problem = FAULT


def known(chat_id: str) -> tuple[DriveChange, ...]:
    """Changes found so far."""
    look: ChatFreshness | None = st.session_state.get("drive-look")
    return look.changes if look and look.chat_id == chat_id else ()


def watch(chat_id: str) -> None:
    """While a chat is open that rests on Drive: ask now and every few minutes, and draw the page
    anew when something changed."""
    look = st.session_state.get("drive-look")
    if look is None or look.chat_id != chat_id:
        st.session_state["drive-look"] = look = ChatFreshness(chat_id)
    _look()


@st.fragment(run_every=ASK_EVERY)
def _look() -> None:
    look: ChatFreshness | None = st.session_state.get("drive-look")
    if look is not None and time.monotonic() - look.asked_at > ASK_EVERY / 2:
        look.asked_at = time.monotonic()
        tell = partial(waker().ring, session_id())
        threading.Thread(
            target=look.ask, args=(session(), tell), name="freshness", daemon=True
        ).start()


def draw_line(chat_id: str) -> None:
    """`Meanwhile in Drive: sales.xlsx has changed, notes.md is new in Reports.`, above the
    composer."""
    look: ChatFreshness | None = st.session_state.get("drive-look")
    if look is None or look.chat_id != chat_id:
        return
    if look.problem:
        st.caption(
            t(
                ":orange[:material/cloud_off: Drive could not be asked for changes. {problem}]",
                problem=markdown.label(problems.said(look.problem), 200),
            )
        )
    elif look.changes:
        st.caption(f":orange[:material/update: {markdown.label(summary(look.changes), 300)}]")


def summary(changes: Sequence[DriveChange]) -> str:
    """What is different, newest first."""
    newest = sorted(changes, key=lambda change: change.at, reverse=True)
    pieces = []
    for change in newest[:NAMED]:
        inside = t(" in {folder}", folder=words.cut(change.folder, 40)) if change.folder else ""
        pieces.append(f"{words.cut(change.name, 40)} {t(WHAT[change.what])}{inside}")
    more = t(" and {n} more", n=len(newest) - NAMED) if len(newest) > NAMED else ""
    return t("Meanwhile in Drive: {changes}{more}.", changes=", ".join(pieces), more=more)


def since(chat_id: str, file_ids: Sequence[str]) -> list[tuple[str, str]]:
    """Which sources of an answer are not any more what they were, each in few words and in a
    sentence."""
    used = frozenset(file_ids)
    today = clock.today()
    changes = []
    for change in known(chat_id):
        if used.isdisjoint(change.file_ids):
            continue
        name, at = words.cut(change.name, 60), words.when(change.at, today)
        if change.what == "removed":
            text = t(
                "{name} is gone from Drive, or not shared with the connected account any more "
                "({at}). This answer rests on the copy in your library.",
                name=name,
                at=at,
            )
        else:
            text = t(
                "{name} changed in Drive ({at}). This answer rests on the version before.",
                name=name,
                at=at,
            )
        headline = (
            mark("{name} is gone from Drive or no longer shared")
            if change.what == "removed"
            else mark("{name} was changed in Drive")
        )
        changes.append((t(headline, name=words.cut(change.name, 40)), text))
    return changes
