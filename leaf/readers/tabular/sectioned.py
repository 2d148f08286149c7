"""Delimited text of several tables in which each line says what it belongs to: the first field is a
section, the second whether the line is the section's header, a row of data, a subtotal, a total or a
note. Statements of brokers come so.

Each header begins a table, named after its section. Told by those words alone, on every line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from io import StringIO
from itertools import islice

from leaf.readers.tabular.block_notes import (
    loose_notes,
    names_notes,
    several_notes,
    unnamed_note,
)
from leaf.readers.tabular.cells import is_empty, places, unique_names
from leaf.readers.tabular.dialect import Dialect, Records
from leaf.readers.tabular.footers import footer_notes
from leaf.readers.tabular.grid import GridContent, TableBlock

_HEADER = "header"
_ROLES = {_HEADER: "", "data": "data", "subtotal": "subtotal", "total": "total"}
_REMARKS = frozenset({"note", "notes"})
_NAMES = 2
"""Fields before those of the table: section and role."""
_LOOKED_AT = 2_000
"""Rows that tell the layout."""
_FEWEST = 4


def sections_dialect(sample: str) -> Dialect | None:
    """The dialect of a text that is laid out so, from its beginning; None for any other."""
    first = sample.lstrip("\ufeff\n").partition("\n")[0]
    for delimiter in (",", ";", "\t", "|"):
        cells = [cell.strip('" ') for cell in first.split(delimiter)]
        if len(cells) <= _NAMES or cells[1].lower() != _HEADER:
            continue
        dialect = Dialect(delimiter)
        lines = StringIO(sample[: sample.rfind("\n") + 1] or sample, newline="\n")
        if _is_sectioned(list(islice(Records(lines, dialect), _LOOKED_AT))):
            return dialect
    return None


def _is_sectioned(rows: Sequence[Sequence[str]]) -> bool:
    """Whether every row has a role, and every section begins with its header and has rows of data."""
    lines = [row for row in rows if not _is_blank(row)]
    roles = [_role(row) for row in lines]
    if len(lines) < _FEWEST or not all(roles) or "data" not in roles:
        return False
    begun: set[str] = set()
    for row, role in zip(lines, roles, strict=True):
        if row[0] not in begun and role != _HEADER and role not in _REMARKS:
            return False
        begun.add(row[0])
    return True


def _is_blank(row: Sequence[str]) -> bool:
    return all(is_empty(cell) for cell in row)


def _role(row: Sequence[str]) -> str:
    """What a row is by its second field; empty where that says nothing of the kind."""
    role = row[1].strip().lower() if len(row) > 1 and not is_empty(row[0]) else ""
    return role if role in _ROLES or role in _REMARKS else ""


@dataclass
class _Part:
    """A header and what belongs to it, by the numbers of rows from 0."""

    section: str
    header: int = -1
    """-1 where rows of data have none."""
    body: list[int] = field(default_factory=list)
    remarks: list[int] = field(default_factory=list)


def section_blocks(grid: Sequence[Sequence[str]]) -> GridContent:
    """A table for each header that has rows. What has no role, and headers without rows, belongs to
    no table."""
    parts: list[_Part] = []
    latest: dict[str, _Part] = {}
    loose: list[int] = []
    for i, row in enumerate(grid):
        role = _role(row)
        if not role:
            loose += [] if _is_blank(row) else [i]
            continue
        part = latest.get(row[0])
        if role == _HEADER or part is None:
            part = latest[row[0]] = _Part(row[0].strip(), i if role == _HEADER else -1)
            parts.append(part)
        if role != _HEADER:
            (part.remarks if role in _REMARKS else part.body).append(i)
    blocks = []
    for part in parts:
        if columns := _columns(grid, part):
            blocks.append(_block(grid, part, columns))
        else:
            loose += [i for i in (part.header, *part.remarks) if i >= 0]
    cells = sum(not is_empty(cell) for i in loose for cell in grid[i])
    notes = loose_notes(cells, [i + 1 for i in sorted(loose)]) + several_notes(len(blocks))
    return GridContent(tuple(blocks), tuple(notes))


def _columns(grid: Sequence[Sequence[str]], part: _Part) -> list[int]:
    """Columns in which the header or a row has something; none where there are no rows."""
    if not part.body:
        return []
    rows = [grid[i] for i in (part.header, *part.body) if i >= 0]
    width = max(map(len, rows))
    return [
        c
        for c in range(_NAMES, width)
        if any(c < len(row) and not is_empty(row[c]) for row in rows)
    ]


def _block(grid: Sequence[Sequence[str]], part: _Part, columns: Sequence[int]) -> TableBlock:
    header = grid[part.header] if part.header >= 0 else []
    names, empty, repeated = unique_names(header[c] if c < len(header) else "" for c in columns)
    notes = footer_notes([i + 1 for i in part.remarks])
    if header:
        notes += names_notes(names, empty, repeated, places([part.header + 1]))
    else:
        notes.append(unnamed_note(names, places([part.body[0] + 1])))
    kinds = ((i, _ROLES[_role(grid[i])]) for i in part.body)
    return TableBlock(
        part.header if header else part.body[0],
        part.body[-1],
        columns[0],
        columns[-1],
        names,
        tuple(columns),
        part.body,
        int(bool(header)),
        tuple(notes),
        name=part.section,
        told=tuple((i, kind) for i, kind in kinds if kind != "data"),
    )
