"""Parts of a page of a PDF that are looked at apart for tables: columns of prose, and lines without
prose between them."""

from __future__ import annotations

import itertools
import re
import statistics
from collections.abc import Iterator, Sequence

from leaf.readers.documents.pdf_lines import TextLine

LEAST_RUN = 8
"""Lines beside each other before they can be columns of prose."""
LEAST_SIDE = 0.28
"""Share of the width that a column of prose has."""
PROSE_WORDS = 4
PROSE_SHARE = 0.6
STEP = 3.0
MOST_TRIED = 8
"""White stripes that are looked at on both sides, the longest first."""
CAPTION = re.compile(
    r"(?:table|tab\.|tabelle|tableau|tabla|tabella|tabel|exhibit|schedule|figure|fig\.|abbildung)\s*[\dIVXA-Z]+[\d.\-–]*\b",
    re.I,
)


def zones(lines: Sequence[TextLine], depth: int = 3) -> list[list[TextLine]]:
    """Columns of prose apart from each other, in reading order. A table is never parted: it is no
    prose."""
    if depth == 0 or len(lines) < LEAST_RUN or not (gutter := _gutter(lines)):
        return [list(lines)] if lines else []
    first, last, x = gutter
    left = [side for line in lines[first:last] if (side := _side(line, x, before=True))]
    right = [side for line in lines[first:last] if (side := _side(line, x, before=False))]
    parts = (lines[:first], left, right, lines[last:])
    return [zone for part in parts for zone in zones(part, depth - 1)]


def _side(line: TextLine, x: float, *, before: bool) -> TextLine | None:
    chunks = tuple(c for c in line.chunks if (c.right <= x if before else c.left >= x))
    if not chunks:
        return None
    words = [word for chunk in chunks for word in chunk.words]
    return TextLine(chunks, min(w.top for w in words), max(w.bottom for w in words))


def _gutter(lines: Sequence[TextLine]) -> tuple[int, int, float] | None:
    """First and last line (after it) of the longest run that a white stripe parts, and where the
    stripe is."""
    if sum(len(line.chunks) > 1 for line in lines) < LEAST_RUN:
        return None
    left, right = min(line.left for line in lines), max(line.right for line in lines)
    width = right - left
    stripes: dict[tuple[int, int, int], list[float]] = {}
    x = left + LEAST_SIDE * width
    while x < right - LEAST_SIDE * width:
        for first, last in _runs(lines, x):
            both = sum(line.left < x < line.right for line in lines[first:last])
            if both >= LEAST_RUN:
                stripes.setdefault((both, first, last), []).append(x)
        x += STEP
    for (_, first, last), places in sorted(stripes.items(), reverse=True)[:MOST_TRIED]:
        middle = places[len(places) // 2]
        if _is_prose(lines[first:last], middle, width):
            return first, last, middle
    return None


def _runs(lines: Sequence[TextLine], x: float) -> Iterator[tuple[int, int]]:
    """Runs of lines that do not cross a place."""
    begin: int | None = None
    for i, line in enumerate(lines):
        crosses = any(chunk.left - 1 < x < chunk.right + 1 for chunk in line.chunks)
        if not crosses and begin is None:
            begin = i
        if crosses and begin is not None:
            yield begin, i
            begin = None
    if begin is not None:
        yield begin, len(lines)


def _is_prose(lines: Sequence[TextLine], x: float, width: float) -> bool:
    """Whether one side at least is prose, and the other no column of short cells that belong to
    it."""
    shares = []
    for before in (True, False):
        side = [part for line in lines if (part := _side(line, x, before=before))]
        if not side or max(p.right for p in side) - min(p.left for p in side) < LEAST_SIDE * width:
            return False
        shares.append((prose_share(side), len(side)))
    (a, _), (b, _) = shares
    return max(a, b) >= PROSE_SHARE and (min(a, b) >= 0.3 or max(a, b) >= 0.8)


def prose_share(lines: Sequence[TextLine]) -> float:
    """Share of lines that are a single piece of several words and reach over most of the width."""
    width = max(line.right for line in lines) - min(line.left for line in lines)
    full = sum(
        len(line.chunks) == 1
        and len(line.words) >= PROSE_WORDS
        and line.right - line.left >= 0.6 * width
        for line in lines
    )
    return full / len(lines)


def stretches(lines: Sequence[TextLine]) -> Iterator[list[TextLine]]:
    """Neighbouring lines that may be one table: without a wide gap, a line of prose or a caption in
    between."""
    if not lines:
        return
    left, right = min(line.left for line in lines), max(line.right for line in lines)
    stretch: list[TextLine] = []
    for line in lines:
        if stretch and _ends(stretch, line):
            yield stretch
            stretch = []
        if is_prose(line, stretch, left, right):
            if stretch:
                yield stretch
            stretch = []
            continue
        stretch.append(line)
    if stretch:
        yield stretch


def _ends(before: Sequence[TextLine], line: TextLine) -> bool:
    """Whether the gap above a line is wider than any in a table."""
    gap = line.top - before[-1].bottom
    gaps = [b.top - a.bottom for a, b in itertools.pairwise(before)]
    usual = statistics.median(gaps) if gaps else 0.8 * line.height
    return gap > max(1.5 * line.height, 2.2 * max(usual, 0.0)) or gap > 5 * line.height


def is_prose(line: TextLine, before: Sequence[TextLine], left: float, right: float) -> bool:
    """Whether a line is a sentence or a caption rather than cells; one that begins further in may
    go on with a cell."""
    if CAPTION.match(line.text) and len(line.words) >= 2:
        return True
    if len(line.chunks) > 1 or len(line.words) <= PROSE_WORDS:
        return False
    cells = [b for b in before if len(b.chunks) > 1]
    if cells and line.left > min(b.left for b in cells) + 2 * line.height:
        return False
    return line.right - line.left >= 0.55 * (right - left) or len(line.words) > 9
