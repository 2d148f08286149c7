"""Tables in which flags (provisional, estimated) stand with the numbers, and what gives them columns of
their own, so that the numbers are numbers and the flags can be asked for."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from leaf.readers.base import Note

SUFFIX = " flags"


class FlagLayout(Protocol):
    """Where the flags of a file stand."""

    @property
    def names(self) -> list[str]:
        """Of the columns that its table gets."""

    def notes(self) -> list[Note]:
        """What became of the flags."""

    def parted(self, rows: Iterable[Sequence[str]]) -> Iterator[list[str]]:
        """All rows of the file with flags in cells of their own, header first: each where it stands
        in the file, empty where it is no row of the table."""


LayoutFinder = Callable[[Iterable[Sequence[str]]], FlagLayout | None]
"""Takes all rows of a file; gives None where one of them is laid out in another way than its beginning,
so that parted it would stand below wrong names."""


def write_parted(rows: Iterable[Sequence[str]], layout: FlagLayout, target: Path) -> None:
    """The rows as CSV, each in the line that it has in the file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(layout.parted(rows))
