"""Word documents: paragraphs in order, headings as `#`, each row of a table on one line, text
boxes, notes and comments.

Text that a tracked change has deleted is left out, and that is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from leaf.errors import UnreadableFileError
from leaf.readers.base import Note, Outline, Passage, TableInfo, Where
from leaf.readers.documents.commented import commented
from leaf.readers.documents.formulas import beside, formula
from leaf.readers.documents.html import numbered
from leaf.readers.documents.ooxml import Package, attribute, child, chosen, local, open_package
from leaf.readers.documents.raised import raise_in_word
from leaf.readers.documents.tracked import notes_of_word
from leaf.readers.documents.word_numbers import NUMBER, number_paragraphs
from leaf.readers.documents.word_parts import write_parts
from leaf.readers.tabular.grids import Grid, GridCell, expanded, is_table, write_grids
from leaf.readers.tabular.merges import Reaching
from leaf.readers.window import CHARS_PER_TOKEN, Extent

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
DELETED = frozenset(
    ("del", "moveFrom", "instrText", "delText", "delInstrText", "pPr", "rPr", "rt", "numPicBullet")
)
BREAKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
WRAPPERS = frozenset(
    ("sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo", "Choice", "altChunk")
)
MOST_COLUMNS = 63
"""Columns that a table of Word can have."""
APART = ("footnotes", "endnotes", "comments", "header", "footer")
"""Parts that hold text beside the main one."""
HEADING = re.compile(r"heading\s*(\d)", re.I)


class DocxReader:
    """Paragraphs; footnotes, endnotes, comments, headers and footers stand at the end."""

    def outline(self, path: Path) -> Outline:
        with open_package(path) as package:
            root = _main(package)
            paragraphs, tables = _text(package, root), len(_grids(root))
            notes = _doubts(package, root)
        tokens = int(sum(len(p) + 1 for p in paragraphs) / CHARS_PER_TOKEN)
        title = next((p.lstrip("# ") for p in paragraphs if p.startswith("#")), "")[:300]
        return Outline(
            *("docx", MEDIA_TYPE),
            lines=len(paragraphs),
            tables=tables,
            tokens=tokens,
            title=title,
            notes=notes,
        )

    def extent(self, path: Path, where: Where) -> Extent:
        with open_package(path) as package:
            root = _main(package)
            return Extent(len(_text(package, root)), notes=_doubts(package, root))

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        yield from numbered(_read(path), where)

    def tables(self, path: Path, out: Path) -> list[TableInfo]:
        """Every table of the document, one inside another apart."""
        with open_package(path) as package:
            grids = _grids(_main(package))
        return write_grids(grids, out)


def _main(package: Package) -> Any:
    """The root of the part with the text. Raises UnreadableFileError where there is none."""
    root = _part(package, package.main("word/document.xml"))
    if root is None or child(root, "body") is None:
        raise UnreadableFileError(
            "This Word document has no text part.", "Save it again from its application."
        )
    parts = _parts(package)
    styles = package.xml(parts.get("styles", "word/styles.xml"))
    number_paragraphs(root, package.xml(parts.get("numbering", "word/numbering.xml")), styles)
    return root


def _part(package: Package, name: str) -> Any:
    """The root of a part with text, its raised digits and what it shows of other parts written as
    such; None where there is none."""
    root = package.xml(name)
    if root is not None:
        raise_in_word(root, package.xml(_parts(package).get("styles", "word/styles.xml")))
        write_parts(package, name, root)
    return root


def _parts(package: Package) -> dict[str, str]:
    """The parts around the text by what they are."""
    related = package.relations(package.main("word/document.xml"))
    return {relation.kind: relation.target for relation in related.values()}


def _grids(root: Any) -> list[Grid]:
    tables = (expanded(_cells(table)) for table in root.iter() if local(table) == "tbl")
    return [Grid("", rows) for rows in tables if is_table(rows)]


def _cells(table: Any) -> Iterator[list[GridCell]]:
    """Cells by row. One that goes on from above says so itself, so that its text is the one above
    it."""
    above: dict[int, str] = {}
    for row in _inside(table, "tr"):
        if child(row, "trPr", "del") is not None:
            continue
        cells = [GridCell("")] * _before(row)
        column = len(cells)
        for cell in _inside(row, "tc"):
            span = child(cell, "tcPr", "gridSpan")
            width = (
                int(attribute(span, "val"))
                if span is not None and attribute(span, "val").isdigit()
                else 1
            )
            merge = child(cell, "tcPr", "vMerge")
            goes_on = merge is not None and attribute(merge, "val") != "restart"
            text = Reaching(above.get(column, "")) if goes_on else _cell(cell, {})
            above[column] = text
            cells.append(GridCell(text, width))
            column += width
        yield cells


def _before(row: Any) -> int:
    """Columns of the table to the left of a row's first cell."""
    skipped = child(row, "trPr", "gridBefore")
    count = attribute(skipped, "val") if skipped is not None else ""
    return min(int(count), MOST_COLUMNS) if count.isdecimal() else 0


def _read(path: Path) -> list[str]:
    with open_package(path) as package:
        return _text(package, _main(package))


def _doubts(package: Package, root: Any) -> tuple[Note, ...]:
    """What of the text Word shows otherwise."""
    related = package.relations(package.main("word/document.xml")).values()
    parts = {relation.target for relation in related if relation.kind in APART}
    roots = [package.xml(part) for part in sorted(parts)]
    return notes_of_word([root, *(each for each in roots if each is not None)])


def _text(package: Package, root: Any) -> list[str]:
    """The paragraphs of the text, then what stands outside it."""
    main = package.main("word/document.xml")
    parts = _parts(package)
    styles = _styles(package, parts.get("styles", "word/styles.xml"))
    paragraphs = list(_blocks(child(root, "body"), styles))
    for kind, label, about in (
        ("footnotes", "footnote", {}),
        ("endnotes", "endnote", {}),
        ("comments", "comment", commented(root)),
    ):
        paragraphs.extend(_notes(package, parts.get(kind, ""), label, styles, about))
    paragraphs.extend(_margins(package, main, styles))
    return paragraphs


def _styles(package: Package, part: str) -> dict[str, str]:
    """Style id -> what stands before its paragraphs: `## `, `- ` or nothing."""
    root = package.xml(part)
    prefixes = {}
    for style in root if root is not None else ():
        if local(style) != "style":
            continue
        name = child(style, "name")
        words = attribute(name, "val") if name is not None else ""
        level = child(style, "pPr", "outlineLvl")
        heading = HEADING.match(words)
        if heading or (
            level is not None
            and attribute(level, "val").isdigit()
            and int(attribute(level, "val")) < 9
        ):
            depth = int(heading[1]) if heading else int(attribute(level, "val")) + 1
            prefixes[attribute(style, "styleId")] = "#" * max(1, min(6, depth)) + " "
        elif words.lower() == "title":
            prefixes[attribute(style, "styleId")] = "# "
        elif child(style, "pPr", "numPr") is not None or words.lower().startswith("list"):
            prefixes[attribute(style, "styleId")] = "- "
    return prefixes


def _blocks(parent: Any, styles: dict[str, str]) -> Iterator[str]:
    """Paragraphs and rows, in order; wrappers are looked into."""
    stack = list(reversed(parent))
    while stack:
        element = stack.pop()
        name = local(element)
        if name == "p":
            yield from _paragraph(element, styles)
        elif name == "tbl":
            yield from _table(element, styles)
        elif name == "AlternateContent":
            stack.extend(reversed(chosen(element)))
        elif name in WRAPPERS:
            stack.extend(reversed(element))


def _paragraph(paragraph: Any, styles: dict[str, str]) -> Iterator[str]:
    """The paragraph, and after it the text boxes that are anchored in it."""
    boxes: list[Any] = []
    text = _words(paragraph, boxes).strip()
    alone = local(paragraph.getparent()) == "tc" and paragraph.get(NUMBER)
    if text or alone:
        yield (_prefix(paragraph, styles) + text).rstrip()
    for box in boxes:
        yield from _blocks(box, styles)


def _words(parent: Any, boxes: list[Any]) -> str:
    """The text of runs in order; text boxes are handed out to be read after it."""
    words: list[str] = []
    stack = list(reversed(parent))
    while stack:
        element = stack.pop()
        name = local(element)
        if name == "t":
            words.append(element.text or "")
        elif name in BREAKS:
            words.append(BREAKS[name])
        elif name == "sym":
            words.append(_symbol(attribute(element, "char")))
        elif name in ("footnoteReference", "endnoteReference"):
            words.append(f"[{name.removesuffix('Reference')} {attribute(element, 'id')}]")
        elif name == "oMath":
            words.append(beside(words[-1] if words else "", formula(element)))
        elif name == "txbxContent":
            boxes.append(element)
        elif name == "AlternateContent":
            stack.extend(reversed(chosen(element)))
        elif name not in DELETED:
            stack.extend(reversed(element))
    return "".join(words)


def _symbol(code: str) -> str:
    """A character of a symbol font; those in the private area say nothing outside their font."""
    number = int(code, 16) if re.fullmatch(r"[0-9A-Fa-f]{1,6}", code) else 0
    return chr(number) if 0x20 <= number < 0xD800 else ""


def _prefix(paragraph: Any, styles: dict[str, str]) -> str:
    """What stands before a paragraph: marks of a heading, and its number or that of an item."""
    mark, number = _mark(paragraph, styles), paragraph.get(NUMBER, "")
    if not number:
        return mark
    return f"{mark.removesuffix('- ')}{number} "


def _mark(paragraph: Any, styles: dict[str, str]) -> str:
    properties = child(paragraph, "pPr")
    if properties is None:
        return ""
    level = child(properties, "outlineLvl")
    if level is not None and attribute(level, "val") in tuple("012345678"):
        return "#" * min(6, int(attribute(level, "val")) + 1) + " "
    style = child(properties, "pStyle")
    prefix = styles.get(attribute(style, "val"), "") if style is not None else ""
    depth = child(properties, "numPr", "ilvl")
    if child(properties, "numPr") is not None and not prefix:
        prefix = "- "
    indent = (
        int(attribute(depth, "val"))
        if depth is not None and attribute(depth, "val").isdigit()
        else 0
    )
    return "  " * min(indent, 8) + prefix if prefix == "- " else prefix


def _table(table: Any, styles: dict[str, str]) -> Iterator[str]:
    for row in _inside(table, "tr"):
        if child(row, "trPr", "del") is not None:
            continue
        cells = [""] * _before(row) + [_cell(cell, styles) for cell in _inside(row, "tc")]
        if any(cells):
            yield " | ".join(cells)


def _cell(cell: Any, styles: dict[str, str]) -> str:
    return " ".join(" ".join(_blocks(cell, {})).split())


def _inside(parent: Any, name: str) -> Iterator[Any]:
    """Rows or cells, also inside wrappers, but not those of a table within."""
    stack = list(reversed(parent))
    while stack:
        element = stack.pop()
        if local(element) == name:
            yield element
        elif local(element) in WRAPPERS:
            stack.extend(reversed(element))


def _notes(
    package: Package, part: str, label: str, styles: dict[str, str], about: dict[str, str]
) -> Iterator[str]:
    root = _part(package, part) if part else None
    for note in root if root is not None else ():
        if attribute(note, "type") in ("separator", "continuationSeparator", "continuationNotice"):
            continue
        text = " ".join(" ".join(_blocks(note, styles)).split())
        author, name = attribute(note, "author"), attribute(note, "id")
        by = f" by {author}" if author else ""
        on = f" on “{about[name]}”" if about.get(name) else ""
        if text:
            yield f"[{label} {name}{by}{on}] {text}"


def _margins(package: Package, main: str, styles: dict[str, str]) -> Iterator[str]:
    """Headers and footers, each text once."""
    seen: set[str] = set()
    for relation in package.relations(main).values():
        root = _part(package, relation.target) if relation.kind in ("header", "footer") else None
        text = " ".join(" ".join(_blocks(root, {})).split()) if root is not None else ""
        if text and text not in seen:
            seen.add(text)
            yield f"[{relation.kind}] {text}"
