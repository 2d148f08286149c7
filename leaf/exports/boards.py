"""A board to hand over: as one HTML file that fetches nothing, and as Markdown with pictures for PDF
and Word. Pure. Every text is somebody else's: it is escaped, and no link and no script gets in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape

from leaf.agent.export import PICTURE_SCHEME, ChatDocument, as_words, fenced, markdown_table
from leaf.exports import html
from leaf.language.text import ENGLISH, speaking
from leaf.provenance import pins
from leaf.shapes.harmless import harmless_markdown
from leaf.shapes.pins import PinContent
from leaf.store.boards import PinState

CHARTS = 40
"""Charts of a board that are drawn; of those after them the rows are shown."""
ROWS, COLUMNS, CELL = 20, 8, 120
"""Of a table on paper."""


@dataclass(frozen=True)
class PinTold:
    """A pin as an export tells it."""

    title: str
    """Empty where nothing may be shown."""
    content: PinContent | None
    state: PinState
    drawn: bytes | None
    """Its chart as PNG; None for a table, and for a chart of which the rows are shown."""
    stale: Sequence[str] = ()


@speaking(ENGLISH)
def html_page(name: str, told: Sequence[PinTold], at: datetime, head: str = "") -> str:
    """The whole board; `head` is more of Leaf's own for the head of the page."""
    body = "\n".join(_section(one) for one in told) or "<p>Nothing is pinned here.</p>"
    return html.page(
        name,
        f'<main>\n<h1 dir="auto">{escape(name)}</h1>\n'
        f'<p class="quiet">{escape(_dated(told, at))}</p>\n{body}\n</main>',
        head=head,
    )


@speaking(ENGLISH)
def document(name: str, told: Sequence[PinTold], at: datetime) -> ChatDocument:
    """The same as Markdown, with the charts beside it."""
    board = ChatDocument()
    pieces = [f"# {_plain(name)}", f"*{_plain(_dated(told, at))}*"]
    for one in told:
        if one.title:
            pieces.append(harmless_markdown(f"## {_plain(one.title)}"))
        if one.content is None:
            pieces.append(f"*{pins.STATES.get(one.state, '')}*")
            continue
        if one.drawn is not None:
            # Made of no word of anybody's, so that no text can stand for a picture.
            pieces.append(f"![Chart]({PICTURE_SCHEME}{len(board.pictures)})")
            board.pictures.append(one.drawn)
        else:
            pieces.append(harmless_markdown(_table(one.content)))
        pieces.append(harmless_markdown(_receipt(one, one.content)))
    board.text = "\n\n".join(pieces) + "\n"
    return board


def _dated(told: Sequence[PinTold], at: datetime) -> str:
    count = f"{len(told):,} pinned result{'' if len(told) == 1 else 's'}"
    return f"{count} · exported from Leaf on {_when(at)}"


def _section(one: PinTold) -> str:
    title = f'<h2 dir="auto">{escape(one.title)}</h2>\n' if one.title else ""
    head = f"<section>\n{title}"
    content = one.content
    if content is None:
        return f"{head}<p>{escape(pins.STATES.get(one.state, ''))}</p>\n</section>"
    if one.drawn is not None:
        shown = f"<p>{html.image(one.drawn, one.title)}</p>"
    else:
        table = html.table(content["columns"], content["rows"], pins.numeric(content))
        shown = html.wide(table, one.title)
    lines = [f'<p class="quiet">{escape(line)}</p>' for line in _facts(content)]
    lines[1:1] = [f'<p class="doubt">⚠ {escape(line)}</p>' for line in _doubts(one, content)]
    code, _ = pins.code(content)
    made_by = f"<pre>{escape(code)}</pre>\n" if code else ""
    return f"{head}{shown}\n" + "\n".join(lines) + f"\n{made_by}</section>"


def _table(content: PinContent) -> str:
    """As much as a page takes."""
    columns = [str(_cell(column)) for column in content["columns"][:COLUMNS]]
    rows = [[_cell(cell) for cell in row[:COLUMNS]] for row in content["rows"][:ROWS]]
    table = markdown_table(columns, rows, list(content["types"])[:COLUMNS])
    return f"{table}\n\n{pins.extent(content, ROWS, COLUMNS)}"


def _receipt(one: PinTold, content: PinContent) -> str:
    facts = _facts(content) if one.drawn is not None else _facts(content)[1:]
    lines = [f"- Doubtful: {_plain(line)}" for line in _doubts(one, content)]
    lines += [f"- {_plain(line)}" for line in facts]
    text, language = pins.code(content)
    if text:
        lines.append(f"\n{fenced(text, language)}")
    return "\n".join(lines)


def _facts(content: PinContent) -> list[str]:
    """How much is shown, what it rests on, when it was computed; the files with their content."""
    at = pins.computed_at(content)
    when = f"Computed on {_when(at)}" if at else ""
    facts = [pins.extent(content), " · ".join(filter(None, (pins.line(content), when)))]
    facts += [f"File: {pins.source(table)}" for table in content["sources"]]
    return [*facts, *(f"Note: {note}" for note in pins.notes(content))]


def _doubts(one: PinTold, content: PinContent) -> list[str]:
    return [*one.stale, *pins.doubts(content)]


def _when(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} {at:%Z}".strip()


def _cell(value: object) -> object:
    """Words of a cell as words, and not too many."""
    if not isinstance(value, str):
        return value
    return _plain(value if len(value) <= CELL else f"{value[:CELL]}…")


def _plain(text: str) -> str:
    """Text that Markdown shows as it is, in one line."""
    return as_words(" ".join(text.split()))
