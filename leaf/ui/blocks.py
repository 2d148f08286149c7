"""Cutting a growing text into blocks that never change once the next one has begun. Pure.

Element i of an answer always holds block i. The cut depends only on the text before it, so cutting
piece by piece and cutting the whole give the same blocks, and a rerun overwrites each element with
what it already holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

TARGET = 1_200
"""Characters after which a text block ends at the next safe place."""

# Nothing is given back: a line is looked through once, however it ends.
_FENCE = re.compile(r"(`{3,}+|~{3,}+)\s*+([\w+#.-]*+)[^`]*+$")
_SAFE_START = re.compile(r" ?(?:#{1,6} |[\w*`\[(\"'„“«»€$¿¡「『《（…])")
"""Words of any script. One blank before them is not enough to continue an item; two may be."""
_ITEM_START = re.compile(r" ?(?:\d+[.)](?:\s|$)|[*+-](?:\s|$)|\[[^\]]*\]:)")


@dataclass(frozen=True)
class AnswerBlock:
    """A piece of an answer that one element holds."""

    kind: str
    """`text` (Markdown) or `code` (the inside of a fence that begins its line)."""
    text: str
    language: str = ""


@dataclass(frozen=True)
class Cut:
    """What a line does to the blocks: it is added to the last one, or begins one, with itself or
    with the line after it."""

    kind: Literal["add", "text", "code"]
    line: str = ""
    language: str = ""


class Cutter:
    """Cuts a text that comes line by line. What it remembers does not grow with the text."""

    def __init__(self, target: int = TARGET) -> None:
        self._target = target
        self._size, self._formula, self._blank = 0, False, False
        self.fence = ""
        """How the open code block began; empty in text."""

    def cut(self, line: str) -> Cut:
        """Take in a line that is complete."""
        if self.fence:
            return self._cut_code(line)
        match = None if self._formula else _FENCE.match(line.rstrip("\n"))
        if match is not None:
            self.fence, self._size, self._blank = match[1], 0, False
            return Cut("code", language=match[2])
        anew = (
            self._blank and not self._formula and self._size >= self._target and _starts_anew(line)
        )
        self._size = len(line) + (0 if anew else self._size)
        if line.strip().startswith("$$") and line.count("$$") == 1:
            self._formula = not self._formula
        self._blank = not line.strip()
        return Cut("text" if anew else "add", line)

    def closes(self, line: str) -> bool:
        """Whether the line ends the open code block."""
        bare = line.strip()
        return bool(self.fence) and bare.startswith(self.fence) and not bare.strip(self.fence[0])

    def _cut_code(self, line: str) -> Cut:
        if not self.closes(line):
            return Cut("add", line)
        self.fence = ""
        return Cut("text")


def blocks(text: str, target: int = TARGET) -> list[AnswerBlock]:
    """All blocks of `text`; the last one may still grow. Whitespace between blocks belongs to
    none."""
    return list(_blocks(text, target))


def _blocks(text: str, target: int) -> Iterator[AnswerBlock]:
    cutter = Cutter(target)
    kind, language, piece = "text", "", list[str]()
    lines = text.splitlines(keepends=True)
    rest = lines.pop() if lines and not lines[-1].endswith("\n") else ""
    for line in lines:
        cut = cutter.cut(line)
        if cut.kind == "add":
            piece.append(cut.line)
            continue
        yield from _block(kind, piece, language)
        kind, language, piece = cut.kind, cut.language, [cut.line]
    # Characters can still be added to the last line, so it may not begin anything; but what it ends
    # it ends.
    yield from _block(kind, piece if cutter.closes(rest) else [*piece, rest], language)


def _block(kind: str, piece: list[str], language: str) -> Iterator[AnswerBlock]:
    text = "".join(piece)
    if kind == "code":
        yield AnswerBlock("code", text.rstrip("\n"), language)
    elif text.strip():
        yield AnswerBlock("text", text)


def _starts_anew(line: str) -> bool:
    """Whether a line after a blank one surely continues no list, quote, table or definition."""
    return _SAFE_START.match(line) is not None and _ITEM_START.match(line) is None
