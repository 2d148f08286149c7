"""Formulas of web pages and e-books (MathML) as one line of text: x² is not x2, and a half is
`1/2`."""

from __future__ import annotations

import re
from typing import Any

from leaf.readers.documents.raised import lowered, raised

_ALONE = re.compile(r"[\w.,%]*")
_INVISIBLE = re.compile("[\u2061-\u2064]")
"""Signs for what is multiplied or applied without being seen."""
_TOKENS = frozenset(("mi", "mn", "mo", "mtext", "ms"))
_SILENT = frozenset(("annotation", "annotation-xml", "mphantom", "none", "mprescripts"))
WRITTEN = "leaf-formula"


def write_formulas(root: Any) -> bool:
    """Put the text of each formula of a page in its place, in a tree that is changed; whether there
    is one."""
    from lxml import etree

    formulas = [e for e in root.iter() if _name(e) == "math"] if root is not None else []
    for math in formulas:
        text, tail = " ".join(formula(math).split()), math.tail
        before = _before(math)
        math.clear()
        math.tag, math.tail = WRITTEN, tail
        math.text = beside(before, text)
    if formulas:
        etree.strip_tags(root, WRITTEN)
    return bool(formulas)


def formula(element: Any) -> str:
    """What an element of a formula says; what has no form of its own is read in order."""
    name = _name(element)
    if name in _TOKENS:
        return _INVISIBLE.sub("", " ".join("".join(element.itertext()).split()))
    if name in _SILENT or not name:
        return ""
    parts = [formula(item) for item in element if _name(item)]
    if name == "semantics":
        return parts[0] if parts else ""
    if name == "mspace":
        return " "
    if name == "mfrac" and len(parts) == 2:
        line = "¦" if (element.get("linethickness") or "").startswith("0") else "/"
        return _grouped(parts[0]) + line + _grouped(parts[1])
    if name == "mroot" and len(parts) == 2:
        return f"{raised(parts[1])}√{_grouped(parts[0])}"
    if name == "msqrt":
        return f"√{_grouped(_joined(element))}"
    if name in ("msup", "msub", "msubsup", "munder", "mover", "munderover"):
        return _scripts(name, parts)
    if name == "mfenced":
        between = (element.get("separators") or ",").strip()[:1] or ","
        return f"{element.get('open') or '('}{between.join(parts)}{element.get('close') or ')'}"
    if name in ("mtr", "mlabeledtr", "mtable"):
        return (", " if name != "mtable" else "; ").join(parts)
    return _joined(element)


def beside(before: str, text: str) -> str:
    """A formula behind other text. Two figures that touch are kept apart: 2½ is not 21/2."""
    return " " + text if before[-1:].isdigit() and text[:1].isdigit() else text


def _joined(element: Any) -> str:
    """Parts in order, a number and what is no number of its own kept apart."""
    text = element.text.strip() if element.text and element.text.strip() else ""
    for item in element:
        text += beside(text, formula(item))
    return text


def _scripts(name: str, parts: list[str]) -> str:
    """A base with what stands below and above it."""
    base, *others = parts or [""]
    below = others.pop(0) if others and name in ("msub", "msubsup", "munder", "munderover") else ""
    above = others[0] if others else ""
    low, high = lowered(below), raised(above)
    if name == "mover" and len(above) == 1 and not above.isalnum():
        return base + above  # an accent, as of a mean
    return (
        base
        + (low if low != below or not below else f"_{_grouped(below)}")
        + (high if high != above or not above else f"^{_grouped(above)}")
    )


def _grouped(text: str) -> str:
    return text if _ALONE.fullmatch(text) else f"({text})"


def _name(element: Any) -> str:
    """The name of an element without its namespace; empty for a comment."""
    tag = element.tag
    return re.split("[}:]", tag)[-1].lower() if isinstance(tag, str) else ""


def _before(element: Any) -> str:
    """The text directly before an element."""
    previous = element.getprevious()
    if previous is not None:
        return previous.tail or ""
    parent = element.getparent()
    return (parent.text or "") if parent is not None else ""
