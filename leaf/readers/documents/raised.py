"""Raised and lowered text: a footnote mark or an exponent behind a figure must not become one more
digit of it. Digits are written as the raised ones that Unicode has: `12.5¹`, `10⁶`.

The trees of documents are changed in place, so that whatever reads them says the same.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from leaf.readers.documents.ooxml import attribute, child, local

_RAISED = str.maketrans("0123456789+-−=()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾")
_LOWERED = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_DIGITS = re.compile(r"\d")
_MARK = re.compile(r"[\d\s+\-−=().,;*–—]+")
_FIRST_DIGITS = re.compile(r"\s*\d+")
_STYLE = re.compile(r"(?i)\bvertical-align\s*:\s*(super|sub)\b")
_WRITTEN = "leaf-written"
"""The tag of what is written anew, until it is part of the text before it."""
_INLINE = frozenset(
    ("a", "abbr", "b", "bdi", "br", "cite", "em", "font", "i", "ins", "mark", "s", "small")
) | {"span", "strong", "sub", "sup", "u", "var", _WRITTEN}
_CELL = frozenset(
    ("td", "th", "p", "li", "dd", "dt", "div", "caption", "figcaption", "blockquote", "body")
)


def raised(text: str) -> str:
    """Digits and signs as raised ones. Letters stay as they are: `1st`, `12.5a`."""
    return _moved(text, _RAISED)


def lowered(text: str) -> str:
    return _moved(text, _LOWERED)


def _moved(text: str, letters: dict[int, int]) -> str:
    plain = _DIGITS.sub(lambda digit: str(int(digit[0])), text)
    if _MARK.fullmatch(plain):
        return plain.translate(letters)
    if first := _FIRST_DIGITS.match(plain):
        return plain[: first.end()].translate(letters) + text[first.end() :]
    return text


def _written(text: str, level: int, before: str) -> str:
    """A piece as it stands on its level. What is lowered behind a letter stays, as CO2 is looked
    for as that."""
    if level > 0:
        return raised(text)
    return lowered(text) if level < 0 and before[-1:].isdigit() else text


def raise_in_word(root: Any, styles: Any) -> None:
    """In a part of a Word document, whose styles may raise text too."""
    named = {
        attribute(style, "styleId"): _alignment(child(style, "rPr", "vertAlign"))
        for style in (styles if styles is not None else ())
        if local(style) == "style" and attribute(style, "type") == "character"
    }

    def level(run: Any) -> int:
        own = child(run, "rPr", "vertAlign")
        style = child(run, "rPr", "rStyle")
        return (
            named.get(attribute(style, "val"), 0)
            if own is None and style is not None
            else (_alignment(own))
        )

    _raise_runs(root, ("r",), level)


def _alignment(element: Any) -> int:
    value = attribute(element, "val") if element is not None else ""
    return {"superscript": 1, "subscript": -1}.get(value, 0)


def raise_in_slides(root: Any) -> None:
    """In a slide, its notes or a chart."""

    def level(run: Any) -> int:
        properties = child(run, "rPr")
        baseline = attribute(properties, "baseline").strip("% ") if properties is not None else ""
        moved = re.fullmatch(r"(-?)\d*[1-9]\d*(?:\.\d+)?", baseline)
        return 0 if moved is None else -1 if moved[1] else 1

    _raise_runs(root, ("r", "fld"), level)


def _raise_runs(root: Any, names: Iterable[str], level: Callable[[Any], int]) -> None:
    """The runs of each paragraph. One whose whole text is raised is set so; nothing in it is a
    mark."""
    paragraphs: defaultdict[Any, list[tuple[Any, int]]] = defaultdict(list)
    for run in (item for item in root.iter() if local(item) in names):
        texts = [item for item in run if local(item) == "t" and item.text]
        paragraph = next((a for a in run.iterancestors() if local(a) == "p"), None)
        if texts and paragraph is not None:
            paragraphs[paragraph] += [(text, level(run)) for text in texts]
    for pieces in paragraphs.values():
        before = ""
        plain = any(at == 0 and text.text.strip() for text, at in pieces)
        for text, at in pieces if plain else ():
            before, text.text = text.text, _written(text.text, at, before)


def raise_in_page(root: Any) -> bool:
    """In a web page; whether anything in it is raised or lowered. A raised text becomes part of the
    text before it, as a browser shows no gap between the two."""
    from lxml import etree

    elements = list(_moved_elements(root)) if root is not None else []
    blocks: dict[Any, bool] = {}
    for element, level in reversed(elements):
        if any(item.tag not in _INLINE for item in element.iterdescendants()):
            continue  # a mark that is never closed goes around the rest of a page
        block = next(a for a in element.iterancestors() if a.tag in _CELL or a is root)
        if block not in blocks:
            blocks[block] = any(text.strip() for text in _plain_texts(block))
        text = "".join(element.itertext())
        before = _before(element)
        tail = element.tail
        element.clear()
        element.tag, element.tail = _WRITTEN, tail
        element.text = _written(text, level, before) if blocks[block] else text
    if root is not None and elements:
        etree.strip_tags(root, _WRITTEN)
    return bool(elements)


def _moved_elements(root: Any) -> Iterator[tuple[Any, int]]:
    for element in root.xpath("//body//sup | //body//sub | //body//*[contains(@style, 'vert')]"):
        style = _STYLE.search(element.get("style") or "")
        if element.tag in ("sup", "sub"):
            yield element, 1 if element.tag == "sup" else -1
        elif style and element.tag in _INLINE:
            yield element, 1 if style[1].lower() == "super" else -1


def _plain_texts(block: Any) -> Iterator[str]:
    """The texts of a block outside what is raised and lowered in it."""
    if block.tag in ("sup", "sub") or _STYLE.search(block.get("style") or ""):
        return
    yield block.text or ""
    for item in block:
        yield from _plain_texts(item)
        yield item.tail or ""


def _before(element: Any) -> str:
    """The text directly before an element."""
    previous = element.getprevious()
    if previous is None:
        return element.getparent().text or ""
    return previous.tail or "".join(previous.itertext())


def raise_in_open(root: Any, *others: Any) -> None:
    """In an OpenDocument part, whose styles, and those of `others`, say what is raised."""
    levels = {
        attribute(style, "name"): level
        for part in (*others, root)
        if part is not None
        for style in part.iter()
        if local(style) == "style" and (level := _position(child(style, "text-properties")))
    }
    if not levels:
        return
    paragraphs: defaultdict[Any, list[tuple[Any, int]]] = defaultdict(list)
    for span in (item for item in root.iter() if local(item) == "span"):
        level = levels.get(attribute(span, "style-name"), 0)
        paragraph = next((a for a in span.iterancestors() if local(a) in ("p", "h")), None)
        if level and span.text and paragraph is not None:
            paragraphs[paragraph].append((span, level))
    for paragraph, spans in paragraphs.items():
        moved = {span for span, _ in spans}
        if not any(text.strip() for text in _texts_but(paragraph, moved)):
            continue
        for span, level in spans:
            span.text = _written(span.text, level, _before(span))


def _position(properties: Any) -> int:
    """Whether a style raises or lowers: `super 58%`, `-33% 58%`."""
    position = attribute(properties, "text-position") if properties is not None else ""
    where = position.split(" ")[0]
    if where in ("super", "sub"):
        return 1 if where == "super" else -1
    number = re.fullmatch(r"(-?)\d*[1-9]\d*(?:\.\d+)?%?", where)
    return 0 if number is None else -1 if number[1] else 1


def _texts_but(element: Any, others: set[Any]) -> Iterator[str]:
    """The texts of an element outside some of those in it."""
    if element in others:
        return
    yield element.text or ""
    for item in element:
        yield from _texts_but(item, others)
        yield item.tail or ""
