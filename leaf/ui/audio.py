"""Sound on the pages: a spoken question, how far a recording is transcribed, and the player beside
its words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import streamlit as st

from leaf.errors import LeafError
from leaf.language.problems import said, told
from leaf.language.text import t
from leaf.readers.locate.where import parse
from leaf.readers.media_types import OTHER, media_type_of
from leaf.store.model import File
from leaf.ui import clock, downloads, markdown, words
from leaf.ui.dialogs import page_is_free
from leaf.ui.redraw import redraw
from leaf.ui.state import session

if TYPE_CHECKING:
    from leaf.files.transcripts import Transcript
    from leaf.sessions.preview import Preview
    from leaf.transcription.base import Cue

PERIOD = 1.0
"""Seconds between two looks at what is being transcribed."""
CUES = 60
"""Lines of a transcript on one page."""
WORDS_HEIGHT = 460


def recording_name() -> str:
    """`Recording 2026-11-21 14.05.wav`, in the time zone of the browser."""
    return t("Recording {at}.wav", at=f"{datetime.now(clock.zone()):%Y-%m-%d %H.%M}")


def question(file: File) -> str:
    """The words of a spoken question. Where there are none, that is said, and the recording waits
    beside the next question."""
    if file.outline.get("error"):
        return ""
    place = st.empty()

    def say(text: str) -> None:
        place.caption(f":material/graphic_eq: {markdown.label(text, 200)}")

    say(t("Listening to your recording"))
    try:
        spoken = session().transcripts.text(file.id, on_progress=say)
    except LeafError as e:
        st.session_state["composer-problem"] = t(
            "Your recording is attached, but it was not turned into words. {e}", e=told(e)
        )
        return ""
    if not spoken:
        st.session_state["composer-problem"] = t(
            "No speech was found in your recording. It is attached; type your question."
        )
    return spoken


def draw_states(files: Sequence[File]) -> None:
    """Under the waiting files: how far each recording among them is transcribed. Nothing where
    there is none."""
    heard = [
        file for file in files if file.kind in ("audio", "video") and not file.outline.get("error")
    ]
    if not heard:
        return
    states = {file.id: session().transcripts.of(file) for file in heard}
    if any(state.state == "working" for state in states.values()):
        _watch(heard)
    else:
        _draw_lines(heard, states)


@st.fragment(run_every=PERIOD)
def _watch(files: Sequence[File]) -> None:
    """Looks again and again, until nothing is being transcribed any more."""
    states = {file.id: session().transcripts.of(file) for file in files}
    if not any(state.state == "working" for state in states.values()) and page_is_free():
        redraw()
    _draw_lines(files, states)


def _draw_lines(files: Sequence[File], states: dict[str, Transcript]) -> None:
    for file in files[:8]:
        st.caption(
            f":material/graphic_eq: "
            f"{markdown.label(state_line(file, states[file.id], session().transcripts.engine), 300)}"
        )


def state_line(file: File, transcript: Transcript, engine: str) -> str:
    """`standup.m4a: transcribing…`, `transcript ready`, or why there is none."""
    return f"{words.cut(file.name, 60)}: {_state(file, transcript, engine)}"


def _state(file: File, transcript: Transcript, engine: str) -> str:
    if not file.outline.get("sound"):
        return t("no sound track, nothing to transcribe")
    if transcript.state == "done":
        return t("transcript ready") if transcript.cues else t("no speech was found")
    if transcript.state == "working":
        if not transcript.seconds:
            return t("transcribing…")
        whole = words.length(file.outline.get("duration") or 0)
        done = words.length(transcript.seconds)
        return t("transcribing… {done} of {whole}", done=done, whole=whole)
    if transcript.state == "failed":
        return t("not transcribed. {text}", text=said(transcript.text))
    if not engine:
        return t("cannot be transcribed yet; Settings says how to turn it on")
    done = (
        t(" ({length} are done)", length=words.length(transcript.seconds))
        if transcript.seconds
        else ""
    )
    return t("is transcribed when an answer needs it{done}", done=done)


def draw_preview(preview: Preview, place: str) -> None:
    """A player, at the cited time or where a line was clicked, and the transcript below it."""
    file = preview.file
    cited = _cited(place)
    start = st.session_state.get("preview-sound-at")
    _draw_player(
        file, start if start is not None else cited[0] if cited else 0.0, playing=start is not None
    )
    if preview.transcript is not None and preview.transcript.state != "done":
        _draw_unfinished(file, preview.transcript)
    if preview.cues:
        _draw_cues(preview.cues, cited)
    elif preview.transcript is not None and preview.transcript.state == "done":
        st.markdown(t("No speech was found in this recording."))


def _draw_player(file: File, start: float, *, playing: bool) -> None:
    media_type = media_type_of(file.kind, file.media_type)
    if media_type == OTHER:
        st.caption(t("This recording cannot be played here. Download the file to listen to it."))
        return
    where = downloads.address("played", file.id)
    if file.kind == "video":
        st.video(where, format=media_type, start_time=int(start), autoplay=playing)
    else:
        st.audio(where, format=media_type, start_time=int(start), autoplay=playing)


def _draw_unfinished(file: File, transcript: Transcript) -> None:
    """What is known of the transcript, and the way to have it made."""
    if transcript.state == "working":
        _watch_preview(file)
        return
    st.caption(
        f":material/graphic_eq: "
        f"{markdown.label(state_line(file, transcript, session().transcripts.engine), 400)}"
    )
    if (
        session().transcripts.engine
        and file.outline.get("sound")
        and st.button(t("Transcribe"), key="preview-transcribe")
    ):
        session().transcripts.begin(file.id)
        redraw("fragment")


@st.fragment(run_every=PERIOD)
def _watch_preview(file: File) -> None:
    transcript = session().transcripts.of(file)
    if transcript.state != "working" and page_is_free():
        redraw()
    total = file.outline.get("duration") or 0
    share = min(1.0, transcript.seconds / total) if total else 0.0
    st.progress(share, text=markdown.label(transcript.text or t("Transcribing"), 200))


def _draw_cues(cues: Sequence[Cue], cited: tuple[float, float] | None) -> None:
    """Lines with their times; a click plays from there. The cited ones stand out, unless that is
    all of them."""
    if cited and cited[0] <= cues[0].start and cited[1] >= int(cues[-1].end):
        cited = None
    first = next((i for i, cue in enumerate(cues) if cited and cue.end >= cited[0]), 0)
    pages = math.ceil(len(cues) / CUES)
    page = first // CUES + 1
    if pages > 1:
        page = (
            st.pagination(pages, default=page, key="preview-cues-page", max_visible_pages=5) or page
        )
    with st.container(
        height=WORDS_HEIGHT if len(cues) > 12 else "content",
        border=False,
        gap="xxsmall",
        key="preview-cues",
    ):
        for number, cue in enumerate(cues[(page - 1) * CUES : page * CUES], (page - 1) * CUES):
            _draw_cue(
                number, cue, hit=cited is not None and cue.end > cited[0] and cue.start < cited[1]
            )


def _draw_cue(number: int, cue: Cue, *, hit: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", wrap=False, gap="small"):
        at = words.length(cue.start)
        if st.button(
            at,
            key=f"preview-cue-{number}",
            type="tertiary",
            help=t("Play from {at}", at=at),
            width=72,
        ):
            st.session_state["preview-sound-at"] = cue.start
            redraw("fragment")
        text = markdown.label(cue.text, 2_000)
        st.markdown(f":green-background[{text}]" if hit else text, width="stretch")


def _cited(place: str) -> tuple[float, float] | None:
    """The stretch that a place such as `00:10:00-00:10:30` names, at least one second long."""
    try:
        where = parse(place.split(",")[0], "audio")
    except LeafError:
        return None
    if where.unit != "cue":
        return None
    last = where.last if where.last is not None else where.first
    return where.first, max(last, where.first + 1.0)
