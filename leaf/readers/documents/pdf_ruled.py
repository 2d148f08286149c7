"""Tables of a page of a PDF whose cells are parted by drawn lines.

Lines that cross make a grid; two neighbours of it are one cell where no line stands between them.
Where lines part only the columns, or only a header from what is below, the rows of a field are
found by what stands in it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from leaf.readers.documents.pdf_lines import TextLine, lines_of, number_like, text_of
from leaf.readers.documents.pdf_words import PdfWord, Rule
from leaf.readers.tabular.grids import GridCell

NEAR = 2.5
"""Points between lines that are one, and between ends that touch."""
DOUBLE = 7.0
"""Points between vertical lines that are one line drawn twice, where nothing stands between
them."""
OPEN = 8.0
"""Points by which lines reach beyond the last one across them where a table has no frame on that
side."""
MAX_LINES = 300
"""Lines of one direction on a page that a grid is looked for in."""


@dataclass(frozen=True)
class Mesh:
    """Lines that cross each other."""

    xs: list[float]
    ys: list[float]
    across: list[Rule]
    down: list[Rule]


@dataclass
class Field:
    """A cell of a mesh: the squares that no line parts."""

    row: int
    column: int
    rows: int
    columns: int
    words: list[PdfWord]


def merged(rules: Sequence[Rule]) -> list[Rule]:
    """Lines in one place that touch or overlap, as one."""
    lines: list[Rule] = []
    for band in _bands(rules):
        at = sum(rule.at for rule in band) / len(band)
        start = end = None
        for rule in sorted(band, key=lambda r: r.start):
            if end is not None and start is not None and rule.start <= end + NEAR:
                end = max(end, rule.end)
                continue
            if end is not None and start is not None:
                lines.append(Rule(at, start, end))
            start, end = rule.start, rule.end
        if end is not None and start is not None:
            lines.append(Rule(at, start, end))
    return lines


def _bands(rules: Sequence[Rule]) -> Iterable[list[Rule]]:
    band: list[Rule] = []
    for rule in sorted(rules, key=lambda r: r.at):
        if band and rule.at - band[0].at > NEAR:
            yield band
            band = []
        band.append(rule)
    if band:
        yield band


def meshes(across: Sequence[Rule], down: Sequence[Rule]) -> list[Mesh]:
    """Groups of lines that cross, from above; each has two lines of either direction at least."""
    if not across or not down or max(len(across), len(down)) > MAX_LINES:
        return []
    group = list(range(len(across) + len(down)))

    def root(i: int) -> int:
        while group[i] != i:
            group[i] = group[group[i]]
            i = group[i]
        return i

    for i, h in enumerate(across):
        for j, v in enumerate(down):
            if _cross(h, v):
                group[root(i)] = root(len(across) + j)
    parts: dict[int, tuple[list[Rule], list[Rule]]] = defaultdict(lambda: ([], []))
    for i, h in enumerate(across):
        parts[root(i)][0].append(h)
    for j, v in enumerate(down):
        parts[root(len(across) + j)][1].append(v)
    all_meshes = [mesh for hs, vs in parts.values() if hs and vs and (mesh := _mesh(hs, vs))]
    return sorted(all_meshes, key=lambda mesh: (mesh.ys[0], mesh.xs[0]))


def _cross(h: Rule, v: Rule) -> bool:
    return h.start - NEAR <= v.at <= h.end + NEAR and v.start - NEAR <= h.at <= v.end + NEAR


def _mesh(across: list[Rule], down: list[Rule]) -> Mesh | None:
    xs = _places([v.at for v in down], min(h.start for h in across), max(h.end for h in across))
    ys = _places([h.at for h in across], min(v.start for v in down), max(v.end for v in down))
    return Mesh(xs, ys, across, down) if len(xs) > 1 and len(ys) > 1 else None


def _places(lines: list[float], first: float, last: float) -> list[float]:
    """Where lines stand, and where those across them end if they reach further: a table may be open
    at its sides."""
    places = [
        line for i, line in enumerate(sorted(lines)) if not i or line - sorted(lines)[i - 1] > NEAR
    ]
    if places[0] - first > OPEN:
        places.insert(0, first)
    if last - places[-1] > OPEN:
        places.append(last)
    return places


def simplified(mesh: Mesh, words: Sequence[PdfWord]) -> Mesh:
    """The mesh without the narrow columns between double lines."""
    xs = [mesh.xs[0]]
    for x in mesh.xs[1:]:
        if x - xs[-1] <= DOUBLE and not any(xs[-1] < word.middle[0] < x for word in words):
            xs[-1] = (xs[-1] + x) / 2
        else:
            xs.append(x)
    return Mesh(xs, mesh.ys, mesh.across, mesh.down)


def without_short(mesh: Mesh) -> Mesh:
    """The mesh without places where filled areas end under less than half of its width: each line
    of a cell may have its own."""
    width = mesh.xs[-1] - mesh.xs[0]
    ys = [
        y
        for i, y in enumerate(mesh.ys)
        if i in (0, len(mesh.ys) - 1)
        or sum(h.end - h.start for h in mesh.across if abs(h.at - y) <= NEAR) >= 0.5 * width
    ]
    return Mesh(mesh.xs, ys, mesh.across, mesh.down)


def is_drawing(mesh: Mesh, words: Sequence[PdfWord]) -> bool:
    """Whether lines run through words, as through the labels of a chart."""
    inside = [
        w
        for w in words
        if mesh.xs[0] <= w.middle[0] <= mesh.xs[-1] and mesh.ys[0] <= w.middle[1] <= mesh.ys[-1]
    ]
    struck = sum(
        any(
            w.left + 1.5 < v.at < w.right - 1.5 and v.start < w.middle[1] < v.end for v in mesh.down
        )
        for w in inside
    )
    struck += sum(
        any(
            w.top + 0.3 * w.height < h.at < w.bottom - 0.35 * w.height
            and h.start < w.middle[0] < h.end
            for h in mesh.across
        )
        for w in inside
    )
    return struck > 0.12 * len(inside)


def is_irregular(squares: Sequence[Field]) -> bool:
    """Whether most of what is filled reaches over several rows, or most is empty: so are drawings,
    but no tables."""
    filled = [field for field in squares if field.words]
    return len(filled) < 0.3 * len(squares) or sum(field.rows == 1 for field in filled) < 0.6 * len(
        filled
    )


def fields(mesh: Mesh, words: Sequence[PdfWord]) -> list[Field]:
    """The cells of a mesh with their words, in order."""
    width, height = len(mesh.xs) - 1, len(mesh.ys) - 1
    group = list(range(width * height))

    def root(i: int) -> int:
        while group[i] != i:
            i = group[i]
        return i

    for row in range(height):
        middle = (mesh.ys[row] + mesh.ys[row + 1]) / 2
        for column in range(width):
            centre = (mesh.xs[column] + mesh.xs[column + 1]) / 2
            here = row * width + column
            if column + 1 < width and not _stands(mesh.down, mesh.xs[column + 1], middle):
                group[root(here + 1)] = root(here)
            if row + 1 < height and not _stands(mesh.across, mesh.ys[row + 1], centre):
                group[root(here + width)] = root(here)
    squares: dict[int, list[int]] = defaultdict(list)
    for i in range(width * height):
        squares[root(i)].append(i)
    cells = [_field(members, width) for members in squares.values()]
    _fill(cells, mesh, words)
    return sorted(cells, key=lambda field: (field.row, field.column))


def _stands(rules: Sequence[Rule], at: float, across: float) -> bool:
    return any(
        abs(rule.at - at) <= DOUBLE / 2 + 0.5 and rule.start - NEAR <= across <= rule.end + NEAR
        for rule in rules
    )


def _field(members: list[int], width: int) -> Field:
    rows, columns = [i // width for i in members], [i % width for i in members]
    top, left = min(rows), min(columns)
    return Field(top, left, max(rows) - top + 1, max(columns) - left + 1, [])


def _fill(cells: list[Field], mesh: Mesh, words: Sequence[PdfWord]) -> None:
    for word in words:
        x, y = word.middle
        for field in cells:
            if (
                mesh.xs[field.column] <= x < mesh.xs[field.column + field.columns]
                and mesh.ys[field.row] <= y < mesh.ys[field.row + field.rows]
            ):
                field.words.append(word)
                break


def rows_of(mesh: Mesh, found: Sequence[Field]) -> list[list[GridCell]]:
    """The rows of a mesh; a band that holds several rows without a line between them is taken
    apart."""
    rows: list[list[GridCell]] = []
    bands = len(mesh.ys) - 1
    for band in range(bands):
        here = [field for field in found if field.row == band]
        if not here:
            rows.append([])
        elif all(field.rows == 1 for field in here) and (lines := _several(here, bands)):
            rows += [
                [GridCell(text_of(_on(field, line)), field.columns) for field in here]
                for line in lines
            ]
        else:
            rows.append(
                [GridCell(text_of(field.words), field.columns, field.rows) for field in here]
            )
    return rows


def _on(field: Field, line: TextLine) -> list[PdfWord]:
    return [word for word in field.words if line.top <= word.middle[1] < line.bottom]


def _several(band: Sequence[Field], bands: int) -> list[TextLine]:
    """The rows of a band, each a strip of the page; none if it is a single row.

    It holds several where a column has a number in each of its lines, or where the table has no
    other lines at all.
    """
    lines = lines_of([word for field in band for word in field.words])
    if len(lines) < 2:
        return []
    full = 0
    for field in band:
        cells = [text_of(_on(field, line)) for line in lines]
        filled = [cell for cell in cells if cell]
        numbers = sum(map(number_like, filled))
        if numbers >= 2 and numbers == len(filled) and numbers >= 0.6 * len(lines):
            return lines
        full += len(filled) >= 0.8 * len(lines)
    return lines if bands <= 2 and len(lines) >= 3 and full >= max(2, 0.6 * len(band)) else []
