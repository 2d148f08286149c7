r"""Eurostat's TSV: the first cell of a row holds all its dimensions, as the header does
(`freq,sex,geo\TIME_PERIOD`), the other cells a number and, after a blank, flags: `5.6 b`, `: c`.

Each dimension gets a column of its own, and so do the flags of each period that has any: the numbers
are numbers then, and which of them are provisional or break a series can be asked for. Told by the
header and by the make of every cell of the sample.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import islice
from pathlib import Path

from leaf.readers.base import Note
from leaf.readers.tabular.cells import unique_names
from leaf.readers.tabular.dialect import Dialect

_DIMENSIONS = re.compile(r"[^\W\d][\w.-]*(?:,[^\W\d][\w.-]*)*\\[^\W\d]\w*", re.ASCII)
_VALUE = re.compile(
    r"\s*(?P<value>:|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|)\s*(?P<flags>(?:(?<=\s)|(?<=:))@?[A-Za-z]{1,4})?\s*",
    re.ASCII,
)
_ROWS = 500
"""Rows of the sample whose cells tell the layout."""
_SUFFIX = " flags"


def dimensions_of(sample: str, dialect: Dialect) -> tuple[str, ...]:
    """The names of the dimensions in the first column of a text that is laid out so; none of any
    other. The last line of `sample` may be cut."""
    if dialect.delimiter != "\t":
        return ()
    lines = sample.split("\n", _ROWS + 1)[:-1][: _ROWS + 1]
    rows = [row for row in csv.reader(StringIO("\n".join(lines)), delimiter="\t") if row]
    if len(rows) < 2 or not _DIMENSIONS.fullmatch(rows[0][0].strip()):
        return ()
    names = tuple(rows[0][0].strip().partition("\\")[0].split(","))
    for row in rows[1:]:
        parts = row[0].count(",") + 1
        if parts != len(names) or not all(map(_VALUE.fullmatch, row[1:])):
            return ()
    return names


@dataclass(frozen=True)
class FlagLayout:
    """Where the flags of a file stand."""

    dimensions: Sequence[str]
    counts: Mapping[int, int]
    """How many cells have flags, by column of the file from 0; columns without any are left out."""
    flags: Sequence[str]
    """All that occur, the most frequent first."""
    header: Sequence[str]

    @property
    def names(self) -> list[str]:
        """Of the columns: dimensions, periods, flags."""
        periods = [name.strip() for name in self.header[1:]]
        flags = [f"{self.header[c].strip()}{_SUFFIX}" for c in self.counts]
        return list(unique_names([*self.dimensions, *periods, *flags])[0])

    def notes(self) -> list[Note]:
        """What became of the first column, and of the flags."""
        names = ", ".join(self.dimensions)
        text = f"The first column holds several values in each row; it was parted into {names}."
        notes = [Note("dimensions-parted", text, len(self.dimensions))]
        if count := sum(self.counts.values()):
            letters = ", ".join(self.flags[:12])
            first = self.names[len(self.dimensions) + len(self.header) - 1]
            notes.append(
                Note(
                    "flags-apart",
                    f"{count:,} cells have flags behind their values ({letters}); these stand in columns of "
                    f"their own, such as '{first}'.",
                    count,
                )
            )
        return notes


def flag_layout(rows: Iterable[Sequence[str]], dimensions: Sequence[str]) -> FlagLayout | None:
    """Where flags stand in all rows of a file; None where a row has other dimensions or more cells
    than the header, so that parted it would stand below wrong names."""
    counts: Counter[int] = Counter()
    flags: Counter[str] = Counter()
    each = iter(rows)
    header = next(each, [])
    for row in each:
        if not any(row):
            continue
        if row[0].count(",") + 1 != len(dimensions) or len(row) > len(header):
            return None
        for column in range(1, len(row)):
            letters = _parted(row[column])[1]
            if letters:
                counts[column] += 1
                flags[letters] += 1
    frequent = [letters for letters, _ in flags.most_common()]
    return FlagLayout(dimensions, dict(sorted(counts.items())), frequent, header)


def parted_rows(rows: Iterable[Sequence[str]], layout: FlagLayout) -> Iterator[list[str]]:
    """The rows of a file, header first, with a cell for each dimension and for flags."""
    each = iter(rows)
    for _ in islice(each, 1):
        yield layout.names
    for row in each:
        if not any(row):
            yield []
            continue
        cells = [_parted(cell) for cell in row[1:]]
        cells += [("", "")] * (len(layout.header) - len(row))
        flags = [cells[column - 1][1] for column in layout.counts]
        yield [*map(str.strip, row[0].split(",")), *(value for value, _ in cells), *flags]


def write_parted(rows: Iterable[Sequence[str]], layout: FlagLayout, target: Path) -> None:
    """The rows as CSV, each in the line that it has in the file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(parted_rows(rows, layout))


def _parted(cell: str) -> tuple[str, str]:
    """A cell's value and its flags; one of another make is all value."""
    match = _VALUE.fullmatch(cell)
    return (match["value"], match["flags"] or "") if match else (cell.strip(), "")
