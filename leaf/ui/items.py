"""What an answer shows, from top to bottom, as a flat list of items made from its parts. Pure.

Item i is held by element i of the answer. The list of a longer stream begins with the list of a shorter one, except for its last
item and for steps that changed their state, so a live view need only draw what differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from leaf.agent.cited import Text, flow, footnotes
from leaf.agent.cited import answer_text as cited_text
from leaf.ui import marks, words
from leaf.ui.blocks import blocks

Part = Mapping[str, Any]
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
    part: Part = field(default_factory=dict, compare=False)
    """The part behind a step or a chart."""


def items(parts: Iterable[Part], running: bool = False) -> list[Item]:
    """Items of an answer; while it is running, the last one says so unless a text or a step is visibly growing, or says what
    it waits for.
    """
    found: list[Item] = []
    status = ""
    asked: dict[str, Part] = {}
    progress: dict[str, str] = {}
    known = [dict(part) for part in parts]
    receipts = _by_text(data(known, "receipts") or {})
    for piece in flow(known):
        if isinstance(piece, Text):
            found += _of_text(piece, receipts.get(piece.index, ()))
            continue
        number, part = piece
        found += _of_part(number, part)
        if part["type"] == "data-status":
            status = part["data"]["text"]
        elif part["type"] == "data-consent":
            asked[part["id"]] = part
        elif part["type"] == "data-progress":
            progress[part["id"]] = part["data"]["text"]
    at_work = [progress[item.key] for item in found if item.kind == "step" and item.text in WORKING and item.key in progress]
    open_questions = [part for part in asked.values() if part["data"]["state"] == "waiting"] if running else []
    if open_questions:
        found += [
            Item("consent", f"consent-{part['id']}", part["data"]["question"], part=part["data"]) for part in open_questions
        ]
    elif running and status:
        found.append(Item("status", "status", status))
    elif running and at_work:
        found.append(Item("progress", "progress", " · ".join(at_work)))
    elif running and not _growing(found):
        found.append(Item("waiting", "waiting"))
    return found


def _by_text(found: Mapping[str, Any]) -> dict[int, list[tuple[int, Mapping[str, Any]]]]:
    """Receipts by the part at which their text begins, each with its number among all of the answer."""
    by_text: dict[int, list[tuple[int, Mapping[str, Any]]]] = {}
    for number, receipt in enumerate(found.get("receipts") or ()):
        by_text.setdefault(int(receipt["part"]), []).append((number, receipt))
    return by_text


def _of_text(text: Text, receipts: Sequence[tuple[int, Mapping[str, Any]]]) -> list[Item]:
    """A text as blocks; marks that stand in a code block follow it."""
    found: list[Item] = []
    for i, block in enumerate(blocks(marks.held(text, receipts))):
        if block.kind == "text":
            found.append(Item("text", f"{text.index}-{i}", block.text))
            continue
        code, beside = marks.taken_out(block.text)
        found.append(Item("code", f"{text.index}-{i}", code, block.language))
        if beside:
            found.append(Item("text", f"{text.index}-{i}-marks", beside))
    return found


def _of_part(number: int, part: Part) -> list[Item]:
    kind = part["type"]
    if kind == "reasoning":
        return [Item("thought", str(number), part["text"])] if part["text"].strip() else []
    if kind == "data-folded":
        return [Item("note", str(part.get("id") or number), words.folded(part["data"]))]
    if kind == "data-questions":
        return [Item("questions", str(part.get("id") or number), "\n".join(map(str, part["data"])))]
    if kind.startswith("tool-"):
        step = Item("step", str(part["toolCallId"]), part["state"], part=part)
        chart = chart_of(part)
        if chart:
            return [step, Item("chart", f"chart-{part['toolCallId']}", part=chart)]
        found = [step]
        found += [Item("figures", f"figures-{part['toolCallId']}", part=part)] if figures_of(part) else []
        found += [Item("written", f"written-{part['toolCallId']}", part=part)] if written_of(part) else []
        return found
    return [_of_document(part)] if kind == "data-document" else []


def _of_document(part: Part) -> Item:
    """A document that grows, or what became of it."""
    data = part["data"]
    if data.get("state") == "writing":
        return Item("writing", str(part["id"]), data.get("text", ""), part=part)
    return Item("document", str(part["id"]), f"{data.get('state')} {data.get('version', '')}", part=part)


def chart_of(part: Part) -> Part:
    """The chart that a finished step made: {"spec", "columns", "rows"}; empty if it made none."""
    output = part.get("output") or {}
    chart = (output.get("data") or {}).get("chart") or {}
    return chart if chart.get("spec") else {}


def figures_of(part: Part) -> Sequence[Mapping[str, Any]]:
    """The figures that a finished step drew: {"sha256", "width", "height", "label"}."""
    output = part.get("output") or {}
    figures: Sequence[Mapping[str, Any]] = (output.get("data") or {}).get("figures") or ()
    return figures


def written_of(part: Part) -> Sequence[Mapping[str, Any]]:
    """The files that a finished step wrote: {"sha256", "name", "size"}."""
    output = part.get("output") or {}
    written: Sequence[Mapping[str, Any]] = (output.get("data") or {}).get("written") or ()
    return written


def _growing(found: Sequence[Item]) -> bool:
    return bool(found) and (
        found[-1].kind in ("text", "code", "writing") or (found[-1].kind == "step" and found[-1].text in WORKING)
    )


def answer_text(parts: Iterable[Part]) -> str:
    """The words of an answer without its steps, for the clipboard; its citations as marks, with what they stand for below."""
    known = [dict(part) for part in parts]
    notes = "\n".join(f"[{number}] {note}" for number, note in footnotes(known))
    return "\n\n".join(filter(None, (cited_text(known), notes)))


def data(parts: Iterable[Part], name: str) -> Any:
    """The newest `data-<name>` of a message, or None."""
    found = None
    for part in parts:
        if part["type"] == f"data-{name}":
            found = part["data"]
    return found
