"""Merged cells of a table in a sheet: a label that reaches over several rows holds for each of them,
and is repeated there; what else is merged is named."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from leaf.readers.base import Note
from leaf.readers.tabular.cells import cell_range, is_empty, kind_of
from leaf.readers.tabular.grid import Merge, TableBlock

if TYPE_CHECKING:
    import pyarrow as pa

    Column: TypeAlias = Sequence[Any] | pa.ChunkedArray

_LABELS = frozenset("tdb")
"""Kinds of cells that say what a row is about. A number that is written once for several rows may be
their sum, and would be added up once for each."""
_NAMED = 12
"""Merged cells that are named one by one."""


def inside(merges: Iterable[Merge], block: TableBlock) -> list[Merge]:
    """Those of more than one cell that begin in a table, its header included, from its top."""
    return sorted(
        (first, last)
        for first, last in merges
        if first != last
        and block.top <= first[0] <= block.bottom
        and block.left <= first[1] <= block.right
    )


def repeated(
    columns: Mapping[int, Column], body: Sequence[int], merges: Iterable[Merge]
) -> tuple[dict[int, Column], list[Merge]]:
    """The columns of a body in which a label that is merged over several rows stands in each of
    them, and those merged cells. Columns are by their place in the sheet, as merged cells are; what
    stands in the covered cells is kept where it is not nothing."""
    spans: dict[int, list[Merge]] = {}
    for merge in merges:
        (top, left), (bottom, _) = merge
        if bottom > top and left in columns:
            spans.setdefault(left, []).append(merge)
    filled: dict[int, Column] = {}
    taken: list[Merge] = []
    for column, those in spans.items():
        cells = as_list(columns[column])
        years = all(is_empty(cell) or kind_of(cell) == "y" for cell in cells)
        labels = [merge for merge in those if _repeat(cells, body, merge, years)]
        if labels:
            filled[column] = cells
            taken += labels
    return filled, sorted(taken)


def _repeat(cells: list[Any], body: Sequence[int], merge: Merge, years: bool) -> bool:
    """Repeat one cell in its rows; whether it is a label whose first row is one of the body."""
    (top, _), (bottom, _) = merge
    first, end = bisect_left(body, top), bisect_right(body, bottom)
    if end - first < 2 or body[first] != top:
        return False
    label = cells[first]
    kind = kind_of(label)
    if not (kind in _LABELS or (kind == "y" and years)):
        return False
    if not all(is_empty(cell) for cell in cells[first + 1 : end]):
        return False
    cells[first + 1 : end] = [label] * (end - first - 1)
    return True


def as_list(values: Column) -> list[Any]:
    """A column's cells as plain Python values, in a list of its own."""
    to_list = getattr(values, "to_pylist", None)
    return list(to_list() if to_list is not None else values)


def notes_of(sheet: str, merges: Sequence[Merge], labels: Sequence[Merge]) -> list[Note]:
    """What must be known of a table's merged cells, the labels that were repeated apart."""
    notes = []
    if rest := [merge for merge in merges if merge not in set(labels)]:
        count = f"{len(rest):,} merged cell{'' if len(rest) == 1 else 's'}"
        text = (
            f"{count} in the table: the first cell of each holds the value, the others are empty."
        )
        notes.append(_note("merged-cells", text, sheet, rest))
    if labels:
        text = (
            "1 label is merged over several rows; it is repeated in each of them."
            if len(labels) == 1
            else f"{len(labels):,} labels are merged over several rows each; they are repeated in "
            "each of them."
        )
        notes.append(_note("merged-labels", text, sheet, labels))
    return notes


def _note(kind: str, text: str, sheet: str, merges: Sequence[Merge]) -> Note:
    more = f" and {len(merges) - _NAMED} more" if len(merges) > _NAMED else ""
    cells = ", ".join(cell_range(*first, *last) for first, last in merges[:_NAMED]) + more
    return Note(kind, text, len(merges), f"sheet {sheet}!{cells}", cells)
