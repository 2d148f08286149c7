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
_RTF_MARK = re.compile(r"\\(revised|deleted)(?:1|(?![a-z0-9-]))")


def notes_of_word(roots: Iterable[Any]) -> tuple[Note, ...]:
    """Of the parts of a Word document that hold text."""
    added = taken = hidden = 0
    for element in (item for root in roots for item in root.iter()):
        name = local(element)
        if name == "r":
            hidden += _is_hidden(element)
        elif name in _ADDED and local(element.getparent()) not in _OF_MARKS:
            added += 1
        elif name in _TAKEN and local(element.getparent()) not in _OF_MARKS:
            taken += 1
    return (*_changes(added, taken), *hidden_note(hidden))


def _is_hidden(run: Any) -> bool:
    mark = child(run, "rPr", "vanish")
    return (
        mark is not None
        and attribute(mark, "val") not in _OFF
        and any(local(item) == "t" and (item.text or "").strip() for item in run)
    )


def notes_of_open(body: Any) -> tuple[Note, ...]:
    """Of the body of an OpenDocument text."""
    names = [
        local(change)
        for region in body.iter()
        if local(region) == "changed-region"
        for change in region
    ]
    return _changes(names.count("insertion"), names.count("deletion"))


def notes_of_rtf(text: str) -> tuple[Note, ...]:
    """Of the source of a Rich Text document."""
    words = [mark[1] for mark in _RTF_MARK.finditer(text)]
    return _changes(words.count("revised"), words.count("deleted"))


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
