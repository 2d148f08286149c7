"""Tables that are drawn with pipes and dashes in a plain text: Markdown, org-mode, the boxes of
databases, reports of SAP.

Pipes stand in prose, code and pictures made of signs too, so that a table is only what has equally
many in nearly each line and a line drawn below its names, or pipes around each of its rows. Below the
names of a Markdown table any line is a row, with fewer cells or more.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest

from leaf.readers.base import Note
from leaf.readers.documents.texts.lines import (
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
_NO_ROW = re.compile(r"\s*(?:[#>]|```|~~~|[-*+] |\d+[.)] )")
"""How a line begins that ends a table of Markdown."""
_EMPHASIS = re.compile(r"(\*\*|__)(?! )((?:(?!\1).)+)(?<! )\1")
_CODE = re.compile(r"`([^`]+)`")
_DUNDER = re.compile(r"__[a-z0-9_]+__")
"""A name of Python, which nobody means to be bold."""
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
    markdown: bool = False
    """Whether its first rule is the one below the names of a Markdown table."""

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
        table = _table(drawn, block, _columns(last) if last and more else 0)
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


def _columns(table: LaidOut) -> int:
    """Cells of its first row."""
    return len(table.cells(table.parts[0].rows[0]))


def _blocks(lines: Sequence[str]) -> Iterator[_Block]:
    block = _Block([], [])
    for at, line in enumerate([*lines, ""]):
        if line.strip() and is_drawn_rule(line) and ("-" in line or "=" in line):
            if _begins_box(lines, block, at):
                yield block
                block = _Block([], [])
            elif above := _begins_markdown(lines, block, at):
                yield _Block(block.rows[:-1], block.rules)
                block = _Block([above], [])
            block.rules.append(at)
        elif "|" in line or (block.rows and block.rules and _goes_on(lines, block, at)):
            block.rows.append(at)
        elif block.rows or block.rules:
            if block.rows:
                yield block
            block = _Block([], [])


def _begins_box(lines: Sequence[str], block: _Block, at: int) -> bool:
    """Whether a rule right below the last one of a box has its joints elsewhere."""
    if not block.rows or not block.rules or block.rules[-1] != at - 1 or block.rows[-1] > at - 1:
        return False
    above, rule = lines[at - 1], lines[at]
    return all("+" in line.strip().strip("+") for line in (above, rule)) and (
        _joints(above) != _joints(rule)
    )


def _begins_markdown(lines: Sequence[str], block: _Block, at: int) -> int:
    """The line of names above a rule of another Markdown table right below one; 0 where there is none."""
    if len(block.rows) < 2 or not block.rules or block.rows[-1] != at - 1:
        return 0
    first, rule = lines[block.rules[0]], lines[at]
    if not (_is_markdown_rule(first) and _is_markdown_rule(rule)) or block.rules[0] > at - 2:
        return 0
    width = _rule_width(rule)
    other = 1 < width != _rule_width(first)
    return at - 1 if other and len(_split(lines[at - 1])) == width else 0


def _goes_on(lines: Sequence[str], block: _Block, at: int) -> bool:
    """Whether a line without pipes is a row of a Markdown table: others follow right below."""
    rule = block.rules[0]
    if not _is_markdown_rule(lines[rule]) or rule - 1 not in block.rows or at + 1 >= len(lines):
        return False
    if not lines[at].strip() or _NO_ROW.match(lines[at]) or block.last != at - 1:
        return False
    below = lines[at + 1 : at + 3]
    parted = any(is_drawn_rule(line) and _JOINT.search(line) for line in below)
    return "|" in below[0] and not parted


def _is_markdown_rule(line: str) -> bool:
    line = line.strip()
    return "|" in line and bool(_MARKDOWN.fullmatch(line))


def _joints(rule: str) -> list[int]:
    return [m.start() for m in _JOINT.finditer(rule)]


def _rule_width(rule: str) -> int:
    return len(_JOINT.split(rule.strip().strip("|+")))


def _holds_columns(lines: Sequence[str], block: _Block) -> bool:
    """Whether one cell of nearly every row holds several values, parted by runs of blanks."""
    cells = [_split(lines[at]) for at in block.rows]
    wide = [
        sum("  " in cell.strip() for cell in column) for column in zip_longest(*cells, fillvalue="")
    ]
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
    block.markdown = rule is not None and _is_below_names(lines, block, rule)
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
    if not block.markdown and not _is_mostly(width, [len(cells(at)) for at in block.rows]):
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
    """Cells of most rows. Those of one cell are boxes with what a report is about."""
    if rule is not None:
        return _rule_width(lines[rule])
    widths = Counter(cells for at in rows if (cells := len(_split(lines[at]))) > 1)
    width, count = widths.most_common(1)[0] if widths else (0, 0)
    return width if count >= 0.9 * widths.total() else 0


def _is_mostly(width: int, widths: Sequence[int]) -> bool:
    """Whether all rows have as many cells, but for one, or one of ten."""
    others = sum(cells != width for cells in widths)
    return others <= max(1, len(widths) // 10) and len(widths) - others >= min(2, len(widths))


def _is_below_names(lines: Sequence[str], block: _Block, rule: int) -> bool:
    """Whether a rule makes the line above it the names of a Markdown table. They may be more or fewer
    than its columns where pipes stand around them."""
    if rule != block.rules[0] or rule - 1 not in block.rows or not _is_markdown_rule(lines[rule]):
        return False
    cells = len(_split(lines[rule - 1]))
    return cells == _rule_width(lines[rule]) or (cells > 1 and _is_outer(lines[rule - 1]))


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
    """Leave out lines at both ends that are no rows: those above the names of a Markdown table, and of
    others those that have other cells and no pipes around them."""
    rows = block.rows
    if block.markdown and rule is not None:
        del rows[: rows.index(rule - 1)]
        return
    joints = _joints(lines[rule]) if rule is not None and "+" in lines[rule] else []

    def fits(at: int) -> bool:
        line = lines[at]
        if joints and all(p < len(line) and line[p] == "|" for p in joints):
            return True
        cells = len(_split(line))
        return cells == width or (cells > 1 and _is_outer(line))

    while rows and not fits(rows[0]):
        rows.pop(0)
    while rows and not fits(rows[-1]):
        rows.pop()
    block.rules = [at for at in block.rules if rows and rows[0] - 1 <= at <= rows[-1] + 1]


def _is_outer(line: str) -> bool:
    line = line.strip()
    return len(line) > 2 and line[0] == "|" == line[-1]


def _split(line: str) -> list[str]:
    """What stands between the pipes of a line; one cell at least."""
    line = line.strip()
    parts = _PIPES.split(line)
    closed = len(parts) > 1 and not parts[-1].strip() and line[-1] == "|"
    return parts[line[:1] == "|" : -1 if closed else None] or [""]


def _unmarked(cell: str) -> str:
    """A cell of Markdown without the signs around it that make the whole of it bold or code."""
    while (bold := _EMPHASIS.fullmatch(cell)) and not _DUNDER.fullmatch(cell):
        cell = bold[2]
    code = _CODE.fullmatch(cell)
    return code[1].strip() if code else cell


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
    pipe may be in a cell. What stands behind the last of them is in cells of its own."""

    def __init__(self, lines: Sequence[str], block: _Block, width: int) -> None:
        self._lines, self._block, self._width = lines, block, width
        self.joined: dict[int, int] = {}
        """Line -> the line above whose cells it goes on with."""
        self._more: dict[int, list[int]] = {}
        usual = Counter(tuple(m.start() for m in _PIPES.finditer(lines[at])) for at in block.rows)
        places, count = usual.most_common(1)[0]
        straight = 2 * count > len(block.rows) or any(
            places == tuple(_joints(lines[at])) for at in block.rules
        )
        self._escaped = block.markdown or not any("+" in lines[at] for at in block.rules)
        first, last = lines[block.rows[0]], lines[block.rows[0]].rstrip()
        self._outer = first.lstrip().startswith("|"), last.endswith("|")
        self._places = places if straight and len(places) == width - 1 + sum(self._outer) else ()

    def __call__(self, at: int) -> list[str]:
        cells = self._own(at)
        for more in self._more.get(at, ()):
            pairs = zip_longest(cells, self._own(more), fillvalue="")
            cells = [" ".join(filter(None, pair)) for pair in pairs]
        return cells

    def _own(self, at: int) -> list[str]:
        line = self._lines[at]
        if self._places and all(p < len(line) and line[p] == "|" for p in self._places):
            pieces = self._at_places(line)
        elif pipes := self._spanning(line):
            pieces = [""] * self._width
            for a, b in pairwise(pipes):
                pieces[self._places.index(a)] = line[a + 1 : b]
        else:
            pieces = _split(line)
            if not self._outer[0] and line.lstrip()[:1] == "|":
                every = _PIPES.split(line)  # its first cell is empty
                pieces = every if len(every) == self._width else pieces
        if self._escaped:
            pieces = [piece.replace("\\|", "|") for piece in pieces]
        return [
            _unmarked(plain(piece)) if self._block.markdown else plain(piece) for piece in pieces
        ]

    def _spanning(self, line: str) -> list[int]:
        """The pipes of a line of a box that lacks some of those in other lines: a cell goes over several
        columns."""
        pipes = [m.start() for m in _PIPES.finditer(line)]
        if self._block.markdown or not self._places or not all(self._outer) or len(pipes) < 3:
            return []
        ends = (pipes[0], pipes[-1]) == (self._places[0], self._places[-1])
        inside = ends and len(line.strip()) == pipes[-1] + 1 - pipes[0]
        return pipes if inside and set(pipes) < set(self._places) else []

    def _at_places(self, line: str) -> list[str]:
        left, right = self._outer
        edges = [*([] if left else [-1]), *self._places, *([] if right else [len(line)])]
        pieces = [line[a + 1 : b] for a, b in pairwise(edges)]
        if left and (before := line[: edges[0]].strip()):
            pieces[0] = f"{before} {pieces[0]}"
        if right and (behind := line[edges[-1] + 1 :]).strip():
            pieces += _split(f"|{behind}")
        elif not right and self._block.markdown:
            pieces[-1:] = _split(f"|{pieces[-1]}")
        return pieces

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
                not cell or over for cell, over in zip_longest(own, self._own(top), fillvalue="")
            ):
                self.joined[at] = top
                self._more.setdefault(top, []).append(at)
