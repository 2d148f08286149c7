"""What a text processor shows otherwise than it is read here: changes that nobody has accepted or
refused yet, and text that is hidden. Counted and said, never taken or left without a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from leaf.readers.base import Note
from leaf.readers.documents.ooxml import attribute, child, local

_ADDED, _TAKEN = ("ins", "moveTo"), ("del", "moveFrom")
_OF_MARKS = ("rPr", "ctrlPr")
"""What is in these is about a paragraph's end or a formula, and is no text."""
_OFF = ("0", "false", "off")
_FAMILIES = {"p": "paragraph", "h": "paragraph", "span": "text"}
_MOST_BASES = 20
"""Styles that are based on one another."""
_StyleName = tuple[str, str]
"""Family and name of a style."""
_RTF_MARK = re.compile(r"\\(revised|deleted)(?:1|(?![a-z0-9-]))")


def notes_of_word(roots: Iterable[Any]) -> tuple[Note, ...]:
    """Of the parts of a Word document that hold text."""
    added = taken = hidden = struck = 0
    for element in (item for root in roots for item in root.iter()):
        name = local(element)
        if name == "r":
            hidden += _is_marked(element, "vanish")
            struck += _is_marked(element, "strike") or _is_marked(element, "dstrike")
        elif name in _ADDED and local(element.getparent()) not in _OF_MARKS:
            added += 1
        elif name in _TAKEN and local(element.getparent()) not in _OF_MARKS:
            taken += 1
    return (*_changes(added, taken), *hidden_note(hidden), *struck_note(struck))


def _is_marked(run: Any, name: str) -> bool:
    mark = child(run, "rPr", name)
    return (
        mark is not None
        and attribute(mark, "val") not in _OFF
        and any(local(item) == "t" and (item.text or "").strip() for item in run)
    )


def notes_of_open(body: Any, *parts: Any) -> tuple[Note, ...]:
    """Of the body of an OpenDocument text, whose styles are in `parts`."""
    names = [
        local(change)
        for region in body.iter()
        if local(region) == "changed-region"
        for change in region
    ]
    hidden, struck = marked_in_open(body, *parts)
    changes = _changes(names.count("insertion"), names.count("deletion"))
    return (*changes, *hidden_note(hidden), *struck_note(struck))


def marked_in_open(body: Any, *parts: Any) -> tuple[int, int]:
    """How many pieces of an OpenDocument text are hidden and struck out, by their styles or by
    themselves; a piece inside of one is not counted again."""
    styles = [
        item for part in parts if part is not None for item in part.iter() if local(item) == "style"
    ]
    ways = {(attribute(item, "family"), attribute(item, "name")): _ways(item) for item in styles}
    bases = {
        (family := attribute(item, "family"), attribute(item, "name")): (
            family,
            attribute(item, "parent-style-name"),
        )
        for item in styles
    }
    counts = [0, 0]
    stack = [(item, (False, False)) for item in body]
    while stack:
        element, within = stack.pop()
        name = local(element)
        if not name or name == "tracked-changes":
            continue
        style = (_FAMILIES.get(name, ""), attribute(element, "style-name"))
        own = list(_inherited(style, ways, bases))
        own[0] = own[0] or _hides_itself(element, name)
        if any(own) and "".join(element.itertext()).strip():
            for at in (0, 1):
                counts[at] += bool(own[at]) and not within[at]
        inner = (within[0] or bool(own[0]), within[1] or bool(own[1]))
        stack.extend((item, inner) for item in element)
    return counts[0], counts[1]


def _ways(style: Any) -> tuple[bool | None, bool | None]:
    """Whether a style hides and strikes out; None where it does not say."""
    properties = child(style, "text-properties")
    if properties is None:
        return None, None
    display, line = (
        attribute(properties, "display"),
        attribute(properties, "text-line-through-style"),
    )
    return (display == "none" if display else None, line != "none" if line else None)


def _inherited(
    style: _StyleName,
    ways: dict[_StyleName, tuple[bool | None, bool | None]],
    bases: dict[_StyleName, _StyleName],
) -> tuple[bool, bool]:
    hides = strikes = None
    for _ in range(_MOST_BASES):
        if style not in ways:
            break
        hides = ways[style][0] if hides is None else hides
        strikes = ways[style][1] if strikes is None else strikes
        style = bases[style]
    return bool(hides), bool(strikes)


def _hides_itself(element: Any, name: str) -> bool:
    return (name == "section" and attribute(element, "display") == "none") or (
        name in ("p", "h")
        and any(
            local(item) == "hidden-paragraph" and attribute(item, "is-hidden") == "true"
            for item in element
        )
    )


def notes_of_rtf(text: str, hidden: int, struck: int) -> tuple[Note, ...]:
    """Of the source of a Rich Text document, of which so many pieces are hidden and struck out."""
    words = [mark[1] for mark in _RTF_MARK.finditer(text)]
    changes = _changes(words.count("revised"), words.count("deleted"))
    return (*changes, *hidden_note(hidden), *struck_note(struck))


def _changes(added: int, taken: int) -> tuple[Note, ...]:
    return (*_insertions(added), *_deletions(taken))


def _insertions(number: int) -> tuple[Note, ...]:
    if not number:
        return ()
    count = "1 tracked insertion is" if number == 1 else f"{number:,} tracked insertions are"
    return (Note("tracked-insertions", f"{count} read as if accepted already.", number),)


def _deletions(number: int) -> tuple[Note, ...]:
    if not number:
        return ()
    count = "1 tracked deletion is" if number == 1 else f"{number:,} tracked deletions are"
    return (Note("tracked-deletions", f"{count} left out, though not accepted yet.", number),)


def hidden_note(pieces: int) -> tuple[Note, ...]:
    if not pieces:
        return ()
    count = "1 piece of hidden text is" if pieces == 1 else f"{pieces:,} pieces of hidden text are"
    return (Note("hidden-text", f"{count} read like all other text.", pieces),)


def struck_note(pieces: int) -> tuple[Note, ...]:
    """Text that is shown with a line through it: it says no more what holds."""
    if not pieces:
        return ()
    count = (
        "1 piece of struck-out text is"
        if pieces == 1
        else f"{pieces:,} pieces of struck-out text are"
    )
    return (Note("struck-text", f"{count} read like all other text.", pieces),)
