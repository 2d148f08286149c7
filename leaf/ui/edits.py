"""Steps whose SQL or Python a person edits and runs, in the place where the step is read: a field
under the code, and what came of it beside what the step itself gave."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

import streamlit as st

from leaf.errors import LeafError
from leaf.language.problems import told
from leaf.language.text import mark, n_, t
from leaf.provenance import coverage
from leaf.runs.edited import part_of
from leaf.shapes.parts import CoverageData, ToolPart
from leaf.shapes.results import Output
from leaf.store.edited_steps import EditedStep
from leaf.ui import charts, clock, code, markdown, outputs, words
from leaf.ui.dialogs import page_is_free
from leaf.ui.items import WORKING, chart_of
from leaf.ui.redraw import redraw
from leaf.ui.state import session

PERIOD = 1.0
"""Seconds between two looks at a step that runs, counted by the browser."""
OPEN = "editing-step"
"""Which code this tab edits, in the state of its session: key of the step, and the id of the edited
step, empty for the step itself."""
LANGUAGES = {"sql": "SQL", "code": "Python"}
TOLD = {
    "sql": mark(
        "Runs over the chat's files as they are now. The answer and its step stay as they are."
    ),
    "code": mark(
        "Runs after the cells before this one, over the chat's files as they are now. "
        "The answer, its step and the chat's variables stay as they are."
    ),
}


@dataclass(frozen=True)
class StepEdits:
    """A step with code, and what people made of it."""

    part: ToolPart
    chat_id: str
    message_id: str
    key: str
    """Of the place where it is drawn."""
    found: Sequence[EditedStep]

    @property
    def parameter(self) -> str:
        return words.tool_of(self.part).code_input

    def draft(self, source: str) -> EditedStep | None:
        """The newest of the reader's own that came to nothing, in the field from which it was run:
        its code stands there. After a reload that is the step's own."""
        if source != st.session_state.get(f"edit-ran-{self.key}", ""):
            return None
        own = session().scope.user_id
        held = [e for e in self.found if e.user_id == own and e.state in ("failed", "stopped")]
        return held[-1] if held else None

    @property
    def runs(self) -> bool:
        """Whether one of the reader's own is running."""
        own = session().scope.user_id
        return any(e.state == "running" and e.user_id == own for e in self.found)

    def code_of(self, source: str) -> str:
        """The step's own code, or that of an edited one."""
        inputs = next((e.given for e in self.found if e.id == source), self.part.get("input") or {})
        return str(inputs.get(self.parameter) or "").strip()


def of_step(part: ToolPart, chat_id: str, message_id: str, key: str) -> StepEdits | None:
    """What can be edited of a step that is over; None where it has no code."""
    parameter, inputs = words.tool_of(part).code_input, part.get("input")
    if part["state"] in WORKING or not isinstance(inputs, dict) or not inputs.get(parameter):
        return None
    mine = [e for e in session().edits.of(message_id) if e.call_id == part["toolCallId"]]
    return StepEdits(part, chat_id, message_id, key, mine)


def draw(part: ToolPart, chat_id: str, message_id: str, key: str) -> None:
    """Both, where the step itself is drawn elsewhere."""
    if step := of_step(part, chat_id, message_id, key):
        draw_editor(step)
        draw_beside(step)


def draw_editor(step: StepEdits, source: str = "") -> None:
    """Under code that can be edited: the way to do so, or the field with it. `source` is the edited
    step that it is of, empty for the step itself."""
    opened: tuple[str, str] | None = st.session_state.get(OPEN)
    here = opened is not None and opened[0] == step.key
    if opened == (step.key, source) or (not here and step.draft(source)):
        _draw_field(step, source)
        return
    st.button(
        t("Edit and run"),
        key=f"edit-step-{step.key}-{source}",
        type="tertiary",
        icon=":material/edit:",
        help=t(TOLD[step.parameter]),
        disabled=step.runs,
        on_click=_open,
        args=(step.key, source),
    )


def _draw_field(step: StepEdits, source: str) -> None:
    draft, language = step.draft(source), LANGUAGES[step.parameter]
    field = f"edit-code-{step.key}-{source}"
    with st.form(f"edit-form-{step.key}-{source}", border=False):
        st.text_area(
            t("{language} to run", language=language),
            value=step.code_of(draft.id if draft else source),
            key=field,
            height="content",
        )
        st.caption(t(TOLD[step.parameter]))
        with st.container(horizontal=True, horizontal_alignment="right"):
            st.form_submit_button(
                t("Cancel"), type="tertiary", on_click=_leave, args=(draft.id if draft else "",)
            )
            st.form_submit_button(
                t("Run"),
                type="primary",
                icon=":material/play_arrow:",
                on_click=_run,
                args=(step, source, field),
            )
    refused = st.session_state.pop(f"edit-refused-{step.key}", "")
    if refused or draft:
        with st.container(key=f"edit-error-{step.key}-{source}"):
            code.draw_error(refused or (draft.error if draft else ""))


# Presses are carried out before anything is drawn, so that a page that is drawn anew meanwhile
# shows what came of them.


def _open(key: str, source: str) -> None:
    st.session_state[OPEN] = (key, source)


def _leave(draft_id: str) -> None:
    st.session_state.pop(OPEN, None)
    if draft_id:
        with suppress(LeafError):  # another tab did so, or the chat is gone: the page says which
            session().edits.discard(draft_id)


def _run(step: StepEdits, source: str, field: str) -> None:
    """What is not over within a moment is watched in its box."""
    st.session_state[OPEN] = (step.key, source)
    st.session_state[f"edit-ran-{step.key}"] = source
    text = str(st.session_state.get(field) or "")
    try:
        edit = session().edits.run(step.message_id, step.part["toolCallId"], text)
    except LeafError as e:
        st.session_state[f"edit-refused-{step.key}"] = told(e)
        return
    if edit.state in ("done", "running"):
        st.session_state.pop(OPEN, None)


def draw_beside(step: StepEdits) -> None:
    """What came of the edited ones, and those that run; oldest first."""
    for edit in step.found:
        if edit.state not in ("done", "running"):
            continue
        key = f"{step.key}-{edit.id}"
        with st.container(border=True, key=f"edited-{key}"):
            st.markdown(_title(edit))
            outputs.draw_input(words.tool_of(step.part), {step.parameter: step.code_of(edit.id)})
            if edit.state == "running":
                _watch(edit, key)
            else:
                draw_editor(step, edit.id)
                _draw_result(edit, step.chat_id, key)


def _title(edit: EditedStep) -> str:
    """`Edited by Ann · 14:02 · result r7`."""
    who = words.edited_by(edit, clock.today())
    output = part_of(edit).get("output")
    named = _results_in(output) if output else []
    details = (
        [n_("result {names}", "results {names}", len(named), names=", ".join(named))]
        if named
        else []
    )
    return " · ".join([f":material/edit: **{markdown.label(who, 100)}**", *details])


def _results_in(output: Output) -> list[str]:
    data = output.get("data") or {}
    tables = [*(data.get("tables") or ()), *filter(None, [data.get("table")])]
    named = [str(table["result_id"]) for table in tables if table.get("result_id")]
    chart = data.get("chart")
    return [*named, str(chart["result_id"])] if chart and chart.get("result_id") else named


def _draw_result(edit: EditedStep, chat_id: str, key: str) -> None:
    part = part_of(edit)
    output = part.get("output")
    if output is None:
        return
    outputs.draw_output(output, chat_id, key)
    if chart := chart_of(part):
        charts.draw(chart, f"vega-{key}", chat_id, ("edited", edit.id))
    code.figures(part, chat_id)
    code.written(part, chat_id, key)
    read: CoverageData = {"files": coverage.merge_coverage([output])}
    for doubt in (*coverage.doubts(read), *coverage.missing(read)):
        st.caption(f":orange[:material/warning:] {markdown.label(doubt, 300)}")
    taken = words.seconds(float(output.get("seconds") or 0))
    summary = " · ".join(filter(None, (coverage.line(read, named=True), taken)))
    st.caption(markdown.label(summary, 300))
    for note in coverage.notes(read):
        st.caption(f":material/info: {markdown.label(note, 300)}")


@st.fragment(run_every=PERIOD)
def _watch(edit: EditedStep, key: str) -> None:
    """How far it is, until it is over; then the page is drawn anew."""
    try:
        now = session().edits.get(edit.id)
    except LeafError:
        now = None
    if now is None or now.state != "running":
        if page_is_free():
            redraw()
        return
    passed = max(0.0, (datetime.now().astimezone() - now.made_at).total_seconds())
    status = " · ".join((now.progress or t("Running"), words.seconds(passed)))
    with st.container(horizontal=True, vertical_alignment="center", key=f"running-{key}"):
        st.caption(f":material/hourglass_top: {markdown.label(status, 300)}", width="stretch")
        st.button(
            t("Stop"),
            key=f"stop-{key}",
            type="tertiary",
            icon=":material/stop_circle:",
            help=t("End it; its author keeps the code"),
            on_click=_stop,
            args=(edit.id,),
        )


def _stop(edit_id: str) -> None:
    """One that another process runs ends there within moments."""
    with suppress(LeafError):  # it is over, or its chat is gone: the page says which
        session().edits.stop(edit_id)
        session().edits.wait(edit_id, PERIOD)
