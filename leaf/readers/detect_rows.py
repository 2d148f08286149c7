"""Whether a text is rows of cells with other lines around them: comments, what a device was set to,
several tables of different widths, remarks below that are longer than the table.

Only a tab counts, since no sentence holds one, and only names above values: lines of code, of a log
or of a list with tabs inside have none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from leaf.readers.tabular.cells import kind_of

_FEWEST_ROWS = 4
"""Rows of a table, its names among them."""
_FEWEST_CELLS = 3
_MOST = 0.5
_BELOW_TOP = 0.3
"""Part of the lines that are rows, and what is enough where a table begins with the first line."""


def holds_rows(lines: Iterable[str]) -> bool:
    """Whether tables of tabs are what lines are mainly about; those that begin with `#` are comments on
    them."""
    own = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    tables = list(_tables(own))
    rows = sum(map(len, tables))
    if not rows:
        return False
    if tables[0][0] == _cells(own[0]):
        return rows >= _BELOW_TOP * len(own)
    signs = sum(len("\t".join(row)) for table in tables for row in table)
    return rows >= _MOST * len(own) and signs >= _MOST * sum(map(len, own))


def _tables(lines: Sequence[str]) -> Iterator[list[list[str]]]:
    """Rows of one width that follow each other, where the first names what the others hold."""
    for width, run in groupby(map(_cells, lines), key=_width):
        rows = list(run)
        if width >= _FEWEST_CELLS and len(rows) >= _FEWEST_ROWS and _is_headed(rows):
            yield rows


def _cells(line: str) -> list[str]:
    return [cell.strip().strip('"') for cell in line.split("\t")]


def _width(cells: Sequence[str]) -> int:
    """How many cells a row has; none where all but one are empty, as in a line that is indented."""
    return len(cells) if sum(map(bool, cells)) > 1 else 0


def _is_headed(rows: Sequence[Sequence[str]]) -> bool:
    """Whether words stand in the first row, and in most rows below one of them numbers or dates."""
    head, body = rows[0], rows[1:]
    if any(kind_of(cell) not in "te" for cell in head) or "" in head[:-1]:
        return False
    columns = ([kind_of(row[c]) for row in body if row[c]] for c in range(len(head)))
    return any(
        len(kinds) >= 0.5 * len(body) and sum(kind in "nyd" for kind in kinds) >= 0.8 * len(kinds)
        for kinds in columns
    )
