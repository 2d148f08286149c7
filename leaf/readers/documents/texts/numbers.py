"""Lines of a plain text that hold equally many numbers each and nothing else, as instruments and programs
write them: a table whose columns have no names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from leaf.readers.documents.texts.lines import LaidOut, TableStretch, plain

_NUMBER = r"[-+]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eEdD][-+]?\d+)?"
_TIME = r"\d{4}[-/]\d\d?[-/]\d\d?(?:T[\d:.]+Z?)?|\d\d?[-./]\d\d?[-./]\d{2,4}|\d\d?:\d\d(?::\d\d(?:\.\d+)?)?"
_NONE = r"nan|na|n/a|null|-+|\*+"
_NUMBERS = re.compile(rf"\s*(?:(?:{_TIME}|{_NUMBER}|{_NONE})(?:\s+|$)){{2,}}", re.IGNORECASE)
_DOUBLE = re.compile(r"(?<=[\d.,])[dD](?=[-+]?\d+$)")
"""Before the power of ten of a number of Fortran's: `1.5D+02`."""
_FEWEST_ROWS, _FEWEST_PAIRS = 10, 20
"""Rows that are no chance, and those of two columns."""


def number_tables(lines: Sequence[str], taken: Sequence[bool]) -> list[LaidOut]:
    """All such tables, of the lines that are not taken."""
    tables = list[LaidOut]()
    for rows in _runs(lines, taken):
        cells = [lines[at].split() for at in rows]
        fewest = _FEWEST_PAIRS if len(cells[0]) == 2 else _FEWEST_ROWS
        if len(rows) >= fewest and _are_measured(cells):
            stretch = TableStretch(rows[0], rows[-1], [], rows)
            tables.append(LaidOut([stretch], _parting(lines)))
    return tables


def _runs(lines: Sequence[str], taken: Sequence[bool]) -> Iterator[list[int]]:
    """Lines of equally many numbers that follow each other, but for empty ones."""
    run, width = list[int](), 0
    for at, line in enumerate(lines):
        if not taken[at] and (not line or line.isspace()):
            continue
        numbers = 0 if taken[at] or not _NUMBERS.fullmatch(line) else len(line.split())
        if numbers != width and run:
            yield run
            run = []
        width = numbers
        if numbers:
            run.append(at)
    if run:
        yield run


def _are_measured(rows: Sequence[Sequence[str]]) -> bool:
    """Whether they are no numbers that are written in groups, as those of cards and telephones, which
    have equally many digits below each other and no decimals."""
    return any(
        len(set(map(len, column))) > 1 or any("." in cell or "," in cell for cell in column)
        for column in zip(*rows, strict=True)
    )


def _parting(lines: Sequence[str]) -> Callable[[int], list[str]]:
    return lambda at: [_DOUBLE.sub("E", plain(cell)) for cell in lines[at].split()]
