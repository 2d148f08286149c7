"""Formulas of Word and PowerPoint as one line of text: a half is `1/2`, not 12."""

from __future__ import annotations

import re
from typing import Any

from leaf.readers.documents.ooxml import attribute, child, local
from leaf.readers.documents.raised import lowered, raised

_ALONE = re.compile(r"[\w.,%]*")


def formula(element: Any) -> str:
    """What an element of a formula says; what has no form of its own is read in order."""
    name = local(element)
    if name == "t":
        return element.text or ""
    if name == "f":
        return _fraction(element)
    if name == "rad":
        degree = _part(element, "deg")
        return f"{raised(degree)}√{_grouped(_part(element, 'e'))}"
    if name == "d":
        return _delimited(element)
    if name in ("sSup", "sSub", "sSubSup"):
        return _scripts(element)
    if name == "nary":
        return f"{_sign(element)} {_joined(element)}"
    return "" if name in ("rPr", "ctrlPr", "del") else _joined(element)


def beside(before: str, text: str) -> str:
    """A formula behind other text. Two figures that touch are kept apart: 2½ is not 21/2."""
    return " " + text if before[-1:].isdigit() and text[:1].isdigit() else text


def _joined(element: Any) -> str:
    line = ""
    fraction = False
    for item in element:
        text, before = formula(item), fraction
        fraction = local(item) == "f"
        line += beside(line, text) if fraction or before else text
    return line


def _fraction(element: Any) -> str:
    """Over and under the line; without a line, as of a binomial, they are not divided."""
    kind = child(element, "fPr", "type")
    line = "¦" if kind is not None and attribute(kind, "val") == "noBar" else "/"
    return _grouped(_part(element, "num")) + line + _grouped(_part(element, "den"))


def _part(element: Any, name: str) -> str:
    part = child(element, name)
    return formula(part) if part is not None else ""


def _grouped(text: str) -> str:
    return text if _ALONE.fullmatch(text) else f"({text})"


def _scripts(element: Any) -> str:
    """A base with what stands below and above it."""
    below, above = _part(element, "sub"), _part(element, "sup")
    low, high = lowered(below), raised(above)
    return (
        _part(element, "e")
        + (low if low != below or not below else f"_{_grouped(below)}")
        + (high if high != above or not above else f"^{_grouped(above)}")
    )


def _delimited(element: Any) -> str:
    """What stands in brackets; round ones where it does not say which."""
    parts = [formula(item) for item in element if local(item) == "e"]
    first, between, last = (
        _said(element, "dPr", name, usual)
        for name, usual in (("begChr", "("), ("sepChr", "|"), ("endChr", ")"))
    )
    return first + between.join(parts) + last


def _sign(element: Any) -> str:
    """The sign of a sum or an integral, which is no text of the formula."""
    return _said(element, "naryPr", "chr", "∫")


def _said(element: Any, properties: str, name: str, usual: str) -> str:
    setting = child(element, properties, name)
    return attribute(setting, "val") if setting is not None else usual
