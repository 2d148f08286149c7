"""Pinned results on a board, a card each: the table or the chart, one line of what it rests on, what
changed when it was computed again, and what can be done to it."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime

import streamlit as st

from leaf.errors import LeafError
from leaf.language import problems
from leaf.language.problems import told
from leaf.language.text import in_digits, t
from leaf.provenance import pins
from leaf.sessions.boards import PinShown
from leaf.shapes.pins import PinContent, PinOutcome
from leaf.shapes.results import ChartShown
from leaf.store.boards import TITLE_LENGTH, Board, Pin
from leaf.ui import clock, documents, markdown, preview, results, tabular, words
from leaf.ui.controls import icon_button, icon_menu
from leaf.ui.dialogs import dialog
from leaf.ui.redraw import redraw
from leaf.ui.state import session

A_PAGE = 20
"""Pins that are drawn at a time."""
ROWS_TALL = 8
REMOVED = "removed-pin"


def draw_pins(board: Board) -> None:
    """The pins of a board from top to bottom, some at a time."""
    last = max(1, math.ceil(board.pins / A_PAGE))
    page = min(st.session_state.get("board-page") or 1, last)
    shown = session().boards.pins(board.id, (page - 1) * A_PAGE, A_PAGE)
    for number, one in enumerate(shown, (page - 1) * A_PAGE + 1):
        with st.container(border=True, key=f"pin-card-{one.pin.id}"):
            _draw_card(one, number, board.pins)
    if last > 1:
        first = (page - 1) * A_PAGE + 1
        st.caption(
            t(
                "Pins {first}–{last} of {pins}",
                first=in_digits(first),
                last=in_digits(first + len(shown) - 1),
                pins=in_digits(board.pins),
            )
        )
        st.pagination(last, key="board-page", max_visible_pages=5)


def draw_undo() -> None:
    """After a pin was removed, until the next one is."""
    removed: tuple[str, str] | None = st.session_state.get(REMOVED)
    if removed is None:
        return
    pin_id, title = removed
    with st.container(
        horizontal=True, vertical_alignment="center", wrap=False, border=True, key="undo-pin"
    ):
        st.markdown(t("Removed “{title}”.", title=markdown.label(title, 60)), width="stretch")
        st.button(
            t("Undo"),
            key="undo-pin-button",
            type="tertiary",
            icon=":material/undo:",
            on_click=_restore,
            args=(pin_id,),
        )
        if icon_button(t("Leave it removed"), "undo-pin-close", "close"):
            del st.session_state[REMOVED]
            redraw()


def _draw_card(shown: PinShown, number: int, of: int) -> None:
    pin = shown.pin
    _draw_head(pin, number, of)
    if pin.content is None:
        st.markdown(f":material/visibility_off: {t(pins.STATES[pin.state])}")
        return
    _draw_outcome(pin)
    _draw_content(pin.content, f"pinned-{pin.id}-{pin.result}", pin.title)
    _draw_evidence(shown, pin.content)
    if pin.earlier is not None and pin.outcome is not None:
        _draw_earlier(pin, pin.earlier, pin.outcome)
    _draw_receipt(pin.content, pin)
    _draw_ways(shown, pin.content)


def _draw_head(pin: Pin, number: int, of: int) -> None:
    with st.container(
        horizontal=True,
        vertical_alignment="center",
        wrap=False,
        gap="xsmall",
        key=f"pin-head-{pin.id}",
    ):
        if pin.title:
            st.subheader(markdown.label(pin.title, TITLE_LENGTH), anchor=False, width="stretch")
        if not pin.own:
            return
        title = words.cut(pin.title, 40)
        for name, icon, steps, at_end in (
            (t("Move “{title}” up", title=title), "arrow_upward", -1, number == 1),
            (t("Move “{title}” down", title=title), "arrow_downward", 1, number == of),
        ):
            st.button(
                markdown.label(name),
                key=f"icon-move-{steps}-{pin.id}",
                icon=f":material/{icon}:",
                type="tertiary",
                help=markdown.label(name),
                disabled=at_end,
                on_click=_act,
                args=(session().boards.move, pin.id, steps),
            )
        chosen = icon_menu(
            markdown.label(t("Rename or remove “{title}”", title=title)),
            ["Rename", "Remove"],
            f"pin-menu-{pin.id}",
        )
    if chosen == "Rename":
        _ask_title(pin.id, pin.title)
    elif chosen == "Remove":
        _act(session().boards.remove, pin.id)
        if "problem" not in st.session_state:
            st.session_state[REMOVED] = (pin.id, pin.title)
        redraw()


def _draw_outcome(pin: Pin) -> None:
    """What came of computing it again."""
    outcome = pin.outcome
    if outcome is None:
        return
    at = words.when(datetime.fromisoformat(outcome["at"]), clock.today())
    text = f"{markdown.paragraph(problems.said(outcome['text']))} :small[({at})]"
    if outcome["outcome"] == "same":
        st.caption(f":green[:material/check:] {text}")
        return
    st.warning(text, icon=":material/warning:")


def _draw_earlier(pin: Pin, earlier: PinContent, outcome: PinOutcome) -> None:
    """What it showed before it came out otherwise, and the first cells that differ."""
    holder = st.expander(
        t("What was here before"), type="compact", key=f"pin-earlier-{pin.id}", on_change="rerun"
    )
    if not holder.open:
        return
    with holder:
        if outcome["cells"]:
            cells = [list(cell) for cell in outcome["cells"]]
            columns = [t("row"), t("column"), t("then"), t("now")]
            tabular.draw(columns, cells, (), key=f"pin-cells-{pin.id}")
        _draw_content(earlier, f"pin-was-{pin.id}", t("{title}, before", title=pin.title))
        st.caption(markdown.label(_line(earlier), 300))


def _draw_content(content: PinContent, key: str, title: str) -> None:
    if (spec := content.get("spec")) is not None:
        # What stands above it need not be said again.
        chart_spec = {k: v for k, v in spec.items() if k != "title" or v != title}
        chart: ChartShown = {
            "spec": chart_spec,
            "columns": content["columns"],
            "rows": content["rows"],
            "types": content["types"],
        }
        with st.container(key=f"chart-{key}"):
            tabular.chart(chart, key=key, alt=title)
        return
    tabular.draw(content["columns"], content["rows"], content["types"], key=key, tall=ROWS_TALL)


def _line(content: PinContent) -> str:
    """`The first 50 of 1,204 rows · 5,000 of 5,000 rows of sales.csv · computed 14:02`."""
    at = pins.computed_at(content)
    when = t("computed {at}", at=words.when(at, clock.today())) if at else ""
    return " · ".join(filter(None, (pins.extent(content), pins.line(content), when)))


def _draw_evidence(shown: PinShown, content: PinContent) -> None:
    doubts = [*map(problems.said, shown.stale), *pins.doubts(content)]
    if shown.gone:
        doubts.insert(
            0,
            t(
                "{what}. What is shown here was kept with the pin.",
                what=problems.said(shown.gone).rstrip("."),
            ),
        )
    for doubt in doubts:
        st.caption(f":orange[:material/warning:] {markdown.label(doubt, 300)}")
    st.caption(markdown.label(_line(content), 300))


def _draw_receipt(content: PinContent, pin: Pin) -> None:
    """What made it and the files behind it, made only while it is open."""
    holder = st.expander(
        t("Query and files") if content["sql"] else t("Code and files"),
        type="compact",
        key=f"pin-receipt-{pin.id}",
        on_change="rerun",
    )
    if not holder.open:
        return
    with holder:
        code, language = pins.code(content)
        if code:
            st.code(code, language=language, wrap_lines=True)
        for source in content["sources"]:
            st.caption(markdown.label(pins.source(source), 300))
        for note in pins.notes(content):
            st.caption(f":material/info: {markdown.label(note, 300)}")


def _draw_ways(shown: PinShown, content: PinContent) -> None:
    """To the answer that it comes from, to all rows, and to new ones."""
    pin = shown.pin
    with st.container(horizontal=True, gap="small", key=f"pin-ways-{pin.id}"):
        if pin.own and st.button(
            t("Recompute"),
            key=f"pin-recompute-{pin.id}",
            icon=":material/refresh:",
            help=t("Run it again, over the files as they are now"),
        ):
            with st.spinner(t("Running it again")):
                _act(session().boards.recompute, pin.id)
            redraw()
        if pin.chat_title is not None:
            if not shown.gone and "spec" not in content:
                results.draw_button(
                    pin.chat_id, pin.result, content["total"], f"pin-{pin.id}", preview.show_result
                )
            if st.button(
                t("Open the answer") if pin.message_id else t("Open the chat"),
                key=f"pin-answer-{pin.id}",
                type="tertiary",
                icon=":material/forum:",
                help=markdown.label(t("In “{title}”", title=pin.chat_title or t("New chat")), 100),
            ):
                _open(pin)


def _open(pin: Pin) -> None:
    """The message that it comes from, in its chat."""
    preview.close()
    message = {"message": pin.message_id} if pin.message_id else {}
    st.switch_page(documents.CHAT_PAGE, query_params={"chat": pin.chat_id} | message)


def _restore(pin_id: str) -> None:
    _act(session().boards.restore, pin_id)
    st.session_state.pop(REMOVED, None)


def _act(act: Callable[..., object], *args: object) -> None:
    """What went wrong is said above the pins when the page is drawn."""
    try:
        act(*args)
    except LeafError as e:
        st.session_state["problem"] = told(e)


@dialog("Rename pin")
def _ask_title(pin_id: str, title: str) -> None:
    with st.form("rename-pin", border=False):
        new = st.text_input(t("Title"), value=title, max_chars=TITLE_LENGTH)
        if st.form_submit_button(t("Rename"), type="primary"):
            try:
                session().boards.rename_pin(pin_id, new or "")
            except LeafError as e:
                st.warning(markdown.paragraph(told(e)))
            else:
                redraw()
