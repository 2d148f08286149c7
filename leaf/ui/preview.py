"""A look into a file, beside the page: rows, a page's picture, or text, at the place that an answer
named."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from leaf.errors import LeafError
from leaf.language import places
from leaf.language.problems import said, told
from leaf.language.text import t
from leaf.readers.locate.locate import find_in_window
from leaf.readers.locate.where import column_number, parse
from leaf.sessions.preview import PreviewTarget
from leaf.tables.paging import RowsWanted
from leaf.tools.table_data import findings_json
from leaf.ui import audio, documents, markdown, receipts, results, tabular, words
from leaf.ui.controls import icon_button
from leaf.ui.findings import draw_findings
from leaf.ui.redraw import redraw
from leaf.ui.state import session

if TYPE_CHECKING:
    from leaf.drive.model import DrivePreview
    from leaf.readers.locate.locate import Sought
    from leaf.sessions.preview import Preview
    from leaf.tables.paging import ResultPage
    from leaf.tables.table import Table

ROWS = 50
ROWS_SEEN = 10
"""Rows of a table that are seen without scrolling, wherever it is shown."""
TEXT_HEIGHT = 620


def show(file_id: str, place: str = "", quote: str = "") -> None:
    """Let the next drawing of the page show this file at this place, the quoted words marked."""
    close()
    st.session_state["preview"] = {
        "file_id": file_id,
        "place": place,
        "quote": quote,
        "cursors": [""],
        "aimed": not place,
    }


def show_drive(ref: str) -> None:
    """Let the next drawing of the page show the beginning of a file in Drive, which stays there."""
    close()
    st.session_state["preview"] = {"drive": ref}


def show_document(document_id: str, *, unasked: bool = False) -> None:
    """Let the next drawing of the page show this document; what nobody asked for does not come on a
    narrow screen."""
    close()
    st.session_state["preview"] = {"document": document_id, "unasked": unasked}


def show_receipt(message_id: str, number: int) -> None:
    """Let the next drawing of the page show what a figure of an answer rests on."""
    close()
    st.session_state["preview"] = {"receipt": message_id, "number": number}


def show_evidence(message_id: str, section: str) -> None:
    """Let the next drawing of the page show what an answer rests on, all of it or one section."""
    close()
    st.session_state["preview"] = {"evidence": message_id, "section": section}


def show_result(chat_id: str, result_id: str) -> None:
    """Let the next drawing of the page show all rows of a result."""
    close()
    st.session_state["preview"] = {"result": result_id, "chat": chat_id}


def close() -> None:
    """Forget the preview and where in it the reader was."""
    st.session_state.pop("preview", None)
    for key in [key for key in st.session_state if str(key).startswith("preview-")]:
        del st.session_state[key]


def draw() -> None:
    """The panel, if something is to be shown."""
    if "preview" in st.session_state:
        _panel()


@st.fragment
def _panel() -> None:
    """A fragment of its own: turning a page redraws the preview and nothing else."""
    wanted = st.session_state.get("preview")
    if wanted is None:
        return
    with (
        st.container(key="unasked" if wanted.get("unasked") else "asked"),
        st.container(key="preview"),
    ):
        try:
            if "receipt" in wanted:
                _head(t("Receipt"))
                receipts.draw_panel(wanted["receipt"], wanted["number"], show_result)
            elif "evidence" in wanted:
                _draw_evidence(wanted["evidence"], wanted["section"])
            elif "result" in wanted:
                _head(t("Result {result}", result=markdown.label(wanted["result"])))
                results.draw_panel(wanted["chat"], wanted["result"], show_result)
            elif "document" in wanted:
                _draw_document(wanted["document"])
            elif "drive" in wanted:
                _draw_drive(wanted["drive"])
            else:
                _draw(wanted)
        except LeafError as e:
            _head(t("Preview"))
            _warn(e)


def _warn(error: LeafError) -> None:
    st.warning(markdown.paragraph(told(error)), icon=":material/warning:")


def _head(title: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", wrap=False, key="preview-head"):
        st.markdown(f"#### {title}", anchors=False, width="stretch")
        if icon_button(t("Close the preview"), "preview-close", "close"):
            close()
            redraw()


def _draw(wanted: dict[str, Any]) -> None:
    file = session().files.get(wanted["file_id"])
    _head(markdown.label(file.name, 60))
    facts = [words.kind_label(file.kind), words.counts(file.outline), words.size(file.size)]
    st.caption(markdown.label(" · ".join(fact for fact in facts if fact)))
    page = st.session_state.get("preview-page")
    first = len(wanted["cursors"]) == 1 and page in (None, wanted.get("page"))
    quote = wanted["quote"] if first else ""
    try:
        # A table that nobody has asked yet is read for the first time.
        with st.spinner(t("Opening")):
            preview = _aimed(wanted, f"pages {page}" if page else "", quote)
    except LeafError as e:
        _warn(e)
        return
    sought = preview.sought
    place = sought.found.place if sought and sought.found else wanted["place"]
    if place:
        st.badge(
            markdown.label(places.place(place), 60), icon=":material/my_location:", color="green"
        )
    if sought:
        _say_sought(sought, wanted, preview)
    if preview.kind == "table":
        _draw_table(preview, place)
    elif preview.kind == "page":
        _draw_page(preview)
    elif preview.kind == "sound":
        audio.draw_preview(preview, place)
    elif preview.kind == "picture":
        _draw_picture(preview)
    else:
        _draw_text(preview, wanted["cursors"], quote)
    # A table's own findings say more than what was seen of the file when it was added.
    for note in words.notes(preview.file)[:5] if preview.kind != "table" else ():
        st.caption(f":material/info: {markdown.label(note, 300)}")


def _aimed(wanted: dict[str, Any], page: str, quote: str) -> Preview:
    """What is to be shown, at first where the place says. Raises LeafError."""
    file_id, place, cursor = wanted["file_id"], wanted["place"], wanted["cursors"][-1]
    at = page or st.session_state.get("preview-place", place)
    preview = _load(file_id, at, cursor, quote)
    sought = preview.sought
    if sought and sought.found:
        place = sought.found.place
        wanted["page"] = preview.page
    if wanted["aimed"]:
        return preview
    wanted["aimed"] = True
    table, at_row = aim(preview.tables, place)
    row = session().files.row_position(preview.tables[table], at_row) if at_row else 0
    pointed = bool(quote) or _is_one_row(place)
    if not (table or row >= ROWS or (pointed and row > ROWS_SEEN)):
        return preview
    st.session_state["preview-table"] = table
    st.session_state["preview-rows-page"] = row // ROWS + 1
    if pointed:
        st.session_state["preview-offset"] = max(0, row - 3), row // ROWS + 1
    return _load(file_id, at, cursor, quote)


def _draw_document(document_id: str) -> None:
    document = session().documents.get(document_id)
    _head(markdown.label(document.title, 60))
    documents.draw_panel(document)


def _draw_evidence(message_id: str, section: str) -> None:
    from leaf.ui import evidence_panel  # what it shows opens previews

    section = section if section in evidence_panel.TITLES else "all"
    _head(t(evidence_panel.TITLES[section]))
    evidence_panel.draw(message_id, section)


def _say_sought(sought: Sought, wanted: dict[str, Any], preview: Preview) -> None:
    """Whether the quoted words stand here, before the eye looks for them."""
    if sought.found is None:
        st.badge(t("The words were not found here"), icon=":material/help:", color="orange")
        st.caption(markdown.label(f"“{wanted['quote']}”", 300))
        st.caption(markdown.label(t("Looked for in the whole file: {why}.", why=said(sought.why))))
        return
    where = t("The quoted words are marked.")
    if preview.kind == "page" and not preview.marks:
        where = t("The quoted words are on this page, but not drawn as text that can be marked.")
    if sought.found.moved and wanted["place"]:
        where += t(
            " They were cited from {place} and are found in this place.",
            place=places.place(wanted["place"]),
        )
    st.caption(f":material/ink_highlighter: {markdown.label(where, 200)}")


def _draw_drive(ref: str) -> None:
    """What is in Drive and not in the library yet. The same content in the library is shown as
    every other file of it."""
    look: DrivePreview | None = st.session_state.get("preview-drive")
    if look is None:
        with st.spinner(t("Opening")):
            look = session().drive.preview(ref)
        st.session_state["preview-drive"] = look
    if look.file_id:
        show(look.file_id)
        redraw("fragment")
    item = look.item
    _head(markdown.label(item.name, 60))
    size = words.size(item.size) if item.size is not None else ""
    facts = [words.drive_kind(item.kind, item.mime_type), size, t("in Drive, not in your library")]
    st.caption(markdown.label(" · ".join(fact for fact in facts if fact)))
    window = look.window
    if window is None or not window.text:
        st.markdown(t("Nothing of it can be shown as text."))
    else:
        st.code(
            window.text,
            language=None,
            wrap_lines=True,
            height=TEXT_HEIGHT if len(window.text) > 1500 else "content",
        )
        st.caption(
            markdown.label(
                t("The beginning: {coverage}", coverage=places.place(window.coverage))
                if window.cursor
                else places.place(window.coverage)
            )
        )
    if item.link:
        st.link_button(
            t("Open in Google Drive"), item.link, type="tertiary", icon=":material/open_in_new:"
        )


def aim(tables: Sequence[Table], place: str) -> tuple[int, int]:
    """Which of a file's tables holds a place such as `sheet Data!A100:F120` or `rows 100-120`, and
    the first row of the file that the place names; 0 if it names none."""
    try:
        where = parse(place)
    except LeafError:
        return 0, 0
    if not where.sheet and where.unit != "row":
        return 0, 0
    row = int(where.first)
    of_sheet = [
        (i, _top(table))
        for i, table in enumerate(tables)
        if table.sheet == where.sheet or (not where.sheet and table.place.startswith("lines "))
    ]
    if not of_sheet:
        return 0, 0
    index, _ = next(
        (candidate for candidate in reversed(of_sheet) if candidate[1] <= row), of_sheet[0]
    )
    return index, row


def _is_one_row(place: str) -> bool:
    """A place of one row is looked for with the eye, as a quotation is; of a longer one only the
    beginning is shown."""
    try:
        where = parse(place)
    except LeafError:
        return False
    return where.unit in ("row", "cell") and where.last in (None, where.first)


def marks_in(table: Table, place: str, page: ResultPage) -> tabular.QuotedCells | None:
    """The cells of a place among the rows of a table that are shown in the file's order; None if
    none of them is."""
    try:
        where = parse(place)
    except LeafError:
        return None
    if where.unit not in ("row", "cell") or (where.sheet and where.sheet != table.sheet):
        return None
    first, last = int(where.first), int(where.last if where.last is not None else where.first)
    rows = range(bisect_left(page.numbers, first), bisect_right(page.numbers, last))
    # `_row` and `_kind` stand before the table's own columns where it has totals.
    left = (_first_column(table) if where.columns else 1) - (len(page.columns) - len(table.columns))
    columns = (
        range(where.columns[0] - left, where.columns[1] - left + 1)
        if where.columns
        else range(len(page.columns))
    )
    return tabular.QuotedCells(rows, columns) if rows else None


def _first_column(table: Table) -> int:
    letters = re.match(r"[A-Z]+", table.place)
    return column_number(letters.group()) if letters else 1


def _top(table: Table) -> int:
    """The first row of a table in its file, its header included: 4 for `A4:F1204`."""
    match = re.search(r"\d+", table.place)
    return int(match.group()) if match else 1


def _load(file_id: str, at: str, cursor: str, quote: str) -> Preview:
    order = st.session_state.get("preview-order") or ""
    rows_page = st.session_state.get("preview-rows-page") or 1
    aimed, aimed_page = st.session_state.get("preview-offset") or (0, 0)
    rows = RowsWanted(
        offset=aimed if aimed_page == rows_page and not order else (rows_page - 1) * ROWS,
        limit=ROWS,
        order_by=order,
        descending=st.session_state.get("preview-direction") == "Descending",
    )
    table = st.session_state.get("preview-table") or 0
    return session().files.preview(file_id, PreviewTarget(at, table, rows, cursor, quote))


def _draw_table(preview: Preview, place: str) -> None:
    rows = preview.rows
    if rows is None:
        return
    tables = preview.tables
    if len(tables) > 1:
        st.selectbox(
            t("Table"),
            range(len(tables)),
            format_func=lambda i: (
                f"{tables[i].sheet or tables[i].name} · {words.count(tables[i].rows, 'row')}"
            ),
            key="preview-table",
            on_change=_forget_order,
        )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            t("Sort by"),
            rows.columns,
            index=None,
            placeholder=t("As in the file"),
            key="preview-order",
            width=220,
            format_func=tabular.label,
        )
        if st.session_state.get("preview-order"):
            st.selectbox(
                t("Direction"),
                ["Ascending", "Descending"],
                format_func=t,
                key="preview-direction",
                width=150,
            )
    table = tables[min(st.session_state.get("preview-table") or 0, len(tables) - 1)]
    in_order = not st.session_state.get("preview-order")
    pointed = bool(preview.sought.found) if preview.sought else _is_one_row(place)
    marks = marks_in(table, place, rows) if pointed and in_order else None
    tabular.draw(rows.columns, rows.rows, rows.types, key="preview-frame", tall=16, marks=marks)
    shown = tabular.rows_shown(rows.offset, len(rows.rows), rows.total)
    left = t(" · in queries {excluded}", excluded=table.excluded) if table.excluded else ""
    st.caption(f"{shown}{left}")
    if rows.total > ROWS:
        st.pagination(math.ceil(rows.total / ROWS), key="preview-rows-page", max_visible_pages=5)
    draw_findings(findings_json(table))


def _forget_order() -> None:
    for key in ("preview-order", "preview-direction", "preview-rows-page", "preview-offset"):
        st.session_state.pop(key, None)


def _draw_page(preview: Preview) -> None:
    if preview.pages > 1:
        st.pagination(
            preview.pages, default=max(preview.page, 1), key="preview-page", max_visible_pages=5
        )
    if preview.picture:
        marked = t(", with the quoted words marked") if preview.marks else ""
        st.image(
            preview.picture,
            width="stretch",
            alt=t(
                "Page {page} of {name}{marked}",
                page=preview.page,
                name=preview.file.name,
                marked=marked,
            ),
        )
    text = preview.window.text if preview.window else ""
    with st.expander(t("Text of this page"), type="compact", key="preview-text"):
        st.code(text or t("This page has no text."), language=None, wrap_lines=True)


def _draw_picture(preview: Preview) -> None:
    """As a model sees it: turned the right way and scaled down."""
    if preview.pages > 1:
        st.pagination(
            preview.pages, default=max(preview.page, 1), key="preview-page", max_visible_pages=5
        )
    of = (
        t("Page {page} of {name}", page=preview.page, name=preview.file.name)
        if preview.pages > 1
        else preview.file.name
    )
    st.image(preview.picture, width="content", alt=of)


def _draw_text(preview: Preview, cursors: list[str], quote: str) -> None:
    window = preview.window
    if window is None:
        return
    language = "python" if preview.file.name.endswith(".py") else None
    height: Any = TEXT_HEIGHT if len(window.text) > 1500 else "content"
    spans = find_in_window(window.text, quote) if preview.sought and preview.sought.found else ()
    if spans:
        with st.container(border=True, height=height, key="preview-marked"):
            st.markdown(markdown.marked(window.text, spans))
    else:
        st.code(
            window.text or t("Nothing to show."), language=language, wrap_lines=True, height=height
        )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(markdown.label(places.place(window.coverage)), width="stretch")
        if len(cursors) > 1 and st.button(
            t("Back"), key="preview-back", type="tertiary", icon=":material/arrow_back:"
        ):
            cursors.pop()
            redraw("fragment")
        if window.cursor and st.button(
            t("Next"),
            key="preview-next",
            type="tertiary",
            icon=":material/arrow_forward:",
            icon_position="right",
        ):
            cursors.append(window.cursor)
            redraw("fragment")
