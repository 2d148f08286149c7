"""Tables of a page of a PDF whose columns are parted by blanks: what stands one below the other in
several lines.

Prose, lists, forms, contents and indexes have blanks below each other too; what tells them apart is
in `pdf_doubts`.
"""

from __future__ import annotations

import itertools
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from leaf.readers.documents.pdf_lines import Chunk, TextLine, number_like
from leaf.readers.documents.pdf_words import PdfWord, Rule
from leaf.readers.tabular.grids import GridCell

GUTTER = 0.3
"""Least width of the white stripe between two columns, in heights of a line."""
MOST_COLUMNS = 60
INSIDE = 0.35
"""Blank inside a piece, in heights, at which it is parted where two columns meet."""


@dataclass(frozen=True)
class ColumnEdges:
    """Where the cells of a column usually begin and end."""

    left: float
    right: float

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


@dataclass
class Row:
    """Cells of a row by their first column: the words and how many columns they go over."""

    line: TextLine
    cells: dict[int, tuple[list[str], int]] = field(default_factory=dict)
    doubled: int = 0
    """Pieces that stood apart and came into one cell."""
    lines: int = 1

    def text(self, column: int) -> str:
        return " ".join(self.cells[column][0]) if column in self.cells else ""

    @property
    def spans(self) -> bool:
        return any(width > 1 for _, width in self.cells.values())


def columns_of(lines: Sequence[TextLine]) -> list[ColumnEdges]:
    """The columns that lines of several pieces share; fewer than two where they share none."""
    several = [line for line in lines if len(line.chunks) > 1]
    if len(several) < 2:
        return []
    height = statistics.median(line.height for line in several)
    cuts = _cuts(several, height)
    counts = Counter(len(line.chunks) for line in several)
    usual, often = max(counts.items(), key=lambda item: (item[1], item[0]))
    if usual > len(cuts) + 1 and often >= 0.6 * len(several) and often >= 3:
        return _by_number([line for line in several if len(line.chunks) == usual])
    return _by_cuts(several, cuts) if len(cuts) < MOST_COLUMNS else []


def _cuts(lines: Sequence[TextLine], height: float) -> list[float]:
    """Places between columns: white stripes that at most a few lines cross."""
    left, right = min(line.left for line in lines), max(line.right for line in lines)
    size = int(right - left) + 2
    cover = [0] * size
    for line in lines:
        for chunk in line.chunks:
            for x in range(int(chunk.left - left), min(size, int(chunk.right - left) + 1)):
                cover[x] += 1
    allowed = 0 if len(lines) < 5 else max(1, len(lines) // 8)
    cuts = []
    for begin, end in _low(cover, allowed):
        if begin > 0 and end < size - 1 and end - begin >= GUTTER * height:
            least = min(cover[begin:end])
            best = max(_low(cover[begin:end], least), key=lambda run: run[1] - run[0])
            cuts.append(left + begin + (best[0] + best[1]) / 2)
    return cuts


def _low(cover: Sequence[int], most: int) -> list[tuple[int, int]]:
    """Runs of places that no more lines cover than `most`."""
    runs: list[tuple[int, int]] = []
    begin: int | None = None
    for x, count in enumerate([*cover, most + 1]):
        if count <= most and begin is None:
            begin = x
        elif count > most and begin is not None:
            runs.append((begin, x))
            begin = None
    return runs


def _by_number(lines: Sequence[TextLine]) -> list[ColumnEdges]:
    return [_column([line.chunks[i] for line in lines]) for i in range(len(lines[0].chunks))]


def _by_cuts(lines: Sequence[TextLine], cuts: Sequence[float]) -> list[ColumnEdges]:
    edges = [float("-inf"), *cuts, float("inf")]
    columns = []
    for left, right in itertools.pairwise(edges):
        chunks = [
            c for line in lines for c in line.chunks if left <= (c.left + c.right) / 2 < right
        ]
        inside = [c for c in chunks if c.left >= left - 1 and c.right <= right + 1]
        if chunks:
            columns.append(_column(inside or chunks))
    return columns


def _column(chunks: Sequence[Chunk]) -> ColumnEdges:
    return ColumnEdges(
        statistics.median(c.left for c in chunks), statistics.median(c.right for c in chunks)
    )


def row_of(line: TextLine, columns: Sequence[ColumnEdges]) -> Row:
    """The cells of a line."""
    row = Row(line)
    for chunk in line.chunks:
        for first, last, text in _placed(chunk, columns):
            if first in row.cells:
                row.cells[first][0].append(text)
                row.doubled += 1
            else:
                row.cells[first] = ([text], last - first + 1)
    return row


def _placed(chunk: Chunk, columns: Sequence[ColumnEdges]) -> list[tuple[int, int, str]]:
    """First and last column of a piece; one over several columns is parted where a blank in it
    meets their border."""
    first, last = _reach(chunk.left, chunk.right, columns)
    if first == last:
        return [(first, last, chunk.text)]
    parts = _parted(chunk.words, columns, first, last)
    if parts and len(parts) > 1:
        return [(*_reach(p[0].left, p[-1].right, columns), Chunk(tuple(p)).text) for p in parts]
    return [(first, last, chunk.text)]


def _reach(left: float, right: float, columns: Sequence[ColumnEdges]) -> tuple[int, int]:
    """The columns that a piece stands over; the nearest one where it stands over none."""
    over = [
        i
        for i, c in enumerate(columns)
        if min(right, c.right) - max(left, c.left) > 0.4 * max(1.0, c.right - c.left)
    ]
    if over:
        return over[0], over[-1]
    near = min(
        range(len(columns)),
        key=lambda i: min(
            abs(columns[i].left - left),
            abs(columns[i].right - right),
            abs(columns[i].middle - (left + right) / 2),
        ),
    )
    return near, near


def _parted(
    words: Sequence[PdfWord], columns: Sequence[ColumnEdges], first: int, last: int
) -> list[list[PdfWord]]:
    parts: list[list[PdfWord]] = [[words[0]]]
    for a, b in itertools.pairwise(words):
        apart = b.left - a.right > INSIDE * max(1.0, min(a.height, b.height))
        border = any(
            a.middle[0] < (columns[i].right + columns[i + 1].left) / 2 + 3
            and b.middle[0] > columns[i + 1].left - 3
            for i in range(first, last)
            if a.right <= columns[i + 1].left + 2 and b.left >= columns[i].right - 2
        )
        if apart and border:
            parts.append([b])
        else:
            parts[-1].append(b)
    return parts


def joined(rows: Sequence[Row], across: Sequence[Rule]) -> list[Row]:
    """Rows of which each is whole: the lines of a cell that goes over several are put together."""
    if banded := _by_rules(rows, across):
        return banded
    pitch = _pitch(rows)
    whole_rows: list[Row] = []
    body = next((i for i, row in enumerate(rows) if _has_numbers(row)), 0)
    for i, row in enumerate(rows):
        if whole_rows and _goes_on(whole_rows[-1], row, pitch, header=i < body):
            _append(whole_rows[-1], row)
        else:
            whole_rows.append(
                Row(row.line, {k: (list(t), w) for k, (t, w) in row.cells.items()}, row.doubled)
            )
    return whole_rows


def _has_numbers(row: Row) -> bool:
    return any(number_like(row.text(k)) for k in row.cells if k > 0)


def _by_rules(rows: Sequence[Row], across: Sequence[Rule]) -> list[Row]:
    """Rows by the lines drawn between them, where nearly every row has one below it."""
    bands: list[list[Row]] = []
    for row in rows:
        above = bands[-1][-1].line.middle if bands else 0.0
        if not bands or any(above < rule.at < row.line.middle for rule in across):
            bands.append([])
        bands[-1].append(row)
    if len(bands) < 4 or len(bands) < 0.35 * len(rows):
        return []
    whole_rows = []
    for band in bands:
        if sum(map(_has_numbers, band)) > 1:
            whole_rows += band
            continue
        for row in band[1:]:
            _append(band[0], row)
        whole_rows.append(band[0])
    return whole_rows


def _pitch(rows: Sequence[Row]) -> float:
    """From row to row where rows stand further apart than the lines of a cell; 0 where all stand
    equally far."""
    steps = sorted(b.line.middle - a.line.middle for a, b in itertools.pairwise(rows))
    if len(steps) < 3:
        return 0.0
    best, at = 0.0, 0
    for i in range(1, len(steps)):
        if steps[i] - steps[i - 1] > best and steps[i - 1] > 0:
            best, at = steps[i] - steps[i - 1], i
    if best < 0.25 * steps[at - 1]:
        return 0.0
    return (steps[at] + steps[at - 1]) / 2


def _goes_on(above: Row, row: Row, pitch: float, *, header: bool) -> bool:
    """Whether a line goes on with the cells of the row above it."""
    if set(row.cells) - set(above.cells) and not (header and not above.spans):
        return not _has_numbers(above) and _is_lower(row) and set(above.cells) == {0}
    if _has_numbers(row) and not header:
        return (
            not _has_numbers(above)
            and set(above.cells) == {0}
            and (_is_lower(row) or above.text(0).endswith("-"))
        )
    near = row.line.top - above.line.bottom < 0.35 * row.line.height
    if pitch:
        return _step(above, row) < pitch and (near or not header) and not above.spans
    if header:
        return near and not above.spans and not row.spans and len(row.cells) <= len(above.cells) + 1
    if 0 not in row.cells:
        return near and len(row.cells) < max(2, len(above.cells))
    return near and set(row.cells) == {0} and _is_lower(row)


def _step(above: Row, row: Row) -> float:
    """From the last line of the row above to this one."""
    return row.line.middle - (above.line.bottom - above.line.height / 2)


def _is_lower(row: Row) -> bool:
    text = row.text(0)
    return text[:1].islower()


def _append(above: Row, row: Row) -> None:
    for column, (texts, width) in row.cells.items():
        if column in above.cells:
            above.cells[column][0].extend(texts)
        else:
            above.cells[column] = (list(texts), width)
    above.line = TextLine(above.line.chunks, above.line.top, row.line.bottom)
    above.lines += row.lines
    above.doubled += row.doubled


def cells_of(row: Row, columns: int) -> list[GridCell]:
    """The cells of a row, those that are empty too."""
    cells: list[GridCell] = []
    while len(cells) < columns:
        at = sum(cell.columns for cell in cells)
        if at >= columns:
            break
        width = min(row.cells[at][1], columns - at) if at in row.cells else 1
        later = [k for k in row.cells if at < k < at + width]
        cells.append(GridCell(row.text(at), min(later) - at if later else width))
    return cells
