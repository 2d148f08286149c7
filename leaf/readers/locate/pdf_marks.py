"""Words marked on a page of a PDF: where they are drawn, and the page as a picture with them
marked.

The text that a model reads is pdfium's, cleaned, and with some tables put back into rows; what is
marked are the characters as they are drawn. So words that do not stand together in the drawing are
looked for in pieces, the pieces nearest to each other.
"""

from __future__ import annotations

import ctypes
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leaf.errors import InvalidInputError
from leaf.readers.documents.pdf_fields import damaged_page
from leaf.readers.documents.pdf_open import in_pdfium
from leaf.readers.locate.quotes import Span, Words, find, find_all, words
from leaf.readers.locate.where import span

if TYPE_CHECKING:
    from PIL.Image import Image

Rectangle = tuple[float, float, float, float]
"""Left, top, right, bottom in shares of the page as it is shown, from its upper left corner."""
LONGEST = 4_000
"""Characters of a quote that are marked."""
PIECE = 60
"""Words of a piece that is looked for by itself."""
ENOUGH = 0.6
"""Share of a quote's characters that must be found on the page, or nothing is marked."""
_GRID = 100_000
"""Steps in which pdfium is asked for places on the page."""
YELLOW = (255, 221, 87)
AMBER = (176, 106, 0)


def boxes_on(path: Path, page: int, quote: str) -> tuple[Rectangle, ...]:
    """Rectangles around the quote on a page, line by line; none if it is not drawn there as
    text."""
    with _page(path, page) as sheet:
        return _boxes(sheet, quote)


def render_marked(path: Path, page: int, quote: str, max_edge: int = 1600) -> tuple[bytes, int]:
    """A page as JPEG with the quote marked, and the number of marks. Raises FileError,
    InvalidInputError."""
    with _page(path, page) as sheet:
        width, height = sheet.get_size()
        picture = (
            sheet.render(scale=min(4.0, max_edge / max(width, height, 1.0))).to_pil().convert("RGB")
        )
        boxes = _boxes(sheet, quote)
    for box in boxes:
        _mark(picture, box)
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=85)
    return out.getvalue(), len(boxes)


@contextmanager
def _page(path: Path, number: int) -> Iterator[Any]:
    import pypdfium2

    with in_pdfium(path) as document:
        try:
            if not 1 <= number <= len(document):
                raise InvalidInputError(
                    f"Page {number} is outside this file.",
                    f"It has {span('page', 1, len(document))}.",
                )
            yield document[number - 1]
        except (pypdfium2.PdfiumError, ValueError) as e:
            raise damaged_page(number) from e


def _boxes(sheet: Any, quote: str) -> tuple[Rectangle, ...]:
    textpage = sheet.get_textpage()
    try:
        text = textpage.get_text_range()
        spans = _spans(words(text), quote[:LONGEST])
        return tuple(
            box for begin, end in spans for box in _around(sheet, textpage, text, begin, end)
        )
    finally:
        textpage.close()


def _spans(text: Words, quote: str) -> list[Span]:
    """Where the quote is drawn: together, or else in pieces."""
    if together := find(text, quote):
        return list(together)
    places = words(quote).places
    pieces: list[tuple[list[Span], int]] = []
    at = 0
    while at < len(places):
        for count in range(min(PIECE, len(places) - at), 0, -1):
            piece = quote[places[at][0] : places[at + count - 1][1]]
            matches = [spans[0] for _, spans in zip(range(30), find_all(text, piece), strict=False)]
            if matches and (count > 1 or len(piece) > 3 or piece.isdigit()):
                pieces.append((matches, len(piece)))
                break
        at += max(1, count)
    if not pieces or sum(size for _, size in pieces) < ENOUGH * len(quote.strip()):
        return []
    middle = max(pieces, key=lambda piece: (len(piece[0]) == 1, piece[1]))[0][0][0]
    return [min(matches, key=lambda s: abs(s[0] - middle)) for matches, _ in pieces]


def _around(sheet: Any, textpage: Any, text: str, begin: int, end: int) -> Iterator[Rectangle]:
    """Rectangles around characters of the page's text, in shares of the page."""
    import pypdfium2.raw as raw

    first = raw.FPDFText_GetCharIndexFromTextIndex(textpage, _units(text[:begin]))
    last = raw.FPDFText_GetCharIndexFromTextIndex(textpage, max(0, _units(text[:end]) - 1))
    if first < 0 or last < first:
        return
    for index in range(textpage.count_rects(first, last - first + 1)):
        left, bottom, right, top = textpage.get_rect(index)
        corners = [_on_page(sheet, x, y) for x, y in ((left, top), (right, bottom))]
        (x1, x2), (y1, y2) = sorted(c[0] for c in corners), sorted(c[1] for c in corners)
        if x2 > x1 and y2 > y1:
            yield x1, y1, x2, y2


def _units(text: str) -> int:
    """Length as pdfium counts it."""
    return len(text.encode("utf-16-le", "ignore")) // 2


def _on_page(sheet: Any, x: float, y: float) -> tuple[float, float]:
    """A point of the page's own coordinates in shares of the page as it is shown: turned and
    cropped."""
    import pypdfium2.raw as raw

    across, down = ctypes.c_int(), ctypes.c_int()
    raw.FPDF_PageToDevice(sheet, 0, 0, _GRID, _GRID, 0, x, y, across, down)
    return min(1.0, max(0.0, across.value / _GRID)), min(1.0, max(0.0, down.value / _GRID))


def _mark(picture: Image, box: Sequence[float]) -> None:
    """Colour behind the words and a line below them, so that the mark is seen without colours
    too."""
    from PIL import Image, ImageChops, ImageDraw, ImageStat

    width, height = picture.size
    pad = max(1, round(height / 500))
    left, top = max(0, int(box[0] * width) - pad), max(0, int(box[1] * height) - pad)
    right, bottom = (
        min(width, int(box[2] * width) + pad + 1),
        min(height, int(box[3] * height) + pad + 1),
    )
    under = picture.crop((left, top, right, bottom))
    yellow = Image.new("RGB", under.size, YELLOW)
    dark = sum(ImageStat.Stat(under).mean) / 3 < 110
    picture.paste(
        Image.blend(under, yellow, 0.4) if dark else ImageChops.multiply(under, yellow), (left, top)
    )
    ImageDraw.Draw(picture).line(
        (left, bottom - 1, right - 1, bottom - 1), fill=AMBER, width=max(2, pad)
    )
