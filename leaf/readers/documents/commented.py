"""The words of a Word document that its comments are about: a comment says *too long* of something."""

from __future__ import annotations

from typing import Any

from leaf.readers.documents.ooxml import attribute, local

LONGEST = 120
"""Characters that are shown of what a comment is about."""


def commented(root: Any) -> dict[str, str]:
    """Id of a comment -> the words between its two marks in the text. One that stands at a point
    is left out."""
    pieces: list[str] = []
    begins: dict[str, int] = {}
    ends: dict[str, int] = {}
    at = 0
    for element in root.iter():
        name = local(element)
        if name == "commentRangeStart":
            begins[attribute(element, "id")] = at
        elif name == "commentRangeEnd":
            ends[attribute(element, "id")] = at
        elif name in ("t", "p", "tab", "br"):
            pieces.append((element.text or "") if name == "t" else " ")
            at += len(pieces[-1])
    if not begins:
        return {}
    text = "".join(pieces)
    shown = {
        mark: _short(text[begin : min(ends.get(mark, begin), begin + 10 * LONGEST)])
        for mark, begin in begins.items()
    }
    return {mark: words for mark, words in shown.items() if words}


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= LONGEST else words[: LONGEST - 1].rstrip() + "…"
