"""Cutting a growing text into blocks that never change once the next one has begun. Pure.

Element i of an answer always holds block i. The cut depends only on the text before it, so cutting piece by piece and cutting the
whole give the same blocks, and a rerun overwrites each element with what it already holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

TARGET = 1_200
"""Characters after which a text block ends at the next safe place."""

_FENCE = re.compile(r"(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$")
_SAFE_START = re.compile(r"(?:#{1,6} |[A-Za-zÀ-ɏͰ-ӿ0-9*_`\[(\"'„“«€$])")
_ITEM_START = re.compile(r"\d+[.)](?:\s|$)|[*+-](?:\s|$)|\[[^\]]*\]:")


@dataclass(frozen=True)
class Block:
    """A piece of an answer that one element holds."""

    kind: str
    """`text` (Markdown) or `code` (the inside of a fence that begins its line)."""
    text: str
    language: str = ""


def blocks(text: str, target: int = TARGET) -> list[Block]:
    """All blocks of `text`; the last one may still grow. Whitespace between blocks belongs to none."""
    return list(_blocks(text, target))


def _blocks(text: str, target: int) -> Iterator[Block]:
    lines = text.splitlines(keepends=True)
    piece: list[str] = []
    size, formula, blank = 0, False, False
    at = 0
    while at < len(lines):
        line = lines[at]
        fence = _FENCE.match(line.rstrip("\n")) if not formula else None
        if fence is not None and _complete(line, at, lines):
            if "".join(piece).strip():
                yield Block("text", "".join(piece))
            end = _fence_end(lines, at, fence.group(1))
            yield Block("code", "".join(lines[at + 1 : end]).rstrip("\n"), fence.group(2))
            piece, size, blank = [], 0, False
            at = end + 1
            continue
        if blank and not formula and size >= target and _starts_anew(line, at, lines):
            yield Block("text", "".join(piece))
            piece, size = [], 0
        piece.append(line)
        size += len(line)
        if line.strip().startswith("$$") and line.count("$$") == 1:
            formula = not formula
        blank = not line.strip()
        at += 1
    if "".join(piece).strip():
        yield Block("text", "".join(piece))


def _complete(line: str, at: int, lines: list[str]) -> bool:
    """Whether no character can be added to this line any more, so that what it is stays."""
    return line.endswith("\n") or at < len(lines) - 1


def _starts_anew(line: str, at: int, lines: list[str]) -> bool:
    """Whether a line after a blank one surely continues no list, quote, table or definition."""
    return _complete(line, at, lines) and _SAFE_START.match(line) is not None and _ITEM_START.match(line) is None


def _fence_end(lines: list[str], start: int, mark: str) -> int:
    """Index of the closing line, or one past the last line while the fence is open."""
    for at in range(start + 1, len(lines)):
        line = lines[at].strip()
        if line.startswith(mark) and not line.strip(mark[0]):
            return at
    return len(lines)
