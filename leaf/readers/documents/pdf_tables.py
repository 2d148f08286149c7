"""The tables of a PDF: found on each page by lines and blanks, joined where they go on over a
page's end."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from leaf.readers.base import Note
from leaf.readers.documents.pdf_doubts import doubt_of, no_ruled_table, no_spaced_table
from leaf.readers.documents.pdf_lines import TextLine, lines_of, number_like
from leaf.readers.documents.pdf_ruled import (
    Mesh,
    fields,
    is_drawing,
    is_irregular,
    merged,
    meshes,
    rows_of,
    simplified,
    without_short,
)
from leaf.readers.documents.pdf_spaced import ColumnEdges, cells_of, columns_of, joined, row_of
from leaf.readers.documents.pdf_words import Drawing, PdfWord, Rule
from leaf.readers.documents.pdf_zones import CAPTION, stretches, zones
from leaf.readers.tabular.grids import Grid, Rows, expanded

MARGIN = 0.1
"""Share of a page's height, above and below, where running titles and page numbers stand."""
MOST_LONE = 3
"""Rows, a repeated header among them, that are looked at as the end of a table on the page
before."""
RUNNING = 2
"""Lines of them."""
SAME_PLACE = 12.0
"""Points by which the columns of a table may move from page to page."""
CONTINUED = re.compile(
    r"\(?\s*(?:continued|cont['’]?d\.?|cont\.|fortsetzung|suite|continua\w*)\b", re.I
)

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


@dataclass(frozen=True)
class PageTable:
    """A table on a page."""

    rows: Rows
    box: Box
    edges: tuple[tuple[float, float], ...]
    """Where its columns begin and end."""
    doubt: str = ""
    """Why it may be read wrongly."""
    title: str = ""
    page: int = 0
    first: bool = False
    """Whether nothing but a running title stands above it."""
    last: bool = False
    """Whether nothing but a page number stands below it."""
    lone: tuple[TextLine, ...] = ()
    """Lines at the top of a page that are too few for a table, but may be the last rows of one on
    the page before."""


def tables_on(drawing: Drawing) -> list[PageTable]:
    """The tables of a page, from above."""
    across, down = merged(drawing.across), merged(drawing.down)
    tables: list[PageTable] = []
    left = list(drawing.words)
    shaded = (
        merged([*drawing.across, *drawing.shades[0]]),
        merged([*drawing.down, *drawing.shades[1]]),
    )
    for mesh in [
        *meshes(across, down),
        *(map(without_short, meshes(*shaded)) if any(drawing.shades) else ()),
    ]:
        if table := _ruled(mesh, left):
            tables.append(table)
            left = [word for word in left if not _within(word, table.box)]
    tables += _spaced_on(left, across, down, tables)
    lines = lines_of(drawing.words)
    return _lone(lines, tables, drawing) + [
        _placed(table, lines, drawing)
        for table in sorted(tables, key=lambda t: (t.box[1], t.box[0]))
    ]


def _lone(
    lines: Sequence[TextLine], tables: Sequence[PageTable], drawing: Drawing
) -> list[PageTable]:
    """What stands at the top of a page in pieces, where no table was found there."""
    heads = [
        line
        for line in lines
        if line.bottom <= MARGIN * drawing.height and len(line.chunks) < MOST_LONE
    ]
    top = lines[min(len(heads), RUNNING) :] if lines else []
    while top and len(top[0].chunks) < 2 and top[0].bottom <= MARGIN * drawing.height:
        top = top[1:]
    rows: list[TextLine] = []
    for line in top[: MOST_LONE + 1]:
        inside = any(t.box[1] - 2 <= line.middle <= t.box[3] + 2 for t in tables)
        if (
            inside
            or len(line.chunks) < 2
            or (rows and line.top - rows[-1].bottom > 2 * line.height)
        ):
            break
        rows.append(line)
    if not rows or len(rows) > MOST_LONE:
        return []
    box = (min(x.left for x in rows), rows[0].top, max(x.right for x in rows), rows[-1].bottom)
    return [PageTable([], box, (), first=True, last=False, lone=tuple(rows))]


def _within(word: PdfWord, box: Box) -> bool:
    x, y = word.middle
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def _ruled(mesh: Mesh, words: Sequence[PdfWord]) -> PageTable | None:
    """The table of a grid of lines; None where it is a frame, a form or a drawing."""
    mesh = simplified(mesh, words)
    if len(mesh.xs) < 3 or is_drawing(mesh, words):
        return None
    squares = fields(mesh, words)
    if is_irregular(squares):
        return None
    rows = _trimmed(expanded(rows_of(mesh, squares)))
    if len(rows) < 2 or len(rows[0]) < 2 or no_ruled_table(rows):
        return None
    edges = tuple(zip(mesh.xs, mesh.xs[1:], strict=False))
    return PageTable(rows, (mesh.xs[0], mesh.ys[0], mesh.xs[-1], mesh.ys[-1]), edges)


def _trimmed(rows: Rows) -> Rows:
    """Without rows and columns in which nothing stands."""
    rows = [row for row in rows if any(row)]
    if not rows:
        return []
    columns = [i for i in range(len(rows[0])) if any(row[i] for row in rows)]
    return [[row[i] for i in columns] for row in rows]


def _spaced_on(
    words: Sequence[PdfWord],
    across: Sequence[Rule],
    down: Sequence[Rule],
    ruled: Sequence[PageTable],
) -> list[PageTable]:
    tables = []
    for zone in zones(lines_of(words, down)):
        for part in _between(zone, ruled):
            for stretch in stretches(part):
                tables += _spaced(stretch, across)
    return tables


def _between(zone: Sequence[TextLine], ruled: Sequence[PageTable]) -> Iterator[list[TextLine]]:
    """Lines above and below the tables that were found already: what stands around one does not
    belong together."""
    part: list[TextLine] = []
    for line in zone:
        if part and any(
            part[-1].bottom <= t.box[1] + 2 and t.box[3] - 2 <= line.top for t in ruled
        ):
            yield part
            part = []
        part.append(line)
    if part:
        yield part


def _spaced(stretch: Sequence[TextLine], across: Sequence[Rule]) -> list[PageTable]:
    """The table of neighbouring lines, if they are one."""
    lines = _cut(_ends_cut(list(stretch)), across)
    lines = _ends_cut(lines)
    columns = columns_of(lines)
    if len(columns) < 2:
        return []
    near = _rules_of(lines, across)
    rows = joined([row_of(line, columns) for line in lines], near)
    if not rows:
        return []
    cells = [cells_of(row, len(columns)) for row in rows]
    texts = _trimmed(expanded(cells))
    if not texts or len(texts[0]) < 2 or no_spaced_table(texts, len(near)):
        return []
    box = (min(x.left for x in lines), lines[0].top, max(x.right for x in lines), lines[-1].bottom)
    doubt = doubt_of(texts, len(near), sum(row.doubled for row in rows))
    edges = tuple((c.left, c.right) for c in columns)
    width = repeated_names(texts[0]) if len(edges) == len(texts[0]) else 0
    if not width:
        return [PageTable(texts, box, edges, doubt)]
    return [
        PageTable(
            part,
            (edges[at][0], box[1], edges[at + width - 1][1], box[3]),
            edges[at : at + width],
            doubt,
        )
        for at in range(0, len(edges), width)
        if len(part := [row[at : at + width] for row in texts if any(row[at : at + width])]) > 1
    ]


def repeated_names(header: Sequence[str]) -> int:
    """How many columns each of several tables beside each other has whose names repeat; 0 where
    they are one table."""
    for width in range(2, len(header) // 2 + 1):
        names = list(header[:width])
        if (
            all(names)
            and len(set(names)) == width
            and list(header) == names * (len(header) // width)
        ):
            return width
    return 0


def _ends_cut(lines: list[TextLine]) -> list[TextLine]:
    """Without lines of a single piece at both ends: they stand above or below the table."""
    several = [i for i, line in enumerate(lines) if len(line.chunks) > 1]
    return lines[several[0] : several[-1] + 1] if several else []


def _cut(lines: list[TextLine], across: Sequence[Rule]) -> list[TextLine]:
    """Only what stands between the outermost lines drawn over the whole width, where there is more
    than one."""
    rules = _rules_of(lines, across)
    if len(rules) < 2:
        return lines
    inside = [
        i for i, line in enumerate(lines) if rules[0].at - 1 <= line.middle <= rules[-1].at + 1
    ]
    if len(inside) < 0.6 * len(lines) or len(inside) < 2:
        return lines
    first, last = inside[0], inside[-1]
    first -= first > 0 and _is_row(lines[first - 1], lines[first : last + 1])
    last += last + 1 < len(lines) and _is_row(lines[last + 1], lines[first : last + 1])
    return lines[first : last + 1]


def _is_row(line: TextLine, rows: Sequence[TextLine]) -> bool:
    """Whether a line just above or below the outermost rule is a row as the others: rules may stand
    below or above each row."""
    usual = Counter(len(row.chunks) for row in rows).most_common(1)[0][0]
    steps = [b.middle - a.middle for a, b in pairwise(rows)]
    away = min(abs(line.middle - row.middle) for row in rows)
    if usual < 2 or len(line.chunks) < max(2, usual - 1) or not steps or away > 1.4 * max(steps):
        return False
    columns = columns_of(list(rows))
    met = sum(
        any(min(c.right, k.right) > max(c.left, k.left) for c in line.chunks) for k in columns
    )
    return met >= max(2, len(columns) - 1)


def _rules_of(lines: Sequence[TextLine], across: Sequence[Rule]) -> list[Rule]:
    """Lines drawn across most of the width of some lines of text, above, between and below them."""
    if not lines:
        return []
    left, right = min(line.left for line in lines), max(line.right for line in lines)
    top, bottom, height = lines[0].top, lines[-1].bottom, lines[0].height
    return [
        rule
        for rule in across
        if top - height <= rule.at <= bottom + height
        and min(right, rule.end) - max(left, rule.start) >= 0.7 * (right - left)
        and rule.end - rule.start <= 1.6 * (right - left) + 40
    ]


def _placed(table: PageTable, lines: Sequence[TextLine], drawing: Drawing) -> PageTable:
    """The table with its caption, and whether it begins or ends its page."""
    above = [line for line in lines if line.bottom <= table.box[1] + 2]
    below = [line for line in lines if line.top >= table.box[3] - 2]
    caption = next((line for line in reversed(above[-3:]) if CAPTION.match(line.text)), None)
    caption = caption or next((line for line in below[:1] if CAPTION.match(line.text)), None)
    top, bottom = MARGIN * drawing.height, (1 - MARGIN) * drawing.height
    heads = [
        line for line in above if not CONTINUED.search(line.text) and not CAPTION.match(line.text)
    ]
    first = len(heads) <= RUNNING and all(line.bottom <= top for line in heads)
    last = len(below) <= RUNNING and all(line.top >= bottom for line in below)
    return replace(table, title=caption.text[:300] if caption else "", first=first, last=last)


def join(pages: Iterable[tuple[int, Sequence[PageTable]]]) -> Iterator[list[PageTable]]:
    """Tables in order, each as its parts: more than one where it goes on over a page's end."""
    open_parts: list[PageTable] = []
    for number, tables in pages:
        page_tables = [replace(table, page=number) for table in tables if not table.lone]
        lone = next((table for table in tables if table.lone), None)
        if (
            open_parts
            and lone
            and open_parts[-1].page == number - 1
            and (rows := last_rows(open_parts[-1], lone.lone))
        ):
            open_parts.append(replace(lone, rows=rows, edges=open_parts[-1].edges, page=number))
        if (
            open_parts
            and page_tables
            and open_parts[-1].page == number - 1
            and goes_on(open_parts[-1], page_tables[0])
        ):
            open_parts.append(page_tables.pop(0))
        if open_parts and (page_tables or open_parts[-1].page < number):
            yield open_parts
            open_parts = []
        for table in page_tables[:-1]:
            yield [table]
        if page_tables:
            open_parts = [page_tables[-1]]
    if open_parts:
        yield open_parts


def last_rows(above: PageTable, lines: Sequence[TextLine]) -> Rows:
    """Lines at the top of the next page as rows of a table that ends its page; none where they do
    not stand in its columns."""
    if not above.last or len(above.edges) != len(above.rows[0]):
        return []
    columns = [ColumnEdges(*edge) for edge in above.edges]
    rows = joined([row_of(line, columns) for line in lines], ())
    if any(row.doubled or row.spans or len(row.cells) < max(2, len(columns) // 2) for row in rows):
        return []
    if not all(
        _stands_in(chunk.left, chunk.right, columns) for line in lines for chunk in line.chunks
    ):
        return []
    texts = [[row.text(i) for i in range(len(columns))] for row in rows]
    data = texts[1:] if texts[0] == above.rows[0] else texts
    return texts if data and not any(_is_text_below_numbers(above, row) for row in data) else []


def _stands_in(left: float, right: float, columns: Sequence[ColumnEdges]) -> bool:
    return any(
        (c.left - 2 <= left and right <= c.right + 2)
        or min(abs(left - c.left), abs(right - c.right), abs(left + right - c.left - c.right) / 2)
        <= 3
        for c in columns
    )


def _is_text_below_numbers(above: PageTable, row: Sequence[str]) -> bool:
    """Whether a row has words where a table has numbers."""
    for column, cell in zip(zip(*above.rows[1:], strict=True), row, strict=True):
        filled = [text for text in column if text]
        if (
            cell
            and filled
            and sum(map(number_like, filled)) >= 0.7 * len(filled)
            and not number_like(cell)
        ):
            return True
    return False


def goes_on(above: PageTable, below: PageTable) -> bool:
    """Whether a table goes on with another at the top of the next page: the same columns, and the
    same header or none."""
    if not (above.last and below.first) or len(above.rows[0]) != len(below.rows[0]):
        return False
    if above.rows[0] == below.rows[0]:
        return True
    if below.title and not CONTINUED.search(below.title) and below.title != above.title:
        return False
    return _same_edges(above, below) and not _has_header(above, below)


def _same_edges(above: PageTable, below: PageTable) -> bool:
    if len(above.edges) != len(below.edges):
        return False
    return all(
        min(abs(a[0] - b[0]), abs(a[1] - b[1]), abs(sum(a) - sum(b)) / 2) <= SAME_PLACE
        for a, b in zip(above.edges, below.edges, strict=True)
    )


def _has_header(above: PageTable, below: PageTable) -> bool:
    """Whether the first row below is a header of its own: words where the table above has
    numbers."""
    columns = list(zip(*above.rows[1:], strict=True)) if len(above.rows) > 1 else []
    for column, cell in list(zip(columns, below.rows[0], strict=False))[1:]:
        filled = [text for text in column if text]
        if (
            filled
            and sum(map(number_like, filled)) >= 0.7 * len(filled)
            and cell
            and not number_like(cell)
        ):
            return True
    return False


def grid_of(parts: Sequence[PageTable]) -> Grid:
    """A table with its page or pages, and what must be known about how it was found."""
    first, last = parts[0], parts[-1]
    rows = list(first.rows)
    repeated = 0
    for part in parts[1:]:
        same = part.rows[0] == first.rows[0]
        repeated += same
        rows += part.rows[1:] if same else part.rows
    place = f"page {first.page}" if first.page == last.page else f"pages {first.page}-{last.page}"
    return Grid(place, rows, first.title, tuple(_notes(parts, repeated, place)))


def _notes(parts: Sequence[PageTable], repeated: int, place: str) -> Iterator[Note]:
    if len(parts) > 1:
        header = (
            f"; its header, repeated {'once' if repeated == 1 else f'{repeated} times'}, "
            f"is not a row"
            if repeated
            else ""
        )
        text = f"It goes on over {len(parts)} pages, and was put together{header}."
        yield Note("pages-joined", text, len(parts), place)
    if doubt := next((part.doubt for part in parts if part.doubt), ""):
        text = (
            f"Its columns were found by the blanks between them, and may be wrong: {doubt}. "
            f"view_file shows {place}."
        )
        yield Note("table-doubtful", text, 1, place)
