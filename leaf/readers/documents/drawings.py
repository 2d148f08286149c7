"""What drawings show in words and numbers: charts, diagrams, and the text of shapes. Presentations and
Word documents have them in the same form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from leaf.readers.documents.chart_rows import chart_rows
from leaf.readers.documents.formulas import beside, formula
from leaf.readers.documents.ooxml import Package, Relation, attribute, child, chosen, local
from leaf.readers.documents.raised import raise_in_slides

UNREAD = "(A chart or diagram stands here that cannot be read.)"
"""A chart of a newer kind, such as a waterfall, or one that is damaged."""


def drawn(package: Package, relations: Mapping[str, Relation], item: Any) -> Iterator[str]:
    """The lines of a chart or a diagram; none for another item of a graphic."""
    if local(item) == "chart":
        yield from list(_chart(package, relations.get(relation_id(item)))) or [UNREAD]
    elif local(item) == "relIds":
        diagram = relations.get(relation_id(item, "dm"))
        root = words_of(package, diagram.target) if diagram else None
        yield from text_in(root) if root is not None else ()


def _chart(package: Package, relation: Relation | None) -> Iterator[str]:
    """Title, axis titles, and the numbers as rows: category, then one cell a series."""
    title, rows = chart_of(package, relation)
    if rows:
        yield f"Chart: {title}"
        yield from (" | ".join(row).strip() for row in rows)


def chart_of(package: Package, relation: Relation | None) -> tuple[str, list[list[str]]]:
    """What a chart is called, and its numbers. Both empty where there is none."""
    root = words_of(package, relation.target) if relation else None
    if root is None:
        return "", []
    titles = [
        " ".join(" ".join(text_in(item)).split()) for item in root.iter() if local(item) == "title"
    ]
    return " · ".join(title for title in titles if title), chart_rows(root)


def text_in(parent: Any) -> Iterator[str]:
    """Paragraphs that hold text; bullets are indented by their level."""
    for paragraph in parent.iter():
        if local(paragraph) == "p":
            text = _words(paragraph)
            level = attribute(p, "lvl") if (p := child(paragraph, "pPr")) is not None else ""
            if text.strip():
                yield (
                    "  " * int(level) + "- " if level in tuple("12345678") else ""
                ) + text.strip()


def _words(paragraph: Any) -> str:
    words: list[str] = []
    stack = list(reversed(paragraph))
    while stack:
        element = stack.pop()
        name = local(element)
        if name == "t":
            words.append(element.text or "")
        elif name == "oMath":
            words.append(beside(words[-1] if words else "", formula(element)))
        elif name == "br":
            words.append("\n")
        elif name == "tab":
            words.append("\t")
        elif name == "AlternateContent":
            stack.extend(reversed(chosen(element)))
        else:
            stack.extend(reversed(element))
    return "".join(words)


def words_of(package: Package, part: str) -> Any | None:
    """The root of a part, its raised digits written as such; None where there is none."""
    root = package.xml(part)
    if root is not None:
        raise_in_slides(root)
    return root


def relation_id(element: Any, name: str = "id") -> str:
    """The attribute `r:id`; an element may have a plain `id` beside it."""
    return next(
        (
            str(value)
            for key, value in element.attrib.items()
            if key.startswith("{") and key.endswith("}" + name)
        ),
        "",
    )
