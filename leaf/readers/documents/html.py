"""Web pages: the article where there is one, else all the text. Hostile nesting and size are
limited."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from leaf.errors import FileTooLargeError, UnreadableFileError
from leaf.readers.base import Note, Outline, Passage, TableInfo, Where
from leaf.readers.charsets import decode_as
from leaf.readers.documents.article import article_of, left_aside
from leaf.readers.documents.mathml import write_formulas
from leaf.readers.documents.page_marks import (
    NUMBER,
    doubts_of_page,
    is_hidden,
    number_items,
    write_numbers,
)
from leaf.readers.documents.raised import raise_in_page
from leaf.readers.documents.webarchive import page_in
from leaf.readers.encoding import guess_note
from leaf.readers.tabular.cells import places
from leaf.readers.tabular.grids import Grid, GridCell, expanded, is_table, write_grids
from leaf.readers.window import CHARS_PER_TOKEN, Extent

MAX_BYTES = 30_000_000
MAX_TAGS = 2_000_000
"""Tags of a page; the tree of so many takes half a gigabyte."""
MAX_TEXT = 9_900_000
"""Bytes of text without a tag between; of more, the parser drops everything."""
MAX_DEPTH = 250

CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{2,40})", re.I)
_XML = re.compile(rb"\s*<\?xml[^>]{0,200}?\bencoding\s*=\s*[\"']([A-Za-z0-9_:.-]{2,40})", re.I)
MOST_REACHING = 3_000_000
"""Characters of cells that are written in the rows that they reach into."""
LONGEST_REACHING = 100
"""The same of one cell."""
FIRST_BAR = re.compile(r"^\s*\| ?")
HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
BLOCKS = frozenset(HEADINGS) | {
    *(
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "caption",
        "center",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
    ),
    *(
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "header",
        "hr",
        "html",
        "legend",
        "li",
        "main",
        "nav",
        "ol",
        "option",
    ),
    *("p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul"),
}
SILENT = frozenset(
    ("script", "style", "noscript", "template", "svg", "math", "head", "iframe", "object", "canvas")
)


class HtmlReader:
    """Paragraphs: headings as `#`, list items as `- `, each row of a table on one line."""

    def outline(self, path: Path) -> Outline:
        page = _read(path)
        tokens = int(sum(len(p) + 1 for p in page.paragraphs) / CHARS_PER_TOKEN)
        return Outline(
            *("html", "text/html"),
            lines=len(page.paragraphs),
            tables=len(page.grids),
            tokens=tokens,
            title=page.title,
            notes=page.notes,
        )

    def extent(self, path: Path, where: Where) -> Extent:
        page = _read(path)
        return Extent(len(page.paragraphs), notes=page.notes)

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        yield from numbered(_read(path).paragraphs, where)

    def tables(self, path: Path, out: Path) -> list[TableInfo]:
        """Every table of data, those that only place text left aside."""
        root = _parse(_decoded(path)[0])
        _write_moved(root)
        return write_grids(_tables(root), out)


@dataclass(frozen=True)
class WebPage:
    """What a page holds, parsed once."""

    title: str
    paragraphs: list[str]
    grids: list[Grid]
    notes: tuple[Note, ...] = ()


def page_of(text: str, *, whole: bool = False) -> WebPage:
    """Paragraphs and tables of a page: the article where it is one, else everything.

    `whole` takes everything at once, for pages without anything around their text. Raises
    UnreadableFileError.
    """
    root = _parse(text)
    if root is None:
        return WebPage("", [], [])
    moved = _write_moved(root)
    number_items(root)
    title = " ".join("".join(root.xpath("(//title[not(ancestor::svg)])[1]//text()")).split())[:300]
    full, grids = _paragraphs(root), _tables(root)
    if whole:
        return WebPage(title, full, grids, doubts_of_page(root, full, SILENT))
    numbered = write_numbers(root)
    text = _source(root) if moved or numbered else text
    article = article_of(text, root, full, sum(len(grid.rows) for grid in grids))
    notes = _left_aside(left_aside(article, full)) if article else ()
    article = _numbered(article, full)
    doubts = doubts_of_page(root, article or full, SILENT)
    return WebPage(title, article or full, grids, (*notes, *doubts))


def _numbered(article: list[str], full: list[str]) -> list[str]:
    """An article's items with their numbers alone, which have a dash before them in it."""
    known = {paragraph for paragraph in full if not paragraph.startswith("- ")}
    return [
        plain if (plain := paragraph.removeprefix("- ")) in known else paragraph
        for paragraph in article
    ]


def _write_moved(root: Any) -> bool:
    """Write formulas, and what is raised or lowered, as text; whether there is any."""
    formulas = write_formulas(root)
    return raise_in_page(root) or formulas


def _source(root: Any) -> str:
    from lxml import etree

    return str(etree.tostring(root, encoding="unicode", method="html"))


def paragraphs_of(text: str, *, whole: bool = False) -> tuple[str, list[str]]:
    """Title and paragraphs of a page; see `page_of`."""
    page = page_of(text, whole=whole)
    return page.title, page.paragraphs


def _left_aside(paragraphs: list[str]) -> tuple[Note, ...]:
    if not paragraphs:
        return ()
    count = "1 paragraph" if len(paragraphs) == 1 else f"{len(paragraphs):,} paragraphs"
    first = " · ".join(" ".join(p.split())[:40] for p in paragraphs[:3])
    text = (
        f"This page's article is read; {count} around it (menus, links, comments) are left "
        f"aside, such as: {first}."
    )
    return (Note("page-furniture", text, len(paragraphs)),)


def _tables(root: Any) -> list[Grid]:
    """The tables of a page. One in a cell of another is a table of its own, and no text of that
    cell."""
    layout = _layout_tables(root) if root is not None else set()
    grids: dict[Any, Grid] = {}
    for table in reversed(list(root.iter("table"))) if root is not None else ():
        if table not in layout:
            lines = _rows(table)
            rows = expanded([[_cell(c, grids) for c in _cells(row)] for row in lines])
            if is_table(rows):
                height = _header_height(lines)
                notes = _hidden_note(lines, height)
                grids[table] = Grid("", rows, _caption(table), notes, height)
    return list(reversed(grids.values()))


def _caption(table: Any) -> str:
    captions = [e for e in table.iter("caption") if next(e.iterancestors("table"), None) is table]
    return " ".join(" ".join("".join(e.itertext()) for e in captions).split())[:300]


def _hidden_note(rows: list[Any], height: int) -> tuple[Note, ...]:
    """Rows below a header that a browser does not show are read all the same, and said, as those of
    a workbook are."""
    hidden = [n for n, row in enumerate(rows, 1) if n > height and len(row) and _is_hidden(row)]
    if not hidden:
        return ()
    count = "1 row is" if len(hidden) == 1 else f"{len(hidden):,} rows are"
    text = f"{count} hidden in the page and read like all others."
    return (Note("hidden-rows", text, len(hidden), places(hidden)),)


def _is_hidden(row: Any) -> bool:
    """Whether a row, or the part of the table that it is in, says itself that it is not shown."""
    return any(
        is_hidden(element)
        for element in (row, row.getparent())
        if element.tag in ("tr", "tbody", "thead", "tfoot")
    )


def _rows(table: Any) -> list[Any]:
    """The rows of a table itself, without those of tables in its cells, as they are shown: its head
    above all others, its foot below."""
    rows = [row for row in table.iter("tr") if next(row.iterancestors("table"), None) is table]
    places = {table.find("thead"): -1, table.find("tfoot"): 1}
    if places.keys() == {None}:
        return rows
    return sorted(rows, key=lambda row: places.get(row.getparent(), 0))


def _cells(row: Any) -> list[Any]:
    return [cell for cell in row if cell.tag in ("td", "th")]


def _header_height(rows: list[Any]) -> int:
    """Rows at the top of a table that it says are its header: in its head, or of cells of that
    kind alone. 0 where none of them names two columns, or nothing is below them."""
    head = list(
        takewhile(
            lambda row: row.getparent().tag == "thead" or {c.tag for c in _cells(row)} <= {"th"},
            rows,
        )
    )
    named = any(sum(bool(_cell(c).text) for c in _cells(row)) > 1 for row in head)
    return len(head) if named and len(head) < len(rows) else 0


def _cell(element: Any, aside: Container[Any] = ()) -> GridCell:
    words = " ".join(text for text in _texts(element, aside))
    return GridCell(" ".join(words.split()), _span(element, "colspan"), _span(element, "rowspan"))


def _texts(element: Any, aside: Container[Any]) -> Iterator[str]:
    """The texts of an element, without those of scripts and styles and of what is left aside."""
    if element.text:
        yield element.text
    for child in element:
        if child.tag not in SILENT and child not in aside:
            yield from _texts(child, aside)
        if child.tail:
            yield child.tail


def _span(element: Any, name: str) -> int:
    digits = (element.get(name) or "").strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 6 else 1


def numbered(paragraphs: list[str], where: Where) -> Iterator[Passage]:
    """Paragraphs as passages, from and to where it was asked for."""
    last = len(paragraphs) if where.last is None else int(where.last)
    for number in range(int(where.first), min(last, len(paragraphs)) + 1):
        yield Passage(paragraphs[number - 1], "paragraph", number)


def _read(path: Path) -> WebPage:
    if path.stat().st_size > MAX_BYTES:
        message = f"This web page is over {MAX_BYTES // 1_000_000} MB."
        raise FileTooLargeError(message, "Save its text or its tables as files of their own.")
    text, note = _decoded(path)
    page = page_of(text)
    return replace(page, notes=(note, *page.notes)) if note else page


def _decoded(path: Path) -> tuple[str, Note | None]:
    """The page by its byte order mark, else by valid UTF-8, else by what it says, else by a
    guess."""
    data = path.read_bytes()
    if (page := page_in(data)) is not None:
        return page, None
    text, encoding = decode_as(data, declared_in(data))
    return text, guess_note(encoding)


def declared_in(data: bytes) -> str | None:
    """The character set that a page names: never a wide one, in which the name could not be
    read."""
    declared = CHARSET.search(data[:10_000]) or _XML.match(data)
    name = declared[1].decode("ascii").lower() if declared else None
    return None if name and name.startswith(("utf-16", "utf-32")) else name


def _parse(text: str) -> Any:
    """The page as a tree, None if it has none. Raises UnreadableFileError for one nested deeper
    than any that a person made."""
    from lxml import etree

    if text.count("<") > MAX_TAGS:
        message = f"This web page holds over {MAX_TAGS // 1_000_000} million tags."
        raise FileTooLargeError(message, "Save its text or its tables as files of their own.")
    data = text.replace("\x00", "").encode("utf-8", "replace")
    if _has_long_text(data):
        message = f"This web page holds over {MAX_TEXT / 1e6:.0f} MB of text without a tag."
        raise FileTooLargeError(message, "Save its text as a text file (.txt), and add that.")
    parser = etree.HTMLParser(
        encoding="utf-8", no_network=True, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.LxmlError as e:
        raise UnreadableFileError(
            "This web page cannot be parsed.", "Open it in a browser, and save it as PDF."
        ) from e
    depth = 0
    for event, _ in etree.iterwalk(root, events=("start", "end")) if root is not None else ():
        depth += 1 if event == "start" else -1
        if depth > MAX_DEPTH:
            message = f"This web page is nested deeper than {MAX_DEPTH} levels."
            raise UnreadableFileError(message, "Open it in a browser, and save it as PDF.")
    return root


def _has_long_text(data: bytes) -> bool:
    """Whether so many bytes without a tag stand in a row. Looks at a few places only, from tag to
    tag as far as possible."""
    at = 0
    while at + MAX_TEXT <= len(data):
        tag = data.rfind(b"<", at, at + MAX_TEXT)
        if tag < at:
            return True
        at = tag + 1
    return False


class _Text:
    """Collects paragraphs while a tree is walked."""

    def __init__(self) -> None:
        self.paragraphs: list[str] = []
        self._words: list[str] = []
        self.prefix = ""

    def add(self, words: str | None) -> None:
        if words:
            self._words.append(words)

    def end(self, *, keep_lines: bool = False) -> None:
        """Close the paragraph that is open, if it holds anything."""
        text = "".join(self._words)
        text = text.strip("\n") if keep_lines else " ".join(text.split())
        text = FIRST_BAR.sub("", text)
        if text.strip():
            self.paragraphs.append(self.prefix + text)
            self.prefix = ""
        self._words = []


def _paragraphs(root: Any) -> list[str]:
    """All the text of a page in order. Tables of data keep each row on one line; tables used for
    layout are taken apart."""
    from lxml import etree

    layout = _layout_tables(root)
    beside = _beside(root, layout)
    text = _Text()
    in_row = in_pre = 0
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        tag = element.tag if isinstance(element.tag, str) else ""
        row = tag == "tr" and next(element.iterancestors("table"), None) not in layout
        start = event == "start"
        if row:
            text.add("" if start else beside.get(element))
            text.end()
            in_row += 1 if start else -1
        elif in_row:
            if tag in ("td", "th") and start:
                text.add(beside.get(element, "") + " | ")
            else:
                text.add(" " if tag in BLOCKS or tag == "br" else "")
        elif tag in BLOCKS:
            text.end(keep_lines=in_pre > 0)
            text.prefix = _prefix(element, tag, text.prefix) if start else _after(tag, text.prefix)
        elif tag == "br" and start:
            text.end()
        if tag == "pre":
            in_pre += 1 if start else -1
        if start and tag in SILENT:
            text.add(_labels(element) if tag == "svg" else "")
            walk.skip_subtree()
        elif start:
            text.add(_alternative(element) if tag == "img" else element.text)
        if not start:
            text.add(element.tail)
    text.end()
    return text.paragraphs


def _beside(root: Any, layout: set[Any]) -> dict[Any, str]:
    """What stands before a cell in its row, or at the row's end, of cells that reach into it from
    above or from the left, so that all columns stay under their names."""
    beside: dict[Any, str] = {}
    left = MOST_REACHING
    for table in (table for table in root.iter("table") if table not in layout):
        if left > 0 and table.xpath("boolean(.//@colspan or .//@rowspan)"):
            rows = [(row, _cells(row)) for row in _rows(table)]
            if any(_reaches(cell) for _, cells in rows for cell in cells):
                beside |= (more := _reaching(rows))
                left -= sum(map(len, more.values()))
    return beside


def _reaches(cell: Any) -> bool:
    return _span(cell, "colspan") > 1 or _span(cell, "rowspan") > 1


def _reaching(rows: list[tuple[Any, list[Any]]]) -> dict[Any, str]:
    known = {str(id(cell)): cell for _, cells in rows for cell in cells}
    texts = {cell: _cell(cell).text for cell in known.values() if _span(cell, "rowspan") > 1}
    named = (
        [GridCell(str(id(c)), _span(c, "colspan"), _span(c, "rowspan")) for c in cells]
        for _, cells in rows
    )
    beside: dict[Any, str] = {}
    for (row, cells), names in zip(rows, expanded(named), strict=False):
        own, before = set(cells), ""
        for cell in map(known.get, names):
            if cell in own:
                beside[cell], before = before, ""
            else:
                text = texts.get(cell, "")
                before += f" | {text if len(text) <= LONGEST_REACHING else ''}"
        beside[row] = before.rstrip(" |")
    return beside


def _prefix(element: Any, tag: str, before: str) -> str:
    """What stands before the text of a block: marks of a heading, an item's number or a dash. That
    of an item goes on to the first text in it."""
    if tag == "li":
        return f"{element.get(NUMBER)} " if element.get(NUMBER) else "- "
    return HEADINGS[tag] + before.removeprefix("- ") if tag in HEADINGS else before


def _after(tag: str, before: str) -> str:
    return "" if tag == "li" or tag in HEADINGS else before


def _labels(drawing: Any) -> str:
    """What is written in a drawing of the page, such as a chart."""
    labels = (" ".join("".join(item.itertext()).split()) for item in drawing.iter("text"))
    words = " · ".join(label for label in labels if label)
    return f" [picture: {words}] " if words else ""


def _alternative(image: Any) -> str:
    words = " ".join((image.get("alt") or "").split())
    return f"[picture: {words}]" if words else ""


def _layout_tables(root: Any) -> set[Any]:
    """Tables that hold tables and name no columns, or whose rows have one cell: they place text,
    they are no data."""
    tables = set()
    for table in root.iter("table"):
        outer = next(table.iterancestors("table"), None)
        if outer is not None and not _names_columns(outer):
            tables.add(outer)
        if not any(len(row) > 1 for row in table.iter("tr")):
            tables.add(table)
    return tables


def _names_columns(table: Any) -> bool:
    """Whether a row of a table itself has two cells of names, that hold no table as those of a
    layout do."""
    return any(
        sum(c.tag == "th" and bool(_cell(c).text) and c.find(".//table") is None for c in row) > 1
        for row in _rows(table)
    )
