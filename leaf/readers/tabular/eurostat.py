r"""Eurostat's TSV: the first cell of a row holds all its dimensions, as the header does
(`freq,sex,geo\TIME_PERIOD`), the other cells a number and, after a blank, flags: `5.6 b`, `: c`.

Each dimension gets a column of its own, and so do the flags of each period that has any. Told by the
header and by the make of every cell of the sample.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from leaf.readers.base import Note
from leaf.readers.tabular.cells import unique_names
from leaf.readers.tabular.dialect import Dialect, Records
from leaf.readers.tabular.flags import SUFFIX, LayoutFinder

_DIMENSIONS = re.compile(r"[^\W\d][\w.-]*(?:,[^\W\d][\w.-]*)*\\[^\W\d]\w*", re.ASCII)
_VALUE = re.compile(
    r"\s*(?P<value>:|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|)\s*"
    r"(?P<flags>(?:(?<=\s)|(?<=:))@?[A-Za-z]{1,4})?\s*",
    re.ASCII,
)
_MOST_NAMED = 12
"""Different flags that are named."""


def eurostat_flags(lines: Sequence[str], dialect: Dialect) -> LayoutFinder | None:
    """What parts the rows of a file that begins with these lines; None for one of another layout."""
    if dialect.delimiter != "\t":
        return None
    first = lines[0].partition("\t")[0].strip()
    if not _DIMENSIONS.fullmatch(first):
        return None
    names = tuple(first.partition("\\")[0].split(","))
    rows = [row for row in islice(Records(lines, dialect), 1, None) if any(row)]
    laid_out = all(_holds(row, names) and all(map(_VALUE.fullmatch, row[1:])) for row in rows)
    return partial(_layout, names) if rows and laid_out else None


@dataclass(frozen=True)
class EurostatLayout:
    """Where the flags of a file stand."""

    dimensions: Sequence[str]
    header: Sequence[str]
    counts: Mapping[int, int]
    """How many cells have flags, by column of the file from 0; columns without any are left out."""
    flags: Sequence[str]
    """All that occur, the most frequent first."""

    @property
    def names(self) -> list[str]:
        periods = [name.strip() for name in self.header[1:]]
        flags = [f"{self.header[c].strip()}{SUFFIX}" for c in self.counts]
        return list(unique_names([*self.dimensions, *periods, *flags])[0])

    def notes(self) -> list[Note]:
        names = ", ".join(self.dimensions)
        text = f"The first column holds several values in each row; it was parted into {names}."
        notes = [Note("dimensions-parted", text, len(self.dimensions))]
        if count := sum(self.counts.values()):
            letters = ", ".join(self.flags[:_MOST_NAMED])
            first = self.names[len(self.dimensions) + len(self.header) - 1]
            text = (
                f"{count:,} cells have flags behind their values ({letters}); these stand in columns of "
                f"their own, such as '{first}'."
            )
            notes.append(Note("flags-apart", text, count))
        return notes

    def parted(self, rows: Iterable[Sequence[str]]) -> Iterator[list[str]]:
        yield self.names
        for row in islice(rows, 1, None):
            if not any(row):
                yield []
                continue
            cells = [_parted(cell) for cell in row[1:]]
            cells += [("", "")] * (len(self.header) - len(row))
            flags = [cells[column - 1][1] for column in self.counts]
            yield [*map(str.strip, row[0].split(",")), *(value for value, _ in cells), *flags]


def _layout(dimensions: Sequence[str], rows: Iterable[Sequence[str]]) -> EurostatLayout | None:
    counts: Counter[int] = Counter()
    flags: Counter[str] = Counter()
    each = iter(rows)
    header = next(each, [])
    for row in filter(any, each):
        if not _holds(row, dimensions) or len(row) > len(header):
            return None
        for column in range(1, len(row)):
            if letters := _parted(row[column])[1]:
                counts[column] += 1
                flags[letters] += 1
    frequent = [letters for letters, _ in flags.most_common()]
    return EurostatLayout(dimensions, header, dict(sorted(counts.items())), frequent)


def _holds(row: Sequence[str], dimensions: Sequence[str]) -> bool:
    return row[0].count(",") + 1 == len(dimensions)


def _parted(cell: str) -> tuple[str, str]:
    """A cell's value and its flags; one of another make is all value."""
    text = cell.strip()
    if not text[-1:].isalpha():  # most cells
        return text, ""
    match = _VALUE.fullmatch(text)
    return (match["value"], match["flags"] or "") if match else (text, "")
