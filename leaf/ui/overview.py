"""What files hold that are about to be asked about: shape, dates, doubts and one chart; of several files
a line each, opened when wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import streamlit as st

from leaf.errors import LeafError
from leaf.language import kept
from leaf.language.problems import said, told
from leaf.language.text import mark, n_, t
from leaf.sessions.overviews import DateRange, Overview, TableFacts, TableOverview
from leaf.shapes.results import ChartShown
from leaf.store.model import File
from leaf.ui import beside, markdown, tabular, words
from leaf.ui.state import session

FILES = 12
DOUBTS = 3
UNREAD = (
    "no-text-layer",
    "few-words",
    "pages-damaged",
    "text-garbled",
    "chapters-unread",
    "parts-unread",
)
STEPS = {"day": mark("day"), "weekday": mark("weekday"), "month": mark("month")}


def draw(files: Sequence[File]) -> None:
    """Files that a person put beside a question; those that came out of others stand with them."""
    there = {file.id for file in files}
    shown = [f for f in files if f.parent_id not in there and not f.outline.get("error")]
    if not shown:
        return
    with st.container(key="overviews", gap="xsmall"):
        for file in shown[:FILES]:
            if len(shown) == 1:
                st.markdown(f"**{_line(file)}**")
                _draw_file(file)
                continue
            line = st.expander(
                _line(file), key=f"overview-{file.id}", type="compact", on_change="rerun"
            )
            if line.open:
                with line:
                    _draw_file(file)
        if len(shown) > FILES:
            st.caption(n_("and {n} more file", "and {n} more files", len(shown) - FILES))


def _line(file: File) -> str:
    return markdown.label(" · ".join(filter(None, (file.name, words.counts(file.outline)))), 160)


def _draw_file(file: File) -> None:
    own = session().files
    try:
        overview = beside.made(
            ("overview", file.id, file.name, file.sha256),
            lambda: own.overview(file.id),
            t("Looking at what it holds"),
            _lasts,
        )
    except LeafError as e:
        st.caption(markdown.label(told(e), 300))
        return
    if overview is None:
        return
    with st.container(key=f"overview-of-{file.id}", gap="xsmall"):
        for number, table in enumerate(overview.tables):
            _draw_table(
                table, f"{file.id}-{number}", named=len(overview.tables) + overview.more > 1
            )
        if overview.more:
            st.caption(n_("and {n} more table", "and {n} more tables", overview.more))
        _draw_text(overview)
        for text in overview.said:
            st.caption(markdown.label(said(text), 300))


def _lasts(overview: Overview) -> bool:
    """Whether all of it could be looked at."""
    return not overview.said and all(table.facts != TableFacts() for table in overview.tables)


def _draw_table(table: TableOverview, key: str, *, named: bool) -> None:
    if named:
        shape = f"{words.count(table.rows, 'row')} × {words.count(table.columns, 'column')}"
        st.caption(markdown.label(f"{table.label}: {shape}", 200))
    if table.facts.dates:
        st.caption(f":material/calendar_month: {markdown.label(covered(table.facts.dates), 300)}")
    if table.left_out:
        st.caption(f":material/info: {markdown.label(kept.part(table.left_out), 200)}")
    for doubt in table.doubts[:DOUBTS]:
        st.caption(f":orange[:material/warning:] {markdown.label(said(doubt), 300)}")
    if len(table.doubts) > DOUBTS:
        st.caption(n_("and {n} more note", "and {n} more notes", len(table.doubts) - DOUBTS))
    if table.facts.chart:
        _draw_chart(cast("ChartShown", table.facts.chart), key)


def _draw_chart(chart: ChartShown, key: str) -> None:
    """Low as it is, its title stands above it as a line of its own."""
    spec = {name: value for name, value in chart["spec"].items() if name != "title"}
    title = str(chart["spec"].get("title", ""))
    st.caption(f":material/show_chart: {markdown.label(title, 160)}")
    tabular.chart({**chart, "spec": spec}, key=f"overview-chart-{key}", alt=title)


def covered(dates: DateRange) -> str:
    """`order_date: 2024-01-01 to 2024-12-31, 3 days missing (2024-05-01 to 2024-05-03)`."""
    phrase = t(
        "{column}: {first} to {last}", column=dates.column, first=dates.first, last=dates.last
    )
    if not dates.step:
        return phrase
    if not dates.missing:
        return t("{said}, no {step} missing", said=phrase, step=t(STEPS[dates.step]))
    gaps = ", ".join(
        a if a == b else t("{first} to {last}", first=a, last=b) for a, b in dates.gaps
    )
    phrase = t("{said}, {missing} missing", said=phrase, missing=_missing(dates))
    return f"{phrase} ({gaps})" if gaps else phrase


def _missing(dates: DateRange) -> str:
    if dates.step == "month":
        return words.count(dates.missing, "month")
    return words.count(dates.missing, "weekday" if dates.step == "weekday" else "day")


def _draw_text(overview: Overview) -> None:
    """Its headings, its tables, what could not be read."""
    outline = overview.file.outline
    if overview.headings:
        st.caption(f":material/toc: {markdown.label(' · '.join(overview.headings), 300)}")
    if outline.get("tables"):
        st.caption(
            t(
                ":material/table: {tables} inside",
                tables=words.count(int(outline["tables"]), "table"),
            )
        )
    for note in outline.get("notes") or ():
        if note.get("kind") in UNREAD and note.get("text"):
            st.caption(f":orange[:material/warning:] {markdown.label(note['text'], 300)}")
