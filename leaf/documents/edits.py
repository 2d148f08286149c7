"""Edit blocks: pieces of a text to be found and what is to stand there instead. Pure; all blocks
are applied, or none.

    <<<<<<< SEARCH
    lines as they stand in the document
    =======
    lines that take their place
    >>>>>>> REPLACE

Each block is looked for in the text as it was before any of them: as whole lines exactly; else as a
piece within lines; else as whole lines that differ in blanks only. A piece that is there twice, or
nowhere, is an error and changes nothing.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from leaf.errors import InvalidInputError

BEGIN, MIDDLE, END = "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"
SHAPE = f"Write each block as lines:\n{BEGIN}\nold lines\n{MIDDLE}\nnew lines\n{END}"
NEAREST = 3
"""Places that an error shows."""
LINES_COMPARED = 20_000
LINE_SHOWN = 160


@dataclass(frozen=True)
class EditBlock:
    """One change that is asked for."""

    search: str
    replace: str
    """Both without the line end before their closing mark."""


@dataclass(frozen=True)
class TextSpan:
    """Where a block was found: characters of the text, half open, and what comes there."""

    begin: int
    end: int
    text: str
    line: int
    """1-based."""


def apply(text: str, blocks: Sequence[EditBlock]) -> str:
    """The text with all blocks applied. Raises InvalidInputError that says which block does not
    fit, and why."""
    spans = sorted(
        (_find(text, block, _named(i, blocks)) for i, block in enumerate(blocks, 1)),
        key=lambda s: (s.begin, s.end),
    )
    for before, after in pairwise(spans):
        if after.begin < before.end or after.begin == before.begin:
            raise InvalidInputError(
                f"Two blocks change the same lines ({before.line} and {after.line}). Nothing "
                f"was changed.",
                "Put both changes into one block.",
            )
    for span in reversed(spans):
        text = text[: span.begin] + span.text + text[span.end :]
    return text


def parse(text: str) -> list[EditBlock]:
    """The blocks of a `search_replace_block`. Raises InvalidInputError for a text that is not made
    of blocks."""
    blocks: list[EditBlock] = []
    search: list[str] | None = None
    replace: list[str] | None = None
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        mark = line.rstrip()
        if search is None:
            if mark == BEGIN:
                search = []
            elif mark and not re.fullmatch(r"`{3,}\w*", mark):
                raise _misshapen(f"line {number} stands outside of a block: '{_shown(mark)}'")
        elif mark == BEGIN:
            raise _misshapen(f"line {number} begins a block inside another")
        elif mark == END and replace is not None:
            blocks.append(EditBlock("\n".join(search), "\n".join(replace)))
            search = replace = None
        elif mark == MIDDLE and replace is None:
            replace = []
        elif mark == MIDDLE:
            raise _misshapen(
                f"line {number} is a second '{MIDDLE}' in one block; for a document that has such "
                f"a line, use write_file"
            )
        else:
            (search if replace is None else replace).append(line)
    if search is not None:
        raise _misshapen(
            f"the last block has no '{END}'"
            if replace is not None
            else f"the last block has no '{MIDDLE}'"
        )
    if not blocks:
        raise _misshapen("there is no block in it")
    return blocks


def _misshapen(what: str) -> InvalidInputError:
    return InvalidInputError(
        f"This is not a search_replace_block: {what}. Nothing was changed.", SHAPE
    )


def _named(number: int, blocks: Sequence[EditBlock]) -> str:
    return f"Block {number}" if len(blocks) > 1 else "The block"


def _find(text: str, block: EditBlock, name: str) -> TextSpan:
    """The one place of a block. Raises InvalidInputError for none or several."""
    if not block.search.strip():
        if not text.strip():
            return TextSpan(0, len(text), _closed(block.replace), 1)
        raise InvalidInputError(
            f"{name} has nothing to search for. Nothing was changed.",
            "To add text, search for the line beside it and repeat that line in the replacement.",
        )
    lines = text.split("\n")
    wanted = block.search.split("\n")
    for same in (_exactly, _within, _loosely):
        spans = same(text, lines, wanted, block)
        if len(spans) == 1:
            return spans[0]
        if spans:
            numbers = ", ".join(str(span.line) for span in spans[:10])
            more = f" and {len(spans) - 10} more" if len(spans) > 10 else ""
            raise InvalidInputError(
                f"{name} fits {len(spans)} places, at lines {numbers}{more}. Nothing was changed.",
                "Search for more lines around the one that is meant.",
            )
    raise InvalidInputError(
        f"{name} was not found. Nothing was changed.\n{nearest(lines, wanted)}",
        "Search for lines as they are.",
    )


def _exactly(_text: str, lines: list[str], wanted: list[str], block: EditBlock) -> list[TextSpan]:
    """As whole lines."""
    offsets = _offsets(lines)
    starts = [
        at for at in range(len(lines) - len(wanted) + 1) if lines[at : at + len(wanted)] == wanted
    ]
    return [_span(offsets, lines, at, len(wanted), block.replace) for at in starts]


def _within(text: str, _lines: list[str], _wanted: list[str], block: EditBlock) -> list[TextSpan]:
    """As a piece of the text that begins and ends at the edge of a word."""
    spans, at = [], text.find(block.search)
    while at >= 0:
        end = at + len(block.search)
        if not _inside_word(text, at) and not _inside_word(text, end):
            spans.append(TextSpan(at, end, block.replace, text.count("\n", 0, at) + 1))
        at = text.find(block.search, at + 1)
    return spans


def _inside_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and _wordy(text[at - 1]) and _wordy(text[at])


def _wordy(character: str) -> bool:
    return character.isalnum() or character == "_"


def _loosely(_text: str, lines: list[str], wanted: list[str], block: EditBlock) -> list[TextSpan]:
    """As whole lines that differ in blanks only; empty lines around the piece do not count."""
    replaced = block.replace.split("\n")
    while wanted and not wanted[0].strip():
        wanted = wanted[1:]
        replaced = replaced[1:] if replaced and not replaced[0].strip() else replaced
    while wanted and not wanted[-1].strip():
        wanted = wanted[:-1]
        replaced = replaced[:-1] if replaced and not replaced[-1].strip() else replaced
    plain, asked = [_squeezed(line) for line in lines], [_squeezed(line) for line in wanted]
    offsets = _offsets(lines)
    spans = []
    for at in range(len(plain) - len(asked) + 1):
        if plain[at : at + len(asked)] == asked:
            there = lines[at : at + len(asked)]
            spans.append(
                _span(offsets, lines, at, len(asked), "\n".join(_indented(replaced, wanted, there)))
            )
    return spans


def _squeezed(line: str) -> str:
    return " ".join(line.split())


def _indented(replaced: list[str], wanted: list[str], there: list[str]) -> list[str]:
    """The new lines moved to the right or left as the old ones stand in the document, if all of
    them stand alike."""
    shifts = {(_indent(w), _indent(t)) for w, t in zip(wanted, there, strict=True) if w.strip()}
    gained = {t.removesuffix(w) for w, t in shifts if t.endswith(w)}
    lost = {w.removesuffix(t) for w, t in shifts if w.endswith(t)}
    if len(gained) == 1 and all(t.endswith(w) for w, t in shifts):
        more = gained.pop()
        return [more + line if line.strip() else line for line in replaced]
    if len(lost) == 1 and all(w.endswith(t) for w, t in shifts):
        less = lost.pop()
        return [line.removeprefix(less) for line in replaced]
    return replaced


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _offsets(lines: list[str]) -> list[int]:
    offsets, at = [], 0
    for line in lines:
        offsets.append(at)
        at += len(line) + 1
    return offsets


def _span(offsets: list[int], lines: list[str], at: int, count: int, replacement: str) -> TextSpan:
    """The span of whole lines. An empty replacement takes the line end with it, so that no empty
    line stays behind."""
    begin, last = offsets[at], at + count - 1
    end = offsets[last] + len(lines[last])
    if replacement == "":
        if last + 1 < len(lines):
            end += 1
        elif begin > 0:
            begin -= 1
    return TextSpan(begin, end, replacement, at + 1)


def _closed(text: str) -> str:
    return text if text.endswith("\n") or not text else text + "\n"


def nearest(lines: Sequence[str], wanted: Sequence[str]) -> str:
    """The lines of the document that are most like the first lines that were searched for, with
    their numbers."""
    asked = [_squeezed(line)[:LINE_SHOWN] for line in wanted if line.strip()][:NEAREST]
    compared = [_squeezed(line)[:LINE_SHOWN] for line in lines[:LINES_COMPARED]]
    numbers: set[int] = set()
    for line in asked:
        best = difflib.get_close_matches(line, {c for c in compared if c}, n=NEAREST, cutoff=0.5)
        numbers.update(i for i, c in enumerate(compared) if c in best)
    if not numbers:
        beyond = (
            "" if len(lines) <= LINES_COMPARED else f" (the first {LINES_COMPARED:,} were compared)"
        )
        return f"None of its {len(lines):,} lines is like it{beyond}. Read the document first."
    shown = [f"{i + 1}: {_shown(lines[i])}" for i in sorted(numbers)[: NEAREST * 3]]
    return "The nearest lines are:\n" + "\n".join(shown)


def _shown(line: str) -> str:
    return line if len(line) <= LINE_SHOWN else line[: LINE_SHOWN - 1] + "…"
