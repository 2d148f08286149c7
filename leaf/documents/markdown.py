"""Markdown as blocks and runs, by markdown-it: what the writers of DOCX and PDF share. Runs in the
confined child.

Pictures become their words, but for those that are given beside the text; HTML stays text, links
keep only addresses of the web and of mail.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from leaf.errors import InvalidInputError
from leaf.shapes.harmless import leads_out

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline

MOST_TOKENS = 200_000
NESTING = 40
MOST_COLUMNS = 40
"""Of a table, which no page has more room for."""
LONGEST_ADDRESS = 2_000
_BREAK = re.compile(r"<br[ \t]*/?>", re.IGNORECASE)
_GIVEN = re.compile(r"picture:(\d{1,4})")


@dataclass(frozen=True)
class StyledText:
    """A piece of text in one style."""

    text: str
    bold: bool = False
    italic: bool = False
    code: bool = False
    strike: bool = False
    link: str = ""


Runs = tuple[StyledText, ...]


@dataclass(frozen=True)
class Block:
    """A block of a document. Lists and quotes hold blocks."""

    kind: Literal["heading", "paragraph", "code", "quote", "list", "table", "rule", "picture"]
    runs: Runs = ()
    level: int = 0
    """Of a heading, 1 to 6. Of a picture, its number among those given."""
    text: str = ""
    """Of a code block. Of a picture, what it shows in words."""
    ordered: bool = False
    start: int = 1
    items: tuple[tuple[Block, ...], ...] = ()
    """Of a list: blocks of each item. Of a quote: one such."""
    rows: tuple[tuple[Runs, ...], ...] = ()
    """Of a table, the header first."""
    align: tuple[str, ...] = field(default=())
    """Of a table's columns: `left`, `center`, `right` or empty."""
    beyond: int = 0
    """Columns of a table that are left out."""


def parser(nesting: int = NESTING) -> MarkdownIt:
    """CommonMark with tables. Of HTML it knows `<br>` alone, by which a cell of a table has several
    lines."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False, "maxNesting": nesting})
    reader.inline.ruler.before("autolink", "line_break", _line_break)
    return reader.enable(["table", "strikethrough"])


def _line_break(state: StateInline, silent: bool) -> bool:
    match = _BREAK.match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        state.push("hardbreak", "br", 0)
    state.pos = match.end()
    return True


def parse(text: str, pictures: int = 0) -> list[Block]:
    """Blocks of a Markdown text; so many pictures are given beside it, as `picture:0` and on.
    Raises InvalidInputError for one that has too many pieces."""
    tokens = parser().parse(text)
    if len(tokens) > MOST_TOKENS:
        raise InvalidInputError(
            f"The document has {len(tokens):,} pieces, more than {MOST_TOKENS:,}.",
            "Download it as Markdown, or cut it into parts.",
        )
    return _TokenReader(tokens, pictures).blocks("")


class _TokenReader:
    """Reads tokens one after the other."""

    def __init__(self, tokens: Sequence[Any], pictures: int) -> None:
        self._tokens = tokens
        self._pictures = pictures
        self._at = 0

    def blocks(self, until: str) -> list[Block]:
        """Blocks up to the token that closes the one they are in."""
        elements: list[Block] = []
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            self._at += 1
            if token.type == until:
                break
            block = self._block(token)
            if block is not None:
                elements.append(block)
        return elements

    def _block(self, token: Any) -> Block | None:
        kind = token.type
        if kind == "heading_open":
            return Block("heading", self._inline(), level=int(token.tag[1:]))
        if kind == "paragraph_open":
            return self._picture() or Block("paragraph", self._inline())
        if kind in ("fence", "code_block"):
            return Block("code", text=token.content.rstrip("\n"))
        if kind == "blockquote_open":
            return Block("quote", items=(tuple(self.blocks("blockquote_close")),))
        if kind in ("bullet_list_open", "ordered_list_open"):
            return self._list(kind.startswith("ordered"), int(token.attrGet("start") or 1))
        if kind == "table_open":
            return self._table()
        if kind == "hr":
            return Block("rule")
        return None

    def _picture(self) -> Block | None:
        """A paragraph of nothing but a picture that is given."""
        children: Sequence[Any] = self._tokens[self._at].children or ()
        if len(children) != 1 or children[0].type != "image":
            return None
        match = _GIVEN.fullmatch(str(children[0].attrGet("src") or ""))
        if match is None or int(match[1]) >= self._pictures:
            return None
        self._at += 2
        return Block("picture", level=int(match[1]), text=children[0].content)

    def _inline(self) -> Runs:
        """The runs of the inline token that comes next, and past the token that closes the
        block."""
        token = self._tokens[self._at]
        self._at += 2
        return runs(token.children or ())

    def _list(self, ordered: bool, start: int) -> Block:
        items = []
        close = "ordered_list_close" if ordered else "bullet_list_close"
        while self._at < len(self._tokens) and self._tokens[self._at].type != close:
            self._at += 1  # list_item_open
            items.append(tuple(self.blocks("list_item_close")))
        self._at += 1
        return Block("list", ordered=ordered, start=start, items=tuple(items))

    def _table(self) -> Block:
        rows: list[tuple[Runs, ...]] = []
        row: list[Runs] = []
        align: list[str] = []
        wide = 0
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            self._at += 1
            if token.type == "table_close":
                break
            if token.type == "tr_close":
                wide = max(wide, len(row))
                rows.append(tuple(row[:MOST_COLUMNS]))
                row = []
            elif token.type in ("th_open", "td_open"):
                if token.type == "th_open":
                    align.append(str(token.attrGet("style") or "").rpartition(":")[2])
                row.append(self._inline())
        beyond = max(0, wide - MOST_COLUMNS)
        return Block("table", rows=tuple(rows), align=tuple(align[:MOST_COLUMNS]), beyond=beyond)


def left_out(blocks: Iterable[Block]) -> list[str]:
    """What a reader has to know of tables that are not there whole."""
    notes = [
        f"A table has {MOST_COLUMNS + table.beyond:,} columns, of which the first {MOST_COLUMNS} "
        "are here. The Markdown has all of them."
        for table in _tables(blocks)
        if table.beyond
    ]
    return list(dict.fromkeys(notes))


def _tables(blocks: Iterable[Block]) -> Iterator[Block]:
    for block in blocks:
        if block.kind == "table":
            yield block
        for item in block.items:
            yield from _tables(item)


def runs(children: Sequence[Any]) -> Runs:
    """Styled pieces of an inline token."""
    fragments: list[StyledText] = []
    depth = {"strong": 0, "em": 0, "s": 0}
    links: list[str] = []

    def add(text: str, code: bool = False) -> None:
        if text:
            link = next((address for address in reversed(links) if address), "")
            fragments.append(
                StyledText(text, depth["strong"] > 0, depth["em"] > 0, code, depth["s"] > 0, link)
            )

    for child in children:
        name, _, phase = child.type.rpartition("_")
        if name in depth:
            depth[name] += 1 if phase == "open" else -1
        elif child.type == "link_open":
            links.append(allowed(str(child.attrGet("href") or "")))
        elif child.type == "link_close":
            links.pop()
        elif child.type == "softbreak":
            add(" ")
        elif child.type == "hardbreak":
            add("\n")
        elif child.type == "image":
            add(f"[picture: {child.content}]" if child.content else "[picture]")
        elif child.type == "code_inline":
            add(child.content, code=True)
        else:
            add(child.content)
    return tuple(fragments)


def allowed(address: str) -> str:
    """The address if it leads to the web or to mail, else nothing."""
    return address if len(address) <= LONGEST_ADDRESS and leads_out(address) else ""


def plain(pieces: Runs) -> str:
    return "".join(run.text for run in pieces)
