"""A board to hand over: as one HTML file that fetches nothing, and as Markdown with pictures for PDF
and Word. Pure. Every text is somebody else's: it is escaped, and no link and no script gets in."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape

from leaf.agent.export import PICTURE_SCHEME, ChatDocument, markdown_table
from leaf.provenance import pins
from leaf.shapes.harmless import harmless_markdown
from leaf.shapes.pins import PinContent
from leaf.store.boards import PinState

CHARTS = 40
"""Charts of a board that are drawn; of those after them the rows are shown."""
ROWS, COLUMNS, CELL = 20, 8, 120
"""Of a table on paper."""
_MARKS = re.compile(r"([\\`*_\[\]<>#|~$!])")
_STYLE = """
:root{color-scheme:light dark;--paper:#FBFAF7;--ink:#1D2420;--quiet:#5A615B;--rule:#D9DAD3;--doubt:#8A4B08}
@media(prefers-color-scheme:dark){:root{--paper:#111614;--ink:#E6EAE6;--quiet:#AEB7B1;--rule:#333B37;--doubt:#E0B25C}}
body{background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem}
section{border-top:1px solid var(--rule);padding:1rem 0;break-inside:avoid-page}
h1,h2{line-height:1.25;overflow-wrap:anywhere}h2{font-size:1.15rem}
p{margin:.4rem 0;overflow-wrap:anywhere}.quiet{color:var(--quiet);font-size:.9rem}.doubt{color:var(--doubt);font-size:.9rem}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem}
th,td{border-bottom:1px solid var(--rule);padding:.25rem .6rem;text-align:start;vertical-align:top}
.number{text-align:end;font-variant-numeric:tabular-nums}
img{max-width:100%;background:#fff}pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.85rem}
pre{border-inline-start:3px solid var(--rule);padding-inline-start:.8rem}
"""
_HEAD = (
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
    "style-src 'unsafe-inline'\">\n"
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
)


@dataclass(frozen=True)
class PinTold:
    """A pin as an export tells it."""

    title: str
    content: PinContent | None
    state: PinState
    drawn: bytes | None
    """Its chart as PNG; None for a table, and for a chart of which the rows are shown."""
    stale: Sequence[str] = ()


def html_page(name: str, told: Sequence[PinTold], at: datetime) -> str:
    """The whole board."""
    title = escape(name)
    body = "\n".join(_section(one) for one in told) or "<p>Nothing is pinned here.</p>"
    return (
        f"{_HEAD}<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<h1 dir="auto">{title}</h1>\n<p class="quiet">{escape(_dated(told, at))}</p>\n'
        f"{body}\n</main>\n</body>\n</html>\n"
    )


def document(name: str, told: Sequence[PinTold], at: datetime) -> ChatDocument:
    """The same as Markdown, with the charts beside it."""
    made = ChatDocument()
    pieces = [f"# {_plain(name)}", f"*{_plain(_dated(told, at))}*"]
    for one in told:
        pieces.append(harmless_markdown(f"## {_plain(one.title)}"))
        if one.content is None:
            pieces.append(f"*{pins.STATES.get(one.state, '')}*")
            continue
        if one.drawn is not None:
            # Made of no word of anybody's, so that no text can stand for a picture.
            pieces.append(f"![Chart]({PICTURE_SCHEME}{len(made.pictures)})")
            made.pictures.append(one.drawn)
        else:
            pieces.append(harmless_markdown(_table(one.content)))
        pieces.append(harmless_markdown(_receipt(one, one.content)))
    made.text = "\n\n".join(pieces) + "\n"
    return made


def _dated(told: Sequence[PinTold], at: datetime) -> str:
    count = f"{len(told):,} pinned result{'' if len(told) == 1 else 's'}"
    return f"{count} · exported from Leaf on {_when(at)}"


def _section(one: PinTold) -> str:
    head = f'<section>\n<h2 dir="auto">{escape(one.title)}</h2>\n'
    content = one.content
    if content is None:
        return f"{head}<p>{escape(pins.STATES.get(one.state, ''))}</p>\n</section>"
    if one.drawn is not None:
        data = base64.b64encode(one.drawn).decode()
        shown = f'<p><img alt="{escape(one.title)}" src="data:image/png;base64,{data}"></p>'
    else:
        label = escape(one.title)
        table = _html_table(content)
        shown = f'<div class="wide" role="region" aria-label="{label}" tabindex="0">{table}</div>'
    lines = [f'<p class="quiet">{escape(said)}</p>' for said in _facts(content)]
    lines[1:1] = [f'<p class="doubt">⚠ {escape(said)}</p>' for said in _doubts(one, content)]
    code, _ = pins.code(content)
    made_by = f"<pre>{escape(code)}</pre>\n" if code else ""
    return f"{head}{shown}\n" + "\n".join(lines) + f"\n{made_by}</section>"


def _html_table(content: PinContent) -> str:
    kinds = pins.numeric(content)

    def cells(row: Sequence[object], tag: str) -> str:
        return "".join(
            f'<{tag} dir="auto"{_number(i, kinds)}>{"" if cell is None else escape(str(cell))}</{tag}>'
            for i, cell in enumerate(row)
        )

    head = f"<tr>{cells(content['columns'], 'th')}</tr>"
    rows = "\n".join(f"<tr>{cells(row, 'td')}</tr>" for row in content["rows"])
    return f"<table>\n<thead>{head}</thead>\n<tbody>\n{rows}\n</tbody>\n</table>"


def _number(column: int, kinds: Sequence[bool]) -> str:
    return ' class="number"' if column < len(kinds) and kinds[column] else ""


def _table(content: PinContent) -> str:
    """As much as a page takes."""
    columns = [str(_cell(column)) for column in content["columns"][:COLUMNS]]
    rows = [[_cell(cell) for cell in row[:COLUMNS]] for row in content["rows"][:ROWS]]
    table = markdown_table(columns, rows, list(content["types"])[:COLUMNS])
    return f"{table}\n\n{pins.extent(content, ROWS, COLUMNS)}"


def _receipt(one: PinTold, content: PinContent) -> str:
    facts = _facts(content) if one.drawn is not None else _facts(content)[1:]
    lines = [f"- Doubtful: {_plain(said)}" for said in _doubts(one, content)]
    lines += [f"- {_plain(said)}" for said in facts]
    text, language = pins.code(content)
    if text:
        runs = re.findall("`+", text)
        fence = "`" * max(3, *(len(run) + 1 for run in runs), 3)
        lines.append(f"\n{fence}{language}\n{text}\n{fence}")
    return "\n".join(lines)


def _facts(content: PinContent) -> list[str]:
    """How much is shown, what it rests on, when it was computed; the files with their content."""
    at = pins.computed_at(content)
    when = f"Computed on {_when(at)}" if at else ""
    said = [pins.extent(content), " · ".join(filter(None, (pins.line(content), when)))]
    said += [f"File: {pins.source(table)}" for table in content["sources"]]
    return [*said, *(f"Note: {note}" for note in pins.notes(content))]


def _doubts(one: PinTold, content: PinContent) -> list[str]:
    return [*one.stale, *pins.doubts(content)]


def _when(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} {at:%Z}".strip()


def _cell(value: object) -> object:
    """Words of a cell as words, and not too many."""
    if not isinstance(value, str):
        return value
    return _plain(value if len(value) <= CELL else f"{value[:CELL]}…").replace("\\|", "|")


def _plain(text: str) -> str:
    """Text that Markdown shows as it is, in one line."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))
