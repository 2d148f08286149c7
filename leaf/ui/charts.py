"""A chart with what can be done to it: other marks and columns by hand, and downloads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import streamlit as st

from leaf.errors import LeafError
from leaf.language.problems import told
from leaf.language.text import in_digits, mark, t
from leaf.shapes.results import ChartShown
from leaf.tables import chart_rows
from leaf.tables.reshape import MARKS, Choice, choice_of, reshaped
from leaf.ui import downloads, markdown, pins, tabular, words
from leaf.ui.redraw import redraw

NAMES = {
    "bar": mark("Bars"),
    "line": mark("Line"),
    "area": mark("Area"),
    "point": mark("Points"),
    "pie": mark("Pie"),
}
DOWNLOADS = (("png", "PNG"), ("svg", "SVG"), ("json", "Vega-Lite (JSON)"))


def draw(part: ChartShown, key: str, chat_id: str, of: Sequence[str]) -> None:
    """The chart as it was made, or as it was changed here since; the change is kept for the
    session, and pinned with it. `of` names the step that made it, as addresses do."""
    columns = [str(column) for column in part["columns"]]
    changed: Choice | None = st.session_state.get(f"changed-{key}")
    spec, problem = part["spec"], ""
    if changed is not None:
        try:
            spec = reshaped(part["spec"], columns, part.get("types") or (), changed)
        except LeafError as e:
            problem = told(e)
    # Another key for another spec: an element of the same key would keep the old one's state.
    tabular.chart({**part, "spec": spec}, key=f"{key}-{hash(changed) % 10_000 if changed else 0}")
    if left_out := _left_out(part, spec):
        st.caption(left_out)
    if problem:
        st.warning(markdown.paragraph(problem), icon=":material/warning:")
    with st.container(
        horizontal=True, horizontal_alignment="right", gap="xsmall", key=f"tools-{key}"
    ):
        if result_id := part.get("result_id"):
            pins.draw_button(chat_id, result_id, key, spec)
        _draw_change(part["spec"], columns, changed, key)
        _draw_downloads(of, None if problem else changed, key)


def _left_out(part: ChartShown, spec: Mapping[str, Any]) -> str:
    """`The first 5,000 of 12,000 rows · Not drawn, for want of a date: 3 rows`; empty where all
    rows are drawn."""
    shown, sentences = len(part["rows"]), []
    if (total := part.get("total", shown)) > shown:
        rows = words.count(total, "row")
        sentences.append(t("The first {shown} of {rows}", shown=in_digits(shown), rows=rows))
    if undated := chart_rows.undated(spec, part["columns"], part["rows"]):
        rows = words.count(undated, "row")
        sentences.append(t("Not drawn, for want of a date: {rows}", rows=rows))
    return " · ".join(sentences)


def _draw_change(
    spec: Mapping[str, Any], columns: Sequence[str], changed: Choice | None, key: str
) -> None:
    menu = st.popover(
        t("Change"), icon=":material/tune:", type="tertiary", on_change="rerun", key=f"change-{key}"
    )
    if not menu.open:
        return
    now = changed or choice_of(spec, columns)
    resets = int(st.session_state.get(f"resets-{key}", 0))
    # the browser remembers what was chosen under a key; after a reset it must not
    of = f"{key}-{resets}"
    with menu:
        mark = st.selectbox(
            t("Type"),
            MARKS,
            _at(MARKS, now.mark),
            format_func=lambda one: t(NAMES[one]),
            key=f"mark-{of}",
            placeholder=t("As it is"),
        )
        pie = mark == "pie"
        x = st.selectbox(
            t("Slices") if pie else t("Horizontal"),
            columns,
            _at(columns, now.x),
            key=f"x-{of}",
            placeholder=t("As it is"),
        )
        y = st.selectbox(
            t("Size") if pie else t("Vertical"),
            columns,
            _at(columns, now.y),
            key=f"y-{of}",
            placeholder=t("As it is"),
        )
        color = None
        if not pie:
            color = st.selectbox(
                t("Colour"),
                columns,
                _at(columns, now.color),
                key=f"color-{of}",
                placeholder=t("One for all"),
            )
        chosen = Choice(mark or "", x or "", y or "", color or "")
        if changed is not None and st.button(
            t("Reset"), key=f"reset-{key}", icon=":material/undo:", width="stretch"
        ):
            del st.session_state[f"changed-{key}"]
            st.session_state[f"resets-{key}"] = resets + 1
            redraw("fragment")
        if chosen != now:
            st.session_state[f"changed-{key}"] = chosen
            redraw("fragment")


def _draw_downloads(of: Sequence[str], changed: Choice | None, key: str) -> None:
    menu = st.popover(
        t("Download"),
        icon=":material/download:",
        type="tertiary",
        on_change="rerun",
        key=f"download-{key}",
    )
    if not menu.open:
        return
    shown = asdict(changed) if changed is not None else {}
    with menu:
        for form, label in DOWNLOADS:
            downloads.button(
                label,
                downloads.place(*of, form, **shown),
                key=f"download-{form}-{key}",
                icon=None,
                width="stretch",
            )


def _at(options: Sequence[str], value: str) -> int | None:
    return list(options).index(value) if value in options else None
