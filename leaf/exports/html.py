"""What every page has that leaves Leaf as one HTML file: it fetches nothing, runs nothing, and shows
every text as text. Pure."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from leaf.documents import markdown
from leaf.shapes.harmless import harmless_markdown, leads_out

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
"""Of the page itself, however it is opened."""
_STYLE = """
:root{color-scheme:light dark;--paper:#FBFAF7;--ink:#1D2420;--quiet:#5A615B;--rule:#D9DAD3;--doubt:#8A4B08;--leaf:#1F6F4A}
@media(prefers-color-scheme:dark){:root{--paper:#111614;--ink:#E6EAE6;--quiet:#AEB7B1;--rule:#333B37;--doubt:#E0B25C;--leaf:#5DBB8B}}
body{background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem}
section{border-top:1px solid var(--rule);padding:1rem 0;break-inside:avoid-page}
h1,h2{line-height:1.25;overflow-wrap:anywhere}h2{font-size:1.15rem}
p{margin:.4rem 0;overflow-wrap:anywhere}.quiet{color:var(--quiet);font-size:.9rem}.doubt{color:var(--doubt);font-size:.9rem}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem}
th,td{border-bottom:1px solid var(--rule);padding:.25rem .6rem;text-align:start;vertical-align:top}
.number{text-align:end;font-variant-numeric:tabular-nums}
img{max-width:100%;background:#fff}pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.85rem}
pre{border-inline-start:3px solid var(--rule);padding-inline-start:.8rem}
a{color:var(--leaf)}a:focus-visible,summary:focus-visible,.wide:focus-visible{outline:2px solid var(--leaf);outline-offset:2px}
"""


def page(title: str, body: str, *, style: str = "", head: str = "") -> str:
    """A whole page; `body`, `head` and `style` are HTML and CSS of Leaf's own making."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n{head}'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}{style}</style>\n</head>\n<body>\n{body}\n"
        "</body>\n</html>\n"
    )


def table(
    columns: Sequence[str], rows: Sequence[Sequence[object]], numeric: Sequence[bool] = ()
) -> str:
    """Cells are text; columns of numbers go right."""

    def cells(row: Sequence[object], tag: str) -> str:
        return "".join(
            f'<{tag} dir="auto"{_number(i)}>{"" if cell is None else escape(str(cell))}</{tag}>'
            for i, cell in enumerate(row)
        )

    def _number(column: int) -> str:
        return ' class="number"' if column < len(numeric) and numeric[column] else ""

    head = f"<tr>{cells(columns, 'th')}</tr>"
    body = "\n".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return f"<table>\n<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def wide(inner: str, label: str) -> str:
    """What may be wider than the window, and can then be moved by the keyboard, too."""
    return f'<div class="wide" role="group" aria-label="{escape(label)}" tabindex="0">{inner}</div>'


def image(png: bytes, label: str) -> str:
    """A picture within the page."""
    data = base64.b64encode(png).decode()
    return f'<img alt="{escape(label)}" src="data:image/png;base64,{data}">'


def words(text: str) -> str:
    """Somebody's Markdown: without pictures and HTML, its headings below those of the page, and with
    links to the web and to mail alone."""
    source = harmless_markdown(text)
    return str(_parser().render(source)).strip()


@cache
def _parser() -> MarkdownIt:
    parser = markdown.parser(nesting=20).disable("image")
    parser.validateLink = leads_out  # type: ignore[method-assign, assignment]  # as the parser wants to be told
    for rule in ("heading_open", "heading_close"):
        parser.add_render_rule(rule, _lower)
    parser.add_render_rule("link_open", _plain_link)
    parser.add_render_rule("table_open", _open_table)
    parser.add_render_rule("table_close", _close_table)
    return parser


def _lower(renderer: Any, tokens: Sequence[Any], at: int, options: Any, _env: Any) -> str:
    tokens[at].tag = f"h{min(6, int(tokens[at].tag[1]) + 2)}"
    return str(renderer.renderToken(tokens, at, options, {}))


def _plain_link(renderer: Any, tokens: Sequence[Any], at: int, options: Any, _env: Any) -> str:
    tokens[at].attrSet("rel", "noopener noreferrer nofollow")
    return str(renderer.renderToken(tokens, at, options, {}))


def _open_table(*_: Any) -> str:
    return '<div class="wide" role="group" aria-label="Table" tabindex="0"><table>\n'


def _close_table(*_: Any) -> str:
    return "</table></div>\n"
