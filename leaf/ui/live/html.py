"""Markdown of an answer as HTML, in pieces: one for each block at the top, and within lists and
tables one for each item and row, so that of a growing text only what changed is sent. Pure.

The text has passed the rules for links and pictures of `ui/markdown.py` before. Here they hold a
second time: HTML in a text is text, no picture is drawn, and an address leads to the web, to mail,
or is a mark of Leaf's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from leaf.shapes.harmless import allowed_address

MOST = 150_000
"""Characters of a text that are read as Markdown. The parser takes a second for the worst of them,
and of some texts its time grows with the square of their length; no block of an answer is so long."""
PARTED = {"bullet_list_open": "li", "ordered_list_open": "li", "table_open": "tr"}
"""Blocks that are sent in parts -> the tag of a part."""


@dataclass(frozen=True)
class HtmlPiece:
    """A piece of HTML that is whole by itself."""

    level: int
    """0: stands at the top. 1: stands within the last piece of level 0, in its element of the class
    `parts`."""
    html: str


def pieces(source: str) -> list[HtmlPiece]:
    """What the Markdown is drawn as, from top to bottom; a text that is too long for that, as it
    stands."""
    if len(source) > MOST:
        return [HtmlPiece(0, f"<p>{escape(source)}</p>")]
    md, env = _parser(), dict[str, Any]()
    tokens = md.parse(source, env)
    html_pieces: list[HtmlPiece] = []
    for group in _groups(tokens, 0):
        tag = PARTED.get(group[0].type)
        html_pieces += (
            _parted(md, env, group, tag) if tag else [HtmlPiece(0, _html(md, env, group))]
        )
    return html_pieces


def is_table(piece: HtmlPiece) -> bool:
    """Whether it is a table or a row of one, to which no words can be added."""
    return piece.html.startswith(("<tr", '<div class="leaf-table"'))


def _parted(
    md: MarkdownIt, env: dict[str, Any], group: Sequence[Token], tag: str
) -> Iterator[HtmlPiece]:
    if tag == "li":
        group[0].attrJoin("class", "parts")
        yield HtmlPiece(0, _html(md, env, [group[0], group[-1]]))
        for item in _groups(group[1:-1], group[0].level + 1):
            yield HtmlPiece(1, _html(md, env, item))
        return
    body = next((i for i, token in enumerate(group) if token.type == "tbody_open"), len(group) - 1)
    head = _html(md, env, group[1:body])
    yield HtmlPiece(
        0, f'<div class="leaf-table"><table>{head}<tbody class="parts"></tbody></table></div>'
    )
    for row in _groups(group[body + 1 : -2], group[0].level + 2):
        yield HtmlPiece(1, _html(md, env, row))


def _groups(tokens: Sequence[Token], level: int) -> Iterator[list[Token]]:
    """Tokens that belong together, each from where one opens at this level to where it closes."""
    group: list[Token] = []
    for token in tokens:
        group.append(token)
        if token.level == level and token.nesting <= 0:
            yield group
            group = []


def _html(md: MarkdownIt, env: dict[str, Any], tokens: Sequence[Token]) -> str:
    return str(md.renderer.render(tokens, md.options, env)).strip("\n")


@cache
def _parser() -> MarkdownIt:
    """Streamlit draws CommonMark with tables and strikethrough, so this does, too."""
    md = (
        MarkdownIt("commonmark", {"html": False})
        .enable(["table", "strikethrough"])
        .disable("image")
    )
    md.add_render_rule("link_open", _open_link)
    md.validateLink = allowed_address  # type: ignore[method-assign, assignment]  # as the parser wants to be told
    return md


def _open_link(
    renderer: RendererHTML, tokens: Sequence[Token], at: int, options: Any, _env: Any
) -> str:
    """A link opens beside the page; a mark is followed on it."""
    if not str(tokens[at].attrGet("href") or "").startswith("#"):
        tokens[at].attrSet("target", "_blank")
        tokens[at].attrSet("rel", "noopener noreferrer")
    return renderer.renderToken(tokens, at, options, {})
