"""Merged cells of a table in a sheet or a document: a label that reaches over several rows holds for
each of them, and is repeated there; what else is merged is named."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from leaf.readers.base import Note
from leaf.readers.tabular.cells import cell_range, is_empty, kind_of, places
from leaf.readers.tabular.grid import Merge, TableBlock

if TYPE_CHECKING:
    import pyarrow as pa

    Column: TypeAlias = Sequence[Any] | pa.ChunkedArray

_LABELS = frozenset("tdb")
"""Kinds of cells that say what a row is about. A number that is written once for several rows may be
their sum, and would be added up once for each."""
_NAMED = 12
"""Merged cells that are named one by one."""


class Reaching(str):
    """The text of a cell of a document that stands in a row because the cell above it reaches down
    there."""

    __slots__ = ()


@dataclass(frozen=True)
class RowSpan:
    """A cell of a document's table that reaches over several rows; its rows are 1-based."""

    top: int
    bottom: int
    label: bool
    """Whether it is said in each of them, as a label is."""


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


def numbers_once(rows: list[list[str]], header: int) -> list[RowSpan]:
    """Leave the numbers that reach over several rows of a document's table below its header in the
    first of them alone, and give all cells of the body that reach so far."""
    spans: list[RowSpan] = []
    for column in range(max(map(len, rows), default=0)):
        cells = [row[column] if column < len(row) else "" for row in rows]
        tops = [
            row
            for row in range(header, len(rows) - 1)
            if isinstance(cells[row + 1], Reaching) and not isinstance(cells[row], Reaching)
        ]
        years = bool(tops) and all(is_empty(c) or kind_of(c) == "y" for c in cells[tops[0] :])
        for top in tops:
            bottom = top + 1
            while bottom + 1 < len(rows) and isinstance(cells[bottom + 1], Reaching):
                bottom += 1
            kind = kind_of(cells[top])
            once = kind == "n" or (kind == "y" and not years)
            for row in range(top + 1, bottom + 1) if once else ():
                rows[row][column] = ""
            if once or kind in _LABELS or kind == "y":
                spans.append(RowSpan(top + 1, bottom + 1, not once))
    return spans


def notes_of_spans(spans: Iterable[RowSpan], first: int, last: int) -> list[Note]:
    """What must be known of those within the body of a table of a document."""
    within = [span for span in spans if first <= span.top and span.bottom <= last]
    notes = []
    for label, kind, text_of in (
        (False, "merged-cells", _once_text),
        (True, "merged-labels", _label_text),
    ):
        if these := [span for span in within if span.label is label]:
            rows = sorted({row for span in these for row in range(span.top, span.bottom + 1)})
            notes.append(Note(kind, text_of(len(these)), len(these), places(rows)))
    return notes


def notes_of(sheet: str, merges: Sequence[Merge], labels: Sequence[Merge]) -> list[Note]:
    """What must be known of a table's merged cells, the labels that were repeated apart."""
    notes = []
    if rest := [merge for merge in merges if merge not in set(labels)]:
        notes.append(_note("merged-cells", _once_text(len(rest)), sheet, rest))
    if labels:
        notes.append(_note("merged-labels", _label_text(len(labels)), sheet, labels))
    return notes


def _once_text(count: int) -> str:
    cells = f"{count:,} merged cell{'' if count == 1 else 's'}"
    return f"{cells} in the table: the first cell of each holds the value, the others are empty."


def _label_text(count: int) -> str:
    if count == 1:
        return "1 label is merged over several rows; it is repeated in each of them."
    return f"{count:,} labels are merged over several rows each; they are repeated in each of them."


def _note(kind: str, text: str, sheet: str, merges: Sequence[Merge]) -> Note:
    more = f" and {len(merges) - _NAMED} more" if len(merges) > _NAMED else ""
    cells = ", ".join(cell_range(*first, *last) for first, last in merges[:_NAMED]) + more
    return Note(kind, text, len(merges), f"sheet {sheet}!{cells}", cells)
