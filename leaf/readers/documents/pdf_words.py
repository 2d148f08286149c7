"""What is drawn on a page of a PDF, with its place: words, and the straight lines that may part
them.

Places are points from the upper left corner, as the page is read: text that is drawn sideways is
turned first.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

MAX_CHARACTERS = 60_000
"""Characters of a page that are looked at; a dense page has 10,000."""
MAX_OBJECTS = 8_000
"""Drawn objects of a page that are looked at for lines; maps and plots have more, and no tables."""
MAX_SEGMENTS = 600
"""Pieces of one path: a grid may be drawn as one."""
MAX_FORMS = 3
"""Drawings within drawings."""
THIN = 3.0
"""Points: a filled rectangle this thin is a line."""
SHORTEST = 4.0
_WORD = re.compile(r"[^\s\x00\x02\ufffe]+")
_SIDEWAYS = 12
"""Characters whose direction is asked for."""

Point = tuple[float, float]
Turn = Callable[[float, float], Point]
Matrix = tuple[float, float, float, float, float, float]
Piece = tuple[Point, Point, bool]
"""Two ends of a straight piece, and whether it is the edge of a filled area."""


@dataclass(frozen=True, slots=True)
class PdfWord:
    """A run of characters without a blank."""

    text: str
    left: float
    top: float
    right: float
    bottom: float

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def middle(self) -> Point:
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight line along or down the page."""

    at: float
    """Its place across its own direction: y of a horizontal one, x of a vertical one."""
    start: float
    end: float


@dataclass(frozen=True)
class Drawing:
    """A page as its tables are looked for."""

    words: list[PdfWord]
    across: list[Rule]
    """Horizontal lines."""
    down: list[Rule]
    """Vertical lines."""
    shades: tuple[list[Rule], list[Rule]]
    """Edges of filled areas, horizontal and vertical: they part cells where no lines do."""
    width: float
    height: float


def drawing_of(page: Any) -> Drawing:
    """Words and lines of a page of pdfium; to be called under its lock."""
    textpage = page.get_textpage()
    try:
        turn, width, height = _turn(page, textpage)
        words = list(_words(textpage, turn))
    finally:
        textpage.close()
    across, down, *shades = _rules(page, turn)
    return Drawing(words, across, down, (shades[0], shades[1]), width, height)


def _turn(page: Any, textpage: Any) -> tuple[Turn, float, float]:
    """How a point of the page's own coordinates is turned, and the size of the page after it."""
    left, bottom, right, top = page.get_bbox()
    quarters = _quarters(textpage)
    turns: tuple[Turn, ...] = (
        lambda x, y: (x - left, top - y),
        lambda x, y: (top - y, right - x),
        lambda x, y: (right - x, y - bottom),
        lambda x, y: (y - bottom, x - left),
    )
    width, height = right - left, top - bottom
    return turns[quarters], *((height, width) if quarters % 2 else (width, height))


def _quarters(textpage: Any) -> int:
    """By how many quarters of a turn, clockwise, most of the text is drawn."""
    import pypdfium2.raw as raw

    count = textpage.count_chars()
    angles = (
        raw.FPDFText_GetCharAngle(textpage, i) for i in range(0, count, max(1, count // _SIDEWAYS))
    )
    turns = Counter(round(angle / (math.pi / 2)) % 4 for angle in angles if angle >= 0)
    return turns.most_common(1)[0][0] if turns else 0


def _words(textpage: Any, turn: Turn) -> Iterator[PdfWord]:
    import pypdfium2.raw as raw

    handle = textpage.raw
    count = min(textpage.count_chars(), MAX_CHARACTERS)
    text = "".join(_character(raw.FPDFText_GetUnicode(handle, i)) for i in range(count))
    box = raw.FS_RECTF()
    reference = ctypes.byref(box)
    for match in _WORD.finditer(text):
        corners = []
        for index in {match.start(), match.end() - 1}:
            if raw.FPDFText_GetLooseCharBox(handle, index, reference):
                corners += [turn(box.left, box.top), turn(box.right, box.bottom)]
        if corners:
            xs, ys = [x for x, _ in corners], [y for _, y in corners]
            yield PdfWord(match[0], min(xs), min(ys), max(xs), max(ys))


def _character(code: int) -> str:
    """One character for one index; halves of a pair stay halves, and are joined where a cell is
    written."""
    return chr(code) if 0 < code < 0x110000 else "\x00"


def whole(text: str) -> str:
    """A text whose halves of pairs are joined, and lone halves replaced."""
    return (
        text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if re.search("[\ud800-\udfff]", text)
        else text
    )


def _rules(page: Any, turn: Turn) -> tuple[list[Rule], ...]:
    """Lines across and down, then edges of filled areas across and down."""
    rules: tuple[list[Rule], ...] = ([], [], [], [])
    for begin, end, shade in _segments(page):
        (x1, y1), (x2, y2) = turn(*begin), turn(*end)
        if abs(y1 - y2) <= 1 and abs(x1 - x2) >= SHORTEST:
            rules[2 * shade].append(Rule((y1 + y2) / 2, min(x1, x2), max(x1, x2)))
        elif abs(x1 - x2) <= 1 and abs(y1 - y2) >= SHORTEST:
            rules[2 * shade + 1].append(Rule((x1 + x2) / 2, min(y1, y2), max(y1, y2)))
    return rules


def _segments(page: Any) -> Iterator[Piece]:
    """Straight pieces of what is drawn, in the page's own coordinates; none where there is too much
    of it."""
    import pypdfium2.raw as raw

    count = raw.FPDFPage_CountObjects(page)
    objects = (raw.FPDFPage_GetObject(page, i) for i in range(count))
    yield from _drawn(objects, count, (1, 0, 0, 1, 0, 0), MAX_FORMS)


def _drawn(objects: Iterator[Any], count: int, outer: Matrix, forms: int) -> Iterator[Piece]:
    import pypdfium2.raw as raw

    if count > MAX_OBJECTS:
        return
    for item in objects:
        kind = raw.FPDFPageObj_GetType(item)
        if kind == raw.FPDF_PAGEOBJ_PATH:
            yield from _path(item, outer)
        elif kind == raw.FPDF_PAGEOBJ_FORM and forms:
            inner = raw.FPDFFormObj_CountObjects(item)
            parts = (raw.FPDFFormObj_GetObject(item, i) for i in range(inner))
            yield from _drawn(parts, inner, _times(_matrix(item), outer), forms - 1)


def _path(path: Any, outer: Matrix) -> Iterator[Piece]:
    import pypdfium2.raw as raw

    fill, stroke = ctypes.c_int(), ctypes.c_int()
    raw.FPDFPath_GetDrawMode(path, fill, stroke)
    pieces = raw.FPDFPath_CountSegments(path)
    if not (fill.value or stroke.value) or not 2 <= pieces <= MAX_SEGMENTS:
        return
    shade = bool(fill.value) and not stroke.value
    lines = [
        (begin, end, shade) for begin, end in _pieces(path, pieces, _times(_matrix(path), outer))
    ]
    if shade and pieces <= 6 and lines:
        yield from _filled(lines)
    else:
        yield from lines


def _filled(lines: list[Piece]) -> Iterator[Piece]:
    """The edges of a rectangle, or its middle line where it is thin."""
    xs, ys = [p[0] for line in lines for p in line[:2]], [p[1] for line in lines for p in line[:2]]
    left, right, bottom, top = min(xs), max(xs), min(ys), max(ys)
    if top - bottom <= THIN:
        yield (left, (top + bottom) / 2), (right, (top + bottom) / 2), False
    elif right - left <= THIN:
        yield ((left + right) / 2, bottom), ((left + right) / 2, top), False
    else:
        yield from lines


def _pieces(path: Any, count: int, matrix: Matrix) -> Iterator[tuple[Point, Point]]:
    import pypdfium2.raw as raw

    x, y = ctypes.c_float(), ctypes.c_float()
    begin = last = (0.0, 0.0)
    for index in range(count):
        piece = raw.FPDFPath_GetPathSegment(path, index)
        raw.FPDFPathSegment_GetPoint(piece, x, y)
        here = _moved(matrix, x.value, y.value)
        kind = raw.FPDFPathSegment_GetType(piece)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            begin = here
        elif kind == raw.FPDF_SEGMENT_LINETO:
            yield last, here
        last = here
        if raw.FPDFPathSegment_GetClose(piece) and here != begin:
            yield here, begin
            last = begin


def _matrix(item: Any) -> Matrix:
    import pypdfium2.raw as raw

    matrix = raw.FS_MATRIX()
    if not raw.FPDFPageObj_GetMatrix(item, matrix):
        return (1, 0, 0, 1, 0, 0)
    return (matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f)


def _moved(m: Matrix, x: float, y: float) -> Point:
    return m[0] * x + m[2] * y + m[4], m[1] * x + m[3] * y + m[5]


def _times(first: Matrix, then: Matrix) -> Matrix:
    """One transformation after the other."""
    a, b = _moved(then, first[0], first[1]), _moved(then, first[2], first[3])
    c = _moved(then, first[4], first[5])
    e, f = then[4], then[5]
    return a[0] - e, a[1] - f, b[0] - e, b[1] - f, c[0], c[1]
