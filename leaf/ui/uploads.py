"""Taking in files that a browser sent: progress while it lasts, and one sentence for each file that did not work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from leaf.errors import NotFoundError
from leaf.formats.base import CONTAINERS
from leaf.store.jobs import Job
from leaf.store.model import File
from leaf.ui import adding, markdown, words
from leaf.ui.state import session

FIRST_WAIT = 2.0
"""Seconds for which a page waits for few files, so that they are there when it is drawn."""
FEW = 20
LOOK = 0.25


@dataclass
class Outcome:
    """What became of a batch of uploads."""

    files: list[File] = field(default_factory=list)
    """All that are now in the library, those that were there before included."""
    duplicates: list[File] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """One sentence a file that was not kept."""
    came_out: list[str] = field(default_factory=list)
    """One sentence an archive or a mail with files in it."""


def take_in(uploads: Sequence[Any], origin: str = "") -> Outcome:
    """Add uploaded files to the library under a progress bar, and wait for them: they belong to a question that was submitted.

    One bad file does not keep the others out. Whoever leaves the page meanwhile finds the files in the library.
    """
    job = adding.begin(uploads, origin=origin)
    bar = st.progress(0.0, text="Reading …")
    while not (job := session().jobs.wait(job.id, LOOK)).entered:
        name = f" · {markdown.label(uploads[0].name, 60)}" if len(uploads) == 1 else ""
        bar.progress(job.share, text=adding.progress_text(job) + name)
    bar.empty()
    outcome = _outcome(job)
    session().jobs.forget(job.id)  # one that still reads large tables ahead stays until it is over
    return outcome


def begin(uploads: Sequence[Any], where: str, *, target: str = "") -> Outcome | None:
    """Begin to add uploaded files, and wait a moment for few of them; None where they go on in the background.

    What has to be said of those that came at once is remembered under `where`; of the others `adding.draw` says it.
    """
    job = adding.begin(uploads, target=target, origin=where)
    if len(uploads) <= FEW:
        with st.spinner("Reading"):
            job = session().jobs.wait(job.id, FIRST_WAIT)
    if job.under_way or len(uploads) > FEW:
        return None
    outcome = _outcome(job)
    session().jobs.forget(job.id)
    remember(outcome, where)
    return outcome


def _outcome(job: Job) -> Outcome:
    outcome = Outcome()
    for item in session().jobs.outcomes(job.id):
        if item.state == "failed":
            outcome.problems.append(f"{item.name}: {item.problem}")
            continue
        try:
            file = session().files.get(item.file_id)
        except NotFoundError:
            continue  # deleted in another tab meanwhile
        outcome.files.append(file)
        if file.kind in CONTAINERS:
            outcome.came_out += words.came_out(file, session().files.inside(file.id))
        if item.state == "known":
            outcome.duplicates.append(file)
    if job.problem:
        outcome.problems.append(job.problem)
    return outcome


def remember(outcome: Outcome, where: str) -> None:
    """Keep what has to be said for the next drawing of the page, under `where`."""
    lines = list(outcome.problems)
    lines += [f"{file.name}: {words.problem(file)}" for file in outcome.files if words.problem(file)]
    st.session_state[f"said-{where}"] = {
        "problems": lines,
        "duplicates": [file.name for file in outcome.duplicates],
        "came_out": outcome.came_out,
    }


def say(where: str) -> None:
    """What happened to the last uploads, once."""
    said = st.session_state.pop(f"said-{where}", None)
    if said is None:
        return
    for line in said["problems"]:
        st.warning(markdown.paragraph(line), icon=":material/warning:")
    for line in said["came_out"]:
        st.info(markdown.paragraph(line), icon=":material/folder_zip:")
    names = said["duplicates"]
    if names:
        listed = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        st.info(f"{markdown.literal(listed)}: already in the library with the same content.", icon=":material/content_copy:")
