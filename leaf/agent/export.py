"""Messages as Markdown: for download, for the clipboard and for the command line."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from leaf.agent.events import place_of
from leaf.language.text import ENGLISH, speaking
from leaf.provenance.citations import Text, citation_of, flow, footnotes, with_marks
from leaf.provenance.coverage import covered_of, doubts, notes, sentence
from leaf.provenance.receipts.answer import kept_receipts
from leaf.provenance.receipts.documents import Traced
from leaf.shapes.harmless import harmless_markdown
from leaf.shapes.part_values import (
    data_in,
    is_source,
    is_tool,
    newest,
    output_of,
    texts_of,
    tool_name,
)
from leaf.shapes.parts import UNREADABLE, Part, ReceiptKept, ToolPart
from leaf.shapes.results import ChartShown, FigureDrawn, Printed, TableShown
from leaf.store.model import Message
from leaf.tables.sql import is_number

ROWS_SHOWN = 20
PRINTED_SHOWN = 2_000
"""Characters of what a cell printed."""
CODE = {"sql": "sql", "code": "python"}
"""Parameter of a call -> the language of what stands in it."""
NO_DOCUMENTS: Traced = {}
PICTURES = 40
"""Charts and figures that are drawn in a document of a chat."""
PICTURE_SCHEME = "picture:"
"""Address of a picture in the Markdown of such a document: its number follows."""
_MARKS = re.compile(r"[\\`*\[\]~$]|!(?=\[)|&(?=#?\w+;)|^[#>]|#+$|(?<![^\W_])_|_(?![^\W_])")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")


@dataclass(frozen=True)
class _Form:
    """How an answer is told."""

    mark: str = "[^{}]"
    note: str = "[^{}]: {}"
    draw: Callable[[ToolPart], list[str]] = lambda _: []
    """What stands for the charts and figures of a step."""

    def of_answer(self, number: int) -> _Form:
        """That of one answer among others: a footnote is known by its name in the whole of a text,
        and `[^1]` would stand for the source of whichever answer had it first."""
        mark, note = (text.replace("^", f"^{number}-") for text in (self.mark, self.note))
        return replace(self, mark=mark, note=note)


_PLAIN = _Form()


@dataclass
class ChatDocument:
    """A chat as it is set in a document: Markdown, and the pictures that it shows."""

    text: str = ""
    pictures: list[bytes] = field(default_factory=list)
    """PNGs, the one with the address `picture:0` first."""


@speaking(ENGLISH)
def chat_markdown(title: str, messages: Iterable[Message], documents: Traced = NO_DOCUMENTS) -> str:
    """A chat from its first question to its last answer. `documents`: what the figures of those
    that it wrote rest on."""
    return harmless_markdown("\n\n".join(_sections(title, messages, documents, _PLAIN)) + "\n")


def _sections(title: str, messages: Iterable[Message], documents: Traced, form: _Form) -> list[str]:
    sections, answers = [f"# {title or 'Untitled chat'}"], 0
    for message in messages:
        if message.role == "user":
            sections += [headed(2, _text(message.parts)), *_files(message.parts)]
            sections += _instructions(message.parts)
        else:
            answers += 1
            sections.append(_answer(message, documents, form.of_answer(answers)))
    return sections


@speaking(ENGLISH)
def chat_document(
    title: str,
    messages: Iterable[Message],
    drawn: Callable[[ChartShown | FigureDrawn], bytes | str],
    documents: Traced = NO_DOCUMENTS,
) -> ChatDocument:
    """The same for PDF and Word: with marks and notes that need no footnotes, and with the charts
    and figures, which `drawn` gives as PNG, or says why it cannot."""
    export, nonce = ChatDocument(), secrets.token_hex(12)
    places: list[str] = []

    def draw(part: ToolPart) -> list[str]:
        lines = []
        for label, picture in pictures_of(part):
            if len(export.pictures) == PICTURES:
                lines.append(f"*{label} is not drawn here: a document has {PICTURES} pictures.*")
                continue
            png = drawn(picture)
            if isinstance(png, str):
                lines.append(f"*{label}: {png}*")
                continue
            # No text of the chat can hold this, so that no other picture gets an address.
            place = f"leafpicture{nonce}n{len(places)}n"
            places.append(f"![{_words(label)}]({PICTURE_SCHEME}{len(places)})")
            export.pictures.append(png)
            lines.append(place)
        return lines

    # Escaped, or an answer that has `[1]: https://…` would make links of them.
    form = _Form(r"\[{}\]", r"- \[{}\] {}", draw)
    export.text = harmless_markdown("\n\n".join(_sections(title, messages, documents, form)) + "\n")
    export.text = re.sub(
        rf"leafpicture{nonce}n(\d+)n", lambda match: places[int(match[1])], export.text
    )
    return export


def pictures_of(part: ToolPart) -> list[tuple[str, ChartShown | FigureDrawn]]:
    """The chart and the figures of a step, each with what it is called."""
    data = (part.get("output") or {}).get("data") or {}
    pictures: list[tuple[str, ChartShown | FigureDrawn]] = []
    chart = data.get("chart")
    if chart and chart.get("spec"):
        title = chart["spec"].get("title")
        called = title.get("text") if isinstance(title, dict) else title
        pictures.append((called if isinstance(called, str) and called else "Chart", chart))
    pictures += [(figure["label"] or "Figure", figure) for figure in data.get("figures") or ()]
    return pictures


def _words(label: str) -> str:
    """As the description of a picture."""
    return " ".join(re.sub(r"[\[\]\\!<>`]", " ", label).split())[:200]


@speaking(ENGLISH)
def answer_markdown(
    answer: Message, question: Message | None, documents: Traced = NO_DOCUMENTS
) -> str:
    """One answer with its question, its steps, its sources and its coverage."""
    head = f"{headed(1, _text(question.parts))}\n\n" if question else ""
    return harmless_markdown(head + _answer(answer, documents) + "\n")


def _answer(message: Message, documents: Traced, form: _Form = _PLAIN) -> str:
    sections = []
    for piece in flow(message.parts):
        if isinstance(piece, Text):
            sections.append(_whole(with_marks(piece, form.mark)))
        elif is_tool(part := piece[1]):
            sections += [_step(part), *form.draw(part)]
        elif part["type"] == "unreadable":
            sections.append(f"*{UNREADABLE}*")
    sections = [section for section in sections if section]
    told = (
        _written(message.parts),
        _footnotes(message.parts, form.note),
        _sources(message.parts),
        _coverage(message.parts),
        _figures(message.parts),
    )
    sections += [section for section in told if section]
    sections += [f"*{text}*" for text in _documents(message.parts, documents)]
    if ending := ending_in_words(message.status, message.error):
        sections.append(f"*{as_words(ending)}*")
    return "\n\n".join(sections)


def _written(parts: Sequence[Part]) -> str:
    """The files that Python wrote."""
    outputs = [output for part in parts if (output := output_of(part))]
    names = [
        file["name"]
        for output in outputs
        for file in (output.get("data") or {}).get("written") or ()
    ]
    return (
        f"Files written: {', '.join(f'`{name}`' for name in dict.fromkeys(names))}" if names else ""
    )


def _figures(parts: Sequence[Part]) -> str:
    """How many figures have a receipt, and those that have none."""
    lines = figures_in_words(kept_receipts(parts))
    return f"*{as_words(' '.join(lines))}*" if lines else ""


def figures_in_words(found: Sequence[ReceiptKept], verb: str = "have a receipt") -> list[str]:
    """`12 of 13 figures have a receipt.`, those that have none, and what is said of those that the
    results contradict."""
    if not found:
        return []
    missing = list(
        dict.fromkeys(str(receipt["text"]) for receipt in found if receipt["kind"] == "none")
    )
    against = [
        f"{receipt['text']}: {receipt['against']}" for receipt in found if receipt.get("against")
    ]
    having = sum(receipt["kind"] != "none" and not receipt.get("against") for receipt in found)
    lines = [f"{having} of {len(found)} figures {verb}."]
    if missing:
        lines.append(f"Without a receipt: {', '.join(missing)}.")
    if against:
        lines.append(f"Against the results: {' '.join(against)}")
    return lines


def _documents(parts: Sequence[Part], documents: Traced) -> list[str]:
    """The same for each document that an answer wrote."""
    paragraphs = []
    for part in parts:
        card = data_in(part, "document")
        traced = (
            documents.get((card.get("documentId", ""), card.get("version", 0))) if card else None
        )
        if card and traced and traced["receipts"]:
            lines = figures_in_words(traced["receipts"], "are traced")
            about = f"Document “{card['title']}”, version {card['version']}: {' '.join(lines)}"
            paragraphs.append(as_words(about))
    return paragraphs


def _step(part: ToolPart) -> str:
    if part["state"] == "output-error":
        return _quoted(as_words(f"{tool_name(part)}: {part.get('errorText', '')}"))
    output, asked = part.get("output") or {}, part.get("input") or {}
    lines = [f"> {as_words(output.get('summary', tool_name(part)))}"]
    for name, language in CODE.items():
        if isinstance(code := asked.get(name), str) and code.strip():
            lines.append(f"\n{fenced(code, language)}")
    data = output.get("data") or {}
    if cell := data.get("python"):
        lines += _printed(cell)
    for table in (data.get("table"), *(data.get("tables") or ())):
        if table:
            lines += _table(table)
    return "\n".join(lines)


def _printed(cell: Printed) -> list[str]:
    """What a cell of Python printed, and the value of its last line."""
    lines = []
    texts = (("Printed", cell.get("printed", "")), ("Value", cell.get("value", "")))
    for what, text in texts:
        if text.strip():
            characters = int(cell.get("characters", 0)) if what == "Printed" else 0
            most = max(len(text), characters)
            cut = f", the first {PRINTED_SHOWN:,} of {most:,} characters"
            lines.append(f"\n{what}{cut if most > PRINTED_SHOWN else ''}:")
            lines.append(f"\n{fenced(text[:PRINTED_SHOWN], 'text')}")
    return lines


def _table(table: TableShown) -> list[str]:
    """The first rows of a result, and what is said about it."""
    lines = [f"\n{as_words(table['name'])}:"] if table.get("name") else []
    if rows := table.get("rows"):
        columns = [as_words(str(column)) for column in table["columns"]]
        cells = [[_cell(cell) for cell in row] for row in rows[:ROWS_SHOWN]]
        lines.append(f"\n{markdown_table(columns, cells, table.get('types', ()))}")
        if (total := table.get("total", len(rows))) > len(cells):
            lines.append(f"\n{len(cells)} of {total:,} rows are shown here.")
    lines += [f"\nNote: {as_words(sentence)}" for sentence in table.get("said") or ()]
    return lines


def _cell(value: object) -> object:
    """Words of a cell as words: in Markdown `__init__` is init, and a path loses its
    backslashes."""
    return value if value is None or isinstance(value, bool | int | float) else as_words(str(value))


def as_words(text: str) -> str:
    """Text of a line that Markdown shows as it is; bars of a table are escaped by
    `markdown_table`."""
    return _TAG.sub("&lt;", _MARKS.sub(r"\\\g<0>", text))


def fenced(code: str, language: str) -> str:
    """Code in a fence that nothing in it closes."""
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", code)), 3)
    lines = code.strip("\n")
    return f"{fence}{language}\n{lines}\n{fence}"


def markdown_table(
    columns: Sequence[str], rows: Iterable[Iterable[object]], types: Sequence[str] = ()
) -> str:
    """A pipe table; bars and line breaks within cells are escaped, and columns whose SQL `types`
    are numbers go right."""

    def line(cells: Iterable[object]) -> str:
        return (
            "| "
            + " | ".join(
                "" if c is None else " ".join(str(c).splitlines()).replace("|", "\\|")
                for c in cells
            )
            + " |"
        )

    ruler = ["---:" if is_number(kind) else "---" for kind in types] or ["---"] * len(columns)
    return "\n".join([line(columns), line(ruler), *(line(row) for row in rows)])


def _footnotes(parts: Sequence[Part], form: str) -> str:
    """What the marks stand for, a line each; a second quote of a place goes on in the first
    one's."""
    notes: dict[int, list[str]] = {}
    for number, note in footnotes(parts):
        notes.setdefault(number, []).append(note)
    return "\n".join(
        form.format(number, as_words("; ".join(texts))) for number, texts in notes.items()
    )


def _sources(parts: Sequence[Part]) -> str:
    lines = [f"- {as_words(source)}" for source in sources_in_words(parts)]
    return "**Sources**\n\n" + "\n".join(lines) if lines else ""


def sources_in_words(parts: Sequence[Part]) -> list[str]:
    """The places that the steps of an answer have read, each once."""
    places = (
        ", ".join(filter(None, (str(part["title"]), place_of(part))))
        for part in parts
        if is_source(part) and not citation_of(part)
    )
    return list(dict.fromkeys(places))


def _coverage(parts: Sequence[Part]) -> str:
    line, *more = coverage_in_words(parts)
    return "\n".join(as_words(text) for text in (line, *(f"- {text}" for text in more)) if text)


def coverage_in_words(parts: Sequence[Part]) -> list[str]:
    """How much was read of what, which may be empty, and what is doubtful or noted about it."""
    covered = covered_of(parts)
    doubtful = [f"Doubtful: {text}." for text in doubts(covered)]
    return [sentence(covered), *doubtful, *(f"Note: {text}." for text in notes(covered))]


def ending_in_words(status: str, error: str = "") -> str:
    """What is said of an answer that is not whole; empty for one that is."""
    if status == "stopped":
        return "Stopped. What was found so far is kept."
    if status == "error":
        return f"Not finished: {error}" if error else "Not finished."
    return "" if status == "completed" else "This answer was still being written."


def _text(parts: Sequence[Part]) -> str:
    return "\n".join(texts_of(parts)).strip()


def headed(level: int, question: str) -> str:
    """A question as a heading, with nothing open behind it; code that it begins with cannot stand
    in one."""
    text, mark = _whole(question), "#" * level
    return f"{mark} Question\n\n{text}" if text.startswith("```") else f"{mark} {text}"


def _whole(text: str) -> str:
    """Somebody's Markdown without an end that is open: code that a person or a stopped model did
    not close would take all that follows for code."""
    return harmless_markdown(text).strip()


def _files(parts: Sequence[Part]) -> list[str]:
    names = [file["name"] for part in parts for file in data_in(part, "files") or ()]
    return [f"Files: {', '.join(map(as_words, names))}"] if names else []


def _instructions(parts: Sequence[Part]) -> list[str]:
    """What the model was told of a project's instructions with a question."""
    told = newest(parts, "instructions")
    if told is None:
        return []
    if not told["text"]:
        return ["Without project instructions from here on."]
    return [f"Project instructions:\n\n{_quoted(told['text'])}"]


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())
