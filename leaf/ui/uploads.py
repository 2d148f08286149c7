"""Taking in what a browser sent with a question: progress while it lasts, and one sentence for each
file that did not work. What comes beside a question is `upload_list`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from leaf.errors import InvalidInputError, NotFoundError
from leaf.files.line import problem
from leaf.language import problems
from leaf.language.text import t
from leaf.readers.base import holds_files
from leaf.store.jobs import Job
from leaf.store.model import File
from leaf.ui import adding, markdown, words
from leaf.ui.state import session

LOOK = 0.25


@dataclass
class UploadOutcome:
    """What became of a batch of uploads."""

    files: list[File] = field(default_factory=list)
    """All that are now in the library, those that were there before included."""
    duplicates: list[File] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """One sentence a file that was not kept."""
    came_out: list[str] = field(default_factory=list)
    """One sentence an archive or a mail with files in it."""


def check_all_there(chat_id: str) -> None:
    """Before a question goes out, however it was asked. Raises InvalidInputError while a file that
    was given to it comes or has failed."""
    missing = session().jobs.missing(chat_id)
    failed = [item.name for item in missing if item.state == "failed"]
    if failed:
        raise InvalidInputError(
            t("Not sent: {shown} could not be added.", shown=_named(failed)),
            t("Try again or remove it above, then send the question, which stands below."),
        )
    if missing:
        raise InvalidInputError(
            t(
                "Not sent yet: {shown} is not here yet.",
                shown=_named([one.name for one in missing]),
            ),
            t("Send the question, which stands below, once it is there, or remove it above."),
        )


def _named(names: Sequence[str]) -> str:
    """The first three, and how many there are besides."""
    return ", ".join(names[:3]) + (t(" and {n} more", n=len(names) - 3) if len(names) > 3 else "")


def take_in(uploads: Sequence[Any], origin: str = "") -> UploadOutcome:
    """Add uploaded files to the library under a progress bar, and wait for them: they belong to a
    question that was submitted.

    One bad file does not keep the others out. Whoever leaves the page meanwhile finds the files in
    the library.
    """
    job = adding.begin(uploads, origin=origin)
    bar = st.progress(0.0, text=t("Reading …"))
    while not (job := session().jobs.wait(job.id, LOOK)).entered:
        name = f" · {markdown.label(uploads[0].name, 60)}" if len(uploads) == 1 else ""
        bar.progress(job.share, text=adding.progress_text(job) + name)
    bar.empty()
    outcome = _outcome(job)
    outcome.problems += _missing([upload.name for upload in uploads], job)
    session().jobs.forget(job.id)  # one that still reads large tables ahead stays until it is over
    return outcome


def _missing(names: Sequence[str], job: Job) -> list[str]:
    """A sentence for the files of which nothing became, as when adding was stopped; none where the
    job says itself what went wrong."""
    done = Counter(item.name for item in session().jobs.outcomes(job.id))
    left = list((Counter(names) - done).elements())
    if job.problem or not left:
        return []
    sentence = t(
        "{shown}: not added, since adding was stopped. Attach it again.", shown=_named(left)
    )
    return [sentence]


def _outcome(job: Job) -> UploadOutcome:
    outcome = UploadOutcome()
    for item in session().jobs.outcomes(job.id):
        if item.state == "failed":
            outcome.problems.append(f"{item.name}: {problems.said(item.problem)}")
            continue
        try:
            file = session().files.get(item.file_id)
        except NotFoundError:
            outcome.problems.append(
                t("{name}: deleted meanwhile. Attach it again.", name=item.name)
            )
            continue
        outcome.files.append(file)
        if holds_files(file.kind, file.outline):
            outcome.came_out += words.came_out(file, session().files.inside(file.id))
        if item.state == "known":
            outcome.duplicates.append(file)
    if job.problem:
        outcome.problems.append(problems.said(job.problem))
    return outcome


def remember(outcome: UploadOutcome, where: str) -> None:
    """Keep what has to be said for the next drawing of the page, under `where`."""
    st.session_state[f"said-{where}"] = {
        "problems": lines_of(outcome),
        "duplicates": [file.name for file in outcome.duplicates],
        "came_out": outcome.came_out,
    }


def lines_of(outcome: UploadOutcome) -> list[str]:
    """What is wrong with any of them."""
    unread = [f"{f.name}: {problems.said(problem(f))}" for f in outcome.files if problem(f)]
    return [*outcome.problems, *unread]


def say(where: str) -> None:
    """What happened to the last uploads, once."""
    report = st.session_state.pop(f"said-{where}", None)
    if report is None:
        return
    for line in report["problems"]:
        st.warning(markdown.paragraph(line), icon=":material/warning:")
    for line in report["came_out"]:
        st.info(markdown.paragraph(line), icon=":material/folder_zip:")
    names = report["duplicates"]
    if names:
        listed = ", ".join(names[:3]) + (
            t(" and {n} more", n=len(names) - 3) if len(names) > 3 else ""
        )
        st.info(
            t(
                "{listed}: already in the library with the same content.",
                listed=markdown.literal(listed),
            ),
            icon=":material/content_copy:",
        )
