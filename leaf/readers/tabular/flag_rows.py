"""Flags in a row of their own below each row of values: `Codes;;A;A;P`, as INSEE of France writes its
series.

The flags of a period that has other ones than the usual get a column of their own, in the row of the
values that they belong to. Told by rows that alternate without an exception.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from leaf.readers.base import Note
from leaf.readers.tabular.cells import is_empty, kind_of, unique_names
from leaf.readers.tabular.dialect import Dialect, Records
from leaf.readers.tabular.flags import SUFFIX, LayoutFinder

_FLAG = re.compile(r"[A-Za-z]{1,2}", re.ASCII)
_WORD = re.compile(r"(?i)codes?|flags?|status|statuts?|kennzeichen|símbolos?")
"""What rows of flags are called; another word has to stand in `_PAIRS` rows."""
_PAIRS = 3


def flags_below(lines: Sequence[str], dialect: Dialect) -> LayoutFinder | None:
    """What joins the rows of a file that begins with these lines; None for one of another layout."""
    if dialect.one_column or len(lines) < 3:
        return None
    begins = [line.partition(dialect.delimiter)[0] for line in lines[:5]]
    if not begins[2].strip(' "') or begins[1] == begins[2] or begins[4:] not in ([], [begins[2]]):
        return None
    rows = list(Records(lines, dialect))
    word = rows[2][0].strip()
    pairs = len(rows[1:]) // 2
    if not _WORD.fullmatch(word) and pairs < _PAIRS:
        return None
    return _layout if _layout(rows[: 1 + 2 * pairs]) else None


@dataclass(frozen=True)
class FlagRowsLayout:
    """Where the flags of a file stand."""

    header: Sequence[str]
    usual: str
    """The flag of most cells."""
    others: Sequence[str]
    """All other flags, the most frequent first."""
    count: int
    """Of cells with another flag than the usual one."""
    columns: Sequence[int]
    """Of the file, from 0, that have other flags."""

    @property
    def names(self) -> list[str]:
        flags = [f"{self.header[c].strip()}{SUFFIX}" for c in self.columns]
        return list(unique_names([*self.header, *flags])[0])

    def notes(self) -> list[Note]:
        text = f"Below each row stand its flags, all of them {self.usual}; they were left out."
        if self.others:
            letters, first = ", ".join(self.others[:12]), self.names[len(self.header)]
            text = (
                f"Below each row stand its flags; those other than {self.usual} ({letters}) stand in "
                f"columns of their own, such as '{first}'."
            )
        return [Note("flags-apart", text, self.count)]

    def parted(self, rows: Iterable[Sequence[str]]) -> Iterator[list[str]]:
        yield self.names
        width = len(self.header)
        for values, flags in _pairs(islice(rows, 1, None)):
            gap = [""] * (width - len(values))
            yield [*values, *gap, *(flags[c] if c < len(flags) else "" for c in self.columns)]
            yield []


def _layout(rows: Iterable[Sequence[str]]) -> FlagRowsLayout | None:
    each = iter(rows)
    header = next(each, [])
    flags: Counter[tuple[int, str]] = Counter()
    words = set()
    for values, below in _pairs(each):
        if not below or not _belongs(values, below, len(header)):
            return None
        words.add(below[0])
        flags.update((c, flag.strip()) for c, flag in enumerate(below) if c and flag.strip())
    if len(words) != 1 or not flags:
        return None
    totals: Counter[str] = Counter()
    for (_, flag), count in flags.items():
        totals[flag] += count
    (usual, most), *others = totals.most_common()
    columns = sorted({c for c, flag in flags if flag != usual})
    return FlagRowsLayout(
        header, usual, [flag for flag, _ in others], totals.total() - most, columns
    )


def _pairs(
    rows: Iterable[Sequence[str]],
) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Rows of values, each with the row below it; empty where the last one has none."""
    each = iter(rows)
    for values in each:
        yield values, next(each, [])


def _belongs(values: Sequence[str], flags: Sequence[str], width: int) -> bool:
    """Whether a row is made of flags alone, each below a number or nothing."""
    if not values or values[0] == flags[0] or is_empty(flags[0]):
        return False
    if max(len(values), len(flags)) > width:
        return False
    for column, flag in enumerate(flags[1:], 1):
        if is_empty(flag):
            continue
        value = values[column] if column < len(values) else ""
        if not _FLAG.fullmatch(flag.strip()) or kind_of(value) not in "nyem":
            return False
    return True
