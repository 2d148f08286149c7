"""Presentations: slides in the order in which they are shown, with tables, charts, grouped shapes,
notes and comments."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from leaf.errors import UnreadableFileError
from leaf.readers.base import Note, Outline, Passage, TableInfo, Where
from leaf.readers.documents.drawings import chart_of, drawn, relation_id, text_in, words_of
from leaf.readers.documents.ooxml import (
    Package,
    Relation,
    attribute,
    child,
    chosen,
    local,
    open_package,
)
from leaf.readers.tabular.grids import Grid, GridCell, expanded, is_table, write_grids
from leaf.readers.tabular.merges import Reaching
from leaf.readers.window import CHARS_PER_TOKEN, Extent

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
TITLES = ("title", "ctrTitle")
RUNNING = ("dt", "ftr", "sldNum", "hdr")
"""Placeholders that repeat on every slide."""


class PptxReader:
    """Slides; hidden ones are read too, and say that they are hidden."""

    def outline(self, path: Path) -> Outline:
        with open_package(path) as package:
            parts = _slides(package)
            roots = [_root(package, part) for part in parts]
            tables = len(_grids(package))
            texts = [_slide(package, part, root) for part, root in zip(parts, roots, strict=True)]
        hidden = [number for number, root in enumerate(roots, 1) if _is_hidden(root)]
        title = next(
            (text.split("\n")[0].removeprefix("# ") for text in texts if text.startswith("# ")), ""
        )[:300]
        tokens = int(sum(map(len, texts)) / CHARS_PER_TOKEN)
        notes = hidden_slides_note(hidden)
        return Outline(
            "pptx",
            MEDIA_TYPE,
            pages=len(parts),
            tables=tables,
            tokens=tokens,
            title=title,
            notes=notes,
        )

    def extent(self, path: Path, where: Where) -> Extent:
        with open_package(path) as package:
            return Extent(len(_slides(package)))

    def passages(self, path: Path, where: Where) -> Iterator[Passage]:
        with open_package(path) as package:
            parts = _slides(package)
            last = len(parts) if where.last is None else min(int(where.last), len(parts))
            for number in range(int(where.first), last + 1):
                root = _root(package, parts[number - 1])
                hidden = "(hidden slide)\n" if _is_hidden(root) else ""
                yield Passage(
                    hidden
                    + (_slide(package, parts[number - 1], root) or "(no text on this slide)"),
                    "slide",
                    number,
                )

    def tables(self, path: Path, out: Path) -> list[TableInfo]:
        """Every table of the slides, and the numbers behind every chart, each with its slide."""
        with open_package(path) as package:
            return write_grids(_grids(package), out)


def _grids(package: Package) -> list[Grid]:
    grids = []
    for number, part in enumerate(_slides(package), 1):
        root = _root(package, part)
        relations = package.relations(part)
        for shape in _shapes(root):
            data = (
                child(shape, "graphic", "graphicData") if local(shape) == "graphicFrame" else None
            )
            for item in data if data is not None else ():
                title, rows = "", []
                if local(item) == "tbl":
                    rows = expanded(_cells(item))
                elif local(item) == "chart":
                    title, rows = chart_of(package, relations.get(relation_id(item)))
                if is_table(rows):
                    grids.append(Grid(f"slide {number}", rows, title))
    return grids


def _cells(table: Any) -> Iterator[list[GridCell]]:
    above: dict[int, str] = {}
    for row in (item for item in table if local(item) == "tr"):
        cells = []
        for column, cell in enumerate(item for item in row if local(item) == "tc"):
            goes_on = attribute(cell, "vMerge") in ("1", "true")
            own = " ".join(" ".join(text_in(cell)).split())
            text = Reaching(above.get(column, "")) if goes_on else own
            above[column] = text
            cells.append(GridCell(text))
        yield cells


def hidden_slides_note(hidden: list[int]) -> tuple[Note, ...]:
    if not hidden:
        return ()
    place = (
        ("slides " if len(hidden) > 1 else "slide ")
        + ", ".join(map(str, hidden[:12]))
        + (" …" if len(hidden) > 12 else "")
    )
    text = f"{len(hidden):,} slides are hidden in the presentation; they are read too."
    return (
        Note(
            "hidden-slide",
            "1 slide is hidden in the presentation; it is read too." if len(hidden) == 1 else text,
            len(hidden),
            place,
        ),
    )


def _slides(package: Package) -> list[str]:
    """Part names of the slides in the order of the presentation."""
    main = package.main("ppt/presentation.xml")
    root = package.xml(main)
    if root is None:
        raise UnreadableFileError(
            "This presentation has no list of slides.", "Save it again from its application."
        )
    relations = package.relations(main)
    listed = child(root, "sldIdLst")
    ids = [relation_id(item) for item in listed] if listed is not None else []
    return [relations[key].target for key in ids if key in relations]


def _root(package: Package, part: str) -> Any:
    root = words_of(package, part)
    if root is None:
        raise UnreadableFileError(
            f"This presentation lacks its part {part}.", "Save it again from its application."
        )
    return root


def _is_hidden(slide: Any) -> bool:
    return attribute(slide, "show") in ("0", "false")


def _slide(package: Package, part: str, root: Any) -> str:
    relations = package.relations(part)
    titles: list[str] = []
    body: list[str] = []
    for shape in _shapes(root):
        kind = _placeholder(shape)
        if kind in TITLES:
            titles.append(" ".join(" ".join(text_in(shape)).split()))
        elif kind not in RUNNING:
            body.extend(_shape(package, relations, shape))
    lines = [f"# {title}" for title in titles if title] + body
    for relation in relations.values():
        if relation.kind == "notesSlide":
            lines.extend(_notes(package, relation.target))
        elif relation.kind == "comments":
            lines.extend(_comments(package, relation.target))
    return "\n".join(lines)


def _shapes(root: Any) -> Iterator[Any]:
    """Shapes, tables, charts and diagrams, also inside groups, in the order in which they are
    drawn."""
    tree = child(root, "cSld", "spTree")
    stack = list(reversed(tree)) if tree is not None else []
    while stack:
        element = stack.pop()
        name = local(element)
        if name in ("sp", "graphicFrame", "cxnSp"):
            yield element
        elif name == "grpSp":
            stack.extend(reversed(element))
        elif name == "AlternateContent":
            stack.extend(reversed(chosen(element)))


def _placeholder(shape: Any) -> str:
    """The kind of placeholder that a shape fills; empty for other shapes."""
    for name in ("nvSpPr", "nvGraphicFramePr"):
        place = child(shape, name, "nvPr", "ph")
        if place is not None:
            return attribute(place, "type") or "body"
    return ""


def _shape(package: Package, relations: dict[str, Relation], shape: Any) -> Iterator[str]:
    if local(shape) != "graphicFrame":
        yield from text_in(shape)
        return
    data = child(shape, "graphic", "graphicData")
    for item in data if data is not None else ():
        if local(item) == "tbl":
            yield from _table(item)
        else:
            yield from drawn(package, relations, item)


def _table(table: Any) -> Iterator[str]:
    for row in (item for item in table if local(item) == "tr"):
        cells = [" ".join(" ".join(text_in(cell)).split()) for cell in row if local(cell) == "tc"]
        if any(cells):
            yield " | ".join(cells)


def _notes(package: Package, part: str) -> Iterator[str]:
    root = words_of(package, part)
    for shape in _shapes(root) if root is not None else ():
        if _placeholder(shape) not in (*RUNNING, "sldImg"):
            for line in text_in(shape):
                yield f"[notes] {line}"


def _comments(package: Package, part: str) -> Iterator[str]:
    root = package.xml(part)
    for comment in root.iter() if root is not None else ():
        if local(comment) == "cm":
            text = " ".join(
                " ".join(
                    item.text or "" for item in comment.iter() if local(item) in ("text", "t")
                ).split()
            )
            if text:
                yield f"[comment] {text}"
