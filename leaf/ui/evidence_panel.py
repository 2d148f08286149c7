"""The detail behind the line under an answer, beside the page: what was read, the figures with their
receipts, the sources, and what the answer took."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from leaf.agent.rules.tables import is_lookup
from leaf.language import places
from leaf.language.text import mark, n_, t
from leaf.provenance import coverage
from leaf.provenance.citations import citation_of
from leaf.shapes.part_values import is_tool, newest, succeeded
from leaf.shapes.parts import BudgetData, Cited, Part, ToolPart
from leaf.store.model import Message
from leaf.ui import citations, edits, evidence, freshness, markdown, receipts, words
from leaf.ui.preview import show as show_preview
from leaf.ui.preview import show_receipt
from leaf.ui.redraw import redraw
from leaf.ui.state import session

TITLES = {
    "all": mark("Details of this answer"),
    "data": mark("Data read"),
    "figures": mark("Figures"),
    "sources": mark("Sources"),
    "cost": mark("Time and cost"),
}
"""Sections by their names in links; the first is all of them."""
ACTIONS = {
    "read": mark("Read"),
    "found": mark("Found by search"),
    "described": mark("Columns looked at"),
    "queried": mark("Queried"),
    "viewed": mark("Looked at"),
    "computed": mark("Used in Python"),
}


def draw(message_id: str, section: str) -> None:
    """One section, or all, each under its heading.

    Raises NotFoundError if the answer is gone.
    """
    message = session().messages.get(message_id)
    with st.container(key="evidence"):
        for name, draw_section in SECTIONS.items():
            if section == name:
                draw_section(message)
            elif section == "all":
                st.markdown(f"##### {t(TITLES[name])}", anchors=False)
                draw_section(message)


def _draw_data(message: Message) -> None:
    covered = coverage.covered_of(message.parts)
    for text in coverage.doubts(covered):
        st.caption(f":orange[:material/warning:] {markdown.label(text, 300)}")
    for text in coverage.missing(covered):
        st.caption(f":orange[:material/warning:] {markdown.label(_sentence(text), 300)}")
    lines = [f"- {markdown.label(text, 300)}" for text in coverage.lines(covered)]
    st.markdown("\n".join(lines) if lines else t("No file was read for this answer."))
    for text in coverage.notes(covered):
        st.caption(f":material/info: {markdown.label(text, 300)}")
    if (newest(message.parts, "usage") or {}).get("model") != "keyless":
        _draw_budget(newest(message.parts, "budget"))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _draw_budget(budget: BudgetData | None) -> None:
    """How much of each file the model read."""
    if not budget or not budget.get("used"):
        return
    st.caption(markdown.label(words.budget(budget), 160))
    for file in budget["files"]:
        name, decision = markdown.label(file["name"], 60), markdown.label(words.decision(file), 200)
        st.caption(f"{name} · {decision}")
    if budget.get("more"):
        st.caption(n_("and {n} more file", "and {n} more files", budget["more"]))


def _draw_figures(message: Message) -> None:
    receipt_data = newest(message.parts, "receipts")
    if not receipt_data or not receipt_data.get("figures"):
        st.markdown(t("No figures to trace."))
        return
    st.caption(
        " · ".join(
            [
                words.traced(receipt_data),
                *words.opposite(receipt_data),
                *words.untraced(receipt_data),
            ]
        )
    )
    receipts.draw_figures(receipt_data["receipts"], message.id, show_receipt)


def _draw_sources(message: Message) -> None:
    """What the numbers in the text stand for, then each other place, once, with how it was used."""
    cited = [citation for part in message.parts if (citation := citation_of(part))]
    used = evidence.rests_on(message.parts)
    if not used:
        st.markdown(t("This answer rests on no file."))
    for _, sentence in freshness.since(message.chat_id, [use["file_id"] for use in used]):
        st.caption(f":orange[:material/update: {markdown.label(sentence, 300)}]")
    citations.draw(cited, message.id)
    quoted = {(citation["file_id"], citation["place"]) for citation in cited}
    by_place: dict[tuple[str, str], list[Cited]] = {}
    for use in evidence.sources(message.parts):
        if (use["file_id"], use["place"]) not in quoted:
            by_place.setdefault((use["file_id"], use["place"]), []).append(use)
    steps = _steps_with_code(message.parts)
    with st.container(key=f"sources-{message.id}", gap="xsmall"):
        for number, uses in enumerate(by_place.values()):
            _draw_place(number, uses, message, steps)


def _steps_with_code(parts: Sequence[Part]) -> dict[str, ToolPart]:
    """SQL or Python as sources tell it -> the step that ran it."""
    return {
        query: part
        for part in parts
        if is_tool(part) and (output := succeeded(part))
        for source in output.get("sources") or ()
        if (query := source.get("query", ""))
    }


def _draw_place(
    number: int, uses: Sequence[Cited], message: Message, steps: dict[str, ToolPart]
) -> None:
    """Code of `steps` can be edited where it is told first. Statements by which the rules found out
    what words name say nothing of the answer."""
    source = uses[0]
    title = markdown.label(
        " · ".join(filter(None, (source["name"], places.place(source["place"])))), 70
    )
    if st.button(
        title,
        key=f"source-{message.id}-{number}",
        icon=words.name_icon(source["name"]),
        type="tertiary",
        help=t("Open the source at this place"),
    ):
        show_preview(source["file_id"], source["place"])
        redraw()
    told = [use for use in uses if not is_lookup(use["query"])]
    done = dict.fromkeys((use["action"], use["query"], use["quote"]) for use in told)
    for action, query, quote in done:
        _draw_use(action, query, quote)
        if part := steps.pop(query, None):
            key = f"panel-{message.id}-{part['toolCallId']}"
            edits.draw(part, message.chat_id, message.id, key)


def _draw_use(action: str, query: str, quote: str) -> None:
    label = t(ACTIONS.get(action, action.capitalize()))
    words_sought = f": {query}" if query and action not in ("queried", "computed") else ""
    st.caption(markdown.label(label + words_sought, 200))
    if query and not words_sought:
        language = "sql" if action == "queried" else "python"
        st.code(query.strip(), language=language, wrap_lines=True)
    if quote:
        st.markdown("> " + markdown.label(quote, 420))


def _draw_cost(message: Message) -> None:
    usage = newest(message.parts, "usage") or {}
    lines = [f"- {markdown.label(line, 300)}" for line in words.usage(usage)]
    if usage.get("model") not in (None, "", "keyless"):
        lines.append(t("- Model: {model}", model=markdown.label(usage["model"], 80)))
    st.markdown("\n".join(lines) if lines else t("Nothing was measured."))


SECTIONS = {
    "data": _draw_data,
    "figures": _draw_figures,
    "sources": _draw_sources,
    "cost": _draw_cost,
}
