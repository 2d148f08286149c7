"""Tables that are drawn with pipes and dashes in a plain text: Markdown, org-mode, the boxes of
databases, reports of SAP.

Pipes stand in prose, code and pictures made of signs too, so that a table is only what has equally
many in each line and a line drawn below its names, or pipes around each of its rows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from leaf.readers.base import Note
from leaf.readers.documents.text_lines import (
    MOST_BETWEEN,
    LaidOut,
    TableStretch,
    between,
    is_drawn_rule,
    plain,
)
from leaf.readers.tabular.cells import kind_of, places
from leaf.readers.tabular.grids import is_table

_BOXES = str.maketrans(
    {
        **dict.fromkeys("│┃║¦┆┇┊┋", "|"),
        **dict.fromkeys("─━═┄┅┈┉╌╍", "-"),
        **dict.fromkeys(map(chr, (*range(0x250C, 0x254C), *range(0x2552, 0x2571))), "+"),
    }
)
_PIPES = re.compile(r"(?<!\\)\|")
_JOINT = re.compile(r"[|+]")
_MARKDOWN = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")
_BOX = re.compile(r"[+|]?[-=:]+(?:\+[-=:]+)*[+|]?")
_EMPHASIS = re.compile(r"(\*\*|__|`)((?:(?!\1).)+)\1")
_TYPE = re.compile(
    r"(?:u?int|[iuf]|float)\d+|(?:huge|big|small|tiny|u)?int(?:eger)?|double|float|real|str(?:ing)?|text"
    r"|(?:var)?char(?:\(\d+\))?|(?:decimal|numeric)(?:[\[(].*)?|bool(?:ean)?|date|time(?:stamp)?(?:\s.*)?"
    r"|datetime(?:\[.*)?|cat|enum|object|uuid|blob|json|list\[.*|struct\[.*|.*\[\]"
)
_FEWEST = 3
"""Rows of a table without a line below its names."""


@dataclass
class _Block:
    """Lines that follow each other, of cells or drawn."""

    rows: list[int]
    rules: list[int]

    @property
    def last(self) -> int:
        return max(self.rows[-1], self.rules[-1] if self.rules else -1)


def drawn_tables(lines: list[str]) -> list[LaidOut]:
    """All tables of pipes; those that go on below the head of another page are one. Where pipes part but
    groups of columns, as Stata writes them, the lines lose them and are looked at by others."""
    drawn = [line.translate(_BOXES) if not line.isascii() else line for line in lines]
    tables = list[LaidOut]()
    names = list[str]()
    for block in _blocks(drawn):
        last = tables[-1] if tables else None
        more = last is not None and _is_ruled_across(drawn, block) and bool(names)
        table = _table(drawn, block, len(last.cells(last.parts[0].rows[0])) if last and more else 0)
        if table is None:
            continue
        if _holds_columns(drawn, block):
            for at in block.rows:
                lines[at] = drawn[at].replace("|", " ")
            for at in block.rules:
                lines[at] = drawn[at].replace("+", "-").replace("|", "-")
            continue
        part = table.parts[0]
        head = [drawn[at].strip() for at in part.header]
        near = last and between(drawn, last.parts[-1].last + 1, part.first) <= MOST_BETWEEN
        if last and near and _is_ruled_across(drawn, block) and (not head or head == names):
            last.parts.append(part)
        elif is_table([table.cells(at) for at in (*part.header, *part.rows)]) and (
            head or len(part.rows) >= _FEWEST
        ):
            tables.append(table)
            names = head
    return tables


def _blocks(lines: Sequence[str]) -> Iterator[_Block]:
    block = _Block([], [])
    for at, line in enumerate([*lines, ""]):
        if line.strip() and is_drawn_rule(line) and ("-" in line or "=" in line):
            block.rules.append(at)
        elif "|" in line:
            block.rows.append(at)
        elif block.rows or block.rules:
            if block.rows:
                yield block
            block = _Block([], [])


def _holds_columns(lines: Sequence[str], block: _Block) -> bool:
    """Whether one cell of nearly every row holds several values, parted by runs of blanks."""
    cells = [_split(lines[at]) for at in block.rows]
    wide = [sum("  " in cell.strip() for cell in column) for column in zip(*cells, strict=False)]
    return len(cells) > 2 and max(wide, default=0) >= 0.8 * len(cells)


def _is_ruled_across(lines: Sequence[str], block: _Block) -> bool:
    """Whether a table is drawn with lines that know nothing of its columns, as reports are: such a
    table goes on after a page."""
    return bool(block.rules) and all(not _JOINT.search(lines[at]) for at in block.rules)


def _table(lines: Sequence[str], block: _Block, more: int) -> LaidOut | None:
    """A block as a table; None where nothing proves that it is one. One row is enough where it may be
    one of a table above with `more` columns."""
    rule = next((at for at in block.rules if _JOINT.search(lines[at])), None)
    width = _width(lines, block.rows, rule)
    if width < 2:
        return None
    _trim(lines, block, width, rule)
    if not block.rows:
        return None
    outer = all(_is_outer(lines[at]) for at in block.rows)
    if any("+" in lines[at] and "  " in lines[at].strip() for at in block.rules):
        return None  # a picture made of signs
    alone = rule is None or not _has_joints(lines[rule], width)
    if alone and not (outer and (block.rules or len(block.rows) >= _FEWEST)):
        return None
    if not block.rules and not _is_spaced(lines, block):
        return None
    cells = _PipeCells(lines, block, width)
    if any(len(cells(at)) != width for at in block.rows):
        return None
    header = _header(lines, block)
    body = [at for at in block.rows if at not in header]
    if not body or not (is_table([cells(at) for at in block.rows]) or width == more):
        return None
    cells.join(header, body)
    notes = list[Note]()
    if len(header) == 2 and all(map(_TYPE.fullmatch, cells(header[1]))):
        text = f"Line {header[1] + 1} names the types of the columns; it was left out."
        notes.append(Note("columns-described", text, 1, places([header.pop() + 1])))
    part = TableStretch(
        min(block.rows + block.rules),
        block.last,
        header,
        [at for at in body if at not in cells.joined],
    )
    return LaidOut([part], cells, notes.copy)


def _width(lines: Sequence[str], rows: Sequence[int], rule: int | None) -> int:
    """Cells of most rows."""
    if rule is not None:
        return len(_JOINT.split(lines[rule].strip().strip("|+")))
    widths = Counter(len(_split(lines[at])) for at in rows)
    width, count = widths.most_common(1)[0]
    return width if count >= 0.9 * len(rows) else 0


def _has_joints(rule: str, width: int) -> bool:
    rule = rule.strip()
    return bool(_MARKDOWN.fullmatch(rule) or _BOX.fullmatch(rule)) and width > 1


def _is_spaced(lines: Sequence[str], block: _Block) -> bool:
    """Whether pipes stand below each other, or blanks around what is between them: links of help files
    have neither."""
    if len({tuple(m.start() for m in _PIPES.finditer(lines[at])) for at in block.rows}) == 1:
        return True
    cells = [cell for at in block.rows for cell in _split(lines[at]) if cell.strip()]
    return all(cell[0] == " " == cell[-1] for cell in cells)


def _trim(lines: Sequence[str], block: _Block, width: int, rule: int | None) -> None:
    """Leave out lines at both ends that have other cells, and those above the names of a Markdown
    table."""
    rows = block.rows
    joints = (
        [m.start() for m in _JOINT.finditer(lines[rule])]
        if rule is not None and "+" in lines[rule]
        else []
    )

    def fits(at: int) -> bool:
        line = lines[at]
        if joints:
            return all(p < len(line) and line[p] == "|" for p in joints)
        return len(_split(line)) == width

    while rows and not fits(rows[0]):
        rows.pop(0)
    while rows and not fits(rows[-1]):
        rows.pop()
    if rule is not None and rule == block.rules[0] and _MARKDOWN.fullmatch(lines[rule].strip()):
        above = [at for at in rows if at < rule]
        del rows[: max(0, len(above) - 1)]
    block.rules = [at for at in block.rules if rows and rows[0] - 1 <= at <= rows[-1] + 1]


def _is_outer(line: str) -> bool:
    line = line.strip()
    return len(line) > 2 and line[0] == "|" == line[-1]


def _split(line: str) -> list[str]:
    line = line.strip()
    parts = _PIPES.split(line)
    return parts[
        line[:1] == "|" : -1
        if len(parts) > 1 and not parts[-1].strip() and line[-1] == "|"
        else None
    ]


def _header(lines: Sequence[str], block: _Block) -> list[int]:
    """The rows above the first line that is drawn below some; none where nothing parts them."""
    boxed = any("+" in lines[at] for at in block.rules if at < block.rows[0])
    below = (at for at in block.rules if at > block.rows[0] and ("+" in lines[at] or not boxed))
    first = next(below, None)
    if first is None or first > block.rows[-1]:
        return []
    above = [at for at in block.rows if at < first]
    return above if len(above) <= 3 else []


class _PipeCells:
    """How lines of a block are cut: where the pipes of all stand below each other, there, so that a
    pipe may be in a cell."""

    def __init__(self, lines: Sequence[str], block: _Block, width: int) -> None:
        self._lines, self._block, self._width = lines, block, width
        self.joined: dict[int, int] = {}
        """Line -> the line above whose cells it goes on with."""
        self._more: dict[int, list[int]] = {}
        usual = Counter(tuple(m.start() for m in _PIPES.finditer(lines[at])) for at in block.rows)
        places, _ = usual.most_common(1)[0]
        first, last = lines[block.rows[0]], lines[block.rows[0]].rstrip()
        self._outer = first.lstrip().startswith("|"), last.endswith("|")
        self._places = places if len(places) == width - 1 + sum(self._outer) else ()

    def __call__(self, at: int) -> list[str]:
        cells = self._own(at)
        for more in self._more.get(at, ()):
            cells = [
                " ".join(filter(None, pair)) for pair in zip(cells, self._own(more), strict=True)
            ]
        return cells

    def _own(self, at: int) -> list[str]:
        line = self._lines[at]
        if self._places and all(p < len(line) and line[p] == "|" for p in self._places):
            left, right = self._outer
            edges = [*([] if left else [-1]), *self._places, *([] if right else [len(line)])]
            pieces = [line[a + 1 : b] for a, b in pairwise(edges)]
        else:
            pieces = [piece.replace("\\|", "|") for piece in _split(line)]
        return [_EMPHASIS.sub(r"\2", plain(piece)) for piece in pieces]

    def join(self, header: Sequence[int], body: Sequence[int]) -> None:
        """Put lines of a cell together where nearly every row has a line drawn below it."""
        rules = self._block.rules
        if len(rules) < 4 or 2 * len(rules) < len(self._block.rows):
            return
        for above, at in pairwise(body):
            own = self._own(at)
            top = self.joined.get(above, above)
            free = at == above + 1 and not own[0] and all(kind_of(cell) in "te" for cell in own)
            if free and all(
                not cell or over for cell, over in zip(own, self._own(top), strict=True)
            ):
                self.joined[at] = top
                self._more.setdefault(top, []).append(at)
