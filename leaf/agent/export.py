"""Messages as Markdown: for download, for the clipboard and for the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from leaf.agent.cited import Text, citation_of, flow, footnotes, with_marks
from leaf.agent.coverage import covered_of, doubts, notes, sentence
from leaf.agent.events import Part, place_of
from leaf.agent.receipts.answer import kept_receipts
from leaf.store.model import Message
from leaf.tables.sql import is_number

ROWS_SHOWN = 20
Traced = Mapping[tuple[str, int], Mapping[str, Any]]
"""Document and version -> what was found for its figures: `receipts.documents.of_version`."""
NO_DOCUMENTS: Traced = {}


def chat_markdown(title: str, messages: Iterable[Message], documents: Traced = NO_DOCUMENTS) -> str:
    """A chat from its first question to its last answer. `documents`: what the figures of those that it wrote rest on."""
    sections = [f"# {title or 'Untitled chat'}"]
    for message in messages:
        if message.role == "user":
            sections.append(f"## {_text(message.parts)}\n{_files(message.parts)}".rstrip())
        else:
            sections.append(_answer(message, documents))
    return "\n\n".join(sections) + "\n"


def answer_markdown(answer: Message, question: Message | None, documents: Traced = NO_DOCUMENTS) -> str:
    """One answer with its question, its steps, its sources and its coverage."""
    head = f"# {_text(question.parts)}\n\n" if question else ""
    return head + _answer(answer, documents) + "\n"


def _answer(message: Message, documents: Traced) -> str:
    sections = []
    for piece in flow(message.parts):
        if isinstance(piece, Text):
            sections.append(with_marks(piece, "[^{}]").strip())
        elif piece[1]["type"].startswith("tool-"):
            sections.append(_step(piece[1]))
    sections = [section for section in sections if section]
    told = (_written, _footnotes, _sources, _coverage, _figures)
    sections += [section for tell in told if (section := tell(message.parts))]
    sections += [f"*{text}*" for text in _documents(message.parts, documents)]
    if message.status == "stopped":
        sections.append("*Stopped. What was found so far is kept.*")
    elif message.status == "error":
        sections.append(f"*Not finished: {message.error}*")
    return "\n\n".join(sections)


def _written(parts: Sequence[Part]) -> str:
    """The files that Python wrote."""
    outputs = [part["output"] for part in parts if isinstance(part.get("output"), Mapping)]
    names = [str(file["name"]) for output in outputs for file in (output.get("data") or {}).get("written") or ()]
    return f"Files written: {', '.join(f'`{name}`' for name in dict.fromkeys(names))}" if names else ""


def _figures(parts: Sequence[Part]) -> str:
    """How many figures have a receipt, and those that have none."""
    lines = figures_in_words(kept_receipts(parts))
    return f"*{' '.join(lines)}*" if lines else ""


def figures_in_words(found: Sequence[Mapping[str, Any]], verb: str = "have a receipt") -> list[str]:
    """`12 of 13 figures have a receipt.`, those that have none, and what is said of those that the results contradict."""
    if not found:
        return []
    missing = list(dict.fromkeys(str(receipt["text"]) for receipt in found if receipt["kind"] == "none"))
    against = [f"{receipt['text']}: {receipt['against']}" for receipt in found if receipt.get("against")]
    having = sum(receipt["kind"] != "none" and not receipt.get("against") for receipt in found)
    lines = [f"{having} of {len(found)} figures {verb}."]
    if missing:
        lines.append(f"Without a receipt: {', '.join(missing)}.")
    if against:
        lines.append(f"Against the results: {' '.join(against)}")
    return lines


def _documents(parts: Sequence[Part], documents: Traced) -> list[str]:
    """The same for each document that an answer wrote."""
    said = []
    for part in parts:
        card = part["data"] if part["type"] == "data-document" else {}
        traced = documents.get((str(card.get("documentId")), int(card.get("version") or 0)))
        if traced and traced["receipts"]:
            lines = figures_in_words(traced["receipts"], "are traced")
            said.append(f"Document “{card['title']}”, version {card['version']}: {' '.join(lines)}")
    return said


def _step(part: Part) -> str:
    if part["state"] == "output-error":
        return f"> {part['type'].removeprefix('tool-')}: {part.get('errorText', '')}"
    output = part.get("output") or {}
    lines = [f"> {output.get('summary', part['type'].removeprefix('tool-'))}"]
    sql = (part.get("input") or {}).get("sql")
    if sql:
        lines.append(f"\n```sql\n{sql.strip()}\n```")
    table = (output.get("data") or {}).get("table")
    if table and table.get("rows"):
        lines.append("\n" + markdown_table(table["columns"], table["rows"][:ROWS_SHOWN], table.get("types", ())))
        if table["total"] > ROWS_SHOWN:
            lines.append(f"\n{ROWS_SHOWN} of {table['total']:,} rows are shown here.")
    return "\n".join(lines)


def markdown_table(columns: Sequence[str], rows: Iterable[Iterable[object]], types: Sequence[str] = ()) -> str:
    """A pipe table; bars and line breaks within cells are escaped, and columns whose SQL `types` are numbers go right."""

    def line(cells: Iterable[object]) -> str:
        return "| " + " | ".join("" if c is None else str(c).replace("|", "\\|").replace("\n", " ") for c in cells) + " |"

    ruler = ["---:" if is_number(kind) else "---" for kind in types] or ["---"] * len(columns)
    return "\n".join([line(columns), line(ruler), *(line(row) for row in rows)])


def _footnotes(parts: list[Part]) -> str:
    """What the marks stand for, as Markdown's footnotes; a second quote of a place goes on in the first one's."""
    notes: dict[int, list[str]] = {}
    for number, note in footnotes(parts):
        notes.setdefault(number, []).append(note)
    return "\n".join(f"[^{number}]: {'; '.join(texts)}" for number, texts in notes.items())


def _sources(parts: list[Part]) -> str:
    lines = []
    for part in parts:
        if part["type"] == "source-document" and not citation_of(part):
            lines.append(", ".join(filter(None, (f"- {part['title']}", place_of(part)))))
    return "**Sources**\n\n" + "\n".join(dict.fromkeys(lines)) if lines else ""


def _coverage(parts: list[Part]) -> str:
    covered = covered_of(parts)
    doubtful = [f"- Doubtful: {said}." for said in doubts(covered)]
    return "\n".join(filter(None, (sentence(covered), *doubtful, *(f"- Note: {said}." for said in notes(covered)))))


def _text(parts: list[Part]) -> str:
    return "\n".join(p["text"] for p in parts if p["type"] == "text").strip()


def _files(parts: list[Part]) -> str:
    names = [f["name"] for p in parts if p["type"] == "data-files" for f in p["data"]]
    return "Files: " + ", ".join(names) if names else ""
