"""What an answer shows, from top to bottom, as a flat list of items made from its parts. Pure.

Item i is held by element i of the answer. The list of a longer stream begins with the list of a
shorter one, except for its last item and for steps that changed their state, so a live view need
only draw what differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from leaf.provenance.citations import Text, flow, footnotes
from leaf.provenance.citations import answer_text as cited_text
from leaf.shapes.part_values import (
    data_in,
    data_of,
    is_consent,
    is_document,
    is_progress,
    is_reasoning,
    is_tool,
    newest,
)
from leaf.shapes.parts import (
    UNREADABLE,
    ConsentData,
    DocumentData,
    DocumentPart,
    Part,
    ReceiptKept,
    ReceiptsData,
    ToolPart,
)
from leaf.shapes.results import ChartShown, FigureDrawn, FileWritten
from leaf.ui import marks, words
from leaf.ui.blocks import blocks

Kind = Literal[
    "text",
    "code",
    "thought",
    "step",
    "chart",
    "figures",
    "written",
    "writing",
    "document",
    "consent",
    "waiting",
    "status",
    "progress",
    "note",
    "questions",
]

WORKING = frozenset({"input-streaming", "input-available"})


@dataclass(frozen=True)
class Item:
    """One element of an answer."""

    kind: Kind
    key: str
    """Unique within the answer and the same in every drawing of it."""
    text: str = ""
    """Markdown, code, a thought, a step's state, or questions, one a line."""
    language: str = ""
    step: ToolPart | None = field(default=None, compare=False)
    """Of a step, and of the figures and files that it made."""
    chart: ChartShown | None = field(default=None, compare=False)
    document: DocumentData | None = field(default=None, compare=False)
    asked: ConsentData | None = field(default=None, compare=False)


def items(parts: Iterable[Part], running: bool = False) -> list[Item]:
    """Items of an answer; while it is running, the last one says so unless a text or a step is
    visibly growing, or says what it waits for.
    """
    answer_items: list[Item] = []
    status = ""
    asked: dict[str, ConsentData] = {}
    progress: dict[str, str] = {}
    known = list(parts)
    receipts = _by_text(newest(known, "receipts"))
    for piece in flow(known):
        if isinstance(piece, Text):
            answer_items += _of_text(piece, receipts.get(piece.index, ()))
            continue
        number, part = piece
        answer_items += _of_part(number, part)
        if waits := data_in(part, "status"):
            status = waits["text"]
        elif is_consent(part):
            asked[part["id"]] = part["data"]
        elif is_progress(part):
            progress[part["id"]] = part["data"]["text"]
    at_work = [
        progress[item.key]
        for item in answer_items
        if item.kind == "step" and item.text in WORKING and item.key in progress
    ]
    open_questions = (
        [(key, data) for key, data in asked.items() if data["state"] == "waiting"]
        if running
        else []
    )
    if open_questions:
        answer_items += [
            Item("consent", f"consent-{key}", data["question"], asked=data)
            for key, data in open_questions
        ]
    elif running and status:
        answer_items.append(Item("status", "status", status))
    elif running and at_work:
        answer_items.append(Item("progress", "progress", " · ".join(at_work)))
    elif running and not _growing(answer_items):
        answer_items.append(Item("waiting", "waiting"))
    return answer_items


def _by_text(receipt_data: ReceiptsData | None) -> dict[int, list[tuple[int, ReceiptKept]]]:
    """Receipts by the part at which their text begins, each with its number among all of the
    answer."""
    by_text: dict[int, list[tuple[int, ReceiptKept]]] = {}
    for number, receipt in enumerate(receipt_data["receipts"] if receipt_data else ()):
        by_text.setdefault(receipt["part"], []).append((number, receipt))
    return by_text


def _of_text(text: Text, receipts: Sequence[tuple[int, ReceiptKept]]) -> list[Item]:
    """A text as blocks; marks that stand in a code block follow it."""
    text_items: list[Item] = []
    for i, block in enumerate(blocks(marks.held(text, receipts))):
        if block.kind == "text":
            text_items.append(Item("text", f"{text.index}-{i}", block.text))
            continue
        code, beside = marks.taken_out(block.text)
        text_items.append(Item("code", f"{text.index}-{i}", code, block.language))
        if beside:
            text_items.append(Item("text", f"{text.index}-{i}-marks", beside))
    return text_items


def _of_part(number: int, part: Part) -> list[Item]:
    if is_reasoning(part):
        return [Item("thought", str(number), part["text"])] if part["text"].strip() else []
    if is_tool(part):
        return _of_step(part)
    if is_document(part):
        return [_of_document(part)]
    key = part.get("id")
    name = key if isinstance(key, str) else str(number)
    if folded := data_in(part, "folded"):
        return [Item("note", name, words.folded(folded))]
    if (questions := data_in(part, "questions")) is not None:
        return [Item("questions", name, "\n".join(questions))]
    return [Item("note", name, UNREADABLE)] if part["type"] == "unreadable" else []


def _of_step(part: ToolPart) -> list[Item]:
    call_id = part["toolCallId"]
    step = Item("step", call_id, part["state"], step=part)
    if chart := chart_of(part):
        return [step, Item("chart", f"chart-{call_id}", chart=chart)]
    step_items = [step]
    step_items += [Item("figures", f"figures-{call_id}", step=part)] if figures_of(part) else []
    step_items += [Item("written", f"written-{call_id}", step=part)] if written_of(part) else []
    return step_items


def _of_document(part: DocumentPart) -> Item:
    """A document that grows, or what became of it."""
    data = part["data"]
    if data.get("state") == "writing":
        return Item("writing", part["id"], data.get("text", ""), document=data)
    return Item(
        "document", part["id"], f"{data.get('state')} {data.get('version', '')}", document=data
    )


def chart_of(part: ToolPart) -> ChartShown | None:
    """The chart that a finished step made."""
    chart = data_of(part).get("chart")
    return chart if chart and chart["spec"] else None


def figures_of(part: ToolPart) -> Sequence[FigureDrawn]:
    """The figures that a finished step drew."""
    return data_of(part).get("figures") or ()


def written_of(part: ToolPart) -> Sequence[FileWritten]:
    """The files that a finished step wrote."""
    return data_of(part).get("written") or ()


def _growing(answer_items: Sequence[Item]) -> bool:
    return bool(answer_items) and (
        answer_items[-1].kind in ("text", "code", "writing")
        or (answer_items[-1].kind == "step" and answer_items[-1].text in WORKING)
    )


def answer_text(parts: Iterable[Part]) -> str:
    """The words of an answer without its steps, for the clipboard; its citations as marks, with
    what they stand for below."""
    known = list(parts)
    notes = "\n".join(f"[{number}] {note}" for number, note in footnotes(known))
    return "\n\n".join(filter(None, (cited_text(known), notes)))
