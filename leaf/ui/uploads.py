"""Taking in files that a browser sent: progress while it lasts, and one sentence for each file that did not work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from leaf.errors import LeafError
from leaf.files.names import split_path
from leaf.store.model import File, Scope
from leaf.ui import markdown, words
from leaf.ui.state import leaf


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


def take_in(uploads: Sequence[Any], scope: Scope) -> Outcome:
    """Add uploaded files to the library under a progress bar. One bad file does not keep the others out."""
    outcome = Outcome()
    total = sum(upload.size for upload in uploads) or 1
    done = 0
    bar = st.progress(0.0, text="Reading …")
    for number, upload in enumerate(uploads, 1):
        text = f"{number} of {len(uploads)} · {markdown.label(upload.name, 60)}"
        bar.progress(min(done / total, 1.0), text=text)

        def report(taken: int, before: int = done, text: str = text) -> None:
            bar.progress(min((before + taken) / total, 1.0), text=text)

        def tell(member: str, at: int, of: int, share: float = min((done + upload.size) / total, 1.0), text: str = text) -> None:
            bar.progress(share, text=f"{text}: {at:,} of {of:,} files in it")

        folder, name = split_path(upload.name)  # of a whole folder the browser sends the paths
        try:
            added = leaf().add_file(scope, name, upload, on_progress=report, folder=folder, on_member=tell)
        except LeafError as e:
            outcome.problems.append(f"{upload.name}: {e}")
        else:
            outcome.files.append(added.file)
            if added.duplicate:
                outcome.duplicates.append(added.file)
            outcome.came_out += words.came_out(added.file, added.inside)
        done += upload.size
    bar.empty()
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
