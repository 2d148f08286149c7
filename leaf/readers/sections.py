"""A window as pieces that can be cited: sections with a place each, in texts of a paragraph or a
few rows each.

The smallest piece that a model can cite is one text, so a text is short enough to be looked up and
long enough that its frame costs little beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from leaf.readers.base import Passage, Section
from leaf.readers.locate.where import merged, timestamp

LEAST = 360
"""Characters after which a text ends at the next sentence or line."""
MOST = 900
"""Characters of a text; a longer line or sentence is cut."""
SECTION = 3_000
"""Characters after which a section of rows, lines, paragraphs or cues ends. A page or slide is a
section, however long."""
_SENTENCE_END = re.compile(r"[.!?:;…。！？][\"'”’»)\]]*$")
_BREAK = re.compile(r"(?<=[.!?…。！？])\s+|(?<=\n)")


def sections(
    pieces: Sequence[tuple[Passage, str]], columns: tuple[int, int] | None, line_numbers: bool
) -> tuple[Section, ...]:
    """Passages with the part of their text that was read, as sections in the same order."""
    return tuple(
        Section(
            ", ".join(merged([passage for passage, _ in group], columns)),
            tuple(_texts(group, line_numbers)),
        )
        for group in _groups(pieces)
        if any(text.strip() for _, text in group)
    )


def _groups(pieces: Sequence[tuple[Passage, str]]) -> Iterator[list[tuple[Passage, str]]]:
    group: list[tuple[Passage, str]] = []
    size = 0
    for passage, text in pieces:
        if group and _begins_section(group[-1][0], passage, text, size):
            yield group
            group, size = [], 0
        group.append((passage, text))
        size += len(text) + 1
    if group:
        yield group


def _begins_section(before: Passage, passage: Passage, text: str, size: int) -> bool:
    if passage.unit in ("page", "slide"):
        return passage.number != before.number
    if passage.sheet != before.sheet or size > SECTION:
        return True
    return passage.unit == "paragraph" and text.startswith("#") and size > LEAST


def _texts(group: Sequence[tuple[Passage, str]], line_numbers: bool) -> Iterator[str]:
    """Lines of the group, drawn together to texts of a good size; nothing is lost but blanks
    between them."""
    held: list[str] = []
    size = 0
    for line in _lines(group, line_numbers):
        full = size >= LEAST and (
            not line.strip()
            or _SENTENCE_END.search(held[-1].rstrip())
            or group[0][0].unit in ("row", "cue")
        )
        if held and (full or size + len(line) > MOST):
            yield "\n".join(held).strip("\n")
            held, size = [], 0
        if line.strip() or held:
            held.append(line)
            size += len(line) + 1
    if any(line.strip() for line in held):
        yield "\n".join(held).strip("\n")


def _lines(group: Iterable[tuple[Passage, str]], line_numbers: bool) -> Iterator[str]:
    for passage, text in group:
        mark = ""
        if passage.unit == "row":
            mark = f"{passage.number}: "
        elif passage.unit == "cue" and passage.start is not None:
            mark = f"[{timestamp(passage.start)}] "
        elif passage.unit == "line" and line_numbers:
            mark = f"{passage.number:>6}\t"
        for number, line in enumerate(text.split("\n")):
            yield from _short((mark if number == 0 else "") + line.rstrip())


def _short(line: str) -> Iterator[str]:
    """A line, cut where it is too long: after a sentence, else after a word, else anywhere."""
    while len(line) > MOST:
        ends = [match.end() for match in _BREAK.finditer(line, LEAST, MOST)]
        end = ends[-1] if ends else line.rfind(" ", LEAST, MOST) + 1 or MOST
        yield line[:end].rstrip()
        line = line[end:]
    yield line
