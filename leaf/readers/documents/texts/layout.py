"""Where the columns of lines begin and end that stand below each other, parted by blanks alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from leaf.readers.base import Note
from leaf.readers.documents.texts.gaps import (
    NEARLY,
    Gap,
    cell_of,
    doubtful,
    gaps_of,
    is_open,
    merged,
    ruled,
    signed,
    with_cut,
)
from leaf.readers.documents.texts.lines import plain
from leaf.readers.tabular.cells import is_placeholder, kind_of

_FITTING = 0.7
"""TableStretch of the borders that a row keeps; in others its values touch."""
_WORD = re.compile(r"\S+")
_PHRASE = re.compile(r"\S+(?: \S+)*")
_BLANKS = re.compile(r" +")
_MEASURED = re.compile(r"[-+]?\d*[.,]\d+")
_SUFFIXES = frozenset("kKMGTPBbmnµ%‰°-+)€$£¥")
"""Signs behind a number that are part of it."""


@dataclass(frozen=True)
class Layout:
    """Columns by the gaps between them."""

    gaps: tuple[Gap, ...]
    edges: tuple[tuple[int, int], ...]
    """First and last place of each column's values."""
    kinds: tuple[str, ...] = ()
    """What the columns hold: `n` numbers or dates, `t` anything else."""
    flags: tuple[tuple[int, str], ...] = ()
    """Columns of signs that touch the values before them, with an example."""
    doubts: tuple[int, ...] = ()
    """Places between two columns of numbers that may be one."""

    def __len__(self) -> int:
        return len(self.gaps) + 1

    def cells(self, line: str) -> list[str]:
        cuts = [0, *(_cut(line, gap) for gap in self.gaps), max(len(line), self.edges[-1][1] + 1)]
        pieces = [line[a:b] for a, b in pairwise(cuts)]
        return [
            cell_of(piece) if kind == "n" else plain(piece)
            for piece, kind in zip(pieces, self.kinds, strict=True)
        ]

    @cached_property
    def _opened(self) -> re.Pattern[str]:
        """Matches lines that are blank somewhere in each gap, or end before it."""
        gaps = (gap for gap in self.gaps if gap.first <= gap.last)
        return re.compile(
            "".join(
                f"(?=.{{0,{gap.last}}}$|.{{{gap.first}}}[^ ]{{0,{gap.last - gap.first}}} )"
                for gap in gaps
            )
        )

    def fits(self, line: str) -> bool:
        """Whether a line keeps to the borders, those aside at which its values touch."""
        if self._opened.match(line):
            return not self.is_strange(line)
        blank = [is_open(line, gap) or _is_starred(line, gap) for gap in self.gaps]
        touching = all(b or gap.cut >= 0 for b, gap in zip(blank, self.gaps, strict=True))
        return touching and sum(blank) >= _FITTING * len(blank)

    def is_row(self, line: str) -> bool:
        """Whether a line keeps to all borders and fills two columns, one of numbers among them."""
        if not self._opened.match(line):
            return False
        cells = self.cells(line)
        hard = [cell for cell, kind in zip(cells, self.kinds, strict=True) if cell and kind == "n"]
        return (
            sum(map(bool, cells)) > 1
            and bool(hard)
            and all(kind_of(cell) in "nydm" for cell in hard)
        )

    def stands_as_row(self, line: str) -> bool:
        """Whether a line keeps to all borders and has several phrases, the first in the first column and
        each in one of its own, whatever stands where numbers are."""
        over = [self._over(m.start(), m.end() - 1) for m in _PHRASE.finditer(line)]
        if len(over) < 2 or not self._opened.match(line):
            return False
        columns = [column for columns in over for column in columns]
        return columns[0] == 0 and len(columns) == len(over) == len(set(columns))

    def is_straight(self, line: str) -> bool:
        """Whether a line fills most columns, with a number or a date among them, each of which ends or
        begins where those of the column do."""
        spans = [(m.start(), m.end() - 1) for m in _PHRASE.finditer(line)]
        over = [(columns[0], a, b) for a, b in spans for columns in [self._over(a, b)] if columns]
        hard = [
            (a, b, *self.edges[column])
            for column, a, b in over
            if self.kinds[column] == "n" and kind_of(line[a : b + 1]) in "nyd"
        ]
        straight = all(a == left or b == right for a, b, left, right in hard)
        return bool(hard) and straight and 2 * len(over) > len(self)

    def has_each(self, line: str) -> bool:
        """Whether a line has a phrase for each column, wherever it stands, with numbers for numbers."""
        pieces = phrases(line)
        return len(pieces) == len(self) and all(
            kind == "t" or kind_of(piece) in "nydm"
            for piece, kind in zip(pieces, self.kinds, strict=True)
        )

    def is_row_of_words(self, line: str) -> bool:
        """Whether a line keeps to all borders and holds nothing, or words for it, where numbers are."""
        if not self._opened.match(line):
            return False
        cells = self.cells(line)
        return sum(map(bool, cells)) > 1 and not self._hard_words(cells)

    def names_values(self, line: str) -> bool:
        """Whether a line has a word above a column of numbers, and none that stands for no value."""
        names = self.named(line)
        return bool(self._hard_words(names)) and not any(kind_of(name) == "m" for name in names)

    def is_strange(self, line: str) -> bool:
        """Whether a line has several words where most have numbers, in two columns at least: it is laid
        out otherwise, and its blanks stand in the borders by chance."""
        pairs = zip(self.cells(line), self.kinds, strict=True)
        words = [cell for cell, kind in pairs if kind == "n" and " " in cell]
        return sum(kind_of(cell) == "t" and not is_placeholder(cell) for cell in words) > 1

    def names_others(self, line: str) -> bool:
        """Whether a line keeps to all borders and has words in most columns of numbers."""
        if not self._opened.match(line):
            return False
        pairs = zip(self.cells(line), self.kinds, strict=True)
        kinds = [kind_of(cell) for cell, kind in pairs if kind == "n"]
        return kinds.count("t") > max(1, len(kinds) / 2)

    def names_singly(self, line: str) -> bool:
        """Whether a line has several phrases, each above one column."""
        over = [self._over(m.start(), m.end() - 1) for m in _PHRASE.finditer(line)]
        return len(over) > 1 and all(len(columns) == 1 for columns in over)

    def names_rows(self, line: str) -> bool:
        """Whether a word stands above the first column alone, as pandas writes the name of an index."""
        names = self.named(line)
        return bool(names[0]) and not any(names[1:])

    def stands_right(self, line: str) -> bool:
        """Whether words end where the numbers of two columns below them do, as no sentence does."""
        ends = {m.end() - 1 for m in _WORD.finditer(line)}
        hard = (edges for edges, kind in zip(self.edges, self.kinds, strict=True) if kind == "n")
        return sum(last in ends for _, last in hard) > 1

    def _hard_words(self, cells: Sequence[str]) -> list[str]:
        pairs = zip(cells, self.kinds, strict=True)
        return [cell for cell, kind in pairs if kind == "n" and kind_of(cell) not in "em"]

    def alike(self, lines: Sequence[str]) -> bool:
        """Whether some lines keep to all borders, fill most columns, and hold numbers where numbers
        are."""
        if not all(
            is_open(line, gap) or _is_starred(line, gap) for line in lines for gap in self.gaps
        ):
            return False
        rows = [self.cells(line) for line in lines]
        few = sum(2 * sum(map(bool, row)) <= len(row) for row in rows)
        if few > 0.1 * len(rows):
            return False
        hard = [
            kind_of(row[c])
            for c, kind in enumerate(self.kinds)
            for row in rows
            if kind == "n" and row[c]
        ]
        return bool(hard) and sum(kind in "nydm" for kind in hard) >= 0.8 * len(hard)

    def is_run_together(self, line: str) -> bool:
        """Whether values of a line touch each other at a border."""
        return not self._opened.match(line)

    def names(self, line: str) -> bool:
        """Whether no word of a line crosses a border, so that it may name columns."""
        return all(len(self._over(m.start(), m.end() - 1)) < 2 for m in _WORD.finditer(line))

    def named(self, line: str) -> list[str]:
        """The names that a line has for the columns: phrases above one of them whole, others word by
        word."""
        line = line.removesuffix(" \\")  # pandas goes on with more columns below
        names: list[list[str]] = [[] for _ in range(len(self))]
        for phrase in _PHRASE.finditer(line):
            over = self._over(phrase.start(), phrase.end() - 1)
            if len(over) == 1:
                names[over[0]].append(phrase[0])
                continue
            for word in _WORD.finditer(phrase[0]):
                left, right = phrase.start() + word.start(), phrase.start() + word.end() - 1
                over = self._over(left, right)
                names[over[0] if over else self._nearest(left, right)].append(word[0])
        for column in range(1, len(self)):
            if self._is_flag(column) and names[column - 1] and not names[column]:
                names[column] = [*names[column - 1], "mark"]
        return [plain(" ".join(words)) for words in names]

    def _over(self, left: int, right: int) -> list[int]:
        over = [c for c, (a, b) in enumerate(self.edges) if left <= b and right >= a]
        return [c for c in over if not self._is_flag(c) or c - 1 not in over]

    def _is_flag(self, column: int) -> bool:
        """Whether a column is one of signs that touch the values before them."""
        return column > 0 and self.gaps[column - 1].first > self.gaps[column - 1].last

    def _nearest(self, left: int, right: int) -> int:
        apart = [(max(a - right, left - b), -c) for c, (a, b) in enumerate(self.edges)]
        return -min(apart)[1]

    def notes(self, header: Sequence[str]) -> list[Note]:
        """What is to be said of the columns below some lines of names."""
        notes = list[Note]()
        if self.flags:
            count = f"{len(self.flags)} column{'s' if len(self.flags) != 1 else ''}"
            text = f"Signs behind the values of {count}, as in {self.flags[0][1]}, stand in columns of their own."
            notes.append(Note("marks-apart", text, len(self.flags)))
        names = [
            " ".join(filter(None, words)) for words in zip(*map(self.named, header), strict=True)
        ]
        for at, gap in enumerate(self.gaps):
            if gap.first in self.doubts:
                text = (
                    f"“{names[at]}” and “{names[at + 1]}” may be one column, of numbers with a blank "
                    f"between their thousands."
                )
                notes.append(Note("table-doubtful", text, 1))
        return notes


def _is_starred(line: str, gap: Gap) -> bool:
    """Whether asterisks that fill a column, as Fortran writes a number that is too long, go on over a
    border."""
    return gap.cut >= 0 and not line[gap.first : gap.last + 1].strip("*")


def _cut(line: str, gap: Gap) -> int:
    if gap.first > gap.last and line[gap.cut : gap.cut + 1].isdigit():
        return gap.cut + 1  # no mark, but more of the value
    blanks = [m for m in _BLANKS.finditer(line) if m.start() <= gap.last and m.end() > gap.first]
    if blanks:  # the widest: a sign within the gap stays with its number
        widest = max(blanks, key=lambda m: m.end() - m.start())
        return max(widest.start(), gap.first)
    return min(len(line), gap.cut if gap.cut >= 0 else gap.last + 1)


def phrases(line: str) -> list[str]:
    """Words that stand together, parted by two blanks or more."""
    return _PHRASE.findall(line)


def layout_of(rows: Sequence[str], header: Sequence[str], rule: str = "") -> Layout | None:
    """The columns of some lines; `header` are lines above, the nearest of which may name them, and
    `rule` is a line of dashes below it. Where a few lines are laid out otherwise, those of the others.
    """
    layout = _layout(rows, header, rule)
    if layout is None:
        return None
    usual = [row for row in rows if not layout.is_strange(row)]
    if len(rows) > len(usual) >= 0.8 * len(rows):
        layout = _layout(usual, header, rule) or layout
    return layout


def _layout(rows: Sequence[str], header: Sequence[str], rule: str) -> Layout | None:
    gaps = gaps_of(rows, NEARLY)
    if len(gaps) < 2 and len(rows) > 3:
        rough = gaps_of(rows, 0.25)
        rows = [row for row in rows if sum(is_open(row, gap) for gap in rough) >= 0.9 * len(rough)]
        gaps = gaps_of(rows, NEARLY) if len(rough) > 1 and len(rows) > 2 else []
    if len(gaps) < 2:
        return None
    above = header[-1] if header else ""
    by_rule = ruled(gaps, rule)
    gaps = signed(rows, by_rule or merged(rows, gaps, above), above)
    gaps = [with_cut(rows, gaps, at) for at in range(len(gaps))]
    if not gaps:
        return None
    layout = _with_flags(rows, _measured(rows, gaps))
    unruled = [] if by_rule else doubtful(rows, gaps, above)
    return replace(layout, doubts=tuple(gaps[at].first for at in unruled))


def _measured(rows: Sequence[str], gaps: Sequence[Gap]) -> Layout:
    """The columns between gaps, with the places of their values and what they hold."""
    width = max(map(len, rows))
    bounds = [
        (a.last + 1, b.first - 1) for a, b in pairwise([Gap(-1, -1), *gaps, Gap(width, width)])
    ]
    edges, kinds = list[tuple[int, int]](), ""
    for a, b in bounds:
        pieces = [row[a : b + 1] for row in rows if row[a : b + 1].strip()]
        left = min((len(p) - len(p.lstrip()) for p in pieces), default=0)
        right = max((len(p.rstrip()) for p in pieces), default=b - a + 1)
        edges.append((a + left, max(a + left, a + right - 1)))
        cells = [kind_of(cell_of(piece)) for piece in pieces]
        hard = sum(kind in "nyd" for kind in cells)
        kinds += "n" if hard and hard + cells.count("m") >= 0.8 * len(cells) else "t"
    return Layout(tuple(gaps), tuple(edges), tuple(kinds))


def _with_flags(rows: Sequence[str], layout: Layout) -> Layout:
    """Columns of measured values that all have their last sign for a mark or a letter of its own, parted
    before it: `37.6*` below `29.5`. Signs that change a number, as `k` or `%`, stay with it."""
    gaps, flags = list(layout.gaps), list[tuple[int, str]]()
    for column, (a, b) in enumerate(layout.edges):
        if layout.kinds[column] != "t" and not any(row[b : b + 1] in ("*", "†") for row in rows):
            continue
        pieces = [row[a : b + 1].ljust(b + 1 - a) for row in rows]
        signs = {piece[-1] for piece in pieces if piece.strip()} - {" "}
        values = [piece[:-1].strip() for piece in pieces if piece.strip()]
        marks = all(sign in "*†‡#" for sign in signs)
        letters = (
            len(signs) > 1
            and all(sign.isalpha() or sign == "*" for sign in signs)
            and signs - _SUFFIXES
        )
        if values and signs and (marks or letters) and all(map(_MEASURED.fullmatch, values)):
            gaps.append(Gap(b, b - 1, b))
            flags.append((column, next(p.strip() for p in pieces if p.strip() and p[-1] != " ")))
    if not flags:
        return layout
    gaps.sort(key=lambda gap: (gap.first, gap.last))
    measured = _measured(rows, gaps)
    return Layout(measured.gaps, measured.edges, measured.kinds, tuple(flags))
