"""What anyone sees who has the link of a chat: one page with the questions, the answers, their charts
and what they rest on, as they stood when the link was made. Pure.

No file, no download and no id gets in, and of people only the names of those who asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape

from leaf.agent.export import (
    PICTURES,
    ending_in_words,
    figures_in_words,
    pictures_of,
    sources_in_words,
)
from leaf.exports import html
from leaf.language.text import ENGLISH, speaking
from leaf.provenance.citations import Text, flow, footnotes, with_marks
from leaf.provenance.coverage import covered_of, doubts, notes, sentence
from leaf.provenance.receipts.answer import kept_receipts
from leaf.shapes.part_values import data_in, is_tool, texts_of, tool_name
from leaf.shapes.parts import UNREADABLE, Part, ToolPart
from leaf.shapes.results import ChartShown, FigureDrawn, TableShown
from leaf.store.model import Message
from leaf.tables.sql import is_number
from leaf.tools.registry import declared

ROWS, COLUMNS = 50, 40
"""Of a table."""
HEAD = '<meta name="robots" content="noindex, nofollow">\n<meta name="referrer" content="no-referrer">\n'
_STYLE = """
body{max-width:52rem}h2{white-space:pre-wrap;font-weight:600}h3,h4,h5,h6{font-size:1rem;margin:.8rem 0 .3rem}
details{margin:.5rem 0;border-inline-start:2px solid var(--rule);padding-inline-start:.7rem}
summary{cursor:pointer;color:var(--quiet);font-size:.9rem;overflow-wrap:anywhere;min-height:24px}
figure{margin:.8rem 0}figure img{max-height:30rem}
ul.quiet,ol.quiet{padding-inline-start:1.3rem;margin:.3rem 0}li{overflow-wrap:anywhere}
.answer>p{margin:.6rem 0}
"""
Drawn = Callable[[ChartShown | FigureDrawn], bytes | str]
"""As PNG, or why not."""


@dataclass(frozen=True)
class ChatShown:
    """A chat as it is shown to anyone."""

    title: str
    messages: Sequence[Message]
    """The shown branch, from its first question."""
    askers: Mapping[str, str]
    """User id -> name, of those who asked; empty where nobody signs in."""
    at: datetime


@speaking(ENGLISH)
def chat_page(told: ChatShown, drawn: Drawn) -> str:
    """The whole page."""
    title = told.title or "Untitled chat"
    body = "\n".join(_Teller(told, drawn).sections()) or "<p>Nothing was asked here.</p>"
    when = f"{told.at:%Y-%m-%d %H:%M} {told.at:%Z}".strip()
    return html.page(
        title,
        f'<main>\n<h1 dir="auto">{escape(title)}</h1>\n'
        f'<p class="quiet">A chat with Leaf, as it stood on {escape(when)}. Read-only; what was asked '
        f"later is not shown.</p>\n{body}\n</main>",
        style=_STYLE,
        head=HEAD,
    )


class _Teller:
    """Goes through the messages; a page has so many pictures and no more."""

    def __init__(self, told: ChatShown, drawn: Drawn) -> None:
        self._told = told
        self._drawn = drawn
        self._pictures = 0

    def sections(self) -> Iterator[str]:
        begun = False
        for message in self._told.messages:
            if message.role == "user":
                if begun:
                    yield "</section>"
                begun = True
                yield f"<section>\n{self._question(message)}"
            else:
                yield f'<div class="answer">\n{self._answer(message)}\n</div>'
        if begun:
            yield "</section>"

    def _question(self, message: Message) -> str:
        text = "\n".join(texts_of(message.parts)).strip()
        names = [file["name"] for part in message.parts for file in data_in(part, "files") or ()]
        asker = self._told.askers.get(message.user_id or "", "")
        about = [f"Asked by {asker}"] if asker else []
        about += [f"Files: {', '.join(names)}"] if names else []
        line = f'\n<p class="quiet">{escape(" · ".join(about))}</p>' if about else ""
        return f'<h2 dir="auto">{escape(text)}</h2>{line}'

    def _answer(self, message: Message) -> str:
        pieces = []
        for piece in flow(message.parts):
            if isinstance(piece, Text):
                pieces.append(html.words(with_marks(piece, r"\[{}\]").strip()))
            elif is_tool(part := piece[1]):
                pieces += [_step(part), *self._figures(part)]
            elif part["type"] == "unreadable":
                pieces.append(_quiet(UNREADABLE))
        pieces += [*_documents(message.parts), _evidence(message.parts)]
        if ending := ending_in_words(message.status):
            pieces.append(_quiet(ending))
        return "\n".join(filter(None, pieces))

    def _figures(self, part: ToolPart) -> Iterator[str]:
        for label, picture in pictures_of(part):
            if self._pictures == PICTURES:
                yield _quiet(f"{label} is not drawn here: a page has {PICTURES} pictures.")
                continue
            png = self._drawn(picture)
            if isinstance(png, str):
                yield _quiet(f"{label} could not be drawn.")
                continue
            self._pictures += 1
            caption = f'<figcaption class="quiet" dir="auto">{escape(label)}</figcaption>'
            yield f"<figure>{html.image(png, label)}{caption}</figure>"


def _step(part: ToolPart) -> str:
    """One line, which opens: the query or the code, and the rows that it gave."""
    tool = declared(tool_name(part))
    if part["state"] != "output-available":
        return _quiet(f"{tool.title}: did not work")
    output = part.get("output") or {}
    inside = []
    code = (part.get("input") or {}).get(tool.code_input) if tool.code_input else ""
    if isinstance(code, str) and code.strip():
        inside.append(f"<pre>{escape(code.strip())}</pre>")
    data = output.get("data") or {}
    for shown in [data.get("table"), *(data.get("tables") or ())]:
        if shown and shown["columns"]:
            inside.append(_table(shown))
    summary = escape(str(output.get("summary") or tool.title))
    if not inside:
        return f'<p class="quiet" dir="auto">{summary}</p>'
    return (
        f'<details><summary dir="auto">{summary}</summary>\n' + "\n".join(inside) + "\n</details>"
    )


def _table(shown: TableShown) -> str:
    columns, rows = shown["columns"][:COLUMNS], [row[:COLUMNS] for row in shown["rows"][:ROWS]]
    total, across = int(shown.get("total") or len(shown["rows"])), len(shown["columns"])
    extent = f"{total:,} row{'' if total == 1 else 's'}"
    if len(rows) < total:
        extent = f"The first {len(rows):,} of {extent}"
    if len(columns) < across:
        extent += f", the first {len(columns)} of {across:,} columns"
    numeric = [is_number(kind) for kind in shown.get("types") or ()]
    remarks = "".join(f'<p class="doubt">{escape(one)}</p>' for one in shown.get("said") or ())
    return f"{html.wide(html.table(columns, rows, numeric), 'Rows')}\n{_quiet(extent)}{remarks}"


def _documents(parts: Sequence[Part]) -> Iterator[str]:
    for part in parts:
        if card := data_in(part, "document"):
            yield _quiet(f"Wrote the document “{card['title']}”, which is not part of this page.")


def _evidence(parts: Sequence[Part]) -> str:
    """What the answer rests on, as below an answer of the app."""
    covered = covered_of(parts)
    lines = [_quiet(text)] if (text := sentence(covered)) else []
    lines += [f'<p class="doubt">⚠ {escape(text)}</p>' for text in doubts(covered)]
    told = [f"Note: {text}" for text in notes(covered)]
    told += [f"Source: {source}" for source in sources_in_words(parts)]
    told += [f"[{number}] {note}" for number, note in footnotes(parts)]
    told += figures_in_words(kept_receipts(parts))
    if told:
        items = "".join(f'<li dir="auto">{escape(one)}</li>' for one in told)
        lines.append(
            f'<details><summary>What this rests on</summary><ul class="quiet">{items}</ul></details>'
        )
    return "\n".join(lines)


def _quiet(text: str) -> str:
    return f'<p class="quiet">{escape(text)}</p>'
