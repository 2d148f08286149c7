"""What differs between two texts, line by line. Pure, and quick on long ones."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

CONTEXT = 3
"""Unchanged lines shown around a change."""
MOST_COMPARED = 4_000
"""Lines that differ on either side above which a stretch is shown as replaced whole: comparing
takes their product."""


@dataclass(frozen=True)
class DiffLine:
    """A line of a difference."""

    kind: Literal["same", "added", "removed", "gap"]
    """`gap` stands for unchanged lines that are left out; its text says how many."""
    text: str
    old: int = 0
    """Its number in the old text, from 1; 0 where it is not there."""
    new: int = 0


@dataclass(frozen=True)
class Diff:
    lines: tuple[DiffLine, ...]
    added: int
    removed: int

    @property
    def summary(self) -> str:
        """`3 lines added, 1 line removed`."""
        pieces = [
            f"{n:,} line{'s' if n != 1 else ''} {what}"
            for n, what in ((self.added, "added"), (self.removed, "removed"))
            if n
        ]
        return ", ".join(pieces) or "Nothing changed"

    def text(self) -> str:
        """In the usual notation: `+ ` before what was added, `- ` before what was removed."""
        marks = {"same": "  ", "added": "+ ", "removed": "- ", "gap": "@@ "}
        return "\n".join(
            marks[line.kind] + line.text + (" @@" if line.kind == "gap" else "")
            for line in self.lines
        )


def compare(old: str, new: str, context: int = CONTEXT) -> Diff:
    """Changed lines with `context` unchanged ones around them."""
    before, after = old.splitlines(), new.splitlines()
    lines: list[DiffLine] = []
    for tag, i1, i2, j1, j2 in _opcodes(before, after):
        if tag == "equal":
            lines += [DiffLine("same", before[i], i + 1, j1 + i - i1 + 1) for i in range(i1, i2)]
        else:
            lines += [DiffLine("removed", before[i], old=i + 1) for i in range(i1, i2)]
            lines += [DiffLine("added", after[j], new=j + 1) for j in range(j1, j2)]
    added = sum(line.kind == "added" for line in lines)
    removed = sum(line.kind == "removed" for line in lines)
    return Diff(tuple(_without_far(lines, context)) if added or removed else (), added, removed)


def _opcodes(before: Sequence[str], after: Sequence[str]) -> list[tuple[str, int, int, int, int]]:
    """As difflib gives them. Equal beginnings and ends are set apart first, which most changes
    leave."""
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    end_before, end_after = len(before) - tail, len(after) - tail
    codes = [("equal", 0, head, 0, head)] if head else []
    if max(end_before, end_after) - head > MOST_COMPARED:
        codes.append(("replace", head, end_before, head, end_after))
    else:
        matcher = difflib.SequenceMatcher(
            None, before[head:end_before], after[head:end_after], autojunk=False
        )
        codes += [
            (tag, i1 + head, i2 + head, j1 + head, j2 + head)
            for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        ]
    return [*codes, ("equal", end_before, len(before), end_after, len(after))] if tail else codes


def _without_far(lines: list[DiffLine], context: int) -> list[DiffLine]:
    """The lines without unchanged ones that are far from any change."""
    near = [False] * len(lines)
    for i, line in enumerate(lines):
        if line.kind != "same":
            for j in range(max(0, i - context), min(len(lines), i + context + 1)):
                near[j] = True
    excerpt: list[DiffLine] = []
    skipped = 0
    for line, is_near in zip(lines, near, strict=True):
        if is_near:
            if skipped:
                excerpt.append(DiffLine("gap", _unchanged(skipped)))
            excerpt.append(line)
            skipped = 0
        else:
            skipped += 1
    return [*excerpt, DiffLine("gap", _unchanged(skipped))] if skipped else excerpt


def _unchanged(count: int) -> str:
    return f"{count:,} unchanged line{'s' if count != 1 else ''}"
