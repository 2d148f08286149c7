"""What a browser shows of a page otherwise than its text has it: the numbers of its lists, which are
written into it, and text that is hidden or struck out, which is counted."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from leaf.readers.base import Note
from leaf.readers.documents.tracked import hidden_note, struck_note
from leaf.readers.documents.word_numbers import FORMATS

NUMBER = "leaf-number"
"""The attribute of an item that holds its number."""
_HIDDEN = re.compile(r"(?i)\bdisplay\s*:\s*none\b|\bvisibility\s*:\s*(?:hidden|collapse)\b")
_MAY_HIDE = (
    "//*[@hidden or contains(@style, 'one') or contains(@style, 'idden') or contains(@style, 'ollapse')"
    " or contains(@style, 'ONE')]"
)
_MAY_STRIKE = "//del | //s | //strike | //*[contains(@style, 'through')]"
_STRUCK = re.compile(r"(?i)\btext-decoration(?:-line)?\s*:[^;]*\bline-through\b")
_TYPES = {
    "1": "decimal",
    "a": "lowerLetters",
    "A": "upperLetters",
    "i": "lowerRoman",
    "I": "upperRoman",
}
_STYLES = {
    style: known
    for known, styles in (
        ("decimal", ("decimal",)),
        ("decimalZero", ("decimal-leading-zero",)),
        ("lowerRoman", ("lower-roman",)),
        ("upperRoman", ("upper-roman",)),
        ("lowerLetters", ("lower-alpha", "lower-latin")),
        ("upperLetters", ("upper-alpha", "upper-latin")),
    )
    for style in styles
}
_STYLE = re.compile(r"(?i)\blist-style(?:-type)?\s*:\s*([^;]+)")
_WHOLE = re.compile(r"\s*([+-]?\d{1,9})")
_BEGIN = 60
"""Characters by which a piece is known in what is read of its page."""


def number_items(root: Any) -> None:
    """Give each item of a numbered list its number, as the list counts. One in a way that is not
    known here has none."""
    for ordered in root.iter("ol"):
        write = _format(ordered)
        items = [item for item in ordered if item.tag == "li"]
        down = ordered.get("reversed") is not None
        number = _whole(ordered.get("start"), len(items) if down else 1)
        for item in items:
            number = _whole(item.get("value"), number)
            if write is not None:
                item.set(NUMBER, f"{write(number)}.")
            number += -1 if down else 1


def write_numbers(root: Any) -> bool:
    """Write the numbers of items before their texts; whether there is any."""
    items = [item for item in root.iter("li") if item.get(NUMBER)]
    for item in items:
        first = next((e for e in item.iter() if (e.text or "").strip()), item)
        first.text = f"{item.get(NUMBER)} {(first.text or '').lstrip()}"
    return bool(items)


def doubts_of_page(
    root: Any, paragraphs: Sequence[str], silent: frozenset[str]
) -> tuple[Note, ...]:
    """What of the paragraphs that were read a browser hides or strikes out; `silent` are the tags of
    what was not read."""
    hidden = [one for one in root.xpath(_MAY_HIDE) if is_hidden(one)]
    struck = [one for one in root.xpath(_MAY_STRIKE) if _strikes(one)]
    if not hidden and not struck:
        return ()
    whole = "".join("".join(paragraphs).split())
    return (
        *hidden_note(_pieces(hidden, whole, silent)),
        *struck_note(_pieces(struck, whole, silent)),
    )


def _pieces(elements: Sequence[Any], whole: str, silent: frozenset[str]) -> int:
    """How many of these elements, those inside of one another counted once, say something that was
    read."""
    known = set(elements)
    texts = (
        _text(one, silent)
        for one in elements
        if one.tag not in silent
        and not any(around in known or around.tag in silent for around in one.iterancestors())
    )
    return sum(bool(text) and text[:_BEGIN] in whole for text in texts)


def is_hidden(element: Any) -> bool:
    """Whether an element says itself that it is not shown."""
    return element.get("hidden") is not None or bool(_HIDDEN.search(element.get("style") or ""))


def _strikes(element: Any) -> bool:
    return element.tag in ("del", "s", "strike") or bool(_STRUCK.search(element.get("style") or ""))


def _text(element: Any, silent: frozenset[str]) -> str:
    """The letters of an element."""
    pieces: list[str] = []
    stack = [element]
    while stack:
        one = stack.pop()
        if isinstance(one, str):
            pieces.append(one)
        elif isinstance(one.tag, str) and one.tag not in silent:
            for child in reversed(one):
                stack += [child.tail or "", child]
            stack.append(one.text or "")
    return "".join("".join(pieces).split())


def _format(ordered: Any) -> Callable[[int], str] | None:
    """How a list writes its numbers; None where it writes none, or others than are known here."""
    style = _STYLE.search(ordered.get("style") or "")
    words = style[1].lower().split() if style else []
    if "none" in words:
        return None
    named = next((_STYLES[word] for word in words if word in _STYLES), "")
    return FORMATS[named or _TYPES.get((ordered.get("type") or "").strip(), "decimal")]


def _whole(text: str | None, otherwise: int) -> int:
    number = _WHOLE.match(text or "")
    return int(number[1]) if number else otherwise
