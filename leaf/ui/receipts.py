"""Receipts on the page: how many figures of an answer have one, and what one of them rests on, with
its query and its cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from leaf.errors import LeafError
from leaf.language import kept
from leaf.language.places import place
from leaf.language.problems import said, told
from leaf.language.text import in_digits, mark, n_, t
from leaf.provenance.citations import answer_text
from leaf.provenance.receipts.answer import kept_receipts
from leaf.shapes.part_values import call_in, data_of
from leaf.shapes.parts import ReceiptKept, ReceiptsData
from leaf.shapes.results import ChartShown, Data, Output, Printed, TableShown
from leaf.store.model import Message
from leaf.tables.again import Recomputed
from leaf.ui import markdown, results, tabular, words
from leaf.ui.redraw import redraw
from leaf.ui.state import session

DOCUMENT = "document:"
LISTED = 60
"""Figures that are listed under an answer."""
KINDS = {
    "exact": mark("As it stands in the result"),
    "rounded": mark("Rounded from the result"),
    "derived": mark("Follows from the results by one step"),
    "counted": mark("A count that the tools made"),
    "printed": mark("Printed by the code, or rounded from it"),
    "quoted": mark("Stands in the words that were read"),
    "condition": mark("Stands in the query"),
    "asked": mark("Stands in the question"),
    "none": mark("No receipt"),
}


def draw_list(
    receipts: ReceiptsData | None,
    message_id: str,
    show: Callable[[str, int], None],
    title: str,
) -> None:
    """`12 of 13 figures traced`, and each of them behind a click."""
    if not receipts or not receipts.get("figures"):
        return
    missing = receipts["figures"] - receipts["with"]
    icon = (
        ":material/warning:"
        if receipts.get("against")
        else ":material/help:"
        if missing
        else ":material/receipt_long:"
    )
    details = st.expander(
        f"{icon} {markdown.label(title, 160)}",
        type="compact",
        key=f"receipts-of-{message_id}",
        on_change="rerun",
    )
    if details.open:
        with details:
            draw_figures(receipts["receipts"], message_id, show)


def draw_figures(
    found: Sequence[ReceiptKept], message_id: str, show: Callable[[str, int], None]
) -> None:
    """Each figure with where it comes from; those that are against the results and those without a
    receipt first."""
    with st.container(gap="xxsmall", key=f"receipts-{message_id}"):
        order = sorted(
            range(len(found)),
            key=lambda i: (not found[i].get("against"), found[i]["kind"] != "none"),
        )
        for number in order[:LISTED]:
            title = markdown.label(f"{found[number]['text']} · {words.receipt(found[number])}", 140)
            symbol = _symbol(found[number])
            if st.button(title, key=f"receipt-{message_id}-{number}", icon=symbol, type="tertiary"):
                show(message_id, number)
                redraw()
        if len(found) > LISTED:
            st.caption(n_("and {n} more figure", "and {n} more figures", len(found) - LISTED))


def _symbol(receipt: ReceiptKept) -> str:
    if receipt.get("against"):
        return ":material/warning:"
    return ":material/help:" if receipt["kind"] == "none" else ":material/receipt_long:"


def of_document(document_id: str, version: int) -> str:
    """What stands for a version of a document where else the id of an answer stands."""
    return f"{DOCUMENT}{document_id}:{version}"


def _found(message_id: str) -> tuple[Sequence[ReceiptKept], Message | None]:
    """The receipts of an answer with its message, or those of a version of a document, each of
    which names its own."""
    if message_id.startswith(DOCUMENT):
        document_id, _, version = message_id.removeprefix(DOCUMENT).rpartition(":")
        traced = (
            session().documents.receipts(document_id, int(version)) if version.isdigit() else None
        )
        return (traced["receipts"] if traced else ()), None
    message = session().messages.get(message_id)
    return kept_receipts(message.parts), message


def draw_panel(message_id: str, number: int, show_result: Callable[[str, str], None]) -> None:
    """One figure: where it comes from, the query, the cells, the way to all rows, and whether the
    query gives them again.

    Raises NotFoundError if the answer is gone.
    """
    receipts, message = _found(message_id)
    if number >= len(receipts):
        st.caption(t("This figure is not there any more."))
        return
    receipt = receipts[number]
    st.markdown(f"### {markdown.label(receipt['text'])}", anchors=False)
    if receipt["kind"] == "none":
        st.badge(t(KINDS["none"]), icon=":material/help:", color="orange")
        st.markdown(
            t(
                "This figure was not found in what the tools of this chat gave, "
                "neither as it stands nor rounded, and does not follow from them by "
                "one step. It may still be right: ask Leaf to compute it with a query."
            )
        )
        return
    if receipt.get("against"):
        st.badge(t("Against the results"), icon=":material/warning:", color="orange")
        st.markdown(markdown.paragraph(str(receipt["against"])))
    else:
        st.badge(
            markdown.label(t(KINDS[receipt["kind"]])), icon=":material/receipt_long:", color="green"
        )
    for line in _facts(receipt):
        st.markdown(line)
    if receipt["kind"] == "asked" and message is not None:
        st.markdown("> " + markdown.label(_question(message), 400))
    if receipt.get("call_id"):
        _draw_call(receipt, message, show_result)


def _facts(receipt: ReceiptKept) -> list[str]:
    lines = []
    if receipt.get("value") and receipt["value"] != receipt["text"]:
        lines.append(t("Value: **{value}**", value=markdown.label(receipt["value"])))
    if receipt.get("how"):
        lines.append(t("How: {how}", how=markdown.label(receipt["how"], 200)))
    if receipt.get("column") and receipt.get("row", -1) >= 0:
        result = (
            t(" of result {result_id}", result_id=receipt["result_id"])
            if receipt.get("result_id")
            else ""
        )
        lines.append(
            t(
                "Cell: row {row}, column {column}",
                row=receipt["row"] + 1,
                column=markdown.label(receipt["column"] + result),
            )
        )
    if receipt.get("place"):
        lines.append(t("Place: {place}", place=markdown.label(place(receipt["place"]), 160)))
    return lines


def _question(message: Message) -> str:
    try:
        return answer_text(session().messages.get(message.parent_id).parts)
    except LeafError:
        return ""


def _draw_call(
    receipt: ReceiptKept, message: Message | None, show_result: Callable[[str, str], None]
) -> None:
    """The call behind a figure: its code, its rows with the cell marked, its files, and the button
    that runs it again."""
    if receipt.get("message_id"):
        st.caption(
            t("From an earlier answer of this chat.")
            if message
            else t("From an answer of its chat.")
        )
        message = session().messages.get(receipt["message_id"])
    if message is None:
        return
    part = call_in(message.parts, receipt["call_id"])
    if part is None:
        st.caption(t("The step behind it is not there any more."))
        return
    inputs, output = part.get("input") or {}, part.get("output") or {}
    data = data_of(part)
    table = _table_of(data, receipt.get("result_id", ""))
    for name, language in (("sql", "sql"), ("code", "python")):
        if inputs.get(name):
            st.code(str(inputs[name]).strip(), language=language, wrap_lines=True)
    st.caption(markdown.label(kept.said(str(output.get("summary") or "")), 200))
    if table and table.get("rows"):
        _draw_rows(table, receipt)
        for scanned in (data.get("table") or TableShown(columns=(), rows=())).get("scanned") or ():
            st.caption(markdown.label(words.scanned(scanned), 240))
    if passage := _passage_of(output, receipt):
        st.markdown("> " + markdown.label(passage, 500))
    if table and receipt.get("result_id"):
        total = int(table.get("total") or len(table["rows"]))
        name, chat_id = receipt["result_id"], message.chat_id
        if results.draw_gone(chat_id, name, "preview-receipt", show_result):
            return
        results.draw_button(chat_id, name, total, "preview-receipt", show_result)
    if words.tool_of(part).replay == "cell":
        _draw_printed(output, receipt)
        _draw_recompute(
            "cell", lambda: session().results.recompute_cell(message.id, receipt["call_id"])
        )
    elif table and receipt.get("result_id"):
        _draw_recompute(
            receipt["result_id"],
            lambda: session().results.recompute(message.chat_id, receipt["result_id"]),
        )


def _table_of(data: Data, result_id: str) -> TableShown | ChartShown | None:
    """The rows behind a figure: of the query, of the frame with that id, or of the chart."""
    frames = [frame for frame in data.get("tables") or () if frame.get("result_id") == result_id]
    return data.get("table") or (frames[0] if frames else None) or data.get("chart")


def _passage_of(output: Output, receipt: ReceiptKept) -> str:
    """The words of a source of a document that hold the figure."""
    passages = (
        (output.get("data") or {}).get("passages") or () if receipt["kind"] == "quoted" else ()
    )
    here = [p for p in passages if f"{p['name']} {p['place']}".strip() == receipt.get("place")]
    return next((p["text"] for p in here if receipt.get("value", "") in p["text"]), "")


def _draw_printed(output: Output, receipt: ReceiptKept) -> None:
    printed = ((output.get("data") or {}).get("python") or Printed()).get("printed")
    if printed and receipt["kind"] == "printed":
        st.code(
            str(printed)[:4_000],
            language=None,
            wrap_lines=True,
            height=260 if len(printed) > 600 else "content",
        )


def _draw_rows(table: TableShown | ChartShown, receipt: ReceiptKept) -> None:
    """Some rows around the cell, which is marked."""
    row, columns = int(receipt.get("row", -1)), list(table["columns"])
    first = max(0, row - 5)
    rows = table["rows"][first : first + 50]
    marks = None
    if row >= 0 and receipt.get("column") in columns:
        at = columns.index(receipt["column"])
        marks = tabular.QuotedCells(range(row - first, row - first + 1), range(at, at + 1))
    tabular.draw(columns, rows, table.get("types") or (), key="preview-receipt-rows", marks=marks)
    last = first + len(rows)
    st.caption(
        t(
            "Rows {first}–{last} of {rows}",
            first=in_digits(first + 1),
            last=in_digits(last),
            rows=words.count(int(table.get("total") or last), "row"),
        )
    )


def _draw_recompute(what: str, recompute: Callable[[], Recomputed]) -> None:
    done = f"preview-recomputed-{what}"
    if st.button(
        t("Recompute"),
        key="preview-recompute",
        icon=":material/refresh:",
        help=t("Run it again and compare"),
    ):
        with st.spinner(t("Running it again")):
            try:
                st.session_state[done] = recompute()
            except LeafError as e:
                st.session_state[done] = Recomputed("different", told(e))
    outcome: Recomputed | None = st.session_state.get(done)
    if outcome is None:
        return
    draw = st.success if outcome.outcome == "same" else st.warning
    draw(
        markdown.paragraph(said(outcome.text)),
        icon=":material/check:" if outcome.outcome == "same" else ":material/warning:",
    )
    if outcome.cells:
        tabular.draw(
            [t("row"), t("column"), t("then"), t("now")],
            [list(c) for c in outcome.cells],
            (),
            key="preview-recomputed-cells",
        )
