"""Where lines that stand below each other are blank: the gaps between columns, without those inside of
values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from leaf.readers.documents.texts.lines import plain
from leaf.readers.tabular.cells import is_measure, kind_of

NEARLY = 0.04
"""TableStretch of the lines that may have something in a border."""
_FULL = 0.5
"""TableStretch of the lines in which the columns on both sides of such a border are filled."""
_STRAIGHT = 0.8
"""TableStretch of the lines in which a column ends (or begins) where it does in most."""
_GROUP = re.compile(r"\d{3}(?:[.,]\d+)?-?")
_SHORT = re.compile(r"[-+]?\d{1,2}(?:[.,]\d+)?-?")
_LEADING = re.compile(r"[-+]?\d{1,3}(?: \d{3})*")
_TIME = re.compile(r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")
_SIGNS = re.compile(r"[-+−–$€£¥]|[$€£¥] *[-+−–]|[-+−–] *[$€£¥]")
_SIGN_APART = re.compile(
    r"(?=\S.* )(?=.*[-+−–])(?:([-+−–]) )?([$€£¥])? ?(?:([-+−–]) )?(\d[\d.,]*)(?: ([-+−–]))?"
)
_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class Gap:
    """Places from the first to the last that are blank in nearly every line."""

    first: int
    last: int
    cut: int = -1
    """Where a line is cut that has no blank in it; -1 where nothing proves a place."""


def is_open(line: str, gap: Gap) -> bool:
    return gap.first > gap.last or gap.last >= len(line) or " " in line[gap.first : gap.last + 1]


def gaps_of(rows: Sequence[str], part: float) -> list[Gap]:
    """Runs of places that are blank in all lines, or in all but a few where the columns on both sides
    are mostly filled."""
    import numpy as np

    width = max(map(len, rows))
    text = "".join(row.ljust(width) for row in rows)
    signs = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).reshape(
        len(rows), width
    )
    inked = signs != 32
    cover = inked.sum(axis=0)
    most = int(part * len(rows))
    used = np.flatnonzero(cover > most)
    if not len(used):
        return []
    gaps = list[Gap]()
    for first, last in _runs(cover <= most):
        if first <= used[0] or last >= used[-1]:
            continue
        blank = _runs(cover[first : last + 1] == 0)
        if blank:
            gaps += [Gap(first + a, first + b) for a, b in blank]
            continue
        least = int(cover[first : last + 1].min())
        a, b = max(_runs(cover[first : last + 1] == least), key=lambda run: run[1] - run[0])
        gaps.append(Gap(first + a, first + b))
    edges = [-1, *(gap.last for gap in gaps)], [*(gap.first for gap in gaps), width]
    filled = [inked[:, a + 1 : b].any(axis=1).mean() for a, b in zip(*edges, strict=True)]
    return [
        gap
        for gap, left, right in zip(gaps, filled, filled[1:], strict=False)
        if not cover[gap.first] or min(left, right) >= _FULL
    ]


def _runs(flags: Iterable[Any]) -> list[tuple[int, int]]:
    """First and last place of each run of true ones."""
    runs = list[tuple[int, int]]()
    for at, flag in enumerate(flags):
        if not flag:
            continue
        if runs and runs[-1][1] == at - 1:
            runs[-1] = (runs[-1][0], at)
        else:
            runs.append((at, at))
    return runs


def ruled(gaps: Sequence[Gap], rule: str) -> list[Gap]:
    """The gaps that are none within a piece of a line of dashes, if there are as many columns then as
    that has pieces."""
    pieces = [(m.start(), m.end() - 1) for m in _WORD.finditer(rule)]
    between = [gap for gap in gaps if not any(a < gap.first and gap.last < b for a, b in pieces)]
    return between if len(between) == len(pieces) - 1 else []


def merged(rows: Sequence[str], gaps: list[Gap], header: str) -> list[Gap]:
    """The gaps without those inside of values: between the groups of a number's digits, a date and its
    time, the words of a text. Where one number is known to be written in groups, all are."""
    gaps, grouped = _merged(rows, gaps, header, grouped=False)
    return _merged(rows, gaps, header, grouped=True)[0] if grouped else gaps


def _merged(
    rows: Sequence[str], gaps: list[Gap], header: str, *, grouped: bool
) -> tuple[list[Gap], bool]:
    """Also whether a gap between groups of digits was among them."""
    at, some = 0, False
    while at < len(gaps):
        pair = _Pair(rows, header, gaps, at)
        if pair.close and pair.is_one(grouped=grouped):
            some |= pair.are_groups
            gaps = [*gaps[:at], *gaps[at + 1 :]]
        else:
            at += 1
    return gaps, some


def doubtful(rows: Sequence[str], gaps: Sequence[Gap], header: str) -> list[int]:
    """The gaps at which two columns of numbers may be one, whose thousands are parted by a blank: where
    more than one parts the others."""
    pairs = [_Pair(rows, header, gaps, at) for at in range(len(gaps))]
    some = [
        at for at, pair in enumerate(pairs) if pair.close and pair.are_groups and not pair.are_apart
    ]
    narrow = any(gap.first == gap.last for at, gap in enumerate(gaps) if at not in some)
    return [] if narrow else some


class _Pair:
    """What stands on both sides of a gap, up to the next ones."""

    def __init__(self, rows: Sequence[str], header: str, gaps: Sequence[Gap], at: int) -> None:
        place = gaps[at].first
        begin = gaps[at - 1].last + 1 if at else 0
        end = gaps[at + 1].first if at + 1 < len(gaps) else None
        self.above = header[begin:place].strip(), header[place + 1 : end].strip()
        self.crossed = header[place : place + 1] not in ("", " ")
        self.are_apart = self.both and " " in header[place - 1 : place + 2 : 2]
        """Whether the header parts the names of both by more than one blank."""
        self.pairs = [(row[begin:place], row[place + 1 : end]) for row in rows]
        full = [(left, right) for left, right in self.pairs if left.strip() and right.strip()]
        self.lefts = [left.strip() for left, _ in full]
        self.rights = [right.strip() for _, right in full]
        self.lone = [r.strip() for left, r in self.pairs if not left.strip() and r.strip()]
        touching = bool(full) and all(a[-1] != " " and b[0] != " " for a, b in full)
        self.close = touching and gaps[at].first == gaps[at].last
        """Whether one blank stands between both in each line."""

    @property
    def both(self) -> bool:
        """Whether the header names both."""
        return all(self.above) and not self.crossed

    @cached_property
    def are_groups(self) -> bool:
        """Whether they may be the groups of one number's digits."""
        apart = all(map(_GROUP.fullmatch, self.rights)) and all(map(_LEADING.fullmatch, self.lefts))
        return apart and all(kind_of(text) in "nm" for text in self.lone)

    def is_one(self, *, grouped: bool) -> bool:
        """Whether both are one: the header does not name both, or what stands there proves more than
        the header. `grouped` where the numbers of other columns are written in groups."""
        if all(map(_GROUP.fullmatch, self.rights)) and all(map(_LEADING.fullmatch, self.lefts)):
            short = any(map(_SHORT.fullmatch, self.lone))  # three digits only behind others
            whole = any(" " in left for left in self.lefts)  # a number of groups is beside another
            likely = not self.are_apart and (short or (grouped and not whole))
            proven = likely or not self.both or _are_groups(self.rights, self.above[1])
            return proven and self.are_groups
        if (
            not self.both
            and all(map(_TIME.fullmatch, self.rights))
            and all(kind_of(left) == "d" for left in self.lefts)
        ):
            return not self.lone
        words = sum(kind_of(left) == "t" for left in self.lefts) > 0.5 * len(self.lefts)
        half = self.above[0] and not self.above[1]
        if words and not self.both and not self.lone and (self.crossed or half):
            return True
        return words and _is_aligned(self.pairs, both=self.both)


def _are_groups(rights: Sequence[str], name: str) -> bool:
    """Whether three digits are the end of the number before them though a word of its own stands above
    them: some begin with a zero, or the word is a unit."""
    zeros = [right for right in rights if right[0] == "0"]
    if zeros:
        return len(zeros) < len(rights) or all(right[:3] == "000" for right in zeros)
    return name.isupper() and is_measure(name)


def _is_aligned(pairs: Sequence[tuple[str, str]], *, both: bool) -> bool:
    """Whether words on both sides of a blank are one text: all end at one place and no row has but the
    first of them, or all begin at one and no row has but the last. Where the header names both, few rows
    have both."""
    full = sum(bool(left.strip() and right.strip()) for left, right in pairs)
    if both and full >= 0.5 * len(pairs):
        return False
    rights = [right for _, right in pairs if right.strip()]
    if sum(kind_of(right) == "t" for right in rights) <= 0.5 * len(rights):
        return False
    lefts = [left for left, _ in pairs if left.strip()]
    if len(lefts) == full < len(rights):
        return len({len(right.rstrip()) for right in rights}) == 1
    begins = {len(left) - len(left.lstrip()) for left in lefts}
    return len(rights) == full < len(lefts) and both and len(begins) == 1


def signed(rows: Sequence[str], gaps: list[Gap], header: str) -> list[Gap]:
    """The gaps without those between a number and its sign, where signs alone fill a column that has no
    name: `-   500,00`, `1,200.00 -`."""
    width = max(map(len, rows))
    names = [(m.start(), m.end() - 1) for m in _WORD.finditer(header)]
    for at in range(len(gaps), 0, -1):
        left = gaps[at - 1]
        right = gaps[at] if at < len(gaps) else Gap(width, width)
        first, end = left.last + 1, right.first
        with_sign = [row for row in rows if row[first:end].strip()]
        if not all(_SIGNS.fullmatch(row[first:end].strip()) for row in with_sign):
            continue
        before = gaps[at - 2].last + 1 if at > 1 else 0
        after = gaps[at + 1].first if at + 1 < len(gaps) else None
        ahead = _number_part([row[right.last + 1 : after] for row in with_sign])
        behind = _number_part([row[before : left.first] for row in with_sign])
        close = left.first == left.last
        some = len(with_sign) < len(rows)
        if behind > 0.5 and close and some:
            drop = at - 1
            named = any(
                left.first <= a < end or left.first <= a <= b <= right.last for a, b in names
            )
        else:
            drop = at
            named = any(
                first <= b <= right.last or left.first <= a <= b <= right.last for a, b in names
            )
            named |= ahead <= 0.5 or (behind > 0.5 and not some) or at == len(gaps)
        if not named:
            del gaps[drop]
    return gaps


def _number_part(pieces: Sequence[str]) -> float:
    """Which part of some pieces of lines are numbers."""
    return sum(kind_of(plain(piece)) in "ny" for piece in pieces) / max(1, len(pieces))


def cell_of(piece: str) -> str:
    """What stands in a piece of a line, a sign that stands apart with its number."""
    text = plain(piece)
    if match := _SIGN_APART.fullmatch(text):
        sign = match[1] or match[3] or match[5] or ""
        return f"{sign}{match[2] or ''}{match[4]}".removeprefix("+")
    return text


def with_cut(rows: Sequence[str], gaps: Sequence[Gap], at: int) -> Gap:
    """A gap with the place at which values that touch are parted: where those on its left all end, else
    where those on its right all begin."""
    gap = gaps[at]
    left = [row[: gap.first] for row in rows if len(row) >= gap.first and row[: gap.first].strip()]
    begin = gaps[at - 1].last + 1 if at else 0
    ends = [piece for piece in left if piece[begin:].strip()]
    if ends and sum(piece[-1] != " " for piece in ends) >= _STRAIGHT * len(ends):
        return Gap(gap.first, gap.last, gap.first)
    end = gaps[at + 1].first if at + 1 < len(gaps) else None
    begins = [piece for row in rows if (piece := row[gap.last + 1 : end]).strip()]
    if begins and sum(piece[0] != " " for piece in begins) >= _STRAIGHT * len(begins):
        return Gap(gap.first, gap.last, gap.last + 1)
    return gap
