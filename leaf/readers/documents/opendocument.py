"""OpenDocument texts and presentations: paragraphs or slides in order, tables by row, notes and
comments."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from leaf.errors import UnreadableFileError
from leaf.readers.base import Note, Outline, Passage, TableInfo, Where
from leaf.readers.documents.html import numbered
from leaf.readers.documents.ooxml import attribute, child, local, open_package
from leaf.readers.documents.open_numbers import number_open
from leaf.readers.documents.pptx import hidden_slides_note
from leaf.readers.documents.raised import raise_in_open
from leaf.readers.documents.tracked import notes_of_open
from leaf.readers.documents.word_numbers import NUMBER
from leaf.readers.tabular.grids import Grid, GridCell, expanded, is_table, write_grids
from leaf.readers.tabular.merges import Reaching
from leaf.readers.window import CHARS_PER_TOKEN, Extent

MEDIA = "application/vnd.oasis.opendocument."
_BLOCKS = frozenset(("p", "h"))
_SKIPPED = frozenset(("tracked-changes", "sequence-decls", "forms", "annotation-end"))
_MAX_REPEATED = 1_000


class OdtReader:
    """A text: paragraphs, headings as `#`, list items as `- `, each row of a table on one line."""

    def outline(self, path: Path) -> Outline:
        body = _body(path, "text")
        paragraphs = [*_blocks(body), *_margins(path)]
        title = next((p.lstrip("# ") for p in paragraphs if p.startswith("#")), "")[:300]
        tokens = int(sum(len(p) + 1 for p in paragraphs) / CHARS_PER_TOKEN)
        tables = len(_grids(body, ""))
        return Outline(
            *("odt", MEDIA + "text"),
            lines=len(paragraphs),
            tables=tables,
            tokens=tokens,
            title=title,
            notes=_notes(path, body),
        )

    def extent(self, path: Path, where: Where) -> Extent:
        body = _body(path, "text")
        return Extent(len([*_blocks(body), *_margins(path)]), notes=_notes(path, body))

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        yield from numbered(_paragraphs(path), where)

    def tables(self, path: Path, out: Path) -> list[TableInfo]:
        """Every table of the text."""
        return write_grids(_grids(_body(path, "text"), ""), out)


class OdpReader:
    """A presentation: slides in order, each with its notes."""

    def outline(self, path: Path) -> Outline:
        slides = _slides(path)
        texts = [_slide(slide) for slide in slides]
        title = next((text.split("\n")[0] for text in texts if text), "")[:300]
        tables = sum(len(_grids(slide, "")) for slide in slides)
        tokens = int(sum(map(len, texts)) / CHARS_PER_TOKEN)
        return Outline(
            "odp",
            MEDIA + "presentation",
            pages=len(slides),
            tables=tables,
            tokens=tokens,
            title=title,
            notes=_hidden_slides(path, slides),
        )

    def extent(self, path: Path, where: Where) -> Extent:
        slides = _slides(path)
        return Extent(len(slides), notes=_hidden_slides(path, slides))

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        slides = _slides(path)
        last = len(slides) if where.last is None else min(int(where.last), len(slides))
        for number in range(int(where.first), last + 1):
            yield Passage(_slide(slides[number - 1]) or "(no text on this slide)", "slide", number)

    def tables(self, path: Path, out: Path) -> list[TableInfo]:
        """Every table, with its slide."""
        slides = enumerate(_slides(path), 1)
        return write_grids(
            [grid for number, slide in slides for grid in _grids(slide, f"slide {number}")], out
        )


def _body(path: Path, name: str) -> Any:
    with open_package(path) as package:
        root = package.xml("content.xml")
        if root is not None:
            raise_in_open(root, package.xml("styles.xml"))
        body = child(root, "body", name) if root is not None else None
        if body is not None and name == "text":
            number_open(body, root, package.xml("styles.xml"))
    if body is None:
        raise UnreadableFileError(
            "This OpenDocument file has no content.", "Save it again from its application."
        )
    return body


def _paragraphs(path: Path) -> list[str]:
    return [*_blocks(_body(path, "text")), *_margins(path)]


def _notes(path: Path, body: Any) -> tuple[Note, ...]:
    """What of the text a text processor shows otherwise."""
    return notes_of_open(body, _styles(path), body.getroottree().getroot())


def _styles(path: Path) -> Any:
    with open_package(path) as package:
        return package.xml("styles.xml")


def _hidden_slides(path: Path, slides: list[Any]) -> tuple[Note, ...]:
    """Slides that are not shown, by their styles."""
    if not slides:
        return ()
    styles = [
        part for part in (_styles(path), slides[0].getroottree().getroot()) if part is not None
    ]
    hidden = {
        attribute(item, "name")
        for part in styles
        for item in part.iter()
        if local(item) == "style"
        and (properties := child(item, "drawing-page-properties")) is not None
        and attribute(properties, "visibility") == "hidden"
    }
    numbers = [n for n, slide in enumerate(slides, 1) if attribute(slide, "style-name") in hidden]
    return hidden_slides_note(numbers)


def _margins(path: Path) -> Iterator[str]:
    """Headers and footers, each text once."""
    with open_package(path) as package:
        root = package.xml("styles.xml")
    pages = child(root, "master-styles") if root is not None else None
    seen: set[str] = set()
    for item in (item for page in (pages if pages is not None else ()) for item in page):
        kind = local(item).partition("-")[0]
        if kind not in ("header", "footer") or attribute(item, "display") == "false":
            continue
        text = " ".join(" ".join(_blocks(item)).split())
        if text and text not in seen:
            seen.add(text)
            yield f"[{kind}] {text}"


def _slides(path: Path) -> list[Any]:
    return [page for page in _body(path, "presentation") if local(page) == "page"]


def _slide(page: Any) -> str:
    lines = []
    for item in page:
        prefix = "[notes] " if local(item) == "notes" else ""
        lines += [prefix + text for text in _blocks([item])]
    return "\n".join(lines)


def _blocks(parent: Any) -> Iterator[str]:
    """Paragraphs and rows in order; what stands in the frames of a paragraph comes after it."""
    stack = [(item, "") for item in reversed(list(parent))]
    while stack:
        element, prefix = stack.pop()
        name = local(element)
        if name in _BLOCKS:
            frames: list[Any] = []
            text = " ".join(_words(element, frames).split(" ")).strip()
            if text or (element.get(NUMBER) and _is_alone_in_cell(element)):
                yield (_prefix(element, prefix) + text).rstrip()
            stack.extend((frame, "") for frame in reversed(frames))
        elif name == "table":
            yield from (" | ".join(row) for row in expanded(_cells(element)) if any(row))
        elif _is_description(element):
            yield from filter(None, [_described(element)])
        elif name not in _SKIPPED:
            items = [item for item in element if local(item) != "soft-page-break"]
            first = "- " if name == "list-item" else prefix
            others = "" if name == "list-item" else prefix
            stack.extend((item, others) for item in reversed(items[1:]))
            stack.extend((item, first) for item in items[:1])


def _prefix(element: Any, before: str) -> str:
    """What stands before a paragraph: marks of a heading, and its number or that of an item."""
    level = attribute(element, "outline-level") if local(element) == "h" else ""
    mark = "#" * min(6, int(level)) + " " if level.isdigit() and int(level) else before
    number = element.get(NUMBER, "")
    return f"{mark.removesuffix('- ')}{number} " if number else mark


def _is_alone_in_cell(paragraph: Any) -> bool:
    """Whether a number is all that a cell shows."""
    return any(local(around) == "table-cell" for around in paragraph.iterancestors())


def _words(element: Any, frames: list[Any]) -> str:
    """The text of a paragraph; blanks, tabs and breaks are elements of their own. Frames that hold
    paragraphs are handed out to be read after it."""
    words = [element.text or ""]
    for item in element:
        name = local(item)
        if name == "number":
            pass  # stands before the paragraph
        elif name == "s":
            count = attribute(item, "c")
            words.append(" " * (min(int(count), 100) if count.isdigit() else 1))
        elif name in ("tab", "line-break"):
            words.append("\t" if name == "tab" else "\n")
        elif name in ("annotation", "note"):
            told = " ".join(" ".join(_blocks(item)).split())
            words.append(
                f" [{'comment' if name == 'annotation' else 'footnote'}: {told}] " if told else ""
            )
        elif _is_description(item):
            words.append(f" {_described(item)} ")
        elif name and any(local(inner) in _BLOCKS for inner in item.iterdescendants()):
            frames.append(item)
        elif name and name != "ruby-text":
            words.append(_words(item, frames))
        words.append(item.tail or "")
    return "".join(words)


def _is_description(element: Any) -> bool:
    """Whether it says what a drawing shows; a field with the title of the text is called alike."""
    return local(element) in ("title", "desc") and "svg" in element.tag


def _described(element: Any) -> str:
    words = " ".join((element.text or "").split())
    return f"[picture: {words}]" if words else ""


def _cells(table: Any) -> Iterator[list[GridCell]]:
    """Cells by row, without those of tables in it. One over several rows is said in each."""
    above: dict[int, tuple[int, str]] = {}
    for row in _own_rows(table):
        cells: list[GridCell] = []
        for cell in row:
            if local(cell) not in ("table-cell", "covered-table-cell"):
                continue
            left, text = above.pop(len(cells), (0, ""))
            if local(cell) == "table-cell":
                left, text = _count(cell, "number-rows-spanned"), _cell_text(cell)
            if left > 1:
                above[len(cells)] = (left - 1, Reaching(text))
            cells += [GridCell(text)] * min(_count(cell, "number-columns-repeated"), _MAX_REPEATED)
        yield cells


def _own_rows(table: Any) -> Iterator[Any]:
    """The rows of a table itself, also those in groups and headers."""
    stack = list(reversed(table))
    while stack:
        element = stack.pop()
        name = local(element)
        if name == "table-row":
            yield element
        elif name.startswith("table-") and name != "table-cell":
            stack.extend(reversed(element))


def _count(cell: Any, name: str) -> int:
    number = attribute(cell, name)
    return int(number) if number.isdigit() and len(number) < 6 else 1


def _cell_text(cell: Any) -> str:
    return " ".join(" ".join(_blocks(cell)).split())


def _grids(parent: Any, place: str) -> list[Grid]:
    tables = (expanded(_cells(table)) for table in parent.iter() if local(table) == "table")
    return [Grid(place, rows) for rows in tables if is_table(rows)]
