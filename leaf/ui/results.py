"""A whole result beside the chat: sorted, filtered, page by page, and as a file."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress

import streamlit as st

from leaf.errors import InvalidInputError, LeafError, NotFoundError, ResultGoneError
from leaf.language.problems import said, told
from leaf.language.text import in_digits, mark, n_, t
from leaf.sessions.results import ResultForm
from leaf.tables.again import Recomputed
from leaf.tables.export import MOST_ROWS
from leaf.tables.filters import OPERATIONS
from leaf.tables.paging import ResultPage, RowsWanted
from leaf.ui import clock, downloads, markdown, pins, tabular, words
from leaf.ui.redraw import redraw
from leaf.ui.state import session

ROWS = 100
"""Rows on a page."""
Show = Callable[[str, str], None]
"""Lets the next drawing of the page show a result of a chat."""
FORMS: tuple[tuple[ResultForm, str, str], ...] = (
    ("csv", "CSV", mark("An apostrophe stands before text that would be a formula.")),
    (
        "xlsx",
        "Excel",
        mark("Text stays text."),
    ),
    (
        "parquet",
        "Parquet",
        mark("With the types of the columns."),
    ),
    (
        "csv-raw",
        mark("CSV, raw"),
        mark(
            "Every text as it stands, for programs: a spreadsheet may run what begins "
            "with = + - or @."
        ),
    ),
)


def draw_button(chat_id: str, result_id: str, total: int, key: str, show: Show) -> None:
    """`Open all 1,204 rows`; the panel that `show` opens is this module's."""
    rows = t("all {total} rows", total=in_digits(total)) if total > 1 else t("this table")
    if st.button(
        t("Open {rows}", rows=rows),
        key=f"open-result-{key}",
        type="tertiary",
        icon=":material/open_in_new:",
        help=t("Sort, filter, and download as CSV, Excel or Parquet"),
    ):
        show(chat_id, result_id)
        redraw()


def draw_gone(chat_id: str, result_id: str, key: str, show: Show) -> bool:
    """What is said in place of the ways to a result whose rows are gone, and the way to compute
    them again; False where they are there."""
    gone = session().results.gone(chat_id, result_id)
    if gone is None:
        return False
    st.caption(f":orange[:material/warning: {markdown.label(told(gone), 300)}]")
    if isinstance(gone, ResultGoneError) and gone.again:
        _draw_recompute(chat_id, result_id, key, show)
    return True


def _draw_recompute(chat_id: str, result_id: str, key: str, show: Show) -> None:
    """A button; what came of it is said in the panel, which shows the rows that there are then."""
    if not st.button(
        t("Recompute"),
        key=f"recompute-{key}",
        icon=":material/refresh:",
        help=t("Run it again, over the files as they are now"),
    ):
        return
    with st.spinner(t("Running it again")):
        try:
            outcome = session().results.recompute(chat_id, result_id)
        except LeafError as e:
            outcome = Recomputed("gone", told(e))
    show(chat_id, outcome.kept_as or result_id)
    st.session_state["preview-outcome"] = outcome
    redraw()


def _say_outcome() -> None:
    outcome: Recomputed | None = st.session_state.get("preview-outcome")
    if outcome is None:
        return
    if outcome.outcome == "same":
        st.success(markdown.paragraph(said(outcome.text)), icon=":material/check:")
    else:
        st.warning(markdown.paragraph(said(outcome.text)), icon=":material/warning:")


def draw_panel(chat_id: str, result_id: str, show: Show) -> None:
    """What the panel shows below its title. Raises NotFoundError where the chat has no such
    result."""
    _say_outcome()
    if draw_gone(chat_id, result_id, "panel", show):
        return
    columns = _columns(chat_id, result_id)
    with st.container(horizontal=True, vertical_alignment="bottom", key="result-order"):
        st.selectbox(
            t("Sort by"),
            columns,
            index=None,
            placeholder=t("As computed"),
            key="preview-order",
            width=220,
        )
        if st.session_state.get("preview-order"):
            st.selectbox(
                t("Direction"),
                ["Ascending", "Descending"],
                format_func=t,
                key="preview-direction",
                width=150,
            )
    where = _draw_filter(columns)
    try:
        page = _load(chat_id, result_id, where)
    except InvalidInputError as e:
        st.warning(markdown.paragraph(told(e)), icon=":material/warning:")
        return
    _say_who(page)
    tabular.draw(page.columns, page.rows, page.types, key="preview-result-rows", tall=18)
    _draw_place(page, bool(where))
    _draw_downloads(chat_id, result_id, page)
    if page.sql:
        with st.expander(t("Query"), type="compact", key="preview-result-query"):
            st.code(page.sql.strip(), language="sql", wrap_lines=True)


def _say_who(page: ResultPage) -> None:
    """Who edited the code that made it, where a person did."""
    if page.edited:
        with suppress(
            NotFoundError
        ):  # of code that failed after it had its rows, and was discarded
            step = session().edits.get(page.edited)
            byline = words.edited_by(step, clock.today())
            st.caption(f":material/edit: {markdown.label(byline, 100)}")


def _columns(chat_id: str, result_id: str) -> list[str]:
    """Asked once for a panel; the names of a result never change."""
    known: list[str] | None = st.session_state.get("preview-result-columns")
    if known is None:
        known = session().results.page(chat_id, result_id, RowsWanted(limit=0)).columns
        st.session_state["preview-result-columns"] = known
    return known


def _draw_filter(columns: list[str]) -> dict[str, str] | None:
    """The condition that was chosen; None while there is none."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="result-filter"):
        column = st.selectbox(
            t("Filter"),
            columns,
            index=None,
            placeholder=t("All rows"),
            key="preview-filter-column",
            width=220,
            on_change=_first_page,
        )
        if column is None:
            return None
        operation = st.selectbox(
            t("Condition"),
            OPERATIONS,
            format_func=_operation,
            key="preview-filter-operation",
            width=120,
            on_change=_first_page,
        )
        value = st.text_input(
            t("Value"), key="preview-filter-value", width=180, on_change=_first_page
        )
    return (
        {"column": column, "operation": operation, "value": value.strip()}
        if value and value.strip()
        else None
    )


def _operation(operation: str) -> str:
    """The one that is a word, in the language of the page; the others are signs."""
    return t("contains") if operation == "contains" else operation


def _first_page() -> None:
    st.session_state.pop("preview-result-page", None)


def _load(chat_id: str, result_id: str, where: dict[str, str] | None) -> ResultPage:
    wanted = RowsWanted(
        offset=((st.session_state.get("preview-result-page") or 1) - 1) * ROWS,
        limit=ROWS,
        order_by=st.session_state.get("preview-order") or "",
        descending=st.session_state.get("preview-direction") == "Descending",
        where=where,
    )
    return session().results.page(chat_id, result_id, wanted)


def _draw_place(page: ResultPage, filtered: bool) -> None:
    shown = tabular.rows_shown(page.offset, len(page.rows), page.total)
    if filtered:
        shown = (
            t(
                "{rows} that meet the filter, of {whole} in all",
                rows=shown,
                whole=in_digits(page.whole),
            )
            if page.total
            else t("No row that meets the filter, of {whole} in all", whole=in_digits(page.whole))
        )
    cut = (
        n_(
            " · {n} long cell cut here, whole in the downloads",
            " · {n} long cells cut here, whole in the downloads",
            page.clipped,
        )
        if page.clipped
        else ""
    )
    st.caption(shown + cut)
    if page.total > ROWS:
        st.pagination(math.ceil(page.total / ROWS), key="preview-result-page", max_visible_pages=5)


def _draw_downloads(chat_id: str, result_id: str, page: ResultPage) -> None:
    """A button for each format; the file is made when it is pressed."""
    with st.container(
        horizontal=True, gap="xsmall", vertical_alignment="center", key="result-downloads"
    ):
        for form, label, told in FORMS:
            if form == "xlsx" and page.whole > MOST_ROWS:
                continue
            downloads.button(
                t(label),
                downloads.place("results", chat_id, result_id, form),
                key=f"preview-download-{form}",
                help=t(
                    "Download all {rows} as {label}. {told}",
                    rows=words.count(page.whole, "row"),
                    label=t(label),
                    told=t(told),
                ),
            )
        pins.draw_button(chat_id, result_id, "panel")
    if page.whole > MOST_ROWS:
        st.caption(
            t(
                "Excel takes {most_rows} rows in a sheet; for {whole} there are CSV and Parquet.",
                most_rows=in_digits(MOST_ROWS),
                whole=in_digits(page.whole),
            )
        )
