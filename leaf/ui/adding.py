"""Files on their way into the library, from a browser or from Drive: how far they are, and what
became of them.

A job of Leaf's own brings them: a page may be drawn anew, left or closed meanwhile, and Leaf
started again.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import streamlit as st

from leaf.drive.model import DriveItem
from leaf.errors import LeafError, RunError
from leaf.language.problems import said, told
from leaf.language.text import in_digits, n_, t
from leaf.sessions.session import Session
from leaf.store.jobs import Job, JobItem, progress_line
from leaf.ui import markdown, preview
from leaf.ui.controls import icon_button
from leaf.ui.dialogs import page_is_free
from leaf.ui.receiving import Upload, received
from leaf.ui.redraw import redraw
from leaf.ui.state import session

CHAT_PAGE = Path(__file__).resolve().parents[1] / "pages" / "chat.py"
NEW_CHAT = "new"
"""Target of files that are to be asked about in a chat that is begun for them."""
DRIVE, FILES = "drive", "files"
"""Pages on which adding is begun; a chat is named by its id, one that is not begun yet by
nothing."""
PERIOD = 1.0
"""Seconds between two looks at a job, counted by the browser, while one is under way."""
NAMES_SHOWN = 100
MANY = 20
"""From here on it is said that files have come; of fewer the list of files says it."""


def running() -> bool:
    """Whether something of this user's is on its way from Drive."""
    return any(job.under_way and job.kind == "drive" for job in session().jobs.list())


def start(items: Sequence[DriveItem], target: str = "", origin: str = DRIVE) -> None:
    """Begin to bring items of Drive in, and draw the page with its progress.

    A chat takes folders as they are, listed when needed; the library takes what is in them.
    """
    lazy = [item.ref for item in items if item.is_folder and target]
    refs = [item.ref for item in items if not (item.is_folder and target)]
    try:
        session().jobs.begin_drive(refs, folders=lazy, target=target, origin=origin)
    except LeafError as e:
        st.session_state["adding-problem"] = told(e)
    redraw()


def begin(uploads: Sequence[Any], target: str = "", origin: str = FILES) -> Job:
    """Begin to take in what a browser has sent. A thread hands the bytes over, so that no page
    waits for them."""
    own = session()
    job = own.jobs.begin(len(uploads), target=target, origin=origin)
    threading.Thread(
        target=_hand_over, args=(own, job.id, received(uploads)), name="handing-over", daemon=True
    ).start()
    return job


def _hand_over(own: Session, job_id: str, uploads: list[Upload]) -> None:
    problem = ""
    try:
        own.jobs.take(job_id, _opened(uploads))
    except RunError:
        return  # it was stopped
    except LeafError as e:
        problem = str(e)
    own.jobs.all_arrived(job_id, problem)


def _opened(uploads: list[Upload]) -> Iterator[tuple[str, BinaryIO]]:
    """One after the other, since a folder has more files than a process may hold open."""
    while uploads:
        upload = uploads.pop(0)
        with upload.opened() as stream:
            yield upload.name, stream


def draw(here: str = DRIVE) -> None:
    """Progress while it lasts, then what became of it. `here` is where the page is, as `origin` of
    `start`."""
    if problem := st.session_state.pop("adding-problem", ""):
        st.warning(markdown.paragraph(problem), icon=":material/warning:")
    jobs = [job for job in session().jobs.list() if _drawn_here(job)]
    for job in jobs:
        if not job.under_way and _belongs(job, here):
            _draw_outcome(job, here)
    if any(job.under_way for job in jobs):
        _draw_progress([job.id for job in jobs if job.under_way])


def _drawn_here(job: Job) -> bool:
    """A recording says itself how far its transcript is, and `upload_list` draws what pages send."""
    return job.kind != "transcript" and not job.announced


@st.fragment(run_every=PERIOD)
def _draw_progress(known: Sequence[str]) -> None:
    """Every job that is under way, a line each. When one ends or another begins, the page is drawn
    anew."""
    under_way = [job for job in session().jobs.list() if job.under_way and _drawn_here(job)]
    if [job.id for job in under_way] != list(known) and page_is_free():
        redraw()
    for number, job in enumerate(under_way):
        with st.container(horizontal=True, vertical_alignment="center", key=f"adding-{number}"):
            st.progress(job.share, text=progress_text(job))
            if st.button(t("Stop"), key=f"adding-stop-{job.id}", icon=":material/stop_circle:"):
                session().jobs.stop(job.id)
                redraw()


def progress_text(job: Job) -> str:
    """`Adding 412 of 1,400 files, 29 %; 3 failed`."""
    if not job.total:
        return t("Looking what there is …")
    return (
        markdown.label(job.note, 160)
        if job.entered and job.note
        else t("Adding {progress}", progress=progress_line(job))
    )


def _belongs(job: Job, here: str) -> bool:
    """Whether a page says how a job ended: the one where it was begun, the chat that got the files,
    and Files for all."""
    return here == FILES or here in (
        job.asked.get("origin"),
        job.asked.get("target"),
        job.outcome.get("chat"),
    )


def _draw_outcome(job: Job, here: str) -> None:
    """What came, what did not and why. Where all went well with a chat, the chat itself says it; of
    few files, their list.

    Only the page on which it was begun goes to the chat by itself: somebody who went elsewhere is
    not called away.
    """
    origin, chat_id = str(job.asked.get("origin", "")), str(job.outcome.get("chat", ""))
    well = not _troubled(job)
    if well and (chat_id == here if chat_id else job.total < MANY and job.kind == "files"):
        session().jobs.forget(job.id)
        return
    if well and chat_id and origin == here:
        _open_chat(job)
    items = session().jobs.outcomes(job.id)
    with st.container(border=True, key=f"added-{job.id}"):
        with st.container(horizontal=True, vertical_alignment="center", wrap=False):
            st.markdown(outcome_text(job, items), width="stretch")
            _draw_next(job, items, here)
            if icon_button(t("Close this message"), f"added-close-{job.id}", "close"):
                session().jobs.forget(job.id)
                redraw()
        for problem in filter(None, (job.problem, str(job.outcome.get("incomplete", "")))):
            st.warning(markdown.paragraph(said(problem)), icon=":material/warning:")
        _draw_failed(job, items)


def outcome_text(job: Job, items: Sequence[JobItem]) -> str:
    """`**12 files** are in your library. 3 were skipped.`"""
    there = len({item.file_id for item in items if item.file_id})
    folders = len(job.asked.get("folders", ())) if job.state == "done" else 0
    pieces = [t("Stopped.")] if job.state == "stopped" else []
    if there:
        pieces.append(
            n_("**{n} file** is in your library.", "**{n} files** are in your library.", there)
        )
    elif not job.problem and not folders:
        pieces.append(t("No file was added."))
    if folders:
        pieces.append(
            n_("{n} folder goes with the chat.", "{n} folders go with the chat.", folders)
        )
    unreadable = sum(item.state == "unreadable" for item in items)
    if unreadable:
        pieces.append(t("{unreadable} of them cannot be read.", unreadable=in_digits(unreadable)))
    skipped = sum(item.state == "failed" for item in items)
    if skipped:
        pieces.append(n_("{n} file was skipped.", "{n} files were skipped.", skipped))
    known = sum(item.state == "known" for item in items)
    if known:
        pieces.append(n_("{n} was there already.", "{n} were there already.", known))
    left = job.total - job.done
    if left > 0 and job.state in ("stopped", "failed"):
        pieces.append(n_("{n} is left.", "{n} are left.", left))
    return " ".join(pieces) or t("Nothing was added.")


def _troubled(job: Job) -> bool:
    return job.state != "done" or bool(job.problem or job.failed or job.outcome.get("incomplete"))


def _draw_next(job: Job, items: Sequence[JobItem], here: str) -> None:
    """On with what is left, or from the files to a question."""
    chat_id = str(job.outcome.get("chat", ""))
    beside = job.problem and job.asked.get("target")  # all are here, and not beside the question
    if job.state in ("stopped", "failed") and (job.done < job.total or not job.total or beside):
        if st.button(t("Go on"), key=f"added-go-on-{job.id}", icon=":material/resume:"):
            session().jobs.go_on(job.id)
            redraw()
    elif chat_id and chat_id != here:
        if st.button(
            t("Open the chat"), key=f"added-chat-{job.id}", icon=":material/chat:", type="primary"
        ):
            _open_chat(job)
    elif not chat_id and any(item.file_id for item in items):
        _draw_ask(job, items)


def _draw_ask(job: Job, items: Sequence[JobItem]) -> None:
    if not st.button(t("Ask about them"), key=f"added-ask-{job.id}", icon=":material/chat:"):
        return
    chat = session().chats.create()
    session().attached.add(
        chat.id, list(dict.fromkeys(item.file_id for item in items if item.file_id))
    )
    session().jobs.forget(job.id)
    preview.close()
    st.switch_page(CHAT_PAGE, query_params={"chat": chat.id})


def _open_chat(job: Job) -> None:
    session().jobs.forget(job.id)
    preview.close()
    st.switch_page(CHAT_PAGE, query_params={"chat": str(job.outcome["chat"])})


def _draw_failed(job: Job, items: Sequence[JobItem]) -> None:
    """Reasons with their counts, most frequent first, and every name behind a click."""
    failed = [item for item in items if item.state in ("unreadable", "failed")]
    if not failed:
        return
    reasons = Counter(_reason(item) for item in failed)
    label = t("What was not added or cannot be read, and why ({n})", n=in_digits(len(failed)))
    with st.expander(label, type="compact", key=f"added-failed-{job.id}"):
        for why, count in reasons.most_common():
            names = [item.name for item in failed if _reason(item) == why]
            listed = ", ".join(markdown.label(name, 60) for name in names[:NAMES_SHOWN])
            more = (
                t(" and {count} more", count=in_digits(count - NAMES_SHOWN))
                if count > NAMES_SHOWN
                else ""
            )
            st.markdown(f"{markdown.paragraph(why)}  \n:small[{listed}{more}]")


def _reason(item: JobItem) -> str:
    """The problem without the name, which would make every reason another."""
    text = item.problem.replace(item.name, "…", 1) if item.name else item.problem
    if (known := said(text)) != text:
        return known.removeprefix("…: ")
    for named in (f"'{item.name}'", f"{item.name}:", item.name):
        if item.problem.startswith(named):
            rest = item.problem.removeprefix(named).strip()
            return f"It {rest}" if rest[:1].islower() else rest
    return item.problem
